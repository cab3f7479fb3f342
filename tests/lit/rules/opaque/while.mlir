// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What a loop carries, and what it uses of the outside, is at scale 1.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair},
                %y: tensor<2x3xf32> {scalify.pair},
                %n: tensor<i32>)
    -> tensor<2x3xf32> {
  // CHECK-DAG:  %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-DAG:  %[[Y:.*]] = stablehlo.multiply %arg2, %{{.*}}
  // CHECK:      %[[Z:.*]]:2 = stablehlo.while(%[[A:.*]] = %[[X]], %{{.*}} = %arg4)
  // CHECK:        %[[NEXT:.*]] = stablehlo.multiply %[[A]], %[[Y]] :
  // CHECK-NEXT:   stablehlo.return %[[NEXT]], %{{.*}} :
  %0:2 = stablehlo.while(%a = %x, %i = %n) : tensor<2x3xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.multiply %a, %y : tensor<2x3xf32>
    stablehlo.return %1, %i : tensor<2x3xf32>, tensor<i32>
  }
  // CHECK:      return %[[Z]]#0 :
  return %0#0 : tensor<2x3xf32>
}
