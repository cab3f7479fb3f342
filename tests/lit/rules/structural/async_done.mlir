// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What comes back is unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<3xf32> {scalify.pair}) -> (tensor<3xf32> {scalify.pair}) {
  // CHECK: %[[F:.*]] = "stablehlo.async_start"(%{{.*}})
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<3xf32>):
    %2 = "stablehlo.all_gather"(%a) <{
      all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>
    }> : (tensor<3xf32>) -> tensor<3xf32>
    stablehlo.return %2 : tensor<3xf32>
  }) : (tensor<3xf32>) -> !stablehlo.future<tensor<3xf32>>
  // CHECK: %[[Y:.*]] = "stablehlo.async_done"(%[[F]])
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<3xf32>>) -> tensor<3xf32>
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.multiply %[[Y]], %arg0 {scalify.forms = ["s0"]}
  %3 = stablehlo.multiply %1, %x : tensor<3xf32>
  // CHECK-NEXT: return %[[Z]], %arg1
  return %3 : tensor<3xf32>
}
