// RUN: %scalify-opt %s \
// RUN:     --pass-pipeline='builtin.module(scalify-roles,scalify-insert-rescales{recipe=fp8-state})' \
// RUN:     | %filecheck %s
// RUN: %scalify-opt %s \
// RUN:     --pass-pipeline='builtin.module(scalify-roles,scalify-insert-rescales{recipe=fp16})' \
// RUN:     | %filecheck %s --check-prefix=NONE

// Gradients of matrices and of vectors are rescaled alike, each by its own rms. A recipe without
// [state_gradients] inserts nothing.

// CHECK: %[[DW:.*]] = stablehlo.dot_general %arg0, %{{[0-9]+}}, contracting_dims = [0]
// CHECK: %[[W:.*]] = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.state_gradient = [0], scalify.statistic = "l2"} %[[DW]]
// CHECK: %[[DB:.*]] = stablehlo.reduce
// CHECK: %[[B:.*]] = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.state_gradient = [0], scalify.statistic = "l2"} %[[DB]]
// CHECK: stablehlo.subtract %arg1, %[[W]]
// CHECK: stablehlo.subtract %arg2, %[[B]]
// NONE-NOT: optimization_barrier
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>, %b: tensor<16xf32>) -> (tensor<32x16xf32>, tensor<16xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %bb = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<16xf32>) -> tensor<64x16xf32>
  %z = stablehlo.add %y, %bb : tensor<64x16xf32>
  %dy = stablehlo.tanh %z : tensor<64x16xf32>
  %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %db = stablehlo.reduce(%dy init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x16xf32>, tensor<f32>) -> tensor<16xf32>
  %neww = stablehlo.subtract %w, %dw : tensor<32x16xf32>
  %newb = stablehlo.subtract %b, %db : tensor<16xf32>
  return %neww, %newb : tensor<32x16xf32>, tensor<16xf32>
}
