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

// Before exponent bits are lost, the level is paid: 1024 = 2^10 goes to the scale, and data
// near unit fit f16.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x3xf16> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  %c = stablehlo.constant dense<1024.0> : tensor<2x3xf32>
  %0 = stablehlo.multiply %x, %c : tensor<2x3xf32>
  // CHECK:      %[[MANTISSA:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<2x3xf32>
  // CHECK-NEXT: %[[PAID:.*]] = stablehlo.multiply %[[X]], %[[MANTISSA]] :
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.convert %[[PAID]] {scalify.forms = ["2^6"]} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %1 = stablehlo.convert %0 : (tensor<2x3xf32>) -> tensor<2x3xf16>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<6.400000e+01> : tensor<f32>
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
