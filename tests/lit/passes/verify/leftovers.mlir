// RUN: %scalify-opt %s --split-input-file --verify-diagnostics \
// RUN:     --pass-pipeline='builtin.module(scalify-verify)'

// expected-error@unknown {{attributes of the rewriter are left on @main: scalify.pair}}
func.func @main(%x: tensor<4xf32> {scalify.pair}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@unknown {{attributes of the rewriter are left on @main: scalify.scale, scalify.pair}}
func.func @main(%x: tensor<4xf32> {scalify.scale = 3 : i64})
    -> (tensor<4xf32> {scalify.pair}) {
  return %x : tensor<4xf32>
}

// -----

// Attributes of others are nothing to it.
func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
