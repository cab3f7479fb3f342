// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{recipe=fp8 annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8

// Values whose sizes are hard to predict, each before a matmul: a polynomial, products, powers, a loop.
// UNIT:      module @_series attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<4x16xf32>, %arg1: tensor<16x16xf32>) -> (tensor<4x16xf32> {jax.result_info = "result[0]"}, tensor<4x16xf32> {jax.result_info = "result[1]"}, tensor<4x16xf32> {jax.result_info = "result[2]"}, tensor<4x16xf32> {jax.result_info = "result[3]"}, tensor<4x16xf32> {jax.result_info = "result[4]"}) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<4x16xf32>
// UNIT-NEXT: %c = stablehlo.constant dense<2130706432> : tensor<ui32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_3 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// UNIT-NEXT: %c_4 = stablehlo.constant dense<2139095039> : tensor<ui32>
// UNIT-NEXT: %c_5 = stablehlo.constant dense<1> : tensor<ui32>
// UNIT-NEXT: %c_6 = stablehlo.constant dense<4286578688> : tensor<ui32>
// UNIT-NEXT: %c_7 = stablehlo.constant dense<8388607> : tensor<ui32>
// UNIT-NEXT: %c_8 = stablehlo.constant dense<8388608> : tensor<i32>
// UNIT-NEXT: %c_9 = stablehlo.constant dense<8388608> : tensor<4x16xi32>
// UNIT-NEXT: %cst_10 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// UNIT-NEXT: %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<16x16xf32>
// UNIT-NEXT: %cst_12 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_13 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg1, %cst_11 : tensor<16x16xf32>
// UNIT-NEXT: %1 = stablehlo.add %arg1, %0 : tensor<16x16xf32>
// UNIT-NEXT: %2 = stablehlo.clamp %cst_12, %1, %cst_13 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %c_15 = stablehlo.constant dense<1> : tensor<i32>
// UNIT-NEXT: %c_16 = stablehlo.constant dense<16> : tensor<i32>
// UNIT-NEXT: %c_17 = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999997E-7> : tensor<f32>
// UNIT-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.600000e+01> : tensor<f32>
// UNIT-NEXT: %cst_20 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_21 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_22 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_23 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.166666672> : tensor<f32>
// UNIT-NEXT: %cst_24 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.0416666679> : tensor<f32>
// UNIT-NEXT: %cst_25 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00833333377> : tensor<f32>
// UNIT-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00138888892> : tensor<f32>
// UNIT-NEXT: %cst_27 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.98412701E-4> : tensor<f32>
// UNIT-NEXT: %cst_28 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.48015876E-5> : tensor<f32>
// UNIT-NEXT: %cst_29 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.75573188E-6> : tensor<f32>
// UNIT-NEXT: %cst_30 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.755732E-7> : tensor<f32>
// UNIT-NEXT: %cst_31 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.50521079E-8> : tensor<f32>
// UNIT-NEXT: %cst_32 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.08767559E-9> : tensor<f32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %cst_32, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %5 = stablehlo.multiply %4, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x16xf32>
// UNIT-NEXT: %6 = stablehlo.broadcast_in_dim %cst_31, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %7 = stablehlo.add %5, %6 {scalify.forms = ["2^0 level -25"]} : tensor<4x16xf32>
// UNIT-NEXT: %8 = stablehlo.multiply %7, %arg0 {scalify.forms = ["2^0 level -25"]} : tensor<4x16xf32>
// UNIT-NEXT: %9 = stablehlo.broadcast_in_dim %cst_30, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %10 = stablehlo.add %8, %9 {scalify.forms = ["2^0 level -22"]} : tensor<4x16xf32>
// UNIT-NEXT: %11 = stablehlo.multiply %10, %arg0 {scalify.forms = ["2^0 level -22"]} : tensor<4x16xf32>
// UNIT-NEXT: %12 = stablehlo.broadcast_in_dim %cst_29, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %13 = stablehlo.add %11, %12 {scalify.forms = ["2^0 level -18"]} : tensor<4x16xf32>
// UNIT-NEXT: %14 = stablehlo.multiply %13, %arg0 {scalify.forms = ["2^0 level -18"]} : tensor<4x16xf32>
// UNIT-NEXT: %15 = stablehlo.broadcast_in_dim %cst_28, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %16 = stablehlo.add %14, %15 {scalify.forms = ["2^0 level -15"]} : tensor<4x16xf32>
// UNIT-NEXT: %17 = stablehlo.multiply %16, %arg0 {scalify.forms = ["2^0 level -15"]} : tensor<4x16xf32>
// UNIT-NEXT: %18 = stablehlo.broadcast_in_dim %cst_27, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %19 = stablehlo.add %17, %18 {scalify.forms = ["2^0 level -12"]} : tensor<4x16xf32>
// UNIT-NEXT: %20 = stablehlo.multiply %19, %arg0 {scalify.forms = ["2^0 level -12"]} : tensor<4x16xf32>
// UNIT-NEXT: %21 = stablehlo.broadcast_in_dim %cst_26, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %22 = stablehlo.add %20, %21 {scalify.forms = ["2^0 level -9"]} : tensor<4x16xf32>
// UNIT-NEXT: %23 = stablehlo.multiply %22, %arg0 {scalify.forms = ["2^0 level -9"]} : tensor<4x16xf32>
// UNIT-NEXT: %24 = stablehlo.broadcast_in_dim %cst_25, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %25 = stablehlo.add %23, %24 {scalify.forms = ["2^0 level -7"]} : tensor<4x16xf32>
// UNIT-NEXT: %26 = stablehlo.multiply %25, %arg0 {scalify.forms = ["2^0 level -7"]} : tensor<4x16xf32>
// UNIT-NEXT: %27 = stablehlo.broadcast_in_dim %cst_24, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %28 = stablehlo.add %26, %27 {scalify.forms = ["2^0 level -4.56004"]} : tensor<4x16xf32>
// UNIT-NEXT: %29 = stablehlo.multiply %28, %arg0 {scalify.forms = ["2^0 level -4.56004"]} : tensor<4x16xf32>
// UNIT-NEXT: %30 = stablehlo.broadcast_in_dim %cst_23, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %31 = stablehlo.add %29, %30 {scalify.forms = ["2^0 level -2.53974"]} : tensor<4x16xf32>
// UNIT-NEXT: %32 = stablehlo.multiply %31, %arg0 {scalify.forms = ["2^0 level -2.53974"]} : tensor<4x16xf32>
// UNIT-NEXT: %33 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %34 = stablehlo.add %32, %33 {scalify.forms = ["2^0 level -0.919347"]} : tensor<4x16xf32>
// UNIT-NEXT: %35 = stablehlo.multiply %34, %arg0 {scalify.forms = ["2^0 level -0.919347"]} : tensor<4x16xf32>
// UNIT-NEXT: %36 = stablehlo.broadcast_in_dim %cst_21, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %37 = stablehlo.add %35, %36 {scalify.forms = ["2^0 level 0.177832"]} : tensor<4x16xf32>
// UNIT-NEXT: %38 = stablehlo.multiply %37, %arg0 {scalify.forms = ["2^0 level 0.177832"]} : tensor<4x16xf32>
// UNIT-NEXT: %39 = stablehlo.broadcast_in_dim %cst_21, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %40 = stablehlo.add %38, %39 {scalify.forms = ["2^0 level 0.594382"]} : tensor<4x16xf32>
// UNIT-NEXT: %41 = stablehlo.optimization_barrier %40 : tensor<4x16xf32>
// UNIT-NEXT: %42 = stablehlo.abs %41 : tensor<4x16xf32>
// UNIT-NEXT: %43 = stablehlo.bitcast_convert %42 : (tensor<4x16xf32>) -> tensor<4x16xi32>
// UNIT-NEXT: %44 = stablehlo.add %43, %c_9 : tensor<4x16xi32>
// UNIT-NEXT: %45 = stablehlo.reduce(%44 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xi32>, tensor<i32>) -> tensor<i32>
// UNIT-NEXT: %46 = stablehlo.subtract %45, %c_8 : tensor<i32>
// UNIT-NEXT: %47 = stablehlo.bitcast_convert %46 : (tensor<i32>) -> tensor<f32>
// UNIT-NEXT: %48 = stablehlo.bitcast_convert %47 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %49 = stablehlo.add %48, %c_7 : tensor<ui32>
// UNIT-NEXT: %50 = stablehlo.and %49, %c_6 : tensor<ui32>
// UNIT-NEXT: %51 = stablehlo.subtract %50, %c_5 : tensor<ui32>
// UNIT-NEXT: %52 = stablehlo.compare LT, %51, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// UNIT-NEXT: %53 = stablehlo.bitcast_convert %50 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %54 = stablehlo.select %52, %53, %cst_10 : tensor<i1>, tensor<f32>
// UNIT-NEXT: %55 = stablehlo.multiply %54, %cst_3 : tensor<f32>
// UNIT-NEXT: %56 = stablehlo.multiply %55, %cst_2 : tensor<f32>
// UNIT-NEXT: %57 = stablehlo.clamp %cst_1, %56, %cst_0 : tensor<f32>
// UNIT-NEXT: %58 = stablehlo.bitcast_convert %57 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %59 = stablehlo.subtract %c, %58 : tensor<ui32>
// UNIT-NEXT: %60 = stablehlo.bitcast_convert %59 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %61 = stablehlo.divide %cst_2, %60 : tensor<f32>
// UNIT-NEXT: %62 = stablehlo.optimization_barrier %61 : tensor<f32>
// UNIT-NEXT: %63 = stablehlo.divide %cst_14, %62 : tensor<f32>
// UNIT-NEXT: %64 = stablehlo.broadcast_in_dim %63, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %65 = stablehlo.multiply %41, %64 : tensor<4x16xf32>
// UNIT-NEXT: %66 = stablehlo.multiply %65, %cst : tensor<4x16xf32>
// UNIT-NEXT: %67 = stablehlo.add %65, %66 : tensor<4x16xf32>
// UNIT-NEXT: %68 = stablehlo.clamp %cst_12, %67, %cst_13 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %69 = stablehlo.convert %68 {scalify.forms = ["s0 level 6"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
// UNIT-NEXT: %70 = call @cumprod(%arg0) {scalify.forms = ["2^0"]} : (tensor<4x16xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %71 = stablehlo.optimization_barrier %70 : tensor<4x16xf32>
// UNIT-NEXT: %72 = stablehlo.abs %71 : tensor<4x16xf32>
// UNIT-NEXT: %73 = stablehlo.bitcast_convert %72 : (tensor<4x16xf32>) -> tensor<4x16xi32>
// UNIT-NEXT: %74 = stablehlo.add %73, %c_9 : tensor<4x16xi32>
// UNIT-NEXT: %75 = stablehlo.reduce(%74 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xi32>, tensor<i32>) -> tensor<i32>
// UNIT-NEXT: %76 = stablehlo.subtract %75, %c_8 : tensor<i32>
// UNIT-NEXT: %77 = stablehlo.bitcast_convert %76 : (tensor<i32>) -> tensor<f32>
// UNIT-NEXT: %78 = stablehlo.bitcast_convert %77 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %79 = stablehlo.add %78, %c_7 : tensor<ui32>
// UNIT-NEXT: %80 = stablehlo.and %79, %c_6 : tensor<ui32>
// UNIT-NEXT: %81 = stablehlo.subtract %80, %c_5 : tensor<ui32>
// UNIT-NEXT: %82 = stablehlo.compare LT, %81, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// UNIT-NEXT: %83 = stablehlo.bitcast_convert %80 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %84 = stablehlo.select %82, %83, %cst_10 : tensor<i1>, tensor<f32>
// UNIT-NEXT: %85 = stablehlo.multiply %84, %cst_3 : tensor<f32>
// UNIT-NEXT: %86 = stablehlo.multiply %85, %cst_2 : tensor<f32>
// UNIT-NEXT: %87 = stablehlo.clamp %cst_1, %86, %cst_0 : tensor<f32>
// UNIT-NEXT: %88 = stablehlo.bitcast_convert %87 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %89 = stablehlo.subtract %c, %88 : tensor<ui32>
// UNIT-NEXT: %90 = stablehlo.bitcast_convert %89 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %91 = stablehlo.divide %cst_2, %90 : tensor<f32>
// UNIT-NEXT: %92 = stablehlo.optimization_barrier %91 : tensor<f32>
// UNIT-NEXT: %93 = stablehlo.divide %cst_14, %92 : tensor<f32>
// UNIT-NEXT: %94 = stablehlo.broadcast_in_dim %93, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %95 = stablehlo.multiply %71, %94 : tensor<4x16xf32>
// UNIT-NEXT: %96 = stablehlo.multiply %95, %cst : tensor<4x16xf32>
// UNIT-NEXT: %97 = stablehlo.add %95, %96 : tensor<4x16xf32>
// UNIT-NEXT: %98 = stablehlo.clamp %cst_12, %97, %cst_13 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %99 = stablehlo.convert %98 {scalify.forms = ["s1 level 6"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
// UNIT-NEXT: %100 = stablehlo.multiply %arg0, %arg0 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// UNIT-NEXT: %101 = stablehlo.multiply %100, %100 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// UNIT-NEXT: %102 = stablehlo.multiply %101, %101 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// UNIT-NEXT: %103 = stablehlo.multiply %102, %102 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// UNIT-NEXT: %104 = stablehlo.optimization_barrier %103 : tensor<4x16xf32>
// UNIT-NEXT: %105 = stablehlo.abs %104 : tensor<4x16xf32>
// UNIT-NEXT: %106 = stablehlo.bitcast_convert %105 : (tensor<4x16xf32>) -> tensor<4x16xi32>
// UNIT-NEXT: %107 = stablehlo.add %106, %c_9 : tensor<4x16xi32>
// UNIT-NEXT: %108 = stablehlo.reduce(%107 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xi32>, tensor<i32>) -> tensor<i32>
// UNIT-NEXT: %109 = stablehlo.subtract %108, %c_8 : tensor<i32>
// UNIT-NEXT: %110 = stablehlo.bitcast_convert %109 : (tensor<i32>) -> tensor<f32>
// UNIT-NEXT: %111 = stablehlo.bitcast_convert %110 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %112 = stablehlo.add %111, %c_7 : tensor<ui32>
// UNIT-NEXT: %113 = stablehlo.and %112, %c_6 : tensor<ui32>
// UNIT-NEXT: %114 = stablehlo.subtract %113, %c_5 : tensor<ui32>
// UNIT-NEXT: %115 = stablehlo.compare LT, %114, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// UNIT-NEXT: %116 = stablehlo.bitcast_convert %113 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %117 = stablehlo.select %115, %116, %cst_10 : tensor<i1>, tensor<f32>
// UNIT-NEXT: %118 = stablehlo.multiply %117, %cst_3 : tensor<f32>
// UNIT-NEXT: %119 = stablehlo.multiply %118, %cst_2 : tensor<f32>
// UNIT-NEXT: %120 = stablehlo.clamp %cst_1, %119, %cst_0 : tensor<f32>
// UNIT-NEXT: %121 = stablehlo.bitcast_convert %120 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %122 = stablehlo.subtract %c, %121 : tensor<ui32>
// UNIT-NEXT: %123 = stablehlo.bitcast_convert %122 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %124 = stablehlo.divide %cst_2, %123 : tensor<f32>
// UNIT-NEXT: %125 = stablehlo.optimization_barrier %124 : tensor<f32>
// UNIT-NEXT: %126 = stablehlo.divide %cst_14, %125 : tensor<f32>
// UNIT-NEXT: %127 = stablehlo.broadcast_in_dim %126, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %128 = stablehlo.multiply %104, %127 : tensor<4x16xf32>
// UNIT-NEXT: %129 = stablehlo.multiply %128, %cst : tensor<4x16xf32>
// UNIT-NEXT: %130 = stablehlo.add %128, %129 : tensor<4x16xf32>
// UNIT-NEXT: %131 = stablehlo.clamp %cst_12, %130, %cst_13 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %132 = stablehlo.convert %131 {scalify.forms = ["s2 level 6"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
// UNIT-NEXT: %133 = stablehlo.reduce(%arg0 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %134 = stablehlo.broadcast_in_dim %133, dims = [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %135 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %136 = stablehlo.divide %134, %135 {scalify.forms = ["2^0 level -2"]} : tensor<4x1xf32>
// UNIT-NEXT: %137 = stablehlo.broadcast_in_dim %136, dims = [0, 1] {scalify.forms = ["2^0 level -2"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %138 = stablehlo.subtract %arg0, %137 {scalify.forms = ["2^0 level 0.0437314"]} : tensor<4x16xf32>
// UNIT-NEXT: %139 = stablehlo.multiply %138, %138 {scalify.forms = ["2^0 level 0.0874628"]} : tensor<4x16xf32>
// UNIT-NEXT: %140 = stablehlo.reduce(%139 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4.08746"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %141 = stablehlo.broadcast_in_dim %140, dims = [0] {scalify.forms = ["2^0 level 4.08746"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %142 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %143 = stablehlo.divide %141, %142 {scalify.forms = ["2^0 level 0.0874628"]} : tensor<4x1xf32>
// UNIT-NEXT: %144 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %145 = stablehlo.add %143, %144 {scalify.forms = ["2^0 level 0.0874628"]} : tensor<4x1xf32>
// UNIT-NEXT: %146 = stablehlo.rsqrt %145 {scalify.forms = ["2^0 level -0.0437314"]} : tensor<4x1xf32>
// UNIT-NEXT: %147 = stablehlo.broadcast_in_dim %146, dims = [0, 1] {scalify.forms = ["2^0 level -0.0437314"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %148 = stablehlo.multiply %138, %147 {scalify.forms = ["2^0 level 1.80411e-16"]} : tensor<4x16xf32>
// UNIT-NEXT: %149 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %150 = stablehlo.multiply %149, %148 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// UNIT-NEXT: %151 = stablehlo.multiply %150, %148 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// UNIT-NEXT: %152 = stablehlo.add %148, %151 {scalify.forms = ["2^0 level 0.160964"]} : tensor<4x16xf32>
// UNIT-NEXT: %153 = stablehlo.reduce(%152 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2.16096"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %154 = stablehlo.broadcast_in_dim %153, dims = [0] {scalify.forms = ["2^0 level 2.16096"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %155 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %156 = stablehlo.divide %154, %155 {scalify.forms = ["2^0 level -1.83904"]} : tensor<4x1xf32>
// UNIT-NEXT: %157 = stablehlo.broadcast_in_dim %156, dims = [0, 1] {scalify.forms = ["2^0 level -1.83904"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %158 = stablehlo.subtract %152, %157 {scalify.forms = ["2^0 level 0.204695"]} : tensor<4x16xf32>
// UNIT-NEXT: %159 = stablehlo.multiply %158, %158 {scalify.forms = ["2^0 level 0.409391"]} : tensor<4x16xf32>
// UNIT-NEXT: %160 = stablehlo.reduce(%159 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4.40939"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %161 = stablehlo.broadcast_in_dim %160, dims = [0] {scalify.forms = ["2^0 level 4.40939"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %162 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %163 = stablehlo.divide %161, %162 {scalify.forms = ["2^0 level 0.409391"]} : tensor<4x1xf32>
// UNIT-NEXT: %164 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %165 = stablehlo.add %163, %164 {scalify.forms = ["2^0 level 0.409391"]} : tensor<4x1xf32>
// UNIT-NEXT: %166 = stablehlo.rsqrt %165 {scalify.forms = ["2^0 level -0.204695"]} : tensor<4x1xf32>
// UNIT-NEXT: %167 = stablehlo.broadcast_in_dim %166, dims = [0, 1] {scalify.forms = ["2^0 level -0.204695"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %168 = stablehlo.multiply %158, %167 {scalify.forms = ["2^0 level -2.22045e-16"]} : tensor<4x16xf32>
// UNIT-NEXT: %169 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %170 = stablehlo.multiply %169, %168 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// UNIT-NEXT: %171 = stablehlo.multiply %170, %168 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// UNIT-NEXT: %172 = stablehlo.add %168, %171 {scalify.forms = ["2^0 level 0.160964"]} : tensor<4x16xf32>
// UNIT-NEXT: %173 = stablehlo.reduce(%172 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2.16096"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %174 = stablehlo.broadcast_in_dim %173, dims = [0] {scalify.forms = ["2^0 level 2.16096"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %175 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %176 = stablehlo.divide %174, %175 {scalify.forms = ["2^0 level -1.83904"]} : tensor<4x1xf32>
// UNIT-NEXT: %177 = stablehlo.broadcast_in_dim %176, dims = [0, 1] {scalify.forms = ["2^0 level -1.83904"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %178 = stablehlo.subtract %172, %177 {scalify.forms = ["2^0 level 0.204695"]} : tensor<4x16xf32>
// UNIT-NEXT: %179 = stablehlo.multiply %178, %178 {scalify.forms = ["2^0 level 0.409391"]} : tensor<4x16xf32>
// UNIT-NEXT: %180 = stablehlo.reduce(%179 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4.40939"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %181 = stablehlo.broadcast_in_dim %180, dims = [0] {scalify.forms = ["2^0 level 4.40939"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %182 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %183 = stablehlo.divide %181, %182 {scalify.forms = ["2^0 level 0.409391"]} : tensor<4x1xf32>
// UNIT-NEXT: %184 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %185 = stablehlo.add %183, %184 {scalify.forms = ["2^0 level 0.409391"]} : tensor<4x1xf32>
// UNIT-NEXT: %186 = stablehlo.rsqrt %185 {scalify.forms = ["2^0 level -0.204695"]} : tensor<4x1xf32>
// UNIT-NEXT: %187 = stablehlo.broadcast_in_dim %186, dims = [0, 1] {scalify.forms = ["2^0 level -0.204695"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %188 = stablehlo.multiply %178, %187 {scalify.forms = ["2^0 level -1.66533e-16"]} : tensor<4x16xf32>
// UNIT-NEXT: %189 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %190 = stablehlo.multiply %189, %188 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// UNIT-NEXT: %191 = stablehlo.multiply %190, %188 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// UNIT-NEXT: %192 = stablehlo.add %188, %191 {scalify.forms = ["2^0 level 0.160964"]} : tensor<4x16xf32>
// UNIT-NEXT: %193 = stablehlo.reduce(%192 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2.16096"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %194 = stablehlo.broadcast_in_dim %193, dims = [0] {scalify.forms = ["2^0 level 2.16096"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %195 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %196 = stablehlo.divide %194, %195 {scalify.forms = ["2^0 level -1.83904"]} : tensor<4x1xf32>
// UNIT-NEXT: %197 = stablehlo.broadcast_in_dim %196, dims = [0, 1] {scalify.forms = ["2^0 level -1.83904"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %198 = stablehlo.subtract %192, %197 {scalify.forms = ["2^0 level 0.204695"]} : tensor<4x16xf32>
// UNIT-NEXT: %199 = stablehlo.multiply %198, %198 {scalify.forms = ["2^0 level 0.409391"]} : tensor<4x16xf32>
// UNIT-NEXT: %200 = stablehlo.reduce(%199 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4.40939"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %201 = stablehlo.broadcast_in_dim %200, dims = [0] {scalify.forms = ["2^0 level 4.40939"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %202 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %203 = stablehlo.divide %201, %202 {scalify.forms = ["2^0 level 0.409391"]} : tensor<4x1xf32>
// UNIT-NEXT: %204 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %205 = stablehlo.add %203, %204 {scalify.forms = ["2^0 level 0.409391"]} : tensor<4x1xf32>
// UNIT-NEXT: %206 = stablehlo.rsqrt %205 {scalify.forms = ["2^0 level -0.204695"]} : tensor<4x1xf32>
// UNIT-NEXT: %207 = stablehlo.broadcast_in_dim %206, dims = [0, 1] {scalify.forms = ["2^0 level -0.204695"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %208 = stablehlo.multiply %198, %207 {scalify.forms = ["2^0 level -1.11022e-16"]} : tensor<4x16xf32>
// UNIT-NEXT: %209 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %210 = stablehlo.multiply %209, %208 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// UNIT-NEXT: %211 = stablehlo.multiply %210, %208 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// UNIT-NEXT: %212 = stablehlo.add %208, %211 {scalify.forms = ["2^0 level 0.160964"]} : tensor<4x16xf32>
// UNIT-NEXT: %213 = stablehlo.multiply %212, %cst : tensor<4x16xf32>
// UNIT-NEXT: %214 = stablehlo.add %212, %213 : tensor<4x16xf32>
// UNIT-NEXT: %215 = stablehlo.clamp %cst_12, %214, %cst_13 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %216 = stablehlo.convert %215 {scalify.forms = ["2^0 level 0.160964"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
// UNIT-NEXT: %217:2 = stablehlo.while(%iterArg = %c_17, %iterArg_33 = %arg0) : tensor<i32>, tensor<4x16xf32> attributes {scalify.forms = ["unscaled", "2^0 level 2.30735"]}
// UNIT-NEXT: cond {
// UNIT-NEXT: %260 = stablehlo.compare LT, %iterArg, %c_16, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// UNIT-NEXT: stablehlo.return %260 : tensor<i1>
// UNIT-NEXT: } do {
// UNIT-NEXT: %260 = func.call @closed_call(%iterArg_33) {scalify.forms = ["2^0 level 2.30735"]} : (tensor<4x16xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %261 = stablehlo.add %iterArg, %c_15 : tensor<i32>
// UNIT-NEXT: stablehlo.return %261, %260 : tensor<i32>, tensor<4x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: %218 = stablehlo.optimization_barrier %217#1 : tensor<4x16xf32>
// UNIT-NEXT: %219 = stablehlo.abs %218 : tensor<4x16xf32>
// UNIT-NEXT: %220 = stablehlo.bitcast_convert %219 : (tensor<4x16xf32>) -> tensor<4x16xi32>
// UNIT-NEXT: %221 = stablehlo.add %220, %c_9 : tensor<4x16xi32>
// UNIT-NEXT: %222 = stablehlo.reduce(%221 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xi32>, tensor<i32>) -> tensor<i32>
// UNIT-NEXT: %223 = stablehlo.subtract %222, %c_8 : tensor<i32>
// UNIT-NEXT: %224 = stablehlo.bitcast_convert %223 : (tensor<i32>) -> tensor<f32>
// UNIT-NEXT: %225 = stablehlo.bitcast_convert %224 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %226 = stablehlo.add %225, %c_7 : tensor<ui32>
// UNIT-NEXT: %227 = stablehlo.and %226, %c_6 : tensor<ui32>
// UNIT-NEXT: %228 = stablehlo.subtract %227, %c_5 : tensor<ui32>
// UNIT-NEXT: %229 = stablehlo.compare LT, %228, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// UNIT-NEXT: %230 = stablehlo.bitcast_convert %227 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %231 = stablehlo.select %229, %230, %cst_10 : tensor<i1>, tensor<f32>
// UNIT-NEXT: %232 = stablehlo.multiply %231, %cst_3 : tensor<f32>
// UNIT-NEXT: %233 = stablehlo.multiply %232, %cst_2 : tensor<f32>
// UNIT-NEXT: %234 = stablehlo.clamp %cst_1, %233, %cst_0 : tensor<f32>
// UNIT-NEXT: %235 = stablehlo.bitcast_convert %234 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %236 = stablehlo.subtract %c, %235 : tensor<ui32>
// UNIT-NEXT: %237 = stablehlo.bitcast_convert %236 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %238 = stablehlo.divide %cst_2, %237 : tensor<f32>
// UNIT-NEXT: %239 = stablehlo.optimization_barrier %238 : tensor<f32>
// UNIT-NEXT: %240 = stablehlo.divide %cst_14, %239 : tensor<f32>
// UNIT-NEXT: %241 = stablehlo.broadcast_in_dim %240, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %242 = stablehlo.multiply %218, %241 : tensor<4x16xf32>
// UNIT-NEXT: %243 = stablehlo.multiply %242, %cst : tensor<4x16xf32>
// UNIT-NEXT: %244 = stablehlo.add %242, %243 : tensor<4x16xf32>
// UNIT-NEXT: %245 = stablehlo.clamp %cst_12, %244, %cst_13 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %246 = stablehlo.convert %245 {scalify.forms = ["s3 level 6"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
// UNIT-NEXT: %247 = stablehlo.dot_general %69, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s0 level 8"]} : (tensor<4x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// UNIT-NEXT: %248 = stablehlo.dot_general %99, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s1 level 8"]} : (tensor<4x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// UNIT-NEXT: %249 = stablehlo.dot_general %132, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s2 level 8"]} : (tensor<4x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// UNIT-NEXT: %250 = stablehlo.dot_general %216, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2.16096"]} : (tensor<4x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// UNIT-NEXT: %251 = stablehlo.dot_general %246, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s3 level 8"]} : (tensor<4x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// UNIT-NEXT: %252 = stablehlo.broadcast_in_dim %62, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %253 = stablehlo.multiply %247, %252 : tensor<4x16xf32>
// UNIT-NEXT: %254 = stablehlo.broadcast_in_dim %92, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %255 = stablehlo.multiply %248, %254 : tensor<4x16xf32>
// UNIT-NEXT: %256 = stablehlo.broadcast_in_dim %125, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %257 = stablehlo.multiply %249, %256 : tensor<4x16xf32>
// UNIT-NEXT: %258 = stablehlo.broadcast_in_dim %239, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %259 = stablehlo.multiply %251, %258 : tensor<4x16xf32>
// UNIT-NEXT: return %253, %255, %257, %250, %259 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @cumprod(%arg0: tensor<4x16xf32>) -> tensor<4x16xf32> {
// UNIT-NEXT: %0 = call @cumprod_0(%arg0) : (tensor<4x16xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: return %0 : tensor<4x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @cumprod_0(%arg0: tensor<4x16xf32>) -> tensor<4x16xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = "stablehlo.reduce_window"(%arg0, %cst) <{padding = dense<[[0, 0], [15, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 16>}> ({
// UNIT-NEXT: ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// UNIT-NEXT: %1 = stablehlo.multiply %arg1, %arg2 : tensor<f32>
// UNIT-NEXT: stablehlo.return %1 : tensor<f32>
// UNIT-NEXT: }) : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: return %0 : tensor<4x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @closed_call(%arg0: tensor<4x16xf32>) -> tensor<4x16xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<3.500000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %1 = stablehlo.multiply %0, %arg0 : tensor<4x16xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %3 = stablehlo.subtract %2, %arg0 : tensor<4x16xf32>
// UNIT-NEXT: %4 = stablehlo.multiply %1, %3 : tensor<4x16xf32>
// UNIT-NEXT: return %4 : tensor<4x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module @_series attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<4x16xf32>, %arg1: tensor<16x16xf32>) -> (tensor<4x16xf32> {jax.result_info = "result[0]"}, tensor<4x16xf32> {jax.result_info = "result[1]"}, tensor<4x16xf32> {jax.result_info = "result[2]"}, tensor<4x16xf32> {jax.result_info = "result[3]"}, tensor<4x16xf32> {jax.result_info = "result[4]"}) {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<4x16xf32>
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
// FP8-NEXT: %c_9 = stablehlo.constant dense<8388608> : tensor<4x16xi32>
// FP8-NEXT: %cst_10 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// FP8-NEXT: %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<16x16xf32>
// FP8-NEXT: %cst_12 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_13 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg1, %cst_11 : tensor<16x16xf32>
// FP8-NEXT: %1 = stablehlo.add %arg1, %0 : tensor<16x16xf32>
// FP8-NEXT: %2 = stablehlo.clamp %cst_12, %1, %cst_13 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %c_15 = stablehlo.constant dense<1> : tensor<i32>
// FP8-NEXT: %c_16 = stablehlo.constant dense<16> : tensor<i32>
// FP8-NEXT: %c_17 = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999997E-7> : tensor<f32>
// FP8-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.600000e+01> : tensor<f32>
// FP8-NEXT: %cst_20 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_21 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_22 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// FP8-NEXT: %cst_23 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.166666672> : tensor<f32>
// FP8-NEXT: %cst_24 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.0416666679> : tensor<f32>
// FP8-NEXT: %cst_25 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00833333377> : tensor<f32>
// FP8-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00138888892> : tensor<f32>
// FP8-NEXT: %cst_27 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.98412701E-4> : tensor<f32>
// FP8-NEXT: %cst_28 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.48015876E-5> : tensor<f32>
// FP8-NEXT: %cst_29 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.75573188E-6> : tensor<f32>
// FP8-NEXT: %cst_30 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.755732E-7> : tensor<f32>
// FP8-NEXT: %cst_31 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.50521079E-8> : tensor<f32>
// FP8-NEXT: %cst_32 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.08767559E-9> : tensor<f32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %cst_32, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %5 = stablehlo.multiply %4, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x16xf32>
// FP8-NEXT: %6 = stablehlo.broadcast_in_dim %cst_31, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %7 = stablehlo.add %5, %6 {scalify.forms = ["2^0 level -25"]} : tensor<4x16xf32>
// FP8-NEXT: %8 = stablehlo.multiply %7, %arg0 {scalify.forms = ["2^0 level -25"]} : tensor<4x16xf32>
// FP8-NEXT: %9 = stablehlo.broadcast_in_dim %cst_30, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %10 = stablehlo.add %8, %9 {scalify.forms = ["2^0 level -22"]} : tensor<4x16xf32>
// FP8-NEXT: %11 = stablehlo.multiply %10, %arg0 {scalify.forms = ["2^0 level -22"]} : tensor<4x16xf32>
// FP8-NEXT: %12 = stablehlo.broadcast_in_dim %cst_29, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %13 = stablehlo.add %11, %12 {scalify.forms = ["2^0 level -18"]} : tensor<4x16xf32>
// FP8-NEXT: %14 = stablehlo.multiply %13, %arg0 {scalify.forms = ["2^0 level -18"]} : tensor<4x16xf32>
// FP8-NEXT: %15 = stablehlo.broadcast_in_dim %cst_28, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %16 = stablehlo.add %14, %15 {scalify.forms = ["2^0 level -15"]} : tensor<4x16xf32>
// FP8-NEXT: %17 = stablehlo.multiply %16, %arg0 {scalify.forms = ["2^0 level -15"]} : tensor<4x16xf32>
// FP8-NEXT: %18 = stablehlo.broadcast_in_dim %cst_27, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %19 = stablehlo.add %17, %18 {scalify.forms = ["2^0 level -12"]} : tensor<4x16xf32>
// FP8-NEXT: %20 = stablehlo.multiply %19, %arg0 {scalify.forms = ["2^0 level -12"]} : tensor<4x16xf32>
// FP8-NEXT: %21 = stablehlo.broadcast_in_dim %cst_26, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %22 = stablehlo.add %20, %21 {scalify.forms = ["2^0 level -9"]} : tensor<4x16xf32>
// FP8-NEXT: %23 = stablehlo.multiply %22, %arg0 {scalify.forms = ["2^0 level -9"]} : tensor<4x16xf32>
// FP8-NEXT: %24 = stablehlo.broadcast_in_dim %cst_25, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %25 = stablehlo.add %23, %24 {scalify.forms = ["2^0 level -7"]} : tensor<4x16xf32>
// FP8-NEXT: %26 = stablehlo.multiply %25, %arg0 {scalify.forms = ["2^0 level -7"]} : tensor<4x16xf32>
// FP8-NEXT: %27 = stablehlo.broadcast_in_dim %cst_24, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %28 = stablehlo.add %26, %27 {scalify.forms = ["2^0 level -5"]} : tensor<4x16xf32>
// FP8-NEXT: %29 = stablehlo.multiply %28, %arg0 {scalify.forms = ["2^0 level -5"]} : tensor<4x16xf32>
// FP8-NEXT: %30 = stablehlo.broadcast_in_dim %cst_23, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %31 = stablehlo.add %29, %30 {scalify.forms = ["2^0 level -3"]} : tensor<4x16xf32>
// FP8-NEXT: %32 = stablehlo.multiply %31, %arg0 {scalify.forms = ["2^0 level -3"]} : tensor<4x16xf32>
// FP8-NEXT: %33 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %34 = stablehlo.add %32, %33 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// FP8-NEXT: %35 = stablehlo.multiply %34, %arg0 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// FP8-NEXT: %36 = stablehlo.broadcast_in_dim %cst_21, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %37 = stablehlo.add %35, %36 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %38 = stablehlo.multiply %37, %arg0 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %39 = stablehlo.broadcast_in_dim %cst_21, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %40 = stablehlo.add %38, %39 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %41 = stablehlo.optimization_barrier %40 : tensor<4x16xf32>
// FP8-NEXT: %42 = stablehlo.abs %41 : tensor<4x16xf32>
// FP8-NEXT: %43 = stablehlo.bitcast_convert %42 : (tensor<4x16xf32>) -> tensor<4x16xi32>
// FP8-NEXT: %44 = stablehlo.add %43, %c_9 : tensor<4x16xi32>
// FP8-NEXT: %45 = stablehlo.reduce(%44 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xi32>, tensor<i32>) -> tensor<i32>
// FP8-NEXT: %46 = stablehlo.subtract %45, %c_8 : tensor<i32>
// FP8-NEXT: %47 = stablehlo.bitcast_convert %46 : (tensor<i32>) -> tensor<f32>
// FP8-NEXT: %48 = stablehlo.bitcast_convert %47 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %49 = stablehlo.add %48, %c_7 : tensor<ui32>
// FP8-NEXT: %50 = stablehlo.and %49, %c_6 : tensor<ui32>
// FP8-NEXT: %51 = stablehlo.subtract %50, %c_5 : tensor<ui32>
// FP8-NEXT: %52 = stablehlo.compare LT, %51, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %53 = stablehlo.bitcast_convert %50 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %54 = stablehlo.select %52, %53, %cst_10 : tensor<i1>, tensor<f32>
// FP8-NEXT: %55 = stablehlo.multiply %54, %cst_3 : tensor<f32>
// FP8-NEXT: %56 = stablehlo.multiply %55, %cst_2 : tensor<f32>
// FP8-NEXT: %57 = stablehlo.clamp %cst_1, %56, %cst_0 : tensor<f32>
// FP8-NEXT: %58 = stablehlo.bitcast_convert %57 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %59 = stablehlo.subtract %c, %58 : tensor<ui32>
// FP8-NEXT: %60 = stablehlo.bitcast_convert %59 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %61 = stablehlo.divide %cst_2, %60 : tensor<f32>
// FP8-NEXT: %62 = stablehlo.optimization_barrier %61 : tensor<f32>
// FP8-NEXT: %63 = stablehlo.divide %cst_14, %62 : tensor<f32>
// FP8-NEXT: %64 = stablehlo.broadcast_in_dim %63, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %65 = stablehlo.multiply %41, %64 : tensor<4x16xf32>
// FP8-NEXT: %66 = stablehlo.multiply %65, %cst : tensor<4x16xf32>
// FP8-NEXT: %67 = stablehlo.add %65, %66 : tensor<4x16xf32>
// FP8-NEXT: %68 = stablehlo.clamp %cst_12, %67, %cst_13 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %69 = stablehlo.convert %68 {scalify.forms = ["s0 level 6"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
// FP8-NEXT: %70 = call @cumprod(%arg0) {scalify.forms = ["2^0"]} : (tensor<4x16xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %71 = stablehlo.optimization_barrier %70 : tensor<4x16xf32>
// FP8-NEXT: %72 = stablehlo.abs %71 : tensor<4x16xf32>
// FP8-NEXT: %73 = stablehlo.bitcast_convert %72 : (tensor<4x16xf32>) -> tensor<4x16xi32>
// FP8-NEXT: %74 = stablehlo.add %73, %c_9 : tensor<4x16xi32>
// FP8-NEXT: %75 = stablehlo.reduce(%74 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xi32>, tensor<i32>) -> tensor<i32>
// FP8-NEXT: %76 = stablehlo.subtract %75, %c_8 : tensor<i32>
// FP8-NEXT: %77 = stablehlo.bitcast_convert %76 : (tensor<i32>) -> tensor<f32>
// FP8-NEXT: %78 = stablehlo.bitcast_convert %77 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %79 = stablehlo.add %78, %c_7 : tensor<ui32>
// FP8-NEXT: %80 = stablehlo.and %79, %c_6 : tensor<ui32>
// FP8-NEXT: %81 = stablehlo.subtract %80, %c_5 : tensor<ui32>
// FP8-NEXT: %82 = stablehlo.compare LT, %81, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %83 = stablehlo.bitcast_convert %80 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %84 = stablehlo.select %82, %83, %cst_10 : tensor<i1>, tensor<f32>
// FP8-NEXT: %85 = stablehlo.multiply %84, %cst_3 : tensor<f32>
// FP8-NEXT: %86 = stablehlo.multiply %85, %cst_2 : tensor<f32>
// FP8-NEXT: %87 = stablehlo.clamp %cst_1, %86, %cst_0 : tensor<f32>
// FP8-NEXT: %88 = stablehlo.bitcast_convert %87 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %89 = stablehlo.subtract %c, %88 : tensor<ui32>
// FP8-NEXT: %90 = stablehlo.bitcast_convert %89 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %91 = stablehlo.divide %cst_2, %90 : tensor<f32>
// FP8-NEXT: %92 = stablehlo.optimization_barrier %91 : tensor<f32>
// FP8-NEXT: %93 = stablehlo.divide %cst_14, %92 : tensor<f32>
// FP8-NEXT: %94 = stablehlo.broadcast_in_dim %93, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %95 = stablehlo.multiply %71, %94 : tensor<4x16xf32>
// FP8-NEXT: %96 = stablehlo.multiply %95, %cst : tensor<4x16xf32>
// FP8-NEXT: %97 = stablehlo.add %95, %96 : tensor<4x16xf32>
// FP8-NEXT: %98 = stablehlo.clamp %cst_12, %97, %cst_13 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %99 = stablehlo.convert %98 {scalify.forms = ["s1 level 6"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
// FP8-NEXT: %100 = stablehlo.multiply %arg0, %arg0 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %101 = stablehlo.multiply %100, %100 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %102 = stablehlo.multiply %101, %101 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %103 = stablehlo.multiply %102, %102 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %104 = stablehlo.optimization_barrier %103 : tensor<4x16xf32>
// FP8-NEXT: %105 = stablehlo.abs %104 : tensor<4x16xf32>
// FP8-NEXT: %106 = stablehlo.bitcast_convert %105 : (tensor<4x16xf32>) -> tensor<4x16xi32>
// FP8-NEXT: %107 = stablehlo.add %106, %c_9 : tensor<4x16xi32>
// FP8-NEXT: %108 = stablehlo.reduce(%107 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xi32>, tensor<i32>) -> tensor<i32>
// FP8-NEXT: %109 = stablehlo.subtract %108, %c_8 : tensor<i32>
// FP8-NEXT: %110 = stablehlo.bitcast_convert %109 : (tensor<i32>) -> tensor<f32>
// FP8-NEXT: %111 = stablehlo.bitcast_convert %110 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %112 = stablehlo.add %111, %c_7 : tensor<ui32>
// FP8-NEXT: %113 = stablehlo.and %112, %c_6 : tensor<ui32>
// FP8-NEXT: %114 = stablehlo.subtract %113, %c_5 : tensor<ui32>
// FP8-NEXT: %115 = stablehlo.compare LT, %114, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %116 = stablehlo.bitcast_convert %113 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %117 = stablehlo.select %115, %116, %cst_10 : tensor<i1>, tensor<f32>
// FP8-NEXT: %118 = stablehlo.multiply %117, %cst_3 : tensor<f32>
// FP8-NEXT: %119 = stablehlo.multiply %118, %cst_2 : tensor<f32>
// FP8-NEXT: %120 = stablehlo.clamp %cst_1, %119, %cst_0 : tensor<f32>
// FP8-NEXT: %121 = stablehlo.bitcast_convert %120 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %122 = stablehlo.subtract %c, %121 : tensor<ui32>
// FP8-NEXT: %123 = stablehlo.bitcast_convert %122 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %124 = stablehlo.divide %cst_2, %123 : tensor<f32>
// FP8-NEXT: %125 = stablehlo.optimization_barrier %124 : tensor<f32>
// FP8-NEXT: %126 = stablehlo.divide %cst_14, %125 : tensor<f32>
// FP8-NEXT: %127 = stablehlo.broadcast_in_dim %126, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %128 = stablehlo.multiply %104, %127 : tensor<4x16xf32>
// FP8-NEXT: %129 = stablehlo.multiply %128, %cst : tensor<4x16xf32>
// FP8-NEXT: %130 = stablehlo.add %128, %129 : tensor<4x16xf32>
// FP8-NEXT: %131 = stablehlo.clamp %cst_12, %130, %cst_13 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %132 = stablehlo.convert %131 {scalify.forms = ["s2 level 6"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
// FP8-NEXT: %133 = stablehlo.reduce(%arg0 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %134 = stablehlo.broadcast_in_dim %133, dims = [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %135 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %136 = stablehlo.divide %134, %135 {scalify.forms = ["2^0 level -2"]} : tensor<4x1xf32>
// FP8-NEXT: %137 = stablehlo.broadcast_in_dim %136, dims = [0, 1] {scalify.forms = ["2^0 level -2"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %138 = stablehlo.subtract %arg0, %137 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %139 = stablehlo.multiply %138, %138 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %140 = stablehlo.reduce(%139 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %141 = stablehlo.broadcast_in_dim %140, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %142 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %143 = stablehlo.divide %141, %142 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %144 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %145 = stablehlo.add %143, %144 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %146 = stablehlo.rsqrt %145 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %147 = stablehlo.broadcast_in_dim %146, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %148 = stablehlo.multiply %138, %147 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %149 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %150 = stablehlo.multiply %149, %148 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// FP8-NEXT: %151 = stablehlo.multiply %150, %148 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// FP8-NEXT: %152 = stablehlo.add %148, %151 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %153 = stablehlo.reduce(%152 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %154 = stablehlo.broadcast_in_dim %153, dims = [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %155 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %156 = stablehlo.divide %154, %155 {scalify.forms = ["2^0 level -2"]} : tensor<4x1xf32>
// FP8-NEXT: %157 = stablehlo.broadcast_in_dim %156, dims = [0, 1] {scalify.forms = ["2^0 level -2"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %158 = stablehlo.subtract %152, %157 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %159 = stablehlo.multiply %158, %158 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %160 = stablehlo.reduce(%159 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %161 = stablehlo.broadcast_in_dim %160, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %162 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %163 = stablehlo.divide %161, %162 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %164 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %165 = stablehlo.add %163, %164 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %166 = stablehlo.rsqrt %165 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %167 = stablehlo.broadcast_in_dim %166, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %168 = stablehlo.multiply %158, %167 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %169 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %170 = stablehlo.multiply %169, %168 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// FP8-NEXT: %171 = stablehlo.multiply %170, %168 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// FP8-NEXT: %172 = stablehlo.add %168, %171 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %173 = stablehlo.reduce(%172 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %174 = stablehlo.broadcast_in_dim %173, dims = [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %175 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %176 = stablehlo.divide %174, %175 {scalify.forms = ["2^0 level -2"]} : tensor<4x1xf32>
// FP8-NEXT: %177 = stablehlo.broadcast_in_dim %176, dims = [0, 1] {scalify.forms = ["2^0 level -2"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %178 = stablehlo.subtract %172, %177 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %179 = stablehlo.multiply %178, %178 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %180 = stablehlo.reduce(%179 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %181 = stablehlo.broadcast_in_dim %180, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %182 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %183 = stablehlo.divide %181, %182 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %184 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %185 = stablehlo.add %183, %184 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %186 = stablehlo.rsqrt %185 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %187 = stablehlo.broadcast_in_dim %186, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %188 = stablehlo.multiply %178, %187 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %189 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %190 = stablehlo.multiply %189, %188 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// FP8-NEXT: %191 = stablehlo.multiply %190, %188 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// FP8-NEXT: %192 = stablehlo.add %188, %191 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %193 = stablehlo.reduce(%192 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %194 = stablehlo.broadcast_in_dim %193, dims = [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %195 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %196 = stablehlo.divide %194, %195 {scalify.forms = ["2^0 level -2"]} : tensor<4x1xf32>
// FP8-NEXT: %197 = stablehlo.broadcast_in_dim %196, dims = [0, 1] {scalify.forms = ["2^0 level -2"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %198 = stablehlo.subtract %192, %197 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %199 = stablehlo.multiply %198, %198 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %200 = stablehlo.reduce(%199 init: %cst_20) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %201 = stablehlo.broadcast_in_dim %200, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %202 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %203 = stablehlo.divide %201, %202 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %204 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %205 = stablehlo.add %203, %204 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %206 = stablehlo.rsqrt %205 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %207 = stablehlo.broadcast_in_dim %206, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %208 = stablehlo.multiply %198, %207 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %209 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %210 = stablehlo.multiply %209, %208 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// FP8-NEXT: %211 = stablehlo.multiply %210, %208 {scalify.forms = ["2^0 level -1"]} : tensor<4x16xf32>
// FP8-NEXT: %212 = stablehlo.add %208, %211 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %213 = stablehlo.multiply %212, %cst : tensor<4x16xf32>
// FP8-NEXT: %214 = stablehlo.add %212, %213 : tensor<4x16xf32>
// FP8-NEXT: %215 = stablehlo.clamp %cst_12, %214, %cst_13 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %216 = stablehlo.convert %215 {scalify.forms = ["2^0"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
// FP8-NEXT: %217:2 = stablehlo.while(%iterArg = %c_17, %iterArg_33 = %arg0) : tensor<i32>, tensor<4x16xf32> attributes {scalify.forms = ["unscaled", "2^0 level 1.80735"]}
// FP8-NEXT: cond {
// FP8-NEXT: %260 = stablehlo.compare LT, %iterArg, %c_16, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// FP8-NEXT: stablehlo.return %260 : tensor<i1>
// FP8-NEXT: } do {
// FP8-NEXT: %260 = func.call @closed_call(%iterArg_33) {scalify.forms = ["2^0 level 1.80735"]} : (tensor<4x16xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %261 = stablehlo.add %iterArg, %c_15 : tensor<i32>
// FP8-NEXT: stablehlo.return %261, %260 : tensor<i32>, tensor<4x16xf32>
// FP8-NEXT: }
// FP8-NEXT: %218 = stablehlo.optimization_barrier %217#1 : tensor<4x16xf32>
// FP8-NEXT: %219 = stablehlo.abs %218 : tensor<4x16xf32>
// FP8-NEXT: %220 = stablehlo.bitcast_convert %219 : (tensor<4x16xf32>) -> tensor<4x16xi32>
// FP8-NEXT: %221 = stablehlo.add %220, %c_9 : tensor<4x16xi32>
// FP8-NEXT: %222 = stablehlo.reduce(%221 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xi32>, tensor<i32>) -> tensor<i32>
// FP8-NEXT: %223 = stablehlo.subtract %222, %c_8 : tensor<i32>
// FP8-NEXT: %224 = stablehlo.bitcast_convert %223 : (tensor<i32>) -> tensor<f32>
// FP8-NEXT: %225 = stablehlo.bitcast_convert %224 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %226 = stablehlo.add %225, %c_7 : tensor<ui32>
// FP8-NEXT: %227 = stablehlo.and %226, %c_6 : tensor<ui32>
// FP8-NEXT: %228 = stablehlo.subtract %227, %c_5 : tensor<ui32>
// FP8-NEXT: %229 = stablehlo.compare LT, %228, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %230 = stablehlo.bitcast_convert %227 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %231 = stablehlo.select %229, %230, %cst_10 : tensor<i1>, tensor<f32>
// FP8-NEXT: %232 = stablehlo.multiply %231, %cst_3 : tensor<f32>
// FP8-NEXT: %233 = stablehlo.multiply %232, %cst_2 : tensor<f32>
// FP8-NEXT: %234 = stablehlo.clamp %cst_1, %233, %cst_0 : tensor<f32>
// FP8-NEXT: %235 = stablehlo.bitcast_convert %234 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %236 = stablehlo.subtract %c, %235 : tensor<ui32>
// FP8-NEXT: %237 = stablehlo.bitcast_convert %236 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %238 = stablehlo.divide %cst_2, %237 : tensor<f32>
// FP8-NEXT: %239 = stablehlo.optimization_barrier %238 : tensor<f32>
// FP8-NEXT: %240 = stablehlo.divide %cst_14, %239 : tensor<f32>
// FP8-NEXT: %241 = stablehlo.broadcast_in_dim %240, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %242 = stablehlo.multiply %218, %241 : tensor<4x16xf32>
// FP8-NEXT: %243 = stablehlo.multiply %242, %cst : tensor<4x16xf32>
// FP8-NEXT: %244 = stablehlo.add %242, %243 : tensor<4x16xf32>
// FP8-NEXT: %245 = stablehlo.clamp %cst_12, %244, %cst_13 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %246 = stablehlo.convert %245 {scalify.forms = ["s3 level 6"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
// FP8-NEXT: %247 = stablehlo.dot_general %69, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s0 level 8"]} : (tensor<4x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// FP8-NEXT: %248 = stablehlo.dot_general %99, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s1 level 8"]} : (tensor<4x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// FP8-NEXT: %249 = stablehlo.dot_general %132, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s2 level 8"]} : (tensor<4x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// FP8-NEXT: %250 = stablehlo.dot_general %216, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<4x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// FP8-NEXT: %251 = stablehlo.dot_general %246, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["s3 level 8"]} : (tensor<4x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// FP8-NEXT: %252 = stablehlo.broadcast_in_dim %62, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %253 = stablehlo.multiply %247, %252 : tensor<4x16xf32>
// FP8-NEXT: %254 = stablehlo.broadcast_in_dim %92, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %255 = stablehlo.multiply %248, %254 : tensor<4x16xf32>
// FP8-NEXT: %256 = stablehlo.broadcast_in_dim %125, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %257 = stablehlo.multiply %249, %256 : tensor<4x16xf32>
// FP8-NEXT: %258 = stablehlo.broadcast_in_dim %239, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %259 = stablehlo.multiply %251, %258 : tensor<4x16xf32>
// FP8-NEXT: return %253, %255, %257, %250, %259 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @cumprod(%arg0: tensor<4x16xf32>) -> tensor<4x16xf32> {
// FP8-NEXT: %0 = call @cumprod_0(%arg0) : (tensor<4x16xf32>) -> tensor<4x16xf32>
// FP8-NEXT: return %0 : tensor<4x16xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @cumprod_0(%arg0: tensor<4x16xf32>) -> tensor<4x16xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = "stablehlo.reduce_window"(%arg0, %cst) <{padding = dense<[[0, 0], [15, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 16>}> ({
// FP8-NEXT: ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// FP8-NEXT: %1 = stablehlo.multiply %arg1, %arg2 : tensor<f32>
// FP8-NEXT: stablehlo.return %1 : tensor<f32>
// FP8-NEXT: }) : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: return %0 : tensor<4x16xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @closed_call(%arg0: tensor<4x16xf32>) -> tensor<4x16xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<3.500000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %1 = stablehlo.multiply %0, %arg0 : tensor<4x16xf32>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %3 = stablehlo.subtract %2, %arg0 : tensor<4x16xf32>
// FP8-NEXT: %4 = stablehlo.multiply %1, %3 : tensor<4x16xf32>
// FP8-NEXT: return %4 : tensor<4x16xf32>
// FP8-NEXT: }
// FP8-NEXT: }

module @_series attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x16xf32>, %arg1: tensor<16x16xf32>) -> (tensor<4x16xf32> {jax.result_info = "result[0]"}, tensor<4x16xf32> {jax.result_info = "result[1]"}, tensor<4x16xf32> {jax.result_info = "result[2]"}, tensor<4x16xf32> {jax.result_info = "result[3]"}, tensor<4x16xf32> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<16> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.166666672> : tensor<f32>
    %cst_7 = stablehlo.constant dense<0.0416666679> : tensor<f32>
    %cst_8 = stablehlo.constant dense<0.00833333377> : tensor<f32>
    %cst_9 = stablehlo.constant dense<0.00138888892> : tensor<f32>
    %cst_10 = stablehlo.constant dense<1.98412701E-4> : tensor<f32>
    %cst_11 = stablehlo.constant dense<2.48015876E-5> : tensor<f32>
    %cst_12 = stablehlo.constant dense<2.75573188E-6> : tensor<f32>
    %cst_13 = stablehlo.constant dense<2.755732E-7> : tensor<f32>
    %cst_14 = stablehlo.constant dense<2.50521079E-8> : tensor<f32>
    %cst_15 = stablehlo.constant dense<2.08767559E-9> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<4x16xf32>
    %2 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %3 = stablehlo.add %1, %2 : tensor<4x16xf32>
    %4 = stablehlo.multiply %3, %arg0 : tensor<4x16xf32>
    %5 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %6 = stablehlo.add %4, %5 : tensor<4x16xf32>
    %7 = stablehlo.multiply %6, %arg0 : tensor<4x16xf32>
    %8 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %9 = stablehlo.add %7, %8 : tensor<4x16xf32>
    %10 = stablehlo.multiply %9, %arg0 : tensor<4x16xf32>
    %11 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %12 = stablehlo.add %10, %11 : tensor<4x16xf32>
    %13 = stablehlo.multiply %12, %arg0 : tensor<4x16xf32>
    %14 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %15 = stablehlo.add %13, %14 : tensor<4x16xf32>
    %16 = stablehlo.multiply %15, %arg0 : tensor<4x16xf32>
    %17 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %18 = stablehlo.add %16, %17 : tensor<4x16xf32>
    %19 = stablehlo.multiply %18, %arg0 : tensor<4x16xf32>
    %20 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %21 = stablehlo.add %19, %20 : tensor<4x16xf32>
    %22 = stablehlo.multiply %21, %arg0 : tensor<4x16xf32>
    %23 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %24 = stablehlo.add %22, %23 : tensor<4x16xf32>
    %25 = stablehlo.multiply %24, %arg0 : tensor<4x16xf32>
    %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %27 = stablehlo.add %25, %26 : tensor<4x16xf32>
    %28 = stablehlo.multiply %27, %arg0 : tensor<4x16xf32>
    %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %30 = stablehlo.add %28, %29 : tensor<4x16xf32>
    %31 = stablehlo.multiply %30, %arg0 : tensor<4x16xf32>
    %32 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %33 = stablehlo.add %31, %32 : tensor<4x16xf32>
    %34 = stablehlo.multiply %33, %arg0 : tensor<4x16xf32>
    %35 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %36 = stablehlo.add %34, %35 : tensor<4x16xf32>
    %37 = call @cumprod(%arg0) : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %38 = stablehlo.multiply %arg0, %arg0 : tensor<4x16xf32>
    %39 = stablehlo.multiply %38, %38 : tensor<4x16xf32>
    %40 = stablehlo.multiply %39, %39 : tensor<4x16xf32>
    %41 = stablehlo.multiply %40, %40 : tensor<4x16xf32>
    %42 = stablehlo.reduce(%arg0 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %44 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %45 = stablehlo.divide %43, %44 : tensor<4x1xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %47 = stablehlo.subtract %arg0, %46 : tensor<4x16xf32>
    %48 = stablehlo.multiply %47, %47 : tensor<4x16xf32>
    %49 = stablehlo.reduce(%48 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %51 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %52 = stablehlo.divide %50, %51 : tensor<4x1xf32>
    %53 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %54 = stablehlo.add %52, %53 : tensor<4x1xf32>
    %55 = stablehlo.rsqrt %54 : tensor<4x1xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %57 = stablehlo.multiply %47, %56 : tensor<4x16xf32>
    %58 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %59 = stablehlo.multiply %58, %57 : tensor<4x16xf32>
    %60 = stablehlo.multiply %59, %57 : tensor<4x16xf32>
    %61 = stablehlo.add %57, %60 : tensor<4x16xf32>
    %62 = stablehlo.reduce(%61 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %64 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %65 = stablehlo.divide %63, %64 : tensor<4x1xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %67 = stablehlo.subtract %61, %66 : tensor<4x16xf32>
    %68 = stablehlo.multiply %67, %67 : tensor<4x16xf32>
    %69 = stablehlo.reduce(%68 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %71 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %72 = stablehlo.divide %70, %71 : tensor<4x1xf32>
    %73 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %74 = stablehlo.add %72, %73 : tensor<4x1xf32>
    %75 = stablehlo.rsqrt %74 : tensor<4x1xf32>
    %76 = stablehlo.broadcast_in_dim %75, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %77 = stablehlo.multiply %67, %76 : tensor<4x16xf32>
    %78 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %79 = stablehlo.multiply %78, %77 : tensor<4x16xf32>
    %80 = stablehlo.multiply %79, %77 : tensor<4x16xf32>
    %81 = stablehlo.add %77, %80 : tensor<4x16xf32>
    %82 = stablehlo.reduce(%81 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %83 = stablehlo.broadcast_in_dim %82, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %84 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %85 = stablehlo.divide %83, %84 : tensor<4x1xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %87 = stablehlo.subtract %81, %86 : tensor<4x16xf32>
    %88 = stablehlo.multiply %87, %87 : tensor<4x16xf32>
    %89 = stablehlo.reduce(%88 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %90 = stablehlo.broadcast_in_dim %89, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %91 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %92 = stablehlo.divide %90, %91 : tensor<4x1xf32>
    %93 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %94 = stablehlo.add %92, %93 : tensor<4x1xf32>
    %95 = stablehlo.rsqrt %94 : tensor<4x1xf32>
    %96 = stablehlo.broadcast_in_dim %95, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %97 = stablehlo.multiply %87, %96 : tensor<4x16xf32>
    %98 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %99 = stablehlo.multiply %98, %97 : tensor<4x16xf32>
    %100 = stablehlo.multiply %99, %97 : tensor<4x16xf32>
    %101 = stablehlo.add %97, %100 : tensor<4x16xf32>
    %102 = stablehlo.reduce(%101 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %103 = stablehlo.broadcast_in_dim %102, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %104 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %105 = stablehlo.divide %103, %104 : tensor<4x1xf32>
    %106 = stablehlo.broadcast_in_dim %105, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %107 = stablehlo.subtract %101, %106 : tensor<4x16xf32>
    %108 = stablehlo.multiply %107, %107 : tensor<4x16xf32>
    %109 = stablehlo.reduce(%108 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %111 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %112 = stablehlo.divide %110, %111 : tensor<4x1xf32>
    %113 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %114 = stablehlo.add %112, %113 : tensor<4x1xf32>
    %115 = stablehlo.rsqrt %114 : tensor<4x1xf32>
    %116 = stablehlo.broadcast_in_dim %115, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %117 = stablehlo.multiply %107, %116 : tensor<4x16xf32>
    %118 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %119 = stablehlo.multiply %118, %117 : tensor<4x16xf32>
    %120 = stablehlo.multiply %119, %117 : tensor<4x16xf32>
    %121 = stablehlo.add %117, %120 : tensor<4x16xf32>
    %122:2 = stablehlo.while(%iterArg = %c_1, %iterArg_16 = %arg0) : tensor<i32>, tensor<4x16xf32>
    cond {
      %128 = stablehlo.compare LT, %iterArg, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %128 : tensor<i1>
    } do {
      %128 = func.call @closed_call(%iterArg_16) : (tensor<4x16xf32>) -> tensor<4x16xf32>
      %129 = stablehlo.add %iterArg, %c : tensor<i32>
      stablehlo.return %129, %128 : tensor<i32>, tensor<4x16xf32>
    }
    %123 = stablehlo.dot_general %36, %arg1, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    %124 = stablehlo.dot_general %37, %arg1, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    %125 = stablehlo.dot_general %41, %arg1, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    %126 = stablehlo.dot_general %121, %arg1, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    %127 = stablehlo.dot_general %122#1, %arg1, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    return %123, %124, %125, %126, %127 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>
  }
  func.func private @cumprod(%arg0: tensor<4x16xf32>) -> tensor<4x16xf32> {
    %0 = call @cumprod_0(%arg0) : (tensor<4x16xf32>) -> tensor<4x16xf32>
    return %0 : tensor<4x16xf32>
  }
  func.func private @cumprod_0(%arg0: tensor<4x16xf32>) -> tensor<4x16xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{padding = dense<[[0, 0], [15, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 16>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.multiply %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
    return %0 : tensor<4x16xf32>
  }
  func.func private @closed_call(%arg0: tensor<4x16xf32>) -> tensor<4x16xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<3.500000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<4x16xf32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %3 = stablehlo.subtract %2, %arg0 : tensor<4x16xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<4x16xf32>
    return %4 : tensor<4x16xf32>
  }
}
