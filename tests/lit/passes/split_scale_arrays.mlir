// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-signature{signature=scaled \
// RUN:     blocks=w=0x1},scalify-split-scale-arrays)' | %filecheck %s

// Factors of columns wait behind a matmul, and those of rows are applied to the smaller operand.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8x12xf32> {{.*}}scalify.scale_array = 0 : i64
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME: %[[F:[a-z0-9]+]]: tensor<1x12xf32> {{.*}}scalify.scale_factors = 0 : i64
// CHECK: %[[Y:.*]] = stablehlo.dot_general %[[X]], %[[W]]
// CHECK: %[[COLUMNS:.*]] = stablehlo.broadcast_in_dim %[[F]], dims = [0, 1] : (tensor<1x12xf32>) -> tensor<4x12xf32>
// CHECK: %[[SCALED:.*]] = stablehlo.multiply %[[Y]], %[[COLUMNS]]
// CHECK: %[[H:.*]] = stablehlo.tanh %[[SCALED]]
// CHECK: %[[T:.*]] = stablehlo.transpose %[[W]], dims = [1, 0]
// CHECK: %[[G:.*]] = stablehlo.multiply %[[H]], %{{.*}} : tensor<4x12xf32>
// CHECK: %[[Z:.*]] = stablehlo.dot_general %[[G]], %[[T]]
// CHECK: return %[[Z]]
func.func @main(%w: tensor<8x12xf32> loc("w"), %x: tensor<4x8xf32> loc("x")) -> tensor<4x8xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x12xf32>) -> tensor<4x12xf32>
  %h = stablehlo.tanh %y : tensor<4x12xf32>
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<8x12xf32>) -> tensor<12x8xf32>
  %z = stablehlo.dot_general %h, %t, contracting_dims = [1] x [0] : (tensor<4x12xf32>, tensor<12x8xf32>) -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// -----

// The data of a cast are those before the product, and a second cast is of the product.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8x12xf32>
// CHECK: %[[C:.*]] = stablehlo.convert %[[W]] {scalify.cast = "data"} : (tensor<8x12xf32>) -> tensor<8x12xf8E4M3FN>
// CHECK: %[[D:.*]] = stablehlo.dot_general %{{.*}}, %[[C]]
// CHECK: %[[P:.*]] = stablehlo.multiply %[[W]], %{{.*}} : tensor<8x12xf32>
// CHECK: %[[S:.*]] = stablehlo.convert %[[P]] {scalify.cast = "data"} : (tensor<8x12xf32>) -> tensor<8x12xf8E4M3FN>
// CHECK: stablehlo.dot_general %{{.*}}, %[[S]]
func.func @main(%w: tensor<8x12xf32> loc("w"), %x: tensor<4x8xf8E4M3FN> loc("x"), %d: tensor<4x12xf8E4M3FN> loc("d")) -> (tensor<4x12xf32>, tensor<4x8xf32>) {
  %c = stablehlo.convert %w {scalify.cast = "data"} : (tensor<8x12xf32>) -> tensor<8x12xf8E4M3FN>
  %y = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3FN>, tensor<8x12xf8E4M3FN>) -> tensor<4x12xf32>
  %z = stablehlo.dot_general %d, %c, contracting_dims = [1] x [1] : (tensor<4x12xf8E4M3FN>, tensor<8x12xf8E4M3FN>) -> tensor<4x8xf32>
  return %y, %z : tensor<4x12xf32>, tensor<4x8xf32>
}
