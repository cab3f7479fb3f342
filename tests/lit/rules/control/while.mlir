// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A carry keeps the scale that it enters with: what the body yields is brought back to it. A carry
// that starts with zeros has the scale that the body gives it.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair},
                %y: tensor<2x3xf32> {scalify.pair},
                %n: tensor<i32>)
    -> (tensor<2x3xf32> {scalify.pair}, tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[SXY:.*]] = stablehlo.multiply %arg1, %arg3 : tensor<f32>
  // CHECK-NEXT: %[[ZEROS:.*]] = stablehlo.constant
  %zeros = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // CHECK-NEXT: %[[Z:.*]]:3 = stablehlo.while(%[[A:.*]] = %arg0, %[[S:.*]] = %[[ZEROS]], %{{.*}} = %arg4)
  // CHECK-SAME:   scalify.forms = ["s0", "s0*s1", "unscaled"]
  %0:3 = stablehlo.while(%a = %x, %s = %zeros, %i = %n)
    : tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // CHECK:      %[[P:.*]] = stablehlo.multiply %[[A]], %arg2 {scalify.forms = ["s0*s1"]}
    %1 = stablehlo.multiply %a, %y : tensor<2x3xf32>
    // CHECK-NEXT: %[[Q:.*]] = stablehlo.add %[[S]], %[[P]] {scalify.forms = ["s0*s1"]}
    %2 = stablehlo.add %s, %1 : tensor<2x3xf32>
    // CHECK-NEXT: %[[F:.*]] = stablehlo.broadcast_in_dim %arg3
    // CHECK-NEXT: %[[BACK:.*]] = stablehlo.multiply %[[P]], %[[F]] :
    // CHECK-NEXT: stablehlo.return %[[BACK]], %[[Q]],
    stablehlo.return %1, %2, %i : tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>
  }
  // CHECK:      return %[[Z]]#0, %arg1, %[[Z]]#1, %[[SXY]] :
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// What the body uses of the outside is brought to its scale once, before the loop.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair},
                %y: tensor<2x3xf32> {scalify.pair},
                %n: tensor<i32>)
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = stablehlo.multiply %arg2,
  // CHECK-NEXT: %[[Z:.*]]:2 = stablehlo.while(%[[A:.*]] = %arg0,
  %0:2 = stablehlo.while(%a = %x, %i = %n) : tensor<2x3xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // CHECK:      %[[B:.*]] = stablehlo.add %[[A]], %[[Y]] {scalify.forms = ["s0"]}
    // CHECK-NEXT: stablehlo.return %[[B]],
    %1 = stablehlo.add %a, %y : tensor<2x3xf32>
    stablehlo.return %1, %i : tensor<2x3xf32>, tensor<i32>
  }
  // CHECK:      return %[[Z]]#0, %arg1 :
  return %0#0 : tensor<2x3xf32>
}
