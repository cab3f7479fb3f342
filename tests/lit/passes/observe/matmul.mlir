// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-roles,scalify-observe)' \
// RUN:   | %filecheck %s

// A function that is called in a loop is inlined; the loop carries what was seen so far.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    -> (tensor<2x2xf32>, tensor<2xf32> {jax.result_info = "observed.amax"},
// CHECK-SAME:    tensor<2xf32> {jax.result_info = "observed.rms"},
// CHECK-SAME:    tensor<2x4096xui32> {jax.result_info = "observed.histogram"})
func.func @main(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %n: tensor<i32>) -> tensor<2x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  // CHECK:         stablehlo.while({{.*}}) : tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>,
  // CHECK-SAME:      tensor<f32>, tensor<f32>, tensor<f64>, tensor<f64>, tensor<4096xui32>,
  // CHECK-SAME:      tensor<4096xui32>
  %0:3 = stablehlo.while(%i = %zero, %y = %x, %v = %w)
      : tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %i, %one : tensor<i32>
      // CHECK-NOT:   func.call
      // CHECK:       stablehlo.dot_general
      %2 = func.call @layer(%y, %v) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      // CHECK:       stablehlo.maximum
      // CHECK:       stablehlo.add
      stablehlo.return %1, %2, %v : tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>
    }
  return %0#1 : tensor<2x2xf32>
}
// CHECK-NOT: @layer
func.func private @layer(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
