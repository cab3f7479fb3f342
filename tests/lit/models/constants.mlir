// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{signature=scaled every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=fp16},scalify-narrow-state{recipe=fp16},scalify-quantize-constants,scalify-propagate{annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=FP16

// A network whose weights are constants.
// FP8:      module @_infer attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<4x8xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
// FP8-NEXT: %cst = stablehlo.constant {scalify.forms = ["2^0 level -1.18532"]} dense<{{\[\[}}1.250000e-01, 6.250000e-01, -1.125000e+00, 2.500000e-01, 5.000000e-01, -5.000000e-01, -3.750000e-01, 6.250000e-01], [-1.250000e-01, 5.000000e-01, -1.250000e-01, 5.000000e-01, 0.000000e+00, -1.250000e-01, -1.250000e-01, 3.750000e-01], [3.750000e-01, -3.750000e-01, -6.250000e-01, -1.250000e-01, -3.750000e-01, -1.250000e-01, 3.750000e-01, 1.250000e-01], [0.000000e+00, -6.250000e-01, -3.750000e-01, 6.250000e-01, -5.000000e-01, 2.500000e-01, 7.500000e-01, -1.250000e-01], [-2.500000e-01, -2.500000e-01, -2.500000e-01, -3.750000e-01, -2.500000e-01, 1.250000e-01, -6.250000e-01, 7.500000e-01], [1.250000e-01, 0.000000e+00, -1.250000e-01, 1.250000e-01, 1.250000e-01, 1.250000e-01, 7.500000e-01, 1.000000e+00]]> : tensor<6x8xf32>
// FP8-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["2^0 level -4.04923"]} dense<{{\[\[}}1.093750e-01, 7.812500e-02, 1.562500e-02], [-7.812500e-02, -0.000000e+00, 4.687500e-02], [-7.812500e-02, 3.125000e-02, 3.125000e-02], [4.687500e-02, -7.812500e-02, -4.687500e-02], [-3.125000e-02, -7.812500e-02, 1.093750e-01], [-3.125000e-02, 1.562500e-02, -1.562500e-02]]> : tensor<6x3xf32>
// FP8-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.500000e-01> : tensor<3xf32>
// FP8-NEXT: %0 = call @layer(%arg0, %cst) {scalify.forms = ["2^0 level -0.25"]} : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %1 = stablehlo.dot_general %0, %cst_0, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level -3.29923"]} : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
// FP8-NEXT: %2 = stablehlo.reshape %cst_1 {scalify.forms = ["unscaled"]} : (tensor<3xf32>) -> tensor<1x3xf32>
// FP8-NEXT: %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] {scalify.forms = ["unscaled"]} : (tensor<1x3xf32>) -> tensor<4x3xf32>
// FP8-NEXT: %4 = stablehlo.add %1, %3 {scalify.forms = ["2^0 level -2"]} : tensor<4x3xf32>
// FP8-NEXT: return %4 : tensor<4x3xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @layer(%arg0: tensor<4x8xf32>, %arg1: tensor<6x8xf32>) -> tensor<4x6xf32> {
// FP8-NEXT: %0 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
// FP8-NEXT: %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
// FP8-NEXT: %2 = call @relu(%1) : (tensor<4x6xf32>) -> tensor<4x6xf32>
// FP8-NEXT: return %2 : tensor<4x6xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @relu(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
// FP8-NEXT: %1 = stablehlo.maximum %arg0, %0 : tensor<4x6xf32>
// FP8-NEXT: return %1 : tensor<4x6xf32>
// FP8-NEXT: }
// FP8-NEXT: }
// FP16:      module @_infer attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP16-NEXT: func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) -> (tensor<4x3xf32> {jax.result_info = "result"}, tensor<f32> {jax.result_info = "result.scale"}) {
// FP16-NEXT: %cst = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// FP16-NEXT: %cst_0 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// FP16-NEXT: %cst_1 = stablehlo.constant dense<1.562500e-02> : tensor<f32>
// FP16-NEXT: %0 = stablehlo.multiply %arg1, %cst_1 : tensor<f32>
// FP16-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["2^-2"]} dense<{{\[\[}}5.000000e-01, 2.500000e+00, -4.500000e+00, 1.000000e+00, 2.000000e+00, -2.000000e+00, -1.500000e+00, 2.500000e+00], [-5.000000e-01, 2.000000e+00, -5.000000e-01, 2.000000e+00, 0.000000e+00, -5.000000e-01, -5.000000e-01, 1.500000e+00], [1.500000e+00, -1.500000e+00, -2.500000e+00, -5.000000e-01, -1.500000e+00, -5.000000e-01, 1.500000e+00, 5.000000e-01], [0.000000e+00, -2.500000e+00, -1.500000e+00, 2.500000e+00, -2.000000e+00, 1.000000e+00, 3.000000e+00, -5.000000e-01], [-1.000000e+00, -1.000000e+00, -1.000000e+00, -1.500000e+00, -1.000000e+00, 5.000000e-01, -2.500000e+00, 3.000000e+00], [5.000000e-01, 0.000000e+00, -5.000000e-01, 5.000000e-01, 5.000000e-01, 5.000000e-01, 3.000000e+00, 4.000000e+00]]> : tensor<6x8xf16>
// FP16-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["2^-5"]} dense<{{\[\[}}3.500000e+00, 2.500000e+00, 5.000000e-01], [-2.500000e+00, -0.000000e+00, 1.500000e+00], [-2.500000e+00, 1.000000e+00, 1.000000e+00], [1.500000e+00, -2.500000e+00, -1.500000e+00], [-1.000000e+00, -2.500000e+00, 3.500000e+00], [-1.000000e+00, 5.000000e-01, -5.000000e-01]]> : tensor<6x3xf16>
// FP16-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.500000e-01> : tensor<3xf32>
// FP16-NEXT: %1 = call @layer_scaled_0(%arg0, %cst_2) {scalify.forms = ["2^-2*s0 level 1"]} : (tensor<4x8xf32>, tensor<6x8xf16>) -> tensor<4x6xf32>
// FP16-NEXT: %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<4x6xf32>
// FP16-NEXT: %2 = stablehlo.multiply %1, %cst_5 : tensor<4x6xf32>
// FP16-NEXT: %3 = stablehlo.clamp %cst, %2, %cst_0 : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
// FP16-NEXT: %4 = stablehlo.convert %3 {scalify.forms = ["2^-1*s0"]} : (tensor<4x6xf32>) -> tensor<4x6xf16>
// FP16-NEXT: %5 = stablehlo.dot_general %4, %cst_3, contracting_dims = [1] x [0] {scalify.forms = ["2^-6*s0 level 1"]} : (tensor<4x6xf16>, tensor<6x3xf16>) -> tensor<4x3xf32>
// FP16-NEXT: %6 = stablehlo.reshape %cst_4 {scalify.forms = ["unscaled"]} : (tensor<3xf32>) -> tensor<1x3xf32>
// FP16-NEXT: %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] {scalify.forms = ["unscaled"]} : (tensor<1x3xf32>) -> tensor<4x3xf32>
// FP16-NEXT: %8 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
// FP16-NEXT: %9 = stablehlo.multiply %5, %8 : tensor<4x3xf32>
// FP16-NEXT: %10 = stablehlo.add %9, %7 {scalify.forms = ["2^0"]} : tensor<4x3xf32>
// FP16-NEXT: %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP16-NEXT: return %10, %cst_6 : tensor<4x3xf32>, tensor<f32>
// FP16-NEXT: }
// FP16-NEXT: func.func private @layer_scaled_0(%arg0: tensor<4x8xf32>, %arg1: tensor<6x8xf16>) -> tensor<4x6xf32> {
// FP16-NEXT: %cst = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// FP16-NEXT: %cst_0 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// FP16-NEXT: %0 = stablehlo.clamp %cst, %arg0, %cst_0 : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
// FP16-NEXT: %1 = stablehlo.convert %0 {scalify.forms = ["s0"]} : (tensor<4x8xf32>) -> tensor<4x8xf16>
// FP16-NEXT: %2 = stablehlo.transpose %arg1, dims = [1, 0] {scalify.forms = ["2^-2"]} : (tensor<6x8xf16>) -> tensor<8x6xf16>
// FP16-NEXT: %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] {scalify.forms = ["2^-2*s0 level 1"]} : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf32>
// FP16-NEXT: %4 = call @relu(%3) {scalify.forms = ["2^-2*s0 level 1"]} : (tensor<4x6xf32>) -> tensor<4x6xf32>
// FP16-NEXT: return %4 : tensor<4x6xf32>
// FP16-NEXT: }
// FP16-NEXT: func.func private @relu(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
// FP16-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP16-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
// FP16-NEXT: %1 = stablehlo.maximum %arg0, %0 : tensor<4x6xf32>
// FP16-NEXT: return %1 : tensor<4x6xf32>
// FP16-NEXT: }
// FP16-NEXT: }

module @_infer attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[[1.250000e-01, 6.250000e-01, -1.125000e+00, 2.500000e-01, 5.000000e-01, -5.000000e-01, -3.750000e-01, 6.250000e-01], [-1.250000e-01, 5.000000e-01, -1.250000e-01, 5.000000e-01, 0.000000e+00, -1.250000e-01, -1.250000e-01, 3.750000e-01], [3.750000e-01, -3.750000e-01, -6.250000e-01, -1.250000e-01, -3.750000e-01, -1.250000e-01, 3.750000e-01, 1.250000e-01], [0.000000e+00, -6.250000e-01, -3.750000e-01, 6.250000e-01, -5.000000e-01, 2.500000e-01, 7.500000e-01, -1.250000e-01], [-2.500000e-01, -2.500000e-01, -2.500000e-01, -3.750000e-01, -2.500000e-01, 1.250000e-01, -6.250000e-01, 7.500000e-01], [1.250000e-01, 0.000000e+00, -1.250000e-01, 1.250000e-01, 1.250000e-01, 1.250000e-01, 7.500000e-01, 1.000000e+00]]> : tensor<6x8xf32>
    %cst_0 = stablehlo.constant dense<[[1.093750e-01, 7.812500e-02, 1.562500e-02], [-7.812500e-02, -0.000000e+00, 4.687500e-02], [-7.812500e-02, 3.125000e-02, 3.125000e-02], [4.687500e-02, -7.812500e-02, -4.687500e-02], [-3.125000e-02, -7.812500e-02, 1.093750e-01], [-3.125000e-02, 1.562500e-02, -1.562500e-02]]> : tensor<6x3xf32>
    %cst_1 = stablehlo.constant dense<2.500000e-01> : tensor<3xf32>
    %0 = call @layer(%arg0, %cst) : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
    %1 = stablehlo.dot_general %0, %cst_0, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
    %2 = stablehlo.reshape %cst_1 : (tensor<3xf32>) -> tensor<1x3xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<4x3xf32>
    %4 = stablehlo.add %1, %3 : tensor<4x3xf32>
    return %4 : tensor<4x3xf32>
  }
  func.func private @layer(%arg0: tensor<4x8xf32>, %arg1: tensor<6x8xf32>) -> tensor<4x6xf32> {
    %0 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    %2 = call @relu(%1) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %2 : tensor<4x6xf32>
  }
  func.func private @relu(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x6xf32>
    return %1 : tensor<4x6xf32>
  }
}
