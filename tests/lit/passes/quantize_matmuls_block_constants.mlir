// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-roles,scalify-quantize-matmuls{recipe=%S/Inputs/mxfp8_small.toml})' \
// RUN:     | %filecheck %s

// Data and scales of a constant are constants: 224 = 448 * 2^-1, and the second row has 2^1.

// CHECK: func.func @main
// CHECK: stablehlo.constant dense<{{\[\[}}4.480000e+02, -4.480000e+02, 1.120000e+02, {{.*}}], [2.240000e+02, 0.000000e+00,
// CHECK-SAME: tensor<2x16xf8E4M3FN>
// CHECK-NEXT: stablehlo.constant dense<{{\[\[}}5.000000e-01], [2.000000e+00]]> : tensor<2x1xf8E8M0FNU>
// CHECK-NOT: tensor<2x16xf32>
// CHECK: stablehlo.composite "xla.scaled_dot"
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x2xf32> {
  %w = stablehlo.constant dense<[[224.0, -224.0, 56.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [448.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 896.0, 0.0]]> : tensor<2x16xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x16xf32>, tensor<2x16xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}
