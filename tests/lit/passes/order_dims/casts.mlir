// RUN: %scalify-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(scalify-order-dims)' | %filecheck %s

// The cast of a transpose, whose rows a matmul reads, keeps its order.
// CHECK-LABEL: func.func @main
// CHECK:         %[[D:.*]] = stablehlo.convert
// CHECK-NEXT:    %[[F:.*]] = stablehlo.reshape %[[D]] : (tensor<2x3x4x8xf8E4M3FN>) -> tensor<192xf8E4M3FN>
// CHECK-NEXT:    %[[B:.*]] = stablehlo.optimization_barrier %[[F]] : tensor<192xf8E4M3FN>
// CHECK-NEXT:    %[[W:.*]] = stablehlo.reshape %[[B]] : (tensor<192xf8E4M3FN>) -> tensor<2x3x4x8xf8E4M3FN>
// CHECK-NEXT:    stablehlo.reshape %[[W]]
func.func @main(%x: tensor<2x4x3x8xf32>, %w: tensor<32x16xf8E4M3FN>) -> tensor<6x16xf32> {
  %0 = stablehlo.transpose %x, dims = [0, 2, 1, 3] : (tensor<2x4x3x8xf32>) -> tensor<2x3x4x8xf32>
  %1 = stablehlo.convert %0 : (tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf8E4M3FN>
  %2 = stablehlo.optimization_barrier %1 : tensor<2x3x4x8xf8E4M3FN>
  %3 = stablehlo.reshape %2 : (tensor<2x3x4x8xf8E4M3FN>) -> tensor<6x32xf8E4M3FN>
  %4 = stablehlo.dot_general %3, %w, contracting_dims = [1] x [0] : (tensor<6x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<6x16xf32>
  return %4 : tensor<6x16xf32>
}

// -----

// One that is no transpose needs no order, nor does one on several devices, whose shardings a
// reshape would lose.
// CHECK-LABEL: func.func @main
// CHECK:         stablehlo.optimization_barrier %{{.*}} : tensor<6x32xf8E4M3FN>
func.func @main(%x: tensor<6x32xf32>, %w: tensor<32x16xf8E4M3FN>) -> tensor<6x16xf32> {
  %1 = stablehlo.convert %x : (tensor<6x32xf32>) -> tensor<6x32xf8E4M3FN>
  %2 = stablehlo.optimization_barrier %1 : tensor<6x32xf8E4M3FN>
  %4 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<6x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<6x16xf32>
  return %4 : tensor<6x16xf32>
}

// -----

module attributes {mhlo.num_partitions = 8 : i32} {
// CHECK-LABEL: func.func @main
// CHECK:         stablehlo.optimization_barrier %{{.*}} : tensor<6x32xf8E4M3FN>
func.func @main(%x: tensor<32x6xf32>, %w: tensor<32x16xf8E4M3FN>) -> tensor<6x16xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<32x6xf32>) -> tensor<6x32xf32>
  %1 = stablehlo.convert %0 : (tensor<6x32xf32>) -> tensor<6x32xf8E4M3FN>
  %2 = stablehlo.optimization_barrier %1 : tensor<6x32xf8E4M3FN>
  %4 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<6x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<6x16xf32>
  return %4 : tensor<6x16xf32>
}
}
