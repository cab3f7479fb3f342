// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-recognize{inputs})' | %filecheck %s

// What ends an activation has a number, and so does what reads its input, with the place of that.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.tanh %arg0 {scalify.layer = "tanh", scalify.layer_input = [0, 0], scalify.layer_number = 0 : i64}
// CHECK: stablehlo.maximum %{{.*}}, %arg1 {scalify.layer = "relu", scalify.layer_input = [1, 1], scalify.layer_number = 1 : i64}
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.tanh %x : tensor<4x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<4x8xf32>
  %1 = stablehlo.maximum %zero, %y : tensor<4x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
