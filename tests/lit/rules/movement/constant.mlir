// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A constant with one value adopts the scale of its partner: 3 = 48 * 2^-4.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<4.800000e+01>
  %c = stablehlo.constant dense<3.0> : tensor<2x3xf32>
  // CHECK-NEXT: stablehlo.maximum %[[X]], %[[C]] {scalify.forms = ["2^-4"]}
  %0 = stablehlo.maximum %x, %c : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// At run time it is adopted as a scalar, at the top.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[NUMBER:.*]] = stablehlo.constant dense<3.000000e+00> : tensor<f32>
  // CHECK:      %[[THREE:.*]] = stablehlo.divide %[[NUMBER]], %arg1 : tensor<f32>
  %c = stablehlo.constant dense<3.0> : tensor<2x3xf32>
  // CHECK:      %[[C:.*]] = stablehlo.broadcast_in_dim %[[THREE]], dims = []
  // CHECK-NEXT: stablehlo.maximum %arg0, %[[C]] {scalify.forms = ["s0"]}
  %0 = stablehlo.maximum %x, %c : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// 0, inf and NaN are right at every scale, -inf masks too.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[MASK:.*]] = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000>
  %c = stablehlo.constant dense<0xFF800000> : tensor<2x3xf32>
  // CHECK-NEXT: stablehlo.maximum %arg0, %[[MASK]] {scalify.forms = ["s0"]}
  %0 = stablehlo.maximum %x, %c : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A mask at the end of the range saturates: it never becomes infinite, nor does its partner
// vanish.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<-3.40282347E+38>
  %c = stablehlo.constant dense<-3.40282347E+38> : tensor<2x3xf32>
  // CHECK-NEXT: stablehlo.maximum %[[X]], %[[C]] {scalify.forms = ["2^-4"]}
  %0 = stablehlo.maximum %x, %c : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A constant with several values is unscaled, and is brought like any other.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2xf32> {scalify.pair}) -> (tensor<2xf32> {scalify.pair}) {
  // CHECK:      %[[C:.*]] = stablehlo.constant dense<[1.000000e+00, 3.000000e+00]>
  %c = stablehlo.constant dense<[1.0, 3.0]> : tensor<2xf32>
  // CHECK:      %[[Y:.*]] = stablehlo.multiply %[[C]], %{{.*}}
  // CHECK-NEXT: stablehlo.maximum %arg0, %[[Y]] {scalify.forms = ["s0"]}
  %0 = stablehlo.maximum %x, %c : tensor<2xf32>
  return %0 : tensor<2xf32>
}
