// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Bounds are brought to the scale of what is clamped.
// CHECK-LABEL: func.func @main
func.func @main(%l: tensor<f32>, %x: tensor<2x3xf32> {scalify.pair}, %h: tensor<f32>)
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[INVERSE:.*]] = stablehlo.divide %{{.*}}, %arg2 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = stablehlo.multiply %arg0, %[[INVERSE]] : tensor<f32>
  // CHECK-NEXT: %[[H:.*]] = stablehlo.multiply %arg3, %[[INVERSE]] : tensor<f32>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.clamp %[[L]], %arg1, %[[H]] {scalify.forms = ["s0"]}
  %0 = stablehlo.clamp %l, %x, %h : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]], %arg2
  return %0 : tensor<2x3xf32>
}

// -----

// Constant bounds adopt a static scale without an op: 2 becomes 2 * 2^4, and 0 stays.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  %l = stablehlo.constant dense<0.0> : tensor<f32>
  %h = stablehlo.constant dense<2.0> : tensor<f32>
  // CHECK:      %[[L:.*]] = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00>
  // CHECK-NEXT: %[[H:.*]] = stablehlo.constant dense<3.200000e+01> : tensor<f32>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.clamp %[[L]], %[[X]], %[[H]] {scalify.forms = ["2^-4"]}
  %0 = stablehlo.clamp %l, %x, %h : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<2x3xf32>
}
