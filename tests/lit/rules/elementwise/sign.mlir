// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Scales are positive, so the sign is that of the data, and it has no scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.sign %arg0 :
  %0 = stablehlo.sign %x : tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// Times a scaled value, it leaves the scale as it is.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[SIGN:.*]] = stablehlo.sign %arg0 :
  %0 = stablehlo.sign %x : tensor<2x3xf32>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.multiply %[[SIGN]], %arg2 {scalify.forms = ["s1"]}
  %1 = stablehlo.multiply %0, %y : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]], %arg3
  return %1 : tensor<2x3xf32>
}
