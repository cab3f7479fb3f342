// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Scales multiply. The data product is the op itself, the scale is built at the top.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[S:.*]] = stablehlo.multiply %arg1, %arg3 : tensor<f32>
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.multiply %arg0, %arg2 {scalify.forms = ["s0*s1"]}
  %0 = stablehlo.multiply %x, %y : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Z]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// Static exponents add at rewrite time: no scale arithmetic.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -3 : i64},
                %y: tensor<2x3xf32> {scalify.scale = -3 : i64})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<8.000000e+00>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-3"]}
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<8.000000e+00>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.multiply %arg1, %[[SPLIT]] {scalify.forms = ["2^-3"]}
  // CHECK:      %[[Z:.*]] = stablehlo.multiply %[[X]], %[[Y]] {scalify.forms = ["2^-6"]}
  %0 = stablehlo.multiply %x, %y : tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<1.562500e-02> : tensor<f32>
  // CHECK-NEXT: return %[[Z]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// A product that would take data far from unit reads an argument as it stands at scale 1.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -6 : i64},
                %y: tensor<2x3xf32> {scalify.scale = -6 : i64}) -> tensor<2x3xf32> {
  // CHECK: %[[Y:.*]] = stablehlo.multiply %arg1, %{{.*}} {scalify.forms = ["2^-6"]}
  // CHECK: stablehlo.multiply %arg0, %[[Y]] {scalify.forms = ["2^-6 level -6"]}
  %0 = stablehlo.multiply %x, %y : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// An unscaled partner has scale 1.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32>)
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.multiply %arg0, %arg2 {scalify.forms = ["s0"]}
  %0 = stablehlo.multiply %x, %y : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Z]], %arg1
  return %0 : tensor<2x3xf32>
}

// -----

// The exponent of a constant counts as a level: 8 = 1 * 2^3 leaves in the scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[S:.*]] = stablehlo.multiply %arg1, %{{.*}} : tensor<f32>
  %c = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  // CHECK-NEXT: %[[MANTISSA:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<2x3xf32>
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.multiply %arg0, %[[MANTISSA]] :
  %0 = stablehlo.multiply %x, %c : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Z]], %[[S]]
  return %0 : tensor<2x3xf32>
}
