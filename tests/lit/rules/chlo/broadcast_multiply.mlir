// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize)' | %filecheck %s

// Expanded before scales propagate.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     chlo.
func.func @main(%x: tensor<3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: stablehlo.multiply
  %0 = "chlo.broadcast_multiply"(%x,%y) : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
