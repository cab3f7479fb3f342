// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Scales divide.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[S:.*]] = stablehlo.divide %arg1, %arg3 : tensor<f32>
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.divide %arg0, %arg2 {scalify.forms = ["s0*s1^-1"]}
  %0 = stablehlo.divide %x, %y : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Z]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// Static exponents subtract at rewrite time.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[Z:.*]] = stablehlo.divide %[[X]], %[[X]] {scalify.forms = ["2^0"]}
  %0 = stablehlo.divide %x, %x : tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: return %[[Z]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// An unscaled dividend leaves the reciprocal of the scale.
// CHECK-LABEL: func.func @main
func.func @main(%y: tensor<2x3xf32>, %x: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[S:.*]] = stablehlo.divide %{{.*}}, %arg2 : tensor<f32>
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.divide %arg0, %arg1 {scalify.forms = ["s0^-1"]}
  %0 = stablehlo.divide %y, %x : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Z]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// Zero divided by anything has any scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[ZERO:.*]] = stablehlo.constant {scalify.forms = ["any"]}
  %c = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.divide %[[ZERO]], %arg0 {scalify.forms = ["any"]}
  %0 = stablehlo.divide %c, %x : tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: return %[[Z]], %[[S]]
  return %0 : tensor<2x3xf32>
}
