// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Scales multiply, and sums of 64 terms raise the level by 3.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<11x64xf32> {scalify.scale = -4 : i64}, %w: tensor<3x64x7xf32>,
    %groups: tensor<3xi64>) -> (tensor<11x7xf32> {scalify.pair}) {
  // CHECK: %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}["2^-4"]
  // CHECK: "chlo.ragged_dot"(%[[X]], %arg1, %arg2){{.*}}["2^-4 level 3"]
  %0 = "chlo.ragged_dot"(%x, %w, %groups) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
    precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]
  } : (tensor<11x64xf32>, tensor<3x64x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  func.return %0 : tensor<11x7xf32>
}

// -----

// Where the groups share the 64 terms, an average one of 4 has 16, which raise the level by 2.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<64x5xf32> {scalify.scale = -4 : i64}, %y: tensor<64x7xf32>,
    %groups: tensor<4xi64>) -> (tensor<4x5x7xf32> {scalify.pair}) {
  // CHECK: "chlo.ragged_dot"({{.*}}["2^-4 level 2"]
  %0 = "chlo.ragged_dot"(%x, %y, %groups) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0], rhs_group_dimensions = []>,
    precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]
  } : (tensor<64x5xf32>, tensor<64x7xf32>, tensor<4xi64>) -> tensor<4x5x7xf32>
  func.return %0 : tensor<4x5x7xf32>
}
