// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{signature=scaled every=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8-state},scalify-quantize-matmuls{recipe=fp8-state},scalify-narrow-state{recipe=fp8-state},scalify-quantize-constants,scalify-propagate{recipe=fp8-state annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{signature=scaled every=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp16-state},scalify-quantize-matmuls{recipe=fp16-state},scalify-narrow-state{recipe=fp16-state},scalify-quantize-constants,scalify-propagate{recipe=fp16-state annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP16

// A training step of one layer with AdamW: weights, moments and the number of the step are carried.
// FP8:      module @_adam attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<16xf16>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<32x16xf16>, %arg3: tensor<f32> {scalify.is_scale}, %arg4: tensor<16xf16>, %arg5: tensor<f32> {scalify.is_scale}, %arg6: tensor<32x16xf16>, %arg7: tensor<f32> {scalify.is_scale}, %arg8: tensor<16xf16>, %arg9: tensor<f32> {scalify.is_scale}, %arg10: tensor<32x16xf16>, %arg11: tensor<f32> {scalify.is_scale}, %arg12: tensor<4x32xf32>, %arg13: tensor<f32> {scalify.is_scale}, %arg14: tensor<4x16xf32>, %arg15: tensor<f32> {scalify.is_scale}, %arg16: tensor<f32>, %arg17: tensor<f32> {scalify.is_scale}) -> (tensor<16xf16> {jax.result_info = "result[0]['b']"}, tensor<f32> {jax.result_info = "result[0]['b'].scale", scalify.is_scale}, tensor<32x16xf16> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[0]['w'].scale", scalify.is_scale}, tensor<16xf16> {jax.result_info = "result[1]['b']"}, tensor<f32> {jax.result_info = "result[1]['b'].scale", scalify.is_scale}, tensor<32x16xf16> {jax.result_info = "result[1]['w']"}, tensor<f32> {jax.result_info = "result[1]['w'].scale", scalify.is_scale}, tensor<16xf16> {jax.result_info = "result[2]['b']"}, tensor<f32> {jax.result_info = "result[2]['b'].scale", scalify.is_scale}, tensor<32x16xf16> {jax.result_info = "result[2]['w']"}, tensor<f32> {jax.result_info = "result[2]['w'].scale", scalify.is_scale}, tensor<f32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[3].scale", scalify.is_scale}) {
// FP8-NEXT: %c = stablehlo.constant dense<8388608> : tensor<32x16xi32>
// FP8-NEXT: %cst = stablehlo.constant dense<7.812500e-03> : tensor<f32>
// FP8-NEXT: %c_0 = stablehlo.constant dense<8388607> : tensor<ui32>
// FP8-NEXT: %c_1 = stablehlo.constant dense<8388608> : tensor<i32>
// FP8-NEXT: %c_2 = stablehlo.constant dense<8388608> : tensor<16xi32>
// FP8-NEXT: %cst_3 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
// FP8-NEXT: %cst_4 = stablehlo.constant dense<0.001953125> : tensor<f32>
// FP8-NEXT: %c_5 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %cst_6 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %cst_7 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %c_8 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %c_9 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %c_10 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %cst_11 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
// FP8-NEXT: %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<16xf32>
// FP8-NEXT: %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
// FP8-NEXT: %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<32x16xf32>
// FP8-NEXT: %cst_17 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_18 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg3, %arg13 : tensor<f32>
// FP8-NEXT: %1 = stablehlo.divide %arg1, %0 : tensor<f32>
// FP8-NEXT: %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %2 = stablehlo.divide %cst_19, %arg15 : tensor<f32>
// FP8-NEXT: %3 = stablehlo.multiply %arg13, %arg15 : tensor<f32>
// FP8-NEXT: %cst_20 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_21 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_22 = stablehlo.constant dense<0.899999976> : tensor<f32>
// FP8-NEXT: %cst_23 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
// FP8-NEXT: %4 = stablehlo.divide %cst_19, %arg1 : tensor<f32>
// FP8-NEXT: %5 = stablehlo.divide %cst_19, %arg3 : tensor<f32>
// FP8-NEXT: %cst_24 = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// FP8-NEXT: %cst_25 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// FP8-NEXT: %6 = stablehlo.convert %arg10 {scalify.forms = ["s5"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// FP8-NEXT: %7 = stablehlo.convert %arg8 {scalify.forms = ["s4"]} : (tensor<16xf16>) -> tensor<16xf32>
// FP8-NEXT: %8 = stablehlo.convert %arg6 {scalify.forms = ["s3"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// FP8-NEXT: %9 = stablehlo.convert %arg4 {scalify.forms = ["s2"]} : (tensor<16xf16>) -> tensor<16xf32>
// FP8-NEXT: %10 = stablehlo.convert %arg2 {scalify.forms = ["s1"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// FP8-NEXT: %11 = stablehlo.convert %arg0 {scalify.forms = ["s0"]} : (tensor<16xf16>) -> tensor<16xf32>
// FP8-NEXT: %12 = stablehlo.multiply %10, %cst_16 : tensor<32x16xf32>
// FP8-NEXT: %13 = stablehlo.add %10, %12 : tensor<32x16xf32>
// FP8-NEXT: %14 = stablehlo.clamp %cst_17, %13, %cst_18 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %15 = stablehlo.convert %14 {scalify.forms = ["s1"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// FP8-NEXT: %16 = stablehlo.multiply %arg12, %cst_15 : tensor<4x32xf32>
// FP8-NEXT: %17 = stablehlo.add %arg12, %16 : tensor<4x32xf32>
// FP8-NEXT: %18 = stablehlo.clamp %cst_17, %17, %cst_18 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %19 = stablehlo.convert %18 {scalify.forms = ["s6"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// FP8-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00999999977> : tensor<f32>
// FP8-NEXT: %cst_27 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-03> : tensor<f32>
// FP8-NEXT: %cst_28 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.990000e-01> : tensor<f32>
// FP8-NEXT: %cst_29 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// FP8-NEXT: %cst_30 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.899999976> : tensor<f32>
// FP8-NEXT: %cst_31 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_32 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// FP8-NEXT: %cst_33 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_34 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %20 = stablehlo.dot_general %19, %15, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s1*s6 level 3"]} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// FP8-NEXT: %21 = stablehlo.broadcast_in_dim %11, dims = [1] {scalify.forms = ["s0"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// FP8-NEXT: %22 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
// FP8-NEXT: %23 = stablehlo.multiply %21, %22 : tensor<1x16xf32>
// FP8-NEXT: %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %25 = stablehlo.add %20, %24 {scalify.forms = ["s1*s6 level 3"]} : tensor<4x16xf32>
// FP8-NEXT: %26 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %27 = stablehlo.multiply %25, %26 : tensor<4x16xf32>
// FP8-NEXT: %28 = stablehlo.tanh %27 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %29 = stablehlo.broadcast_in_dim %cst_34, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %30 = stablehlo.subtract %29, %28 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %31 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %32 = stablehlo.multiply %28, %31 : tensor<4x16xf32>
// FP8-NEXT: %33 = stablehlo.subtract %32, %arg14 {scalify.forms = ["s7"]} : tensor<4x16xf32>
// FP8-NEXT: %34 = stablehlo.broadcast_in_dim %cst_33, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %35 = stablehlo.multiply %34, %33 {scalify.forms = ["s7 level 1"]} : tensor<4x16xf32>
// FP8-NEXT: %36 = stablehlo.divide %cst_34, %cst_32 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// FP8-NEXT: %37 = stablehlo.broadcast_in_dim %36, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %38 = stablehlo.multiply %37, %35 {scalify.forms = ["s7 level -5"]} : tensor<4x16xf32>
// FP8-NEXT: %39 = stablehlo.multiply %38, %30 {scalify.forms = ["s7 level -4"]} : tensor<4x16xf32>
// FP8-NEXT: %40 = stablehlo.multiply %39, %28 {scalify.forms = ["s7 level -4"]} : tensor<4x16xf32>
// FP8-NEXT: %41 = stablehlo.add %39, %40 {scalify.forms = ["s7 level -4"]} : tensor<4x16xf32>
// FP8-NEXT: %42 = stablehlo.reduce(%41 init: %cst_31) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s7 level -3"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %43 = stablehlo.reshape %42 {scalify.forms = ["s7 level -3"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// FP8-NEXT: %44 = stablehlo.reduce(%43 init: %cst_31) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s7 level -3"]} : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %45 = stablehlo.optimization_barrier %44 : tensor<16xf32>
// FP8-NEXT: %46 = stablehlo.multiply %45, %45 : tensor<16xf32>
// FP8-NEXT: %47 = stablehlo.is_finite %45 : (tensor<16xf32>) -> tensor<16xi1>
// FP8-NEXT: %48 = stablehlo.select %47, %46, %cst_13 : tensor<16xi1>, tensor<16xf32>
// FP8-NEXT: %49 = stablehlo.reduce(%48 init: %cst_12) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %50 = stablehlo.multiply %49, %cst_11 : tensor<f32>
// FP8-NEXT: %51 = stablehlo.sqrt %50 : tensor<f32>
// FP8-NEXT: %52 = stablehlo.bitcast_convert %51 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %53 = stablehlo.and %52, %c_10 : tensor<ui32>
// FP8-NEXT: %54 = stablehlo.subtract %53, %c_9 : tensor<ui32>
// FP8-NEXT: %55 = stablehlo.compare LT, %54, %c_8 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %56 = stablehlo.bitcast_convert %53 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %57 = stablehlo.select %55, %56, %cst_14 : tensor<i1>, tensor<f32>
// FP8-NEXT: %58 = stablehlo.multiply %57, %arg15 : tensor<f32>
// FP8-NEXT: %59 = stablehlo.clamp %cst_7, %58, %cst_6 : tensor<f32>
// FP8-NEXT: %60 = stablehlo.bitcast_convert %59 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %61 = stablehlo.subtract %c_5, %60 : tensor<ui32>
// FP8-NEXT: %62 = stablehlo.bitcast_convert %61 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %63 = stablehlo.divide %cst_14, %62 : tensor<f32>
// FP8-NEXT: %64 = stablehlo.optimization_barrier %63 : tensor<f32>
// FP8-NEXT: %65 = stablehlo.divide %arg15, %64 : tensor<f32>
// FP8-NEXT: %66 = stablehlo.divide %arg5, %64 : tensor<f32>
// FP8-NEXT: %67 = stablehlo.multiply %cst_22, %66 : tensor<f32>
// FP8-NEXT: %68 = stablehlo.multiply %64, %64 : tensor<f32>
// FP8-NEXT: %69 = stablehlo.divide %arg9, %68 : tensor<f32>
// FP8-NEXT: %70 = stablehlo.divide %cst_23, %64 : tensor<f32>
// FP8-NEXT: %71 = stablehlo.broadcast_in_dim %65, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %72 = stablehlo.multiply %45, %71 : tensor<16xf32>
// FP8-NEXT: %73 = stablehlo.dot_general %41, %arg12, contracting_dims = [0] x [0] {scalify.forms = ["s6*s7 level -2"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// FP8-NEXT: %74 = stablehlo.transpose %73, dims = [1, 0] {scalify.forms = ["s6*s7 level -2"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// FP8-NEXT: %75 = stablehlo.optimization_barrier %74 : tensor<32x16xf32>
// FP8-NEXT: %76 = stablehlo.multiply %75, %75 : tensor<32x16xf32>
// FP8-NEXT: %77 = stablehlo.is_finite %75 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// FP8-NEXT: %78 = stablehlo.select %77, %76, %cst_16 : tensor<32x16xi1>, tensor<32x16xf32>
// FP8-NEXT: %79 = stablehlo.reduce(%78 init: %cst_12) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %80 = stablehlo.multiply %79, %cst_4 : tensor<f32>
// FP8-NEXT: %81 = stablehlo.sqrt %80 : tensor<f32>
// FP8-NEXT: %82 = stablehlo.bitcast_convert %81 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %83 = stablehlo.and %82, %c_10 : tensor<ui32>
// FP8-NEXT: %84 = stablehlo.subtract %83, %c_9 : tensor<ui32>
// FP8-NEXT: %85 = stablehlo.compare LT, %84, %c_8 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %86 = stablehlo.bitcast_convert %83 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %87 = stablehlo.select %85, %86, %cst_14 : tensor<i1>, tensor<f32>
// FP8-NEXT: %88 = stablehlo.multiply %87, %3 : tensor<f32>
// FP8-NEXT: %89 = stablehlo.clamp %cst_7, %88, %cst_6 : tensor<f32>
// FP8-NEXT: %90 = stablehlo.bitcast_convert %89 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %91 = stablehlo.subtract %c_5, %90 : tensor<ui32>
// FP8-NEXT: %92 = stablehlo.bitcast_convert %91 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %93 = stablehlo.divide %cst_14, %92 : tensor<f32>
// FP8-NEXT: %94 = stablehlo.optimization_barrier %93 : tensor<f32>
// FP8-NEXT: %95 = stablehlo.divide %3, %94 : tensor<f32>
// FP8-NEXT: %96 = stablehlo.divide %arg7, %94 : tensor<f32>
// FP8-NEXT: %97 = stablehlo.multiply %cst_22, %96 : tensor<f32>
// FP8-NEXT: %98 = stablehlo.multiply %94, %94 : tensor<f32>
// FP8-NEXT: %99 = stablehlo.divide %arg11, %98 : tensor<f32>
// FP8-NEXT: %100 = stablehlo.divide %cst_23, %94 : tensor<f32>
// FP8-NEXT: %101 = stablehlo.broadcast_in_dim %95, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %102 = stablehlo.multiply %75, %101 : tensor<32x16xf32>
// FP8-NEXT: %103 = stablehlo.multiply %102, %cst_16 : tensor<32x16xf32>
// FP8-NEXT: %104 = stablehlo.add %102, %103 : tensor<32x16xf32>
// FP8-NEXT: %105 = stablehlo.clamp %cst_20, %104, %cst_21 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %106 = stablehlo.convert %105 {scalify.forms = ["s10"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E5M2>
// FP8-NEXT: %107 = stablehlo.optimization_barrier {scalify.forms = ["s10"]} %106 : tensor<32x16xf8E5M2>
// FP8-NEXT: %108 = stablehlo.convert %107 {scalify.forms = ["s10"]} : (tensor<32x16xf8E5M2>) -> tensor<32x16xf32>
// FP8-NEXT: %109 = stablehlo.broadcast_in_dim %cst_29, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %110 = stablehlo.multiply %109, %72 {scalify.forms = ["s9 level -3.32193"]} : tensor<16xf32>
// FP8-NEXT: %111 = stablehlo.broadcast_in_dim %67, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %112 = stablehlo.multiply %111, %9 : tensor<16xf32>
// FP8-NEXT: %113 = stablehlo.add %112, %110 {scalify.forms = ["s9 level -3.32193"]} : tensor<16xf32>
// FP8-NEXT: %114 = stablehlo.broadcast_in_dim %cst_29, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %115 = stablehlo.multiply %114, %108 {scalify.forms = ["s10 level -3.32193"]} : tensor<32x16xf32>
// FP8-NEXT: %116 = stablehlo.broadcast_in_dim %97, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %117 = stablehlo.multiply %116, %8 : tensor<32x16xf32>
// FP8-NEXT: %118 = stablehlo.add %117, %115 {scalify.forms = ["s10 level -3.32193"]} : tensor<32x16xf32>
// FP8-NEXT: %119 = stablehlo.broadcast_in_dim %cst_28, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %120 = stablehlo.multiply %119, %7 {scalify.forms = ["s4 level -0.0014434"]} : tensor<16xf32>
// FP8-NEXT: %121 = stablehlo.broadcast_in_dim %cst_27, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %122 = stablehlo.multiply %121, %72 {scalify.forms = ["s9 level -9.96578"]} : tensor<16xf32>
// FP8-NEXT: %123 = stablehlo.multiply %122, %72 {scalify.forms = ["s9^2 level -9.96578"]} : tensor<16xf32>
// FP8-NEXT: %124 = stablehlo.broadcast_in_dim %69, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %125 = stablehlo.multiply %120, %124 : tensor<16xf32>
// FP8-NEXT: %126 = stablehlo.add %125, %123 {scalify.forms = ["s9^2 level -9.96578"]} : tensor<16xf32>
// FP8-NEXT: %127 = stablehlo.broadcast_in_dim %cst_28, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %128 = stablehlo.multiply %127, %6 {scalify.forms = ["s5 level -0.0014434"]} : tensor<32x16xf32>
// FP8-NEXT: %129 = stablehlo.broadcast_in_dim %cst_27, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %130 = stablehlo.multiply %129, %108 {scalify.forms = ["s10 level -9.96578"]} : tensor<32x16xf32>
// FP8-NEXT: %131 = stablehlo.multiply %130, %108 {scalify.forms = ["s10^2 level -9.96578"]} : tensor<32x16xf32>
// FP8-NEXT: %132 = stablehlo.broadcast_in_dim %99, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %133 = stablehlo.multiply %128, %132 : tensor<32x16xf32>
// FP8-NEXT: %134 = stablehlo.add %133, %131 {scalify.forms = ["s10^2 level -9.96578"]} : tensor<32x16xf32>
// FP8-NEXT: %135 = stablehlo.multiply %arg16, %arg17 : tensor<f32>
// FP8-NEXT: %136 = stablehlo.add %135, %cst_34 {scalify.forms = ["2^0"]} : tensor<f32>
// FP8-NEXT: %137 = stablehlo.power %cst_30, %136 : tensor<f32>
// FP8-NEXT: %138 = stablehlo.subtract %cst_34, %137 : tensor<f32>
// FP8-NEXT: %139 = stablehlo.broadcast_in_dim %138, dims = [] {scalify.forms = ["2^0 level 0"]} : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %140 = stablehlo.divide %113, %139 {scalify.forms = ["s9 level -3.32193"]} : tensor<16xf32>
// FP8-NEXT: %141 = stablehlo.power %cst_28, %136 : tensor<f32>
// FP8-NEXT: %142 = stablehlo.subtract %cst_34, %141 : tensor<f32>
// FP8-NEXT: %143 = stablehlo.broadcast_in_dim %142, dims = [] {scalify.forms = ["2^0 level 0"]} : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %144 = stablehlo.divide %126, %143 {scalify.forms = ["s9^2 level -9.96578"]} : tensor<16xf32>
// FP8-NEXT: %145 = stablehlo.sqrt %144 {scalify.forms = ["s9 level -5"]} : tensor<16xf32>
// FP8-NEXT: %146 = stablehlo.broadcast_in_dim %70, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %147 = stablehlo.add %145, %146 {scalify.forms = ["s9 level -5"]} : tensor<16xf32>
// FP8-NEXT: %148 = stablehlo.divide %140, %147 {scalify.forms = ["2^0 level 1.67807"]} : tensor<16xf32>
// FP8-NEXT: %149 = stablehlo.broadcast_in_dim %cst_26, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %150 = stablehlo.multiply %149, %11 {scalify.forms = ["s0 level -6.64386"]} : tensor<16xf32>
// FP8-NEXT: %151 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %152 = stablehlo.multiply %148, %151 : tensor<16xf32>
// FP8-NEXT: %153 = stablehlo.add %152, %150 {scalify.forms = ["s0 level -6.64386"]} : tensor<16xf32>
// FP8-NEXT: %154 = stablehlo.broadcast_in_dim %cst_27, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %155 = stablehlo.multiply %154, %153 {scalify.forms = ["s0 level -16.6096"]} : tensor<16xf32>
// FP8-NEXT: %156 = stablehlo.subtract %11, %155 {scalify.forms = ["s0"]} : tensor<16xf32>
// FP8-NEXT: %157 = stablehlo.power %cst_30, %136 : tensor<f32>
// FP8-NEXT: %158 = stablehlo.subtract %cst_34, %157 : tensor<f32>
// FP8-NEXT: %159 = stablehlo.broadcast_in_dim %158, dims = [] {scalify.forms = ["2^0 level 0"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %160 = stablehlo.divide %118, %159 {scalify.forms = ["s10 level -3.32193"]} : tensor<32x16xf32>
// FP8-NEXT: %161 = stablehlo.power %cst_28, %136 : tensor<f32>
// FP8-NEXT: %162 = stablehlo.subtract %cst_34, %161 : tensor<f32>
// FP8-NEXT: %163 = stablehlo.broadcast_in_dim %162, dims = [] {scalify.forms = ["2^0 level 0"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %164 = stablehlo.divide %134, %163 {scalify.forms = ["s10^2 level -9.96578"]} : tensor<32x16xf32>
// FP8-NEXT: %165 = stablehlo.sqrt %164 {scalify.forms = ["s10 level -5"]} : tensor<32x16xf32>
// FP8-NEXT: %166 = stablehlo.broadcast_in_dim %100, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %167 = stablehlo.add %165, %166 {scalify.forms = ["s10 level -5"]} : tensor<32x16xf32>
// FP8-NEXT: %168 = stablehlo.divide %160, %167 {scalify.forms = ["2^0 level 1.67807"]} : tensor<32x16xf32>
// FP8-NEXT: %169 = stablehlo.broadcast_in_dim %cst_26, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %170 = stablehlo.multiply %169, %10 {scalify.forms = ["s1 level -6.64386"]} : tensor<32x16xf32>
// FP8-NEXT: %171 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %172 = stablehlo.multiply %168, %171 : tensor<32x16xf32>
// FP8-NEXT: %173 = stablehlo.add %172, %170 {scalify.forms = ["s1 level -6.64386"]} : tensor<32x16xf32>
// FP8-NEXT: %174 = stablehlo.broadcast_in_dim %cst_27, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %175 = stablehlo.multiply %174, %173 {scalify.forms = ["s1 level -16.6096"]} : tensor<32x16xf32>
// FP8-NEXT: %176 = stablehlo.subtract %10, %175 {scalify.forms = ["s1"]} : tensor<32x16xf32>
// FP8-NEXT: %177 = stablehlo.reshape %156 : (tensor<16xf32>) -> tensor<1x16xf32>
// FP8-NEXT: %178 = stablehlo.reshape %113 : (tensor<16xf32>) -> tensor<1x16xf32>
// FP8-NEXT: %179 = stablehlo.concatenate %177, %178, dim = 0 : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<2x16xf32>
// FP8-NEXT: %180 = stablehlo.multiply %179, %179 : tensor<2x16xf32>
// FP8-NEXT: %181 = stablehlo.is_finite %179 : (tensor<2x16xf32>) -> tensor<2x16xi1>
// FP8-NEXT: %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<2x16xf32>
// FP8-NEXT: %182 = stablehlo.select %181, %180, %cst_35 : tensor<2x16xi1>, tensor<2x16xf32>
// FP8-NEXT: %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %183 = stablehlo.reduce(%182 init: %cst_36) applies stablehlo.add across dimensions = [1] : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
// FP8-NEXT: %cst_37 = stablehlo.constant dense<6.250000e-02> : tensor<2xf32>
// FP8-NEXT: %184 = stablehlo.multiply %183, %cst_37 : tensor<2xf32>
// FP8-NEXT: %185 = stablehlo.sqrt %184 : tensor<2xf32>
// FP8-NEXT: %cst_38 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// FP8-NEXT: %186 = stablehlo.bitcast_convert %185 : (tensor<2xf32>) -> tensor<2xui32>
// FP8-NEXT: %c_39 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// FP8-NEXT: %187 = stablehlo.and %186, %c_39 : tensor<2xui32>
// FP8-NEXT: %c_40 = stablehlo.constant dense<1> : tensor<2xui32>
// FP8-NEXT: %188 = stablehlo.subtract %187, %c_40 : tensor<2xui32>
// FP8-NEXT: %c_41 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// FP8-NEXT: %189 = stablehlo.compare LT, %188, %c_41 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// FP8-NEXT: %190 = stablehlo.bitcast_convert %187 : (tensor<2xui32>) -> tensor<2xf32>
// FP8-NEXT: %191 = stablehlo.select %189, %190, %cst_38 : tensor<2xi1>, tensor<2xf32>
// FP8-NEXT: %192 = stablehlo.slice %191 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// FP8-NEXT: %193 = stablehlo.reshape %192 : (tensor<1xf32>) -> tensor<f32>
// FP8-NEXT: %194 = stablehlo.multiply %193, %arg1 : tensor<f32>
// FP8-NEXT: %cst_42 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_43 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %195 = stablehlo.clamp %cst_42, %194, %cst_43 : tensor<f32>
// FP8-NEXT: %196 = stablehlo.bitcast_convert %195 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_44 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %197 = stablehlo.subtract %c_44, %196 : tensor<ui32>
// FP8-NEXT: %198 = stablehlo.bitcast_convert %197 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_45 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %199 = stablehlo.divide %cst_45, %198 : tensor<f32>
// FP8-NEXT: %200 = stablehlo.optimization_barrier %199 : tensor<f32>
// FP8-NEXT: %201 = stablehlo.divide %arg1, %200 : tensor<f32>
// FP8-NEXT: %202 = stablehlo.broadcast_in_dim %201, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %203 = stablehlo.multiply %156, %202 : tensor<16xf32>
// FP8-NEXT: %204 = stablehlo.slice %191 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// FP8-NEXT: %205 = stablehlo.reshape %204 : (tensor<1xf32>) -> tensor<f32>
// FP8-NEXT: %206 = stablehlo.multiply %205, %64 : tensor<f32>
// FP8-NEXT: %cst_46 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_47 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %207 = stablehlo.clamp %cst_46, %206, %cst_47 : tensor<f32>
// FP8-NEXT: %208 = stablehlo.bitcast_convert %207 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_48 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %209 = stablehlo.subtract %c_48, %208 : tensor<ui32>
// FP8-NEXT: %210 = stablehlo.bitcast_convert %209 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_49 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %211 = stablehlo.divide %cst_49, %210 : tensor<f32>
// FP8-NEXT: %212 = stablehlo.optimization_barrier %211 : tensor<f32>
// FP8-NEXT: %213 = stablehlo.divide %64, %212 : tensor<f32>
// FP8-NEXT: %214 = stablehlo.broadcast_in_dim %213, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %215 = stablehlo.multiply %113, %214 : tensor<16xf32>
// FP8-NEXT: %216 = stablehlo.is_finite %215 : (tensor<16xf32>) -> tensor<16xi1>
// FP8-NEXT: %217 = stablehlo.clamp %cst_24, %215, %cst_25 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %218 = stablehlo.select %216, %217, %215 : tensor<16xi1>, tensor<16xf32>
// FP8-NEXT: %219 = stablehlo.convert %218 {scalify.forms = ["s16"]} : (tensor<16xf32>) -> tensor<16xf16>
// FP8-NEXT: %220 = stablehlo.is_finite %203 : (tensor<16xf32>) -> tensor<16xi1>
// FP8-NEXT: %221 = stablehlo.clamp %cst_24, %203, %cst_25 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %222 = stablehlo.select %220, %221, %203 : tensor<16xi1>, tensor<16xf32>
// FP8-NEXT: %223 = stablehlo.convert %222 {scalify.forms = ["s15"]} : (tensor<16xf32>) -> tensor<16xf16>
// FP8-NEXT: %224 = stablehlo.reshape %176 : (tensor<32x16xf32>) -> tensor<1x512xf32>
// FP8-NEXT: %225 = stablehlo.reshape %118 : (tensor<32x16xf32>) -> tensor<1x512xf32>
// FP8-NEXT: %226 = stablehlo.concatenate %224, %225, dim = 0 : (tensor<1x512xf32>, tensor<1x512xf32>) -> tensor<2x512xf32>
// FP8-NEXT: %227 = stablehlo.multiply %226, %226 : tensor<2x512xf32>
// FP8-NEXT: %228 = stablehlo.is_finite %226 : (tensor<2x512xf32>) -> tensor<2x512xi1>
// FP8-NEXT: %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<2x512xf32>
// FP8-NEXT: %229 = stablehlo.select %228, %227, %cst_50 : tensor<2x512xi1>, tensor<2x512xf32>
// FP8-NEXT: %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %230 = stablehlo.reduce(%229 init: %cst_51) applies stablehlo.add across dimensions = [1] : (tensor<2x512xf32>, tensor<f32>) -> tensor<2xf32>
// FP8-NEXT: %cst_52 = stablehlo.constant dense<0.001953125> : tensor<2xf32>
// FP8-NEXT: %231 = stablehlo.multiply %230, %cst_52 : tensor<2xf32>
// FP8-NEXT: %232 = stablehlo.sqrt %231 : tensor<2xf32>
// FP8-NEXT: %cst_53 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// FP8-NEXT: %233 = stablehlo.bitcast_convert %232 : (tensor<2xf32>) -> tensor<2xui32>
// FP8-NEXT: %c_54 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// FP8-NEXT: %234 = stablehlo.and %233, %c_54 : tensor<2xui32>
// FP8-NEXT: %c_55 = stablehlo.constant dense<1> : tensor<2xui32>
// FP8-NEXT: %235 = stablehlo.subtract %234, %c_55 : tensor<2xui32>
// FP8-NEXT: %c_56 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// FP8-NEXT: %236 = stablehlo.compare LT, %235, %c_56 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// FP8-NEXT: %237 = stablehlo.bitcast_convert %234 : (tensor<2xui32>) -> tensor<2xf32>
// FP8-NEXT: %238 = stablehlo.select %236, %237, %cst_53 : tensor<2xi1>, tensor<2xf32>
// FP8-NEXT: %239 = stablehlo.slice %238 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// FP8-NEXT: %240 = stablehlo.reshape %239 : (tensor<1xf32>) -> tensor<f32>
// FP8-NEXT: %241 = stablehlo.multiply %240, %arg3 : tensor<f32>
// FP8-NEXT: %cst_57 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_58 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %242 = stablehlo.clamp %cst_57, %241, %cst_58 : tensor<f32>
// FP8-NEXT: %243 = stablehlo.bitcast_convert %242 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_59 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %244 = stablehlo.subtract %c_59, %243 : tensor<ui32>
// FP8-NEXT: %245 = stablehlo.bitcast_convert %244 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_60 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %246 = stablehlo.divide %cst_60, %245 : tensor<f32>
// FP8-NEXT: %247 = stablehlo.optimization_barrier %246 : tensor<f32>
// FP8-NEXT: %248 = stablehlo.divide %arg3, %247 : tensor<f32>
// FP8-NEXT: %249 = stablehlo.broadcast_in_dim %248, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %250 = stablehlo.multiply %176, %249 : tensor<32x16xf32>
// FP8-NEXT: %251 = stablehlo.slice %238 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// FP8-NEXT: %252 = stablehlo.reshape %251 : (tensor<1xf32>) -> tensor<f32>
// FP8-NEXT: %253 = stablehlo.multiply %252, %94 : tensor<f32>
// FP8-NEXT: %cst_61 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_62 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %254 = stablehlo.clamp %cst_61, %253, %cst_62 : tensor<f32>
// FP8-NEXT: %255 = stablehlo.bitcast_convert %254 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_63 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %256 = stablehlo.subtract %c_63, %255 : tensor<ui32>
// FP8-NEXT: %257 = stablehlo.bitcast_convert %256 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_64 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %258 = stablehlo.divide %cst_64, %257 : tensor<f32>
// FP8-NEXT: %259 = stablehlo.optimization_barrier %258 : tensor<f32>
// FP8-NEXT: %260 = stablehlo.divide %94, %259 : tensor<f32>
// FP8-NEXT: %261 = stablehlo.broadcast_in_dim %260, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %262 = stablehlo.multiply %118, %261 : tensor<32x16xf32>
// FP8-NEXT: %263 = stablehlo.is_finite %262 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// FP8-NEXT: %264 = stablehlo.clamp %cst_24, %262, %cst_25 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %265 = stablehlo.select %263, %264, %262 : tensor<32x16xi1>, tensor<32x16xf32>
// FP8-NEXT: %266 = stablehlo.convert %265 {scalify.forms = ["s18"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// FP8-NEXT: %267 = stablehlo.is_finite %250 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// FP8-NEXT: %268 = stablehlo.clamp %cst_24, %250, %cst_25 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %269 = stablehlo.select %267, %268, %250 : tensor<32x16xi1>, tensor<32x16xf32>
// FP8-NEXT: %270 = stablehlo.convert %269 {scalify.forms = ["s17"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// FP8-NEXT: %271 = stablehlo.optimization_barrier %126 : tensor<16xf32>
// FP8-NEXT: %272 = stablehlo.abs %271 : tensor<16xf32>
// FP8-NEXT: %273 = stablehlo.bitcast_convert %272 : (tensor<16xf32>) -> tensor<16xi32>
// FP8-NEXT: %274 = stablehlo.add %273, %c_2 : tensor<16xi32>
// FP8-NEXT: %275 = stablehlo.reduce(%274 init: %c_1) applies stablehlo.maximum across dimensions = [0] : (tensor<16xi32>, tensor<i32>) -> tensor<i32>
// FP8-NEXT: %276 = stablehlo.subtract %275, %c_1 : tensor<i32>
// FP8-NEXT: %277 = stablehlo.bitcast_convert %276 : (tensor<i32>) -> tensor<f32>
// FP8-NEXT: %278 = stablehlo.bitcast_convert %277 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %279 = stablehlo.add %278, %c_0 : tensor<ui32>
// FP8-NEXT: %280 = stablehlo.and %279, %c_10 : tensor<ui32>
// FP8-NEXT: %281 = stablehlo.subtract %280, %c_9 : tensor<ui32>
// FP8-NEXT: %282 = stablehlo.compare LT, %281, %c_8 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %283 = stablehlo.bitcast_convert %280 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %284 = stablehlo.select %282, %283, %cst_3 : tensor<i1>, tensor<f32>
// FP8-NEXT: %285 = stablehlo.multiply %284, %cst : tensor<f32>
// FP8-NEXT: %286 = stablehlo.multiply %285, %68 : tensor<f32>
// FP8-NEXT: %287 = stablehlo.clamp %cst_7, %286, %cst_6 : tensor<f32>
// FP8-NEXT: %288 = stablehlo.bitcast_convert %287 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %289 = stablehlo.subtract %c_5, %288 : tensor<ui32>
// FP8-NEXT: %290 = stablehlo.bitcast_convert %289 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %291 = stablehlo.divide %cst_14, %290 : tensor<f32>
// FP8-NEXT: %292 = stablehlo.optimization_barrier %291 : tensor<f32>
// FP8-NEXT: %293 = stablehlo.divide %68, %292 : tensor<f32>
// FP8-NEXT: %294 = stablehlo.broadcast_in_dim %293, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %295 = stablehlo.multiply %271, %294 : tensor<16xf32>
// FP8-NEXT: %296 = stablehlo.is_finite %295 : (tensor<16xf32>) -> tensor<16xi1>
// FP8-NEXT: %297 = stablehlo.clamp %cst_24, %295, %cst_25 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %298 = stablehlo.select %296, %297, %295 : tensor<16xi1>, tensor<16xf32>
// FP8-NEXT: %299 = stablehlo.convert %298 {scalify.forms = ["s19"], scalify.rounded = -1 : i64} : (tensor<16xf32>) -> tensor<16xf16>
// FP8-NEXT: %300 = stablehlo.optimization_barrier %134 : tensor<32x16xf32>
// FP8-NEXT: %301 = stablehlo.abs %300 : tensor<32x16xf32>
// FP8-NEXT: %302 = stablehlo.bitcast_convert %301 : (tensor<32x16xf32>) -> tensor<32x16xi32>
// FP8-NEXT: %303 = stablehlo.add %302, %c : tensor<32x16xi32>
// FP8-NEXT: %304 = stablehlo.reduce(%303 init: %c_1) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xi32>, tensor<i32>) -> tensor<i32>
// FP8-NEXT: %305 = stablehlo.subtract %304, %c_1 : tensor<i32>
// FP8-NEXT: %306 = stablehlo.bitcast_convert %305 : (tensor<i32>) -> tensor<f32>
// FP8-NEXT: %307 = stablehlo.bitcast_convert %306 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %308 = stablehlo.add %307, %c_0 : tensor<ui32>
// FP8-NEXT: %309 = stablehlo.and %308, %c_10 : tensor<ui32>
// FP8-NEXT: %310 = stablehlo.subtract %309, %c_9 : tensor<ui32>
// FP8-NEXT: %311 = stablehlo.compare LT, %310, %c_8 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %312 = stablehlo.bitcast_convert %309 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %313 = stablehlo.select %311, %312, %cst_3 : tensor<i1>, tensor<f32>
// FP8-NEXT: %314 = stablehlo.multiply %313, %cst : tensor<f32>
// FP8-NEXT: %315 = stablehlo.multiply %314, %98 : tensor<f32>
// FP8-NEXT: %316 = stablehlo.clamp %cst_7, %315, %cst_6 : tensor<f32>
// FP8-NEXT: %317 = stablehlo.bitcast_convert %316 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %318 = stablehlo.subtract %c_5, %317 : tensor<ui32>
// FP8-NEXT: %319 = stablehlo.bitcast_convert %318 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %320 = stablehlo.divide %cst_14, %319 : tensor<f32>
// FP8-NEXT: %321 = stablehlo.optimization_barrier %320 : tensor<f32>
// FP8-NEXT: %322 = stablehlo.divide %98, %321 : tensor<f32>
// FP8-NEXT: %323 = stablehlo.broadcast_in_dim %322, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %324 = stablehlo.multiply %300, %323 : tensor<32x16xf32>
// FP8-NEXT: %325 = stablehlo.is_finite %324 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// FP8-NEXT: %326 = stablehlo.clamp %cst_24, %324, %cst_25 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %327 = stablehlo.select %325, %326, %324 : tensor<32x16xi1>, tensor<32x16xf32>
// FP8-NEXT: %328 = stablehlo.convert %327 {scalify.forms = ["s20"], scalify.rounded = -1 : i64} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// FP8-NEXT: %cst_65 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: return %223, %200, %270, %247, %219, %212, %266, %259, %299, %292, %328, %321, %136, %cst_65 : tensor<16xf16>, tensor<f32>, tensor<32x16xf16>, tensor<f32>, tensor<16xf16>, tensor<f32>, tensor<32x16xf16>, tensor<f32>, tensor<16xf16>, tensor<f32>, tensor<32x16xf16>, tensor<f32>, tensor<f32>, tensor<f32>
// FP8-NEXT: }
// FP8-NEXT: }
// FP16:      module @_adam attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP16-NEXT: func.func public @main(%arg0: tensor<16xf16>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<32x16xf16>, %arg3: tensor<f32> {scalify.is_scale}, %arg4: tensor<16xf32>, %arg5: tensor<f32> {scalify.is_scale}, %arg6: tensor<32x16xf32>, %arg7: tensor<f32> {scalify.is_scale}, %arg8: tensor<16xf32>, %arg9: tensor<f32> {scalify.is_scale}, %arg10: tensor<32x16xf32>, %arg11: tensor<f32> {scalify.is_scale}, %arg12: tensor<4x32xf32>, %arg13: tensor<f32> {scalify.is_scale}, %arg14: tensor<4x16xf32>, %arg15: tensor<f32> {scalify.is_scale}, %arg16: tensor<f32>, %arg17: tensor<f32> {scalify.is_scale}) -> (tensor<16xf16> {jax.result_info = "result[0]['b']"}, tensor<f32> {jax.result_info = "result[0]['b'].scale", scalify.is_scale}, tensor<32x16xf16> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[0]['w'].scale", scalify.is_scale}, tensor<16xf32> {jax.result_info = "result[1]['b']"}, tensor<f32> {jax.result_info = "result[1]['b'].scale", scalify.is_scale}, tensor<32x16xf32> {jax.result_info = "result[1]['w']"}, tensor<f32> {jax.result_info = "result[1]['w'].scale", scalify.is_scale}, tensor<16xf32> {jax.result_info = "result[2]['b']"}, tensor<f32> {jax.result_info = "result[2]['b'].scale", scalify.is_scale}, tensor<32x16xf32> {jax.result_info = "result[2]['w']"}, tensor<f32> {jax.result_info = "result[2]['w'].scale", scalify.is_scale}, tensor<f32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[3].scale", scalify.is_scale}) {
// FP16-NEXT: %cst = stablehlo.constant dense<0.001953125> : tensor<f32>
// FP16-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<32x16xf32>
// FP16-NEXT: %c = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP16-NEXT: %cst_1 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP16-NEXT: %cst_2 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP16-NEXT: %c_3 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP16-NEXT: %c_4 = stablehlo.constant dense<1> : tensor<ui32>
// FP16-NEXT: %c_5 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP16-NEXT: %cst_6 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
// FP16-NEXT: %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP16-NEXT: %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<16xf32>
// FP16-NEXT: %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: %cst_10 = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// FP16-NEXT: %cst_11 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// FP16-NEXT: %0 = stablehlo.multiply %arg3, %arg13 : tensor<f32>
// FP16-NEXT: %1 = stablehlo.divide %arg1, %0 : tensor<f32>
// FP16-NEXT: %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: %2 = stablehlo.divide %cst_12, %arg15 : tensor<f32>
// FP16-NEXT: %cst_13 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
// FP16-NEXT: %3 = stablehlo.multiply %arg15, %cst_13 : tensor<f32>
// FP16-NEXT: %cst_14 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
// FP16-NEXT: %4 = stablehlo.multiply %arg15, %cst_14 : tensor<f32>
// FP16-NEXT: %5 = stablehlo.multiply %arg13, %arg15 : tensor<f32>
// FP16-NEXT: %6 = stablehlo.multiply %5, %cst_14 : tensor<f32>
// FP16-NEXT: %cst_15 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
// FP16-NEXT: %7 = stablehlo.divide %4, %arg5 : tensor<f32>
// FP16-NEXT: %8 = stablehlo.multiply %cst_15, %7 : tensor<f32>
// FP16-NEXT: %9 = stablehlo.divide %6, %arg7 : tensor<f32>
// FP16-NEXT: %10 = stablehlo.multiply %cst_15, %9 : tensor<f32>
// FP16-NEXT: %cst_16 = stablehlo.constant dense<1.562500e-02> : tensor<f32>
// FP16-NEXT: %11 = stablehlo.multiply %arg15, %arg15 : tensor<f32>
// FP16-NEXT: %12 = stablehlo.multiply %11, %cst_16 : tensor<f32>
// FP16-NEXT: %13 = stablehlo.divide %12, %arg9 : tensor<f32>
// FP16-NEXT: %14 = stablehlo.multiply %5, %cst_16 : tensor<f32>
// FP16-NEXT: %15 = stablehlo.divide %14, %arg11 : tensor<f32>
// FP16-NEXT: %16 = stablehlo.multiply %15, %5 : tensor<f32>
// FP16-NEXT: %cst_17 = stablehlo.constant dense<1.17549435E-38> : tensor<f32>
// FP16-NEXT: %cst_18 = stablehlo.constant dense<8.50705917E+37> : tensor<f32>
// FP16-NEXT: %17 = stablehlo.clamp %cst_17, %16, %cst_18 : tensor<f32>
// FP16-NEXT: %18 = stablehlo.divide %15, %17 : tensor<f32>
// FP16-NEXT: %19 = stablehlo.multiply %18, %5 : tensor<f32>
// FP16-NEXT: %20 = stablehlo.sqrt %arg9 : tensor<f32>
// FP16-NEXT: %21 = stablehlo.reduce_precision %20, format = e8m0 : tensor<f32>
// FP16-NEXT: %22 = stablehlo.multiply %21, %21 : tensor<f32>
// FP16-NEXT: %23 = stablehlo.divide %arg9, %22 : tensor<f32>
// FP16-NEXT: %cst_19 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
// FP16-NEXT: %24 = stablehlo.divide %cst_19, %21 : tensor<f32>
// FP16-NEXT: %25 = stablehlo.multiply %arg1, %21 : tensor<f32>
// FP16-NEXT: %26 = stablehlo.divide %arg5, %25 : tensor<f32>
// FP16-NEXT: %27 = stablehlo.sqrt %arg11 : tensor<f32>
// FP16-NEXT: %28 = stablehlo.reduce_precision %27, format = e8m0 : tensor<f32>
// FP16-NEXT: %29 = stablehlo.multiply %28, %28 : tensor<f32>
// FP16-NEXT: %30 = stablehlo.divide %arg11, %29 : tensor<f32>
// FP16-NEXT: %31 = stablehlo.divide %cst_19, %28 : tensor<f32>
// FP16-NEXT: %32 = stablehlo.multiply %arg3, %28 : tensor<f32>
// FP16-NEXT: %33 = stablehlo.divide %arg7, %32 : tensor<f32>
// FP16-NEXT: %34 = stablehlo.convert %arg2 {scalify.forms = ["s1"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// FP16-NEXT: %35 = stablehlo.convert %arg0 {scalify.forms = ["s0"]} : (tensor<16xf16>) -> tensor<16xf32>
// FP16-NEXT: %36 = stablehlo.is_finite %34 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// FP16-NEXT: %37 = stablehlo.clamp %cst_10, %34, %cst_11 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %38 = stablehlo.select %36, %37, %34 : tensor<32x16xi1>, tensor<32x16xf32>
// FP16-NEXT: %39 = stablehlo.convert %38 {scalify.forms = ["s1"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// FP16-NEXT: %40 = stablehlo.is_finite %arg12 : (tensor<4x32xf32>) -> tensor<4x32xi1>
// FP16-NEXT: %41 = stablehlo.clamp %cst_10, %arg12, %cst_11 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP16-NEXT: %42 = stablehlo.select %40, %41, %arg12 : tensor<4x32xi1>, tensor<4x32xf32>
// FP16-NEXT: %43 = stablehlo.convert %42 {scalify.forms = ["s6"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// FP16-NEXT: %cst_20 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00999999977> : tensor<f32>
// FP16-NEXT: %cst_21 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-03> : tensor<f32>
// FP16-NEXT: %cst_22 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.990000e-01> : tensor<f32>
// FP16-NEXT: %cst_23 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.899999976> : tensor<f32>
// FP16-NEXT: %cst_24 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP16-NEXT: %cst_25 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// FP16-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// FP16-NEXT: %cst_27 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: %44 = stablehlo.dot_general %43, %39, contracting_dims = [1] x [0] {scalify.forms = ["s1*s6 level 2"]} : (tensor<4x32xf16>, tensor<32x16xf16>) -> tensor<4x16xf32>
// FP16-NEXT: %45 = stablehlo.broadcast_in_dim %35, dims = [1] {scalify.forms = ["s0"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// FP16-NEXT: %46 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
// FP16-NEXT: %47 = stablehlo.multiply %45, %46 : tensor<1x16xf32>
// FP16-NEXT: %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<4x16xf32>
// FP16-NEXT: %49 = stablehlo.add %44, %48 {scalify.forms = ["s1*s6 level 2"]} : tensor<4x16xf32>
// FP16-NEXT: %50 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP16-NEXT: %51 = stablehlo.multiply %49, %50 : tensor<4x16xf32>
// FP16-NEXT: %52 = stablehlo.tanh %51 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP16-NEXT: %53 = stablehlo.broadcast_in_dim %cst_27, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP16-NEXT: %54 = stablehlo.subtract %53, %52 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP16-NEXT: %55 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP16-NEXT: %56 = stablehlo.multiply %52, %55 : tensor<4x16xf32>
// FP16-NEXT: %57 = stablehlo.subtract %56, %arg14 {scalify.forms = ["s7"]} : tensor<4x16xf32>
// FP16-NEXT: %58 = stablehlo.broadcast_in_dim %cst_26, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP16-NEXT: %59 = stablehlo.multiply %58, %57 {scalify.forms = ["s7 level 1"]} : tensor<4x16xf32>
// FP16-NEXT: %60 = stablehlo.divide %cst_27, %cst_25 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// FP16-NEXT: %61 = stablehlo.broadcast_in_dim %60, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP16-NEXT: %62 = stablehlo.multiply %61, %59 {scalify.forms = ["s7 level -5"]} : tensor<4x16xf32>
// FP16-NEXT: %63 = stablehlo.multiply %62, %54 {scalify.forms = ["s7 level -5"]} : tensor<4x16xf32>
// FP16-NEXT: %64 = stablehlo.multiply %63, %52 {scalify.forms = ["s7 level -5"]} : tensor<4x16xf32>
// FP16-NEXT: %65 = stablehlo.add %63, %64 {scalify.forms = ["s7 level -4"]} : tensor<4x16xf32>
// FP16-NEXT: %cst_28 = stablehlo.constant dense<1.600000e+01> : tensor<4x16xf32>
// FP16-NEXT: %66 = stablehlo.multiply %65, %cst_28 : tensor<4x16xf32>
// FP16-NEXT: %67 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP16-NEXT: %68 = stablehlo.multiply %66, %67 : tensor<4x16xf32>
// FP16-NEXT: %69 = stablehlo.is_finite %68 : (tensor<4x16xf32>) -> tensor<4x16xi1>
// FP16-NEXT: %70 = stablehlo.clamp %cst_10, %66, %cst_11 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// FP16-NEXT: %71 = stablehlo.select %69, %70, %68 : tensor<4x16xi1>, tensor<4x16xf32>
// FP16-NEXT: %72 = stablehlo.convert %71 {scalify.forms = ["2^-4*s7"]} : (tensor<4x16xf32>) -> tensor<4x16xf16>
// FP16-NEXT: %73 = stablehlo.reduce(%65 init: %cst_24) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s7 level -3"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %74 = stablehlo.reshape %73 {scalify.forms = ["s7 level -3"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// FP16-NEXT: %75 = stablehlo.reduce(%74 init: %cst_24) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s7 level -3"]} : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %cst_29 = stablehlo.constant dense<8.000000e+00> : tensor<16xf32>
// FP16-NEXT: %76 = stablehlo.multiply %75, %cst_29 : tensor<16xf32>
// FP16-NEXT: %77 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %78 = stablehlo.multiply %76, %77 : tensor<16xf32>
// FP16-NEXT: %79 = stablehlo.is_finite %78 : (tensor<16xf32>) -> tensor<16xi1>
// FP16-NEXT: %80 = stablehlo.clamp %cst_10, %76, %cst_11 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %81 = stablehlo.select %79, %80, %78 : tensor<16xi1>, tensor<16xf32>
// FP16-NEXT: %82 = stablehlo.convert %81 {scalify.forms = ["2^-3*s7"]} : (tensor<16xf32>) -> tensor<16xf16>
// FP16-NEXT: %83 = stablehlo.convert %82 {scalify.forms = ["2^-3*s7"]} : (tensor<16xf16>) -> tensor<16xf32>
// FP16-NEXT: %84 = stablehlo.dot_general %72, %43, contracting_dims = [0] x [0] {scalify.forms = ["2^-4*s6*s7 level 1"]} : (tensor<4x16xf16>, tensor<4x32xf16>) -> tensor<16x32xf32>
// FP16-NEXT: %85 = stablehlo.transpose %84, dims = [1, 0] {scalify.forms = ["2^-4*s6*s7 level 1"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// FP16-NEXT: %cst_30 = stablehlo.constant dense<5.000000e-01> : tensor<32x16xf32>
// FP16-NEXT: %86 = stablehlo.multiply %85, %cst_30 : tensor<32x16xf32>
// FP16-NEXT: %87 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %88 = stablehlo.multiply %86, %87 : tensor<32x16xf32>
// FP16-NEXT: %89 = stablehlo.is_finite %88 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// FP16-NEXT: %90 = stablehlo.clamp %cst_10, %86, %cst_11 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %91 = stablehlo.select %89, %90, %88 : tensor<32x16xi1>, tensor<32x16xf32>
// FP16-NEXT: %92 = stablehlo.convert %91 {scalify.forms = ["2^-3*s6*s7"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// FP16-NEXT: %93 = stablehlo.convert %92 {scalify.forms = ["2^-3*s6*s7"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// FP16-NEXT: %94 = stablehlo.broadcast_in_dim %cst_23, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %95 = stablehlo.multiply %94, %arg4 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// FP16-NEXT: %96 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %97 = stablehlo.multiply %96, %83 : tensor<16xf32>
// FP16-NEXT: %98 = stablehlo.add %95, %97 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// FP16-NEXT: %99 = stablehlo.broadcast_in_dim %cst_23, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %100 = stablehlo.multiply %99, %arg6 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// FP16-NEXT: %101 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %102 = stablehlo.multiply %101, %93 : tensor<32x16xf32>
// FP16-NEXT: %103 = stablehlo.add %100, %102 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// FP16-NEXT: %104 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %105 = stablehlo.multiply %104, %arg8 {scalify.forms = ["s4 level -0.0014434"]} : tensor<16xf32>
// FP16-NEXT: %106 = stablehlo.broadcast_in_dim %cst_21, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %107 = stablehlo.multiply %106, %83 {scalify.forms = ["2^-3*s7 level -9.96578"]} : tensor<16xf32>
// FP16-NEXT: %108 = stablehlo.multiply %107, %83 {scalify.forms = ["2^-6*s7^2 level -9.96578"]} : tensor<16xf32>
// FP16-NEXT: %109 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %110 = stablehlo.multiply %108, %109 : tensor<16xf32>
// FP16-NEXT: %111 = stablehlo.add %105, %110 {scalify.forms = ["s4 level -0.0014434"]} : tensor<16xf32>
// FP16-NEXT: %112 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %113 = stablehlo.multiply %112, %arg10 {scalify.forms = ["s5 level -0.0014434"]} : tensor<32x16xf32>
// FP16-NEXT: %114 = stablehlo.broadcast_in_dim %cst_21, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %115 = stablehlo.multiply %114, %93 {scalify.forms = ["2^-3*s6*s7 level -9.96578"]} : tensor<32x16xf32>
// FP16-NEXT: %116 = stablehlo.multiply %115, %93 {scalify.forms = ["2^-6*s6^2*s7^2 level -9.96578"]} : tensor<32x16xf32>
// FP16-NEXT: %117 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %118 = stablehlo.multiply %116, %117 : tensor<32x16xf32>
// FP16-NEXT: %119 = stablehlo.broadcast_in_dim %19, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %120 = stablehlo.multiply %118, %119 : tensor<32x16xf32>
// FP16-NEXT: %121 = stablehlo.add %113, %120 {scalify.forms = ["s5 level -0.0014434"]} : tensor<32x16xf32>
// FP16-NEXT: %122 = stablehlo.multiply %arg16, %arg17 : tensor<f32>
// FP16-NEXT: %123 = stablehlo.add %122, %cst_27 {scalify.forms = ["2^0"]} : tensor<f32>
// FP16-NEXT: %124 = stablehlo.power %cst_23, %123 : tensor<f32>
// FP16-NEXT: %125 = stablehlo.subtract %cst_27, %124 : tensor<f32>
// FP16-NEXT: %126 = stablehlo.broadcast_in_dim %125, dims = [] {scalify.forms = ["2^0 level 0"]} : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %127 = stablehlo.divide %98, %126 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// FP16-NEXT: %128 = stablehlo.power %cst_22, %123 : tensor<f32>
// FP16-NEXT: %129 = stablehlo.subtract %cst_27, %128 : tensor<f32>
// FP16-NEXT: %130 = stablehlo.broadcast_in_dim %129, dims = [] {scalify.forms = ["2^0 level 0"]} : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %131 = stablehlo.divide %111, %130 {scalify.forms = ["s4 level -0.0014434"]} : tensor<16xf32>
// FP16-NEXT: %132 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %133 = stablehlo.multiply %131, %132 : tensor<16xf32>
// FP16-NEXT: %134 = stablehlo.sqrt %133 {scalify.forms = ["s11 level -1"]} : tensor<16xf32>
// FP16-NEXT: %135 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %136 = stablehlo.add %134, %135 {scalify.forms = ["s11 level -1"]} : tensor<16xf32>
// FP16-NEXT: %137 = stablehlo.divide %127, %136 {scalify.forms = ["s2*s11^-1 level 0.847997"]} : tensor<16xf32>
// FP16-NEXT: %138 = stablehlo.broadcast_in_dim %cst_20, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %139 = stablehlo.multiply %138, %35 {scalify.forms = ["s0 level -6.64386"]} : tensor<16xf32>
// FP16-NEXT: %140 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %141 = stablehlo.multiply %137, %140 : tensor<16xf32>
// FP16-NEXT: %142 = stablehlo.add %141, %139 {scalify.forms = ["s0 level -6.64386"]} : tensor<16xf32>
// FP16-NEXT: %143 = stablehlo.broadcast_in_dim %cst_21, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %144 = stablehlo.multiply %143, %142 {scalify.forms = ["s0 level -16.6096"]} : tensor<16xf32>
// FP16-NEXT: %145 = stablehlo.subtract %35, %144 {scalify.forms = ["s0"]} : tensor<16xf32>
// FP16-NEXT: %146 = stablehlo.power %cst_23, %123 : tensor<f32>
// FP16-NEXT: %147 = stablehlo.subtract %cst_27, %146 : tensor<f32>
// FP16-NEXT: %148 = stablehlo.broadcast_in_dim %147, dims = [] {scalify.forms = ["2^0 level 0"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %149 = stablehlo.divide %103, %148 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// FP16-NEXT: %150 = stablehlo.power %cst_22, %123 : tensor<f32>
// FP16-NEXT: %151 = stablehlo.subtract %cst_27, %150 : tensor<f32>
// FP16-NEXT: %152 = stablehlo.broadcast_in_dim %151, dims = [] {scalify.forms = ["2^0 level 0"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %153 = stablehlo.divide %121, %152 {scalify.forms = ["s5 level -0.0014434"]} : tensor<32x16xf32>
// FP16-NEXT: %154 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %155 = stablehlo.multiply %153, %154 : tensor<32x16xf32>
// FP16-NEXT: %156 = stablehlo.sqrt %155 {scalify.forms = ["s14 level -1"]} : tensor<32x16xf32>
// FP16-NEXT: %157 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %158 = stablehlo.add %156, %157 {scalify.forms = ["s14 level -1"]} : tensor<32x16xf32>
// FP16-NEXT: %159 = stablehlo.divide %149, %158 {scalify.forms = ["s3*s14^-1 level 0.847997"]} : tensor<32x16xf32>
// FP16-NEXT: %160 = stablehlo.broadcast_in_dim %cst_20, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %161 = stablehlo.multiply %160, %34 {scalify.forms = ["s1 level -6.64386"]} : tensor<32x16xf32>
// FP16-NEXT: %162 = stablehlo.broadcast_in_dim %33, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %163 = stablehlo.multiply %159, %162 : tensor<32x16xf32>
// FP16-NEXT: %164 = stablehlo.add %163, %161 {scalify.forms = ["s1 level -6.64386"]} : tensor<32x16xf32>
// FP16-NEXT: %165 = stablehlo.broadcast_in_dim %cst_21, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %166 = stablehlo.multiply %165, %164 {scalify.forms = ["s1 level -16.6096"]} : tensor<32x16xf32>
// FP16-NEXT: %167 = stablehlo.subtract %34, %166 {scalify.forms = ["s1"]} : tensor<32x16xf32>
// FP16-NEXT: %168 = stablehlo.optimization_barrier %145 : tensor<16xf32>
// FP16-NEXT: %169 = stablehlo.multiply %168, %168 : tensor<16xf32>
// FP16-NEXT: %170 = stablehlo.is_finite %168 : (tensor<16xf32>) -> tensor<16xi1>
// FP16-NEXT: %171 = stablehlo.select %170, %169, %cst_8 : tensor<16xi1>, tensor<16xf32>
// FP16-NEXT: %172 = stablehlo.reduce(%171 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
// FP16-NEXT: %173 = stablehlo.multiply %172, %cst_6 : tensor<f32>
// FP16-NEXT: %174 = stablehlo.sqrt %173 : tensor<f32>
// FP16-NEXT: %175 = stablehlo.bitcast_convert %174 : (tensor<f32>) -> tensor<ui32>
// FP16-NEXT: %176 = stablehlo.and %175, %c_5 : tensor<ui32>
// FP16-NEXT: %177 = stablehlo.subtract %176, %c_4 : tensor<ui32>
// FP16-NEXT: %178 = stablehlo.compare LT, %177, %c_3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP16-NEXT: %179 = stablehlo.bitcast_convert %176 : (tensor<ui32>) -> tensor<f32>
// FP16-NEXT: %180 = stablehlo.select %178, %179, %cst_9 : tensor<i1>, tensor<f32>
// FP16-NEXT: %181 = stablehlo.multiply %180, %arg1 : tensor<f32>
// FP16-NEXT: %182 = stablehlo.clamp %cst_2, %181, %cst_1 : tensor<f32>
// FP16-NEXT: %183 = stablehlo.bitcast_convert %182 : (tensor<f32>) -> tensor<ui32>
// FP16-NEXT: %184 = stablehlo.subtract %c, %183 : tensor<ui32>
// FP16-NEXT: %185 = stablehlo.bitcast_convert %184 : (tensor<ui32>) -> tensor<f32>
// FP16-NEXT: %186 = stablehlo.divide %cst_9, %185 : tensor<f32>
// FP16-NEXT: %187 = stablehlo.optimization_barrier %186 : tensor<f32>
// FP16-NEXT: %188 = stablehlo.divide %arg1, %187 : tensor<f32>
// FP16-NEXT: %189 = stablehlo.broadcast_in_dim %188, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %190 = stablehlo.multiply %168, %189 : tensor<16xf32>
// FP16-NEXT: %191 = stablehlo.is_finite %190 : (tensor<16xf32>) -> tensor<16xi1>
// FP16-NEXT: %192 = stablehlo.clamp %cst_10, %190, %cst_11 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %193 = stablehlo.select %191, %192, %190 : tensor<16xi1>, tensor<16xf32>
// FP16-NEXT: %194 = stablehlo.convert %193 {scalify.forms = ["s15"]} : (tensor<16xf32>) -> tensor<16xf16>
// FP16-NEXT: %195 = stablehlo.optimization_barrier %167 : tensor<32x16xf32>
// FP16-NEXT: %196 = stablehlo.multiply %195, %195 : tensor<32x16xf32>
// FP16-NEXT: %197 = stablehlo.is_finite %195 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// FP16-NEXT: %198 = stablehlo.select %197, %196, %cst_0 : tensor<32x16xi1>, tensor<32x16xf32>
// FP16-NEXT: %199 = stablehlo.reduce(%198 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
// FP16-NEXT: %200 = stablehlo.multiply %199, %cst : tensor<f32>
// FP16-NEXT: %201 = stablehlo.sqrt %200 : tensor<f32>
// FP16-NEXT: %202 = stablehlo.bitcast_convert %201 : (tensor<f32>) -> tensor<ui32>
// FP16-NEXT: %203 = stablehlo.and %202, %c_5 : tensor<ui32>
// FP16-NEXT: %204 = stablehlo.subtract %203, %c_4 : tensor<ui32>
// FP16-NEXT: %205 = stablehlo.compare LT, %204, %c_3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP16-NEXT: %206 = stablehlo.bitcast_convert %203 : (tensor<ui32>) -> tensor<f32>
// FP16-NEXT: %207 = stablehlo.select %205, %206, %cst_9 : tensor<i1>, tensor<f32>
// FP16-NEXT: %208 = stablehlo.multiply %207, %arg3 : tensor<f32>
// FP16-NEXT: %209 = stablehlo.clamp %cst_2, %208, %cst_1 : tensor<f32>
// FP16-NEXT: %210 = stablehlo.bitcast_convert %209 : (tensor<f32>) -> tensor<ui32>
// FP16-NEXT: %211 = stablehlo.subtract %c, %210 : tensor<ui32>
// FP16-NEXT: %212 = stablehlo.bitcast_convert %211 : (tensor<ui32>) -> tensor<f32>
// FP16-NEXT: %213 = stablehlo.divide %cst_9, %212 : tensor<f32>
// FP16-NEXT: %214 = stablehlo.optimization_barrier %213 : tensor<f32>
// FP16-NEXT: %215 = stablehlo.divide %arg3, %214 : tensor<f32>
// FP16-NEXT: %216 = stablehlo.broadcast_in_dim %215, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %217 = stablehlo.multiply %195, %216 : tensor<32x16xf32>
// FP16-NEXT: %218 = stablehlo.is_finite %217 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// FP16-NEXT: %219 = stablehlo.clamp %cst_10, %217, %cst_11 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %220 = stablehlo.select %218, %219, %217 : tensor<32x16xi1>, tensor<32x16xf32>
// FP16-NEXT: %221 = stablehlo.convert %220 {scalify.forms = ["s16"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// FP16-NEXT: %cst_31 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: return %194, %187, %221, %214, %98, %arg5, %103, %arg7, %111, %arg9, %121, %arg11, %123, %cst_31 : tensor<16xf16>, tensor<f32>, tensor<32x16xf16>, tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<32x16xf32>, tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<32x16xf32>, tensor<f32>, tensor<f32>, tensor<f32>
// FP16-NEXT: }
// FP16-NEXT: }

module @_adam attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<16xf32>, %arg3: tensor<32x16xf32>, %arg4: tensor<16xf32>, %arg5: tensor<32x16xf32>, %arg6: tensor<4x32xf32>, %arg7: tensor<4x16xf32>, %arg8: tensor<f32>) -> (tensor<16xf32> {jax.result_info = "result[0]['b']"}, tensor<32x16xf32> {jax.result_info = "result[0]['w']"}, tensor<16xf32> {jax.result_info = "result[1]['b']"}, tensor<32x16xf32> {jax.result_info = "result[1]['w']"}, tensor<16xf32> {jax.result_info = "result[2]['b']"}, tensor<32x16xf32> {jax.result_info = "result[2]['w']"}, tensor<f32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %cst_0 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %cst_2 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_4 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg6, %arg1, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x16xf32>) -> tensor<4x16xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<4x16xf32>
    %3 = stablehlo.add %0, %2 : tensor<4x16xf32>
    %4 = stablehlo.tanh %3 : tensor<4x16xf32>
    %5 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %6 = stablehlo.subtract %5, %4 : tensor<4x16xf32>
    %7 = stablehlo.subtract %4, %arg7 : tensor<4x16xf32>
    %8 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<4x16xf32>
    %10 = stablehlo.divide %cst_8, %cst_6 : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %12 = stablehlo.multiply %11, %9 : tensor<4x16xf32>
    %13 = stablehlo.multiply %12, %6 : tensor<4x16xf32>
    %14 = stablehlo.multiply %13, %4 : tensor<4x16xf32>
    %15 = stablehlo.add %13, %14 : tensor<4x16xf32>
    %16 = stablehlo.reduce(%15 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>
    %17 = stablehlo.reshape %16 : (tensor<16xf32>) -> tensor<1x16xf32>
    %18 = stablehlo.reduce(%17 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %19 = stablehlo.dot_general %15, %arg6, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
    %20 = stablehlo.transpose %19, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %22 = stablehlo.multiply %21, %arg2 : tensor<16xf32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %24 = stablehlo.multiply %23, %18 : tensor<16xf32>
    %25 = stablehlo.add %22, %24 : tensor<16xf32>
    %26 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %27 = stablehlo.multiply %26, %arg3 : tensor<32x16xf32>
    %28 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %29 = stablehlo.multiply %28, %20 : tensor<32x16xf32>
    %30 = stablehlo.add %27, %29 : tensor<32x16xf32>
    %31 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %32 = stablehlo.multiply %31, %arg4 : tensor<16xf32>
    %33 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %34 = stablehlo.multiply %33, %18 : tensor<16xf32>
    %35 = stablehlo.multiply %34, %18 : tensor<16xf32>
    %36 = stablehlo.add %32, %35 : tensor<16xf32>
    %37 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %38 = stablehlo.multiply %37, %arg5 : tensor<32x16xf32>
    %39 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %40 = stablehlo.multiply %39, %20 : tensor<32x16xf32>
    %41 = stablehlo.multiply %40, %20 : tensor<32x16xf32>
    %42 = stablehlo.add %38, %41 : tensor<32x16xf32>
    %43 = stablehlo.add %arg8, %cst_8 : tensor<f32>
    %44 = stablehlo.power %cst_4, %43 : tensor<f32>
    %45 = stablehlo.subtract %cst_8, %44 : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %47 = stablehlo.divide %25, %46 : tensor<16xf32>
    %48 = stablehlo.power %cst_2, %43 : tensor<f32>
    %49 = stablehlo.subtract %cst_8, %48 : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %51 = stablehlo.divide %36, %50 : tensor<16xf32>
    %52 = stablehlo.sqrt %51 : tensor<16xf32>
    %53 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %54 = stablehlo.add %52, %53 : tensor<16xf32>
    %55 = stablehlo.divide %47, %54 : tensor<16xf32>
    %56 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %57 = stablehlo.multiply %56, %arg0 : tensor<16xf32>
    %58 = stablehlo.add %55, %57 : tensor<16xf32>
    %59 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %60 = stablehlo.multiply %59, %58 : tensor<16xf32>
    %61 = stablehlo.subtract %arg0, %60 : tensor<16xf32>
    %62 = stablehlo.power %cst_4, %43 : tensor<f32>
    %63 = stablehlo.subtract %cst_8, %62 : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %65 = stablehlo.divide %30, %64 : tensor<32x16xf32>
    %66 = stablehlo.power %cst_2, %43 : tensor<f32>
    %67 = stablehlo.subtract %cst_8, %66 : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %69 = stablehlo.divide %42, %68 : tensor<32x16xf32>
    %70 = stablehlo.sqrt %69 : tensor<32x16xf32>
    %71 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %72 = stablehlo.add %70, %71 : tensor<32x16xf32>
    %73 = stablehlo.divide %65, %72 : tensor<32x16xf32>
    %74 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %75 = stablehlo.multiply %74, %arg1 : tensor<32x16xf32>
    %76 = stablehlo.add %73, %75 : tensor<32x16xf32>
    %77 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %78 = stablehlo.multiply %77, %76 : tensor<32x16xf32>
    %79 = stablehlo.subtract %arg1, %78 : tensor<32x16xf32>
    return %61, %79, %25, %30, %36, %42, %43 : tensor<16xf32>, tensor<32x16xf32>, tensor<16xf32>, tensor<32x16xf32>, tensor<16xf32>, tensor<32x16xf32>, tensor<f32>
  }
}
