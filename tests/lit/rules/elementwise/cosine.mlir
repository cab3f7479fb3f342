// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// No homogeneity to use: values are read, X_d * X_s, and the result is unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[FACTOR:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[FACTOR]]
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.cosine %[[X]] :
  %0 = stablehlo.cosine %x : tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// An argument with a static scale is there at scale 1 already, so nothing is split.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64}) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.cosine %arg0 :
  %0 = stablehlo.cosine %x : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]]
  return %0 : tensor<2x3xf32>
}

// -----

// The result enters a product like any unscaled value.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.cosine %[[X]] :
  %0 = stablehlo.cosine %x : tensor<2x3xf32>
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.multiply %[[Y]], %arg0 {scalify.forms = ["s0"]}
  %1 = stablehlo.multiply %0, %x : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Z]], %arg1
  return %1 : tensor<2x3xf32>
}
