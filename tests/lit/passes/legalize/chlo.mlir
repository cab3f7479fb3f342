// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-legalize)' \
// RUN:   | %filecheck %s

// Functions that read values are expanded once scales have propagated.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     chlo.
// CHECK:         stablehlo.tan %arg0
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.tan %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Of dynamic shape too, where constants are broadcast to sizes that are read at run time.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     {{chlo|shape\.|unrealized}}
// CHECK:         stablehlo.get_dimension_size %arg0, dim = 0
// CHECK:         stablehlo.dynamic_broadcast_in_dim
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = chlo.erf %x : tensor<?x4xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
