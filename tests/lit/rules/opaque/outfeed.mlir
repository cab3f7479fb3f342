// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What goes out is the value.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %t: !stablehlo.token) -> !stablehlo.token {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: %[[T:.*]] = "stablehlo.outfeed"(%[[X]], %arg2)
  %0 = "stablehlo.outfeed"(%x, %t) <{outfeed_config = ""}> : (tensor<2x3xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK-NEXT: return %[[T]]
  return %0 : !stablehlo.token
}
