// RUN: %scalify-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(scalify-optimize)' \
// RUN:   | %filecheck %s

// One number for each row, as in the gradient of a cross-entropy.
// CHECK-LABEL: func.func @main
// CHECK:         %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4x8xf32>
// CHECK:         %[[SUM:.*]] = stablehlo.add %{{.*}}, %arg1 : tensor<4x1xf32>
// CHECK:         %[[INDEX:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0] : (tensor<4xi32>) -> tensor<4x8xi32>
// CHECK:         %[[PLACE:.*]] = stablehlo.iota dim = 1 : tensor<4x8xi32>
// CHECK:         %[[HIT:.*]] = stablehlo.compare EQ, %[[PLACE]], %[[INDEX]]
// CHECK:         %[[NUMBER:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
// CHECK:         %[[RESULT:.*]] = stablehlo.select %[[HIT]], %[[NUMBER]], %[[ZERO]]
// CHECK:         return %[[RESULT]]
func.func @main(%i: tensor<4x1xi32>, %u: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<4x8xf32>
  %0 = "stablehlo.scatter"(%zero, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0],
      scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x1xi32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Two updates may be of the same element, as in the gradient of an embedding.
// CHECK-LABEL: func.func @main
// CHECK:         "stablehlo.scatter"
func.func @main(%i: tensor<2x1xi32>, %u: tensor<2x8xf32>) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<4x8xf32>
  %0 = "stablehlo.scatter"(%zero, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x1xi32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
