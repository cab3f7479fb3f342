// RUN: %scalify-opt %s --split-input-file --verify-diagnostics \
// RUN:     --pass-pipeline='builtin.module(scalify-propagate{strict})'

func.func @main(%x: tensor<4xf32> {scalify.pair}) -> tensor<4xf32> {
  // expected-error@+1 {{stablehlo.custom_call has no scaled form}}
  %0 = stablehlo.custom_call @some_kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Where no scale reaches the op, there is nothing to say.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @some_kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
