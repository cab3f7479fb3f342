// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-propagate{annotate})' | %filecheck %s

// A residual stream keeps its scale: each block's contribution is brought to it.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}, %a: tensor<4xf32> {scalify.pair})
    -> (tensor<4xf32> {scalify.pair}) {
  // CHECK:      %[[AX:.*]] = stablehlo.multiply %arg0, %arg2 {scalify.forms = ["s0*s1"]}
  %0 = stablehlo.multiply %x, %a : tensor<4xf32>
  // s0*s1 over s0 is the scale that came in: no op of rank 0 is needed.
  // CHECK-NEXT: %[[FACTOR:.*]] = stablehlo.broadcast_in_dim %arg3, dims = []
  // CHECK-NEXT: %[[BACK:.*]] = stablehlo.multiply %[[AX]], %[[FACTOR]]
  // CHECK-NEXT: %[[R:.*]] = stablehlo.add %[[BACK]], %arg0 {scalify.forms = ["s0"]}
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  // CHECK-NEXT: return %[[R]], %arg1
  return %1 : tensor<4xf32>
}

// -----

// f16 data cannot take any ratio of scales: they meet at the larger.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf16> {scalify.pair}, %y: tensor<4xf16> {scalify.pair})
    -> (tensor<4xf16> {scalify.pair}) {
  // CHECK:      %[[MAX:.*]] = stablehlo.maximum %arg1, %arg3 : tensor<f32>
  // CHECK:      %[[R:.*]] = stablehlo.add %{{.*}}, %{{.*}} {scalify.forms = ["s2"]} : tensor<4xf16>
  %0 = stablehlo.add %x, %y : tensor<4xf16>
  // CHECK-NEXT: return %[[R]], %[[MAX]]
  return %0 : tensor<4xf16>
}
