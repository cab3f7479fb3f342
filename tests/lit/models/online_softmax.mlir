// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{recipe=fp8 annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8

// Attention block by block, with a running maximum and sum.
// UNIT:      module @_sm attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<2x16x16xf32>, %arg3: tensor<2x16x16xf32>) -> (tensor<16x16xf32> {jax.result_info = "result"}) {
// UNIT-NEXT: %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.clamp %cst, %arg1, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %1 = stablehlo.convert %0 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// UNIT-NEXT: %c_2 = stablehlo.constant dense<2> : tensor<i32>
// UNIT-NEXT: %c_3 = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<16x1xf32>
// UNIT-NEXT: %3 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<16x1xf32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %5:7 = stablehlo.while(%iterArg = %arg2, %iterArg_18 = %arg3, %iterArg_19 = %arg0, %iterArg_20 = %c_3, %iterArg_21 = %2, %iterArg_22 = %3, %iterArg_23 = %4) : tensor<2x16x16xf32>, tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0", "2^0 level 4.63578", "2^0 level 2.63578"]}
// UNIT-NEXT: cond {
// UNIT-NEXT: %34 = stablehlo.compare LT, %iterArg_20, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// UNIT-NEXT: stablehlo.return %34 : tensor<i1>
// UNIT-NEXT: } do {
// UNIT-NEXT: %34 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_20) {scalify.forms = ["2^0"]} : (tensor<2x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
// UNIT-NEXT: %35 = func.call @dynamic_index_in_dim(%iterArg_18, %iterArg_20) {scalify.forms = ["2^0"]} : (tensor<2x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
// UNIT-NEXT: %36:3 = func.call @closed_call_scaled_3(%iterArg_19, %iterArg_21, %iterArg_22, %iterArg_23, %34, %35) {scalify.forms = ["2^0", "2^0 level 4.63578", "2^0 level 2.63578"]} : (tensor<16x16xf32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>)
// UNIT-NEXT: %37 = stablehlo.add %iterArg_20, %c : tensor<i32>
// UNIT-NEXT: stablehlo.return %iterArg, %iterArg_18, %iterArg_19, %37, %36#0, %36#1, %36#2 : tensor<2x16x16xf32>, tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: %6 = stablehlo.broadcast_in_dim %5#5, dims = [0, 1] {scalify.forms = ["2^0 level 4.63578"]} : (tensor<16x1xf32>) -> tensor<16x16xf32>
// UNIT-NEXT: %7 = stablehlo.divide %5#6, %6 {scalify.forms = ["2^0 level -2"]} : tensor<16x16xf32>
// UNIT-NEXT: %cst_6 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// UNIT-NEXT: %8 = stablehlo.optimization_barrier %7 : tensor<16x16xf32>
// UNIT-NEXT: %9 = stablehlo.abs %8 : tensor<16x16xf32>
// UNIT-NEXT: %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %10 = stablehlo.reduce(%9 init: %cst_7) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
// UNIT-NEXT: %11 = stablehlo.bitcast_convert %10 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %c_8 = stablehlo.constant dense<8388607> : tensor<ui32>
// UNIT-NEXT: %12 = stablehlo.add %11, %c_8 : tensor<ui32>
// UNIT-NEXT: %c_9 = stablehlo.constant dense<4286578688> : tensor<ui32>
// UNIT-NEXT: %13 = stablehlo.and %12, %c_9 : tensor<ui32>
// UNIT-NEXT: %c_10 = stablehlo.constant dense<1> : tensor<ui32>
// UNIT-NEXT: %14 = stablehlo.subtract %13, %c_10 : tensor<ui32>
// UNIT-NEXT: %c_11 = stablehlo.constant dense<2139095039> : tensor<ui32>
// UNIT-NEXT: %15 = stablehlo.compare LT, %14, %c_11 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// UNIT-NEXT: %16 = stablehlo.bitcast_convert %13 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %17 = stablehlo.select %15, %16, %cst_6 : tensor<i1>, tensor<f32>
// UNIT-NEXT: %cst_12 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// UNIT-NEXT: %18 = stablehlo.multiply %17, %cst_12 : tensor<f32>
// UNIT-NEXT: %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %19 = stablehlo.multiply %18, %cst_13 : tensor<f32>
// UNIT-NEXT: %cst_14 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// UNIT-NEXT: %cst_15 = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// UNIT-NEXT: %20 = stablehlo.clamp %cst_14, %19, %cst_15 : tensor<f32>
// UNIT-NEXT: %21 = stablehlo.bitcast_convert %20 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %c_16 = stablehlo.constant dense<2130706432> : tensor<ui32>
// UNIT-NEXT: %22 = stablehlo.subtract %c_16, %21 : tensor<ui32>
// UNIT-NEXT: %23 = stablehlo.bitcast_convert %22 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %24 = stablehlo.divide %cst_17, %23 : tensor<f32>
// UNIT-NEXT: %25 = stablehlo.optimization_barrier %24 : tensor<f32>
// UNIT-NEXT: %26 = stablehlo.divide %cst_1, %25 : tensor<f32>
// UNIT-NEXT: %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %28 = stablehlo.multiply %8, %27 : tensor<16x16xf32>
// UNIT-NEXT: %29 = stablehlo.clamp %cst, %28, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %30 = stablehlo.convert %29 {scalify.forms = ["s0 level 6"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %31 = stablehlo.dot_general %30, %1, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s0 level 8"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %32 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %33 = stablehlo.multiply %31, %32 : tensor<16x16xf32>
// UNIT-NEXT: return %33 : tensor<16x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<2x16x16xf32>, %arg1: tensor<i32>) -> tensor<16x16xf32> {
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 16, 16] : (tensor<2x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
// UNIT-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
// UNIT-NEXT: return %1 : tensor<16x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @closed_call_scaled_3(%arg0: tensor<16x16xf32>, %arg1: tensor<16x1xf32>, %arg2: tensor<16x1xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<16x16xf32>) -> (tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>) {
// UNIT-NEXT: %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.clamp %cst, %arg5, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %1 = stablehlo.convert %0 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %2 = stablehlo.clamp %cst, %arg0, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// UNIT-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.000000e+00> : tensor<f32>
// UNIT-NEXT: %4 = stablehlo.transpose %arg4, dims = [1, 0] {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf32>
// UNIT-NEXT: %5 = stablehlo.clamp %cst, %4, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %6 = stablehlo.convert %5 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %7 = stablehlo.dot_general %3, %6, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %8 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %9 = stablehlo.divide %7, %8 {scalify.forms = ["2^0"]} : tensor<16x16xf32>
// UNIT-NEXT: %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.maximum across dimensions = [1] {scalify.forms = ["2^0"]} : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
// UNIT-NEXT: %11 = stablehlo.broadcast_in_dim %10, dims = [0] {scalify.forms = ["2^0"]} : (tensor<16xf32>) -> tensor<16x1xf32>
// UNIT-NEXT: %12 = stablehlo.convert %arg1 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// UNIT-NEXT: %13 = stablehlo.maximum %12, %11 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// UNIT-NEXT: %14 = stablehlo.convert %arg1 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// UNIT-NEXT: %15 = stablehlo.subtract %14, %13 {scalify.forms = ["2^0 level 0.5"]} : tensor<16x1xf32>
// UNIT-NEXT: %16 = stablehlo.exponential %15 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// UNIT-NEXT: %17 = stablehlo.broadcast_in_dim %13, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<16x1xf32>) -> tensor<16x16xf32>
// UNIT-NEXT: %18 = stablehlo.subtract %9, %17 {scalify.forms = ["2^0 level 0.5"]} : tensor<16x16xf32>
// UNIT-NEXT: %19 = stablehlo.exponential %18 {scalify.forms = ["2^0"]} : tensor<16x16xf32>
// UNIT-NEXT: %20 = stablehlo.clamp %cst, %19, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %21 = stablehlo.convert %20 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %22 = stablehlo.multiply %arg2, %16 {scalify.forms = ["2^0 level 4.25"]} : tensor<16x1xf32>
// UNIT-NEXT: %23 = stablehlo.reduce(%19 init: %cst_1) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
// UNIT-NEXT: %24 = stablehlo.broadcast_in_dim %23, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<16xf32>) -> tensor<16x1xf32>
// UNIT-NEXT: %25 = stablehlo.add %22, %24 {scalify.forms = ["2^0 level 4.63578"]} : tensor<16x1xf32>
// UNIT-NEXT: %26 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<16x1xf32>) -> tensor<16x16xf32>
// UNIT-NEXT: %27 = stablehlo.multiply %arg3, %26 {scalify.forms = ["2^0 level 2.25"]} : tensor<16x16xf32>
// UNIT-NEXT: %28 = stablehlo.dot_general %21, %1, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %29 = stablehlo.add %27, %28 {scalify.forms = ["2^0 level 2.63578"]} : tensor<16x16xf32>
// UNIT-NEXT: return %13, %25, %29 : tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module @_sm attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<2x16x16xf32>, %arg3: tensor<2x16x16xf32>) -> (tensor<16x16xf32> {jax.result_info = "result"}) {
// FP8-NEXT: %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.clamp %cst, %arg1, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %1 = stablehlo.convert %0 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// FP8-NEXT: %c_2 = stablehlo.constant dense<2> : tensor<i32>
// FP8-NEXT: %c_3 = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<16x1xf32>
// FP8-NEXT: %3 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<16x1xf32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %5:7 = stablehlo.while(%iterArg = %arg2, %iterArg_18 = %arg3, %iterArg_19 = %arg0, %iterArg_20 = %c_3, %iterArg_21 = %2, %iterArg_22 = %3, %iterArg_23 = %4) : tensor<2x16x16xf32>, tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0", "2^0 level 2", "2^0 level 2"]}
// FP8-NEXT: cond {
// FP8-NEXT: %34 = stablehlo.compare LT, %iterArg_20, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// FP8-NEXT: stablehlo.return %34 : tensor<i1>
// FP8-NEXT: } do {
// FP8-NEXT: %34 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_20) {scalify.forms = ["2^0"]} : (tensor<2x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
// FP8-NEXT: %35 = func.call @dynamic_index_in_dim(%iterArg_18, %iterArg_20) {scalify.forms = ["2^0"]} : (tensor<2x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
// FP8-NEXT: %36:3 = func.call @closed_call_scaled_3(%iterArg_19, %iterArg_21, %iterArg_22, %iterArg_23, %34, %35) {scalify.forms = ["2^0", "2^0 level 2", "2^0 level 2"]} : (tensor<16x16xf32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>)
// FP8-NEXT: %37 = stablehlo.add %iterArg_20, %c : tensor<i32>
// FP8-NEXT: stablehlo.return %iterArg, %iterArg_18, %iterArg_19, %37, %36#0, %36#1, %36#2 : tensor<2x16x16xf32>, tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>
// FP8-NEXT: }
// FP8-NEXT: %6 = stablehlo.broadcast_in_dim %5#5, dims = [0, 1] {scalify.forms = ["2^0 level 2"]} : (tensor<16x1xf32>) -> tensor<16x16xf32>
// FP8-NEXT: %7 = stablehlo.divide %5#6, %6 {scalify.forms = ["2^0"]} : tensor<16x16xf32>
// FP8-NEXT: %cst_6 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// FP8-NEXT: %8 = stablehlo.optimization_barrier %7 : tensor<16x16xf32>
// FP8-NEXT: %9 = stablehlo.abs %8 : tensor<16x16xf32>
// FP8-NEXT: %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %10 = stablehlo.reduce(%9 init: %cst_7) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %11 = stablehlo.bitcast_convert %10 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_8 = stablehlo.constant dense<8388607> : tensor<ui32>
// FP8-NEXT: %12 = stablehlo.add %11, %c_8 : tensor<ui32>
// FP8-NEXT: %c_9 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %13 = stablehlo.and %12, %c_9 : tensor<ui32>
// FP8-NEXT: %c_10 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %14 = stablehlo.subtract %13, %c_10 : tensor<ui32>
// FP8-NEXT: %c_11 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %15 = stablehlo.compare LT, %14, %c_11 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %16 = stablehlo.bitcast_convert %13 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %17 = stablehlo.select %15, %16, %cst_6 : tensor<i1>, tensor<f32>
// FP8-NEXT: %cst_12 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// FP8-NEXT: %18 = stablehlo.multiply %17, %cst_12 : tensor<f32>
// FP8-NEXT: %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %19 = stablehlo.multiply %18, %cst_13 : tensor<f32>
// FP8-NEXT: %cst_14 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// FP8-NEXT: %cst_15 = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// FP8-NEXT: %20 = stablehlo.clamp %cst_14, %19, %cst_15 : tensor<f32>
// FP8-NEXT: %21 = stablehlo.bitcast_convert %20 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_16 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %22 = stablehlo.subtract %c_16, %21 : tensor<ui32>
// FP8-NEXT: %23 = stablehlo.bitcast_convert %22 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %24 = stablehlo.divide %cst_17, %23 : tensor<f32>
// FP8-NEXT: %25 = stablehlo.optimization_barrier %24 : tensor<f32>
// FP8-NEXT: %26 = stablehlo.divide %cst_1, %25 : tensor<f32>
// FP8-NEXT: %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %28 = stablehlo.multiply %8, %27 : tensor<16x16xf32>
// FP8-NEXT: %29 = stablehlo.clamp %cst, %28, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %30 = stablehlo.convert %29 {scalify.forms = ["s0 level 6"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %31 = stablehlo.dot_general %30, %1, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s0 level 8"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %32 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %33 = stablehlo.multiply %31, %32 : tensor<16x16xf32>
// FP8-NEXT: return %33 : tensor<16x16xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<2x16x16xf32>, %arg1: tensor<i32>) -> tensor<16x16xf32> {
// FP8-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 16, 16] : (tensor<2x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
// FP8-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
// FP8-NEXT: return %1 : tensor<16x16xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @closed_call_scaled_3(%arg0: tensor<16x16xf32>, %arg1: tensor<16x1xf32>, %arg2: tensor<16x1xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<16x16xf32>) -> (tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>) {
// FP8-NEXT: %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.clamp %cst, %arg5, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %1 = stablehlo.convert %0 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %2 = stablehlo.clamp %cst, %arg0, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// FP8-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.000000e+00> : tensor<f32>
// FP8-NEXT: %4 = stablehlo.transpose %arg4, dims = [1, 0] {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf32>
// FP8-NEXT: %5 = stablehlo.clamp %cst, %4, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %6 = stablehlo.convert %5 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %7 = stablehlo.dot_general %3, %6, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %8 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %9 = stablehlo.divide %7, %8 {scalify.forms = ["2^0"]} : tensor<16x16xf32>
// FP8-NEXT: %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.maximum across dimensions = [1] {scalify.forms = ["2^0"]} : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %11 = stablehlo.broadcast_in_dim %10, dims = [0] {scalify.forms = ["2^0"]} : (tensor<16xf32>) -> tensor<16x1xf32>
// FP8-NEXT: %12 = stablehlo.convert %arg1 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// FP8-NEXT: %13 = stablehlo.maximum %12, %11 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// FP8-NEXT: %14 = stablehlo.convert %arg1 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// FP8-NEXT: %15 = stablehlo.subtract %14, %13 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// FP8-NEXT: %16 = stablehlo.exponential %15 {scalify.forms = ["2^0"]} : tensor<16x1xf32>
// FP8-NEXT: %17 = stablehlo.broadcast_in_dim %13, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<16x1xf32>) -> tensor<16x16xf32>
// FP8-NEXT: %18 = stablehlo.subtract %9, %17 {scalify.forms = ["2^0"]} : tensor<16x16xf32>
// FP8-NEXT: %19 = stablehlo.exponential %18 {scalify.forms = ["2^0"]} : tensor<16x16xf32>
// FP8-NEXT: %20 = stablehlo.clamp %cst, %19, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %21 = stablehlo.convert %20 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %22 = stablehlo.multiply %arg2, %16 {scalify.forms = ["2^0 level 2"]} : tensor<16x1xf32>
// FP8-NEXT: %23 = stablehlo.reduce(%19 init: %cst_1) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %24 = stablehlo.broadcast_in_dim %23, dims = [0] {scalify.forms = ["2^0 level 2"]} : (tensor<16xf32>) -> tensor<16x1xf32>
// FP8-NEXT: %25 = stablehlo.add %22, %24 {scalify.forms = ["2^0 level 2"]} : tensor<16x1xf32>
// FP8-NEXT: %26 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<16x1xf32>) -> tensor<16x16xf32>
// FP8-NEXT: %27 = stablehlo.multiply %arg3, %26 {scalify.forms = ["2^0 level 2"]} : tensor<16x16xf32>
// FP8-NEXT: %28 = stablehlo.dot_general %21, %1, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %29 = stablehlo.add %27, %28 {scalify.forms = ["2^0 level 2"]} : tensor<16x16xf32>
// FP8-NEXT: return %13, %25, %29 : tensor<16x1xf32>, tensor<16x1xf32>, tensor<16x16xf32>
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
