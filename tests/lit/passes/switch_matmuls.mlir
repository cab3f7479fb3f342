// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-roles,scalify-switch-matmuls,scalify-quantize-matmuls{recipe=fp8-current})' \
// RUN:   | %filecheck %s

// The matmul becomes narrow, and its copy keeps the operands as they are.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // CHECK: %[[N:.*]] = stablehlo.dot_general {{.*}} (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>)
  // CHECK: %[[W:.*]] = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  // CHECK: %[[S:.*]] = stablehlo.constant {scalify.switch = "arg1@forward"} dense<true> : tensor<i1>
  // CHECK: %[[Y:.*]] = stablehlo.select %[[S]], {{.*}}, %[[W]]
  // CHECK: return %[[Y]]
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
