// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Which element is the largest, the data tell; what is scattered keeps its own scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x8xf32> {scalify.pair}, %u: tensor<2x4xf32> {scalify.pair})
    -> (tensor<2x8xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = "stablehlo.select_and_scatter"(%arg0, %arg2, %{{.*}})
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{
    window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x8xf32>
  // CHECK:      scalify.forms = ["s1"]
  // CHECK:      return %[[Y]], %arg3
  return %0 : tensor<2x8xf32>
}

// -----

// The same with a static scale, selecting by unscaled data.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x8xf32>, %u: tensor<2x4xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x8xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[U:.*]] = stablehlo.multiply %arg1, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[Y:.*]] = "stablehlo.select_and_scatter"(%arg0, %[[U]], %{{.*}})
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{
    window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x8xf32>
  // CHECK:      scalify.forms = ["2^-4"]
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<2x8xf32>
}

// -----

// Other ways to combine read values.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x8xf32>, %u: tensor<2x4xf32> {scalify.pair}) -> tensor<2x8xf32> {
  // CHECK:      %[[U:.*]] = stablehlo.multiply %arg1, %{{.*}}
  // CHECK-NEXT: "stablehlo.select_and_scatter"(%arg0, %[[U]], %{{.*}})
  %i = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{
    window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// Selection by values reads them; what is scattered keeps its scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x8xf32> {scalify.pair}, %u: tensor<2x4xf32> {scalify.pair})
    -> (tensor<2x8xf32> {scalify.pair}) {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = "stablehlo.select_and_scatter"(%[[X]], %arg2, %{{.*}})
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{
    window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.minimum %a, %one : tensor<f32>
    %2 = stablehlo.compare GE, %1, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x8xf32>
  // CHECK:      return %[[Y]], %arg3
  return %0 : tensor<2x8xf32>
}
