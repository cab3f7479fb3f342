// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{annotate=false})' \
// RUN:   | %filecheck %s

// Without a scaled input the program stays what it was, op for op.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<3.000000e+00> : tensor<4xf32>
  %c = stablehlo.constant dense<3.0> : tensor<4xf32>
  // CHECK-NEXT: %[[A:.*]] = stablehlo.multiply %arg0, %[[C]] : tensor<4xf32>
  %0 = stablehlo.multiply %x, %c : tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = call @f(%[[A]]) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @f(%0) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = stablehlo.add %[[B]], %arg1 : tensor<4xf32>
  %2 = stablehlo.add %1, %y : tensor<4xf32>
  // CHECK-NEXT: return %[[R]] : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: func.func private @f
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[E:.*]] = stablehlo.exponential %arg0 : tensor<4xf32>
  %0 = stablehlo.exponential %x : tensor<4xf32>
  // CHECK-NEXT: return %[[E]]
  return %0 : tensor<4xf32>
}
