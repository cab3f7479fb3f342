// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A sum of 16 terms raises the level by 2, paid where the result leaves: Y_d/2^2, 2^-4*2^2.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.scale = -4 : i64}) -> (tensor<2xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[SUM:.*]] = stablehlo.reduce(%[[X]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^-4 level 2"]}
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1]
    : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK:      %[[PAY:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<2xf32>
  // CHECK-NEXT: %[[D:.*]] = stablehlo.multiply %[[SUM]], %[[PAY]]
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<f32>
  // CHECK-NEXT: return %[[D]], %[[S]]
  return %0 : tensor<2xf32>
}

// -----

// At run time too: Y_s = X_s * 2^2.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.pair}) -> (tensor<2xf32> {scalify.pair}) {
  // CHECK:      %[[FOUR:.*]] = stablehlo.constant dense<4.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.multiply %arg1, %[[FOUR]] : tensor<f32>
  // CHECK:      %[[SUM:.*]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.add across dimensions = [1] {scalify.forms = ["s0 level 2"]}
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1]
    : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK:      %[[D:.*]] = stablehlo.multiply %[[SUM]], %{{.*}}
  // CHECK-NEXT: return %[[D]], %[[S]]
  return %0 : tensor<2xf32>
}

// -----

// A maximum keeps the scale; -inf to begin with fits any.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.scale = -4 : i64}) -> (tensor<2xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[MAX:.*]] = stablehlo.reduce(%[[X]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [1] {scalify.forms = ["2^-4"]}
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1]
    : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[MAX]], %[[S]]
  return %0 : tensor<2xf32>
}

// -----

// Where else a sum begins is brought to the scale: 1 = 16 * 2^-4.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.scale = -4 : i64}) -> (tensor<2xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[ONE:.*]] = stablehlo.constant dense<1.600000e+01> : tensor<f32>
  // CHECK-NEXT: stablehlo.reduce(%[[X]] init: %[[ONE]]) applies stablehlo.add{{.*}}["2^-4 level 2"]
  %i = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1]
    : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<f32>
  return %0 : tensor<2xf32>
}

// -----

// Products have no common scale: values are read.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.pair}) -> tensor<2xf32> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: stablehlo.reduce(%[[X]] init: %{{.*}}) applies stablehlo.multiply across dimensions = [1] :
  %i = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [1]
    : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
