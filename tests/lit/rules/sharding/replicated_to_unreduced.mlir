// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// The value is the same, placed otherwise: data are placed as asked, the scale is everywhere.
sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x8xf32> {scalify.pair, sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>})
    -> (tensor<8x8xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = sdy.replicated_to_unreduced {{.*}}%arg0{{.*}}["s0"]
  %0 = sdy.replicated_to_unreduced {"b"} %x out_sharding=<@mesh, [{"a"}, {}], unreduced={"b"}> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[Y]], %arg1
  return %0 : tensor<8x8xf32>
}

// -----

// Split at entry, the data are placed as the argument was.
sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x8xf32> {scalify.scale = -4 : i64, sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>})
    -> (tensor<8x8xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]]
  // CHECK-SAME:   {scalify.forms = ["2^-4"], sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>}
  // CHECK:      %[[Y:.*]] = sdy.replicated_to_unreduced {{.*}}%[[X]]{{.*}}["2^-4"]
  %0 = sdy.replicated_to_unreduced {"b"} %x out_sharding=<@mesh, [{"a"}, {}], unreduced={"b"}> : tensor<8x8xf32>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<8x8xf32>
}
