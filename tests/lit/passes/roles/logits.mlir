// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-roles)' | %filecheck %s

// A softmax over a weight's axis is one over a vocabulary or over classes, also in a function.

// CHECK-LABEL: func.func @main
// CHECK: dot_general
// CHECK-SAME: scalify.vocabulary
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x2xf32>) -> tensor<8xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %0 = call @total(%y) : (tensor<8x2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @total(%y: tensor<8x2xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %y : tensor<8x2xf32>
  %0 = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x2xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// The scores of attention are of two activations.

// CHECK-LABEL: func.func @main
// CHECK-COUNT-3: dot_general
// CHECK-NOT: scalify.vocabulary
func.func @main(%x: tensor<8x4xf32>, %q: tensor<4x2xf32>, %k: tensor<4x2xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.dot_general %x, %q, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %b = stablehlo.dot_general %x, %k, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x8xf32>
  %e = stablehlo.exponential %y : tensor<8x8xf32>
  %0 = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
