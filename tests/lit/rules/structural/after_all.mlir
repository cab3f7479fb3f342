// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A token has no scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<3xf32> {scalify.pair}, %t: !stablehlo.token)
    -> (tensor<3xf32> {scalify.pair}, !stablehlo.token) {
  // CHECK-NEXT: %[[T:.*]] = stablehlo.after_all %arg2, %arg2 : !stablehlo.token
  %0 = stablehlo.after_all %t, %t : !stablehlo.token
  // CHECK-NEXT: return %arg0, %arg1, %[[T]]
  return %x, %0 : tensor<3xf32>, !stablehlo.token
}
