// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Scales multiply; the kernel has 16 elements for each output feature, so the level is 2.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x9x4xf32> {scalify.pair},
                %y: tensor<4x4x3xf32> {scalify.pair},
                %p: tensor<1x2xi64>)
    -> (tensor<1x6x3xf32> {scalify.pair}) {
  // CHECK:      %[[S01:.*]] = stablehlo.multiply %arg1, %arg3 : tensor<f32>
  // CHECK:      %[[S:.*]] = stablehlo.multiply %[[S01]], %{{.*}} : tensor<f32>
  // CHECK:      %[[Z:.*]] = "stablehlo.dynamic_conv"(%arg0, %arg2, %arg4){{.*}}["s0*s1 level 2"]
  %0 = "stablehlo.dynamic_conv"(%x, %y, %p) <{
    batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>
  }> : (tensor<1x9x4xf32>, tensor<4x4x3xf32>, tensor<1x2xi64>) -> tensor<1x6x3xf32>
  // CHECK:      %[[D:.*]] = stablehlo.multiply %[[Z]], %{{.*}}
  // CHECK-NEXT: return %[[D]], %[[S]]
  return %0 : tensor<1x6x3xf32>
}

// -----

// An unscaled kernel has scale 1.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x9x4xf32> {scalify.scale = -4 : i64},
                %y: tensor<4x4x3xf32>,
                %p: tensor<1x2xi64>)
    -> (tensor<1x6x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      "stablehlo.dynamic_conv"(%[[X]], %arg1, %arg2){{.*}}["2^-4 level 2"]
  %0 = "stablehlo.dynamic_conv"(%x, %y, %p) <{
    batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>
  }> : (tensor<1x9x4xf32>, tensor<4x4x3xf32>, tensor<1x2xi64>) -> tensor<1x6x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<f32>
  return %0 : tensor<1x6x3xf32>
}
