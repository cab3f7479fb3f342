// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-signature{signature=scaled},\
// RUN:     scalify-roles,scalify-narrow-state{recipe=fp16-state})' | %filecheck %s

// A pair that is state enters and leaves in the format of its role; gradients of weights are cast.

// CHECK: %arg1: tensor<32x16xf16> {scalify.pair, scalify.role = "weight", scalify.updated = "gradient"}
// CHECK: convert %arg1
// CHECK: %[[DW:.*]] = stablehlo.dot_general %arg0, %{{[0-9]+}}, contracting_dims = [0]
// CHECK: convert %[[DW]] {scalify.cast = "gradient"}
// CHECK: subtract
// CHECK: %[[NEW:.*]] = stablehlo.convert %{{.*}} {scalify.cast = "state"}
// CHECK: return %[[NEW]] : tensor<32x16xf16>
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %dy = stablehlo.tanh %y : tensor<64x16xf32>
  %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %new = stablehlo.subtract %w, %dw : tensor<32x16xf32>
  return %new : tensor<32x16xf32>
}
