// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-signature{signature=scaled})' \
// RUN:   | %filecheck %s

// Float arguments and results become pairs; integers and booleans stay.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %arg0: tensor<4xf32> {scalify.pair}, %arg1: tensor<4xi32>, %arg2: tensor<bf16> {scalify.pair}
// CHECK-SAME:    -> (tensor<4xf32> {scalify.pair}, tensor<4xi32>)
func.func @main(%x: tensor<4xf32>, %i: tensor<4xi32>, %y: tensor<bf16>)
    -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK-NEXT: return %arg0, %arg1
  return %x, %i : tensor<4xf32>, tensor<4xi32>
}

// -----

// Attributes of others are kept beside the tool's own.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %arg0: tensor<4xf32> {scalify.pair, tf.aliasing_output = 0 : i32}
// CHECK-SAME:    -> (tensor<4xf32> {jax.result_info = "result", scalify.pair})
func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32})
    -> (tensor<4xf32> {jax.result_info = "result"}) {
  return %x : tensor<4xf32>
}
