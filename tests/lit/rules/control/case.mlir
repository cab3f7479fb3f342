// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What the branches yield is brought to one scale; zeros are right at each.
// CHECK-LABEL: func.func @main
func.func @main(%i: tensor<i32>, %x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32>)
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK-DAG:  %[[C:.*]] = stablehlo.constant {scalify.forms = ["any"]}
  // CHECK-DAG:  %[[F:.*]] = stablehlo.divide %{{.*}}, %arg2 : tensor<f32>
  // CHECK:      %[[Z:.*]] = "stablehlo.case"(%arg0) ({
  %c = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %0 = "stablehlo.case"(%i) ({
    // CHECK-NEXT:   %[[B:.*]] = stablehlo.broadcast_in_dim %[[F]]
    // CHECK-NEXT:   %[[Y:.*]] = stablehlo.multiply %arg3, %[[B]] :
    // CHECK-NEXT:   stablehlo.return %[[Y]] :
    stablehlo.return %y : tensor<2x3xf32>
  }, {
    // CHECK:        stablehlo.return %arg1 :
    stablehlo.return %x : tensor<2x3xf32>
  }, {
    // CHECK:        stablehlo.return %[[C]] :
    stablehlo.return %c : tensor<2x3xf32>
  // CHECK-NEXT: {scalify.forms = ["s0"]}
  }) : (tensor<i32>) -> tensor<2x3xf32>
  // CHECK:      return %[[Z]], %arg2 :
  return %0 : tensor<2x3xf32>
}
