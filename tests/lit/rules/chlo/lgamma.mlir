// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// The value is read, X_d * X_s, and the result is unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[FACTOR:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[FACTOR]]
  // CHECK-NEXT: %[[Y:.*]] = chlo.lgamma %[[X]] : tensor<2x3xf32> -> tensor<2x3xf32>
  %0 = chlo.lgamma %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<2x3xf32>
}
