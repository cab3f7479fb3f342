// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{predict=unit annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8

// The gradients of the weights of a transformer's attention, after a normalization.
// UNIT:      module @_att attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<2x4x8xf32>, %arg5: tensor<2x4x8xf32>) -> (tensor<8x8xf32> {jax.result_info = "result['k']"}, tensor<8x8xf32> {jax.result_info = "result['o']"}, tensor<8x8xf32> {jax.result_info = "result['q']"}, tensor<8x8xf32> {jax.result_info = "result['v']"}) {
// UNIT-NEXT: %cst = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-1.000000e+09> : tensor<f32>
// UNIT-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999974E-6> : tensor<f32>
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<8.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.reduce(%arg4 init: %cst_6) applies stablehlo.add across dimensions = [2] {scalify.forms = ["2^0 level 1.5"]} : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
// UNIT-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] {scalify.forms = ["2^0 level 1.5"]} : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x4x1xf32>
// UNIT-NEXT: %3 = stablehlo.divide %1, %2 {scalify.forms = ["2^0 level -1.5"]} : tensor<2x4x1xf32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] {scalify.forms = ["2^0 level -1.5"]} : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %5 = stablehlo.subtract %arg4, %4 {scalify.forms = ["2^0 level 0.0849625"]} : tensor<2x4x8xf32>
// UNIT-NEXT: %6 = call @_var(%arg4, %c) {scalify.forms = ["2^0 level 0.25"]} : (tensor<2x4x8xf32>, tensor<i32>) -> tensor<2x4x1xf32>
// UNIT-NEXT: %7 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x4x1xf32>
// UNIT-NEXT: %8 = stablehlo.add %6, %7 {scalify.forms = ["2^0 level 0.25"]} : tensor<2x4x1xf32>
// UNIT-NEXT: %9 = stablehlo.rsqrt %8 {scalify.forms = ["2^0 level -0.125"]} : tensor<2x4x1xf32>
// UNIT-NEXT: %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] {scalify.forms = ["2^0 level -0.125"]} : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %11 = stablehlo.multiply %5, %10 {scalify.forms = ["2^0 level -0.0400375"]} : tensor<2x4x8xf32>
// UNIT-NEXT: %12 = stablehlo.dot_general %11, %arg2, contracting_dims = [2] x [0] {scalify.forms = ["2^0 level 1.45996"]} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %13 = stablehlo.reshape %12 {scalify.forms = ["2^0 level 1.45996"]} : (tensor<2x4x8xf32>) -> tensor<2x4x2x4xf32>
// UNIT-NEXT: %14 = stablehlo.dot_general %11, %arg0, contracting_dims = [2] x [0] {scalify.forms = ["2^0 level 1.45996"]} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %15 = stablehlo.reshape %14 {scalify.forms = ["2^0 level 1.45996"]} : (tensor<2x4x8xf32>) -> tensor<2x4x2x4xf32>
// UNIT-NEXT: %16 = stablehlo.dot_general %11, %arg3, contracting_dims = [2] x [0] {scalify.forms = ["2^0 level 1.45996"]} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %17 = stablehlo.reshape %16 {scalify.forms = ["2^0 level 1.45996"]} : (tensor<2x4x8xf32>) -> tensor<2x4x2x4xf32>
// UNIT-NEXT: %18 = stablehlo.dot_general %13, %15, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] {scalify.forms = ["2^0 level 3.91993"]} : (tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %20 = stablehlo.divide %18, %19 {scalify.forms = ["2^0 level 2.91993"]} : tensor<2x2x4x4xf32>
// UNIT-NEXT: %21 = stablehlo.iota dim = 0 : tensor<4x4xi32>
// UNIT-NEXT: %22 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
// UNIT-NEXT: %23 = stablehlo.add %21, %22 : tensor<4x4xi32>
// UNIT-NEXT: %24 = stablehlo.iota dim = 1 : tensor<4x4xi32>
// UNIT-NEXT: %25 = stablehlo.compare GE, %23, %24, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
// UNIT-NEXT: %26:2 = call @_where_0(%25, %20, %cst_2) {scalify.forms = ["2^0 level 3", "unscaled"]} : (tensor<4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4x4xi1>)
// UNIT-NEXT: %27 = stablehlo.reduce(%26#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] {scalify.forms = ["2^0 level 3"]} : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
// UNIT-NEXT: %28 = stablehlo.broadcast_in_dim %cst_1, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<2x2x4xf32>
// UNIT-NEXT: %29 = stablehlo.maximum %28, %27 {scalify.forms = ["2^0 level 3"]} : tensor<2x2x4xf32>
// UNIT-NEXT: %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] {scalify.forms = ["2^0 level 3"]} : (tensor<2x2x4xf32>) -> tensor<2x2x4x1xf32>
// UNIT-NEXT: %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level 3"]} : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %32 = stablehlo.subtract %26#0, %31 {scalify.forms = ["2^0 level 3.5"]} : tensor<2x2x4x4xf32>
// UNIT-NEXT: %33 = stablehlo.exponential %32 {scalify.forms = ["2^0"]} : tensor<2x2x4x4xf32>
// UNIT-NEXT: %34 = stablehlo.reduce(%33 init: %cst_6) applies stablehlo.add across dimensions = [3] {scalify.forms = ["2^0 level 2"]} : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
// UNIT-NEXT: %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] {scalify.forms = ["2^0 level 2"]} : (tensor<2x2x4xf32>) -> tensor<2x2x4x1xf32>
// UNIT-NEXT: %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level 2"]} : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %37 = stablehlo.divide %33, %36 {scalify.forms = ["2^0 level -2"]} : tensor<2x2x4x4xf32>
// UNIT-NEXT: %38 = stablehlo.multiply %35, %35 {scalify.forms = ["2^0 level 4"]} : tensor<2x2x4x1xf32>
// UNIT-NEXT: %39 = stablehlo.broadcast_in_dim %cst_0, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x2x4x1xf32>
// UNIT-NEXT: %40 = stablehlo.divide %39, %38 {scalify.forms = ["2^0 level -4"]} : tensor<2x2x4x1xf32>
// UNIT-NEXT: %41 = stablehlo.dot_general %17, %37, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] {scalify.forms = ["2^0 level 0.459963"]} : (tensor<2x4x2x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %42 = stablehlo.transpose %41, dims = [0, 3, 1, 2] {scalify.forms = ["2^0 level 0.459963"]} : (tensor<2x2x4x4xf32>) -> tensor<2x4x2x4xf32>
// UNIT-NEXT: %43 = stablehlo.reshape %42 {scalify.forms = ["2^0 level 0.459963"]} : (tensor<2x4x2x4xf32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %44 = stablehlo.dot_general %43, %arg1, contracting_dims = [2] x [0] {scalify.forms = ["2^0 level 1.95996"]} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %45 = stablehlo.add %arg4, %44 {scalify.forms = ["2^0 level 2.00611"]} : tensor<2x4x8xf32>
// UNIT-NEXT: %46 = stablehlo.subtract %45, %arg5 {scalify.forms = ["2^0 level 2.04948"]} : tensor<2x4x8xf32>
// UNIT-NEXT: %47 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %48 = stablehlo.multiply %47, %46 {scalify.forms = ["2^0 level 3.04948"]} : tensor<2x4x8xf32>
// UNIT-NEXT: %49 = stablehlo.divide %cst_0, %cst {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// UNIT-NEXT: %50 = stablehlo.broadcast_in_dim %49, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %51 = stablehlo.multiply %50, %48 {scalify.forms = ["2^0 level -2.95052"]} : tensor<2x4x8xf32>
// UNIT-NEXT: %52 = stablehlo.dot_general %51, %43, contracting_dims = [0, 1] x [0, 1] {scalify.forms = ["2^0 level -0.990553"]} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
// UNIT-NEXT: %53 = stablehlo.transpose %52, dims = [1, 0] {scalify.forms = ["2^0 level -0.990553"]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
// UNIT-NEXT: %54 = stablehlo.dot_general %51, %arg1, contracting_dims = [2] x [1] {scalify.forms = ["2^0 level -1.45052"]} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %55 = stablehlo.reshape %54 {scalify.forms = ["2^0 level -1.45052"]} : (tensor<2x4x8xf32>) -> tensor<2x4x2x4xf32>
// UNIT-NEXT: %56 = stablehlo.transpose %55, dims = [0, 2, 3, 1] {scalify.forms = ["2^0 level -1.45052"]} : (tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %57 = stablehlo.dot_general %56, %17, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] {scalify.forms = ["2^0 level 1.00945"]} : (tensor<2x2x4x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %58 = stablehlo.dot_general %56, %37, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] {scalify.forms = ["2^0 level -1.95052"]} : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %59 = stablehlo.transpose %58, dims = [0, 3, 1, 2] {scalify.forms = ["2^0 level -1.95052"]} : (tensor<2x2x4x4xf32>) -> tensor<2x4x2x4xf32>
// UNIT-NEXT: %60 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level -4"]} : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %61 = stablehlo.multiply %57, %60 {scalify.forms = ["2^0 level -2.99055"]} : tensor<2x2x4x4xf32>
// UNIT-NEXT: %62 = stablehlo.multiply %61, %33 {scalify.forms = ["2^0 level -2.99055"]} : tensor<2x2x4x4xf32>
// UNIT-NEXT: %63 = stablehlo.reduce(%62 init: %cst_6) applies stablehlo.add across dimensions = [3] {scalify.forms = ["2^0 level -1.99055"]} : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
// UNIT-NEXT: %64 = stablehlo.reshape %63 {scalify.forms = ["2^0 level -1.99055"]} : (tensor<2x2x4xf32>) -> tensor<2x2x4x1xf32>
// UNIT-NEXT: %65 = stablehlo.negate %64 {scalify.forms = ["2^0 level -1.99055"]} : tensor<2x2x4x1xf32>
// UNIT-NEXT: %66 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level 2"]} : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %67 = stablehlo.divide %57, %66 {scalify.forms = ["2^0 level -0.990553"]} : tensor<2x2x4x4xf32>
// UNIT-NEXT: %68 = stablehlo.reduce(%65 init: %cst_6) applies stablehlo.add across dimensions = [3] {scalify.forms = ["2^0 level -1.99055"]} : (tensor<2x2x4x1xf32>, tensor<f32>) -> tensor<2x2x4xf32>
// UNIT-NEXT: %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] {scalify.forms = ["2^0 level -1.99055"]} : (tensor<2x2x4xf32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %70 = stablehlo.add %67, %69 {scalify.forms = ["2^0 level -0.829589"]} : tensor<2x2x4x4xf32>
// UNIT-NEXT: %71 = stablehlo.multiply %70, %33 {scalify.forms = ["2^0 level -0.829589"]} : tensor<2x2x4x4xf32>
// UNIT-NEXT: %72 = call @_where_1(%26#1, %71) {scalify.forms = ["2^0 level -0.75"]} : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %73 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %74 = stablehlo.divide %72, %73 {scalify.forms = ["2^0 level -1.75"]} : tensor<2x2x4x4xf32>
// UNIT-NEXT: %75 = stablehlo.dot_general %74, %13, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] {scalify.forms = ["2^0 level 0.709963"]} : (tensor<2x2x4x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %76 = stablehlo.transpose %75, dims = [0, 2, 1, 3] {scalify.forms = ["2^0 level 0.709963"]} : (tensor<2x2x4x4xf32>) -> tensor<2x4x2x4xf32>
// UNIT-NEXT: %77 = stablehlo.dot_general %74, %15, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] {scalify.forms = ["2^0 level 0.709963"]} : (tensor<2x2x4x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %78 = stablehlo.transpose %77, dims = [0, 2, 1, 3] {scalify.forms = ["2^0 level 0.709963"]} : (tensor<2x2x4x4xf32>) -> tensor<2x4x2x4xf32>
// UNIT-NEXT: %79 = stablehlo.reshape %59 {scalify.forms = ["2^0 level -1.95052"]} : (tensor<2x4x2x4xf32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %80 = stablehlo.dot_general %79, %11, contracting_dims = [0, 1] x [0, 1] {scalify.forms = ["2^0 level -0.490553"]} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
// UNIT-NEXT: %81 = stablehlo.transpose %80, dims = [1, 0] {scalify.forms = ["2^0 level -0.490553"]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
// UNIT-NEXT: %82 = stablehlo.reshape %76 {scalify.forms = ["2^0 level 0.709963"]} : (tensor<2x4x2x4xf32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %83 = stablehlo.dot_general %82, %11, contracting_dims = [0, 1] x [0, 1] {scalify.forms = ["2^0 level 2.16993"]} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
// UNIT-NEXT: %84 = stablehlo.transpose %83, dims = [1, 0] {scalify.forms = ["2^0 level 2.16993"]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
// UNIT-NEXT: %85 = stablehlo.reshape %78 {scalify.forms = ["2^0 level 0.709963"]} : (tensor<2x4x2x4xf32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %86 = stablehlo.dot_general %85, %11, contracting_dims = [0, 1] x [0, 1] {scalify.forms = ["2^0 level 2.16993"]} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
// UNIT-NEXT: %87 = stablehlo.transpose %86, dims = [1, 0] {scalify.forms = ["2^0 level 2.16993"]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
// UNIT-NEXT: return %84, %53, %87, %81 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @_var(%arg0: tensor<2x4x8xf32>, %arg1: tensor<i32>) -> tensor<2x4x1xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
// UNIT-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x1xf32>
// UNIT-NEXT: %3 = stablehlo.divide %1, %2 : tensor<2x4x1xf32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
// UNIT-NEXT: %5 = stablehlo.subtract %arg0, %4 : tensor<2x4x8xf32>
// UNIT-NEXT: %6 = stablehlo.multiply %5, %5 : tensor<2x4x8xf32>
// UNIT-NEXT: %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
// UNIT-NEXT: %8 = stablehlo.subtract %cst_0, %7 : tensor<f32>
// UNIT-NEXT: %9 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
// UNIT-NEXT: %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
// UNIT-NEXT: %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x4x1xf32>
// UNIT-NEXT: %12 = stablehlo.divide %10, %11 : tensor<2x4x1xf32>
// UNIT-NEXT: %13 = stablehlo.compare GT, %8, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
// UNIT-NEXT: %14 = call @_where(%13, %12, %cst) : (tensor<i1>, tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
// UNIT-NEXT: return %14 : tensor<2x4x1xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x4x1xf32>, %arg2: tensor<f32>) -> tensor<2x4x1xf32> {
// UNIT-NEXT: %0 = stablehlo.convert %arg2 : tensor<f32>
// UNIT-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x1xf32>
// UNIT-NEXT: %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x4x1xf32>
// UNIT-NEXT: return %2 : tensor<2x4x1xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @_where_0(%arg0: tensor<4x4xi1>, %arg1: tensor<2x2x4x4xf32>, %arg2: tensor<f32>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4x4xi1>) {
// UNIT-NEXT: %0 = stablehlo.convert %arg2 : tensor<f32>
// UNIT-NEXT: %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<4x4xi1>) -> tensor<2x2x4x4xi1>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>
// UNIT-NEXT: return %3, %1 : tensor<2x2x4x4xf32>, tensor<2x2x4x4xi1>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @_where_1(%arg0: tensor<2x2x4x4xi1>, %arg1: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x4x4xf32>
// UNIT-NEXT: %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>
// UNIT-NEXT: return %1 : tensor<2x2x4x4xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module @_att attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<2x4x8xf32>, %arg5: tensor<2x4x8xf32>) -> (tensor<8x8xf32> {jax.result_info = "result['k']"}, tensor<8x8xf32> {jax.result_info = "result['o']"}, tensor<8x8xf32> {jax.result_info = "result['q']"}, tensor<8x8xf32> {jax.result_info = "result['v']"}) {
// FP8-NEXT: %cst = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-1.000000e+09> : tensor<f32>
// FP8-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999974E-6> : tensor<f32>
// FP8-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<8.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.reduce(%arg4 init: %cst_6) applies stablehlo.add across dimensions = [2] {scalify.forms = ["2^0 level 1"]} : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] {scalify.forms = ["2^0 level 1"]} : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x4x1xf32>
// FP8-NEXT: %3 = stablehlo.divide %1, %2 {scalify.forms = ["2^0 level -2"]} : tensor<2x4x1xf32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] {scalify.forms = ["2^0 level -2"]} : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %5 = stablehlo.subtract %arg4, %4 {scalify.forms = ["2^0"]} : tensor<2x4x8xf32>
// FP8-NEXT: %6 = call @_var(%arg4, %c) {scalify.forms = ["2^0 level 3"]} : (tensor<2x4x8xf32>, tensor<i32>) -> tensor<2x4x1xf32>
// FP8-NEXT: %7 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x4x1xf32>
// FP8-NEXT: %8 = stablehlo.add %6, %7 {scalify.forms = ["2^0 level 3"]} : tensor<2x4x1xf32>
// FP8-NEXT: %9 = stablehlo.rsqrt %8 {scalify.forms = ["2^0 level -1"]} : tensor<2x4x1xf32>
// FP8-NEXT: %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] {scalify.forms = ["2^0 level -1"]} : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %11 = stablehlo.multiply %5, %10 {scalify.forms = ["2^0 level -1"]} : tensor<2x4x8xf32>
// FP8-NEXT: %12 = stablehlo.dot_general %11, %arg2, contracting_dims = [2] x [0] {scalify.forms = ["2^0"]} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %13 = stablehlo.reshape %12 {scalify.forms = ["2^0"]} : (tensor<2x4x8xf32>) -> tensor<2x4x2x4xf32>
// FP8-NEXT: %14 = stablehlo.dot_general %11, %arg0, contracting_dims = [2] x [0] {scalify.forms = ["2^0"]} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %15 = stablehlo.reshape %14 {scalify.forms = ["2^0"]} : (tensor<2x4x8xf32>) -> tensor<2x4x2x4xf32>
// FP8-NEXT: %16 = stablehlo.dot_general %11, %arg3, contracting_dims = [2] x [0] {scalify.forms = ["2^0"]} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %17 = stablehlo.reshape %16 {scalify.forms = ["2^0"]} : (tensor<2x4x8xf32>) -> tensor<2x4x2x4xf32>
// FP8-NEXT: %18 = stablehlo.dot_general %13, %15, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] {scalify.forms = ["2^0 level 1"]} : (tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %20 = stablehlo.divide %18, %19 {scalify.forms = ["2^0"]} : tensor<2x2x4x4xf32>
// FP8-NEXT: %21 = stablehlo.iota dim = 0 : tensor<4x4xi32>
// FP8-NEXT: %22 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
// FP8-NEXT: %23 = stablehlo.add %21, %22 : tensor<4x4xi32>
// FP8-NEXT: %24 = stablehlo.iota dim = 1 : tensor<4x4xi32>
// FP8-NEXT: %25 = stablehlo.compare GE, %23, %24, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
// FP8-NEXT: %26:2 = call @_where_0(%25, %20, %cst_2) {scalify.forms = ["2^0", "unscaled"]} : (tensor<4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4x4xi1>)
// FP8-NEXT: %27 = stablehlo.reduce(%26#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] {scalify.forms = ["2^0"]} : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
// FP8-NEXT: %28 = stablehlo.broadcast_in_dim %cst_1, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<2x2x4xf32>
// FP8-NEXT: %29 = stablehlo.maximum %28, %27 {scalify.forms = ["2^0"]} : tensor<2x2x4xf32>
// FP8-NEXT: %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] {scalify.forms = ["2^0"]} : (tensor<2x2x4xf32>) -> tensor<2x2x4x1xf32>
// FP8-NEXT: %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] {scalify.forms = ["2^0"]} : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %32 = stablehlo.subtract %26#0, %31 {scalify.forms = ["2^0"]} : tensor<2x2x4x4xf32>
// FP8-NEXT: %33 = stablehlo.exponential %32 {scalify.forms = ["2^0"]} : tensor<2x2x4x4xf32>
// FP8-NEXT: %34 = stablehlo.reduce(%33 init: %cst_6) applies stablehlo.add across dimensions = [3] {scalify.forms = ["2^0 level 1"]} : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
// FP8-NEXT: %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] {scalify.forms = ["2^0 level 1"]} : (tensor<2x2x4xf32>) -> tensor<2x2x4x1xf32>
// FP8-NEXT: %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level 1"]} : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %37 = stablehlo.divide %33, %36 {scalify.forms = ["2^0 level -2"]} : tensor<2x2x4x4xf32>
// FP8-NEXT: %38 = stablehlo.multiply %35, %35 {scalify.forms = ["2^0 level 2"]} : tensor<2x2x4x1xf32>
// FP8-NEXT: %39 = stablehlo.broadcast_in_dim %cst_0, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x2x4x1xf32>
// FP8-NEXT: %40 = stablehlo.divide %39, %38 {scalify.forms = ["2^0 level -2"]} : tensor<2x2x4x1xf32>
// FP8-NEXT: %41 = stablehlo.dot_general %17, %37, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] {scalify.forms = ["2^0 level -1"]} : (tensor<2x4x2x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %42 = stablehlo.transpose %41, dims = [0, 3, 1, 2] {scalify.forms = ["2^0 level -1"]} : (tensor<2x2x4x4xf32>) -> tensor<2x4x2x4xf32>
// FP8-NEXT: %43 = stablehlo.reshape %42 {scalify.forms = ["2^0 level -1"]} : (tensor<2x4x2x4xf32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %44 = stablehlo.dot_general %43, %arg1, contracting_dims = [2] x [0] {scalify.forms = ["2^0"]} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %45 = stablehlo.add %arg4, %44 {scalify.forms = ["2^0"]} : tensor<2x4x8xf32>
// FP8-NEXT: %46 = stablehlo.subtract %45, %arg5 {scalify.forms = ["2^0"]} : tensor<2x4x8xf32>
// FP8-NEXT: %47 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %48 = stablehlo.multiply %47, %46 {scalify.forms = ["2^0 level 1"]} : tensor<2x4x8xf32>
// FP8-NEXT: %49 = stablehlo.divide %cst_0, %cst {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// FP8-NEXT: %50 = stablehlo.broadcast_in_dim %49, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %51 = stablehlo.multiply %50, %48 {scalify.forms = ["2^0 level -5"]} : tensor<2x4x8xf32>
// FP8-NEXT: %52 = stablehlo.dot_general %51, %43, contracting_dims = [0, 1] x [0, 1] {scalify.forms = ["2^0 level -5"]} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
// FP8-NEXT: %53 = stablehlo.transpose %52, dims = [1, 0] {scalify.forms = ["2^0 level -5"]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
// FP8-NEXT: %54 = stablehlo.dot_general %51, %arg1, contracting_dims = [2] x [1] {scalify.forms = ["2^0 level -4"]} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %55 = stablehlo.reshape %54 {scalify.forms = ["2^0 level -4"]} : (tensor<2x4x8xf32>) -> tensor<2x4x2x4xf32>
// FP8-NEXT: %56 = stablehlo.transpose %55, dims = [0, 2, 3, 1] {scalify.forms = ["2^0 level -4"]} : (tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %57 = stablehlo.dot_general %56, %17, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] {scalify.forms = ["2^0 level -3"]} : (tensor<2x2x4x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %58 = stablehlo.dot_general %56, %37, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] {scalify.forms = ["2^0 level -4"]} : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %59 = stablehlo.transpose %58, dims = [0, 3, 1, 2] {scalify.forms = ["2^0 level -4"]} : (tensor<2x2x4x4xf32>) -> tensor<2x4x2x4xf32>
// FP8-NEXT: %60 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level -2"]} : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %61 = stablehlo.multiply %57, %60 {scalify.forms = ["2^0 level -5"]} : tensor<2x2x4x4xf32>
// FP8-NEXT: %62 = stablehlo.multiply %61, %33 {scalify.forms = ["2^0 level -5"]} : tensor<2x2x4x4xf32>
// FP8-NEXT: %63 = stablehlo.reduce(%62 init: %cst_6) applies stablehlo.add across dimensions = [3] {scalify.forms = ["2^0 level -4"]} : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
// FP8-NEXT: %64 = stablehlo.reshape %63 {scalify.forms = ["2^0 level -4"]} : (tensor<2x2x4xf32>) -> tensor<2x2x4x1xf32>
// FP8-NEXT: %65 = stablehlo.negate %64 {scalify.forms = ["2^0 level -4"]} : tensor<2x2x4x1xf32>
// FP8-NEXT: %66 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] {scalify.forms = ["2^0 level 1"]} : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %67 = stablehlo.divide %57, %66 {scalify.forms = ["2^0 level -4"]} : tensor<2x2x4x4xf32>
// FP8-NEXT: %68 = stablehlo.reduce(%65 init: %cst_6) applies stablehlo.add across dimensions = [3] {scalify.forms = ["2^0 level -4"]} : (tensor<2x2x4x1xf32>, tensor<f32>) -> tensor<2x2x4xf32>
// FP8-NEXT: %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] {scalify.forms = ["2^0 level -4"]} : (tensor<2x2x4xf32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %70 = stablehlo.add %67, %69 {scalify.forms = ["2^0 level -4"]} : tensor<2x2x4x4xf32>
// FP8-NEXT: %71 = stablehlo.multiply %70, %33 {scalify.forms = ["2^0 level -3"]} : tensor<2x2x4x4xf32>
// FP8-NEXT: %72 = call @_where_1(%26#1, %71) {scalify.forms = ["2^0 level -3"]} : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %73 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %74 = stablehlo.divide %72, %73 {scalify.forms = ["2^0 level -4"]} : tensor<2x2x4x4xf32>
// FP8-NEXT: %75 = stablehlo.dot_general %74, %13, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] {scalify.forms = ["2^0 level -3"]} : (tensor<2x2x4x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %76 = stablehlo.transpose %75, dims = [0, 2, 1, 3] {scalify.forms = ["2^0 level -3"]} : (tensor<2x2x4x4xf32>) -> tensor<2x4x2x4xf32>
// FP8-NEXT: %77 = stablehlo.dot_general %74, %15, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] {scalify.forms = ["2^0 level -3"]} : (tensor<2x2x4x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %78 = stablehlo.transpose %77, dims = [0, 2, 1, 3] {scalify.forms = ["2^0 level -3"]} : (tensor<2x2x4x4xf32>) -> tensor<2x4x2x4xf32>
// FP8-NEXT: %79 = stablehlo.reshape %59 {scalify.forms = ["2^0 level -4"]} : (tensor<2x4x2x4xf32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %80 = stablehlo.dot_general %79, %11, contracting_dims = [0, 1] x [0, 1] {scalify.forms = ["2^0 level -4"]} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
// FP8-NEXT: %81 = stablehlo.transpose %80, dims = [1, 0] {scalify.forms = ["2^0 level -4"]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
// FP8-NEXT: %82 = stablehlo.reshape %76 {scalify.forms = ["2^0 level -3"]} : (tensor<2x4x2x4xf32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %83 = stablehlo.dot_general %82, %11, contracting_dims = [0, 1] x [0, 1] {scalify.forms = ["2^0 level -3"]} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
// FP8-NEXT: %84 = stablehlo.transpose %83, dims = [1, 0] {scalify.forms = ["2^0 level -3"]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
// FP8-NEXT: %85 = stablehlo.reshape %78 {scalify.forms = ["2^0 level -3"]} : (tensor<2x4x2x4xf32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %86 = stablehlo.dot_general %85, %11, contracting_dims = [0, 1] x [0, 1] {scalify.forms = ["2^0 level -3"]} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
// FP8-NEXT: %87 = stablehlo.transpose %86, dims = [1, 0] {scalify.forms = ["2^0 level -3"]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
// FP8-NEXT: return %84, %53, %87, %81 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @_var(%arg0: tensor<2x4x8xf32>, %arg1: tensor<i32>) -> tensor<2x4x1xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x1xf32>
// FP8-NEXT: %3 = stablehlo.divide %1, %2 : tensor<2x4x1xf32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
// FP8-NEXT: %5 = stablehlo.subtract %arg0, %4 : tensor<2x4x8xf32>
// FP8-NEXT: %6 = stablehlo.multiply %5, %5 : tensor<2x4x8xf32>
// FP8-NEXT: %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
// FP8-NEXT: %8 = stablehlo.subtract %cst_0, %7 : tensor<f32>
// FP8-NEXT: %9 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
// FP8-NEXT: %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
// FP8-NEXT: %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x4x1xf32>
// FP8-NEXT: %12 = stablehlo.divide %10, %11 : tensor<2x4x1xf32>
// FP8-NEXT: %13 = stablehlo.compare GT, %8, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
// FP8-NEXT: %14 = call @_where(%13, %12, %cst) : (tensor<i1>, tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
// FP8-NEXT: return %14 : tensor<2x4x1xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x4x1xf32>, %arg2: tensor<f32>) -> tensor<2x4x1xf32> {
// FP8-NEXT: %0 = stablehlo.convert %arg2 : tensor<f32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x1xf32>
// FP8-NEXT: %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x4x1xf32>
// FP8-NEXT: return %2 : tensor<2x4x1xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @_where_0(%arg0: tensor<4x4xi1>, %arg1: tensor<2x2x4x4xf32>, %arg2: tensor<f32>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4x4xi1>) {
// FP8-NEXT: %0 = stablehlo.convert %arg2 : tensor<f32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<4x4xi1>) -> tensor<2x2x4x4xi1>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>
// FP8-NEXT: return %3, %1 : tensor<2x2x4x4xf32>, tensor<2x2x4x4xi1>
// FP8-NEXT: }
// FP8-NEXT: func.func private @_where_1(%arg0: tensor<2x2x4x4xi1>, %arg1: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x4x4xf32>
// FP8-NEXT: %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>
// FP8-NEXT: return %1 : tensor<2x2x4x4xf32>
// FP8-NEXT: }
// FP8-NEXT: }

module @_att attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<2x4x8xf32>, %arg5: tensor<2x4x8xf32>) -> (tensor<8x8xf32> {jax.result_info = "result['k']"}, tensor<8x8xf32> {jax.result_info = "result['o']"}, tensor<8x8xf32> {jax.result_info = "result['q']"}, tensor<8x8xf32> {jax.result_info = "result['v']"}) {
    %cst = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %cst_5 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg4 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
    %2 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x4x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x4x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
    %5 = stablehlo.subtract %arg4, %4 : tensor<2x4x8xf32>
    %6 = call @_var(%arg4, %c) : (tensor<2x4x8xf32>, tensor<i32>) -> tensor<2x4x1xf32>
    %7 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x4x1xf32>
    %8 = stablehlo.add %6, %7 : tensor<2x4x1xf32>
    %9 = stablehlo.rsqrt %8 : tensor<2x4x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
    %11 = stablehlo.multiply %5, %10 : tensor<2x4x8xf32>
    %12 = stablehlo.dot_general %11, %arg2, contracting_dims = [2] x [0] : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
    %13 = stablehlo.reshape %12 : (tensor<2x4x8xf32>) -> tensor<2x4x2x4xf32>
    %14 = stablehlo.dot_general %11, %arg0, contracting_dims = [2] x [0] : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
    %15 = stablehlo.reshape %14 : (tensor<2x4x8xf32>) -> tensor<2x4x2x4xf32>
    %16 = stablehlo.dot_general %11, %arg3, contracting_dims = [2] x [0] : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
    %17 = stablehlo.reshape %16 : (tensor<2x4x8xf32>) -> tensor<2x4x2x4xf32>
    %18 = stablehlo.dot_general %13, %15, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x2x4x4xf32>
    %20 = stablehlo.divide %18, %19 : tensor<2x2x4x4xf32>
    %21 = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %22 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %23 = stablehlo.add %21, %22 : tensor<4x4xi32>
    %24 = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %25 = stablehlo.compare GE, %23, %24, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %26:2 = call @_where_0(%25, %20, %cst_2) : (tensor<4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4x4xi1>)
    %27 = stablehlo.reduce(%26#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
    %28 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x2x4xf32>
    %29 = stablehlo.maximum %28, %27 : tensor<2x2x4xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<2x2x4xf32>) -> tensor<2x2x4x1xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
    %32 = stablehlo.subtract %26#0, %31 : tensor<2x2x4x4xf32>
    %33 = stablehlo.exponential %32 : tensor<2x2x4x4xf32>
    %34 = stablehlo.reduce(%33 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] : (tensor<2x2x4xf32>) -> tensor<2x2x4x1xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
    %37 = stablehlo.divide %33, %36 : tensor<2x2x4x4xf32>
    %38 = stablehlo.multiply %35, %35 : tensor<2x2x4x1xf32>
    %39 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x2x4x1xf32>
    %40 = stablehlo.divide %39, %38 : tensor<2x2x4x1xf32>
    %41 = stablehlo.dot_general %17, %37, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x4x2x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
    %42 = stablehlo.transpose %41, dims = [0, 3, 1, 2] : (tensor<2x2x4x4xf32>) -> tensor<2x4x2x4xf32>
    %43 = stablehlo.reshape %42 : (tensor<2x4x2x4xf32>) -> tensor<2x4x8xf32>
    %44 = stablehlo.dot_general %43, %arg1, contracting_dims = [2] x [0] : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
    %45 = stablehlo.add %arg4, %44 : tensor<2x4x8xf32>
    %46 = stablehlo.subtract %45, %arg5 : tensor<2x4x8xf32>
    %47 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %48 = stablehlo.multiply %47, %46 : tensor<2x4x8xf32>
    %49 = stablehlo.divide %cst_0, %cst : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %51 = stablehlo.multiply %50, %48 : tensor<2x4x8xf32>
    %52 = stablehlo.dot_general %51, %43, contracting_dims = [0, 1] x [0, 1] : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
    %53 = stablehlo.transpose %52, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %54 = stablehlo.dot_general %51, %arg1, contracting_dims = [2] x [1] : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
    %55 = stablehlo.reshape %54 : (tensor<2x4x8xf32>) -> tensor<2x4x2x4xf32>
    %56 = stablehlo.transpose %55, dims = [0, 2, 3, 1] : (tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
    %57 = stablehlo.dot_general %56, %17, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<2x2x4x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
    %58 = stablehlo.dot_general %56, %37, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
    %59 = stablehlo.transpose %58, dims = [0, 3, 1, 2] : (tensor<2x2x4x4xf32>) -> tensor<2x4x2x4xf32>
    %60 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2, 3] : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
    %61 = stablehlo.multiply %57, %60 : tensor<2x2x4x4xf32>
    %62 = stablehlo.multiply %61, %33 : tensor<2x2x4x4xf32>
    %63 = stablehlo.reduce(%62 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
    %64 = stablehlo.reshape %63 : (tensor<2x2x4xf32>) -> tensor<2x2x4x1xf32>
    %65 = stablehlo.negate %64 : tensor<2x2x4x1xf32>
    %66 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
    %67 = stablehlo.divide %57, %66 : tensor<2x2x4x4xf32>
    %68 = stablehlo.reduce(%65 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x2x4x1xf32>, tensor<f32>) -> tensor<2x2x4xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] : (tensor<2x2x4xf32>) -> tensor<2x2x4x4xf32>
    %70 = stablehlo.add %67, %69 : tensor<2x2x4x4xf32>
    %71 = stablehlo.multiply %70, %33 : tensor<2x2x4x4xf32>
    %72 = call @_where_1(%26#1, %71) : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
    %73 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x2x4x4xf32>
    %74 = stablehlo.divide %72, %73 : tensor<2x2x4x4xf32>
    %75 = stablehlo.dot_general %74, %13, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<2x2x4x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
    %76 = stablehlo.transpose %75, dims = [0, 2, 1, 3] : (tensor<2x2x4x4xf32>) -> tensor<2x4x2x4xf32>
    %77 = stablehlo.dot_general %74, %15, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x2x4x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
    %78 = stablehlo.transpose %77, dims = [0, 2, 1, 3] : (tensor<2x2x4x4xf32>) -> tensor<2x4x2x4xf32>
    %79 = stablehlo.reshape %59 : (tensor<2x4x2x4xf32>) -> tensor<2x4x8xf32>
    %80 = stablehlo.dot_general %79, %11, contracting_dims = [0, 1] x [0, 1] : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
    %81 = stablehlo.transpose %80, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %82 = stablehlo.reshape %76 : (tensor<2x4x2x4xf32>) -> tensor<2x4x8xf32>
    %83 = stablehlo.dot_general %82, %11, contracting_dims = [0, 1] x [0, 1] : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
    %84 = stablehlo.transpose %83, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %85 = stablehlo.reshape %78 : (tensor<2x4x2x4xf32>) -> tensor<2x4x8xf32>
    %86 = stablehlo.dot_general %85, %11, contracting_dims = [0, 1] x [0, 1] : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
    %87 = stablehlo.transpose %86, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %84, %53, %87, %81 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  func.func private @_var(%arg0: tensor<2x4x8xf32>, %arg1: tensor<i32>) -> tensor<2x4x1xf32> {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x4x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x4x8xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<2x4x8xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %8 = stablehlo.subtract %cst_0, %7 : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x4x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<2x4x1xf32>
    %13 = stablehlo.compare GT, %8, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %14 = call @_where(%13, %12, %cst) : (tensor<i1>, tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
    return %14 : tensor<2x4x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x4x1xf32>, %arg2: tensor<f32>) -> tensor<2x4x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x4x1xf32>
    return %2 : tensor<2x4x1xf32>
  }
  func.func private @_where_0(%arg0: tensor<4x4xi1>, %arg1: tensor<2x2x4x4xf32>, %arg2: tensor<f32>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4x4xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<4x4xi1>) -> tensor<2x2x4x4xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x4x4xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>
    return %3, %1 : tensor<2x2x4x4xf32>, tensor<2x2x4x4xi1>
  }
  func.func private @_where_1(%arg0: tensor<2x2x4x4xi1>, %arg1: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x4x4xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>
    return %1 : tensor<2x2x4x4xf32>
  }
}
