// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature,scalify-roles,scalify-recognize{scales=true marked=true},scalify-quantize-matmuls{recipe=fp8-current},scalify-narrow-state{recipe=fp8-current},scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=CURRENT

// A training step of a convolutional network.
// UNIT:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<3x3x4x32xf32>, %arg1: tensor<3x3x32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x8x8x4xf32>, %arg4: tensor<4xi32>) -> (tensor<3x3x4x32xf32> {jax.result_info = "result[0][0]"}, tensor<3x3x32x32xf32> {jax.result_info = "result[0][1]"}, tensor<32x16xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<4x4x4x32xf32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<4x16xf32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<4x8x8x32xf32>
// UNIT-NEXT: %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<3x3x4x32xf32>
// UNIT-NEXT: %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<3x3x32x32xf32>
// UNIT-NEXT: %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<32x16xf32>
// UNIT-NEXT: %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<4x8x8x4xf32>
// UNIT-NEXT: %cst_7 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// UNIT-NEXT: %cst_8 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// UNIT-NEXT: %cst_9 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_10 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg3, %cst_6 : tensor<4x8x8x4xf32>
// UNIT-NEXT: %1 = stablehlo.add %arg3, %0 : tensor<4x8x8x4xf32>
// UNIT-NEXT: %2 = stablehlo.clamp %cst_7, %1, %cst_8 : (tensor<f32>, tensor<4x8x8x4xf32>, tensor<f32>) -> tensor<4x8x8x4xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<4x8x8x4xf32>) -> tensor<4x8x8x4xf8E5M2>
// UNIT-NEXT: %4 = stablehlo.multiply %arg2, %cst_5 : tensor<32x16xf32>
// UNIT-NEXT: %5 = stablehlo.add %arg2, %4 : tensor<32x16xf32>
// UNIT-NEXT: %6 = stablehlo.clamp %cst_9, %5, %cst_10 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// UNIT-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// UNIT-NEXT: %8 = stablehlo.multiply %arg1, %cst_4 : tensor<3x3x32x32xf32>
// UNIT-NEXT: %9 = stablehlo.add %arg1, %8 : tensor<3x3x32x32xf32>
// UNIT-NEXT: %10 = stablehlo.clamp %cst_9, %9, %cst_10 : (tensor<f32>, tensor<3x3x32x32xf32>, tensor<f32>) -> tensor<3x3x32x32xf32>
// UNIT-NEXT: %11 = stablehlo.convert %10 {scalify.forms = ["2^0"]} : (tensor<3x3x32x32xf32>) -> tensor<3x3x32x32xf8E4M3FN>
// UNIT-NEXT: %12 = stablehlo.multiply %arg0, %cst_3 : tensor<3x3x4x32xf32>
// UNIT-NEXT: %13 = stablehlo.add %arg0, %12 : tensor<3x3x4x32xf32>
// UNIT-NEXT: %14 = stablehlo.clamp %cst_9, %13, %cst_10 : (tensor<f32>, tensor<3x3x4x32xf32>, tensor<f32>) -> tensor<3x3x4x32xf32>
// UNIT-NEXT: %15 = stablehlo.convert %14 {scalify.forms = ["2^0"]} : (tensor<3x3x4x32xf32>) -> tensor<3x3x4x32xf8E4M3FN>
// UNIT-NEXT: %16 = stablehlo.multiply %arg3, %cst_6 : tensor<4x8x8x4xf32>
// UNIT-NEXT: %17 = stablehlo.add %arg3, %16 : tensor<4x8x8x4xf32>
// UNIT-NEXT: %18 = stablehlo.clamp %cst_9, %17, %cst_10 : (tensor<f32>, tensor<4x8x8x4xf32>, tensor<f32>) -> tensor<4x8x8x4xf32>
// UNIT-NEXT: %19 = stablehlo.convert %18 {scalify.forms = ["2^0"]} : (tensor<4x8x8x4xf32>) -> tensor<4x8x8x4xf8E4M3FN>
// UNIT-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.600000e+01> : tensor<f32>
// UNIT-NEXT: %cst_15 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %20 = stablehlo.convolution(%19, %15) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^0 level 2.58496"]} : (tensor<4x8x8x4xf8E4M3FN>, tensor<3x3x4x32xf8E4M3FN>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %21 = call @relu(%20) {scalify.forms = ["2^0 level 2"]} : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %cst_16 = stablehlo.constant dense<2.500000e-01> : tensor<4x8x8x32xf32>
// UNIT-NEXT: %22 = stablehlo.multiply %21, %cst_16 : tensor<4x8x8x32xf32>
// UNIT-NEXT: %23 = stablehlo.multiply %22, %cst_2 : tensor<4x8x8x32xf32>
// UNIT-NEXT: %24 = stablehlo.add %22, %23 : tensor<4x8x8x32xf32>
// UNIT-NEXT: %25 = stablehlo.clamp %cst_7, %24, %cst_8 : (tensor<f32>, tensor<4x8x8x32xf32>, tensor<f32>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %26 = stablehlo.convert %25 {scalify.forms = ["2^2"]} : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf8E5M2>
// UNIT-NEXT: %27 = stablehlo.multiply %22, %cst_2 : tensor<4x8x8x32xf32>
// UNIT-NEXT: %28 = stablehlo.add %22, %27 : tensor<4x8x8x32xf32>
// UNIT-NEXT: %29 = stablehlo.clamp %cst_9, %28, %cst_10 : (tensor<f32>, tensor<4x8x8x32xf32>, tensor<f32>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %30 = stablehlo.convert %29 {scalify.forms = ["2^2"]} : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf8E4M3FN>
// UNIT-NEXT: %31 = stablehlo.broadcast_in_dim %cst_15, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %32 = stablehlo.compare GT, %20, %31, FLOAT : (tensor<4x8x8x32xf32>, tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xi1>
// UNIT-NEXT: %33 = stablehlo.convolution(%30, %11) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^2 level 4.08496"]} : (tensor<4x8x8x32xf8E4M3FN>, tensor<3x3x32x32xf8E4M3FN>) -> tensor<4x4x4x32xf32>
// UNIT-NEXT: %34 = call @relu_0_scaled_1(%33) {scalify.forms = ["2^0 level 5.5"]} : (tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xf32>
// UNIT-NEXT: %35 = stablehlo.broadcast_in_dim %cst_15, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x4x4x32xf32>
// UNIT-NEXT: %36 = stablehlo.compare GT, %33, %35, FLOAT : (tensor<4x4x4x32xf32>, tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xi1>
// UNIT-NEXT: %37 = stablehlo.reduce(%34 init: %cst_15) applies stablehlo.add across dimensions = [1, 2] {scalify.forms = ["2^0 level 7.5"]} : (tensor<4x4x4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %38 = stablehlo.broadcast_in_dim %cst_14, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %39 = stablehlo.divide %37, %38 {scalify.forms = ["2^0 level 3.5"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_17 = stablehlo.constant dense<2.560000e+02> : tensor<4x32xf32>
// UNIT-NEXT: %40 = stablehlo.divide %37, %cst_17 : tensor<4x32xf32>
// UNIT-NEXT: %41 = stablehlo.multiply %40, %cst_1 : tensor<4x32xf32>
// UNIT-NEXT: %42 = stablehlo.add %40, %41 : tensor<4x32xf32>
// UNIT-NEXT: %43 = stablehlo.clamp %cst_9, %42, %cst_10 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %44 = stablehlo.convert %43 {scalify.forms = ["2^4 level -0.5"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// UNIT-NEXT: %45 = stablehlo.dot_general %44, %7, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^4 level 2"]} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// UNIT-NEXT: %46:3 = call @log_softmax_scaled_2(%45) {scalify.forms = ["2^0 level 6.50009", "2^0", "2^0 level 4"]} : (tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>)
// UNIT-NEXT: %47 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
// UNIT-NEXT: %48:2 = call @take_along_axis(%46#0, %47) {scalify.forms = ["2^0 level 6.5", "unscaled"]} : (tensor<4x16xf32>, tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>)
// UNIT-NEXT: %49 = stablehlo.reduce(%48#0 init: %cst_15) applies stablehlo.add across dimensions = [0, 1] {scalify.forms = ["2^0 level 7.5"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
// UNIT-NEXT: %50 = stablehlo.divide %49, %cst_13 {scalify.forms = ["2^0 level 5.5"]} : tensor<f32>
// UNIT-NEXT: %51 = stablehlo.negate %50 {scalify.forms = ["2^0 level 5.5"]} : tensor<f32>
// UNIT-NEXT: %52 = stablehlo.negate %cst_12 {scalify.forms = ["unscaled"]} : tensor<f32>
// UNIT-NEXT: %53 = stablehlo.divide %52, %cst_13 {scalify.forms = ["2^0 level -2"]} : tensor<f32>
// UNIT-NEXT: %54 = stablehlo.broadcast_in_dim %53, dims = [] {scalify.forms = ["2^0 level -2"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %55 = call @take_along_axis_1(%48#1, %54) {scalify.forms = ["2^0 level -4"]} : (tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %56 = call @log_softmax_2(%46#1, %46#2, %55) {scalify.forms = ["2^0 level -3.95627"]} : (tensor<4x16xf32>, tensor<4x1xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %cst_18 = stablehlo.constant dense<1.600000e+01> : tensor<4x16xf32>
// UNIT-NEXT: %57 = stablehlo.multiply %56, %cst_18 : tensor<4x16xf32>
// UNIT-NEXT: %58 = stablehlo.multiply %57, %cst_0 : tensor<4x16xf32>
// UNIT-NEXT: %59 = stablehlo.add %57, %58 : tensor<4x16xf32>
// UNIT-NEXT: %60 = stablehlo.clamp %cst_7, %59, %cst_8 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %61 = stablehlo.convert %60 {scalify.forms = ["2^-4 level 0.0437314"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// UNIT-NEXT: %62 = stablehlo.dot_general %56, %39, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level 0.543731"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// UNIT-NEXT: %63 = stablehlo.transpose %62, dims = [1, 0] {scalify.forms = ["2^0 level 0.543731"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// UNIT-NEXT: %64 = stablehlo.dot_general %61, %7, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-4 level 2.04373"]} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %cst_19 = stablehlo.constant dense<2.560000e+02> : tensor<4x32xf32>
// UNIT-NEXT: %65 = stablehlo.divide %64, %cst_19 : tensor<4x32xf32>
// UNIT-NEXT: %66 = stablehlo.broadcast_in_dim %65, dims = [0, 3] {scalify.forms = ["2^0 level -5.95627"]} : (tensor<4x32xf32>) -> tensor<4x4x4x32xf32>
// UNIT-NEXT: %67 = stablehlo.broadcast_in_dim %cst_15, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x4x4x32xf32>
// UNIT-NEXT: %68 = stablehlo.select %36, %66, %67 {scalify.forms = ["2^0 level -6.45627"]} : tensor<4x4x4x32xi1>, tensor<4x4x4x32xf32>
// UNIT-NEXT: %cst_20 = stablehlo.constant dense<6.400000e+01> : tensor<4x4x4x32xf32>
// UNIT-NEXT: %69 = stablehlo.multiply %68, %cst_20 : tensor<4x4x4x32xf32>
// UNIT-NEXT: %70 = stablehlo.multiply %69, %cst : tensor<4x4x4x32xf32>
// UNIT-NEXT: %71 = stablehlo.add %69, %70 : tensor<4x4x4x32xf32>
// UNIT-NEXT: %72 = stablehlo.clamp %cst_7, %71, %cst_8 : (tensor<f32>, tensor<4x4x4x32xf32>, tensor<f32>) -> tensor<4x4x4x32xf32>
// UNIT-NEXT: %73 = stablehlo.convert %72 {scalify.forms = ["2^-6 level -0.456269"]} : (tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xf8E5M2>
// UNIT-NEXT: %74 = stablehlo.optimization_barrier {scalify.forms = ["2^-6 level -0.456269"]} %73 : tensor<4x4x4x32xf8E5M2>
// UNIT-NEXT: %75 = stablehlo.convolution(%26, %74) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^-4 level 2.54373"]} : (tensor<4x8x8x32xf8E5M2>, tensor<4x4x4x32xf8E5M2>) -> tensor<3x3x32x32xf32>
// UNIT-NEXT: %76 = stablehlo.reverse %arg1, dims = [0, 1] {scalify.forms = ["2^0"]} : tensor<3x3x32x32xf32>
// UNIT-NEXT: %77 = stablehlo.multiply %76, %cst_4 : tensor<3x3x32x32xf32>
// UNIT-NEXT: %78 = stablehlo.add %76, %77 : tensor<3x3x32x32xf32>
// UNIT-NEXT: %79 = stablehlo.clamp %cst_7, %78, %cst_8 : (tensor<f32>, tensor<3x3x32x32xf32>, tensor<f32>) -> tensor<3x3x32x32xf32>
// UNIT-NEXT: %80 = stablehlo.convert %79 {scalify.forms = ["2^0"]} : (tensor<3x3x32x32xf32>) -> tensor<3x3x32x32xf8E5M2>
// UNIT-NEXT: %81 = stablehlo.convolution(%74, %80) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^-6 level 3.62869"]} : (tensor<4x4x4x32xf8E5M2>, tensor<3x3x32x32xf8E5M2>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %82 = stablehlo.broadcast_in_dim %cst_15, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %83 = stablehlo.select %32, %81, %82 {scalify.forms = ["2^-6 level 3.12869"]} : tensor<4x8x8x32xi1>, tensor<4x8x8x32xf32>
// UNIT-NEXT: %cst_21 = stablehlo.constant dense<1.562500e-02> : tensor<4x8x8x32xf32>
// UNIT-NEXT: %84 = stablehlo.multiply %83, %cst_21 : tensor<4x8x8x32xf32>
// UNIT-NEXT: %cst_22 = stablehlo.constant dense<8.000000e+00> : tensor<4x8x8x32xf32>
// UNIT-NEXT: %85 = stablehlo.multiply %84, %cst_22 : tensor<4x8x8x32xf32>
// UNIT-NEXT: %86 = stablehlo.multiply %85, %cst_2 : tensor<4x8x8x32xf32>
// UNIT-NEXT: %87 = stablehlo.add %85, %86 : tensor<4x8x8x32xf32>
// UNIT-NEXT: %88 = stablehlo.clamp %cst_7, %87, %cst_8 : (tensor<f32>, tensor<4x8x8x32xf32>, tensor<f32>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %89 = stablehlo.convert %88 {scalify.forms = ["2^-3 level 0.128694"]} : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf8E5M2>
// UNIT-NEXT: %90 = stablehlo.optimization_barrier {scalify.forms = ["2^-3 level 0.128694"]} %89 : tensor<4x8x8x32xf8E5M2>
// UNIT-NEXT: %91 = stablehlo.convolution(%3, %90) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^-3 level 4.12869"]} : (tensor<4x8x8x4xf8E5M2>, tensor<4x8x8x32xf8E5M2>) -> tensor<3x3x4x32xf32>
// UNIT-NEXT: %cst_23 = stablehlo.constant dense<1.250000e-02> : tensor<3x3x4x32xf32>
// UNIT-NEXT: %92 = stablehlo.multiply %cst_23, %91 : tensor<3x3x4x32xf32>
// UNIT-NEXT: %93 = stablehlo.subtract %arg0, %92 {scalify.forms = ["2^0 level 0.0336903"]} : tensor<3x3x4x32xf32>
// UNIT-NEXT: %cst_24 = stablehlo.constant dense<6.250000e-03> : tensor<3x3x32x32xf32>
// UNIT-NEXT: %94 = stablehlo.multiply %cst_24, %75 : tensor<3x3x32x32xf32>
// UNIT-NEXT: %95 = stablehlo.subtract %arg1, %94 {scalify.forms = ["2^0 level 0.000957404"]} : tensor<3x3x32x32xf32>
// UNIT-NEXT: %96 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// UNIT-NEXT: %97 = stablehlo.multiply %96, %63 {scalify.forms = ["2^0 level -2.7782"]} : tensor<32x16xf32>
// UNIT-NEXT: %98 = stablehlo.subtract %arg2, %97 {scalify.forms = ["2^0 level 0.015168"]} : tensor<32x16xf32>
// UNIT-NEXT: return %93, %95, %98, %51 : tensor<3x3x4x32xf32>, tensor<3x3x32x32xf32>, tensor<32x16xf32>, tensor<f32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @relu(%arg0: tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %1 = stablehlo.maximum %arg0, %0 : tensor<4x8x8x32xf32>
// UNIT-NEXT: return %1 : tensor<4x8x8x32xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @relu_0_scaled_1(%arg0: tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xf32> {
// UNIT-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x4x4x32xf32>
// UNIT-NEXT: %1 = stablehlo.maximum %arg0, %0 {scalify.forms = ["2^2 level 3.5"]} : tensor<4x4x4x32xf32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<4x4x4x32xf32>
// UNIT-NEXT: %2 = stablehlo.multiply %1, %cst_0 : tensor<4x4x4x32xf32>
// UNIT-NEXT: return %2 : tensor<4x4x4x32xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @log_softmax_scaled_2(%arg0: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>) {
// UNIT-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<1.600000e+01> : tensor<4x16xf32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg0, %cst_1 : tensor<4x16xf32>
// UNIT-NEXT: %1 = stablehlo.reduce(%0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] {scalify.forms = ["2^0 level 6"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %3 = stablehlo.maximum %2, %1 {scalify.forms = ["2^0 level 6"]} : tensor<4xf32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0] {scalify.forms = ["2^0 level 6"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] {scalify.forms = ["2^0 level 6"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %6 = stablehlo.subtract %0, %5 {scalify.forms = ["2^0 level 6.5"]} : tensor<4x16xf32>
// UNIT-NEXT: %7 = stablehlo.exponential %6 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// UNIT-NEXT: %8 = stablehlo.reduce(%7 init: %cst) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %9 = stablehlo.broadcast_in_dim %8, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %10 = stablehlo.log %9 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// UNIT-NEXT: %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %12 = stablehlo.subtract %6, %11 {scalify.forms = ["2^0 level 6.50009"]} : tensor<4x16xf32>
// UNIT-NEXT: return %12, %7, %9 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @take_along_axis(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// UNIT-NEXT: %c = stablehlo.constant dense<true> : tensor<i1>
// UNIT-NEXT: %c_0 = stablehlo.constant dense<15> : tensor<1xi32>
// UNIT-NEXT: %c_1 = stablehlo.constant dense<16> : tensor<i32>
// UNIT-NEXT: %c_2 = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
// UNIT-NEXT: %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
// UNIT-NEXT: %3 = stablehlo.add %arg1, %2 : tensor<4x1xi32>
// UNIT-NEXT: %4 = stablehlo.select %1, %3, %arg1 : tensor<4x1xi1>, tensor<4x1xi32>
// UNIT-NEXT: %5 = stablehlo.reshape %4 : (tensor<4x1xi32>) -> tensor<4x1x1xi32>
// UNIT-NEXT: %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1x1xi32>
// UNIT-NEXT: %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
// UNIT-NEXT: %8 = stablehlo.broadcast_in_dim %c_0, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
// UNIT-NEXT: %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<4x1x1xi32>
// UNIT-NEXT: %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
// UNIT-NEXT: %11 = stablehlo.and %7, %10 : tensor<4x1x1xi1>
// UNIT-NEXT: %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.and across dimensions = [2] : (tensor<4x1x1xi1>, tensor<i1>) -> tensor<4x1xi1>
// UNIT-NEXT: %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x1x1xi32>) -> tensor<4x1xf32>
// UNIT-NEXT: %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %15 = stablehlo.select %12, %13, %14 : tensor<4x1xi1>, tensor<4x1xf32>
// UNIT-NEXT: return %15, %5 : tensor<4x1xf32>, tensor<4x1x1xi32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @take_along_axis_1(%arg0: tensor<4x1x1xi32>, %arg1: tensor<4x1xf32>) -> tensor<4x16xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
// UNIT-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// UNIT-NEXT: %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
// UNIT-NEXT: stablehlo.return %2 : tensor<f32>
// UNIT-NEXT: }) : (tensor<4x16xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: return %1 : tensor<4x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @log_softmax_2(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x16xf32>) -> tensor<4x16xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.negate %arg2 : tensor<4x16xf32>
// UNIT-NEXT: %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %3 = stablehlo.divide %2, %arg1 : tensor<4x1xf32>
// UNIT-NEXT: %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %6 = stablehlo.multiply %5, %arg0 : tensor<4x16xf32>
// UNIT-NEXT: %7 = stablehlo.add %arg2, %6 : tensor<4x16xf32>
// UNIT-NEXT: return %7 : tensor<4x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// CURRENT:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// CURRENT-NEXT: func.func public @main(%arg0: tensor<3x3x4x32xf32>, %arg1: tensor<3x3x32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x8x8x4xf32>, %arg4: tensor<4xi32>) -> (tensor<3x3x4x32xf32> {jax.result_info = "result[0][0]"}, tensor<3x3x32x32xf32> {jax.result_info = "result[0][1]"}, tensor<32x16xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
// CURRENT-NEXT: %c = stablehlo.constant dense<8388608> : tensor<4x4x4x32xi32>
// CURRENT-NEXT: %c_0 = stablehlo.constant dense<2256535552> : tensor<ui32>
// CURRENT-NEXT: %c_1 = stablehlo.constant dense<8388608> : tensor<4x16xi32>
// CURRENT-NEXT: %c_2 = stablehlo.constant dense<8388608> : tensor<32x16xi32>
// CURRENT-NEXT: %c_3 = stablehlo.constant dense<8388608> : tensor<4x32xi32>
// CURRENT-NEXT: %c_4 = stablehlo.constant dense<8388608> : tensor<3x3x32x32xi32>
// CURRENT-NEXT: %c_5 = stablehlo.constant dense<8388608> : tensor<4x8x8x32xi32>
// CURRENT-NEXT: %c_6 = stablehlo.constant dense<8388608> : tensor<3x3x4x32xi32>
// CURRENT-NEXT: %c_7 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CURRENT-NEXT: %c_8 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CURRENT-NEXT: %c_9 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %c_10 = stablehlo.constant dense<2097151> : tensor<ui32>
// CURRENT-NEXT: %cst = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CURRENT-NEXT: %c_11 = stablehlo.constant dense<8388608> : tensor<i32>
// CURRENT-NEXT: %c_12 = stablehlo.constant dense<8388608> : tensor<4x8x8x4xi32>
// CURRENT-NEXT: %0 = stablehlo.abs %arg2 : tensor<32x16xf32>
// CURRENT-NEXT: %1 = stablehlo.bitcast_convert %0 : (tensor<32x16xf32>) -> tensor<32x16xi32>
// CURRENT-NEXT: %2 = stablehlo.add %1, %c_2 : tensor<32x16xi32>
// CURRENT-NEXT: %3 = stablehlo.reduce(%2 init: %c_11) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xi32>, tensor<i32>) -> tensor<i32>
// CURRENT-NEXT: %4 = stablehlo.optimization_barrier %3 : tensor<i32>
// CURRENT-NEXT: %5 = stablehlo.subtract %4, %c_11 : tensor<i32>
// CURRENT-NEXT: %6 = stablehlo.bitcast_convert %5 : (tensor<i32>) -> tensor<f32>
// CURRENT-NEXT: %7 = stablehlo.maximum %6, %cst : tensor<f32>
// CURRENT-NEXT: %8 = stablehlo.bitcast_convert %7 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %9 = stablehlo.add %8, %c_10 : tensor<ui32>
// CURRENT-NEXT: %10 = stablehlo.and %9, %c_9 : tensor<ui32>
// CURRENT-NEXT: %11 = stablehlo.subtract %c_8, %10 : tensor<ui32>
// CURRENT-NEXT: %12 = stablehlo.bitcast_convert %11 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %13 = stablehlo.bitcast_convert %12 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %14 = stablehlo.subtract %c_7, %13 : tensor<ui32>
// CURRENT-NEXT: %15 = stablehlo.bitcast_convert %14 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %16 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CURRENT-NEXT: %17 = stablehlo.multiply %arg2, %16 : tensor<32x16xf32>
// CURRENT-NEXT: %18 = stablehlo.convert %17 : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// CURRENT-NEXT: %19 = stablehlo.abs %arg1 : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %20 = stablehlo.bitcast_convert %19 : (tensor<3x3x32x32xf32>) -> tensor<3x3x32x32xi32>
// CURRENT-NEXT: %21 = stablehlo.add %20, %c_4 : tensor<3x3x32x32xi32>
// CURRENT-NEXT: %22 = stablehlo.reduce(%21 init: %c_11) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<3x3x32x32xi32>, tensor<i32>) -> tensor<i32>
// CURRENT-NEXT: %23 = stablehlo.optimization_barrier %22 : tensor<i32>
// CURRENT-NEXT: %24 = stablehlo.subtract %23, %c_11 : tensor<i32>
// CURRENT-NEXT: %25 = stablehlo.bitcast_convert %24 : (tensor<i32>) -> tensor<f32>
// CURRENT-NEXT: %26 = stablehlo.maximum %25, %cst : tensor<f32>
// CURRENT-NEXT: %27 = stablehlo.bitcast_convert %26 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %28 = stablehlo.add %27, %c_10 : tensor<ui32>
// CURRENT-NEXT: %29 = stablehlo.and %28, %c_9 : tensor<ui32>
// CURRENT-NEXT: %30 = stablehlo.subtract %c_8, %29 : tensor<ui32>
// CURRENT-NEXT: %31 = stablehlo.bitcast_convert %30 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %32 = stablehlo.bitcast_convert %31 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %33 = stablehlo.subtract %c_7, %32 : tensor<ui32>
// CURRENT-NEXT: %34 = stablehlo.bitcast_convert %33 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %35 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f32>) -> tensor<3x3x32x32xf32>
// CURRENT-NEXT: %36 = stablehlo.multiply %arg1, %35 : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %37 = stablehlo.convert %36 : (tensor<3x3x32x32xf32>) -> tensor<3x3x32x32xf8E4M3FN>
// CURRENT-NEXT: %38 = stablehlo.abs %arg0 : tensor<3x3x4x32xf32>
// CURRENT-NEXT: %39 = stablehlo.bitcast_convert %38 : (tensor<3x3x4x32xf32>) -> tensor<3x3x4x32xi32>
// CURRENT-NEXT: %40 = stablehlo.add %39, %c_6 : tensor<3x3x4x32xi32>
// CURRENT-NEXT: %41 = stablehlo.reduce(%40 init: %c_11) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<3x3x4x32xi32>, tensor<i32>) -> tensor<i32>
// CURRENT-NEXT: %42 = stablehlo.optimization_barrier %41 : tensor<i32>
// CURRENT-NEXT: %43 = stablehlo.subtract %42, %c_11 : tensor<i32>
// CURRENT-NEXT: %44 = stablehlo.bitcast_convert %43 : (tensor<i32>) -> tensor<f32>
// CURRENT-NEXT: %45 = stablehlo.maximum %44, %cst : tensor<f32>
// CURRENT-NEXT: %46 = stablehlo.bitcast_convert %45 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %47 = stablehlo.add %46, %c_10 : tensor<ui32>
// CURRENT-NEXT: %48 = stablehlo.and %47, %c_9 : tensor<ui32>
// CURRENT-NEXT: %49 = stablehlo.subtract %c_8, %48 : tensor<ui32>
// CURRENT-NEXT: %50 = stablehlo.bitcast_convert %49 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %51 = stablehlo.bitcast_convert %50 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %52 = stablehlo.subtract %c_7, %51 : tensor<ui32>
// CURRENT-NEXT: %53 = stablehlo.bitcast_convert %52 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %54 = stablehlo.broadcast_in_dim %50, dims = [] : (tensor<f32>) -> tensor<3x3x4x32xf32>
// CURRENT-NEXT: %55 = stablehlo.multiply %arg0, %54 : tensor<3x3x4x32xf32>
// CURRENT-NEXT: %56 = stablehlo.convert %55 : (tensor<3x3x4x32xf32>) -> tensor<3x3x4x32xf8E4M3FN>
// CURRENT-NEXT: %57 = stablehlo.abs %arg3 : tensor<4x8x8x4xf32>
// CURRENT-NEXT: %58 = stablehlo.bitcast_convert %57 : (tensor<4x8x8x4xf32>) -> tensor<4x8x8x4xi32>
// CURRENT-NEXT: %59 = stablehlo.add %58, %c_12 : tensor<4x8x8x4xi32>
// CURRENT-NEXT: %60 = stablehlo.reduce(%59 init: %c_11) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<4x8x8x4xi32>, tensor<i32>) -> tensor<i32>
// CURRENT-NEXT: %61 = stablehlo.optimization_barrier %60 : tensor<i32>
// CURRENT-NEXT: %62 = stablehlo.subtract %61, %c_11 : tensor<i32>
// CURRENT-NEXT: %63 = stablehlo.bitcast_convert %62 : (tensor<i32>) -> tensor<f32>
// CURRENT-NEXT: %64 = stablehlo.maximum %63, %cst : tensor<f32>
// CURRENT-NEXT: %65 = stablehlo.bitcast_convert %64 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %66 = stablehlo.add %65, %c_10 : tensor<ui32>
// CURRENT-NEXT: %67 = stablehlo.and %66, %c_9 : tensor<ui32>
// CURRENT-NEXT: %68 = stablehlo.subtract %c_8, %67 : tensor<ui32>
// CURRENT-NEXT: %69 = stablehlo.bitcast_convert %68 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %70 = stablehlo.bitcast_convert %69 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %71 = stablehlo.subtract %c_7, %70 : tensor<ui32>
// CURRENT-NEXT: %72 = stablehlo.bitcast_convert %71 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %73 = stablehlo.broadcast_in_dim %69, dims = [] : (tensor<f32>) -> tensor<4x8x8x4xf32>
// CURRENT-NEXT: %74 = stablehlo.multiply %arg3, %73 : tensor<4x8x8x4xf32>
// CURRENT-NEXT: %75 = stablehlo.convert %74 : (tensor<4x8x8x4xf32>) -> tensor<4x8x8x4xf8E4M3FN>
// CURRENT-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// CURRENT-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CURRENT-NEXT: %cst_15 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.000000e+00> : tensor<f32>
// CURRENT-NEXT: %cst_16 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.600000e+01> : tensor<f32>
// CURRENT-NEXT: %cst_17 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %76 = stablehlo.convolution(%75, %56) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x4xf8E4M3FN>, tensor<3x3x4x32xf8E4M3FN>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %77 = stablehlo.multiply %72, %53 : tensor<f32>
// CURRENT-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CURRENT-NEXT: %78 = stablehlo.minimum %77, %cst_18 : tensor<f32>
// CURRENT-NEXT: %79 = stablehlo.broadcast_in_dim %78, dims = [] : (tensor<f32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %80 = stablehlo.multiply %76, %79 : tensor<4x8x8x32xf32>
// CURRENT-NEXT: %81 = call @relu(%80) : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %82 = stablehlo.abs %81 : tensor<4x8x8x32xf32>
// CURRENT-NEXT: %83 = stablehlo.bitcast_convert %82 : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xi32>
// CURRENT-NEXT: %84 = stablehlo.add %83, %c_5 : tensor<4x8x8x32xi32>
// CURRENT-NEXT: %85 = stablehlo.reduce(%84 init: %c_11) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<4x8x8x32xi32>, tensor<i32>) -> tensor<i32>
// CURRENT-NEXT: %86 = stablehlo.optimization_barrier %85 : tensor<i32>
// CURRENT-NEXT: %87 = stablehlo.subtract %86, %c_11 : tensor<i32>
// CURRENT-NEXT: %88 = stablehlo.bitcast_convert %87 : (tensor<i32>) -> tensor<f32>
// CURRENT-NEXT: %89 = stablehlo.maximum %88, %cst : tensor<f32>
// CURRENT-NEXT: %90 = stablehlo.bitcast_convert %89 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %91 = stablehlo.add %90, %c_10 : tensor<ui32>
// CURRENT-NEXT: %92 = stablehlo.and %91, %c_9 : tensor<ui32>
// CURRENT-NEXT: %93 = stablehlo.subtract %c_8, %92 : tensor<ui32>
// CURRENT-NEXT: %94 = stablehlo.bitcast_convert %93 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %95 = stablehlo.bitcast_convert %94 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %96 = stablehlo.subtract %c_7, %95 : tensor<ui32>
// CURRENT-NEXT: %97 = stablehlo.bitcast_convert %96 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %98 = stablehlo.broadcast_in_dim %94, dims = [] : (tensor<f32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %99 = stablehlo.multiply %81, %98 : tensor<4x8x8x32xf32>
// CURRENT-NEXT: %100 = stablehlo.convert %99 : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf8E4M3FN>
// CURRENT-NEXT: %101 = stablehlo.broadcast_in_dim %cst_17, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %102 = stablehlo.compare GT, %80, %101, FLOAT : (tensor<4x8x8x32xf32>, tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xi1>
// CURRENT-NEXT: %103 = stablehlo.convolution(%100, %37) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x32xf8E4M3FN>, tensor<3x3x32x32xf8E4M3FN>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %104 = stablehlo.multiply %97, %34 : tensor<f32>
// CURRENT-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CURRENT-NEXT: %105 = stablehlo.minimum %104, %cst_19 : tensor<f32>
// CURRENT-NEXT: %106 = stablehlo.broadcast_in_dim %105, dims = [] : (tensor<f32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %107 = stablehlo.multiply %103, %106 : tensor<4x4x4x32xf32>
// CURRENT-NEXT: %108 = call @relu_0(%107) : (tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %109 = stablehlo.broadcast_in_dim %cst_17, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %110 = stablehlo.compare GT, %107, %109, FLOAT : (tensor<4x4x4x32xf32>, tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xi1>
// CURRENT-NEXT: %111 = stablehlo.reduce(%108 init: %cst_17) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x4x4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// CURRENT-NEXT: %112 = stablehlo.broadcast_in_dim %cst_16, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// CURRENT-NEXT: %113 = stablehlo.divide %111, %112 : tensor<4x32xf32>
// CURRENT-NEXT: %114 = stablehlo.abs %113 : tensor<4x32xf32>
// CURRENT-NEXT: %115 = stablehlo.bitcast_convert %114 : (tensor<4x32xf32>) -> tensor<4x32xi32>
// CURRENT-NEXT: %116 = stablehlo.add %115, %c_3 : tensor<4x32xi32>
// CURRENT-NEXT: %117 = stablehlo.reduce(%116 init: %c_11) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x32xi32>, tensor<i32>) -> tensor<i32>
// CURRENT-NEXT: %118 = stablehlo.optimization_barrier %117 : tensor<i32>
// CURRENT-NEXT: %119 = stablehlo.subtract %118, %c_11 : tensor<i32>
// CURRENT-NEXT: %120 = stablehlo.bitcast_convert %119 : (tensor<i32>) -> tensor<f32>
// CURRENT-NEXT: %121 = stablehlo.maximum %120, %cst : tensor<f32>
// CURRENT-NEXT: %122 = stablehlo.bitcast_convert %121 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %123 = stablehlo.add %122, %c_10 : tensor<ui32>
// CURRENT-NEXT: %124 = stablehlo.and %123, %c_9 : tensor<ui32>
// CURRENT-NEXT: %125 = stablehlo.subtract %c_8, %124 : tensor<ui32>
// CURRENT-NEXT: %126 = stablehlo.bitcast_convert %125 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %127 = stablehlo.bitcast_convert %126 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %128 = stablehlo.subtract %c_7, %127 : tensor<ui32>
// CURRENT-NEXT: %129 = stablehlo.bitcast_convert %128 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %130 = stablehlo.broadcast_in_dim %126, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// CURRENT-NEXT: %131 = stablehlo.multiply %113, %130 : tensor<4x32xf32>
// CURRENT-NEXT: %132 = stablehlo.convert %131 : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// CURRENT-NEXT: %133 = stablehlo.dot_general %132, %18, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// CURRENT-NEXT: %134 = stablehlo.multiply %129, %15 : tensor<f32>
// CURRENT-NEXT: %cst_20 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CURRENT-NEXT: %135 = stablehlo.minimum %134, %cst_20 : tensor<f32>
// CURRENT-NEXT: %136 = stablehlo.broadcast_in_dim %135, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// CURRENT-NEXT: %137 = stablehlo.multiply %133, %136 : tensor<4x16xf32>
// CURRENT-NEXT: %138 = stablehlo.optimization_barrier %137 : tensor<4x16xf32>
// CURRENT-NEXT: %139:3 = call @log_softmax(%138) : (tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>)
// CURRENT-NEXT: %140 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
// CURRENT-NEXT: %141:2 = call @take_along_axis(%139#0, %140) : (tensor<4x16xf32>, tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>)
// CURRENT-NEXT: %142 = stablehlo.reduce(%141#0 init: %cst_17) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
// CURRENT-NEXT: %143 = stablehlo.divide %142, %cst_15 : tensor<f32>
// CURRENT-NEXT: %144 = stablehlo.negate %143 : tensor<f32>
// CURRENT-NEXT: %145 = stablehlo.negate %cst_14 {scalify.forms = ["unscaled"]} : tensor<f32>
// CURRENT-NEXT: %146 = stablehlo.divide %145, %cst_15 : tensor<f32>
// CURRENT-NEXT: %147 = stablehlo.broadcast_in_dim %146, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// CURRENT-NEXT: %148 = call @take_along_axis_1(%141#1, %147) : (tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// CURRENT-NEXT: %149 = call @log_softmax_2(%139#1, %139#2, %148) : (tensor<4x16xf32>, tensor<4x1xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
// CURRENT-NEXT: %150 = stablehlo.abs %149 : tensor<4x16xf32>
// CURRENT-NEXT: %151 = stablehlo.bitcast_convert %150 : (tensor<4x16xf32>) -> tensor<4x16xi32>
// CURRENT-NEXT: %152 = stablehlo.add %151, %c_1 : tensor<4x16xi32>
// CURRENT-NEXT: %153 = stablehlo.reduce(%152 init: %c_11) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xi32>, tensor<i32>) -> tensor<i32>
// CURRENT-NEXT: %154 = stablehlo.optimization_barrier %153 : tensor<i32>
// CURRENT-NEXT: %155 = stablehlo.subtract %154, %c_11 : tensor<i32>
// CURRENT-NEXT: %156 = stablehlo.bitcast_convert %155 : (tensor<i32>) -> tensor<f32>
// CURRENT-NEXT: %157 = stablehlo.maximum %156, %cst : tensor<f32>
// CURRENT-NEXT: %158 = stablehlo.bitcast_convert %157 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %159 = stablehlo.add %158, %c_10 : tensor<ui32>
// CURRENT-NEXT: %160 = stablehlo.and %159, %c_9 : tensor<ui32>
// CURRENT-NEXT: %161 = stablehlo.subtract %c_0, %160 : tensor<ui32>
// CURRENT-NEXT: %162 = stablehlo.bitcast_convert %161 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %163 = stablehlo.bitcast_convert %162 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %164 = stablehlo.subtract %c_7, %163 : tensor<ui32>
// CURRENT-NEXT: %165 = stablehlo.bitcast_convert %164 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %166 = stablehlo.broadcast_in_dim %162, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// CURRENT-NEXT: %167 = stablehlo.multiply %149, %166 : tensor<4x16xf32>
// CURRENT-NEXT: %168 = stablehlo.convert %167 : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// CURRENT-NEXT: %169 = stablehlo.dot_general %149, %113, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// CURRENT-NEXT: %170 = stablehlo.transpose %169, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
// CURRENT-NEXT: %171 = stablehlo.dot_general %168, %18, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// CURRENT-NEXT: %172 = stablehlo.multiply %165, %15 : tensor<f32>
// CURRENT-NEXT: %cst_21 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CURRENT-NEXT: %173 = stablehlo.minimum %172, %cst_21 : tensor<f32>
// CURRENT-NEXT: %174 = stablehlo.broadcast_in_dim %173, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// CURRENT-NEXT: %175 = stablehlo.multiply %171, %174 : tensor<4x32xf32>
// CURRENT-NEXT: %176 = stablehlo.broadcast_in_dim %cst_16, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// CURRENT-NEXT: %177 = stablehlo.divide %175, %176 : tensor<4x32xf32>
// CURRENT-NEXT: %178 = stablehlo.broadcast_in_dim %177, dims = [0, 3] : (tensor<4x32xf32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %179 = stablehlo.broadcast_in_dim %cst_17, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %180 = stablehlo.select %110, %178, %179 : tensor<4x4x4x32xi1>, tensor<4x4x4x32xf32>
// CURRENT-NEXT: %181 = stablehlo.abs %180 : tensor<4x4x4x32xf32>
// CURRENT-NEXT: %182 = stablehlo.bitcast_convert %181 : (tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xi32>
// CURRENT-NEXT: %183 = stablehlo.add %182, %c : tensor<4x4x4x32xi32>
// CURRENT-NEXT: %184 = stablehlo.reduce(%183 init: %c_11) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<4x4x4x32xi32>, tensor<i32>) -> tensor<i32>
// CURRENT-NEXT: %185 = stablehlo.optimization_barrier %184 : tensor<i32>
// CURRENT-NEXT: %186 = stablehlo.subtract %185, %c_11 : tensor<i32>
// CURRENT-NEXT: %187 = stablehlo.bitcast_convert %186 : (tensor<i32>) -> tensor<f32>
// CURRENT-NEXT: %188 = stablehlo.maximum %187, %cst : tensor<f32>
// CURRENT-NEXT: %189 = stablehlo.bitcast_convert %188 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %190 = stablehlo.add %189, %c_10 : tensor<ui32>
// CURRENT-NEXT: %191 = stablehlo.and %190, %c_9 : tensor<ui32>
// CURRENT-NEXT: %192 = stablehlo.subtract %c_8, %191 : tensor<ui32>
// CURRENT-NEXT: %193 = stablehlo.bitcast_convert %192 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %194 = stablehlo.bitcast_convert %193 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %195 = stablehlo.subtract %c_7, %194 : tensor<ui32>
// CURRENT-NEXT: %196 = stablehlo.bitcast_convert %195 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %197 = stablehlo.broadcast_in_dim %193, dims = [] : (tensor<f32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %198 = stablehlo.multiply %180, %197 : tensor<4x4x4x32xf32>
// CURRENT-NEXT: %199 = stablehlo.convert %198 : (tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xf8E4M3FN>
// CURRENT-NEXT: %200 = stablehlo.optimization_barrier %199 : tensor<4x4x4x32xf8E4M3FN>
// CURRENT-NEXT: %201 = stablehlo.convolution(%100, %200) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x32xf8E4M3FN>, tensor<4x4x4x32xf8E4M3FN>) -> tensor<3x3x32x32xf32>
// CURRENT-NEXT: %202 = stablehlo.multiply %97, %196 : tensor<f32>
// CURRENT-NEXT: %cst_22 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CURRENT-NEXT: %203 = stablehlo.minimum %202, %cst_22 : tensor<f32>
// CURRENT-NEXT: %204 = stablehlo.broadcast_in_dim %203, dims = [] : (tensor<f32>) -> tensor<3x3x32x32xf32>
// CURRENT-NEXT: %205 = stablehlo.multiply %201, %204 : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %206 = stablehlo.reverse %arg1, dims = [0, 1] : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %207 = stablehlo.abs %206 : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %208 = stablehlo.bitcast_convert %207 : (tensor<3x3x32x32xf32>) -> tensor<3x3x32x32xi32>
// CURRENT-NEXT: %209 = stablehlo.add %208, %c_4 : tensor<3x3x32x32xi32>
// CURRENT-NEXT: %210 = stablehlo.reduce(%209 init: %c_11) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<3x3x32x32xi32>, tensor<i32>) -> tensor<i32>
// CURRENT-NEXT: %211 = stablehlo.optimization_barrier %210 : tensor<i32>
// CURRENT-NEXT: %212 = stablehlo.subtract %211, %c_11 : tensor<i32>
// CURRENT-NEXT: %213 = stablehlo.bitcast_convert %212 : (tensor<i32>) -> tensor<f32>
// CURRENT-NEXT: %214 = stablehlo.maximum %213, %cst : tensor<f32>
// CURRENT-NEXT: %215 = stablehlo.bitcast_convert %214 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %216 = stablehlo.add %215, %c_10 : tensor<ui32>
// CURRENT-NEXT: %217 = stablehlo.and %216, %c_9 : tensor<ui32>
// CURRENT-NEXT: %218 = stablehlo.subtract %c_8, %217 : tensor<ui32>
// CURRENT-NEXT: %219 = stablehlo.bitcast_convert %218 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %220 = stablehlo.bitcast_convert %219 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %221 = stablehlo.subtract %c_7, %220 : tensor<ui32>
// CURRENT-NEXT: %222 = stablehlo.bitcast_convert %221 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %223 = stablehlo.broadcast_in_dim %219, dims = [] : (tensor<f32>) -> tensor<3x3x32x32xf32>
// CURRENT-NEXT: %224 = stablehlo.multiply %206, %223 : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %225 = stablehlo.convert %224 : (tensor<3x3x32x32xf32>) -> tensor<3x3x32x32xf8E4M3FN>
// CURRENT-NEXT: %226 = stablehlo.convolution(%200, %225) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x4x4x32xf8E4M3FN>, tensor<3x3x32x32xf8E4M3FN>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %227 = stablehlo.multiply %196, %222 : tensor<f32>
// CURRENT-NEXT: %cst_23 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CURRENT-NEXT: %228 = stablehlo.minimum %227, %cst_23 : tensor<f32>
// CURRENT-NEXT: %229 = stablehlo.broadcast_in_dim %228, dims = [] : (tensor<f32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %230 = stablehlo.multiply %226, %229 : tensor<4x8x8x32xf32>
// CURRENT-NEXT: %231 = stablehlo.broadcast_in_dim %cst_17, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %232 = stablehlo.select %102, %230, %231 : tensor<4x8x8x32xi1>, tensor<4x8x8x32xf32>
// CURRENT-NEXT: %233 = stablehlo.abs %232 : tensor<4x8x8x32xf32>
// CURRENT-NEXT: %234 = stablehlo.bitcast_convert %233 : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xi32>
// CURRENT-NEXT: %235 = stablehlo.add %234, %c_5 : tensor<4x8x8x32xi32>
// CURRENT-NEXT: %236 = stablehlo.reduce(%235 init: %c_11) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<4x8x8x32xi32>, tensor<i32>) -> tensor<i32>
// CURRENT-NEXT: %237 = stablehlo.optimization_barrier %236 : tensor<i32>
// CURRENT-NEXT: %238 = stablehlo.subtract %237, %c_11 : tensor<i32>
// CURRENT-NEXT: %239 = stablehlo.bitcast_convert %238 : (tensor<i32>) -> tensor<f32>
// CURRENT-NEXT: %240 = stablehlo.maximum %239, %cst : tensor<f32>
// CURRENT-NEXT: %241 = stablehlo.bitcast_convert %240 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %242 = stablehlo.add %241, %c_10 : tensor<ui32>
// CURRENT-NEXT: %243 = stablehlo.and %242, %c_9 : tensor<ui32>
// CURRENT-NEXT: %244 = stablehlo.subtract %c_8, %243 : tensor<ui32>
// CURRENT-NEXT: %245 = stablehlo.bitcast_convert %244 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %246 = stablehlo.bitcast_convert %245 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %247 = stablehlo.subtract %c_7, %246 : tensor<ui32>
// CURRENT-NEXT: %248 = stablehlo.bitcast_convert %247 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %249 = stablehlo.broadcast_in_dim %245, dims = [] : (tensor<f32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %250 = stablehlo.multiply %232, %249 : tensor<4x8x8x32xf32>
// CURRENT-NEXT: %251 = stablehlo.convert %250 : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf8E4M3FN>
// CURRENT-NEXT: %252 = stablehlo.optimization_barrier %251 : tensor<4x8x8x32xf8E4M3FN>
// CURRENT-NEXT: %253 = stablehlo.convolution(%75, %252) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x4xf8E4M3FN>, tensor<4x8x8x32xf8E4M3FN>) -> tensor<3x3x4x32xf32>
// CURRENT-NEXT: %254 = stablehlo.multiply %72, %248 : tensor<f32>
// CURRENT-NEXT: %cst_24 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CURRENT-NEXT: %255 = stablehlo.minimum %254, %cst_24 : tensor<f32>
// CURRENT-NEXT: %256 = stablehlo.broadcast_in_dim %255, dims = [] : (tensor<f32>) -> tensor<3x3x4x32xf32>
// CURRENT-NEXT: %257 = stablehlo.multiply %253, %256 : tensor<3x3x4x32xf32>
// CURRENT-NEXT: %258 = stablehlo.broadcast_in_dim %cst_13, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<3x3x4x32xf32>
// CURRENT-NEXT: %259 = stablehlo.multiply %258, %257 : tensor<3x3x4x32xf32>
// CURRENT-NEXT: %260 = stablehlo.subtract %arg0, %259 : tensor<3x3x4x32xf32>
// CURRENT-NEXT: %261 = stablehlo.broadcast_in_dim %cst_13, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<3x3x32x32xf32>
// CURRENT-NEXT: %262 = stablehlo.multiply %261, %205 : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %263 = stablehlo.subtract %arg1, %262 : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %264 = stablehlo.broadcast_in_dim %cst_13, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// CURRENT-NEXT: %265 = stablehlo.multiply %264, %170 : tensor<32x16xf32>
// CURRENT-NEXT: %266 = stablehlo.subtract %arg2, %265 : tensor<32x16xf32>
// CURRENT-NEXT: return %260, %263, %266, %144 : tensor<3x3x4x32xf32>, tensor<3x3x32x32xf32>, tensor<32x16xf32>, tensor<f32>
// CURRENT-NEXT: }
// CURRENT-NEXT: func.func private @relu(%arg0: tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf32> {
// CURRENT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %1 = stablehlo.maximum %arg0, %0 : tensor<4x8x8x32xf32>
// CURRENT-NEXT: return %1 : tensor<4x8x8x32xf32>
// CURRENT-NEXT: }
// CURRENT-NEXT: func.func private @relu_0(%arg0: tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xf32> {
// CURRENT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %1 = stablehlo.maximum %arg0, %0 : tensor<4x4x4x32xf32>
// CURRENT-NEXT: return %1 : tensor<4x4x4x32xf32>
// CURRENT-NEXT: }
// CURRENT-NEXT: func.func private @log_softmax(%arg0: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>) {
// CURRENT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CURRENT-NEXT: %0 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// CURRENT-NEXT: %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
// CURRENT-NEXT: %2 = stablehlo.maximum %1, %0 : tensor<4xf32>
// CURRENT-NEXT: %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
// CURRENT-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
// CURRENT-NEXT: %5 = stablehlo.subtract %arg0, %4 : tensor<4x16xf32>
// CURRENT-NEXT: %6 = stablehlo.exponential %5 : tensor<4x16xf32>
// CURRENT-NEXT: %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// CURRENT-NEXT: %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
// CURRENT-NEXT: %9 = stablehlo.log %8 : tensor<4x1xf32>
// CURRENT-NEXT: %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
// CURRENT-NEXT: %11 = stablehlo.subtract %5, %10 : tensor<4x16xf32>
// CURRENT-NEXT: return %11, %6, %8 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>
// CURRENT-NEXT: }
// CURRENT-NEXT: func.func private @take_along_axis(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>) {
// CURRENT-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// CURRENT-NEXT: %c = stablehlo.constant dense<true> : tensor<i1>
// CURRENT-NEXT: %c_0 = stablehlo.constant dense<15> : tensor<1xi32>
// CURRENT-NEXT: %c_1 = stablehlo.constant dense<16> : tensor<i32>
// CURRENT-NEXT: %c_2 = stablehlo.constant dense<0> : tensor<i32>
// CURRENT-NEXT: %0 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
// CURRENT-NEXT: %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
// CURRENT-NEXT: %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
// CURRENT-NEXT: %3 = stablehlo.add %arg1, %2 : tensor<4x1xi32>
// CURRENT-NEXT: %4 = stablehlo.select %1, %3, %arg1 : tensor<4x1xi1>, tensor<4x1xi32>
// CURRENT-NEXT: %5 = stablehlo.reshape %4 : (tensor<4x1xi32>) -> tensor<4x1x1xi32>
// CURRENT-NEXT: %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1x1xi32>
// CURRENT-NEXT: %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
// CURRENT-NEXT: %8 = stablehlo.broadcast_in_dim %c_0, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
// CURRENT-NEXT: %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<4x1x1xi32>
// CURRENT-NEXT: %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
// CURRENT-NEXT: %11 = stablehlo.and %7, %10 : tensor<4x1x1xi1>
// CURRENT-NEXT: %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.and across dimensions = [2] : (tensor<4x1x1xi1>, tensor<i1>) -> tensor<4x1xi1>
// CURRENT-NEXT: %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x1x1xi32>) -> tensor<4x1xf32>
// CURRENT-NEXT: %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// CURRENT-NEXT: %15 = stablehlo.select %12, %13, %14 : tensor<4x1xi1>, tensor<4x1xf32>
// CURRENT-NEXT: return %15, %5 : tensor<4x1xf32>, tensor<4x1x1xi32>
// CURRENT-NEXT: }
// CURRENT-NEXT: func.func private @take_along_axis_1(%arg0: tensor<4x1x1xi32>, %arg1: tensor<4x1xf32>) -> tensor<4x16xf32> {
// CURRENT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// CURRENT-NEXT: %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
// CURRENT-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CURRENT-NEXT: %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
// CURRENT-NEXT: stablehlo.return %2 : tensor<f32>
// CURRENT-NEXT: }) : (tensor<4x16xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// CURRENT-NEXT: return %1 : tensor<4x16xf32>
// CURRENT-NEXT: }
// CURRENT-NEXT: func.func private @log_softmax_2(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x16xf32>) -> tensor<4x16xf32> {
// CURRENT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %0 = stablehlo.negate %arg2 : tensor<4x16xf32>
// CURRENT-NEXT: %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// CURRENT-NEXT: %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<4x1xf32>
// CURRENT-NEXT: %3 = stablehlo.divide %2, %arg1 : tensor<4x1xf32>
// CURRENT-NEXT: %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// CURRENT-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x16xf32>
// CURRENT-NEXT: %6 = stablehlo.multiply %5, %arg0 : tensor<4x16xf32>
// CURRENT-NEXT: %7 = stablehlo.add %arg2, %6 : tensor<4x16xf32>
// CURRENT-NEXT: return %7 : tensor<4x16xf32>
// CURRENT-NEXT: }
// CURRENT-NEXT: }

module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3x4x32xf32>, %arg1: tensor<3x3x32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x8x8x4xf32>, %arg4: tensor<4xi32>) -> (tensor<3x3x4x32xf32> {jax.result_info = "result[0][0]"}, tensor<3x3x32x32xf32> {jax.result_info = "result[0][1]"}, tensor<32x16xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.convolution(%arg3, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x4xf32>, tensor<3x3x4x32xf32>) -> tensor<4x8x8x32xf32>
    %1 = call @relu(%0) : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf32>
    %2 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x8x8x32xf32>
    %3 = stablehlo.compare GT, %0, %2, FLOAT : (tensor<4x8x8x32xf32>, tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xi1>
    %4 = stablehlo.convolution(%1, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x32xf32>, tensor<3x3x32x32xf32>) -> tensor<4x4x4x32xf32>
    %5 = call @relu_0(%4) : (tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xf32>
    %6 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x4x4x32xf32>
    %7 = stablehlo.compare GT, %4, %6, FLOAT : (tensor<4x4x4x32xf32>, tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xi1>
    %8 = stablehlo.reduce(%5 init: %cst_3) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x4x4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %10 = stablehlo.divide %8, %9 : tensor<4x32xf32>
    %11 = stablehlo.dot_general %10, %arg2, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x16xf32>) -> tensor<4x16xf32>
    %12:3 = call @log_softmax(%11) : (tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>)
    %13 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %14:2 = call @take_along_axis(%12#0, %13) : (tensor<4x16xf32>, tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>)
    %15 = stablehlo.reduce(%14#0 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
    %16 = stablehlo.divide %15, %cst_1 : tensor<f32>
    %17 = stablehlo.negate %16 : tensor<f32>
    %18 = stablehlo.negate %cst_0 : tensor<f32>
    %19 = stablehlo.divide %18, %cst_1 : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %21 = call @take_along_axis_1(%14#1, %20) : (tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
    %22 = call @log_softmax_2(%12#1, %12#2, %21) : (tensor<4x16xf32>, tensor<4x1xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %23 = stablehlo.dot_general %22, %10, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
    %24 = stablehlo.transpose %23, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %25 = stablehlo.dot_general %22, %arg2, contracting_dims = [1] x [1] : (tensor<4x16xf32>, tensor<32x16xf32>) -> tensor<4x32xf32>
    %26 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %27 = stablehlo.divide %25, %26 : tensor<4x32xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 3] : (tensor<4x32xf32>) -> tensor<4x4x4x32xf32>
    %29 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x4x4x32xf32>
    %30 = stablehlo.select %7, %28, %29 : tensor<4x4x4x32xi1>, tensor<4x4x4x32xf32>
    %31 = stablehlo.convolution(%1, %30) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x32xf32>, tensor<4x4x4x32xf32>) -> tensor<3x3x32x32xf32>
    %32 = stablehlo.reverse %arg1, dims = [0, 1] : tensor<3x3x32x32xf32>
    %33 = stablehlo.convolution(%30, %32) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x4x4x32xf32>, tensor<3x3x32x32xf32>) -> tensor<4x8x8x32xf32>
    %34 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x8x8x32xf32>
    %35 = stablehlo.select %3, %33, %34 : tensor<4x8x8x32xi1>, tensor<4x8x8x32xf32>
    %36 = stablehlo.convolution(%arg3, %35) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x4xf32>, tensor<4x8x8x32xf32>) -> tensor<3x3x4x32xf32>
    %37 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3x4x32xf32>
    %38 = stablehlo.multiply %37, %36 : tensor<3x3x4x32xf32>
    %39 = stablehlo.subtract %arg0, %38 : tensor<3x3x4x32xf32>
    %40 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3x32x32xf32>
    %41 = stablehlo.multiply %40, %31 : tensor<3x3x32x32xf32>
    %42 = stablehlo.subtract %arg1, %41 : tensor<3x3x32x32xf32>
    %43 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %44 = stablehlo.multiply %43, %24 : tensor<32x16xf32>
    %45 = stablehlo.subtract %arg2, %44 : tensor<32x16xf32>
    return %39, %42, %45, %17 : tensor<3x3x4x32xf32>, tensor<3x3x32x32xf32>, tensor<32x16xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8x8x32xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x8x8x32xf32>
    return %1 : tensor<4x8x8x32xf32>
  }
  func.func private @relu_0(%arg0: tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4x4x32xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x4x4x32xf32>
    return %1 : tensor<4x4x4x32xf32>
  }
  func.func private @log_softmax(%arg0: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<4xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x16xf32>
    %6 = stablehlo.exponential %5 : tensor<4x16xf32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %9 = stablehlo.log %8 : tensor<4x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<4x16xf32>
    return %11, %6, %8 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>) {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %c_0 = stablehlo.constant dense<15> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<16> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
    %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x1xi1>, tensor<4x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4x1xi32>) -> tensor<4x1x1xi32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<4x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<4x1x1xi1>
    %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.and across dimensions = [2] : (tensor<4x1x1xi1>, tensor<i1>) -> tensor<4x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x1x1xi32>) -> tensor<4x1xf32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<4x1xi1>, tensor<4x1xf32>
    return %15, %5 : tensor<4x1xf32>, tensor<4x1x1xi32>
  }
  func.func private @take_along_axis_1(%arg0: tensor<4x1x1xi32>, %arg1: tensor<4x1xf32>) -> tensor<4x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x16xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
    return %1 : tensor<4x16xf32>
  }
  func.func private @log_softmax_2(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x16xf32>) -> tensor<4x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.negate %arg2 : tensor<4x16xf32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<4x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<4x1xf32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x16xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<4x16xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<4x16xf32>
    return %7 : tensor<4x16xf32>
  }
}
