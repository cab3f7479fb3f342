// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=%S/Inputs/unit_none.toml},scalify-quantize-matmuls{recipe=%S/Inputs/unit_none.toml},scalify-narrow-state{recipe=%S/Inputs/unit_none.toml},scalify-quantize-constants,scalify-propagate{recipe=%S/Inputs/unit_none.toml annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{recipe=fp8 annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=%S/Inputs/operands.toml},scalify-quantize-matmuls{recipe=%S/Inputs/operands.toml},scalify-narrow-state{recipe=%S/Inputs/operands.toml},scalify-quantize-constants,scalify-propagate{recipe=%S/Inputs/operands.toml annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=OPERANDS

// The gradients of a normalization between two matmuls, with its gain and an activation.
// UNIT:      module @_loss attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4x16xf32>) -> (tensor<32xf32> {jax.result_info = "result['gain']"}, tensor<32x32xf32> {jax.result_info = "result['in']"}, tensor<32x16xf32> {jax.result_info = "result['out']"}) {
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
// UNIT-NEXT: %8 = stablehlo.multiply %arg3, %cst_0 : tensor<4x32xf32>
// UNIT-NEXT: %9 = stablehlo.add %arg3, %8 : tensor<4x32xf32>
// UNIT-NEXT: %10 = stablehlo.clamp %cst_3, %9, %cst_4 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %11 = stablehlo.convert %10 {scalify.forms = ["2^0"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// UNIT-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// UNIT-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_10 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.797884583> : tensor<f32>
// UNIT-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.471500e-02> : tensor<f32>
// UNIT-NEXT: %cst_13 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_14 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-5.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_15 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999974E-6> : tensor<f32>
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %cst_16 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.200000e+01> : tensor<f32>
// UNIT-NEXT: %cst_17 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %12 = stablehlo.dot_general %11, %7, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2.5"]} : (tensor<4x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %13 = stablehlo.reduce(%12 init: %cst_17) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 5"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %14 = stablehlo.broadcast_in_dim %13, dims = [0] {scalify.forms = ["2^0 level 5"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %15 = stablehlo.broadcast_in_dim %cst_16, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %16 = stablehlo.divide %14, %15 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// UNIT-NEXT: %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %18 = stablehlo.subtract %12, %17 {scalify.forms = ["2^0 level 2.5222"]} : tensor<4x32xf32>
// UNIT-NEXT: %19:4 = call @_var(%12, %c) {scalify.forms = ["2^0 level 5", "2^0 level 3.5222", "2^0 level 5", "unscaled"]} : (tensor<4x32xf32>, tensor<i32>) -> (tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>)
// UNIT-NEXT: %20 = stablehlo.broadcast_in_dim %cst_15, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %21 = stablehlo.add %19#0, %20 {scalify.forms = ["2^0 level 5"]} : tensor<4x1xf32>
// UNIT-NEXT: %22 = stablehlo.rsqrt %21 {scalify.forms = ["2^0 level -2.5"]} : tensor<4x1xf32>
// UNIT-NEXT: %23 = stablehlo.divide %22, %21 {scalify.forms = ["2^0 level -7.5"]} : tensor<4x1xf32>
// UNIT-NEXT: %24 = stablehlo.broadcast_in_dim %cst_14, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %25 = stablehlo.multiply %24, %23 {scalify.forms = ["2^0 level -8.5"]} : tensor<4x1xf32>
// UNIT-NEXT: %26 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0 level -2.5"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %27 = stablehlo.multiply %18, %26 {scalify.forms = ["2^0 level 0.0221971"]} : tensor<4x32xf32>
// UNIT-NEXT: %28 = stablehlo.broadcast_in_dim %arg0, dims = [1] {scalify.forms = ["2^0"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// UNIT-NEXT: %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %30 = stablehlo.multiply %27, %29 {scalify.forms = ["2^0 level 0.0221971"]} : tensor<4x32xf32>
// UNIT-NEXT: %31 = stablehlo.multiply %30, %30 {scalify.forms = ["2^0 level 0.0443941"]} : tensor<4x32xf32>
// UNIT-NEXT: %32 = stablehlo.multiply %31, %30 {scalify.forms = ["2^0 level 0.0665912"]} : tensor<4x32xf32>
// UNIT-NEXT: %33 = stablehlo.multiply %30, %30 {scalify.forms = ["2^0 level 0.0443941"]} : tensor<4x32xf32>
// UNIT-NEXT: %34 = stablehlo.broadcast_in_dim %cst_13, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %35 = stablehlo.multiply %34, %33 {scalify.forms = ["2^0 level 1.62936"]} : tensor<4x32xf32>
// UNIT-NEXT: %36 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %37 = stablehlo.multiply %36, %32 {scalify.forms = ["2^0 level -4.41651"]} : tensor<4x32xf32>
// UNIT-NEXT: %38 = stablehlo.add %30, %37 {scalify.forms = ["2^0 level 0.0237293"]} : tensor<4x32xf32>
// UNIT-NEXT: %39 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %40 = stablehlo.multiply %39, %38 {scalify.forms = ["2^0 level -0.302019"]} : tensor<4x32xf32>
// UNIT-NEXT: %41 = stablehlo.tanh %40 {scalify.forms = ["2^0 level -0.973765"]} : tensor<4x32xf32>
// UNIT-NEXT: %42 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %43 = stablehlo.subtract %42, %41 {scalify.forms = ["2^0 level 0.166288"]} : tensor<4x32xf32>
// UNIT-NEXT: %44 = stablehlo.broadcast_in_dim %cst_10, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %45 = stablehlo.add %44, %41 {scalify.forms = ["2^0 level 0.166288"]} : tensor<4x32xf32>
// UNIT-NEXT: %46 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %47 = stablehlo.multiply %46, %45 {scalify.forms = ["2^0 level -0.833712"]} : tensor<4x32xf32>
// UNIT-NEXT: %48 = stablehlo.multiply %30, %47 {scalify.forms = ["2^0 level -0.594711"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_18 = stablehlo.constant dense<2.000000e+00> : tensor<4x32xf32>
// UNIT-NEXT: %49 = stablehlo.multiply %48, %cst_18 : tensor<4x32xf32>
// UNIT-NEXT: %50 = stablehlo.multiply %49, %cst_0 : tensor<4x32xf32>
// UNIT-NEXT: %51 = stablehlo.add %49, %50 : tensor<4x32xf32>
// UNIT-NEXT: %52 = stablehlo.clamp %cst_3, %51, %cst_4 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %53 = stablehlo.convert %52 {scalify.forms = ["2^-1 level 0.405289"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// UNIT-NEXT: %54 = stablehlo.dot_general %53, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-1 level 2.90529"]} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// UNIT-NEXT: %cst_19 = stablehlo.constant dense<5.000000e-01> : tensor<4x16xf32>
// UNIT-NEXT: %55 = stablehlo.multiply %54, %cst_19 : tensor<4x16xf32>
// UNIT-NEXT: %56 = stablehlo.subtract %55, %arg4 {scalify.forms = ["2^0 level 1.95495"]} : tensor<4x16xf32>
// UNIT-NEXT: %57 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %58 = stablehlo.multiply %57, %56 {scalify.forms = ["2^0 level 2.95495"]} : tensor<4x16xf32>
// UNIT-NEXT: %59 = stablehlo.divide %cst_10, %cst_7 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// UNIT-NEXT: %60 = stablehlo.broadcast_in_dim %59, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %61 = stablehlo.multiply %60, %58 {scalify.forms = ["2^0 level -3.04505"]} : tensor<4x16xf32>
// UNIT-NEXT: %cst_20 = stablehlo.constant dense<8.000000e+00> : tensor<4x16xf32>
// UNIT-NEXT: %62 = stablehlo.multiply %61, %cst_20 : tensor<4x16xf32>
// UNIT-NEXT: %63 = stablehlo.multiply %62, %cst : tensor<4x16xf32>
// UNIT-NEXT: %64 = stablehlo.add %62, %63 : tensor<4x16xf32>
// UNIT-NEXT: %65 = stablehlo.clamp %cst_5, %64, %cst_6 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %66 = stablehlo.convert %65 {scalify.forms = ["2^-3 level -0.0450501"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// UNIT-NEXT: %67 = stablehlo.dot_general %61, %48, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -2.63976"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// UNIT-NEXT: %68 = stablehlo.transpose %67, dims = [1, 0] {scalify.forms = ["2^0 level -2.63976"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// UNIT-NEXT: %69 = stablehlo.dot_general %66, %3, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-3 level 1.95495"]} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %70 = stablehlo.multiply %30, %69 {scalify.forms = ["2^-3 level 1.97715"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_21 = stablehlo.constant dense<1.250000e-01> : tensor<4x32xf32>
// UNIT-NEXT: %71 = stablehlo.multiply %70, %cst_21 : tensor<4x32xf32>
// UNIT-NEXT: %72 = stablehlo.multiply %69, %47 {scalify.forms = ["2^-3 level 1.12124"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_22 = stablehlo.constant dense<1.250000e-01> : tensor<4x32xf32>
// UNIT-NEXT: %73 = stablehlo.multiply %72, %cst_22 : tensor<4x32xf32>
// UNIT-NEXT: %74 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %75 = stablehlo.multiply %74, %71 {scalify.forms = ["2^0 level -2.02285"]} : tensor<4x32xf32>
// UNIT-NEXT: %76 = stablehlo.multiply %75, %43 {scalify.forms = ["2^0 level -1.85657"]} : tensor<4x32xf32>
// UNIT-NEXT: %77 = stablehlo.multiply %76, %41 {scalify.forms = ["2^0 level -2.83033"]} : tensor<4x32xf32>
// UNIT-NEXT: %78 = stablehlo.add %76, %77 {scalify.forms = ["2^0 level -1.69028"]} : tensor<4x32xf32>
// UNIT-NEXT: %79 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %80 = stablehlo.multiply %79, %78 {scalify.forms = ["2^0 level -2.01603"]} : tensor<4x32xf32>
// UNIT-NEXT: %81 = stablehlo.add %73, %80 {scalify.forms = ["2^0 level -1.44413"]} : tensor<4x32xf32>
// UNIT-NEXT: %82 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %83 = stablehlo.multiply %82, %80 {scalify.forms = ["2^0 level -6.49912"]} : tensor<4x32xf32>
// UNIT-NEXT: %84 = stablehlo.multiply %83, %35 {scalify.forms = ["2^0 level -4.86977"]} : tensor<4x32xf32>
// UNIT-NEXT: %85 = stablehlo.add %81, %84 {scalify.forms = ["2^0 level -1.61162"]} : tensor<4x32xf32>
// UNIT-NEXT: %86 = stablehlo.multiply %27, %85 {scalify.forms = ["2^0 level -1.58942"]} : tensor<4x32xf32>
// UNIT-NEXT: %87 = stablehlo.reduce(%86 init: %cst_17) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level -0.589425"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<32xf32>
// UNIT-NEXT: %88 = stablehlo.reshape %87 {scalify.forms = ["2^0 level -0.589425"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// UNIT-NEXT: %89 = stablehlo.broadcast_in_dim %28, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %90 = stablehlo.multiply %85, %89 {scalify.forms = ["2^0 level -1.61162"]} : tensor<4x32xf32>
// UNIT-NEXT: %91 = stablehlo.reduce(%88 init: %cst_17) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level -0.589425"]} : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
// UNIT-NEXT: %92 = stablehlo.multiply %18, %90 {scalify.forms = ["2^0 level 0.910575"]} : tensor<4x32xf32>
// UNIT-NEXT: %93 = stablehlo.reduce(%92 init: %cst_17) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 3.41058"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %94 = stablehlo.reshape %93 {scalify.forms = ["2^0 level 3.41058"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %95 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0 level -2.5"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %96 = stablehlo.multiply %90, %95 {scalify.forms = ["2^0 level -4.11162"]} : tensor<4x32xf32>
// UNIT-NEXT: %97 = stablehlo.multiply %94, %25 {scalify.forms = ["2^0 level -5.08942"]} : tensor<4x1xf32>
// UNIT-NEXT: %98 = call @_var_0(%19#1, %19#2, %19#3, %97) {scalify.forms = ["2^0 level -6.4778"]} : (tensor<4x32xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %99 = stablehlo.negate %96 {scalify.forms = ["2^0 level -4.11162"]} : tensor<4x32xf32>
// UNIT-NEXT: %100 = stablehlo.reduce(%99 init: %cst_17) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -1.61162"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %101 = stablehlo.reshape %100 {scalify.forms = ["2^0 level -1.61162"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %102 = stablehlo.add %98, %96 {scalify.forms = ["2^0 level -4.08498"]} : tensor<4x32xf32>
// UNIT-NEXT: %103 = stablehlo.broadcast_in_dim %cst_16, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %104 = stablehlo.divide %101, %103 {scalify.forms = ["2^0 level -6.61162"]} : tensor<4x1xf32>
// UNIT-NEXT: %105 = stablehlo.reduce(%104 init: %cst_17) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -6.61162"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %106 = stablehlo.broadcast_in_dim %105, dims = [0] {scalify.forms = ["2^0 level -6.61162"]} : (tensor<4xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %107 = stablehlo.add %102, %106 {scalify.forms = ["2^0 level -4.06358"]} : tensor<4x32xf32>
// UNIT-NEXT: %108 = stablehlo.dot_general %107, %arg3, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -3.06358"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %109 = stablehlo.transpose %108, dims = [1, 0] {scalify.forms = ["2^0 level -3.06358"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: return %91, %109, %68 : tensor<32xf32>, tensor<32x32xf32>, tensor<32x16xf32>
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
// FP8:      module @_loss attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4x16xf32>) -> (tensor<32xf32> {jax.result_info = "result['gain']"}, tensor<32x32xf32> {jax.result_info = "result['in']"}, tensor<32x16xf32> {jax.result_info = "result['out']"}) {
// FP8-NEXT: %c = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %cst = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %c_1 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %c_2 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %c_3 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %cst_4 = stablehlo.constant dense<7.812500e-03> : tensor<f32>
// FP8-NEXT: %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<4x16xf32>
// FP8-NEXT: %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
// FP8-NEXT: %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
// FP8-NEXT: %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<32x16xf32>
// FP8-NEXT: %cst_11 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_12 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_13 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_14 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg2, %cst_10 : tensor<32x16xf32>
// FP8-NEXT: %1 = stablehlo.add %arg2, %0 : tensor<32x16xf32>
// FP8-NEXT: %2 = stablehlo.clamp %cst_11, %1, %cst_12 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// FP8-NEXT: %4 = stablehlo.multiply %arg1, %cst_9 : tensor<32x32xf32>
// FP8-NEXT: %5 = stablehlo.add %arg1, %4 : tensor<32x32xf32>
// FP8-NEXT: %6 = stablehlo.clamp %cst_11, %5, %cst_12 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %8 = stablehlo.multiply %arg3, %cst_8 : tensor<4x32xf32>
// FP8-NEXT: %9 = stablehlo.add %arg3, %8 : tensor<4x32xf32>
// FP8-NEXT: %10 = stablehlo.clamp %cst_11, %9, %cst_12 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %11 = stablehlo.convert %10 {scalify.forms = ["2^0"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// FP8-NEXT: %cst_16 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// FP8-NEXT: %cst_17 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// FP8-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_20 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.797884583> : tensor<f32>
// FP8-NEXT: %cst_21 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.471500e-02> : tensor<f32>
// FP8-NEXT: %cst_22 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_23 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-5.000000e-01> : tensor<f32>
// FP8-NEXT: %cst_24 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999974E-6> : tensor<f32>
// FP8-NEXT: %c_25 = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %cst_26 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.200000e+01> : tensor<f32>
// FP8-NEXT: %cst_27 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %12 = stablehlo.dot_general %11, %7, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<4x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// FP8-NEXT: %13 = stablehlo.reduce(%12 init: %cst_27) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %14 = stablehlo.broadcast_in_dim %13, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %15 = stablehlo.broadcast_in_dim %cst_26, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %16 = stablehlo.divide %14, %15 {scalify.forms = ["2^0 level -1"]} : tensor<4x1xf32>
// FP8-NEXT: %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0 level -1"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %18 = stablehlo.subtract %12, %17 {scalify.forms = ["2^0 level 2"]} : tensor<4x32xf32>
// FP8-NEXT: %19:4 = call @_var(%12, %c_25) {scalify.forms = ["2^0 level 4", "2^0 level 3", "2^0 level 5", "unscaled"]} : (tensor<4x32xf32>, tensor<i32>) -> (tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>)
// FP8-NEXT: %20 = stablehlo.broadcast_in_dim %cst_24, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %21 = stablehlo.add %19#0, %20 {scalify.forms = ["2^0 level 5"]} : tensor<4x1xf32>
// FP8-NEXT: %22 = stablehlo.rsqrt %21 {scalify.forms = ["2^0 level -2"]} : tensor<4x1xf32>
// FP8-NEXT: %23 = stablehlo.divide %22, %21 {scalify.forms = ["2^0 level -7"]} : tensor<4x1xf32>
// FP8-NEXT: %24 = stablehlo.broadcast_in_dim %cst_23, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %25 = stablehlo.multiply %24, %23 {scalify.forms = ["2^0 level -8"]} : tensor<4x1xf32>
// FP8-NEXT: %26 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0 level -2"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %27 = stablehlo.multiply %18, %26 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %28 = stablehlo.broadcast_in_dim %arg0, dims = [1] {scalify.forms = ["2^0"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// FP8-NEXT: %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %30 = stablehlo.multiply %27, %29 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %31 = stablehlo.multiply %30, %30 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %32 = stablehlo.multiply %31, %30 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %33 = stablehlo.multiply %30, %30 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %34 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %35 = stablehlo.multiply %34, %33 {scalify.forms = ["2^0 level 1.58496"]} : tensor<4x32xf32>
// FP8-NEXT: %36 = stablehlo.broadcast_in_dim %cst_21, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %37 = stablehlo.multiply %36, %32 {scalify.forms = ["2^0 level -4.4831"]} : tensor<4x32xf32>
// FP8-NEXT: %38 = stablehlo.add %30, %37 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %39 = stablehlo.broadcast_in_dim %cst_20, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %40 = stablehlo.multiply %39, %38 {scalify.forms = ["2^0 level -0.325748"]} : tensor<4x32xf32>
// FP8-NEXT: %41 = stablehlo.tanh %40 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %42 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %43 = stablehlo.subtract %42, %41 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %44 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %45 = stablehlo.add %44, %41 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %46 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %47 = stablehlo.multiply %46, %45 {scalify.forms = ["2^0 level -1"]} : tensor<4x32xf32>
// FP8-NEXT: %48 = stablehlo.multiply %30, %47 {scalify.forms = ["2^0 level -1"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_28 = stablehlo.constant dense<2.000000e+00> : tensor<4x32xf32>
// FP8-NEXT: %49 = stablehlo.multiply %48, %cst_28 : tensor<4x32xf32>
// FP8-NEXT: %50 = stablehlo.multiply %49, %cst_8 : tensor<4x32xf32>
// FP8-NEXT: %51 = stablehlo.add %49, %50 : tensor<4x32xf32>
// FP8-NEXT: %52 = stablehlo.clamp %cst_11, %51, %cst_12 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %53 = stablehlo.convert %52 {scalify.forms = ["2^-1"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// FP8-NEXT: %54 = stablehlo.dot_general %53, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-1 level 2"]} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// FP8-NEXT: %cst_29 = stablehlo.constant dense<5.000000e-01> : tensor<4x16xf32>
// FP8-NEXT: %55 = stablehlo.multiply %54, %cst_29 : tensor<4x16xf32>
// FP8-NEXT: %56 = stablehlo.subtract %55, %arg4 {scalify.forms = ["2^0 level 1"]} : tensor<4x16xf32>
// FP8-NEXT: %57 = stablehlo.broadcast_in_dim %cst_17, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %58 = stablehlo.multiply %57, %56 {scalify.forms = ["2^0 level 2"]} : tensor<4x16xf32>
// FP8-NEXT: %59 = stablehlo.divide %cst_19, %cst_16 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// FP8-NEXT: %60 = stablehlo.broadcast_in_dim %59, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %61 = stablehlo.multiply %60, %58 {scalify.forms = ["2^0 level -4"]} : tensor<4x16xf32>
// FP8-NEXT: %cst_30 = stablehlo.constant dense<1.600000e+01> : tensor<4x16xf32>
// FP8-NEXT: %62 = stablehlo.multiply %61, %cst_30 : tensor<4x16xf32>
// FP8-NEXT: %63 = stablehlo.multiply %62, %cst_7 : tensor<4x16xf32>
// FP8-NEXT: %64 = stablehlo.add %62, %63 : tensor<4x16xf32>
// FP8-NEXT: %65 = stablehlo.clamp %cst_13, %64, %cst_14 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %66 = stablehlo.convert %65 {scalify.forms = ["2^-4"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// FP8-NEXT: %67 = stablehlo.dot_general %61, %48, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -3"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// FP8-NEXT: %68 = stablehlo.transpose %67, dims = [1, 0] {scalify.forms = ["2^0 level -3"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// FP8-NEXT: %69 = stablehlo.dot_general %66, %3, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-4 level 2"]} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// FP8-NEXT: %70 = stablehlo.multiply %30, %69 {scalify.forms = ["2^-4 level 2"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_31 = stablehlo.constant dense<6.250000e-02> : tensor<4x32xf32>
// FP8-NEXT: %71 = stablehlo.multiply %70, %cst_31 : tensor<4x32xf32>
// FP8-NEXT: %72 = stablehlo.multiply %69, %47 {scalify.forms = ["2^-4 level 2"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_32 = stablehlo.constant dense<6.250000e-02> : tensor<4x32xf32>
// FP8-NEXT: %73 = stablehlo.multiply %72, %cst_32 : tensor<4x32xf32>
// FP8-NEXT: %74 = stablehlo.broadcast_in_dim %cst_18, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %75 = stablehlo.multiply %74, %71 {scalify.forms = ["2^0 level -3"]} : tensor<4x32xf32>
// FP8-NEXT: %76 = stablehlo.multiply %75, %43 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// FP8-NEXT: %77 = stablehlo.multiply %76, %41 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// FP8-NEXT: %78 = stablehlo.add %76, %77 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// FP8-NEXT: %79 = stablehlo.broadcast_in_dim %cst_20, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %80 = stablehlo.multiply %79, %78 {scalify.forms = ["2^0 level -2.32575"]} : tensor<4x32xf32>
// FP8-NEXT: %81 = stablehlo.add %73, %80 {scalify.forms = ["2^0 level -1"]} : tensor<4x32xf32>
// FP8-NEXT: %82 = stablehlo.broadcast_in_dim %cst_21, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %83 = stablehlo.multiply %82, %80 {scalify.forms = ["2^0 level -6.80885"]} : tensor<4x32xf32>
// FP8-NEXT: %84 = stablehlo.multiply %83, %35 {scalify.forms = ["2^0 level -5.22388"]} : tensor<4x32xf32>
// FP8-NEXT: %85 = stablehlo.add %81, %84 {scalify.forms = ["2^0 level -1"]} : tensor<4x32xf32>
// FP8-NEXT: %86 = stablehlo.multiply %27, %85 {scalify.forms = ["2^0 level -1"]} : tensor<4x32xf32>
// FP8-NEXT: %87 = stablehlo.reduce(%86 init: %cst_27) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<32xf32>
// FP8-NEXT: %88 = stablehlo.reshape %87 {scalify.forms = ["2^0"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// FP8-NEXT: %89 = stablehlo.broadcast_in_dim %28, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %90 = stablehlo.multiply %85, %89 {scalify.forms = ["2^0 level -1"]} : tensor<4x32xf32>
// FP8-NEXT: %91 = stablehlo.reduce(%88 init: %cst_27) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
// FP8-NEXT: %92 = stablehlo.multiply %18, %90 {scalify.forms = ["2^0 level 1"]} : tensor<4x32xf32>
// FP8-NEXT: %93 = stablehlo.reduce(%92 init: %cst_27) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 3"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %94 = stablehlo.reshape %93 {scalify.forms = ["2^0 level 3"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %95 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0 level -2"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %96 = stablehlo.multiply %90, %95 {scalify.forms = ["2^0 level -3"]} : tensor<4x32xf32>
// FP8-NEXT: %97 = stablehlo.multiply %94, %25 {scalify.forms = ["2^0 level -5"]} : tensor<4x1xf32>
// FP8-NEXT: %98 = call @_var_0(%19#1, %19#2, %19#3, %97) {scalify.forms = ["2^0 level -7"]} : (tensor<4x32xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %99 = stablehlo.negate %96 {scalify.forms = ["2^0 level -3"]} : tensor<4x32xf32>
// FP8-NEXT: %100 = stablehlo.reduce(%99 init: %cst_27) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -1"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %101 = stablehlo.reshape %100 {scalify.forms = ["2^0 level -1"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %102 = stablehlo.add %98, %96 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// FP8-NEXT: %103 = stablehlo.broadcast_in_dim %cst_26, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %104 = stablehlo.divide %101, %103 {scalify.forms = ["2^0 level -6"]} : tensor<4x1xf32>
// FP8-NEXT: %105 = stablehlo.reduce(%104 init: %cst_27) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -6"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %106 = stablehlo.broadcast_in_dim %105, dims = [0] {scalify.forms = ["2^0 level -6"]} : (tensor<4xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %107 = stablehlo.add %102, %106 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// FP8-NEXT: %108 = stablehlo.optimization_barrier %107 : tensor<4x32xf32>
// FP8-NEXT: %109 = stablehlo.multiply %108, %108 : tensor<4x32xf32>
// FP8-NEXT: %110 = stablehlo.is_finite %108 : (tensor<4x32xf32>) -> tensor<4x32xi1>
// FP8-NEXT: %111 = stablehlo.select %110, %109, %cst_8 : tensor<4x32xi1>, tensor<4x32xf32>
// FP8-NEXT: %112 = stablehlo.reduce(%111 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %113 = stablehlo.multiply %112, %cst_4 : tensor<f32>
// FP8-NEXT: %114 = stablehlo.sqrt %113 : tensor<f32>
// FP8-NEXT: %115 = stablehlo.bitcast_convert %114 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %116 = stablehlo.and %115, %c_3 : tensor<ui32>
// FP8-NEXT: %117 = stablehlo.subtract %116, %c_2 : tensor<ui32>
// FP8-NEXT: %118 = stablehlo.compare LT, %117, %c_1 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %119 = stablehlo.bitcast_convert %116 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %120 = stablehlo.select %118, %119, %cst_6 : tensor<i1>, tensor<f32>
// FP8-NEXT: %121 = stablehlo.multiply %120, %cst_6 : tensor<f32>
// FP8-NEXT: %122 = stablehlo.clamp %cst_0, %121, %cst : tensor<f32>
// FP8-NEXT: %123 = stablehlo.bitcast_convert %122 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %124 = stablehlo.subtract %c, %123 : tensor<ui32>
// FP8-NEXT: %125 = stablehlo.bitcast_convert %124 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %126 = stablehlo.divide %cst_6, %125 : tensor<f32>
// FP8-NEXT: %127 = stablehlo.optimization_barrier %126 : tensor<f32>
// FP8-NEXT: %128 = stablehlo.divide %cst_15, %127 : tensor<f32>
// FP8-NEXT: %129 = stablehlo.broadcast_in_dim %128, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %130 = stablehlo.multiply %108, %129 : tensor<4x32xf32>
// FP8-NEXT: %131 = stablehlo.dot_general %130, %arg3, contracting_dims = [0] x [0] {scalify.forms = ["s0 level 1"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %132 = stablehlo.transpose %131, dims = [1, 0] {scalify.forms = ["s0 level 1"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %133 = stablehlo.broadcast_in_dim %127, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %134 = stablehlo.multiply %132, %133 : tensor<32x32xf32>
// FP8-NEXT: return %91, %134, %68 : tensor<32xf32>, tensor<32x32xf32>, tensor<32x16xf32>
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
// OPERANDS:      module @_loss attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// OPERANDS-NEXT: func.func public @main(%arg0: tensor<32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x16xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4x16xf32>) -> (tensor<32xf32> {jax.result_info = "result['gain']"}, tensor<32x32xf32> {jax.result_info = "result['in']"}, tensor<32x16xf32> {jax.result_info = "result['out']"}) {
// OPERANDS-NEXT: %c = stablehlo.constant dense<8388608> : tensor<4x16xi32>
// OPERANDS-NEXT: %c_0 = stablehlo.constant dense<8388608> : tensor<4x32xi32>
// OPERANDS-NEXT: %c_1 = stablehlo.constant dense<8388608> : tensor<32x32xi32>
// OPERANDS-NEXT: %c_2 = stablehlo.constant dense<2130706432> : tensor<ui32>
// OPERANDS-NEXT: %cst = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// OPERANDS-NEXT: %cst_3 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// OPERANDS-NEXT: %c_4 = stablehlo.constant dense<2139095039> : tensor<ui32>
// OPERANDS-NEXT: %c_5 = stablehlo.constant dense<1> : tensor<ui32>
// OPERANDS-NEXT: %c_6 = stablehlo.constant dense<4286578688> : tensor<ui32>
// OPERANDS-NEXT: %c_7 = stablehlo.constant dense<8388607> : tensor<ui32>
// OPERANDS-NEXT: %c_8 = stablehlo.constant dense<8388608> : tensor<i32>
// OPERANDS-NEXT: %c_9 = stablehlo.constant dense<8388608> : tensor<32x16xi32>
// OPERANDS-NEXT: %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %cst_12 = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// OPERANDS-NEXT: %cst_13 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// OPERANDS-NEXT: %cst_14 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
// OPERANDS-NEXT: %cst_15 = stablehlo.constant dense<1.17549435E-38> : tensor<f32>
// OPERANDS-NEXT: %cst_16 = stablehlo.constant dense<8.50705917E+37> : tensor<f32>
// OPERANDS-NEXT: %cst_17 = stablehlo.constant dense<3.40282347E+38> : tensor<f32>
// OPERANDS-NEXT: %0 = stablehlo.optimization_barrier %arg2 : tensor<32x16xf32>
// OPERANDS-NEXT: %1 = stablehlo.abs %0 : tensor<32x16xf32>
// OPERANDS-NEXT: %2 = stablehlo.bitcast_convert %1 : (tensor<32x16xf32>) -> tensor<32x16xi32>
// OPERANDS-NEXT: %3 = stablehlo.add %2, %c_9 : tensor<32x16xi32>
// OPERANDS-NEXT: %4 = stablehlo.reduce(%3 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xi32>, tensor<i32>) -> tensor<i32>
// OPERANDS-NEXT: %5 = stablehlo.subtract %4, %c_8 : tensor<i32>
// OPERANDS-NEXT: %6 = stablehlo.bitcast_convert %5 : (tensor<i32>) -> tensor<f32>
// OPERANDS-NEXT: %7 = stablehlo.bitcast_convert %6 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %8 = stablehlo.add %7, %c_7 : tensor<ui32>
// OPERANDS-NEXT: %9 = stablehlo.and %8, %c_6 : tensor<ui32>
// OPERANDS-NEXT: %10 = stablehlo.subtract %9, %c_5 : tensor<ui32>
// OPERANDS-NEXT: %11 = stablehlo.compare LT, %10, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// OPERANDS-NEXT: %12 = stablehlo.bitcast_convert %9 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %13 = stablehlo.select %11, %12, %cst_10 : tensor<i1>, tensor<f32>
// OPERANDS-NEXT: %14 = stablehlo.multiply %13, %cst_10 : tensor<f32>
// OPERANDS-NEXT: %15 = stablehlo.clamp %cst_3, %14, %cst : tensor<f32>
// OPERANDS-NEXT: %16 = stablehlo.bitcast_convert %15 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %17 = stablehlo.subtract %c_2, %16 : tensor<ui32>
// OPERANDS-NEXT: %18 = stablehlo.bitcast_convert %17 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %19 = stablehlo.divide %cst_10, %18 : tensor<f32>
// OPERANDS-NEXT: %20 = stablehlo.optimization_barrier %19 : tensor<f32>
// OPERANDS-NEXT: %21 = stablehlo.divide %cst_11, %20 : tensor<f32>
// OPERANDS-NEXT: %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// OPERANDS-NEXT: %23 = stablehlo.multiply %0, %22 : tensor<32x16xf32>
// OPERANDS-NEXT: %24 = stablehlo.is_finite %23 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// OPERANDS-NEXT: %25 = stablehlo.clamp %cst_12, %23, %cst_13 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// OPERANDS-NEXT: %26 = stablehlo.select %24, %25, %23 : tensor<32x16xi1>, tensor<32x16xf32>
// OPERANDS-NEXT: %27 = stablehlo.convert %26 {scalify.forms = ["s0"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// OPERANDS-NEXT: %28 = stablehlo.optimization_barrier %arg1 : tensor<32x32xf32>
// OPERANDS-NEXT: %29 = stablehlo.abs %28 : tensor<32x32xf32>
// OPERANDS-NEXT: %30 = stablehlo.bitcast_convert %29 : (tensor<32x32xf32>) -> tensor<32x32xi32>
// OPERANDS-NEXT: %31 = stablehlo.add %30, %c_1 : tensor<32x32xi32>
// OPERANDS-NEXT: %32 = stablehlo.reduce(%31 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x32xi32>, tensor<i32>) -> tensor<i32>
// OPERANDS-NEXT: %33 = stablehlo.subtract %32, %c_8 : tensor<i32>
// OPERANDS-NEXT: %34 = stablehlo.bitcast_convert %33 : (tensor<i32>) -> tensor<f32>
// OPERANDS-NEXT: %35 = stablehlo.bitcast_convert %34 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %36 = stablehlo.add %35, %c_7 : tensor<ui32>
// OPERANDS-NEXT: %37 = stablehlo.and %36, %c_6 : tensor<ui32>
// OPERANDS-NEXT: %38 = stablehlo.subtract %37, %c_5 : tensor<ui32>
// OPERANDS-NEXT: %39 = stablehlo.compare LT, %38, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// OPERANDS-NEXT: %40 = stablehlo.bitcast_convert %37 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %41 = stablehlo.select %39, %40, %cst_10 : tensor<i1>, tensor<f32>
// OPERANDS-NEXT: %42 = stablehlo.multiply %41, %cst_10 : tensor<f32>
// OPERANDS-NEXT: %43 = stablehlo.clamp %cst_3, %42, %cst : tensor<f32>
// OPERANDS-NEXT: %44 = stablehlo.bitcast_convert %43 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %45 = stablehlo.subtract %c_2, %44 : tensor<ui32>
// OPERANDS-NEXT: %46 = stablehlo.bitcast_convert %45 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %47 = stablehlo.divide %cst_10, %46 : tensor<f32>
// OPERANDS-NEXT: %48 = stablehlo.optimization_barrier %47 : tensor<f32>
// OPERANDS-NEXT: %49 = stablehlo.divide %cst_11, %48 : tensor<f32>
// OPERANDS-NEXT: %50 = stablehlo.broadcast_in_dim %49, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
// OPERANDS-NEXT: %51 = stablehlo.multiply %28, %50 : tensor<32x32xf32>
// OPERANDS-NEXT: %52 = stablehlo.is_finite %51 : (tensor<32x32xf32>) -> tensor<32x32xi1>
// OPERANDS-NEXT: %53 = stablehlo.clamp %cst_12, %51, %cst_13 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// OPERANDS-NEXT: %54 = stablehlo.select %52, %53, %51 : tensor<32x32xi1>, tensor<32x32xf32>
// OPERANDS-NEXT: %55 = stablehlo.convert %54 {scalify.forms = ["s1"]} : (tensor<32x32xf32>) -> tensor<32x32xf16>
// OPERANDS-NEXT: %56 = stablehlo.optimization_barrier %arg3 : tensor<4x32xf32>
// OPERANDS-NEXT: %57 = stablehlo.abs %56 : tensor<4x32xf32>
// OPERANDS-NEXT: %58 = stablehlo.bitcast_convert %57 : (tensor<4x32xf32>) -> tensor<4x32xi32>
// OPERANDS-NEXT: %59 = stablehlo.add %58, %c_0 : tensor<4x32xi32>
// OPERANDS-NEXT: %60 = stablehlo.reduce(%59 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x32xi32>, tensor<i32>) -> tensor<i32>
// OPERANDS-NEXT: %61 = stablehlo.subtract %60, %c_8 : tensor<i32>
// OPERANDS-NEXT: %62 = stablehlo.bitcast_convert %61 : (tensor<i32>) -> tensor<f32>
// OPERANDS-NEXT: %63 = stablehlo.bitcast_convert %62 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %64 = stablehlo.add %63, %c_7 : tensor<ui32>
// OPERANDS-NEXT: %65 = stablehlo.and %64, %c_6 : tensor<ui32>
// OPERANDS-NEXT: %66 = stablehlo.subtract %65, %c_5 : tensor<ui32>
// OPERANDS-NEXT: %67 = stablehlo.compare LT, %66, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// OPERANDS-NEXT: %68 = stablehlo.bitcast_convert %65 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %69 = stablehlo.select %67, %68, %cst_10 : tensor<i1>, tensor<f32>
// OPERANDS-NEXT: %70 = stablehlo.multiply %69, %cst_10 : tensor<f32>
// OPERANDS-NEXT: %71 = stablehlo.clamp %cst_3, %70, %cst : tensor<f32>
// OPERANDS-NEXT: %72 = stablehlo.bitcast_convert %71 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %73 = stablehlo.subtract %c_2, %72 : tensor<ui32>
// OPERANDS-NEXT: %74 = stablehlo.bitcast_convert %73 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %75 = stablehlo.divide %cst_10, %74 : tensor<f32>
// OPERANDS-NEXT: %76 = stablehlo.optimization_barrier %75 : tensor<f32>
// OPERANDS-NEXT: %77 = stablehlo.divide %cst_11, %76 : tensor<f32>
// OPERANDS-NEXT: %78 = stablehlo.multiply %48, %76 : tensor<f32>
// OPERANDS-NEXT: %79 = stablehlo.divide %cst_11, %78 : tensor<f32>
// OPERANDS-NEXT: %80 = stablehlo.multiply %79, %79 : tensor<f32>
// OPERANDS-NEXT: %81 = stablehlo.clamp %cst_15, %80, %cst_16 : tensor<f32>
// OPERANDS-NEXT: %82 = stablehlo.divide %79, %81 : tensor<f32>
// OPERANDS-NEXT: %83 = stablehlo.multiply %82, %79 : tensor<f32>
// OPERANDS-NEXT: %84 = stablehlo.multiply %cst_14, %81 : tensor<f32>
// OPERANDS-NEXT: %85 = stablehlo.multiply %84, %83 : tensor<f32>
// OPERANDS-NEXT: %86 = stablehlo.clamp %cst_15, %85, %cst_17 : tensor<f32>
// OPERANDS-NEXT: %87 = stablehlo.divide %20, %78 : tensor<f32>
// OPERANDS-NEXT: %88 = stablehlo.broadcast_in_dim %77, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %89 = stablehlo.multiply %56, %88 : tensor<4x32xf32>
// OPERANDS-NEXT: %90 = stablehlo.is_finite %89 : (tensor<4x32xf32>) -> tensor<4x32xi1>
// OPERANDS-NEXT: %91 = stablehlo.clamp %cst_12, %89, %cst_13 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %92 = stablehlo.select %90, %91, %89 : tensor<4x32xi1>, tensor<4x32xf32>
// OPERANDS-NEXT: %93 = stablehlo.convert %92 {scalify.forms = ["s2"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// OPERANDS-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// OPERANDS-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %cst_20 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// OPERANDS-NEXT: %cst_21 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %cst_22 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.797884583> : tensor<f32>
// OPERANDS-NEXT: %cst_23 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.471500e-02> : tensor<f32>
// OPERANDS-NEXT: %cst_24 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %cst_25 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-5.000000e-01> : tensor<f32>
// OPERANDS-NEXT: %c_26 = stablehlo.constant dense<0> : tensor<i32>
// OPERANDS-NEXT: %cst_27 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.200000e+01> : tensor<f32>
// OPERANDS-NEXT: %cst_28 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %94 = stablehlo.dot_general %93, %55, contracting_dims = [1] x [0] {scalify.forms = ["s1*s2 level 2"]} : (tensor<4x32xf16>, tensor<32x32xf16>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %95 = stablehlo.reduce(%94 init: %cst_28) applies stablehlo.add across dimensions = [1] {scalify.forms = ["s1*s2 level 4"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %96 = stablehlo.broadcast_in_dim %95, dims = [0] {scalify.forms = ["s1*s2 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %97 = stablehlo.broadcast_in_dim %cst_27, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %98 = stablehlo.divide %96, %97 {scalify.forms = ["s1*s2 level -1"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %99 = stablehlo.broadcast_in_dim %98, dims = [0, 1] {scalify.forms = ["s1*s2 level -1"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %100 = stablehlo.subtract %94, %99 {scalify.forms = ["s1*s2 level 2"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %101:4 = call @_var(%94, %c_26) {scalify.forms = ["s1^2*s2^2 level 4", "s1*s2 level 3", "2^0 level 5", "unscaled"]} : (tensor<4x32xf32>, tensor<i32>) -> (tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>)
// OPERANDS-NEXT: %102 = stablehlo.broadcast_in_dim %86, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %103 = stablehlo.add %101#0, %102 {scalify.forms = ["s1^2*s2^2 level 4"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %104 = stablehlo.rsqrt %103 {scalify.forms = ["s1^-1*s2^-1 level -2"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %105 = stablehlo.divide %104, %103 {scalify.forms = ["s1^-3*s2^-3 level -6"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %106 = stablehlo.broadcast_in_dim %cst_25, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %107 = stablehlo.multiply %106, %105 {scalify.forms = ["s1^-3*s2^-3 level -7"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %108 = stablehlo.broadcast_in_dim %104, dims = [0, 1] {scalify.forms = ["s1^-1*s2^-1 level -2"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %109 = stablehlo.multiply %100, %108 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %110 = stablehlo.broadcast_in_dim %arg0, dims = [1] {scalify.forms = ["2^0"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// OPERANDS-NEXT: %111 = stablehlo.broadcast_in_dim %110, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %112 = stablehlo.multiply %109, %111 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %113 = stablehlo.multiply %112, %112 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %114 = stablehlo.multiply %113, %112 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %115 = stablehlo.multiply %112, %112 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %116 = stablehlo.broadcast_in_dim %cst_24, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %117 = stablehlo.multiply %116, %115 {scalify.forms = ["2^0 level 1.58496"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %118 = stablehlo.broadcast_in_dim %cst_23, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %119 = stablehlo.multiply %118, %114 {scalify.forms = ["2^0 level -4.4831"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %120 = stablehlo.add %112, %119 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %121 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %122 = stablehlo.multiply %121, %120 {scalify.forms = ["2^0 level -0.325748"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %123 = stablehlo.tanh %122 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %124 = stablehlo.broadcast_in_dim %cst_21, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %125 = stablehlo.subtract %124, %123 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %126 = stablehlo.broadcast_in_dim %cst_21, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %127 = stablehlo.add %126, %123 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %128 = stablehlo.broadcast_in_dim %cst_20, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %129 = stablehlo.multiply %128, %127 {scalify.forms = ["2^0 level -1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %130 = stablehlo.multiply %112, %129 {scalify.forms = ["2^0 level -1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %131 = stablehlo.optimization_barrier %130 : tensor<4x32xf32>
// OPERANDS-NEXT: %132 = stablehlo.abs %131 : tensor<4x32xf32>
// OPERANDS-NEXT: %133 = stablehlo.bitcast_convert %132 : (tensor<4x32xf32>) -> tensor<4x32xi32>
// OPERANDS-NEXT: %134 = stablehlo.add %133, %c_0 : tensor<4x32xi32>
// OPERANDS-NEXT: %135 = stablehlo.reduce(%134 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x32xi32>, tensor<i32>) -> tensor<i32>
// OPERANDS-NEXT: %136 = stablehlo.subtract %135, %c_8 : tensor<i32>
// OPERANDS-NEXT: %137 = stablehlo.bitcast_convert %136 : (tensor<i32>) -> tensor<f32>
// OPERANDS-NEXT: %138 = stablehlo.bitcast_convert %137 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %139 = stablehlo.add %138, %c_7 : tensor<ui32>
// OPERANDS-NEXT: %140 = stablehlo.and %139, %c_6 : tensor<ui32>
// OPERANDS-NEXT: %141 = stablehlo.subtract %140, %c_5 : tensor<ui32>
// OPERANDS-NEXT: %142 = stablehlo.compare LT, %141, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// OPERANDS-NEXT: %143 = stablehlo.bitcast_convert %140 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %144 = stablehlo.select %142, %143, %cst_10 : tensor<i1>, tensor<f32>
// OPERANDS-NEXT: %145 = stablehlo.multiply %144, %cst_10 : tensor<f32>
// OPERANDS-NEXT: %146 = stablehlo.clamp %cst_3, %145, %cst : tensor<f32>
// OPERANDS-NEXT: %147 = stablehlo.bitcast_convert %146 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %148 = stablehlo.subtract %c_2, %147 : tensor<ui32>
// OPERANDS-NEXT: %149 = stablehlo.bitcast_convert %148 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %150 = stablehlo.divide %cst_10, %149 : tensor<f32>
// OPERANDS-NEXT: %151 = stablehlo.optimization_barrier %150 : tensor<f32>
// OPERANDS-NEXT: %152 = stablehlo.divide %cst_11, %151 : tensor<f32>
// OPERANDS-NEXT: %153 = stablehlo.multiply %20, %151 : tensor<f32>
// OPERANDS-NEXT: %154 = stablehlo.broadcast_in_dim %152, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %155 = stablehlo.multiply %131, %154 : tensor<4x32xf32>
// OPERANDS-NEXT: %156 = stablehlo.is_finite %155 : (tensor<4x32xf32>) -> tensor<4x32xi1>
// OPERANDS-NEXT: %157 = stablehlo.clamp %cst_12, %155, %cst_13 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %158 = stablehlo.select %156, %157, %155 : tensor<4x32xi1>, tensor<4x32xf32>
// OPERANDS-NEXT: %159 = stablehlo.convert %158 {scalify.forms = ["s3"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// OPERANDS-NEXT: %160 = stablehlo.dot_general %159, %27, contracting_dims = [1] x [0] {scalify.forms = ["s0*s3 level 2"]} : (tensor<4x32xf16>, tensor<32x16xf16>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %161 = stablehlo.broadcast_in_dim %153, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %162 = stablehlo.multiply %160, %161 : tensor<4x16xf32>
// OPERANDS-NEXT: %163 = stablehlo.subtract %162, %arg4 {scalify.forms = ["2^0 level 1"]} : tensor<4x16xf32>
// OPERANDS-NEXT: %164 = stablehlo.broadcast_in_dim %cst_19, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %165 = stablehlo.multiply %164, %163 {scalify.forms = ["2^0 level 2"]} : tensor<4x16xf32>
// OPERANDS-NEXT: %166 = stablehlo.divide %cst_21, %cst_18 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// OPERANDS-NEXT: %167 = stablehlo.broadcast_in_dim %166, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %168 = stablehlo.multiply %167, %165 {scalify.forms = ["2^0 level -4"]} : tensor<4x16xf32>
// OPERANDS-NEXT: %169 = stablehlo.optimization_barrier %168 : tensor<4x16xf32>
// OPERANDS-NEXT: %170 = stablehlo.abs %169 : tensor<4x16xf32>
// OPERANDS-NEXT: %171 = stablehlo.bitcast_convert %170 : (tensor<4x16xf32>) -> tensor<4x16xi32>
// OPERANDS-NEXT: %172 = stablehlo.add %171, %c : tensor<4x16xi32>
// OPERANDS-NEXT: %173 = stablehlo.reduce(%172 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xi32>, tensor<i32>) -> tensor<i32>
// OPERANDS-NEXT: %174 = stablehlo.subtract %173, %c_8 : tensor<i32>
// OPERANDS-NEXT: %175 = stablehlo.bitcast_convert %174 : (tensor<i32>) -> tensor<f32>
// OPERANDS-NEXT: %176 = stablehlo.bitcast_convert %175 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %177 = stablehlo.add %176, %c_7 : tensor<ui32>
// OPERANDS-NEXT: %178 = stablehlo.and %177, %c_6 : tensor<ui32>
// OPERANDS-NEXT: %179 = stablehlo.subtract %178, %c_5 : tensor<ui32>
// OPERANDS-NEXT: %180 = stablehlo.compare LT, %179, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// OPERANDS-NEXT: %181 = stablehlo.bitcast_convert %178 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %182 = stablehlo.select %180, %181, %cst_10 : tensor<i1>, tensor<f32>
// OPERANDS-NEXT: %183 = stablehlo.multiply %182, %cst_10 : tensor<f32>
// OPERANDS-NEXT: %184 = stablehlo.clamp %cst_3, %183, %cst : tensor<f32>
// OPERANDS-NEXT: %185 = stablehlo.bitcast_convert %184 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %186 = stablehlo.subtract %c_2, %185 : tensor<ui32>
// OPERANDS-NEXT: %187 = stablehlo.bitcast_convert %186 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %188 = stablehlo.divide %cst_10, %187 : tensor<f32>
// OPERANDS-NEXT: %189 = stablehlo.optimization_barrier %188 : tensor<f32>
// OPERANDS-NEXT: %190 = stablehlo.divide %cst_11, %189 : tensor<f32>
// OPERANDS-NEXT: %191 = stablehlo.multiply %87, %189 : tensor<f32>
// OPERANDS-NEXT: %192 = stablehlo.clamp %cst_15, %191, %cst_16 : tensor<f32>
// OPERANDS-NEXT: %193 = stablehlo.multiply %20, %189 : tensor<f32>
// OPERANDS-NEXT: %194 = stablehlo.multiply %151, %189 : tensor<f32>
// OPERANDS-NEXT: %195 = stablehlo.broadcast_in_dim %190, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %196 = stablehlo.multiply %169, %195 : tensor<4x16xf32>
// OPERANDS-NEXT: %197 = stablehlo.is_finite %196 : (tensor<4x16xf32>) -> tensor<4x16xi1>
// OPERANDS-NEXT: %198 = stablehlo.clamp %cst_12, %196, %cst_13 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %199 = stablehlo.select %197, %198, %196 : tensor<4x16xi1>, tensor<4x16xf32>
// OPERANDS-NEXT: %200 = stablehlo.convert %199 {scalify.forms = ["s4"]} : (tensor<4x16xf32>) -> tensor<4x16xf16>
// OPERANDS-NEXT: %201 = stablehlo.dot_general %200, %159, contracting_dims = [0] x [0] {scalify.forms = ["s3*s4 level 1"]} : (tensor<4x16xf16>, tensor<4x32xf16>) -> tensor<16x32xf32>
// OPERANDS-NEXT: %202 = stablehlo.transpose %201, dims = [1, 0] {scalify.forms = ["s3*s4 level 1"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// OPERANDS-NEXT: %203 = stablehlo.dot_general %200, %27, contracting_dims = [1] x [1] {scalify.forms = ["s0*s4 level 2"]} : (tensor<4x16xf16>, tensor<32x16xf16>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %204 = stablehlo.multiply %112, %203 {scalify.forms = ["s0*s4 level 2"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %205 = stablehlo.multiply %203, %129 {scalify.forms = ["s0*s4 level 1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %206 = stablehlo.broadcast_in_dim %cst_20, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %207 = stablehlo.multiply %206, %204 {scalify.forms = ["s0*s4 level 1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %208 = stablehlo.multiply %207, %125 {scalify.forms = ["s0*s4 level 1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %209 = stablehlo.multiply %208, %123 {scalify.forms = ["s0*s4 level 1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %210 = stablehlo.add %208, %209 {scalify.forms = ["s0*s4 level 2"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %211 = stablehlo.broadcast_in_dim %cst_22, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %212 = stablehlo.multiply %211, %210 {scalify.forms = ["s0*s4 level 1.67425"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %213 = stablehlo.add %205, %212 {scalify.forms = ["s0*s4 level 1.67425"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %214 = stablehlo.broadcast_in_dim %cst_23, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %215 = stablehlo.multiply %214, %212 {scalify.forms = ["s0*s4 level -2.80885"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %216 = stablehlo.multiply %215, %117 {scalify.forms = ["s0*s4 level -1.22388"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %217 = stablehlo.add %213, %216 {scalify.forms = ["s0*s4 level 1.67425"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %218 = stablehlo.multiply %109, %217 {scalify.forms = ["s0*s4 level 1.67425"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %219 = stablehlo.reduce(%218 init: %cst_28) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s0*s4 level 2.67425"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<32xf32>
// OPERANDS-NEXT: %220 = stablehlo.reshape %219 {scalify.forms = ["s0*s4 level 2.67425"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// OPERANDS-NEXT: %221 = stablehlo.broadcast_in_dim %110, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %222 = stablehlo.multiply %217, %221 {scalify.forms = ["s0*s4 level 1.67425"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %223 = stablehlo.reduce(%220 init: %cst_28) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s0*s4 level 2.67425"]} : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
// OPERANDS-NEXT: %224 = stablehlo.multiply %100, %222 {scalify.forms = ["s0*s1*s2*s4 level 3.67425"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %225 = stablehlo.reduce(%224 init: %cst_28) applies stablehlo.add across dimensions = [1] {scalify.forms = ["s0*s1*s2*s4 level 5.67425"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %226 = stablehlo.reshape %225 {scalify.forms = ["s0*s1*s2*s4 level 5.67425"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %227 = stablehlo.broadcast_in_dim %104, dims = [0, 1] {scalify.forms = ["s1^-1*s2^-1 level -2"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %228 = stablehlo.multiply %222, %227 {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -0.325748"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %229 = stablehlo.multiply %226, %107 {scalify.forms = ["s0*s1^-2*s2^-2*s4 level -1.32575"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %230 = call @_var_0(%101#1, %101#2, %101#3, %229) {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -3.25"]} : (tensor<4x32xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %231 = stablehlo.negate %228 {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -0.325748"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %232 = stablehlo.reduce(%231 init: %cst_28) applies stablehlo.add across dimensions = [1] {scalify.forms = ["s0*s1^-1*s2^-1*s4 level 1.67425"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %233 = stablehlo.reshape %232 {scalify.forms = ["s0*s1^-1*s2^-1*s4 level 1.67425"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %234 = stablehlo.add %230, %228 {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -1.32575"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %235 = stablehlo.broadcast_in_dim %cst_27, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %236 = stablehlo.divide %233, %235 {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -3.32575"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %237 = stablehlo.reduce(%236 init: %cst_28) applies stablehlo.add across dimensions = [1] {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -3.32575"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %238 = stablehlo.broadcast_in_dim %237, dims = [0] {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -3.32575"]} : (tensor<4xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %239 = stablehlo.add %234, %238 {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -1.32575"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %240 = stablehlo.optimization_barrier %239 : tensor<4x32xf32>
// OPERANDS-NEXT: %241 = stablehlo.abs %240 : tensor<4x32xf32>
// OPERANDS-NEXT: %242 = stablehlo.bitcast_convert %241 : (tensor<4x32xf32>) -> tensor<4x32xi32>
// OPERANDS-NEXT: %243 = stablehlo.add %242, %c_0 : tensor<4x32xi32>
// OPERANDS-NEXT: %244 = stablehlo.reduce(%243 init: %c_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x32xi32>, tensor<i32>) -> tensor<i32>
// OPERANDS-NEXT: %245 = stablehlo.subtract %244, %c_8 : tensor<i32>
// OPERANDS-NEXT: %246 = stablehlo.bitcast_convert %245 : (tensor<i32>) -> tensor<f32>
// OPERANDS-NEXT: %247 = stablehlo.bitcast_convert %246 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %248 = stablehlo.add %247, %c_7 : tensor<ui32>
// OPERANDS-NEXT: %249 = stablehlo.and %248, %c_6 : tensor<ui32>
// OPERANDS-NEXT: %250 = stablehlo.subtract %249, %c_5 : tensor<ui32>
// OPERANDS-NEXT: %251 = stablehlo.compare LT, %250, %c_4 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// OPERANDS-NEXT: %252 = stablehlo.bitcast_convert %249 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %253 = stablehlo.select %251, %252, %cst_10 : tensor<i1>, tensor<f32>
// OPERANDS-NEXT: %254 = stablehlo.multiply %253, %192 : tensor<f32>
// OPERANDS-NEXT: %255 = stablehlo.clamp %cst_3, %254, %cst : tensor<f32>
// OPERANDS-NEXT: %256 = stablehlo.bitcast_convert %255 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %257 = stablehlo.subtract %c_2, %256 : tensor<ui32>
// OPERANDS-NEXT: %258 = stablehlo.bitcast_convert %257 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %259 = stablehlo.divide %cst_10, %258 : tensor<f32>
// OPERANDS-NEXT: %260 = stablehlo.optimization_barrier %259 : tensor<f32>
// OPERANDS-NEXT: %261 = stablehlo.divide %189, %260 : tensor<f32>
// OPERANDS-NEXT: %262 = stablehlo.multiply %87, %261 : tensor<f32>
// OPERANDS-NEXT: %263 = stablehlo.clamp %cst_15, %262, %cst_16 : tensor<f32>
// OPERANDS-NEXT: %264 = stablehlo.divide %87, %263 : tensor<f32>
// OPERANDS-NEXT: %265 = stablehlo.multiply %264, %261 : tensor<f32>
// OPERANDS-NEXT: %266 = stablehlo.multiply %76, %260 : tensor<f32>
// OPERANDS-NEXT: %267 = stablehlo.broadcast_in_dim %263, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %268 = stablehlo.multiply %240, %267 : tensor<4x32xf32>
// OPERANDS-NEXT: %269 = stablehlo.broadcast_in_dim %265, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %270 = stablehlo.multiply %268, %269 : tensor<4x32xf32>
// OPERANDS-NEXT: %271 = stablehlo.is_finite %270 : (tensor<4x32xf32>) -> tensor<4x32xi1>
// OPERANDS-NEXT: %272 = stablehlo.clamp %cst_12, %270, %cst_13 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %273 = stablehlo.select %271, %272, %270 : tensor<4x32xi1>, tensor<4x32xf32>
// OPERANDS-NEXT: %274 = stablehlo.convert %273 {scalify.forms = ["s5"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// OPERANDS-NEXT: %275 = stablehlo.dot_general %274, %93, contracting_dims = [0] x [0] {scalify.forms = ["s2*s5 level 1"]} : (tensor<4x32xf16>, tensor<4x32xf16>) -> tensor<32x32xf32>
// OPERANDS-NEXT: %276 = stablehlo.transpose %275, dims = [1, 0] {scalify.forms = ["s2*s5 level 1"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// OPERANDS-NEXT: %277 = stablehlo.broadcast_in_dim %193, dims = [] : (tensor<f32>) -> tensor<32xf32>
// OPERANDS-NEXT: %278 = stablehlo.multiply %223, %277 : tensor<32xf32>
// OPERANDS-NEXT: %279 = stablehlo.broadcast_in_dim %266, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
// OPERANDS-NEXT: %280 = stablehlo.multiply %276, %279 : tensor<32x32xf32>
// OPERANDS-NEXT: %281 = stablehlo.broadcast_in_dim %194, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// OPERANDS-NEXT: %282 = stablehlo.multiply %202, %281 : tensor<32x16xf32>
// OPERANDS-NEXT: return %278, %280, %282 : tensor<32xf32>, tensor<32x32xf32>, tensor<32x16xf32>
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
