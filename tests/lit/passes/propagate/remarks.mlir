// RUN: %scalify-opt %s --split-input-file --verify-diagnostics \
// RUN:     --pass-pipeline='builtin.module(scalify-propagate)'

func.func @main(%x: tensor<4xf32> {scalify.pair}) -> tensor<4xf32> {
  // expected-remark@+1 {{stablehlo.custom_call: has no scaled form; its operands are multiplied with their scales}}
  %0 = stablehlo.custom_call @some_kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32> {scalify.pair}) -> tensor<4xf32> {
  %0 = call @loop(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{function @loop calls itself}}
  %0 = call @loop(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
