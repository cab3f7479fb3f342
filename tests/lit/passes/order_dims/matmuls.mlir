// RUN: %scalify-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(scalify-order-dims)' | %filecheck %s

// The scores of attention with several heads for each group of keys: the queries are transposed,
// and the operands are swapped.
// CHECK-LABEL: func.func @main
// CHECK:         %[[Q:.*]] = stablehlo.transpose %arg1, dims = [0, 3, 2, 1, 4]
// CHECK-SAME:      (tensor<2x16x2x4x8xbf16>) -> tensor<2x4x2x16x8xbf16>
// CHECK:         %[[S:.*]] = stablehlo.dot_general %[[Q]], %arg0
// CHECK-SAME:      batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3]
// CHECK-SAME:      -> tensor<2x2x4x16x16xbf16>
// CHECK-NEXT:    return %[[S]]
func.func @main(%k: tensor<2x16x2x8xbf16>, %q: tensor<2x16x2x4x8xbf16>) -> tensor<2x2x4x16x16xbf16> {
  %0 = stablehlo.dot_general %k, %q, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4] : (tensor<2x16x2x8xbf16>, tensor<2x16x2x4x8xbf16>) -> tensor<2x2x16x16x4xbf16>
  %1 = stablehlo.transpose %0, dims = [0, 1, 4, 3, 2] : (tensor<2x2x16x16x4xbf16>) -> tensor<2x2x4x16x16xbf16>
  return %1 : tensor<2x2x4x16x16xbf16>
}

// -----

// The result is bounded and scaled before it is transposed: so is that of the swapped operands.
// CHECK-LABEL: func.func @main
// CHECK:         %[[S:.*]] = stablehlo.dot_general %arg1, %arg0
// CHECK-SAME:      batching_dims = [0] x [0], contracting_dims = [2] x [2]
// CHECK-SAME:      algorithm = <lhs_precision_type = f8E4M3FN, rhs_precision_type = f8E5M2
// CHECK:         %[[C:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<2x32x16xf32>
// CHECK-NEXT:    %[[M:.*]] = stablehlo.multiply %[[S]], %[[C]] : tensor<2x32x16xf32>
// CHECK-NEXT:    %[[R:.*]] = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x32x16xf32>
// CHECK-NEXT:    %[[N:.*]] = stablehlo.multiply %[[R]], %[[M]]
// CHECK:         %[[B:.*]] = stablehlo.clamp %{{.*}}, %[[N]], %{{.*}} : (tensor<f32>, tensor<2x32x16xf32>, tensor<f32>)
// CHECK-NEXT:    %[[H:.*]] = stablehlo.convert %[[B]] : (tensor<2x32x16xf32>) -> tensor<2x32x16xbf16>
// CHECK-NEXT:    return %[[H]]
func.func @main(%x: tensor<2x16x8xf8E5M2>, %w: tensor<2x32x8xf8E4M3FN>, %r: tensor<f32>) -> tensor<2x32x16xbf16> {
  %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [2], algorithm = <lhs_precision_type = f8E5M2, rhs_precision_type = f8E4M3FN, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x16x8xf8E5M2>, tensor<2x32x8xf8E4M3FN>) -> tensor<2x16x32xf32>
  %c = stablehlo.constant dense<0.5> : tensor<2x16x32xf32>
  %1 = stablehlo.multiply %0, %c : tensor<2x16x32xf32>
  %s = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> tensor<2x16x32xf32>
  %2 = stablehlo.multiply %s, %1 : tensor<2x16x32xf32>
  %low = stablehlo.constant dense<-8.0> : tensor<f32>
  %high = stablehlo.constant dense<8.0> : tensor<f32>
  %3 = stablehlo.clamp %low, %2, %high : (tensor<f32>, tensor<2x16x32xf32>, tensor<f32>) -> tensor<2x16x32xf32>
  %4 = stablehlo.convert %3 : (tensor<2x16x32xf32>) -> tensor<2x16x32xbf16>
  %5 = stablehlo.transpose %4, dims = [0, 2, 1] : (tensor<2x16x32xbf16>) -> tensor<2x32x16xbf16>
  return %5 : tensor<2x32x16xbf16>
}

// -----

// The operands are swapped, and nothing is transposed.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[S:.*]] = stablehlo.dot_general %arg1, %arg0
// CHECK-NEXT:    return %[[S]]
func.func @main(%x: tensor<16x8xf32>, %w: tensor<32x8xf32>) -> tensor<32x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<16x8xf32>, tensor<32x8xf32>) -> tensor<16x32xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
  return %1 : tensor<32x16xf32>
}

// -----

// The gradient of the keys sums over positions and heads as the gradient of the scores has them.
// CHECK-LABEL: func.func @main
// CHECK:         stablehlo.dot_general
// CHECK-SAME:      contracting_dims = [4, 3] x [3, 1]
func.func @main(%s: tensor<2x2x4x16x16xbf16>, %q: tensor<2x16x2x4x8xbf16>) -> tensor<2x2x16x8xbf16> {
  %0 = stablehlo.transpose %s, dims = [0, 1, 4, 3, 2] : (tensor<2x2x4x16x16xbf16>) -> tensor<2x2x16x16x4xbf16>
  %1 = stablehlo.dot_general %0, %q, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3] : (tensor<2x2x16x16x4xbf16>, tensor<2x16x2x4x8xbf16>) -> tensor<2x2x16x8xbf16>
  return %1 : tensor<2x2x16x8xbf16>
}
