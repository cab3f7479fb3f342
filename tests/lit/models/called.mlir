// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s

// Markers in a function that is called by another one, and in functions that nothing calls.
// CHECK:      module {
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32>, %arg2: tensor<8xf32>, %arg3: tensor<f32>) -> (tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) {
// CHECK-NEXT: %0:2 = call @outer_scaled_0(%arg0, %arg1) {scalify.forms = ["s2", "unscaled"]} : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
// CHECK-NEXT: %1:2 = call @outer_scaled_0(%arg2, %arg3) {scalify.forms = ["s3", "unscaled"]} : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
// CHECK-NEXT: %2 = stablehlo.broadcast_in_dim %1#1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %3 = stablehlo.multiply %1#0, %2 : tensor<8xf32>
// CHECK-NEXT: %4 = stablehlo.tanh %3 : tensor<8xf32>
// CHECK-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %5 = stablehlo.optimization_barrier %arg2 : tensor<8xf32>
// CHECK-NEXT: %6 = stablehlo.abs %5 : tensor<8xf32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
// CHECK-NEXT: %8 = stablehlo.multiply %7, %cst_1 : tensor<f32>
// CHECK-NEXT: %9 = stablehlo.bitcast_convert %8 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHECK-NEXT: %10 = stablehlo.and %9, %c : tensor<ui32>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<1> : tensor<ui32>
// CHECK-NEXT: %11 = stablehlo.subtract %10, %c_2 : tensor<ui32>
// CHECK-NEXT: %c_3 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHECK-NEXT: %12 = stablehlo.compare LT, %11, %c_3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHECK-NEXT: %13 = stablehlo.bitcast_convert %10 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %14 = stablehlo.select %12, %13, %cst : tensor<i1>, tensor<f32>
// CHECK-NEXT: %15 = stablehlo.multiply %14, %arg3 : tensor<f32>
// CHECK-NEXT: %cst_4 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_5 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %16 = stablehlo.clamp %cst_4, %15, %cst_5 : tensor<f32>
// CHECK-NEXT: %17 = stablehlo.bitcast_convert %16 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_6 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %18 = stablehlo.subtract %c_6, %17 : tensor<ui32>
// CHECK-NEXT: %19 = stablehlo.bitcast_convert %18 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %20 = stablehlo.divide %cst_7, %19 : tensor<f32>
// CHECK-NEXT: %21 = stablehlo.optimization_barrier %20 : tensor<f32>
// CHECK-NEXT: %22 = stablehlo.divide %arg3, %21 : tensor<f32>
// CHECK-NEXT: %23 = stablehlo.divide %21, %arg1 : tensor<f32>
// CHECK-NEXT: %24 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %25 = stablehlo.multiply %5, %24 : tensor<8xf32>
// CHECK-NEXT: %26 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %27 = stablehlo.multiply %25, %26 : tensor<8xf32>
// CHECK-NEXT: %28 = stablehlo.add %27, %arg0 {scalify.forms = ["s0"]} : tensor<8xf32>
// CHECK-NEXT: return %0#0, %0#1, %4, %28, %arg1 : tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @outer_scaled_0(%arg0: tensor<8xf32>, %arg1: tensor<f32>) -> (tensor<8xf32>, tensor<f32>) {
// CHECK-NEXT: %0:2 = call @inner_scaled_0(%arg0, %arg1) {scalify.forms = ["s1", "unscaled"]} : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
// CHECK-NEXT: %1 = stablehlo.negate %0#0 {scalify.forms = ["s1"]} : tensor<8xf32>
// CHECK-NEXT: return %1, %0#1 : tensor<8xf32>, tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @inner_scaled_0(%arg0: tensor<8xf32>, %arg1: tensor<f32>) -> (tensor<8xf32>, tensor<f32>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
// CHECK-NEXT: %1 = stablehlo.abs %0 : tensor<8xf32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %3 = stablehlo.bitcast_convert %2 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<8388607> : tensor<ui32>
// CHECK-NEXT: %4 = stablehlo.add %3, %c : tensor<ui32>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHECK-NEXT: %5 = stablehlo.and %4, %c_1 : tensor<ui32>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<1> : tensor<ui32>
// CHECK-NEXT: %6 = stablehlo.subtract %5, %c_2 : tensor<ui32>
// CHECK-NEXT: %c_3 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHECK-NEXT: %7 = stablehlo.compare LT, %6, %c_3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHECK-NEXT: %8 = stablehlo.bitcast_convert %5 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %9 = stablehlo.select %7, %8, %cst : tensor<i1>, tensor<f32>
// CHECK-NEXT: %10 = stablehlo.multiply %9, %arg1 : tensor<f32>
// CHECK-NEXT: %cst_4 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_5 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %11 = stablehlo.clamp %cst_4, %10, %cst_5 : tensor<f32>
// CHECK-NEXT: %12 = stablehlo.bitcast_convert %11 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_6 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %13 = stablehlo.subtract %c_6, %12 : tensor<ui32>
// CHECK-NEXT: %14 = stablehlo.bitcast_convert %13 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %15 = stablehlo.divide %cst_7, %14 : tensor<f32>
// CHECK-NEXT: %16 = stablehlo.optimization_barrier %15 : tensor<f32>
// CHECK-NEXT: %17 = stablehlo.divide %arg1, %16 : tensor<f32>
// CHECK-NEXT: %18 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %19 = stablehlo.multiply %0, %18 : tensor<8xf32>
// CHECK-NEXT: return %19, %16 : tensor<8xf32>, tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: }

module {
  func.func @main(%x: tensor<8xf32> {scalify.pair}, %y: tensor<8xf32> {scalify.pair}) -> (tensor<8xf32> {scalify.pair}, tensor<8xf32>, tensor<8xf32> {scalify.pair}) {
    %0 = call @outer(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @outer(%y) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.tanh %1 : tensor<8xf32>
    %3 = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.statistic = "l1"} %y : tensor<8xf32>
    %4 = stablehlo.add %3, %x : tensor<8xf32>
    return %0, %2, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  func.func private @outer(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = call @inner(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.negate %0 : tensor<8xf32>
    return %1 : tensor<8xf32>
  }
  func.func private @inner(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.statistic = "max"} %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  func.func private @nothing_calls(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0:2 = stablehlo.optimization_barrier {scalify.marker = "set_scaling"} %x, %s : tensor<8xf32>, tensor<f32>
    %1 = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.statistic = "max"} %0#0 : tensor<8xf32>
    return %0#0, %1 : tensor<8xf32>, tensor<8xf32>
  }
}
