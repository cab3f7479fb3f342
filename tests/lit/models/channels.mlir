// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature,scalify-roles,scalify-recognize{scales=true marked=true},scalify-quantize-matmuls{recipe=%S/Inputs/channels.toml},scalify-narrow-state{recipe=%S/Inputs/channels.toml},scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=CHANNELS

// Matmuls whose weights have a scale for each output channel: batched, turned, and a convolution.
// CHANNELS:      module @_infer attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// CHANNELS-NEXT: func.func public @main(%arg0: tensor<2x16x32xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<2x32x32xf32>, %arg3: tensor<3x3x16x16xf32>, %arg4: tensor<1x5x5x16xf32>) -> (tensor<2x16x16xf32> {jax.result_info = "result[0]"}, tensor<16x16xf32> {jax.result_info = "result[1]"}, tensor<1x5x5x16xf32> {jax.result_info = "result[2]"}) {
// CHANNELS-NEXT: %c = stablehlo.constant dense<8388608> : tensor<3x3x16x16xi32>
// CHANNELS-NEXT: %c_0 = stablehlo.constant dense<8388608> : tensor<1x5x5x16xi32>
// CHANNELS-NEXT: %c_1 = stablehlo.constant dense<2130706432> : tensor<16xui32>
// CHANNELS-NEXT: %c_2 = stablehlo.constant dense<2197815296> : tensor<16xui32>
// CHANNELS-NEXT: %c_3 = stablehlo.constant dense<2139095040> : tensor<16xui32>
// CHANNELS-NEXT: %c_4 = stablehlo.constant dense<2097151> : tensor<16xui32>
// CHANNELS-NEXT: %cst = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<16xf32>
// CHANNELS-NEXT: %c_5 = stablehlo.constant dense<8388608> : tensor<16xi32>
// CHANNELS-NEXT: %c_6 = stablehlo.constant dense<8388608> : tensor<16x32xi32>
// CHANNELS-NEXT: %c_7 = stablehlo.constant dense<8388608> : tensor<32x16xi32>
// CHANNELS-NEXT: %c_8 = stablehlo.constant dense<2130706432> : tensor<2x32xui32>
// CHANNELS-NEXT: %c_9 = stablehlo.constant dense<2197815296> : tensor<2x32xui32>
// CHANNELS-NEXT: %c_10 = stablehlo.constant dense<2139095040> : tensor<2x32xui32>
// CHANNELS-NEXT: %c_11 = stablehlo.constant dense<2097151> : tensor<2x32xui32>
// CHANNELS-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<2x32xf32>
// CHANNELS-NEXT: %c_13 = stablehlo.constant dense<8388608> : tensor<2x32xi32>
// CHANNELS-NEXT: %c_14 = stablehlo.constant dense<8388608> : tensor<2x32x32xi32>
// CHANNELS-NEXT: %c_15 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHANNELS-NEXT: %c_16 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CHANNELS-NEXT: %c_17 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CHANNELS-NEXT: %c_18 = stablehlo.constant dense<2097151> : tensor<ui32>
// CHANNELS-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CHANNELS-NEXT: %c_20 = stablehlo.constant dense<8388608> : tensor<i32>
// CHANNELS-NEXT: %c_21 = stablehlo.constant dense<8388608> : tensor<2x16x32xi32>
// CHANNELS-NEXT: %0 = stablehlo.abs %arg3 : tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %1 = stablehlo.bitcast_convert %0 : (tensor<3x3x16x16xf32>) -> tensor<3x3x16x16xi32>
// CHANNELS-NEXT: %2 = stablehlo.add %1, %c : tensor<3x3x16x16xi32>
// CHANNELS-NEXT: %3 = stablehlo.reduce(%2 init: %c_20) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<3x3x16x16xi32>, tensor<i32>) -> tensor<16xi32>
// CHANNELS-NEXT: %4 = stablehlo.optimization_barrier %3 : tensor<16xi32>
// CHANNELS-NEXT: %5 = stablehlo.subtract %4, %c_5 : tensor<16xi32>
// CHANNELS-NEXT: %6 = stablehlo.bitcast_convert %5 : (tensor<16xi32>) -> tensor<16xf32>
// CHANNELS-NEXT: %7 = stablehlo.maximum %6, %cst : tensor<16xf32>
// CHANNELS-NEXT: %8 = stablehlo.bitcast_convert %7 : (tensor<16xf32>) -> tensor<16xui32>
// CHANNELS-NEXT: %9 = stablehlo.add %8, %c_4 : tensor<16xui32>
// CHANNELS-NEXT: %10 = stablehlo.and %9, %c_3 : tensor<16xui32>
// CHANNELS-NEXT: %11 = stablehlo.subtract %c_2, %10 : tensor<16xui32>
// CHANNELS-NEXT: %12 = stablehlo.bitcast_convert %11 : (tensor<16xui32>) -> tensor<16xf32>
// CHANNELS-NEXT: %13 = stablehlo.bitcast_convert %12 : (tensor<16xf32>) -> tensor<16xui32>
// CHANNELS-NEXT: %14 = stablehlo.subtract %c_1, %13 : tensor<16xui32>
// CHANNELS-NEXT: %15 = stablehlo.bitcast_convert %14 : (tensor<16xui32>) -> tensor<16xf32>
// CHANNELS-NEXT: %16 = stablehlo.broadcast_in_dim %12, dims = [3] : (tensor<16xf32>) -> tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %17 = stablehlo.multiply %arg3, %16 : tensor<3x3x16x16xf32>
// CHANNELS-NEXT: %18 = stablehlo.convert %17 : (tensor<3x3x16x16xf32>) -> tensor<3x3x16x16xf8E4M3FN>
// CHANNELS-NEXT: %19 = stablehlo.abs %arg4 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %20 = stablehlo.bitcast_convert %19 : (tensor<1x5x5x16xf32>) -> tensor<1x5x5x16xi32>
// CHANNELS-NEXT: %21 = stablehlo.add %20, %c_0 : tensor<1x5x5x16xi32>
// CHANNELS-NEXT: %22 = stablehlo.reduce(%21 init: %c_20) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<1x5x5x16xi32>, tensor<i32>) -> tensor<i32>
// CHANNELS-NEXT: %23 = stablehlo.optimization_barrier %22 : tensor<i32>
// CHANNELS-NEXT: %24 = stablehlo.subtract %23, %c_20 : tensor<i32>
// CHANNELS-NEXT: %25 = stablehlo.bitcast_convert %24 : (tensor<i32>) -> tensor<f32>
// CHANNELS-NEXT: %26 = stablehlo.maximum %25, %cst_19 : tensor<f32>
// CHANNELS-NEXT: %27 = stablehlo.bitcast_convert %26 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %28 = stablehlo.add %27, %c_18 : tensor<ui32>
// CHANNELS-NEXT: %29 = stablehlo.and %28, %c_17 : tensor<ui32>
// CHANNELS-NEXT: %30 = stablehlo.subtract %c_16, %29 : tensor<ui32>
// CHANNELS-NEXT: %31 = stablehlo.bitcast_convert %30 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %32 = stablehlo.bitcast_convert %31 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %33 = stablehlo.subtract %c_15, %32 : tensor<ui32>
// CHANNELS-NEXT: %34 = stablehlo.bitcast_convert %33 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %35 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %36 = stablehlo.multiply %arg4, %35 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %37 = stablehlo.convert %36 : (tensor<1x5x5x16xf32>) -> tensor<1x5x5x16xf8E4M3FN>
// CHANNELS-NEXT: %38 = stablehlo.abs %arg1 : tensor<32x16xf32>
// CHANNELS-NEXT: %39 = stablehlo.bitcast_convert %38 : (tensor<32x16xf32>) -> tensor<32x16xi32>
// CHANNELS-NEXT: %40 = stablehlo.add %39, %c_7 : tensor<32x16xi32>
// CHANNELS-NEXT: %41 = stablehlo.reduce(%40 init: %c_20) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xi32>, tensor<i32>) -> tensor<i32>
// CHANNELS-NEXT: %42 = stablehlo.optimization_barrier %41 : tensor<i32>
// CHANNELS-NEXT: %43 = stablehlo.subtract %42, %c_20 : tensor<i32>
// CHANNELS-NEXT: %44 = stablehlo.bitcast_convert %43 : (tensor<i32>) -> tensor<f32>
// CHANNELS-NEXT: %45 = stablehlo.maximum %44, %cst_19 : tensor<f32>
// CHANNELS-NEXT: %46 = stablehlo.bitcast_convert %45 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %47 = stablehlo.add %46, %c_18 : tensor<ui32>
// CHANNELS-NEXT: %48 = stablehlo.and %47, %c_17 : tensor<ui32>
// CHANNELS-NEXT: %49 = stablehlo.subtract %c_16, %48 : tensor<ui32>
// CHANNELS-NEXT: %50 = stablehlo.bitcast_convert %49 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %51 = stablehlo.bitcast_convert %50 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %52 = stablehlo.subtract %c_15, %51 : tensor<ui32>
// CHANNELS-NEXT: %53 = stablehlo.bitcast_convert %52 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %54 = stablehlo.broadcast_in_dim %50, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %55 = stablehlo.multiply %arg1, %54 : tensor<32x16xf32>
// CHANNELS-NEXT: %56 = stablehlo.convert %55 : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// CHANNELS-NEXT: %57 = stablehlo.abs %arg2 : tensor<2x32x32xf32>
// CHANNELS-NEXT: %58 = stablehlo.bitcast_convert %57 : (tensor<2x32x32xf32>) -> tensor<2x32x32xi32>
// CHANNELS-NEXT: %59 = stablehlo.add %58, %c_14 : tensor<2x32x32xi32>
// CHANNELS-NEXT: %60 = stablehlo.reduce(%59 init: %c_20) applies stablehlo.maximum across dimensions = [1] : (tensor<2x32x32xi32>, tensor<i32>) -> tensor<2x32xi32>
// CHANNELS-NEXT: %61 = stablehlo.optimization_barrier %60 : tensor<2x32xi32>
// CHANNELS-NEXT: %62 = stablehlo.subtract %61, %c_13 : tensor<2x32xi32>
// CHANNELS-NEXT: %63 = stablehlo.bitcast_convert %62 : (tensor<2x32xi32>) -> tensor<2x32xf32>
// CHANNELS-NEXT: %64 = stablehlo.maximum %63, %cst_12 : tensor<2x32xf32>
// CHANNELS-NEXT: %65 = stablehlo.bitcast_convert %64 : (tensor<2x32xf32>) -> tensor<2x32xui32>
// CHANNELS-NEXT: %66 = stablehlo.add %65, %c_11 : tensor<2x32xui32>
// CHANNELS-NEXT: %67 = stablehlo.and %66, %c_10 : tensor<2x32xui32>
// CHANNELS-NEXT: %68 = stablehlo.subtract %c_9, %67 : tensor<2x32xui32>
// CHANNELS-NEXT: %69 = stablehlo.bitcast_convert %68 : (tensor<2x32xui32>) -> tensor<2x32xf32>
// CHANNELS-NEXT: %70 = stablehlo.bitcast_convert %69 : (tensor<2x32xf32>) -> tensor<2x32xui32>
// CHANNELS-NEXT: %71 = stablehlo.subtract %c_8, %70 : tensor<2x32xui32>
// CHANNELS-NEXT: %72 = stablehlo.bitcast_convert %71 : (tensor<2x32xui32>) -> tensor<2x32xf32>
// CHANNELS-NEXT: %73 = stablehlo.broadcast_in_dim %69, dims = [0, 2] : (tensor<2x32xf32>) -> tensor<2x32x32xf32>
// CHANNELS-NEXT: %74 = stablehlo.multiply %arg2, %73 : tensor<2x32x32xf32>
// CHANNELS-NEXT: %75 = stablehlo.convert %74 : (tensor<2x32x32xf32>) -> tensor<2x32x32xf8E4M3FN>
// CHANNELS-NEXT: %76 = stablehlo.abs %arg0 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %77 = stablehlo.bitcast_convert %76 : (tensor<2x16x32xf32>) -> tensor<2x16x32xi32>
// CHANNELS-NEXT: %78 = stablehlo.add %77, %c_21 : tensor<2x16x32xi32>
// CHANNELS-NEXT: %79 = stablehlo.reduce(%78 init: %c_20) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x16x32xi32>, tensor<i32>) -> tensor<i32>
// CHANNELS-NEXT: %80 = stablehlo.optimization_barrier %79 : tensor<i32>
// CHANNELS-NEXT: %81 = stablehlo.subtract %80, %c_20 : tensor<i32>
// CHANNELS-NEXT: %82 = stablehlo.bitcast_convert %81 : (tensor<i32>) -> tensor<f32>
// CHANNELS-NEXT: %83 = stablehlo.maximum %82, %cst_19 : tensor<f32>
// CHANNELS-NEXT: %84 = stablehlo.bitcast_convert %83 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %85 = stablehlo.add %84, %c_18 : tensor<ui32>
// CHANNELS-NEXT: %86 = stablehlo.and %85, %c_17 : tensor<ui32>
// CHANNELS-NEXT: %87 = stablehlo.subtract %c_16, %86 : tensor<ui32>
// CHANNELS-NEXT: %88 = stablehlo.bitcast_convert %87 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %89 = stablehlo.bitcast_convert %88 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %90 = stablehlo.subtract %c_15, %89 : tensor<ui32>
// CHANNELS-NEXT: %91 = stablehlo.bitcast_convert %90 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %92 = stablehlo.broadcast_in_dim %88, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %93 = stablehlo.multiply %arg0, %92 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %94 = stablehlo.convert %93 : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E4M3FN>
// CHANNELS-NEXT: %95 = stablehlo.dot_general %94, %75, batching_dims = [0] x [0], contracting_dims = [2] x [1]{{(, algorithm = <[^>]*>)?}} : (tensor<2x16x32xf8E4M3FN>, tensor<2x32x32xf8E4M3FN>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %96 = stablehlo.optimization_barrier %95 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %97 = stablehlo.broadcast_in_dim %91, dims = [] : (tensor<f32>) -> tensor<2x32xf32>
// CHANNELS-NEXT: %98 = stablehlo.multiply %72, %97 : tensor<2x32xf32>
// CHANNELS-NEXT: %cst_22 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<2x32xf32>
// CHANNELS-NEXT: %99 = stablehlo.minimum %98, %cst_22 : tensor<2x32xf32>
// CHANNELS-NEXT: %100 = stablehlo.broadcast_in_dim %99, dims = [0, 2] : (tensor<2x32xf32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %101 = stablehlo.multiply %96, %100 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %102 = stablehlo.abs %101 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %103 = stablehlo.bitcast_convert %102 : (tensor<2x16x32xf32>) -> tensor<2x16x32xi32>
// CHANNELS-NEXT: %104 = stablehlo.add %103, %c_21 : tensor<2x16x32xi32>
// CHANNELS-NEXT: %105 = stablehlo.reduce(%104 init: %c_20) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x16x32xi32>, tensor<i32>) -> tensor<i32>
// CHANNELS-NEXT: %106 = stablehlo.optimization_barrier %105 : tensor<i32>
// CHANNELS-NEXT: %107 = stablehlo.subtract %106, %c_20 : tensor<i32>
// CHANNELS-NEXT: %108 = stablehlo.bitcast_convert %107 : (tensor<i32>) -> tensor<f32>
// CHANNELS-NEXT: %109 = stablehlo.maximum %108, %cst_19 : tensor<f32>
// CHANNELS-NEXT: %110 = stablehlo.bitcast_convert %109 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %111 = stablehlo.add %110, %c_18 : tensor<ui32>
// CHANNELS-NEXT: %112 = stablehlo.and %111, %c_17 : tensor<ui32>
// CHANNELS-NEXT: %113 = stablehlo.subtract %c_16, %112 : tensor<ui32>
// CHANNELS-NEXT: %114 = stablehlo.bitcast_convert %113 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %115 = stablehlo.bitcast_convert %114 : (tensor<f32>) -> tensor<ui32>
// CHANNELS-NEXT: %116 = stablehlo.subtract %c_15, %115 : tensor<ui32>
// CHANNELS-NEXT: %117 = stablehlo.bitcast_convert %116 : (tensor<ui32>) -> tensor<f32>
// CHANNELS-NEXT: %118 = stablehlo.broadcast_in_dim %114, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
// CHANNELS-NEXT: %119 = stablehlo.multiply %101, %118 : tensor<2x16x32xf32>
// CHANNELS-NEXT: %120 = stablehlo.convert %119 : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E4M3FN>
// CHANNELS-NEXT: %121 = stablehlo.slice %arg0 [0:1, 0:16, 0:32] : (tensor<2x16x32xf32>) -> tensor<1x16x32xf32>
// CHANNELS-NEXT: %122 = stablehlo.reshape %121 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
// CHANNELS-NEXT: %123 = stablehlo.abs %122 : tensor<16x32xf32>
// CHANNELS-NEXT: %124 = stablehlo.bitcast_convert %123 : (tensor<16x32xf32>) -> tensor<16x32xi32>
// CHANNELS-NEXT: %125 = stablehlo.add %124, %c_6 : tensor<16x32xi32>
// CHANNELS-NEXT: %126 = stablehlo.reduce(%125 init: %c_20) applies stablehlo.maximum across dimensions = [1] : (tensor<16x32xi32>, tensor<i32>) -> tensor<16xi32>
// CHANNELS-NEXT: %127 = stablehlo.optimization_barrier %126 : tensor<16xi32>
// CHANNELS-NEXT: %128 = stablehlo.subtract %127, %c_5 : tensor<16xi32>
// CHANNELS-NEXT: %129 = stablehlo.bitcast_convert %128 : (tensor<16xi32>) -> tensor<16xf32>
// CHANNELS-NEXT: %130 = stablehlo.maximum %129, %cst : tensor<16xf32>
// CHANNELS-NEXT: %131 = stablehlo.bitcast_convert %130 : (tensor<16xf32>) -> tensor<16xui32>
// CHANNELS-NEXT: %132 = stablehlo.add %131, %c_4 : tensor<16xui32>
// CHANNELS-NEXT: %133 = stablehlo.and %132, %c_3 : tensor<16xui32>
// CHANNELS-NEXT: %134 = stablehlo.subtract %c_2, %133 : tensor<16xui32>
// CHANNELS-NEXT: %135 = stablehlo.bitcast_convert %134 : (tensor<16xui32>) -> tensor<16xf32>
// CHANNELS-NEXT: %136 = stablehlo.bitcast_convert %135 : (tensor<16xf32>) -> tensor<16xui32>
// CHANNELS-NEXT: %137 = stablehlo.subtract %c_1, %136 : tensor<16xui32>
// CHANNELS-NEXT: %138 = stablehlo.bitcast_convert %137 : (tensor<16xui32>) -> tensor<16xf32>
// CHANNELS-NEXT: %139 = stablehlo.broadcast_in_dim %135, dims = [0] : (tensor<16xf32>) -> tensor<16x32xf32>
// CHANNELS-NEXT: %140 = stablehlo.multiply %122, %139 : tensor<16x32xf32>
// CHANNELS-NEXT: %141 = stablehlo.convert %140 : (tensor<16x32xf32>) -> tensor<16x32xf8E4M3FN>
// CHANNELS-NEXT: %142 = stablehlo.dot_general %56, %141, contracting_dims = [0] x [1]{{(, algorithm = <[^>]*>)?}} : (tensor<32x16xf8E4M3FN>, tensor<16x32xf8E4M3FN>) -> tensor<16x16xf32>
// CHANNELS-NEXT: %143 = stablehlo.broadcast_in_dim %53, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHANNELS-NEXT: %144 = stablehlo.multiply %138, %143 : tensor<16xf32>
// CHANNELS-NEXT: %cst_23 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<16xf32>
// CHANNELS-NEXT: %145 = stablehlo.minimum %144, %cst_23 : tensor<16xf32>
// CHANNELS-NEXT: %146 = stablehlo.broadcast_in_dim %145, dims = [1] : (tensor<16xf32>) -> tensor<16x16xf32>
// CHANNELS-NEXT: %147 = stablehlo.multiply %142, %146 : tensor<16x16xf32>
// CHANNELS-NEXT: %148 = stablehlo.convolution(%37, %18) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x5x16xf8E4M3FN>, tensor<3x3x16x16xf8E4M3FN>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %149 = stablehlo.broadcast_in_dim %34, dims = [] : (tensor<f32>) -> tensor<16xf32>
// CHANNELS-NEXT: %150 = stablehlo.multiply %15, %149 : tensor<16xf32>
// CHANNELS-NEXT: %cst_24 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<16xf32>
// CHANNELS-NEXT: %151 = stablehlo.minimum %150, %cst_24 : tensor<16xf32>
// CHANNELS-NEXT: %152 = stablehlo.broadcast_in_dim %151, dims = [3] : (tensor<16xf32>) -> tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %153 = stablehlo.multiply %148, %152 : tensor<1x5x5x16xf32>
// CHANNELS-NEXT: %154 = stablehlo.reshape %120 : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// CHANNELS-NEXT: %155 = stablehlo.dot_general %154, %56, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} : (tensor<32x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<32x16xf32>
// CHANNELS-NEXT: %156 = stablehlo.reshape %155 : (tensor<32x16xf32>) -> tensor<2x16x16xf32>
// CHANNELS-NEXT: %157 = stablehlo.multiply %117, %53 : tensor<f32>
// CHANNELS-NEXT: %cst_25 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CHANNELS-NEXT: %158 = stablehlo.minimum %157, %cst_25 : tensor<f32>
// CHANNELS-NEXT: %159 = stablehlo.broadcast_in_dim %158, dims = [] : (tensor<f32>) -> tensor<2x16x16xf32>
// CHANNELS-NEXT: %160 = stablehlo.multiply %156, %159 : tensor<2x16x16xf32>
// CHANNELS-NEXT: return %160, %147, %153 : tensor<2x16x16xf32>, tensor<16x16xf32>, tensor<1x5x5x16xf32>
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
