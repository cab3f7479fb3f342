// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{signature=scaled},scalify-recognize{scales=true},scalify-propagate{recipe=%S/Inputs/epsilon_data.toml annotate=true})' \
// RUN:   | %filecheck %s

// A normalization whose epsilon is added to the data, at whatever scale these are.
// CHECK:      module @_f attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// CHECK-NEXT: func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<8xf32>, %arg3: tensor<f32> {scalify.is_scale}) -> (tensor<4x8xf32> {jax.result_info = "result"}, tensor<f32> {jax.result_info = "result.scale", scalify.is_scale}) {
// CHECK-NEXT: %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.multiply %arg3, %cst : tensor<f32>
// CHECK-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<9.99999974E-6> : tensor<f32>
// CHECK-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %1 = stablehlo.multiply %arg0, %arg0 {scalify.forms = ["s0^2"]} : tensor<4x8xf32>
// CHECK-NEXT: %2 = stablehlo.reduce(%1 init: %cst_1) applies stablehlo.add across dimensions = [1] {scalify.forms = ["s0^2 level 1"]} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %3 = stablehlo.broadcast_in_dim %2, dims = [0] {scalify.forms = ["s0^2 level 1"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x1xf32>
// CHECK-NEXT: %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<4x1xf32>
// CHECK-NEXT: %5 = stablehlo.divide %3, %cst_2 : tensor<4x1xf32>
// CHECK-NEXT: %6 = stablehlo.add %5, %4 : tensor<4x1xf32>
// CHECK-NEXT: %7 = stablehlo.rsqrt %6 {scalify.forms = ["2^1*s0^-1"]} : tensor<4x1xf32>
// CHECK-NEXT: %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] {scalify.forms = ["2^1*s0^-1"]} : (tensor<4x1xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %9 = stablehlo.multiply %arg0, %8 {scalify.forms = ["2^1"]} : tensor<4x8xf32>
// CHECK-NEXT: %10 = stablehlo.broadcast_in_dim %arg2, dims = [1] {scalify.forms = ["s1"]} : (tensor<8xf32>) -> tensor<1x8xf32>
// CHECK-NEXT: %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] {scalify.forms = ["s1"]} : (tensor<1x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %12 = stablehlo.multiply %9, %11 {scalify.forms = ["2^1*s1"]} : tensor<4x8xf32>
// CHECK-NEXT: return %12, %0 : tensor<4x8xf32>, tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: }

module @_f attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8xf32>) -> (tensor<4x8xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<4x8xf32>
    %1 = stablehlo.reduce(%0 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<4x1xf32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %6 = stablehlo.add %4, %5 : tensor<4x1xf32>
    %7 = stablehlo.rsqrt %6 : tensor<4x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
    %9 = stablehlo.multiply %arg0, %8 : tensor<4x8xf32>
    %10 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>
    %12 = stablehlo.multiply %9, %11 : tensor<4x8xf32>
    return %12 : tensor<4x8xf32>
  }
}
