// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{recipe=fp8 annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8

// A training step of a perceptron, with cross-entropy and SGD.
// UNIT:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4xi32>) -> (tensor<32x32xf32> {jax.result_info = "result[0][0]"}, tensor<32x32xf32> {jax.result_info = "result[0][1]"}, tensor<32x16xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<4x16xf32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<32x16xf32>
// UNIT-NEXT: %cst_3 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_4 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_5 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// UNIT-NEXT: %cst_6 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg2, %cst_2 : tensor<32x16xf32>
// UNIT-NEXT: %1 = stablehlo.add %arg2, %0 : tensor<32x16xf32>
// UNIT-NEXT: %2 = stablehlo.clamp %cst_3, %1, %cst_4 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// UNIT-NEXT: %4 = stablehlo.multiply %arg1, %cst_1 : tensor<32x32xf32>
// UNIT-NEXT: %5 = stablehlo.add %arg1, %4 : tensor<32x32xf32>
// UNIT-NEXT: %6 = stablehlo.clamp %cst_3, %5, %cst_4 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %8 = stablehlo.multiply %arg0, %cst_1 : tensor<32x32xf32>
// UNIT-NEXT: %9 = stablehlo.add %arg0, %8 : tensor<32x32xf32>
// UNIT-NEXT: %10 = stablehlo.clamp %cst_3, %9, %cst_4 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %11 = stablehlo.convert %10 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %12 = stablehlo.multiply %arg3, %cst_0 : tensor<4x32xf32>
// UNIT-NEXT: %13 = stablehlo.add %arg3, %12 : tensor<4x32xf32>
// UNIT-NEXT: %14 = stablehlo.clamp %cst_3, %13, %cst_4 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %15 = stablehlo.convert %14 {scalify.forms = ["2^0"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// UNIT-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.797884583> : tensor<f32>
// UNIT-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.471500e-02> : tensor<f32>
// UNIT-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %16 = stablehlo.dot_general %15, %11, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2.5"]} : (tensor<4x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %17 = call @relu(%16) {scalify.forms = ["2^0 level 2"]} : (tensor<4x32xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %18 = stablehlo.multiply %17, %cst_0 : tensor<4x32xf32>
// UNIT-NEXT: %19 = stablehlo.add %17, %18 : tensor<4x32xf32>
// UNIT-NEXT: %20 = stablehlo.clamp %cst_3, %19, %cst_4 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %21 = stablehlo.convert %20 {scalify.forms = ["2^0 level 2"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// UNIT-NEXT: %22 = stablehlo.broadcast_in_dim %cst_14, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %23 = stablehlo.compare GT, %16, %22, FLOAT : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xi1>
// UNIT-NEXT: %24 = stablehlo.dot_general %21, %7, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 4.5"]} : (tensor<4x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %25 = stablehlo.multiply %24, %24 {scalify.forms = ["2^0 level 9"]} : tensor<4x32xf32>
// UNIT-NEXT: %26 = stablehlo.multiply %25, %24 {scalify.forms = ["2^0 level 13.5"]} : tensor<4x32xf32>
// UNIT-NEXT: %27 = stablehlo.multiply %24, %24 {scalify.forms = ["2^0 level 9"]} : tensor<4x32xf32>
// UNIT-NEXT: %28 = stablehlo.broadcast_in_dim %cst_13, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %29 = stablehlo.multiply %28, %27 {scalify.forms = ["2^0 level 10.585"]} : tensor<4x32xf32>
// UNIT-NEXT: %30 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %31 = stablehlo.multiply %30, %26 {scalify.forms = ["2^0 level 9.0169"]} : tensor<4x32xf32>
// UNIT-NEXT: %32 = stablehlo.add %24, %31 {scalify.forms = ["2^0 level 9.01828"]} : tensor<4x32xf32>
// UNIT-NEXT: %33 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %34 = stablehlo.multiply %33, %32 {scalify.forms = ["2^0 level 8.69253"]} : tensor<4x32xf32>
// UNIT-NEXT: %35 = stablehlo.tanh %34 {scalify.forms = ["2^0 level -0.671746"]} : tensor<4x32xf32>
// UNIT-NEXT: %36 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %37 = stablehlo.subtract %36, %35 {scalify.forms = ["2^0 level 0.239649"]} : tensor<4x32xf32>
// UNIT-NEXT: %38 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %39 = stablehlo.add %38, %35 {scalify.forms = ["2^0 level 0.239649"]} : tensor<4x32xf32>
// UNIT-NEXT: %40 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %41 = stablehlo.multiply %40, %39 {scalify.forms = ["2^0 level -0.760351"]} : tensor<4x32xf32>
// UNIT-NEXT: %42 = stablehlo.multiply %24, %41 {scalify.forms = ["2^0 level 3.88309"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_15 = stablehlo.constant dense<6.250000e-02> : tensor<4x32xf32>
// UNIT-NEXT: %43 = stablehlo.multiply %42, %cst_15 : tensor<4x32xf32>
// UNIT-NEXT: %44 = stablehlo.multiply %43, %cst_0 : tensor<4x32xf32>
// UNIT-NEXT: %45 = stablehlo.add %43, %44 : tensor<4x32xf32>
// UNIT-NEXT: %46 = stablehlo.clamp %cst_3, %45, %cst_4 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %47 = stablehlo.convert %46 {scalify.forms = ["2^4 level -0.116908"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// UNIT-NEXT: %48 = stablehlo.dot_general %47, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^4 level 2.38309"]} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// UNIT-NEXT: %49:3 = call @log_softmax_scaled_1(%48) {scalify.forms = ["2^0 level 7.00004", "2^0", "2^0 level 4"]} : (tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>)
// UNIT-NEXT: %50 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
// UNIT-NEXT: %51:2 = call @take_along_axis(%49#0, %50) {scalify.forms = ["2^0 level 7", "unscaled"]} : (tensor<4x16xf32>, tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>)
// UNIT-NEXT: %52 = stablehlo.reduce(%51#0 init: %cst_14) applies stablehlo.add across dimensions = [0, 1] {scalify.forms = ["2^0 level 8"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
// UNIT-NEXT: %53 = stablehlo.divide %52, %cst_8 {scalify.forms = ["2^0 level 6"]} : tensor<f32>
// UNIT-NEXT: %54 = stablehlo.negate %53 {scalify.forms = ["2^0 level 6"]} : tensor<f32>
// UNIT-NEXT: %55 = stablehlo.negate %cst_10 {scalify.forms = ["unscaled"]} : tensor<f32>
// UNIT-NEXT: %56 = stablehlo.divide %55, %cst_8 {scalify.forms = ["2^0 level -2"]} : tensor<f32>
// UNIT-NEXT: %57 = stablehlo.broadcast_in_dim %56, dims = [] {scalify.forms = ["2^0 level -2"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %58 = call @take_along_axis_0(%51#1, %57) {scalify.forms = ["2^0 level -4"]} : (tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %59 = call @log_softmax_1(%49#1, %49#2, %58) {scalify.forms = ["2^0 level -3.95627"]} : (tensor<4x16xf32>, tensor<4x1xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %cst_16 = stablehlo.constant dense<1.600000e+01> : tensor<4x16xf32>
// UNIT-NEXT: %60 = stablehlo.multiply %59, %cst_16 : tensor<4x16xf32>
// UNIT-NEXT: %61 = stablehlo.multiply %60, %cst : tensor<4x16xf32>
// UNIT-NEXT: %62 = stablehlo.add %60, %61 : tensor<4x16xf32>
// UNIT-NEXT: %63 = stablehlo.clamp %cst_5, %62, %cst_6 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %64 = stablehlo.convert %63 {scalify.forms = ["2^-4 level 0.0437314"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// UNIT-NEXT: %65 = stablehlo.dot_general %59, %42, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level 0.926824"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// UNIT-NEXT: %66 = stablehlo.transpose %65, dims = [1, 0] {scalify.forms = ["2^0 level 0.926824"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// UNIT-NEXT: %67 = stablehlo.dot_general %64, %3, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-4 level 2.04373"]} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %68 = stablehlo.multiply %24, %67 {scalify.forms = ["2^-4 level 6.54373"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_17 = stablehlo.constant dense<6.250000e-02> : tensor<4x32xf32>
// UNIT-NEXT: %69 = stablehlo.multiply %68, %cst_17 : tensor<4x32xf32>
// UNIT-NEXT: %70 = stablehlo.multiply %67, %41 {scalify.forms = ["2^-4 level 1.28338"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_18 = stablehlo.constant dense<6.250000e-02> : tensor<4x32xf32>
// UNIT-NEXT: %71 = stablehlo.multiply %70, %cst_18 : tensor<4x32xf32>
// UNIT-NEXT: %72 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %73 = stablehlo.multiply %72, %69 {scalify.forms = ["2^0 level 1.54373"]} : tensor<4x32xf32>
// UNIT-NEXT: %74 = stablehlo.multiply %73, %37 {scalify.forms = ["2^0 level 1.78338"]} : tensor<4x32xf32>
// UNIT-NEXT: %75 = stablehlo.multiply %74, %35 {scalify.forms = ["2^0 level 1.11163"]} : tensor<4x32xf32>
// UNIT-NEXT: %76 = stablehlo.add %74, %75 {scalify.forms = ["2^0 level 2.02303"]} : tensor<4x32xf32>
// UNIT-NEXT: %77 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %78 = stablehlo.multiply %77, %76 {scalify.forms = ["2^0 level 1.69728"]} : tensor<4x32xf32>
// UNIT-NEXT: %79 = stablehlo.add %71, %78 {scalify.forms = ["2^0 level 1.69887"]} : tensor<4x32xf32>
// UNIT-NEXT: %80 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %81 = stablehlo.multiply %80, %78 {scalify.forms = ["2^0 level -2.78582"]} : tensor<4x32xf32>
// UNIT-NEXT: %82 = stablehlo.multiply %81, %29 {scalify.forms = ["2^0 level 7.79915"]} : tensor<4x32xf32>
// UNIT-NEXT: %83 = stablehlo.add %79, %82 {scalify.forms = ["2^0 level -2.52284"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_19 = stablehlo.constant dense<8.000000e+00> : tensor<4x32xf32>
// UNIT-NEXT: %84 = stablehlo.multiply %83, %cst_19 : tensor<4x32xf32>
// UNIT-NEXT: %85 = stablehlo.multiply %84, %cst_0 : tensor<4x32xf32>
// UNIT-NEXT: %86 = stablehlo.add %84, %85 : tensor<4x32xf32>
// UNIT-NEXT: %87 = stablehlo.clamp %cst_5, %86, %cst_6 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %88 = stablehlo.convert %87 {scalify.forms = ["2^-3 level 0.47716"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E5M2>
// UNIT-NEXT: %89 = stablehlo.dot_general %83, %17, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level 0.47716"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %90 = stablehlo.transpose %89, dims = [1, 0] {scalify.forms = ["2^0 level 0.47716"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %91 = stablehlo.dot_general %88, %7, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-3 level 2.97716"]} : (tensor<4x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %92 = stablehlo.broadcast_in_dim %cst_14, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %93 = stablehlo.select %23, %91, %92 {scalify.forms = ["2^-3 level 2.47716"]} : tensor<4x32xi1>, tensor<4x32xf32>
// UNIT-NEXT: %cst_20 = stablehlo.constant dense<1.250000e-01> : tensor<4x32xf32>
// UNIT-NEXT: %94 = stablehlo.multiply %93, %cst_20 : tensor<4x32xf32>
// UNIT-NEXT: %95 = stablehlo.dot_general %94, %arg3, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level 0.47716"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %96 = stablehlo.transpose %95, dims = [1, 0] {scalify.forms = ["2^0 level 0.47716"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %97 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %98 = stablehlo.multiply %97, %96 {scalify.forms = ["2^0 level -2.84477"]} : tensor<32x32xf32>
// UNIT-NEXT: %99 = stablehlo.subtract %arg0, %98 {scalify.forms = ["2^0 level 0.0138436"]} : tensor<32x32xf32>
// UNIT-NEXT: %100 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %101 = stablehlo.multiply %100, %90 {scalify.forms = ["2^0 level -2.84477"]} : tensor<32x32xf32>
// UNIT-NEXT: %102 = stablehlo.subtract %arg1, %101 {scalify.forms = ["2^0 level 0.0138436"]} : tensor<32x32xf32>
// UNIT-NEXT: %103 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// UNIT-NEXT: %104 = stablehlo.multiply %103, %66 {scalify.forms = ["2^0 level -2.3951"]} : tensor<32x16xf32>
// UNIT-NEXT: %105 = stablehlo.subtract %arg2, %104 {scalify.forms = ["2^0 level 0.0256104"]} : tensor<32x16xf32>
// UNIT-NEXT: return %99, %102, %105, %54 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x16xf32>, tensor<f32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @relu(%arg0: tensor<4x32xf32>) -> tensor<4x32xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %1 = stablehlo.maximum %arg0, %0 : tensor<4x32xf32>
// UNIT-NEXT: return %1 : tensor<4x32xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @log_softmax_scaled_1(%arg0: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>) {
// UNIT-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<1.600000e+01> : tensor<4x16xf32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg0, %cst_1 : tensor<4x16xf32>
// UNIT-NEXT: %1 = stablehlo.reduce(%0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] {scalify.forms = ["2^0 level 6.5"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %3 = stablehlo.maximum %2, %1 {scalify.forms = ["2^0 level 6.5"]} : tensor<4xf32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0] {scalify.forms = ["2^0 level 6.5"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] {scalify.forms = ["2^0 level 6.5"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %6 = stablehlo.subtract %0, %5 {scalify.forms = ["2^0 level 7"]} : tensor<4x16xf32>
// UNIT-NEXT: %7 = stablehlo.exponential %6 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// UNIT-NEXT: %8 = stablehlo.reduce(%7 init: %cst) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %9 = stablehlo.broadcast_in_dim %8, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %10 = stablehlo.log %9 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// UNIT-NEXT: %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %12 = stablehlo.subtract %6, %11 {scalify.forms = ["2^0 level 7.00004"]} : tensor<4x16xf32>
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
// UNIT-NEXT: func.func private @take_along_axis_0(%arg0: tensor<4x1x1xi32>, %arg1: tensor<4x1xf32>) -> tensor<4x16xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
// UNIT-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// UNIT-NEXT: %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
// UNIT-NEXT: stablehlo.return %2 : tensor<f32>
// UNIT-NEXT: }) : (tensor<4x16xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: return %1 : tensor<4x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @log_softmax_1(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x16xf32>) -> tensor<4x16xf32> {
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
// FP8:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4xi32>) -> (tensor<32x32xf32> {jax.result_info = "result[0][0]"}, tensor<32x32xf32> {jax.result_info = "result[0][1]"}, tensor<32x16xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<4x16xf32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<32x16xf32>
// FP8-NEXT: %cst_3 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_4 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_5 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_6 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg2, %cst_2 : tensor<32x16xf32>
// FP8-NEXT: %1 = stablehlo.add %arg2, %0 : tensor<32x16xf32>
// FP8-NEXT: %2 = stablehlo.clamp %cst_3, %1, %cst_4 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// FP8-NEXT: %4 = stablehlo.multiply %arg1, %cst_1 : tensor<32x32xf32>
// FP8-NEXT: %5 = stablehlo.add %arg1, %4 : tensor<32x32xf32>
// FP8-NEXT: %6 = stablehlo.clamp %cst_3, %5, %cst_4 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %8 = stablehlo.multiply %arg0, %cst_1 : tensor<32x32xf32>
// FP8-NEXT: %9 = stablehlo.add %arg0, %8 : tensor<32x32xf32>
// FP8-NEXT: %10 = stablehlo.clamp %cst_3, %9, %cst_4 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %11 = stablehlo.convert %10 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %12 = stablehlo.multiply %arg3, %cst_0 : tensor<4x32xf32>
// FP8-NEXT: %13 = stablehlo.add %arg3, %12 : tensor<4x32xf32>
// FP8-NEXT: %14 = stablehlo.clamp %cst_3, %13, %cst_4 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %15 = stablehlo.convert %14 {scalify.forms = ["2^0"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// FP8-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// FP8-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// FP8-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.797884583> : tensor<f32>
// FP8-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.471500e-02> : tensor<f32>
// FP8-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %16 = stablehlo.dot_general %15, %11, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<4x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// FP8-NEXT: %17 = call @relu(%16) {scalify.forms = ["2^0 level 2"]} : (tensor<4x32xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %cst_15 = stablehlo.constant dense<2.500000e-01> : tensor<4x32xf32>
// FP8-NEXT: %18 = stablehlo.multiply %17, %cst_15 : tensor<4x32xf32>
// FP8-NEXT: %19 = stablehlo.multiply %18, %cst_0 : tensor<4x32xf32>
// FP8-NEXT: %20 = stablehlo.add %18, %19 : tensor<4x32xf32>
// FP8-NEXT: %21 = stablehlo.clamp %cst_3, %20, %cst_4 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %22 = stablehlo.convert %21 {scalify.forms = ["2^2"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// FP8-NEXT: %23 = stablehlo.broadcast_in_dim %cst_14, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %24 = stablehlo.compare GT, %16, %23, FLOAT : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xi1>
// FP8-NEXT: %25 = stablehlo.dot_general %22, %7, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^2 level 2"]} : (tensor<4x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// FP8-NEXT: %26 = stablehlo.multiply %25, %25 {scalify.forms = ["2^4 level 5"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_16 = stablehlo.constant dense<1.600000e+01> : tensor<4x32xf32>
// FP8-NEXT: %27 = stablehlo.multiply %26, %cst_16 : tensor<4x32xf32>
// FP8-NEXT: %28 = stablehlo.multiply %27, %25 {scalify.forms = ["2^2 level 11"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_17 = stablehlo.constant dense<4.000000e+00> : tensor<4x32xf32>
// FP8-NEXT: %29 = stablehlo.multiply %28, %cst_17 : tensor<4x32xf32>
// FP8-NEXT: %30 = stablehlo.multiply %25, %25 {scalify.forms = ["2^4 level 5"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_18 = stablehlo.constant dense<1.600000e+01> : tensor<4x32xf32>
// FP8-NEXT: %31 = stablehlo.multiply %30, %cst_18 : tensor<4x32xf32>
// FP8-NEXT: %32 = stablehlo.broadcast_in_dim %cst_13, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %33 = stablehlo.multiply %32, %31 {scalify.forms = ["2^0 level 10.585"]} : tensor<4x32xf32>
// FP8-NEXT: %34 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %35 = stablehlo.multiply %34, %29 {scalify.forms = ["2^0 level 8.5169"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_19 = stablehlo.constant dense<4.000000e+00> : tensor<4x32xf32>
// FP8-NEXT: %36 = stablehlo.multiply %25, %cst_19 : tensor<4x32xf32>
// FP8-NEXT: %37 = stablehlo.add %36, %35 {scalify.forms = ["2^0 level 8.5169"]} : tensor<4x32xf32>
// FP8-NEXT: %38 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %39 = stablehlo.multiply %38, %37 {scalify.forms = ["2^0 level 8.19115"]} : tensor<4x32xf32>
// FP8-NEXT: %40 = stablehlo.tanh %39 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %41 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %42 = stablehlo.subtract %41, %40 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %43 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %44 = stablehlo.add %43, %40 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %45 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %46 = stablehlo.multiply %45, %44 {scalify.forms = ["2^0 level -1"]} : tensor<4x32xf32>
// FP8-NEXT: %47 = stablehlo.multiply %25, %46 {scalify.forms = ["2^2 level 2"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_20 = stablehlo.constant dense<4.000000e+00> : tensor<4x32xf32>
// FP8-NEXT: %48 = stablehlo.multiply %47, %cst_20 : tensor<4x32xf32>
// FP8-NEXT: %cst_21 = stablehlo.constant dense<6.250000e-02> : tensor<4x32xf32>
// FP8-NEXT: %49 = stablehlo.multiply %48, %cst_21 : tensor<4x32xf32>
// FP8-NEXT: %50 = stablehlo.multiply %49, %cst_0 : tensor<4x32xf32>
// FP8-NEXT: %51 = stablehlo.add %49, %50 : tensor<4x32xf32>
// FP8-NEXT: %52 = stablehlo.clamp %cst_3, %51, %cst_4 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %53 = stablehlo.convert %52 {scalify.forms = ["2^4"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// FP8-NEXT: %54 = stablehlo.dot_general %53, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^4 level 2"]} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// FP8-NEXT: %55:3 = call @log_softmax_scaled_1(%54) {scalify.forms = ["2^0 level 6", "2^0", "2^0 level 2"]} : (tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>)
// FP8-NEXT: %56 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
// FP8-NEXT: %57:2 = call @take_along_axis(%55#0, %56) {scalify.forms = ["2^0 level 6", "unscaled"]} : (tensor<4x16xf32>, tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>)
// FP8-NEXT: %58 = stablehlo.reduce(%57#0 init: %cst_14) applies stablehlo.add across dimensions = [0, 1] {scalify.forms = ["2^0 level 7"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %59 = stablehlo.divide %58, %cst_8 {scalify.forms = ["2^0 level 5"]} : tensor<f32>
// FP8-NEXT: %60 = stablehlo.negate %59 {scalify.forms = ["2^0 level 5"]} : tensor<f32>
// FP8-NEXT: %61 = stablehlo.negate %cst_10 {scalify.forms = ["unscaled"]} : tensor<f32>
// FP8-NEXT: %62 = stablehlo.divide %61, %cst_8 {scalify.forms = ["2^0 level -2"]} : tensor<f32>
// FP8-NEXT: %63 = stablehlo.broadcast_in_dim %62, dims = [] {scalify.forms = ["2^0 level -2"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %64 = call @take_along_axis_0(%57#1, %63) {scalify.forms = ["2^0 level -4"]} : (tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %65 = call @log_softmax_1(%55#1, %55#2, %64) {scalify.forms = ["2^0 level -4"]} : (tensor<4x16xf32>, tensor<4x1xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %cst_22 = stablehlo.constant dense<1.600000e+01> : tensor<4x16xf32>
// FP8-NEXT: %66 = stablehlo.multiply %65, %cst_22 : tensor<4x16xf32>
// FP8-NEXT: %67 = stablehlo.multiply %66, %cst : tensor<4x16xf32>
// FP8-NEXT: %68 = stablehlo.add %66, %67 : tensor<4x16xf32>
// FP8-NEXT: %69 = stablehlo.clamp %cst_5, %68, %cst_6 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %70 = stablehlo.convert %69 {scalify.forms = ["2^-4"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// FP8-NEXT: %71 = stablehlo.dot_general %65, %48, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level 1"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// FP8-NEXT: %72 = stablehlo.transpose %71, dims = [1, 0] {scalify.forms = ["2^0 level 1"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// FP8-NEXT: %cst_23 = stablehlo.constant dense<5.000000e-01> : tensor<32x16xf32>
// FP8-NEXT: %73 = stablehlo.multiply %72, %cst_23 : tensor<32x16xf32>
// FP8-NEXT: %74 = stablehlo.multiply %73, %cst_2 : tensor<32x16xf32>
// FP8-NEXT: %75 = stablehlo.add %73, %74 : tensor<32x16xf32>
// FP8-NEXT: %76 = stablehlo.clamp %cst_5, %75, %cst_6 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %77 = stablehlo.convert %76 {scalify.forms = ["2^1"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E5M2>
// FP8-NEXT: %78 = stablehlo.optimization_barrier {scalify.forms = ["2^1"]} %77 : tensor<32x16xf8E5M2>
// FP8-NEXT: %79 = stablehlo.convert %78 {scalify.forms = ["2^1"]} : (tensor<32x16xf8E5M2>) -> tensor<32x16xf32>
// FP8-NEXT: %80 = stablehlo.dot_general %70, %3, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-4 level 2"]} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// FP8-NEXT: %81 = stablehlo.multiply %25, %80 {scalify.forms = ["2^-2 level 5"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_24 = stablehlo.constant dense<2.500000e-01> : tensor<4x32xf32>
// FP8-NEXT: %82 = stablehlo.multiply %81, %cst_24 : tensor<4x32xf32>
// FP8-NEXT: %83 = stablehlo.multiply %80, %46 {scalify.forms = ["2^-4 level 2"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_25 = stablehlo.constant dense<6.250000e-02> : tensor<4x32xf32>
// FP8-NEXT: %84 = stablehlo.multiply %83, %cst_25 : tensor<4x32xf32>
// FP8-NEXT: %85 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %86 = stablehlo.multiply %85, %82 {scalify.forms = ["2^0 level 2"]} : tensor<4x32xf32>
// FP8-NEXT: %87 = stablehlo.multiply %86, %42 {scalify.forms = ["2^0 level 2"]} : tensor<4x32xf32>
// FP8-NEXT: %88 = stablehlo.multiply %87, %40 {scalify.forms = ["2^0 level 2"]} : tensor<4x32xf32>
// FP8-NEXT: %89 = stablehlo.add %87, %88 {scalify.forms = ["2^0 level 3"]} : tensor<4x32xf32>
// FP8-NEXT: %90 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %91 = stablehlo.multiply %90, %89 {scalify.forms = ["2^0 level 2.67425"]} : tensor<4x32xf32>
// FP8-NEXT: %92 = stablehlo.add %84, %91 {scalify.forms = ["2^0 level 2.67425"]} : tensor<4x32xf32>
// FP8-NEXT: %93 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %94 = stablehlo.multiply %93, %91 {scalify.forms = ["2^0 level -1.80885"]} : tensor<4x32xf32>
// FP8-NEXT: %95 = stablehlo.multiply %94, %33 {scalify.forms = ["2^0 level 8.77612"]} : tensor<4x32xf32>
// FP8-NEXT: %96 = stablehlo.add %92, %95 {scalify.forms = ["2^0 level -3"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_26 = stablehlo.constant dense<8.000000e+00> : tensor<4x32xf32>
// FP8-NEXT: %97 = stablehlo.multiply %96, %cst_26 : tensor<4x32xf32>
// FP8-NEXT: %98 = stablehlo.multiply %97, %cst_0 : tensor<4x32xf32>
// FP8-NEXT: %99 = stablehlo.add %97, %98 : tensor<4x32xf32>
// FP8-NEXT: %100 = stablehlo.clamp %cst_5, %99, %cst_6 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %101 = stablehlo.convert %100 {scalify.forms = ["2^-3"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E5M2>
// FP8-NEXT: %102 = stablehlo.dot_general %96, %17, contracting_dims = [0] x [0] {scalify.forms = ["2^0"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %103 = stablehlo.transpose %102, dims = [1, 0] {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %104 = stablehlo.multiply %103, %cst_1 : tensor<32x32xf32>
// FP8-NEXT: %105 = stablehlo.add %103, %104 : tensor<32x32xf32>
// FP8-NEXT: %106 = stablehlo.clamp %cst_5, %105, %cst_6 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %107 = stablehlo.convert %106 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E5M2>
// FP8-NEXT: %108 = stablehlo.optimization_barrier {scalify.forms = ["2^0"]} %107 : tensor<32x32xf8E5M2>
// FP8-NEXT: %109 = stablehlo.convert %108 {scalify.forms = ["2^0"]} : (tensor<32x32xf8E5M2>) -> tensor<32x32xf32>
// FP8-NEXT: %110 = stablehlo.dot_general %101, %7, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-3 level 3"]} : (tensor<4x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// FP8-NEXT: %111 = stablehlo.broadcast_in_dim %cst_14, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %112 = stablehlo.select %24, %110, %111 {scalify.forms = ["2^-3 level 3"]} : tensor<4x32xi1>, tensor<4x32xf32>
// FP8-NEXT: %cst_27 = stablehlo.constant dense<1.250000e-01> : tensor<4x32xf32>
// FP8-NEXT: %113 = stablehlo.multiply %112, %cst_27 : tensor<4x32xf32>
// FP8-NEXT: %114 = stablehlo.dot_general %113, %arg3, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level 1"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %115 = stablehlo.transpose %114, dims = [1, 0] {scalify.forms = ["2^0 level 1"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %cst_28 = stablehlo.constant dense<5.000000e-01> : tensor<32x32xf32>
// FP8-NEXT: %116 = stablehlo.multiply %115, %cst_28 : tensor<32x32xf32>
// FP8-NEXT: %117 = stablehlo.multiply %116, %cst_1 : tensor<32x32xf32>
// FP8-NEXT: %118 = stablehlo.add %116, %117 : tensor<32x32xf32>
// FP8-NEXT: %119 = stablehlo.clamp %cst_5, %118, %cst_6 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %120 = stablehlo.convert %119 {scalify.forms = ["2^1"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E5M2>
// FP8-NEXT: %121 = stablehlo.optimization_barrier {scalify.forms = ["2^1"]} %120 : tensor<32x32xf8E5M2>
// FP8-NEXT: %122 = stablehlo.convert %121 {scalify.forms = ["2^1"]} : (tensor<32x32xf8E5M2>) -> tensor<32x32xf32>
// FP8-NEXT: %cst_29 = stablehlo.constant dense<2.000000e-01> : tensor<32x32xf32>
// FP8-NEXT: %123 = stablehlo.multiply %cst_29, %122 : tensor<32x32xf32>
// FP8-NEXT: %124 = stablehlo.subtract %arg0, %123 {scalify.forms = ["2^0"]} : tensor<32x32xf32>
// FP8-NEXT: %125 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %126 = stablehlo.multiply %125, %109 {scalify.forms = ["2^0 level -3.32193"]} : tensor<32x32xf32>
// FP8-NEXT: %127 = stablehlo.subtract %arg1, %126 {scalify.forms = ["2^0"]} : tensor<32x32xf32>
// FP8-NEXT: %cst_30 = stablehlo.constant dense<2.000000e-01> : tensor<32x16xf32>
// FP8-NEXT: %128 = stablehlo.multiply %cst_30, %79 : tensor<32x16xf32>
// FP8-NEXT: %129 = stablehlo.subtract %arg2, %128 {scalify.forms = ["2^0"]} : tensor<32x16xf32>
// FP8-NEXT: return %124, %127, %129, %60 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x16xf32>, tensor<f32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @relu(%arg0: tensor<4x32xf32>) -> tensor<4x32xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %1 = stablehlo.maximum %arg0, %0 : tensor<4x32xf32>
// FP8-NEXT: return %1 : tensor<4x32xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @log_softmax_scaled_1(%arg0: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>) {
// FP8-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<1.600000e+01> : tensor<4x16xf32>
// FP8-NEXT: %0 = stablehlo.multiply %arg0, %cst_1 : tensor<4x16xf32>
// FP8-NEXT: %1 = stablehlo.reduce(%0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] {scalify.forms = ["2^0 level 6"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %3 = stablehlo.maximum %2, %1 {scalify.forms = ["2^0 level 6"]} : tensor<4xf32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0] {scalify.forms = ["2^0 level 6"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] {scalify.forms = ["2^0 level 6"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %6 = stablehlo.subtract %0, %5 {scalify.forms = ["2^0 level 6"]} : tensor<4x16xf32>
// FP8-NEXT: %7 = stablehlo.exponential %6 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// FP8-NEXT: %8 = stablehlo.reduce(%7 init: %cst) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %9 = stablehlo.broadcast_in_dim %8, dims = [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %10 = stablehlo.log %9 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %12 = stablehlo.subtract %6, %11 {scalify.forms = ["2^0 level 6"]} : tensor<4x16xf32>
// FP8-NEXT: return %12, %7, %9 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @take_along_axis(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>) {
// FP8-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// FP8-NEXT: %c = stablehlo.constant dense<true> : tensor<i1>
// FP8-NEXT: %c_0 = stablehlo.constant dense<15> : tensor<1xi32>
// FP8-NEXT: %c_1 = stablehlo.constant dense<16> : tensor<i32>
// FP8-NEXT: %c_2 = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
// FP8-NEXT: %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
// FP8-NEXT: %3 = stablehlo.add %arg1, %2 : tensor<4x1xi32>
// FP8-NEXT: %4 = stablehlo.select %1, %3, %arg1 : tensor<4x1xi1>, tensor<4x1xi32>
// FP8-NEXT: %5 = stablehlo.reshape %4 : (tensor<4x1xi32>) -> tensor<4x1x1xi32>
// FP8-NEXT: %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1x1xi32>
// FP8-NEXT: %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
// FP8-NEXT: %8 = stablehlo.broadcast_in_dim %c_0, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
// FP8-NEXT: %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<4x1x1xi32>
// FP8-NEXT: %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
// FP8-NEXT: %11 = stablehlo.and %7, %10 : tensor<4x1x1xi1>
// FP8-NEXT: %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.and across dimensions = [2] : (tensor<4x1x1xi1>, tensor<i1>) -> tensor<4x1xi1>
// FP8-NEXT: %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x1x1xi32>) -> tensor<4x1xf32>
// FP8-NEXT: %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %15 = stablehlo.select %12, %13, %14 : tensor<4x1xi1>, tensor<4x1xf32>
// FP8-NEXT: return %15, %5 : tensor<4x1xf32>, tensor<4x1x1xi32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @take_along_axis_0(%arg0: tensor<4x1x1xi32>, %arg1: tensor<4x1xf32>) -> tensor<4x16xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
// FP8-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// FP8-NEXT: %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
// FP8-NEXT: stablehlo.return %2 : tensor<f32>
// FP8-NEXT: }) : (tensor<4x16xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: return %1 : tensor<4x16xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @log_softmax_1(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x16xf32>) -> tensor<4x16xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.negate %arg2 : tensor<4x16xf32>
// FP8-NEXT: %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %3 = stablehlo.divide %2, %arg1 : tensor<4x1xf32>
// FP8-NEXT: %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %6 = stablehlo.multiply %5, %arg0 : tensor<4x16xf32>
// FP8-NEXT: %7 = stablehlo.add %arg2, %6 : tensor<4x16xf32>
// FP8-NEXT: return %7 : tensor<4x16xf32>
// FP8-NEXT: }
// FP8-NEXT: }

module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4xi32>) -> (tensor<32x32xf32> {jax.result_info = "result[0][0]"}, tensor<32x32xf32> {jax.result_info = "result[0][1]"}, tensor<32x16xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %cst_4 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %cst_5 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    %1 = call @relu(%0) : (tensor<4x32xf32>) -> tensor<4x32xf32>
    %2 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %3 = stablehlo.compare GT, %0, %2, FLOAT : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xi1>
    %4 = stablehlo.dot_general %1, %arg1, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<4x32xf32>
    %6 = stablehlo.multiply %5, %4 : tensor<4x32xf32>
    %7 = stablehlo.multiply %4, %4 : tensor<4x32xf32>
    %8 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<4x32xf32>
    %10 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %11 = stablehlo.multiply %10, %6 : tensor<4x32xf32>
    %12 = stablehlo.add %4, %11 : tensor<4x32xf32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %14 = stablehlo.multiply %13, %12 : tensor<4x32xf32>
    %15 = stablehlo.tanh %14 : tensor<4x32xf32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %17 = stablehlo.subtract %16, %15 : tensor<4x32xf32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %19 = stablehlo.add %18, %15 : tensor<4x32xf32>
    %20 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %21 = stablehlo.multiply %20, %19 : tensor<4x32xf32>
    %22 = stablehlo.multiply %4, %21 : tensor<4x32xf32>
    %23 = stablehlo.dot_general %22, %arg2, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x16xf32>) -> tensor<4x16xf32>
    %24:3 = call @log_softmax(%23) : (tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>)
    %25 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %26:2 = call @take_along_axis(%24#0, %25) : (tensor<4x16xf32>, tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>)
    %27 = stablehlo.reduce(%26#0 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
    %28 = stablehlo.divide %27, %cst_0 : tensor<f32>
    %29 = stablehlo.negate %28 : tensor<f32>
    %30 = stablehlo.negate %cst_2 : tensor<f32>
    %31 = stablehlo.divide %30, %cst_0 : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %33 = call @take_along_axis_0(%26#1, %32) : (tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
    %34 = call @log_softmax_1(%24#1, %24#2, %33) : (tensor<4x16xf32>, tensor<4x1xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %35 = stablehlo.dot_general %34, %22, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
    %36 = stablehlo.transpose %35, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %37 = stablehlo.dot_general %34, %arg2, contracting_dims = [1] x [1] : (tensor<4x16xf32>, tensor<32x16xf32>) -> tensor<4x32xf32>
    %38 = stablehlo.multiply %4, %37 : tensor<4x32xf32>
    %39 = stablehlo.multiply %37, %21 : tensor<4x32xf32>
    %40 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %41 = stablehlo.multiply %40, %38 : tensor<4x32xf32>
    %42 = stablehlo.multiply %41, %17 : tensor<4x32xf32>
    %43 = stablehlo.multiply %42, %15 : tensor<4x32xf32>
    %44 = stablehlo.add %42, %43 : tensor<4x32xf32>
    %45 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %46 = stablehlo.multiply %45, %44 : tensor<4x32xf32>
    %47 = stablehlo.add %39, %46 : tensor<4x32xf32>
    %48 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %49 = stablehlo.multiply %48, %46 : tensor<4x32xf32>
    %50 = stablehlo.multiply %49, %9 : tensor<4x32xf32>
    %51 = stablehlo.add %47, %50 : tensor<4x32xf32>
    %52 = stablehlo.dot_general %51, %1, contracting_dims = [0] x [0] : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
    %53 = stablehlo.transpose %52, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %54 = stablehlo.dot_general %51, %arg1, contracting_dims = [1] x [1] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    %55 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %56 = stablehlo.select %3, %54, %55 : tensor<4x32xi1>, tensor<4x32xf32>
    %57 = stablehlo.dot_general %56, %arg3, contracting_dims = [0] x [0] : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
    %58 = stablehlo.transpose %57, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %59 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %60 = stablehlo.multiply %59, %58 : tensor<32x32xf32>
    %61 = stablehlo.subtract %arg0, %60 : tensor<32x32xf32>
    %62 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %63 = stablehlo.multiply %62, %53 : tensor<32x32xf32>
    %64 = stablehlo.subtract %arg1, %63 : tensor<32x32xf32>
    %65 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %66 = stablehlo.multiply %65, %36 : tensor<32x16xf32>
    %67 = stablehlo.subtract %arg2, %66 : tensor<32x16xf32>
    return %61, %64, %67, %29 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x16xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<4x32xf32>) -> tensor<4x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x32xf32>
    return %1 : tensor<4x32xf32>
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
  func.func private @take_along_axis_0(%arg0: tensor<4x1x1xi32>, %arg1: tensor<4x1xf32>) -> tensor<4x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x16xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
    return %1 : tensor<4x16xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x16xf32>) -> tensor<4x16xf32> {
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
