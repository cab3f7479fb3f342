// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize)' | %filecheck %s

// Expanded before scales propagate.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     chlo.
func.func @main(%x: tensor<3xui32>, %y: tensor<3xui32>) -> tensor<3xui32> {
  // CHECK: stablehlo.multiply
  %0 = "chlo.mulhi"(%x,%y) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
  return %0 : tensor<3xui32>
}
