// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature,scalify-roles,scalify-recognize{scales=true marked=true},scalify-quantize-matmuls{recipe=%S/Inputs/channels.toml},scalify-narrow-state{recipe=%S/Inputs/channels.toml},scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=CHANNELS

// Matmuls whose weights have a scale for each output channel: batched, turned, and a convolution.
// CHANNELS:      module @_infer attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// CHANNELS-NEXT: func.func public @main(%arg0: tensor<2x16x32xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<2x32x32xf32>, %arg3: tensor<3x3x16x16xf32>, %arg4: tensor<1x5x5x16xf32>) -> (tensor<2x16x16xf32> {jax.result_info = "result[0]"}, tensor<16x16xf32> {jax.result_info = "result[1]"}, tensor<1x5x5x16xf32> {jax.result_info = "result[2]"}) {
// CHANNELS-NEXT: %0 = stablehlo.abs %arg3 : tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<3x3x16x16xf32>, tensor<f32>) -> tensor<16xf32>
// CHANNELS-NEXT: %2 = stablehlo.optimization_barrier %1 : tensor<16xf32>
// CHANNELS-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<16xf32>
// CHANNELS-NEXT: %3 = stablehlo.maximum %2, %cst_0 : tensor<16xf32>
// CHANNELS-NEXT: %4 = stablehlo.bitcast_convert %3 : (tensor<16xf32>) -> tensor<16xui32>
// CHANNELS-NEXT: %c = stablehlo.constant dense<2097151> : tensor<16xui32>
// CHANNELS-NEXT: %5 = stablehlo.add %4, %c : tensor<16xui32>
// CHANNELS-NEXT: %c_1 = stablehlo.constant dense<2139095040> : tensor<16xui32>
// CHANNELS-NEXT: %6 = stablehlo.and %5, %c_1 : tensor<16xui32>
// CHANNELS-NEXT: %c_2 = stablehlo.constant dense<2197815296> : tensor<16xui32>
// CHANNELS-NEXT: %7 = stablehlo.subtract %c_2, %6 : tensor<16xui32>
// CHANNELS-NEXT: %8 = stablehlo.bitcast_convert %7 : (tensor<16xui32>) -> tensor<16xf32>
// CHANNELS-NEXT: %c_3 = stablehlo.constant dense<2139095040> : tensor<16xui32>
// CHANNELS-NEXT: %9 = stablehlo.compare LT, %4, %c_3 : (tensor<16xui32>, tensor<16xui32>) -> tensor<16xi1>
// CHANNELS-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<16xf32>
// CHANNELS-NEXT: %10 = stablehlo.select %9, %8, %cst_4 : tensor<16xi1>, tensor<16xf32>
// CHANNELS-NEXT: %11 = stablehlo.bitcast_convert %10 : (tensor<16xf32>) -> tensor<16xui32>
// CHANNELS-NEXT: %c_5 = stablehlo.constant dense<2130706432> : tensor<16xui32>
// CHANNELS-NEXT: %12 = stablehlo.subtract %c_5, %11 : tensor<16xui32>
// CHANNELS-NEXT: %13 = stablehlo.bitcast_convert %12 : (tensor<16xui32>) -> tensor<16xf32>
// CHANNELS-NEXT: %14 = stablehlo.broadcast_in_dim %10, dims = [3] : (tensor<16xf32>) -> tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %15 = stablehlo.multiply %arg3, %14 : tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %16 = stablehlo.clamp %cst_6, %15, %cst_7 : (tensor<f32>, tensor<3x3x16x16xf32>, tensor<f32>) -> tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %17 = stablehlo.convert %16 : (tensor<3x3x16x16xf32>) -> tensor<3x3x16x16xf8E4M3FN>
// CHANNELS-NEXT: %18 = stablehlo.abs %arg4 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %19 = stablehlo.reduce(%18 init: %cst_8) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<1x5x5x16xf32>, tensor<f32>) -> tensor<f32>
// CHANNELS-NEXT: %20 = stablehlo.optimization_barrier %19 : tensor<f32>
// CHANNELS-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %21 = stablehlo.maximum %20, %cst_9 : tensor<f32>
// CHANNELS-NEXT: %22 = stablehlo.bitcast_convert %21 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_10 = stablehlo.constant dense<2097151> : tensor<ui32>
// CHANNELS-NEXT: %23 = stablehlo.add %22, %c_10 : tensor<ui32>
// CHANNELS-NEXT: %c_11 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CHANNELS-NEXT: %24 = stablehlo.and %23, %c_11 : tensor<ui32>
// CHANNELS-NEXT: %c_12 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CHANNELS-NEXT: %25 = stablehlo.subtract %c_12, %24 : tensor<ui32>
// CHANNELS-NEXT: %26 = stablehlo.bitcast_convert %25 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %c_13 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CHANNELS-NEXT: %27 = stablehlo.compare LT, %22, %c_13 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHANNELS-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %28 = stablehlo.select %27, %26, %cst_14 : tensor<i1>, tensor<f32>
// CHANNELS-NEXT: %29 = stablehlo.bitcast_convert %28 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_15 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHANNELS-NEXT: %30 = stablehlo.subtract %c_15, %29 : tensor<ui32>
// CHANNELS-NEXT: %31 = stablehlo.bitcast_convert %30 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %32 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<f32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %33 = stablehlo.multiply %arg4, %32 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %cst_16 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_17 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %34 = stablehlo.clamp %cst_16, %33, %cst_17 : (tensor<f32>, tensor<1x5x5x16xf32>, tensor<f32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %35 = stablehlo.convert %34 : (tensor<1x5x5x16xf32>) -> tensor<1x5x5x16xf8E4M3FN>
// CHANNELS-NEXT: %36 = stablehlo.abs %arg1 : tensor<32x16xf32>
// CHANNELS-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %37 = stablehlo.reduce(%36 init: %cst_18) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
// CHANNELS-NEXT: %38 = stablehlo.optimization_barrier %37 : tensor<f32>
// CHANNELS-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %39 = stablehlo.maximum %38, %cst_19 : tensor<f32>
// CHANNELS-NEXT: %40 = stablehlo.bitcast_convert %39 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_20 = stablehlo.constant dense<2097151> : tensor<ui32>
// CHANNELS-NEXT: %41 = stablehlo.add %40, %c_20 : tensor<ui32>
// CHANNELS-NEXT: %c_21 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CHANNELS-NEXT: %42 = stablehlo.and %41, %c_21 : tensor<ui32>
// CHANNELS-NEXT: %c_22 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CHANNELS-NEXT: %43 = stablehlo.subtract %c_22, %42 : tensor<ui32>
// CHANNELS-NEXT: %44 = stablehlo.bitcast_convert %43 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %c_23 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CHANNELS-NEXT: %45 = stablehlo.compare LT, %40, %c_23 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHANNELS-NEXT: %cst_24 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %46 = stablehlo.select %45, %44, %cst_24 : tensor<i1>, tensor<f32>
// CHANNELS-NEXT: %47 = stablehlo.bitcast_convert %46 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_25 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHANNELS-NEXT: %48 = stablehlo.subtract %c_25, %47 : tensor<ui32>
// CHANNELS-NEXT: %49 = stablehlo.bitcast_convert %48 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %50 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %51 = stablehlo.multiply %arg1, %50 : tensor<32x16xf32>
// CHANNELS-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_27 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %52 = stablehlo.clamp %cst_26, %51, %cst_27 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %53 = stablehlo.convert %52 : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// CHANNELS-NEXT: %54 = stablehlo.abs %arg2 : tensor<2x32x32xf32>
// CHANNELS-NEXT: %cst_28 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %55 = stablehlo.reduce(%54 init: %cst_28) applies stablehlo.maximum across dimensions = [1] : (tensor<2x32x32xf32>, tensor<f32>) -> tensor<2x32xf32>
// CHANNELS-NEXT: %56 = stablehlo.optimization_barrier %55 : tensor<2x32xf32>
// CHANNELS-NEXT: %cst_29 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<2x32xf32>
// CHANNELS-NEXT: %57 = stablehlo.maximum %56, %cst_29 : tensor<2x32xf32>
// CHANNELS-NEXT: %58 = stablehlo.bitcast_convert %57 : (tensor<2x32xf32>) -> tensor<2x32xui32>
// CHANNELS-NEXT: %c_30 = stablehlo.constant dense<2097151> : tensor<2x32xui32>
// CHANNELS-NEXT: %59 = stablehlo.add %58, %c_30 : tensor<2x32xui32>
// CHANNELS-NEXT: %c_31 = stablehlo.constant dense<2139095040> : tensor<2x32xui32>
// CHANNELS-NEXT: %60 = stablehlo.and %59, %c_31 : tensor<2x32xui32>
// CHANNELS-NEXT: %c_32 = stablehlo.constant dense<2197815296> : tensor<2x32xui32>
// CHANNELS-NEXT: %61 = stablehlo.subtract %c_32, %60 : tensor<2x32xui32>
// CHANNELS-NEXT: %62 = stablehlo.bitcast_convert %61 : (tensor<2x32xui32>) -> tensor<2x32xf32>
// CHANNELS-NEXT: %c_33 = stablehlo.constant dense<2139095040> : tensor<2x32xui32>
// CHANNELS-NEXT: %63 = stablehlo.compare LT, %58, %c_33 : (tensor<2x32xui32>, tensor<2x32xui32>) -> tensor<2x32xi1>
// CHANNELS-NEXT: %cst_34 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<2x32xf32>
// CHANNELS-NEXT: %64 = stablehlo.select %63, %62, %cst_34 : tensor<2x32xi1>, tensor<2x32xf32>
// CHANNELS-NEXT: %65 = stablehlo.bitcast_convert %64 : (tensor<2x32xf32>) -> tensor<2x32xui32>
// CHANNELS-NEXT: %c_35 = stablehlo.constant dense<2130706432> : tensor<2x32xui32>
// CHANNELS-NEXT: %66 = stablehlo.subtract %c_35, %65 : tensor<2x32xui32>
// CHANNELS-NEXT: %67 = stablehlo.bitcast_convert %66 : (tensor<2x32xui32>) -> tensor<2x32xf32>
// CHANNELS-NEXT: %68 = stablehlo.broadcast_in_dim %64, dims = [0, 2] : (tensor<2x32xf32>) -> tensor<2x32x32xf32>
// CHANNELS-NEXT: %69 = stablehlo.multiply %arg2, %68 : tensor<2x32x32xf32>
// CHANNELS-NEXT: %cst_36 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_37 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %70 = stablehlo.clamp %cst_36, %69, %cst_37 : (tensor<f32>, tensor<2x32x32xf32>, tensor<f32>) -> tensor<2x32x32xf32>
// CHANNELS-NEXT: %71 = stablehlo.convert %70 : (tensor<2x32x32xf32>) -> tensor<2x32x32xf8E4M3FN>
// CHANNELS-NEXT: %72 = stablehlo.abs %arg0 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %cst_38 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %73 = stablehlo.reduce(%72 init: %cst_38) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<f32>
// CHANNELS-NEXT: %74 = stablehlo.optimization_barrier %73 : tensor<f32>
// CHANNELS-NEXT: %cst_39 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %75 = stablehlo.maximum %74, %cst_39 : tensor<f32>
// CHANNELS-NEXT: %76 = stablehlo.bitcast_convert %75 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_40 = stablehlo.constant dense<2097151> : tensor<ui32>
// CHANNELS-NEXT: %77 = stablehlo.add %76, %c_40 : tensor<ui32>
// CHANNELS-NEXT: %c_41 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CHANNELS-NEXT: %78 = stablehlo.and %77, %c_41 : tensor<ui32>
// CHANNELS-NEXT: %c_42 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CHANNELS-NEXT: %79 = stablehlo.subtract %c_42, %78 : tensor<ui32>
// CHANNELS-NEXT: %80 = stablehlo.bitcast_convert %79 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %c_43 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CHANNELS-NEXT: %81 = stablehlo.compare LT, %76, %c_43 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHANNELS-NEXT: %cst_44 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %82 = stablehlo.select %81, %80, %cst_44 : tensor<i1>, tensor<f32>
// CHANNELS-NEXT: %83 = stablehlo.bitcast_convert %82 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_45 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHANNELS-NEXT: %84 = stablehlo.subtract %c_45, %83 : tensor<ui32>
// CHANNELS-NEXT: %85 = stablehlo.bitcast_convert %84 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %86 = stablehlo.broadcast_in_dim %82, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %87 = stablehlo.multiply %arg0, %86 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %cst_46 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_47 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %88 = stablehlo.clamp %cst_46, %87, %cst_47 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %89 = stablehlo.convert %88 : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E4M3FN>
// CHANNELS-NEXT: %90 = stablehlo.dot_general %89, %71, batching_dims = [0] x [0], contracting_dims = [2] x [1]{{(, algorithm = <[^>]*>)?}} : (tensor<2x16x32xf8E4M3FN>, tensor<2x32x32xf8E4M3FN>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %91 = stablehlo.optimization_barrier %90 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %92 = stablehlo.broadcast_in_dim %67, dims = [0, 2] : (tensor<2x32xf32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %93 = stablehlo.multiply %91, %92 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %94 = stablehlo.broadcast_in_dim %85, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %95 = stablehlo.multiply %93, %94 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %96 = stablehlo.abs %95 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %cst_48 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %97 = stablehlo.reduce(%96 init: %cst_48) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<f32>
// CHANNELS-NEXT: %98 = stablehlo.optimization_barrier %97 : tensor<f32>
// CHANNELS-NEXT: %cst_49 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %99 = stablehlo.maximum %98, %cst_49 : tensor<f32>
// CHANNELS-NEXT: %100 = stablehlo.bitcast_convert %99 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_50 = stablehlo.constant dense<2097151> : tensor<ui32>
// CHANNELS-NEXT: %101 = stablehlo.add %100, %c_50 : tensor<ui32>
// CHANNELS-NEXT: %c_51 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CHANNELS-NEXT: %102 = stablehlo.and %101, %c_51 : tensor<ui32>
// CHANNELS-NEXT: %c_52 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CHANNELS-NEXT: %103 = stablehlo.subtract %c_52, %102 : tensor<ui32>
// CHANNELS-NEXT: %104 = stablehlo.bitcast_convert %103 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %c_53 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CHANNELS-NEXT: %105 = stablehlo.compare LT, %100, %c_53 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHANNELS-NEXT: %cst_54 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %106 = stablehlo.select %105, %104, %cst_54 : tensor<i1>, tensor<f32>
// CHANNELS-NEXT: %107 = stablehlo.bitcast_convert %106 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_55 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHANNELS-NEXT: %108 = stablehlo.subtract %c_55, %107 : tensor<ui32>
// CHANNELS-NEXT: %109 = stablehlo.bitcast_convert %108 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %110 = stablehlo.broadcast_in_dim %106, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %111 = stablehlo.multiply %95, %110 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %cst_56 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_57 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %112 = stablehlo.clamp %cst_56, %111, %cst_57 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %113 = stablehlo.convert %112 : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E4M3FN>
// CHANNELS-NEXT: %114 = stablehlo.slice %arg0 [0:1, 0:16, 0:32] : (tensor<2x16x32xf32>) -> tensor<1x16x32xf32>
// CHANNELS-NEXT: %115 = stablehlo.reshape %114 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
// CHANNELS-NEXT: %116 = stablehlo.abs %115 : tensor<16x32xf32>
// CHANNELS-NEXT: %cst_58 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %117 = stablehlo.reduce(%116 init: %cst_58) applies stablehlo.maximum across dimensions = [1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<16xf32>
// CHANNELS-NEXT: %118 = stablehlo.optimization_barrier %117 : tensor<16xf32>
// CHANNELS-NEXT: %cst_59 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<16xf32>
// CHANNELS-NEXT: %119 = stablehlo.maximum %118, %cst_59 : tensor<16xf32>
// CHANNELS-NEXT: %120 = stablehlo.bitcast_convert %119 : (tensor<16xf32>) -> tensor<16xui32>
// CHANNELS-NEXT: %c_60 = stablehlo.constant dense<2097151> : tensor<16xui32>
// CHANNELS-NEXT: %121 = stablehlo.add %120, %c_60 : tensor<16xui32>
// CHANNELS-NEXT: %c_61 = stablehlo.constant dense<2139095040> : tensor<16xui32>
// CHANNELS-NEXT: %122 = stablehlo.and %121, %c_61 : tensor<16xui32>
// CHANNELS-NEXT: %c_62 = stablehlo.constant dense<2197815296> : tensor<16xui32>
// CHANNELS-NEXT: %123 = stablehlo.subtract %c_62, %122 : tensor<16xui32>
// CHANNELS-NEXT: %124 = stablehlo.bitcast_convert %123 : (tensor<16xui32>) -> tensor<16xf32>
// CHANNELS-NEXT: %c_63 = stablehlo.constant dense<2139095040> : tensor<16xui32>
// CHANNELS-NEXT: %125 = stablehlo.compare LT, %120, %c_63 : (tensor<16xui32>, tensor<16xui32>) -> tensor<16xi1>
// CHANNELS-NEXT: %cst_64 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<16xf32>
// CHANNELS-NEXT: %126 = stablehlo.select %125, %124, %cst_64 : tensor<16xi1>, tensor<16xf32>
// CHANNELS-NEXT: %127 = stablehlo.bitcast_convert %126 : (tensor<16xf32>) -> tensor<16xui32>
// CHANNELS-NEXT: %c_65 = stablehlo.constant dense<2130706432> : tensor<16xui32>
// CHANNELS-NEXT: %128 = stablehlo.subtract %c_65, %127 : tensor<16xui32>
// CHANNELS-NEXT: %129 = stablehlo.bitcast_convert %128 : (tensor<16xui32>) -> tensor<16xf32>
// CHANNELS-NEXT: %130 = stablehlo.broadcast_in_dim %126, dims = [0] : (tensor<16xf32>) -> tensor<16x32xf32>
// CHANNELS-NEXT: %131 = stablehlo.multiply %115, %130 : tensor<16x32xf32>
// CHANNELS-NEXT: %cst_66 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_67 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %132 = stablehlo.clamp %cst_66, %131, %cst_67 : (tensor<f32>, tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
// CHANNELS-NEXT: %133 = stablehlo.convert %132 : (tensor<16x32xf32>) -> tensor<16x32xf8E4M3FN>
// CHANNELS-NEXT: %134 = stablehlo.dot_general %53, %133, contracting_dims = [0] x [1]{{(, algorithm = <[^>]*>)?}} : (tensor<32x16xf8E4M3FN>, tensor<16x32xf8E4M3FN>) -> tensor<16x16xf32>
// CHANNELS-NEXT: %135 = stablehlo.broadcast_in_dim %129, dims = [1] : (tensor<16xf32>) -> tensor<16x16xf32>
// CHANNELS-NEXT: %136 = stablehlo.multiply %134, %135 : tensor<16x16xf32>
// CHANNELS-NEXT: %137 = stablehlo.broadcast_in_dim %49, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// CHANNELS-NEXT: %138 = stablehlo.multiply %136, %137 : tensor<16x16xf32>
// CHANNELS-NEXT: %139 = stablehlo.convolution(%35, %17) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x5x16xf8E4M3FN>, tensor<3x3x16x16xf8E4M3FN>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %140 = stablehlo.broadcast_in_dim %13, dims = [3] : (tensor<16xf32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %141 = stablehlo.multiply %139, %140 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %142 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %143 = stablehlo.multiply %141, %142 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %144 = stablehlo.reshape %113 : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// CHANNELS-NEXT: %145 = stablehlo.dot_general %144, %53, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} : (tensor<32x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %146 = stablehlo.reshape %145 : (tensor<32x16xf32>) -> tensor<2x16x16xf32>
// CHANNELS-NEXT: %147 = stablehlo.multiply %109, %49 : tensor<f32>
// CHANNELS-NEXT: %cst_68 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CHANNELS-NEXT: %148 = stablehlo.minimum %147, %cst_68 : tensor<f32>
// CHANNELS-NEXT: %149 = stablehlo.broadcast_in_dim %148, dims = [] : (tensor<f32>) -> tensor<2x16x16xf32>
// CHANNELS-NEXT: %150 = stablehlo.multiply %146, %149 : tensor<2x16x16xf32>
// CHANNELS-NEXT: return %150, %138, %143 : tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<1x5x5x16xf32>
// CHANNELS-NEXT: }
// CHANNELS-NEXT: }

module @_infer attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x16x32xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<2x32x32xf32>, %arg3: tensor<3x3x16x16xf32>, %arg4: tensor<1x5x5x16xf32>) -> (tensor<2x16x16xf32> {jax.result_info = "result[0]"}, tensor<16x16xf32> {jax.result_info = "result[1]"}, tensor<1x5x5x16xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg0, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x16x32xf32>, tensor<2x32x32xf32>) -> tensor<2x16x32xf32>
    %1 = stablehlo.slice %arg0 [0:1, 0:16, 0:32] : (tensor<2x16x32xf32>) -> tensor<1x16x32xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
    %3 = stablehlo.dot_general %arg1, %2, contracting_dims = [0] x [1] : (tensor<32x16xf32>, tensor<16x32xf32>) -> tensor<16x16xf32>
    %4 = stablehlo.convolution(%arg4, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x5x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x5x5x16xf32>
    %5 = stablehlo.dot_general %0, %arg1, contracting_dims = [2] x [0] : (tensor<2x16x32xf32>, tensor<32x16xf32>) -> tensor<2x16x16xf32>
    return %5, %3, %4 : tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<1x5x5x16xf32>
  }
}
