// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Between floats the data are converted; the scale stays f32, or becomes f64 with f64 data.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf64> {scalify.pair}, tensor<2x3xbf16> {scalify.pair}) {
  // CHECK:      %[[S:.*]] = stablehlo.convert %arg1 : (tensor<f32>) -> tensor<f64>
  // CHECK:      %[[WIDE:.*]] = stablehlo.convert %arg0 {scalify.forms = ["s0"]} : (tensor<2x3xf32>) -> tensor<2x3xf64>
  %0 = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xf64>
  // CHECK-NEXT: %[[NARROW:.*]] = stablehlo.convert %arg0 {scalify.forms = ["s0"]} : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  %1 = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  // CHECK-NEXT: return %[[WIDE]], %[[S]], %[[NARROW]], %arg1
  return %0, %1 : tensor<2x3xf64>, tensor<2x3xbf16>
}

// -----

// A conversion of the program to a format with less range rounds values, so that they are at scale 1.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x3xf16> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  %c = stablehlo.constant dense<1024.0> : tensor<2x3xf32>
  %0 = stablehlo.multiply %x, %c : tensor<2x3xf32>
  // CHECK:      %[[REST:.*]] = stablehlo.constant dense<6.400000e+01> : tensor<2x3xf32>
  // CHECK-NEXT: %[[VALUE:.*]] = stablehlo.multiply %[[X]], %[[REST]] :
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.convert %[[VALUE]] : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %1 = stablehlo.convert %0 : (tensor<2x3xf32>) -> tensor<2x3xf16>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %1 : tensor<2x3xf16>
}

// -----

// To integers, values are read.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> tensor<2x3xi32> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.convert %[[X]] : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %0 = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
  // CHECK-NEXT: return %[[Y]] :
  return %0 : tensor<2x3xi32>
}
