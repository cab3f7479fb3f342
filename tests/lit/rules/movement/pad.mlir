// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// The padding is brought to the scale of the data.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %p: tensor<f32> {scalify.pair})
    -> (tensor<4x3xf32> {scalify.pair}) {
  // CHECK:      %[[RATIO:.*]] = stablehlo.divide %arg3, %arg1 : tensor<f32>
  // CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %arg2, %[[RATIO]] : tensor<f32>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.pad %arg0, %[[P]], low = [1, 0], high = [1, 0], interior = [0, 0] {scalify.forms = ["s0"]}
  %0 = stablehlo.pad %x, %p, low = [1, 0], high = [1, 0], interior = [0, 0]
    : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  // CHECK-NEXT: return %[[Y]], %arg1
  return %0 : tensor<4x3xf32>
}

// -----

// Zeros fit any scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<4x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[ZERO:.*]] = stablehlo.constant {scalify.forms = ["any"]}
  %p = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK:      stablehlo.pad %[[X]], %[[ZERO]], {{.*}} {scalify.forms = ["2^-4"]}
  %0 = stablehlo.pad %x, %p, low = [1, 0], high = [1, 0], interior = [0, 0]
    : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  return %0 : tensor<4x3xf32>
}

// -----

// Any other number adopts the scale: 3 is 48 * 2^-4.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<4x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[P:.*]] = stablehlo.constant dense<4.800000e+01> : tensor<f32>
  %p = stablehlo.constant dense<3.0> : tensor<f32>
  // CHECK-NEXT: stablehlo.pad %[[X]], %[[P]], {{.*}} {scalify.forms = ["2^-4"]}
  %0 = stablehlo.pad %x, %p, low = [1, 0], high = [1, 0], interior = [0, 0]
    : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  return %0 : tensor<4x3xf32>
}
