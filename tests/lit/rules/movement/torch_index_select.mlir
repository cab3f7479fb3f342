// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Data are moved and the scale stays, known at run time...
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %i: tensor<5xi32>)
    -> (tensor<5x3xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = "stablehlo.torch_index_select"(%arg0, %arg2){{.*}}["s0"]
  %0 = "stablehlo.torch_index_select"(%x, %i) <{batch_dims = 0 : i64, dim = 0 : i64}>
    : (tensor<2x3xf32>, tensor<5xi32>) -> tensor<5x3xf32>
  // CHECK-NEXT: return %[[Y]], %arg1 : tensor<5x3xf32>, tensor<f32>
  return %0 : tensor<5x3xf32>
}

// -----

// ...or when the program is rewritten.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64}, %i: tensor<5xi32>)
    -> (tensor<5x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[Y:.*]] = "stablehlo.torch_index_select"(%[[X]], %arg1){{.*}}["2^-4"]
  %0 = "stablehlo.torch_index_select"(%x, %i) <{batch_dims = 0 : i64, dim = 0 : i64}>
    : (tensor<2x3xf32>, tensor<5xi32>) -> tensor<5x3xf32>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]] : tensor<5x3xf32>, tensor<f32>
  return %0 : tensor<5x3xf32>
}
