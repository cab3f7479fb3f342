// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What is received is unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<3xf32> {scalify.pair}, %t: !stablehlo.token)
    -> (tensor<3xf32> {scalify.pair}, !stablehlo.token) {
  // CHECK-NEXT: %[[Y:.*]]:2 = "stablehlo.recv"(%arg2)
  %0:2 = "stablehlo.recv"(%t) <{
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true
  }> : (!stablehlo.token) -> (tensor<3xf32>, !stablehlo.token)
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.multiply %arg0, %[[Y]]#0 {scalify.forms = ["s0"]}
  %1 = stablehlo.multiply %x, %0#0 : tensor<3xf32>
  // CHECK-NEXT: return %[[Z]], %arg1, %[[Y]]#1
  return %1, %0#1 : tensor<3xf32>, !stablehlo.token
}
