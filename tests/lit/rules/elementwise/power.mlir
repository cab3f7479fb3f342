// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A constant integer power multiplies the exponent of the scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[S2:.*]] = stablehlo.multiply %arg1, %arg1 : tensor<f32>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.multiply %[[S2]], %arg1 : tensor<f32>
  %n = stablehlo.constant dense<3.0> : tensor<2x3xf32>
  // CHECK:      %[[Y:.*]] = stablehlo.power %arg0, %{{.*}} {scalify.forms = ["s0^3"]}
  %0 = stablehlo.power %x, %n : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// So do negative ones.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  %n = stablehlo.constant dense<-2.0> : tensor<2x3xf32>
  // CHECK:      %[[Y:.*]] = stablehlo.power %[[X]], %{{.*}} {scalify.forms = ["2^8"]}
  %0 = stablehlo.power %x, %n : tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<2.560000e+02> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// Any other power reads values on both sides.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32> {scalify.pair})
    -> tensor<2x3xf32> {
  // CHECK-DAG:  %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-DAG:  %[[Y:.*]] = stablehlo.multiply %arg2, %{{.*}}
  // CHECK:      %[[Z:.*]] = stablehlo.power %[[X]], %[[Y]] :
  %0 = stablehlo.power %x, %y : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Z]] :
  return %0 : tensor<2x3xf32>
}
