// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-recognize{inputs},scalify-propagate{recipe=unit annotate})' \
// RUN:   | %filecheck %s

// Sizes are those of the Unit Scaling paper: sqrt(K) for a matmul, the root of the sum of squares
// for a sum, and for a SiLU, which is one layer, that of its input less 0.745.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x32xf32> {scalify.scale = 0 : i64},
                %w: tensor<32x4xf32> {scalify.scale = -3 : i64}) -> tensor<8x4xf32> {
  // CHECK:      stablehlo.dot_general {{.*}}["2^0 level -0.5"]
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x32xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  // CHECK:      stablehlo.logistic
  %1 = stablehlo.logistic %0 : tensor<8x4xf32>
  // CHECK-NEXT: stablehlo.multiply {{.*}}["2^0 level -1.24536"]
  %2 = stablehlo.multiply %0, %1 : tensor<8x4xf32>
  // CHECK-NEXT: stablehlo.add {{.*}}["2^0 level -0.280411"]
  %3 = stablehlo.add %2, %0 : tensor<8x4xf32>
  // CHECK-NOT:  scalify.layer
  return %3 : tensor<8x4xf32>
}
