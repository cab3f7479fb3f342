// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature,scalify-roles,scalify-recognize{scales=true marked=true},scalify-quantize-matmuls{recipe=fp8-delayed},scalify-narrow-state{recipe=fp8-delayed},scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=DELAYED

// A training step of two layers, whose operands are scaled by their amax in past steps.
// DELAYED:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32, scalify.scaling_state = [["arg0@forward:lhs", "arg0@forward:rhs", "arg1@forward:lhs", "arg1@forward:rhs", "arg1@wgrad:lhs"], [4.480000e+02 : f32, 4.480000e+02 : f32, 4.480000e+02 : f32, 4.480000e+02 : f32, 5.734400e+04 : f32], [false, false, false, false, true], true]} {
// DELAYED-NEXT: func.func public @main(%arg0: tensor<32x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<4x32xf32>, %arg3: tensor<4x16xf32>, %arg4: tensor<1024x5xf32> {scalify.is_state}, %arg5: tensor<5xf32> {scalify.is_state}, %arg6: tensor<i32> {scalify.is_state}) -> (tensor<32x16xf32> {jax.result_info = "result[0]"}, tensor<16x16xf32> {jax.result_info = "result[1]"}, tensor<1024x5xf32> {jax.result_info = "scaling_state['amax_history']"}, tensor<5xf32> {jax.result_info = "scaling_state['scale']"}, tensor<i32> {jax.result_info = "scaling_state['step']"}) {
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
// DELAYED-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %16 = stablehlo.divide %cst_4, %5 : tensor<f32>
// DELAYED-NEXT: %17 = stablehlo.multiply %2, %5 : tensor<f32>
// DELAYED-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// DELAYED-NEXT: %18 = stablehlo.minimum %17, %cst_5 : tensor<f32>
// DELAYED-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %19 = stablehlo.divide %cst_6, %8 : tensor<f32>
// DELAYED-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %20 = stablehlo.divide %cst_7, %11 : tensor<f32>
// DELAYED-NEXT: %21 = stablehlo.multiply %8, %11 : tensor<f32>
// DELAYED-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// DELAYED-NEXT: %22 = stablehlo.minimum %21, %cst_8 : tensor<f32>
// DELAYED-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %23 = stablehlo.divide %cst_9, %14 : tensor<f32>
// DELAYED-NEXT: %24 = stablehlo.multiply %14, %11 : tensor<f32>
// DELAYED-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// DELAYED-NEXT: %25 = stablehlo.minimum %24, %cst_10 : tensor<f32>
// DELAYED-NEXT: %26:8 = stablehlo.optimization_barrier %15, %16, %18, %19, %20, %22, %23, %25 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
// DELAYED-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<4x16xf32>
// DELAYED-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.734400e+04> : tensor<f32>
// DELAYED-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-5.734400e+04> : tensor<f32>
// DELAYED-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<16x16xf32>
// DELAYED-NEXT: %cst_15 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %cst_16 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %27 = stablehlo.abs %arg1 : tensor<16x16xf32>
// DELAYED-NEXT: %cst_17 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %28 = stablehlo.reduce(%27 init: %cst_17) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %29 = stablehlo.broadcast_in_dim %26#4, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %30 = stablehlo.multiply %arg1, %29 : tensor<16x16xf32>
// DELAYED-NEXT: %31 = stablehlo.multiply %arg1, %cst_14 {scalify.forms = ["any"]} : tensor<16x16xf32>
// DELAYED-NEXT: %32 = stablehlo.add %30, %31 : tensor<16x16xf32>
// DELAYED-NEXT: %33 = stablehlo.clamp %cst_16, %32, %cst_15 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %34 = stablehlo.convert %33 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// DELAYED-NEXT: %35 = stablehlo.reshape %34 : (tensor<16x16xf8E4M3FN>) -> tensor<256xf8E4M3FN>
// DELAYED-NEXT: %36 = stablehlo.optimization_barrier %35 : tensor<256xf8E4M3FN>
// DELAYED-NEXT: %37 = stablehlo.reshape %36 : (tensor<256xf8E4M3FN>) -> tensor<16x16xf8E4M3FN>
// DELAYED-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<4x16xf32>
// DELAYED-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %cst_20 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %cst_21 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<32x16xf32>
// DELAYED-NEXT: %cst_22 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %cst_23 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %38 = stablehlo.abs %arg0 : tensor<32x16xf32>
// DELAYED-NEXT: %cst_24 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %39 = stablehlo.reduce(%38 init: %cst_24) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %40 = stablehlo.broadcast_in_dim %26#1, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// DELAYED-NEXT: %41 = stablehlo.multiply %arg0, %40 : tensor<32x16xf32>
// DELAYED-NEXT: %42 = stablehlo.multiply %arg0, %cst_21 {scalify.forms = ["any"]} : tensor<32x16xf32>
// DELAYED-NEXT: %43 = stablehlo.add %41, %42 : tensor<32x16xf32>
// DELAYED-NEXT: %44 = stablehlo.clamp %cst_23, %43, %cst_22 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// DELAYED-NEXT: %45 = stablehlo.convert %44 : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// DELAYED-NEXT: %cst_25 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<4x32xf32>
// DELAYED-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %cst_27 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %46 = stablehlo.abs %arg2 : tensor<4x32xf32>
// DELAYED-NEXT: %cst_28 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %47 = stablehlo.reduce(%46 init: %cst_28) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %48 = stablehlo.broadcast_in_dim %26#0, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// DELAYED-NEXT: %49 = stablehlo.multiply %arg2, %48 : tensor<4x32xf32>
// DELAYED-NEXT: %50 = stablehlo.multiply %arg2, %cst_25 {scalify.forms = ["any"]} : tensor<4x32xf32>
// DELAYED-NEXT: %51 = stablehlo.add %49, %50 : tensor<4x32xf32>
// DELAYED-NEXT: %52 = stablehlo.clamp %cst_27, %51, %cst_26 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// DELAYED-NEXT: %53 = stablehlo.convert %52 : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// DELAYED-NEXT: %54 = stablehlo.reshape %53 : (tensor<4x32xf8E4M3FN>) -> tensor<128xf8E4M3FN>
// DELAYED-NEXT: %55 = stablehlo.optimization_barrier %54 : tensor<128xf8E4M3FN>
// DELAYED-NEXT: %56 = stablehlo.reshape %55 : (tensor<128xf8E4M3FN>) -> tensor<4x32xf8E4M3FN>
// DELAYED-NEXT: %cst_29 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// DELAYED-NEXT: %cst_30 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// DELAYED-NEXT: %cst_31 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// DELAYED-NEXT: %cst_32 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %cst_33 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %57 = stablehlo.dot_general %56, %45, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// DELAYED-NEXT: %58 = stablehlo.broadcast_in_dim %26#2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %59 = stablehlo.multiply %57, %58 : tensor<4x16xf32>
// DELAYED-NEXT: %60 = stablehlo.broadcast_in_dim %cst_33, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %61 = stablehlo.maximum %59, %60 : tensor<4x16xf32>
// DELAYED-NEXT: %62 = stablehlo.abs %61 : tensor<4x16xf32>
// DELAYED-NEXT: %cst_34 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %63 = stablehlo.reduce(%62 init: %cst_34) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %64 = stablehlo.broadcast_in_dim %26#3, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %65 = stablehlo.multiply %61, %64 : tensor<4x16xf32>
// DELAYED-NEXT: %66 = stablehlo.multiply %65, %cst_18 {scalify.forms = ["any"]} : tensor<4x16xf32>
// DELAYED-NEXT: %67 = stablehlo.add %65, %66 : tensor<4x16xf32>
// DELAYED-NEXT: %68 = stablehlo.clamp %cst_20, %67, %cst_19 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %69 = stablehlo.convert %68 : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
// DELAYED-NEXT: %70 = stablehlo.optimization_barrier %69 : tensor<4x16xf8E4M3FN>
// DELAYED-NEXT: %71 = stablehlo.compare EQ, %59, %61, FLOAT : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xi1>
// DELAYED-NEXT: %72 = stablehlo.broadcast_in_dim %cst_32, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %73 = stablehlo.broadcast_in_dim %cst_33, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %74 = stablehlo.select %71, %72, %73 : tensor<4x16xi1>, tensor<4x16xf32>
// DELAYED-NEXT: %75 = stablehlo.broadcast_in_dim %cst_33, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %76 = stablehlo.compare EQ, %75, %61, FLOAT : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xi1>
// DELAYED-NEXT: %77 = stablehlo.broadcast_in_dim %cst_31, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %78 = stablehlo.broadcast_in_dim %cst_32, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %79 = stablehlo.select %76, %77, %78 : tensor<4x16xi1>, tensor<4x16xf32>
// DELAYED-NEXT: %80 = stablehlo.divide %74, %79 : tensor<4x16xf32>
// DELAYED-NEXT: %81 = stablehlo.dot_general %70, %37, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} : (tensor<4x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// DELAYED-NEXT: %82 = stablehlo.broadcast_in_dim %26#5, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %83 = stablehlo.multiply %81, %82 : tensor<4x16xf32>
// DELAYED-NEXT: %84 = stablehlo.subtract %83, %arg3 : tensor<4x16xf32>
// DELAYED-NEXT: %85 = stablehlo.broadcast_in_dim %cst_31, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %86 = stablehlo.multiply %85, %84 : tensor<4x16xf32>
// DELAYED-NEXT: %87 = stablehlo.divide %cst_32, %cst_30 : tensor<f32>
// DELAYED-NEXT: %88 = stablehlo.broadcast_in_dim %87, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %89 = stablehlo.multiply %88, %86 : tensor<4x16xf32>
// DELAYED-NEXT: %90 = stablehlo.abs %89 : tensor<4x16xf32>
// DELAYED-NEXT: %cst_35 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %91 = stablehlo.reduce(%90 init: %cst_35) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %92 = stablehlo.broadcast_in_dim %26#6, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %93 = stablehlo.multiply %89, %92 : tensor<4x16xf32>
// DELAYED-NEXT: %94 = stablehlo.multiply %93, %cst_11 {scalify.forms = ["any"]} : tensor<4x16xf32>
// DELAYED-NEXT: %95 = stablehlo.add %93, %94 : tensor<4x16xf32>
// DELAYED-NEXT: %96 = stablehlo.clamp %cst_13, %95, %cst_12 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %97 = stablehlo.convert %96 : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// DELAYED-NEXT: %98 = stablehlo.optimization_barrier %97 : tensor<4x16xf8E5M2>
// DELAYED-NEXT: %99 = stablehlo.dot_general %89, %61, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %100 = stablehlo.transpose %99, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %101 = stablehlo.dot_general %98, %37, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} : (tensor<4x16xf8E5M2>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// DELAYED-NEXT: %102 = stablehlo.broadcast_in_dim %26#7, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %103 = stablehlo.multiply %101, %102 : tensor<4x16xf32>
// DELAYED-NEXT: %104 = stablehlo.multiply %103, %80 : tensor<4x16xf32>
// DELAYED-NEXT: %105 = stablehlo.dot_general %104, %arg2, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// DELAYED-NEXT: %106 = stablehlo.transpose %105, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
// DELAYED-NEXT: %107 = stablehlo.broadcast_in_dim %cst_29, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// DELAYED-NEXT: %108 = stablehlo.multiply %107, %106 : tensor<32x16xf32>
// DELAYED-NEXT: %109 = stablehlo.subtract %arg0, %108 : tensor<32x16xf32>
// DELAYED-NEXT: %110 = stablehlo.broadcast_in_dim %cst_29, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %111 = stablehlo.multiply %110, %100 : tensor<16x16xf32>
// DELAYED-NEXT: %112 = stablehlo.subtract %arg1, %111 : tensor<16x16xf32>
// DELAYED-NEXT: %cst_36 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<5xf32>
// DELAYED-NEXT: %113:5 = stablehlo.optimization_barrier %47, %39, %63, %28, %91 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
// DELAYED-NEXT: %114 = stablehlo.reshape %113#0 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %115 = stablehlo.reshape %113#1 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %116 = stablehlo.reshape %113#2 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %117 = stablehlo.reshape %113#3 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %118 = stablehlo.reshape %113#4 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %119 = stablehlo.concatenate %114, %115, %116, %117, %118, dim = 0 : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<5xf32>
// DELAYED-NEXT: %120 = stablehlo.is_finite %119 : (tensor<5xf32>) -> tensor<5xi1>
// DELAYED-NEXT: %121 = stablehlo.select %120, %119, %cst_36 : tensor<5xi1>, tensor<5xf32>
// DELAYED-NEXT: %122 = stablehlo.reshape %121 : (tensor<5xf32>) -> tensor<1x5xf32>
// DELAYED-NEXT: %123 = stablehlo.slice %arg4 [0:1023, 0:5] : (tensor<1024x5xf32>) -> tensor<1023x5xf32>
// DELAYED-NEXT: %124 = stablehlo.concatenate %122, %123, dim = 0 : (tensor<1x5xf32>, tensor<1023x5xf32>) -> tensor<1024x5xf32>
// DELAYED-NEXT: %125 = stablehlo.abs %124 : tensor<1024x5xf32>
// DELAYED-NEXT: %cst_37 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %126 = stablehlo.reduce(%125 init: %cst_37) applies stablehlo.maximum across dimensions = [0] : (tensor<1024x5xf32>, tensor<f32>) -> tensor<5xf32>
// DELAYED-NEXT: %cst_38 = stablehlo.constant dense<[4.480000e+02, 4.480000e+02, 4.480000e+02, 4.480000e+02, 5.734400e+04]> : tensor<5xf32>
// DELAYED-NEXT: %cst_39 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<5xf32>
// DELAYED-NEXT: %127 = stablehlo.maximum %126, %cst_39 : tensor<5xf32>
// DELAYED-NEXT: %128 = stablehlo.divide %cst_38, %127 : tensor<5xf32>
// DELAYED-NEXT: %cst_40 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<5xf32>
// DELAYED-NEXT: %129 = stablehlo.bitcast_convert %128 : (tensor<5xf32>) -> tensor<5xui32>
// DELAYED-NEXT: %c_41 = stablehlo.constant dense<4286578688> : tensor<5xui32>
// DELAYED-NEXT: %130 = stablehlo.and %129, %c_41 : tensor<5xui32>
// DELAYED-NEXT: %c_42 = stablehlo.constant dense<1> : tensor<5xui32>
// DELAYED-NEXT: %131 = stablehlo.subtract %130, %c_42 : tensor<5xui32>
// DELAYED-NEXT: %c_43 = stablehlo.constant dense<2139095039> : tensor<5xui32>
// DELAYED-NEXT: %132 = stablehlo.compare LT, %131, %c_43 : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xi1>
// DELAYED-NEXT: %133 = stablehlo.bitcast_convert %130 : (tensor<5xui32>) -> tensor<5xf32>
// DELAYED-NEXT: %134 = stablehlo.select %132, %133, %cst_40 : tensor<5xi1>, tensor<5xf32>
// DELAYED-NEXT: %cst_44 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<5xf32>
// DELAYED-NEXT: %135 = stablehlo.divide %cst_44, %134 : tensor<5xf32>
// DELAYED-NEXT: %cst_45 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<5xf32>
// DELAYED-NEXT: %136 = stablehlo.compare GT, %126, %cst_45 : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
// DELAYED-NEXT: %137 = stablehlo.select %136, %135, %arg5 : tensor<5xi1>, tensor<5xf32>
// DELAYED-NEXT: %c_46 = stablehlo.constant dense<1> : tensor<i32>
// DELAYED-NEXT: %138 = stablehlo.add %arg6, %c_46 : tensor<i32>
// DELAYED-NEXT: return %109, %112, %124, %137, %138 : tensor<32x16xf32>, tensor<16x16xf32>, tensor<1024x5xf32>, tensor<5xf32>, tensor<i32>
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
