// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize)' | %filecheck %s

// Expanded before scales propagate.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     chlo.
func.func @main(%x: tensor<5x3xf32>, %i: tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>) {
  // CHECK: stablehlo.while
 %0:2 = "chlo.scan"(%x, %i) ({
 ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
   %s = stablehlo.add %a, %b : tensor<3xf32>
   "stablehlo.return"(%s, %s) : (tensor<3xf32>, tensor<3xf32>) -> ()
 }) {dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>} : (tensor<5x3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
 return %0#0, %0#1 : tensor<5x3xf32>, tensor<3xf32>
}
