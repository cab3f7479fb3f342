// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-roles,\
// RUN:     scalify-narrow-compute{recipe=%S/Inputs/compute_f16.toml})' | %filecheck %s

// The model is computed in f16, from the casts of its arguments on. What is made of the result of its
// last matmul is the loss, which stays as it was; so do gradients and the optimizer.

// CHECK: %[[W:.*]] = stablehlo.convert %arg1 {scalify.cast = "data"}
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 {scalify.cast = "data"}
// CHECK: dot_general %[[X]], %[[W]]
// CHECK: tanh %{{.*}} : tensor<64x16xf16>
// CHECK: %[[Z:.*]] = stablehlo.dot_general
// CHECK: tanh %[[Z]] : tensor<64x8xf32>
// CHECK: dot_general %arg0
// CHECK: subtract %arg1
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>, %v: tensor<16x8xf32>) -> tensor<32x16xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %h = stablehlo.tanh %y : tensor<64x16xf32>
  %z = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0] : (tensor<64x16xf32>, tensor<16x8xf32>) -> tensor<64x8xf32>
  %dz = stablehlo.tanh %z : tensor<64x8xf32>
  %dh = stablehlo.dot_general %dz, %v, contracting_dims = [1] x [1] : (tensor<64x8xf32>, tensor<16x8xf32>) -> tensor<64x16xf32>
  %dw = stablehlo.dot_general %x, %dh, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %new = stablehlo.subtract %w, %dw : tensor<32x16xf32>
  return %new : tensor<32x16xf32>
}
