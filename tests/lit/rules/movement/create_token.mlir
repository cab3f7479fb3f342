// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A token has no scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}, !stablehlo.token) {
  // CHECK-NEXT: %[[T:.*]] = stablehlo.create_token : !stablehlo.token
  %t = stablehlo.create_token : !stablehlo.token
  // CHECK-NEXT: return %arg0, %arg1, %[[T]]
  return %x, %t : tensor<2x3xf32>, !stablehlo.token
}
