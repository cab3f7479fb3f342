// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature,scalify-roles,scalify-recognize{scales=true marked=true},scalify-quantize-matmuls{recipe=fp8-current},scalify-narrow-state{recipe=fp8-current},scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=CURRENT

// A training step of a convolutional network.
// UNIT:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<3x3x4x32xf32>, %arg1: tensor<3x3x32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x8x8x4xf32>, %arg4: tensor<4xi32>) -> (tensor<3x3x4x32xf32> {jax.result_info = "result[0][0]"}, tensor<3x3x32x32xf32> {jax.result_info = "result[0][1]"}, tensor<32x16xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
// UNIT-NEXT: %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.clamp %cst, %arg2, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// UNIT-NEXT: %1 = stablehlo.convert %0 {scalify.forms = ["2^0"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// UNIT-NEXT: %2 = stablehlo.clamp %cst, %arg1, %cst_0 : (tensor<f32>, tensor<3x3x32x32xf32>, tensor<f32>) -> tensor<3x3x32x32xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<3x3x32x32xf32>) -> tensor<3x3x32x32xf8E4M3FN>
// UNIT-NEXT: %4 = stablehlo.clamp %cst, %arg0, %cst_0 : (tensor<f32>, tensor<3x3x4x32xf32>, tensor<f32>) -> tensor<3x3x4x32xf32>
// UNIT-NEXT: %5 = stablehlo.convert %4 {scalify.forms = ["2^0"]} : (tensor<3x3x4x32xf32>) -> tensor<3x3x4x32xf8E4M3FN>
// UNIT-NEXT: %6 = stablehlo.clamp %cst, %arg3, %cst_0 : (tensor<f32>, tensor<4x8x8x4xf32>, tensor<f32>) -> tensor<4x8x8x4xf32>
// UNIT-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0"]} : (tensor<4x8x8x4xf32>) -> tensor<4x8x8x4xf8E4M3FN>
// UNIT-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.600000e+01> : tensor<f32>
// UNIT-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %8 = stablehlo.convolution(%7, %5) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^0 level 2.58496"]} : (tensor<4x8x8x4xf8E4M3FN>, tensor<3x3x4x32xf8E4M3FN>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %9 = call @relu(%8) {scalify.forms = ["2^0 level 2"]} : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %cst_8 = stablehlo.constant dense<2.500000e-01> : tensor<4x8x8x32xf32>
// UNIT-NEXT: %10 = stablehlo.multiply %9, %cst_8 : tensor<4x8x8x32xf32>
// UNIT-NEXT: %11 = stablehlo.clamp %cst, %10, %cst_0 : (tensor<f32>, tensor<4x8x8x32xf32>, tensor<f32>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %12 = stablehlo.convert %11 {scalify.forms = ["2^2"]} : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf8E4M3FN>
// UNIT-NEXT: %13 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %14 = stablehlo.compare GT, %8, %13, FLOAT : (tensor<4x8x8x32xf32>, tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xi1>
// UNIT-NEXT: %15 = stablehlo.convolution(%12, %3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^2 level 4.08496"]} : (tensor<4x8x8x32xf8E4M3FN>, tensor<3x3x32x32xf8E4M3FN>) -> tensor<4x4x4x32xf32>
// UNIT-NEXT: %16 = call @relu_0_scaled_1(%15) {scalify.forms = ["2^0 level 5.5"]} : (tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xf32>
// UNIT-NEXT: %17 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x4x4x32xf32>
// UNIT-NEXT: %18 = stablehlo.compare GT, %15, %17, FLOAT : (tensor<4x4x4x32xf32>, tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xi1>
// UNIT-NEXT: %19 = stablehlo.reduce(%16 init: %cst_7) applies stablehlo.add across dimensions = [1, 2] {scalify.forms = ["2^0 level 7.5"]} : (tensor<4x4x4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %20 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %21 = stablehlo.divide %19, %20 {scalify.forms = ["2^0 level 3.5"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_9 = stablehlo.constant dense<2.560000e+02> : tensor<4x32xf32>
// UNIT-NEXT: %22 = stablehlo.divide %19, %cst_9 : tensor<4x32xf32>
// UNIT-NEXT: %23 = stablehlo.clamp %cst, %22, %cst_0 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %24 = stablehlo.convert %23 {scalify.forms = ["2^4 level -0.5"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// UNIT-NEXT: %25 = stablehlo.dot_general %24, %1, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^4 level 2"]} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// UNIT-NEXT: %26:3 = call @log_softmax_scaled_2(%25) {scalify.forms = ["2^0 level 6.50009", "2^0", "2^0 level 4"]} : (tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>)
// UNIT-NEXT: %27 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
// UNIT-NEXT: %28:2 = call @take_along_axis(%26#0, %27) {scalify.forms = ["2^0 level 6.5", "unscaled"]} : (tensor<4x16xf32>, tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>)
// UNIT-NEXT: %29 = stablehlo.reduce(%28#0 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] {scalify.forms = ["2^0 level 7.5"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
// UNIT-NEXT: %30 = stablehlo.divide %29, %cst_5 {scalify.forms = ["2^0 level 5.5"]} : tensor<f32>
// UNIT-NEXT: %31 = stablehlo.negate %30 {scalify.forms = ["2^0 level 5.5"]} : tensor<f32>
// UNIT-NEXT: %32 = stablehlo.negate %cst_4 {scalify.forms = ["unscaled"]} : tensor<f32>
// UNIT-NEXT: %33 = stablehlo.divide %32, %cst_5 {scalify.forms = ["2^0 level -2"]} : tensor<f32>
// UNIT-NEXT: %34 = stablehlo.broadcast_in_dim %33, dims = [] {scalify.forms = ["2^0 level -2"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %35 = call @take_along_axis_1(%28#1, %34) {scalify.forms = ["2^0 level -4"]} : (tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %36 = call @log_softmax_2(%26#1, %26#2, %35) {scalify.forms = ["2^0 level -3.95627"]} : (tensor<4x16xf32>, tensor<4x1xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %cst_10 = stablehlo.constant dense<1.600000e+01> : tensor<4x16xf32>
// UNIT-NEXT: %37 = stablehlo.multiply %36, %cst_10 : tensor<4x16xf32>
// UNIT-NEXT: %38 = stablehlo.clamp %cst_1, %37, %cst_2 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %39 = stablehlo.convert %38 {scalify.forms = ["2^-4 level 0.0437314"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// UNIT-NEXT: %40 = stablehlo.dot_general %36, %21, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level 0.543731"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// UNIT-NEXT: %41 = stablehlo.transpose %40, dims = [1, 0] {scalify.forms = ["2^0 level 0.543731"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// UNIT-NEXT: %42 = stablehlo.dot_general %39, %1, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-4 level 2.04373"]} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %cst_11 = stablehlo.constant dense<2.560000e+02> : tensor<4x32xf32>
// UNIT-NEXT: %43 = stablehlo.divide %42, %cst_11 : tensor<4x32xf32>
// UNIT-NEXT: %44 = stablehlo.broadcast_in_dim %43, dims = [0, 3] {scalify.forms = ["2^0 level -5.95627"]} : (tensor<4x32xf32>) -> tensor<4x4x4x32xf32>
// UNIT-NEXT: %45 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x4x4x32xf32>
// UNIT-NEXT: %46 = stablehlo.select %18, %44, %45 {scalify.forms = ["2^0 level -6.45627"]} : tensor<4x4x4x32xi1>, tensor<4x4x4x32xf32>
// UNIT-NEXT: %cst_12 = stablehlo.constant dense<6.400000e+01> : tensor<4x4x4x32xf32>
// UNIT-NEXT: %47 = stablehlo.multiply %46, %cst_12 : tensor<4x4x4x32xf32>
// UNIT-NEXT: %48 = stablehlo.clamp %cst, %47, %cst_0 : (tensor<f32>, tensor<4x4x4x32xf32>, tensor<f32>) -> tensor<4x4x4x32xf32>
// UNIT-NEXT: %49 = stablehlo.convert %48 {scalify.forms = ["2^-6 level -0.456269"]} : (tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xf8E4M3FN>
// UNIT-NEXT: %50 = stablehlo.optimization_barrier {scalify.forms = ["2^-6 level -0.456269"]} %49 : tensor<4x4x4x32xf8E4M3FN>
// UNIT-NEXT: %51 = stablehlo.convolution(%9, %46) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^0 level -1.45627"]} : (tensor<4x8x8x32xf32>, tensor<4x4x4x32xf32>) -> tensor<3x3x32x32xf32>
// UNIT-NEXT: %52 = stablehlo.reverse %arg1, dims = [0, 1] {scalify.forms = ["2^0"]} : tensor<3x3x32x32xf32>
// UNIT-NEXT: %53 = stablehlo.clamp %cst, %52, %cst_0 : (tensor<f32>, tensor<3x3x32x32xf32>, tensor<f32>) -> tensor<3x3x32x32xf32>
// UNIT-NEXT: %54 = stablehlo.convert %53 {scalify.forms = ["2^0"]} : (tensor<3x3x32x32xf32>) -> tensor<3x3x32x32xf8E4M3FN>
// UNIT-NEXT: %55 = stablehlo.convolution(%50, %54) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^-6 level 3.62869"]} : (tensor<4x4x4x32xf8E4M3FN>, tensor<3x3x32x32xf8E4M3FN>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %56 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x8x8x32xf32>
// UNIT-NEXT: %57 = stablehlo.select %14, %55, %56 {scalify.forms = ["2^-6 level 3.12869"]} : tensor<4x8x8x32xi1>, tensor<4x8x8x32xf32>
// UNIT-NEXT: %cst_13 = stablehlo.constant dense<1.562500e-02> : tensor<4x8x8x32xf32>
// UNIT-NEXT: %58 = stablehlo.multiply %57, %cst_13 : tensor<4x8x8x32xf32>
// UNIT-NEXT: %59 = stablehlo.convolution(%arg3, %58) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^0 level 1.12869"]} : (tensor<4x8x8x4xf32>, tensor<4x8x8x32xf32>) -> tensor<3x3x4x32xf32>
// UNIT-NEXT: %60 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<3x3x4x32xf32>
// UNIT-NEXT: %61 = stablehlo.multiply %60, %59 {scalify.forms = ["2^0 level -2.19323"]} : tensor<3x3x4x32xf32>
// UNIT-NEXT: %62 = stablehlo.subtract %arg0, %61 {scalify.forms = ["2^0 level 0.0336903"]} : tensor<3x3x4x32xf32>
// UNIT-NEXT: %63 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<3x3x32x32xf32>
// UNIT-NEXT: %64 = stablehlo.multiply %63, %51 {scalify.forms = ["2^0 level -4.7782"]} : tensor<3x3x32x32xf32>
// UNIT-NEXT: %65 = stablehlo.subtract %arg1, %64 {scalify.forms = ["2^0 level 0.000957404"]} : tensor<3x3x32x32xf32>
// UNIT-NEXT: %66 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// UNIT-NEXT: %67 = stablehlo.multiply %66, %41 {scalify.forms = ["2^0 level -2.7782"]} : tensor<32x16xf32>
// UNIT-NEXT: %68 = stablehlo.subtract %arg2, %67 {scalify.forms = ["2^0 level 0.015168"]} : tensor<32x16xf32>
// UNIT-NEXT: return %62, %65, %68, %31 : tensor<3x3x4x32xf32>, tensor<3x3x32x32xf32>, tensor<32x16xf32>, tensor<f32>
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
// CURRENT-NEXT: %0 = stablehlo.abs %arg2 : tensor<32x16xf32>
// CURRENT-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
// CURRENT-NEXT: %2 = stablehlo.optimization_barrier %1 : tensor<f32>
// CURRENT-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CURRENT-NEXT: %3 = stablehlo.maximum %2, %cst_0 : tensor<f32>
// CURRENT-NEXT: %4 = stablehlo.bitcast_convert %3 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c = stablehlo.constant dense<2097151> : tensor<ui32>
// CURRENT-NEXT: %5 = stablehlo.add %4, %c : tensor<ui32>
// CURRENT-NEXT: %c_1 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %6 = stablehlo.and %5, %c_1 : tensor<ui32>
// CURRENT-NEXT: %c_2 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CURRENT-NEXT: %7 = stablehlo.subtract %c_2, %6 : tensor<ui32>
// CURRENT-NEXT: %8 = stablehlo.bitcast_convert %7 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %c_3 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %9 = stablehlo.compare LT, %4, %c_3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CURRENT-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CURRENT-NEXT: %10 = stablehlo.select %9, %8, %cst_4 : tensor<i1>, tensor<f32>
// CURRENT-NEXT: %11 = stablehlo.bitcast_convert %10 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_5 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CURRENT-NEXT: %12 = stablehlo.subtract %c_5, %11 : tensor<ui32>
// CURRENT-NEXT: %13 = stablehlo.bitcast_convert %12 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %14 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// CURRENT-NEXT: %15 = stablehlo.multiply %arg2, %14 : tensor<32x16xf32>
// CURRENT-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %16 = stablehlo.clamp %cst_6, %15, %cst_7 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CURRENT-NEXT: %17 = stablehlo.convert %16 : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// CURRENT-NEXT: %18 = stablehlo.abs %arg1 : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %19 = stablehlo.reduce(%18 init: %cst_8) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<3x3x32x32xf32>, tensor<f32>) -> tensor<f32>
// CURRENT-NEXT: %20 = stablehlo.optimization_barrier %19 : tensor<f32>
// CURRENT-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CURRENT-NEXT: %21 = stablehlo.maximum %20, %cst_9 : tensor<f32>
// CURRENT-NEXT: %22 = stablehlo.bitcast_convert %21 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_10 = stablehlo.constant dense<2097151> : tensor<ui32>
// CURRENT-NEXT: %23 = stablehlo.add %22, %c_10 : tensor<ui32>
// CURRENT-NEXT: %c_11 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %24 = stablehlo.and %23, %c_11 : tensor<ui32>
// CURRENT-NEXT: %c_12 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CURRENT-NEXT: %25 = stablehlo.subtract %c_12, %24 : tensor<ui32>
// CURRENT-NEXT: %26 = stablehlo.bitcast_convert %25 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %c_13 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %27 = stablehlo.compare LT, %22, %c_13 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CURRENT-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CURRENT-NEXT: %28 = stablehlo.select %27, %26, %cst_14 : tensor<i1>, tensor<f32>
// CURRENT-NEXT: %29 = stablehlo.bitcast_convert %28 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_15 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CURRENT-NEXT: %30 = stablehlo.subtract %c_15, %29 : tensor<ui32>
// CURRENT-NEXT: %31 = stablehlo.bitcast_convert %30 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %32 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<f32>) -> tensor<3x3x32x32xf32>
// CURRENT-NEXT: %33 = stablehlo.multiply %arg1, %32 : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %cst_16 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %cst_17 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %34 = stablehlo.clamp %cst_16, %33, %cst_17 : (tensor<f32>, tensor<3x3x32x32xf32>, tensor<f32>) -> tensor<3x3x32x32xf32>
// CURRENT-NEXT: %35 = stablehlo.convert %34 : (tensor<3x3x32x32xf32>) -> tensor<3x3x32x32xf8E4M3FN>
// CURRENT-NEXT: %36 = stablehlo.abs %arg0 : tensor<3x3x4x32xf32>
// CURRENT-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %37 = stablehlo.reduce(%36 init: %cst_18) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<3x3x4x32xf32>, tensor<f32>) -> tensor<f32>
// CURRENT-NEXT: %38 = stablehlo.optimization_barrier %37 : tensor<f32>
// CURRENT-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CURRENT-NEXT: %39 = stablehlo.maximum %38, %cst_19 : tensor<f32>
// CURRENT-NEXT: %40 = stablehlo.bitcast_convert %39 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_20 = stablehlo.constant dense<2097151> : tensor<ui32>
// CURRENT-NEXT: %41 = stablehlo.add %40, %c_20 : tensor<ui32>
// CURRENT-NEXT: %c_21 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %42 = stablehlo.and %41, %c_21 : tensor<ui32>
// CURRENT-NEXT: %c_22 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CURRENT-NEXT: %43 = stablehlo.subtract %c_22, %42 : tensor<ui32>
// CURRENT-NEXT: %44 = stablehlo.bitcast_convert %43 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %c_23 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %45 = stablehlo.compare LT, %40, %c_23 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CURRENT-NEXT: %cst_24 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CURRENT-NEXT: %46 = stablehlo.select %45, %44, %cst_24 : tensor<i1>, tensor<f32>
// CURRENT-NEXT: %47 = stablehlo.bitcast_convert %46 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_25 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CURRENT-NEXT: %48 = stablehlo.subtract %c_25, %47 : tensor<ui32>
// CURRENT-NEXT: %49 = stablehlo.bitcast_convert %48 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %50 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<f32>) -> tensor<3x3x4x32xf32>
// CURRENT-NEXT: %51 = stablehlo.multiply %arg0, %50 : tensor<3x3x4x32xf32>
// CURRENT-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %cst_27 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %52 = stablehlo.clamp %cst_26, %51, %cst_27 : (tensor<f32>, tensor<3x3x4x32xf32>, tensor<f32>) -> tensor<3x3x4x32xf32>
// CURRENT-NEXT: %53 = stablehlo.convert %52 : (tensor<3x3x4x32xf32>) -> tensor<3x3x4x32xf8E4M3FN>
// CURRENT-NEXT: %54 = stablehlo.abs %arg3 : tensor<4x8x8x4xf32>
// CURRENT-NEXT: %cst_28 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %55 = stablehlo.reduce(%54 init: %cst_28) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<4x8x8x4xf32>, tensor<f32>) -> tensor<f32>
// CURRENT-NEXT: %56 = stablehlo.optimization_barrier %55 : tensor<f32>
// CURRENT-NEXT: %cst_29 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CURRENT-NEXT: %57 = stablehlo.maximum %56, %cst_29 : tensor<f32>
// CURRENT-NEXT: %58 = stablehlo.bitcast_convert %57 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_30 = stablehlo.constant dense<2097151> : tensor<ui32>
// CURRENT-NEXT: %59 = stablehlo.add %58, %c_30 : tensor<ui32>
// CURRENT-NEXT: %c_31 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %60 = stablehlo.and %59, %c_31 : tensor<ui32>
// CURRENT-NEXT: %c_32 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CURRENT-NEXT: %61 = stablehlo.subtract %c_32, %60 : tensor<ui32>
// CURRENT-NEXT: %62 = stablehlo.bitcast_convert %61 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %c_33 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %63 = stablehlo.compare LT, %58, %c_33 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CURRENT-NEXT: %cst_34 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CURRENT-NEXT: %64 = stablehlo.select %63, %62, %cst_34 : tensor<i1>, tensor<f32>
// CURRENT-NEXT: %65 = stablehlo.bitcast_convert %64 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_35 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CURRENT-NEXT: %66 = stablehlo.subtract %c_35, %65 : tensor<ui32>
// CURRENT-NEXT: %67 = stablehlo.bitcast_convert %66 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %68 = stablehlo.broadcast_in_dim %64, dims = [] : (tensor<f32>) -> tensor<4x8x8x4xf32>
// CURRENT-NEXT: %69 = stablehlo.multiply %arg3, %68 : tensor<4x8x8x4xf32>
// CURRENT-NEXT: %cst_36 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %cst_37 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %70 = stablehlo.clamp %cst_36, %69, %cst_37 : (tensor<f32>, tensor<4x8x8x4xf32>, tensor<f32>) -> tensor<4x8x8x4xf32>
// CURRENT-NEXT: %71 = stablehlo.convert %70 : (tensor<4x8x8x4xf32>) -> tensor<4x8x8x4xf8E4M3FN>
// CURRENT-NEXT: %cst_38 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// CURRENT-NEXT: %cst_39 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CURRENT-NEXT: %cst_40 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.000000e+00> : tensor<f32>
// CURRENT-NEXT: %cst_41 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.600000e+01> : tensor<f32>
// CURRENT-NEXT: %cst_42 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %72 = stablehlo.convolution(%71, %53) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x4xf8E4M3FN>, tensor<3x3x4x32xf8E4M3FN>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %73 = stablehlo.multiply %67, %49 : tensor<f32>
// CURRENT-NEXT: %cst_43 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CURRENT-NEXT: %74 = stablehlo.minimum %73, %cst_43 : tensor<f32>
// CURRENT-NEXT: %75 = stablehlo.broadcast_in_dim %74, dims = [] : (tensor<f32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %76 = stablehlo.multiply %72, %75 : tensor<4x8x8x32xf32>
// CURRENT-NEXT: %77 = call @relu(%76) : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %78 = stablehlo.abs %77 : tensor<4x8x8x32xf32>
// CURRENT-NEXT: %cst_44 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %79 = stablehlo.reduce(%78 init: %cst_44) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<4x8x8x32xf32>, tensor<f32>) -> tensor<f32>
// CURRENT-NEXT: %80 = stablehlo.optimization_barrier %79 : tensor<f32>
// CURRENT-NEXT: %cst_45 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CURRENT-NEXT: %81 = stablehlo.maximum %80, %cst_45 : tensor<f32>
// CURRENT-NEXT: %82 = stablehlo.bitcast_convert %81 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_46 = stablehlo.constant dense<2097151> : tensor<ui32>
// CURRENT-NEXT: %83 = stablehlo.add %82, %c_46 : tensor<ui32>
// CURRENT-NEXT: %c_47 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %84 = stablehlo.and %83, %c_47 : tensor<ui32>
// CURRENT-NEXT: %c_48 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CURRENT-NEXT: %85 = stablehlo.subtract %c_48, %84 : tensor<ui32>
// CURRENT-NEXT: %86 = stablehlo.bitcast_convert %85 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %c_49 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %87 = stablehlo.compare LT, %82, %c_49 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CURRENT-NEXT: %cst_50 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CURRENT-NEXT: %88 = stablehlo.select %87, %86, %cst_50 : tensor<i1>, tensor<f32>
// CURRENT-NEXT: %89 = stablehlo.bitcast_convert %88 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_51 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CURRENT-NEXT: %90 = stablehlo.subtract %c_51, %89 : tensor<ui32>
// CURRENT-NEXT: %91 = stablehlo.bitcast_convert %90 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %92 = stablehlo.broadcast_in_dim %88, dims = [] : (tensor<f32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %93 = stablehlo.multiply %77, %92 : tensor<4x8x8x32xf32>
// CURRENT-NEXT: %cst_52 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %cst_53 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %94 = stablehlo.clamp %cst_52, %93, %cst_53 : (tensor<f32>, tensor<4x8x8x32xf32>, tensor<f32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %95 = stablehlo.convert %94 : (tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xf8E4M3FN>
// CURRENT-NEXT: %96 = stablehlo.broadcast_in_dim %cst_42, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %97 = stablehlo.compare GT, %76, %96, FLOAT : (tensor<4x8x8x32xf32>, tensor<4x8x8x32xf32>) -> tensor<4x8x8x32xi1>
// CURRENT-NEXT: %98 = stablehlo.convolution(%95, %35) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x32xf8E4M3FN>, tensor<3x3x32x32xf8E4M3FN>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %99 = stablehlo.multiply %91, %31 : tensor<f32>
// CURRENT-NEXT: %cst_54 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CURRENT-NEXT: %100 = stablehlo.minimum %99, %cst_54 : tensor<f32>
// CURRENT-NEXT: %101 = stablehlo.broadcast_in_dim %100, dims = [] : (tensor<f32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %102 = stablehlo.multiply %98, %101 : tensor<4x4x4x32xf32>
// CURRENT-NEXT: %103 = call @relu_0(%102) : (tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %104 = stablehlo.broadcast_in_dim %cst_42, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %105 = stablehlo.compare GT, %102, %104, FLOAT : (tensor<4x4x4x32xf32>, tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xi1>
// CURRENT-NEXT: %106 = stablehlo.reduce(%103 init: %cst_42) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x4x4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// CURRENT-NEXT: %107 = stablehlo.broadcast_in_dim %cst_41, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// CURRENT-NEXT: %108 = stablehlo.divide %106, %107 : tensor<4x32xf32>
// CURRENT-NEXT: %109 = stablehlo.abs %108 : tensor<4x32xf32>
// CURRENT-NEXT: %cst_55 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %110 = stablehlo.reduce(%109 init: %cst_55) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
// CURRENT-NEXT: %111 = stablehlo.optimization_barrier %110 : tensor<f32>
// CURRENT-NEXT: %cst_56 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CURRENT-NEXT: %112 = stablehlo.maximum %111, %cst_56 : tensor<f32>
// CURRENT-NEXT: %113 = stablehlo.bitcast_convert %112 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_57 = stablehlo.constant dense<2097151> : tensor<ui32>
// CURRENT-NEXT: %114 = stablehlo.add %113, %c_57 : tensor<ui32>
// CURRENT-NEXT: %c_58 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %115 = stablehlo.and %114, %c_58 : tensor<ui32>
// CURRENT-NEXT: %c_59 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CURRENT-NEXT: %116 = stablehlo.subtract %c_59, %115 : tensor<ui32>
// CURRENT-NEXT: %117 = stablehlo.bitcast_convert %116 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %c_60 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %118 = stablehlo.compare LT, %113, %c_60 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CURRENT-NEXT: %cst_61 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CURRENT-NEXT: %119 = stablehlo.select %118, %117, %cst_61 : tensor<i1>, tensor<f32>
// CURRENT-NEXT: %120 = stablehlo.bitcast_convert %119 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_62 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CURRENT-NEXT: %121 = stablehlo.subtract %c_62, %120 : tensor<ui32>
// CURRENT-NEXT: %122 = stablehlo.bitcast_convert %121 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %123 = stablehlo.broadcast_in_dim %119, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// CURRENT-NEXT: %124 = stablehlo.multiply %108, %123 : tensor<4x32xf32>
// CURRENT-NEXT: %cst_63 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %cst_64 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %125 = stablehlo.clamp %cst_63, %124, %cst_64 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// CURRENT-NEXT: %126 = stablehlo.convert %125 : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// CURRENT-NEXT: %127 = stablehlo.dot_general %126, %17, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// CURRENT-NEXT: %128 = stablehlo.multiply %122, %13 : tensor<f32>
// CURRENT-NEXT: %cst_65 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CURRENT-NEXT: %129 = stablehlo.minimum %128, %cst_65 : tensor<f32>
// CURRENT-NEXT: %130 = stablehlo.broadcast_in_dim %129, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// CURRENT-NEXT: %131 = stablehlo.multiply %127, %130 : tensor<4x16xf32>
// CURRENT-NEXT: %132 = stablehlo.optimization_barrier %131 : tensor<4x16xf32>
// CURRENT-NEXT: %133:3 = call @log_softmax(%132) : (tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>)
// CURRENT-NEXT: %134 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
// CURRENT-NEXT: %135:2 = call @take_along_axis(%133#0, %134) : (tensor<4x16xf32>, tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>)
// CURRENT-NEXT: %136 = stablehlo.reduce(%135#0 init: %cst_42) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
// CURRENT-NEXT: %137 = stablehlo.divide %136, %cst_40 : tensor<f32>
// CURRENT-NEXT: %138 = stablehlo.negate %137 : tensor<f32>
// CURRENT-NEXT: %139 = stablehlo.negate %cst_39 {scalify.forms = ["unscaled"]} : tensor<f32>
// CURRENT-NEXT: %140 = stablehlo.divide %139, %cst_40 : tensor<f32>
// CURRENT-NEXT: %141 = stablehlo.broadcast_in_dim %140, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// CURRENT-NEXT: %142 = call @take_along_axis_1(%135#1, %141) : (tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// CURRENT-NEXT: %143 = call @log_softmax_2(%133#1, %133#2, %142) : (tensor<4x16xf32>, tensor<4x1xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
// CURRENT-NEXT: %144 = stablehlo.abs %143 : tensor<4x16xf32>
// CURRENT-NEXT: %cst_66 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %145 = stablehlo.reduce(%144 init: %cst_66) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<f32>
// CURRENT-NEXT: %146 = stablehlo.optimization_barrier %145 : tensor<f32>
// CURRENT-NEXT: %cst_67 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CURRENT-NEXT: %147 = stablehlo.maximum %146, %cst_67 : tensor<f32>
// CURRENT-NEXT: %148 = stablehlo.bitcast_convert %147 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_68 = stablehlo.constant dense<2097151> : tensor<ui32>
// CURRENT-NEXT: %149 = stablehlo.add %148, %c_68 : tensor<ui32>
// CURRENT-NEXT: %c_69 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %150 = stablehlo.and %149, %c_69 : tensor<ui32>
// CURRENT-NEXT: %c_70 = stablehlo.constant dense<2256535552> : tensor<ui32>
// CURRENT-NEXT: %151 = stablehlo.subtract %c_70, %150 : tensor<ui32>
// CURRENT-NEXT: %152 = stablehlo.bitcast_convert %151 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %c_71 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %153 = stablehlo.compare LT, %148, %c_71 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CURRENT-NEXT: %cst_72 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CURRENT-NEXT: %154 = stablehlo.select %153, %152, %cst_72 : tensor<i1>, tensor<f32>
// CURRENT-NEXT: %155 = stablehlo.bitcast_convert %154 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_73 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CURRENT-NEXT: %156 = stablehlo.subtract %c_73, %155 : tensor<ui32>
// CURRENT-NEXT: %157 = stablehlo.bitcast_convert %156 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %158 = stablehlo.broadcast_in_dim %154, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// CURRENT-NEXT: %159 = stablehlo.multiply %143, %158 : tensor<4x16xf32>
// CURRENT-NEXT: %cst_74 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-5.734400e+04> : tensor<f32>
// CURRENT-NEXT: %cst_75 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.734400e+04> : tensor<f32>
// CURRENT-NEXT: %160 = stablehlo.clamp %cst_74, %159, %cst_75 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// CURRENT-NEXT: %161 = stablehlo.convert %160 : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// CURRENT-NEXT: %162 = stablehlo.dot_general %143, %108, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// CURRENT-NEXT: %163 = stablehlo.transpose %162, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
// CURRENT-NEXT: %164 = stablehlo.dot_general %161, %17, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// CURRENT-NEXT: %165 = stablehlo.multiply %157, %13 : tensor<f32>
// CURRENT-NEXT: %cst_76 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CURRENT-NEXT: %166 = stablehlo.minimum %165, %cst_76 : tensor<f32>
// CURRENT-NEXT: %167 = stablehlo.broadcast_in_dim %166, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// CURRENT-NEXT: %168 = stablehlo.multiply %164, %167 : tensor<4x32xf32>
// CURRENT-NEXT: %169 = stablehlo.broadcast_in_dim %cst_41, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// CURRENT-NEXT: %170 = stablehlo.divide %168, %169 : tensor<4x32xf32>
// CURRENT-NEXT: %171 = stablehlo.broadcast_in_dim %170, dims = [0, 3] : (tensor<4x32xf32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %172 = stablehlo.broadcast_in_dim %cst_42, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %173 = stablehlo.select %105, %171, %172 : tensor<4x4x4x32xi1>, tensor<4x4x4x32xf32>
// CURRENT-NEXT: %174 = stablehlo.abs %173 : tensor<4x4x4x32xf32>
// CURRENT-NEXT: %cst_77 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %175 = stablehlo.reduce(%174 init: %cst_77) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<4x4x4x32xf32>, tensor<f32>) -> tensor<f32>
// CURRENT-NEXT: %176 = stablehlo.optimization_barrier %175 : tensor<f32>
// CURRENT-NEXT: %cst_78 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CURRENT-NEXT: %177 = stablehlo.maximum %176, %cst_78 : tensor<f32>
// CURRENT-NEXT: %178 = stablehlo.bitcast_convert %177 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_79 = stablehlo.constant dense<2097151> : tensor<ui32>
// CURRENT-NEXT: %179 = stablehlo.add %178, %c_79 : tensor<ui32>
// CURRENT-NEXT: %c_80 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %180 = stablehlo.and %179, %c_80 : tensor<ui32>
// CURRENT-NEXT: %c_81 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CURRENT-NEXT: %181 = stablehlo.subtract %c_81, %180 : tensor<ui32>
// CURRENT-NEXT: %182 = stablehlo.bitcast_convert %181 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %c_82 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %183 = stablehlo.compare LT, %178, %c_82 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CURRENT-NEXT: %cst_83 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CURRENT-NEXT: %184 = stablehlo.select %183, %182, %cst_83 : tensor<i1>, tensor<f32>
// CURRENT-NEXT: %185 = stablehlo.bitcast_convert %184 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_84 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CURRENT-NEXT: %186 = stablehlo.subtract %c_84, %185 : tensor<ui32>
// CURRENT-NEXT: %187 = stablehlo.bitcast_convert %186 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %188 = stablehlo.broadcast_in_dim %184, dims = [] : (tensor<f32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %189 = stablehlo.multiply %173, %188 : tensor<4x4x4x32xf32>
// CURRENT-NEXT: %cst_85 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %cst_86 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %190 = stablehlo.clamp %cst_85, %189, %cst_86 : (tensor<f32>, tensor<4x4x4x32xf32>, tensor<f32>) -> tensor<4x4x4x32xf32>
// CURRENT-NEXT: %191 = stablehlo.convert %190 : (tensor<4x4x4x32xf32>) -> tensor<4x4x4x32xf8E4M3FN>
// CURRENT-NEXT: %192 = stablehlo.optimization_barrier %191 : tensor<4x4x4x32xf8E4M3FN>
// CURRENT-NEXT: %193 = stablehlo.convolution(%77, %173) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x32xf32>, tensor<4x4x4x32xf32>) -> tensor<3x3x32x32xf32>
// CURRENT-NEXT: %194 = stablehlo.reverse %arg1, dims = [0, 1] : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %195 = stablehlo.abs %194 : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %cst_87 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %196 = stablehlo.reduce(%195 init: %cst_87) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<3x3x32x32xf32>, tensor<f32>) -> tensor<f32>
// CURRENT-NEXT: %197 = stablehlo.optimization_barrier %196 : tensor<f32>
// CURRENT-NEXT: %cst_88 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<7.70371977E-34> : tensor<f32>
// CURRENT-NEXT: %198 = stablehlo.maximum %197, %cst_88 : tensor<f32>
// CURRENT-NEXT: %199 = stablehlo.bitcast_convert %198 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_89 = stablehlo.constant dense<2097151> : tensor<ui32>
// CURRENT-NEXT: %200 = stablehlo.add %199, %c_89 : tensor<ui32>
// CURRENT-NEXT: %c_90 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %201 = stablehlo.and %200, %c_90 : tensor<ui32>
// CURRENT-NEXT: %c_91 = stablehlo.constant dense<2197815296> : tensor<ui32>
// CURRENT-NEXT: %202 = stablehlo.subtract %c_91, %201 : tensor<ui32>
// CURRENT-NEXT: %203 = stablehlo.bitcast_convert %202 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %c_92 = stablehlo.constant dense<2139095040> : tensor<ui32>
// CURRENT-NEXT: %204 = stablehlo.compare LT, %199, %c_92 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CURRENT-NEXT: %cst_93 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CURRENT-NEXT: %205 = stablehlo.select %204, %203, %cst_93 : tensor<i1>, tensor<f32>
// CURRENT-NEXT: %206 = stablehlo.bitcast_convert %205 : (tensor<f32>) -> tensor<ui32>
// CURRENT-NEXT: %c_94 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CURRENT-NEXT: %207 = stablehlo.subtract %c_94, %206 : tensor<ui32>
// CURRENT-NEXT: %208 = stablehlo.bitcast_convert %207 : (tensor<ui32>) -> tensor<f32>
// CURRENT-NEXT: %209 = stablehlo.broadcast_in_dim %205, dims = [] : (tensor<f32>) -> tensor<3x3x32x32xf32>
// CURRENT-NEXT: %210 = stablehlo.multiply %194, %209 : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %cst_95 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %cst_96 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.480000e+02> : tensor<f32>
// CURRENT-NEXT: %211 = stablehlo.clamp %cst_95, %210, %cst_96 : (tensor<f32>, tensor<3x3x32x32xf32>, tensor<f32>) -> tensor<3x3x32x32xf32>
// CURRENT-NEXT: %212 = stablehlo.convert %211 : (tensor<3x3x32x32xf32>) -> tensor<3x3x32x32xf8E4M3FN>
// CURRENT-NEXT: %213 = stablehlo.convolution(%192, %212) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x4x4x32xf8E4M3FN>, tensor<3x3x32x32xf8E4M3FN>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %214 = stablehlo.multiply %187, %208 : tensor<f32>
// CURRENT-NEXT: %cst_97 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.40282347E+38> : tensor<f32>
// CURRENT-NEXT: %215 = stablehlo.minimum %214, %cst_97 : tensor<f32>
// CURRENT-NEXT: %216 = stablehlo.broadcast_in_dim %215, dims = [] : (tensor<f32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %217 = stablehlo.multiply %213, %216 : tensor<4x8x8x32xf32>
// CURRENT-NEXT: %218 = stablehlo.broadcast_in_dim %cst_42, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x8x8x32xf32>
// CURRENT-NEXT: %219 = stablehlo.select %97, %217, %218 : tensor<4x8x8x32xi1>, tensor<4x8x8x32xf32>
// CURRENT-NEXT: %220 = stablehlo.convolution(%arg3, %219) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x4xf32>, tensor<4x8x8x32xf32>) -> tensor<3x3x4x32xf32>
// CURRENT-NEXT: %221 = stablehlo.broadcast_in_dim %cst_38, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<3x3x4x32xf32>
// CURRENT-NEXT: %222 = stablehlo.multiply %221, %220 : tensor<3x3x4x32xf32>
// CURRENT-NEXT: %223 = stablehlo.subtract %arg0, %222 : tensor<3x3x4x32xf32>
// CURRENT-NEXT: %224 = stablehlo.broadcast_in_dim %cst_38, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<3x3x32x32xf32>
// CURRENT-NEXT: %225 = stablehlo.multiply %224, %193 : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %226 = stablehlo.subtract %arg1, %225 : tensor<3x3x32x32xf32>
// CURRENT-NEXT: %227 = stablehlo.broadcast_in_dim %cst_38, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// CURRENT-NEXT: %228 = stablehlo.multiply %227, %163 : tensor<32x16xf32>
// CURRENT-NEXT: %229 = stablehlo.subtract %arg2, %228 : tensor<32x16xf32>
// CURRENT-NEXT: return %223, %226, %229, %138 : tensor<3x3x4x32xf32>, tensor<3x3x32x32xf32>, tensor<32x16xf32>, tensor<f32>
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
