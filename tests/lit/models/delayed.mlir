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
// DELAYED-NEXT: %27 = stablehlo.abs %arg1 : tensor<16x16xf32>
// DELAYED-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %28 = stablehlo.reduce(%27 init: %cst_11) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %29 = stablehlo.broadcast_in_dim %26#4, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %30 = stablehlo.multiply %arg1, %29 : tensor<16x16xf32>
// DELAYED-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %31 = stablehlo.clamp %cst_12, %30, %cst_13 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %32 = stablehlo.convert %31 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// DELAYED-NEXT: %33 = stablehlo.reshape %32 : (tensor<16x16xf8E4M3FN>) -> tensor<256xf8E4M3FN>
// DELAYED-NEXT: %34 = stablehlo.optimization_barrier %33 : tensor<256xf8E4M3FN>
// DELAYED-NEXT: %35 = stablehlo.reshape %34 : (tensor<256xf8E4M3FN>) -> tensor<16x16xf8E4M3FN>
// DELAYED-NEXT: %36 = stablehlo.abs %arg0 : tensor<32x16xf32>
// DELAYED-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %37 = stablehlo.reduce(%36 init: %cst_14) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %38 = stablehlo.broadcast_in_dim %26#1, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// DELAYED-NEXT: %39 = stablehlo.multiply %arg0, %38 : tensor<32x16xf32>
// DELAYED-NEXT: %cst_15 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %cst_16 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %40 = stablehlo.clamp %cst_15, %39, %cst_16 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// DELAYED-NEXT: %41 = stablehlo.convert %40 : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// DELAYED-NEXT: %42 = stablehlo.reshape %41 : (tensor<32x16xf8E4M3FN>) -> tensor<512xf8E4M3FN>
// DELAYED-NEXT: %43 = stablehlo.optimization_barrier %42 : tensor<512xf8E4M3FN>
// DELAYED-NEXT: %44 = stablehlo.reshape %43 : (tensor<512xf8E4M3FN>) -> tensor<32x16xf8E4M3FN>
// DELAYED-NEXT: %45 = stablehlo.abs %arg2 : tensor<4x32xf32>
// DELAYED-NEXT: %cst_17 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %46 = stablehlo.reduce(%45 init: %cst_17) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %47 = stablehlo.broadcast_in_dim %26#0, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// DELAYED-NEXT: %48 = stablehlo.multiply %arg2, %47 : tensor<4x32xf32>
// DELAYED-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %49 = stablehlo.clamp %cst_18, %48, %cst_19 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// DELAYED-NEXT: %50 = stablehlo.convert %49 : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// DELAYED-NEXT: %51 = stablehlo.reshape %50 : (tensor<4x32xf8E4M3FN>) -> tensor<128xf8E4M3FN>
// DELAYED-NEXT: %52 = stablehlo.optimization_barrier %51 : tensor<128xf8E4M3FN>
// DELAYED-NEXT: %53 = stablehlo.reshape %52 : (tensor<128xf8E4M3FN>) -> tensor<4x32xf8E4M3FN>
// DELAYED-NEXT: %cst_20 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// DELAYED-NEXT: %cst_21 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// DELAYED-NEXT: %cst_22 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// DELAYED-NEXT: %cst_23 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// DELAYED-NEXT: %cst_24 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %54 = stablehlo.dot_general %53, %44, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// DELAYED-NEXT: %55 = stablehlo.broadcast_in_dim %26#2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %56 = stablehlo.multiply %54, %55 : tensor<4x16xf32>
// DELAYED-NEXT: %57 = stablehlo.broadcast_in_dim %cst_24, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %58 = stablehlo.maximum %56, %57 : tensor<4x16xf32>
// DELAYED-NEXT: %59 = stablehlo.abs %58 : tensor<4x16xf32>
// DELAYED-NEXT: %cst_25 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %60 = stablehlo.reduce(%59 init: %cst_25) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %61 = stablehlo.broadcast_in_dim %26#3, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %62 = stablehlo.multiply %58, %61 : tensor<4x16xf32>
// DELAYED-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %cst_27 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// DELAYED-NEXT: %63 = stablehlo.clamp %cst_26, %62, %cst_27 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %64 = stablehlo.convert %63 : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
// DELAYED-NEXT: %65 = stablehlo.optimization_barrier %64 : tensor<4x16xf8E4M3FN>
// DELAYED-NEXT: %66 = stablehlo.compare EQ, %56, %58, FLOAT : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xi1>
// DELAYED-NEXT: %67 = stablehlo.broadcast_in_dim %cst_23, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %68 = stablehlo.broadcast_in_dim %cst_24, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %69 = stablehlo.select %66, %67, %68 : tensor<4x16xi1>, tensor<4x16xf32>
// DELAYED-NEXT: %70 = stablehlo.broadcast_in_dim %cst_24, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %71 = stablehlo.compare EQ, %70, %58, FLOAT : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xi1>
// DELAYED-NEXT: %72 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %73 = stablehlo.broadcast_in_dim %cst_23, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %74 = stablehlo.select %71, %72, %73 : tensor<4x16xi1>, tensor<4x16xf32>
// DELAYED-NEXT: %75 = stablehlo.divide %69, %74 : tensor<4x16xf32>
// DELAYED-NEXT: %76 = stablehlo.dot_general %65, %35, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} : (tensor<4x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// DELAYED-NEXT: %77 = stablehlo.broadcast_in_dim %26#5, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %78 = stablehlo.multiply %76, %77 : tensor<4x16xf32>
// DELAYED-NEXT: %79 = stablehlo.subtract %78, %arg3 : tensor<4x16xf32>
// DELAYED-NEXT: %80 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %81 = stablehlo.multiply %80, %79 : tensor<4x16xf32>
// DELAYED-NEXT: %82 = stablehlo.divide %cst_23, %cst_21 : tensor<f32>
// DELAYED-NEXT: %83 = stablehlo.broadcast_in_dim %82, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %84 = stablehlo.multiply %83, %81 : tensor<4x16xf32>
// DELAYED-NEXT: %85 = stablehlo.abs %84 : tensor<4x16xf32>
// DELAYED-NEXT: %cst_28 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %86 = stablehlo.reduce(%85 init: %cst_28) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<f32>
// DELAYED-NEXT: %87 = stablehlo.broadcast_in_dim %26#6, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %88 = stablehlo.multiply %84, %87 : tensor<4x16xf32>
// DELAYED-NEXT: %cst_29 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-5.734400e+04> : tensor<f32>
// DELAYED-NEXT: %cst_30 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.734400e+04> : tensor<f32>
// DELAYED-NEXT: %89 = stablehlo.clamp %cst_29, %88, %cst_30 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %90 = stablehlo.convert %89 : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// DELAYED-NEXT: %91 = stablehlo.optimization_barrier %90 : tensor<4x16xf8E5M2>
// DELAYED-NEXT: %92 = stablehlo.dot_general %84, %58, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %93 = stablehlo.transpose %92, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %94 = stablehlo.dot_general %91, %35, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} : (tensor<4x16xf8E5M2>, tensor<16x16xf8E4M3FN>) -> tensor<4x16xf32>
// DELAYED-NEXT: %95 = stablehlo.broadcast_in_dim %26#7, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// DELAYED-NEXT: %96 = stablehlo.multiply %94, %95 : tensor<4x16xf32>
// DELAYED-NEXT: %97 = stablehlo.multiply %96, %75 : tensor<4x16xf32>
// DELAYED-NEXT: %98 = stablehlo.dot_general %97, %arg2, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// DELAYED-NEXT: %99 = stablehlo.transpose %98, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
// DELAYED-NEXT: %100 = stablehlo.broadcast_in_dim %cst_20, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// DELAYED-NEXT: %101 = stablehlo.multiply %100, %99 : tensor<32x16xf32>
// DELAYED-NEXT: %102 = stablehlo.subtract %arg0, %101 : tensor<32x16xf32>
// DELAYED-NEXT: %103 = stablehlo.broadcast_in_dim %cst_20, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16x16xf32>
// DELAYED-NEXT: %104 = stablehlo.multiply %103, %93 : tensor<16x16xf32>
// DELAYED-NEXT: %105 = stablehlo.subtract %arg1, %104 : tensor<16x16xf32>
// DELAYED-NEXT: %cst_31 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<5xf32>
// DELAYED-NEXT: %106:5 = stablehlo.optimization_barrier %46, %37, %60, %28, %86 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
// DELAYED-NEXT: %107 = stablehlo.reshape %106#0 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %108 = stablehlo.reshape %106#1 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %109 = stablehlo.reshape %106#2 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %110 = stablehlo.reshape %106#3 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %111 = stablehlo.reshape %106#4 : (tensor<f32>) -> tensor<1xf32>
// DELAYED-NEXT: %112 = stablehlo.concatenate %107, %108, %109, %110, %111, dim = 0 : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<5xf32>
// DELAYED-NEXT: %113 = stablehlo.is_finite %112 : (tensor<5xf32>) -> tensor<5xi1>
// DELAYED-NEXT: %114 = stablehlo.select %113, %112, %cst_31 : tensor<5xi1>, tensor<5xf32>
// DELAYED-NEXT: %115 = stablehlo.reshape %114 : (tensor<5xf32>) -> tensor<1x5xf32>
// DELAYED-NEXT: %116 = stablehlo.slice %arg4 [0:1023, 0:5] : (tensor<1024x5xf32>) -> tensor<1023x5xf32>
// DELAYED-NEXT: %117 = stablehlo.concatenate %115, %116, dim = 0 : (tensor<1x5xf32>, tensor<1023x5xf32>) -> tensor<1024x5xf32>
// DELAYED-NEXT: %118 = stablehlo.abs %117 : tensor<1024x5xf32>
// DELAYED-NEXT: %cst_32 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// DELAYED-NEXT: %119 = stablehlo.reduce(%118 init: %cst_32) applies stablehlo.maximum across dimensions = [0] : (tensor<1024x5xf32>, tensor<f32>) -> tensor<5xf32>
// DELAYED-NEXT: %cst_33 = stablehlo.constant dense<[4.480000e+02, 4.480000e+02, 4.480000e+02, 4.480000e+02, 5.734400e+04]> : tensor<5xf32>
// DELAYED-NEXT: %cst_34 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<5xf32>
// DELAYED-NEXT: %120 = stablehlo.maximum %119, %cst_34 : tensor<5xf32>
// DELAYED-NEXT: %121 = stablehlo.divide %cst_33, %120 : tensor<5xf32>
// DELAYED-NEXT: %cst_35 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<5xf32>
// DELAYED-NEXT: %122 = stablehlo.bitcast_convert %121 : (tensor<5xf32>) -> tensor<5xui32>
// DELAYED-NEXT: %c_36 = stablehlo.constant dense<4286578688> : tensor<5xui32>
// DELAYED-NEXT: %123 = stablehlo.and %122, %c_36 : tensor<5xui32>
// DELAYED-NEXT: %c_37 = stablehlo.constant dense<1> : tensor<5xui32>
// DELAYED-NEXT: %124 = stablehlo.subtract %123, %c_37 : tensor<5xui32>
// DELAYED-NEXT: %c_38 = stablehlo.constant dense<2139095039> : tensor<5xui32>
// DELAYED-NEXT: %125 = stablehlo.compare LT, %124, %c_38 : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xi1>
// DELAYED-NEXT: %126 = stablehlo.bitcast_convert %123 : (tensor<5xui32>) -> tensor<5xf32>
// DELAYED-NEXT: %127 = stablehlo.select %125, %126, %cst_35 : tensor<5xi1>, tensor<5xf32>
// DELAYED-NEXT: %cst_39 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<5xf32>
// DELAYED-NEXT: %128 = stablehlo.divide %cst_39, %127 : tensor<5xf32>
// DELAYED-NEXT: %cst_40 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<5xf32>
// DELAYED-NEXT: %129 = stablehlo.compare GT, %119, %cst_40 : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
// DELAYED-NEXT: %130 = stablehlo.select %129, %128, %arg5 : tensor<5xi1>, tensor<5xf32>
// DELAYED-NEXT: %c_41 = stablehlo.constant dense<1> : tensor<i32>
// DELAYED-NEXT: %131 = stablehlo.add %arg6, %c_41 : tensor<i32>
// DELAYED-NEXT: return %102, %105, %117, %130, %131 : tensor<32x16xf32>, tensor<16x16xf32>, tensor<1024x5xf32>, tensor<5xf32>, tensor<i32>
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
