// RUN: %scalify-opt %s --split-input-file --verify-diagnostics \
// RUN:     --pass-pipeline='builtin.module(scalify-signature{input-scale=params*=2^-4})'

// expected-error@unknown {{input scale 'params*' matches no float argument}}
func.func @main(%x: tensor<4xf32>, %params: tensor<4xi32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@unknown {{the module has no function @main}}
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
