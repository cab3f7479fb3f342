// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Two scales of run time: the first is the anchor, and one factor brings the other there.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32> {scalify.pair})
    -> tensor<2x3xi1> {
  // CHECK:      %[[RATIO:.*]] = stablehlo.divide %arg3, %arg1 : tensor<f32>
  // CHECK:      %[[FACTOR:.*]] = stablehlo.broadcast_in_dim %[[RATIO]], dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.multiply %arg2, %[[FACTOR]]
  // CHECK-NEXT: %[[R:.*]] = stablehlo.compare LT, %arg0, %[[Y]] :
  %0 = stablehlo.compare LT, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: return %[[R]] :
  return %0 : tensor<2x3xi1>
}

// -----

// Static: both arguments are there at scale 1 already, so nothing is split.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64},
                %y: tensor<2x3xf32> {scalify.scale = 2 : i64}) -> tensor<2x3xi1> {
  // CHECK-NEXT: %[[R:.*]] = stablehlo.compare LT, %arg0, %arg1 :
  %0 = stablehlo.compare LT, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: return %[[R]] :
  return %0 : tensor<2x3xi1>
}

// -----

// Beside an unscaled partner the other is brought to scale 1: no reciprocal is needed.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32>) -> tensor<2x3xi1> {
  // CHECK-NEXT: %[[FACTOR:.*]] = stablehlo.broadcast_in_dim %arg1, dims = []
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[FACTOR]]
  // CHECK-NEXT: %[[R:.*]] = stablehlo.compare LT, %[[X]], %arg2 :
  %0 = stablehlo.compare LT, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: return %[[R]] :
  return %0 : tensor<2x3xi1>
}

// -----

// Zero is right at every scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> tensor<2x3xi1> {
  // CHECK:      %[[ANY:.*]] = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00>
  %y = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // CHECK-NEXT: %[[R:.*]] = stablehlo.compare LT, %arg0, %[[ANY]] :
  %0 = stablehlo.compare LT, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: return %[[R]] :
  return %0 : tensor<2x3xi1>
}
