// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// With static scales alone there is no scale arithmetic: nothing of rank 0 is computed.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     {{(multiply|divide|maximum|sqrt|bitcast_convert) .*: tensor<f32>}}
func.func @main(%x: tensor<8x16xf32> {scalify.scale = -4 : i64},
                %w: tensor<16x4xf32> {scalify.scale = -3 : i64},
                %b: tensor<4xf32> {scalify.scale = -5 : i64}) -> tensor<8x4xf32> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}} {scalify.forms = ["2^-4"]}
  // CHECK:      %[[W:.*]] = stablehlo.multiply %arg1, %{{.*}} {scalify.forms = ["2^-3"]}
  // CHECK:      %[[XW:.*]] = stablehlo.dot_general %[[X]], %[[W]]{{.*}}["2^-7 level 2"]
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  // The bias is brought to 2^-7 before it is broadcast, in the multiplication at entry.
  // CHECK:      %[[B:.*]] = stablehlo.multiply %arg2, %{{.*}} : tensor<4xf32>
  // CHECK-NEXT: %[[WIDE:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [1]
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.add %[[XW]], %[[WIDE]] {scalify.forms = ["2^-7 level 2"]}
  %2 = stablehlo.add %0, %1 : tensor<8x4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  // CHECK:      %[[RELU:.*]] = stablehlo.maximum %[[Y]], %{{.*}} {scalify.forms = ["2^-7 level 2"]}
  %3 = stablehlo.maximum %2, %z : tensor<8x4xf32>
  // CHECK:      %[[OUT:.*]] = stablehlo.multiply %[[RELU]], %{{.*}} : tensor<8x4xf32>
  // CHECK-NEXT: return %[[OUT]]
  return %3 : tensor<8x4xf32>
}
