// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{recipe=fp8 annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8

// A gated recurrent network, which is a scan.
// UNIT:      module @_loops attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<4x6x16xf32>, %arg1: tensor<16x48xf32>, %arg2: tensor<16x48xf32>, %arg3: tensor<16x16xf32>) -> (tensor<6x16xf32> {jax.result_info = "result"}) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<6x16xf32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<16x16xf32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg3, %cst_0 : tensor<16x16xf32>
// UNIT-NEXT: %1 = stablehlo.add %arg3, %0 : tensor<16x16xf32>
// UNIT-NEXT: %2 = stablehlo.clamp %cst_1, %1, %cst_2 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// UNIT-NEXT: %c_3 = stablehlo.constant dense<4> : tensor<i32>
// UNIT-NEXT: %c_4 = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x16xf32>
// UNIT-NEXT: %5:5 = stablehlo.while(%iterArg = %arg0, %iterArg_8 = %arg1, %iterArg_9 = %arg2, %iterArg_10 = %c_4, %iterArg_11 = %4) : tensor<4x6x16xf32>, tensor<16x48xf32>, tensor<16x48xf32>, tensor<i32>, tensor<6x16xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0 level -1"]}
// UNIT-NEXT: cond {
// UNIT-NEXT: %13 = stablehlo.compare LT, %iterArg_10, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// UNIT-NEXT: stablehlo.return %13 : tensor<i1>
// UNIT-NEXT: } do {
// UNIT-NEXT: %13 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_10) {scalify.forms = ["2^0"]} : (tensor<4x6x16xf32>, tensor<i32>) -> tensor<6x16xf32>
// UNIT-NEXT: %14 = func.call @closed_call_scaled_2(%iterArg_8, %iterArg_9, %iterArg_11, %13) {scalify.forms = ["2^0 level -1"]} : (tensor<16x48xf32>, tensor<16x48xf32>, tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
// UNIT-NEXT: %15 = stablehlo.add %iterArg_10, %c : tensor<i32>
// UNIT-NEXT: stablehlo.return %iterArg, %iterArg_8, %iterArg_9, %15, %14 : tensor<4x6x16xf32>, tensor<16x48xf32>, tensor<16x48xf32>, tensor<i32>, tensor<6x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<6x16xf32>
// UNIT-NEXT: %6 = stablehlo.multiply %5#4, %cst_6 : tensor<6x16xf32>
// UNIT-NEXT: %7 = stablehlo.multiply %6, %cst : tensor<6x16xf32>
// UNIT-NEXT: %8 = stablehlo.add %6, %7 : tensor<6x16xf32>
// UNIT-NEXT: %9 = stablehlo.clamp %cst_1, %8, %cst_2 : (tensor<f32>, tensor<6x16xf32>, tensor<f32>) -> tensor<6x16xf32>
// UNIT-NEXT: %10 = stablehlo.convert %9 {scalify.forms = ["2^-1"]} : (tensor<6x16xf32>) -> tensor<6x16xf8E4M3FN>
// UNIT-NEXT: %11 = stablehlo.dot_general %10, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-1 level 2"]} : (tensor<6x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<6x16xf32>
// UNIT-NEXT: %cst_7 = stablehlo.constant dense<5.000000e-01> : tensor<6x16xf32>
// UNIT-NEXT: %12 = stablehlo.multiply %11, %cst_7 : tensor<6x16xf32>
// UNIT-NEXT: return %12 : tensor<6x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<4x6x16xf32>, %arg1: tensor<i32>) -> tensor<6x16xf32> {
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 6, 16] : (tensor<4x6x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x16xf32>
// UNIT-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x6x16xf32>) -> tensor<6x16xf32>
// UNIT-NEXT: return %1 : tensor<6x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @closed_call_scaled_2(%arg0: tensor<16x48xf32>, %arg1: tensor<16x48xf32>, %arg2: tensor<6x16xf32>, %arg3: tensor<6x16xf32>) -> tensor<6x16xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<6x16xf32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<16x48xf32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg1, %cst_0 : tensor<16x48xf32>
// UNIT-NEXT: %1 = stablehlo.add %arg1, %0 : tensor<16x48xf32>
// UNIT-NEXT: %2 = stablehlo.clamp %cst_1, %1, %cst_2 : (tensor<f32>, tensor<16x48xf32>, tensor<f32>) -> tensor<16x48xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x48xf32>) -> tensor<16x48xf8E4M3FN>
// UNIT-NEXT: %4 = stablehlo.multiply %arg2, %cst : tensor<6x16xf32>
// UNIT-NEXT: %5 = stablehlo.add %arg2, %4 : tensor<6x16xf32>
// UNIT-NEXT: %6 = stablehlo.clamp %cst_1, %5, %cst_2 : (tensor<f32>, tensor<6x16xf32>, tensor<f32>) -> tensor<6x16xf32>
// UNIT-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0 level -1"]} : (tensor<6x16xf32>) -> tensor<6x16xf8E4M3FN>
// UNIT-NEXT: %8 = stablehlo.multiply %arg0, %cst_0 : tensor<16x48xf32>
// UNIT-NEXT: %9 = stablehlo.add %arg0, %8 : tensor<16x48xf32>
// UNIT-NEXT: %10 = stablehlo.clamp %cst_1, %9, %cst_2 : (tensor<f32>, tensor<16x48xf32>, tensor<f32>) -> tensor<16x48xf32>
// UNIT-NEXT: %11 = stablehlo.convert %10 {scalify.forms = ["2^0"]} : (tensor<16x48xf32>) -> tensor<16x48xf8E4M3FN>
// UNIT-NEXT: %12 = stablehlo.multiply %arg3, %cst : tensor<6x16xf32>
// UNIT-NEXT: %13 = stablehlo.add %arg3, %12 : tensor<6x16xf32>
// UNIT-NEXT: %14 = stablehlo.clamp %cst_1, %13, %cst_2 : (tensor<f32>, tensor<6x16xf32>, tensor<f32>) -> tensor<6x16xf32>
// UNIT-NEXT: %15 = stablehlo.convert %14 {scalify.forms = ["2^0"]} : (tensor<6x16xf32>) -> tensor<6x16xf8E4M3FN>
// UNIT-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %16 = stablehlo.dot_general %15, %11, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<6x16xf8E4M3FN>, tensor<16x48xf8E4M3FN>) -> tensor<6x48xf32>
// UNIT-NEXT: %17 = stablehlo.slice %16 [0:6, 0:16] {scalify.forms = ["2^0 level 2"]} : (tensor<6x48xf32>) -> tensor<6x16xf32>
// UNIT-NEXT: %18 = stablehlo.slice %16 [0:6, 16:32] {scalify.forms = ["2^0 level 2"]} : (tensor<6x48xf32>) -> tensor<6x16xf32>
// UNIT-NEXT: %19 = stablehlo.slice %16 [0:6, 32:48] {scalify.forms = ["2^0 level 2"]} : (tensor<6x48xf32>) -> tensor<6x16xf32>
// UNIT-NEXT: %20 = stablehlo.dot_general %7, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 1"]} : (tensor<6x16xf8E4M3FN>, tensor<16x48xf8E4M3FN>) -> tensor<6x48xf32>
// UNIT-NEXT: %21 = stablehlo.slice %20 [0:6, 0:16] {scalify.forms = ["2^0 level 1"]} : (tensor<6x48xf32>) -> tensor<6x16xf32>
// UNIT-NEXT: %22 = stablehlo.slice %20 [0:6, 16:32] {scalify.forms = ["2^0 level 1"]} : (tensor<6x48xf32>) -> tensor<6x16xf32>
// UNIT-NEXT: %23 = stablehlo.slice %20 [0:6, 32:48] {scalify.forms = ["2^0 level 1"]} : (tensor<6x48xf32>) -> tensor<6x16xf32>
// UNIT-NEXT: %24 = stablehlo.add %17, %21 {scalify.forms = ["2^0 level 2.16096"]} : tensor<6x16xf32>
// UNIT-NEXT: %25 = stablehlo.negate %24 {scalify.forms = ["2^0 level 2.16096"]} : tensor<6x16xf32>
// UNIT-NEXT: %26 = stablehlo.exponential %25 {scalify.forms = ["2^0"]} : tensor<6x16xf32>
// UNIT-NEXT: %27 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x16xf32>
// UNIT-NEXT: %28 = stablehlo.add %27, %26 {scalify.forms = ["2^0 level 0.5"]} : tensor<6x16xf32>
// UNIT-NEXT: %29 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x16xf32>
// UNIT-NEXT: %30 = stablehlo.divide %29, %28 {scalify.forms = ["2^0 level -0.884612"]} : tensor<6x16xf32>
// UNIT-NEXT: %31 = stablehlo.add %18, %22 {scalify.forms = ["2^0 level 2.16096"]} : tensor<6x16xf32>
// UNIT-NEXT: %32 = stablehlo.negate %31 {scalify.forms = ["2^0 level 2.16096"]} : tensor<6x16xf32>
// UNIT-NEXT: %33 = stablehlo.exponential %32 {scalify.forms = ["2^0"]} : tensor<6x16xf32>
// UNIT-NEXT: %34 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x16xf32>
// UNIT-NEXT: %35 = stablehlo.add %34, %33 {scalify.forms = ["2^0 level 0.5"]} : tensor<6x16xf32>
// UNIT-NEXT: %36 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x16xf32>
// UNIT-NEXT: %37 = stablehlo.divide %36, %35 {scalify.forms = ["2^0 level -0.884612"]} : tensor<6x16xf32>
// UNIT-NEXT: %38 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x16xf32>
// UNIT-NEXT: %39 = stablehlo.subtract %38, %37 {scalify.forms = ["2^0 level -0.884612"]} : tensor<6x16xf32>
// UNIT-NEXT: %40 = stablehlo.multiply %30, %23 {scalify.forms = ["2^0 level 0.115388"]} : tensor<6x16xf32>
// UNIT-NEXT: %41 = stablehlo.add %19, %40 {scalify.forms = ["2^0 level 2.05105"]} : tensor<6x16xf32>
// UNIT-NEXT: %42 = stablehlo.tanh %41 {scalify.forms = ["2^0 level -0.671746"]} : tensor<6x16xf32>
// UNIT-NEXT: %43 = stablehlo.multiply %39, %42 {scalify.forms = ["2^0 level -1.55636"]} : tensor<6x16xf32>
// UNIT-NEXT: %44 = stablehlo.multiply %37, %arg2 {scalify.forms = ["2^0 level -1.88461"]} : tensor<6x16xf32>
// UNIT-NEXT: %45 = stablehlo.add %43, %44 {scalify.forms = ["2^0 level -1"]} : tensor<6x16xf32>
// UNIT-NEXT: return %45 : tensor<6x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module @_loops attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<4x6x16xf32>, %arg1: tensor<16x48xf32>, %arg2: tensor<16x48xf32>, %arg3: tensor<16x16xf32>) -> (tensor<6x16xf32> {jax.result_info = "result"}) {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<6x16xf32>
// FP8-NEXT: %c = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_3 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// FP8-NEXT: %c_4 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %c_5 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %c_6 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %c_7 = stablehlo.constant dense<8388607> : tensor<ui32>
// FP8-NEXT: %c_8 = stablehlo.constant dense<8388608> : tensor<i32>
// FP8-NEXT: %c_9 = stablehlo.constant dense<8388608> : tensor<6x16xi32>
// FP8-NEXT: %cst_10 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// FP8-NEXT: %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<16x16xf32>
// FP8-NEXT: %cst_12 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_13 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg3, %cst_11 : tensor<16x16xf32>
// FP8-NEXT: %1 = stablehlo.add %arg3, %0 : tensor<16x16xf32>
// FP8-NEXT: %2 = stablehlo.clamp %cst_12, %1, %cst_13 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %c_15 = stablehlo.constant dense<1> : tensor<i32>
// FP8-NEXT: %c_16 = stablehlo.constant dense<4> : tensor<i32>
// FP8-NEXT: %c_17 = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x16xf32>
// FP8-NEXT: %5:5 = stablehlo.while(%iterArg = %arg0, %iterArg_19 = %arg1, %iterArg_20 = %arg2, %iterArg_21 = %c_17, %iterArg_22 = %4) : tensor<4x6x16xf32>, tensor<16x48xf32>, tensor<16x48xf32>, tensor<i32>, tensor<6x16xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0"]}
// FP8-NEXT: cond {
// FP8-NEXT: %38 = stablehlo.compare LT, %iterArg_21, %c_16, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// FP8-NEXT: stablehlo.return %38 : tensor<i1>
// FP8-NEXT: } do {
// FP8-NEXT: %38 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_21) {scalify.forms = ["2^0"]} : (tensor<4x6x16xf32>, tensor<i32>) -> tensor<6x16xf32>
// FP8-NEXT: %39 = func.call @closed_call_scaled_3(%iterArg_19, %iterArg_20, %iterArg_22, %38) {scalify.forms = ["2^0"]} : (tensor<16x48xf32>, tensor<16x48xf32>, tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
// FP8-NEXT: %40 = stablehlo.add %iterArg_21, %c_15 : tensor<i32>
// FP8-NEXT: stablehlo.return %iterArg, %iterArg_19, %iterArg_20, %40, %39 : tensor<4x6x16xf32>, tensor<16x48xf32>, tensor<16x48xf32>, tensor<i32>, tensor<6x16xf32>
// FP8-NEXT: }
// FP8-NEXT: %6 = stablehlo.optimization_barrier %5#4 : tensor<6x16xf32>
// FP8-NEXT: %7 = stablehlo.abs %6 : tensor<6x16xf32>
// FP8-NEXT: %8 = stablehlo.bitcast_convert %7 : (tensor<6x16xf32>) -> tensor<6x16xi32>
// FP8-NEXT: %9 = stablehlo.add %8, %c_9 : tensor<6x16xi32>
// FP8-NEXT: %10 = stablehlo.reduce(%9 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<6x16xi32>, tensor<i32>) -> tensor<i32>
// FP8-NEXT: %11 = stablehlo.subtract %10, %c_8 : tensor<i32>
// FP8-NEXT: %12 = stablehlo.bitcast_convert %11 : (tensor<i32>) -> tensor<f32>
// FP8-NEXT: %13 = stablehlo.bitcast_convert %12 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %14 = stablehlo.add %13, %c_7 : tensor<ui32>
// FP8-NEXT: %15 = stablehlo.and %14, %c_6 : tensor<ui32>
// FP8-NEXT: %16 = stablehlo.subtract %15, %c_5 : tensor<ui32>
// FP8-NEXT: %17 = stablehlo.compare LT, %16, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %18 = stablehlo.bitcast_convert %15 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %19 = stablehlo.select %17, %18, %cst_10 : tensor<i1>, tensor<f32>
// FP8-NEXT: %20 = stablehlo.multiply %19, %cst_3 : tensor<f32>
// FP8-NEXT: %21 = stablehlo.multiply %20, %cst_2 : tensor<f32>
// FP8-NEXT: %22 = stablehlo.clamp %cst_1, %21, %cst_0 : tensor<f32>
// FP8-NEXT: %23 = stablehlo.bitcast_convert %22 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %24 = stablehlo.subtract %c, %23 : tensor<ui32>
// FP8-NEXT: %25 = stablehlo.bitcast_convert %24 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %26 = stablehlo.divide %cst_2, %25 : tensor<f32>
// FP8-NEXT: %27 = stablehlo.optimization_barrier %26 : tensor<f32>
// FP8-NEXT: %28 = stablehlo.divide %cst_14, %27 : tensor<f32>
// FP8-NEXT: %29 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
// FP8-NEXT: %30 = stablehlo.multiply %6, %29 : tensor<6x16xf32>
// FP8-NEXT: %31 = stablehlo.multiply %30, %cst : tensor<6x16xf32>
// FP8-NEXT: %32 = stablehlo.add %30, %31 : tensor<6x16xf32>
// FP8-NEXT: %33 = stablehlo.clamp %cst_12, %32, %cst_13 : (tensor<f32>, tensor<6x16xf32>, tensor<f32>) -> tensor<6x16xf32>
// FP8-NEXT: %34 = stablehlo.convert %33 {scalify.forms = ["s0 level 6"]} : (tensor<6x16xf32>) -> tensor<6x16xf8E4M3FN>
// FP8-NEXT: %35 = stablehlo.dot_general %34, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s0 level 8"]} : (tensor<6x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<6x16xf32>
// FP8-NEXT: %36 = stablehlo.broadcast_in_dim %27, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
// FP8-NEXT: %37 = stablehlo.multiply %35, %36 : tensor<6x16xf32>
// FP8-NEXT: return %37 : tensor<6x16xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<4x6x16xf32>, %arg1: tensor<i32>) -> tensor<6x16xf32> {
// FP8-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 6, 16] : (tensor<4x6x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x16xf32>
// FP8-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x6x16xf32>) -> tensor<6x16xf32>
// FP8-NEXT: return %1 : tensor<6x16xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @closed_call_scaled_3(%arg0: tensor<16x48xf32>, %arg1: tensor<16x48xf32>, %arg2: tensor<6x16xf32>, %arg3: tensor<6x16xf32>) -> tensor<6x16xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<6x16xf32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<16x48xf32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg1, %cst_0 : tensor<16x48xf32>
// FP8-NEXT: %1 = stablehlo.add %arg1, %0 : tensor<16x48xf32>
// FP8-NEXT: %2 = stablehlo.clamp %cst_1, %1, %cst_2 : (tensor<f32>, tensor<16x48xf32>, tensor<f32>) -> tensor<16x48xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x48xf32>) -> tensor<16x48xf8E4M3FN>
// FP8-NEXT: %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<6x16xf32>
// FP8-NEXT: %4 = stablehlo.multiply %arg2, %cst_3 : tensor<6x16xf32>
// FP8-NEXT: %5 = stablehlo.multiply %4, %cst : tensor<6x16xf32>
// FP8-NEXT: %6 = stablehlo.add %4, %5 : tensor<6x16xf32>
// FP8-NEXT: %7 = stablehlo.clamp %cst_1, %6, %cst_2 : (tensor<f32>, tensor<6x16xf32>, tensor<f32>) -> tensor<6x16xf32>
// FP8-NEXT: %8 = stablehlo.convert %7 {scalify.forms = ["2^-1 level 1"]} : (tensor<6x16xf32>) -> tensor<6x16xf8E4M3FN>
// FP8-NEXT: %9 = stablehlo.multiply %arg0, %cst_0 : tensor<16x48xf32>
// FP8-NEXT: %10 = stablehlo.add %arg0, %9 : tensor<16x48xf32>
// FP8-NEXT: %11 = stablehlo.clamp %cst_1, %10, %cst_2 : (tensor<f32>, tensor<16x48xf32>, tensor<f32>) -> tensor<16x48xf32>
// FP8-NEXT: %12 = stablehlo.convert %11 {scalify.forms = ["2^0"]} : (tensor<16x48xf32>) -> tensor<16x48xf8E4M3FN>
// FP8-NEXT: %13 = stablehlo.multiply %arg3, %cst : tensor<6x16xf32>
// FP8-NEXT: %14 = stablehlo.add %arg3, %13 : tensor<6x16xf32>
// FP8-NEXT: %15 = stablehlo.clamp %cst_1, %14, %cst_2 : (tensor<f32>, tensor<6x16xf32>, tensor<f32>) -> tensor<6x16xf32>
// FP8-NEXT: %16 = stablehlo.convert %15 {scalify.forms = ["2^0"]} : (tensor<6x16xf32>) -> tensor<6x16xf8E4M3FN>
// FP8-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %17 = stablehlo.dot_general %16, %12, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<6x16xf8E4M3FN>, tensor<16x48xf8E4M3FN>) -> tensor<6x48xf32>
// FP8-NEXT: %18 = stablehlo.slice %17 [0:6, 0:16] {scalify.forms = ["2^0 level 2"]} : (tensor<6x48xf32>) -> tensor<6x16xf32>
// FP8-NEXT: %19 = stablehlo.slice %17 [0:6, 16:32] {scalify.forms = ["2^0 level 2"]} : (tensor<6x48xf32>) -> tensor<6x16xf32>
// FP8-NEXT: %20 = stablehlo.slice %17 [0:6, 32:48] {scalify.forms = ["2^0 level 2"]} : (tensor<6x48xf32>) -> tensor<6x16xf32>
// FP8-NEXT: %21 = stablehlo.dot_general %8, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-1 level 3"]} : (tensor<6x16xf8E4M3FN>, tensor<16x48xf8E4M3FN>) -> tensor<6x48xf32>
// FP8-NEXT: %22 = stablehlo.slice %21 [0:6, 0:16] {scalify.forms = ["2^-1 level 3"]} : (tensor<6x48xf32>) -> tensor<6x16xf32>
// FP8-NEXT: %23 = stablehlo.slice %21 [0:6, 16:32] {scalify.forms = ["2^-1 level 3"]} : (tensor<6x48xf32>) -> tensor<6x16xf32>
// FP8-NEXT: %24 = stablehlo.slice %21 [0:6, 32:48] {scalify.forms = ["2^-1 level 3"]} : (tensor<6x48xf32>) -> tensor<6x16xf32>
// FP8-NEXT: %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<6x16xf32>
// FP8-NEXT: %25 = stablehlo.multiply %22, %cst_5 : tensor<6x16xf32>
// FP8-NEXT: %26 = stablehlo.add %18, %25 {scalify.forms = ["2^0 level 2"]} : tensor<6x16xf32>
// FP8-NEXT: %27 = stablehlo.negate %26 {scalify.forms = ["2^0 level 2"]} : tensor<6x16xf32>
// FP8-NEXT: %28 = stablehlo.exponential %27 {scalify.forms = ["2^0"]} : tensor<6x16xf32>
// FP8-NEXT: %29 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x16xf32>
// FP8-NEXT: %30 = stablehlo.add %29, %28 {scalify.forms = ["2^0"]} : tensor<6x16xf32>
// FP8-NEXT: %31 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x16xf32>
// FP8-NEXT: %32 = stablehlo.divide %31, %30 {scalify.forms = ["2^0"]} : tensor<6x16xf32>
// FP8-NEXT: %cst_6 = stablehlo.constant dense<5.000000e-01> : tensor<6x16xf32>
// FP8-NEXT: %33 = stablehlo.multiply %23, %cst_6 : tensor<6x16xf32>
// FP8-NEXT: %34 = stablehlo.add %19, %33 {scalify.forms = ["2^0 level 2"]} : tensor<6x16xf32>
// FP8-NEXT: %35 = stablehlo.negate %34 {scalify.forms = ["2^0 level 2"]} : tensor<6x16xf32>
// FP8-NEXT: %36 = stablehlo.exponential %35 {scalify.forms = ["2^0"]} : tensor<6x16xf32>
// FP8-NEXT: %37 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x16xf32>
// FP8-NEXT: %38 = stablehlo.add %37, %36 {scalify.forms = ["2^0"]} : tensor<6x16xf32>
// FP8-NEXT: %39 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x16xf32>
// FP8-NEXT: %40 = stablehlo.divide %39, %38 {scalify.forms = ["2^0"]} : tensor<6x16xf32>
// FP8-NEXT: %41 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x16xf32>
// FP8-NEXT: %42 = stablehlo.subtract %41, %40 {scalify.forms = ["2^0"]} : tensor<6x16xf32>
// FP8-NEXT: %43 = stablehlo.multiply %32, %24 {scalify.forms = ["2^-1 level 3"]} : tensor<6x16xf32>
// FP8-NEXT: %cst_7 = stablehlo.constant dense<5.000000e-01> : tensor<6x16xf32>
// FP8-NEXT: %44 = stablehlo.multiply %43, %cst_7 : tensor<6x16xf32>
// FP8-NEXT: %45 = stablehlo.add %20, %44 {scalify.forms = ["2^0 level 2"]} : tensor<6x16xf32>
// FP8-NEXT: %46 = stablehlo.tanh %45 {scalify.forms = ["2^0"]} : tensor<6x16xf32>
// FP8-NEXT: %47 = stablehlo.multiply %42, %46 {scalify.forms = ["2^0"]} : tensor<6x16xf32>
// FP8-NEXT: %48 = stablehlo.multiply %40, %arg2 {scalify.forms = ["2^0"]} : tensor<6x16xf32>
// FP8-NEXT: %49 = stablehlo.add %47, %48 {scalify.forms = ["2^0"]} : tensor<6x16xf32>
// FP8-NEXT: return %49 : tensor<6x16xf32>
// FP8-NEXT: }
// FP8-NEXT: }

module @_loops attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6x16xf32>, %arg1: tensor<16x48xf32>, %arg2: tensor<16x48xf32>, %arg3: tensor<16x16xf32>) -> (tensor<6x16xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
    %1:5 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %arg1, %iterArg_3 = %arg2, %iterArg_4 = %c_1, %iterArg_5 = %0) : tensor<4x6x16xf32>, tensor<16x48xf32>, tensor<16x48xf32>, tensor<i32>, tensor<6x16xf32>
    cond {
      %3 = stablehlo.compare LT, %iterArg_4, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_4) : (tensor<4x6x16xf32>, tensor<i32>) -> tensor<6x16xf32>
      %4 = func.call @closed_call(%iterArg_2, %iterArg_3, %iterArg_5, %3) : (tensor<16x48xf32>, tensor<16x48xf32>, tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
      %5 = stablehlo.add %iterArg_4, %c : tensor<i32>
      stablehlo.return %iterArg, %iterArg_2, %iterArg_3, %5, %4 : tensor<4x6x16xf32>, tensor<16x48xf32>, tensor<16x48xf32>, tensor<i32>, tensor<6x16xf32>
    }
    %2 = stablehlo.dot_general %1#4, %arg3, contracting_dims = [1] x [0] : (tensor<6x16xf32>, tensor<16x16xf32>) -> tensor<6x16xf32>
    return %2 : tensor<6x16xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x6x16xf32>, %arg1: tensor<i32>) -> tensor<6x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 6, 16] : (tensor<4x6x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x6x16xf32>) -> tensor<6x16xf32>
    return %1 : tensor<6x16xf32>
  }
  func.func private @closed_call(%arg0: tensor<16x48xf32>, %arg1: tensor<16x48xf32>, %arg2: tensor<6x16xf32>, %arg3: tensor<6x16xf32>) -> tensor<6x16xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] : (tensor<6x16xf32>, tensor<16x48xf32>) -> tensor<6x48xf32>
    %1 = stablehlo.slice %0 [0:6, 0:16] : (tensor<6x48xf32>) -> tensor<6x16xf32>
    %2 = stablehlo.slice %0 [0:6, 16:32] : (tensor<6x48xf32>) -> tensor<6x16xf32>
    %3 = stablehlo.slice %0 [0:6, 32:48] : (tensor<6x48xf32>) -> tensor<6x16xf32>
    %4 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0] : (tensor<6x16xf32>, tensor<16x48xf32>) -> tensor<6x48xf32>
    %5 = stablehlo.slice %4 [0:6, 0:16] : (tensor<6x48xf32>) -> tensor<6x16xf32>
    %6 = stablehlo.slice %4 [0:6, 16:32] : (tensor<6x48xf32>) -> tensor<6x16xf32>
    %7 = stablehlo.slice %4 [0:6, 32:48] : (tensor<6x48xf32>) -> tensor<6x16xf32>
    %8 = stablehlo.add %1, %5 : tensor<6x16xf32>
    %9 = stablehlo.negate %8 : tensor<6x16xf32>
    %10 = stablehlo.exponential %9 : tensor<6x16xf32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
    %12 = stablehlo.add %11, %10 : tensor<6x16xf32>
    %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
    %14 = stablehlo.divide %13, %12 : tensor<6x16xf32>
    %15 = stablehlo.add %2, %6 : tensor<6x16xf32>
    %16 = stablehlo.negate %15 : tensor<6x16xf32>
    %17 = stablehlo.exponential %16 : tensor<6x16xf32>
    %18 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
    %19 = stablehlo.add %18, %17 : tensor<6x16xf32>
    %20 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
    %21 = stablehlo.divide %20, %19 : tensor<6x16xf32>
    %22 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
    %23 = stablehlo.subtract %22, %21 : tensor<6x16xf32>
    %24 = stablehlo.multiply %14, %7 : tensor<6x16xf32>
    %25 = stablehlo.add %3, %24 : tensor<6x16xf32>
    %26 = stablehlo.tanh %25 : tensor<6x16xf32>
    %27 = stablehlo.multiply %23, %26 : tensor<6x16xf32>
    %28 = stablehlo.multiply %21, %arg2 : tensor<6x16xf32>
    %29 = stablehlo.add %27, %28 : tensor<6x16xf32>
    return %29 : tensor<6x16xf32>
  }
}
