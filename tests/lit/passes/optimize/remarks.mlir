// RUN: %scalify-opt %s --verify-diagnostics --pass-pipeline='builtin.module(scalify-optimize)'

// expected-remark@+1 {{func.func: --optimize has no effect: no scatter puts single numbers into a constant}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
