// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// The data are in the group; the scale is everywhere.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}) -> (tensor<4xf32> {scalify.pair}) {
  // CHECK-NEXT: sdy.sharding_group %arg0 group_id=3
  sdy.sharding_group %x group_id=3 : tensor<4xf32>
  // CHECK-NEXT: return %arg0, %arg1
  return %x : tensor<4xf32>
}
