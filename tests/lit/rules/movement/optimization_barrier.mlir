// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Each operand keeps its own scale, integers pass.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair},
                %y: tensor<4xf32> {scalify.pair},
                %n: tensor<i32>)
    -> (tensor<2x3xf32> {scalify.pair}, tensor<4xf32> {scalify.pair}, tensor<i32>) {
  // CHECK: %[[B:.*]]:3 = stablehlo.optimization_barrier {scalify.forms = ["s0", "s1", "unscaled"]} %arg0, %arg2, %arg4
  %0:3 = stablehlo.optimization_barrier %x, %y, %n : tensor<2x3xf32>, tensor<4xf32>, tensor<i32>
  // CHECK-NEXT: return %[[B]]#0, %arg1, %[[B]]#1, %arg3, %[[B]]#2
  return %0#0, %0#1, %0#2 : tensor<2x3xf32>, tensor<4xf32>, tensor<i32>
}

// -----

// Static scales are known on both sides of it.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64}, %y: tensor<2x3xf32>)
    -> (tensor<2x3xf32> {scalify.pair}, tensor<2x3xf32>) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[B:.*]]:2 = stablehlo.optimization_barrier {scalify.forms = ["2^-4", "unscaled"]} %[[X]], %arg1
  %0:2 = stablehlo.optimization_barrier %x, %y : tensor<2x3xf32>, tensor<2x3xf32>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[B]]#0, %[[S]], %[[B]]#1
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xf32>
}
