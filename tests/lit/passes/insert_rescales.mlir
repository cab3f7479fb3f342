// RUN: %scalify-opt %s \
// RUN:     --pass-pipeline='builtin.module(scalify-roles,scalify-insert-rescales{recipe=fp8-state})' \
// RUN:     | %filecheck %s

// The gradient of a weight gets a marker, and its other users read the result of that.

// CHECK: %[[DW:.*]] = stablehlo.dot_general %arg0, %{{[0-9]+}}, contracting_dims = [0]
// CHECK: %[[MARKED:.*]] = stablehlo.optimization_barrier
// CHECK-SAME: scalify.marker = "dynamic_rescale", scalify.state_gradient = [0], scalify.statistic = "l2"} %[[DW]]
// CHECK: subtract %arg1, %[[MARKED]]
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %dy = stablehlo.tanh %y : tensor<64x16xf32>
  %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %new = stablehlo.subtract %w, %dw : tensor<32x16xf32>
  return %new : tensor<32x16xf32>
}
