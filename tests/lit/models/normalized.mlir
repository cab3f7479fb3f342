// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{recipe=fp8 annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp16},scalify-quantize-matmuls{recipe=fp16},scalify-narrow-state{recipe=fp16},scalify-quantize-constants,scalify-propagate{recipe=fp16 annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=OPERANDS

// The gradients of a normalization between two matmuls, with its gain and an activation.
// FP8:      module @_loss attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4x16xf32>) -> (tensor<32xf32> {jax.result_info = "result['gain']"}, tensor<32x32xf32> {jax.result_info = "result['in']"}, tensor<32x16xf32> {jax.result_info = "result['out']"}) {
// FP8-NEXT: %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.clamp %cst, %arg2, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %1 = stablehlo.convert %0 {scalify.forms = ["2^0"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// FP8-NEXT: %2 = stablehlo.clamp %cst, %arg1, %cst_0 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %4 = stablehlo.clamp %cst, %arg3, %cst_0 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %5 = stablehlo.convert %4 {scalify.forms = ["2^0"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// FP8-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// FP8-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// FP8-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.797884583> : tensor<f32>
// FP8-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.471500e-02> : tensor<f32>
// FP8-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-5.000000e-01> : tensor<f32>
// FP8-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999974E-6> : tensor<f32>
// FP8-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.200000e+01> : tensor<f32>
// FP8-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %6 = stablehlo.dot_general %5, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<4x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// FP8-NEXT: %7 = stablehlo.reduce(%6 init: %cst_14) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %8 = stablehlo.broadcast_in_dim %7, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %9 = stablehlo.broadcast_in_dim %cst_13, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %10 = stablehlo.divide %8, %9 {scalify.forms = ["2^0 level -1"]} : tensor<4x1xf32>
// FP8-NEXT: %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] {scalify.forms = ["2^0 level -1"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %12 = stablehlo.subtract %6, %11 {scalify.forms = ["2^0 level 2"]} : tensor<4x32xf32>
// FP8-NEXT: %13:4 = call @_var(%6, %c) {scalify.forms = ["2^0 level 9", "2^0 level 3", "unscaled", "unscaled"]} : (tensor<4x32xf32>, tensor<i32>) -> (tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>)
// FP8-NEXT: %14 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %15 = stablehlo.add %13#0, %14 {scalify.forms = ["2^0 level 9"]} : tensor<4x1xf32>
// FP8-NEXT: %16 = stablehlo.rsqrt %15 {scalify.forms = ["2^0 level -4"]} : tensor<4x1xf32>
// FP8-NEXT: %17 = stablehlo.divide %16, %15 {scalify.forms = ["2^0 level -13"]} : tensor<4x1xf32>
// FP8-NEXT: %18 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %19 = stablehlo.multiply %18, %17 {scalify.forms = ["2^0 level -14"]} : tensor<4x1xf32>
// FP8-NEXT: %20 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0 level -4"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %21 = stablehlo.multiply %12, %20 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// FP8-NEXT: %22 = stablehlo.broadcast_in_dim %arg0, dims = [1] {scalify.forms = ["2^0"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// FP8-NEXT: %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %24 = stablehlo.multiply %21, %23 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// FP8-NEXT: %25 = stablehlo.multiply %24, %24 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// FP8-NEXT: %26 = stablehlo.multiply %25, %24 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// FP8-NEXT: %27 = stablehlo.multiply %24, %24 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// FP8-NEXT: %28 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %29 = stablehlo.multiply %28, %27 {scalify.forms = ["2^0 level -2.41504"]} : tensor<4x32xf32>
// FP8-NEXT: %30 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %31 = stablehlo.multiply %30, %26 {scalify.forms = ["2^0 level -10.4831"]} : tensor<4x32xf32>
// FP8-NEXT: %32 = stablehlo.add %24, %31 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// FP8-NEXT: %33 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %34 = stablehlo.multiply %33, %32 {scalify.forms = ["2^0 level -2.32575"]} : tensor<4x32xf32>
// FP8-NEXT: %35 = stablehlo.tanh %34 {scalify.forms = ["2^0 level -2.32575"]} : tensor<4x32xf32>
// FP8-NEXT: %36 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %37 = stablehlo.subtract %36, %35 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %38 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %39 = stablehlo.add %38, %35 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %40 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %41 = stablehlo.multiply %40, %39 {scalify.forms = ["2^0 level -1"]} : tensor<4x32xf32>
// FP8-NEXT: %42 = stablehlo.multiply %24, %41 {scalify.forms = ["2^0 level -3"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_15 = stablehlo.constant dense<8.000000e+00> : tensor<4x32xf32>
// FP8-NEXT: %43 = stablehlo.multiply %42, %cst_15 : tensor<4x32xf32>
// FP8-NEXT: %44 = stablehlo.clamp %cst, %43, %cst_0 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %45 = stablehlo.convert %44 {scalify.forms = ["2^-3"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// FP8-NEXT: %46 = stablehlo.dot_general %45, %1, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-3 level 2"]} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// FP8-NEXT: %cst_16 = stablehlo.constant dense<1.250000e-01> : tensor<4x16xf32>
// FP8-NEXT: %47 = stablehlo.multiply %46, %cst_16 : tensor<4x16xf32>
// FP8-NEXT: %48 = stablehlo.subtract %47, %arg4 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %49 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %50 = stablehlo.multiply %49, %48 {scalify.forms = ["2^0 level 1"]} : tensor<4x16xf32>
// FP8-NEXT: %51 = stablehlo.divide %cst_7, %cst_4 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// FP8-NEXT: %52 = stablehlo.broadcast_in_dim %51, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %53 = stablehlo.multiply %52, %50 {scalify.forms = ["2^0 level -5"]} : tensor<4x16xf32>
// FP8-NEXT: %cst_17 = stablehlo.constant dense<3.200000e+01> : tensor<4x16xf32>
// FP8-NEXT: %54 = stablehlo.multiply %53, %cst_17 : tensor<4x16xf32>
// FP8-NEXT: %55 = stablehlo.clamp %cst_1, %54, %cst_2 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %56 = stablehlo.convert %55 {scalify.forms = ["2^-5"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// FP8-NEXT: %57 = stablehlo.optimization_barrier {scalify.forms = ["2^-5"]} %56 : tensor<4x16xf8E5M2>
// FP8-NEXT: %58 = stablehlo.dot_general %53, %42, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -7"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// FP8-NEXT: %59 = stablehlo.transpose %58, dims = [1, 0] {scalify.forms = ["2^0 level -7"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// FP8-NEXT: %60 = stablehlo.dot_general %57, %1, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-5 level 2"]} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// FP8-NEXT: %61 = stablehlo.multiply %24, %60 {scalify.forms = ["2^-5"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_18 = stablehlo.constant dense<3.125000e-02> : tensor<4x32xf32>
// FP8-NEXT: %62 = stablehlo.multiply %61, %cst_18 : tensor<4x32xf32>
// FP8-NEXT: %63 = stablehlo.multiply %60, %41 {scalify.forms = ["2^-5 level 1"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_19 = stablehlo.constant dense<3.125000e-02> : tensor<4x32xf32>
// FP8-NEXT: %64 = stablehlo.multiply %63, %cst_19 : tensor<4x32xf32>
// FP8-NEXT: %65 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %66 = stablehlo.multiply %65, %62 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// FP8-NEXT: %67 = stablehlo.multiply %66, %37 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// FP8-NEXT: %68 = stablehlo.multiply %67, %35 {scalify.forms = ["2^0 level -8.32575"]} : tensor<4x32xf32>
// FP8-NEXT: %69 = stablehlo.add %67, %68 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// FP8-NEXT: %70 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %71 = stablehlo.multiply %70, %69 {scalify.forms = ["2^0 level -6.32575"]} : tensor<4x32xf32>
// FP8-NEXT: %72 = stablehlo.add %64, %71 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// FP8-NEXT: %73 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %74 = stablehlo.multiply %73, %71 {scalify.forms = ["2^0 level -10.8088"]} : tensor<4x32xf32>
// FP8-NEXT: %75 = stablehlo.multiply %74, %29 {scalify.forms = ["2^0 level -13.2239"]} : tensor<4x32xf32>
// FP8-NEXT: %76 = stablehlo.add %72, %75 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// FP8-NEXT: %77 = stablehlo.multiply %21, %76 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// FP8-NEXT: %78 = stablehlo.reduce(%77 init: %cst_14) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level -5"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<32xf32>
// FP8-NEXT: %79 = stablehlo.reshape %78 {scalify.forms = ["2^0 level -5"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// FP8-NEXT: %80 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %81 = stablehlo.multiply %76, %80 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// FP8-NEXT: %82 = stablehlo.reduce(%79 init: %cst_14) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level -5"]} : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
// FP8-NEXT: %83 = stablehlo.multiply %12, %81 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// FP8-NEXT: %84 = stablehlo.reduce(%83 init: %cst_14) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %85 = stablehlo.reshape %84 {scalify.forms = ["2^0"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %86 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0 level -4"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %87 = stablehlo.multiply %81, %86 {scalify.forms = ["2^0 level -8"]} : tensor<4x32xf32>
// FP8-NEXT: %88 = stablehlo.multiply %85, %19 {scalify.forms = ["2^0 level -14"]} : tensor<4x1xf32>
// FP8-NEXT: %89 = call @_var_0(%13#1, %13#2, %13#3, %88) {scalify.forms = ["2^0 level -11"]} : (tensor<4x32xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %90 = stablehlo.negate %87 {scalify.forms = ["2^0 level -8"]} : tensor<4x32xf32>
// FP8-NEXT: %91 = stablehlo.reduce(%90 init: %cst_14) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -6"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %92 = stablehlo.reshape %91 {scalify.forms = ["2^0 level -6"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %93 = stablehlo.add %89, %87 {scalify.forms = ["2^0 level -8"]} : tensor<4x32xf32>
// FP8-NEXT: %94 = stablehlo.broadcast_in_dim %cst_13, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %95 = stablehlo.divide %92, %94 {scalify.forms = ["2^0 level -11"]} : tensor<4x1xf32>
// FP8-NEXT: %96 = stablehlo.reduce(%95 init: %cst_14) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -11"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %97 = stablehlo.broadcast_in_dim %96, dims = [0] {scalify.forms = ["2^0 level -11"]} : (tensor<4xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %98 = stablehlo.add %93, %97 {scalify.forms = ["2^0 level -8"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %99 = stablehlo.optimization_barrier %98 : tensor<4x32xf32>
// FP8-NEXT: %100 = stablehlo.multiply %99, %99 : tensor<4x32xf32>
// FP8-NEXT: %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %101 = stablehlo.reduce(%100 init: %cst_21) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %cst_22 = stablehlo.constant dense<7.812500e-03> : tensor<f32>
// FP8-NEXT: %102 = stablehlo.multiply %101, %cst_22 : tensor<f32>
// FP8-NEXT: %103 = stablehlo.sqrt %102 : tensor<f32>
// FP8-NEXT: %104 = stablehlo.bitcast_convert %103 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_23 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %105 = stablehlo.and %104, %c_23 : tensor<ui32>
// FP8-NEXT: %c_24 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %106 = stablehlo.subtract %105, %c_24 : tensor<ui32>
// FP8-NEXT: %c_25 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %107 = stablehlo.compare LT, %106, %c_25 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %108 = stablehlo.bitcast_convert %105 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %109 = stablehlo.select %107, %108, %cst_20 : tensor<i1>, tensor<f32>
// FP8-NEXT: %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %110 = stablehlo.multiply %109, %cst_26 : tensor<f32>
// FP8-NEXT: %cst_27 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_28 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %111 = stablehlo.clamp %cst_27, %110, %cst_28 : tensor<f32>
// FP8-NEXT: %112 = stablehlo.bitcast_convert %111 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_29 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %113 = stablehlo.subtract %c_29, %112 : tensor<ui32>
// FP8-NEXT: %114 = stablehlo.bitcast_convert %113 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_30 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %115 = stablehlo.divide %cst_30, %114 : tensor<f32>
// FP8-NEXT: %116 = stablehlo.optimization_barrier %115 : tensor<f32>
// FP8-NEXT: %117 = stablehlo.divide %cst_3, %116 : tensor<f32>
// FP8-NEXT: %118 = stablehlo.broadcast_in_dim %117, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %119 = stablehlo.multiply %99, %118 : tensor<4x32xf32>
// FP8-NEXT: %120 = stablehlo.dot_general %119, %arg3, contracting_dims = [0] x [0] {scalify.forms = ["s0 level 1"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %121 = stablehlo.transpose %120, dims = [1, 0] {scalify.forms = ["s0 level 1"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %122 = stablehlo.broadcast_in_dim %116, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %123 = stablehlo.multiply %121, %122 : tensor<32x32xf32>
// FP8-NEXT: return %82, %123, %59 : tensor<32xf32>, tensor<32x32xf32>, tensor<32x16xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @_var(%arg0: tensor<4x32xf32>, %arg1: tensor<i32>) -> (tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>) {
// FP8-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %3 = stablehlo.divide %1, %2 : tensor<4x1xf32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %5 = stablehlo.subtract %arg0, %4 : tensor<4x32xf32>
// FP8-NEXT: %6 = stablehlo.multiply %5, %5 : tensor<4x32xf32>
// FP8-NEXT: %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %8 = stablehlo.multiply %7, %5 : tensor<4x32xf32>
// FP8-NEXT: %9 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
// FP8-NEXT: %10 = stablehlo.subtract %cst_1, %9 : tensor<f32>
// FP8-NEXT: %11 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %13 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %14 = stablehlo.divide %12, %13 : tensor<4x1xf32>
// FP8-NEXT: %15 = stablehlo.compare GT, %10, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
// FP8-NEXT: %16 = call @_where(%15, %14, %cst) : (tensor<i1>, tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: return %16, %8, %10, %15 : tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>
// FP8-NEXT: }
// FP8-NEXT: func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<4x1xf32>, %arg2: tensor<f32>) -> tensor<4x1xf32> {
// FP8-NEXT: %0 = stablehlo.convert %arg2 : tensor<f32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<4x1xf32>
// FP8-NEXT: return %2 : tensor<4x1xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @_var_0(%arg0: tensor<4x32xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<4x1xf32>) -> tensor<4x32xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<3.200000e+01> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = call @_where_1(%arg2, %arg3) : (tensor<i1>, tensor<4x1xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %2 = stablehlo.divide %0, %1 : tensor<4x1xf32>
// FP8-NEXT: %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %5 = stablehlo.multiply %4, %arg0 : tensor<4x32xf32>
// FP8-NEXT: %6 = stablehlo.negate %5 : tensor<4x32xf32>
// FP8-NEXT: %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %8 = stablehlo.reshape %7 : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %10 = stablehlo.divide %8, %9 : tensor<4x1xf32>
// FP8-NEXT: %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %13 = stablehlo.add %5, %12 : tensor<4x32xf32>
// FP8-NEXT: return %13 : tensor<4x32xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<4x1xf32>) -> tensor<4x1xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<4x1xf32>
// FP8-NEXT: return %1 : tensor<4x1xf32>
// FP8-NEXT: }
// FP8-NEXT: }
// UNIT:      module @_loss attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4x16xf32>) -> (tensor<32xf32> {jax.result_info = "result['gain']"}, tensor<32x32xf32> {jax.result_info = "result['in']"}, tensor<32x16xf32> {jax.result_info = "result['out']"}) {
// UNIT-NEXT: %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.clamp %cst, %arg2, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// UNIT-NEXT: %1 = stablehlo.convert %0 {scalify.forms = ["2^0"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// UNIT-NEXT: %2 = stablehlo.clamp %cst, %arg1, %cst_0 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %4 = stablehlo.clamp %cst, %arg3, %cst_0 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %5 = stablehlo.convert %4 {scalify.forms = ["2^0"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// UNIT-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// UNIT-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.797884583> : tensor<f32>
// UNIT-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.471500e-02> : tensor<f32>
// UNIT-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-5.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999974E-6> : tensor<f32>
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.200000e+01> : tensor<f32>
// UNIT-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %6 = stablehlo.dot_general %5, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2.5"]} : (tensor<4x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %7 = stablehlo.reduce(%6 init: %cst_13) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 5"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %8 = stablehlo.broadcast_in_dim %7, dims = [0] {scalify.forms = ["2^0 level 5"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %9 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %10 = stablehlo.divide %8, %9 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// UNIT-NEXT: %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %12 = stablehlo.subtract %6, %11 {scalify.forms = ["2^0 level 2.5222"]} : tensor<4x32xf32>
// UNIT-NEXT: %13:4 = call @_var(%6, %c) {scalify.forms = ["2^0 level 5", "2^0 level 3.5222", "2^0 level 5", "unscaled"]} : (tensor<4x32xf32>, tensor<i32>) -> (tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>)
// UNIT-NEXT: %14 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %15 = stablehlo.add %13#0, %14 {scalify.forms = ["2^0 level 5"]} : tensor<4x1xf32>
// UNIT-NEXT: %16 = stablehlo.rsqrt %15 {scalify.forms = ["2^0 level -2.5"]} : tensor<4x1xf32>
// UNIT-NEXT: %17 = stablehlo.divide %16, %15 {scalify.forms = ["2^0 level -7.5"]} : tensor<4x1xf32>
// UNIT-NEXT: %18 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %19 = stablehlo.multiply %18, %17 {scalify.forms = ["2^0 level -8.5"]} : tensor<4x1xf32>
// UNIT-NEXT: %20 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0 level -2.5"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %21 = stablehlo.multiply %12, %20 {scalify.forms = ["2^0 level 0.0221971"]} : tensor<4x32xf32>
// UNIT-NEXT: %22 = stablehlo.broadcast_in_dim %arg0, dims = [1] {scalify.forms = ["2^0"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// UNIT-NEXT: %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %24 = stablehlo.multiply %21, %23 {scalify.forms = ["2^0 level 0.0221971"]} : tensor<4x32xf32>
// UNIT-NEXT: %25 = stablehlo.multiply %24, %24 {scalify.forms = ["2^0 level 0.0443941"]} : tensor<4x32xf32>
// UNIT-NEXT: %26 = stablehlo.multiply %25, %24 {scalify.forms = ["2^0 level 0.0665912"]} : tensor<4x32xf32>
// UNIT-NEXT: %27 = stablehlo.multiply %24, %24 {scalify.forms = ["2^0 level 0.0443941"]} : tensor<4x32xf32>
// UNIT-NEXT: %28 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %29 = stablehlo.multiply %28, %27 {scalify.forms = ["2^0 level 1.62936"]} : tensor<4x32xf32>
// UNIT-NEXT: %30 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %31 = stablehlo.multiply %30, %26 {scalify.forms = ["2^0 level -4.41651"]} : tensor<4x32xf32>
// UNIT-NEXT: %32 = stablehlo.add %24, %31 {scalify.forms = ["2^0 level 0.0237293"]} : tensor<4x32xf32>
// UNIT-NEXT: %33 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %34 = stablehlo.multiply %33, %32 {scalify.forms = ["2^0 level -0.302019"]} : tensor<4x32xf32>
// UNIT-NEXT: %35 = stablehlo.tanh %34 {scalify.forms = ["2^0 level -0.973765"]} : tensor<4x32xf32>
// UNIT-NEXT: %36 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %37 = stablehlo.subtract %36, %35 {scalify.forms = ["2^0 level 0.166288"]} : tensor<4x32xf32>
// UNIT-NEXT: %38 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %39 = stablehlo.add %38, %35 {scalify.forms = ["2^0 level 0.166288"]} : tensor<4x32xf32>
// UNIT-NEXT: %40 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %41 = stablehlo.multiply %40, %39 {scalify.forms = ["2^0 level -0.833712"]} : tensor<4x32xf32>
// UNIT-NEXT: %42 = stablehlo.multiply %24, %41 {scalify.forms = ["2^0 level -0.594711"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_14 = stablehlo.constant dense<2.000000e+00> : tensor<4x32xf32>
// UNIT-NEXT: %43 = stablehlo.multiply %42, %cst_14 : tensor<4x32xf32>
// UNIT-NEXT: %44 = stablehlo.clamp %cst, %43, %cst_0 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %45 = stablehlo.convert %44 {scalify.forms = ["2^-1 level 0.405289"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// UNIT-NEXT: %46 = stablehlo.dot_general %45, %1, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-1 level 2.90529"]} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// UNIT-NEXT: %cst_15 = stablehlo.constant dense<5.000000e-01> : tensor<4x16xf32>
// UNIT-NEXT: %47 = stablehlo.multiply %46, %cst_15 : tensor<4x16xf32>
// UNIT-NEXT: %48 = stablehlo.subtract %47, %arg4 {scalify.forms = ["2^0 level 1.95495"]} : tensor<4x16xf32>
// UNIT-NEXT: %49 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %50 = stablehlo.multiply %49, %48 {scalify.forms = ["2^0 level 2.95495"]} : tensor<4x16xf32>
// UNIT-NEXT: %51 = stablehlo.divide %cst_6, %cst_3 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// UNIT-NEXT: %52 = stablehlo.broadcast_in_dim %51, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %53 = stablehlo.multiply %52, %50 {scalify.forms = ["2^0 level -3.04505"]} : tensor<4x16xf32>
// UNIT-NEXT: %cst_16 = stablehlo.constant dense<8.000000e+00> : tensor<4x16xf32>
// UNIT-NEXT: %54 = stablehlo.multiply %53, %cst_16 : tensor<4x16xf32>
// UNIT-NEXT: %55 = stablehlo.clamp %cst_1, %54, %cst_2 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %56 = stablehlo.convert %55 {scalify.forms = ["2^-3 level -0.0450501"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// UNIT-NEXT: %57 = stablehlo.optimization_barrier {scalify.forms = ["2^-3 level -0.0450501"]} %56 : tensor<4x16xf8E5M2>
// UNIT-NEXT: %58 = stablehlo.dot_general %53, %42, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -2.63976"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// UNIT-NEXT: %59 = stablehlo.transpose %58, dims = [1, 0] {scalify.forms = ["2^0 level -2.63976"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// UNIT-NEXT: %60 = stablehlo.dot_general %57, %1, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-3 level 1.95495"]} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %61 = stablehlo.multiply %24, %60 {scalify.forms = ["2^-3 level 1.97715"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_17 = stablehlo.constant dense<1.250000e-01> : tensor<4x32xf32>
// UNIT-NEXT: %62 = stablehlo.multiply %61, %cst_17 : tensor<4x32xf32>
// UNIT-NEXT: %63 = stablehlo.multiply %60, %41 {scalify.forms = ["2^-3 level 1.12124"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_18 = stablehlo.constant dense<1.250000e-01> : tensor<4x32xf32>
// UNIT-NEXT: %64 = stablehlo.multiply %63, %cst_18 : tensor<4x32xf32>
// UNIT-NEXT: %65 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %66 = stablehlo.multiply %65, %62 {scalify.forms = ["2^0 level -2.02285"]} : tensor<4x32xf32>
// UNIT-NEXT: %67 = stablehlo.multiply %66, %37 {scalify.forms = ["2^0 level -1.85657"]} : tensor<4x32xf32>
// UNIT-NEXT: %68 = stablehlo.multiply %67, %35 {scalify.forms = ["2^0 level -2.83033"]} : tensor<4x32xf32>
// UNIT-NEXT: %69 = stablehlo.add %67, %68 {scalify.forms = ["2^0 level -1.69028"]} : tensor<4x32xf32>
// UNIT-NEXT: %70 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %71 = stablehlo.multiply %70, %69 {scalify.forms = ["2^0 level -2.01603"]} : tensor<4x32xf32>
// UNIT-NEXT: %72 = stablehlo.add %64, %71 {scalify.forms = ["2^0 level -1.44413"]} : tensor<4x32xf32>
// UNIT-NEXT: %73 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %74 = stablehlo.multiply %73, %71 {scalify.forms = ["2^0 level -6.49912"]} : tensor<4x32xf32>
// UNIT-NEXT: %75 = stablehlo.multiply %74, %29 {scalify.forms = ["2^0 level -4.86977"]} : tensor<4x32xf32>
// UNIT-NEXT: %76 = stablehlo.add %72, %75 {scalify.forms = ["2^0 level -1.61162"]} : tensor<4x32xf32>
// UNIT-NEXT: %77 = stablehlo.multiply %21, %76 {scalify.forms = ["2^0 level -1.58942"]} : tensor<4x32xf32>
// UNIT-NEXT: %78 = stablehlo.reduce(%77 init: %cst_13) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level -0.589425"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<32xf32>
// UNIT-NEXT: %79 = stablehlo.reshape %78 {scalify.forms = ["2^0 level -0.589425"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// UNIT-NEXT: %80 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %81 = stablehlo.multiply %76, %80 {scalify.forms = ["2^0 level -1.61162"]} : tensor<4x32xf32>
// UNIT-NEXT: %82 = stablehlo.reduce(%79 init: %cst_13) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level -0.589425"]} : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
// UNIT-NEXT: %83 = stablehlo.multiply %12, %81 {scalify.forms = ["2^0 level 0.910575"]} : tensor<4x32xf32>
// UNIT-NEXT: %84 = stablehlo.reduce(%83 init: %cst_13) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 3.41058"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %85 = stablehlo.reshape %84 {scalify.forms = ["2^0 level 3.41058"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %86 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0 level -2.5"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %87 = stablehlo.multiply %81, %86 {scalify.forms = ["2^0 level -4.11162"]} : tensor<4x32xf32>
// UNIT-NEXT: %88 = stablehlo.multiply %85, %19 {scalify.forms = ["2^0 level -5.08942"]} : tensor<4x1xf32>
// UNIT-NEXT: %89 = call @_var_0(%13#1, %13#2, %13#3, %88) {scalify.forms = ["2^0 level -6.4778"]} : (tensor<4x32xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %90 = stablehlo.negate %87 {scalify.forms = ["2^0 level -4.11162"]} : tensor<4x32xf32>
// UNIT-NEXT: %91 = stablehlo.reduce(%90 init: %cst_13) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -1.61162"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %92 = stablehlo.reshape %91 {scalify.forms = ["2^0 level -1.61162"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %93 = stablehlo.add %89, %87 {scalify.forms = ["2^0 level -4.08498"]} : tensor<4x32xf32>
// UNIT-NEXT: %94 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %95 = stablehlo.divide %92, %94 {scalify.forms = ["2^0 level -6.61162"]} : tensor<4x1xf32>
// UNIT-NEXT: %96 = stablehlo.reduce(%95 init: %cst_13) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -6.61162"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %97 = stablehlo.broadcast_in_dim %96, dims = [0] {scalify.forms = ["2^0 level -6.61162"]} : (tensor<4xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %98 = stablehlo.add %93, %97 {scalify.forms = ["2^0 level -4.06358"]} : tensor<4x32xf32>
// UNIT-NEXT: %99 = stablehlo.dot_general %98, %arg3, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -3.06358"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %100 = stablehlo.transpose %99, dims = [1, 0] {scalify.forms = ["2^0 level -3.06358"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: return %82, %100, %59 : tensor<32xf32>, tensor<32x32xf32>, tensor<32x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @_var(%arg0: tensor<4x32xf32>, %arg1: tensor<i32>) -> (tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %3 = stablehlo.divide %1, %2 : tensor<4x1xf32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %5 = stablehlo.subtract %arg0, %4 : tensor<4x32xf32>
// UNIT-NEXT: %6 = stablehlo.multiply %5, %5 : tensor<4x32xf32>
// UNIT-NEXT: %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %8 = stablehlo.multiply %7, %5 : tensor<4x32xf32>
// UNIT-NEXT: %9 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
// UNIT-NEXT: %10 = stablehlo.subtract %cst_1, %9 : tensor<f32>
// UNIT-NEXT: %11 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %13 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %14 = stablehlo.divide %12, %13 : tensor<4x1xf32>
// UNIT-NEXT: %15 = stablehlo.compare GT, %10, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
// UNIT-NEXT: %16 = call @_where(%15, %14, %cst) : (tensor<i1>, tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: return %16, %8, %10, %15 : tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<4x1xf32>, %arg2: tensor<f32>) -> tensor<4x1xf32> {
// UNIT-NEXT: %0 = stablehlo.convert %arg2 : tensor<f32>
// UNIT-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<4x1xf32>
// UNIT-NEXT: return %2 : tensor<4x1xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @_var_0(%arg0: tensor<4x32xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<4x1xf32>) -> tensor<4x32xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<3.200000e+01> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = call @_where_1(%arg2, %arg3) : (tensor<i1>, tensor<4x1xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %2 = stablehlo.divide %0, %1 : tensor<4x1xf32>
// UNIT-NEXT: %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %5 = stablehlo.multiply %4, %arg0 : tensor<4x32xf32>
// UNIT-NEXT: %6 = stablehlo.negate %5 : tensor<4x32xf32>
// UNIT-NEXT: %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %8 = stablehlo.reshape %7 : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %10 = stablehlo.divide %8, %9 : tensor<4x1xf32>
// UNIT-NEXT: %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %13 = stablehlo.add %5, %12 : tensor<4x32xf32>
// UNIT-NEXT: return %13 : tensor<4x32xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<4x1xf32>) -> tensor<4x1xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<4x1xf32>
// UNIT-NEXT: return %1 : tensor<4x1xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// OPERANDS:      module @_loss attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// OPERANDS-NEXT: func.func public @main(%arg0: tensor<32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4x16xf32>) -> (tensor<32xf32> {jax.result_info = "result['gain']"}, tensor<32x32xf32> {jax.result_info = "result['in']"}, tensor<32x16xf32> {jax.result_info = "result['out']"}) {
// OPERANDS-NEXT: %cst = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// OPERANDS-NEXT: %cst_0 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// OPERANDS-NEXT: %0 = stablehlo.clamp %cst, %arg2, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// OPERANDS-NEXT: %1 = stablehlo.convert %0 {scalify.forms = ["2^0"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// OPERANDS-NEXT: %2 = stablehlo.clamp %cst, %arg1, %cst_0 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// OPERANDS-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf16>
// OPERANDS-NEXT: %4 = stablehlo.clamp %cst, %arg3, %cst_0 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %5 = stablehlo.convert %4 {scalify.forms = ["2^0"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// OPERANDS-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// OPERANDS-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// OPERANDS-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.797884583> : tensor<f32>
// OPERANDS-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.471500e-02> : tensor<f32>
// OPERANDS-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-5.000000e-01> : tensor<f32>
// OPERANDS-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999974E-6> : tensor<f32>
// OPERANDS-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// OPERANDS-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.200000e+01> : tensor<f32>
// OPERANDS-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %6 = stablehlo.dot_general %5, %3, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4x32xf16>, tensor<32x32xf16>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %7 = stablehlo.reduce(%6 init: %cst_11) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %8 = stablehlo.broadcast_in_dim %7, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %9 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %10 = stablehlo.divide %8, %9 {scalify.forms = ["2^0 level -1"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] {scalify.forms = ["2^0 level -1"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %12 = stablehlo.subtract %6, %11 {scalify.forms = ["2^0 level 2"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %13:4 = call @_var(%6, %c) {scalify.forms = ["2^0 level 9", "2^0 level 3", "unscaled", "unscaled"]} : (tensor<4x32xf32>, tensor<i32>) -> (tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>)
// OPERANDS-NEXT: %14 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %15 = stablehlo.add %13#0, %14 {scalify.forms = ["2^0 level 9"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %16 = stablehlo.rsqrt %15 {scalify.forms = ["2^0 level -4"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %17 = stablehlo.divide %16, %15 {scalify.forms = ["2^0 level -13"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %18 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %19 = stablehlo.multiply %18, %17 {scalify.forms = ["2^0 level -14"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %20 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0 level -4"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %21 = stablehlo.multiply %12, %20 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %22 = stablehlo.broadcast_in_dim %arg0, dims = [1] {scalify.forms = ["2^0"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// OPERANDS-NEXT: %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %24 = stablehlo.multiply %21, %23 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %25 = stablehlo.multiply %24, %24 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %26 = stablehlo.multiply %25, %24 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %27 = stablehlo.multiply %24, %24 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %28 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %29 = stablehlo.multiply %28, %27 {scalify.forms = ["2^0 level -2.41504"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %30 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %31 = stablehlo.multiply %30, %26 {scalify.forms = ["2^0 level -10.4831"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %32 = stablehlo.add %24, %31 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %33 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %34 = stablehlo.multiply %33, %32 {scalify.forms = ["2^0 level -2.32575"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %35 = stablehlo.tanh %34 {scalify.forms = ["2^0 level -2.32575"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %36 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %37 = stablehlo.subtract %36, %35 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %38 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %39 = stablehlo.add %38, %35 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %40 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %41 = stablehlo.multiply %40, %39 {scalify.forms = ["2^0 level -1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %42 = stablehlo.multiply %24, %41 {scalify.forms = ["2^0 level -3"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %cst_12 = stablehlo.constant dense<8.000000e+00> : tensor<4x32xf32>
// OPERANDS-NEXT: %43 = stablehlo.multiply %42, %cst_12 : tensor<4x32xf32>
// OPERANDS-NEXT: %44 = stablehlo.clamp %cst, %43, %cst_0 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %45 = stablehlo.convert %44 {scalify.forms = ["2^-3"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// OPERANDS-NEXT: %46 = stablehlo.dot_general %45, %1, contracting_dims = [1] x [0] {scalify.forms = ["2^-3 level 2"]} : (tensor<4x32xf16>, tensor<32x16xf16>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %cst_13 = stablehlo.constant dense<1.250000e-01> : tensor<4x16xf32>
// OPERANDS-NEXT: %47 = stablehlo.multiply %46, %cst_13 : tensor<4x16xf32>
// OPERANDS-NEXT: %48 = stablehlo.subtract %47, %arg4 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// OPERANDS-NEXT: %49 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %50 = stablehlo.multiply %49, %48 {scalify.forms = ["2^0 level 1"]} : tensor<4x16xf32>
// OPERANDS-NEXT: %51 = stablehlo.divide %cst_4, %cst_1 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// OPERANDS-NEXT: %52 = stablehlo.broadcast_in_dim %51, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %53 = stablehlo.multiply %52, %50 {scalify.forms = ["2^0 level -5"]} : tensor<4x16xf32>
// OPERANDS-NEXT: %cst_14 = stablehlo.constant dense<3.200000e+01> : tensor<4x16xf32>
// OPERANDS-NEXT: %54 = stablehlo.multiply %53, %cst_14 : tensor<4x16xf32>
// OPERANDS-NEXT: %55 = stablehlo.clamp %cst, %54, %cst_0 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %56 = stablehlo.convert %55 {scalify.forms = ["2^-5"]} : (tensor<4x16xf32>) -> tensor<4x16xf16>
// OPERANDS-NEXT: %57 = stablehlo.dot_general %56, %45, contracting_dims = [0] x [0] {scalify.forms = ["2^-8 level 1"]} : (tensor<4x16xf16>, tensor<4x32xf16>) -> tensor<16x32xf32>
// OPERANDS-NEXT: %58 = stablehlo.transpose %57, dims = [1, 0] {scalify.forms = ["2^-8 level 1"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// OPERANDS-NEXT: %59 = stablehlo.dot_general %56, %1, contracting_dims = [1] x [1] {scalify.forms = ["2^-5 level 2"]} : (tensor<4x16xf16>, tensor<32x16xf16>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %60 = stablehlo.multiply %24, %59 {scalify.forms = ["2^-5"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %cst_15 = stablehlo.constant dense<3.125000e-02> : tensor<4x32xf32>
// OPERANDS-NEXT: %61 = stablehlo.multiply %60, %cst_15 : tensor<4x32xf32>
// OPERANDS-NEXT: %62 = stablehlo.multiply %59, %41 {scalify.forms = ["2^-5 level 1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %cst_16 = stablehlo.constant dense<3.125000e-02> : tensor<4x32xf32>
// OPERANDS-NEXT: %63 = stablehlo.multiply %62, %cst_16 : tensor<4x32xf32>
// OPERANDS-NEXT: %64 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %65 = stablehlo.multiply %64, %61 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %66 = stablehlo.multiply %65, %37 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %67 = stablehlo.multiply %66, %35 {scalify.forms = ["2^0 level -8.32575"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %68 = stablehlo.add %66, %67 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %69 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %70 = stablehlo.multiply %69, %68 {scalify.forms = ["2^0 level -6.32575"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %71 = stablehlo.add %63, %70 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %72 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %73 = stablehlo.multiply %72, %70 {scalify.forms = ["2^0 level -10.8088"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %74 = stablehlo.multiply %73, %29 {scalify.forms = ["2^0 level -13.2239"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %75 = stablehlo.add %71, %74 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %76 = stablehlo.multiply %21, %75 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %77 = stablehlo.reduce(%76 init: %cst_11) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level -5"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<32xf32>
// OPERANDS-NEXT: %78 = stablehlo.reshape %77 {scalify.forms = ["2^0 level -5"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// OPERANDS-NEXT: %79 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %80 = stablehlo.multiply %75, %79 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %81 = stablehlo.reduce(%78 init: %cst_11) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level -5"]} : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
// OPERANDS-NEXT: %82 = stablehlo.multiply %12, %80 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %83 = stablehlo.reduce(%82 init: %cst_11) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %84 = stablehlo.reshape %83 {scalify.forms = ["2^0"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %85 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0 level -4"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %86 = stablehlo.multiply %80, %85 {scalify.forms = ["2^0 level -8"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %87 = stablehlo.multiply %84, %19 {scalify.forms = ["2^0 level -14"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %88 = call @_var_0(%13#1, %13#2, %13#3, %87) {scalify.forms = ["2^0 level -11"]} : (tensor<4x32xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %89 = stablehlo.negate %86 {scalify.forms = ["2^0 level -8"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %90 = stablehlo.reduce(%89 init: %cst_11) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -6"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %91 = stablehlo.reshape %90 {scalify.forms = ["2^0 level -6"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %92 = stablehlo.add %88, %86 {scalify.forms = ["2^0 level -8"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %93 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %94 = stablehlo.divide %91, %93 {scalify.forms = ["2^0 level -11"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %95 = stablehlo.reduce(%94 init: %cst_11) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -11"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %96 = stablehlo.broadcast_in_dim %95, dims = [0] {scalify.forms = ["2^0 level -11"]} : (tensor<4xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %97 = stablehlo.add %92, %96 {scalify.forms = ["2^0 level -8"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %cst_17 = stablehlo.constant dense<2.560000e+02> : tensor<4x32xf32>
// OPERANDS-NEXT: %98 = stablehlo.multiply %97, %cst_17 : tensor<4x32xf32>
// OPERANDS-NEXT: %99 = stablehlo.clamp %cst, %98, %cst_0 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %100 = stablehlo.convert %99 {scalify.forms = ["2^-8"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// OPERANDS-NEXT: %101 = stablehlo.dot_general %100, %5, contracting_dims = [0] x [0] {scalify.forms = ["2^-8 level 1"]} : (tensor<4x32xf16>, tensor<4x32xf16>) -> tensor<32x32xf32>
// OPERANDS-NEXT: %102 = stablehlo.transpose %101, dims = [1, 0] {scalify.forms = ["2^-8 level 1"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// OPERANDS-NEXT: %cst_18 = stablehlo.constant dense<3.906250e-03> : tensor<32x32xf32>
// OPERANDS-NEXT: %103 = stablehlo.multiply %102, %cst_18 : tensor<32x32xf32>
// OPERANDS-NEXT: %cst_19 = stablehlo.constant dense<3.906250e-03> : tensor<32x16xf32>
// OPERANDS-NEXT: %104 = stablehlo.multiply %58, %cst_19 : tensor<32x16xf32>
// OPERANDS-NEXT: return %81, %103, %104 : tensor<32xf32>, tensor<32x32xf32>, tensor<32x16xf32>
// OPERANDS-NEXT: }
// OPERANDS-NEXT: func.func private @_var(%arg0: tensor<4x32xf32>, %arg1: tensor<i32>) -> (tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>) {
// OPERANDS-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// OPERANDS-NEXT: %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %cst_1 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
// OPERANDS-NEXT: %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %0 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %3 = stablehlo.divide %1, %2 : tensor<4x1xf32>
// OPERANDS-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %5 = stablehlo.subtract %arg0, %4 : tensor<4x32xf32>
// OPERANDS-NEXT: %6 = stablehlo.multiply %5, %5 : tensor<4x32xf32>
// OPERANDS-NEXT: %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %8 = stablehlo.multiply %7, %5 : tensor<4x32xf32>
// OPERANDS-NEXT: %9 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
// OPERANDS-NEXT: %10 = stablehlo.subtract %cst_1, %9 : tensor<f32>
// OPERANDS-NEXT: %11 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %13 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %14 = stablehlo.divide %12, %13 : tensor<4x1xf32>
// OPERANDS-NEXT: %15 = stablehlo.compare GT, %10, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
// OPERANDS-NEXT: %16 = call @_where(%15, %14, %cst) : (tensor<i1>, tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: return %16, %8, %10, %15 : tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>
// OPERANDS-NEXT: }
// OPERANDS-NEXT: func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<4x1xf32>, %arg2: tensor<f32>) -> tensor<4x1xf32> {
// OPERANDS-NEXT: %0 = stablehlo.convert %arg2 : tensor<f32>
// OPERANDS-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<4x1xf32>
// OPERANDS-NEXT: return %2 : tensor<4x1xf32>
// OPERANDS-NEXT: }
// OPERANDS-NEXT: func.func private @_var_0(%arg0: tensor<4x32xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<4x1xf32>) -> tensor<4x32xf32> {
// OPERANDS-NEXT: %cst = stablehlo.constant dense<3.200000e+01> : tensor<f32>
// OPERANDS-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %0 = call @_where_1(%arg2, %arg3) : (tensor<i1>, tensor<4x1xf32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %2 = stablehlo.divide %0, %1 : tensor<4x1xf32>
// OPERANDS-NEXT: %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %5 = stablehlo.multiply %4, %arg0 : tensor<4x32xf32>
// OPERANDS-NEXT: %6 = stablehlo.negate %5 : tensor<4x32xf32>
// OPERANDS-NEXT: %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %8 = stablehlo.reshape %7 : (tensor<4xf32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %10 = stablehlo.divide %8, %9 : tensor<4x1xf32>
// OPERANDS-NEXT: %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %13 = stablehlo.add %5, %12 : tensor<4x32xf32>
// OPERANDS-NEXT: return %13 : tensor<4x32xf32>
// OPERANDS-NEXT: }
// OPERANDS-NEXT: func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<4x1xf32>) -> tensor<4x1xf32> {
// OPERANDS-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<4x1xf32>
// OPERANDS-NEXT: return %1 : tensor<4x1xf32>
// OPERANDS-NEXT: }
// OPERANDS-NEXT: }

module @_loss attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4x16xf32>) -> (tensor<32xf32> {jax.result_info = "result['gain']"}, tensor<32x32xf32> {jax.result_info = "result['in']"}, tensor<32x16xf32> {jax.result_info = "result['out']"}) {
    %cst = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %cst_4 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %cst_5 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %cst_7 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %cst_8 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    %1 = stablehlo.reduce(%0 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %3 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<4x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x32xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<4x32xf32>
    %7:4 = call @_var(%0, %c) : (tensor<4x32xf32>, tensor<i32>) -> (tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>)
    %8 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %9 = stablehlo.add %7#0, %8 : tensor<4x1xf32>
    %10 = stablehlo.rsqrt %9 : tensor<4x1xf32>
    %11 = stablehlo.divide %10, %9 : tensor<4x1xf32>
    %12 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %13 = stablehlo.multiply %12, %11 : tensor<4x1xf32>
    %14 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x32xf32>
    %15 = stablehlo.multiply %6, %14 : tensor<4x32xf32>
    %16 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<4x32xf32>
    %18 = stablehlo.multiply %15, %17 : tensor<4x32xf32>
    %19 = stablehlo.multiply %18, %18 : tensor<4x32xf32>
    %20 = stablehlo.multiply %19, %18 : tensor<4x32xf32>
    %21 = stablehlo.multiply %18, %18 : tensor<4x32xf32>
    %22 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %23 = stablehlo.multiply %22, %21 : tensor<4x32xf32>
    %24 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %25 = stablehlo.multiply %24, %20 : tensor<4x32xf32>
    %26 = stablehlo.add %18, %25 : tensor<4x32xf32>
    %27 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %28 = stablehlo.multiply %27, %26 : tensor<4x32xf32>
    %29 = stablehlo.tanh %28 : tensor<4x32xf32>
    %30 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %31 = stablehlo.subtract %30, %29 : tensor<4x32xf32>
    %32 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %33 = stablehlo.add %32, %29 : tensor<4x32xf32>
    %34 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %35 = stablehlo.multiply %34, %33 : tensor<4x32xf32>
    %36 = stablehlo.multiply %18, %35 : tensor<4x32xf32>
    %37 = stablehlo.dot_general %36, %arg2, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x16xf32>) -> tensor<4x16xf32>
    %38 = stablehlo.subtract %37, %arg4 : tensor<4x16xf32>
    %39 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %40 = stablehlo.multiply %39, %38 : tensor<4x16xf32>
    %41 = stablehlo.divide %cst_2, %cst : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %43 = stablehlo.multiply %42, %40 : tensor<4x16xf32>
    %44 = stablehlo.dot_general %43, %36, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
    %45 = stablehlo.transpose %44, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %46 = stablehlo.dot_general %43, %arg2, contracting_dims = [1] x [1] : (tensor<4x16xf32>, tensor<32x16xf32>) -> tensor<4x32xf32>
    %47 = stablehlo.multiply %18, %46 : tensor<4x32xf32>
    %48 = stablehlo.multiply %46, %35 : tensor<4x32xf32>
    %49 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %50 = stablehlo.multiply %49, %47 : tensor<4x32xf32>
    %51 = stablehlo.multiply %50, %31 : tensor<4x32xf32>
    %52 = stablehlo.multiply %51, %29 : tensor<4x32xf32>
    %53 = stablehlo.add %51, %52 : tensor<4x32xf32>
    %54 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %55 = stablehlo.multiply %54, %53 : tensor<4x32xf32>
    %56 = stablehlo.add %48, %55 : tensor<4x32xf32>
    %57 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %58 = stablehlo.multiply %57, %55 : tensor<4x32xf32>
    %59 = stablehlo.multiply %58, %23 : tensor<4x32xf32>
    %60 = stablehlo.add %56, %59 : tensor<4x32xf32>
    %61 = stablehlo.multiply %15, %60 : tensor<4x32xf32>
    %62 = stablehlo.reduce(%61 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<4x32xf32>, tensor<f32>) -> tensor<32xf32>
    %63 = stablehlo.reshape %62 : (tensor<32xf32>) -> tensor<1x32xf32>
    %64 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<4x32xf32>
    %65 = stablehlo.multiply %60, %64 : tensor<4x32xf32>
    %66 = stablehlo.reduce(%63 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %67 = stablehlo.multiply %6, %65 : tensor<4x32xf32>
    %68 = stablehlo.reduce(%67 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
    %69 = stablehlo.reshape %68 : (tensor<4xf32>) -> tensor<4x1xf32>
    %70 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x32xf32>
    %71 = stablehlo.multiply %65, %70 : tensor<4x32xf32>
    %72 = stablehlo.multiply %69, %13 : tensor<4x1xf32>
    %73 = call @_var_0(%7#1, %7#2, %7#3, %72) : (tensor<4x32xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>) -> tensor<4x32xf32>
    %74 = stablehlo.negate %71 : tensor<4x32xf32>
    %75 = stablehlo.reduce(%74 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
    %76 = stablehlo.reshape %75 : (tensor<4xf32>) -> tensor<4x1xf32>
    %77 = stablehlo.add %73, %71 : tensor<4x32xf32>
    %78 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %79 = stablehlo.divide %76, %78 : tensor<4x1xf32>
    %80 = stablehlo.reduce(%79 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [0] : (tensor<4xf32>) -> tensor<4x32xf32>
    %82 = stablehlo.add %77, %81 : tensor<4x32xf32>
    %83 = stablehlo.dot_general %82, %arg3, contracting_dims = [0] x [0] : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
    %84 = stablehlo.transpose %83, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    return %66, %84, %45 : tensor<32xf32>, tensor<32x32xf32>, tensor<32x16xf32>
  }
  func.func private @_var(%arg0: tensor<4x32xf32>, %arg1: tensor<i32>) -> (tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>) {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<4x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x32xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x32xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<4x32xf32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<4x32xf32>
    %9 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %10 = stablehlo.subtract %cst_1, %9 : tensor<f32>
    %11 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %13 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %14 = stablehlo.divide %12, %13 : tensor<4x1xf32>
    %15 = stablehlo.compare GT, %10, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %16 = call @_where(%15, %14, %cst) : (tensor<i1>, tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
    return %16, %8, %10, %15 : tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<4x1xf32>, %arg2: tensor<f32>) -> tensor<4x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<4x1xf32>
    return %2 : tensor<4x1xf32>
  }
  func.func private @_var_0(%arg0: tensor<4x32xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<4x1xf32>) -> tensor<4x32xf32> {
    %cst = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = call @_where_1(%arg2, %arg3) : (tensor<i1>, tensor<4x1xf32>) -> tensor<4x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %2 = stablehlo.divide %0, %1 : tensor<4x1xf32>
    %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xf32>) -> tensor<4x32xf32>
    %5 = stablehlo.multiply %4, %arg0 : tensor<4x32xf32>
    %6 = stablehlo.negate %5 : tensor<4x32xf32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
    %8 = stablehlo.reshape %7 : (tensor<4xf32>) -> tensor<4x1xf32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<4x1xf32>
    %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xf32>) -> tensor<4x32xf32>
    %13 = stablehlo.add %5, %12 : tensor<4x32xf32>
    return %13 : tensor<4x32xf32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<4x1xf32>) -> tensor<4x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<4x1xf32>
    return %1 : tensor<4x1xf32>
  }
}
