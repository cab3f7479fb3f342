// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Bounds are read, A_d * A_s, and the numbers are unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<f32> {scalify.pair}, %b: tensor<f32>, %n: tensor<2xi64>)
    -> tensor<2x3xf32> {
  // CHECK:      %[[A:.*]] = stablehlo.multiply %arg0, %arg1 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = stablehlo.rng %[[A]], %arg2, %arg3, distribution = UNIFORM :
  %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM
    : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[R]] :
  return %0 : tensor<2x3xf32>
}

// -----

// Bounds with a static scale are there at scale 1 already.
// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<f32>, %b: tensor<f32> {scalify.scale = -4 : i64}, %n: tensor<2xi64>)
    -> tensor<2x3xf32> {
  // CHECK-NEXT: stablehlo.rng %arg0, %arg1, %arg2, distribution = NORMAL :
  %0 = stablehlo.rng %a, %b, %n, distribution = NORMAL
    : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
