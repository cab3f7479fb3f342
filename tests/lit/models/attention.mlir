// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{recipe=fp8 annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8

// The gradients of the weights of a transformer's attention, after a normalization.
// UNIT:      module @_att attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x32xf32>, %arg3: tensor<32x32xf32>, %arg4: tensor<2x16x32xf32>, %arg5: tensor<2x16x32xf32>) -> (tensor<32x32xf32> {jax.result_info = "result['k']"}, tensor<32x32xf32> {jax.result_info = "result['o']"}, tensor<32x32xf32> {jax.result_info = "result['q']"}, tensor<32x32xf32> {jax.result_info = "result['v']"}) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<2x2x16x16xf32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<2x16x32xf32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_3 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_4 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// UNIT-NEXT: %cst_5 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg1, %cst_1 : tensor<32x32xf32>
// UNIT-NEXT: %1 = stablehlo.add %arg1, %0 : tensor<32x32xf32>
// UNIT-NEXT: %2 = stablehlo.clamp %cst_2, %1, %cst_3 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %4 = stablehlo.multiply %arg3, %cst_1 : tensor<32x32xf32>
// UNIT-NEXT: %5 = stablehlo.add %arg3, %4 : tensor<32x32xf32>
// UNIT-NEXT: %6 = stablehlo.clamp %cst_2, %5, %cst_3 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %8 = stablehlo.multiply %arg0, %cst_1 : tensor<32x32xf32>
// UNIT-NEXT: %9 = stablehlo.add %arg0, %8 : tensor<32x32xf32>
// UNIT-NEXT: %10 = stablehlo.clamp %cst_2, %9, %cst_3 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %11 = stablehlo.convert %10 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %12 = stablehlo.multiply %arg2, %cst_1 : tensor<32x32xf32>
// UNIT-NEXT: %13 = stablehlo.add %arg2, %12 : tensor<32x32xf32>
// UNIT-NEXT: %14 = stablehlo.clamp %cst_2, %13, %cst_3 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %15 = stablehlo.convert %14 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.024000e+03> : tensor<f32>
// UNIT-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// UNIT-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-1.000000e+09> : tensor<f32>
// UNIT-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999974E-6> : tensor<f32>
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.200000e+01> : tensor<f32>
// UNIT-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %16 = stablehlo.reduce(%arg4 init: %cst_13) applies stablehlo.add across dimensions = [2] {scalify.forms = ["2^0 level 2.5"]} : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16xf32>
// UNIT-NEXT: %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0 level 2.5"]} : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
// UNIT-NEXT: %18 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x16x1xf32>
// UNIT-NEXT: %19 = stablehlo.divide %17, %18 {scalify.forms = ["2^0 level -2.5"]} : tensor<2x16x1xf32>
// UNIT-NEXT: %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] {scalify.forms = ["2^0 level -2.5"]} : (tensor<2x16x1xf32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %21 = stablehlo.subtract %arg4, %20 {scalify.forms = ["2^0 level 0.0221971"]} : tensor<2x16x32xf32>
// UNIT-NEXT: %22 = call @_var(%arg4, %c) {scalify.forms = ["2^0"]} : (tensor<2x16x32xf32>, tensor<i32>) -> tensor<2x16x1xf32>
// UNIT-NEXT: %23 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x16x1xf32>
// UNIT-NEXT: %24 = stablehlo.add %22, %23 {scalify.forms = ["2^0"]} : tensor<2x16x1xf32>
// UNIT-NEXT: %25 = stablehlo.rsqrt %24 {scalify.forms = ["2^0"]} : tensor<2x16x1xf32>
// UNIT-NEXT: %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] {scalify.forms = ["2^0"]} : (tensor<2x16x1xf32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %27 = stablehlo.multiply %21, %26 {scalify.forms = ["2^0 level 0.0221971"]} : tensor<2x16x32xf32>
// UNIT-NEXT: %28 = stablehlo.multiply %27, %cst_0 : tensor<2x16x32xf32>
// UNIT-NEXT: %29 = stablehlo.add %27, %28 : tensor<2x16x32xf32>
// UNIT-NEXT: %30 = stablehlo.clamp %cst_2, %29, %cst_3 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %31 = stablehlo.convert %30 {scalify.forms = ["2^0 level 0.0221971"]} : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E4M3FN>
// UNIT-NEXT: %32 = stablehlo.reshape %31 {scalify.forms = ["2^0 level 0.0221971"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %33 = stablehlo.dot_general %32, %15, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2.5222"]} : (tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// UNIT-NEXT: %34 = stablehlo.reshape %33 {scalify.forms = ["2^0 level 2.5222"]} : (tensor<32x32xf32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %35 = stablehlo.reshape %34 {scalify.forms = ["2^0 level 2.5222"]} : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
// UNIT-NEXT: %cst_14 = stablehlo.constant dense<1.250000e-01> : tensor<2x16x2x16xf32>
// UNIT-NEXT: %36 = stablehlo.multiply %35, %cst_14 : tensor<2x16x2x16xf32>
// UNIT-NEXT: %37 = stablehlo.clamp %cst_2, %36, %cst_3 : (tensor<f32>, tensor<2x16x2x16xf32>, tensor<f32>) -> tensor<2x16x2x16xf32>
// UNIT-NEXT: %38 = stablehlo.convert %37 {scalify.forms = ["2^3 level -0.477803"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x2x16xf8E4M3FN>
// UNIT-NEXT: %39 = stablehlo.reshape %31 {scalify.forms = ["2^0 level 0.0221971"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %40 = stablehlo.dot_general %39, %11, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2.5222"]} : (tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// UNIT-NEXT: %41 = stablehlo.reshape %40 {scalify.forms = ["2^0 level 2.5222"]} : (tensor<32x32xf32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %42 = stablehlo.reshape %41 {scalify.forms = ["2^0 level 2.5222"]} : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
// UNIT-NEXT: %cst_15 = stablehlo.constant dense<1.250000e-01> : tensor<2x16x2x16xf32>
// UNIT-NEXT: %43 = stablehlo.multiply %42, %cst_15 : tensor<2x16x2x16xf32>
// UNIT-NEXT: %44 = stablehlo.clamp %cst_2, %43, %cst_3 : (tensor<f32>, tensor<2x16x2x16xf32>, tensor<f32>) -> tensor<2x16x2x16xf32>
// UNIT-NEXT: %45 = stablehlo.convert %44 {scalify.forms = ["2^3 level -0.477803"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x2x16xf8E4M3FN>
// UNIT-NEXT: %46 = stablehlo.reshape %31 {scalify.forms = ["2^0 level 0.0221971"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %47 = stablehlo.dot_general %46, %7, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2.5222"]} : (tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// UNIT-NEXT: %48 = stablehlo.reshape %47 {scalify.forms = ["2^0 level 2.5222"]} : (tensor<32x32xf32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %49 = stablehlo.reshape %48 {scalify.forms = ["2^0 level 2.5222"]} : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
// UNIT-NEXT: %cst_16 = stablehlo.constant dense<1.250000e-01> : tensor<2x16x2x16xf32>
// UNIT-NEXT: %50 = stablehlo.multiply %49, %cst_16 : tensor<2x16x2x16xf32>
// UNIT-NEXT: %51 = stablehlo.clamp %cst_2, %50, %cst_3 : (tensor<f32>, tensor<2x16x2x16xf32>, tensor<f32>) -> tensor<2x16x2x16xf32>
// UNIT-NEXT: %52 = stablehlo.convert %51 {scalify.forms = ["2^3 level -0.477803"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x2x16xf8E4M3FN>
// UNIT-NEXT: %53 = stablehlo.dot_general %38, %45, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^6 level 1.04439"]} : (tensor<2x16x2x16xf8E4M3FN>, tensor<2x16x2x16xf8E4M3FN>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %cst_17 = stablehlo.constant dense<3.125000e-02> : tensor<2x2x16x16xf32>
// UNIT-NEXT: %54 = stablehlo.divide %53, %cst_17 : tensor<2x2x16x16xf32>
// UNIT-NEXT: %55 = stablehlo.iota dim = 0 : tensor<16x16xi32>
// UNIT-NEXT: %56 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x16xi32>
// UNIT-NEXT: %57 = stablehlo.add %55, %56 : tensor<16x16xi32>
// UNIT-NEXT: %58 = stablehlo.iota dim = 1 : tensor<16x16xi32>
// UNIT-NEXT: %59 = stablehlo.compare GE, %57, %58, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
// UNIT-NEXT: %60:2 = call @_where_0(%59, %54, %cst_9) {scalify.forms = ["2^0 level 6", "unscaled"]} : (tensor<16x16xi1>, tensor<2x2x16x16xf32>, tensor<f32>) -> (tensor<2x2x16x16xf32>, tensor<2x2x16x16xi1>)
// UNIT-NEXT: %61 = stablehlo.reduce(%60#0 init: %cst_8) applies stablehlo.maximum across dimensions = [3] {scalify.forms = ["2^0 level 6"]} : (tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16xf32>
// UNIT-NEXT: %62 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<2x2x16xf32>
// UNIT-NEXT: %63 = stablehlo.maximum %62, %61 {scalify.forms = ["2^0 level 6"]} : tensor<2x2x16xf32>
// UNIT-NEXT: %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2] {scalify.forms = ["2^0 level 6"]} : (tensor<2x2x16xf32>) -> tensor<2x2x16x1xf32>
// UNIT-NEXT: %65 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level 6"]} : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %66 = stablehlo.subtract %60#0, %65 {scalify.forms = ["2^0 level 6.5"]} : tensor<2x2x16x16xf32>
// UNIT-NEXT: %67 = stablehlo.exponential %66 {scalify.forms = ["2^0"]} : tensor<2x2x16x16xf32>
// UNIT-NEXT: %68 = stablehlo.reduce(%67 init: %cst_13) applies stablehlo.add across dimensions = [3] {scalify.forms = ["2^0 level 4"]} : (tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16xf32>
// UNIT-NEXT: %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] {scalify.forms = ["2^0 level 4"]} : (tensor<2x2x16xf32>) -> tensor<2x2x16x1xf32>
// UNIT-NEXT: %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level 4"]} : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %71 = stablehlo.divide %67, %70 {scalify.forms = ["2^0 level -4"]} : tensor<2x2x16x16xf32>
// UNIT-NEXT: %cst_18 = stablehlo.constant dense<1.600000e+01> : tensor<2x2x16x16xf32>
// UNIT-NEXT: %72 = stablehlo.multiply %71, %cst_18 : tensor<2x2x16x16xf32>
// UNIT-NEXT: %73 = stablehlo.convert %72 {scalify.forms = ["2^-4"]} : (tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf8E4M3FN>
// UNIT-NEXT: %74 = stablehlo.multiply %69, %69 {scalify.forms = ["2^0 level 8"]} : tensor<2x2x16x1xf32>
// UNIT-NEXT: %75 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x2x16x1xf32>
// UNIT-NEXT: %76 = stablehlo.divide %75, %74 {scalify.forms = ["2^0 level -8"]} : tensor<2x2x16x1xf32>
// UNIT-NEXT: %77 = stablehlo.dot_general %52, %73, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-1 level 2.5222"]} : (tensor<2x16x2x16xf8E4M3FN>, tensor<2x2x16x16xf8E4M3FN>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %78 = stablehlo.transpose %77, dims = [0, 3, 1, 2] {scalify.forms = ["2^-1 level 2.5222"]} : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
// UNIT-NEXT: %79 = stablehlo.reshape %78 {scalify.forms = ["2^-1 level 2.5222"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %cst_19 = stablehlo.constant dense<5.000000e-01> : tensor<2x16x32xf32>
// UNIT-NEXT: %80 = stablehlo.multiply %79, %cst_19 : tensor<2x16x32xf32>
// UNIT-NEXT: %81 = stablehlo.clamp %cst_2, %80, %cst_3 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %82 = stablehlo.convert %81 {scalify.forms = ["2^0 level 1.5222"]} : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E4M3FN>
// UNIT-NEXT: %83 = stablehlo.reshape %82 {scalify.forms = ["2^0 level 1.5222"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %84 = stablehlo.dot_general %83, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 4.0222"]} : (tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// UNIT-NEXT: %85 = stablehlo.reshape %84 {scalify.forms = ["2^0 level 4.0222"]} : (tensor<32x32xf32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %86 = stablehlo.add %arg4, %85 {scalify.forms = ["2^0 level 4.02492"]} : tensor<2x16x32xf32>
// UNIT-NEXT: %87 = stablehlo.subtract %86, %arg5 {scalify.forms = ["2^0 level 4.02764"]} : tensor<2x16x32xf32>
// UNIT-NEXT: %88 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %89 = stablehlo.multiply %88, %87 {scalify.forms = ["2^0 level 5.02764"]} : tensor<2x16x32xf32>
// UNIT-NEXT: %90 = stablehlo.divide %cst_7, %cst_6 {scalify.forms = ["2^0 level -10"]} : tensor<f32>
// UNIT-NEXT: %91 = stablehlo.broadcast_in_dim %90, dims = [] {scalify.forms = ["2^0 level -10"]} : (tensor<f32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %92 = stablehlo.multiply %91, %89 {scalify.forms = ["2^0 level -4.97236"]} : tensor<2x16x32xf32>
// UNIT-NEXT: %cst_20 = stablehlo.constant dense<3.200000e+01> : tensor<2x16x32xf32>
// UNIT-NEXT: %93 = stablehlo.multiply %92, %cst_20 : tensor<2x16x32xf32>
// UNIT-NEXT: %94 = stablehlo.multiply %93, %cst_0 : tensor<2x16x32xf32>
// UNIT-NEXT: %95 = stablehlo.add %93, %94 : tensor<2x16x32xf32>
// UNIT-NEXT: %96 = stablehlo.clamp %cst_4, %95, %cst_5 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %97 = stablehlo.convert %96 {scalify.forms = ["2^-5 level 0.0276412"]} : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E5M2>
// UNIT-NEXT: %98 = stablehlo.reshape %97 {scalify.forms = ["2^-5 level 0.0276412"]} : (tensor<2x16x32xf8E5M2>) -> tensor<32x32xf8E5M2>
// UNIT-NEXT: %99 = stablehlo.reshape %82 {scalify.forms = ["2^0 level 1.5222"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %100 = stablehlo.dot_general %98, %99, contracting_dims = [0] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-5 level 4.04984"]} : (tensor<32x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// UNIT-NEXT: %101 = stablehlo.transpose %100, dims = [1, 0] {scalify.forms = ["2^-5 level 4.04984"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %102 = stablehlo.reshape %97 {scalify.forms = ["2^-5 level 0.0276412"]} : (tensor<2x16x32xf8E5M2>) -> tensor<32x32xf8E5M2>
// UNIT-NEXT: %103 = stablehlo.dot_general %102, %3, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-5 level 2.52764"]} : (tensor<32x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// UNIT-NEXT: %104 = stablehlo.reshape %103 {scalify.forms = ["2^-5 level 2.52764"]} : (tensor<32x32xf32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %105 = stablehlo.reshape %104 {scalify.forms = ["2^-5 level 2.52764"]} : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
// UNIT-NEXT: %106 = stablehlo.transpose %105, dims = [0, 2, 3, 1] {scalify.forms = ["2^-5 level 2.52764"]} : (tensor<2x16x2x16xf32>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %cst_21 = stablehlo.constant dense<1.250000e-01> : tensor<2x2x16x16xf32>
// UNIT-NEXT: %107 = stablehlo.multiply %106, %cst_21 : tensor<2x2x16x16xf32>
// UNIT-NEXT: %108 = stablehlo.clamp %cst_4, %107, %cst_5 : (tensor<f32>, tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %109 = stablehlo.convert %108 {scalify.forms = ["2^-2 level -0.472359"]} : (tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf8E5M2>
// UNIT-NEXT: %110 = stablehlo.dot_general %109, %52, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^1 level 1.04984"]} : (tensor<2x2x16x16xf8E5M2>, tensor<2x16x2x16xf8E4M3FN>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %111 = stablehlo.dot_general %109, %73, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-6 level 2.52764"]} : (tensor<2x2x16x16xf8E5M2>, tensor<2x2x16x16xf8E4M3FN>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %112 = stablehlo.transpose %111, dims = [0, 3, 1, 2] {scalify.forms = ["2^-6 level 2.52764"]} : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
// UNIT-NEXT: %113 = stablehlo.broadcast_in_dim %76, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level -8"]} : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %114 = stablehlo.multiply %110, %113 {scalify.forms = ["2^1 level -6.95016"]} : tensor<2x2x16x16xf32>
// UNIT-NEXT: %cst_22 = stablehlo.constant dense<2.000000e+00> : tensor<2x2x16x16xf32>
// UNIT-NEXT: %115 = stablehlo.multiply %114, %cst_22 : tensor<2x2x16x16xf32>
// UNIT-NEXT: %116 = stablehlo.multiply %115, %67 {scalify.forms = ["2^0 level -5.95016"]} : tensor<2x2x16x16xf32>
// UNIT-NEXT: %117 = stablehlo.reduce(%116 init: %cst_13) applies stablehlo.add across dimensions = [3] {scalify.forms = ["2^0 level -3.95016"]} : (tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16xf32>
// UNIT-NEXT: %118 = stablehlo.reshape %117 {scalify.forms = ["2^0 level -3.95016"]} : (tensor<2x2x16xf32>) -> tensor<2x2x16x1xf32>
// UNIT-NEXT: %119 = stablehlo.negate %118 {scalify.forms = ["2^0 level -3.95016"]} : tensor<2x2x16x1xf32>
// UNIT-NEXT: %120 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level 4"]} : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %121 = stablehlo.divide %110, %120 {scalify.forms = ["2^1 level -2.95016"]} : tensor<2x2x16x16xf32>
// UNIT-NEXT: %cst_23 = stablehlo.constant dense<2.000000e+00> : tensor<2x2x16x16xf32>
// UNIT-NEXT: %122 = stablehlo.multiply %121, %cst_23 : tensor<2x2x16x16xf32>
// UNIT-NEXT: %123 = stablehlo.reduce(%119 init: %cst_13) applies stablehlo.add across dimensions = [3] {scalify.forms = ["2^0 level -3.95016"]} : (tensor<2x2x16x1xf32>, tensor<f32>) -> tensor<2x2x16xf32>
// UNIT-NEXT: %124 = stablehlo.broadcast_in_dim %123, dims = [0, 1, 2] {scalify.forms = ["2^0 level -3.95016"]} : (tensor<2x2x16xf32>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %125 = stablehlo.add %122, %124 {scalify.forms = ["2^0 level -1.90643"]} : tensor<2x2x16x16xf32>
// UNIT-NEXT: %126 = stablehlo.multiply %125, %67 {scalify.forms = ["2^0 level -1.90643"]} : tensor<2x2x16x16xf32>
// UNIT-NEXT: %127 = call @_where_1(%60#1, %126) {scalify.forms = ["2^0 level -2"]} : (tensor<2x2x16x16xi1>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %cst_24 = stablehlo.constant dense<5.000000e-01> : tensor<2x2x16x16xf32>
// UNIT-NEXT: %128 = stablehlo.divide %127, %cst_24 : tensor<2x2x16x16xf32>
// UNIT-NEXT: %129 = stablehlo.multiply %128, %cst : tensor<2x2x16x16xf32>
// UNIT-NEXT: %130 = stablehlo.add %128, %129 : tensor<2x2x16x16xf32>
// UNIT-NEXT: %131 = stablehlo.clamp %cst_4, %130, %cst_5 : (tensor<f32>, tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %132 = stablehlo.convert %131 {scalify.forms = ["2^-2 level -1"]} : (tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf8E5M2>
// UNIT-NEXT: %133 = stablehlo.dot_general %132, %38, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^1 level 0.522197"]} : (tensor<2x2x16x16xf8E5M2>, tensor<2x16x2x16xf8E4M3FN>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %134 = stablehlo.transpose %133, dims = [0, 2, 1, 3] {scalify.forms = ["2^1 level 0.522197"]} : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
// UNIT-NEXT: %135 = stablehlo.dot_general %132, %45, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^1 level 0.522197"]} : (tensor<2x2x16x16xf8E5M2>, tensor<2x16x2x16xf8E4M3FN>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %136 = stablehlo.transpose %135, dims = [0, 2, 1, 3] {scalify.forms = ["2^1 level 0.522197"]} : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
// UNIT-NEXT: %137 = stablehlo.reshape %112 {scalify.forms = ["2^-6 level 2.52764"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %cst_25 = stablehlo.constant dense<5.000000e-01> : tensor<2x16x32xf32>
// UNIT-NEXT: %138 = stablehlo.multiply %137, %cst_25 : tensor<2x16x32xf32>
// UNIT-NEXT: %139 = stablehlo.clamp %cst_4, %138, %cst_5 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %140 = stablehlo.convert %139 {scalify.forms = ["2^-5 level 1.52764"]} : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E5M2>
// UNIT-NEXT: %141 = stablehlo.reshape %140 {scalify.forms = ["2^-5 level 1.52764"]} : (tensor<2x16x32xf8E5M2>) -> tensor<32x32xf8E5M2>
// UNIT-NEXT: %142 = stablehlo.reshape %31 {scalify.forms = ["2^0 level 0.0221971"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %143 = stablehlo.dot_general %141, %142, contracting_dims = [0] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-5 level 4.04984"]} : (tensor<32x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// UNIT-NEXT: %144 = stablehlo.transpose %143, dims = [1, 0] {scalify.forms = ["2^-5 level 4.04984"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %145 = stablehlo.reshape %134 {scalify.forms = ["2^1 level 0.522197"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %cst_26 = stablehlo.constant dense<5.000000e-01> : tensor<2x16x32xf32>
// UNIT-NEXT: %146 = stablehlo.multiply %145, %cst_26 : tensor<2x16x32xf32>
// UNIT-NEXT: %147 = stablehlo.clamp %cst_4, %146, %cst_5 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %148 = stablehlo.convert %147 {scalify.forms = ["2^2 level -0.477803"]} : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E5M2>
// UNIT-NEXT: %149 = stablehlo.reshape %148 {scalify.forms = ["2^2 level -0.477803"]} : (tensor<2x16x32xf8E5M2>) -> tensor<32x32xf8E5M2>
// UNIT-NEXT: %150 = stablehlo.reshape %31 {scalify.forms = ["2^0 level 0.0221971"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %151 = stablehlo.dot_general %149, %150, contracting_dims = [0] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^2 level 2.04439"]} : (tensor<32x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// UNIT-NEXT: %152 = stablehlo.transpose %151, dims = [1, 0] {scalify.forms = ["2^2 level 2.04439"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %153 = stablehlo.reshape %136 {scalify.forms = ["2^1 level 0.522197"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %cst_27 = stablehlo.constant dense<5.000000e-01> : tensor<2x16x32xf32>
// UNIT-NEXT: %154 = stablehlo.multiply %153, %cst_27 : tensor<2x16x32xf32>
// UNIT-NEXT: %155 = stablehlo.clamp %cst_4, %154, %cst_5 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %156 = stablehlo.convert %155 {scalify.forms = ["2^2 level -0.477803"]} : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E5M2>
// UNIT-NEXT: %157 = stablehlo.reshape %156 {scalify.forms = ["2^2 level -0.477803"]} : (tensor<2x16x32xf8E5M2>) -> tensor<32x32xf8E5M2>
// UNIT-NEXT: %158 = stablehlo.reshape %31 {scalify.forms = ["2^0 level 0.0221971"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %159 = stablehlo.dot_general %157, %158, contracting_dims = [0] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^2 level 2.04439"]} : (tensor<32x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// UNIT-NEXT: %160 = stablehlo.transpose %159, dims = [1, 0] {scalify.forms = ["2^2 level 2.04439"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %cst_28 = stablehlo.constant dense<4.000000e+00> : tensor<32x32xf32>
// UNIT-NEXT: %161 = stablehlo.multiply %152, %cst_28 : tensor<32x32xf32>
// UNIT-NEXT: %cst_29 = stablehlo.constant dense<3.125000e-02> : tensor<32x32xf32>
// UNIT-NEXT: %162 = stablehlo.multiply %101, %cst_29 : tensor<32x32xf32>
// UNIT-NEXT: %cst_30 = stablehlo.constant dense<4.000000e+00> : tensor<32x32xf32>
// UNIT-NEXT: %163 = stablehlo.multiply %160, %cst_30 : tensor<32x32xf32>
// UNIT-NEXT: %cst_31 = stablehlo.constant dense<3.125000e-02> : tensor<32x32xf32>
// UNIT-NEXT: %164 = stablehlo.multiply %144, %cst_31 : tensor<32x32xf32>
// UNIT-NEXT: return %161, %162, %163, %164 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @_var(%arg0: tensor<2x16x32xf32>, %arg1: tensor<i32>) -> tensor<2x16x1xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16xf32>
// UNIT-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
// UNIT-NEXT: %3 = stablehlo.divide %1, %2 : tensor<2x16x1xf32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x16x1xf32>) -> tensor<2x16x32xf32>
// UNIT-NEXT: %5 = stablehlo.subtract %arg0, %4 : tensor<2x16x32xf32>
// UNIT-NEXT: %6 = stablehlo.multiply %5, %5 : tensor<2x16x32xf32>
// UNIT-NEXT: %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
// UNIT-NEXT: %8 = stablehlo.subtract %cst_0, %7 : tensor<f32>
// UNIT-NEXT: %9 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16xf32>
// UNIT-NEXT: %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
// UNIT-NEXT: %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
// UNIT-NEXT: %12 = stablehlo.divide %10, %11 : tensor<2x16x1xf32>
// UNIT-NEXT: %13 = stablehlo.compare GT, %8, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
// UNIT-NEXT: %14 = call @_where(%13, %12, %cst) : (tensor<i1>, tensor<2x16x1xf32>, tensor<f32>) -> tensor<2x16x1xf32>
// UNIT-NEXT: return %14 : tensor<2x16x1xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x16x1xf32>, %arg2: tensor<f32>) -> tensor<2x16x1xf32> {
// UNIT-NEXT: %0 = stablehlo.convert %arg2 : tensor<f32>
// UNIT-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
// UNIT-NEXT: %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x16x1xf32>
// UNIT-NEXT: return %2 : tensor<2x16x1xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @_where_0(%arg0: tensor<16x16xi1>, %arg1: tensor<2x2x16x16xf32>, %arg2: tensor<f32>) -> (tensor<2x2x16x16xf32>, tensor<2x2x16x16xi1>) {
// UNIT-NEXT: %0 = stablehlo.convert %arg2 : tensor<f32>
// UNIT-NEXT: %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<16x16xi1>) -> tensor<2x2x16x16xi1>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x16x16xi1>, tensor<2x2x16x16xf32>
// UNIT-NEXT: return %3, %1 : tensor<2x2x16x16xf32>, tensor<2x2x16x16xi1>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @_where_1(%arg0: tensor<2x2x16x16xi1>, %arg1: tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x16x16xf32>
// UNIT-NEXT: %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x2x16x16xi1>, tensor<2x2x16x16xf32>
// UNIT-NEXT: return %1 : tensor<2x2x16x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module @_att attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x32xf32>, %arg3: tensor<32x32xf32>, %arg4: tensor<2x16x32xf32>, %arg5: tensor<2x16x32xf32>) -> (tensor<32x32xf32> {jax.result_info = "result['k']"}, tensor<32x32xf32> {jax.result_info = "result['o']"}, tensor<32x32xf32> {jax.result_info = "result['q']"}, tensor<32x32xf32> {jax.result_info = "result['v']"}) {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<2x2x16x16xf32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<2x16x32xf32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_3 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_4 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_5 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg1, %cst_1 : tensor<32x32xf32>
// FP8-NEXT: %1 = stablehlo.add %arg1, %0 : tensor<32x32xf32>
// FP8-NEXT: %2 = stablehlo.clamp %cst_2, %1, %cst_3 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %4 = stablehlo.multiply %arg3, %cst_1 : tensor<32x32xf32>
// FP8-NEXT: %5 = stablehlo.add %arg3, %4 : tensor<32x32xf32>
// FP8-NEXT: %6 = stablehlo.clamp %cst_2, %5, %cst_3 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %8 = stablehlo.multiply %arg0, %cst_1 : tensor<32x32xf32>
// FP8-NEXT: %9 = stablehlo.add %arg0, %8 : tensor<32x32xf32>
// FP8-NEXT: %10 = stablehlo.clamp %cst_2, %9, %cst_3 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %11 = stablehlo.convert %10 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %12 = stablehlo.multiply %arg2, %cst_1 : tensor<32x32xf32>
// FP8-NEXT: %13 = stablehlo.add %arg2, %12 : tensor<32x32xf32>
// FP8-NEXT: %14 = stablehlo.clamp %cst_2, %13, %cst_3 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %15 = stablehlo.convert %14 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.024000e+03> : tensor<f32>
// FP8-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// FP8-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-1.000000e+09> : tensor<f32>
// FP8-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999974E-6> : tensor<f32>
// FP8-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.200000e+01> : tensor<f32>
// FP8-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %16 = stablehlo.reduce(%arg4 init: %cst_13) applies stablehlo.add across dimensions = [2] {scalify.forms = ["2^0 level 2"]} : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16xf32>
// FP8-NEXT: %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0 level 2"]} : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
// FP8-NEXT: %18 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x16x1xf32>
// FP8-NEXT: %19 = stablehlo.divide %17, %18 {scalify.forms = ["2^0 level -3"]} : tensor<2x16x1xf32>
// FP8-NEXT: %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] {scalify.forms = ["2^0 level -3"]} : (tensor<2x16x1xf32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %21 = stablehlo.subtract %arg4, %20 {scalify.forms = ["2^0"]} : tensor<2x16x32xf32>
// FP8-NEXT: %22 = call @_var(%arg4, %c) {scalify.forms = ["2^0"]} : (tensor<2x16x32xf32>, tensor<i32>) -> tensor<2x16x1xf32>
// FP8-NEXT: %23 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x16x1xf32>
// FP8-NEXT: %24 = stablehlo.add %22, %23 {scalify.forms = ["2^0"]} : tensor<2x16x1xf32>
// FP8-NEXT: %25 = stablehlo.rsqrt %24 {scalify.forms = ["2^0"]} : tensor<2x16x1xf32>
// FP8-NEXT: %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] {scalify.forms = ["2^0"]} : (tensor<2x16x1xf32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %27 = stablehlo.multiply %21, %26 {scalify.forms = ["2^0"]} : tensor<2x16x32xf32>
// FP8-NEXT: %28 = stablehlo.multiply %27, %cst_0 : tensor<2x16x32xf32>
// FP8-NEXT: %29 = stablehlo.add %27, %28 : tensor<2x16x32xf32>
// FP8-NEXT: %30 = stablehlo.clamp %cst_2, %29, %cst_3 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %31 = stablehlo.convert %30 {scalify.forms = ["2^0"]} : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E4M3FN>
// FP8-NEXT: %32 = stablehlo.reshape %31 {scalify.forms = ["2^0"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %33 = stablehlo.dot_general %32, %15, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// FP8-NEXT: %34 = stablehlo.reshape %33 {scalify.forms = ["2^0 level 2"]} : (tensor<32x32xf32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %35 = stablehlo.reshape %34 {scalify.forms = ["2^0 level 2"]} : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
// FP8-NEXT: %cst_14 = stablehlo.constant dense<2.500000e-01> : tensor<2x16x2x16xf32>
// FP8-NEXT: %36 = stablehlo.multiply %35, %cst_14 : tensor<2x16x2x16xf32>
// FP8-NEXT: %37 = stablehlo.clamp %cst_2, %36, %cst_3 : (tensor<f32>, tensor<2x16x2x16xf32>, tensor<f32>) -> tensor<2x16x2x16xf32>
// FP8-NEXT: %38 = stablehlo.convert %37 {scalify.forms = ["2^2"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x2x16xf8E4M3FN>
// FP8-NEXT: %39 = stablehlo.reshape %31 {scalify.forms = ["2^0"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %40 = stablehlo.dot_general %39, %11, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// FP8-NEXT: %41 = stablehlo.reshape %40 {scalify.forms = ["2^0 level 2"]} : (tensor<32x32xf32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %42 = stablehlo.reshape %41 {scalify.forms = ["2^0 level 2"]} : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
// FP8-NEXT: %cst_15 = stablehlo.constant dense<2.500000e-01> : tensor<2x16x2x16xf32>
// FP8-NEXT: %43 = stablehlo.multiply %42, %cst_15 : tensor<2x16x2x16xf32>
// FP8-NEXT: %44 = stablehlo.clamp %cst_2, %43, %cst_3 : (tensor<f32>, tensor<2x16x2x16xf32>, tensor<f32>) -> tensor<2x16x2x16xf32>
// FP8-NEXT: %45 = stablehlo.convert %44 {scalify.forms = ["2^2"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x2x16xf8E4M3FN>
// FP8-NEXT: %46 = stablehlo.reshape %31 {scalify.forms = ["2^0"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %47 = stablehlo.dot_general %46, %7, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// FP8-NEXT: %48 = stablehlo.reshape %47 {scalify.forms = ["2^0 level 2"]} : (tensor<32x32xf32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %49 = stablehlo.reshape %48 {scalify.forms = ["2^0 level 2"]} : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
// FP8-NEXT: %cst_16 = stablehlo.constant dense<2.500000e-01> : tensor<2x16x2x16xf32>
// FP8-NEXT: %50 = stablehlo.multiply %49, %cst_16 : tensor<2x16x2x16xf32>
// FP8-NEXT: %51 = stablehlo.clamp %cst_2, %50, %cst_3 : (tensor<f32>, tensor<2x16x2x16xf32>, tensor<f32>) -> tensor<2x16x2x16xf32>
// FP8-NEXT: %52 = stablehlo.convert %51 {scalify.forms = ["2^2"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x2x16xf8E4M3FN>
// FP8-NEXT: %53 = stablehlo.dot_general %38, %45, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^4 level 3"]} : (tensor<2x16x2x16xf8E4M3FN>, tensor<2x16x2x16xf8E4M3FN>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %cst_17 = stablehlo.constant dense<1.250000e-01> : tensor<2x2x16x16xf32>
// FP8-NEXT: %54 = stablehlo.divide %53, %cst_17 : tensor<2x2x16x16xf32>
// FP8-NEXT: %55 = stablehlo.iota dim = 0 : tensor<16x16xi32>
// FP8-NEXT: %56 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x16xi32>
// FP8-NEXT: %57 = stablehlo.add %55, %56 : tensor<16x16xi32>
// FP8-NEXT: %58 = stablehlo.iota dim = 1 : tensor<16x16xi32>
// FP8-NEXT: %59 = stablehlo.compare GE, %57, %58, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
// FP8-NEXT: %60:2 = call @_where_0(%59, %54, %cst_9) {scalify.forms = ["2^0 level 6", "unscaled"]} : (tensor<16x16xi1>, tensor<2x2x16x16xf32>, tensor<f32>) -> (tensor<2x2x16x16xf32>, tensor<2x2x16x16xi1>)
// FP8-NEXT: %61 = stablehlo.reduce(%60#0 init: %cst_8) applies stablehlo.maximum across dimensions = [3] {scalify.forms = ["2^0 level 6"]} : (tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16xf32>
// FP8-NEXT: %62 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<2x2x16xf32>
// FP8-NEXT: %63 = stablehlo.maximum %62, %61 {scalify.forms = ["2^0 level 6"]} : tensor<2x2x16xf32>
// FP8-NEXT: %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2] {scalify.forms = ["2^0 level 6"]} : (tensor<2x2x16xf32>) -> tensor<2x2x16x1xf32>
// FP8-NEXT: %65 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level 6"]} : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %66 = stablehlo.subtract %60#0, %65 {scalify.forms = ["2^0 level 6"]} : tensor<2x2x16x16xf32>
// FP8-NEXT: %67 = stablehlo.exponential %66 {scalify.forms = ["2^0"]} : tensor<2x2x16x16xf32>
// FP8-NEXT: %68 = stablehlo.reduce(%67 init: %cst_13) applies stablehlo.add across dimensions = [3] {scalify.forms = ["2^0 level 2"]} : (tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16xf32>
// FP8-NEXT: %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] {scalify.forms = ["2^0 level 2"]} : (tensor<2x2x16xf32>) -> tensor<2x2x16x1xf32>
// FP8-NEXT: %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level 2"]} : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %71 = stablehlo.divide %67, %70 {scalify.forms = ["2^0 level -4"]} : tensor<2x2x16x16xf32>
// FP8-NEXT: %cst_18 = stablehlo.constant dense<1.600000e+01> : tensor<2x2x16x16xf32>
// FP8-NEXT: %72 = stablehlo.multiply %71, %cst_18 : tensor<2x2x16x16xf32>
// FP8-NEXT: %73 = stablehlo.convert %72 {scalify.forms = ["2^-4"]} : (tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf8E4M3FN>
// FP8-NEXT: %74 = stablehlo.multiply %69, %69 {scalify.forms = ["2^0 level 4"]} : tensor<2x2x16x1xf32>
// FP8-NEXT: %75 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x2x16x1xf32>
// FP8-NEXT: %76 = stablehlo.divide %75, %74 {scalify.forms = ["2^0 level -4"]} : tensor<2x2x16x1xf32>
// FP8-NEXT: %77 = stablehlo.dot_general %52, %73, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-2 level 3"]} : (tensor<2x16x2x16xf8E4M3FN>, tensor<2x2x16x16xf8E4M3FN>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %78 = stablehlo.transpose %77, dims = [0, 3, 1, 2] {scalify.forms = ["2^-2 level 3"]} : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
// FP8-NEXT: %79 = stablehlo.reshape %78 {scalify.forms = ["2^-2 level 3"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %cst_19 = stablehlo.constant dense<1.250000e-01> : tensor<2x16x32xf32>
// FP8-NEXT: %80 = stablehlo.multiply %79, %cst_19 : tensor<2x16x32xf32>
// FP8-NEXT: %81 = stablehlo.clamp %cst_2, %80, %cst_3 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %82 = stablehlo.convert %81 {scalify.forms = ["2^1"]} : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E4M3FN>
// FP8-NEXT: %83 = stablehlo.reshape %82 {scalify.forms = ["2^1"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %84 = stablehlo.dot_general %83, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^1 level 3"]} : (tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// FP8-NEXT: %85 = stablehlo.reshape %84 {scalify.forms = ["2^1 level 3"]} : (tensor<32x32xf32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %cst_20 = stablehlo.constant dense<2.000000e+00> : tensor<2x16x32xf32>
// FP8-NEXT: %86 = stablehlo.multiply %85, %cst_20 : tensor<2x16x32xf32>
// FP8-NEXT: %87 = stablehlo.add %arg4, %86 {scalify.forms = ["2^0 level 4"]} : tensor<2x16x32xf32>
// FP8-NEXT: %88 = stablehlo.subtract %87, %arg5 {scalify.forms = ["2^0 level 4"]} : tensor<2x16x32xf32>
// FP8-NEXT: %89 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %90 = stablehlo.multiply %89, %88 {scalify.forms = ["2^0 level 5"]} : tensor<2x16x32xf32>
// FP8-NEXT: %91 = stablehlo.divide %cst_7, %cst_6 {scalify.forms = ["2^0 level -10"]} : tensor<f32>
// FP8-NEXT: %92 = stablehlo.broadcast_in_dim %91, dims = [] {scalify.forms = ["2^0 level -10"]} : (tensor<f32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %93 = stablehlo.multiply %92, %90 {scalify.forms = ["2^0 level -5"]} : tensor<2x16x32xf32>
// FP8-NEXT: %cst_21 = stablehlo.constant dense<3.200000e+01> : tensor<2x16x32xf32>
// FP8-NEXT: %94 = stablehlo.multiply %93, %cst_21 : tensor<2x16x32xf32>
// FP8-NEXT: %95 = stablehlo.multiply %94, %cst_0 : tensor<2x16x32xf32>
// FP8-NEXT: %96 = stablehlo.add %94, %95 : tensor<2x16x32xf32>
// FP8-NEXT: %97 = stablehlo.clamp %cst_4, %96, %cst_5 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %98 = stablehlo.convert %97 {scalify.forms = ["2^-5"]} : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E5M2>
// FP8-NEXT: %99 = stablehlo.reshape %98 {scalify.forms = ["2^-5"]} : (tensor<2x16x32xf8E5M2>) -> tensor<32x32xf8E5M2>
// FP8-NEXT: %100 = stablehlo.reshape %82 {scalify.forms = ["2^1"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %101 = stablehlo.dot_general %99, %100, contracting_dims = [0] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-4 level 3"]} : (tensor<32x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// FP8-NEXT: %102 = stablehlo.transpose %101, dims = [1, 0] {scalify.forms = ["2^-4 level 3"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %103 = stablehlo.reshape %98 {scalify.forms = ["2^-5"]} : (tensor<2x16x32xf8E5M2>) -> tensor<32x32xf8E5M2>
// FP8-NEXT: %104 = stablehlo.dot_general %103, %3, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-5 level 2"]} : (tensor<32x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// FP8-NEXT: %105 = stablehlo.reshape %104 {scalify.forms = ["2^-5 level 2"]} : (tensor<32x32xf32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %106 = stablehlo.reshape %105 {scalify.forms = ["2^-5 level 2"]} : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
// FP8-NEXT: %107 = stablehlo.transpose %106, dims = [0, 2, 3, 1] {scalify.forms = ["2^-5 level 2"]} : (tensor<2x16x2x16xf32>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %cst_22 = stablehlo.constant dense<2.500000e-01> : tensor<2x2x16x16xf32>
// FP8-NEXT: %108 = stablehlo.multiply %107, %cst_22 : tensor<2x2x16x16xf32>
// FP8-NEXT: %109 = stablehlo.clamp %cst_4, %108, %cst_5 : (tensor<f32>, tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %110 = stablehlo.convert %109 {scalify.forms = ["2^-3"]} : (tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf8E5M2>
// FP8-NEXT: %111 = stablehlo.dot_general %110, %52, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-1 level 3"]} : (tensor<2x2x16x16xf8E5M2>, tensor<2x16x2x16xf8E4M3FN>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %112 = stablehlo.dot_general %110, %73, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-7 level 3"]} : (tensor<2x2x16x16xf8E5M2>, tensor<2x2x16x16xf8E4M3FN>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %113 = stablehlo.transpose %112, dims = [0, 3, 1, 2] {scalify.forms = ["2^-7 level 3"]} : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
// FP8-NEXT: %114 = stablehlo.broadcast_in_dim %76, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level -4"]} : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %115 = stablehlo.multiply %111, %114 {scalify.forms = ["2^-1 level -1"]} : tensor<2x2x16x16xf32>
// FP8-NEXT: %cst_23 = stablehlo.constant dense<5.000000e-01> : tensor<2x2x16x16xf32>
// FP8-NEXT: %116 = stablehlo.multiply %115, %cst_23 : tensor<2x2x16x16xf32>
// FP8-NEXT: %117 = stablehlo.multiply %116, %67 {scalify.forms = ["2^0 level -2"]} : tensor<2x2x16x16xf32>
// FP8-NEXT: %118 = stablehlo.reduce(%117 init: %cst_13) applies stablehlo.add across dimensions = [3] {scalify.forms = ["2^0"]} : (tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16xf32>
// FP8-NEXT: %119 = stablehlo.reshape %118 {scalify.forms = ["2^0"]} : (tensor<2x2x16xf32>) -> tensor<2x2x16x1xf32>
// FP8-NEXT: %120 = stablehlo.negate %119 {scalify.forms = ["2^0"]} : tensor<2x2x16x1xf32>
// FP8-NEXT: %121 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level 2"]} : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %122 = stablehlo.divide %111, %121 {scalify.forms = ["2^-1 level 1"]} : tensor<2x2x16x16xf32>
// FP8-NEXT: %cst_24 = stablehlo.constant dense<5.000000e-01> : tensor<2x2x16x16xf32>
// FP8-NEXT: %123 = stablehlo.multiply %122, %cst_24 : tensor<2x2x16x16xf32>
// FP8-NEXT: %124 = stablehlo.reduce(%120 init: %cst_13) applies stablehlo.add across dimensions = [3] {scalify.forms = ["2^0"]} : (tensor<2x2x16x1xf32>, tensor<f32>) -> tensor<2x2x16xf32>
// FP8-NEXT: %125 = stablehlo.broadcast_in_dim %124, dims = [0, 1, 2] {scalify.forms = ["2^0"]} : (tensor<2x2x16xf32>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %126 = stablehlo.add %123, %125 {scalify.forms = ["2^0"]} : tensor<2x2x16x16xf32>
// FP8-NEXT: %127 = stablehlo.multiply %126, %67 {scalify.forms = ["2^0 level 2"]} : tensor<2x2x16x16xf32>
// FP8-NEXT: %128 = call @_where_1(%60#1, %127) {scalify.forms = ["2^0 level 2"]} : (tensor<2x2x16x16xi1>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %cst_25 = stablehlo.constant dense<4.000000e+00> : tensor<2x2x16x16xf32>
// FP8-NEXT: %129 = stablehlo.divide %128, %cst_25 : tensor<2x2x16x16xf32>
// FP8-NEXT: %130 = stablehlo.multiply %129, %cst : tensor<2x2x16x16xf32>
// FP8-NEXT: %131 = stablehlo.add %129, %130 : tensor<2x2x16x16xf32>
// FP8-NEXT: %132 = stablehlo.clamp %cst_4, %131, %cst_5 : (tensor<f32>, tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %133 = stablehlo.convert %132 {scalify.forms = ["2^1"]} : (tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf8E5M2>
// FP8-NEXT: %134 = stablehlo.dot_general %133, %38, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^3 level 3"]} : (tensor<2x2x16x16xf8E5M2>, tensor<2x16x2x16xf8E4M3FN>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %135 = stablehlo.transpose %134, dims = [0, 2, 1, 3] {scalify.forms = ["2^3 level 3"]} : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
// FP8-NEXT: %136 = stablehlo.dot_general %133, %45, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^3 level 3"]} : (tensor<2x2x16x16xf8E5M2>, tensor<2x16x2x16xf8E4M3FN>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %137 = stablehlo.transpose %136, dims = [0, 2, 1, 3] {scalify.forms = ["2^3 level 3"]} : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
// FP8-NEXT: %138 = stablehlo.reshape %113 {scalify.forms = ["2^-7 level 3"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %cst_26 = stablehlo.constant dense<1.250000e-01> : tensor<2x16x32xf32>
// FP8-NEXT: %139 = stablehlo.multiply %138, %cst_26 : tensor<2x16x32xf32>
// FP8-NEXT: %140 = stablehlo.clamp %cst_4, %139, %cst_5 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %141 = stablehlo.convert %140 {scalify.forms = ["2^-4"]} : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E5M2>
// FP8-NEXT: %142 = stablehlo.reshape %141 {scalify.forms = ["2^-4"]} : (tensor<2x16x32xf8E5M2>) -> tensor<32x32xf8E5M2>
// FP8-NEXT: %143 = stablehlo.reshape %31 {scalify.forms = ["2^0"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %144 = stablehlo.dot_general %142, %143, contracting_dims = [0] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-4 level 3"]} : (tensor<32x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// FP8-NEXT: %145 = stablehlo.transpose %144, dims = [1, 0] {scalify.forms = ["2^-4 level 3"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %146 = stablehlo.reshape %135 {scalify.forms = ["2^3 level 3"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %cst_27 = stablehlo.constant dense<1.250000e-01> : tensor<2x16x32xf32>
// FP8-NEXT: %147 = stablehlo.multiply %146, %cst_27 : tensor<2x16x32xf32>
// FP8-NEXT: %148 = stablehlo.clamp %cst_4, %147, %cst_5 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %149 = stablehlo.convert %148 {scalify.forms = ["2^6"]} : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E5M2>
// FP8-NEXT: %150 = stablehlo.reshape %149 {scalify.forms = ["2^6"]} : (tensor<2x16x32xf8E5M2>) -> tensor<32x32xf8E5M2>
// FP8-NEXT: %151 = stablehlo.reshape %31 {scalify.forms = ["2^0"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %152 = stablehlo.dot_general %150, %151, contracting_dims = [0] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^6 level 2"]} : (tensor<32x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// FP8-NEXT: %153 = stablehlo.transpose %152, dims = [1, 0] {scalify.forms = ["2^6 level 2"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %154 = stablehlo.reshape %137 {scalify.forms = ["2^3 level 3"]} : (tensor<2x16x2x16xf32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %cst_28 = stablehlo.constant dense<1.250000e-01> : tensor<2x16x32xf32>
// FP8-NEXT: %155 = stablehlo.multiply %154, %cst_28 : tensor<2x16x32xf32>
// FP8-NEXT: %156 = stablehlo.clamp %cst_4, %155, %cst_5 : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %157 = stablehlo.convert %156 {scalify.forms = ["2^6"]} : (tensor<2x16x32xf32>) -> tensor<2x16x32xf8E5M2>
// FP8-NEXT: %158 = stablehlo.reshape %157 {scalify.forms = ["2^6"]} : (tensor<2x16x32xf8E5M2>) -> tensor<32x32xf8E5M2>
// FP8-NEXT: %159 = stablehlo.reshape %31 {scalify.forms = ["2^0"]} : (tensor<2x16x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %160 = stablehlo.dot_general %158, %159, contracting_dims = [0] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^6 level 2"]} : (tensor<32x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
// FP8-NEXT: %161 = stablehlo.transpose %160, dims = [1, 0] {scalify.forms = ["2^6 level 2"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %cst_29 = stablehlo.constant dense<6.400000e+01> : tensor<32x32xf32>
// FP8-NEXT: %162 = stablehlo.multiply %153, %cst_29 : tensor<32x32xf32>
// FP8-NEXT: %cst_30 = stablehlo.constant dense<6.250000e-02> : tensor<32x32xf32>
// FP8-NEXT: %163 = stablehlo.multiply %102, %cst_30 : tensor<32x32xf32>
// FP8-NEXT: %cst_31 = stablehlo.constant dense<6.400000e+01> : tensor<32x32xf32>
// FP8-NEXT: %164 = stablehlo.multiply %161, %cst_31 : tensor<32x32xf32>
// FP8-NEXT: %cst_32 = stablehlo.constant dense<6.250000e-02> : tensor<32x32xf32>
// FP8-NEXT: %165 = stablehlo.multiply %145, %cst_32 : tensor<32x32xf32>
// FP8-NEXT: return %162, %163, %164, %165 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @_var(%arg0: tensor<2x16x32xf32>, %arg1: tensor<i32>) -> tensor<2x16x1xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16xf32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
// FP8-NEXT: %3 = stablehlo.divide %1, %2 : tensor<2x16x1xf32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x16x1xf32>) -> tensor<2x16x32xf32>
// FP8-NEXT: %5 = stablehlo.subtract %arg0, %4 : tensor<2x16x32xf32>
// FP8-NEXT: %6 = stablehlo.multiply %5, %5 : tensor<2x16x32xf32>
// FP8-NEXT: %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
// FP8-NEXT: %8 = stablehlo.subtract %cst_0, %7 : tensor<f32>
// FP8-NEXT: %9 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16xf32>
// FP8-NEXT: %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
// FP8-NEXT: %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
// FP8-NEXT: %12 = stablehlo.divide %10, %11 : tensor<2x16x1xf32>
// FP8-NEXT: %13 = stablehlo.compare GT, %8, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
// FP8-NEXT: %14 = call @_where(%13, %12, %cst) : (tensor<i1>, tensor<2x16x1xf32>, tensor<f32>) -> tensor<2x16x1xf32>
// FP8-NEXT: return %14 : tensor<2x16x1xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x16x1xf32>, %arg2: tensor<f32>) -> tensor<2x16x1xf32> {
// FP8-NEXT: %0 = stablehlo.convert %arg2 : tensor<f32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
// FP8-NEXT: %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x16x1xf32>
// FP8-NEXT: return %2 : tensor<2x16x1xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @_where_0(%arg0: tensor<16x16xi1>, %arg1: tensor<2x2x16x16xf32>, %arg2: tensor<f32>) -> (tensor<2x2x16x16xf32>, tensor<2x2x16x16xi1>) {
// FP8-NEXT: %0 = stablehlo.convert %arg2 : tensor<f32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<16x16xi1>) -> tensor<2x2x16x16xi1>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x16x16xi1>, tensor<2x2x16x16xf32>
// FP8-NEXT: return %3, %1 : tensor<2x2x16x16xf32>, tensor<2x2x16x16xi1>
// FP8-NEXT: }
// FP8-NEXT: func.func private @_where_1(%arg0: tensor<2x2x16x16xi1>, %arg1: tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x16x16xf32>
// FP8-NEXT: %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x2x16x16xi1>, tensor<2x2x16x16xf32>
// FP8-NEXT: return %1 : tensor<2x2x16x16xf32>
// FP8-NEXT: }
// FP8-NEXT: }

module @_att attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x32xf32>, %arg3: tensor<32x32xf32>, %arg4: tensor<2x16x32xf32>, %arg5: tensor<2x16x32xf32>) -> (tensor<32x32xf32> {jax.result_info = "result['k']"}, tensor<32x32xf32> {jax.result_info = "result['o']"}, tensor<32x32xf32> {jax.result_info = "result['q']"}, tensor<32x32xf32> {jax.result_info = "result['v']"}) {
    %cst = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %cst_5 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg4 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
    %2 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x16x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x16x1xf32>) -> tensor<2x16x32xf32>
    %5 = stablehlo.subtract %arg4, %4 : tensor<2x16x32xf32>
    %6 = call @_var(%arg4, %c) : (tensor<2x16x32xf32>, tensor<i32>) -> tensor<2x16x1xf32>
    %7 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
    %8 = stablehlo.add %6, %7 : tensor<2x16x1xf32>
    %9 = stablehlo.rsqrt %8 : tensor<2x16x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x16x1xf32>) -> tensor<2x16x32xf32>
    %11 = stablehlo.multiply %5, %10 : tensor<2x16x32xf32>
    %12 = stablehlo.dot_general %11, %arg2, contracting_dims = [2] x [0] : (tensor<2x16x32xf32>, tensor<32x32xf32>) -> tensor<2x16x32xf32>
    %13 = stablehlo.reshape %12 : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
    %14 = stablehlo.dot_general %11, %arg0, contracting_dims = [2] x [0] : (tensor<2x16x32xf32>, tensor<32x32xf32>) -> tensor<2x16x32xf32>
    %15 = stablehlo.reshape %14 : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
    %16 = stablehlo.dot_general %11, %arg3, contracting_dims = [2] x [0] : (tensor<2x16x32xf32>, tensor<32x32xf32>) -> tensor<2x16x32xf32>
    %17 = stablehlo.reshape %16 : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
    %18 = stablehlo.dot_general %13, %15, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>) -> tensor<2x2x16x16xf32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x2x16x16xf32>
    %20 = stablehlo.divide %18, %19 : tensor<2x2x16x16xf32>
    %21 = stablehlo.iota dim = 0 : tensor<16x16xi32>
    %22 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x16xi32>
    %23 = stablehlo.add %21, %22 : tensor<16x16xi32>
    %24 = stablehlo.iota dim = 1 : tensor<16x16xi32>
    %25 = stablehlo.compare GE, %23, %24, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %26:2 = call @_where_0(%25, %20, %cst_2) : (tensor<16x16xi1>, tensor<2x2x16x16xf32>, tensor<f32>) -> (tensor<2x2x16x16xf32>, tensor<2x2x16x16xi1>)
    %27 = stablehlo.reduce(%26#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16xf32>
    %28 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x2x16xf32>
    %29 = stablehlo.maximum %28, %27 : tensor<2x2x16xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<2x2x16xf32>) -> tensor<2x2x16x1xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
    %32 = stablehlo.subtract %26#0, %31 : tensor<2x2x16x16xf32>
    %33 = stablehlo.exponential %32 : tensor<2x2x16x16xf32>
    %34 = stablehlo.reduce(%33 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] : (tensor<2x2x16xf32>) -> tensor<2x2x16x1xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
    %37 = stablehlo.divide %33, %36 : tensor<2x2x16x16xf32>
    %38 = stablehlo.multiply %35, %35 : tensor<2x2x16x1xf32>
    %39 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x2x16x1xf32>
    %40 = stablehlo.divide %39, %38 : tensor<2x2x16x1xf32>
    %41 = stablehlo.dot_general %17, %37, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x16x2x16xf32>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
    %42 = stablehlo.transpose %41, dims = [0, 3, 1, 2] : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
    %43 = stablehlo.reshape %42 : (tensor<2x16x2x16xf32>) -> tensor<2x16x32xf32>
    %44 = stablehlo.dot_general %43, %arg1, contracting_dims = [2] x [0] : (tensor<2x16x32xf32>, tensor<32x32xf32>) -> tensor<2x16x32xf32>
    %45 = stablehlo.add %arg4, %44 : tensor<2x16x32xf32>
    %46 = stablehlo.subtract %45, %arg5 : tensor<2x16x32xf32>
    %47 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
    %48 = stablehlo.multiply %47, %46 : tensor<2x16x32xf32>
    %49 = stablehlo.divide %cst_0, %cst : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
    %51 = stablehlo.multiply %50, %48 : tensor<2x16x32xf32>
    %52 = stablehlo.dot_general %51, %43, contracting_dims = [0, 1] x [0, 1] : (tensor<2x16x32xf32>, tensor<2x16x32xf32>) -> tensor<32x32xf32>
    %53 = stablehlo.transpose %52, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %54 = stablehlo.dot_general %51, %arg1, contracting_dims = [2] x [1] : (tensor<2x16x32xf32>, tensor<32x32xf32>) -> tensor<2x16x32xf32>
    %55 = stablehlo.reshape %54 : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
    %56 = stablehlo.transpose %55, dims = [0, 2, 3, 1] : (tensor<2x16x2x16xf32>) -> tensor<2x2x16x16xf32>
    %57 = stablehlo.dot_general %56, %17, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<2x2x16x16xf32>, tensor<2x16x2x16xf32>) -> tensor<2x2x16x16xf32>
    %58 = stablehlo.dot_general %56, %37, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
    %59 = stablehlo.transpose %58, dims = [0, 3, 1, 2] : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
    %60 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2, 3] : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
    %61 = stablehlo.multiply %57, %60 : tensor<2x2x16x16xf32>
    %62 = stablehlo.multiply %61, %33 : tensor<2x2x16x16xf32>
    %63 = stablehlo.reduce(%62 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16xf32>
    %64 = stablehlo.reshape %63 : (tensor<2x2x16xf32>) -> tensor<2x2x16x1xf32>
    %65 = stablehlo.negate %64 : tensor<2x2x16x1xf32>
    %66 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
    %67 = stablehlo.divide %57, %66 : tensor<2x2x16x16xf32>
    %68 = stablehlo.reduce(%65 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x2x16x1xf32>, tensor<f32>) -> tensor<2x2x16xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] : (tensor<2x2x16xf32>) -> tensor<2x2x16x16xf32>
    %70 = stablehlo.add %67, %69 : tensor<2x2x16x16xf32>
    %71 = stablehlo.multiply %70, %33 : tensor<2x2x16x16xf32>
    %72 = call @_where_1(%26#1, %71) : (tensor<2x2x16x16xi1>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
    %73 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x2x16x16xf32>
    %74 = stablehlo.divide %72, %73 : tensor<2x2x16x16xf32>
    %75 = stablehlo.dot_general %74, %13, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<2x2x16x16xf32>, tensor<2x16x2x16xf32>) -> tensor<2x2x16x16xf32>
    %76 = stablehlo.transpose %75, dims = [0, 2, 1, 3] : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
    %77 = stablehlo.dot_general %74, %15, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x2x16x16xf32>, tensor<2x16x2x16xf32>) -> tensor<2x2x16x16xf32>
    %78 = stablehlo.transpose %77, dims = [0, 2, 1, 3] : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
    %79 = stablehlo.reshape %59 : (tensor<2x16x2x16xf32>) -> tensor<2x16x32xf32>
    %80 = stablehlo.dot_general %79, %11, contracting_dims = [0, 1] x [0, 1] : (tensor<2x16x32xf32>, tensor<2x16x32xf32>) -> tensor<32x32xf32>
    %81 = stablehlo.transpose %80, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %82 = stablehlo.reshape %76 : (tensor<2x16x2x16xf32>) -> tensor<2x16x32xf32>
    %83 = stablehlo.dot_general %82, %11, contracting_dims = [0, 1] x [0, 1] : (tensor<2x16x32xf32>, tensor<2x16x32xf32>) -> tensor<32x32xf32>
    %84 = stablehlo.transpose %83, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %85 = stablehlo.reshape %78 : (tensor<2x16x2x16xf32>) -> tensor<2x16x32xf32>
    %86 = stablehlo.dot_general %85, %11, contracting_dims = [0, 1] x [0, 1] : (tensor<2x16x32xf32>, tensor<2x16x32xf32>) -> tensor<32x32xf32>
    %87 = stablehlo.transpose %86, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    return %84, %53, %87, %81 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
  }
  func.func private @_var(%arg0: tensor<2x16x32xf32>, %arg1: tensor<i32>) -> tensor<2x16x1xf32> {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x16x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x16x1xf32>) -> tensor<2x16x32xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x16x32xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<2x16x32xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %8 = stablehlo.subtract %cst_0, %7 : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<2x16x1xf32>
    %13 = stablehlo.compare GT, %8, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %14 = call @_where(%13, %12, %cst) : (tensor<i1>, tensor<2x16x1xf32>, tensor<f32>) -> tensor<2x16x1xf32>
    return %14 : tensor<2x16x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x16x1xf32>, %arg2: tensor<f32>) -> tensor<2x16x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x16x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x16x1xf32>
    return %2 : tensor<2x16x1xf32>
  }
  func.func private @_where_0(%arg0: tensor<16x16xi1>, %arg1: tensor<2x2x16x16xf32>, %arg2: tensor<f32>) -> (tensor<2x2x16x16xf32>, tensor<2x2x16x16xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<16x16xi1>) -> tensor<2x2x16x16xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x16x16xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x16x16xi1>, tensor<2x2x16x16xf32>
    return %3, %1 : tensor<2x2x16x16xf32>, tensor<2x2x16x16xi1>
  }
  func.func private @_where_1(%arg0: tensor<2x2x16x16xi1>, %arg1: tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x16x16xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x2x16x16xi1>, tensor<2x2x16x16xf32>
    return %1 : tensor<2x2x16x16xf32>
  }
}
