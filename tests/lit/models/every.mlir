// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{signature=scaled every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=%S/Inputs/every.toml},scalify-quantize-matmuls{recipe=%S/Inputs/every.toml},scalify-narrow-state{recipe=%S/Inputs/every.toml},scalify-quantize-constants,scalify-propagate{recipe=%S/Inputs/every.toml annotate=true})' \
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
// CHECK-NEXT: %14 = stablehlo.clamp %cst, %12, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %15 = stablehlo.convert %14 {scalify.forms = ["s1"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: %16 = stablehlo.clamp %cst, %arg9, %cst_0 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// CHECK-NEXT: %17 = stablehlo.convert %16 {scalify.forms = ["s4"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// CHECK-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.899999976> : tensor<f32>
// CHECK-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// CHECK-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %18 = stablehlo.dot_general %17, %15, contracting_dims = [1] x [0] {scalify.forms = ["s1*s4 level 2"]} : (tensor<4x32xf16>, tensor<32x16xf16>) -> tensor<4x16xf32>
// CHECK-NEXT: %19 = stablehlo.broadcast_in_dim %13, dims = [1] {scalify.forms = ["s0"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %20 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
// CHECK-NEXT: %21 = stablehlo.multiply %19, %20 : tensor<1x16xf32>
// CHECK-NEXT: %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %23 = stablehlo.add %18, %22 {scalify.forms = ["s1*s4 level 2"]} : tensor<4x16xf32>
// CHECK-NEXT: %24 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %25 = stablehlo.multiply %23, %24 : tensor<4x16xf32>
// CHECK-NEXT: %26 = stablehlo.subtract %25, %arg11 {scalify.forms = ["s5"]} : tensor<4x16xf32>
// CHECK-NEXT: %27 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %28 = stablehlo.multiply %27, %26 {scalify.forms = ["s5 level 1"]} : tensor<4x16xf32>
// CHECK-NEXT: %29 = stablehlo.divide %cst_6, %cst_5 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// CHECK-NEXT: %30 = stablehlo.broadcast_in_dim %29, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %31 = stablehlo.multiply %30, %28 {scalify.forms = ["s5 level -5"]} : tensor<4x16xf32>
// CHECK-NEXT: %cst_8 = stablehlo.constant dense<3.200000e+01> : tensor<4x16xf32>
// CHECK-NEXT: %32 = stablehlo.multiply %31, %cst_8 : tensor<4x16xf32>
// CHECK-NEXT: %33 = stablehlo.clamp %cst, %32, %cst_0 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %34 = stablehlo.convert %33 {scalify.forms = ["2^-5*s5"]} : (tensor<4x16xf32>) -> tensor<4x16xf16>
// CHECK-NEXT: %35 = stablehlo.reduce(%31 init: %cst_4) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s5 level -4"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %36 = stablehlo.reshape %35 {scalify.forms = ["s5 level -4"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %37 = stablehlo.reduce(%36 init: %cst_4) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s5 level -4"]} : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %cst_9 = stablehlo.constant dense<1.600000e+01> : tensor<16xf32>
// CHECK-NEXT: %38 = stablehlo.multiply %37, %cst_9 : tensor<16xf32>
// CHECK-NEXT: %39 = stablehlo.clamp %cst, %38, %cst_0 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %40 = stablehlo.convert %39 {scalify.forms = ["2^-4*s5"]} : (tensor<16xf32>) -> tensor<16xf16>
// CHECK-NEXT: %41 = stablehlo.convert %40 {scalify.forms = ["2^-4*s5"]} : (tensor<16xf16>) -> tensor<16xf32>
// CHECK-NEXT: %42 = stablehlo.dot_general %34, %17, contracting_dims = [0] x [0] {scalify.forms = ["2^-5*s4*s5 level 1"]} : (tensor<4x16xf16>, tensor<4x32xf16>) -> tensor<16x32xf32>
// CHECK-NEXT: %43 = stablehlo.transpose %42, dims = [1, 0] {scalify.forms = ["2^-5*s4*s5 level 1"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// CHECK-NEXT: %cst_10 = stablehlo.constant dense<5.000000e-01> : tensor<32x16xf32>
// CHECK-NEXT: %44 = stablehlo.multiply %43, %cst_10 : tensor<32x16xf32>
// CHECK-NEXT: %45 = stablehlo.clamp %cst, %44, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %46 = stablehlo.convert %45 {scalify.forms = ["2^-4*s4*s5"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: %47 = stablehlo.convert %46 {scalify.forms = ["2^-4*s4*s5"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// CHECK-NEXT: %48 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %49 = stablehlo.multiply %48, %arg4 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// CHECK-NEXT: %50 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %51 = stablehlo.multiply %41, %50 : tensor<16xf32>
// CHECK-NEXT: %52 = stablehlo.add %49, %51 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// CHECK-NEXT: %53 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %54 = stablehlo.multiply %53, %arg6 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// CHECK-NEXT: %55 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %56 = stablehlo.multiply %47, %55 : tensor<32x16xf32>
// CHECK-NEXT: %57 = stablehlo.add %54, %56 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// CHECK-NEXT: %58 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %59 = stablehlo.multiply %58, %52 : tensor<16xf32>
// CHECK-NEXT: %60 = stablehlo.subtract %13, %59 {scalify.forms = ["s0"]} : tensor<16xf32>
// CHECK-NEXT: %61 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %62 = stablehlo.multiply %61, %57 : tensor<32x16xf32>
// CHECK-NEXT: %63 = stablehlo.subtract %12, %62 {scalify.forms = ["s1"]} : tensor<32x16xf32>
// CHECK-NEXT: %64 = stablehlo.add %arg8, %c : tensor<i32>
// CHECK-NEXT: %65 = stablehlo.reshape %60 : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %66 = stablehlo.reshape %52 : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %67 = stablehlo.concatenate %65, %66, dim = 0 : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<2x16xf32>
// CHECK-NEXT: %68 = stablehlo.multiply %67, %67 : tensor<2x16xf32>
// CHECK-NEXT: %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %69 = stablehlo.reduce(%68 init: %cst_11) applies stablehlo.add across dimensions = [1] : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: %cst_12 = stablehlo.constant dense<6.250000e-02> : tensor<2xf32>
// CHECK-NEXT: %70 = stablehlo.multiply %69, %cst_12 : tensor<2xf32>
// CHECK-NEXT: %71 = stablehlo.sqrt %70 : tensor<2xf32>
// CHECK-NEXT: %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %72 = stablehlo.bitcast_convert %71 : (tensor<2xf32>) -> tensor<2xui32>
// CHECK-NEXT: %c_14 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// CHECK-NEXT: %73 = stablehlo.and %72, %c_14 : tensor<2xui32>
// CHECK-NEXT: %c_15 = stablehlo.constant dense<1> : tensor<2xui32>
// CHECK-NEXT: %74 = stablehlo.subtract %73, %c_15 : tensor<2xui32>
// CHECK-NEXT: %c_16 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// CHECK-NEXT: %75 = stablehlo.compare LT, %74, %c_16 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// CHECK-NEXT: %76 = stablehlo.bitcast_convert %73 : (tensor<2xui32>) -> tensor<2xf32>
// CHECK-NEXT: %77 = stablehlo.select %75, %76, %cst_13 : tensor<2xi1>, tensor<2xf32>
// CHECK-NEXT: %78 = stablehlo.convert %arg8 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %c_17 = stablehlo.constant dense<4> : tensor<i64>
// CHECK-NEXT: %79 = stablehlo.remainder %78, %c_17 : tensor<i64>
// CHECK-NEXT: %c_18 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %80 = stablehlo.compare EQ, %79, %c_18 : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT: %81 = stablehlo.slice %77 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %82 = stablehlo.reshape %81 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %83 = stablehlo.multiply %82, %arg1 : tensor<f32>
// CHECK-NEXT: %cst_19 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// CHECK-NEXT: %84 = stablehlo.multiply %83, %cst_19 : tensor<f32>
// CHECK-NEXT: %cst_20 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// CHECK-NEXT: %85 = stablehlo.multiply %83, %cst_20 : tensor<f32>
// CHECK-NEXT: %86 = stablehlo.compare GT, %84, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %87 = stablehlo.compare LT, %85, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %88 = stablehlo.or %86, %87 : tensor<i1>
// CHECK-NEXT: %89 = stablehlo.or %80, %88 : tensor<i1>
// CHECK-NEXT: %90 = stablehlo.select %89, %83, %arg1 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_21 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_22 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %91 = stablehlo.clamp %cst_21, %90, %cst_22 : tensor<f32>
// CHECK-NEXT: %92 = stablehlo.bitcast_convert %91 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_23 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %93 = stablehlo.subtract %c_23, %92 : tensor<ui32>
// CHECK-NEXT: %94 = stablehlo.bitcast_convert %93 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_24 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %95 = stablehlo.divide %cst_24, %94 : tensor<f32>
// CHECK-NEXT: %96 = stablehlo.optimization_barrier %95 : tensor<f32>
// CHECK-NEXT: %97 = stablehlo.divide %arg1, %96 : tensor<f32>
// CHECK-NEXT: %98 = stablehlo.broadcast_in_dim %97, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %99 = stablehlo.multiply %60, %98 : tensor<16xf32>
// CHECK-NEXT: %100 = stablehlo.slice %77 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %101 = stablehlo.reshape %100 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %102 = stablehlo.multiply %101, %arg5 : tensor<f32>
// CHECK-NEXT: %cst_25 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// CHECK-NEXT: %103 = stablehlo.multiply %102, %cst_25 : tensor<f32>
// CHECK-NEXT: %cst_26 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// CHECK-NEXT: %104 = stablehlo.multiply %102, %cst_26 : tensor<f32>
// CHECK-NEXT: %105 = stablehlo.compare GT, %103, %arg5 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %106 = stablehlo.compare LT, %104, %arg5 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %107 = stablehlo.or %105, %106 : tensor<i1>
// CHECK-NEXT: %108 = stablehlo.or %80, %107 : tensor<i1>
// CHECK-NEXT: %109 = stablehlo.select %108, %102, %arg5 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_27 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_28 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %110 = stablehlo.clamp %cst_27, %109, %cst_28 : tensor<f32>
// CHECK-NEXT: %111 = stablehlo.bitcast_convert %110 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_29 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %112 = stablehlo.subtract %c_29, %111 : tensor<ui32>
// CHECK-NEXT: %113 = stablehlo.bitcast_convert %112 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_30 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %114 = stablehlo.divide %cst_30, %113 : tensor<f32>
// CHECK-NEXT: %115 = stablehlo.optimization_barrier %114 : tensor<f32>
// CHECK-NEXT: %116 = stablehlo.divide %arg5, %115 : tensor<f32>
// CHECK-NEXT: %117 = stablehlo.broadcast_in_dim %116, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %118 = stablehlo.multiply %52, %117 : tensor<16xf32>
// CHECK-NEXT: %119 = stablehlo.clamp %cst, %99, %cst_0 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %120 = stablehlo.convert %119 {scalify.forms = ["s6"]} : (tensor<16xf32>) -> tensor<16xf16>
// CHECK-NEXT: %121 = stablehlo.reshape %63 : (tensor<32x16xf32>) -> tensor<1x512xf32>
// CHECK-NEXT: %122 = stablehlo.reshape %57 : (tensor<32x16xf32>) -> tensor<1x512xf32>
// CHECK-NEXT: %123 = stablehlo.concatenate %121, %122, dim = 0 : (tensor<1x512xf32>, tensor<1x512xf32>) -> tensor<2x512xf32>
// CHECK-NEXT: %124 = stablehlo.multiply %123, %123 : tensor<2x512xf32>
// CHECK-NEXT: %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %125 = stablehlo.reduce(%124 init: %cst_31) applies stablehlo.add across dimensions = [1] : (tensor<2x512xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: %cst_32 = stablehlo.constant dense<0.001953125> : tensor<2xf32>
// CHECK-NEXT: %126 = stablehlo.multiply %125, %cst_32 : tensor<2xf32>
// CHECK-NEXT: %127 = stablehlo.sqrt %126 : tensor<2xf32>
// CHECK-NEXT: %cst_33 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %128 = stablehlo.bitcast_convert %127 : (tensor<2xf32>) -> tensor<2xui32>
// CHECK-NEXT: %c_34 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// CHECK-NEXT: %129 = stablehlo.and %128, %c_34 : tensor<2xui32>
// CHECK-NEXT: %c_35 = stablehlo.constant dense<1> : tensor<2xui32>
// CHECK-NEXT: %130 = stablehlo.subtract %129, %c_35 : tensor<2xui32>
// CHECK-NEXT: %c_36 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// CHECK-NEXT: %131 = stablehlo.compare LT, %130, %c_36 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// CHECK-NEXT: %132 = stablehlo.bitcast_convert %129 : (tensor<2xui32>) -> tensor<2xf32>
// CHECK-NEXT: %133 = stablehlo.select %131, %132, %cst_33 : tensor<2xi1>, tensor<2xf32>
// CHECK-NEXT: %134 = stablehlo.convert %arg8 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %c_37 = stablehlo.constant dense<4> : tensor<i64>
// CHECK-NEXT: %135 = stablehlo.remainder %134, %c_37 : tensor<i64>
// CHECK-NEXT: %c_38 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %136 = stablehlo.compare EQ, %135, %c_38 : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT: %137 = stablehlo.slice %133 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %138 = stablehlo.reshape %137 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %139 = stablehlo.multiply %138, %arg3 : tensor<f32>
// CHECK-NEXT: %cst_39 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// CHECK-NEXT: %140 = stablehlo.multiply %139, %cst_39 : tensor<f32>
// CHECK-NEXT: %cst_40 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// CHECK-NEXT: %141 = stablehlo.multiply %139, %cst_40 : tensor<f32>
// CHECK-NEXT: %142 = stablehlo.compare GT, %140, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %143 = stablehlo.compare LT, %141, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %144 = stablehlo.or %142, %143 : tensor<i1>
// CHECK-NEXT: %145 = stablehlo.or %136, %144 : tensor<i1>
// CHECK-NEXT: %146 = stablehlo.select %145, %139, %arg3 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_41 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_42 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %147 = stablehlo.clamp %cst_41, %146, %cst_42 : tensor<f32>
// CHECK-NEXT: %148 = stablehlo.bitcast_convert %147 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_43 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %149 = stablehlo.subtract %c_43, %148 : tensor<ui32>
// CHECK-NEXT: %150 = stablehlo.bitcast_convert %149 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_44 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %151 = stablehlo.divide %cst_44, %150 : tensor<f32>
// CHECK-NEXT: %152 = stablehlo.optimization_barrier %151 : tensor<f32>
// CHECK-NEXT: %153 = stablehlo.divide %arg3, %152 : tensor<f32>
// CHECK-NEXT: %154 = stablehlo.broadcast_in_dim %153, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %155 = stablehlo.multiply %63, %154 : tensor<32x16xf32>
// CHECK-NEXT: %156 = stablehlo.slice %133 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %157 = stablehlo.reshape %156 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %158 = stablehlo.multiply %157, %arg7 : tensor<f32>
// CHECK-NEXT: %cst_45 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// CHECK-NEXT: %159 = stablehlo.multiply %158, %cst_45 : tensor<f32>
// CHECK-NEXT: %cst_46 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// CHECK-NEXT: %160 = stablehlo.multiply %158, %cst_46 : tensor<f32>
// CHECK-NEXT: %161 = stablehlo.compare GT, %159, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %162 = stablehlo.compare LT, %160, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %163 = stablehlo.or %161, %162 : tensor<i1>
// CHECK-NEXT: %164 = stablehlo.or %136, %163 : tensor<i1>
// CHECK-NEXT: %165 = stablehlo.select %164, %158, %arg7 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_47 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_48 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %166 = stablehlo.clamp %cst_47, %165, %cst_48 : tensor<f32>
// CHECK-NEXT: %167 = stablehlo.bitcast_convert %166 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_49 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %168 = stablehlo.subtract %c_49, %167 : tensor<ui32>
// CHECK-NEXT: %169 = stablehlo.bitcast_convert %168 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_50 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %170 = stablehlo.divide %cst_50, %169 : tensor<f32>
// CHECK-NEXT: %171 = stablehlo.optimization_barrier %170 : tensor<f32>
// CHECK-NEXT: %172 = stablehlo.divide %arg7, %171 : tensor<f32>
// CHECK-NEXT: %173 = stablehlo.broadcast_in_dim %172, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %174 = stablehlo.multiply %57, %173 : tensor<32x16xf32>
// CHECK-NEXT: %175 = stablehlo.clamp %cst, %155, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %176 = stablehlo.convert %175 {scalify.forms = ["s8"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: return %120, %96, %176, %152, %118, %115, %174, %171, %64 : tensor<16xf16>, tensor<f32>, tensor<32x16xf16>, tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<32x16xf32>, tensor<f32>, tensor<i32>
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
