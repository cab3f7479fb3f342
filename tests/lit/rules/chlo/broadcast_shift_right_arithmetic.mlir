// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize)' | %filecheck %s

// Expanded before scales propagate.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     chlo.
func.func @main(%x: tensor<3xi32>, %y: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK: stablehlo.shift_right_arithmetic
  %0 = "chlo.broadcast_shift_right_arithmetic"(%x,%y) : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}
