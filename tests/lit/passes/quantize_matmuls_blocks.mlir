// RUN: %scalify-opt %s \
// RUN:     --pass-pipeline='builtin.module(scalify-roles,scalify-quantize-matmuls{recipe=mxfp8})' \
// RUN:     | %filecheck %s

// Each operand is quantized along the contracted dimension, in blocks of 32, of which the last one is
// padded. The amax of the weight's blocks is taken from the weight as it is, and only the amax and
// the data are transposed. It is found on the bits of the magnitudes, which keeps NaN. A barrier keeps the cast. The constants are shared, at the start.

// CHECK: func.func @main
// CHECK-NEXT: %[[NAN:.*]] = stablehlo.constant dense<0x7FC00000> : tensor<16x2xf32>
// CHECK: %[[TW:.*]] = stablehlo.transpose %arg1
// CHECK: %[[PW:.*]] = stablehlo.pad %[[TW]]
// CHECK-SAME: -> tensor<16x64xf32>
// CHECK: stablehlo.reshape %[[PW]]
// CHECK-SAME: -> tensor<16x1x2x32xf32>
// CHECK: %[[AW:.*]] = stablehlo.pad %arg1
// CHECK-SAME: -> tensor<64x16xf32>
// CHECK: stablehlo.reshape %[[AW]]
// CHECK-SAME: -> tensor<2x32x16xf32>
// CHECK: %[[MW:.*]] = stablehlo.reduce({{.*}}) applies stablehlo.maximum across dimensions = [1]
// CHECK-SAME: tensor<2x32x16xui32>
// CHECK: %[[FW:.*]] = stablehlo.bitcast_convert %[[MW]]
// CHECK: stablehlo.transpose %[[FW]]
// CHECK-SAME: -> tensor<16x2xf32>
// CHECK: %[[W:.*]] = stablehlo.convert {{.*}} -> tensor<16x64xf8E4M3FN>
// CHECK: stablehlo.optimization_barrier %[[W]]
// CHECK: %[[X:.*]] = stablehlo.convert {{.*}} -> tensor<64x64xf8E4M3FN>
// CHECK: stablehlo.optimization_barrier %[[X]]
// CHECK: stablehlo.composite "xla.scaled_dot"
// CHECK-SAME: (tensor<64x64xf8E4M3FN>, tensor<16x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>, tensor<16x2xf8E8M0FNU>) -> tensor<64x16xf32>
// CHECK: func.func private @xla.scaled_dot
// CHECK: dot_general
func.func @main(%x: tensor<64x40xf32>, %w: tensor<40x16xf32>) -> tensor<64x16xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x40xf32>, tensor<40x16xf32>) -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}
