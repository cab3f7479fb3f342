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

// A product of few factors has a power of the scale: 2^-2 to the third.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -2 : i64}) -> (tensor<2xf32> {scalify.pair}) {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}} {scalify.forms = ["2^-2"]}
  // CHECK:      stablehlo.reduce(%[[X]] init: %{{.*}}) applies stablehlo.multiply across dimensions = [1] {scalify.forms = ["2^-6"]}
  %i = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [1]
    : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// One of many factors reads values.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x17xf32> {scalify.pair}) -> tensor<2xf32> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: stablehlo.reduce(%[[X]] init: %{{.*}}) applies stablehlo.multiply across dimensions = [1] :
  %i = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [1]
    : (tensor<2x17xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// The largest element and where it is, as jax has it: the region is left as it was.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2xf32> {scalify.pair}, tensor<2xi32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %iota = stablehlo.iota dim = 1 : tensor<2x3xi32>
  // CHECK:      %[[Y:.*]]:2 = stablehlo.reduce(%arg0 init: %{{.*}}), (%{{.*}} init: %{{.*}}) across dimensions = [1] {scalify.forms = ["s0", "unscaled"]}
  %0:2 = stablehlo.reduce(%x init: %low), (%iota init: %c) across dimensions = [1]
    : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
      // CHECK:      stablehlo.compare GT, %{{.*}}, %{{.*}}, FLOAT :
      %1 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.or %1, %2 : tensor<i1>
      %4 = stablehlo.select %3, %a, %b : tensor<i1>, tensor<f32>
      %5 = stablehlo.select %3, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %4, %5 : tensor<f32>, tensor<i32>
    }
  // CHECK:      return %[[Y]]#0, %arg1, %[[Y]]#1
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}

// -----

// Two sums have a scale each; what is read by its value is unscaled, and nothing else.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.pair}, %y: tensor<2x16xf32> {scalify.pair},
                %z: tensor<2x16xf32> {scalify.pair})
    -> (tensor<2xf32> {scalify.pair}, tensor<2xf32> {scalify.pair}, tensor<2xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK:      %[[Z:.*]] = stablehlo.multiply %arg4, %{{.*}}
  // CHECK:      stablehlo.reduce(%arg0 init: %{{.*}}), (%arg2 init: %{{.*}}), (%[[Z]] init: %{{.*}}) across dimensions = [1] {scalify.forms = ["s0 level 2", "s1 level 2", "unscaled"]}
  %0:3 = stablehlo.reduce(%x init: %i), (%y init: %i), (%z init: %i) across dimensions = [1]
    : (tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<f32>, tensor<f32>, tensor<f32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
    reducer(%a: tensor<f32>, %d: tensor<f32>) (%b: tensor<f32>, %e: tensor<f32>)
        (%c: tensor<f32>, %f: tensor<f32>) {
      %1 = stablehlo.add %a, %d : tensor<f32>
      %2 = stablehlo.add %b, %e : tensor<f32>
      %3 = stablehlo.exponential %f : tensor<f32>
      %4 = stablehlo.add %c, %3 : tensor<f32>
      stablehlo.return %1, %2, %4 : tensor<f32>, tensor<f32>, tensor<f32>
    }
  return %0#0, %0#1, %0#2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
