// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Both values are read, and the result is unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<3xf32> {scalify.pair}, %y: tensor<3xf32> {scalify.pair})
    -> tensor<3xf32> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}} : tensor<3xf32>
  // CHECK:      %[[Y:.*]] = stablehlo.multiply %arg2, %{{.*}} : tensor<3xf32>
  // CHECK-NEXT: %[[Z:.*]] = chlo.next_after %[[X]], %[[Y]] :
  %0 = chlo.next_after %x, %y : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  // CHECK-NEXT: return %[[Z]]
  return %0 : tensor<3xf32>
}
