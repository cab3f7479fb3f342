// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Tuples hold values at scale 1.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<3xf32> {scalify.pair}, %i: tensor<3xi32>) -> tuple<tensor<3xf32>, tensor<3xi32>> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}} : tensor<3xf32>
  // CHECK-NEXT: %[[T:.*]] = stablehlo.tuple %[[X]], %arg2 :
  %0 = stablehlo.tuple %x, %i : tuple<tensor<3xf32>, tensor<3xi32>>
  // CHECK-NEXT: return %[[T]]
  return %0 : tuple<tensor<3xf32>, tensor<3xi32>>
}
