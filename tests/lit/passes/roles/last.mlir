// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-roles{last-wide=0.5})' | %filecheck %s

// The second of two layers: its forward matmul, and both backward matmuls.

// CHECK-LABEL: func.func @main
// CHECK: dot_general %arg0, %arg1
// CHECK-NOT: scalify.last
// CHECK: dot_general {{%[0-9]+}}, %arg2
// CHECK-SAME: scalify.last
// CHECK: dot_general {{%[0-9]+}}, {{%[0-9]+}}
// CHECK-SAME: scalify.last
// CHECK: dot_general {{%[0-9]+}}, %arg2
// CHECK-SAME: scalify.last
// CHECK: dot_general {{%[0-9]+}}, %arg0
// CHECK-NOT: scalify.last
// CHECK: return
func.func @main(%x: tensor<8x4xf32>, %a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %h = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %t = stablehlo.tanh %h : tensor<8x4xf32>
  %y = stablehlo.dot_general %t, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %d = stablehlo.sine %y : tensor<8x4xf32>
  %db = stablehlo.dot_general %d, %t, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %dt = stablehlo.dot_general %d, %b, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %dh = stablehlo.multiply %dt, %t : tensor<8x4xf32>
  %da = stablehlo.dot_general %dh, %x, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %da, %db : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The second layer is a call of the function of the first one, whose matmul they share.

// CHECK-LABEL: func.func @main
// CHECK-NOT: scalify.last
func.func @main(%x: tensor<8x4xf32>, %a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %h = call @layer(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %y = call @layer(%h, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
func.func private @layer(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %t = stablehlo.tanh %y : tensor<8x4xf32>
  return %t : tensor<8x4xf32>
}
