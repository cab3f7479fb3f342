// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{recipe=fp8 annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8

// Attention block by block, with a running maximum and sum.
// UNIT:      module @_sm attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<2x16x16xf32>, %arg3: tensor<2x16x16xf32>) -> (tensor<16x16xf32> {jax.result_info = "result"}) {
// UNIT-NEXT: %c = stablehlo.constant dense<2130706432> : tensor<ui32>
// UNIT-NEXT: %cst = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// UNIT-NEXT: %c_3 = stablehlo.constant dense<2139095039> : tensor<ui32>
// UNIT-NEXT: %c_4 = stablehlo.constant dense<1> : tensor<ui32>
// UNIT-NEXT: %c_5 = stablehlo.constant dense<4286578688> : tensor<ui32>
// UNIT-NEXT: %c_6 = stablehlo.constant dense<8388607> : tensor<ui32>
// UNIT-NEXT: %c_7 = stablehlo.constant dense<8388608> : tensor<i32>
// UNIT-NEXT: %c_8 = stablehlo.constant dense<8388608> : tensor<16x16xi32>
// UNIT-NEXT: %cst_9 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// UNIT-NEXT: %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<16x16xf32>
// UNIT-NEXT: %cst_11 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_12 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg1, %cst_10 : tensor<16x16xf32>
// UNIT-NEXT: %1 = stablehlo.add %arg1, %0 : tensor<16x16xf32>
// UNIT-NEXT: %2 = stablehlo.clamp %cst_11, %1, %cst_12 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %c_14 = stablehlo.constant dense<1> : tensor<i32>
// UNIT-NEXT: %c_15 = stablehlo.constant dense<2> : tensor<i32>
// UNIT-NEXT: %c_16 = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %cst_17 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<16x1xf32>
// UNIT-NEXT: %5 = stablehlo.broadcast_in_dim %cst_17, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<16x1xf32>
// UNIT-NEXT: %6 = stablehlo.broadcast_in_dim %cst_17, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %7:7 = stablehlo.while(%iterArg = %arg2, %iterArg_19 = %arg3, %iterArg_20 = %arg0, %iterArg_21 = %c_16, %iterArg_22 = %4, %iterArg_23 = %5, %iterArg_24 = %6) : tensor<2x16x16xf32>, tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0", "2^0 level 4.63578", "2^0 level 2.63578"]}
// UNIT-NEXT: cond {
// UNIT-NEXT: %42 = stablehlo.compare LT, %iterArg_21, %c_15, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// UNIT-NEXT: stablehlo.return %42 : tensor<i1>
// UNIT-NEXT: } do {
// UNIT-NEXT: %42 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_21) {scalify.forms = ["2^0"]} : (tensor<2x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
// UNIT-NEXT: %43 = func.call @dynamic_index_in_dim(%iterArg_19, %iterArg_21) {scalify.forms = ["2^0"]} : (tensor<2x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
// UNIT-NEXT: %44:3 = func.call @closed_call_scaled_3(%iterArg_20, %iterArg_22, %iterArg_23, %iterArg_24, %42, %43) {scalify.forms = ["2^0", "2^0 level 4.63578", "2^0 level 2.63578"]} : (tensor<16x16xf32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>)
// UNIT-NEXT: %45 = stablehlo.add %iterArg_21, %c_14 : tensor<i32>
// UNIT-NEXT: stablehlo.return %iterArg, %iterArg_19, %iterArg_20, %45, %44#0, %44#1, %44#2 : tensor<2x16x16xf32>, tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: %8 = stablehlo.broadcast_in_dim %7#5, dims = [0, 1] {scalify.forms = ["2^0 level 4.63578"]} : (tensor<16x1xf32>) -> tensor<16x16xf32>
// UNIT-NEXT: %9 = stablehlo.divide %7#6, %8 {scalify.forms = ["2^0 level -2"]} : tensor<16x16xf32>
// UNIT-NEXT: %10 = stablehlo.optimization_barrier %9 : tensor<16x16xf32>
// UNIT-NEXT: %11 = stablehlo.abs %10 : tensor<16x16xf32>
// UNIT-NEXT: %12 = stablehlo.bitcast_convert %11 : (tensor<16x16xf32>) -> tensor<16x16xi32>
// UNIT-NEXT: %13 = stablehlo.add %12, %c_8 : tensor<16x16xi32>
// UNIT-NEXT: %14 = stablehlo.reduce(%13 init: %c_7) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xi32>, tensor<i32>) -> tensor<i32>
// UNIT-NEXT: %15 = stablehlo.subtract %14, %c_7 : tensor<i32>
// UNIT-NEXT: %16 = stablehlo.bitcast_convert %15 : (tensor<i32>) -> tensor<f32>
// UNIT-NEXT: %17 = stablehlo.bitcast_convert %16 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %18 = stablehlo.add %17, %c_6 : tensor<ui32>
// UNIT-NEXT: %19 = stablehlo.and %18, %c_5 : tensor<ui32>
// UNIT-NEXT: %20 = stablehlo.subtract %19, %c_4 : tensor<ui32>
// UNIT-NEXT: %21 = stablehlo.compare LT, %20, %c_3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// UNIT-NEXT: %22 = stablehlo.bitcast_convert %19 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %23 = stablehlo.select %21, %22, %cst_9 : tensor<i1>, tensor<f32>
// UNIT-NEXT: %24 = stablehlo.multiply %23, %cst_2 : tensor<f32>
// UNIT-NEXT: %25 = stablehlo.multiply %24, %cst_1 : tensor<f32>
// UNIT-NEXT: %26 = stablehlo.clamp %cst_0, %25, %cst : tensor<f32>
// UNIT-NEXT: %27 = stablehlo.bitcast_convert %26 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %28 = stablehlo.subtract %c, %27 : tensor<ui32>
// UNIT-NEXT: %29 = stablehlo.bitcast_convert %28 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %30 = stablehlo.divide %cst_1, %29 : tensor<f32>
// UNIT-NEXT: %31 = stablehlo.optimization_barrier %30 : tensor<f32>
// UNIT-NEXT: %32 = stablehlo.divide %cst_13, %31 : tensor<f32>
// UNIT-NEXT: %33 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %34 = stablehlo.multiply %10, %33 : tensor<16x16xf32>
// UNIT-NEXT: %35 = stablehlo.multiply %34, %cst_10 : tensor<16x16xf32>
// UNIT-NEXT: %36 = stablehlo.add %34, %35 : tensor<16x16xf32>
// UNIT-NEXT: %37 = stablehlo.clamp %cst_11, %36, %cst_12 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %38 = stablehlo.convert %37 {scalify.forms = ["s0 level 6"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %39 = stablehlo.dot_general %38, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s0 level 8"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %40 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %41 = stablehlo.multiply %39, %40 : tensor<16x16xf32>
// UNIT-NEXT: return %41 : tensor<16x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<2x16x16xf32>, %arg1: tensor<i32>) -> tensor<16x16xf32> {
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 16, 16] : (tensor<2x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
// UNIT-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
// UNIT-NEXT: return %1 : tensor<16x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @closed_call_scaled_3(%arg0: tensor<16x16xf32>, %arg1: tensor<16x1xf32>, %arg2: tensor<16x1xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<16x16xf32>) -> (tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<16x16xf32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg5, %cst : tensor<16x16xf32>
// UNIT-NEXT: %1 = stablehlo.add %arg5, %0 : tensor<16x16xf32>
// UNIT-NEXT: %2 = stablehlo.clamp %cst_0, %1, %cst_1 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %4 = stablehlo.multiply %arg0, %cst : tensor<16x16xf32>
// UNIT-NEXT: %5 = stablehlo.add %arg0, %4 : tensor<16x16xf32>
// UNIT-NEXT: %6 = stablehlo.clamp %cst_0, %5, %cst_1 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// UNIT-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.000000e+00> : tensor<f32>
// UNIT-NEXT: %8 = stablehlo.transpose %arg4, dims = [1, 0] {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf32>
// UNIT-NEXT: %9 = stablehlo.multiply %8, %cst : tensor<16x16xf32>
// UNIT-NEXT: %10 = stablehlo.add %8, %9 : tensor<16x16xf32>
// UNIT-NEXT: %11 = stablehlo.clamp %cst_0, %10, %cst_1 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %12 = stablehlo.convert %11 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %13 = stablehlo.dot_general %7, %12, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %14 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %15 = stablehlo.divide %13, %14 {scalify.forms = ["2^0"]} : tensor<16x16xf32>
// UNIT-NEXT: %16 = stablehlo.reduce(%15 init: %cst_3) applies stablehlo.maximum across dimensions = [1] {scalify.forms = ["2^0"]} : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
// UNIT-NEXT: %17 = stablehlo.broadcast_in_dim %16, dims = [0] {scalify.forms = ["2^0"]} : (tensor<16xf32>) -> tensor<16x1xf32>
// UNIT-NEXT: %18 = stablehlo.convert %arg1 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// UNIT-NEXT: %19 = stablehlo.maximum %18, %17 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// UNIT-NEXT: %20 = stablehlo.convert %arg1 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// UNIT-NEXT: %21 = stablehlo.subtract %20, %19 {scalify.forms = ["2^0 level 0.5"]} : tensor<16x1xf32>
// UNIT-NEXT: %22 = stablehlo.exponential %21 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// UNIT-NEXT: %23 = stablehlo.broadcast_in_dim %19, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<16x1xf32>) -> tensor<16x16xf32>
// UNIT-NEXT: %24 = stablehlo.subtract %15, %23 {scalify.forms = ["2^0 level 0.5"]} : tensor<16x16xf32>
// UNIT-NEXT: %25 = stablehlo.exponential %24 {scalify.forms = ["2^0"]} : tensor<16x16xf32>
// UNIT-NEXT: %26 = stablehlo.multiply %25, %cst : tensor<16x16xf32>
// UNIT-NEXT: %27 = stablehlo.add %25, %26 : tensor<16x16xf32>
// UNIT-NEXT: %28 = stablehlo.clamp %cst_0, %27, %cst_1 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %29 = stablehlo.convert %28 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %30 = stablehlo.multiply %arg2, %22 {scalify.forms = ["2^0 level 4.25"]} : tensor<16x1xf32>
// UNIT-NEXT: %31 = stablehlo.reduce(%25 init: %cst_2) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
// UNIT-NEXT: %32 = stablehlo.broadcast_in_dim %31, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<16xf32>) -> tensor<16x1xf32>
// UNIT-NEXT: %33 = stablehlo.add %30, %32 {scalify.forms = ["2^0 level 4.63578"]} : tensor<16x1xf32>
// UNIT-NEXT: %34 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<16x1xf32>) -> tensor<16x16xf32>
// UNIT-NEXT: %35 = stablehlo.multiply %arg3, %34 {scalify.forms = ["2^0 level 2.25"]} : tensor<16x16xf32>
// UNIT-NEXT: %36 = stablehlo.dot_general %29, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %37 = stablehlo.add %35, %36 {scalify.forms = ["2^0 level 2.63578"]} : tensor<16x16xf32>
// UNIT-NEXT: return %19, %33, %37 : tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module @_sm attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<2x16x16xf32>, %arg3: tensor<2x16x16xf32>) -> (tensor<16x16xf32> {jax.result_info = "result"}) {
// FP8-NEXT: %c = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %cst = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// FP8-NEXT: %c_3 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %c_4 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %c_5 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %c_6 = stablehlo.constant dense<8388607> : tensor<ui32>
// FP8-NEXT: %c_7 = stablehlo.constant dense<8388608> : tensor<i32>
// FP8-NEXT: %c_8 = stablehlo.constant dense<8388608> : tensor<16x16xi32>
// FP8-NEXT: %cst_9 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// FP8-NEXT: %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<16x16xf32>
// FP8-NEXT: %cst_11 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_12 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg1, %cst_10 : tensor<16x16xf32>
// FP8-NEXT: %1 = stablehlo.add %arg1, %0 : tensor<16x16xf32>
// FP8-NEXT: %2 = stablehlo.clamp %cst_11, %1, %cst_12 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %c_14 = stablehlo.constant dense<1> : tensor<i32>
// FP8-NEXT: %c_15 = stablehlo.constant dense<2> : tensor<i32>
// FP8-NEXT: %c_16 = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %cst_17 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<16x1xf32>
// FP8-NEXT: %5 = stablehlo.broadcast_in_dim %cst_17, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<16x1xf32>
// FP8-NEXT: %6 = stablehlo.broadcast_in_dim %cst_17, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %7:7 = stablehlo.while(%iterArg = %arg2, %iterArg_19 = %arg3, %iterArg_20 = %arg0, %iterArg_21 = %c_16, %iterArg_22 = %4, %iterArg_23 = %5, %iterArg_24 = %6) : tensor<2x16x16xf32>, tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0", "2^0 level 2", "2^0 level 2"]}
// FP8-NEXT: cond {
// FP8-NEXT: %42 = stablehlo.compare LT, %iterArg_21, %c_15, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// FP8-NEXT: stablehlo.return %42 : tensor<i1>
// FP8-NEXT: } do {
// FP8-NEXT: %42 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_21) {scalify.forms = ["2^0"]} : (tensor<2x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
// FP8-NEXT: %43 = func.call @dynamic_index_in_dim(%iterArg_19, %iterArg_21) {scalify.forms = ["2^0"]} : (tensor<2x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
// FP8-NEXT: %44:3 = func.call @closed_call_scaled_3(%iterArg_20, %iterArg_22, %iterArg_23, %iterArg_24, %42, %43) {scalify.forms = ["2^0", "2^0 level 2", "2^0 level 2"]} : (tensor<16x16xf32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>)
// FP8-NEXT: %45 = stablehlo.add %iterArg_21, %c_14 : tensor<i32>
// FP8-NEXT: stablehlo.return %iterArg, %iterArg_19, %iterArg_20, %45, %44#0, %44#1, %44#2 : tensor<2x16x16xf32>, tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>
// FP8-NEXT: }
// FP8-NEXT: %8 = stablehlo.broadcast_in_dim %7#5, dims = [0, 1] {scalify.forms = ["2^0 level 2"]} : (tensor<16x1xf32>) -> tensor<16x16xf32>
// FP8-NEXT: %9 = stablehlo.divide %7#6, %8 {scalify.forms = ["2^0"]} : tensor<16x16xf32>
// FP8-NEXT: %10 = stablehlo.optimization_barrier %9 : tensor<16x16xf32>
// FP8-NEXT: %11 = stablehlo.abs %10 : tensor<16x16xf32>
// FP8-NEXT: %12 = stablehlo.bitcast_convert %11 : (tensor<16x16xf32>) -> tensor<16x16xi32>
// FP8-NEXT: %13 = stablehlo.add %12, %c_8 : tensor<16x16xi32>
// FP8-NEXT: %14 = stablehlo.reduce(%13 init: %c_7) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xi32>, tensor<i32>) -> tensor<i32>
// FP8-NEXT: %15 = stablehlo.subtract %14, %c_7 : tensor<i32>
// FP8-NEXT: %16 = stablehlo.bitcast_convert %15 : (tensor<i32>) -> tensor<f32>
// FP8-NEXT: %17 = stablehlo.bitcast_convert %16 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %18 = stablehlo.add %17, %c_6 : tensor<ui32>
// FP8-NEXT: %19 = stablehlo.and %18, %c_5 : tensor<ui32>
// FP8-NEXT: %20 = stablehlo.subtract %19, %c_4 : tensor<ui32>
// FP8-NEXT: %21 = stablehlo.compare LT, %20, %c_3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %22 = stablehlo.bitcast_convert %19 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %23 = stablehlo.select %21, %22, %cst_9 : tensor<i1>, tensor<f32>
// FP8-NEXT: %24 = stablehlo.multiply %23, %cst_2 : tensor<f32>
// FP8-NEXT: %25 = stablehlo.multiply %24, %cst_1 : tensor<f32>
// FP8-NEXT: %26 = stablehlo.clamp %cst_0, %25, %cst : tensor<f32>
// FP8-NEXT: %27 = stablehlo.bitcast_convert %26 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %28 = stablehlo.subtract %c, %27 : tensor<ui32>
// FP8-NEXT: %29 = stablehlo.bitcast_convert %28 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %30 = stablehlo.divide %cst_1, %29 : tensor<f32>
// FP8-NEXT: %31 = stablehlo.optimization_barrier %30 : tensor<f32>
// FP8-NEXT: %32 = stablehlo.divide %cst_13, %31 : tensor<f32>
// FP8-NEXT: %33 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %34 = stablehlo.multiply %10, %33 : tensor<16x16xf32>
// FP8-NEXT: %35 = stablehlo.multiply %34, %cst_10 : tensor<16x16xf32>
// FP8-NEXT: %36 = stablehlo.add %34, %35 : tensor<16x16xf32>
// FP8-NEXT: %37 = stablehlo.clamp %cst_11, %36, %cst_12 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %38 = stablehlo.convert %37 {scalify.forms = ["s0 level 6"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %39 = stablehlo.dot_general %38, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s0 level 8"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %40 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %41 = stablehlo.multiply %39, %40 : tensor<16x16xf32>
// FP8-NEXT: return %41 : tensor<16x16xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<2x16x16xf32>, %arg1: tensor<i32>) -> tensor<16x16xf32> {
// FP8-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 16, 16] : (tensor<2x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
// FP8-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
// FP8-NEXT: return %1 : tensor<16x16xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @closed_call_scaled_3(%arg0: tensor<16x16xf32>, %arg1: tensor<16x1xf32>, %arg2: tensor<16x1xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<16x16xf32>) -> (tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>) {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<16x16xf32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg5, %cst : tensor<16x16xf32>
// FP8-NEXT: %1 = stablehlo.add %arg5, %0 : tensor<16x16xf32>
// FP8-NEXT: %2 = stablehlo.clamp %cst_0, %1, %cst_1 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %4 = stablehlo.multiply %arg0, %cst : tensor<16x16xf32>
// FP8-NEXT: %5 = stablehlo.add %arg0, %4 : tensor<16x16xf32>
// FP8-NEXT: %6 = stablehlo.clamp %cst_0, %5, %cst_1 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// FP8-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.000000e+00> : tensor<f32>
// FP8-NEXT: %8 = stablehlo.transpose %arg4, dims = [1, 0] {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf32>
// FP8-NEXT: %9 = stablehlo.multiply %8, %cst : tensor<16x16xf32>
// FP8-NEXT: %10 = stablehlo.add %8, %9 : tensor<16x16xf32>
// FP8-NEXT: %11 = stablehlo.clamp %cst_0, %10, %cst_1 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %12 = stablehlo.convert %11 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %13 = stablehlo.dot_general %7, %12, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %14 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %15 = stablehlo.divide %13, %14 {scalify.forms = ["2^0"]} : tensor<16x16xf32>
// FP8-NEXT: %16 = stablehlo.reduce(%15 init: %cst_3) applies stablehlo.maximum across dimensions = [1] {scalify.forms = ["2^0"]} : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %17 = stablehlo.broadcast_in_dim %16, dims = [0] {scalify.forms = ["2^0"]} : (tensor<16xf32>) -> tensor<16x1xf32>
// FP8-NEXT: %18 = stablehlo.convert %arg1 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// FP8-NEXT: %19 = stablehlo.maximum %18, %17 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// FP8-NEXT: %20 = stablehlo.convert %arg1 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// FP8-NEXT: %21 = stablehlo.subtract %20, %19 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// FP8-NEXT: %22 = stablehlo.exponential %21 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// FP8-NEXT: %23 = stablehlo.broadcast_in_dim %19, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<16x1xf32>) -> tensor<16x16xf32>
// FP8-NEXT: %24 = stablehlo.subtract %15, %23 {scalify.forms = ["2^0"]} : tensor<16x16xf32>
// FP8-NEXT: %25 = stablehlo.exponential %24 {scalify.forms = ["2^0"]} : tensor<16x16xf32>
// FP8-NEXT: %26 = stablehlo.multiply %25, %cst : tensor<16x16xf32>
// FP8-NEXT: %27 = stablehlo.add %25, %26 : tensor<16x16xf32>
// FP8-NEXT: %28 = stablehlo.clamp %cst_0, %27, %cst_1 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %29 = stablehlo.convert %28 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %30 = stablehlo.multiply %arg2, %22 {scalify.forms = ["2^0 level 2"]} : tensor<16x1xf32>
// FP8-NEXT: %31 = stablehlo.reduce(%25 init: %cst_2) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %32 = stablehlo.broadcast_in_dim %31, dims = [0] {scalify.forms = ["2^0 level 2"]} : (tensor<16xf32>) -> tensor<16x1xf32>
// FP8-NEXT: %33 = stablehlo.add %30, %32 {scalify.forms = ["2^0 level 2"]} : tensor<16x1xf32>
// FP8-NEXT: %34 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<16x1xf32>) -> tensor<16x16xf32>
// FP8-NEXT: %35 = stablehlo.multiply %arg3, %34 {scalify.forms = ["2^0 level 2"]} : tensor<16x16xf32>
// FP8-NEXT: %36 = stablehlo.dot_general %29, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %37 = stablehlo.add %35, %36 {scalify.forms = ["2^0 level 2"]} : tensor<16x16xf32>
// FP8-NEXT: return %19, %33, %37 : tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>
// FP8-NEXT: }
// FP8-NEXT: }

module @_sm attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<2x16x16xf32>, %arg3: tensor<2x16x16xf32>) -> (tensor<16x16xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x1xf32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x1xf32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %3:7 = stablehlo.while(%iterArg = %arg2, %iterArg_3 = %arg3, %iterArg_4 = %arg0, %iterArg_5 = %c_1, %iterArg_6 = %0, %iterArg_7 = %1, %iterArg_8 = %2) : tensor<2x16x16xf32>, tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>
    cond {
      %7 = stablehlo.compare LT, %iterArg_5, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_5) : (tensor<2x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %8 = func.call @dynamic_index_in_dim(%iterArg_3, %iterArg_5) : (tensor<2x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %9:3 = func.call @closed_call(%iterArg_4, %iterArg_6, %iterArg_7, %iterArg_8, %7, %8) : (tensor<16x16xf32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>)
      %10 = stablehlo.add %iterArg_5, %c : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %10, %9#0, %9#1, %9#2 : tensor<2x16x16xf32>, tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>
    }
    %4 = stablehlo.broadcast_in_dim %3#5, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x16xf32>
    %5 = stablehlo.divide %3#6, %4 : tensor<16x16xf32>
    %6 = stablehlo.dot_general %5, %arg1, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    return %6 : tensor<16x16xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<2x16x16xf32>, %arg1: tensor<i32>) -> tensor<16x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 16, 16] : (tensor<2x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
  func.func private @closed_call(%arg0: tensor<16x16xf32>, %arg1: tensor<16x1xf32>, %arg2: tensor<16x1xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<16x16xf32>) -> (tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %0 = stablehlo.transpose %arg4, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %3 = stablehlo.divide %1, %2 : tensor<16x16xf32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %6 = stablehlo.convert %arg1 : tensor<16x1xf32>
    %7 = stablehlo.maximum %6, %5 : tensor<16x1xf32>
    %8 = stablehlo.convert %arg1 : tensor<16x1xf32>
    %9 = stablehlo.subtract %8, %7 : tensor<16x1xf32>
    %10 = stablehlo.exponential %9 : tensor<16x1xf32>
    %11 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x16xf32>
    %12 = stablehlo.subtract %3, %11 : tensor<16x16xf32>
    %13 = stablehlo.exponential %12 : tensor<16x16xf32>
    %14 = stablehlo.multiply %arg2, %10 : tensor<16x1xf32>
    %15 = stablehlo.reduce(%13 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %17 = stablehlo.add %14, %16 : tensor<16x1xf32>
    %18 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x16xf32>
    %19 = stablehlo.multiply %arg3, %18 : tensor<16x16xf32>
    %20 = stablehlo.dot_general %13, %arg5, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %21 = stablehlo.add %19, %20 : tensor<16x16xf32>
    return %7, %17, %21 : tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>
  }
}
