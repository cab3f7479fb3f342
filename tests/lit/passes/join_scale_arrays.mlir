// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-signature{signature=scaled blocks=params*=0x4},\
// RUN:     scalify-split-scale-arrays,scalify-propagate,scalify-join-scale-arrays)' | %filecheck %s

// The array of scales S is an argument, and the power of two at or below the largest one is that of the data. State has the same array.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8x8xf32>
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<1x2xf32>
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<8x8xf32>
// CHECK-SAME: -> (tensor<8x8xf32> {jax.result_info = "result[0]['w']"}, tensor<1x2xf32> {jax.result_info = "result[0]['w'].scale", scalify.is_scale})
// CHECK: %[[ONE:.*]] = stablehlo.reduce(%[[S]] init: %{{.*}}) applies stablehlo.maximum
// CHECK: %[[POWER:.*]] = stablehlo.reduce_precision %[[ONE]], format = e8m0
// CHECK: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[POWER]], dims = [] : (tensor<f32>) -> tensor<1x2xf32>
// CHECK: %[[F:.*]] = stablehlo.divide %[[S]], %[[ALL]]
// CHECK: stablehlo.broadcast_in_dim %[[F]], dims = [0, 2] : (tensor<1x2xf32>) -> tensor<1x8x2x4xf32>
// CHECK: return %{{.*}}, %[[S]] : tensor<8x8xf32>, tensor<1x2xf32>
func.func @main(%w: tensor<8x8xf32> loc("params['w']"), %g: tensor<8x8xf32> loc("gradient")) -> (tensor<8x8xf32> {jax.result_info = "result[0]['w']"}) {
  %new = stablehlo.subtract %w, %g : tensor<8x8xf32>
  return %new : tensor<8x8xf32>
}
