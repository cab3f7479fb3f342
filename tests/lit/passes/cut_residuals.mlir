// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-cut-residuals)' | %filecheck %s

// The backward loop reads the exponential and the logistic of what the forward loop keeps besides.
// Both are computed again; the sum of a row is kept, as it is small and not cheap.
// CHECK-LABEL: func.func @main
// CHECK:         stablehlo.while
// CHECK-SAME:      : tensor<i32>, tensor<4x8xf32>, tensor<3x4x8xf32>, tensor<3x4xf32>
// CHECK:           stablehlo.exponential
// CHECK:           stablehlo.reduce
// CHECK:         stablehlo.while
// CHECK-SAME:      : tensor<3x4x8xf32>, tensor<3x4xf32>, tensor<i32>, tensor<4x8xf32>
// CHECK:         } do {
// CHECK:           %[[TURN:.*]] = stablehlo.subtract
// CHECK:           %[[ROW:.*]] = stablehlo.dynamic_slice %{{.*}}, %[[TURN]],
// CHECK:           %[[X:.*]] = stablehlo.reshape %[[ROW]]
// CHECK:           stablehlo.exponential %[[X]]
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %stack = stablehlo.constant dense<0.0> : tensor<3x4x8xf32>
  %sums = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  %f:5 = stablehlo.while(%i = %zero, %a = %x, %xs = %stack, %es = %stack, %rs = %sums)
      : tensor<i32>, tensor<4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4xf32>
  cond {
    %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %e = stablehlo.exponential %a : tensor<4x8xf32>
    %r = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %r8 = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
    %next = stablehlo.divide %e, %r8 : tensor<4x8xf32>
    %x1 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
    %e1 = stablehlo.broadcast_in_dim %e, dims = [1, 2] : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
    %r1 = stablehlo.reshape %r : (tensor<4xf32>) -> tensor<1x4xf32>
    %xs1 = stablehlo.dynamic_update_slice %xs, %x1, %i, %zero, %zero : (tensor<3x4x8xf32>, tensor<1x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x8xf32>
    %es1 = stablehlo.dynamic_update_slice %es, %e1, %i, %zero, %zero : (tensor<3x4x8xf32>, tensor<1x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x8xf32>
    %rs1 = stablehlo.dynamic_update_slice %rs, %r1, %i, %zero : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next, %xs1, %es1, %rs1 : tensor<i32>, tensor<4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4xf32>
  }
  %b:5 = stablehlo.while(%xs = %f#2, %es = %f#3, %rs = %f#4, %i = %zero, %g = %f#1)
      : tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4xf32>, tensor<i32>, tensor<4x8xf32>
  cond {
    %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %turn = stablehlo.subtract %two, %i : tensor<i32>
    %x1 = stablehlo.dynamic_slice %xs, %turn, %zero, %zero, sizes = [1, 4, 8] : (tensor<3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %e1 = stablehlo.dynamic_slice %es, %turn, %zero, %zero, sizes = [1, 4, 8] : (tensor<3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %r1 = stablehlo.dynamic_slice %rs, %turn, %zero, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %a = stablehlo.reshape %x1 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    %e = stablehlo.reshape %e1 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    %r = stablehlo.reshape %r1 : (tensor<1x4xf32>) -> tensor<4xf32>
    %r8 = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
    %ga = stablehlo.multiply %g, %a : tensor<4x8xf32>
    %ge = stablehlo.multiply %ga, %e : tensor<4x8xf32>
    %next = stablehlo.divide %ge, %r8 : tensor<4x8xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %xs, %es, %rs, %j, %next : tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4xf32>, tensor<i32>, tensor<4x8xf32>
  }
  return %b#4 : tensor<4x8xf32>
}
