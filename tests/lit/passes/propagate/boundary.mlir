// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-propagate{annotate})' | %filecheck %s

// The scale stands beside its data, f32, and f64 for f64 data; donated arguments name the result
// that they become by its new number.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%arg0: tensor<4xbf16>, %arg1: tensor<f32> {scalify.is_scale},
// CHECK-SAME:    %arg2: tensor<4xf64> {tf.aliasing_output = 2 : i32}, %arg3: tensor<f64> {scalify.is_scale})
// CHECK-SAME:    -> (tensor<4xbf16>, tensor<f32> {scalify.is_scale}, tensor<4xf64>, tensor<f64> {scalify.is_scale})
func.func @main(%x: tensor<4xbf16> {scalify.pair},
                %y: tensor<4xf64> {scalify.pair, tf.aliasing_output = 1 : i32})
    -> (tensor<4xbf16> {scalify.pair}, tensor<4xf64> {scalify.pair}) {
  // CHECK-NEXT: return %arg0, %arg1, %arg2, %arg3
  return %x, %y : tensor<4xbf16>, tensor<4xf64>
}

// -----

// A result that no scale reached comes back with scale 1, one of zeros too.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {scalify.pair}, tensor<4xf32> {scalify.pair}) {
  // CHECK: %[[ZERO:.*]] = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00>
  %c = stablehlo.constant dense<0.0> : tensor<4xf32>
  // CHECK: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[ALSO:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: return %arg0, %[[ONE]], %[[ZERO]], %[[ALSO]]
  return %x, %c : tensor<4xf32>, tensor<4xf32>
}

// -----

// A result that is no pair leaves at scale 1.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}) -> tensor<4xf32> {
  // CHECK: %[[Y:.*]] = stablehlo.negate %arg0 {scalify.forms = ["s0"]}
  %0 = stablehlo.negate %x : tensor<4xf32>
  // CHECK-NEXT: %[[FACTOR:.*]] = stablehlo.broadcast_in_dim %arg1, dims = []
  // CHECK-NEXT: %[[R:.*]] = stablehlo.multiply %[[Y]], %[[FACTOR]]
  // CHECK-NEXT: return %[[R]] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
