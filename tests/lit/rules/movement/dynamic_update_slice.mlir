// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Two scales of run time: the first is the anchor, and one factor brings the other there.
// CHECK-LABEL: func.func @main
func.func @main(%i: tensor<i32>,
                %x: tensor<2x3xf32> {scalify.pair},
                %y: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[RATIO:.*]] = stablehlo.divide %arg4, %arg2 : tensor<f32>
  // CHECK:      %[[FACTOR:.*]] = stablehlo.broadcast_in_dim %[[RATIO]], dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.multiply %arg3, %[[FACTOR]]
  // CHECK-NEXT: %[[R:.*]] = stablehlo.dynamic_update_slice %arg1, %[[Y]], %arg0, %arg0 {scalify.forms = ["s0"]}
  %0 = stablehlo.dynamic_update_slice %x, %y, %i, %i : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[R]], %arg2
  return %0 : tensor<2x3xf32>
}

// -----

// Two static scales: the larger is chosen, and the factor goes into the split at entry.
// CHECK-LABEL: func.func @main
func.func @main(%i: tensor<i32>,
                %x: tensor<2x3xf32> {scalify.scale = -4 : i64},
                %y: tensor<2x3xf32> {scalify.scale = 2 : i64})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[QUARTER:.*]] = stablehlo.constant {{.*}}dense<2.500000e-01>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.multiply %arg2, %[[QUARTER]] {scalify.forms = ["2^2"]}
  // CHECK:      %[[OTHER:.*]] = stablehlo.constant dense<2.500000e-01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg1, %[[OTHER]] :
  // CHECK-NEXT: %[[R:.*]] = stablehlo.dynamic_update_slice %[[X]], %[[Y]], %arg0, %arg0 {scalify.forms = ["2^2"]}
  %0 = stablehlo.dynamic_update_slice %x, %y, %i, %i : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.constant dense<4.000000e+00> : tensor<f32>
  // CHECK-NEXT: return %[[R]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// An unscaled partner is at scale 1, and is brought to the other.
// CHECK-LABEL: func.func @main
func.func @main(%i: tensor<i32>, %x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32>)
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[INVERSE:.*]] = stablehlo.divide %{{.*}}, %arg2 : tensor<f32>
  // CHECK:      %[[FACTOR:.*]] = stablehlo.broadcast_in_dim %[[INVERSE]]
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.multiply %arg3, %[[FACTOR]]
  // CHECK-NEXT: %[[R:.*]] = stablehlo.dynamic_update_slice %arg1, %[[Y]], %arg0, %arg0 {scalify.forms = ["s0"]}
  %0 = stablehlo.dynamic_update_slice %x, %y, %i, %i : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[R]], %arg2
  return %0 : tensor<2x3xf32>
}

// -----

// Zero is right at every scale.
// CHECK-LABEL: func.func @main
func.func @main(%i: tensor<i32>, %x: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[ANY:.*]] = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00>
  %y = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // CHECK-NEXT: %[[R:.*]] = stablehlo.dynamic_update_slice %arg1, %[[ANY]], %arg0, %arg0 {scalify.forms = ["s0"]}
  %0 = stablehlo.dynamic_update_slice %x, %y, %i, %i : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[R]], %arg2
  return %0 : tensor<2x3xf32>
}
