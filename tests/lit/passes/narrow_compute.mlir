// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-roles,\
// RUN:     scalify-narrow-compute{recipe=%S/Inputs/compute_f16.toml})' | %filecheck %s

// The model is computed in f16, from the casts of its arguments on; its gradients and the optimizer
// are as they were.

// CHECK: %[[W:.*]] = stablehlo.convert %arg1 {scalify.cast = "data"}
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 {scalify.cast = "data"}
// CHECK: dot_general %[[X]], %[[W]]
// CHECK: tanh %{{.*}} : tensor<64x16xf16>
// CHECK: dot_general %arg0
// CHECK: subtract %arg1
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %dy = stablehlo.tanh %y : tensor<64x16xf32>
  %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %new = stablehlo.subtract %w, %dw : tensor<32x16xf32>
  return %new : tensor<32x16xf32>
}
