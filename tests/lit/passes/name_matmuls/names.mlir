// RUN: %scalify-opt %s --mlir-print-debuginfo --pass-pipeline='builtin.module(scalify-normalize,scalify-roles,scalify-name-matmuls)' \
// RUN:   | %filecheck %s

// A transpose of a result is named too, as XLA makes one matmul of both.
// CHECK: stablehlo.dot_general %arg0, %arg1, {{.*}} loc(#[[FIRST:.*]])
// CHECK: stablehlo.transpose {{.*}} loc(#[[FOLDED:.*]])
// CHECK: stablehlo.dot_general {{.*}} loc(#[[SECOND:.*]])
// CHECK-DAG: #[[FIRST]] = loc("scalify.matmul.0"
// CHECK-DAG: #[[FOLDED]] = loc("scalify.matmul.0"
// CHECK-DAG: #[[SECOND]] = loc("scalify.matmul.1"
func.func @main(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32> loc("first")
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32> loc("moved")
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32> loc("second")
  return %2 : tensor<16x16xf32>
}
