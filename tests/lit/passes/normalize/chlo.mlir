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

// -----

// What reads values stays, for its rule; what else there is of CHLO is expanded around it.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[X:.*]] = chlo.erf %arg0 : tensor<3xf32> -> tensor<3xf32>
  %0 = chlo.erf %x : tensor<3xf32> -> tensor<3xf32>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %[[X]], dims = [1]
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[B]], %arg1 : tensor<2x3xf32>
  %1 = chlo.broadcast_add %0, %y : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[SUM]]
  return %1 : tensor<2x3xf32>
}
