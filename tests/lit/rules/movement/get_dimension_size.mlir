// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A size is that of the data, which have the shape of the value.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> tensor<i32> {
  // CHECK-NEXT: %[[N:.*]] = stablehlo.get_dimension_size %arg0, dim = 1 :
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  // CHECK-NEXT: return %[[N]] :
  return %0 : tensor<i32>
}

// -----

// The same behind a split at entry.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64}) -> tensor<i32> {
  // CHECK:      stablehlo.get_dimension_size %{{.*}}, dim = 1 :
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}
