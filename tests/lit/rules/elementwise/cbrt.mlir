// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// The root of a scale of run time is a power of two again: h, by rounding; the remainder
// X_s/h^3 goes to the data.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[ROOT:.*]] = stablehlo.cbrt %arg1 : tensor<f32>
  // CHECK-NEXT: %[[H:.*]] = stablehlo.reduce_precision %[[ROOT]], format = e8m0
  // CHECK:      %[[SQUARE:.*]] = stablehlo.multiply %[[H]], %[[H]] : tensor<f32>
  // CHECK-NEXT: %[[POWER:.*]] = stablehlo.multiply %[[SQUARE]], %[[H]] : tensor<f32>
  // CHECK-NEXT: %[[REST:.*]] = stablehlo.divide %arg1, %[[POWER]] : tensor<f32>
  // CHECK:      %[[FACTOR:.*]] = stablehlo.broadcast_in_dim %[[REST]]
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[FACTOR]]
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.cbrt %[[X]] {scalify.forms = ["s1"]}
  %0 = stablehlo.cbrt %x : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]], %[[H]]
  return %0 : tensor<2x3xf32>
}

// -----

// Static: 2^-4 = 2^-6 * 2^2, of which 2^2 goes into the split at entry.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant dense<6.400000e+01> : tensor<2x3xf32>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]]
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.cbrt %[[X]] {scalify.forms = ["2^-2"]}
  %0 = stablehlo.cbrt %x : tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// A scale that has a root at rewrite time needs nothing of it at run time.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  %0 = stablehlo.multiply %x, %x : tensor<2x3xf32>
  %1 = stablehlo.multiply %0, %x : tensor<2x3xf32>
  // CHECK:      %[[Y:.*]] = stablehlo.cbrt %{{.*}} {scalify.forms = ["s0"]}
  %2 = stablehlo.cbrt %1 : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]], %arg1
  return %2 : tensor<2x3xf32>
}
