// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{predict=unit annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8

// A gated recurrent network, which is a scan.
// UNIT:      module @_loops attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<4x6x8xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<8x24xf32>, %arg3: tensor<8x5xf32>) -> (tensor<6x5xf32> {jax.result_info = "result"}) {
// UNIT-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// UNIT-NEXT: %c_0 = stablehlo.constant dense<4> : tensor<i32>
// UNIT-NEXT: %c_1 = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x8xf32>
// UNIT-NEXT: %1:5 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %arg1, %iterArg_3 = %arg2, %iterArg_4 = %c_1, %iterArg_5 = %0) : tensor<4x6x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<i32>, tensor<6x8xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0 level -1.2446"]}
// UNIT-NEXT: cond {
// UNIT-NEXT: %3 = stablehlo.compare LT, %iterArg_4, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// UNIT-NEXT: stablehlo.return %3 : tensor<i1>
// UNIT-NEXT: } do {
// UNIT-NEXT: %3 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_4) {scalify.forms = ["2^0"]} : (tensor<4x6x8xf32>, tensor<i32>) -> tensor<6x8xf32>
// UNIT-NEXT: %4 = func.call @closed_call(%iterArg_2, %iterArg_3, %iterArg_5, %3) {scalify.forms = ["2^0 level -1.2446"]} : (tensor<8x24xf32>, tensor<8x24xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %5 = stablehlo.add %iterArg_4, %c : tensor<i32>
// UNIT-NEXT: stablehlo.return %iterArg, %iterArg_2, %iterArg_3, %5, %4 : tensor<4x6x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<i32>, tensor<6x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: %2 = stablehlo.dot_general %1#4, %arg3, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 0.255403"]} : (tensor<6x8xf32>, tensor<8x5xf32>) -> tensor<6x5xf32>
// UNIT-NEXT: return %2 : tensor<6x5xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<4x6x8xf32>, %arg1: tensor<i32>) -> tensor<6x8xf32> {
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 6, 8] : (tensor<4x6x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x8xf32>
// UNIT-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x6x8xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: return %1 : tensor<6x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @closed_call(%arg0: tensor<8x24xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<6x8xf32>, %arg3: tensor<6x8xf32>) -> tensor<6x8xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x24xf32>) -> tensor<6x24xf32>
// UNIT-NEXT: %1 = stablehlo.slice %0 [0:6, 0:8] : (tensor<6x24xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %2 = stablehlo.slice %0 [0:6, 8:16] : (tensor<6x24xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %3 = stablehlo.slice %0 [0:6, 16:24] : (tensor<6x24xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %4 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x24xf32>) -> tensor<6x24xf32>
// UNIT-NEXT: %5 = stablehlo.slice %4 [0:6, 0:8] : (tensor<6x24xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %6 = stablehlo.slice %4 [0:6, 8:16] : (tensor<6x24xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %7 = stablehlo.slice %4 [0:6, 16:24] : (tensor<6x24xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %8 = stablehlo.add %1, %5 : tensor<6x8xf32>
// UNIT-NEXT: %9 = stablehlo.negate %8 : tensor<6x8xf32>
// UNIT-NEXT: %10 = stablehlo.exponential %9 : tensor<6x8xf32>
// UNIT-NEXT: %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// UNIT-NEXT: %12 = stablehlo.add %11, %10 : tensor<6x8xf32>
// UNIT-NEXT: %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// UNIT-NEXT: %14 = stablehlo.divide %13, %12 : tensor<6x8xf32>
// UNIT-NEXT: %15 = stablehlo.add %2, %6 : tensor<6x8xf32>
// UNIT-NEXT: %16 = stablehlo.negate %15 : tensor<6x8xf32>
// UNIT-NEXT: %17 = stablehlo.exponential %16 : tensor<6x8xf32>
// UNIT-NEXT: %18 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// UNIT-NEXT: %19 = stablehlo.add %18, %17 : tensor<6x8xf32>
// UNIT-NEXT: %20 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// UNIT-NEXT: %21 = stablehlo.divide %20, %19 : tensor<6x8xf32>
// UNIT-NEXT: %22 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// UNIT-NEXT: %23 = stablehlo.subtract %22, %21 : tensor<6x8xf32>
// UNIT-NEXT: %24 = stablehlo.multiply %14, %7 : tensor<6x8xf32>
// UNIT-NEXT: %25 = stablehlo.add %3, %24 : tensor<6x8xf32>
// UNIT-NEXT: %26 = stablehlo.tanh %25 : tensor<6x8xf32>
// UNIT-NEXT: %27 = stablehlo.multiply %23, %26 : tensor<6x8xf32>
// UNIT-NEXT: %28 = stablehlo.multiply %21, %arg2 : tensor<6x8xf32>
// UNIT-NEXT: %29 = stablehlo.add %27, %28 : tensor<6x8xf32>
// UNIT-NEXT: return %29 : tensor<6x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module @_loops attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<4x6x8xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<8x24xf32>, %arg3: tensor<8x5xf32>) -> (tensor<6x5xf32> {jax.result_info = "result"}) {
// FP8-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// FP8-NEXT: %c_0 = stablehlo.constant dense<4> : tensor<i32>
// FP8-NEXT: %c_1 = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x8xf32>
// FP8-NEXT: %1:5 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %arg1, %iterArg_3 = %arg2, %iterArg_4 = %c_1, %iterArg_5 = %0) : tensor<4x6x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<i32>, tensor<6x8xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0"]}
// FP8-NEXT: cond {
// FP8-NEXT: %3 = stablehlo.compare LT, %iterArg_4, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// FP8-NEXT: stablehlo.return %3 : tensor<i1>
// FP8-NEXT: } do {
// FP8-NEXT: %3 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_4) {scalify.forms = ["2^0"]} : (tensor<4x6x8xf32>, tensor<i32>) -> tensor<6x8xf32>
// FP8-NEXT: %4 = func.call @closed_call(%iterArg_2, %iterArg_3, %iterArg_5, %3) {scalify.forms = ["2^0"]} : (tensor<8x24xf32>, tensor<8x24xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %5 = stablehlo.add %iterArg_4, %c : tensor<i32>
// FP8-NEXT: stablehlo.return %iterArg, %iterArg_2, %iterArg_3, %5, %4 : tensor<4x6x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<i32>, tensor<6x8xf32>
// FP8-NEXT: }
// FP8-NEXT: %2 = stablehlo.dot_general %1#4, %arg3, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 1"]} : (tensor<6x8xf32>, tensor<8x5xf32>) -> tensor<6x5xf32>
// FP8-NEXT: return %2 : tensor<6x5xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<4x6x8xf32>, %arg1: tensor<i32>) -> tensor<6x8xf32> {
// FP8-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 6, 8] : (tensor<4x6x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x8xf32>
// FP8-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x6x8xf32>) -> tensor<6x8xf32>
// FP8-NEXT: return %1 : tensor<6x8xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @closed_call(%arg0: tensor<8x24xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<6x8xf32>, %arg3: tensor<6x8xf32>) -> tensor<6x8xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x24xf32>) -> tensor<6x24xf32>
// FP8-NEXT: %1 = stablehlo.slice %0 [0:6, 0:8] : (tensor<6x24xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %2 = stablehlo.slice %0 [0:6, 8:16] : (tensor<6x24xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %3 = stablehlo.slice %0 [0:6, 16:24] : (tensor<6x24xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %4 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x24xf32>) -> tensor<6x24xf32>
// FP8-NEXT: %5 = stablehlo.slice %4 [0:6, 0:8] : (tensor<6x24xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %6 = stablehlo.slice %4 [0:6, 8:16] : (tensor<6x24xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %7 = stablehlo.slice %4 [0:6, 16:24] : (tensor<6x24xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %8 = stablehlo.add %1, %5 : tensor<6x8xf32>
// FP8-NEXT: %9 = stablehlo.negate %8 : tensor<6x8xf32>
// FP8-NEXT: %10 = stablehlo.exponential %9 : tensor<6x8xf32>
// FP8-NEXT: %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// FP8-NEXT: %12 = stablehlo.add %11, %10 : tensor<6x8xf32>
// FP8-NEXT: %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// FP8-NEXT: %14 = stablehlo.divide %13, %12 : tensor<6x8xf32>
// FP8-NEXT: %15 = stablehlo.add %2, %6 : tensor<6x8xf32>
// FP8-NEXT: %16 = stablehlo.negate %15 : tensor<6x8xf32>
// FP8-NEXT: %17 = stablehlo.exponential %16 : tensor<6x8xf32>
// FP8-NEXT: %18 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// FP8-NEXT: %19 = stablehlo.add %18, %17 : tensor<6x8xf32>
// FP8-NEXT: %20 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// FP8-NEXT: %21 = stablehlo.divide %20, %19 : tensor<6x8xf32>
// FP8-NEXT: %22 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// FP8-NEXT: %23 = stablehlo.subtract %22, %21 : tensor<6x8xf32>
// FP8-NEXT: %24 = stablehlo.multiply %14, %7 : tensor<6x8xf32>
// FP8-NEXT: %25 = stablehlo.add %3, %24 : tensor<6x8xf32>
// FP8-NEXT: %26 = stablehlo.tanh %25 : tensor<6x8xf32>
// FP8-NEXT: %27 = stablehlo.multiply %23, %26 : tensor<6x8xf32>
// FP8-NEXT: %28 = stablehlo.multiply %21, %arg2 : tensor<6x8xf32>
// FP8-NEXT: %29 = stablehlo.add %27, %28 : tensor<6x8xf32>
// FP8-NEXT: return %29 : tensor<6x8xf32>
// FP8-NEXT: }
// FP8-NEXT: }

module @_loops attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6x8xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<8x24xf32>, %arg3: tensor<8x5xf32>) -> (tensor<6x5xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %1:5 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %arg1, %iterArg_3 = %arg2, %iterArg_4 = %c_1, %iterArg_5 = %0) : tensor<4x6x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<i32>, tensor<6x8xf32>
    cond {
      %3 = stablehlo.compare LT, %iterArg_4, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_4) : (tensor<4x6x8xf32>, tensor<i32>) -> tensor<6x8xf32>
      %4 = func.call @closed_call(%iterArg_2, %iterArg_3, %iterArg_5, %3) : (tensor<8x24xf32>, tensor<8x24xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
      %5 = stablehlo.add %iterArg_4, %c : tensor<i32>
      stablehlo.return %iterArg, %iterArg_2, %iterArg_3, %5, %4 : tensor<4x6x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<i32>, tensor<6x8xf32>
    }
    %2 = stablehlo.dot_general %1#4, %arg3, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x5xf32>) -> tensor<6x5xf32>
    return %2 : tensor<6x5xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x6x8xf32>, %arg1: tensor<i32>) -> tensor<6x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 6, 8] : (tensor<4x6x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x6x8xf32>) -> tensor<6x8xf32>
    return %1 : tensor<6x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x24xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<6x8xf32>, %arg3: tensor<6x8xf32>) -> tensor<6x8xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x24xf32>) -> tensor<6x24xf32>
    %1 = stablehlo.slice %0 [0:6, 0:8] : (tensor<6x24xf32>) -> tensor<6x8xf32>
    %2 = stablehlo.slice %0 [0:6, 8:16] : (tensor<6x24xf32>) -> tensor<6x8xf32>
    %3 = stablehlo.slice %0 [0:6, 16:24] : (tensor<6x24xf32>) -> tensor<6x8xf32>
    %4 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x24xf32>) -> tensor<6x24xf32>
    %5 = stablehlo.slice %4 [0:6, 0:8] : (tensor<6x24xf32>) -> tensor<6x8xf32>
    %6 = stablehlo.slice %4 [0:6, 8:16] : (tensor<6x24xf32>) -> tensor<6x8xf32>
    %7 = stablehlo.slice %4 [0:6, 16:24] : (tensor<6x24xf32>) -> tensor<6x8xf32>
    %8 = stablehlo.add %1, %5 : tensor<6x8xf32>
    %9 = stablehlo.negate %8 : tensor<6x8xf32>
    %10 = stablehlo.exponential %9 : tensor<6x8xf32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %12 = stablehlo.add %11, %10 : tensor<6x8xf32>
    %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %14 = stablehlo.divide %13, %12 : tensor<6x8xf32>
    %15 = stablehlo.add %2, %6 : tensor<6x8xf32>
    %16 = stablehlo.negate %15 : tensor<6x8xf32>
    %17 = stablehlo.exponential %16 : tensor<6x8xf32>
    %18 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %19 = stablehlo.add %18, %17 : tensor<6x8xf32>
    %20 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %21 = stablehlo.divide %20, %19 : tensor<6x8xf32>
    %22 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %23 = stablehlo.subtract %22, %21 : tensor<6x8xf32>
    %24 = stablehlo.multiply %14, %7 : tensor<6x8xf32>
    %25 = stablehlo.add %3, %24 : tensor<6x8xf32>
    %26 = stablehlo.tanh %25 : tensor<6x8xf32>
    %27 = stablehlo.multiply %23, %26 : tensor<6x8xf32>
    %28 = stablehlo.multiply %21, %arg2 : tensor<6x8xf32>
    %29 = stablehlo.add %27, %28 : tensor<6x8xf32>
    return %29 : tensor<6x8xf32>
  }
}
