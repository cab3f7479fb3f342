// RUN: %scalify-opt %s \
// RUN:     --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{signature=scaled},scalify-propagate,scalify-verify)' \
// RUN:   | %filecheck %s

// After the whole pipeline nothing of the tool's own is left, but for which values are scales.
// CHECK:         func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<4xf32>, %arg3: tensor<f32> {scalify.is_scale})
// CHECK-SAME:      -> (tensor<4xf32>, tensor<f32> {scalify.is_scale}) {
// CHECK-NOT:     scalify.
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[S:.*]] = stablehlo.multiply %arg1, %arg3 : tensor<f32>
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.multiply %arg0, %arg2 : tensor<4xf32>
  %0 = stablehlo.multiply %x, %y : tensor<4xf32>
  // CHECK-NEXT: return %[[Z]], %[[S]] : tensor<4xf32>, tensor<f32>
  return %0 : tensor<4xf32>
}
