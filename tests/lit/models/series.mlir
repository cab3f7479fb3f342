// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{predict=unit annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8

// Values whose sizes are hard to predict, each before a matmul: a polynomial, products, powers, a loop.
// UNIT:      module @_series attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<4x6xf32>, %arg1: tensor<6x5xf32>) -> (tensor<4x5xf32> {jax.result_info = "result[0]"}, tensor<4x5xf32> {jax.result_info = "result[1]"}, tensor<4x5xf32> {jax.result_info = "result[2]"}, tensor<4x5xf32> {jax.result_info = "result[3]"}, tensor<4x5xf32> {jax.result_info = "result[4]"}) {
// UNIT-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// UNIT-NEXT: %c_0 = stablehlo.constant dense<16> : tensor<i32>
// UNIT-NEXT: %c_1 = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %cst = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999997E-7> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.166666672> : tensor<f32>
// UNIT-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.0416666679> : tensor<f32>
// UNIT-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00833333377> : tensor<f32>
// UNIT-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00138888892> : tensor<f32>
// UNIT-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.98412701E-4> : tensor<f32>
// UNIT-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.48015876E-5> : tensor<f32>
// UNIT-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.75573188E-6> : tensor<f32>
// UNIT-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.755732E-7> : tensor<f32>
// UNIT-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.50521079E-8> : tensor<f32>
// UNIT-NEXT: %cst_15 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.08767559E-9> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst_15, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %1 = stablehlo.multiply %0, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_14, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %3 = stablehlo.add %1, %2 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %4 = stablehlo.multiply %3, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %5 = stablehlo.broadcast_in_dim %cst_13, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %6 = stablehlo.add %4, %5 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %7 = stablehlo.multiply %6, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %8 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %9 = stablehlo.add %7, %8 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %10 = stablehlo.multiply %9, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %11 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %12 = stablehlo.add %10, %11 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %13 = stablehlo.multiply %12, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %14 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %15 = stablehlo.add %13, %14 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %16 = stablehlo.multiply %15, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %17 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %18 = stablehlo.add %16, %17 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %19 = stablehlo.multiply %18, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %20 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %21 = stablehlo.add %19, %20 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %22 = stablehlo.multiply %21, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// UNIT-NEXT: %23 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %24 = stablehlo.add %22, %23 {scalify.forms = ["2^0 level -4.58496"]} : tensor<4x6xf32>
// UNIT-NEXT: %25 = stablehlo.multiply %24, %arg0 {scalify.forms = ["2^0 level -4.58496"]} : tensor<4x6xf32>
// UNIT-NEXT: %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %27 = stablehlo.add %25, %26 {scalify.forms = ["2^0 level -2.54123"]} : tensor<4x6xf32>
// UNIT-NEXT: %28 = stablehlo.multiply %27, %arg0 {scalify.forms = ["2^0 level -2.54123"]} : tensor<4x6xf32>
// UNIT-NEXT: %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %30 = stablehlo.add %28, %29 {scalify.forms = ["2^0 level -0.919504"]} : tensor<4x6xf32>
// UNIT-NEXT: %31 = stablehlo.multiply %30, %arg0 {scalify.forms = ["2^0 level -0.919504"]} : tensor<4x6xf32>
// UNIT-NEXT: %32 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %33 = stablehlo.add %31, %32 {scalify.forms = ["2^0 level 0.177798"]} : tensor<4x6xf32>
// UNIT-NEXT: %34 = stablehlo.multiply %33, %arg0 {scalify.forms = ["2^0 level 0.177798"]} : tensor<4x6xf32>
// UNIT-NEXT: %35 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %36 = stablehlo.add %34, %35 {scalify.forms = ["2^0 level 0.594363"]} : tensor<4x6xf32>
// UNIT-NEXT: %37 = call @cumprod(%arg0) {scalify.forms = ["2^0"]} : (tensor<4x6xf32>) -> tensor<4x6xf32>
// UNIT-NEXT: %38 = stablehlo.multiply %arg0, %arg0 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// UNIT-NEXT: %39 = stablehlo.multiply %38, %38 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// UNIT-NEXT: %40 = stablehlo.multiply %39, %39 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// UNIT-NEXT: %41 = stablehlo.multiply %40, %40 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// UNIT-NEXT: %42 = stablehlo.reduce(%arg0 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 1.29248"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %43 = stablehlo.broadcast_in_dim %42, dims = [0] {scalify.forms = ["2^0 level 1.29248"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %44 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %45 = stablehlo.divide %43, %44 {scalify.forms = ["2^0 level -1.29248"]} : tensor<4x1xf32>
// UNIT-NEXT: %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1] {scalify.forms = ["2^0 level -1.29248"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// UNIT-NEXT: %47 = stablehlo.subtract %arg0, %46 {scalify.forms = ["2^0 level 0.111196"]} : tensor<4x6xf32>
// UNIT-NEXT: %48 = stablehlo.multiply %47, %47 {scalify.forms = ["2^0 level 0.222392"]} : tensor<4x6xf32>
// UNIT-NEXT: %49 = stablehlo.reduce(%48 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2.80735"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %50 = stablehlo.broadcast_in_dim %49, dims = [0] {scalify.forms = ["2^0 level 2.80735"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %51 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %52 = stablehlo.divide %50, %51 {scalify.forms = ["2^0 level 0.222392"]} : tensor<4x1xf32>
// UNIT-NEXT: %53 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %54 = stablehlo.add %52, %53 {scalify.forms = ["2^0 level 0.222392"]} : tensor<4x1xf32>
// UNIT-NEXT: %55 = stablehlo.rsqrt %54 {scalify.forms = ["2^0 level -0.111196"]} : tensor<4x1xf32>
// UNIT-NEXT: %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1] {scalify.forms = ["2^0 level -0.111196"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// UNIT-NEXT: %57 = stablehlo.multiply %47, %56 {scalify.forms = ["2^0 level 2.77556e-17"]} : tensor<4x6xf32>
// UNIT-NEXT: %58 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %59 = stablehlo.multiply %58, %57 {scalify.forms = ["2^0 level -1"]} : tensor<4x6xf32>
// UNIT-NEXT: %60 = stablehlo.multiply %59, %57 {scalify.forms = ["2^0 level -1"]} : tensor<4x6xf32>
// UNIT-NEXT: %61 = stablehlo.add %57, %60 {scalify.forms = ["2^0 level 0.160964"]} : tensor<4x6xf32>
// UNIT-NEXT: %62 = stablehlo.reduce(%61 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 1.45345"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %63 = stablehlo.broadcast_in_dim %62, dims = [0] {scalify.forms = ["2^0 level 1.45345"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %64 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %65 = stablehlo.divide %63, %64 {scalify.forms = ["2^0 level -1.13152"]} : tensor<4x1xf32>
// UNIT-NEXT: %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1] {scalify.forms = ["2^0 level -1.13152"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// UNIT-NEXT: %67 = stablehlo.subtract %61, %66 {scalify.forms = ["2^0 level 0.27216"]} : tensor<4x6xf32>
// UNIT-NEXT: %68 = stablehlo.multiply %67, %67 {scalify.forms = ["2^0 level 0.544321"]} : tensor<4x6xf32>
// UNIT-NEXT: %69 = stablehlo.reduce(%68 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 3.12928"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %70 = stablehlo.broadcast_in_dim %69, dims = [0] {scalify.forms = ["2^0 level 3.12928"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %71 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %72 = stablehlo.divide %70, %71 {scalify.forms = ["2^0 level 0.544321"]} : tensor<4x1xf32>
// UNIT-NEXT: %73 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %74 = stablehlo.add %72, %73 {scalify.forms = ["2^0 level 0.544321"]} : tensor<4x1xf32>
// UNIT-NEXT: %75 = stablehlo.rsqrt %74 {scalify.forms = ["2^0 level -0.27216"]} : tensor<4x1xf32>
// UNIT-NEXT: %76 = stablehlo.broadcast_in_dim %75, dims = [0, 1] {scalify.forms = ["2^0 level -0.27216"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// UNIT-NEXT: %77 = stablehlo.multiply %67, %76 {scalify.forms = ["2^0 level -5.55112e-17"]} : tensor<4x6xf32>
// UNIT-NEXT: %78 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %79 = stablehlo.multiply %78, %77 {scalify.forms = ["2^0 level -1"]} : tensor<4x6xf32>
// UNIT-NEXT: %80 = stablehlo.multiply %79, %77 {scalify.forms = ["2^0 level -1"]} : tensor<4x6xf32>
// UNIT-NEXT: %81 = stablehlo.add %77, %80 {scalify.forms = ["2^0 level 0.160964"]} : tensor<4x6xf32>
// UNIT-NEXT: %82 = stablehlo.reduce(%81 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 1.45345"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %83 = stablehlo.broadcast_in_dim %82, dims = [0] {scalify.forms = ["2^0 level 1.45345"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %84 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %85 = stablehlo.divide %83, %84 {scalify.forms = ["2^0 level -1.13152"]} : tensor<4x1xf32>
// UNIT-NEXT: %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1] {scalify.forms = ["2^0 level -1.13152"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// UNIT-NEXT: %87 = stablehlo.subtract %81, %86 {scalify.forms = ["2^0 level 0.27216"]} : tensor<4x6xf32>
// UNIT-NEXT: %88 = stablehlo.multiply %87, %87 {scalify.forms = ["2^0 level 0.544321"]} : tensor<4x6xf32>
// UNIT-NEXT: %89 = stablehlo.reduce(%88 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 3.12928"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %90 = stablehlo.broadcast_in_dim %89, dims = [0] {scalify.forms = ["2^0 level 3.12928"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %91 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %92 = stablehlo.divide %90, %91 {scalify.forms = ["2^0 level 0.544321"]} : tensor<4x1xf32>
// UNIT-NEXT: %93 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %94 = stablehlo.add %92, %93 {scalify.forms = ["2^0 level 0.544321"]} : tensor<4x1xf32>
// UNIT-NEXT: %95 = stablehlo.rsqrt %94 {scalify.forms = ["2^0 level -0.27216"]} : tensor<4x1xf32>
// UNIT-NEXT: %96 = stablehlo.broadcast_in_dim %95, dims = [0, 1] {scalify.forms = ["2^0 level -0.27216"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// UNIT-NEXT: %97 = stablehlo.multiply %87, %96 {scalify.forms = ["2^0 level -1.11022e-16"]} : tensor<4x6xf32>
// UNIT-NEXT: %98 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %99 = stablehlo.multiply %98, %97 {scalify.forms = ["2^0 level -1"]} : tensor<4x6xf32>
// UNIT-NEXT: %100 = stablehlo.multiply %99, %97 {scalify.forms = ["2^0 level -1"]} : tensor<4x6xf32>
// UNIT-NEXT: %101 = stablehlo.add %97, %100 {scalify.forms = ["2^0 level 0.160964"]} : tensor<4x6xf32>
// UNIT-NEXT: %102 = stablehlo.reduce(%101 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 1.45345"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %103 = stablehlo.broadcast_in_dim %102, dims = [0] {scalify.forms = ["2^0 level 1.45345"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %104 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %105 = stablehlo.divide %103, %104 {scalify.forms = ["2^0 level -1.13152"]} : tensor<4x1xf32>
// UNIT-NEXT: %106 = stablehlo.broadcast_in_dim %105, dims = [0, 1] {scalify.forms = ["2^0 level -1.13152"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// UNIT-NEXT: %107 = stablehlo.subtract %101, %106 {scalify.forms = ["2^0 level 0.27216"]} : tensor<4x6xf32>
// UNIT-NEXT: %108 = stablehlo.multiply %107, %107 {scalify.forms = ["2^0 level 0.544321"]} : tensor<4x6xf32>
// UNIT-NEXT: %109 = stablehlo.reduce(%108 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 3.12928"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %110 = stablehlo.broadcast_in_dim %109, dims = [0] {scalify.forms = ["2^0 level 3.12928"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %111 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %112 = stablehlo.divide %110, %111 {scalify.forms = ["2^0 level 0.544321"]} : tensor<4x1xf32>
// UNIT-NEXT: %113 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %114 = stablehlo.add %112, %113 {scalify.forms = ["2^0 level 0.544321"]} : tensor<4x1xf32>
// UNIT-NEXT: %115 = stablehlo.rsqrt %114 {scalify.forms = ["2^0 level -0.27216"]} : tensor<4x1xf32>
// UNIT-NEXT: %116 = stablehlo.broadcast_in_dim %115, dims = [0, 1] {scalify.forms = ["2^0 level -0.27216"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// UNIT-NEXT: %117 = stablehlo.multiply %107, %116 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// UNIT-NEXT: %118 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %119 = stablehlo.multiply %118, %117 {scalify.forms = ["2^0 level -1"]} : tensor<4x6xf32>
// UNIT-NEXT: %120 = stablehlo.multiply %119, %117 {scalify.forms = ["2^0 level -1"]} : tensor<4x6xf32>
// UNIT-NEXT: %121 = stablehlo.add %117, %120 {scalify.forms = ["2^0 level 0.160964"]} : tensor<4x6xf32>
// UNIT-NEXT: %122:2 = stablehlo.while(%iterArg = %c_1, %iterArg_16 = %arg0) : tensor<i32>, tensor<4x6xf32> attributes {scalify.forms = ["unscaled", "2^0 level 2.30735"]}
// UNIT-NEXT: cond {
// UNIT-NEXT: %128 = stablehlo.compare LT, %iterArg, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// UNIT-NEXT: stablehlo.return %128 : tensor<i1>
// UNIT-NEXT: } do {
// UNIT-NEXT: %128 = func.call @closed_call(%iterArg_16) {scalify.forms = ["2^0 level 2.30735"]} : (tensor<4x6xf32>) -> tensor<4x6xf32>
// UNIT-NEXT: %129 = stablehlo.add %iterArg, %c : tensor<i32>
// UNIT-NEXT: stablehlo.return %129, %128 : tensor<i32>, tensor<4x6xf32>
// UNIT-NEXT: }
// UNIT-NEXT: %123 = stablehlo.dot_general %36, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 1.88684"]} : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
// UNIT-NEXT: %124 = stablehlo.dot_general %37, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 1.29248"]} : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
// UNIT-NEXT: %125 = stablehlo.dot_general %41, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 1.29248"]} : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
// UNIT-NEXT: %126 = stablehlo.dot_general %121, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 1.45345"]} : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
// UNIT-NEXT: %127 = stablehlo.dot_general %122#1, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 3.59984"]} : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
// UNIT-NEXT: return %123, %124, %125, %126, %127 : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @cumprod(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
// UNIT-NEXT: %0 = call @cumprod_0(%arg0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
// UNIT-NEXT: return %0 : tensor<4x6xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @cumprod_0(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = "stablehlo.reduce_window"(%arg0, %cst) <{padding = dense<{{\[\[}}0, 0], [5, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 6>}> ({
// UNIT-NEXT: ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// UNIT-NEXT: %1 = stablehlo.multiply %arg1, %arg2 : tensor<f32>
// UNIT-NEXT: stablehlo.return %1 : tensor<f32>
// UNIT-NEXT: }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: return %0 : tensor<4x6xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @closed_call(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<3.500000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %1 = stablehlo.multiply %0, %arg0 : tensor<4x6xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
// UNIT-NEXT: %3 = stablehlo.subtract %2, %arg0 : tensor<4x6xf32>
// UNIT-NEXT: %4 = stablehlo.multiply %1, %3 : tensor<4x6xf32>
// UNIT-NEXT: return %4 : tensor<4x6xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module @_series attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<4x6xf32>, %arg1: tensor<6x5xf32>) -> (tensor<4x5xf32> {jax.result_info = "result[0]"}, tensor<4x5xf32> {jax.result_info = "result[1]"}, tensor<4x5xf32> {jax.result_info = "result[2]"}, tensor<4x5xf32> {jax.result_info = "result[3]"}, tensor<4x5xf32> {jax.result_info = "result[4]"}) {
// FP8-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// FP8-NEXT: %c_0 = stablehlo.constant dense<16> : tensor<i32>
// FP8-NEXT: %c_1 = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %cst = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999997E-7> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// FP8-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.166666672> : tensor<f32>
// FP8-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.0416666679> : tensor<f32>
// FP8-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00833333377> : tensor<f32>
// FP8-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.00138888892> : tensor<f32>
// FP8-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.98412701E-4> : tensor<f32>
// FP8-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.48015876E-5> : tensor<f32>
// FP8-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.75573188E-6> : tensor<f32>
// FP8-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.755732E-7> : tensor<f32>
// FP8-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.50521079E-8> : tensor<f32>
// FP8-NEXT: %cst_15 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.08767559E-9> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst_15, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %1 = stablehlo.multiply %0, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %cst_14, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %3 = stablehlo.add %1, %2 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %4 = stablehlo.multiply %3, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %5 = stablehlo.broadcast_in_dim %cst_13, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %6 = stablehlo.add %4, %5 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %7 = stablehlo.multiply %6, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %8 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %9 = stablehlo.add %7, %8 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %10 = stablehlo.multiply %9, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %11 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %12 = stablehlo.add %10, %11 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %13 = stablehlo.multiply %12, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %14 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %15 = stablehlo.add %13, %14 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %16 = stablehlo.multiply %15, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %17 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %18 = stablehlo.add %16, %17 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %19 = stablehlo.multiply %18, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %20 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %21 = stablehlo.add %19, %20 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %22 = stablehlo.multiply %21, %arg0 {scalify.forms = ["2^0 level -28.8355"]} : tensor<4x6xf32>
// FP8-NEXT: %23 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %24 = stablehlo.add %22, %23 {scalify.forms = ["2^0 level -5"]} : tensor<4x6xf32>
// FP8-NEXT: %25 = stablehlo.multiply %24, %arg0 {scalify.forms = ["2^0 level -5"]} : tensor<4x6xf32>
// FP8-NEXT: %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %27 = stablehlo.add %25, %26 {scalify.forms = ["2^0 level -3"]} : tensor<4x6xf32>
// FP8-NEXT: %28 = stablehlo.multiply %27, %arg0 {scalify.forms = ["2^0 level -3"]} : tensor<4x6xf32>
// FP8-NEXT: %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %30 = stablehlo.add %28, %29 {scalify.forms = ["2^0 level -1"]} : tensor<4x6xf32>
// FP8-NEXT: %31 = stablehlo.multiply %30, %arg0 {scalify.forms = ["2^0 level -1"]} : tensor<4x6xf32>
// FP8-NEXT: %32 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %33 = stablehlo.add %31, %32 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %34 = stablehlo.multiply %33, %arg0 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %35 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %36 = stablehlo.add %34, %35 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %37 = call @cumprod(%arg0) {scalify.forms = ["2^0"]} : (tensor<4x6xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %38 = stablehlo.multiply %arg0, %arg0 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %39 = stablehlo.multiply %38, %38 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %40 = stablehlo.multiply %39, %39 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %41 = stablehlo.multiply %40, %40 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %42 = stablehlo.reduce(%arg0 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 1"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %43 = stablehlo.broadcast_in_dim %42, dims = [0] {scalify.forms = ["2^0 level 1"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %44 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %45 = stablehlo.divide %43, %44 {scalify.forms = ["2^0 level -1.58496"]} : tensor<4x1xf32>
// FP8-NEXT: %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1] {scalify.forms = ["2^0 level -1.58496"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %47 = stablehlo.subtract %arg0, %46 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %48 = stablehlo.multiply %47, %47 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %49 = stablehlo.reduce(%48 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %50 = stablehlo.broadcast_in_dim %49, dims = [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %51 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %52 = stablehlo.divide %50, %51 {scalify.forms = ["2^0 level -0.584963"]} : tensor<4x1xf32>
// FP8-NEXT: %53 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %54 = stablehlo.add %52, %53 {scalify.forms = ["2^0 level -0.584963"]} : tensor<4x1xf32>
// FP8-NEXT: %55 = stablehlo.rsqrt %54 {scalify.forms = ["2^0 level 1"]} : tensor<4x1xf32>
// FP8-NEXT: %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1] {scalify.forms = ["2^0 level 1"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %57 = stablehlo.multiply %47, %56 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %58 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %59 = stablehlo.multiply %58, %57 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %60 = stablehlo.multiply %59, %57 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %61 = stablehlo.add %57, %60 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %62 = stablehlo.reduce(%61 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %63 = stablehlo.broadcast_in_dim %62, dims = [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %64 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %65 = stablehlo.divide %63, %64 {scalify.forms = ["2^0 level -0.584963"]} : tensor<4x1xf32>
// FP8-NEXT: %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1] {scalify.forms = ["2^0 level -0.584963"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %67 = stablehlo.subtract %61, %66 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %68 = stablehlo.multiply %67, %67 {scalify.forms = ["2^0 level 2"]} : tensor<4x6xf32>
// FP8-NEXT: %69 = stablehlo.reduce(%68 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %70 = stablehlo.broadcast_in_dim %69, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %71 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %72 = stablehlo.divide %70, %71 {scalify.forms = ["2^0 level 1.41504"]} : tensor<4x1xf32>
// FP8-NEXT: %73 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %74 = stablehlo.add %72, %73 {scalify.forms = ["2^0 level 1.41504"]} : tensor<4x1xf32>
// FP8-NEXT: %75 = stablehlo.rsqrt %74 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %76 = stablehlo.broadcast_in_dim %75, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %77 = stablehlo.multiply %67, %76 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %78 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %79 = stablehlo.multiply %78, %77 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %80 = stablehlo.multiply %79, %77 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %81 = stablehlo.add %77, %80 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %82 = stablehlo.reduce(%81 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %83 = stablehlo.broadcast_in_dim %82, dims = [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %84 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %85 = stablehlo.divide %83, %84 {scalify.forms = ["2^0 level -0.584963"]} : tensor<4x1xf32>
// FP8-NEXT: %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1] {scalify.forms = ["2^0 level -0.584963"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %87 = stablehlo.subtract %81, %86 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %88 = stablehlo.multiply %87, %87 {scalify.forms = ["2^0 level 2"]} : tensor<4x6xf32>
// FP8-NEXT: %89 = stablehlo.reduce(%88 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %90 = stablehlo.broadcast_in_dim %89, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %91 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %92 = stablehlo.divide %90, %91 {scalify.forms = ["2^0 level 1.41504"]} : tensor<4x1xf32>
// FP8-NEXT: %93 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %94 = stablehlo.add %92, %93 {scalify.forms = ["2^0 level 1.41504"]} : tensor<4x1xf32>
// FP8-NEXT: %95 = stablehlo.rsqrt %94 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %96 = stablehlo.broadcast_in_dim %95, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %97 = stablehlo.multiply %87, %96 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %98 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %99 = stablehlo.multiply %98, %97 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %100 = stablehlo.multiply %99, %97 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %101 = stablehlo.add %97, %100 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %102 = stablehlo.reduce(%101 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 2"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %103 = stablehlo.broadcast_in_dim %102, dims = [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %104 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %105 = stablehlo.divide %103, %104 {scalify.forms = ["2^0 level -0.584963"]} : tensor<4x1xf32>
// FP8-NEXT: %106 = stablehlo.broadcast_in_dim %105, dims = [0, 1] {scalify.forms = ["2^0 level -0.584963"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %107 = stablehlo.subtract %101, %106 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %108 = stablehlo.multiply %107, %107 {scalify.forms = ["2^0 level 2"]} : tensor<4x6xf32>
// FP8-NEXT: %109 = stablehlo.reduce(%108 init: %cst_3) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %110 = stablehlo.broadcast_in_dim %109, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %111 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %112 = stablehlo.divide %110, %111 {scalify.forms = ["2^0 level 1.41504"]} : tensor<4x1xf32>
// FP8-NEXT: %113 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %114 = stablehlo.add %112, %113 {scalify.forms = ["2^0 level 1.41504"]} : tensor<4x1xf32>
// FP8-NEXT: %115 = stablehlo.rsqrt %114 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// FP8-NEXT: %116 = stablehlo.broadcast_in_dim %115, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<4x1xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %117 = stablehlo.multiply %107, %116 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %118 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %119 = stablehlo.multiply %118, %117 {scalify.forms = ["2^0"]} : tensor<4x6xf32>
// FP8-NEXT: %120 = stablehlo.multiply %119, %117 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %121 = stablehlo.add %117, %120 {scalify.forms = ["2^0 level 1"]} : tensor<4x6xf32>
// FP8-NEXT: %122:2 = stablehlo.while(%iterArg = %c_1, %iterArg_16 = %arg0) : tensor<i32>, tensor<4x6xf32> attributes {scalify.forms = ["unscaled", "2^0 level 1.80735"]}
// FP8-NEXT: cond {
// FP8-NEXT: %128 = stablehlo.compare LT, %iterArg, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// FP8-NEXT: stablehlo.return %128 : tensor<i1>
// FP8-NEXT: } do {
// FP8-NEXT: %128 = func.call @closed_call(%iterArg_16) {scalify.forms = ["2^0 level 1.80735"]} : (tensor<4x6xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %129 = stablehlo.add %iterArg, %c : tensor<i32>
// FP8-NEXT: stablehlo.return %129, %128 : tensor<i32>, tensor<4x6xf32>
// FP8-NEXT: }
// FP8-NEXT: %123 = stablehlo.dot_general %36, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 1"]} : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
// FP8-NEXT: %124 = stablehlo.dot_general %37, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 1"]} : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
// FP8-NEXT: %125 = stablehlo.dot_general %41, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 1"]} : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
// FP8-NEXT: %126 = stablehlo.dot_general %121, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
// FP8-NEXT: %127 = stablehlo.dot_general %122#1, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 2.80735"]} : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
// FP8-NEXT: return %123, %124, %125, %126, %127 : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @cumprod(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
// FP8-NEXT: %0 = call @cumprod_0(%arg0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
// FP8-NEXT: return %0 : tensor<4x6xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @cumprod_0(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = "stablehlo.reduce_window"(%arg0, %cst) <{padding = dense<{{\[\[}}0, 0], [5, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 6>}> ({
// FP8-NEXT: ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// FP8-NEXT: %1 = stablehlo.multiply %arg1, %arg2 : tensor<f32>
// FP8-NEXT: stablehlo.return %1 : tensor<f32>
// FP8-NEXT: }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: return %0 : tensor<4x6xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @closed_call(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<3.500000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %1 = stablehlo.multiply %0, %arg0 : tensor<4x6xf32>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %3 = stablehlo.subtract %2, %arg0 : tensor<4x6xf32>
// FP8-NEXT: %4 = stablehlo.multiply %1, %3 : tensor<4x6xf32>
// FP8-NEXT: return %4 : tensor<4x6xf32>
// FP8-NEXT: }
// FP8-NEXT: }

module @_series attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32>, %arg1: tensor<6x5xf32>) -> (tensor<4x5xf32> {jax.result_info = "result[0]"}, tensor<4x5xf32> {jax.result_info = "result[1]"}, tensor<4x5xf32> {jax.result_info = "result[2]"}, tensor<4x5xf32> {jax.result_info = "result[3]"}, tensor<4x5xf32> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<16> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %cst_2 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.166666672> : tensor<f32>
    %cst_7 = stablehlo.constant dense<0.0416666679> : tensor<f32>
    %cst_8 = stablehlo.constant dense<0.00833333377> : tensor<f32>
    %cst_9 = stablehlo.constant dense<0.00138888892> : tensor<f32>
    %cst_10 = stablehlo.constant dense<1.98412701E-4> : tensor<f32>
    %cst_11 = stablehlo.constant dense<2.48015876E-5> : tensor<f32>
    %cst_12 = stablehlo.constant dense<2.75573188E-6> : tensor<f32>
    %cst_13 = stablehlo.constant dense<2.755732E-7> : tensor<f32>
    %cst_14 = stablehlo.constant dense<2.50521079E-8> : tensor<f32>
    %cst_15 = stablehlo.constant dense<2.08767559E-9> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<4x6xf32>
    %2 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %3 = stablehlo.add %1, %2 : tensor<4x6xf32>
    %4 = stablehlo.multiply %3, %arg0 : tensor<4x6xf32>
    %5 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %6 = stablehlo.add %4, %5 : tensor<4x6xf32>
    %7 = stablehlo.multiply %6, %arg0 : tensor<4x6xf32>
    %8 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %9 = stablehlo.add %7, %8 : tensor<4x6xf32>
    %10 = stablehlo.multiply %9, %arg0 : tensor<4x6xf32>
    %11 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %12 = stablehlo.add %10, %11 : tensor<4x6xf32>
    %13 = stablehlo.multiply %12, %arg0 : tensor<4x6xf32>
    %14 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %15 = stablehlo.add %13, %14 : tensor<4x6xf32>
    %16 = stablehlo.multiply %15, %arg0 : tensor<4x6xf32>
    %17 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %18 = stablehlo.add %16, %17 : tensor<4x6xf32>
    %19 = stablehlo.multiply %18, %arg0 : tensor<4x6xf32>
    %20 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %21 = stablehlo.add %19, %20 : tensor<4x6xf32>
    %22 = stablehlo.multiply %21, %arg0 : tensor<4x6xf32>
    %23 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %24 = stablehlo.add %22, %23 : tensor<4x6xf32>
    %25 = stablehlo.multiply %24, %arg0 : tensor<4x6xf32>
    %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %27 = stablehlo.add %25, %26 : tensor<4x6xf32>
    %28 = stablehlo.multiply %27, %arg0 : tensor<4x6xf32>
    %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %30 = stablehlo.add %28, %29 : tensor<4x6xf32>
    %31 = stablehlo.multiply %30, %arg0 : tensor<4x6xf32>
    %32 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %33 = stablehlo.add %31, %32 : tensor<4x6xf32>
    %34 = stablehlo.multiply %33, %arg0 : tensor<4x6xf32>
    %35 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %36 = stablehlo.add %34, %35 : tensor<4x6xf32>
    %37 = call @cumprod(%arg0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %38 = stablehlo.multiply %arg0, %arg0 : tensor<4x6xf32>
    %39 = stablehlo.multiply %38, %38 : tensor<4x6xf32>
    %40 = stablehlo.multiply %39, %39 : tensor<4x6xf32>
    %41 = stablehlo.multiply %40, %40 : tensor<4x6xf32>
    %42 = stablehlo.reduce(%arg0 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %44 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %45 = stablehlo.divide %43, %44 : tensor<4x1xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %47 = stablehlo.subtract %arg0, %46 : tensor<4x6xf32>
    %48 = stablehlo.multiply %47, %47 : tensor<4x6xf32>
    %49 = stablehlo.reduce(%48 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %51 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %52 = stablehlo.divide %50, %51 : tensor<4x1xf32>
    %53 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %54 = stablehlo.add %52, %53 : tensor<4x1xf32>
    %55 = stablehlo.rsqrt %54 : tensor<4x1xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %57 = stablehlo.multiply %47, %56 : tensor<4x6xf32>
    %58 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %59 = stablehlo.multiply %58, %57 : tensor<4x6xf32>
    %60 = stablehlo.multiply %59, %57 : tensor<4x6xf32>
    %61 = stablehlo.add %57, %60 : tensor<4x6xf32>
    %62 = stablehlo.reduce(%61 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %64 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %65 = stablehlo.divide %63, %64 : tensor<4x1xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %67 = stablehlo.subtract %61, %66 : tensor<4x6xf32>
    %68 = stablehlo.multiply %67, %67 : tensor<4x6xf32>
    %69 = stablehlo.reduce(%68 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %71 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %72 = stablehlo.divide %70, %71 : tensor<4x1xf32>
    %73 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %74 = stablehlo.add %72, %73 : tensor<4x1xf32>
    %75 = stablehlo.rsqrt %74 : tensor<4x1xf32>
    %76 = stablehlo.broadcast_in_dim %75, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %77 = stablehlo.multiply %67, %76 : tensor<4x6xf32>
    %78 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %79 = stablehlo.multiply %78, %77 : tensor<4x6xf32>
    %80 = stablehlo.multiply %79, %77 : tensor<4x6xf32>
    %81 = stablehlo.add %77, %80 : tensor<4x6xf32>
    %82 = stablehlo.reduce(%81 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %83 = stablehlo.broadcast_in_dim %82, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %84 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %85 = stablehlo.divide %83, %84 : tensor<4x1xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %87 = stablehlo.subtract %81, %86 : tensor<4x6xf32>
    %88 = stablehlo.multiply %87, %87 : tensor<4x6xf32>
    %89 = stablehlo.reduce(%88 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %90 = stablehlo.broadcast_in_dim %89, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %91 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %92 = stablehlo.divide %90, %91 : tensor<4x1xf32>
    %93 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %94 = stablehlo.add %92, %93 : tensor<4x1xf32>
    %95 = stablehlo.rsqrt %94 : tensor<4x1xf32>
    %96 = stablehlo.broadcast_in_dim %95, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %97 = stablehlo.multiply %87, %96 : tensor<4x6xf32>
    %98 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %99 = stablehlo.multiply %98, %97 : tensor<4x6xf32>
    %100 = stablehlo.multiply %99, %97 : tensor<4x6xf32>
    %101 = stablehlo.add %97, %100 : tensor<4x6xf32>
    %102 = stablehlo.reduce(%101 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %103 = stablehlo.broadcast_in_dim %102, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %104 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %105 = stablehlo.divide %103, %104 : tensor<4x1xf32>
    %106 = stablehlo.broadcast_in_dim %105, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %107 = stablehlo.subtract %101, %106 : tensor<4x6xf32>
    %108 = stablehlo.multiply %107, %107 : tensor<4x6xf32>
    %109 = stablehlo.reduce(%108 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %111 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %112 = stablehlo.divide %110, %111 : tensor<4x1xf32>
    %113 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %114 = stablehlo.add %112, %113 : tensor<4x1xf32>
    %115 = stablehlo.rsqrt %114 : tensor<4x1xf32>
    %116 = stablehlo.broadcast_in_dim %115, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %117 = stablehlo.multiply %107, %116 : tensor<4x6xf32>
    %118 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %119 = stablehlo.multiply %118, %117 : tensor<4x6xf32>
    %120 = stablehlo.multiply %119, %117 : tensor<4x6xf32>
    %121 = stablehlo.add %117, %120 : tensor<4x6xf32>
    %122:2 = stablehlo.while(%iterArg = %c_1, %iterArg_16 = %arg0) : tensor<i32>, tensor<4x6xf32>
    cond {
      %128 = stablehlo.compare LT, %iterArg, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %128 : tensor<i1>
    } do {
      %128 = func.call @closed_call(%iterArg_16) : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %129 = stablehlo.add %iterArg, %c : tensor<i32>
      stablehlo.return %129, %128 : tensor<i32>, tensor<4x6xf32>
    }
    %123 = stablehlo.dot_general %36, %arg1, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
    %124 = stablehlo.dot_general %37, %arg1, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
    %125 = stablehlo.dot_general %41, %arg1, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
    %126 = stablehlo.dot_general %121, %arg1, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
    %127 = stablehlo.dot_general %122#1, %arg1, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
    return %123, %124, %125, %126, %127 : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>
  }
  func.func private @cumprod(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %0 = call @cumprod_0(%arg0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
  func.func private @cumprod_0(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{padding = dense<[[0, 0], [5, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 6>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.multiply %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
  func.func private @closed_call(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<3.500000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<4x6xf32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %3 = stablehlo.subtract %2, %arg0 : tensor<4x6xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<4x6xf32>
    return %4 : tensor<4x6xf32>
  }
}
