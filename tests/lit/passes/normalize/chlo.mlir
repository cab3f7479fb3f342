// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-normalize)' \
// RUN:   | %filecheck %s

// CHLO is expanded to the ops that have rules.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     chlo.
func.func @main(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {
  // CHECK: %[[Y:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4xf32>
  // CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %[[Y]] : tensor<4xf32>
  %0 = chlo.broadcast_add %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: return %[[SUM]]
  return %0 : tensor<4xf32>
}

// -----

// A program without CHLO stays as it is, to the constant that nothing uses.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
  %c = stablehlo.constant dense<1.0> : tensor<4xf32>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.add %arg0, %arg0 : tensor<4xf32>
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  // CHECK-NEXT: return %[[Y]]
  return %0 : tensor<4xf32>
}
