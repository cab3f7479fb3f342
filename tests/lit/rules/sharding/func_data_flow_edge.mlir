// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// The value is the same, and the scale is everywhere.
sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x8xf32> {scalify.pair, sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>})
    -> (tensor<8x8xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = sdy.func_data_flow_edge {{.*}}%arg0{{.*}}["s0"]
  %0 = sdy.func_data_flow_edge %x : tensor<8x8xf32>
  // CHECK-NEXT: return %[[Y]], %arg1
  return %0 : tensor<8x8xf32>
}

// -----

// The edge stays on the argument.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x8xf32> {scalify.scale = -4 : i64}) -> (tensor<8x8xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = sdy.func_data_flow_edge %arg0 : tensor<8x8xf32>
  %0 = sdy.func_data_flow_edge %x : tensor<8x8xf32>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<8x8xf32>
}
