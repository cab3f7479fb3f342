// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize)' | %filecheck %s

// An element of a tuple that was just made is what it was made of, through tuples of tuples.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     tuple
// CHECK:         return %arg0, %arg1
func.func @main(%x: tensor<3xf32>, %i: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %0 = stablehlo.tuple %x, %i : tuple<tensor<3xf32>, tensor<3xi32>>
  %1 = stablehlo.tuple %0 : tuple<tuple<tensor<3xf32>, tensor<3xi32>>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tuple<tensor<3xf32>, tensor<3xi32>>>) -> tuple<tensor<3xf32>, tensor<3xi32>>
  %3 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<3xf32>, tensor<3xi32>>) -> tensor<3xf32>
  %4 = stablehlo.get_tuple_element %2[1] : (tuple<tensor<3xf32>, tensor<3xi32>>) -> tensor<3xi32>
  return %3, %4 : tensor<3xf32>, tensor<3xi32>
}
