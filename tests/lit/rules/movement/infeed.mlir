// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What comes in is unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %t: !stablehlo.token)
    -> (tensor<2x3xf32> {scalify.pair}, !stablehlo.token) {
  // CHECK-NEXT: %[[IN:.*]]:2 = "stablehlo.infeed"(%arg2)
  %0:2 = "stablehlo.infeed"(%t) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<2x3xf32>, !stablehlo.token)
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.multiply %[[IN]]#0, %arg0 {scalify.forms = ["s0"]}
  %1 = stablehlo.multiply %0#0, %x : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]], %arg1, %[[IN]]#1
  return %1, %0#1 : tensor<2x3xf32>, !stablehlo.token
}
