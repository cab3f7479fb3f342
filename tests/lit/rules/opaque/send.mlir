// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What is sent is the value.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %t: !stablehlo.token) -> !stablehlo.token {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: %[[T:.*]] = "stablehlo.send"(%[[X]], %arg2)
  %0 = "stablehlo.send"(%x, %t) <{
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true
  }> : (tensor<2x3xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK-NEXT: return %[[T]]
  return %0 : !stablehlo.token
}
