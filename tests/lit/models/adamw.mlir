// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{signature=scaled every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8-state},scalify-quantize-matmuls{recipe=fp8-state},scalify-narrow-state{recipe=fp8-state},scalify-quantize-constants,scalify-propagate{annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{signature=scaled every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp16-state},scalify-quantize-matmuls{recipe=fp16-state},scalify-narrow-state{recipe=fp16-state},scalify-quantize-constants,scalify-propagate{annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=FP16

// A training step of one layer with AdamW: weights, moments and the number of the step are carried.
// FP8:      module @_adam attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<6xf16>, %arg1: tensor<f32>, %arg2: tensor<8x6xf16>, %arg3: tensor<f32>, %arg4: tensor<6xf16>, %arg5: tensor<f32>, %arg6: tensor<8x6xf16>, %arg7: tensor<f32>, %arg8: tensor<6xf16>, %arg9: tensor<f32>, %arg10: tensor<8x6xf16>, %arg11: tensor<f32>, %arg12: tensor<4x8xf32>, %arg13: tensor<f32>, %arg14: tensor<4x6xf32>, %arg15: tensor<f32>, %arg16: tensor<f32>, %arg17: tensor<f32>) -> (tensor<6xf16> {jax.result_info = "result[0]['b']"}, tensor<f32> {jax.result_info = "result[0]['b'].scale"}, tensor<8x6xf16> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[0]['w'].scale"}, tensor<6xf16> {jax.result_info = "result[1]['b']"}, tensor<f32> {jax.result_info = "result[1]['b'].scale"}, tensor<8x6xf16> {jax.result_info = "result[1]['w']"}, tensor<f32> {jax.result_info = "result[1]['w'].scale"}, tensor<6xf16> {jax.result_info = "result[2]['b']"}, tensor<f32> {jax.result_info = "result[2]['b'].scale"}, tensor<8x6xf16> {jax.result_info = "result[2]['w']"}, tensor<f32> {jax.result_info = "result[2]['w'].scale"}, tensor<f32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[3].scale"}) {
// FP8-NEXT: %0 = stablehlo.multiply %arg3, %arg13 : tensor<f32>
// FP8-NEXT: %1 = stablehlo.divide %arg1, %0 : tensor<f32>
// FP8-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %2 = stablehlo.divide %cst, %arg15 : tensor<f32>
// FP8-NEXT: %3 = stablehlo.multiply %arg13, %arg15 : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<0.899999976> : tensor<f32>
// FP8-NEXT: %cst_3 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
// FP8-NEXT: %4 = stablehlo.divide %cst, %arg1 : tensor<f32>
// FP8-NEXT: %5 = stablehlo.divide %cst, %arg3 : tensor<f32>
// FP8-NEXT: %cst_4 = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// FP8-NEXT: %cst_5 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// FP8-NEXT: %6 = stablehlo.convert %arg10 {scalify.forms = ["s5"]} : (tensor<8x6xf16>) -> tensor<8x6xf32>
// FP8-NEXT: %7 = stablehlo.convert %arg8 {scalify.forms = ["s4"]} : (tensor<6xf16>) -> tensor<6xf32>
// FP8-NEXT: %8 = stablehlo.convert %arg6 {scalify.forms = ["s3"]} : (tensor<8x6xf16>) -> tensor<8x6xf32>
// FP8-NEXT: %9 = stablehlo.convert %arg4 {scalify.forms = ["s2"]} : (tensor<6xf16>) -> tensor<6xf32>
// FP8-NEXT: %10 = stablehlo.convert %arg2 {scalify.forms = ["s1"]} : (tensor<8x6xf16>) -> tensor<8x6xf32>
// FP8-NEXT: %11 = stablehlo.convert %arg0 {scalify.forms = ["s0"]} : (tensor<6xf16>) -> tensor<6xf32>
// FP8-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00999999977> : tensor<f32>
// FP8-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-03> : tensor<f32>
// FP8-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.990000e-01> : tensor<f32>
// FP8-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// FP8-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.899999976> : tensor<f32>
// FP8-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.400000e+01> : tensor<f32>
// FP8-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %12 = stablehlo.dot_general %arg12, %10, contracting_dims = [1] x [0] {scalify.forms = ["s1*s6 level 1"]} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %13 = stablehlo.broadcast_in_dim %11, dims = [1] {scalify.forms = ["s0"]} : (tensor<6xf32>) -> tensor<1x6xf32>
// FP8-NEXT: %14 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x6xf32>
// FP8-NEXT: %15 = stablehlo.multiply %13, %14 : tensor<1x6xf32>
// FP8-NEXT: %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<1x6xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %17 = stablehlo.add %12, %16 {scalify.forms = ["s1*s6 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %18 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %19 = stablehlo.multiply %17, %18 : tensor<4x6xf32>
// FP8-NEXT: %20 = stablehlo.tanh %19 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %21 = stablehlo.broadcast_in_dim %cst_14, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %22 = stablehlo.subtract %21, %20 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %23 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %24 = stablehlo.multiply %20, %23 : tensor<4x6xf32>
// FP8-NEXT: %25 = stablehlo.subtract %24, %arg14 {scalify.forms = ["s7"]} : tensor<4x6xf32>
// FP8-NEXT: %26 = stablehlo.broadcast_in_dim %cst_13, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %27 = stablehlo.multiply %26, %25 {scalify.forms = ["s7 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %28 = stablehlo.divide %cst_14, %cst_12 {scalify.forms = ["2^0 level -4.58496"]} : tensor<f32>
// FP8-NEXT: %29 = stablehlo.broadcast_in_dim %28, dims = [] {scalify.forms = ["2^0 level -4.58496"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %30 = stablehlo.multiply %29, %27 {scalify.forms = ["s7 level -3.58496"]} : tensor<4x6xf32>
// FP8-NEXT: %31 = stablehlo.multiply %30, %22 {scalify.forms = ["s7 level -3.58496"]} : tensor<4x6xf32>
// FP8-NEXT: %32 = stablehlo.multiply %31, %20 {scalify.forms = ["s7 level -3.58496"]} : tensor<4x6xf32>
// FP8-NEXT: %33 = stablehlo.add %31, %32 {scalify.forms = ["s7 level -3.58496"]} : tensor<4x6xf32>
// FP8-NEXT: %34 = stablehlo.reduce(%33 init: %cst_11) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s7 level -2.58496"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %35 = stablehlo.reshape %34 {scalify.forms = ["s7 level -2.58496"]} : (tensor<6xf32>) -> tensor<1x6xf32>
// FP8-NEXT: %36 = stablehlo.reduce(%35 init: %cst_11) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s7 level -2.58496"]} : (tensor<1x6xf32>, tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %37 = stablehlo.optimization_barrier %36 : tensor<6xf32>
// FP8-NEXT: %38 = stablehlo.multiply %37, %37 : tensor<6xf32>
// FP8-NEXT: %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %39 = stablehlo.reduce(%38 init: %cst_16) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %cst_17 = stablehlo.constant dense<0.166666672> : tensor<f32>
// FP8-NEXT: %40 = stablehlo.multiply %39, %cst_17 : tensor<f32>
// FP8-NEXT: %41 = stablehlo.sqrt %40 : tensor<f32>
// FP8-NEXT: %42 = stablehlo.bitcast_convert %41 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %43 = stablehlo.and %42, %c : tensor<ui32>
// FP8-NEXT: %c_18 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %44 = stablehlo.subtract %43, %c_18 : tensor<ui32>
// FP8-NEXT: %c_19 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %45 = stablehlo.compare LT, %44, %c_19 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %46 = stablehlo.bitcast_convert %43 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %47 = stablehlo.select %45, %46, %cst_15 : tensor<i1>, tensor<f32>
// FP8-NEXT: %48 = stablehlo.multiply %47, %arg15 : tensor<f32>
// FP8-NEXT: %cst_20 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_21 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %49 = stablehlo.clamp %cst_20, %48, %cst_21 : tensor<f32>
// FP8-NEXT: %50 = stablehlo.bitcast_convert %49 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_22 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %51 = stablehlo.subtract %c_22, %50 : tensor<ui32>
// FP8-NEXT: %52 = stablehlo.bitcast_convert %51 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_23 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %53 = stablehlo.divide %cst_23, %52 : tensor<f32>
// FP8-NEXT: %54 = stablehlo.optimization_barrier %53 : tensor<f32>
// FP8-NEXT: %55 = stablehlo.divide %arg15, %54 : tensor<f32>
// FP8-NEXT: %56 = stablehlo.divide %arg5, %54 : tensor<f32>
// FP8-NEXT: %57 = stablehlo.multiply %cst_2, %56 : tensor<f32>
// FP8-NEXT: %58 = stablehlo.multiply %54, %54 : tensor<f32>
// FP8-NEXT: %59 = stablehlo.divide %arg9, %58 : tensor<f32>
// FP8-NEXT: %60 = stablehlo.divide %cst_3, %54 : tensor<f32>
// FP8-NEXT: %61 = stablehlo.broadcast_in_dim %55, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %62 = stablehlo.multiply %37, %61 : tensor<6xf32>
// FP8-NEXT: %63 = stablehlo.dot_general %33, %arg12, contracting_dims = [0] x [0] {scalify.forms = ["s6*s7 level -2.58496"]} : (tensor<4x6xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %64 = stablehlo.transpose %63, dims = [1, 0] {scalify.forms = ["s6*s7 level -2.58496"]} : (tensor<6x8xf32>) -> tensor<8x6xf32>
// FP8-NEXT: %cst_24 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %65 = stablehlo.optimization_barrier %64 : tensor<8x6xf32>
// FP8-NEXT: %66 = stablehlo.multiply %65, %65 : tensor<8x6xf32>
// FP8-NEXT: %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %67 = stablehlo.reduce(%66 init: %cst_25) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %cst_26 = stablehlo.constant dense<0.020833334> : tensor<f32>
// FP8-NEXT: %68 = stablehlo.multiply %67, %cst_26 : tensor<f32>
// FP8-NEXT: %69 = stablehlo.sqrt %68 : tensor<f32>
// FP8-NEXT: %70 = stablehlo.bitcast_convert %69 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_27 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %71 = stablehlo.and %70, %c_27 : tensor<ui32>
// FP8-NEXT: %c_28 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %72 = stablehlo.subtract %71, %c_28 : tensor<ui32>
// FP8-NEXT: %c_29 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %73 = stablehlo.compare LT, %72, %c_29 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %74 = stablehlo.bitcast_convert %71 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %75 = stablehlo.select %73, %74, %cst_24 : tensor<i1>, tensor<f32>
// FP8-NEXT: %76 = stablehlo.multiply %75, %3 : tensor<f32>
// FP8-NEXT: %cst_30 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_31 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %77 = stablehlo.clamp %cst_30, %76, %cst_31 : tensor<f32>
// FP8-NEXT: %78 = stablehlo.bitcast_convert %77 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_32 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %79 = stablehlo.subtract %c_32, %78 : tensor<ui32>
// FP8-NEXT: %80 = stablehlo.bitcast_convert %79 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_33 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %81 = stablehlo.divide %cst_33, %80 : tensor<f32>
// FP8-NEXT: %82 = stablehlo.optimization_barrier %81 : tensor<f32>
// FP8-NEXT: %83 = stablehlo.divide %3, %82 : tensor<f32>
// FP8-NEXT: %84 = stablehlo.divide %arg7, %82 : tensor<f32>
// FP8-NEXT: %85 = stablehlo.multiply %cst_2, %84 : tensor<f32>
// FP8-NEXT: %86 = stablehlo.multiply %82, %82 : tensor<f32>
// FP8-NEXT: %87 = stablehlo.divide %arg11, %86 : tensor<f32>
// FP8-NEXT: %88 = stablehlo.divide %cst_3, %82 : tensor<f32>
// FP8-NEXT: %89 = stablehlo.broadcast_in_dim %83, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %90 = stablehlo.multiply %65, %89 : tensor<8x6xf32>
// FP8-NEXT: %91 = stablehlo.clamp %cst_0, %90, %cst_1 : (tensor<f32>, tensor<8x6xf32>, tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %92 = stablehlo.convert %91 {scalify.forms = ["s10"]} : (tensor<8x6xf32>) -> tensor<8x6xf8E5M2>
// FP8-NEXT: %93 = stablehlo.optimization_barrier {scalify.forms = ["s10"]} %92 : tensor<8x6xf8E5M2>
// FP8-NEXT: %94 = stablehlo.convert %93 {scalify.forms = ["s10"]} : (tensor<8x6xf8E5M2>) -> tensor<8x6xf32>
// FP8-NEXT: %95 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %96 = stablehlo.multiply %95, %62 {scalify.forms = ["s9 level -3.32193"]} : tensor<6xf32>
// FP8-NEXT: %97 = stablehlo.broadcast_in_dim %57, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %98 = stablehlo.multiply %97, %9 : tensor<6xf32>
// FP8-NEXT: %99 = stablehlo.add %98, %96 {scalify.forms = ["s9 level -3.32193"]} : tensor<6xf32>
// FP8-NEXT: %100 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %101 = stablehlo.multiply %100, %94 {scalify.forms = ["s10 level -3.32193"]} : tensor<8x6xf32>
// FP8-NEXT: %102 = stablehlo.broadcast_in_dim %85, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %103 = stablehlo.multiply %102, %8 : tensor<8x6xf32>
// FP8-NEXT: %104 = stablehlo.add %103, %101 {scalify.forms = ["s10 level -3.32193"]} : tensor<8x6xf32>
// FP8-NEXT: %105 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %106 = stablehlo.multiply %105, %7 {scalify.forms = ["s4 level -0.0014434"]} : tensor<6xf32>
// FP8-NEXT: %107 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %108 = stablehlo.multiply %107, %62 {scalify.forms = ["s9 level -9.96578"]} : tensor<6xf32>
// FP8-NEXT: %109 = stablehlo.multiply %108, %62 {scalify.forms = ["s9^2 level -9.96578"]} : tensor<6xf32>
// FP8-NEXT: %110 = stablehlo.broadcast_in_dim %59, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %111 = stablehlo.multiply %106, %110 : tensor<6xf32>
// FP8-NEXT: %112 = stablehlo.add %111, %109 {scalify.forms = ["s9^2 level -9.96578"]} : tensor<6xf32>
// FP8-NEXT: %113 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %114 = stablehlo.multiply %113, %6 {scalify.forms = ["s5 level -0.0014434"]} : tensor<8x6xf32>
// FP8-NEXT: %115 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %116 = stablehlo.multiply %115, %94 {scalify.forms = ["s10 level -9.96578"]} : tensor<8x6xf32>
// FP8-NEXT: %117 = stablehlo.multiply %116, %94 {scalify.forms = ["s10^2 level -9.96578"]} : tensor<8x6xf32>
// FP8-NEXT: %118 = stablehlo.broadcast_in_dim %87, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %119 = stablehlo.multiply %114, %118 : tensor<8x6xf32>
// FP8-NEXT: %120 = stablehlo.add %119, %117 {scalify.forms = ["s10^2 level -9.96578"]} : tensor<8x6xf32>
// FP8-NEXT: %121 = stablehlo.multiply %arg16, %arg17 : tensor<f32>
// FP8-NEXT: %122 = stablehlo.add %121, %cst_14 {scalify.forms = ["2^0"]} : tensor<f32>
// FP8-NEXT: %123 = stablehlo.power %cst_10, %122 : tensor<f32>
// FP8-NEXT: %124 = stablehlo.subtract %cst_14, %123 : tensor<f32>
// FP8-NEXT: %125 = stablehlo.broadcast_in_dim %124, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %126 = stablehlo.divide %99, %125 {scalify.forms = ["s9 level -3.32193"]} : tensor<6xf32>
// FP8-NEXT: %127 = stablehlo.power %cst_8, %122 : tensor<f32>
// FP8-NEXT: %128 = stablehlo.subtract %cst_14, %127 : tensor<f32>
// FP8-NEXT: %129 = stablehlo.broadcast_in_dim %128, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %130 = stablehlo.divide %112, %129 {scalify.forms = ["s9^2 level -9.96578"]} : tensor<6xf32>
// FP8-NEXT: %131 = stablehlo.sqrt %130 {scalify.forms = ["s9 level -5"]} : tensor<6xf32>
// FP8-NEXT: %132 = stablehlo.broadcast_in_dim %60, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %133 = stablehlo.add %131, %132 {scalify.forms = ["s9 level -5"]} : tensor<6xf32>
// FP8-NEXT: %134 = stablehlo.divide %126, %133 {scalify.forms = ["2^0 level 1.67807"]} : tensor<6xf32>
// FP8-NEXT: %135 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %136 = stablehlo.multiply %135, %11 {scalify.forms = ["s0 level -6.64386"]} : tensor<6xf32>
// FP8-NEXT: %137 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %138 = stablehlo.multiply %134, %137 : tensor<6xf32>
// FP8-NEXT: %139 = stablehlo.add %138, %136 {scalify.forms = ["s0 level -6.64386"]} : tensor<6xf32>
// FP8-NEXT: %140 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %141 = stablehlo.multiply %140, %139 {scalify.forms = ["s0 level -16.6096"]} : tensor<6xf32>
// FP8-NEXT: %142 = stablehlo.subtract %11, %141 {scalify.forms = ["s0"]} : tensor<6xf32>
// FP8-NEXT: %143 = stablehlo.power %cst_10, %122 : tensor<f32>
// FP8-NEXT: %144 = stablehlo.subtract %cst_14, %143 : tensor<f32>
// FP8-NEXT: %145 = stablehlo.broadcast_in_dim %144, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %146 = stablehlo.divide %104, %145 {scalify.forms = ["s10 level -3.32193"]} : tensor<8x6xf32>
// FP8-NEXT: %147 = stablehlo.power %cst_8, %122 : tensor<f32>
// FP8-NEXT: %148 = stablehlo.subtract %cst_14, %147 : tensor<f32>
// FP8-NEXT: %149 = stablehlo.broadcast_in_dim %148, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %150 = stablehlo.divide %120, %149 {scalify.forms = ["s10^2 level -9.96578"]} : tensor<8x6xf32>
// FP8-NEXT: %151 = stablehlo.sqrt %150 {scalify.forms = ["s10 level -5"]} : tensor<8x6xf32>
// FP8-NEXT: %152 = stablehlo.broadcast_in_dim %88, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %153 = stablehlo.add %151, %152 {scalify.forms = ["s10 level -5"]} : tensor<8x6xf32>
// FP8-NEXT: %154 = stablehlo.divide %146, %153 {scalify.forms = ["2^0 level 1.67807"]} : tensor<8x6xf32>
// FP8-NEXT: %155 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %156 = stablehlo.multiply %155, %10 {scalify.forms = ["s1 level -6.64386"]} : tensor<8x6xf32>
// FP8-NEXT: %157 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %158 = stablehlo.multiply %154, %157 : tensor<8x6xf32>
// FP8-NEXT: %159 = stablehlo.add %158, %156 {scalify.forms = ["s1 level -6.64386"]} : tensor<8x6xf32>
// FP8-NEXT: %160 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %161 = stablehlo.multiply %160, %159 {scalify.forms = ["s1 level -16.6096"]} : tensor<8x6xf32>
// FP8-NEXT: %162 = stablehlo.subtract %10, %161 {scalify.forms = ["s1"]} : tensor<8x6xf32>
// FP8-NEXT: %163 = stablehlo.reshape %142 : (tensor<6xf32>) -> tensor<1x6xf32>
// FP8-NEXT: %164 = stablehlo.reshape %99 : (tensor<6xf32>) -> tensor<1x6xf32>
// FP8-NEXT: %165 = stablehlo.concatenate %163, %164, dim = 0 : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<2x6xf32>
// FP8-NEXT: %166 = stablehlo.multiply %165, %165 : tensor<2x6xf32>
// FP8-NEXT: %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %167 = stablehlo.reduce(%166 init: %cst_34) applies stablehlo.add across dimensions = [1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
// FP8-NEXT: %cst_35 = stablehlo.constant dense<0.166666672> : tensor<2xf32>
// FP8-NEXT: %168 = stablehlo.multiply %167, %cst_35 : tensor<2xf32>
// FP8-NEXT: %169 = stablehlo.sqrt %168 : tensor<2xf32>
// FP8-NEXT: %cst_36 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// FP8-NEXT: %170 = stablehlo.bitcast_convert %169 : (tensor<2xf32>) -> tensor<2xui32>
// FP8-NEXT: %c_37 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// FP8-NEXT: %171 = stablehlo.and %170, %c_37 : tensor<2xui32>
// FP8-NEXT: %c_38 = stablehlo.constant dense<1> : tensor<2xui32>
// FP8-NEXT: %172 = stablehlo.subtract %171, %c_38 : tensor<2xui32>
// FP8-NEXT: %c_39 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// FP8-NEXT: %173 = stablehlo.compare LT, %172, %c_39 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// FP8-NEXT: %174 = stablehlo.bitcast_convert %171 : (tensor<2xui32>) -> tensor<2xf32>
// FP8-NEXT: %175 = stablehlo.select %173, %174, %cst_36 : tensor<2xi1>, tensor<2xf32>
// FP8-NEXT: %176 = stablehlo.slice %175 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// FP8-NEXT: %177 = stablehlo.reshape %176 : (tensor<1xf32>) -> tensor<f32>
// FP8-NEXT: %178 = stablehlo.multiply %177, %arg1 : tensor<f32>
// FP8-NEXT: %cst_40 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_41 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %179 = stablehlo.clamp %cst_40, %178, %cst_41 : tensor<f32>
// FP8-NEXT: %180 = stablehlo.bitcast_convert %179 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_42 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %181 = stablehlo.subtract %c_42, %180 : tensor<ui32>
// FP8-NEXT: %182 = stablehlo.bitcast_convert %181 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_43 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %183 = stablehlo.divide %cst_43, %182 : tensor<f32>
// FP8-NEXT: %184 = stablehlo.optimization_barrier %183 : tensor<f32>
// FP8-NEXT: %185 = stablehlo.divide %arg1, %184 : tensor<f32>
// FP8-NEXT: %186 = stablehlo.broadcast_in_dim %185, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %187 = stablehlo.multiply %142, %186 : tensor<6xf32>
// FP8-NEXT: %188 = stablehlo.slice %175 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// FP8-NEXT: %189 = stablehlo.reshape %188 : (tensor<1xf32>) -> tensor<f32>
// FP8-NEXT: %190 = stablehlo.multiply %189, %54 : tensor<f32>
// FP8-NEXT: %cst_44 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_45 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %191 = stablehlo.clamp %cst_44, %190, %cst_45 : tensor<f32>
// FP8-NEXT: %192 = stablehlo.bitcast_convert %191 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_46 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %193 = stablehlo.subtract %c_46, %192 : tensor<ui32>
// FP8-NEXT: %194 = stablehlo.bitcast_convert %193 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_47 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %195 = stablehlo.divide %cst_47, %194 : tensor<f32>
// FP8-NEXT: %196 = stablehlo.optimization_barrier %195 : tensor<f32>
// FP8-NEXT: %197 = stablehlo.divide %54, %196 : tensor<f32>
// FP8-NEXT: %198 = stablehlo.broadcast_in_dim %197, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %199 = stablehlo.multiply %99, %198 : tensor<6xf32>
// FP8-NEXT: %200 = stablehlo.clamp %cst_4, %199, %cst_5 : (tensor<f32>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %201 = stablehlo.convert %200 {scalify.forms = ["s12"]} : (tensor<6xf32>) -> tensor<6xf16>
// FP8-NEXT: %202 = stablehlo.clamp %cst_4, %187, %cst_5 : (tensor<f32>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %203 = stablehlo.convert %202 {scalify.forms = ["s11"]} : (tensor<6xf32>) -> tensor<6xf16>
// FP8-NEXT: %204 = stablehlo.reshape %162 : (tensor<8x6xf32>) -> tensor<1x48xf32>
// FP8-NEXT: %205 = stablehlo.reshape %104 : (tensor<8x6xf32>) -> tensor<1x48xf32>
// FP8-NEXT: %206 = stablehlo.concatenate %204, %205, dim = 0 : (tensor<1x48xf32>, tensor<1x48xf32>) -> tensor<2x48xf32>
// FP8-NEXT: %207 = stablehlo.multiply %206, %206 : tensor<2x48xf32>
// FP8-NEXT: %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %208 = stablehlo.reduce(%207 init: %cst_48) applies stablehlo.add across dimensions = [1] : (tensor<2x48xf32>, tensor<f32>) -> tensor<2xf32>
// FP8-NEXT: %cst_49 = stablehlo.constant dense<0.020833334> : tensor<2xf32>
// FP8-NEXT: %209 = stablehlo.multiply %208, %cst_49 : tensor<2xf32>
// FP8-NEXT: %210 = stablehlo.sqrt %209 : tensor<2xf32>
// FP8-NEXT: %cst_50 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// FP8-NEXT: %211 = stablehlo.bitcast_convert %210 : (tensor<2xf32>) -> tensor<2xui32>
// FP8-NEXT: %c_51 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// FP8-NEXT: %212 = stablehlo.and %211, %c_51 : tensor<2xui32>
// FP8-NEXT: %c_52 = stablehlo.constant dense<1> : tensor<2xui32>
// FP8-NEXT: %213 = stablehlo.subtract %212, %c_52 : tensor<2xui32>
// FP8-NEXT: %c_53 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// FP8-NEXT: %214 = stablehlo.compare LT, %213, %c_53 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// FP8-NEXT: %215 = stablehlo.bitcast_convert %212 : (tensor<2xui32>) -> tensor<2xf32>
// FP8-NEXT: %216 = stablehlo.select %214, %215, %cst_50 : tensor<2xi1>, tensor<2xf32>
// FP8-NEXT: %217 = stablehlo.slice %216 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// FP8-NEXT: %218 = stablehlo.reshape %217 : (tensor<1xf32>) -> tensor<f32>
// FP8-NEXT: %219 = stablehlo.multiply %218, %arg3 : tensor<f32>
// FP8-NEXT: %cst_54 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_55 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %220 = stablehlo.clamp %cst_54, %219, %cst_55 : tensor<f32>
// FP8-NEXT: %221 = stablehlo.bitcast_convert %220 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_56 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %222 = stablehlo.subtract %c_56, %221 : tensor<ui32>
// FP8-NEXT: %223 = stablehlo.bitcast_convert %222 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_57 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %224 = stablehlo.divide %cst_57, %223 : tensor<f32>
// FP8-NEXT: %225 = stablehlo.optimization_barrier %224 : tensor<f32>
// FP8-NEXT: %226 = stablehlo.divide %arg3, %225 : tensor<f32>
// FP8-NEXT: %227 = stablehlo.broadcast_in_dim %226, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %228 = stablehlo.multiply %162, %227 : tensor<8x6xf32>
// FP8-NEXT: %229 = stablehlo.slice %216 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// FP8-NEXT: %230 = stablehlo.reshape %229 : (tensor<1xf32>) -> tensor<f32>
// FP8-NEXT: %231 = stablehlo.multiply %230, %82 : tensor<f32>
// FP8-NEXT: %cst_58 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_59 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %232 = stablehlo.clamp %cst_58, %231, %cst_59 : tensor<f32>
// FP8-NEXT: %233 = stablehlo.bitcast_convert %232 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_60 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %234 = stablehlo.subtract %c_60, %233 : tensor<ui32>
// FP8-NEXT: %235 = stablehlo.bitcast_convert %234 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_61 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %236 = stablehlo.divide %cst_61, %235 : tensor<f32>
// FP8-NEXT: %237 = stablehlo.optimization_barrier %236 : tensor<f32>
// FP8-NEXT: %238 = stablehlo.divide %82, %237 : tensor<f32>
// FP8-NEXT: %239 = stablehlo.broadcast_in_dim %238, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %240 = stablehlo.multiply %104, %239 : tensor<8x6xf32>
// FP8-NEXT: %241 = stablehlo.clamp %cst_4, %240, %cst_5 : (tensor<f32>, tensor<8x6xf32>, tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %242 = stablehlo.convert %241 {scalify.forms = ["s14"]} : (tensor<8x6xf32>) -> tensor<8x6xf16>
// FP8-NEXT: %243 = stablehlo.clamp %cst_4, %228, %cst_5 : (tensor<f32>, tensor<8x6xf32>, tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %244 = stablehlo.convert %243 {scalify.forms = ["s13"]} : (tensor<8x6xf32>) -> tensor<8x6xf16>
// FP8-NEXT: %cst_62 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
// FP8-NEXT: %245 = stablehlo.optimization_barrier %112 : tensor<6xf32>
// FP8-NEXT: %246 = stablehlo.abs %245 : tensor<6xf32>
// FP8-NEXT: %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %247 = stablehlo.reduce(%246 init: %cst_63) applies stablehlo.maximum across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %248 = stablehlo.bitcast_convert %247 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_64 = stablehlo.constant dense<8388607> : tensor<ui32>
// FP8-NEXT: %249 = stablehlo.add %248, %c_64 : tensor<ui32>
// FP8-NEXT: %c_65 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %250 = stablehlo.and %249, %c_65 : tensor<ui32>
// FP8-NEXT: %c_66 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %251 = stablehlo.subtract %250, %c_66 : tensor<ui32>
// FP8-NEXT: %c_67 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %252 = stablehlo.compare LT, %251, %c_67 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %253 = stablehlo.bitcast_convert %250 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %254 = stablehlo.select %252, %253, %cst_62 : tensor<i1>, tensor<f32>
// FP8-NEXT: %cst_68 = stablehlo.constant dense<7.812500e-03> : tensor<f32>
// FP8-NEXT: %255 = stablehlo.multiply %254, %cst_68 : tensor<f32>
// FP8-NEXT: %256 = stablehlo.multiply %255, %58 : tensor<f32>
// FP8-NEXT: %cst_69 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_70 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %257 = stablehlo.clamp %cst_69, %256, %cst_70 : tensor<f32>
// FP8-NEXT: %258 = stablehlo.bitcast_convert %257 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_71 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %259 = stablehlo.subtract %c_71, %258 : tensor<ui32>
// FP8-NEXT: %260 = stablehlo.bitcast_convert %259 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_72 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %261 = stablehlo.divide %cst_72, %260 : tensor<f32>
// FP8-NEXT: %262 = stablehlo.optimization_barrier %261 : tensor<f32>
// FP8-NEXT: %263 = stablehlo.divide %58, %262 : tensor<f32>
// FP8-NEXT: %264 = stablehlo.broadcast_in_dim %263, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %265 = stablehlo.multiply %245, %264 : tensor<6xf32>
// FP8-NEXT: %266 = stablehlo.clamp %cst_4, %265, %cst_5 : (tensor<f32>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %267 = stablehlo.convert %266 {scalify.forms = ["s15"]} : (tensor<6xf32>) -> tensor<6xf16>
// FP8-NEXT: %cst_73 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
// FP8-NEXT: %268 = stablehlo.optimization_barrier %120 : tensor<8x6xf32>
// FP8-NEXT: %269 = stablehlo.abs %268 : tensor<8x6xf32>
// FP8-NEXT: %cst_74 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %270 = stablehlo.reduce(%269 init: %cst_74) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %271 = stablehlo.bitcast_convert %270 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_75 = stablehlo.constant dense<8388607> : tensor<ui32>
// FP8-NEXT: %272 = stablehlo.add %271, %c_75 : tensor<ui32>
// FP8-NEXT: %c_76 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %273 = stablehlo.and %272, %c_76 : tensor<ui32>
// FP8-NEXT: %c_77 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %274 = stablehlo.subtract %273, %c_77 : tensor<ui32>
// FP8-NEXT: %c_78 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %275 = stablehlo.compare LT, %274, %c_78 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %276 = stablehlo.bitcast_convert %273 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %277 = stablehlo.select %275, %276, %cst_73 : tensor<i1>, tensor<f32>
// FP8-NEXT: %cst_79 = stablehlo.constant dense<7.812500e-03> : tensor<f32>
// FP8-NEXT: %278 = stablehlo.multiply %277, %cst_79 : tensor<f32>
// FP8-NEXT: %279 = stablehlo.multiply %278, %86 : tensor<f32>
// FP8-NEXT: %cst_80 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_81 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %280 = stablehlo.clamp %cst_80, %279, %cst_81 : tensor<f32>
// FP8-NEXT: %281 = stablehlo.bitcast_convert %280 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_82 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %282 = stablehlo.subtract %c_82, %281 : tensor<ui32>
// FP8-NEXT: %283 = stablehlo.bitcast_convert %282 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_83 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %284 = stablehlo.divide %cst_83, %283 : tensor<f32>
// FP8-NEXT: %285 = stablehlo.optimization_barrier %284 : tensor<f32>
// FP8-NEXT: %286 = stablehlo.divide %86, %285 : tensor<f32>
// FP8-NEXT: %287 = stablehlo.broadcast_in_dim %286, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %288 = stablehlo.multiply %268, %287 : tensor<8x6xf32>
// FP8-NEXT: %289 = stablehlo.clamp %cst_4, %288, %cst_5 : (tensor<f32>, tensor<8x6xf32>, tensor<f32>) -> tensor<8x6xf32>
// FP8-NEXT: %290 = stablehlo.convert %289 {scalify.forms = ["s16"]} : (tensor<8x6xf32>) -> tensor<8x6xf16>
// FP8-NEXT: %cst_84 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: return %203, %184, %244, %225, %201, %196, %242, %237, %267, %262, %290, %285, %122, %cst_84 : tensor<6xf16>, tensor<f32>, tensor<8x6xf16>, tensor<f32>, tensor<6xf16>, tensor<f32>, tensor<8x6xf16>, tensor<f32>, tensor<6xf16>, tensor<f32>, tensor<8x6xf16>, tensor<f32>, tensor<f32>, tensor<f32>
// FP8-NEXT: }
// FP8-NEXT: }
// FP16:      module @_adam attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP16-NEXT: func.func public @main(%arg0: tensor<6xf16>, %arg1: tensor<f32>, %arg2: tensor<8x6xf16>, %arg3: tensor<f32>, %arg4: tensor<6xf32>, %arg5: tensor<f32>, %arg6: tensor<8x6xf32>, %arg7: tensor<f32>, %arg8: tensor<6xf32>, %arg9: tensor<f32>, %arg10: tensor<8x6xf32>, %arg11: tensor<f32>, %arg12: tensor<4x8xf32>, %arg13: tensor<f32>, %arg14: tensor<4x6xf32>, %arg15: tensor<f32>, %arg16: tensor<f32>, %arg17: tensor<f32>) -> (tensor<6xf16> {jax.result_info = "result[0]['b']"}, tensor<f32> {jax.result_info = "result[0]['b'].scale"}, tensor<8x6xf16> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[0]['w'].scale"}, tensor<6xf32> {jax.result_info = "result[1]['b']"}, tensor<f32> {jax.result_info = "result[1]['b'].scale"}, tensor<8x6xf32> {jax.result_info = "result[1]['w']"}, tensor<f32> {jax.result_info = "result[1]['w'].scale"}, tensor<6xf32> {jax.result_info = "result[2]['b']"}, tensor<f32> {jax.result_info = "result[2]['b'].scale"}, tensor<8x6xf32> {jax.result_info = "result[2]['w']"}, tensor<f32> {jax.result_info = "result[2]['w'].scale"}, tensor<f32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[3].scale"}) {
// FP16-NEXT: %cst = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// FP16-NEXT: %cst_0 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// FP16-NEXT: %0 = stablehlo.multiply %arg3, %arg13 : tensor<f32>
// FP16-NEXT: %1 = stablehlo.divide %arg1, %0 : tensor<f32>
// FP16-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: %2 = stablehlo.divide %cst_1, %arg15 : tensor<f32>
// FP16-NEXT: %cst_2 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
// FP16-NEXT: %cst_3 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
// FP16-NEXT: %3 = stablehlo.multiply %arg15, %cst_3 : tensor<f32>
// FP16-NEXT: %4 = stablehlo.divide %3, %arg5 : tensor<f32>
// FP16-NEXT: %5 = stablehlo.multiply %cst_2, %4 : tensor<f32>
// FP16-NEXT: %6 = stablehlo.multiply %arg13, %arg15 : tensor<f32>
// FP16-NEXT: %7 = stablehlo.multiply %6, %cst_3 : tensor<f32>
// FP16-NEXT: %8 = stablehlo.divide %7, %arg7 : tensor<f32>
// FP16-NEXT: %9 = stablehlo.multiply %cst_2, %8 : tensor<f32>
// FP16-NEXT: %cst_4 = stablehlo.constant dense<1.562500e-02> : tensor<f32>
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
// FP16-NEXT: %33 = stablehlo.convert %arg2 {scalify.forms = ["s1"]} : (tensor<8x6xf16>) -> tensor<8x6xf32>
// FP16-NEXT: %34 = stablehlo.convert %arg0 {scalify.forms = ["s0"]} : (tensor<6xf16>) -> tensor<6xf32>
// FP16-NEXT: %35 = stablehlo.clamp %cst, %33, %cst_0 : (tensor<f32>, tensor<8x6xf32>, tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %36 = stablehlo.convert %35 {scalify.forms = ["s1"]} : (tensor<8x6xf32>) -> tensor<8x6xf16>
// FP16-NEXT: %37 = stablehlo.clamp %cst, %arg12, %cst_0 : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
// FP16-NEXT: %38 = stablehlo.convert %37 {scalify.forms = ["s6"]} : (tensor<4x8xf32>) -> tensor<4x8xf16>
// FP16-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00999999977> : tensor<f32>
// FP16-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-03> : tensor<f32>
// FP16-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.990000e-01> : tensor<f32>
// FP16-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.899999976> : tensor<f32>
// FP16-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP16-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.400000e+01> : tensor<f32>
// FP16-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// FP16-NEXT: %cst_15 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: %39 = stablehlo.dot_general %38, %36, contracting_dims = [1] x [0] {scalify.forms = ["s1*s6 level 1"]} : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf32>
// FP16-NEXT: %40 = stablehlo.broadcast_in_dim %34, dims = [1] {scalify.forms = ["s0"]} : (tensor<6xf32>) -> tensor<1x6xf32>
// FP16-NEXT: %41 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x6xf32>
// FP16-NEXT: %42 = stablehlo.multiply %40, %41 : tensor<1x6xf32>
// FP16-NEXT: %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1] : (tensor<1x6xf32>) -> tensor<4x6xf32>
// FP16-NEXT: %44 = stablehlo.add %39, %43 {scalify.forms = ["s1*s6 level 1"]} : tensor<4x6xf32>
// FP16-NEXT: %45 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
// FP16-NEXT: %46 = stablehlo.multiply %44, %45 : tensor<4x6xf32>
// FP16-NEXT: %47 = stablehlo.tanh %46 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP16-NEXT: %48 = stablehlo.broadcast_in_dim %cst_15, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP16-NEXT: %49 = stablehlo.subtract %48, %47 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP16-NEXT: %50 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
// FP16-NEXT: %51 = stablehlo.multiply %47, %50 : tensor<4x6xf32>
// FP16-NEXT: %52 = stablehlo.subtract %51, %arg14 {scalify.forms = ["s7"]} : tensor<4x6xf32>
// FP16-NEXT: %53 = stablehlo.broadcast_in_dim %cst_14, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP16-NEXT: %54 = stablehlo.multiply %53, %52 {scalify.forms = ["s7 level 1"]} : tensor<4x6xf32>
// FP16-NEXT: %55 = stablehlo.divide %cst_15, %cst_13 {scalify.forms = ["2^0 level -4.58496"]} : tensor<f32>
// FP16-NEXT: %56 = stablehlo.broadcast_in_dim %55, dims = [] {scalify.forms = ["2^0 level -4.58496"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP16-NEXT: %57 = stablehlo.multiply %56, %54 {scalify.forms = ["s7 level -3.58496"]} : tensor<4x6xf32>
// FP16-NEXT: %58 = stablehlo.multiply %57, %49 {scalify.forms = ["s7 level -3.58496"]} : tensor<4x6xf32>
// FP16-NEXT: %59 = stablehlo.multiply %58, %47 {scalify.forms = ["s7 level -3.58496"]} : tensor<4x6xf32>
// FP16-NEXT: %60 = stablehlo.add %58, %59 {scalify.forms = ["s7 level -3.58496"]} : tensor<4x6xf32>
// FP16-NEXT: %cst_16 = stablehlo.constant dense<1.600000e+01> : tensor<4x6xf32>
// FP16-NEXT: %61 = stablehlo.multiply %60, %cst_16 : tensor<4x6xf32>
// FP16-NEXT: %62 = stablehlo.clamp %cst, %61, %cst_0 : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
// FP16-NEXT: %63 = stablehlo.convert %62 {scalify.forms = ["2^-4*s7 level 0.415037"]} : (tensor<4x6xf32>) -> tensor<4x6xf16>
// FP16-NEXT: %64 = stablehlo.reduce(%60 init: %cst_12) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s7 level -2.58496"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %65 = stablehlo.reshape %64 {scalify.forms = ["s7 level -2.58496"]} : (tensor<6xf32>) -> tensor<1x6xf32>
// FP16-NEXT: %66 = stablehlo.reduce(%65 init: %cst_12) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s7 level -2.58496"]} : (tensor<1x6xf32>, tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %cst_17 = stablehlo.constant dense<8.000000e+00> : tensor<6xf32>
// FP16-NEXT: %67 = stablehlo.multiply %66, %cst_17 : tensor<6xf32>
// FP16-NEXT: %68 = stablehlo.clamp %cst, %67, %cst_0 : (tensor<f32>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %69 = stablehlo.convert %68 {scalify.forms = ["2^-3*s7 level 0.415037"]} : (tensor<6xf32>) -> tensor<6xf16>
// FP16-NEXT: %70 = stablehlo.convert %69 {scalify.forms = ["2^-3*s7 level 0.415037"]} : (tensor<6xf16>) -> tensor<6xf32>
// FP16-NEXT: %71 = stablehlo.dot_general %63, %38, contracting_dims = [0] x [0] {scalify.forms = ["2^-4*s6*s7 level 1.41504"]} : (tensor<4x6xf16>, tensor<4x8xf16>) -> tensor<6x8xf32>
// FP16-NEXT: %72 = stablehlo.transpose %71, dims = [1, 0] {scalify.forms = ["2^-4*s6*s7 level 1.41504"]} : (tensor<6x8xf32>) -> tensor<8x6xf32>
// FP16-NEXT: %cst_18 = stablehlo.constant dense<5.000000e-01> : tensor<8x6xf32>
// FP16-NEXT: %73 = stablehlo.multiply %72, %cst_18 : tensor<8x6xf32>
// FP16-NEXT: %74 = stablehlo.clamp %cst, %73, %cst_0 : (tensor<f32>, tensor<8x6xf32>, tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %75 = stablehlo.convert %74 {scalify.forms = ["2^-3*s6*s7 level 0.415037"]} : (tensor<8x6xf32>) -> tensor<8x6xf16>
// FP16-NEXT: %76 = stablehlo.convert %75 {scalify.forms = ["2^-3*s6*s7 level 0.415037"]} : (tensor<8x6xf16>) -> tensor<8x6xf32>
// FP16-NEXT: %77 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %78 = stablehlo.multiply %77, %arg4 {scalify.forms = ["s2 level -0.152003"]} : tensor<6xf32>
// FP16-NEXT: %79 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %80 = stablehlo.multiply %79, %70 : tensor<6xf32>
// FP16-NEXT: %81 = stablehlo.add %78, %80 {scalify.forms = ["s2 level -0.152003"]} : tensor<6xf32>
// FP16-NEXT: %82 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %83 = stablehlo.multiply %82, %arg6 {scalify.forms = ["s3 level -0.152003"]} : tensor<8x6xf32>
// FP16-NEXT: %84 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %85 = stablehlo.multiply %84, %76 : tensor<8x6xf32>
// FP16-NEXT: %86 = stablehlo.add %83, %85 {scalify.forms = ["s3 level -0.152003"]} : tensor<8x6xf32>
// FP16-NEXT: %87 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %88 = stablehlo.multiply %87, %arg8 {scalify.forms = ["s4 level -0.0014434"]} : tensor<6xf32>
// FP16-NEXT: %89 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %90 = stablehlo.multiply %89, %70 {scalify.forms = ["2^-3*s7 level -9.55075"]} : tensor<6xf32>
// FP16-NEXT: %91 = stablehlo.multiply %90, %70 {scalify.forms = ["2^-6*s7^2 level -9.13571"]} : tensor<6xf32>
// FP16-NEXT: %92 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %93 = stablehlo.multiply %91, %92 : tensor<6xf32>
// FP16-NEXT: %94 = stablehlo.add %88, %93 {scalify.forms = ["s4 level -0.0014434"]} : tensor<6xf32>
// FP16-NEXT: %95 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %96 = stablehlo.multiply %95, %arg10 {scalify.forms = ["s5 level -0.0014434"]} : tensor<8x6xf32>
// FP16-NEXT: %97 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %98 = stablehlo.multiply %97, %76 {scalify.forms = ["2^-3*s6*s7 level -9.55075"]} : tensor<8x6xf32>
// FP16-NEXT: %99 = stablehlo.multiply %98, %76 {scalify.forms = ["2^-6*s6^2*s7^2 level -9.13571"]} : tensor<8x6xf32>
// FP16-NEXT: %100 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %101 = stablehlo.multiply %99, %100 : tensor<8x6xf32>
// FP16-NEXT: %102 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %103 = stablehlo.multiply %101, %102 : tensor<8x6xf32>
// FP16-NEXT: %104 = stablehlo.add %96, %103 {scalify.forms = ["s5 level -0.0014434"]} : tensor<8x6xf32>
// FP16-NEXT: %105 = stablehlo.multiply %arg16, %arg17 : tensor<f32>
// FP16-NEXT: %106 = stablehlo.add %105, %cst_15 {scalify.forms = ["2^0"]} : tensor<f32>
// FP16-NEXT: %107 = stablehlo.power %cst_11, %106 : tensor<f32>
// FP16-NEXT: %108 = stablehlo.subtract %cst_15, %107 : tensor<f32>
// FP16-NEXT: %109 = stablehlo.broadcast_in_dim %108, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %110 = stablehlo.divide %81, %109 {scalify.forms = ["s2 level -0.152003"]} : tensor<6xf32>
// FP16-NEXT: %111 = stablehlo.power %cst_10, %106 : tensor<f32>
// FP16-NEXT: %112 = stablehlo.subtract %cst_15, %111 : tensor<f32>
// FP16-NEXT: %113 = stablehlo.broadcast_in_dim %112, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %114 = stablehlo.divide %94, %113 {scalify.forms = ["s4 level -0.0014434"]} : tensor<6xf32>
// FP16-NEXT: %115 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %116 = stablehlo.multiply %114, %115 : tensor<6xf32>
// FP16-NEXT: %117 = stablehlo.sqrt %116 {scalify.forms = ["s9 level -1"]} : tensor<6xf32>
// FP16-NEXT: %118 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %119 = stablehlo.add %117, %118 {scalify.forms = ["s9 level -1"]} : tensor<6xf32>
// FP16-NEXT: %120 = stablehlo.divide %110, %119 {scalify.forms = ["s2*s9^-1 level 0.847997"]} : tensor<6xf32>
// FP16-NEXT: %121 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %122 = stablehlo.multiply %121, %34 {scalify.forms = ["s0 level -6.64386"]} : tensor<6xf32>
// FP16-NEXT: %123 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %124 = stablehlo.multiply %120, %123 : tensor<6xf32>
// FP16-NEXT: %125 = stablehlo.add %124, %122 {scalify.forms = ["s0 level -6.64386"]} : tensor<6xf32>
// FP16-NEXT: %126 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %127 = stablehlo.multiply %126, %125 {scalify.forms = ["s0 level -16.6096"]} : tensor<6xf32>
// FP16-NEXT: %128 = stablehlo.subtract %34, %127 {scalify.forms = ["s0"]} : tensor<6xf32>
// FP16-NEXT: %129 = stablehlo.power %cst_11, %106 : tensor<f32>
// FP16-NEXT: %130 = stablehlo.subtract %cst_15, %129 : tensor<f32>
// FP16-NEXT: %131 = stablehlo.broadcast_in_dim %130, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %132 = stablehlo.divide %86, %131 {scalify.forms = ["s3 level -0.152003"]} : tensor<8x6xf32>
// FP16-NEXT: %133 = stablehlo.power %cst_10, %106 : tensor<f32>
// FP16-NEXT: %134 = stablehlo.subtract %cst_15, %133 : tensor<f32>
// FP16-NEXT: %135 = stablehlo.broadcast_in_dim %134, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %136 = stablehlo.divide %104, %135 {scalify.forms = ["s5 level -0.0014434"]} : tensor<8x6xf32>
// FP16-NEXT: %137 = stablehlo.broadcast_in_dim %29, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %138 = stablehlo.multiply %136, %137 : tensor<8x6xf32>
// FP16-NEXT: %139 = stablehlo.sqrt %138 {scalify.forms = ["s10 level -1"]} : tensor<8x6xf32>
// FP16-NEXT: %140 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %141 = stablehlo.add %139, %140 {scalify.forms = ["s10 level -1"]} : tensor<8x6xf32>
// FP16-NEXT: %142 = stablehlo.divide %132, %141 {scalify.forms = ["s3*s10^-1 level 0.847997"]} : tensor<8x6xf32>
// FP16-NEXT: %143 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %144 = stablehlo.multiply %143, %33 {scalify.forms = ["s1 level -6.64386"]} : tensor<8x6xf32>
// FP16-NEXT: %145 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %146 = stablehlo.multiply %142, %145 : tensor<8x6xf32>
// FP16-NEXT: %147 = stablehlo.add %146, %144 {scalify.forms = ["s1 level -6.64386"]} : tensor<8x6xf32>
// FP16-NEXT: %148 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %149 = stablehlo.multiply %148, %147 {scalify.forms = ["s1 level -16.6096"]} : tensor<8x6xf32>
// FP16-NEXT: %150 = stablehlo.subtract %33, %149 {scalify.forms = ["s1"]} : tensor<8x6xf32>
// FP16-NEXT: %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: %151 = stablehlo.optimization_barrier %128 : tensor<6xf32>
// FP16-NEXT: %152 = stablehlo.multiply %151, %151 : tensor<6xf32>
// FP16-NEXT: %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP16-NEXT: %153 = stablehlo.reduce(%152 init: %cst_20) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
// FP16-NEXT: %cst_21 = stablehlo.constant dense<0.166666672> : tensor<f32>
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
// FP16-NEXT: %170 = stablehlo.broadcast_in_dim %169, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %171 = stablehlo.multiply %151, %170 : tensor<6xf32>
// FP16-NEXT: %172 = stablehlo.clamp %cst, %171, %cst_0 : (tensor<f32>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
// FP16-NEXT: %173 = stablehlo.convert %172 {scalify.forms = ["s11"]} : (tensor<6xf32>) -> tensor<6xf16>
// FP16-NEXT: %cst_28 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: %174 = stablehlo.optimization_barrier %150 : tensor<8x6xf32>
// FP16-NEXT: %175 = stablehlo.multiply %174, %174 : tensor<8x6xf32>
// FP16-NEXT: %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP16-NEXT: %176 = stablehlo.reduce(%175 init: %cst_29) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<f32>
// FP16-NEXT: %cst_30 = stablehlo.constant dense<0.020833334> : tensor<f32>
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
// FP16-NEXT: %193 = stablehlo.broadcast_in_dim %192, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %194 = stablehlo.multiply %174, %193 : tensor<8x6xf32>
// FP16-NEXT: %195 = stablehlo.clamp %cst, %194, %cst_0 : (tensor<f32>, tensor<8x6xf32>, tensor<f32>) -> tensor<8x6xf32>
// FP16-NEXT: %196 = stablehlo.convert %195 {scalify.forms = ["s12"]} : (tensor<8x6xf32>) -> tensor<8x6xf16>
// FP16-NEXT: %cst_38 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: return %173, %168, %196, %191, %81, %arg5, %86, %arg7, %94, %arg9, %104, %arg11, %106, %cst_38 : tensor<6xf16>, tensor<f32>, tensor<8x6xf16>, tensor<f32>, tensor<6xf32>, tensor<f32>, tensor<8x6xf32>, tensor<f32>, tensor<6xf32>, tensor<f32>, tensor<8x6xf32>, tensor<f32>, tensor<f32>, tensor<f32>
// FP16-NEXT: }
// FP16-NEXT: }

module @_adam attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32>, %arg1: tensor<8x6xf32>, %arg2: tensor<6xf32>, %arg3: tensor<8x6xf32>, %arg4: tensor<6xf32>, %arg5: tensor<8x6xf32>, %arg6: tensor<4x8xf32>, %arg7: tensor<4x6xf32>, %arg8: tensor<f32>) -> (tensor<6xf32> {jax.result_info = "result[0]['b']"}, tensor<8x6xf32> {jax.result_info = "result[0]['w']"}, tensor<6xf32> {jax.result_info = "result[1]['b']"}, tensor<8x6xf32> {jax.result_info = "result[1]['w']"}, tensor<6xf32> {jax.result_info = "result[2]['b']"}, tensor<8x6xf32> {jax.result_info = "result[2]['w']"}, tensor<f32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %cst_0 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %cst_2 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_4 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg6, %arg1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<6xf32>) -> tensor<1x6xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x6xf32>) -> tensor<4x6xf32>
    %3 = stablehlo.add %0, %2 : tensor<4x6xf32>
    %4 = stablehlo.tanh %3 : tensor<4x6xf32>
    %5 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %6 = stablehlo.subtract %5, %4 : tensor<4x6xf32>
    %7 = stablehlo.subtract %4, %arg7 : tensor<4x6xf32>
    %8 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<4x6xf32>
    %10 = stablehlo.divide %cst_8, %cst_6 : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %12 = stablehlo.multiply %11, %9 : tensor<4x6xf32>
    %13 = stablehlo.multiply %12, %6 : tensor<4x6xf32>
    %14 = stablehlo.multiply %13, %4 : tensor<4x6xf32>
    %15 = stablehlo.add %13, %14 : tensor<4x6xf32>
    %16 = stablehlo.reduce(%15 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
    %17 = stablehlo.reshape %16 : (tensor<6xf32>) -> tensor<1x6xf32>
    %18 = stablehlo.reduce(%17 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<1x6xf32>, tensor<f32>) -> tensor<6xf32>
    %19 = stablehlo.dot_general %15, %arg6, contracting_dims = [0] x [0] : (tensor<4x6xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
    %20 = stablehlo.transpose %19, dims = [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %22 = stablehlo.multiply %21, %arg2 : tensor<6xf32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %24 = stablehlo.multiply %23, %18 : tensor<6xf32>
    %25 = stablehlo.add %22, %24 : tensor<6xf32>
    %26 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %27 = stablehlo.multiply %26, %arg3 : tensor<8x6xf32>
    %28 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %29 = stablehlo.multiply %28, %20 : tensor<8x6xf32>
    %30 = stablehlo.add %27, %29 : tensor<8x6xf32>
    %31 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %32 = stablehlo.multiply %31, %arg4 : tensor<6xf32>
    %33 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %34 = stablehlo.multiply %33, %18 : tensor<6xf32>
    %35 = stablehlo.multiply %34, %18 : tensor<6xf32>
    %36 = stablehlo.add %32, %35 : tensor<6xf32>
    %37 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %38 = stablehlo.multiply %37, %arg5 : tensor<8x6xf32>
    %39 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %40 = stablehlo.multiply %39, %20 : tensor<8x6xf32>
    %41 = stablehlo.multiply %40, %20 : tensor<8x6xf32>
    %42 = stablehlo.add %38, %41 : tensor<8x6xf32>
    %43 = stablehlo.add %arg8, %cst_8 : tensor<f32>
    %44 = stablehlo.power %cst_4, %43 : tensor<f32>
    %45 = stablehlo.subtract %cst_8, %44 : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %47 = stablehlo.divide %25, %46 : tensor<6xf32>
    %48 = stablehlo.power %cst_2, %43 : tensor<f32>
    %49 = stablehlo.subtract %cst_8, %48 : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %51 = stablehlo.divide %36, %50 : tensor<6xf32>
    %52 = stablehlo.sqrt %51 : tensor<6xf32>
    %53 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %54 = stablehlo.add %52, %53 : tensor<6xf32>
    %55 = stablehlo.divide %47, %54 : tensor<6xf32>
    %56 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %57 = stablehlo.multiply %56, %arg0 : tensor<6xf32>
    %58 = stablehlo.add %55, %57 : tensor<6xf32>
    %59 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %60 = stablehlo.multiply %59, %58 : tensor<6xf32>
    %61 = stablehlo.subtract %arg0, %60 : tensor<6xf32>
    %62 = stablehlo.power %cst_4, %43 : tensor<f32>
    %63 = stablehlo.subtract %cst_8, %62 : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %65 = stablehlo.divide %30, %64 : tensor<8x6xf32>
    %66 = stablehlo.power %cst_2, %43 : tensor<f32>
    %67 = stablehlo.subtract %cst_8, %66 : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %69 = stablehlo.divide %42, %68 : tensor<8x6xf32>
    %70 = stablehlo.sqrt %69 : tensor<8x6xf32>
    %71 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %72 = stablehlo.add %70, %71 : tensor<8x6xf32>
    %73 = stablehlo.divide %65, %72 : tensor<8x6xf32>
    %74 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %75 = stablehlo.multiply %74, %arg1 : tensor<8x6xf32>
    %76 = stablehlo.add %73, %75 : tensor<8x6xf32>
    %77 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %78 = stablehlo.multiply %77, %76 : tensor<8x6xf32>
    %79 = stablehlo.subtract %arg1, %78 : tensor<8x6xf32>
    return %61, %79, %25, %30, %36, %42, %43 : tensor<6xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<8x6xf32>, tensor<f32>
  }
}
