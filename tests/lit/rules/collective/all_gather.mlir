// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Parts of other devices have the same scale; each operand has its own.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x4xf32> {scalify.pair}, %y: tensor<4x4xf32> {scalify.scale = -4 : i64})
    -> (tensor<8x4xf32> {scalify.pair}, tensor<8x4xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = stablehlo.multiply %arg2, %{{.*}} {scalify.forms = ["2^-4"]}
  // CHECK:      %[[R:.*]]:2 = "stablehlo.all_gather"(%arg0, %[[Y]]) {{.*}}["s0", "2^-4"]
  %0:2 = "stablehlo.all_gather"(%x, %y) <{
    all_gather_dim = 0 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  }> : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  // CHECK-NEXT: %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[R]]#0, %arg1, %[[R]]#1, %[[S]]
  return %0#0, %0#1 : tensor<8x4xf32>, tensor<8x4xf32>
}
