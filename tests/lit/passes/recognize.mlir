// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-recognize)' | %filecheck %s

// An RMSNorm with its gain; epsilon is what is added before the root.

// CHECK-LABEL: func.func @main
// CHECK: = stablehlo.add
// CHECK-SAME: {scalify.epsilon}
// CHECK: stablehlo.rsqrt
// CHECK-NEXT: broadcast_in_dim
// CHECK-NOT: scalify.layer
// CHECK: broadcast_in_dim %arg1
// CHECK-NEXT: stablehlo.multiply
// CHECK-SAME: {scalify.layer = "rms_norm"}
func.func @main(%x: tensor<4x8xf32>, %gain: tensor<8xf32>) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<4xf32>
  %epsilon = stablehlo.constant dense<1.0e-5> : tensor<4xf32>
  %0 = stablehlo.multiply %x, %x : tensor<4x8xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.divide %1, %n : tensor<4xf32>
  %3 = stablehlo.add %2, %epsilon : tensor<4xf32>
  %4 = stablehlo.rsqrt %3 : tensor<4xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %6 = stablehlo.multiply %x, %5 : tensor<4x8xf32>
  %7 = stablehlo.broadcast_in_dim %gain, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %8 = stablehlo.multiply %6, %7 : tensor<4x8xf32>
  return %8 : tensor<4x8xf32>
}

// -----

// A ReLU, the gradient of its input, and a sum with another gradient, which is not.

// CHECK-LABEL: func.func @main
// CHECK: stablehlo.maximum
// CHECK-SAME: {scalify.layer = "relu"}
// CHECK: stablehlo.compare
// CHECK-NOT: scalify
// CHECK: stablehlo.select
// CHECK-SAME: {scalify.layer_gradient = "relu"}
// CHECK-NEXT: stablehlo.add
// CHECK-NOT: scalify
func.func @main(%x: tensor<4xf32>, %dy: tensor<4xf32>, %other: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %y = stablehlo.maximum %x, %zero : tensor<4xf32>
  %positive = stablehlo.compare GT, %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %dx = stablehlo.select %positive, %dy, %zero : tensor<4xi1>, tensor<4xf32>
  %sum = stablehlo.add %dx, %other : tensor<4xf32>
  return %y, %sum : tensor<4xf32>, tensor<4xf32>
}

// -----

// A function that is called twice has its layers marked once.

// CHECK-LABEL: func.func @main
// CHECK-NOT: scalify
// CHECK-LABEL: func.func private @gate
// CHECK: stablehlo.multiply
// CHECK-SAME: {scalify.layer = "silu"}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @gate(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.cosine %0 : tensor<4xf32>
  %2 = call @gate(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @gate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.logistic %x : tensor<4xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// The operators of StableHLO.

// CHECK-LABEL: func.func @main
// CHECK: batch_norm_training
// CHECK-SAME: scalify.epsilon, scalify.layer = "batch_norm"
// CHECK: batch_norm_grad
// CHECK-SAME: scalify.layer_gradient = "batch_norm"
func.func @main(%x: tensor<4x8xf32>, %gain: tensor<8xf32>, %bias: tensor<8xf32>, %dy: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %y, %mean, %variance = "stablehlo.batch_norm_training"(%x, %gain, %bias) {epsilon = 1.0e-5 : f32, feature_index = 1 : i64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  %dx, %dgain, %dbias = "stablehlo.batch_norm_grad"(%x, %gain, %mean, %variance, %dy) {epsilon = 1.0e-5 : f32, feature_index = 1 : i64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %y, %dx : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A gate by another value is a sigmoid and no SiLU.

// CHECK-LABEL: func.func @main
// CHECK: stablehlo.logistic
// CHECK-SAME: {scalify.layer = "sigmoid"}
// CHECK-NEXT: stablehlo.multiply
// CHECK-NOT: scalify
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.logistic %x : tensor<4xf32>
  %1 = stablehlo.multiply %y, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
