// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{recipe=fp8 annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature,scalify-roles,scalify-recognize{scales=true marked=true},scalify-quantize-matmuls{recipe=%S/Inputs/channels.toml},scalify-narrow-state{recipe=%S/Inputs/channels.toml},scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=CHANNELS

// The gradients of a ragged matmul, of a mixture of experts.
// FP8:      module @__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<32x16xf32>, %arg1: tensor<3x16x32xf32>, %arg2: tensor<3xi32>) -> (tensor<32x16xf32> {jax.result_info = "result[0]"}, tensor<3x16x32xf32> {jax.result_info = "result[1]"}) {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<32x16xf32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<3x16x32xf32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_3 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_4 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_5 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg1, %cst_1 : tensor<3x16x32xf32>
// FP8-NEXT: %1 = stablehlo.add %arg1, %0 : tensor<3x16x32xf32>
// FP8-NEXT: %2 = stablehlo.clamp %cst_2, %1, %cst_3 : (tensor<f32>, tensor<3x16x32xf32>, tensor<f32>) -> tensor<3x16x32xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<3x16x32xf32>) -> tensor<3x16x32xf8E4M3FN>
// FP8-NEXT: %4 = stablehlo.multiply %arg0, %cst_0 : tensor<32x16xf32>
// FP8-NEXT: %5 = stablehlo.add %arg0, %4 : tensor<32x16xf32>
// FP8-NEXT: %6 = stablehlo.clamp %cst_2, %5, %cst_3 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// FP8-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// FP8-NEXT: %8 = "chlo.ragged_dot"(%7, %3, %arg2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> {scalify.composite = 1 : i32, scalify.forms = ["2^0 level 2"]} : (tensor<32x16xf8E4M3FN>, tensor<3x16x32xf8E4M3FN>, tensor<3xi32>) -> tensor<32x32xf32>
// FP8-NEXT: %9 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %10 = stablehlo.multiply %9, %8 {scalify.forms = ["2^0 level 3"]} : tensor<32x32xf32>
// FP8-NEXT: %11 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %12 = stablehlo.multiply %11, %10 {scalify.forms = ["2^0 level 3"]} : tensor<32x32xf32>
// FP8-NEXT: %cst_8 = stablehlo.constant dense<1.250000e-01> : tensor<32x32xf32>
// FP8-NEXT: %13 = stablehlo.multiply %cst_8, %10 : tensor<32x32xf32>
// FP8-NEXT: %14 = stablehlo.multiply %13, %cst : tensor<32x32xf32>
// FP8-NEXT: %15 = stablehlo.add %13, %14 : tensor<32x32xf32>
// FP8-NEXT: %16 = stablehlo.clamp %cst_4, %15, %cst_5 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %17 = stablehlo.convert %16 {scalify.forms = ["2^3"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E5M2>
// FP8-NEXT: %18 = stablehlo.optimization_barrier {scalify.forms = ["2^3"]} %17 : tensor<32x32xf8E5M2>
// FP8-NEXT: %19 = "chlo.ragged_dot"(%arg0, %12, %arg2) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>}> {scalify.composite = 1 : i32, scalify.forms = ["2^0 level 4"]} : (tensor<32x16xf32>, tensor<32x32xf32>, tensor<3xi32>) -> tensor<3x16x32xf32>
// FP8-NEXT: %20 = "chlo.ragged_dot"(%18, %3, %arg2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> {scalify.composite = 1 : i32, scalify.forms = ["2^3 level 2"]} : (tensor<32x32xf8E5M2>, tensor<3x16x32xf8E4M3FN>, tensor<3xi32>) -> tensor<32x16xf32>
// FP8-NEXT: %cst_9 = stablehlo.constant dense<8.000000e+00> : tensor<32x16xf32>
// FP8-NEXT: %21 = stablehlo.multiply %20, %cst_9 : tensor<32x16xf32>
// FP8-NEXT: return %21, %19 : tensor<32x16xf32>, tensor<3x16x32xf32>
// FP8-NEXT: }
// FP8-NEXT: }
// CHANNELS:      module @__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// CHANNELS-NEXT: func.func public @main(%arg0: tensor<32x16xf32>, %arg1: tensor<3x16x32xf32>, %arg2: tensor<3xi32>) -> (tensor<32x16xf32> {jax.result_info = "result[0]"}, tensor<3x16x32xf32> {jax.result_info = "result[1]"}) {
// CHANNELS-NEXT: %c = stablehlo.constant dense<2130706432> : tensor<3xui32>
// CHANNELS-NEXT: %c_0 = stablehlo.constant dense<2197815296> : tensor<3xui32>
// CHANNELS-NEXT: %c_1 = stablehlo.constant dense<2139095040> : tensor<3xui32>
// CHANNELS-NEXT: %c_2 = stablehlo.constant dense<2097151> : tensor<3xui32>
// CHANNELS-NEXT: %cst = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<3xf32>
// CHANNELS-NEXT: %c_3 = stablehlo.constant dense<8388608> : tensor<3xi32>
// CHANNELS-NEXT: %c_4 = stablehlo.constant dense<2256535552> : tensor<ui32>
// CHANNELS-NEXT: %c_5 = stablehlo.constant dense<8388608> : tensor<32x32xi32>
// CHANNELS-NEXT: %c_6 = stablehlo.constant dense<2130706432> : tensor<3x32xui32>
// CHANNELS-NEXT: %c_7 = stablehlo.constant dense<2197815296> : tensor<3x32xui32>
// CHANNELS-NEXT: %c_8 = stablehlo.constant dense<2139095040> : tensor<3x32xui32>
// CHANNELS-NEXT: %c_9 = stablehlo.constant dense<2097151> : tensor<3x32xui32>
// CHANNELS-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<3x32xf32>
// CHANNELS-NEXT: %c_11 = stablehlo.constant dense<8388608> : tensor<3x32xi32>
// CHANNELS-NEXT: %c_12 = stablehlo.constant dense<8388608> : tensor<3x16x32xi32>
// CHANNELS-NEXT: %c_13 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHANNELS-NEXT: %c_14 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CHANNELS-NEXT: %c_15 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CHANNELS-NEXT: %c_16 = stablehlo.constant dense<2097151> : tensor<ui32>
// CHANNELS-NEXT: %cst_17 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %c_18 = stablehlo.constant dense<8388608> : tensor<i32>
// CHANNELS-NEXT: %c_19 = stablehlo.constant dense<8388608> : tensor<32x16xi32>
// CHANNELS-NEXT: %0 = stablehlo.abs %arg1 : tensor<3x16x32xf32>
// CHANNELS-NEXT: %1 = stablehlo.bitcast_convert %0 : (tensor<3x16x32xf32>) -> tensor<3x16x32xi32>
// CHANNELS-NEXT: %2 = stablehlo.add %1, %c_12 : tensor<3x16x32xi32>
// CHANNELS-NEXT: %3 = stablehlo.reduce(%2 init: %c_18) applies stablehlo.maximum across dimensions = [1, 2] : (tensor<3x16x32xi32>, tensor<i32>) -> tensor<3xi32>
// CHANNELS-NEXT: %4 = stablehlo.optimization_barrier %3 : tensor<3xi32>
// CHANNELS-NEXT: %5 = stablehlo.subtract %4, %c_3 : tensor<3xi32>
// CHANNELS-NEXT: %6 = stablehlo.bitcast_convert %5 : (tensor<3xi32>) -> tensor<3xf32>
// CHANNELS-NEXT: %7 = stablehlo.maximum %6, %cst : tensor<3xf32>
// CHANNELS-NEXT: %8 = stablehlo.bitcast_convert %7 : (tensor<3xf32>) -> tensor<3xui32>
// CHANNELS-NEXT: %9 = stablehlo.add %8, %c_2 : tensor<3xui32>
// CHANNELS-NEXT: %10 = stablehlo.and %9, %c_1 : tensor<3xui32>
// CHANNELS-NEXT: %11 = stablehlo.subtract %c_0, %10 : tensor<3xui32>
// CHANNELS-NEXT: %12 = stablehlo.bitcast_convert %11 : (tensor<3xui32>) -> tensor<3xf32>
// CHANNELS-NEXT: %13 = stablehlo.bitcast_convert %12 : (tensor<3xf32>) -> tensor<3xui32>
// CHANNELS-NEXT: %14 = stablehlo.subtract %c, %13 : tensor<3xui32>
// CHANNELS-NEXT: %15 = stablehlo.bitcast_convert %14 : (tensor<3xui32>) -> tensor<3xf32>
// CHANNELS-NEXT: %16 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<3xf32>) -> tensor<3x16x32xf32>
// CHANNELS-NEXT: %17 = stablehlo.multiply %arg1, %16 : tensor<3x16x32xf32>
// CHANNELS-NEXT: %18 = stablehlo.convert %17 : (tensor<3x16x32xf32>) -> tensor<3x16x32xf8E4M3FN>
// CHANNELS-NEXT: %19 = stablehlo.abs %arg1 : tensor<3x16x32xf32>
// CHANNELS-NEXT: %20 = stablehlo.bitcast_convert %19 : (tensor<3x16x32xf32>) -> tensor<3x16x32xi32>
// CHANNELS-NEXT: %21 = stablehlo.add %20, %c_12 : tensor<3x16x32xi32>
// CHANNELS-NEXT: %22 = stablehlo.reduce(%21 init: %c_18) applies stablehlo.maximum across dimensions = [1] : (tensor<3x16x32xi32>, tensor<i32>) -> tensor<3x32xi32>
// CHANNELS-NEXT: %23 = stablehlo.optimization_barrier %22 : tensor<3x32xi32>
// CHANNELS-NEXT: %24 = stablehlo.subtract %23, %c_11 : tensor<3x32xi32>
// CHANNELS-NEXT: %25 = stablehlo.bitcast_convert %24 : (tensor<3x32xi32>) -> tensor<3x32xf32>
// CHANNELS-NEXT: %26 = stablehlo.maximum %25, %cst_10 : tensor<3x32xf32>
// CHANNELS-NEXT: %27 = stablehlo.bitcast_convert %26 : (tensor<3x32xf32>) -> tensor<3x32xui32>
// CHANNELS-NEXT: %28 = stablehlo.add %27, %c_9 : tensor<3x32xui32>
// CHANNELS-NEXT: %29 = stablehlo.and %28, %c_8 : tensor<3x32xui32>
// CHANNELS-NEXT: %30 = stablehlo.subtract %c_7, %29 : tensor<3x32xui32>
// CHANNELS-NEXT: %31 = stablehlo.bitcast_convert %30 : (tensor<3x32xui32>) -> tensor<3x32xf32>
// CHANNELS-NEXT: %32 = stablehlo.bitcast_convert %31 : (tensor<3x32xf32>) -> tensor<3x32xui32>
// CHANNELS-NEXT: %33 = stablehlo.subtract %c_6, %32 : tensor<3x32xui32>
// CHANNELS-NEXT: %34 = stablehlo.bitcast_convert %33 : (tensor<3x32xui32>) -> tensor<3x32xf32>
// CHANNELS-NEXT: %35 = stablehlo.broadcast_in_dim %31, dims = [0, 2] : (tensor<3x32xf32>) -> tensor<3x16x32xf32>
// CHANNELS-NEXT: %36 = stablehlo.multiply %arg1, %35 : tensor<3x16x32xf32>
// CHANNELS-NEXT: %37 = stablehlo.convert %36 : (tensor<3x16x32xf32>) -> tensor<3x16x32xf8E4M3FN>
// CHANNELS-NEXT: %38 = stablehlo.abs %arg0 : tensor<32x16xf32>
// CHANNELS-NEXT: %39 = stablehlo.bitcast_convert %38 : (tensor<32x16xf32>) -> tensor<32x16xi32>
// CHANNELS-NEXT: %40 = stablehlo.add %39, %c_19 : tensor<32x16xi32>
// CHANNELS-NEXT: %41 = stablehlo.reduce(%40 init: %c_18) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xi32>, tensor<i32>) -> tensor<i32>
// CHANNELS-NEXT: %42 = stablehlo.optimization_barrier %41 : tensor<i32>
// CHANNELS-NEXT: %43 = stablehlo.subtract %42, %c_18 : tensor<i32>
// CHANNELS-NEXT: %44 = stablehlo.bitcast_convert %43 : (tensor<i32>) -> tensor<f32>
// CHANNELS-NEXT: %45 = stablehlo.maximum %44, %cst_17 : tensor<f32>
// CHANNELS-NEXT: %46 = stablehlo.bitcast_convert %45 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %47 = stablehlo.add %46, %c_16 : tensor<ui32>
// CHANNELS-NEXT: %48 = stablehlo.and %47, %c_15 : tensor<ui32>
// CHANNELS-NEXT: %49 = stablehlo.subtract %c_14, %48 : tensor<ui32>
// CHANNELS-NEXT: %50 = stablehlo.bitcast_convert %49 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %51 = stablehlo.bitcast_convert %50 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %52 = stablehlo.subtract %c_13, %51 : tensor<ui32>
// CHANNELS-NEXT: %53 = stablehlo.bitcast_convert %52 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %54 = stablehlo.broadcast_in_dim %50, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %55 = stablehlo.multiply %arg0, %54 : tensor<32x16xf32>
// CHANNELS-NEXT: %56 = stablehlo.convert %55 : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// CHANNELS-NEXT: %cst_20 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %cst_21 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %57 = "chlo.ragged_dot"(%56, %37, %arg2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> {scalify.composite = 1 : i32} : (tensor<32x16xf8E4M3FN>, tensor<3x16x32xf8E4M3FN>, tensor<3xi32>) -> tensor<32x32xf32>
// CHANNELS-NEXT: %58 = stablehlo.broadcast_in_dim %53, dims = [] : (tensor<f32>) -> tensor<3x32xf32>
// CHANNELS-NEXT: %59 = stablehlo.multiply %34, %58 : tensor<3x32xf32>
// CHANNELS-NEXT: %cst_22 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<3x32xf32>
// CHANNELS-NEXT: %60 = stablehlo.minimum %59, %cst_22 : tensor<3x32xf32>
// CHANNELS-NEXT: %61 = stablehlo.iota dim = 0 : tensor<3x3xi32>
// CHANNELS-NEXT: %62 = stablehlo.iota dim = 1 : tensor<3x3xi32>
// CHANNELS-NEXT: %63 = stablehlo.compare LE, %61, %62 : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
// CHANNELS-NEXT: %64 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<3xi32>) -> tensor<3x3xi32>
// CHANNELS-NEXT: %c_23 = stablehlo.constant dense<0> : tensor<3x3xi32>
// CHANNELS-NEXT: %65 = stablehlo.select %63, %64, %c_23 : tensor<3x3xi1>, tensor<3x3xi32>
// CHANNELS-NEXT: %c_24 = stablehlo.constant dense<0> : tensor<i32>
// CHANNELS-NEXT: %66 = stablehlo.reduce(%65 init: %c_24) applies stablehlo.add across dimensions = [0] : (tensor<3x3xi32>, tensor<i32>) -> tensor<3xi32>
// CHANNELS-NEXT: %67 = stablehlo.broadcast_in_dim %66, dims = [1] : (tensor<3xi32>) -> tensor<32x3xi32>
// CHANNELS-NEXT: %68 = stablehlo.iota dim = 0 : tensor<32x3xi32>
// CHANNELS-NEXT: %69 = stablehlo.compare LE, %67, %68 : (tensor<32x3xi32>, tensor<32x3xi32>) -> tensor<32x3xi1>
// CHANNELS-NEXT: %70 = stablehlo.convert %69 : (tensor<32x3xi1>) -> tensor<32x3xi32>
// CHANNELS-NEXT: %c_25 = stablehlo.constant dense<0> : tensor<i32>
// CHANNELS-NEXT: %71 = stablehlo.reduce(%70 init: %c_25) applies stablehlo.add across dimensions = [1] : (tensor<32x3xi32>, tensor<i32>) -> tensor<32xi32>
// CHANNELS-NEXT: %72 = "stablehlo.gather"(%60, %71) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<3x32xf32>, tensor<32xi32>) -> tensor<32x32xf32>
// CHANNELS-NEXT: %73 = stablehlo.broadcast_in_dim %72, dims = [0, 1] : (tensor<32x32xf32>) -> tensor<32x32xf32>
// CHANNELS-NEXT: %74 = stablehlo.multiply %57, %73 : tensor<32x32xf32>
// CHANNELS-NEXT: %75 = stablehlo.broadcast_in_dim %cst_21, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x32xf32>
// CHANNELS-NEXT: %76 = stablehlo.multiply %75, %74 : tensor<32x32xf32>
// CHANNELS-NEXT: %77 = stablehlo.broadcast_in_dim %cst_20, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x32xf32>
// CHANNELS-NEXT: %78 = stablehlo.multiply %77, %76 : tensor<32x32xf32>
// CHANNELS-NEXT: %79 = stablehlo.abs %78 : tensor<32x32xf32>
// CHANNELS-NEXT: %80 = stablehlo.bitcast_convert %79 : (tensor<32x32xf32>) -> tensor<32x32xi32>
// CHANNELS-NEXT: %81 = stablehlo.add %80, %c_5 : tensor<32x32xi32>
// CHANNELS-NEXT: %82 = stablehlo.reduce(%81 init: %c_18) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x32xi32>, tensor<i32>) -> tensor<i32>
// CHANNELS-NEXT: %83 = stablehlo.optimization_barrier %82 : tensor<i32>
// CHANNELS-NEXT: %84 = stablehlo.subtract %83, %c_18 : tensor<i32>
// CHANNELS-NEXT: %85 = stablehlo.bitcast_convert %84 : (tensor<i32>) -> tensor<f32>
// CHANNELS-NEXT: %86 = stablehlo.maximum %85, %cst_17 : tensor<f32>
// CHANNELS-NEXT: %87 = stablehlo.bitcast_convert %86 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %88 = stablehlo.add %87, %c_16 : tensor<ui32>
// CHANNELS-NEXT: %89 = stablehlo.and %88, %c_15 : tensor<ui32>
// CHANNELS-NEXT: %90 = stablehlo.subtract %c_4, %89 : tensor<ui32>
// CHANNELS-NEXT: %91 = stablehlo.bitcast_convert %90 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %92 = stablehlo.bitcast_convert %91 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %93 = stablehlo.subtract %c_13, %92 : tensor<ui32>
// CHANNELS-NEXT: %94 = stablehlo.bitcast_convert %93 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %95 = stablehlo.broadcast_in_dim %91, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
// CHANNELS-NEXT: %96 = stablehlo.multiply %78, %95 : tensor<32x32xf32>
// CHANNELS-NEXT: %97 = stablehlo.convert %96 : (tensor<32x32xf32>) -> tensor<32x32xf8E5M2>
// CHANNELS-NEXT: %98 = stablehlo.optimization_barrier %97 : tensor<32x32xf8E5M2>
// CHANNELS-NEXT: %99 = "chlo.ragged_dot"(%arg0, %78, %arg2) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>}> {scalify.composite = 1 : i32} : (tensor<32x16xf32>, tensor<32x32xf32>, tensor<3xi32>) -> tensor<3x16x32xf32>
// CHANNELS-NEXT: %100 = "chlo.ragged_dot"(%98, %18, %arg2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> {scalify.composite = 1 : i32} : (tensor<32x32xf8E5M2>, tensor<3x16x32xf8E4M3FN>, tensor<3xi32>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %101 = stablehlo.broadcast_in_dim %94, dims = [] : (tensor<f32>) -> tensor<3xf32>
// CHANNELS-NEXT: %102 = stablehlo.multiply %15, %101 : tensor<3xf32>
// CHANNELS-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<3xf32>
// CHANNELS-NEXT: %103 = stablehlo.minimum %102, %cst_26 : tensor<3xf32>
// CHANNELS-NEXT: %104 = stablehlo.iota dim = 0 : tensor<3x3xi32>
// CHANNELS-NEXT: %105 = stablehlo.iota dim = 1 : tensor<3x3xi32>
// CHANNELS-NEXT: %106 = stablehlo.compare LE, %104, %105 : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
// CHANNELS-NEXT: %107 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<3xi32>) -> tensor<3x3xi32>
// CHANNELS-NEXT: %c_27 = stablehlo.constant dense<0> : tensor<3x3xi32>
// CHANNELS-NEXT: %108 = stablehlo.select %106, %107, %c_27 : tensor<3x3xi1>, tensor<3x3xi32>
// CHANNELS-NEXT: %c_28 = stablehlo.constant dense<0> : tensor<i32>
// CHANNELS-NEXT: %109 = stablehlo.reduce(%108 init: %c_28) applies stablehlo.add across dimensions = [0] : (tensor<3x3xi32>, tensor<i32>) -> tensor<3xi32>
// CHANNELS-NEXT: %110 = stablehlo.broadcast_in_dim %109, dims = [1] : (tensor<3xi32>) -> tensor<32x3xi32>
// CHANNELS-NEXT: %111 = stablehlo.iota dim = 0 : tensor<32x3xi32>
// CHANNELS-NEXT: %112 = stablehlo.compare LE, %110, %111 : (tensor<32x3xi32>, tensor<32x3xi32>) -> tensor<32x3xi1>
// CHANNELS-NEXT: %113 = stablehlo.convert %112 : (tensor<32x3xi1>) -> tensor<32x3xi32>
// CHANNELS-NEXT: %c_29 = stablehlo.constant dense<0> : tensor<i32>
// CHANNELS-NEXT: %114 = stablehlo.reduce(%113 init: %c_29) applies stablehlo.add across dimensions = [1] : (tensor<32x3xi32>, tensor<i32>) -> tensor<32xi32>
// CHANNELS-NEXT: %115 = "stablehlo.gather"(%103, %114) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<3xf32>, tensor<32xi32>) -> tensor<32xf32>
// CHANNELS-NEXT: %116 = stablehlo.broadcast_in_dim %115, dims = [0] : (tensor<32xf32>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %117 = stablehlo.multiply %100, %116 : tensor<32x16xf32>
// CHANNELS-NEXT: return %117, %99 : tensor<32x16xf32>, tensor<3x16x32xf32>
// CHANNELS-NEXT: }
// CHANNELS-NEXT: }

module @__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x16xf32>, %arg1: tensor<3x16x32xf32>, %arg2: tensor<3xi32>) -> (tensor<32x16xf32> {jax.result_info = "result[0]"}, tensor<3x16x32xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.composite "chlo.ragged_dot" %arg0, %arg1, %arg2 {composite_attributes = {precision_config = ["DEFAULT", "DEFAULT"], ragged_dot_dimension_numbers = [dense<> : tensor<0xi64>, dense<> : tensor<0xi64>, dense<1> : tensor<1xi64>, dense<1> : tensor<1xi64>, dense<0> : tensor<1xi64>, dense<0> : tensor<1xi64>]}, decomposition = @chlo.ragged_dot.impl, version = 1 : i32} : (tensor<32x16xf32>, tensor<3x16x32xf32>, tensor<3xi32>) -> tensor<32x32xf32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %2 = stablehlo.multiply %1, %0 : tensor<32x32xf32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %4 = stablehlo.multiply %3, %2 : tensor<32x32xf32>
    %5 = stablehlo.composite "chlo.ragged_dot" %arg0, %4, %arg2 {composite_attributes = {precision_config = ["DEFAULT", "DEFAULT"], ragged_dot_dimension_numbers = [dense<> : tensor<0xi64>, dense<> : tensor<0xi64>, dense<0> : tensor<1xi64>, dense<0> : tensor<1xi64>, dense<0> : tensor<1xi64>, dense<> : tensor<0xi64>]}, decomposition = @chlo.ragged_dot.impl_0, version = 1 : i32} : (tensor<32x16xf32>, tensor<32x32xf32>, tensor<3xi32>) -> tensor<3x16x32xf32>
    %6 = stablehlo.composite "chlo.ragged_dot" %4, %arg1, %arg2 {composite_attributes = {precision_config = ["DEFAULT", "DEFAULT"], ragged_dot_dimension_numbers = [dense<> : tensor<0xi64>, dense<> : tensor<0xi64>, dense<1> : tensor<1xi64>, dense<2> : tensor<1xi64>, dense<0> : tensor<1xi64>, dense<0> : tensor<1xi64>]}, decomposition = @chlo.ragged_dot.impl_1, version = 1 : i32} : (tensor<32x32xf32>, tensor<3x16x32xf32>, tensor<3xi32>) -> tensor<32x16xf32>
    return %6, %5 : tensor<32x16xf32>, tensor<3x16x32xf32>
  }
  func.func private @chlo.ragged_dot.impl_1(%arg0: tensor<32x32xf32>, %arg1: tensor<3x16x32xf32>, %arg2: tensor<3xi32>) -> tensor<32x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.iota dim = 0 : tensor<32x1xi64>
    %1 = stablehlo.slice %arg2 [0:1] : (tensor<3xi32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.add %c, %3 : tensor<i64>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<32x32xi64>
    %6 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i64>) -> tensor<32x32xi64>
    %7 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<32x1xi64>) -> tensor<32x32xi64>
    %8 = stablehlo.compare GE, %7, %5 : (tensor<32x32xi64>, tensor<32x32xi64>) -> tensor<32x32xi1>
    %9 = stablehlo.compare LT, %7, %6 : (tensor<32x32xi64>, tensor<32x32xi64>) -> tensor<32x32xi1>
    %10 = stablehlo.and %8, %9 : tensor<32x32xi1>
    %11 = stablehlo.select %10, %arg0, %cst : tensor<32x32xi1>, tensor<32x32xf32>
    %12 = stablehlo.slice %arg1 [0:1, 0:16, 0:32] : (tensor<3x16x32xf32>) -> tensor<1x16x32xf32>
    %13 = stablehlo.reshape %12 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
    %14 = stablehlo.dot_general %11, %13, contracting_dims = [1] x [1] : (tensor<32x32xf32>, tensor<16x32xf32>) -> tensor<32x16xf32>
    %15 = stablehlo.slice %arg2 [1:2] : (tensor<3xi32>) -> tensor<1xi32>
    %16 = stablehlo.reshape %15 : (tensor<1xi32>) -> tensor<i32>
    %17 = stablehlo.convert %16 : (tensor<i32>) -> tensor<i64>
    %18 = stablehlo.add %4, %17 : tensor<i64>
    %19 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i64>) -> tensor<32x32xi64>
    %20 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<i64>) -> tensor<32x32xi64>
    %21 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<32x1xi64>) -> tensor<32x32xi64>
    %22 = stablehlo.compare GE, %21, %19 : (tensor<32x32xi64>, tensor<32x32xi64>) -> tensor<32x32xi1>
    %23 = stablehlo.compare LT, %21, %20 : (tensor<32x32xi64>, tensor<32x32xi64>) -> tensor<32x32xi1>
    %24 = stablehlo.and %22, %23 : tensor<32x32xi1>
    %25 = stablehlo.select %24, %arg0, %cst : tensor<32x32xi1>, tensor<32x32xf32>
    %26 = stablehlo.slice %arg1 [1:2, 0:16, 0:32] : (tensor<3x16x32xf32>) -> tensor<1x16x32xf32>
    %27 = stablehlo.reshape %26 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
    %28 = stablehlo.dot_general %25, %27, contracting_dims = [1] x [1] : (tensor<32x32xf32>, tensor<16x32xf32>) -> tensor<32x16xf32>
    %29 = stablehlo.add %14, %28 : tensor<32x16xf32>
    %30 = stablehlo.slice %arg2 [2:3] : (tensor<3xi32>) -> tensor<1xi32>
    %31 = stablehlo.reshape %30 : (tensor<1xi32>) -> tensor<i32>
    %32 = stablehlo.convert %31 : (tensor<i32>) -> tensor<i64>
    %33 = stablehlo.add %18, %32 : tensor<i64>
    %34 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<i64>) -> tensor<32x32xi64>
    %35 = stablehlo.broadcast_in_dim %33, dims = [] : (tensor<i64>) -> tensor<32x32xi64>
    %36 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<32x1xi64>) -> tensor<32x32xi64>
    %37 = stablehlo.compare GE, %36, %34 : (tensor<32x32xi64>, tensor<32x32xi64>) -> tensor<32x32xi1>
    %38 = stablehlo.compare LT, %36, %35 : (tensor<32x32xi64>, tensor<32x32xi64>) -> tensor<32x32xi1>
    %39 = stablehlo.and %37, %38 : tensor<32x32xi1>
    %40 = stablehlo.select %39, %arg0, %cst : tensor<32x32xi1>, tensor<32x32xf32>
    %41 = stablehlo.slice %arg1 [2:3, 0:16, 0:32] : (tensor<3x16x32xf32>) -> tensor<1x16x32xf32>
    %42 = stablehlo.reshape %41 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
    %43 = stablehlo.dot_general %40, %42, contracting_dims = [1] x [1] : (tensor<32x32xf32>, tensor<16x32xf32>) -> tensor<32x16xf32>
    %44 = stablehlo.add %29, %43 : tensor<32x16xf32>
    return %44 : tensor<32x16xf32>
  }
  func.func private @chlo.ragged_dot.impl_0(%arg0: tensor<32x16xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<3xi32>) -> tensor<3x16x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<32x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.iota dim = 0 : tensor<32x1xi64>
    %1 = stablehlo.slice %arg2 [0:1] : (tensor<3xi32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.add %c, %3 : tensor<i64>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<32x16xi64>
    %6 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i64>) -> tensor<32x16xi64>
    %7 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<32x1xi64>) -> tensor<32x16xi64>
    %8 = stablehlo.compare GE, %7, %5 : (tensor<32x16xi64>, tensor<32x16xi64>) -> tensor<32x16xi1>
    %9 = stablehlo.compare LT, %7, %6 : (tensor<32x16xi64>, tensor<32x16xi64>) -> tensor<32x16xi1>
    %10 = stablehlo.and %8, %9 : tensor<32x16xi1>
    %11 = stablehlo.select %10, %arg0, %cst : tensor<32x16xi1>, tensor<32x16xf32>
    %12 = stablehlo.dot_general %11, %arg1, contracting_dims = [0] x [0] : (tensor<32x16xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
    %13 = stablehlo.slice %arg2 [1:2] : (tensor<3xi32>) -> tensor<1xi32>
    %14 = stablehlo.reshape %13 : (tensor<1xi32>) -> tensor<i32>
    %15 = stablehlo.convert %14 : (tensor<i32>) -> tensor<i64>
    %16 = stablehlo.add %4, %15 : tensor<i64>
    %17 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i64>) -> tensor<32x16xi64>
    %18 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<i64>) -> tensor<32x16xi64>
    %19 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<32x1xi64>) -> tensor<32x16xi64>
    %20 = stablehlo.compare GE, %19, %17 : (tensor<32x16xi64>, tensor<32x16xi64>) -> tensor<32x16xi1>
    %21 = stablehlo.compare LT, %19, %18 : (tensor<32x16xi64>, tensor<32x16xi64>) -> tensor<32x16xi1>
    %22 = stablehlo.and %20, %21 : tensor<32x16xi1>
    %23 = stablehlo.select %22, %arg0, %cst : tensor<32x16xi1>, tensor<32x16xf32>
    %24 = stablehlo.dot_general %23, %arg1, contracting_dims = [0] x [0] : (tensor<32x16xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
    %25 = stablehlo.slice %arg2 [2:3] : (tensor<3xi32>) -> tensor<1xi32>
    %26 = stablehlo.reshape %25 : (tensor<1xi32>) -> tensor<i32>
    %27 = stablehlo.convert %26 : (tensor<i32>) -> tensor<i64>
    %28 = stablehlo.add %16, %27 : tensor<i64>
    %29 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<i64>) -> tensor<32x16xi64>
    %30 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<i64>) -> tensor<32x16xi64>
    %31 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<32x1xi64>) -> tensor<32x16xi64>
    %32 = stablehlo.compare GE, %31, %29 : (tensor<32x16xi64>, tensor<32x16xi64>) -> tensor<32x16xi1>
    %33 = stablehlo.compare LT, %31, %30 : (tensor<32x16xi64>, tensor<32x16xi64>) -> tensor<32x16xi1>
    %34 = stablehlo.and %32, %33 : tensor<32x16xi1>
    %35 = stablehlo.select %34, %arg0, %cst : tensor<32x16xi1>, tensor<32x16xf32>
    %36 = stablehlo.dot_general %35, %arg1, contracting_dims = [0] x [0] : (tensor<32x16xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
    %37 = stablehlo.reshape %12 : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %38 = stablehlo.reshape %24 : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %39 = stablehlo.reshape %36 : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %40 = stablehlo.concatenate %37, %38, %39, dim = 0 : (tensor<1x16x32xf32>, tensor<1x16x32xf32>, tensor<1x16x32xf32>) -> tensor<3x16x32xf32>
    return %40 : tensor<3x16x32xf32>
  }
  func.func private @chlo.ragged_dot.impl(%arg0: tensor<32x16xf32>, %arg1: tensor<3x16x32xf32>, %arg2: tensor<3xi32>) -> tensor<32x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<32x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.iota dim = 0 : tensor<32x1xi64>
    %1 = stablehlo.slice %arg2 [0:1] : (tensor<3xi32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.add %c, %3 : tensor<i64>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<32x16xi64>
    %6 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i64>) -> tensor<32x16xi64>
    %7 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<32x1xi64>) -> tensor<32x16xi64>
    %8 = stablehlo.compare GE, %7, %5 : (tensor<32x16xi64>, tensor<32x16xi64>) -> tensor<32x16xi1>
    %9 = stablehlo.compare LT, %7, %6 : (tensor<32x16xi64>, tensor<32x16xi64>) -> tensor<32x16xi1>
    %10 = stablehlo.and %8, %9 : tensor<32x16xi1>
    %11 = stablehlo.select %10, %arg0, %cst : tensor<32x16xi1>, tensor<32x16xf32>
    %12 = stablehlo.slice %arg1 [0:1, 0:16, 0:32] : (tensor<3x16x32xf32>) -> tensor<1x16x32xf32>
    %13 = stablehlo.reshape %12 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
    %14 = stablehlo.dot_general %11, %13, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
    %15 = stablehlo.slice %arg2 [1:2] : (tensor<3xi32>) -> tensor<1xi32>
    %16 = stablehlo.reshape %15 : (tensor<1xi32>) -> tensor<i32>
    %17 = stablehlo.convert %16 : (tensor<i32>) -> tensor<i64>
    %18 = stablehlo.add %4, %17 : tensor<i64>
    %19 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i64>) -> tensor<32x16xi64>
    %20 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<i64>) -> tensor<32x16xi64>
    %21 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<32x1xi64>) -> tensor<32x16xi64>
    %22 = stablehlo.compare GE, %21, %19 : (tensor<32x16xi64>, tensor<32x16xi64>) -> tensor<32x16xi1>
    %23 = stablehlo.compare LT, %21, %20 : (tensor<32x16xi64>, tensor<32x16xi64>) -> tensor<32x16xi1>
    %24 = stablehlo.and %22, %23 : tensor<32x16xi1>
    %25 = stablehlo.select %24, %arg0, %cst : tensor<32x16xi1>, tensor<32x16xf32>
    %26 = stablehlo.slice %arg1 [1:2, 0:16, 0:32] : (tensor<3x16x32xf32>) -> tensor<1x16x32xf32>
    %27 = stablehlo.reshape %26 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
    %28 = stablehlo.dot_general %25, %27, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
    %29 = stablehlo.add %14, %28 : tensor<32x32xf32>
    %30 = stablehlo.slice %arg2 [2:3] : (tensor<3xi32>) -> tensor<1xi32>
    %31 = stablehlo.reshape %30 : (tensor<1xi32>) -> tensor<i32>
    %32 = stablehlo.convert %31 : (tensor<i32>) -> tensor<i64>
    %33 = stablehlo.add %18, %32 : tensor<i64>
    %34 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<i64>) -> tensor<32x16xi64>
    %35 = stablehlo.broadcast_in_dim %33, dims = [] : (tensor<i64>) -> tensor<32x16xi64>
    %36 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<32x1xi64>) -> tensor<32x16xi64>
    %37 = stablehlo.compare GE, %36, %34 : (tensor<32x16xi64>, tensor<32x16xi64>) -> tensor<32x16xi1>
    %38 = stablehlo.compare LT, %36, %35 : (tensor<32x16xi64>, tensor<32x16xi64>) -> tensor<32x16xi1>
    %39 = stablehlo.and %37, %38 : tensor<32x16xi1>
    %40 = stablehlo.select %39, %arg0, %cst : tensor<32x16xi1>, tensor<32x16xf32>
    %41 = stablehlo.slice %arg1 [2:3, 0:16, 0:32] : (tensor<3x16x32xf32>) -> tensor<1x16x32xf32>
    %42 = stablehlo.reshape %41 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
    %43 = stablehlo.dot_general %40, %42, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
    %44 = stablehlo.add %29, %43 : tensor<32x32xf32>
    return %44 : tensor<32x32xf32>
  }
}

