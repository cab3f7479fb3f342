// RUN: %scalify-opt %s --split-input-file --verify-diagnostics \
// RUN:     --pass-pipeline='builtin.module(scalify-measure-inputs{inputs=n*})'

// Only float arguments can be measured.
// expected-error@unknown {{inputs.measure 'n*' matches no float argument}}
func.func @main(%x: tensor<4xf32> loc("x"), %n: tensor<4xi32> loc("n")) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// An argument that no cast depends on keeps its scale, with a remark.
// expected-remark@unknown {{func.func: n is not measured: no cast to a narrow format depends on its size}}
func.func @main(%n: tensor<4xf32> loc("n")) -> tensor<4xf32> {
  return %n : tensor<4xf32>
}
