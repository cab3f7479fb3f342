// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-roles,scalify-quantize-matmuls{recipe=unit})' \
// RUN:     | %filecheck %s

// A cast stands before a change of sharding.

// CHECK: %[[SINE:.*]] = stablehlo.sine
// CHECK: %[[W:.*]] = stablehlo.convert %[[SINE]] {scalify.cast = "data"} : (tensor<128x128xf32>) -> tensor<128x128xf8E4M3FN>
// CHECK: %[[PLACED:.*]] = sdy.sharding_constraint %[[W]] <@mesh, [{}, {}]> : tensor<128x128xf8E4M3FN>
// CHECK: dot_general %{{.*}}, %[[PLACED]]
sdy.mesh @mesh = <["d"=8]>
func.func @main(%x: tensor<128x128xf32>, %w: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %0 = stablehlo.sine %w : tensor<128x128xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<128x128xf32>
  %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  return %2 : tensor<128x128xf32>
}

// -----

// Not before a collective of replicas, which may have different scales, whatever comes first.

// CHECK: sdy.sharding_constraint %{{.*}} <@mesh, [{}, {}]> : tensor<16x128xf32>
// CHECK: "stablehlo.all_gather"
// CHECK-SAME: (tensor<16x128xf32>) -> tensor<128x128xf32>
sdy.mesh @mesh = <["d"=8]>
func.func @main(%x: tensor<128x128xf32>, %w: tensor<16x128xf32>) -> tensor<128x128xf32> {
  %0 = stablehlo.sine %w : tensor<16x128xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<16x128xf32>
  %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>}> : (tensor<16x128xf32>) -> tensor<128x128xf32>
  %3 = stablehlo.dot_general %x, %2, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  return %3 : tensor<128x128xf32>
}
