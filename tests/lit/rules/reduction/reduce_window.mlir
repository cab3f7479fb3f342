// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Sums over windows of 4 raise the level by 1, paid where the result leaves.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x4xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[SUM:.*]] = "stablehlo.reduce_window"(%[[X]], %{{.*}})
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{
    window_dimensions = array<i64: 1, 4>, window_strides = array<i64: 1, 4>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x4xf32>
  // CHECK:      scalify.forms = ["2^-4 level 1"]
  // CHECK:      %[[PAY:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<2x4xf32>
  // CHECK-NEXT: %[[D:.*]] = stablehlo.multiply %[[SUM]], %[[PAY]]
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<1.250000e-01> : tensor<f32>
  // CHECK-NEXT: return %[[D]], %[[S]]
  return %0 : tensor<2x4xf32>
}

// -----

// Max-pooling keeps the scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x4xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[MAX:.*]] = "stablehlo.reduce_window"(%[[X]], %{{.*}})
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{
    window_dimensions = array<i64: 1, 4>, window_strides = array<i64: 1, 4>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x4xf32>
  // CHECK:      scalify.forms = ["2^-4"]
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[MAX]], %[[S]]
  return %0 : tensor<2x4xf32>
}

// -----

// Products read values.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.pair}) -> tensor<2x4xf32> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: "stablehlo.reduce_window"(%[[X]], %{{.*}})
  %i = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{
    window_dimensions = array<i64: 1, 4>, window_strides = array<i64: 1, 4>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// Two windows at once have a scale each.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.pair}, %y: tensor<2x16xf32> {scalify.pair})
    -> (tensor<2x4xf32> {scalify.pair}, tensor<2x4xf32> {scalify.pair}) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %j = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK:      "stablehlo.reduce_window"(%arg0, %arg2, %{{.*}}, %{{.*}})
  %0:2 = "stablehlo.reduce_window"(%x, %y, %i, %j) <{
    window_dimensions = array<i64: 1, 4>, window_strides = array<i64: 1, 4>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.add %a, %c : tensor<f32>
    %2 = stablehlo.maximum %b, %d : tensor<f32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
  }) : (tensor<2x16xf32>, tensor<2x16xf32>, tensor<f32>, tensor<f32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>)
  // CHECK:      scalify.forms = ["s0 level 1", "s1"]
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<2x4xf32>
}
