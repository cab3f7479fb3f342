// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Data are moved and the scale stays, known at run time...
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %i: tensor<5x1xi32>, %sizes: tensor<2xi32>)
    -> (tensor<5x?xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = "stablehlo.dynamic_gather"(%arg0, %arg2, %arg3){{.*}}["s0"]
  %0 = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>
  }> : (tensor<2x3xf32>, tensor<5x1xi32>, tensor<2xi32>) -> tensor<5x?xf32>
  // CHECK-NEXT: return %[[Y]], %arg1 : tensor<5x?xf32>, tensor<f32>
  return %0 : tensor<5x?xf32>
}

// -----

// ...or when the program is rewritten.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64},
                %i: tensor<5x1xi32>,
                %sizes: tensor<2xi32>)
    -> (tensor<5x?xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[Y:.*]] = "stablehlo.dynamic_gather"(%[[X]], %arg1, %arg2){{.*}}["2^-4"]
  %0 = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>
  }> : (tensor<2x3xf32>, tensor<5x1xi32>, tensor<2xi32>) -> tensor<5x?xf32>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]] : tensor<5x?xf32>, tensor<f32>
  return %0 : tensor<5x?xf32>
}
