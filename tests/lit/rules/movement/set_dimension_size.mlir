// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Data are moved and the scale stays, known at run time...
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %n: tensor<i32>)
    -> (tensor<2x?xf32, #stablehlo.bounds<?, 3>> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = stablehlo.set_dimension_size %arg0, %arg2, dim = 1 {scalify.forms = ["s0"]}
  %0 = stablehlo.set_dimension_size %x, %n, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>>
  // CHECK-NEXT: return %[[Y]], %arg1 : tensor<2x?xf32, #stablehlo.bounds<?, 3>>, tensor<f32>
  return %0 : tensor<2x?xf32, #stablehlo.bounds<?, 3>>
}

// -----

// ...or when the program is rewritten.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64}, %n: tensor<i32>)
    -> (tensor<2x?xf32, #stablehlo.bounds<?, 3>> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[Y:.*]] = stablehlo.set_dimension_size %[[X]], %arg1, dim = 1 {scalify.forms = ["2^-4"]}
  %0 = stablehlo.set_dimension_size %x, %n, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]] : tensor<2x?xf32, #stablehlo.bounds<?, 3>>, tensor<f32>
  return %0 : tensor<2x?xf32, #stablehlo.bounds<?, 3>>
}
