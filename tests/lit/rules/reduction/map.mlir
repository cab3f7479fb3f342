// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A function that is homogeneous runs on data: scales multiply as the values do.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = stablehlo.multiply %arg2, %{{.*}} {scalify.forms = ["2^-4"]}
  // CHECK:      %[[Z:.*]] = "stablehlo.map"(%arg0, %[[Y]])
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %a : tensor<f32>
    %2 = stablehlo.divide %1, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK:      scalify.forms = ["2^4*s0^2"]
  // CHECK:      return %[[Z]], %{{.*}}
  return %0 : tensor<2x3xf32>
}

// -----

// A term is brought to the scale of the product that it is added to.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}, %y: tensor<4xf32> {scalify.pair},
                %z: tensor<4xf32> {scalify.pair}) -> (tensor<4xf32> {scalify.pair}) {
  // CHECK:      %[[PRODUCT:.*]] = stablehlo.multiply %arg1, %arg3
  // CHECK:      stablehlo.divide %arg5, %[[PRODUCT]]
  // CHECK:      %[[Z:.*]] = stablehlo.multiply %arg4, %{{.*}}
  // CHECK-NEXT: "stablehlo.map"(%arg0, %arg2, %[[Z]])
  %0 = "stablehlo.map"(%x, %y, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.multiply %a, %b : tensor<f32>
    %2 = stablehlo.add %1, %c : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK:      scalify.forms = ["s0*s1"]
  return %0 : tensor<4xf32>
}

// -----

// What a function of values reads is unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> tensor<2x3xf32> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = "stablehlo.map"(%[[X]])
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>):
    %1 = stablehlo.exponential %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK:      return %[[Y]] :
  return %0 : tensor<2x3xf32>
}
