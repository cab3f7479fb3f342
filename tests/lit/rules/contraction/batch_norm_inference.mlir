// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Epsilon is an attribute and cannot follow a scale: values are read.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair},
                %g: tensor<3xf32>,
                %o: tensor<3xf32>,
                %m: tensor<3xf32>,
                %v: tensor<3xf32>)
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[FACTOR:.*]] = stablehlo.broadcast_in_dim %arg1, dims = []
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[FACTOR]]
  // CHECK-NEXT: %[[Y:.*]] = "stablehlo.batch_norm_inference"(%[[X]], %arg2, %arg3, %arg4, %arg5)
  %0 = "stablehlo.batch_norm_inference"(%x, %g, %o, %m, %v) <{
    epsilon = 1.0e-5 : f32, feature_index = 1 : i64
  }> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// An argument with a static scale is there at scale 1 already.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64},
                %g: tensor<3xf32>,
                %o: tensor<3xf32>,
                %m: tensor<3xf32>,
                %v: tensor<3xf32>)
    -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[Y:.*]] = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4)
  %0 = "stablehlo.batch_norm_inference"(%x, %g, %o, %m, %v) <{
    epsilon = 1.0e-5 : f32, feature_index = 1 : i64
  }> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]] :
  return %0 : tensor<2x3xf32>
}
