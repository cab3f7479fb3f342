// RUN: %scalify-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(scalify-normalize,scalify-propagate{annotate})' | %filecheck %s

// An element of a tuple that was just made is what it was made of, with its scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<3xf32> {scalify.pair}, %i: tensor<3xi32>)
    -> (tensor<3xf32> {scalify.pair}) {
  %0 = stablehlo.tuple %x, %i : tuple<tensor<3xf32>, tensor<3xi32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<3xf32>, tensor<3xi32>>) -> tensor<3xf32>
  // CHECK-NEXT: return %arg0, %arg1
  return %1 : tensor<3xf32>
}

// -----

// An element of a tuple from elsewhere is unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%t: tuple<tensor<3xf32>, tensor<3xi32>>, %x: tensor<3xf32> {scalify.pair}) -> (tensor<3xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.get_tuple_element %arg0[0]
  %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<3xf32>, tensor<3xi32>>) -> tensor<3xf32>
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.multiply %[[Y]], %arg1 {scalify.forms = ["s0"]}
  %1 = stablehlo.multiply %0, %x : tensor<3xf32>
  // CHECK-NEXT: return %[[Z]], %arg2
  return %1 : tensor<3xf32>
}
