// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// The padding is brought to the scale of the data.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %p: tensor<f32>, %low: tensor<2xi32>)
    -> (tensor<?x?xf32> {scalify.pair}) {
  // CHECK:      %[[INVERSE:.*]] = stablehlo.divide %{{.*}}, %arg1 : tensor<f32>
  // CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %arg2, %[[INVERSE]] : tensor<f32>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.dynamic_pad %arg0, %[[P]], %arg3, %arg3, %arg3 {scalify.forms = ["s0"]}
  %0 = stablehlo.dynamic_pad %x, %p, %low, %low, %low
    : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK-NEXT: return %[[Y]], %arg1
  return %0 : tensor<?x?xf32>
}

// -----

// Zeros fit any scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64}, %low: tensor<2xi32>)
    -> (tensor<?x?xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[ZERO:.*]] = stablehlo.constant {scalify.forms = ["any"]}
  %p = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK-NEXT: stablehlo.dynamic_pad %[[X]], %[[ZERO]], {{.*}} {scalify.forms = ["2^-4"]}
  %0 = stablehlo.dynamic_pad %x, %p, %low, %low, %low
    : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  return %0 : tensor<?x?xf32>
}
