// RUN: %scalify-opt %s \
// RUN:     --pass-pipeline='builtin.module(scalify-roles,scalify-quantize-matmuls{recipe=fp8})' \
// RUN:     | %filecheck %s

// Activations and weights are cast to E4M3, once each, and gradients to E5M2.

// CHECK: %[[W:.*]] = stablehlo.convert %arg1 {scalify.cast = "data"}
// CHECK-SAME: f8E4M3FN>
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 {scalify.cast = "data"}
// CHECK-SAME: f8E4M3FN>
// CHECK: dot_general %[[X]], %[[W]]
// CHECK-SAME: scalify.matmul = 0 : i64, scalify.part = "forward"
// CHECK: %[[DY:.*]] = stablehlo.convert %{{.*}} {scalify.cast = "gradient"}
// CHECK-SAME: f8E5M2>
// CHECK: dot_general %[[X]], %[[DY]]
// CHECK-SAME: scalify.matmul = 1 : i64, scalify.part = "backward", scalify.state_gradient = [0]
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %dy = stablehlo.tanh %y : tensor<64x16xf32>
  %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %new = stablehlo.subtract %w, %dw : tensor<32x16xf32>
  return %new : tensor<32x16xf32>
}
