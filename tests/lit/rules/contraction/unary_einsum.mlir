// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Data are summed, the scale stays.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.unary_einsum %arg0, config = "ab->a" {scalify.forms = ["s0"]}
  %0 = "stablehlo.unary_einsum"(%x) <{einsum_config = "ab->a"}> : (tensor<2x3xf32>) -> tensor<2xf32>
  // CHECK-NEXT: return %[[Y]], %arg1
  return %0 : tensor<2xf32>
}
