// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Cutting mantissa bits commutes with powers of two.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.reduce_precision %arg0, format = e8m7 {scalify.forms = ["s0"]}
  %0 = stablehlo.reduce_precision %x, format = e8m7 : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]], %arg1
  return %0 : tensor<2x3xf32>
}

// -----

// The same with a static scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.reduce_precision %[[X]], format = e8m10 {scalify.forms = ["2^-4"]}
  %0 = stablehlo.reduce_precision %x, format = e8m10 : tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// Cutting exponent bits is about the value: which numbers overflow must not change.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = stablehlo.reduce_precision %arg0, format = e5m10 :
  %0 = stablehlo.reduce_precision %x, format = e5m10 : tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// Where the caller passes pairs, data near unit are rounded, and saturate.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      stablehlo.maximum across dimensions = [0, 1]
  // CHECK:      %[[HELD:.*]] = stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<2x3xf32>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.select %{{.*}}, %[[HELD]], %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.reduce_precision %[[X]], format = e5m10 {scalify.forms = ["2^13*s1"]}
  %0 = stablehlo.reduce_precision %x, format = e5m10 : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]], %{{.*}}
  return %0 : tensor<2x3xf32>
}
