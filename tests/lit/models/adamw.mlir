// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{signature=scaled every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8-state},scalify-quantize-matmuls{recipe=fp8-state},scalify-narrow-state{recipe=fp8-state},scalify-quantize-constants,scalify-propagate{recipe=fp8-state annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{signature=scaled every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp16-state},scalify-quantize-matmuls{recipe=fp16-state},scalify-narrow-state{recipe=fp16-state},scalify-quantize-constants,scalify-propagate{recipe=fp16-state annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP16

// A training step of one layer with AdamW: weights, moments and the number of the step are carried.
// FP8:      module @_adam attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<16xf16>, %arg1: tensor<f32>, %arg2: tensor<32x16xf16>, %arg3: tensor<f32>, %arg4: tensor<16xf16>, %arg5: tensor<f32>, %arg6: tensor<32x16xf16>, %arg7: tensor<f32>, %arg8: tensor<16xf16>, %arg9: tensor<f32>, %arg10: tensor<32x16xf16>, %arg11: tensor<f32>, %arg12: tensor<4x32xf32>, %arg13: tensor<f32>, %arg14: tensor<4x16xf32>, %arg15: tensor<f32>, %arg16: tensor<f32>, %arg17: tensor<f32>) -> (tensor<16xf16> {jax.result_info = "result[0]['b']"}, tensor<f32> {jax.result_info = "result[0]['b'].scale"}, tensor<32x16xf16> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[0]['w'].scale"}, tensor<16xf16> {jax.result_info = "result[1]['b']"}, tensor<f32> {jax.result_info = "result[1]['b'].scale"}, tensor<32x16xf16> {jax.result_info = "result[1]['w']"}, tensor<f32> {jax.result_info = "result[1]['w'].scale"}, tensor<16xf16> {jax.result_info = "result[2]['b']"}, tensor<f32> {jax.result_info = "result[2]['b'].scale"}, tensor<32x16xf16> {jax.result_info = "result[2]['w']"}, tensor<f32> {jax.result_info = "result[2]['w'].scale"}, tensor<f32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[3].scale"}) {
// FP8-NEXT: %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg3, %arg13 : tensor<f32>
// FP8-NEXT: %1 = stablehlo.divide %arg1, %0 : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %2 = stablehlo.divide %cst_1, %arg15 : tensor<f32>
// FP8-NEXT: %3 = stablehlo.multiply %arg13, %arg15 : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_3 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_4 = stablehlo.constant dense<0.899999976> : tensor<f32>
// FP8-NEXT: %cst_5 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
// FP8-NEXT: %4 = stablehlo.divide %cst_1, %arg1 : tensor<f32>
// FP8-NEXT: %5 = stablehlo.divide %cst_1, %arg3 : tensor<f32>
// FP8-NEXT: %cst_6 = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// FP8-NEXT: %cst_7 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// FP8-NEXT: %6 = stablehlo.convert %arg10 {scalify.forms = ["s5"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// FP8-NEXT: %7 = stablehlo.convert %arg8 {scalify.forms = ["s4"]} : (tensor<16xf16>) -> tensor<16xf32>
// FP8-NEXT: %8 = stablehlo.convert %arg6 {scalify.forms = ["s3"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// FP8-NEXT: %9 = stablehlo.convert %arg4 {scalify.forms = ["s2"]} : (tensor<16xf16>) -> tensor<16xf32>
// FP8-NEXT: %10 = stablehlo.convert %arg2 {scalify.forms = ["s1"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// FP8-NEXT: %11 = stablehlo.convert %arg0 {scalify.forms = ["s0"]} : (tensor<16xf16>) -> tensor<16xf32>
// FP8-NEXT: %12 = stablehlo.clamp %cst, %10, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %13 = stablehlo.convert %12 {scalify.forms = ["s1"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// FP8-NEXT: %14 = stablehlo.clamp %cst, %arg12, %cst_0 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %15 = stablehlo.convert %14 {scalify.forms = ["s6"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// FP8-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00999999977> : tensor<f32>
// FP8-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-03> : tensor<f32>
// FP8-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.990000e-01> : tensor<f32>
// FP8-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// FP8-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.899999976> : tensor<f32>
// FP8-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// FP8-NEXT: %cst_15 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_16 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %16 = stablehlo.dot_general %15, %13, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s1*s6 level 2"]} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// FP8-NEXT: %17 = stablehlo.broadcast_in_dim %11, dims = [1] {scalify.forms = ["s0"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// FP8-NEXT: %18 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
// FP8-NEXT: %19 = stablehlo.multiply %17, %18 : tensor<1x16xf32>
// FP8-NEXT: %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %21 = stablehlo.add %16, %20 {scalify.forms = ["s1*s6 level 2"]} : tensor<4x16xf32>
// FP8-NEXT: %22 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %23 = stablehlo.multiply %21, %22 : tensor<4x16xf32>
// FP8-NEXT: %24 = stablehlo.tanh %23 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %25 = stablehlo.broadcast_in_dim %cst_16, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %26 = stablehlo.subtract %25, %24 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %27 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %28 = stablehlo.multiply %24, %27 : tensor<4x16xf32>
// FP8-NEXT: %29 = stablehlo.subtract %28, %arg14 {scalify.forms = ["s7"]} : tensor<4x16xf32>
// FP8-NEXT: %30 = stablehlo.broadcast_in_dim %cst_15, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %31 = stablehlo.multiply %30, %29 {scalify.forms = ["s7 level 1"]} : tensor<4x16xf32>
// FP8-NEXT: %32 = stablehlo.divide %cst_16, %cst_14 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// FP8-NEXT: %33 = stablehlo.broadcast_in_dim %32, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %34 = stablehlo.multiply %33, %31 {scalify.forms = ["s7 level -5"]} : tensor<4x16xf32>
// FP8-NEXT: %35 = stablehlo.multiply %34, %26 {scalify.forms = ["s7 level -5"]} : tensor<4x16xf32>
// FP8-NEXT: %36 = stablehlo.multiply %35, %24 {scalify.forms = ["s7 level -5"]} : tensor<4x16xf32>
// FP8-NEXT: %37 = stablehlo.add %35, %36 {scalify.forms = ["s7 level -5"]} : tensor<4x16xf32>
// FP8-NEXT: %38 = stablehlo.reduce(%37 init: %cst_13) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s7 level -4"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %39 = stablehlo.reshape %38 {scalify.forms = ["s7 level -4"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// FP8-NEXT: %40 = stablehlo.reduce(%39 init: %cst_13) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s7 level -4"]} : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %41 = stablehlo.optimization_barrier %40 : tensor<16xf32>
// FP8-NEXT: %42 = stablehlo.multiply %41, %41 : tensor<16xf32>
// FP8-NEXT: %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %43 = stablehlo.reduce(%42 init: %cst_18) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %cst_19 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
// FP8-NEXT: %44 = stablehlo.multiply %43, %cst_19 : tensor<f32>
// FP8-NEXT: %45 = stablehlo.sqrt %44 : tensor<f32>
// FP8-NEXT: %46 = stablehlo.bitcast_convert %45 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %47 = stablehlo.and %46, %c : tensor<ui32>
// FP8-NEXT: %c_20 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %48 = stablehlo.subtract %47, %c_20 : tensor<ui32>
// FP8-NEXT: %c_21 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %49 = stablehlo.compare LT, %48, %c_21 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %50 = stablehlo.bitcast_convert %47 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %51 = stablehlo.select %49, %50, %cst_17 : tensor<i1>, tensor<f32>
// FP8-NEXT: %52 = stablehlo.multiply %51, %arg15 : tensor<f32>
// FP8-NEXT: %cst_22 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_23 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %53 = stablehlo.clamp %cst_22, %52, %cst_23 : tensor<f32>
// FP8-NEXT: %54 = stablehlo.bitcast_convert %53 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_24 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %55 = stablehlo.subtract %c_24, %54 : tensor<ui32>
// FP8-NEXT: %56 = stablehlo.bitcast_convert %55 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_25 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %57 = stablehlo.divide %cst_25, %56 : tensor<f32>
// FP8-NEXT: %58 = stablehlo.optimization_barrier %57 : tensor<f32>
// FP8-NEXT: %59 = stablehlo.divide %arg15, %58 : tensor<f32>
// FP8-NEXT: %60 = stablehlo.divide %arg5, %58 : tensor<f32>
// FP8-NEXT: %61 = stablehlo.multiply %cst_4, %60 : tensor<f32>
// FP8-NEXT: %62 = stablehlo.multiply %58, %58 : tensor<f32>
// FP8-NEXT: %63 = stablehlo.divide %arg9, %62 : tensor<f32>
// FP8-NEXT: %64 = stablehlo.divide %cst_5, %58 : tensor<f32>
// FP8-NEXT: %65 = stablehlo.broadcast_in_dim %59, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %66 = stablehlo.multiply %41, %65 : tensor<16xf32>
// FP8-NEXT: %67 = stablehlo.dot_general %37, %arg12, contracting_dims = [0] x [0] {scalify.forms = ["s6*s7 level -4"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// FP8-NEXT: %68 = stablehlo.transpose %67, dims = [1, 0] {scalify.forms = ["s6*s7 level -4"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// FP8-NEXT: %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %69 = stablehlo.optimization_barrier %68 : tensor<32x16xf32>
// FP8-NEXT: %70 = stablehlo.multiply %69, %69 : tensor<32x16xf32>
// FP8-NEXT: %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %71 = stablehlo.reduce(%70 init: %cst_27) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %cst_28 = stablehlo.constant dense<0.001953125> : tensor<f32>
// FP8-NEXT: %72 = stablehlo.multiply %71, %cst_28 : tensor<f32>
// FP8-NEXT: %73 = stablehlo.sqrt %72 : tensor<f32>
// FP8-NEXT: %74 = stablehlo.bitcast_convert %73 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_29 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %75 = stablehlo.and %74, %c_29 : tensor<ui32>
// FP8-NEXT: %c_30 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %76 = stablehlo.subtract %75, %c_30 : tensor<ui32>
// FP8-NEXT: %c_31 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %77 = stablehlo.compare LT, %76, %c_31 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %78 = stablehlo.bitcast_convert %75 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %79 = stablehlo.select %77, %78, %cst_26 : tensor<i1>, tensor<f32>
// FP8-NEXT: %80 = stablehlo.multiply %79, %3 : tensor<f32>
// FP8-NEXT: %cst_32 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_33 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %81 = stablehlo.clamp %cst_32, %80, %cst_33 : tensor<f32>
// FP8-NEXT: %82 = stablehlo.bitcast_convert %81 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_34 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %83 = stablehlo.subtract %c_34, %82 : tensor<ui32>
// FP8-NEXT: %84 = stablehlo.bitcast_convert %83 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_35 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %85 = stablehlo.divide %cst_35, %84 : tensor<f32>
// FP8-NEXT: %86 = stablehlo.optimization_barrier %85 : tensor<f32>
// FP8-NEXT: %87 = stablehlo.divide %3, %86 : tensor<f32>
// FP8-NEXT: %88 = stablehlo.divide %arg7, %86 : tensor<f32>
// FP8-NEXT: %89 = stablehlo.multiply %cst_4, %88 : tensor<f32>
// FP8-NEXT: %90 = stablehlo.multiply %86, %86 : tensor<f32>
// FP8-NEXT: %91 = stablehlo.divide %arg11, %90 : tensor<f32>
// FP8-NEXT: %92 = stablehlo.divide %cst_5, %86 : tensor<f32>
// FP8-NEXT: %93 = stablehlo.broadcast_in_dim %87, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %94 = stablehlo.multiply %69, %93 : tensor<32x16xf32>
// FP8-NEXT: %95 = stablehlo.clamp %cst_2, %94, %cst_3 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %96 = stablehlo.convert %95 {scalify.forms = ["s10"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E5M2>
// FP8-NEXT: %97 = stablehlo.optimization_barrier {scalify.forms = ["s10"]} %96 : tensor<32x16xf8E5M2>
// FP8-NEXT: %98 = stablehlo.convert %97 {scalify.forms = ["s10"]} : (tensor<32x16xf8E5M2>) -> tensor<32x16xf32>
// FP8-NEXT: %99 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %100 = stablehlo.multiply %99, %66 {scalify.forms = ["s9 level -3.32193"]} : tensor<16xf32>
// FP8-NEXT: %101 = stablehlo.broadcast_in_dim %61, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %102 = stablehlo.multiply %101, %9 : tensor<16xf32>
// FP8-NEXT: %103 = stablehlo.add %102, %100 {scalify.forms = ["s9 level -3.32193"]} : tensor<16xf32>
// FP8-NEXT: %104 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %105 = stablehlo.multiply %104, %98 {scalify.forms = ["s10 level -3.32193"]} : tensor<32x16xf32>
// FP8-NEXT: %106 = stablehlo.broadcast_in_dim %89, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %107 = stablehlo.multiply %106, %8 : tensor<32x16xf32>
// FP8-NEXT: %108 = stablehlo.add %107, %105 {scalify.forms = ["s10 level -3.32193"]} : tensor<32x16xf32>
// FP8-NEXT: %109 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %110 = stablehlo.multiply %109, %7 {scalify.forms = ["s4 level -0.0014434"]} : tensor<16xf32>
// FP8-NEXT: %111 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %112 = stablehlo.multiply %111, %66 {scalify.forms = ["s9 level -9.96578"]} : tensor<16xf32>
// FP8-NEXT: %113 = stablehlo.multiply %112, %66 {scalify.forms = ["s9^2 level -9.96578"]} : tensor<16xf32>
// FP8-NEXT: %114 = stablehlo.broadcast_in_dim %63, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %115 = stablehlo.multiply %110, %114 : tensor<16xf32>
// FP8-NEXT: %116 = stablehlo.add %115, %113 {scalify.forms = ["s9^2 level -9.96578"]} : tensor<16xf32>
// FP8-NEXT: %117 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %118 = stablehlo.multiply %117, %6 {scalify.forms = ["s5 level -0.0014434"]} : tensor<32x16xf32>
// FP8-NEXT: %119 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %120 = stablehlo.multiply %119, %98 {scalify.forms = ["s10 level -9.96578"]} : tensor<32x16xf32>
// FP8-NEXT: %121 = stablehlo.multiply %120, %98 {scalify.forms = ["s10^2 level -9.96578"]} : tensor<32x16xf32>
// FP8-NEXT: %122 = stablehlo.broadcast_in_dim %91, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %123 = stablehlo.multiply %118, %122 : tensor<32x16xf32>
// FP8-NEXT: %124 = stablehlo.add %123, %121 {scalify.forms = ["s10^2 level -9.96578"]} : tensor<32x16xf32>
// FP8-NEXT: %125 = stablehlo.multiply %arg16, %arg17 : tensor<f32>
// FP8-NEXT: %126 = stablehlo.add %125, %cst_16 {scalify.forms = ["2^0"]} : tensor<f32>
// FP8-NEXT: %127 = stablehlo.power %cst_12, %126 : tensor<f32>
// FP8-NEXT: %128 = stablehlo.subtract %cst_16, %127 : tensor<f32>
// FP8-NEXT: %129 = stablehlo.broadcast_in_dim %128, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %130 = stablehlo.divide %103, %129 {scalify.forms = ["s9 level -3.32193"]} : tensor<16xf32>
// FP8-NEXT: %131 = stablehlo.power %cst_10, %126 : tensor<f32>
// FP8-NEXT: %132 = stablehlo.subtract %cst_16, %131 : tensor<f32>
// FP8-NEXT: %133 = stablehlo.broadcast_in_dim %132, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %134 = stablehlo.divide %116, %133 {scalify.forms = ["s9^2 level -9.96578"]} : tensor<16xf32>
// FP8-NEXT: %135 = stablehlo.sqrt %134 {scalify.forms = ["s9 level -5"]} : tensor<16xf32>
// FP8-NEXT: %136 = stablehlo.broadcast_in_dim %64, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %137 = stablehlo.add %135, %136 {scalify.forms = ["s9 level -5"]} : tensor<16xf32>
// FP8-NEXT: %138 = stablehlo.divide %130, %137 {scalify.forms = ["2^0 level 1.67807"]} : tensor<16xf32>
// FP8-NEXT: %139 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %140 = stablehlo.multiply %139, %11 {scalify.forms = ["s0 level -6.64386"]} : tensor<16xf32>
// FP8-NEXT: %141 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %142 = stablehlo.multiply %138, %141 : tensor<16xf32>
// FP8-NEXT: %143 = stablehlo.add %142, %140 {scalify.forms = ["s0 level -6.64386"]} : tensor<16xf32>
// FP8-NEXT: %144 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %145 = stablehlo.multiply %144, %143 {scalify.forms = ["s0 level -16.6096"]} : tensor<16xf32>
// FP8-NEXT: %146 = stablehlo.subtract %11, %145 {scalify.forms = ["s0"]} : tensor<16xf32>
// FP8-NEXT: %147 = stablehlo.power %cst_12, %126 : tensor<f32>
// FP8-NEXT: %148 = stablehlo.subtract %cst_16, %147 : tensor<f32>
// FP8-NEXT: %149 = stablehlo.broadcast_in_dim %148, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %150 = stablehlo.divide %108, %149 {scalify.forms = ["s10 level -3.32193"]} : tensor<32x16xf32>
// FP8-NEXT: %151 = stablehlo.power %cst_10, %126 : tensor<f32>
// FP8-NEXT: %152 = stablehlo.subtract %cst_16, %151 : tensor<f32>
// FP8-NEXT: %153 = stablehlo.broadcast_in_dim %152, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %154 = stablehlo.divide %124, %153 {scalify.forms = ["s10^2 level -9.96578"]} : tensor<32x16xf32>
// FP8-NEXT: %155 = stablehlo.sqrt %154 {scalify.forms = ["s10 level -5"]} : tensor<32x16xf32>
// FP8-NEXT: %156 = stablehlo.broadcast_in_dim %92, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %157 = stablehlo.add %155, %156 {scalify.forms = ["s10 level -5"]} : tensor<32x16xf32>
// FP8-NEXT: %158 = stablehlo.divide %150, %157 {scalify.forms = ["2^0 level 1.67807"]} : tensor<32x16xf32>
// FP8-NEXT: %159 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %160 = stablehlo.multiply %159, %10 {scalify.forms = ["s1 level -6.64386"]} : tensor<32x16xf32>
// FP8-NEXT: %161 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %162 = stablehlo.multiply %158, %161 : tensor<32x16xf32>
// FP8-NEXT: %163 = stablehlo.add %162, %160 {scalify.forms = ["s1 level -6.64386"]} : tensor<32x16xf32>
// FP8-NEXT: %164 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %165 = stablehlo.multiply %164, %163 {scalify.forms = ["s1 level -16.6096"]} : tensor<32x16xf32>
// FP8-NEXT: %166 = stablehlo.subtract %10, %165 {scalify.forms = ["s1"]} : tensor<32x16xf32>
// FP8-NEXT: %167 = stablehlo.reshape %146 : (tensor<16xf32>) -> tensor<1x16xf32>
// FP8-NEXT: %168 = stablehlo.reshape %103 : (tensor<16xf32>) -> tensor<1x16xf32>
// FP8-NEXT: %169 = stablehlo.concatenate %167, %168, dim = 0 : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<2x16xf32>
// FP8-NEXT: %170 = stablehlo.multiply %169, %169 : tensor<2x16xf32>
// FP8-NEXT: %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %171 = stablehlo.reduce(%170 init: %cst_36) applies stablehlo.add across dimensions = [1] : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
// FP8-NEXT: %cst_37 = stablehlo.constant dense<6.250000e-02> : tensor<2xf32>
// FP8-NEXT: %172 = stablehlo.multiply %171, %cst_37 : tensor<2xf32>
// FP8-NEXT: %173 = stablehlo.sqrt %172 : tensor<2xf32>
// FP8-NEXT: %cst_38 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// FP8-NEXT: %174 = stablehlo.bitcast_convert %173 : (tensor<2xf32>) -> tensor<2xui32>
// FP8-NEXT: %c_39 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// FP8-NEXT: %175 = stablehlo.and %174, %c_39 : tensor<2xui32>
// FP8-NEXT: %c_40 = stablehlo.constant dense<1> : tensor<2xui32>
// FP8-NEXT: %176 = stablehlo.subtract %175, %c_40 : tensor<2xui32>
// FP8-NEXT: %c_41 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// FP8-NEXT: %177 = stablehlo.compare LT, %176, %c_41 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// FP8-NEXT: %178 = stablehlo.bitcast_convert %175 : (tensor<2xui32>) -> tensor<2xf32>
// FP8-NEXT: %179 = stablehlo.select %177, %178, %cst_38 : tensor<2xi1>, tensor<2xf32>
// FP8-NEXT: %180 = stablehlo.slice %179 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// FP8-NEXT: %181 = stablehlo.reshape %180 : (tensor<1xf32>) -> tensor<f32>
// FP8-NEXT: %182 = stablehlo.multiply %181, %arg1 : tensor<f32>
// FP8-NEXT: %cst_42 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_43 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %183 = stablehlo.clamp %cst_42, %182, %cst_43 : tensor<f32>
// FP8-NEXT: %184 = stablehlo.bitcast_convert %183 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_44 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %185 = stablehlo.subtract %c_44, %184 : tensor<ui32>
// FP8-NEXT: %186 = stablehlo.bitcast_convert %185 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_45 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %187 = stablehlo.divide %cst_45, %186 : tensor<f32>
// FP8-NEXT: %188 = stablehlo.optimization_barrier %187 : tensor<f32>
// FP8-NEXT: %189 = stablehlo.divide %arg1, %188 : tensor<f32>
// FP8-NEXT: %190 = stablehlo.broadcast_in_dim %189, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %191 = stablehlo.multiply %146, %190 : tensor<16xf32>
// FP8-NEXT: %192 = stablehlo.slice %179 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// FP8-NEXT: %193 = stablehlo.reshape %192 : (tensor<1xf32>) -> tensor<f32>
// FP8-NEXT: %194 = stablehlo.multiply %193, %58 : tensor<f32>
// FP8-NEXT: %cst_46 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_47 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %195 = stablehlo.clamp %cst_46, %194, %cst_47 : tensor<f32>
// FP8-NEXT: %196 = stablehlo.bitcast_convert %195 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_48 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %197 = stablehlo.subtract %c_48, %196 : tensor<ui32>
// FP8-NEXT: %198 = stablehlo.bitcast_convert %197 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_49 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %199 = stablehlo.divide %cst_49, %198 : tensor<f32>
// FP8-NEXT: %200 = stablehlo.optimization_barrier %199 : tensor<f32>
// FP8-NEXT: %201 = stablehlo.divide %58, %200 : tensor<f32>
// FP8-NEXT: %202 = stablehlo.broadcast_in_dim %201, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %203 = stablehlo.multiply %103, %202 : tensor<16xf32>
// FP8-NEXT: %204 = stablehlo.clamp %cst_6, %203, %cst_7 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %205 = stablehlo.convert %204 {scalify.forms = ["s12"]} : (tensor<16xf32>) -> tensor<16xf16>
// FP8-NEXT: %206 = stablehlo.clamp %cst_6, %191, %cst_7 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %207 = stablehlo.convert %206 {scalify.forms = ["s11"]} : (tensor<16xf32>) -> tensor<16xf16>
// FP8-NEXT: %208 = stablehlo.reshape %166 : (tensor<32x16xf32>) -> tensor<1x512xf32>
// FP8-NEXT: %209 = stablehlo.reshape %108 : (tensor<32x16xf32>) -> tensor<1x512xf32>
// FP8-NEXT: %210 = stablehlo.concatenate %208, %209, dim = 0 : (tensor<1x512xf32>, tensor<1x512xf32>) -> tensor<2x512xf32>
// FP8-NEXT: %211 = stablehlo.multiply %210, %210 : tensor<2x512xf32>
// FP8-NEXT: %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %212 = stablehlo.reduce(%211 init: %cst_50) applies stablehlo.add across dimensions = [1] : (tensor<2x512xf32>, tensor<f32>) -> tensor<2xf32>
// FP8-NEXT: %cst_51 = stablehlo.constant dense<0.001953125> : tensor<2xf32>
// FP8-NEXT: %213 = stablehlo.multiply %212, %cst_51 : tensor<2xf32>
// FP8-NEXT: %214 = stablehlo.sqrt %213 : tensor<2xf32>
// FP8-NEXT: %cst_52 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// FP8-NEXT: %215 = stablehlo.bitcast_convert %214 : (tensor<2xf32>) -> tensor<2xui32>
// FP8-NEXT: %c_53 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// FP8-NEXT: %216 = stablehlo.and %215, %c_53 : tensor<2xui32>
// FP8-NEXT: %c_54 = stablehlo.constant dense<1> : tensor<2xui32>
// FP8-NEXT: %217 = stablehlo.subtract %216, %c_54 : tensor<2xui32>
// FP8-NEXT: %c_55 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// FP8-NEXT: %218 = stablehlo.compare LT, %217, %c_55 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// FP8-NEXT: %219 = stablehlo.bitcast_convert %216 : (tensor<2xui32>) -> tensor<2xf32>
// FP8-NEXT: %220 = stablehlo.select %218, %219, %cst_52 : tensor<2xi1>, tensor<2xf32>
// FP8-NEXT: %221 = stablehlo.slice %220 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// FP8-NEXT: %222 = stablehlo.reshape %221 : (tensor<1xf32>) -> tensor<f32>
// FP8-NEXT: %223 = stablehlo.multiply %222, %arg3 : tensor<f32>
// FP8-NEXT: %cst_56 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_57 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %224 = stablehlo.clamp %cst_56, %223, %cst_57 : tensor<f32>
// FP8-NEXT: %225 = stablehlo.bitcast_convert %224 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_58 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %226 = stablehlo.subtract %c_58, %225 : tensor<ui32>
// FP8-NEXT: %227 = stablehlo.bitcast_convert %226 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_59 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %228 = stablehlo.divide %cst_59, %227 : tensor<f32>
// FP8-NEXT: %229 = stablehlo.optimization_barrier %228 : tensor<f32>
// FP8-NEXT: %230 = stablehlo.divide %arg3, %229 : tensor<f32>
// FP8-NEXT: %231 = stablehlo.broadcast_in_dim %230, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %232 = stablehlo.multiply %166, %231 : tensor<32x16xf32>
// FP8-NEXT: %233 = stablehlo.slice %220 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// FP8-NEXT: %234 = stablehlo.reshape %233 : (tensor<1xf32>) -> tensor<f32>
// FP8-NEXT: %235 = stablehlo.multiply %234, %86 : tensor<f32>
// FP8-NEXT: %cst_60 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_61 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %236 = stablehlo.clamp %cst_60, %235, %cst_61 : tensor<f32>
// FP8-NEXT: %237 = stablehlo.bitcast_convert %236 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_62 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %238 = stablehlo.subtract %c_62, %237 : tensor<ui32>
// FP8-NEXT: %239 = stablehlo.bitcast_convert %238 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_63 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %240 = stablehlo.divide %cst_63, %239 : tensor<f32>
// FP8-NEXT: %241 = stablehlo.optimization_barrier %240 : tensor<f32>
// FP8-NEXT: %242 = stablehlo.divide %86, %241 : tensor<f32>
// FP8-NEXT: %243 = stablehlo.broadcast_in_dim %242, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %244 = stablehlo.multiply %108, %243 : tensor<32x16xf32>
// FP8-NEXT: %245 = stablehlo.clamp %cst_6, %244, %cst_7 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %246 = stablehlo.convert %245 {scalify.forms = ["s14"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// FP8-NEXT: %247 = stablehlo.clamp %cst_6, %232, %cst_7 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %248 = stablehlo.convert %247 {scalify.forms = ["s13"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// FP8-NEXT: %cst_64 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
// FP8-NEXT: %249 = stablehlo.optimization_barrier %116 : tensor<16xf32>
// FP8-NEXT: %250 = stablehlo.abs %249 : tensor<16xf32>
// FP8-NEXT: %cst_65 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %251 = stablehlo.reduce(%250 init: %cst_65) applies stablehlo.maximum across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %252 = stablehlo.bitcast_convert %251 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_66 = stablehlo.constant dense<8388607> : tensor<ui32>
// FP8-NEXT: %253 = stablehlo.add %252, %c_66 : tensor<ui32>
// FP8-NEXT: %c_67 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %254 = stablehlo.and %253, %c_67 : tensor<ui32>
// FP8-NEXT: %c_68 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %255 = stablehlo.subtract %254, %c_68 : tensor<ui32>
// FP8-NEXT: %c_69 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %256 = stablehlo.compare LT, %255, %c_69 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %257 = stablehlo.bitcast_convert %254 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %258 = stablehlo.select %256, %257, %cst_64 : tensor<i1>, tensor<f32>
// FP8-NEXT: %cst_70 = stablehlo.constant dense<7.812500e-03> : tensor<f32>
// FP8-NEXT: %259 = stablehlo.multiply %258, %cst_70 : tensor<f32>
// FP8-NEXT: %260 = stablehlo.multiply %259, %62 : tensor<f32>
// FP8-NEXT: %cst_71 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_72 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %261 = stablehlo.clamp %cst_71, %260, %cst_72 : tensor<f32>
// FP8-NEXT: %262 = stablehlo.bitcast_convert %261 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_73 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %263 = stablehlo.subtract %c_73, %262 : tensor<ui32>
// FP8-NEXT: %264 = stablehlo.bitcast_convert %263 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_74 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %265 = stablehlo.divide %cst_74, %264 : tensor<f32>
// FP8-NEXT: %266 = stablehlo.optimization_barrier %265 : tensor<f32>
// FP8-NEXT: %267 = stablehlo.divide %62, %266 : tensor<f32>
// FP8-NEXT: %268 = stablehlo.broadcast_in_dim %267, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %269 = stablehlo.multiply %249, %268 : tensor<16xf32>
// FP8-NEXT: %270 = stablehlo.clamp %cst_6, %269, %cst_7 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// FP8-NEXT: %271 = stablehlo.convert %270 {scalify.forms = ["s15"]} : (tensor<16xf32>) -> tensor<16xf16>
// FP8-NEXT: %cst_75 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
// FP8-NEXT: %272 = stablehlo.optimization_barrier %124 : tensor<32x16xf32>
// FP8-NEXT: %273 = stablehlo.abs %272 : tensor<32x16xf32>
// FP8-NEXT: %cst_76 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %274 = stablehlo.reduce(%273 init: %cst_76) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %275 = stablehlo.bitcast_convert %274 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_77 = stablehlo.constant dense<8388607> : tensor<ui32>
// FP8-NEXT: %276 = stablehlo.add %275, %c_77 : tensor<ui32>
// FP8-NEXT: %c_78 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %277 = stablehlo.and %276, %c_78 : tensor<ui32>
// FP8-NEXT: %c_79 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %278 = stablehlo.subtract %277, %c_79 : tensor<ui32>
// FP8-NEXT: %c_80 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %279 = stablehlo.compare LT, %278, %c_80 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %280 = stablehlo.bitcast_convert %277 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %281 = stablehlo.select %279, %280, %cst_75 : tensor<i1>, tensor<f32>
// FP8-NEXT: %cst_81 = stablehlo.constant dense<7.812500e-03> : tensor<f32>
// FP8-NEXT: %282 = stablehlo.multiply %281, %cst_81 : tensor<f32>
// FP8-NEXT: %283 = stablehlo.multiply %282, %90 : tensor<f32>
// FP8-NEXT: %cst_82 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_83 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %284 = stablehlo.clamp %cst_82, %283, %cst_83 : tensor<f32>
// FP8-NEXT: %285 = stablehlo.bitcast_convert %284 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_84 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %286 = stablehlo.subtract %c_84, %285 : tensor<ui32>
// FP8-NEXT: %287 = stablehlo.bitcast_convert %286 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_85 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %288 = stablehlo.divide %cst_85, %287 : tensor<f32>
// FP8-NEXT: %289 = stablehlo.optimization_barrier %288 : tensor<f32>
// FP8-NEXT: %290 = stablehlo.divide %90, %289 : tensor<f32>
// FP8-NEXT: %291 = stablehlo.broadcast_in_dim %290, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %292 = stablehlo.multiply %272, %291 : tensor<32x16xf32>
// FP8-NEXT: %293 = stablehlo.clamp %cst_6, %292, %cst_7 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %294 = stablehlo.convert %293 {scalify.forms = ["s16"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// FP8-NEXT: %cst_86 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: return %207, %188, %248, %229, %205, %200, %246, %241, %271, %266, %294, %289, %126, %cst_86 : tensor<16xf16>, tensor<f32>, tensor<32x16xf16>, tensor<f32>, tensor<16xf16>, tensor<f32>, tensor<32x16xf16>, tensor<f32>, tensor<16xf16>, tensor<f32>, tensor<32x16xf16>, tensor<f32>, tensor<f32>, tensor<f32>
// FP8-NEXT: }
// FP8-NEXT: }
// FP16:      module @_adam attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP16-NEXT: func.func public @main(%arg0: tensor<16xf16>, %arg1: tensor<f32>, %arg2: tensor<32x16xf16>, %arg3: tensor<f32>, %arg4: tensor<16xf32>, %arg5: tensor<f32>, %arg6: tensor<32x16xf32>, %arg7: tensor<f32>, %arg8: tensor<16xf32>, %arg9: tensor<f32>, %arg10: tensor<32x16xf32>, %arg11: tensor<f32>, %arg12: tensor<4x32xf32>, %arg13: tensor<f32>, %arg14: tensor<4x16xf32>, %arg15: tensor<f32>, %arg16: tensor<f32>, %arg17: tensor<f32>) -> (tensor<16xf16> {jax.result_info = "result[0]['b']"}, tensor<f32> {jax.result_info = "result[0]['b'].scale"}, tensor<32x16xf16> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[0]['w'].scale"}, tensor<16xf32> {jax.result_info = "result[1]['b']"}, tensor<f32> {jax.result_info = "result[1]['b'].scale"}, tensor<32x16xf32> {jax.result_info = "result[1]['w']"}, tensor<f32> {jax.result_info = "result[1]['w'].scale"}, tensor<16xf32> {jax.result_info = "result[2]['b']"}, tensor<f32> {jax.result_info = "result[2]['b'].scale"}, tensor<32x16xf32> {jax.result_info = "result[2]['w']"}, tensor<f32> {jax.result_info = "result[2]['w'].scale"}, tensor<f32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[3].scale"}) {
// FP16-NEXT: %cst = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// FP16-NEXT: %cst_0 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// FP16-NEXT: %0 = stablehlo.multiply %arg3, %arg13 : tensor<f32>
// FP16-NEXT: %1 = stablehlo.divide %arg1, %0 : tensor<f32>
// FP16-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: %2 = stablehlo.divide %cst_1, %arg15 : tensor<f32>
// FP16-NEXT: %cst_2 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
// FP16-NEXT: %cst_3 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
// FP16-NEXT: %3 = stablehlo.multiply %arg15, %cst_3 : tensor<f32>
// FP16-NEXT: %4 = stablehlo.divide %3, %arg5 : tensor<f32>
// FP16-NEXT: %5 = stablehlo.multiply %cst_2, %4 : tensor<f32>
// FP16-NEXT: %6 = stablehlo.multiply %arg13, %arg15 : tensor<f32>
// FP16-NEXT: %7 = stablehlo.multiply %6, %cst_3 : tensor<f32>
// FP16-NEXT: %8 = stablehlo.divide %7, %arg7 : tensor<f32>
// FP16-NEXT: %9 = stablehlo.multiply %cst_2, %8 : tensor<f32>
// FP16-NEXT: %cst_4 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// FP16-NEXT: %10 = stablehlo.multiply %arg15, %arg15 : tensor<f32>
// FP16-NEXT: %11 = stablehlo.multiply %10, %cst_4 : tensor<f32>
// FP16-NEXT: %12 = stablehlo.divide %11, %arg9 : tensor<f32>
// FP16-NEXT: %13 = stablehlo.multiply %6, %cst_4 : tensor<f32>
// FP16-NEXT: %14 = stablehlo.divide %13, %arg11 : tensor<f32>
// FP16-NEXT: %15 = stablehlo.multiply %14, %6 : tensor<f32>
// FP16-NEXT: %cst_5 = stablehlo.constant dense<1.17549435E-38> : tensor<f32>
// FP16-NEXT: %cst_6 = stablehlo.constant dense<8.50705917E+37> : tensor<f32>
// FP16-NEXT: %16 = stablehlo.clamp %cst_5, %15, %cst_6 : tensor<f32>
// FP16-NEXT: %17 = stablehlo.divide %14, %16 : tensor<f32>
// FP16-NEXT: %18 = stablehlo.multiply %17, %6 : tensor<f32>
// FP16-NEXT: %19 = stablehlo.sqrt %arg9 : tensor<f32>
// FP16-NEXT: %20 = stablehlo.reduce_precision %19, format = e8m0 : tensor<f32>
// FP16-NEXT: %21 = stablehlo.multiply %20, %20 : tensor<f32>
// FP16-NEXT: %22 = stablehlo.divide %arg9, %21 : tensor<f32>
// FP16-NEXT: %cst_7 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
// FP16-NEXT: %23 = stablehlo.divide %cst_7, %20 : tensor<f32>
// FP16-NEXT: %24 = stablehlo.multiply %arg1, %20 : tensor<f32>
// FP16-NEXT: %25 = stablehlo.divide %arg5, %24 : tensor<f32>
// FP16-NEXT: %26 = stablehlo.sqrt %arg11 : tensor<f32>
// FP16-NEXT: %27 = stablehlo.reduce_precision %26, format = e8m0 : tensor<f32>
// FP16-NEXT: %28 = stablehlo.multiply %27, %27 : tensor<f32>
// FP16-NEXT: %29 = stablehlo.divide %arg11, %28 : tensor<f32>
// FP16-NEXT: %30 = stablehlo.divide %cst_7, %27 : tensor<f32>
// FP16-NEXT: %31 = stablehlo.multiply %arg3, %27 : tensor<f32>
// FP16-NEXT: %32 = stablehlo.divide %arg7, %31 : tensor<f32>
// FP16-NEXT: %33 = stablehlo.convert %arg2 {scalify.forms = ["s1"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// FP16-NEXT: %34 = stablehlo.convert %arg0 {scalify.forms = ["s0"]} : (tensor<16xf16>) -> tensor<16xf32>
// FP16-NEXT: %35 = stablehlo.clamp %cst, %33, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %36 = stablehlo.convert %35 {scalify.forms = ["s1"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// FP16-NEXT: %37 = stablehlo.clamp %cst, %arg12, %cst_0 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP16-NEXT: %38 = stablehlo.convert %37 {scalify.forms = ["s6"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// FP16-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00999999977> : tensor<f32>
// FP16-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-03> : tensor<f32>
// FP16-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.990000e-01> : tensor<f32>
// FP16-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.899999976> : tensor<f32>
// FP16-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP16-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// FP16-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// FP16-NEXT: %cst_15 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: %39 = stablehlo.dot_general %38, %36, contracting_dims = [1] x [0] {scalify.forms = ["s1*s6 level 2"]} : (tensor<4x32xf16>, tensor<32x16xf16>) -> tensor<4x16xf32>
// FP16-NEXT: %40 = stablehlo.broadcast_in_dim %34, dims = [1] {scalify.forms = ["s0"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// FP16-NEXT: %41 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
// FP16-NEXT: %42 = stablehlo.multiply %40, %41 : tensor<1x16xf32>
// FP16-NEXT: %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<4x16xf32>
// FP16-NEXT: %44 = stablehlo.add %39, %43 {scalify.forms = ["s1*s6 level 2"]} : tensor<4x16xf32>
// FP16-NEXT: %45 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP16-NEXT: %46 = stablehlo.multiply %44, %45 : tensor<4x16xf32>
// FP16-NEXT: %47 = stablehlo.tanh %46 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP16-NEXT: %48 = stablehlo.broadcast_in_dim %cst_15, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP16-NEXT: %49 = stablehlo.subtract %48, %47 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP16-NEXT: %50 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP16-NEXT: %51 = stablehlo.multiply %47, %50 : tensor<4x16xf32>
// FP16-NEXT: %52 = stablehlo.subtract %51, %arg14 {scalify.forms = ["s7"]} : tensor<4x16xf32>
// FP16-NEXT: %53 = stablehlo.broadcast_in_dim %cst_14, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP16-NEXT: %54 = stablehlo.multiply %53, %52 {scalify.forms = ["s7 level 1"]} : tensor<4x16xf32>
// FP16-NEXT: %55 = stablehlo.divide %cst_15, %cst_13 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// FP16-NEXT: %56 = stablehlo.broadcast_in_dim %55, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP16-NEXT: %57 = stablehlo.multiply %56, %54 {scalify.forms = ["s7 level -5"]} : tensor<4x16xf32>
// FP16-NEXT: %58 = stablehlo.multiply %57, %49 {scalify.forms = ["s7 level -5"]} : tensor<4x16xf32>
// FP16-NEXT: %59 = stablehlo.multiply %58, %47 {scalify.forms = ["s7 level -5"]} : tensor<4x16xf32>
// FP16-NEXT: %60 = stablehlo.add %58, %59 {scalify.forms = ["s7 level -5"]} : tensor<4x16xf32>
// FP16-NEXT: %cst_16 = stablehlo.constant dense<3.200000e+01> : tensor<4x16xf32>
// FP16-NEXT: %61 = stablehlo.multiply %60, %cst_16 : tensor<4x16xf32>
// FP16-NEXT: %62 = stablehlo.clamp %cst, %61, %cst_0 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// FP16-NEXT: %63 = stablehlo.convert %62 {scalify.forms = ["2^-5*s7"]} : (tensor<4x16xf32>) -> tensor<4x16xf16>
// FP16-NEXT: %64 = stablehlo.reduce(%60 init: %cst_12) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s7 level -4"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %65 = stablehlo.reshape %64 {scalify.forms = ["s7 level -4"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// FP16-NEXT: %66 = stablehlo.reduce(%65 init: %cst_12) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s7 level -4"]} : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %cst_17 = stablehlo.constant dense<1.600000e+01> : tensor<16xf32>
// FP16-NEXT: %67 = stablehlo.multiply %66, %cst_17 : tensor<16xf32>
// FP16-NEXT: %68 = stablehlo.clamp %cst, %67, %cst_0 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %69 = stablehlo.convert %68 {scalify.forms = ["2^-4*s7"]} : (tensor<16xf32>) -> tensor<16xf16>
// FP16-NEXT: %70 = stablehlo.convert %69 {scalify.forms = ["2^-4*s7"]} : (tensor<16xf16>) -> tensor<16xf32>
// FP16-NEXT: %71 = stablehlo.dot_general %63, %38, contracting_dims = [0] x [0] {scalify.forms = ["2^-5*s6*s7 level 1"]} : (tensor<4x16xf16>, tensor<4x32xf16>) -> tensor<16x32xf32>
// FP16-NEXT: %72 = stablehlo.transpose %71, dims = [1, 0] {scalify.forms = ["2^-5*s6*s7 level 1"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// FP16-NEXT: %cst_18 = stablehlo.constant dense<5.000000e-01> : tensor<32x16xf32>
// FP16-NEXT: %73 = stablehlo.multiply %72, %cst_18 : tensor<32x16xf32>
// FP16-NEXT: %74 = stablehlo.clamp %cst, %73, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %75 = stablehlo.convert %74 {scalify.forms = ["2^-4*s6*s7"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// FP16-NEXT: %76 = stablehlo.convert %75 {scalify.forms = ["2^-4*s6*s7"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// FP16-NEXT: %77 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %78 = stablehlo.multiply %77, %arg4 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// FP16-NEXT: %79 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %80 = stablehlo.multiply %79, %70 : tensor<16xf32>
// FP16-NEXT: %81 = stablehlo.add %78, %80 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// FP16-NEXT: %82 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %83 = stablehlo.multiply %82, %arg6 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// FP16-NEXT: %84 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %85 = stablehlo.multiply %84, %76 : tensor<32x16xf32>
// FP16-NEXT: %86 = stablehlo.add %83, %85 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// FP16-NEXT: %87 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %88 = stablehlo.multiply %87, %arg8 {scalify.forms = ["s4 level -0.0014434"]} : tensor<16xf32>
// FP16-NEXT: %89 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %90 = stablehlo.multiply %89, %70 {scalify.forms = ["2^-4*s7 level -9.96578"]} : tensor<16xf32>
// FP16-NEXT: %91 = stablehlo.multiply %90, %70 {scalify.forms = ["2^-8*s7^2 level -9.96578"]} : tensor<16xf32>
// FP16-NEXT: %92 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %93 = stablehlo.multiply %91, %92 : tensor<16xf32>
// FP16-NEXT: %94 = stablehlo.add %88, %93 {scalify.forms = ["s4 level -0.0014434"]} : tensor<16xf32>
// FP16-NEXT: %95 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %96 = stablehlo.multiply %95, %arg10 {scalify.forms = ["s5 level -0.0014434"]} : tensor<32x16xf32>
// FP16-NEXT: %97 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %98 = stablehlo.multiply %97, %76 {scalify.forms = ["2^-4*s6*s7 level -9.96578"]} : tensor<32x16xf32>
// FP16-NEXT: %99 = stablehlo.multiply %98, %76 {scalify.forms = ["2^-8*s6^2*s7^2 level -9.96578"]} : tensor<32x16xf32>
// FP16-NEXT: %100 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %101 = stablehlo.multiply %99, %100 : tensor<32x16xf32>
// FP16-NEXT: %102 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %103 = stablehlo.multiply %101, %102 : tensor<32x16xf32>
// FP16-NEXT: %104 = stablehlo.add %96, %103 {scalify.forms = ["s5 level -0.0014434"]} : tensor<32x16xf32>
// FP16-NEXT: %105 = stablehlo.multiply %arg16, %arg17 : tensor<f32>
// FP16-NEXT: %106 = stablehlo.add %105, %cst_15 {scalify.forms = ["2^0"]} : tensor<f32>
// FP16-NEXT: %107 = stablehlo.power %cst_11, %106 : tensor<f32>
// FP16-NEXT: %108 = stablehlo.subtract %cst_15, %107 : tensor<f32>
// FP16-NEXT: %109 = stablehlo.broadcast_in_dim %108, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %110 = stablehlo.divide %81, %109 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// FP16-NEXT: %111 = stablehlo.power %cst_10, %106 : tensor<f32>
// FP16-NEXT: %112 = stablehlo.subtract %cst_15, %111 : tensor<f32>
// FP16-NEXT: %113 = stablehlo.broadcast_in_dim %112, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %114 = stablehlo.divide %94, %113 {scalify.forms = ["s4 level -0.0014434"]} : tensor<16xf32>
// FP16-NEXT: %115 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %116 = stablehlo.multiply %114, %115 : tensor<16xf32>
// FP16-NEXT: %117 = stablehlo.sqrt %116 {scalify.forms = ["s9 level -1"]} : tensor<16xf32>
// FP16-NEXT: %118 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %119 = stablehlo.add %117, %118 {scalify.forms = ["s9 level -1"]} : tensor<16xf32>
// FP16-NEXT: %120 = stablehlo.divide %110, %119 {scalify.forms = ["s2*s9^-1 level 0.847997"]} : tensor<16xf32>
// FP16-NEXT: %121 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %122 = stablehlo.multiply %121, %34 {scalify.forms = ["s0 level -6.64386"]} : tensor<16xf32>
// FP16-NEXT: %123 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %124 = stablehlo.multiply %120, %123 : tensor<16xf32>
// FP16-NEXT: %125 = stablehlo.add %124, %122 {scalify.forms = ["s0 level -6.64386"]} : tensor<16xf32>
// FP16-NEXT: %126 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %127 = stablehlo.multiply %126, %125 {scalify.forms = ["s0 level -16.6096"]} : tensor<16xf32>
// FP16-NEXT: %128 = stablehlo.subtract %34, %127 {scalify.forms = ["s0"]} : tensor<16xf32>
// FP16-NEXT: %129 = stablehlo.power %cst_11, %106 : tensor<f32>
// FP16-NEXT: %130 = stablehlo.subtract %cst_15, %129 : tensor<f32>
// FP16-NEXT: %131 = stablehlo.broadcast_in_dim %130, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %132 = stablehlo.divide %86, %131 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// FP16-NEXT: %133 = stablehlo.power %cst_10, %106 : tensor<f32>
// FP16-NEXT: %134 = stablehlo.subtract %cst_15, %133 : tensor<f32>
// FP16-NEXT: %135 = stablehlo.broadcast_in_dim %134, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %136 = stablehlo.divide %104, %135 {scalify.forms = ["s5 level -0.0014434"]} : tensor<32x16xf32>
// FP16-NEXT: %137 = stablehlo.broadcast_in_dim %29, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %138 = stablehlo.multiply %136, %137 : tensor<32x16xf32>
// FP16-NEXT: %139 = stablehlo.sqrt %138 {scalify.forms = ["s10 level -1"]} : tensor<32x16xf32>
// FP16-NEXT: %140 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %141 = stablehlo.add %139, %140 {scalify.forms = ["s10 level -1"]} : tensor<32x16xf32>
// FP16-NEXT: %142 = stablehlo.divide %132, %141 {scalify.forms = ["s3*s10^-1 level 0.847997"]} : tensor<32x16xf32>
// FP16-NEXT: %143 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %144 = stablehlo.multiply %143, %33 {scalify.forms = ["s1 level -6.64386"]} : tensor<32x16xf32>
// FP16-NEXT: %145 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %146 = stablehlo.multiply %142, %145 : tensor<32x16xf32>
// FP16-NEXT: %147 = stablehlo.add %146, %144 {scalify.forms = ["s1 level -6.64386"]} : tensor<32x16xf32>
// FP16-NEXT: %148 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %149 = stablehlo.multiply %148, %147 {scalify.forms = ["s1 level -16.6096"]} : tensor<32x16xf32>
// FP16-NEXT: %150 = stablehlo.subtract %33, %149 {scalify.forms = ["s1"]} : tensor<32x16xf32>
// FP16-NEXT: %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: %151 = stablehlo.optimization_barrier %128 : tensor<16xf32>
// FP16-NEXT: %152 = stablehlo.multiply %151, %151 : tensor<16xf32>
// FP16-NEXT: %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP16-NEXT: %153 = stablehlo.reduce(%152 init: %cst_20) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
// FP16-NEXT: %cst_21 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
// FP16-NEXT: %154 = stablehlo.multiply %153, %cst_21 : tensor<f32>
// FP16-NEXT: %155 = stablehlo.sqrt %154 : tensor<f32>
// FP16-NEXT: %156 = stablehlo.bitcast_convert %155 : (tensor<f32>) -> tensor<ui32>
// FP16-NEXT: %c = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP16-NEXT: %157 = stablehlo.and %156, %c : tensor<ui32>
// FP16-NEXT: %c_22 = stablehlo.constant dense<1> : tensor<ui32>
// FP16-NEXT: %158 = stablehlo.subtract %157, %c_22 : tensor<ui32>
// FP16-NEXT: %c_23 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP16-NEXT: %159 = stablehlo.compare LT, %158, %c_23 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP16-NEXT: %160 = stablehlo.bitcast_convert %157 : (tensor<ui32>) -> tensor<f32>
// FP16-NEXT: %161 = stablehlo.select %159, %160, %cst_19 : tensor<i1>, tensor<f32>
// FP16-NEXT: %162 = stablehlo.multiply %161, %arg1 : tensor<f32>
// FP16-NEXT: %cst_24 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP16-NEXT: %cst_25 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP16-NEXT: %163 = stablehlo.clamp %cst_24, %162, %cst_25 : tensor<f32>
// FP16-NEXT: %164 = stablehlo.bitcast_convert %163 : (tensor<f32>) -> tensor<ui32>
// FP16-NEXT: %c_26 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP16-NEXT: %165 = stablehlo.subtract %c_26, %164 : tensor<ui32>
// FP16-NEXT: %166 = stablehlo.bitcast_convert %165 : (tensor<ui32>) -> tensor<f32>
// FP16-NEXT: %cst_27 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: %167 = stablehlo.divide %cst_27, %166 : tensor<f32>
// FP16-NEXT: %168 = stablehlo.optimization_barrier %167 : tensor<f32>
// FP16-NEXT: %169 = stablehlo.divide %arg1, %168 : tensor<f32>
// FP16-NEXT: %170 = stablehlo.broadcast_in_dim %169, dims = [] : (tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %171 = stablehlo.multiply %151, %170 : tensor<16xf32>
// FP16-NEXT: %172 = stablehlo.clamp %cst, %171, %cst_0 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// FP16-NEXT: %173 = stablehlo.convert %172 {scalify.forms = ["s11"]} : (tensor<16xf32>) -> tensor<16xf16>
// FP16-NEXT: %cst_28 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: %174 = stablehlo.optimization_barrier %150 : tensor<32x16xf32>
// FP16-NEXT: %175 = stablehlo.multiply %174, %174 : tensor<32x16xf32>
// FP16-NEXT: %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP16-NEXT: %176 = stablehlo.reduce(%175 init: %cst_29) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
// FP16-NEXT: %cst_30 = stablehlo.constant dense<0.001953125> : tensor<f32>
// FP16-NEXT: %177 = stablehlo.multiply %176, %cst_30 : tensor<f32>
// FP16-NEXT: %178 = stablehlo.sqrt %177 : tensor<f32>
// FP16-NEXT: %179 = stablehlo.bitcast_convert %178 : (tensor<f32>) -> tensor<ui32>
// FP16-NEXT: %c_31 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP16-NEXT: %180 = stablehlo.and %179, %c_31 : tensor<ui32>
// FP16-NEXT: %c_32 = stablehlo.constant dense<1> : tensor<ui32>
// FP16-NEXT: %181 = stablehlo.subtract %180, %c_32 : tensor<ui32>
// FP16-NEXT: %c_33 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP16-NEXT: %182 = stablehlo.compare LT, %181, %c_33 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP16-NEXT: %183 = stablehlo.bitcast_convert %180 : (tensor<ui32>) -> tensor<f32>
// FP16-NEXT: %184 = stablehlo.select %182, %183, %cst_28 : tensor<i1>, tensor<f32>
// FP16-NEXT: %185 = stablehlo.multiply %184, %arg3 : tensor<f32>
// FP16-NEXT: %cst_34 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP16-NEXT: %cst_35 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP16-NEXT: %186 = stablehlo.clamp %cst_34, %185, %cst_35 : tensor<f32>
// FP16-NEXT: %187 = stablehlo.bitcast_convert %186 : (tensor<f32>) -> tensor<ui32>
// FP16-NEXT: %c_36 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP16-NEXT: %188 = stablehlo.subtract %c_36, %187 : tensor<ui32>
// FP16-NEXT: %189 = stablehlo.bitcast_convert %188 : (tensor<ui32>) -> tensor<f32>
// FP16-NEXT: %cst_37 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: %190 = stablehlo.divide %cst_37, %189 : tensor<f32>
// FP16-NEXT: %191 = stablehlo.optimization_barrier %190 : tensor<f32>
// FP16-NEXT: %192 = stablehlo.divide %arg3, %191 : tensor<f32>
// FP16-NEXT: %193 = stablehlo.broadcast_in_dim %192, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %194 = stablehlo.multiply %174, %193 : tensor<32x16xf32>
// FP16-NEXT: %195 = stablehlo.clamp %cst, %194, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP16-NEXT: %196 = stablehlo.convert %195 {scalify.forms = ["s12"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// FP16-NEXT: %cst_38 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: return %173, %168, %196, %191, %81, %arg5, %86, %arg7, %94, %arg9, %104, %arg11, %106, %cst_38 : tensor<16xf16>, tensor<f32>, tensor<32x16xf16>, tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<32x16xf32>, tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<32x16xf32>, tensor<f32>, tensor<f32>, tensor<f32>
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
