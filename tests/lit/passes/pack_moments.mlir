// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-signature{signature=scaled},\
// RUN:     scalify-roles,scalify-narrow-state{recipe=fp8-state8},\
// RUN:     scalify-propagate{recipe=fp8-state8},scalify-pack-moments)' | %filecheck %s

// Data of a moment become f8, and its scale an array with a scale for each 128 numbers.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<32x200xf8E4M3FN>
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<32x2xf8E8M0FNU>
// CHECK-SAME: tensor<32x200xf8E4M3FN>, tensor<32x2xf8E8M0FNU>
// CHECK-DAG: %[[DATA:.*]] = stablehlo.convert %[[M]] : (tensor<32x200xf8E4M3FN>) -> tensor<32x200xf32>
// CHECK-DAG: %[[SCALE:.*]] = stablehlo.convert %[[S]] : (tensor<32x2xf8E8M0FNU>) -> tensor<32x2xf32>
// CHECK: broadcast_in_dim %[[SCALE]], dims = [0, 1] : (tensor<32x2xf32>) -> tensor<32x2x128xf32>
// CHECK: bitcast_convert %[[M]] : (tensor<32x200xf8E4M3FN>) -> tensor<32x200xui8>
// CHECK: stablehlo.pad
// CHECK: maximum across dimensions = [2]
// CHECK: iota dim = 0 : tensor<32x200xui32>
// CHECK: %[[NEW:.*]] = stablehlo.convert %{{.*}} : (tensor<32x200xf32>) -> tensor<32x200xf8E4M3FN>
// CHECK: %[[NEW_SCALE:.*]] = stablehlo.convert %{{.*}} : (tensor<32x2xf32>) -> tensor<32x2xf8E8M0FNU>
// CHECK: return {{.*}} %[[NEW]], %[[NEW_SCALE]] :
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x200xf32>, %m: tensor<32x200xf32>) -> (tensor<32x200xf32>, tensor<32x200xf32>) {
  %c = stablehlo.constant dense<0.9> : tensor<32x200xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x200xf32>) -> tensor<64x200xf32>
  %dy = stablehlo.tanh %y : tensor<64x200xf32>
  %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x200xf32>) -> tensor<32x200xf32>
  %old = stablehlo.multiply %m, %c : tensor<32x200xf32>
  %sum = stablehlo.add %old, %dw : tensor<32x200xf32>
  %new = stablehlo.subtract %w, %sum : tensor<32x200xf32>
  return %new, %sum : tensor<32x200xf32>, tensor<32x200xf32>
}
