// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-narrow-state{recipe=fp8-state})' | %filecheck %s

// State that is in the format of the recipe already is marked like any other.

// CHECK: %arg0: tensor<4x4xf16> {scalify.follows, scalify.pair, scalify.role = "first_moment"}
func.func @main(%m: tensor<4x4xf16> {scalify.pair, scalify.role = "first_moment"})
    -> (tensor<4x4xf16> {scalify.pair, scalify.role = "first_moment"}) {
  %half = stablehlo.constant dense<0.5> : tensor<4x4xf16>
  %new = stablehlo.multiply %m, %half : tensor<4x4xf16>
  return %new : tensor<4x4xf16>
}
