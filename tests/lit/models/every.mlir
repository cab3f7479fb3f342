// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{signature=scaled every=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=%S/Inputs/every.toml},scalify-quantize-matmuls{recipe=%S/Inputs/every.toml},scalify-narrow-state{recipe=%S/Inputs/every.toml},scalify-quantize-constants,scalify-propagate{recipe=%S/Inputs/every.toml annotate=true})' \
// RUN:   | %filecheck %s

// A training step whose state is rescaled in every fourth step.
// CHECK:      module @_sgd attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// CHECK-NEXT: func.func public @main(%arg0: tensor<16xf16>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<32x16xf16>, %arg3: tensor<f32> {scalify.is_scale}, %arg4: tensor<16xf32>, %arg5: tensor<f32> {scalify.is_scale}, %arg6: tensor<32x16xf32>, %arg7: tensor<f32> {scalify.is_scale}, %arg8: tensor<i32>, %arg9: tensor<4x32xf32>, %arg10: tensor<f32> {scalify.is_scale}, %arg11: tensor<4x16xf32>, %arg12: tensor<f32> {scalify.is_scale}) -> (tensor<16xf16> {jax.result_info = "result[0]['b']"}, tensor<f32> {jax.result_info = "result[0]['b'].scale", scalify.is_scale}, tensor<32x16xf16> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[0]['w'].scale", scalify.is_scale}, tensor<16xf32> {jax.result_info = "result[1]['b']"}, tensor<f32> {jax.result_info = "result[1]['b'].scale", scalify.is_scale}, tensor<32x16xf32> {jax.result_info = "result[1]['w']"}, tensor<f32> {jax.result_info = "result[1]['w'].scale", scalify.is_scale}, tensor<i32> {jax.result_info = "result[2]"}) {
// CHECK-NEXT: %cst = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// CHECK-NEXT: %cst_2 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.multiply %arg3, %arg10 : tensor<f32>
// CHECK-NEXT: %1 = stablehlo.divide %arg1, %0 : tensor<f32>
// CHECK-NEXT: %2 = stablehlo.divide %0, %arg12 : tensor<f32>
// CHECK-NEXT: %cst_3 = stablehlo.constant dense<3.125000e-02> : tensor<f32>
// CHECK-NEXT: %3 = stablehlo.multiply %arg12, %cst_3 : tensor<f32>
// CHECK-NEXT: %cst_4 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
// CHECK-NEXT: %4 = stablehlo.multiply %arg12, %cst_4 : tensor<f32>
// CHECK-NEXT: %5 = stablehlo.multiply %arg10, %arg12 : tensor<f32>
// CHECK-NEXT: %6 = stablehlo.multiply %5, %cst_4 : tensor<f32>
// CHECK-NEXT: %7 = stablehlo.divide %4, %arg5 : tensor<f32>
// CHECK-NEXT: %8 = stablehlo.divide %6, %arg7 : tensor<f32>
// CHECK-NEXT: %cst_5 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
// CHECK-NEXT: %9 = stablehlo.divide %arg5, %arg1 : tensor<f32>
// CHECK-NEXT: %10 = stablehlo.multiply %cst_5, %9 : tensor<f32>
// CHECK-NEXT: %11 = stablehlo.divide %arg7, %arg3 : tensor<f32>
// CHECK-NEXT: %12 = stablehlo.multiply %cst_5, %11 : tensor<f32>
// CHECK-NEXT: %13 = stablehlo.convert %arg2 {scalify.forms = ["s1"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// CHECK-NEXT: %14 = stablehlo.convert %arg0 {scalify.forms = ["s0"]} : (tensor<16xf16>) -> tensor<16xf32>
// CHECK-NEXT: %15 = stablehlo.is_finite %13 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// CHECK-NEXT: %16 = stablehlo.clamp %cst_1, %13, %cst_2 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %17 = stablehlo.select %15, %16, %13 : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT: %18 = stablehlo.convert %17 {scalify.forms = ["s1"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: %19 = stablehlo.is_finite %arg9 : (tensor<4x32xf32>) -> tensor<4x32xi1>
// CHECK-NEXT: %20 = stablehlo.clamp %cst_1, %arg9, %cst_2 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// CHECK-NEXT: %21 = stablehlo.select %19, %20, %arg9 : tensor<4x32xi1>, tensor<4x32xf32>
// CHECK-NEXT: %22 = stablehlo.convert %21 {scalify.forms = ["s4"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// CHECK-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.899999976> : tensor<f32>
// CHECK-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// CHECK-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %23 = stablehlo.dot_general %22, %18, contracting_dims = [1] x [0] {scalify.forms = ["s1*s4 level 2"]} : (tensor<4x32xf16>, tensor<32x16xf16>) -> tensor<4x16xf32>
// CHECK-NEXT: %24 = stablehlo.broadcast_in_dim %14, dims = [1] {scalify.forms = ["s0"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %25 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
// CHECK-NEXT: %26 = stablehlo.multiply %24, %25 : tensor<1x16xf32>
// CHECK-NEXT: %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %28 = stablehlo.add %23, %27 {scalify.forms = ["s1*s4 level 2"]} : tensor<4x16xf32>
// CHECK-NEXT: %29 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %30 = stablehlo.multiply %28, %29 : tensor<4x16xf32>
// CHECK-NEXT: %31 = stablehlo.subtract %30, %arg11 {scalify.forms = ["s5"]} : tensor<4x16xf32>
// CHECK-NEXT: %32 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %33 = stablehlo.multiply %32, %31 {scalify.forms = ["s5 level 1"]} : tensor<4x16xf32>
// CHECK-NEXT: %34 = stablehlo.divide %cst_9, %cst_8 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// CHECK-NEXT: %35 = stablehlo.broadcast_in_dim %34, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %36 = stablehlo.multiply %35, %33 {scalify.forms = ["s5 level -5"]} : tensor<4x16xf32>
// CHECK-NEXT: %cst_11 = stablehlo.constant dense<3.200000e+01> : tensor<4x16xf32>
// CHECK-NEXT: %37 = stablehlo.multiply %36, %cst_11 : tensor<4x16xf32>
// CHECK-NEXT: %38 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %39 = stablehlo.multiply %37, %38 : tensor<4x16xf32>
// CHECK-NEXT: %40 = stablehlo.is_finite %39 : (tensor<4x16xf32>) -> tensor<4x16xi1>
// CHECK-NEXT: %41 = stablehlo.clamp %cst_1, %37, %cst_2 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %42 = stablehlo.select %40, %41, %39 : tensor<4x16xi1>, tensor<4x16xf32>
// CHECK-NEXT: %43 = stablehlo.convert %42 {scalify.forms = ["2^-5*s5"]} : (tensor<4x16xf32>) -> tensor<4x16xf16>
// CHECK-NEXT: %44 = stablehlo.reduce(%36 init: %cst_7) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s5 level -4"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %45 = stablehlo.reshape %44 {scalify.forms = ["s5 level -4"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %46 = stablehlo.reduce(%45 init: %cst_7) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s5 level -4"]} : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %cst_12 = stablehlo.constant dense<1.600000e+01> : tensor<16xf32>
// CHECK-NEXT: %47 = stablehlo.multiply %46, %cst_12 : tensor<16xf32>
// CHECK-NEXT: %48 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %49 = stablehlo.multiply %47, %48 : tensor<16xf32>
// CHECK-NEXT: %50 = stablehlo.is_finite %49 : (tensor<16xf32>) -> tensor<16xi1>
// CHECK-NEXT: %51 = stablehlo.clamp %cst_1, %47, %cst_2 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %52 = stablehlo.select %50, %51, %49 : tensor<16xi1>, tensor<16xf32>
// CHECK-NEXT: %53 = stablehlo.convert %52 {scalify.forms = ["2^-4*s5"]} : (tensor<16xf32>) -> tensor<16xf16>
// CHECK-NEXT: %54 = stablehlo.convert %53 {scalify.forms = ["2^-4*s5"]} : (tensor<16xf16>) -> tensor<16xf32>
// CHECK-NEXT: %55 = stablehlo.dot_general %43, %22, contracting_dims = [0] x [0] {scalify.forms = ["2^-5*s4*s5 level 1"]} : (tensor<4x16xf16>, tensor<4x32xf16>) -> tensor<16x32xf32>
// CHECK-NEXT: %56 = stablehlo.transpose %55, dims = [1, 0] {scalify.forms = ["2^-5*s4*s5 level 1"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// CHECK-NEXT: %cst_13 = stablehlo.constant dense<5.000000e-01> : tensor<32x16xf32>
// CHECK-NEXT: %57 = stablehlo.multiply %56, %cst_13 : tensor<32x16xf32>
// CHECK-NEXT: %58 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %59 = stablehlo.multiply %57, %58 : tensor<32x16xf32>
// CHECK-NEXT: %60 = stablehlo.is_finite %59 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// CHECK-NEXT: %61 = stablehlo.clamp %cst_1, %57, %cst_2 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %62 = stablehlo.select %60, %61, %59 : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT: %63 = stablehlo.convert %62 {scalify.forms = ["2^-4*s4*s5"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: %64 = stablehlo.convert %63 {scalify.forms = ["2^-4*s4*s5"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// CHECK-NEXT: %65 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %66 = stablehlo.multiply %65, %arg4 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// CHECK-NEXT: %67 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %68 = stablehlo.multiply %54, %67 : tensor<16xf32>
// CHECK-NEXT: %69 = stablehlo.add %66, %68 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// CHECK-NEXT: %70 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %71 = stablehlo.multiply %70, %arg6 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// CHECK-NEXT: %72 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %73 = stablehlo.multiply %64, %72 : tensor<32x16xf32>
// CHECK-NEXT: %74 = stablehlo.add %71, %73 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// CHECK-NEXT: %75 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %76 = stablehlo.multiply %75, %69 : tensor<16xf32>
// CHECK-NEXT: %77 = stablehlo.subtract %14, %76 {scalify.forms = ["s0"]} : tensor<16xf32>
// CHECK-NEXT: %78 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %79 = stablehlo.multiply %78, %74 : tensor<32x16xf32>
// CHECK-NEXT: %80 = stablehlo.subtract %13, %79 {scalify.forms = ["s1"]} : tensor<32x16xf32>
// CHECK-NEXT: %81 = stablehlo.add %arg8, %c : tensor<i32>
// CHECK-NEXT: %82 = stablehlo.reshape %77 : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %83 = stablehlo.reshape %69 : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %84 = stablehlo.concatenate %82, %83, dim = 0 : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<2x16xf32>
// CHECK-NEXT: %85 = stablehlo.multiply %84, %84 : tensor<2x16xf32>
// CHECK-NEXT: %86 = stablehlo.is_finite %84 : (tensor<2x16xf32>) -> tensor<2x16xi1>
// CHECK-NEXT: %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<2x16xf32>
// CHECK-NEXT: %87 = stablehlo.select %86, %85, %cst_14 : tensor<2x16xi1>, tensor<2x16xf32>
// CHECK-NEXT: %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %88 = stablehlo.reduce(%87 init: %cst_15) applies stablehlo.add across dimensions = [1] : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: %cst_16 = stablehlo.constant dense<6.250000e-02> : tensor<2xf32>
// CHECK-NEXT: %89 = stablehlo.multiply %88, %cst_16 : tensor<2xf32>
// CHECK-NEXT: %90 = stablehlo.sqrt %89 : tensor<2xf32>
// CHECK-NEXT: %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %91 = stablehlo.bitcast_convert %90 : (tensor<2xf32>) -> tensor<2xui32>
// CHECK-NEXT: %c_18 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// CHECK-NEXT: %92 = stablehlo.and %91, %c_18 : tensor<2xui32>
// CHECK-NEXT: %c_19 = stablehlo.constant dense<1> : tensor<2xui32>
// CHECK-NEXT: %93 = stablehlo.subtract %92, %c_19 : tensor<2xui32>
// CHECK-NEXT: %c_20 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// CHECK-NEXT: %94 = stablehlo.compare LT, %93, %c_20 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// CHECK-NEXT: %95 = stablehlo.bitcast_convert %92 : (tensor<2xui32>) -> tensor<2xf32>
// CHECK-NEXT: %96 = stablehlo.select %94, %95, %cst_17 : tensor<2xi1>, tensor<2xf32>
// CHECK-NEXT: %97 = stablehlo.convert %arg8 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %c_21 = stablehlo.constant dense<4> : tensor<i64>
// CHECK-NEXT: %98 = stablehlo.remainder %97, %c_21 : tensor<i64>
// CHECK-NEXT: %c_22 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %99 = stablehlo.compare EQ, %98, %c_22 : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT: %100 = stablehlo.slice %96 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %101 = stablehlo.reshape %100 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %102 = stablehlo.multiply %101, %arg1 : tensor<f32>
// CHECK-NEXT: %103 = stablehlo.multiply %102, %cst_0 : tensor<f32>
// CHECK-NEXT: %104 = stablehlo.multiply %102, %cst : tensor<f32>
// CHECK-NEXT: %105 = stablehlo.compare GT, %103, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %106 = stablehlo.compare LT, %104, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %107 = stablehlo.or %105, %106 : tensor<i1>
// CHECK-NEXT: %108 = stablehlo.or %99, %107 : tensor<i1>
// CHECK-NEXT: %109 = stablehlo.select %108, %102, %arg1 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_23 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_24 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %110 = stablehlo.clamp %cst_23, %109, %cst_24 : tensor<f32>
// CHECK-NEXT: %111 = stablehlo.bitcast_convert %110 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_25 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %112 = stablehlo.subtract %c_25, %111 : tensor<ui32>
// CHECK-NEXT: %113 = stablehlo.bitcast_convert %112 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %114 = stablehlo.divide %cst_26, %113 : tensor<f32>
// CHECK-NEXT: %115 = stablehlo.optimization_barrier %114 : tensor<f32>
// CHECK-NEXT: %116 = stablehlo.divide %arg1, %115 : tensor<f32>
// CHECK-NEXT: %117 = stablehlo.broadcast_in_dim %116, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %118 = stablehlo.multiply %77, %117 : tensor<16xf32>
// CHECK-NEXT: %119 = stablehlo.slice %96 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %120 = stablehlo.reshape %119 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %121 = stablehlo.multiply %120, %arg5 : tensor<f32>
// CHECK-NEXT: %122 = stablehlo.multiply %121, %cst_0 : tensor<f32>
// CHECK-NEXT: %123 = stablehlo.multiply %121, %cst : tensor<f32>
// CHECK-NEXT: %124 = stablehlo.compare GT, %122, %arg5 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %125 = stablehlo.compare LT, %123, %arg5 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %126 = stablehlo.or %124, %125 : tensor<i1>
// CHECK-NEXT: %127 = stablehlo.or %99, %126 : tensor<i1>
// CHECK-NEXT: %128 = stablehlo.select %127, %121, %arg5 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_27 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_28 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %129 = stablehlo.clamp %cst_27, %128, %cst_28 : tensor<f32>
// CHECK-NEXT: %130 = stablehlo.bitcast_convert %129 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_29 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %131 = stablehlo.subtract %c_29, %130 : tensor<ui32>
// CHECK-NEXT: %132 = stablehlo.bitcast_convert %131 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_30 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %133 = stablehlo.divide %cst_30, %132 : tensor<f32>
// CHECK-NEXT: %134 = stablehlo.optimization_barrier %133 : tensor<f32>
// CHECK-NEXT: %135 = stablehlo.divide %arg5, %134 : tensor<f32>
// CHECK-NEXT: %136 = stablehlo.broadcast_in_dim %135, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %137 = stablehlo.multiply %69, %136 : tensor<16xf32>
// CHECK-NEXT: %138 = stablehlo.is_finite %118 : (tensor<16xf32>) -> tensor<16xi1>
// CHECK-NEXT: %139 = stablehlo.clamp %cst_1, %118, %cst_2 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %140 = stablehlo.select %138, %139, %118 : tensor<16xi1>, tensor<16xf32>
// CHECK-NEXT: %141 = stablehlo.convert %140 {scalify.forms = ["s6"]} : (tensor<16xf32>) -> tensor<16xf16>
// CHECK-NEXT: %142 = stablehlo.reshape %80 : (tensor<32x16xf32>) -> tensor<1x512xf32>
// CHECK-NEXT: %143 = stablehlo.reshape %74 : (tensor<32x16xf32>) -> tensor<1x512xf32>
// CHECK-NEXT: %144 = stablehlo.concatenate %142, %143, dim = 0 : (tensor<1x512xf32>, tensor<1x512xf32>) -> tensor<2x512xf32>
// CHECK-NEXT: %145 = stablehlo.multiply %144, %144 : tensor<2x512xf32>
// CHECK-NEXT: %146 = stablehlo.is_finite %144 : (tensor<2x512xf32>) -> tensor<2x512xi1>
// CHECK-NEXT: %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<2x512xf32>
// CHECK-NEXT: %147 = stablehlo.select %146, %145, %cst_31 : tensor<2x512xi1>, tensor<2x512xf32>
// CHECK-NEXT: %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %148 = stablehlo.reduce(%147 init: %cst_32) applies stablehlo.add across dimensions = [1] : (tensor<2x512xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: %cst_33 = stablehlo.constant dense<0.001953125> : tensor<2xf32>
// CHECK-NEXT: %149 = stablehlo.multiply %148, %cst_33 : tensor<2xf32>
// CHECK-NEXT: %150 = stablehlo.sqrt %149 : tensor<2xf32>
// CHECK-NEXT: %cst_34 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %151 = stablehlo.bitcast_convert %150 : (tensor<2xf32>) -> tensor<2xui32>
// CHECK-NEXT: %c_35 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// CHECK-NEXT: %152 = stablehlo.and %151, %c_35 : tensor<2xui32>
// CHECK-NEXT: %c_36 = stablehlo.constant dense<1> : tensor<2xui32>
// CHECK-NEXT: %153 = stablehlo.subtract %152, %c_36 : tensor<2xui32>
// CHECK-NEXT: %c_37 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// CHECK-NEXT: %154 = stablehlo.compare LT, %153, %c_37 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// CHECK-NEXT: %155 = stablehlo.bitcast_convert %152 : (tensor<2xui32>) -> tensor<2xf32>
// CHECK-NEXT: %156 = stablehlo.select %154, %155, %cst_34 : tensor<2xi1>, tensor<2xf32>
// CHECK-NEXT: %157 = stablehlo.convert %arg8 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %c_38 = stablehlo.constant dense<4> : tensor<i64>
// CHECK-NEXT: %158 = stablehlo.remainder %157, %c_38 : tensor<i64>
// CHECK-NEXT: %c_39 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %159 = stablehlo.compare EQ, %158, %c_39 : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT: %160 = stablehlo.slice %156 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %161 = stablehlo.reshape %160 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %162 = stablehlo.multiply %161, %arg3 : tensor<f32>
// CHECK-NEXT: %163 = stablehlo.multiply %162, %cst_0 : tensor<f32>
// CHECK-NEXT: %164 = stablehlo.multiply %162, %cst : tensor<f32>
// CHECK-NEXT: %165 = stablehlo.compare GT, %163, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %166 = stablehlo.compare LT, %164, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %167 = stablehlo.or %165, %166 : tensor<i1>
// CHECK-NEXT: %168 = stablehlo.or %159, %167 : tensor<i1>
// CHECK-NEXT: %169 = stablehlo.select %168, %162, %arg3 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_40 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_41 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %170 = stablehlo.clamp %cst_40, %169, %cst_41 : tensor<f32>
// CHECK-NEXT: %171 = stablehlo.bitcast_convert %170 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_42 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %172 = stablehlo.subtract %c_42, %171 : tensor<ui32>
// CHECK-NEXT: %173 = stablehlo.bitcast_convert %172 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_43 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %174 = stablehlo.divide %cst_43, %173 : tensor<f32>
// CHECK-NEXT: %175 = stablehlo.optimization_barrier %174 : tensor<f32>
// CHECK-NEXT: %176 = stablehlo.divide %arg3, %175 : tensor<f32>
// CHECK-NEXT: %177 = stablehlo.broadcast_in_dim %176, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %178 = stablehlo.multiply %80, %177 : tensor<32x16xf32>
// CHECK-NEXT: %179 = stablehlo.slice %156 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %180 = stablehlo.reshape %179 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %181 = stablehlo.multiply %180, %arg7 : tensor<f32>
// CHECK-NEXT: %182 = stablehlo.multiply %181, %cst_0 : tensor<f32>
// CHECK-NEXT: %183 = stablehlo.multiply %181, %cst : tensor<f32>
// CHECK-NEXT: %184 = stablehlo.compare GT, %182, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %185 = stablehlo.compare LT, %183, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %186 = stablehlo.or %184, %185 : tensor<i1>
// CHECK-NEXT: %187 = stablehlo.or %159, %186 : tensor<i1>
// CHECK-NEXT: %188 = stablehlo.select %187, %181, %arg7 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_44 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_45 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %189 = stablehlo.clamp %cst_44, %188, %cst_45 : tensor<f32>
// CHECK-NEXT: %190 = stablehlo.bitcast_convert %189 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_46 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %191 = stablehlo.subtract %c_46, %190 : tensor<ui32>
// CHECK-NEXT: %192 = stablehlo.bitcast_convert %191 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_47 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %193 = stablehlo.divide %cst_47, %192 : tensor<f32>
// CHECK-NEXT: %194 = stablehlo.optimization_barrier %193 : tensor<f32>
// CHECK-NEXT: %195 = stablehlo.divide %arg7, %194 : tensor<f32>
// CHECK-NEXT: %196 = stablehlo.broadcast_in_dim %195, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %197 = stablehlo.multiply %74, %196 : tensor<32x16xf32>
// CHECK-NEXT: %198 = stablehlo.is_finite %178 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// CHECK-NEXT: %199 = stablehlo.clamp %cst_1, %178, %cst_2 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %200 = stablehlo.select %198, %199, %178 : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT: %201 = stablehlo.convert %200 {scalify.forms = ["s8"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: return %141, %115, %201, %175, %137, %134, %197, %194, %81 : tensor<16xf16>, tensor<f32>, tensor<32x16xf16>, tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<32x16xf32>, tensor<f32>, tensor<i32>
// CHECK-NEXT: }
// CHECK-NEXT: }

module @_sgd attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<16xf32>, %arg3: tensor<32x16xf32>, %arg4: tensor<i32>, %arg5: tensor<4x32xf32>, %arg6: tensor<4x16xf32>) -> (tensor<16xf32> {jax.result_info = "result[0]['b']"}, tensor<32x16xf32> {jax.result_info = "result[0]['w']"}, tensor<16xf32> {jax.result_info = "result[1]['b']"}, tensor<32x16xf32> {jax.result_info = "result[1]['w']"}, tensor<i32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg5, %arg1, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x16xf32>) -> tensor<4x16xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<4x16xf32>
    %3 = stablehlo.add %0, %2 : tensor<4x16xf32>
    %4 = stablehlo.subtract %3, %arg6 : tensor<4x16xf32>
    %5 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %6 = stablehlo.multiply %5, %4 : tensor<4x16xf32>
    %7 = stablehlo.divide %cst_3, %cst_2 : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %9 = stablehlo.multiply %8, %6 : tensor<4x16xf32>
    %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>
    %11 = stablehlo.reshape %10 : (tensor<16xf32>) -> tensor<1x16xf32>
    %12 = stablehlo.reduce(%11 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %13 = stablehlo.dot_general %9, %arg5, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
    %14 = stablehlo.transpose %13, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %15 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %16 = stablehlo.multiply %15, %arg2 : tensor<16xf32>
    %17 = stablehlo.add %16, %12 : tensor<16xf32>
    %18 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %19 = stablehlo.multiply %18, %arg3 : tensor<32x16xf32>
    %20 = stablehlo.add %19, %14 : tensor<32x16xf32>
    %21 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %22 = stablehlo.multiply %21, %17 : tensor<16xf32>
    %23 = stablehlo.subtract %arg0, %22 : tensor<16xf32>
    %24 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %25 = stablehlo.multiply %24, %20 : tensor<32x16xf32>
    %26 = stablehlo.subtract %arg1, %25 : tensor<32x16xf32>
    %27 = stablehlo.add %arg4, %c : tensor<i32>
    return %23, %26, %17, %20, %27 : tensor<16xf32>, tensor<32x16xf32>, tensor<16xf32>, tensor<32x16xf32>, tensor<i32>
  }
}
