// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Updates are brought to the scale of what they are added to.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x3xf32> {scalify.pair},
                %i: tensor<2x1xi32>,
                %u: tensor<2x3xf32> {scalify.pair})
    -> (tensor<8x3xf32> {scalify.pair}) {
  // CHECK:      %[[RATIO:.*]] = stablehlo.divide %arg4, %arg1 : tensor<f32>
  // CHECK:      %[[U:.*]] = stablehlo.multiply %arg3, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = "stablehlo.scatter"(%arg0, %arg2, %[[U]])
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<8x3xf32>
  // CHECK:      scalify.forms = ["s0"]
  // CHECK:      return %[[Y]], %arg1
  return %0 : tensor<8x3xf32>
}

// -----

// Overwriting moves data; zeros to begin with take the scale of the updates.
// CHECK-LABEL: func.func @main
func.func @main(%i: tensor<2x1xi32>, %u: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<8x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[U:.*]] = stablehlo.multiply %arg1, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  %x = stablehlo.constant dense<0.0> : tensor<8x3xf32>
  // CHECK:      %[[Y:.*]] = "stablehlo.scatter"(%{{.*}}, %arg0, %[[U]])
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<8x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<8x3xf32>
  // CHECK:      scalify.forms = ["2^-4"]
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<8x3xf32>
}

// -----

// Factors are unscaled: what they multiply keeps its scale, however often it is multiplied.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x3xf32> {scalify.pair}, %i: tensor<2x1xi32>,
                %u: tensor<2x3xf32> {scalify.pair}) -> (tensor<8x3xf32> {scalify.pair}) {
  // CHECK:      %[[U:.*]] = stablehlo.multiply %arg3, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = "stablehlo.scatter"(%arg0, %arg2, %[[U]])
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<8x3xf32>
  // CHECK:      return %[[Y]], %arg1
  return %0 : tensor<8x3xf32>
}

// -----

// Two tensors are scattered to at once, each at the meet with its own updates.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32> {scalify.pair}, %y: tensor<8xf32> {scalify.pair},
                %i: tensor<2x1xi32>, %u: tensor<2xf32> {scalify.scale = 0 : i64},
                %v: tensor<2xf32>) -> (tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}) {
  // CHECK-DAG:  %[[U:.*]] = stablehlo.divide %{{.*}}, %arg1
  // CHECK-DAG:  %[[V:.*]] = stablehlo.divide %{{.*}}, %arg3
  // CHECK:      "stablehlo.scatter"(%arg0, %arg2, %arg4, %{{.*}}, %{{.*}})
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{
    scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.add %a, %c : tensor<f32>
    %2 = stablehlo.maximum %b, %d : tensor<f32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
  }) : (tensor<8xf32>, tensor<8xf32>, tensor<2x1xi32>, tensor<2xf32>, tensor<2xf32>)
    -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK:      scalify.forms = ["s0", "s1"]
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Functions of values read them.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x3xf32> {scalify.pair}, %i: tensor<2x1xi32>, %u: tensor<2x3xf32>)
    -> tensor<8x3xf32> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: "stablehlo.scatter"(%[[X]], %arg2, %arg3)
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.sine %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
