// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-propagate)' \
// RUN:   | %filecheck %s

// A call that has a scale for a further result says where that is placed: on all devices.
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<8x8xf32> {scalify.scale = 3 : i64}) -> tensor<8x8xf32> {
    // CHECK: call @f_scaled_0(%{{.*}}) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, []>]>}
    %0 = func.call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
  func.func private @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = func.call @m(%x) {scalify.every = 1 : i64, scalify.marker = "dynamic_rescale", scalify.statistic = "l2"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
  func.func private @m(%x: tensor<8x8xf32>) -> tensor<8x8xf32> { return %x : tensor<8x8xf32> }
}
