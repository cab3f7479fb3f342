// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-signature{input-scale=*=2^-4,arg1=0.5,p[0]*=8})' \
// RUN:   | %filecheck %s

// Patterns go over argument names, the last that matches counts; only floats are meant. Arguments
// are found by their place too, and brackets stand for themselves.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %arg0: tensor<4xf32> {scalify.scale = -4 : i64}
// CHECK-SAME:    %arg1: tensor<4xf32> {scalify.scale = -1 : i64}
// CHECK-SAME:    %arg2: tensor<4xi32>,
// CHECK-SAME:    %arg3: tensor<4xf32> {scalify.scale = 3 : i64})
// CHECK-SAME:    -> tensor<4xf32>
func.func @main(
    %x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<4xi32>, %w: tensor<4xf32> loc("p[0]['w']"))
    -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
