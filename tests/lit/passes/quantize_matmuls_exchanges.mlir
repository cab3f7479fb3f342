// RUN: %scalify-opt %s \
// RUN:     --pass-pipeline='builtin.module(scalify-roles,scalify-quantize-matmuls{recipe=unit})' \
// RUN:     | %filecheck %s

// A cast stands before the collective that moves its operand, and the wide collective is gone. A
// gather that is also read wide stays as it is.

// CHECK: %[[W:.*]] = stablehlo.convert %{{.*}} {scalify.cast = "data"} : (tensor<16x128xf32>) -> tensor<16x128xf8E4M3FN>
// CHECK: %[[ALL:.*]] = "stablehlo.all_gather"(%[[W]])
// CHECK-SAME: (tensor<16x128xf8E4M3FN>) -> tensor<128x128xf8E4M3FN>
// CHECK-NOT: all_gather
// CHECK: dot_general %{{.*}}, %[[ALL]]
// CHECK: %[[WIDE:.*]] = "stablehlo.all_gather"
// CHECK-SAME: (tensor<16x128xf32>) -> tensor<128x128xf32>
// CHECK: stablehlo.convert %[[WIDE]] {scalify.cast = "data"}
// CHECK: stablehlo.tanh %[[WIDE]]
sdy.mesh @mesh = <["d"=8]>
func.func @main(%x: tensor<128x128xf32>, %w: tensor<128x128xf32>, %v: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %0 = sdy.manual_computation(%x, %w, %v) in_shardings=[<@mesh, [{"d"}, {}]>, <@mesh, [{"d"}, {}]>, <@mesh, [{"d"}, {}]>] out_shardings=[<@mesh, [{"d"}, {}]>] manual_axes={"d"} (%a: tensor<16x128xf32>, %b: tensor<16x128xf32>, %c: tensor<16x128xf32>) {
    %1 = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<16x128xf32>) -> tensor<128x128xf32>
    %2 = stablehlo.dot_general %a, %1, contracting_dims = [1] x [0] : (tensor<16x128xf32>, tensor<128x128xf32>) -> tensor<16x128xf32>
    %3 = "stablehlo.all_gather"(%c) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<16x128xf32>) -> tensor<128x128xf32>
    %4 = stablehlo.dot_general %2, %3, contracting_dims = [1] x [0] : (tensor<16x128xf32>, tensor<128x128xf32>) -> tensor<16x128xf32>
    %5 = stablehlo.tanh %3 : tensor<128x128xf32>
    %6 = stablehlo.dot_general %4, %5, contracting_dims = [1] x [0] : (tensor<16x128xf32>, tensor<128x128xf32>) -> tensor<16x128xf32>
    sdy.return %6 : tensor<16x128xf32>
  } : (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
