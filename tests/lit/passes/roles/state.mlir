// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-roles)' | %filecheck %s

// A moment's one use is its update; the degree is that of what is added.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg1: tensor<4xf32> {scalify.role = "first_moment"}
// CHECK-SAME: %arg2: tensor<4xf32> {scalify.role = "second_moment"}
// CHECK-SAME: -> (tensor<4xf32> {scalify.carries = 1 : i64, scalify.role = "first_moment"}, tensor<4xf32> {scalify.carries = 2 : i64, scalify.role = "second_moment"})
func.func @main(%x: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %g = stablehlo.exponential %x : tensor<4xf32>
  %c = stablehlo.constant dense<0.5> : tensor<4xf32>
  %m0 = stablehlo.multiply %m, %c : tensor<4xf32>
  %m1 = stablehlo.add %m0, %g : tensor<4xf32>
  %g2 = stablehlo.multiply %g, %g : tensor<4xf32>
  %v0 = stablehlo.multiply %v, %c : tensor<4xf32>
  %v1 = stablehlo.add %v0, %g2 : tensor<4xf32>
  return %m1, %v1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Also where a function, which a loop calls, does it. What nothing is added to is no moment.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<4xf32> {scalify.role = "first_moment"}
// CHECK-SAME: %arg2: tensor<4xf32>) -> (tensor<4xf32> {scalify.carries = 0 : i64, scalify.role = "first_moment"}, tensor<4xf32>)
func.func @main(%m: tensor<4xf32>, %x: tensor<4xf32>, %k: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %g = stablehlo.exponential %x : tensor<4xf32>
  %go = stablehlo.constant dense<true> : tensor<i1>
  %r:2 = stablehlo.while(%a = %m, %b = %k) : tensor<4xf32>, tensor<4xf32>
   cond {
    stablehlo.return %go : tensor<i1>
  } do {
    %new = func.call @update(%a, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %new, %b : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @update(%m: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %m, %g : tensor<4xf32>
  return %0 : tensor<4xf32>
}
