// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-roles)' | %filecheck %s

// The weight of an embedding that rows are looked up in, also in a function.

// CHECK-LABEL: func.func @main
// CHECK: dot_general
// CHECK-NOT: scalify.vocabulary
// CHECK: dot_general
// CHECK-SAME: scalify.vocabulary
func.func @main(%tokens: tensor<8x1xi32>, %table: tensor<12x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x12xf32> {
  %x = call @rows(%table, %tokens) : (tensor<12x4xf32>, tensor<8x1xi32>) -> tensor<8x4xf32>
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %y = stablehlo.dot_general %h, %table, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<12x4xf32>) -> tensor<8x12xf32>
  return %y : tensor<8x12xf32>
}
func.func private @rows(%table: tensor<12x4xf32>, %tokens: tensor<8x1xi32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.gather"(%table, %tokens) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<12x4xf32>, tensor<8x1xi32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A weight of the shape of an embedding, the other way around, if no other matmul follows.

// CHECK-LABEL: func.func @main
// CHECK: dot_general
// CHECK-NOT: scalify.vocabulary
// CHECK: dot_general
// CHECK-NOT: scalify.vocabulary
// CHECK: dot_general
// CHECK-SAME: scalify.vocabulary
func.func @main(%tokens: tensor<8x1xi32>, %table: tensor<12x4xf32>, %up: tensor<4x12xf32>, %down: tensor<12x4xf32>, %head: tensor<4x12xf32>) -> tensor<8x12xf32> {
  %x = "stablehlo.gather"(%table, %tokens) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<12x4xf32>, tensor<8x1xi32>) -> tensor<8x4xf32>
  %u = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x12xf32>) -> tensor<8x12xf32>
  %t = stablehlo.tanh %u : tensor<8x12xf32>
  %h = stablehlo.dot_general %t, %down, contracting_dims = [1] x [0] : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  %y = stablehlo.dot_general %h, %head, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x12xf32>) -> tensor<8x12xf32>
  return %y : tensor<8x12xf32>
}

// -----

// A last weight of far more outputs than inputs; with fewer outputs it is one as any other.

// CHECK-LABEL: func.func @main
// CHECK: dot_general
// CHECK-SAME: scalify.vocabulary
// CHECK: dot_general
// CHECK-NOT: scalify.vocabulary
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x8192xf32>, %v: tensor<4x8191xf32>) -> (tensor<8x8192xf32>, tensor<8x8191xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8192xf32>) -> tensor<8x8192xf32>
  %z = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8191xf32>) -> tensor<8x8191xf32>
  return %y, %z : tensor<8x8192xf32>, tensor<8x8191xf32>
}
