// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{signature=scaled every=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=%S/Inputs/every.toml},scalify-quantize-matmuls{recipe=%S/Inputs/every.toml},scalify-narrow-state{recipe=%S/Inputs/every.toml},scalify-quantize-constants,scalify-propagate{recipe=%S/Inputs/every.toml annotate=true})' \
// RUN:   | %filecheck %s

// A training step whose state is rescaled in every fourth step.
// CHECK:      module @_sgd attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// CHECK-NEXT: func.func public @main(%arg0: tensor<16xf16>, %arg1: tensor<f32>, %arg2: tensor<32x16xf16>, %arg3: tensor<f32>, %arg4: tensor<16xf32>, %arg5: tensor<f32>, %arg6: tensor<32x16xf32>, %arg7: tensor<f32>, %arg8: tensor<i32>, %arg9: tensor<4x32xf32>, %arg10: tensor<f32>, %arg11: tensor<4x16xf32>, %arg12: tensor<f32>) -> (tensor<16xf16> {jax.result_info = "result[0]['b']"}, tensor<f32> {jax.result_info = "result[0]['b'].scale"}, tensor<32x16xf16> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[0]['w'].scale"}, tensor<16xf32> {jax.result_info = "result[1]['b']"}, tensor<f32> {jax.result_info = "result[1]['b'].scale"}, tensor<32x16xf32> {jax.result_info = "result[1]['w']"}, tensor<f32> {jax.result_info = "result[1]['w'].scale"}, tensor<i32> {jax.result_info = "result[2]"}) {
// CHECK-NEXT: %cst = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.multiply %arg3, %arg10 : tensor<f32>
// CHECK-NEXT: %1 = stablehlo.divide %arg1, %0 : tensor<f32>
// CHECK-NEXT: %2 = stablehlo.divide %0, %arg12 : tensor<f32>
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
// CHECK-NEXT: %3 = stablehlo.multiply %arg12, %cst_1 : tensor<f32>
// CHECK-NEXT: %4 = stablehlo.divide %3, %arg5 : tensor<f32>
// CHECK-NEXT: %5 = stablehlo.multiply %arg10, %arg12 : tensor<f32>
// CHECK-NEXT: %6 = stablehlo.multiply %5, %cst_1 : tensor<f32>
// CHECK-NEXT: %7 = stablehlo.divide %6, %arg7 : tensor<f32>
// CHECK-NEXT: %cst_2 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
// CHECK-NEXT: %8 = stablehlo.divide %arg5, %arg1 : tensor<f32>
// CHECK-NEXT: %9 = stablehlo.multiply %cst_2, %8 : tensor<f32>
// CHECK-NEXT: %10 = stablehlo.divide %arg7, %arg3 : tensor<f32>
// CHECK-NEXT: %11 = stablehlo.multiply %cst_2, %10 : tensor<f32>
// CHECK-NEXT: %12 = stablehlo.convert %arg2 {scalify.forms = ["s1"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// CHECK-NEXT: %13 = stablehlo.convert %arg0 {scalify.forms = ["s0"]} : (tensor<16xf16>) -> tensor<16xf32>
// CHECK-NEXT: %14 = stablehlo.is_finite %12 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// CHECK-NEXT: %15 = stablehlo.clamp %cst, %12, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %16 = stablehlo.select %14, %15, %12 : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT: %17 = stablehlo.convert %16 {scalify.forms = ["s1"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: %18 = stablehlo.is_finite %arg9 : (tensor<4x32xf32>) -> tensor<4x32xi1>
// CHECK-NEXT: %19 = stablehlo.clamp %cst, %arg9, %cst_0 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// CHECK-NEXT: %20 = stablehlo.select %18, %19, %arg9 : tensor<4x32xi1>, tensor<4x32xf32>
// CHECK-NEXT: %21 = stablehlo.convert %20 {scalify.forms = ["s4"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// CHECK-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.899999976> : tensor<f32>
// CHECK-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// CHECK-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %22 = stablehlo.dot_general %21, %17, contracting_dims = [1] x [0] {scalify.forms = ["s1*s4 level 2"]} : (tensor<4x32xf16>, tensor<32x16xf16>) -> tensor<4x16xf32>
// CHECK-NEXT: %23 = stablehlo.broadcast_in_dim %13, dims = [1] {scalify.forms = ["s0"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %24 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
// CHECK-NEXT: %25 = stablehlo.multiply %23, %24 : tensor<1x16xf32>
// CHECK-NEXT: %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %27 = stablehlo.add %22, %26 {scalify.forms = ["s1*s4 level 2"]} : tensor<4x16xf32>
// CHECK-NEXT: %28 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %29 = stablehlo.multiply %27, %28 : tensor<4x16xf32>
// CHECK-NEXT: %30 = stablehlo.subtract %29, %arg11 {scalify.forms = ["s5"]} : tensor<4x16xf32>
// CHECK-NEXT: %31 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %32 = stablehlo.multiply %31, %30 {scalify.forms = ["s5 level 1"]} : tensor<4x16xf32>
// CHECK-NEXT: %33 = stablehlo.divide %cst_6, %cst_5 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// CHECK-NEXT: %34 = stablehlo.broadcast_in_dim %33, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %35 = stablehlo.multiply %34, %32 {scalify.forms = ["s5 level -5"]} : tensor<4x16xf32>
// CHECK-NEXT: %cst_8 = stablehlo.constant dense<3.200000e+01> : tensor<4x16xf32>
// CHECK-NEXT: %36 = stablehlo.multiply %35, %cst_8 : tensor<4x16xf32>
// CHECK-NEXT: %37 = stablehlo.is_finite %36 : (tensor<4x16xf32>) -> tensor<4x16xi1>
// CHECK-NEXT: %38 = stablehlo.clamp %cst, %36, %cst_0 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %39 = stablehlo.select %37, %38, %36 : tensor<4x16xi1>, tensor<4x16xf32>
// CHECK-NEXT: %40 = stablehlo.convert %39 {scalify.forms = ["2^-5*s5"]} : (tensor<4x16xf32>) -> tensor<4x16xf16>
// CHECK-NEXT: %41 = stablehlo.reduce(%35 init: %cst_4) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s5 level -4"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %42 = stablehlo.reshape %41 {scalify.forms = ["s5 level -4"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %43 = stablehlo.reduce(%42 init: %cst_4) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s5 level -4"]} : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %cst_9 = stablehlo.constant dense<1.600000e+01> : tensor<16xf32>
// CHECK-NEXT: %44 = stablehlo.multiply %43, %cst_9 : tensor<16xf32>
// CHECK-NEXT: %45 = stablehlo.is_finite %44 : (tensor<16xf32>) -> tensor<16xi1>
// CHECK-NEXT: %46 = stablehlo.clamp %cst, %44, %cst_0 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %47 = stablehlo.select %45, %46, %44 : tensor<16xi1>, tensor<16xf32>
// CHECK-NEXT: %48 = stablehlo.convert %47 {scalify.forms = ["2^-4*s5"]} : (tensor<16xf32>) -> tensor<16xf16>
// CHECK-NEXT: %49 = stablehlo.convert %48 {scalify.forms = ["2^-4*s5"]} : (tensor<16xf16>) -> tensor<16xf32>
// CHECK-NEXT: %50 = stablehlo.dot_general %40, %21, contracting_dims = [0] x [0] {scalify.forms = ["2^-5*s4*s5 level 1"]} : (tensor<4x16xf16>, tensor<4x32xf16>) -> tensor<16x32xf32>
// CHECK-NEXT: %51 = stablehlo.transpose %50, dims = [1, 0] {scalify.forms = ["2^-5*s4*s5 level 1"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// CHECK-NEXT: %cst_10 = stablehlo.constant dense<5.000000e-01> : tensor<32x16xf32>
// CHECK-NEXT: %52 = stablehlo.multiply %51, %cst_10 : tensor<32x16xf32>
// CHECK-NEXT: %53 = stablehlo.is_finite %52 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// CHECK-NEXT: %54 = stablehlo.clamp %cst, %52, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %55 = stablehlo.select %53, %54, %52 : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT: %56 = stablehlo.convert %55 {scalify.forms = ["2^-4*s4*s5"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: %57 = stablehlo.convert %56 {scalify.forms = ["2^-4*s4*s5"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// CHECK-NEXT: %58 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %59 = stablehlo.multiply %58, %arg4 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// CHECK-NEXT: %60 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %61 = stablehlo.multiply %49, %60 : tensor<16xf32>
// CHECK-NEXT: %62 = stablehlo.add %59, %61 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// CHECK-NEXT: %63 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %64 = stablehlo.multiply %63, %arg6 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// CHECK-NEXT: %65 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %66 = stablehlo.multiply %57, %65 : tensor<32x16xf32>
// CHECK-NEXT: %67 = stablehlo.add %64, %66 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// CHECK-NEXT: %68 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %69 = stablehlo.multiply %68, %62 : tensor<16xf32>
// CHECK-NEXT: %70 = stablehlo.subtract %13, %69 {scalify.forms = ["s0"]} : tensor<16xf32>
// CHECK-NEXT: %71 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %72 = stablehlo.multiply %71, %67 : tensor<32x16xf32>
// CHECK-NEXT: %73 = stablehlo.subtract %12, %72 {scalify.forms = ["s1"]} : tensor<32x16xf32>
// CHECK-NEXT: %74 = stablehlo.add %arg8, %c : tensor<i32>
// CHECK-NEXT: %75 = stablehlo.reshape %70 : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %76 = stablehlo.reshape %62 : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %77 = stablehlo.concatenate %75, %76, dim = 0 : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<2x16xf32>
// CHECK-NEXT: %78 = stablehlo.multiply %77, %77 : tensor<2x16xf32>
// CHECK-NEXT: %79 = stablehlo.is_finite %77 : (tensor<2x16xf32>) -> tensor<2x16xi1>
// CHECK-NEXT: %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<2x16xf32>
// CHECK-NEXT: %80 = stablehlo.select %79, %78, %cst_11 : tensor<2x16xi1>, tensor<2x16xf32>
// CHECK-NEXT: %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %81 = stablehlo.reduce(%80 init: %cst_12) applies stablehlo.add across dimensions = [1] : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: %cst_13 = stablehlo.constant dense<6.250000e-02> : tensor<2xf32>
// CHECK-NEXT: %82 = stablehlo.multiply %81, %cst_13 : tensor<2xf32>
// CHECK-NEXT: %83 = stablehlo.sqrt %82 : tensor<2xf32>
// CHECK-NEXT: %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %84 = stablehlo.bitcast_convert %83 : (tensor<2xf32>) -> tensor<2xui32>
// CHECK-NEXT: %c_15 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// CHECK-NEXT: %85 = stablehlo.and %84, %c_15 : tensor<2xui32>
// CHECK-NEXT: %c_16 = stablehlo.constant dense<1> : tensor<2xui32>
// CHECK-NEXT: %86 = stablehlo.subtract %85, %c_16 : tensor<2xui32>
// CHECK-NEXT: %c_17 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// CHECK-NEXT: %87 = stablehlo.compare LT, %86, %c_17 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// CHECK-NEXT: %88 = stablehlo.bitcast_convert %85 : (tensor<2xui32>) -> tensor<2xf32>
// CHECK-NEXT: %89 = stablehlo.select %87, %88, %cst_14 : tensor<2xi1>, tensor<2xf32>
// CHECK-NEXT: %90 = stablehlo.convert %arg8 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %c_18 = stablehlo.constant dense<4> : tensor<i64>
// CHECK-NEXT: %91 = stablehlo.remainder %90, %c_18 : tensor<i64>
// CHECK-NEXT: %c_19 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %92 = stablehlo.compare EQ, %91, %c_19 : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT: %93 = stablehlo.slice %89 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %94 = stablehlo.reshape %93 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %95 = stablehlo.multiply %94, %arg1 : tensor<f32>
// CHECK-NEXT: %cst_20 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// CHECK-NEXT: %96 = stablehlo.multiply %95, %cst_20 : tensor<f32>
// CHECK-NEXT: %cst_21 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// CHECK-NEXT: %97 = stablehlo.multiply %95, %cst_21 : tensor<f32>
// CHECK-NEXT: %98 = stablehlo.compare GT, %96, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %99 = stablehlo.compare LT, %97, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %100 = stablehlo.or %98, %99 : tensor<i1>
// CHECK-NEXT: %101 = stablehlo.or %92, %100 : tensor<i1>
// CHECK-NEXT: %102 = stablehlo.select %101, %95, %arg1 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_22 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_23 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %103 = stablehlo.clamp %cst_22, %102, %cst_23 : tensor<f32>
// CHECK-NEXT: %104 = stablehlo.bitcast_convert %103 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_24 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %105 = stablehlo.subtract %c_24, %104 : tensor<ui32>
// CHECK-NEXT: %106 = stablehlo.bitcast_convert %105 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_25 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %107 = stablehlo.divide %cst_25, %106 : tensor<f32>
// CHECK-NEXT: %108 = stablehlo.optimization_barrier %107 : tensor<f32>
// CHECK-NEXT: %109 = stablehlo.divide %arg1, %108 : tensor<f32>
// CHECK-NEXT: %110 = stablehlo.broadcast_in_dim %109, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %111 = stablehlo.multiply %70, %110 : tensor<16xf32>
// CHECK-NEXT: %112 = stablehlo.slice %89 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %113 = stablehlo.reshape %112 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %114 = stablehlo.multiply %113, %arg5 : tensor<f32>
// CHECK-NEXT: %cst_26 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// CHECK-NEXT: %115 = stablehlo.multiply %114, %cst_26 : tensor<f32>
// CHECK-NEXT: %cst_27 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// CHECK-NEXT: %116 = stablehlo.multiply %114, %cst_27 : tensor<f32>
// CHECK-NEXT: %117 = stablehlo.compare GT, %115, %arg5 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %118 = stablehlo.compare LT, %116, %arg5 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %119 = stablehlo.or %117, %118 : tensor<i1>
// CHECK-NEXT: %120 = stablehlo.or %92, %119 : tensor<i1>
// CHECK-NEXT: %121 = stablehlo.select %120, %114, %arg5 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_28 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_29 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %122 = stablehlo.clamp %cst_28, %121, %cst_29 : tensor<f32>
// CHECK-NEXT: %123 = stablehlo.bitcast_convert %122 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_30 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %124 = stablehlo.subtract %c_30, %123 : tensor<ui32>
// CHECK-NEXT: %125 = stablehlo.bitcast_convert %124 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_31 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %126 = stablehlo.divide %cst_31, %125 : tensor<f32>
// CHECK-NEXT: %127 = stablehlo.optimization_barrier %126 : tensor<f32>
// CHECK-NEXT: %128 = stablehlo.divide %arg5, %127 : tensor<f32>
// CHECK-NEXT: %129 = stablehlo.broadcast_in_dim %128, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %130 = stablehlo.multiply %62, %129 : tensor<16xf32>
// CHECK-NEXT: %131 = stablehlo.is_finite %111 : (tensor<16xf32>) -> tensor<16xi1>
// CHECK-NEXT: %132 = stablehlo.clamp %cst, %111, %cst_0 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %133 = stablehlo.select %131, %132, %111 : tensor<16xi1>, tensor<16xf32>
// CHECK-NEXT: %134 = stablehlo.convert %133 {scalify.forms = ["s6"]} : (tensor<16xf32>) -> tensor<16xf16>
// CHECK-NEXT: %135 = stablehlo.reshape %73 : (tensor<32x16xf32>) -> tensor<1x512xf32>
// CHECK-NEXT: %136 = stablehlo.reshape %67 : (tensor<32x16xf32>) -> tensor<1x512xf32>
// CHECK-NEXT: %137 = stablehlo.concatenate %135, %136, dim = 0 : (tensor<1x512xf32>, tensor<1x512xf32>) -> tensor<2x512xf32>
// CHECK-NEXT: %138 = stablehlo.multiply %137, %137 : tensor<2x512xf32>
// CHECK-NEXT: %139 = stablehlo.is_finite %137 : (tensor<2x512xf32>) -> tensor<2x512xi1>
// CHECK-NEXT: %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<2x512xf32>
// CHECK-NEXT: %140 = stablehlo.select %139, %138, %cst_32 : tensor<2x512xi1>, tensor<2x512xf32>
// CHECK-NEXT: %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %141 = stablehlo.reduce(%140 init: %cst_33) applies stablehlo.add across dimensions = [1] : (tensor<2x512xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: %cst_34 = stablehlo.constant dense<0.001953125> : tensor<2xf32>
// CHECK-NEXT: %142 = stablehlo.multiply %141, %cst_34 : tensor<2xf32>
// CHECK-NEXT: %143 = stablehlo.sqrt %142 : tensor<2xf32>
// CHECK-NEXT: %cst_35 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %144 = stablehlo.bitcast_convert %143 : (tensor<2xf32>) -> tensor<2xui32>
// CHECK-NEXT: %c_36 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// CHECK-NEXT: %145 = stablehlo.and %144, %c_36 : tensor<2xui32>
// CHECK-NEXT: %c_37 = stablehlo.constant dense<1> : tensor<2xui32>
// CHECK-NEXT: %146 = stablehlo.subtract %145, %c_37 : tensor<2xui32>
// CHECK-NEXT: %c_38 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// CHECK-NEXT: %147 = stablehlo.compare LT, %146, %c_38 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// CHECK-NEXT: %148 = stablehlo.bitcast_convert %145 : (tensor<2xui32>) -> tensor<2xf32>
// CHECK-NEXT: %149 = stablehlo.select %147, %148, %cst_35 : tensor<2xi1>, tensor<2xf32>
// CHECK-NEXT: %150 = stablehlo.convert %arg8 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %c_39 = stablehlo.constant dense<4> : tensor<i64>
// CHECK-NEXT: %151 = stablehlo.remainder %150, %c_39 : tensor<i64>
// CHECK-NEXT: %c_40 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %152 = stablehlo.compare EQ, %151, %c_40 : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT: %153 = stablehlo.slice %149 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %154 = stablehlo.reshape %153 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %155 = stablehlo.multiply %154, %arg3 : tensor<f32>
// CHECK-NEXT: %cst_41 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// CHECK-NEXT: %156 = stablehlo.multiply %155, %cst_41 : tensor<f32>
// CHECK-NEXT: %cst_42 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// CHECK-NEXT: %157 = stablehlo.multiply %155, %cst_42 : tensor<f32>
// CHECK-NEXT: %158 = stablehlo.compare GT, %156, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %159 = stablehlo.compare LT, %157, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %160 = stablehlo.or %158, %159 : tensor<i1>
// CHECK-NEXT: %161 = stablehlo.or %152, %160 : tensor<i1>
// CHECK-NEXT: %162 = stablehlo.select %161, %155, %arg3 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_43 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_44 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %163 = stablehlo.clamp %cst_43, %162, %cst_44 : tensor<f32>
// CHECK-NEXT: %164 = stablehlo.bitcast_convert %163 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_45 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %165 = stablehlo.subtract %c_45, %164 : tensor<ui32>
// CHECK-NEXT: %166 = stablehlo.bitcast_convert %165 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_46 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %167 = stablehlo.divide %cst_46, %166 : tensor<f32>
// CHECK-NEXT: %168 = stablehlo.optimization_barrier %167 : tensor<f32>
// CHECK-NEXT: %169 = stablehlo.divide %arg3, %168 : tensor<f32>
// CHECK-NEXT: %170 = stablehlo.broadcast_in_dim %169, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %171 = stablehlo.multiply %73, %170 : tensor<32x16xf32>
// CHECK-NEXT: %172 = stablehlo.slice %149 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %173 = stablehlo.reshape %172 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %174 = stablehlo.multiply %173, %arg7 : tensor<f32>
// CHECK-NEXT: %cst_47 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// CHECK-NEXT: %175 = stablehlo.multiply %174, %cst_47 : tensor<f32>
// CHECK-NEXT: %cst_48 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// CHECK-NEXT: %176 = stablehlo.multiply %174, %cst_48 : tensor<f32>
// CHECK-NEXT: %177 = stablehlo.compare GT, %175, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %178 = stablehlo.compare LT, %176, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %179 = stablehlo.or %177, %178 : tensor<i1>
// CHECK-NEXT: %180 = stablehlo.or %152, %179 : tensor<i1>
// CHECK-NEXT: %181 = stablehlo.select %180, %174, %arg7 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_49 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_50 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %182 = stablehlo.clamp %cst_49, %181, %cst_50 : tensor<f32>
// CHECK-NEXT: %183 = stablehlo.bitcast_convert %182 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_51 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %184 = stablehlo.subtract %c_51, %183 : tensor<ui32>
// CHECK-NEXT: %185 = stablehlo.bitcast_convert %184 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_52 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %186 = stablehlo.divide %cst_52, %185 : tensor<f32>
// CHECK-NEXT: %187 = stablehlo.optimization_barrier %186 : tensor<f32>
// CHECK-NEXT: %188 = stablehlo.divide %arg7, %187 : tensor<f32>
// CHECK-NEXT: %189 = stablehlo.broadcast_in_dim %188, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %190 = stablehlo.multiply %67, %189 : tensor<32x16xf32>
// CHECK-NEXT: %191 = stablehlo.is_finite %171 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// CHECK-NEXT: %192 = stablehlo.clamp %cst, %171, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %193 = stablehlo.select %191, %192, %171 : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT: %194 = stablehlo.convert %193 {scalify.forms = ["s8"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: return %134, %108, %194, %168, %130, %127, %190, %187, %74 : tensor<16xf16>, tensor<f32>, tensor<32x16xf16>, tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<32x16xf32>, tensor<f32>, tensor<i32>
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
