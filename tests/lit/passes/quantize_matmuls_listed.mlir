// RUN: %scalify-opt %s \
// RUN:     --pass-pipeline='builtin.module(scalify-roles,scalify-quantize-matmuls{recipe=fp8 listed=true})' \
// RUN:     | %filecheck %s
// RUN: %scalify-opt %s \
// RUN:     --pass-pipeline='builtin.module(scalify-signature{every=true},scalify-roles,scalify-quantize-matmuls{recipe=fp8 listed=true},scalify-propagate{recipe=fp8})' \
// RUN:     | %filecheck %s --check-prefix=DONE

// For a report, each cast has the operands that it makes: 2 * matmul + side.

// CHECK: stablehlo.convert %arg1 {scalify.cast = "data", scalify.readers = array<i64: 1>}
// CHECK: stablehlo.convert %arg0 {scalify.cast = "data", scalify.readers = array<i64: 0, 2>}
// CHECK: stablehlo.convert %{{.*}} {scalify.cast = "gradient", scalify.readers = array<i64: 3>}

// Propagation takes it off.

// DONE-NOT: scalify.readers
// DONE: dot_general
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %dy = stablehlo.tanh %y : tensor<64x16xf32>
  %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %new = stablehlo.subtract %w, %dw : tensor<32x16xf32>
  return %new : tensor<32x16xf32>
}
