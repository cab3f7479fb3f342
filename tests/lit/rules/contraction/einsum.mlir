// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Scales multiply.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.pair}, %y: tensor<16x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[S:.*]] = stablehlo.multiply %arg1, %arg3 : tensor<f32>
  // CHECK:      %[[Z:.*]] = stablehlo.einsum %arg0, %arg2,{{.*}}["s0*s1"]
  %0 = stablehlo.einsum %x, %y, config = "mk,kn->mn"
    : (tensor<2x16xf32>, tensor<16x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[Z]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// Static scales cost nothing but constants.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.scale = -4 : i64}, %y: tensor<16x3xf32>)
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[Z:.*]] = stablehlo.einsum %[[X]], %arg1,{{.*}}["2^-4"]
  %0 = stablehlo.einsum %x, %y, config = "mk,kn->mn"
    : (tensor<2x16xf32>, tensor<16x3xf32>) -> tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[Z]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// A result that leaves at scale 1 takes one factor.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.pair}, %y: tensor<16x3xf32>) -> tensor<2x3xf32> {
  // CHECK:      %[[Z:.*]] = stablehlo.einsum %arg0, %arg2,{{.*}}["s0"]
  %0 = stablehlo.einsum %x, %y, config = "mk,kn->mn"
    : (tensor<2x16xf32>, tensor<16x3xf32>) -> tensor<2x3xf32>
  // CHECK:      %[[FACTOR:.*]] = stablehlo.broadcast_in_dim %arg1, dims = []
  // CHECK-NEXT: %[[D:.*]] = stablehlo.multiply %[[Z]], %[[FACTOR]]
  // CHECK-NEXT: return %[[D]] :
  return %0 : tensor<2x3xf32>
}
