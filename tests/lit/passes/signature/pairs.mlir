// RUN: %scalify-opt %s \
// RUN:     --pass-pipeline='builtin.module(scalify-signature{signature=scaled pairs=010})' \
// RUN:   | %filecheck %s

// One digit for each argument: only the second is a pair; results all are.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %arg0: tensor<4xf32>, %arg1: tensor<4xf32> {scalify.pair}, %arg2: tensor<4xf32>
// CHECK-SAME:    -> (tensor<4xf32> {scalify.pair})
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %arg1
  return %y : tensor<4xf32>
}
