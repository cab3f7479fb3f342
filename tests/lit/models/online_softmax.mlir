// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{predict=unit annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8

// Attention block by block, with a running maximum and sum.
// UNIT:      module @_sm attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x5xf32>, %arg2: tensor<2x4x8xf32>, %arg3: tensor<2x4x8xf32>) -> (tensor<8x5xf32> {jax.result_info = "result"}) {
// UNIT-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// UNIT-NEXT: %c_0 = stablehlo.constant dense<2> : tensor<i32>
// UNIT-NEXT: %c_1 = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<8x1xf32>
// UNIT-NEXT: %1 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<8x1xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<8x8xf32>
// UNIT-NEXT: %3:7 = stablehlo.while(%iterArg = %arg2, %iterArg_3 = %arg3, %iterArg_4 = %arg0, %iterArg_5 = %c_1, %iterArg_6 = %0, %iterArg_7 = %1, %iterArg_8 = %2) : tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0 level 2.46907e-08", "2^0 level 2.5", "2^0 level 1.5"]}
// UNIT-NEXT: cond {
// UNIT-NEXT: %7 = stablehlo.compare LT, %iterArg_5, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// UNIT-NEXT: stablehlo.return %7 : tensor<i1>
// UNIT-NEXT: } do {
// UNIT-NEXT: %7 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_5) {scalify.forms = ["2^0"]} : (tensor<2x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
// UNIT-NEXT: %8 = func.call @dynamic_index_in_dim(%iterArg_3, %iterArg_5) {scalify.forms = ["2^0"]} : (tensor<2x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
// UNIT-NEXT: %9:3 = func.call @closed_call(%iterArg_4, %iterArg_6, %iterArg_7, %iterArg_8, %7, %8) {scalify.forms = ["2^0 level 2.46907e-08", "2^0 level 2.5", "2^0 level 1.5"]} : (tensor<8x8xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>)
// UNIT-NEXT: %10 = stablehlo.add %iterArg_5, %c : tensor<i32>
// UNIT-NEXT: stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %10, %9#0, %9#1, %9#2 : tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %3#5, dims = [0, 1] {scalify.forms = ["2^0 level 2.5"]} : (tensor<8x1xf32>) -> tensor<8x8xf32>
// UNIT-NEXT: %5 = stablehlo.divide %3#6, %4 {scalify.forms = ["2^0 level -1"]} : tensor<8x8xf32>
// UNIT-NEXT: %6 = stablehlo.dot_general %5, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 0.5"]} : (tensor<8x8xf32>, tensor<8x5xf32>) -> tensor<8x5xf32>
// UNIT-NEXT: return %6 : tensor<8x5xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<2x4x8xf32>, %arg1: tensor<i32>) -> tensor<4x8xf32> {
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 4, 8] : (tensor<2x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
// UNIT-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
// UNIT-NEXT: return %1 : tensor<4x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @closed_call(%arg0: tensor<8x8xf32>, %arg1: tensor<8x1xf32>, %arg2: tensor<8x1xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<4x8xf32>, %arg5: tensor<4x8xf32>) -> (tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<2.82842708> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.transpose %arg4, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
// UNIT-NEXT: %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
// UNIT-NEXT: %3 = stablehlo.divide %1, %2 : tensor<8x4xf32>
// UNIT-NEXT: %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
// UNIT-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
// UNIT-NEXT: %6 = stablehlo.convert %arg1 : tensor<8x1xf32>
// UNIT-NEXT: %7 = stablehlo.maximum %6, %5 : tensor<8x1xf32>
// UNIT-NEXT: %8 = stablehlo.convert %arg1 : tensor<8x1xf32>
// UNIT-NEXT: %9 = stablehlo.subtract %8, %7 : tensor<8x1xf32>
// UNIT-NEXT: %10 = stablehlo.exponential %9 : tensor<8x1xf32>
// UNIT-NEXT: %11 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
// UNIT-NEXT: %12 = stablehlo.subtract %3, %11 : tensor<8x4xf32>
// UNIT-NEXT: %13 = stablehlo.exponential %12 : tensor<8x4xf32>
// UNIT-NEXT: %14 = stablehlo.multiply %arg2, %10 : tensor<8x1xf32>
// UNIT-NEXT: %15 = stablehlo.reduce(%13 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
// UNIT-NEXT: %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
// UNIT-NEXT: %17 = stablehlo.add %14, %16 : tensor<8x1xf32>
// UNIT-NEXT: %18 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
// UNIT-NEXT: %19 = stablehlo.multiply %arg3, %18 : tensor<8x8xf32>
// UNIT-NEXT: %20 = stablehlo.dot_general %13, %arg5, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
// UNIT-NEXT: %21 = stablehlo.add %19, %20 : tensor<8x8xf32>
// UNIT-NEXT: return %7, %17, %21 : tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module @_sm attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x5xf32>, %arg2: tensor<2x4x8xf32>, %arg3: tensor<2x4x8xf32>) -> (tensor<8x5xf32> {jax.result_info = "result"}) {
// FP8-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// FP8-NEXT: %c_0 = stablehlo.constant dense<2> : tensor<i32>
// FP8-NEXT: %c_1 = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<8x1xf32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<8x1xf32>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<8x8xf32>
// FP8-NEXT: %3:7 = stablehlo.while(%iterArg = %arg2, %iterArg_3 = %arg3, %iterArg_4 = %arg0, %iterArg_5 = %c_1, %iterArg_6 = %0, %iterArg_7 = %1, %iterArg_8 = %2) : tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0 level -0.5", "2^0 level 1", "2^0 level 1"]}
// FP8-NEXT: cond {
// FP8-NEXT: %7 = stablehlo.compare LT, %iterArg_5, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// FP8-NEXT: stablehlo.return %7 : tensor<i1>
// FP8-NEXT: } do {
// FP8-NEXT: %7 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_5) {scalify.forms = ["2^0"]} : (tensor<2x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
// FP8-NEXT: %8 = func.call @dynamic_index_in_dim(%iterArg_3, %iterArg_5) {scalify.forms = ["2^0"]} : (tensor<2x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
// FP8-NEXT: %9:3 = func.call @closed_call(%iterArg_4, %iterArg_6, %iterArg_7, %iterArg_8, %7, %8) {scalify.forms = ["2^0 level -0.5", "2^0 level 1", "2^0 level 1"]} : (tensor<8x8xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>)
// FP8-NEXT: %10 = stablehlo.add %iterArg_5, %c : tensor<i32>
// FP8-NEXT: stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %10, %9#0, %9#1, %9#2 : tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>
// FP8-NEXT: }
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %3#5, dims = [0, 1] {scalify.forms = ["2^0 level 1"]} : (tensor<8x1xf32>) -> tensor<8x8xf32>
// FP8-NEXT: %5 = stablehlo.divide %3#6, %4 {scalify.forms = ["2^0"]} : tensor<8x8xf32>
// FP8-NEXT: %6 = stablehlo.dot_general %5, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 1"]} : (tensor<8x8xf32>, tensor<8x5xf32>) -> tensor<8x5xf32>
// FP8-NEXT: return %6 : tensor<8x5xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<2x4x8xf32>, %arg1: tensor<i32>) -> tensor<4x8xf32> {
// FP8-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 4, 8] : (tensor<2x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
// FP8-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
// FP8-NEXT: return %1 : tensor<4x8xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @closed_call(%arg0: tensor<8x8xf32>, %arg1: tensor<8x1xf32>, %arg2: tensor<8x1xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<4x8xf32>, %arg5: tensor<4x8xf32>) -> (tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>) {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<2.82842708> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.transpose %arg4, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
// FP8-NEXT: %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
// FP8-NEXT: %3 = stablehlo.divide %1, %2 : tensor<8x4xf32>
// FP8-NEXT: %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
// FP8-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
// FP8-NEXT: %6 = stablehlo.convert %arg1 : tensor<8x1xf32>
// FP8-NEXT: %7 = stablehlo.maximum %6, %5 : tensor<8x1xf32>
// FP8-NEXT: %8 = stablehlo.convert %arg1 : tensor<8x1xf32>
// FP8-NEXT: %9 = stablehlo.subtract %8, %7 : tensor<8x1xf32>
// FP8-NEXT: %10 = stablehlo.exponential %9 : tensor<8x1xf32>
// FP8-NEXT: %11 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
// FP8-NEXT: %12 = stablehlo.subtract %3, %11 : tensor<8x4xf32>
// FP8-NEXT: %13 = stablehlo.exponential %12 : tensor<8x4xf32>
// FP8-NEXT: %14 = stablehlo.multiply %arg2, %10 : tensor<8x1xf32>
// FP8-NEXT: %15 = stablehlo.reduce(%13 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
// FP8-NEXT: %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
// FP8-NEXT: %17 = stablehlo.add %14, %16 : tensor<8x1xf32>
// FP8-NEXT: %18 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
// FP8-NEXT: %19 = stablehlo.multiply %arg3, %18 : tensor<8x8xf32>
// FP8-NEXT: %20 = stablehlo.dot_general %13, %arg5, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
// FP8-NEXT: %21 = stablehlo.add %19, %20 : tensor<8x8xf32>
// FP8-NEXT: return %7, %17, %21 : tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>
// FP8-NEXT: }
// FP8-NEXT: }

module @_sm attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x5xf32>, %arg2: tensor<2x4x8xf32>, %arg3: tensor<2x4x8xf32>) -> (tensor<8x5xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x1xf32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x1xf32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %3:7 = stablehlo.while(%iterArg = %arg2, %iterArg_3 = %arg3, %iterArg_4 = %arg0, %iterArg_5 = %c_1, %iterArg_6 = %0, %iterArg_7 = %1, %iterArg_8 = %2) : tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>
    cond {
      %7 = stablehlo.compare LT, %iterArg_5, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_5) : (tensor<2x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
      %8 = func.call @dynamic_index_in_dim(%iterArg_3, %iterArg_5) : (tensor<2x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
      %9:3 = func.call @closed_call(%iterArg_4, %iterArg_6, %iterArg_7, %iterArg_8, %7, %8) : (tensor<8x8xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>)
      %10 = stablehlo.add %iterArg_5, %c : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %10, %9#0, %9#1, %9#2 : tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>
    }
    %4 = stablehlo.broadcast_in_dim %3#5, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.divide %3#6, %4 : tensor<8x8xf32>
    %6 = stablehlo.dot_general %5, %arg1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x5xf32>) -> tensor<8x5xf32>
    return %6 : tensor<8x5xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<2x4x8xf32>, %arg1: tensor<i32>) -> tensor<4x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 4, 8] : (tensor<2x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x8xf32>, %arg1: tensor<8x1xf32>, %arg2: tensor<8x1xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<4x8xf32>, %arg5: tensor<4x8xf32>) -> (tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %0 = stablehlo.transpose %arg4, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %3 = stablehlo.divide %1, %2 : tensor<8x4xf32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
    %6 = stablehlo.convert %arg1 : tensor<8x1xf32>
    %7 = stablehlo.maximum %6, %5 : tensor<8x1xf32>
    %8 = stablehlo.convert %arg1 : tensor<8x1xf32>
    %9 = stablehlo.subtract %8, %7 : tensor<8x1xf32>
    %10 = stablehlo.exponential %9 : tensor<8x1xf32>
    %11 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %12 = stablehlo.subtract %3, %11 : tensor<8x4xf32>
    %13 = stablehlo.exponential %12 : tensor<8x4xf32>
    %14 = stablehlo.multiply %arg2, %10 : tensor<8x1xf32>
    %15 = stablehlo.reduce(%13 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
    %17 = stablehlo.add %14, %16 : tensor<8x1xf32>
    %18 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
    %19 = stablehlo.multiply %arg3, %18 : tensor<8x8xf32>
    %20 = stablehlo.dot_general %13, %arg5, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %21 = stablehlo.add %19, %20 : tensor<8x8xf32>
    return %7, %17, %21 : tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x8xf32>
  }
}
