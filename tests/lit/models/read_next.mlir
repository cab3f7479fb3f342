// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s

// A sum whose only reader needs it at scale 1 is made there, if its operands are rescaled anyway.
// CHECK:      module {
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<8xf32>, %arg3: tensor<f32> {scalify.is_scale}, %arg4: tensor<8xf32>) -> (tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
// CHECK-NEXT: %0 = stablehlo.divide %arg3, %arg1 : tensor<f32>
// CHECK-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %2 = stablehlo.multiply %arg2, %1 : tensor<8xf32>
// CHECK-NEXT: %3 = stablehlo.add %arg0, %2 {scalify.forms = ["s0"]} : tensor<8xf32>
// CHECK-NEXT: %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %5 = stablehlo.multiply %3, %4 : tensor<8xf32>
// CHECK-NEXT: %6 = stablehlo.tanh %5 : tensor<8xf32>
// CHECK-NEXT: %7 = stablehlo.maximum %arg0, %2 {scalify.forms = ["s0"]} : tensor<8xf32>
// CHECK-NEXT: %8 = stablehlo.add %arg0, %arg0 {scalify.forms = ["s0"]} : tensor<8xf32>
// CHECK-NEXT: %9 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %10 = stablehlo.multiply %8, %9 : tensor<8xf32>
// CHECK-NEXT: %11 = stablehlo.exponential %10 : tensor<8xf32>
// CHECK-NEXT: %12 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %13 = stablehlo.multiply %arg0, %12 : tensor<8xf32>
// CHECK-NEXT: %14 = stablehlo.subtract %13, %arg4 {scalify.forms = ["2^0"]} : tensor<8xf32>
// CHECK-NEXT: %15 = stablehlo.add %arg2, %arg2 {scalify.forms = ["s1"]} : tensor<8xf32>
// CHECK-NEXT: %16 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %17 = stablehlo.multiply %15, %16 : tensor<8xf32>
// CHECK-NEXT: return %7, %arg1, %8, %arg1, %6, %14, %17 : tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }

module {
  func.func @main(%x: tensor<8xf32> {scalify.pair}, %y: tensor<8xf32> {scalify.pair}, %z: tensor<8xf32>)
      -> (tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = stablehlo.add %x, %y : tensor<8xf32>
    %1 = stablehlo.tanh %0 : tensor<8xf32>
    %2 = stablehlo.maximum %x, %y : tensor<8xf32>
    %3 = stablehlo.add %x, %x : tensor<8xf32>
    %4 = stablehlo.exponential %3 : tensor<8xf32>
    %5 = stablehlo.subtract %x, %z : tensor<8xf32>
    %6 = stablehlo.add %y, %y : tensor<8xf32>
    return %2, %3, %1, %5, %6 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
