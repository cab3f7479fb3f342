// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What another device has is at the same scale; zeros, where there is none, fit any.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}) -> (tensor<4xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = "stablehlo.collective_broadcast"(%arg0) {{.*}}["s0"]
  %0 = "stablehlo.collective_broadcast"(%x) <{
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  }> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: return %[[Y]], %arg1
  return %0 : tensor<4xf32>
}

// -----

// A constant is zeros on the devices that receive nothing: it is moved as it is, and adopts no scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}) -> (tensor<4xf32> {scalify.pair}) {
  // CHECK:      %[[C:.*]] = stablehlo.constant {{.*}}dense<3.000000e+00>
  // CHECK:      %[[Y:.*]] = "stablehlo.collective_broadcast"(%[[C]])
  // CHECK:      %[[D:.*]] = stablehlo.multiply %[[Y]], %{{.*}}
  // CHECK-NEXT: stablehlo.add %{{.*}}, %[[D]] {scalify.forms = ["s0"]}
  %c = stablehlo.constant dense<3.0> : tensor<4xf32>
  %0 = "stablehlo.collective_broadcast"(%c) <{
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  }> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
