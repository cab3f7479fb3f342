// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-roles,\
// RUN:     scalify-narrow-state{recipe=%S/Inputs/state_f8_gradients.toml})' | %filecheck %s

// The gradient of a matrix is rounded to FP8. That of a vector, which has few elements, is not. State
// that is not a pair keeps its format.

// CHECK: @main(%arg0: tensor<64x32xf32>, %arg1: tensor<32x16xf32> {scalify.role = "weight", scalify.updated = "gradient"}, %arg2: tensor<16xf32> {scalify.role = "weight", scalify.updated = "gradient"})
// CHECK: %[[DW:.*]] = stablehlo.dot_general %arg0, %{{[0-9]+}}, contracting_dims = [0]
// CHECK: %[[CAST:.*]] = stablehlo.convert %[[DW]] {scalify.cast = "gradient"} : (tensor<32x16xf32>) -> tensor<32x16xf8E5M2>
// CHECK: %[[KEPT:.*]] = stablehlo.optimization_barrier %[[CAST]]
// CHECK: %[[WIDE:.*]] = stablehlo.convert %[[KEPT]] : (tensor<32x16xf8E5M2>) -> tensor<32x16xf32>
// CHECK: %[[DB:.*]] = stablehlo.reduce
// CHECK-NOT: scalify.cast
// CHECK: stablehlo.subtract %arg1, %[[WIDE]] : tensor<32x16xf32>
// CHECK: stablehlo.subtract %arg2, %[[DB]] : tensor<16xf32>
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
