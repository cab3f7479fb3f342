// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=%S/Inputs/unit_none.toml},scalify-quantize-matmuls{recipe=%S/Inputs/unit_none.toml},scalify-narrow-state{recipe=%S/Inputs/unit_none.toml},scalify-quantize-constants,scalify-propagate{recipe=%S/Inputs/unit_none.toml annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{recipe=fp8 annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=%S/Inputs/operands.toml},scalify-quantize-matmuls{recipe=%S/Inputs/operands.toml},scalify-narrow-state{recipe=%S/Inputs/operands.toml},scalify-quantize-constants,scalify-propagate{recipe=%S/Inputs/operands.toml annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=OPERANDS

// The gradients of a normalization between two matmuls, with its gain and an activation.
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
// UNIT-NEXT: %57 = stablehlo.dot_general %53, %42, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -2.63976"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// UNIT-NEXT: %58 = stablehlo.transpose %57, dims = [1, 0] {scalify.forms = ["2^0 level -2.63976"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// UNIT-NEXT: %59 = stablehlo.dot_general %56, %1, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-3 level 1.95495"]} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %60 = stablehlo.multiply %24, %59 {scalify.forms = ["2^-3 level 1.97715"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_17 = stablehlo.constant dense<1.250000e-01> : tensor<4x32xf32>
// UNIT-NEXT: %61 = stablehlo.multiply %60, %cst_17 : tensor<4x32xf32>
// UNIT-NEXT: %62 = stablehlo.multiply %59, %41 {scalify.forms = ["2^-3 level 1.12124"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_18 = stablehlo.constant dense<1.250000e-01> : tensor<4x32xf32>
// UNIT-NEXT: %63 = stablehlo.multiply %62, %cst_18 : tensor<4x32xf32>
// UNIT-NEXT: %64 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %65 = stablehlo.multiply %64, %61 {scalify.forms = ["2^0 level -2.02285"]} : tensor<4x32xf32>
// UNIT-NEXT: %66 = stablehlo.multiply %65, %37 {scalify.forms = ["2^0 level -1.85657"]} : tensor<4x32xf32>
// UNIT-NEXT: %67 = stablehlo.multiply %66, %35 {scalify.forms = ["2^0 level -2.83033"]} : tensor<4x32xf32>
// UNIT-NEXT: %68 = stablehlo.add %66, %67 {scalify.forms = ["2^0 level -1.69028"]} : tensor<4x32xf32>
// UNIT-NEXT: %69 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %70 = stablehlo.multiply %69, %68 {scalify.forms = ["2^0 level -2.01603"]} : tensor<4x32xf32>
// UNIT-NEXT: %71 = stablehlo.add %63, %70 {scalify.forms = ["2^0 level -1.44413"]} : tensor<4x32xf32>
// UNIT-NEXT: %72 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %73 = stablehlo.multiply %72, %70 {scalify.forms = ["2^0 level -6.49912"]} : tensor<4x32xf32>
// UNIT-NEXT: %74 = stablehlo.multiply %73, %29 {scalify.forms = ["2^0 level -4.86977"]} : tensor<4x32xf32>
// UNIT-NEXT: %75 = stablehlo.add %71, %74 {scalify.forms = ["2^0 level -1.61162"]} : tensor<4x32xf32>
// UNIT-NEXT: %76 = stablehlo.multiply %21, %75 {scalify.forms = ["2^0 level -1.58942"]} : tensor<4x32xf32>
// UNIT-NEXT: %77 = stablehlo.reduce(%76 init: %cst_13) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level -0.589425"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<32xf32>
// UNIT-NEXT: %78 = stablehlo.reshape %77 {scalify.forms = ["2^0 level -0.589425"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// UNIT-NEXT: %79 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %80 = stablehlo.multiply %75, %79 {scalify.forms = ["2^0 level -1.61162"]} : tensor<4x32xf32>
// UNIT-NEXT: %81 = stablehlo.reduce(%78 init: %cst_13) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level -0.589425"]} : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
// UNIT-NEXT: %82 = stablehlo.multiply %12, %80 {scalify.forms = ["2^0 level 0.910575"]} : tensor<4x32xf32>
// UNIT-NEXT: %83 = stablehlo.reduce(%82 init: %cst_13) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 3.41058"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %84 = stablehlo.reshape %83 {scalify.forms = ["2^0 level 3.41058"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %85 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0 level -2.5"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %86 = stablehlo.multiply %80, %85 {scalify.forms = ["2^0 level -4.11162"]} : tensor<4x32xf32>
// UNIT-NEXT: %87 = stablehlo.multiply %84, %19 {scalify.forms = ["2^0 level -5.08942"]} : tensor<4x1xf32>
// UNIT-NEXT: %88 = call @_var_0(%13#1, %13#2, %13#3, %87) {scalify.forms = ["2^0 level -6.4778"]} : (tensor<4x32xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %89 = stablehlo.negate %86 {scalify.forms = ["2^0 level -4.11162"]} : tensor<4x32xf32>
// UNIT-NEXT: %90 = stablehlo.reduce(%89 init: %cst_13) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -1.61162"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %91 = stablehlo.reshape %90 {scalify.forms = ["2^0 level -1.61162"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %92 = stablehlo.add %88, %86 {scalify.forms = ["2^0 level -4.08498"]} : tensor<4x32xf32>
// UNIT-NEXT: %93 = stablehlo.broadcast_in_dim %cst_12, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %94 = stablehlo.divide %91, %93 {scalify.forms = ["2^0 level -6.61162"]} : tensor<4x1xf32>
// UNIT-NEXT: %95 = stablehlo.reduce(%94 init: %cst_13) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -6.61162"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %96 = stablehlo.broadcast_in_dim %95, dims = [0] {scalify.forms = ["2^0 level -6.61162"]} : (tensor<4xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: %97 = stablehlo.add %92, %96 {scalify.forms = ["2^0 level -4.06358"]} : tensor<4x32xf32>
// UNIT-NEXT: %98 = stablehlo.dot_general %97, %arg3, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -3.06358"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %99 = stablehlo.transpose %98, dims = [1, 0] {scalify.forms = ["2^0 level -3.06358"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: return %81, %99, %58 : tensor<32xf32>, tensor<32x32xf32>, tensor<32x16xf32>
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
// FP8-NEXT: %57 = stablehlo.dot_general %53, %42, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -7"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// FP8-NEXT: %58 = stablehlo.transpose %57, dims = [1, 0] {scalify.forms = ["2^0 level -7"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// FP8-NEXT: %59 = stablehlo.dot_general %56, %1, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-5 level 2"]} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// FP8-NEXT: %60 = stablehlo.multiply %24, %59 {scalify.forms = ["2^-5"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_18 = stablehlo.constant dense<3.125000e-02> : tensor<4x32xf32>
// FP8-NEXT: %61 = stablehlo.multiply %60, %cst_18 : tensor<4x32xf32>
// FP8-NEXT: %62 = stablehlo.multiply %59, %41 {scalify.forms = ["2^-5 level 1"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_19 = stablehlo.constant dense<3.125000e-02> : tensor<4x32xf32>
// FP8-NEXT: %63 = stablehlo.multiply %62, %cst_19 : tensor<4x32xf32>
// FP8-NEXT: %64 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %65 = stablehlo.multiply %64, %61 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// FP8-NEXT: %66 = stablehlo.multiply %65, %37 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// FP8-NEXT: %67 = stablehlo.multiply %66, %35 {scalify.forms = ["2^0 level -8.32575"]} : tensor<4x32xf32>
// FP8-NEXT: %68 = stablehlo.add %66, %67 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// FP8-NEXT: %69 = stablehlo.broadcast_in_dim %cst_8, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %70 = stablehlo.multiply %69, %68 {scalify.forms = ["2^0 level -6.32575"]} : tensor<4x32xf32>
// FP8-NEXT: %71 = stablehlo.add %63, %70 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// FP8-NEXT: %72 = stablehlo.broadcast_in_dim %cst_9, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %73 = stablehlo.multiply %72, %70 {scalify.forms = ["2^0 level -10.8088"]} : tensor<4x32xf32>
// FP8-NEXT: %74 = stablehlo.multiply %73, %29 {scalify.forms = ["2^0 level -13.2239"]} : tensor<4x32xf32>
// FP8-NEXT: %75 = stablehlo.add %71, %74 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// FP8-NEXT: %76 = stablehlo.multiply %21, %75 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// FP8-NEXT: %77 = stablehlo.reduce(%76 init: %cst_14) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level -5"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<32xf32>
// FP8-NEXT: %78 = stablehlo.reshape %77 {scalify.forms = ["2^0 level -5"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// FP8-NEXT: %79 = stablehlo.broadcast_in_dim %22, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %80 = stablehlo.multiply %75, %79 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// FP8-NEXT: %81 = stablehlo.reduce(%78 init: %cst_14) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level -5"]} : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
// FP8-NEXT: %82 = stablehlo.multiply %12, %80 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// FP8-NEXT: %83 = stablehlo.reduce(%82 init: %cst_14) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %84 = stablehlo.reshape %83 {scalify.forms = ["2^0"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %85 = stablehlo.broadcast_in_dim %16, dims = [0, 1] {scalify.forms = ["2^0 level -4"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %86 = stablehlo.multiply %80, %85 {scalify.forms = ["2^0 level -8"]} : tensor<4x32xf32>
// FP8-NEXT: %87 = stablehlo.multiply %84, %19 {scalify.forms = ["2^0 level -14"]} : tensor<4x1xf32>
// FP8-NEXT: %88 = call @_var_0(%13#1, %13#2, %13#3, %87) {scalify.forms = ["2^0 level -11"]} : (tensor<4x32xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %89 = stablehlo.negate %86 {scalify.forms = ["2^0 level -8"]} : tensor<4x32xf32>
// FP8-NEXT: %90 = stablehlo.reduce(%89 init: %cst_14) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -6"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %91 = stablehlo.reshape %90 {scalify.forms = ["2^0 level -6"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %92 = stablehlo.add %88, %86 {scalify.forms = ["2^0 level -8"]} : tensor<4x32xf32>
// FP8-NEXT: %93 = stablehlo.broadcast_in_dim %cst_13, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %94 = stablehlo.divide %91, %93 {scalify.forms = ["2^0 level -11"]} : tensor<4x1xf32>
// FP8-NEXT: %95 = stablehlo.reduce(%94 init: %cst_14) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level -11"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %96 = stablehlo.broadcast_in_dim %95, dims = [0] {scalify.forms = ["2^0 level -11"]} : (tensor<4xf32>) -> tensor<4x32xf32>
// FP8-NEXT: %97 = stablehlo.add %92, %96 {scalify.forms = ["2^0 level -8"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %98 = stablehlo.optimization_barrier %97 : tensor<4x32xf32>
// FP8-NEXT: %99 = stablehlo.multiply %98, %98 : tensor<4x32xf32>
// FP8-NEXT: %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %100 = stablehlo.reduce(%99 init: %cst_21) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %cst_22 = stablehlo.constant dense<7.812500e-03> : tensor<f32>
// FP8-NEXT: %101 = stablehlo.multiply %100, %cst_22 : tensor<f32>
// FP8-NEXT: %102 = stablehlo.sqrt %101 : tensor<f32>
// FP8-NEXT: %103 = stablehlo.bitcast_convert %102 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_23 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %104 = stablehlo.and %103, %c_23 : tensor<ui32>
// FP8-NEXT: %c_24 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %105 = stablehlo.subtract %104, %c_24 : tensor<ui32>
// FP8-NEXT: %c_25 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %106 = stablehlo.compare LT, %105, %c_25 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %107 = stablehlo.bitcast_convert %104 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %108 = stablehlo.select %106, %107, %cst_20 : tensor<i1>, tensor<f32>
// FP8-NEXT: %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %109 = stablehlo.multiply %108, %cst_26 : tensor<f32>
// FP8-NEXT: %cst_27 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// FP8-NEXT: %cst_28 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// FP8-NEXT: %110 = stablehlo.clamp %cst_27, %109, %cst_28 : tensor<f32>
// FP8-NEXT: %111 = stablehlo.bitcast_convert %110 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_29 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %112 = stablehlo.subtract %c_29, %111 : tensor<ui32>
// FP8-NEXT: %113 = stablehlo.bitcast_convert %112 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_30 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %114 = stablehlo.divide %cst_30, %113 : tensor<f32>
// FP8-NEXT: %115 = stablehlo.optimization_barrier %114 : tensor<f32>
// FP8-NEXT: %116 = stablehlo.divide %cst_3, %115 : tensor<f32>
// FP8-NEXT: %117 = stablehlo.broadcast_in_dim %116, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %118 = stablehlo.multiply %98, %117 : tensor<4x32xf32>
// FP8-NEXT: %119 = stablehlo.dot_general %118, %arg3, contracting_dims = [0] x [0] {scalify.forms = ["s0 level 1"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %120 = stablehlo.transpose %119, dims = [1, 0] {scalify.forms = ["s0 level 1"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %121 = stablehlo.broadcast_in_dim %115, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %122 = stablehlo.multiply %120, %121 : tensor<32x32xf32>
// FP8-NEXT: return %81, %122, %58 : tensor<32xf32>, tensor<32x32xf32>, tensor<32x16xf32>
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
// OPERANDS-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %cst_0 = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// OPERANDS-NEXT: %cst_1 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// OPERANDS-NEXT: %cst_2 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
// OPERANDS-NEXT: %cst_3 = stablehlo.constant dense<1.17549435E-38> : tensor<f32>
// OPERANDS-NEXT: %cst_4 = stablehlo.constant dense<8.50705917E+37> : tensor<f32>
// OPERANDS-NEXT: %cst_5 = stablehlo.constant dense<3.40282347E+38> : tensor<f32>
// OPERANDS-NEXT: %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %0 = stablehlo.optimization_barrier %arg2 : tensor<32x16xf32>
// OPERANDS-NEXT: %1 = stablehlo.abs %0 : tensor<32x16xf32>
// OPERANDS-NEXT: %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %2 = stablehlo.reduce(%1 init: %cst_7) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
// OPERANDS-NEXT: %3 = stablehlo.bitcast_convert %2 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %c = stablehlo.constant dense<8388607> : tensor<ui32>
// OPERANDS-NEXT: %4 = stablehlo.add %3, %c : tensor<ui32>
// OPERANDS-NEXT: %c_8 = stablehlo.constant dense<4286578688> : tensor<ui32>
// OPERANDS-NEXT: %5 = stablehlo.and %4, %c_8 : tensor<ui32>
// OPERANDS-NEXT: %c_9 = stablehlo.constant dense<1> : tensor<ui32>
// OPERANDS-NEXT: %6 = stablehlo.subtract %5, %c_9 : tensor<ui32>
// OPERANDS-NEXT: %c_10 = stablehlo.constant dense<2139095039> : tensor<ui32>
// OPERANDS-NEXT: %7 = stablehlo.compare LT, %6, %c_10 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// OPERANDS-NEXT: %8 = stablehlo.bitcast_convert %5 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %9 = stablehlo.select %7, %8, %cst_6 : tensor<i1>, tensor<f32>
// OPERANDS-NEXT: %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %10 = stablehlo.multiply %9, %cst_11 : tensor<f32>
// OPERANDS-NEXT: %cst_12 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// OPERANDS-NEXT: %cst_13 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// OPERANDS-NEXT: %11 = stablehlo.clamp %cst_12, %10, %cst_13 : tensor<f32>
// OPERANDS-NEXT: %12 = stablehlo.bitcast_convert %11 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %c_14 = stablehlo.constant dense<2130706432> : tensor<ui32>
// OPERANDS-NEXT: %13 = stablehlo.subtract %c_14, %12 : tensor<ui32>
// OPERANDS-NEXT: %14 = stablehlo.bitcast_convert %13 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %15 = stablehlo.divide %cst_15, %14 : tensor<f32>
// OPERANDS-NEXT: %16 = stablehlo.optimization_barrier %15 : tensor<f32>
// OPERANDS-NEXT: %17 = stablehlo.divide %cst, %16 : tensor<f32>
// OPERANDS-NEXT: %18 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// OPERANDS-NEXT: %19 = stablehlo.multiply %0, %18 : tensor<32x16xf32>
// OPERANDS-NEXT: %20 = stablehlo.clamp %cst_0, %19, %cst_1 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// OPERANDS-NEXT: %21 = stablehlo.convert %20 {scalify.forms = ["s0"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// OPERANDS-NEXT: %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %22 = stablehlo.optimization_barrier %arg1 : tensor<32x32xf32>
// OPERANDS-NEXT: %23 = stablehlo.abs %22 : tensor<32x32xf32>
// OPERANDS-NEXT: %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %24 = stablehlo.reduce(%23 init: %cst_17) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<f32>
// OPERANDS-NEXT: %25 = stablehlo.bitcast_convert %24 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %c_18 = stablehlo.constant dense<8388607> : tensor<ui32>
// OPERANDS-NEXT: %26 = stablehlo.add %25, %c_18 : tensor<ui32>
// OPERANDS-NEXT: %c_19 = stablehlo.constant dense<4286578688> : tensor<ui32>
// OPERANDS-NEXT: %27 = stablehlo.and %26, %c_19 : tensor<ui32>
// OPERANDS-NEXT: %c_20 = stablehlo.constant dense<1> : tensor<ui32>
// OPERANDS-NEXT: %28 = stablehlo.subtract %27, %c_20 : tensor<ui32>
// OPERANDS-NEXT: %c_21 = stablehlo.constant dense<2139095039> : tensor<ui32>
// OPERANDS-NEXT: %29 = stablehlo.compare LT, %28, %c_21 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// OPERANDS-NEXT: %30 = stablehlo.bitcast_convert %27 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %31 = stablehlo.select %29, %30, %cst_16 : tensor<i1>, tensor<f32>
// OPERANDS-NEXT: %cst_22 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %32 = stablehlo.multiply %31, %cst_22 : tensor<f32>
// OPERANDS-NEXT: %cst_23 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// OPERANDS-NEXT: %cst_24 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// OPERANDS-NEXT: %33 = stablehlo.clamp %cst_23, %32, %cst_24 : tensor<f32>
// OPERANDS-NEXT: %34 = stablehlo.bitcast_convert %33 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %c_25 = stablehlo.constant dense<2130706432> : tensor<ui32>
// OPERANDS-NEXT: %35 = stablehlo.subtract %c_25, %34 : tensor<ui32>
// OPERANDS-NEXT: %36 = stablehlo.bitcast_convert %35 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %37 = stablehlo.divide %cst_26, %36 : tensor<f32>
// OPERANDS-NEXT: %38 = stablehlo.optimization_barrier %37 : tensor<f32>
// OPERANDS-NEXT: %39 = stablehlo.divide %cst, %38 : tensor<f32>
// OPERANDS-NEXT: %40 = stablehlo.broadcast_in_dim %39, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
// OPERANDS-NEXT: %41 = stablehlo.multiply %22, %40 : tensor<32x32xf32>
// OPERANDS-NEXT: %42 = stablehlo.clamp %cst_0, %41, %cst_1 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// OPERANDS-NEXT: %43 = stablehlo.convert %42 {scalify.forms = ["s1"]} : (tensor<32x32xf32>) -> tensor<32x32xf16>
// OPERANDS-NEXT: %cst_27 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %44 = stablehlo.optimization_barrier %arg3 : tensor<4x32xf32>
// OPERANDS-NEXT: %45 = stablehlo.abs %44 : tensor<4x32xf32>
// OPERANDS-NEXT: %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %46 = stablehlo.reduce(%45 init: %cst_28) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
// OPERANDS-NEXT: %47 = stablehlo.bitcast_convert %46 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %c_29 = stablehlo.constant dense<8388607> : tensor<ui32>
// OPERANDS-NEXT: %48 = stablehlo.add %47, %c_29 : tensor<ui32>
// OPERANDS-NEXT: %c_30 = stablehlo.constant dense<4286578688> : tensor<ui32>
// OPERANDS-NEXT: %49 = stablehlo.and %48, %c_30 : tensor<ui32>
// OPERANDS-NEXT: %c_31 = stablehlo.constant dense<1> : tensor<ui32>
// OPERANDS-NEXT: %50 = stablehlo.subtract %49, %c_31 : tensor<ui32>
// OPERANDS-NEXT: %c_32 = stablehlo.constant dense<2139095039> : tensor<ui32>
// OPERANDS-NEXT: %51 = stablehlo.compare LT, %50, %c_32 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// OPERANDS-NEXT: %52 = stablehlo.bitcast_convert %49 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %53 = stablehlo.select %51, %52, %cst_27 : tensor<i1>, tensor<f32>
// OPERANDS-NEXT: %cst_33 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %54 = stablehlo.multiply %53, %cst_33 : tensor<f32>
// OPERANDS-NEXT: %cst_34 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// OPERANDS-NEXT: %cst_35 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// OPERANDS-NEXT: %55 = stablehlo.clamp %cst_34, %54, %cst_35 : tensor<f32>
// OPERANDS-NEXT: %56 = stablehlo.bitcast_convert %55 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %c_36 = stablehlo.constant dense<2130706432> : tensor<ui32>
// OPERANDS-NEXT: %57 = stablehlo.subtract %c_36, %56 : tensor<ui32>
// OPERANDS-NEXT: %58 = stablehlo.bitcast_convert %57 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %cst_37 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %59 = stablehlo.divide %cst_37, %58 : tensor<f32>
// OPERANDS-NEXT: %60 = stablehlo.optimization_barrier %59 : tensor<f32>
// OPERANDS-NEXT: %61 = stablehlo.divide %cst, %60 : tensor<f32>
// OPERANDS-NEXT: %62 = stablehlo.multiply %38, %60 : tensor<f32>
// OPERANDS-NEXT: %63 = stablehlo.divide %cst, %62 : tensor<f32>
// OPERANDS-NEXT: %64 = stablehlo.multiply %63, %63 : tensor<f32>
// OPERANDS-NEXT: %65 = stablehlo.clamp %cst_3, %64, %cst_4 : tensor<f32>
// OPERANDS-NEXT: %66 = stablehlo.divide %63, %65 : tensor<f32>
// OPERANDS-NEXT: %67 = stablehlo.multiply %66, %63 : tensor<f32>
// OPERANDS-NEXT: %68 = stablehlo.multiply %cst_2, %65 : tensor<f32>
// OPERANDS-NEXT: %69 = stablehlo.multiply %68, %67 : tensor<f32>
// OPERANDS-NEXT: %70 = stablehlo.clamp %cst_3, %69, %cst_5 : tensor<f32>
// OPERANDS-NEXT: %71 = stablehlo.divide %16, %62 : tensor<f32>
// OPERANDS-NEXT: %72 = stablehlo.broadcast_in_dim %61, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %73 = stablehlo.multiply %44, %72 : tensor<4x32xf32>
// OPERANDS-NEXT: %74 = stablehlo.clamp %cst_0, %73, %cst_1 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %75 = stablehlo.convert %74 {scalify.forms = ["s2"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// OPERANDS-NEXT: %cst_38 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.400000e+01> : tensor<f32>
// OPERANDS-NEXT: %cst_39 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %cst_40 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// OPERANDS-NEXT: %cst_41 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %cst_42 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.797884583> : tensor<f32>
// OPERANDS-NEXT: %cst_43 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.471500e-02> : tensor<f32>
// OPERANDS-NEXT: %cst_44 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %cst_45 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<-5.000000e-01> : tensor<f32>
// OPERANDS-NEXT: %c_46 = stablehlo.constant dense<0> : tensor<i32>
// OPERANDS-NEXT: %cst_47 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.200000e+01> : tensor<f32>
// OPERANDS-NEXT: %cst_48 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %76 = stablehlo.dot_general %75, %43, contracting_dims = [1] x [0] {scalify.forms = ["s1*s2 level 2"]} : (tensor<4x32xf16>, tensor<32x32xf16>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %77 = stablehlo.reduce(%76 init: %cst_48) applies stablehlo.add across dimensions = [1] {scalify.forms = ["s1*s2 level 4"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %78 = stablehlo.broadcast_in_dim %77, dims = [0] {scalify.forms = ["s1*s2 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %79 = stablehlo.broadcast_in_dim %cst_47, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %80 = stablehlo.divide %78, %79 {scalify.forms = ["s1*s2 level -1"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %81 = stablehlo.broadcast_in_dim %80, dims = [0, 1] {scalify.forms = ["s1*s2 level -1"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %82 = stablehlo.subtract %76, %81 {scalify.forms = ["s1*s2 level 2"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %83:4 = call @_var(%76, %c_46) {scalify.forms = ["s1^2*s2^2 level 9", "s1*s2 level 3", "unscaled", "unscaled"]} : (tensor<4x32xf32>, tensor<i32>) -> (tensor<4x1xf32>, tensor<4x32xf32>, tensor<f32>, tensor<i1>)
// OPERANDS-NEXT: %84 = stablehlo.broadcast_in_dim %70, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %85 = stablehlo.add %83#0, %84 {scalify.forms = ["s1^2*s2^2 level 9"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %86 = stablehlo.rsqrt %85 {scalify.forms = ["s1^-1*s2^-1 level -4"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %87 = stablehlo.divide %86, %85 {scalify.forms = ["s1^-3*s2^-3 level -13"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %88 = stablehlo.broadcast_in_dim %cst_45, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %89 = stablehlo.multiply %88, %87 {scalify.forms = ["s1^-3*s2^-3 level -14"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %90 = stablehlo.broadcast_in_dim %86, dims = [0, 1] {scalify.forms = ["s1^-1*s2^-1 level -4"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %91 = stablehlo.multiply %82, %90 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %92 = stablehlo.broadcast_in_dim %arg0, dims = [1] {scalify.forms = ["2^0"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// OPERANDS-NEXT: %93 = stablehlo.broadcast_in_dim %92, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %94 = stablehlo.multiply %91, %93 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %95 = stablehlo.multiply %94, %94 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %96 = stablehlo.multiply %95, %94 {scalify.forms = ["2^0 level -6"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %97 = stablehlo.multiply %94, %94 {scalify.forms = ["2^0 level -4"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %98 = stablehlo.broadcast_in_dim %cst_44, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %99 = stablehlo.multiply %98, %97 {scalify.forms = ["2^0 level -2.41504"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %100 = stablehlo.broadcast_in_dim %cst_43, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %101 = stablehlo.multiply %100, %96 {scalify.forms = ["2^0 level -10.4831"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %102 = stablehlo.add %94, %101 {scalify.forms = ["2^0 level -2"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %103 = stablehlo.broadcast_in_dim %cst_42, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %104 = stablehlo.multiply %103, %102 {scalify.forms = ["2^0 level -2.32575"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %105 = stablehlo.tanh %104 {scalify.forms = ["2^0 level -2.32575"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %106 = stablehlo.broadcast_in_dim %cst_41, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %107 = stablehlo.subtract %106, %105 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %108 = stablehlo.broadcast_in_dim %cst_41, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %109 = stablehlo.add %108, %105 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %110 = stablehlo.broadcast_in_dim %cst_40, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %111 = stablehlo.multiply %110, %109 {scalify.forms = ["2^0 level -1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %112 = stablehlo.multiply %94, %111 {scalify.forms = ["2^0 level -3"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %cst_49 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %113 = stablehlo.optimization_barrier %112 : tensor<4x32xf32>
// OPERANDS-NEXT: %114 = stablehlo.abs %113 : tensor<4x32xf32>
// OPERANDS-NEXT: %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %115 = stablehlo.reduce(%114 init: %cst_50) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
// OPERANDS-NEXT: %116 = stablehlo.bitcast_convert %115 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %c_51 = stablehlo.constant dense<8388607> : tensor<ui32>
// OPERANDS-NEXT: %117 = stablehlo.add %116, %c_51 : tensor<ui32>
// OPERANDS-NEXT: %c_52 = stablehlo.constant dense<4286578688> : tensor<ui32>
// OPERANDS-NEXT: %118 = stablehlo.and %117, %c_52 : tensor<ui32>
// OPERANDS-NEXT: %c_53 = stablehlo.constant dense<1> : tensor<ui32>
// OPERANDS-NEXT: %119 = stablehlo.subtract %118, %c_53 : tensor<ui32>
// OPERANDS-NEXT: %c_54 = stablehlo.constant dense<2139095039> : tensor<ui32>
// OPERANDS-NEXT: %120 = stablehlo.compare LT, %119, %c_54 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// OPERANDS-NEXT: %121 = stablehlo.bitcast_convert %118 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %122 = stablehlo.select %120, %121, %cst_49 : tensor<i1>, tensor<f32>
// OPERANDS-NEXT: %cst_55 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %123 = stablehlo.multiply %122, %cst_55 : tensor<f32>
// OPERANDS-NEXT: %cst_56 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// OPERANDS-NEXT: %cst_57 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// OPERANDS-NEXT: %124 = stablehlo.clamp %cst_56, %123, %cst_57 : tensor<f32>
// OPERANDS-NEXT: %125 = stablehlo.bitcast_convert %124 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %c_58 = stablehlo.constant dense<2130706432> : tensor<ui32>
// OPERANDS-NEXT: %126 = stablehlo.subtract %c_58, %125 : tensor<ui32>
// OPERANDS-NEXT: %127 = stablehlo.bitcast_convert %126 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %cst_59 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %128 = stablehlo.divide %cst_59, %127 : tensor<f32>
// OPERANDS-NEXT: %129 = stablehlo.optimization_barrier %128 : tensor<f32>
// OPERANDS-NEXT: %130 = stablehlo.divide %cst, %129 : tensor<f32>
// OPERANDS-NEXT: %131 = stablehlo.multiply %16, %129 : tensor<f32>
// OPERANDS-NEXT: %132 = stablehlo.broadcast_in_dim %130, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %133 = stablehlo.multiply %113, %132 : tensor<4x32xf32>
// OPERANDS-NEXT: %134 = stablehlo.clamp %cst_0, %133, %cst_1 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %135 = stablehlo.convert %134 {scalify.forms = ["s3"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// OPERANDS-NEXT: %136 = stablehlo.dot_general %135, %21, contracting_dims = [1] x [0] {scalify.forms = ["s0*s3 level 2"]} : (tensor<4x32xf16>, tensor<32x16xf16>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %137 = stablehlo.broadcast_in_dim %131, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %138 = stablehlo.multiply %136, %137 : tensor<4x16xf32>
// OPERANDS-NEXT: %139 = stablehlo.subtract %138, %arg4 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// OPERANDS-NEXT: %140 = stablehlo.broadcast_in_dim %cst_39, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %141 = stablehlo.multiply %140, %139 {scalify.forms = ["2^0 level 1"]} : tensor<4x16xf32>
// OPERANDS-NEXT: %142 = stablehlo.divide %cst_41, %cst_38 {scalify.forms = ["2^0 level -6"]} : tensor<f32>
// OPERANDS-NEXT: %143 = stablehlo.broadcast_in_dim %142, dims = [] {scalify.forms = ["2^0 level -6"]} : (tensor<f32>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %144 = stablehlo.multiply %143, %141 {scalify.forms = ["2^0 level -5"]} : tensor<4x16xf32>
// OPERANDS-NEXT: %cst_60 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %145 = stablehlo.optimization_barrier %144 : tensor<4x16xf32>
// OPERANDS-NEXT: %146 = stablehlo.abs %145 : tensor<4x16xf32>
// OPERANDS-NEXT: %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %147 = stablehlo.reduce(%146 init: %cst_61) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<f32>
// OPERANDS-NEXT: %148 = stablehlo.bitcast_convert %147 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %c_62 = stablehlo.constant dense<8388607> : tensor<ui32>
// OPERANDS-NEXT: %149 = stablehlo.add %148, %c_62 : tensor<ui32>
// OPERANDS-NEXT: %c_63 = stablehlo.constant dense<4286578688> : tensor<ui32>
// OPERANDS-NEXT: %150 = stablehlo.and %149, %c_63 : tensor<ui32>
// OPERANDS-NEXT: %c_64 = stablehlo.constant dense<1> : tensor<ui32>
// OPERANDS-NEXT: %151 = stablehlo.subtract %150, %c_64 : tensor<ui32>
// OPERANDS-NEXT: %c_65 = stablehlo.constant dense<2139095039> : tensor<ui32>
// OPERANDS-NEXT: %152 = stablehlo.compare LT, %151, %c_65 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// OPERANDS-NEXT: %153 = stablehlo.bitcast_convert %150 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %154 = stablehlo.select %152, %153, %cst_60 : tensor<i1>, tensor<f32>
// OPERANDS-NEXT: %cst_66 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %155 = stablehlo.multiply %154, %cst_66 : tensor<f32>
// OPERANDS-NEXT: %cst_67 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// OPERANDS-NEXT: %cst_68 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// OPERANDS-NEXT: %156 = stablehlo.clamp %cst_67, %155, %cst_68 : tensor<f32>
// OPERANDS-NEXT: %157 = stablehlo.bitcast_convert %156 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %c_69 = stablehlo.constant dense<2130706432> : tensor<ui32>
// OPERANDS-NEXT: %158 = stablehlo.subtract %c_69, %157 : tensor<ui32>
// OPERANDS-NEXT: %159 = stablehlo.bitcast_convert %158 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %cst_70 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %160 = stablehlo.divide %cst_70, %159 : tensor<f32>
// OPERANDS-NEXT: %161 = stablehlo.optimization_barrier %160 : tensor<f32>
// OPERANDS-NEXT: %162 = stablehlo.divide %cst, %161 : tensor<f32>
// OPERANDS-NEXT: %163 = stablehlo.multiply %71, %161 : tensor<f32>
// OPERANDS-NEXT: %164 = stablehlo.clamp %cst_3, %163, %cst_4 : tensor<f32>
// OPERANDS-NEXT: %165 = stablehlo.multiply %16, %161 : tensor<f32>
// OPERANDS-NEXT: %166 = stablehlo.multiply %129, %161 : tensor<f32>
// OPERANDS-NEXT: %167 = stablehlo.broadcast_in_dim %162, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %168 = stablehlo.multiply %145, %167 : tensor<4x16xf32>
// OPERANDS-NEXT: %169 = stablehlo.clamp %cst_0, %168, %cst_1 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// OPERANDS-NEXT: %170 = stablehlo.convert %169 {scalify.forms = ["s4"]} : (tensor<4x16xf32>) -> tensor<4x16xf16>
// OPERANDS-NEXT: %171 = stablehlo.dot_general %170, %135, contracting_dims = [0] x [0] {scalify.forms = ["s3*s4 level 1"]} : (tensor<4x16xf16>, tensor<4x32xf16>) -> tensor<16x32xf32>
// OPERANDS-NEXT: %172 = stablehlo.transpose %171, dims = [1, 0] {scalify.forms = ["s3*s4 level 1"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// OPERANDS-NEXT: %173 = stablehlo.dot_general %170, %21, contracting_dims = [1] x [1] {scalify.forms = ["s0*s4 level 2"]} : (tensor<4x16xf16>, tensor<32x16xf16>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %174 = stablehlo.multiply %94, %173 {scalify.forms = ["s0*s4"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %175 = stablehlo.multiply %173, %111 {scalify.forms = ["s0*s4 level 1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %176 = stablehlo.broadcast_in_dim %cst_40, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %177 = stablehlo.multiply %176, %174 {scalify.forms = ["s0*s4 level -1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %178 = stablehlo.multiply %177, %107 {scalify.forms = ["s0*s4 level -1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %179 = stablehlo.multiply %178, %105 {scalify.forms = ["s0*s4 level -3.32575"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %180 = stablehlo.add %178, %179 {scalify.forms = ["s0*s4 level -1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %181 = stablehlo.broadcast_in_dim %cst_42, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %182 = stablehlo.multiply %181, %180 {scalify.forms = ["s0*s4 level -1.32575"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %183 = stablehlo.add %175, %182 {scalify.forms = ["s0*s4 level 1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %184 = stablehlo.broadcast_in_dim %cst_43, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %185 = stablehlo.multiply %184, %182 {scalify.forms = ["s0*s4 level -5.80885"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %186 = stablehlo.multiply %185, %99 {scalify.forms = ["s0*s4 level -8.22388"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %187 = stablehlo.add %183, %186 {scalify.forms = ["s0*s4 level 1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %188 = stablehlo.multiply %91, %187 {scalify.forms = ["s0*s4 level -1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %189 = stablehlo.reduce(%188 init: %cst_48) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s0*s4"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<32xf32>
// OPERANDS-NEXT: %190 = stablehlo.reshape %189 {scalify.forms = ["s0*s4"]} : (tensor<32xf32>) -> tensor<1x32xf32>
// OPERANDS-NEXT: %191 = stablehlo.broadcast_in_dim %92, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<1x32xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %192 = stablehlo.multiply %187, %191 {scalify.forms = ["s0*s4 level 1"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %193 = stablehlo.reduce(%190 init: %cst_48) applies stablehlo.add across dimensions = [0] {scalify.forms = ["s0*s4"]} : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
// OPERANDS-NEXT: %194 = stablehlo.multiply %82, %192 {scalify.forms = ["s0*s1*s2*s4 level 3"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %195 = stablehlo.reduce(%194 init: %cst_48) applies stablehlo.add across dimensions = [1] {scalify.forms = ["s0*s1*s2*s4 level 5"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %196 = stablehlo.reshape %195 {scalify.forms = ["s0*s1*s2*s4 level 5"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %197 = stablehlo.broadcast_in_dim %86, dims = [0, 1] {scalify.forms = ["s1^-1*s2^-1 level -4"]} : (tensor<4x1xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %198 = stablehlo.multiply %192, %197 {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -3"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %199 = stablehlo.multiply %196, %89 {scalify.forms = ["s0*s1^-2*s2^-2*s4 level -9"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %200 = call @_var_0(%83#1, %83#2, %83#3, %199) {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -6"]} : (tensor<4x32xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %201 = stablehlo.negate %198 {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -3"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %202 = stablehlo.reduce(%201 init: %cst_48) applies stablehlo.add across dimensions = [1] {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -1"]} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %203 = stablehlo.reshape %202 {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -1"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %204 = stablehlo.add %200, %198 {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -3"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %205 = stablehlo.broadcast_in_dim %cst_47, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// OPERANDS-NEXT: %206 = stablehlo.divide %203, %205 {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -6"]} : tensor<4x1xf32>
// OPERANDS-NEXT: %207 = stablehlo.reduce(%206 init: %cst_48) applies stablehlo.add across dimensions = [1] {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -6"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// OPERANDS-NEXT: %208 = stablehlo.broadcast_in_dim %207, dims = [0] {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -6"]} : (tensor<4xf32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %209 = stablehlo.add %204, %208 {scalify.forms = ["s0*s1^-1*s2^-1*s4 level -3"]} : tensor<4x32xf32>
// OPERANDS-NEXT: %cst_71 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %210 = stablehlo.optimization_barrier %209 : tensor<4x32xf32>
// OPERANDS-NEXT: %211 = stablehlo.abs %210 : tensor<4x32xf32>
// OPERANDS-NEXT: %cst_72 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %212 = stablehlo.reduce(%211 init: %cst_72) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
// OPERANDS-NEXT: %213 = stablehlo.bitcast_convert %212 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %c_73 = stablehlo.constant dense<8388607> : tensor<ui32>
// OPERANDS-NEXT: %214 = stablehlo.add %213, %c_73 : tensor<ui32>
// OPERANDS-NEXT: %c_74 = stablehlo.constant dense<4286578688> : tensor<ui32>
// OPERANDS-NEXT: %215 = stablehlo.and %214, %c_74 : tensor<ui32>
// OPERANDS-NEXT: %c_75 = stablehlo.constant dense<1> : tensor<ui32>
// OPERANDS-NEXT: %216 = stablehlo.subtract %215, %c_75 : tensor<ui32>
// OPERANDS-NEXT: %c_76 = stablehlo.constant dense<2139095039> : tensor<ui32>
// OPERANDS-NEXT: %217 = stablehlo.compare LT, %216, %c_76 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// OPERANDS-NEXT: %218 = stablehlo.bitcast_convert %215 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %219 = stablehlo.select %217, %218, %cst_71 : tensor<i1>, tensor<f32>
// OPERANDS-NEXT: %220 = stablehlo.multiply %219, %164 : tensor<f32>
// OPERANDS-NEXT: %cst_77 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// OPERANDS-NEXT: %cst_78 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// OPERANDS-NEXT: %221 = stablehlo.clamp %cst_77, %220, %cst_78 : tensor<f32>
// OPERANDS-NEXT: %222 = stablehlo.bitcast_convert %221 : (tensor<f32>) -> tensor<ui32>
// OPERANDS-NEXT: %c_79 = stablehlo.constant dense<2130706432> : tensor<ui32>
// OPERANDS-NEXT: %223 = stablehlo.subtract %c_79, %222 : tensor<ui32>
// OPERANDS-NEXT: %224 = stablehlo.bitcast_convert %223 : (tensor<ui32>) -> tensor<f32>
// OPERANDS-NEXT: %cst_80 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// OPERANDS-NEXT: %225 = stablehlo.divide %cst_80, %224 : tensor<f32>
// OPERANDS-NEXT: %226 = stablehlo.optimization_barrier %225 : tensor<f32>
// OPERANDS-NEXT: %227 = stablehlo.divide %161, %226 : tensor<f32>
// OPERANDS-NEXT: %228 = stablehlo.multiply %71, %227 : tensor<f32>
// OPERANDS-NEXT: %229 = stablehlo.clamp %cst_3, %228, %cst_4 : tensor<f32>
// OPERANDS-NEXT: %230 = stablehlo.divide %71, %229 : tensor<f32>
// OPERANDS-NEXT: %231 = stablehlo.multiply %230, %227 : tensor<f32>
// OPERANDS-NEXT: %232 = stablehlo.multiply %60, %226 : tensor<f32>
// OPERANDS-NEXT: %233 = stablehlo.broadcast_in_dim %229, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %234 = stablehlo.multiply %210, %233 : tensor<4x32xf32>
// OPERANDS-NEXT: %235 = stablehlo.broadcast_in_dim %231, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %236 = stablehlo.multiply %234, %235 : tensor<4x32xf32>
// OPERANDS-NEXT: %237 = stablehlo.clamp %cst_0, %236, %cst_1 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// OPERANDS-NEXT: %238 = stablehlo.convert %237 {scalify.forms = ["s5"]} : (tensor<4x32xf32>) -> tensor<4x32xf16>
// OPERANDS-NEXT: %239 = stablehlo.dot_general %238, %75, contracting_dims = [0] x [0] {scalify.forms = ["s2*s5 level 1"]} : (tensor<4x32xf16>, tensor<4x32xf16>) -> tensor<32x32xf32>
// OPERANDS-NEXT: %240 = stablehlo.transpose %239, dims = [1, 0] {scalify.forms = ["s2*s5 level 1"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// OPERANDS-NEXT: %241 = stablehlo.broadcast_in_dim %165, dims = [] : (tensor<f32>) -> tensor<32xf32>
// OPERANDS-NEXT: %242 = stablehlo.multiply %193, %241 : tensor<32xf32>
// OPERANDS-NEXT: %243 = stablehlo.broadcast_in_dim %232, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
// OPERANDS-NEXT: %244 = stablehlo.multiply %240, %243 : tensor<32x32xf32>
// OPERANDS-NEXT: %245 = stablehlo.broadcast_in_dim %166, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
// OPERANDS-NEXT: %246 = stablehlo.multiply %172, %245 : tensor<32x16xf32>
// OPERANDS-NEXT: return %242, %244, %246 : tensor<32xf32>, tensor<32x32xf32>, tensor<32x16xf32>
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
