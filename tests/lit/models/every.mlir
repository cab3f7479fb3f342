// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{signature=scaled every=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=%S/Inputs/every.toml},scalify-quantize-matmuls{recipe=%S/Inputs/every.toml},scalify-narrow-state{recipe=%S/Inputs/every.toml},scalify-quantize-constants,scalify-propagate{recipe=%S/Inputs/every.toml annotate=true})' \
// RUN:   | %filecheck %s

// A training step whose state is rescaled in every fourth step.
// CHECK:      module @_sgd attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// CHECK-NEXT: func.func public @main(%arg0: tensor<16xf16>, %arg1: tensor<f32>, %arg2: tensor<32x16xf16>, %arg3: tensor<f32>, %arg4: tensor<16xf32>, %arg5: tensor<f32>, %arg6: tensor<32x16xf32>, %arg7: tensor<f32>, %arg8: tensor<i32>, %arg9: tensor<4x32xf32>, %arg10: tensor<f32>, %arg11: tensor<4x16xf32>, %arg12: tensor<f32>) -> (tensor<16xf16> {jax.result_info = "result[0]['b']"}, tensor<f32> {jax.result_info = "result[0]['b'].scale"}, tensor<32x16xf16> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[0]['w'].scale"}, tensor<16xf32> {jax.result_info = "result[1]['b']"}, tensor<f32> {jax.result_info = "result[1]['b'].scale"}, tensor<32x16xf32> {jax.result_info = "result[1]['w']"}, tensor<f32> {jax.result_info = "result[1]['w'].scale"}, tensor<i32> {jax.result_info = "result[2]"}) {
// CHECK-NEXT: %cst = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %c = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %cst_2 = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// CHECK-NEXT: %cst_3 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// CHECK-NEXT: %cst_4 = stablehlo.constant dense<3.05175781E-5> : tensor<f32>
// CHECK-NEXT: %c_5 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHECK-NEXT: %c_6 = stablehlo.constant dense<1> : tensor<ui32>
// CHECK-NEXT: %c_7 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHECK-NEXT: %c_8 = stablehlo.constant dense<8388607> : tensor<ui32>
// CHECK-NEXT: %c_9 = stablehlo.constant dense<8388608> : tensor<i32>
// CHECK-NEXT: %c_10 = stablehlo.constant dense<8388608> : tensor<32x16xi32>
// CHECK-NEXT: %cst_11 = stablehlo.constant dense<3.276800e+04> : tensor<f32>
// CHECK-NEXT: %cst_12 = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// CHECK-NEXT: %cst_13 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.multiply %arg3, %arg10 : tensor<f32>
// CHECK-NEXT: %1 = stablehlo.divide %arg1, %0 : tensor<f32>
// CHECK-NEXT: %2 = stablehlo.divide %0, %arg12 : tensor<f32>
// CHECK-NEXT: %cst_14 = stablehlo.constant dense<3.125000e-02> : tensor<f32>
// CHECK-NEXT: %3 = stablehlo.multiply %arg12, %cst_14 : tensor<f32>
// CHECK-NEXT: %cst_15 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
// CHECK-NEXT: %4 = stablehlo.multiply %arg12, %cst_15 : tensor<f32>
// CHECK-NEXT: %5 = stablehlo.multiply %arg10, %arg12 : tensor<f32>
// CHECK-NEXT: %6 = stablehlo.multiply %5, %cst_14 : tensor<f32>
// CHECK-NEXT: %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %cst_17 = stablehlo.constant dense<1.17549435E-38> : tensor<f32>
// CHECK-NEXT: %cst_18 = stablehlo.constant dense<8.50705917E+37> : tensor<f32>
// CHECK-NEXT: %7 = stablehlo.divide %4, %arg5 : tensor<f32>
// CHECK-NEXT: %cst_19 = stablehlo.constant dense<8.192000e+03> : tensor<f32>
// CHECK-NEXT: %8 = stablehlo.divide %cst_19, %arg7 : tensor<f32>
// CHECK-NEXT: %cst_20 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
// CHECK-NEXT: %9 = stablehlo.divide %arg5, %arg1 : tensor<f32>
// CHECK-NEXT: %10 = stablehlo.multiply %cst_20, %9 : tensor<f32>
// CHECK-NEXT: %11 = stablehlo.divide %arg7, %arg3 : tensor<f32>
// CHECK-NEXT: %12 = stablehlo.multiply %cst_20, %11 : tensor<f32>
// CHECK-NEXT: %13 = stablehlo.convert %arg2 {scalify.forms = ["s1"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// CHECK-NEXT: %14 = stablehlo.convert %arg0 {scalify.forms = ["s0"]} : (tensor<16xf16>) -> tensor<16xf32>
// CHECK-NEXT: %15 = stablehlo.is_finite %13 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// CHECK-NEXT: %16 = stablehlo.clamp %cst_12, %13, %cst_13 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %17 = stablehlo.select %15, %16, %13 : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT: %18 = stablehlo.convert %17 {scalify.forms = ["s1"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: %19 = stablehlo.is_finite %arg9 : (tensor<4x32xf32>) -> tensor<4x32xi1>
// CHECK-NEXT: %20 = stablehlo.clamp %cst_12, %arg9, %cst_13 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// CHECK-NEXT: %21 = stablehlo.select %19, %20, %arg9 : tensor<4x32xi1>, tensor<4x32xf32>
// CHECK-NEXT: %22 = stablehlo.convert %21 {scalify.forms = ["s4"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// CHECK-NEXT: %c_21 = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT: %cst_22 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.899999976> : tensor<f32>
// CHECK-NEXT: %cst_23 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %cst_24 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// CHECK-NEXT: %cst_25 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %23 = stablehlo.dot_general %22, %18, contracting_dims = [1] x [0] {scalify.forms = ["s1*s4 level 2"]} : (tensor<4x32xf16>, tensor<32x16xf16>) -> tensor<4x16xf32>
// CHECK-NEXT: %24 = stablehlo.broadcast_in_dim %14, dims = [1] {scalify.forms = ["s0"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %25 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x16xf32>
// CHECK-NEXT: %26 = stablehlo.multiply %24, %25 : tensor<1x16xf32>
// CHECK-NEXT: %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %28 = stablehlo.add %23, %27 {scalify.forms = ["s1*s4 level 2"]} : tensor<4x16xf32>
// CHECK-NEXT: %29 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %30 = stablehlo.multiply %28, %29 : tensor<4x16xf32>
// CHECK-NEXT: %31 = stablehlo.subtract %30, %arg11 {scalify.forms = ["s5"]} : tensor<4x16xf32>
// CHECK-NEXT: %32 = stablehlo.broadcast_in_dim %cst_26, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %33 = stablehlo.multiply %32, %31 {scalify.forms = ["s5 level 1"]} : tensor<4x16xf32>
// CHECK-NEXT: %34 = stablehlo.divide %cst_25, %cst_24 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// CHECK-NEXT: %35 = stablehlo.broadcast_in_dim %34, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %36 = stablehlo.multiply %35, %33 {scalify.forms = ["s5 level -5"]} : tensor<4x16xf32>
// CHECK-NEXT: %cst_27 = stablehlo.constant dense<3.200000e+01> : tensor<4x16xf32>
// CHECK-NEXT: %37 = stablehlo.multiply %36, %cst_27 : tensor<4x16xf32>
// CHECK-NEXT: %38 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %39 = stablehlo.multiply %37, %38 : tensor<4x16xf32>
// CHECK-NEXT: %40 = stablehlo.is_finite %39 : (tensor<4x16xf32>) -> tensor<4x16xi1>
// CHECK-NEXT: %41 = stablehlo.clamp %cst_12, %37, %cst_13 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT: %42 = stablehlo.select %40, %41, %39 : tensor<4x16xi1>, tensor<4x16xf32>
// CHECK-NEXT: %43 = stablehlo.convert %42 {scalify.forms = ["2^-5*s5"]} : (tensor<4x16xf32>) -> tensor<4x16xf16>
// CHECK-NEXT: %44 = stablehlo.reduce(%36 init: %cst_23) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s5 level -4"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %45 = stablehlo.reshape %44 {scalify.forms = ["s5 level -4"]} : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %46 = stablehlo.reduce(%45 init: %cst_23) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s5 level -4"]} : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %cst_28 = stablehlo.constant dense<1.600000e+01> : tensor<16xf32>
// CHECK-NEXT: %47 = stablehlo.multiply %46, %cst_28 : tensor<16xf32>
// CHECK-NEXT: %48 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %49 = stablehlo.multiply %47, %48 : tensor<16xf32>
// CHECK-NEXT: %50 = stablehlo.is_finite %49 : (tensor<16xf32>) -> tensor<16xi1>
// CHECK-NEXT: %51 = stablehlo.clamp %cst_12, %47, %cst_13 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %52 = stablehlo.select %50, %51, %49 : tensor<16xi1>, tensor<16xf32>
// CHECK-NEXT: %53 = stablehlo.convert %52 {scalify.forms = ["2^-4*s5"]} : (tensor<16xf32>) -> tensor<16xf16>
// CHECK-NEXT: %54 = stablehlo.convert %53 {scalify.forms = ["2^-4*s5"]} : (tensor<16xf16>) -> tensor<16xf32>
// CHECK-NEXT: %55 = stablehlo.dot_general %43, %22, contracting_dims = [0] x [0] {scalify.forms = ["2^-5*s4*s5 level 1"]} : (tensor<4x16xf16>, tensor<4x32xf16>) -> tensor<16x32xf32>
// CHECK-NEXT: %56 = stablehlo.transpose %55, dims = [1, 0] {scalify.forms = ["2^-5*s4*s5 level 1"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// CHECK-NEXT: %57 = stablehlo.optimization_barrier %56 : tensor<32x16xf32>
// CHECK-NEXT: %58 = stablehlo.abs %57 : tensor<32x16xf32>
// CHECK-NEXT: %59 = stablehlo.bitcast_convert %58 : (tensor<32x16xf32>) -> tensor<32x16xi32>
// CHECK-NEXT: %60 = stablehlo.add %59, %c_10 : tensor<32x16xi32>
// CHECK-NEXT: %61 = stablehlo.reduce(%60 init: %c_9) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xi32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %62 = stablehlo.subtract %61, %c_9 : tensor<i32>
// CHECK-NEXT: %63 = stablehlo.bitcast_convert %62 : (tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %64 = stablehlo.bitcast_convert %63 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %65 = stablehlo.add %64, %c_8 : tensor<ui32>
// CHECK-NEXT: %66 = stablehlo.and %65, %c_7 : tensor<ui32>
// CHECK-NEXT: %67 = stablehlo.subtract %66, %c_6 : tensor<ui32>
// CHECK-NEXT: %68 = stablehlo.compare LT, %67, %c_5 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHECK-NEXT: %69 = stablehlo.bitcast_convert %66 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %70 = stablehlo.select %68, %69, %cst_11 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %71 = stablehlo.multiply %70, %cst_4 : tensor<f32>
// CHECK-NEXT: %72 = stablehlo.multiply %71, %6 : tensor<f32>
// CHECK-NEXT: %73 = stablehlo.clamp %cst_3, %72, %cst_2 : tensor<f32>
// CHECK-NEXT: %74 = stablehlo.bitcast_convert %73 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %75 = stablehlo.subtract %c, %74 : tensor<ui32>
// CHECK-NEXT: %76 = stablehlo.bitcast_convert %75 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %77 = stablehlo.divide %cst_1, %76 : tensor<f32>
// CHECK-NEXT: %78 = stablehlo.optimization_barrier %77 : tensor<f32>
// CHECK-NEXT: %79 = stablehlo.divide %cst_16, %78 : tensor<f32>
// CHECK-NEXT: %80 = stablehlo.multiply %6, %79 : tensor<f32>
// CHECK-NEXT: %81 = stablehlo.clamp %cst_17, %80, %cst_18 : tensor<f32>
// CHECK-NEXT: %82 = stablehlo.divide %6, %81 : tensor<f32>
// CHECK-NEXT: %83 = stablehlo.multiply %82, %79 : tensor<f32>
// CHECK-NEXT: %84 = stablehlo.multiply %8, %78 : tensor<f32>
// CHECK-NEXT: %85 = stablehlo.clamp %cst_17, %84, %cst_18 : tensor<f32>
// CHECK-NEXT: %86 = stablehlo.divide %8, %85 : tensor<f32>
// CHECK-NEXT: %87 = stablehlo.multiply %86, %78 : tensor<f32>
// CHECK-NEXT: %88 = stablehlo.broadcast_in_dim %81, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %89 = stablehlo.multiply %57, %88 : tensor<32x16xf32>
// CHECK-NEXT: %90 = stablehlo.broadcast_in_dim %83, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %91 = stablehlo.multiply %89, %90 : tensor<32x16xf32>
// CHECK-NEXT: %cst_29 = stablehlo.constant dense<1.22070313E-4> : tensor<32x16xf32>
// CHECK-NEXT: %92 = stablehlo.multiply %91, %cst_29 : tensor<32x16xf32>
// CHECK-NEXT: %93 = stablehlo.is_finite %92 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// CHECK-NEXT: %94 = stablehlo.clamp %cst_12, %92, %cst_13 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %95 = stablehlo.select %93, %94, %92 : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT: %96 = stablehlo.convert %95 {scalify.forms = ["2^13*s6"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: %97 = stablehlo.convert %96 {scalify.forms = ["2^13*s6"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// CHECK-NEXT: %98 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %99 = stablehlo.multiply %98, %arg4 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// CHECK-NEXT: %100 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %101 = stablehlo.multiply %54, %100 : tensor<16xf32>
// CHECK-NEXT: %102 = stablehlo.add %99, %101 {scalify.forms = ["s2 level -0.152003"]} : tensor<16xf32>
// CHECK-NEXT: %103 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %104 = stablehlo.multiply %103, %arg6 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// CHECK-NEXT: %105 = stablehlo.broadcast_in_dim %85, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %106 = stablehlo.multiply %97, %105 : tensor<32x16xf32>
// CHECK-NEXT: %107 = stablehlo.broadcast_in_dim %87, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %108 = stablehlo.multiply %106, %107 : tensor<32x16xf32>
// CHECK-NEXT: %109 = stablehlo.add %104, %108 {scalify.forms = ["s3 level -0.152003"]} : tensor<32x16xf32>
// CHECK-NEXT: %110 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %111 = stablehlo.multiply %110, %102 : tensor<16xf32>
// CHECK-NEXT: %112 = stablehlo.subtract %14, %111 {scalify.forms = ["s0"]} : tensor<16xf32>
// CHECK-NEXT: %113 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %114 = stablehlo.multiply %113, %109 : tensor<32x16xf32>
// CHECK-NEXT: %115 = stablehlo.subtract %13, %114 {scalify.forms = ["s1"]} : tensor<32x16xf32>
// CHECK-NEXT: %116 = stablehlo.add %arg8, %c_21 : tensor<i32>
// CHECK-NEXT: %117 = stablehlo.reshape %112 : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %118 = stablehlo.reshape %102 : (tensor<16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %119 = stablehlo.concatenate %117, %118, dim = 0 : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<2x16xf32>
// CHECK-NEXT: %120 = stablehlo.multiply %119, %119 : tensor<2x16xf32>
// CHECK-NEXT: %121 = stablehlo.is_finite %119 : (tensor<2x16xf32>) -> tensor<2x16xi1>
// CHECK-NEXT: %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<2x16xf32>
// CHECK-NEXT: %122 = stablehlo.select %121, %120, %cst_30 : tensor<2x16xi1>, tensor<2x16xf32>
// CHECK-NEXT: %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %123 = stablehlo.reduce(%122 init: %cst_31) applies stablehlo.add across dimensions = [1] : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: %cst_32 = stablehlo.constant dense<6.250000e-02> : tensor<2xf32>
// CHECK-NEXT: %124 = stablehlo.multiply %123, %cst_32 : tensor<2xf32>
// CHECK-NEXT: %125 = stablehlo.sqrt %124 : tensor<2xf32>
// CHECK-NEXT: %cst_33 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %126 = stablehlo.bitcast_convert %125 : (tensor<2xf32>) -> tensor<2xui32>
// CHECK-NEXT: %c_34 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// CHECK-NEXT: %127 = stablehlo.and %126, %c_34 : tensor<2xui32>
// CHECK-NEXT: %c_35 = stablehlo.constant dense<1> : tensor<2xui32>
// CHECK-NEXT: %128 = stablehlo.subtract %127, %c_35 : tensor<2xui32>
// CHECK-NEXT: %c_36 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// CHECK-NEXT: %129 = stablehlo.compare LT, %128, %c_36 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// CHECK-NEXT: %130 = stablehlo.bitcast_convert %127 : (tensor<2xui32>) -> tensor<2xf32>
// CHECK-NEXT: %131 = stablehlo.select %129, %130, %cst_33 : tensor<2xi1>, tensor<2xf32>
// CHECK-NEXT: %132 = stablehlo.convert %arg8 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %c_37 = stablehlo.constant dense<4> : tensor<i64>
// CHECK-NEXT: %133 = stablehlo.remainder %132, %c_37 : tensor<i64>
// CHECK-NEXT: %c_38 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %134 = stablehlo.compare EQ, %133, %c_38 : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT: %135 = stablehlo.slice %131 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %136 = stablehlo.reshape %135 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %137 = stablehlo.multiply %136, %arg1 : tensor<f32>
// CHECK-NEXT: %138 = stablehlo.multiply %137, %cst_0 : tensor<f32>
// CHECK-NEXT: %139 = stablehlo.multiply %137, %cst : tensor<f32>
// CHECK-NEXT: %140 = stablehlo.compare GT, %138, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %141 = stablehlo.compare LT, %139, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %142 = stablehlo.or %140, %141 : tensor<i1>
// CHECK-NEXT: %143 = stablehlo.or %134, %142 : tensor<i1>
// CHECK-NEXT: %144 = stablehlo.select %143, %137, %arg1 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_39 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_40 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %145 = stablehlo.clamp %cst_39, %144, %cst_40 : tensor<f32>
// CHECK-NEXT: %146 = stablehlo.bitcast_convert %145 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_41 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %147 = stablehlo.subtract %c_41, %146 : tensor<ui32>
// CHECK-NEXT: %148 = stablehlo.bitcast_convert %147 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_42 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %149 = stablehlo.divide %cst_42, %148 : tensor<f32>
// CHECK-NEXT: %150 = stablehlo.optimization_barrier %149 : tensor<f32>
// CHECK-NEXT: %151 = stablehlo.divide %arg1, %150 : tensor<f32>
// CHECK-NEXT: %152 = stablehlo.broadcast_in_dim %151, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %153 = stablehlo.multiply %112, %152 : tensor<16xf32>
// CHECK-NEXT: %154 = stablehlo.slice %131 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %155 = stablehlo.reshape %154 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %156 = stablehlo.multiply %155, %arg5 : tensor<f32>
// CHECK-NEXT: %157 = stablehlo.multiply %156, %cst_0 : tensor<f32>
// CHECK-NEXT: %158 = stablehlo.multiply %156, %cst : tensor<f32>
// CHECK-NEXT: %159 = stablehlo.compare GT, %157, %arg5 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %160 = stablehlo.compare LT, %158, %arg5 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %161 = stablehlo.or %159, %160 : tensor<i1>
// CHECK-NEXT: %162 = stablehlo.or %134, %161 : tensor<i1>
// CHECK-NEXT: %163 = stablehlo.select %162, %156, %arg5 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_43 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_44 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %164 = stablehlo.clamp %cst_43, %163, %cst_44 : tensor<f32>
// CHECK-NEXT: %165 = stablehlo.bitcast_convert %164 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_45 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %166 = stablehlo.subtract %c_45, %165 : tensor<ui32>
// CHECK-NEXT: %167 = stablehlo.bitcast_convert %166 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_46 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %168 = stablehlo.divide %cst_46, %167 : tensor<f32>
// CHECK-NEXT: %169 = stablehlo.optimization_barrier %168 : tensor<f32>
// CHECK-NEXT: %170 = stablehlo.divide %arg5, %169 : tensor<f32>
// CHECK-NEXT: %171 = stablehlo.broadcast_in_dim %170, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %172 = stablehlo.multiply %102, %171 : tensor<16xf32>
// CHECK-NEXT: %173 = stablehlo.is_finite %153 : (tensor<16xf32>) -> tensor<16xi1>
// CHECK-NEXT: %174 = stablehlo.clamp %cst_12, %153, %cst_13 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: %175 = stablehlo.select %173, %174, %153 : tensor<16xi1>, tensor<16xf32>
// CHECK-NEXT: %176 = stablehlo.convert %175 {scalify.forms = ["s7"]} : (tensor<16xf32>) -> tensor<16xf16>
// CHECK-NEXT: %177 = stablehlo.reshape %115 : (tensor<32x16xf32>) -> tensor<1x512xf32>
// CHECK-NEXT: %178 = stablehlo.reshape %109 : (tensor<32x16xf32>) -> tensor<1x512xf32>
// CHECK-NEXT: %179 = stablehlo.concatenate %177, %178, dim = 0 : (tensor<1x512xf32>, tensor<1x512xf32>) -> tensor<2x512xf32>
// CHECK-NEXT: %180 = stablehlo.multiply %179, %179 : tensor<2x512xf32>
// CHECK-NEXT: %181 = stablehlo.is_finite %179 : (tensor<2x512xf32>) -> tensor<2x512xi1>
// CHECK-NEXT: %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<2x512xf32>
// CHECK-NEXT: %182 = stablehlo.select %181, %180, %cst_47 : tensor<2x512xi1>, tensor<2x512xf32>
// CHECK-NEXT: %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %183 = stablehlo.reduce(%182 init: %cst_48) applies stablehlo.add across dimensions = [1] : (tensor<2x512xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: %cst_49 = stablehlo.constant dense<0.001953125> : tensor<2xf32>
// CHECK-NEXT: %184 = stablehlo.multiply %183, %cst_49 : tensor<2xf32>
// CHECK-NEXT: %185 = stablehlo.sqrt %184 : tensor<2xf32>
// CHECK-NEXT: %cst_50 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %186 = stablehlo.bitcast_convert %185 : (tensor<2xf32>) -> tensor<2xui32>
// CHECK-NEXT: %c_51 = stablehlo.constant dense<4286578688> : tensor<2xui32>
// CHECK-NEXT: %187 = stablehlo.and %186, %c_51 : tensor<2xui32>
// CHECK-NEXT: %c_52 = stablehlo.constant dense<1> : tensor<2xui32>
// CHECK-NEXT: %188 = stablehlo.subtract %187, %c_52 : tensor<2xui32>
// CHECK-NEXT: %c_53 = stablehlo.constant dense<2139095039> : tensor<2xui32>
// CHECK-NEXT: %189 = stablehlo.compare LT, %188, %c_53 : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
// CHECK-NEXT: %190 = stablehlo.bitcast_convert %187 : (tensor<2xui32>) -> tensor<2xf32>
// CHECK-NEXT: %191 = stablehlo.select %189, %190, %cst_50 : tensor<2xi1>, tensor<2xf32>
// CHECK-NEXT: %192 = stablehlo.convert %arg8 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %c_54 = stablehlo.constant dense<4> : tensor<i64>
// CHECK-NEXT: %193 = stablehlo.remainder %192, %c_54 : tensor<i64>
// CHECK-NEXT: %c_55 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %194 = stablehlo.compare EQ, %193, %c_55 : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT: %195 = stablehlo.slice %191 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %196 = stablehlo.reshape %195 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %197 = stablehlo.multiply %196, %arg3 : tensor<f32>
// CHECK-NEXT: %198 = stablehlo.multiply %197, %cst_0 : tensor<f32>
// CHECK-NEXT: %199 = stablehlo.multiply %197, %cst : tensor<f32>
// CHECK-NEXT: %200 = stablehlo.compare GT, %198, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %201 = stablehlo.compare LT, %199, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %202 = stablehlo.or %200, %201 : tensor<i1>
// CHECK-NEXT: %203 = stablehlo.or %194, %202 : tensor<i1>
// CHECK-NEXT: %204 = stablehlo.select %203, %197, %arg3 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_56 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_57 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %205 = stablehlo.clamp %cst_56, %204, %cst_57 : tensor<f32>
// CHECK-NEXT: %206 = stablehlo.bitcast_convert %205 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_58 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %207 = stablehlo.subtract %c_58, %206 : tensor<ui32>
// CHECK-NEXT: %208 = stablehlo.bitcast_convert %207 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_59 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %209 = stablehlo.divide %cst_59, %208 : tensor<f32>
// CHECK-NEXT: %210 = stablehlo.optimization_barrier %209 : tensor<f32>
// CHECK-NEXT: %211 = stablehlo.divide %arg3, %210 : tensor<f32>
// CHECK-NEXT: %212 = stablehlo.broadcast_in_dim %211, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %213 = stablehlo.multiply %115, %212 : tensor<32x16xf32>
// CHECK-NEXT: %214 = stablehlo.slice %191 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %215 = stablehlo.reshape %214 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %216 = stablehlo.multiply %215, %arg7 : tensor<f32>
// CHECK-NEXT: %217 = stablehlo.multiply %216, %cst_0 : tensor<f32>
// CHECK-NEXT: %218 = stablehlo.multiply %216, %cst : tensor<f32>
// CHECK-NEXT: %219 = stablehlo.compare GT, %217, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %220 = stablehlo.compare LT, %218, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %221 = stablehlo.or %219, %220 : tensor<i1>
// CHECK-NEXT: %222 = stablehlo.or %194, %221 : tensor<i1>
// CHECK-NEXT: %223 = stablehlo.select %222, %216, %arg7 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %cst_60 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_61 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %224 = stablehlo.clamp %cst_60, %223, %cst_61 : tensor<f32>
// CHECK-NEXT: %225 = stablehlo.bitcast_convert %224 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_62 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %226 = stablehlo.subtract %c_62, %225 : tensor<ui32>
// CHECK-NEXT: %227 = stablehlo.bitcast_convert %226 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_63 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %228 = stablehlo.divide %cst_63, %227 : tensor<f32>
// CHECK-NEXT: %229 = stablehlo.optimization_barrier %228 : tensor<f32>
// CHECK-NEXT: %230 = stablehlo.divide %arg7, %229 : tensor<f32>
// CHECK-NEXT: %231 = stablehlo.broadcast_in_dim %230, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %232 = stablehlo.multiply %109, %231 : tensor<32x16xf32>
// CHECK-NEXT: %233 = stablehlo.is_finite %213 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// CHECK-NEXT: %234 = stablehlo.clamp %cst_12, %213, %cst_13 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %235 = stablehlo.select %233, %234, %213 : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT: %236 = stablehlo.convert %235 {scalify.forms = ["s9"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: return %176, %150, %236, %210, %172, %169, %232, %229, %116 : tensor<16xf16>, tensor<f32>, tensor<32x16xf16>, tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<32x16xf32>, tensor<f32>, tensor<i32>
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
