// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-roles)' | %filecheck %s

// A backward matmul has an operand of a forward one, a gradient as large as that one's result, and
// makes something as large as its other operand. The weight leaves with that taken off.

// CHECK-LABEL: func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<4x2xf32> {scalify.role = "weight", scalify.updated = "gradient"}
// CHECK: dot_general %arg0, %arg1
// CHECK-SAME: scalify.part = "forward", scalify.roles = ["activation", "weight"], scalify.site = ["arg1@forward", "arg1"]
// CHECK: dot_general %{{.*}}, %arg0
// CHECK-SAME: scalify.part = "backward", scalify.roles = ["gradient", "activation"], scalify.site = ["arg1@wgrad", "arg1"]
// CHECK: transpose
// CHECK-SAME: scalify.state_gradient
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %dy = stablehlo.tanh %y : tensor<8x2xf32>
  %dw = stablehlo.dot_general %dy, %x, contracting_dims = [0] x [0] : (tensor<8x2xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %g = stablehlo.transpose %dw, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %new = stablehlo.subtract %w, %g : tensor<4x2xf32>
  return %new : tensor<4x2xf32>
}

// -----

// The same weight the other way around is a layer as long as no weight gets a gradient.

// CHECK-LABEL: func.func @main
// CHECK: scalify.part = "forward", scalify.roles = ["activation", "weight"]
// CHECK: scalify.part = "forward", scalify.roles = ["activation", "weight"]
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x2xf32>) -> tensor<8x4xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %h = stablehlo.tanh %y : tensor<8x2xf32>
  %z = stablehlo.dot_general %h, %w, contracting_dims = [1] x [1] : (tensor<8x2xf32>, tensor<4x2xf32>) -> tensor<8x4xf32>
  return %z : tensor<8x4xf32>
}

// -----

// Name stacks say what is backward.

// CHECK-LABEL: func.func @main
// CHECK: scalify.part = "forward"
// CHECK: scalify.part = "backward", scalify.roles = ["gradient", "weight"]
// CHECK-SAME: scalify.site = ["arg1@dgrad", "arg1"]
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x2xf32>) -> tensor<8x4xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32> loc("jit(f)/jvp(dot_general)")
  %h = stablehlo.tanh %y : tensor<8x2xf32>
  %z = stablehlo.dot_general %h, %w, contracting_dims = [1] x [1] : (tensor<8x2xf32>, tensor<4x2xf32>) -> tensor<8x4xf32> loc("jit(f)/transpose(jvp(dot_general))")
  return %z : tensor<8x4xf32>
}
