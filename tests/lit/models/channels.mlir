// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature,scalify-roles,scalify-recognize{scales=true marked=true},scalify-quantize-matmuls{recipe=%S/Inputs/channels.toml},scalify-narrow-state{recipe=%S/Inputs/channels.toml},scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=CHANNELS

// Matmuls whose weights have a scale for each output channel: batched, turned, and a convolution.
// CHANNELS:      module @_infer attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// CHANNELS-NEXT: func.func public @main(%arg0: tensor<2x16x32xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<2x32x32xf32>, %arg3: tensor<3x3x16x16xf32>, %arg4: tensor<1x5x5x16xf32>) -> (tensor<2x16x16xf32> {jax.result_info = "result[0]"}, tensor<16x16xf32> {jax.result_info = "result[1]"}, tensor<1x5x5x16xf32> {jax.result_info = "result[2]"}) {
// CHANNELS-NEXT: %0 = stablehlo.optimization_barrier %arg3 : tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %1 = stablehlo.abs %0 : tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<3x3x16x16xf32>, tensor<f32>) -> tensor<16xf32>
// CHANNELS-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<16xf32>
// CHANNELS-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<16xf32>
// CHANNELS-NEXT: %3 = stablehlo.maximum %2, %cst_1 : tensor<16xf32>
// CHANNELS-NEXT: %4 = stablehlo.divide %cst_0, %3 : tensor<16xf32>
// CHANNELS-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<16xf32>
// CHANNELS-NEXT: %5 = stablehlo.bitcast_convert %4 : (tensor<16xf32>) -> tensor<16xui32>
// CHANNELS-NEXT: %c = stablehlo.constant dense<4286578688> : tensor<16xui32>
// CHANNELS-NEXT: %6 = stablehlo.and %5, %c : tensor<16xui32>
// CHANNELS-NEXT: %c_3 = stablehlo.constant dense<1> : tensor<16xui32>
// CHANNELS-NEXT: %7 = stablehlo.subtract %6, %c_3 : tensor<16xui32>
// CHANNELS-NEXT: %c_4 = stablehlo.constant dense<2139095039> : tensor<16xui32>
// CHANNELS-NEXT: %8 = stablehlo.compare LT, %7, %c_4 : (tensor<16xui32>, tensor<16xui32>) -> tensor<16xi1>
// CHANNELS-NEXT: %9 = stablehlo.bitcast_convert %6 : (tensor<16xui32>) -> tensor<16xf32>
// CHANNELS-NEXT: %10 = stablehlo.select %8, %9, %cst_2 : tensor<16xi1>, tensor<16xf32>
// CHANNELS-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<16xf32>
// CHANNELS-NEXT: %11 = stablehlo.divide %cst_5, %10 : tensor<16xf32>
// CHANNELS-NEXT: %12 = stablehlo.optimization_barrier %11 : tensor<16xf32>
// CHANNELS-NEXT: %13 = stablehlo.divide %cst_5, %12 : tensor<16xf32>
// CHANNELS-NEXT: %14 = stablehlo.broadcast_in_dim %13, dims = [3] : (tensor<16xf32>) -> tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %15 = stablehlo.multiply %0, %14 : tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %16 = stablehlo.clamp %cst_6, %15, %cst_7 : (tensor<f32>, tensor<3x3x16x16xf32>, tensor<f32>) -> tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %17 = stablehlo.convert %16 : (tensor<3x3x16x16xf32>) -> tensor<3x3x16x16xf8E4M3FN>
// CHANNELS-NEXT: %18 = stablehlo.optimization_barrier %arg4 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %19 = stablehlo.abs %18 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %20 = stablehlo.reduce(%19 init: %cst_8) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<1x5x5x16xf32>, tensor<f32>) -> tensor<f32>
// CHANNELS-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %21 = stablehlo.maximum %20, %cst_10 : tensor<f32>
// CHANNELS-NEXT: %22 = stablehlo.divide %cst_9, %21 : tensor<f32>
// CHANNELS-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %23 = stablehlo.bitcast_convert %22 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_12 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHANNELS-NEXT: %24 = stablehlo.and %23, %c_12 : tensor<ui32>
// CHANNELS-NEXT: %c_13 = stablehlo.constant dense<1> : tensor<ui32>
// CHANNELS-NEXT: %25 = stablehlo.subtract %24, %c_13 : tensor<ui32>
// CHANNELS-NEXT: %c_14 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHANNELS-NEXT: %26 = stablehlo.compare LT, %25, %c_14 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHANNELS-NEXT: %27 = stablehlo.bitcast_convert %24 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %28 = stablehlo.select %26, %27, %cst_11 : tensor<i1>, tensor<f32>
// CHANNELS-NEXT: %cst_15 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %29 = stablehlo.divide %cst_15, %28 : tensor<f32>
// CHANNELS-NEXT: %30 = stablehlo.optimization_barrier %29 : tensor<f32>
// CHANNELS-NEXT: %31 = stablehlo.divide %cst_15, %30 : tensor<f32>
// CHANNELS-NEXT: %32 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %33 = stablehlo.multiply %18, %32 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %cst_16 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_17 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %34 = stablehlo.clamp %cst_16, %33, %cst_17 : (tensor<f32>, tensor<1x5x5x16xf32>, tensor<f32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %35 = stablehlo.convert %34 : (tensor<1x5x5x16xf32>) -> tensor<1x5x5x16xf8E4M3FN>
// CHANNELS-NEXT: %36 = stablehlo.optimization_barrier %arg1 : tensor<32x16xf32>
// CHANNELS-NEXT: %37 = stablehlo.abs %36 : tensor<32x16xf32>
// CHANNELS-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %38 = stablehlo.reduce(%37 init: %cst_18) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
// CHANNELS-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_20 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %39 = stablehlo.maximum %38, %cst_20 : tensor<f32>
// CHANNELS-NEXT: %40 = stablehlo.divide %cst_19, %39 : tensor<f32>
// CHANNELS-NEXT: %cst_21 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %41 = stablehlo.bitcast_convert %40 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_22 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHANNELS-NEXT: %42 = stablehlo.and %41, %c_22 : tensor<ui32>
// CHANNELS-NEXT: %c_23 = stablehlo.constant dense<1> : tensor<ui32>
// CHANNELS-NEXT: %43 = stablehlo.subtract %42, %c_23 : tensor<ui32>
// CHANNELS-NEXT: %c_24 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHANNELS-NEXT: %44 = stablehlo.compare LT, %43, %c_24 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHANNELS-NEXT: %45 = stablehlo.bitcast_convert %42 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %46 = stablehlo.select %44, %45, %cst_21 : tensor<i1>, tensor<f32>
// CHANNELS-NEXT: %cst_25 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %47 = stablehlo.divide %cst_25, %46 : tensor<f32>
// CHANNELS-NEXT: %48 = stablehlo.optimization_barrier %47 : tensor<f32>
// CHANNELS-NEXT: %49 = stablehlo.divide %cst_25, %48 : tensor<f32>
// CHANNELS-NEXT: %50 = stablehlo.broadcast_in_dim %49, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %51 = stablehlo.multiply %36, %50 : tensor<32x16xf32>
// CHANNELS-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_27 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %52 = stablehlo.clamp %cst_26, %51, %cst_27 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %53 = stablehlo.convert %52 : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// CHANNELS-NEXT: %54 = stablehlo.optimization_barrier %arg2 : tensor<2x32x32xf32>
// CHANNELS-NEXT: %55 = stablehlo.abs %54 : tensor<2x32x32xf32>
// CHANNELS-NEXT: %cst_28 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %56 = stablehlo.reduce(%55 init: %cst_28) applies stablehlo.maximum across dimensions = [1] : (tensor<2x32x32xf32>, tensor<f32>) -> tensor<2x32xf32>
// CHANNELS-NEXT: %cst_29 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<2x32xf32>
// CHANNELS-NEXT: %cst_30 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<2x32xf32>
// CHANNELS-NEXT: %57 = stablehlo.maximum %56, %cst_30 : tensor<2x32xf32>
// CHANNELS-NEXT: %58 = stablehlo.divide %cst_29, %57 : tensor<2x32xf32>
// CHANNELS-NEXT: %cst_31 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<2x32xf32>
// CHANNELS-NEXT: %59 = stablehlo.bitcast_convert %58 : (tensor<2x32xf32>) -> tensor<2x32xui32>
// CHANNELS-NEXT: %c_32 = stablehlo.constant dense<4286578688> : tensor<2x32xui32>
// CHANNELS-NEXT: %60 = stablehlo.and %59, %c_32 : tensor<2x32xui32>
// CHANNELS-NEXT: %c_33 = stablehlo.constant dense<1> : tensor<2x32xui32>
// CHANNELS-NEXT: %61 = stablehlo.subtract %60, %c_33 : tensor<2x32xui32>
// CHANNELS-NEXT: %c_34 = stablehlo.constant dense<2139095039> : tensor<2x32xui32>
// CHANNELS-NEXT: %62 = stablehlo.compare LT, %61, %c_34 : (tensor<2x32xui32>, tensor<2x32xui32>) -> tensor<2x32xi1>
// CHANNELS-NEXT: %63 = stablehlo.bitcast_convert %60 : (tensor<2x32xui32>) -> tensor<2x32xf32>
// CHANNELS-NEXT: %64 = stablehlo.select %62, %63, %cst_31 : tensor<2x32xi1>, tensor<2x32xf32>
// CHANNELS-NEXT: %cst_35 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<2x32xf32>
// CHANNELS-NEXT: %65 = stablehlo.divide %cst_35, %64 : tensor<2x32xf32>
// CHANNELS-NEXT: %66 = stablehlo.optimization_barrier %65 : tensor<2x32xf32>
// CHANNELS-NEXT: %67 = stablehlo.divide %cst_35, %66 : tensor<2x32xf32>
// CHANNELS-NEXT: %68 = stablehlo.broadcast_in_dim %67, dims = [0, 2] : (tensor<2x32xf32>) -> tensor<2x32x32xf32>
// CHANNELS-NEXT: %69 = stablehlo.multiply %54, %68 : tensor<2x32x32xf32>
// CHANNELS-NEXT: %cst_36 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_37 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %70 = stablehlo.clamp %cst_36, %69, %cst_37 : (tensor<f32>, tensor<2x32x32xf32>, tensor<f32>) -> tensor<2x32x32xf32>
// CHANNELS-NEXT: %71 = stablehlo.convert %70 : (tensor<2x32x32xf32>) -> tensor<2x32x32xf8E4M3FN>
// CHANNELS-NEXT: %72 = stablehlo.optimization_barrier %arg0 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %73 = stablehlo.abs %72 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %cst_38 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %74 = stablehlo.reduce(%73 init: %cst_38) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<f32>
// CHANNELS-NEXT: %cst_39 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_40 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %75 = stablehlo.maximum %74, %cst_40 : tensor<f32>
// CHANNELS-NEXT: %76 = stablehlo.divide %cst_39, %75 : tensor<f32>
// CHANNELS-NEXT: %cst_41 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %77 = stablehlo.bitcast_convert %76 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_42 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHANNELS-NEXT: %78 = stablehlo.and %77, %c_42 : tensor<ui32>
// CHANNELS-NEXT: %c_43 = stablehlo.constant dense<1> : tensor<ui32>
// CHANNELS-NEXT: %79 = stablehlo.subtract %78, %c_43 : tensor<ui32>
// CHANNELS-NEXT: %c_44 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHANNELS-NEXT: %80 = stablehlo.compare LT, %79, %c_44 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHANNELS-NEXT: %81 = stablehlo.bitcast_convert %78 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %82 = stablehlo.select %80, %81, %cst_41 : tensor<i1>, tensor<f32>
// CHANNELS-NEXT: %cst_45 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %83 = stablehlo.divide %cst_45, %82 : tensor<f32>
// CHANNELS-NEXT: %84 = stablehlo.optimization_barrier %83 : tensor<f32>
// CHANNELS-NEXT: %85 = stablehlo.divide %cst_45, %84 : tensor<f32>
// CHANNELS-NEXT: %86 = stablehlo.broadcast_in_dim %85, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %87 = stablehlo.multiply %72, %86 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %cst_46 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_47 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %88 = stablehlo.clamp %cst_46, %87, %cst_47 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %89 = stablehlo.convert %88 : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E4M3FN>
// CHANNELS-NEXT: %90 = stablehlo.dot_general %89, %71, batching_dims = [0] x [0], contracting_dims = [2] x [1]{{(, algorithm = <[^>]*>)?}} : (tensor<2x16x32xf8E4M3FN>, tensor<2x32x32xf8E4M3FN>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %91 = stablehlo.broadcast_in_dim %66, dims = [0, 2] : (tensor<2x32xf32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %92 = stablehlo.multiply %90, %91 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %93 = stablehlo.broadcast_in_dim %84, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %94 = stablehlo.multiply %92, %93 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %95 = stablehlo.optimization_barrier %94 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %96 = stablehlo.abs %95 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %cst_48 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %97 = stablehlo.reduce(%96 init: %cst_48) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<f32>
// CHANNELS-NEXT: %cst_49 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_50 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %98 = stablehlo.maximum %97, %cst_50 : tensor<f32>
// CHANNELS-NEXT: %99 = stablehlo.divide %cst_49, %98 : tensor<f32>
// CHANNELS-NEXT: %cst_51 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %100 = stablehlo.bitcast_convert %99 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %c_52 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHANNELS-NEXT: %101 = stablehlo.and %100, %c_52 : tensor<ui32>
// CHANNELS-NEXT: %c_53 = stablehlo.constant dense<1> : tensor<ui32>
// CHANNELS-NEXT: %102 = stablehlo.subtract %101, %c_53 : tensor<ui32>
// CHANNELS-NEXT: %c_54 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHANNELS-NEXT: %103 = stablehlo.compare LT, %102, %c_54 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHANNELS-NEXT: %104 = stablehlo.bitcast_convert %101 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %105 = stablehlo.select %103, %104, %cst_51 : tensor<i1>, tensor<f32>
// CHANNELS-NEXT: %cst_55 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %106 = stablehlo.divide %cst_55, %105 : tensor<f32>
// CHANNELS-NEXT: %107 = stablehlo.optimization_barrier %106 : tensor<f32>
// CHANNELS-NEXT: %108 = stablehlo.divide %cst_55, %107 : tensor<f32>
// CHANNELS-NEXT: %109 = stablehlo.broadcast_in_dim %108, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %110 = stablehlo.multiply %95, %109 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %cst_56 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_57 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %111 = stablehlo.clamp %cst_56, %110, %cst_57 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %112 = stablehlo.convert %111 : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E4M3FN>
// CHANNELS-NEXT: %113 = stablehlo.slice %arg0 [0:1, 0:16, 0:32] : (tensor<2x16x32xf32>) -> tensor<1x16x32xf32>
// CHANNELS-NEXT: %114 = stablehlo.reshape %113 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
// CHANNELS-NEXT: %115 = stablehlo.optimization_barrier %114 : tensor<16x32xf32>
// CHANNELS-NEXT: %116 = stablehlo.abs %115 : tensor<16x32xf32>
// CHANNELS-NEXT: %cst_58 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHANNELS-NEXT: %117 = stablehlo.reduce(%116 init: %cst_58) applies stablehlo.maximum across dimensions = [1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<16xf32>
// CHANNELS-NEXT: %cst_59 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<16xf32>
// CHANNELS-NEXT: %cst_60 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<16xf32>
// CHANNELS-NEXT: %118 = stablehlo.maximum %117, %cst_60 : tensor<16xf32>
// CHANNELS-NEXT: %119 = stablehlo.divide %cst_59, %118 : tensor<16xf32>
// CHANNELS-NEXT: %cst_61 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<16xf32>
// CHANNELS-NEXT: %120 = stablehlo.bitcast_convert %119 : (tensor<16xf32>) -> tensor<16xui32>
// CHANNELS-NEXT: %c_62 = stablehlo.constant dense<4286578688> : tensor<16xui32>
// CHANNELS-NEXT: %121 = stablehlo.and %120, %c_62 : tensor<16xui32>
// CHANNELS-NEXT: %c_63 = stablehlo.constant dense<1> : tensor<16xui32>
// CHANNELS-NEXT: %122 = stablehlo.subtract %121, %c_63 : tensor<16xui32>
// CHANNELS-NEXT: %c_64 = stablehlo.constant dense<2139095039> : tensor<16xui32>
// CHANNELS-NEXT: %123 = stablehlo.compare LT, %122, %c_64 : (tensor<16xui32>, tensor<16xui32>) -> tensor<16xi1>
// CHANNELS-NEXT: %124 = stablehlo.bitcast_convert %121 : (tensor<16xui32>) -> tensor<16xf32>
// CHANNELS-NEXT: %125 = stablehlo.select %123, %124, %cst_61 : tensor<16xi1>, tensor<16xf32>
// CHANNELS-NEXT: %cst_65 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<16xf32>
// CHANNELS-NEXT: %126 = stablehlo.divide %cst_65, %125 : tensor<16xf32>
// CHANNELS-NEXT: %127 = stablehlo.optimization_barrier %126 : tensor<16xf32>
// CHANNELS-NEXT: %128 = stablehlo.divide %cst_65, %127 : tensor<16xf32>
// CHANNELS-NEXT: %129 = stablehlo.broadcast_in_dim %128, dims = [0] : (tensor<16xf32>) -> tensor<16x32xf32>
// CHANNELS-NEXT: %130 = stablehlo.multiply %115, %129 : tensor<16x32xf32>
// CHANNELS-NEXT: %cst_66 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %cst_67 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CHANNELS-NEXT: %131 = stablehlo.clamp %cst_66, %130, %cst_67 : (tensor<f32>, tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
// CHANNELS-NEXT: %132 = stablehlo.convert %131 : (tensor<16x32xf32>) -> tensor<16x32xf8E4M3FN>
// CHANNELS-NEXT: %133 = stablehlo.dot_general %53, %132, contracting_dims = [0] x [1]{{(, algorithm = <[^>]*>)?}} : (tensor<32x16xf8E4M3FN>, tensor<16x32xf8E4M3FN>) -> tensor<16x16xf32>
// CHANNELS-NEXT: %134 = stablehlo.broadcast_in_dim %127, dims = [1] : (tensor<16xf32>) -> tensor<16x16xf32>
// CHANNELS-NEXT: %135 = stablehlo.multiply %133, %134 : tensor<16x16xf32>
// CHANNELS-NEXT: %136 = stablehlo.broadcast_in_dim %48, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// CHANNELS-NEXT: %137 = stablehlo.multiply %135, %136 : tensor<16x16xf32>
// CHANNELS-NEXT: %138 = stablehlo.convolution(%35, %17) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x5x16xf8E4M3FN>, tensor<3x3x16x16xf8E4M3FN>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %139 = stablehlo.broadcast_in_dim %12, dims = [3] : (tensor<16xf32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %140 = stablehlo.multiply %138, %139 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %141 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %142 = stablehlo.multiply %140, %141 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %143 = stablehlo.reshape %112 : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// CHANNELS-NEXT: %144 = stablehlo.dot_general %143, %53, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} : (tensor<32x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %145 = stablehlo.reshape %144 : (tensor<32x16xf32>) -> tensor<2x16x16xf32>
// CHANNELS-NEXT: %146 = stablehlo.multiply %107, %48 : tensor<f32>
// CHANNELS-NEXT: %cst_68 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CHANNELS-NEXT: %147 = stablehlo.minimum %146, %cst_68 : tensor<f32>
// CHANNELS-NEXT: %148 = stablehlo.broadcast_in_dim %147, dims = [] : (tensor<f32>) -> tensor<2x16x16xf32>
// CHANNELS-NEXT: %149 = stablehlo.multiply %145, %148 : tensor<2x16x16xf32>
// CHANNELS-NEXT: return %149, %137, %142 : tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<1x5x5x16xf32>
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
