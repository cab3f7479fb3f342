// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-roles{cotangents=1})' \
// RUN:     | %filecheck %s

// All that is computed from a cotangent is gradient, and what is of two of them takes no part.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg2: tensor<4x4xf32> {scalify.role = "gradient"}
// CHECK: dot_general %arg2, %arg1
// CHECK-SAME: scalify.part = "backward", scalify.roles = ["gradient", "weight"]
// CHECK: dot_general %arg0, %arg2
// CHECK-SAME: scalify.part = "backward", scalify.roles = ["activation", "gradient"]
// CHECK: scalify.part = "other", scalify.roles = ["gradient", "gradient"]
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %ct: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %dx = stablehlo.dot_general %ct, %w, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %dw = stablehlo.dot_general %x, %ct, contracting_dims = [0] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %both = stablehlo.dot_general %dx, %dw, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %dx, %dw, %both : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
