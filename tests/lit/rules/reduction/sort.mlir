// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Each operand keeps its scale: a common positive factor keeps the order.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}, tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]]:2 = "stablehlo.sort"(%arg0, %arg2)
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  // CHECK:      scalify.forms = ["s0", "s1"]
  // CHECK:      return %[[Y]]#0, %arg1, %[[Y]]#1, %arg3
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// Zeros and NaN in a comparator fit any scale, as those of jax.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}, %i: tensor<4xi32>) -> tensor<4xi32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK:      %[[Y:.*]]:2 = "stablehlo.sort"(%arg0, %arg2)
  %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    // CHECK:      stablehlo.compare EQ, %{{.*}}, %cst
    %1 = stablehlo.compare EQ, %a, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %zero, %a : tensor<i1>, tensor<f32>
    %3 = stablehlo.compare LT, %2, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  // CHECK:      return %[[Y]]#1
  return %0#1 : tensor<4xi32>
}

// -----

// Operands that are compared with each other are brought to one scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}, %y: tensor<4xf32> {scalify.pair})
    -> (tensor<4xf32> {scalify.pair}) {
  // CHECK:      %[[RATIO:.*]] = stablehlo.divide %arg3, %arg1
  // CHECK:      %[[Y:.*]] = stablehlo.multiply %arg2, %{{.*}}
  // CHECK-NEXT: "stablehlo.sort"(%arg0, %[[Y]])
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.maximum %a, %c : tensor<f32>
    %2 = stablehlo.maximum %b, %d : tensor<f32>
    %3 = stablehlo.compare LT, %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK:      scalify.forms = ["s0", "s0"]
  %4 = stablehlo.subtract %0#0, %0#1 : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// Where the order depends on values, the operand concerned is unscaled, and no other.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}, %y: tensor<4xf32> {scalify.pair})
    -> (tensor<4xf32>, tensor<4xf32> {scalify.pair}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]]:2 = "stablehlo.sort"(%[[X]], %arg2)
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.minimum %a, %one : tensor<f32>
    %2 = stablehlo.compare LT, %1, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK:      scalify.forms = ["unscaled", "s1"]
  // CHECK:      return %[[Y]]#0, %[[Y]]#1, %arg3
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// What a region captures is read at scale 1, and so is what it is compared with.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}, %y: tensor<f32> {scalify.pair}) -> tensor<4xf32> {
  // CHECK-DAG:  %[[Y:.*]] = stablehlo.multiply %arg2, %arg3
  // CHECK-DAG:  %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK:      "stablehlo.sort"(%[[X]])
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // CHECK:      stablehlo.minimum %{{.*}}, %[[Y]]
    %1 = stablehlo.minimum %a, %y : tensor<f32>
    %2 = stablehlo.compare LT, %1, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
