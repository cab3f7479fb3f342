// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Scales multiply, and sums of 64 terms raise the level by log2(sqrt(64)) = 3, paid where the
// result leaves: Y_d/2^3, Y_s*2^3.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x64xf32> {scalify.pair}, %y: tensor<64x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[S01:.*]] = stablehlo.multiply %arg1, %arg3 : tensor<f32>
  // CHECK:      %[[S:.*]] = stablehlo.multiply %[[S01]], %{{.*}} : tensor<f32>
  // CHECK:      %[[Z:.*]] = stablehlo.dot %arg0, %arg2{{.*}}["s0*s1 level 3"]
  %0 = stablehlo.dot %x, %y
    : (tensor<2x64xf32>, tensor<64x3xf32>) -> tensor<2x3xf32>
  // CHECK:      %[[PAY:.*]] = stablehlo.constant dense<1.250000e-01> : tensor<2x3xf32>
  // CHECK-NEXT: %[[D:.*]] = stablehlo.multiply %[[Z]], %[[PAY]]
  // CHECK-NEXT: return %[[D]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// Static scales cost nothing but constants.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x64xf32> {scalify.scale = -4 : i64}, %y: tensor<64x3xf32>)
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[Z:.*]] = stablehlo.dot %[[X]], %arg1{{.*}}["2^-4 level 3"]
  %0 = stablehlo.dot %x, %y
    : (tensor<2x64xf32>, tensor<64x3xf32>) -> tensor<2x3xf32>
  // CHECK:      %[[PAY:.*]] = stablehlo.constant dense<1.250000e-01> : tensor<2x3xf32>
  // CHECK-NEXT: %[[D:.*]] = stablehlo.multiply %[[Z]], %[[PAY]]
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<f32>
  // CHECK-NEXT: return %[[D]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// A result that leaves at scale 1 takes one factor.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x64xf32> {scalify.pair}, %y: tensor<64x3xf32>) -> tensor<2x3xf32> {
  // CHECK:      %[[Z:.*]] = stablehlo.dot %arg0, %arg2{{.*}}["s0 level 3"]
  %0 = stablehlo.dot %x, %y
    : (tensor<2x64xf32>, tensor<64x3xf32>) -> tensor<2x3xf32>
  // CHECK:      %[[FACTOR:.*]] = stablehlo.broadcast_in_dim %arg1, dims = []
  // CHECK-NEXT: %[[D:.*]] = stablehlo.multiply %[[Z]], %[[FACTOR]]
  // CHECK-NEXT: return %[[D]] :
  return %0 : tensor<2x3xf32>
}
