// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-quantize-matmuls{recipe=plain-f16})' \
// RUN:   | %filecheck %s
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-quantize-matmuls{recipe=%S/Inputs/plain_saturated.toml})' \
// RUN:   | %filecheck %s --check-prefix=HELD

// Operands are cast as they are, without marks for propagation. Behind barriers, XLA keeps the casts.
// CHECK-LABEL: func.func @main
// HELD-LABEL:  func.func @main
func.func @main(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // CHECK-NEXT: %[[W:.*]] = stablehlo.convert %arg1 : (tensor<32x32xf32>) -> tensor<32x32xf16>
  // CHECK-NEXT: %[[WB:.*]] = stablehlo.optimization_barrier %[[W]]
  // CHECK-NEXT: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<32x32xf32>) -> tensor<32x32xf16>
  // CHECK-NEXT: %[[XB:.*]] = stablehlo.optimization_barrier %[[X]]
  // CHECK-NEXT: stablehlo.dot_general %[[XB]], %[[WB]], {{.*}} -> tensor<32x32xf32>
  // HELD:       %[[C:.*]] = stablehlo.clamp %{{.*}}, %arg0, %{{.*}} : (tensor<f32>, tensor<32x32xf32>, tensor<f32>)
  // HELD-NEXT:  %[[K:.*]] = stablehlo.select %{{.*}}, %[[C]], %arg0
  // HELD-NEXT:  stablehlo.convert %[[K]] : (tensor<32x32xf32>) -> tensor<32x32xf16>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    {scalify.part = "forward", scalify.roles = ["activation", "weight"], scalify.site = ["mlp"]}
    : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}
