// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Bits belong to the value, X_d * X_s.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> tensor<2x3xi32> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.bitcast_convert %[[X]] :
  %0 = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
  // CHECK-NEXT: return %[[Y]] :
  return %0 : tensor<2x3xi32>
}

// -----

// What they are made of has no scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xi32>, %y: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[X:.*]] = stablehlo.bitcast_convert %arg0 :
  %0 = stablehlo.bitcast_convert %x : (tensor<2x3xi32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.multiply %[[X]], %arg1 {scalify.forms = ["s0"]}
  %1 = stablehlo.multiply %0, %y : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]], %arg2
  return %1 : tensor<2x3xf32>
}
