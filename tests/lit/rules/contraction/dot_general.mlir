// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Scales multiply, and sums of 16 terms raise the level by log2(sqrt(16)) = 2, paid where the
// result leaves: Y_d/2^2, Y_s*2^2.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.pair}, %y: tensor<16x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[S01:.*]] = stablehlo.multiply %arg1, %arg3 : tensor<f32>
  // CHECK:      %[[S:.*]] = stablehlo.multiply %[[S01]], %{{.*}} : tensor<f32>
  // CHECK:      %[[Z:.*]] = stablehlo.dot_general %arg0, %arg2,{{.*}}["s0*s1 level 2"]
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x16xf32>, tensor<16x3xf32>) -> tensor<2x3xf32>
  // CHECK:      %[[PAY:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<2x3xf32>
  // CHECK-NEXT: %[[D:.*]] = stablehlo.multiply %[[Z]], %[[PAY]]
  // CHECK-NEXT: return %[[D]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// Static scales cost nothing but constants.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.scale = -4 : i64}, %y: tensor<16x3xf32>)
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[Z:.*]] = stablehlo.dot_general %[[X]], %arg1,{{.*}}["2^-4 level 2"]
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x16xf32>, tensor<16x3xf32>) -> tensor<2x3xf32>
  // CHECK:      %[[PAY:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<2x3xf32>
  // CHECK-NEXT: %[[D:.*]] = stablehlo.multiply %[[Z]], %[[PAY]]
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<f32>
  // CHECK-NEXT: return %[[D]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// A result that leaves at scale 1 takes one factor.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.pair}, %y: tensor<16x3xf32>) -> tensor<2x3xf32> {
  // CHECK:      %[[Z:.*]] = stablehlo.dot_general %arg0, %arg2,{{.*}}["s0 level 2"]
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x16xf32>, tensor<16x3xf32>) -> tensor<2x3xf32>
  // CHECK:      %[[FACTOR:.*]] = stablehlo.broadcast_in_dim %arg1, dims = []
  // CHECK-NEXT: %[[D:.*]] = stablehlo.multiply %[[Z]], %[[FACTOR]]
  // CHECK-NEXT: return %[[D]] :
  return %0 : tensor<2x3xf32>
}

// -----

// A static scale of 2^-8 is far from 1. A result that is smaller than the operands is rescaled
// itself, so that no operand exists twice.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x2xf32> {scalify.scale = -4 : i64},
                %y: tensor<16x3xf32> {scalify.scale = -4 : i64}) -> tensor<2x3xf32> {
  // CHECK:      %[[A:.*]] = stablehlo.negate
  %a = stablehlo.negate %x : tensor<16x2xf32>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.negate
  %b = stablehlo.negate %y : tensor<16x3xf32>
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.dot_general %[[A]], %[[B]],
  // CHECK:      %[[UP:.*]] = stablehlo.constant dense<3.906250e-03> : tensor<2x3xf32>
  // CHECK-NEXT: %[[V:.*]] = stablehlo.multiply %[[Z]], %[[UP]]
  // CHECK-NEXT: return %[[V]]
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0]
    : (tensor<16x2xf32>, tensor<16x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// The operand is rescaled where the result is larger.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xf32> {scalify.scale = -5 : i64},
                %y: tensor<2x16xf32> {scalify.scale = -5 : i64}) -> tensor<16x16xf32> {
  // CHECK:      %[[A:.*]] = stablehlo.negate
  %a = stablehlo.negate %x : tensor<2x16xf32>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.negate
  %b = stablehlo.negate %y : tensor<2x16xf32>
  // CHECK-NEXT: %[[UP:.*]] = stablehlo.constant dense<3.125000e-02> : tensor<2x16xf32>
  // CHECK-NEXT: %[[V:.*]] = stablehlo.multiply %[[A]], %[[UP]]
  // CHECK-NEXT: stablehlo.dot_general %[[V]], %[[B]],
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0]
    : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// -----

// An argument exists at scale 1 as well, which costs nothing.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x2xf32> {scalify.scale = -5 : i64},
                %y: tensor<16x3xf32> {scalify.scale = -5 : i64}) -> tensor<2x3xf32> {
  // CHECK:      %[[A:.*]] = stablehlo.negate
  %a = stablehlo.negate %x : tensor<16x2xf32>
  // CHECK-NEXT: stablehlo.dot_general %[[A]], %arg1,
  %0 = stablehlo.dot_general %a, %y, contracting_dims = [0] x [0]
    : (tensor<16x2xf32>, tensor<16x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// So is the operand where the data of the result would be far from unit, here by 10 octaves.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x2xf32> {scalify.scale = -5 : i64},
                %y: tensor<16x3xf32> {scalify.scale = -5 : i64}) -> tensor<2x3xf32> {
  // CHECK:      %[[A:.*]] = stablehlo.negate
  %a = stablehlo.negate %x : tensor<16x2xf32>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.negate
  %b = stablehlo.negate %y : tensor<16x3xf32>
  // CHECK-NEXT: %[[UP:.*]] = stablehlo.constant dense<3.125000e-02> : tensor<16x2xf32>
  // CHECK-NEXT: %[[V:.*]] = stablehlo.multiply %[[A]], %[[UP]]
  // CHECK-NEXT: stablehlo.dot_general %[[V]], %[[B]],
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0]
    : (tensor<16x2xf32>, tensor<16x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
