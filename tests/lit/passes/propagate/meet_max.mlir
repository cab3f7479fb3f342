// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{recipe=%S/Inputs/meet_max.toml annotate})' \
// RUN:   | %filecheck %s

// Asked to, unrelated scales meet at the larger, a new generator: two factors instead of one.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}, %y: tensor<4xf32> {scalify.pair})
    -> (tensor<4xf32> {scalify.pair}, tensor<4xf32> {scalify.pair}) {
  // CHECK:      %[[MAX:.*]] = stablehlo.maximum %arg1, %arg3 : tensor<f32>
  // CHECK-DAG:  stablehlo.divide %arg1, %[[MAX]] : tensor<f32>
  // CHECK-DAG:  stablehlo.divide %arg3, %[[MAX]] : tensor<f32>
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK:      %[[Y:.*]] = stablehlo.multiply %arg2, %{{.*}}
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[X]], %[[Y]] {scalify.forms = ["s2"]}
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  // The same scales meet at the same generator, where the operands are already.
  // CHECK-NEXT: %[[DIFFERENCE:.*]] = stablehlo.subtract %[[X]], %[[Y]] {scalify.forms = ["s2"]}
  %1 = stablehlo.subtract %x, %y : tensor<4xf32>
  // CHECK-NEXT: return %[[SUM]], %[[MAX]], %[[DIFFERENCE]], %[[MAX]]
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
