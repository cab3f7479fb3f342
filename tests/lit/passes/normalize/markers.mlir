// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize)' | %filecheck %s

// A call that is a marker becomes a barrier, through which all passes see; its function goes.
// CHECK-NOT: @scalify.rescale
func.func private @scalify.rescale(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @scalify.set(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @scalify.parts(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  return %x, %one : tensor<4xf32>, tensor<f32>
}
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>, %s: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  // CHECK: %[[A:.*]] = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.statistic = "l2"} %arg0
  %0 = call @scalify.rescale(%x) {scalify.marker = "dynamic_rescale", scalify.statistic = "l2"}
    : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[B:.*]]:2 = stablehlo.optimization_barrier {scalify.marker = "set_scaling"} %[[A]], %arg1
  %1 = call @scalify.set(%0, %s) {scalify.marker = "set_scaling"}
    : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00>
  // CHECK: %[[C:.*]]:2 = stablehlo.optimization_barrier {scalify.marker = "get_data_and_scale"} %[[B]]#0, %[[ONE]]
  %2:2 = call @scalify.parts(%1) {scalify.marker = "get_data_and_scale"}
    : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
  // CHECK: return %[[C]]#0, %[[C]]#1
  return %2#0, %2#1 : tensor<4xf32>, tensor<f32>
}
