// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature,scalify-roles,scalify-recognize{scales=true marked=true},scalify-quantize-matmuls{recipe=fp8-delayed},scalify-narrow-state{recipe=fp8-delayed},scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=DELAYED

// A training step of two layers, whose operands are scaled by their amax in past steps.
// DELAYED:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32, scalify.scaling_state = [[" arg2 arg0:lhs", " arg2 arg0:rhs", " arg1:lhs", " arg1:rhs", ":lhs"], [4.480000e+02 : f32, 4.480000e+02 : f32, 4.480000e+02 : f32, 4.480000e+02 : f32, 5.734400e+04 : f32], [false, false, false, false, true], true]} {
// DELAYED-NEXT: func.func public @main(%arg0: tensor<32x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<4x32xf32>, %arg3: tensor<4x16xf32>, %arg4: tensor<1024x5xf32>, %arg5: tensor<5xf32>, %arg6: tensor<i32>) -> (tensor<32x16xf32> {jax.result_info = "result[0]"}, tensor<16x16xf32> {jax.result_info = "result[1]"}, tensor<1024x5xf32> {jax.result_info = "scaling_state['amax_history']"}, tensor<5xf32> {jax.result_info = "scaling_state['scale']"}, tensor<i32> {jax.result_info = "scaling_state['step']"}) {
// DELAYED-NEXT: %c = stablehlo.constant dense<[[0], [-1]]> : tensor<2x1xi32>
// DELAYED-NEXT: %0 = "stablehlo.gather"(%arg5, %c) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<2x1xi32>) -> tensor<2xf32>
// DELAYED-NEXT: %1 = stablehlo.slice %0 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// DELAYED-NEXT: %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
// DELAYED-NEXT: %c_0 = stablehlo.constant dense<[[1], [-1]]> : tensor<2x1xi32>
// DELAYED-NEXT: %3 = "stablehlo.gather"(%arg5, %c_0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<2x1xi32>) -> tensor<2xf32>
// DELAYED-NEXT: %4 = stablehlo.slice %3 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// DELAYED-NEXT: %5 = stablehlo.reshape %4 : (tensor<1xf32>) -> tensor<f32>
// DELAYED-NEXT: %c_1 = stablehlo.constant dense<[[2], [-1]]> : tensor<2x1xi32>
// DELAYED-NEXT: %6 = "stablehlo.gather"(%arg5, %c_1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<2x1xi32>) -> tensor<2xf32>
// DELAYED-NEXT: %7 = stablehlo.slice %6 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// DELAYED-NEXT: %8 = stablehlo.reshape %7 : (tensor<1xf32>) -> tensor<f32>
// DELAYED-NEXT: %c_2 = stablehlo.constant dense<[[3], [-1]]> : tensor<2x1xi32>
// DELAYED-NEXT: %9 = "stablehlo.gather"(%arg5, %c_2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<2x1xi32>) -> tensor<2xf32>
// DELAYED-NEXT: %10 = stablehlo.slice %9 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// DELAYED-NEXT: %11 = stablehlo.reshape %10 : (tensor<1xf32>) -> tensor<f32>
// DELAYED-NEXT: %c_3 = stablehlo.constant dense<[[4], [-1]]> : tensor<2x1xi32>
// DELAYED-NEXT: %12 = "stablehlo.gather"(%arg5, %c_3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<2x1xi32>) -> tensor<2xf32>
// DELAYED-NEXT: %13 = stablehlo.slice %12 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// DELAYED-NEXT: %14 = stablehlo.reshape %13 : (tensor<1xf32>) -> tensor<f32>
// DELAYED-NEXT: %cst = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %15 = stablehlo.divide %cst, %2 : tensor<f32>
// DELAYED-NEXT: %16 = stablehlo.divide %cst, %5 : tensor<f32>
// DELAYED-NEXT: %17 = stablehlo.divide %cst, %8 : tensor<f32>
// DELAYED-NEXT: %18 = stablehlo.divide %cst, %11 : tensor<f32>
// DELAYED-NEXT: %19 = stablehlo.divide %cst, %14 : tensor<f32>
// DELAYED-NEXT: %20:5 = stablehlo.optimization_barrier %15, %16, %17, %18, %19 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
// DELAYED-NEXT: %21 = stablehlo.optimization_barrier %arg1 : tensor<16x16xf32>
// DELAYED-NEXT: %22 = stablehlo.abs %21 : tensor<16x16xf32>
// DELAYED-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %23 = stablehlo.reduce(%22 init: %cst_4) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %24 = stablehlo.broadcast_in_dim %20#3, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %25 = stablehlo.multiply %21, %24 : tensor<16x16xf32>
// DELAYED-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %26 = stablehlo.clamp %cst_6, %25, %cst_7 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %27 = stablehlo.convert %26 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// DELAYED-NEXT: %28 = stablehlo.reshape %27 : (tensor<16x16xf8E4M3FN>) -> tensor<256xf8E4M3FN>
// DELAYED-NEXT: %29 = stablehlo.optimization_barrier %28 : tensor<256xf8E4M3FN>
// DELAYED-NEXT: %30 = stablehlo.reshape %29 : (tensor<256xf8E4M3FN>) -> tensor<16x16xf8E4M3FN>
// DELAYED-NEXT: %31 = stablehlo.optimization_barrier %arg0 : tensor<32x16xf32>
// DELAYED-NEXT: %32 = stablehlo.abs %31 : tensor<32x16xf32>
// DELAYED-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %33 = stablehlo.reduce(%32 init: %cst_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %34 = stablehlo.broadcast_in_dim %20#1, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// DELAYED-NEXT: %35 = stablehlo.multiply %31, %34 : tensor<32x16xf32>
// DELAYED-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %36 = stablehlo.clamp %cst_10, %35, %cst_11 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// DELAYED-NEXT: %37 = stablehlo.convert %36 : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// DELAYED-NEXT: %38 = stablehlo.reshape %37 : (tensor<32x16xf8E4M3FN>) -> tensor<512xf8E4M3FN>
// DELAYED-NEXT: %39 = stablehlo.optimization_barrier %38 : tensor<512xf8E4M3FN>
// DELAYED-NEXT: %40 = stablehlo.reshape %39 : (tensor<512xf8E4M3FN>) -> tensor<32x16xf8E4M3FN>
// DELAYED-NEXT: %41 = stablehlo.optimization_barrier %arg2 : tensor<4x32xf32>
// DELAYED-NEXT: %42 = stablehlo.abs %41 : tensor<4x32xf32>
// DELAYED-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %43 = stablehlo.reduce(%42 init: %cst_12) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %44 = stablehlo.broadcast_in_dim %20#0, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// DELAYED-NEXT: %45 = stablehlo.multiply %41, %44 : tensor<4x32xf32>
// DELAYED-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %cst_15 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %46 = stablehlo.clamp %cst_14, %45, %cst_15 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// DELAYED-NEXT: %47 = stablehlo.convert %46 : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// DELAYED-NEXT: %48 = stablehlo.reshape %47 : (tensor<4x32xf8E4M3FN>) -> tensor<128xf8E4M3FN>
// DELAYED-NEXT: %49 = stablehlo.optimization_barrier %48 : tensor<128xf8E4M3FN>
// DELAYED-NEXT: %50 = stablehlo.reshape %49 : (tensor<128xf8E4M3FN>) -> tensor<4x32xf8E4M3FN>
// DELAYED-NEXT: %cst_16 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// DELAYED-NEXT: %cst_17 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// DELAYED-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// DELAYED-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %cst_20 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %51 = stablehlo.dot_general %50, %40, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// DELAYED-NEXT: %cst_21 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %52 = stablehlo.multiply %20#0, %20#1 : tensor<f32>
// DELAYED-NEXT: %53 = stablehlo.divide %cst_21, %52 : tensor<f32>
// DELAYED-NEXT: %cst_22 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// DELAYED-NEXT: %54 = stablehlo.minimum %53, %cst_22 : tensor<f32>
// DELAYED-NEXT: %55 = stablehlo.broadcast_in_dim %54, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %56 = stablehlo.multiply %51, %55 : tensor<4x16xf32>
// DELAYED-NEXT: %57 = stablehlo.broadcast_in_dim %cst_20, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %58 = stablehlo.maximum %56, %57 : tensor<4x16xf32>
// DELAYED-NEXT: %59 = stablehlo.optimization_barrier %58 : tensor<4x16xf32>
// DELAYED-NEXT: %60 = stablehlo.abs %59 : tensor<4x16xf32>
// DELAYED-NEXT: %cst_23 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %61 = stablehlo.reduce(%60 init: %cst_23) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %cst_24 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %62 = stablehlo.broadcast_in_dim %20#2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %63 = stablehlo.multiply %59, %62 : tensor<4x16xf32>
// DELAYED-NEXT: %cst_25 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %64 = stablehlo.clamp %cst_25, %63, %cst_26 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %65 = stablehlo.convert %64 : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
// DELAYED-NEXT: %66 = stablehlo.optimization_barrier %65 : tensor<4x16xf8E4M3FN>
// DELAYED-NEXT: %67 = stablehlo.compare EQ, %56, %58, FLOAT : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xi1>
// DELAYED-NEXT: %68 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %69 = stablehlo.broadcast_in_dim %cst_20, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %70 = stablehlo.select %67, %68, %69 : tensor<4x16xi1>, tensor<4x16xf32>
// DELAYED-NEXT: %71 = stablehlo.broadcast_in_dim %cst_20, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %72 = stablehlo.compare EQ, %71, %58, FLOAT : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xi1>
// DELAYED-NEXT: %73 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %74 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %75 = stablehlo.select %72, %73, %74 : tensor<4x16xi1>, tensor<4x16xf32>
// DELAYED-NEXT: %76 = stablehlo.divide %70, %75 : tensor<4x16xf32>
// DELAYED-NEXT: %77 = stablehlo.dot_general %66, %30, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} : (tensor<4x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// DELAYED-NEXT: %cst_27 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %78 = stablehlo.multiply %20#2, %20#3 : tensor<f32>
// DELAYED-NEXT: %79 = stablehlo.divide %cst_27, %78 : tensor<f32>
// DELAYED-NEXT: %cst_28 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// DELAYED-NEXT: %80 = stablehlo.minimum %79, %cst_28 : tensor<f32>
// DELAYED-NEXT: %81 = stablehlo.broadcast_in_dim %80, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %82 = stablehlo.multiply %77, %81 : tensor<4x16xf32>
// DELAYED-NEXT: %83 = stablehlo.subtract %82, %arg3 : tensor<4x16xf32>
// DELAYED-NEXT: %84 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %85 = stablehlo.multiply %84, %83 : tensor<4x16xf32>
// DELAYED-NEXT: %86 = stablehlo.divide %cst_19, %cst_17 : tensor<f32>
// DELAYED-NEXT: %87 = stablehlo.broadcast_in_dim %86, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %88 = stablehlo.multiply %87, %85 : tensor<4x16xf32>
// DELAYED-NEXT: %89 = stablehlo.optimization_barrier %88 : tensor<4x16xf32>
// DELAYED-NEXT: %90 = stablehlo.abs %89 : tensor<4x16xf32>
// DELAYED-NEXT: %cst_29 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %91 = stablehlo.reduce(%90 init: %cst_29) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %cst_30 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %92 = stablehlo.broadcast_in_dim %20#4, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %93 = stablehlo.multiply %89, %92 : tensor<4x16xf32>
// DELAYED-NEXT: %cst_31 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-5.734400e+04> : tensor<f32>
// DELAYED-NEXT: %cst_32 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.734400e+04> : tensor<f32>
// DELAYED-NEXT: %94 = stablehlo.clamp %cst_31, %93, %cst_32 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %95 = stablehlo.convert %94 : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// DELAYED-NEXT: %96 = stablehlo.optimization_barrier %95 : tensor<4x16xf8E5M2>
// DELAYED-NEXT: %97 = stablehlo.dot_general %88, %58, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %98 = stablehlo.transpose %97, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %99 = stablehlo.dot_general %96, %30, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} : (tensor<4x16xf8E5M2>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// DELAYED-NEXT: %cst_33 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %100 = stablehlo.multiply %20#4, %20#3 : tensor<f32>
// DELAYED-NEXT: %101 = stablehlo.divide %cst_33, %100 : tensor<f32>
// DELAYED-NEXT: %cst_34 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// DELAYED-NEXT: %102 = stablehlo.minimum %101, %cst_34 : tensor<f32>
// DELAYED-NEXT: %103 = stablehlo.broadcast_in_dim %102, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %104 = stablehlo.multiply %99, %103 : tensor<4x16xf32>
// DELAYED-NEXT: %105 = stablehlo.multiply %104, %76 : tensor<4x16xf32>
// DELAYED-NEXT: %106 = stablehlo.dot_general %105, %arg2, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// DELAYED-NEXT: %107 = stablehlo.transpose %106, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
// DELAYED-NEXT: %108 = stablehlo.broadcast_in_dim %cst_16, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// DELAYED-NEXT: %109 = stablehlo.multiply %108, %107 : tensor<32x16xf32>
// DELAYED-NEXT: %110 = stablehlo.subtract %arg0, %109 : tensor<32x16xf32>
// DELAYED-NEXT: %111 = stablehlo.broadcast_in_dim %cst_16, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %112 = stablehlo.multiply %111, %98 : tensor<16x16xf32>
// DELAYED-NEXT: %113 = stablehlo.subtract %arg1, %112 : tensor<16x16xf32>
// DELAYED-NEXT: %cst_35 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<5xf32>
// DELAYED-NEXT: %114:5 = stablehlo.optimization_barrier %43, %33, %61, %23, %91 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
// DELAYED-NEXT: %115 = stablehlo.reshape %114#0 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %116 = stablehlo.reshape %114#1 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %117 = stablehlo.reshape %114#2 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %118 = stablehlo.reshape %114#3 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %119 = stablehlo.reshape %114#4 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %120 = stablehlo.concatenate %115, %116, %117, %118, %119, dim = 0 : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<5xf32>
// DELAYED-NEXT: %121 = stablehlo.is_finite %120 : (tensor<5xf32>) -> tensor<5xi1>
// DELAYED-NEXT: %122 = stablehlo.select %121, %120, %cst_35 : tensor<5xi1>, tensor<5xf32>
// DELAYED-NEXT: %123 = stablehlo.reshape %122 : (tensor<5xf32>) -> tensor<1x5xf32>
// DELAYED-NEXT: %124 = stablehlo.slice %arg4 [0:1023, 0:5] : (tensor<1024x5xf32>) -> tensor<1023x5xf32>
// DELAYED-NEXT: %125 = stablehlo.concatenate %123, %124, dim = 0 : (tensor<1x5xf32>, tensor<1023x5xf32>) -> tensor<1024x5xf32>
// DELAYED-NEXT: %126 = stablehlo.abs %125 : tensor<1024x5xf32>
// DELAYED-NEXT: %cst_36 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %127 = stablehlo.reduce(%126 init: %cst_36) applies stablehlo.maximum across dimensions = [0] : (tensor<1024x5xf32>, tensor<f32>) -> tensor<5xf32>
// DELAYED-NEXT: %cst_37 = stablehlo.constant dense<[4.480000e+02, 4.480000e+02, 4.480000e+02, 4.480000e+02, 5.734400e+04]> : tensor<5xf32>
// DELAYED-NEXT: %cst_38 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<5xf32>
// DELAYED-NEXT: %128 = stablehlo.maximum %127, %cst_38 : tensor<5xf32>
// DELAYED-NEXT: %129 = stablehlo.divide %cst_37, %128 : tensor<5xf32>
// DELAYED-NEXT: %cst_39 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<5xf32>
// DELAYED-NEXT: %130 = stablehlo.bitcast_convert %129 : (tensor<5xf32>) -> tensor<5xui32>
// DELAYED-NEXT: %c_40 = stablehlo.constant dense<4286578688> : tensor<5xui32>
// DELAYED-NEXT: %131 = stablehlo.and %130, %c_40 : tensor<5xui32>
// DELAYED-NEXT: %c_41 = stablehlo.constant dense<1> : tensor<5xui32>
// DELAYED-NEXT: %132 = stablehlo.subtract %131, %c_41 : tensor<5xui32>
// DELAYED-NEXT: %c_42 = stablehlo.constant dense<2139095039> : tensor<5xui32>
// DELAYED-NEXT: %133 = stablehlo.compare LT, %132, %c_42 : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xi1>
// DELAYED-NEXT: %134 = stablehlo.bitcast_convert %131 : (tensor<5xui32>) -> tensor<5xf32>
// DELAYED-NEXT: %135 = stablehlo.select %133, %134, %cst_39 : tensor<5xi1>, tensor<5xf32>
// DELAYED-NEXT: %cst_43 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<5xf32>
// DELAYED-NEXT: %136 = stablehlo.divide %cst_43, %135 : tensor<5xf32>
// DELAYED-NEXT: %cst_44 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<5xf32>
// DELAYED-NEXT: %137 = stablehlo.compare GT, %127, %cst_44 : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
// DELAYED-NEXT: %138 = stablehlo.select %137, %136, %arg5 : tensor<5xi1>, tensor<5xf32>
// DELAYED-NEXT: %c_45 = stablehlo.constant dense<1> : tensor<i32>
// DELAYED-NEXT: %139 = stablehlo.add %arg6, %c_45 : tensor<i32>
// DELAYED-NEXT: return %110, %113, %125, %138, %139 : tensor<32x16xf32>, tensor<16x16xf32>, tensor<1024x5xf32>, tensor<5xf32>, tensor<i32>
// DELAYED-NEXT: }
// DELAYED-NEXT: }

module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<4x32xf32>, %arg3: tensor<4x16xf32>) -> (tensor<32x16xf32> {jax.result_info = "result[0]"}, tensor<16x16xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x16xf32>) -> tensor<4x16xf32>
    %1 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<4x16xf32>
    %3 = stablehlo.compare EQ, %0, %2, FLOAT : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xi1>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %5 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %6 = stablehlo.select %3, %4, %5 : tensor<4x16xi1>, tensor<4x16xf32>
    %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %8 = stablehlo.compare EQ, %7, %2, FLOAT : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xi1>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %11 = stablehlo.select %8, %9, %10 : tensor<4x16xi1>, tensor<4x16xf32>
    %12 = stablehlo.divide %6, %11 : tensor<4x16xf32>
    %13 = stablehlo.dot_general %2, %arg1, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    %14 = stablehlo.subtract %13, %arg3 : tensor<4x16xf32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %16 = stablehlo.multiply %15, %14 : tensor<4x16xf32>
    %17 = stablehlo.divide %cst_2, %cst_0 : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %19 = stablehlo.multiply %18, %16 : tensor<4x16xf32>
    %20 = stablehlo.dot_general %19, %2, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<16x16xf32>
    %21 = stablehlo.transpose %20, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %22 = stablehlo.dot_general %19, %arg1, contracting_dims = [1] x [1] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    %23 = stablehlo.multiply %22, %12 : tensor<4x16xf32>
    %24 = stablehlo.dot_general %23, %arg2, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
    %25 = stablehlo.transpose %24, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %26 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %27 = stablehlo.multiply %26, %25 : tensor<32x16xf32>
    %28 = stablehlo.subtract %arg0, %27 : tensor<32x16xf32>
    %29 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %30 = stablehlo.multiply %29, %21 : tensor<16x16xf32>
    %31 = stablehlo.subtract %arg1, %30 : tensor<16x16xf32>
    return %28, %31 : tensor<32x16xf32>, tensor<16x16xf32>
  }
}
