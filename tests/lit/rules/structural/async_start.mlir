// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What is sent off is the value.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<3xf32> {scalify.pair}) -> !stablehlo.future<tensor<3xf32>> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}} : tensor<3xf32>
  // CHECK-NEXT: %[[F:.*]] = "stablehlo.async_start"(%[[X]])
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<3xf32>):
    %2 = "stablehlo.all_gather"(%a) <{
      all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>
    }> : (tensor<3xf32>) -> tensor<3xf32>
    stablehlo.return %2 : tensor<3xf32>
  }) : (tensor<3xf32>) -> !stablehlo.future<tensor<3xf32>>
  // CHECK: return %[[F]]
  return %0 : !stablehlo.future<tensor<3xf32>>
}
