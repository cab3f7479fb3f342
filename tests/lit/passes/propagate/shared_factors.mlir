// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Each factor is built once, at the top, and a value is brought to a scale once.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}, %y: tensor<4xf32> {scalify.pair})
    -> (tensor<4xf32> {scalify.pair}, tensor<4xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[RATIO:.*]] = stablehlo.divide %arg3, %arg1 : tensor<f32>
  // CHECK-NOT:  stablehlo.divide
  // CHECK:      %[[Y:.*]] = stablehlo.multiply %arg2, %{{.*}}
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg0, %[[Y]] {scalify.forms = ["s0"]}
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  // CHECK-NEXT: %[[MAX:.*]] = stablehlo.maximum %arg0, %[[Y]] {scalify.forms = ["s0"]}
  %1 = stablehlo.maximum %x, %y : tensor<4xf32>
  // CHECK-NEXT: return %[[SUM]], %arg1, %[[MAX]], %arg1
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
