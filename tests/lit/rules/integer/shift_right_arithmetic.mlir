// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Integers pass untouched between values with a scale, and meet them unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}, %a: tensor<4xi32>, %b: tensor<4xi32>)
    -> (tensor<4xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = stablehlo.shift_right_arithmetic %arg2, %arg3 : tensor<4xi32>
  %0 = stablehlo.shift_right_arithmetic %a, %b : tensor<4xi32>
  // CHECK-NEXT: %[[F:.*]] = stablehlo.convert %[[Y]] : (tensor<4xi32>) -> tensor<4xf32>
  %1 = stablehlo.convert %0 : (tensor<4xi32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.multiply %arg0, %[[F]] {scalify.forms = ["s0"]} : tensor<4xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<4xf32>
  // CHECK-NEXT: return %[[Z]], %arg1
  return %2 : tensor<4xf32>
}
