// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature,scalify-roles,scalify-recognize{scales=true marked=true},scalify-quantize-matmuls{recipe=%S/Inputs/channels.toml},scalify-narrow-state{recipe=%S/Inputs/channels.toml},scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=CHANNELS

// Matmuls whose weights have a scale for each output channel: batched, turned, and a convolution.
// CHANNELS:      module @_infer attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// CHANNELS-NEXT: func.func public @main(%arg0: tensor<2x16x32xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<2x32x32xf32>, %arg3: tensor<3x3x16x16xf32>, %arg4: tensor<1x5x5x16xf32>) -> (tensor<2x16x16xf32> {jax.result_info = "result[0]"}, tensor<16x16xf32> {jax.result_info = "result[1]"}, tensor<1x5x5x16xf32> {jax.result_info = "result[2]"}) {
// CHANNELS-NEXT: %0 = stablehlo.abs %arg3 : tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<3x3x16x16xf32>, tensor<f32>) -> tensor<16xf32>
// CHANNELS-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<16xf32>
// CHANNELS-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<16xf32>
// CHANNELS-NEXT: %2 = stablehlo.maximum %1, %cst_1 : tensor<16xf32>
// CHANNELS-NEXT: %3 = stablehlo.divide %cst_0, %2 : tensor<16xf32>
// CHANNELS-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<16xf32>
// CHANNELS-NEXT: %4 = stablehlo.bitcast_convert %3 : (tensor<16xf32>) -> tensor<16xui32>
// CHANNELS-NEXT: %c = stablehlo.constant dense<4286578688> : tensor<16xui32>
// CHANNELS-NEXT: %5 = stablehlo.and %4, %c : tensor<16xui32>
// CHANNELS-NEXT: %c_3 = stablehlo.constant dense<1> : tensor<16xui32>
// CHANNELS-NEXT: %6 = stablehlo.subtract %5, %c_3 : tensor<16xui32>
// CHANNELS-NEXT: %c_4 = stablehlo.constant dense<2139095039> : tensor<16xui32>
// CHANNELS-NEXT: %7 = stablehlo.compare LT, %6, %c_4 : (tensor<16xui32>, tensor<16xui32>) -> tensor<16xi1>
// CHANNELS-NEXT: %8 = stablehlo.bitcast_convert %5 : (tensor<16xui32>) -> tensor<16xf32>
// CHANNELS-NEXT: %9 = stablehlo.select %7, %8, %cst_2 : tensor<16xi1>, tensor<16xf32>
// CHANNELS-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<16xf32>
// CHANNELS-NEXT: %10 = stablehlo.divide %cst_5, %9 : tensor<16xf32>
// CHANNELS-NEXT: %11 = stablehlo.optimization_barrier %10 : tensor<16xf32>
// CHANNELS-NEXT: %12 = stablehlo.divide %cst_5, %11 : tensor<16xf32>
// CHANNELS-NEXT: %13 = stablehlo.broadcast_in_dim %12, dims = [3] : (tensor<16xf32>) -> tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %14 = stablehlo.multiply %arg3, %13 : tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %15 = stablehlo.clamp %cst_6, %14, %cst_7 : (tensor<f32>, tensor<3x3x16x16xf32>, tensor<f32>) -> tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %16 = stablehlo.convert %15 : (tensor<3x3x16x16xf32>) -> tensor<3x3x16x16xf8E4M3FN>
// CHANNELS-NEXT: %17 = stablehlo.abs %arg4 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %18 = stablehlo.reduce(%17 init: %cst_8) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<1x5x5x16xf32>, tensor<f32>) -> tensor<f32>
// CHANNELS-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %19 = stablehlo.maximum %18, %cst_10 : tensor<f32>
// CHANNELS-NEXT: %20 = stablehlo.divide %cst_9, %19 : tensor<f32>
// CHANNELS-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %21 = stablehlo.bitcast_convert %20 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_12 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHANNELS-NEXT: %22 = stablehlo.and %21, %c_12 : tensor<ui32>
// CHANNELS-NEXT: %c_13 = stablehlo.constant dense<1> : tensor<ui32>
// CHANNELS-NEXT: %23 = stablehlo.subtract %22, %c_13 : tensor<ui32>
// CHANNELS-NEXT: %c_14 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHANNELS-NEXT: %24 = stablehlo.compare LT, %23, %c_14 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHANNELS-NEXT: %25 = stablehlo.bitcast_convert %22 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %26 = stablehlo.select %24, %25, %cst_11 : tensor<i1>, tensor<f32>
// CHANNELS-NEXT: %cst_15 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %27 = stablehlo.divide %cst_15, %26 : tensor<f32>
// CHANNELS-NEXT: %28 = stablehlo.optimization_barrier %27 : tensor<f32>
// CHANNELS-NEXT: %29 = stablehlo.divide %cst_15, %28 : tensor<f32>
// CHANNELS-NEXT: %30 = stablehlo.broadcast_in_dim %29, dims = [] : (tensor<f32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %31 = stablehlo.multiply %arg4, %30 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %cst_16 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_17 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %32 = stablehlo.clamp %cst_16, %31, %cst_17 : (tensor<f32>, tensor<1x5x5x16xf32>, tensor<f32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %33 = stablehlo.convert %32 : (tensor<1x5x5x16xf32>) -> tensor<1x5x5x16xf8E4M3FN>
// CHANNELS-NEXT: %34 = stablehlo.abs %arg1 : tensor<32x16xf32>
// CHANNELS-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %35 = stablehlo.reduce(%34 init: %cst_18) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
// CHANNELS-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_20 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %36 = stablehlo.maximum %35, %cst_20 : tensor<f32>
// CHANNELS-NEXT: %37 = stablehlo.divide %cst_19, %36 : tensor<f32>
// CHANNELS-NEXT: %cst_21 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %38 = stablehlo.bitcast_convert %37 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_22 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHANNELS-NEXT: %39 = stablehlo.and %38, %c_22 : tensor<ui32>
// CHANNELS-NEXT: %c_23 = stablehlo.constant dense<1> : tensor<ui32>
// CHANNELS-NEXT: %40 = stablehlo.subtract %39, %c_23 : tensor<ui32>
// CHANNELS-NEXT: %c_24 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHANNELS-NEXT: %41 = stablehlo.compare LT, %40, %c_24 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHANNELS-NEXT: %42 = stablehlo.bitcast_convert %39 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %43 = stablehlo.select %41, %42, %cst_21 : tensor<i1>, tensor<f32>
// CHANNELS-NEXT: %cst_25 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %44 = stablehlo.divide %cst_25, %43 : tensor<f32>
// CHANNELS-NEXT: %45 = stablehlo.optimization_barrier %44 : tensor<f32>
// CHANNELS-NEXT: %46 = stablehlo.divide %cst_25, %45 : tensor<f32>
// CHANNELS-NEXT: %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %48 = stablehlo.multiply %arg1, %47 : tensor<32x16xf32>
// CHANNELS-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_27 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %49 = stablehlo.clamp %cst_26, %48, %cst_27 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %50 = stablehlo.convert %49 : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// CHANNELS-NEXT: %51 = stablehlo.abs %arg2 : tensor<2x32x32xf32>
// CHANNELS-NEXT: %cst_28 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %52 = stablehlo.reduce(%51 init: %cst_28) applies stablehlo.maximum across dimensions = [1] : (tensor<2x32x32xf32>, tensor<f32>) -> tensor<2x32xf32>
// CHANNELS-NEXT: %cst_29 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<2x32xf32>
// CHANNELS-NEXT: %cst_30 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<2x32xf32>
// CHANNELS-NEXT: %53 = stablehlo.maximum %52, %cst_30 : tensor<2x32xf32>
// CHANNELS-NEXT: %54 = stablehlo.divide %cst_29, %53 : tensor<2x32xf32>
// CHANNELS-NEXT: %cst_31 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<2x32xf32>
// CHANNELS-NEXT: %55 = stablehlo.bitcast_convert %54 : (tensor<2x32xf32>) -> tensor<2x32xui32>
// CHANNELS-NEXT: %c_32 = stablehlo.constant dense<4286578688> : tensor<2x32xui32>
// CHANNELS-NEXT: %56 = stablehlo.and %55, %c_32 : tensor<2x32xui32>
// CHANNELS-NEXT: %c_33 = stablehlo.constant dense<1> : tensor<2x32xui32>
// CHANNELS-NEXT: %57 = stablehlo.subtract %56, %c_33 : tensor<2x32xui32>
// CHANNELS-NEXT: %c_34 = stablehlo.constant dense<2139095039> : tensor<2x32xui32>
// CHANNELS-NEXT: %58 = stablehlo.compare LT, %57, %c_34 : (tensor<2x32xui32>, tensor<2x32xui32>) -> tensor<2x32xi1>
// CHANNELS-NEXT: %59 = stablehlo.bitcast_convert %56 : (tensor<2x32xui32>) -> tensor<2x32xf32>
// CHANNELS-NEXT: %60 = stablehlo.select %58, %59, %cst_31 : tensor<2x32xi1>, tensor<2x32xf32>
// CHANNELS-NEXT: %cst_35 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<2x32xf32>
// CHANNELS-NEXT: %61 = stablehlo.divide %cst_35, %60 : tensor<2x32xf32>
// CHANNELS-NEXT: %62 = stablehlo.optimization_barrier %61 : tensor<2x32xf32>
// CHANNELS-NEXT: %63 = stablehlo.divide %cst_35, %62 : tensor<2x32xf32>
// CHANNELS-NEXT: %64 = stablehlo.broadcast_in_dim %63, dims = [0, 2] : (tensor<2x32xf32>) -> tensor<2x32x32xf32>
// CHANNELS-NEXT: %65 = stablehlo.multiply %arg2, %64 : tensor<2x32x32xf32>
// CHANNELS-NEXT: %cst_36 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_37 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %66 = stablehlo.clamp %cst_36, %65, %cst_37 : (tensor<f32>, tensor<2x32x32xf32>, tensor<f32>) -> tensor<2x32x32xf32>
// CHANNELS-NEXT: %67 = stablehlo.convert %66 : (tensor<2x32x32xf32>) -> tensor<2x32x32xf8E4M3FN>
// CHANNELS-NEXT: %68 = stablehlo.abs %arg0 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %cst_38 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %69 = stablehlo.reduce(%68 init: %cst_38) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<f32>
// CHANNELS-NEXT: %cst_39 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_40 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %70 = stablehlo.maximum %69, %cst_40 : tensor<f32>
// CHANNELS-NEXT: %71 = stablehlo.divide %cst_39, %70 : tensor<f32>
// CHANNELS-NEXT: %cst_41 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %72 = stablehlo.bitcast_convert %71 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_42 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHANNELS-NEXT: %73 = stablehlo.and %72, %c_42 : tensor<ui32>
// CHANNELS-NEXT: %c_43 = stablehlo.constant dense<1> : tensor<ui32>
// CHANNELS-NEXT: %74 = stablehlo.subtract %73, %c_43 : tensor<ui32>
// CHANNELS-NEXT: %c_44 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHANNELS-NEXT: %75 = stablehlo.compare LT, %74, %c_44 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHANNELS-NEXT: %76 = stablehlo.bitcast_convert %73 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %77 = stablehlo.select %75, %76, %cst_41 : tensor<i1>, tensor<f32>
// CHANNELS-NEXT: %cst_45 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %78 = stablehlo.divide %cst_45, %77 : tensor<f32>
// CHANNELS-NEXT: %79 = stablehlo.optimization_barrier %78 : tensor<f32>
// CHANNELS-NEXT: %80 = stablehlo.divide %cst_45, %79 : tensor<f32>
// CHANNELS-NEXT: %81 = stablehlo.broadcast_in_dim %80, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %82 = stablehlo.multiply %arg0, %81 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %cst_46 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_47 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %83 = stablehlo.clamp %cst_46, %82, %cst_47 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %84 = stablehlo.convert %83 : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E4M3FN>
// CHANNELS-NEXT: %85 = stablehlo.dot_general %84, %67, batching_dims = [0] x [0], contracting_dims = [2] x [1]{{(, algorithm = <[^>]*>)?}} : (tensor<2x16x32xf8E4M3FN>, tensor<2x32x32xf8E4M3FN>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %86 = stablehlo.broadcast_in_dim %62, dims = [0, 2] : (tensor<2x32xf32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %87 = stablehlo.multiply %85, %86 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %88 = stablehlo.broadcast_in_dim %79, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %89 = stablehlo.multiply %87, %88 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %90 = stablehlo.abs %89 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %cst_48 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %91 = stablehlo.reduce(%90 init: %cst_48) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<f32>
// CHANNELS-NEXT: %cst_49 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_50 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %92 = stablehlo.maximum %91, %cst_50 : tensor<f32>
// CHANNELS-NEXT: %93 = stablehlo.divide %cst_49, %92 : tensor<f32>
// CHANNELS-NEXT: %cst_51 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %94 = stablehlo.bitcast_convert %93 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_52 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHANNELS-NEXT: %95 = stablehlo.and %94, %c_52 : tensor<ui32>
// CHANNELS-NEXT: %c_53 = stablehlo.constant dense<1> : tensor<ui32>
// CHANNELS-NEXT: %96 = stablehlo.subtract %95, %c_53 : tensor<ui32>
// CHANNELS-NEXT: %c_54 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHANNELS-NEXT: %97 = stablehlo.compare LT, %96, %c_54 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHANNELS-NEXT: %98 = stablehlo.bitcast_convert %95 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %99 = stablehlo.select %97, %98, %cst_51 : tensor<i1>, tensor<f32>
// CHANNELS-NEXT: %cst_55 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %100 = stablehlo.divide %cst_55, %99 : tensor<f32>
// CHANNELS-NEXT: %101 = stablehlo.optimization_barrier %100 : tensor<f32>
// CHANNELS-NEXT: %102 = stablehlo.divide %cst_55, %101 : tensor<f32>
// CHANNELS-NEXT: %103 = stablehlo.broadcast_in_dim %102, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %104 = stablehlo.multiply %89, %103 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %cst_56 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_57 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %105 = stablehlo.clamp %cst_56, %104, %cst_57 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %106 = stablehlo.convert %105 : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E4M3FN>
// CHANNELS-NEXT: %107 = stablehlo.slice %arg0 [0:1, 0:16, 0:32] : (tensor<2x16x32xf32>) -> tensor<1x16x32xf32>
// CHANNELS-NEXT: %108 = stablehlo.reshape %107 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
// CHANNELS-NEXT: %109 = stablehlo.abs %108 : tensor<16x32xf32>
// CHANNELS-NEXT: %cst_58 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %110 = stablehlo.reduce(%109 init: %cst_58) applies stablehlo.maximum across dimensions = [1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<16xf32>
// CHANNELS-NEXT: %cst_59 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<16xf32>
// CHANNELS-NEXT: %cst_60 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<16xf32>
// CHANNELS-NEXT: %111 = stablehlo.maximum %110, %cst_60 : tensor<16xf32>
// CHANNELS-NEXT: %112 = stablehlo.divide %cst_59, %111 : tensor<16xf32>
// CHANNELS-NEXT: %cst_61 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<16xf32>
// CHANNELS-NEXT: %113 = stablehlo.bitcast_convert %112 : (tensor<16xf32>) -> tensor<16xui32>
// CHANNELS-NEXT: %c_62 = stablehlo.constant dense<4286578688> : tensor<16xui32>
// CHANNELS-NEXT: %114 = stablehlo.and %113, %c_62 : tensor<16xui32>
// CHANNELS-NEXT: %c_63 = stablehlo.constant dense<1> : tensor<16xui32>
// CHANNELS-NEXT: %115 = stablehlo.subtract %114, %c_63 : tensor<16xui32>
// CHANNELS-NEXT: %c_64 = stablehlo.constant dense<2139095039> : tensor<16xui32>
// CHANNELS-NEXT: %116 = stablehlo.compare LT, %115, %c_64 : (tensor<16xui32>, tensor<16xui32>) -> tensor<16xi1>
// CHANNELS-NEXT: %117 = stablehlo.bitcast_convert %114 : (tensor<16xui32>) -> tensor<16xf32>
// CHANNELS-NEXT: %118 = stablehlo.select %116, %117, %cst_61 : tensor<16xi1>, tensor<16xf32>
// CHANNELS-NEXT: %cst_65 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<16xf32>
// CHANNELS-NEXT: %119 = stablehlo.divide %cst_65, %118 : tensor<16xf32>
// CHANNELS-NEXT: %120 = stablehlo.optimization_barrier %119 : tensor<16xf32>
// CHANNELS-NEXT: %121 = stablehlo.divide %cst_65, %120 : tensor<16xf32>
// CHANNELS-NEXT: %122 = stablehlo.broadcast_in_dim %121, dims = [0] : (tensor<16xf32>) -> tensor<16x32xf32>
// CHANNELS-NEXT: %123 = stablehlo.multiply %108, %122 : tensor<16x32xf32>
// CHANNELS-NEXT: %cst_66 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_67 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %124 = stablehlo.clamp %cst_66, %123, %cst_67 : (tensor<f32>, tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
// CHANNELS-NEXT: %125 = stablehlo.convert %124 : (tensor<16x32xf32>) -> tensor<16x32xf8E4M3FN>
// CHANNELS-NEXT: %126 = stablehlo.dot_general %50, %125, contracting_dims = [0] x [1]{{(, algorithm = <[^>]*>)?}} : (tensor<32x16xf8E4M3FN>, tensor<16x32xf8E4M3FN>) -> tensor<16x16xf32>
// CHANNELS-NEXT: %127 = stablehlo.broadcast_in_dim %120, dims = [1] : (tensor<16xf32>) -> tensor<16x16xf32>
// CHANNELS-NEXT: %128 = stablehlo.multiply %126, %127 : tensor<16x16xf32>
// CHANNELS-NEXT: %129 = stablehlo.broadcast_in_dim %45, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// CHANNELS-NEXT: %130 = stablehlo.multiply %128, %129 : tensor<16x16xf32>
// CHANNELS-NEXT: %131 = stablehlo.convolution(%33, %16) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x5x16xf8E4M3FN>, tensor<3x3x16x16xf8E4M3FN>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %132 = stablehlo.broadcast_in_dim %11, dims = [3] : (tensor<16xf32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %133 = stablehlo.multiply %131, %132 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %134 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<f32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %135 = stablehlo.multiply %133, %134 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %136 = stablehlo.reshape %106 : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// CHANNELS-NEXT: %137 = stablehlo.dot_general %136, %50, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} : (tensor<32x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %138 = stablehlo.reshape %137 : (tensor<32x16xf32>) -> tensor<2x16x16xf32>
// CHANNELS-NEXT: %139 = stablehlo.multiply %101, %45 : tensor<f32>
// CHANNELS-NEXT: %cst_68 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CHANNELS-NEXT: %140 = stablehlo.minimum %139, %cst_68 : tensor<f32>
// CHANNELS-NEXT: %141 = stablehlo.broadcast_in_dim %140, dims = [] : (tensor<f32>) -> tensor<2x16x16xf32>
// CHANNELS-NEXT: %142 = stablehlo.multiply %138, %141 : tensor<2x16x16xf32>
// CHANNELS-NEXT: return %142, %130, %135 : tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<1x5x5x16xf32>
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
