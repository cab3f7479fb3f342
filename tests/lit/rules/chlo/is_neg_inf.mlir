// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize)' | %filecheck %s

// Expanded before scales propagate.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     chlo.
func.func @main(%x: tensor<2xf32>) -> tensor<2xi1> {
  // CHECK: stablehlo.compare
  %0 = "chlo.is_neg_inf"(%x) : (tensor<2xf32>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}
