// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// The number of a device has no scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}) -> (tensor<4xf32> {scalify.pair}, tensor<ui32>) {
  // CHECK-NEXT: %[[I:.*]] = stablehlo.replica_id : tensor<ui32>
  %0 = stablehlo.replica_id : tensor<ui32>
  // CHECK-NEXT: return %arg0, %arg1, %[[I]]
  return %x, %0 : tensor<4xf32>, tensor<ui32>
}
