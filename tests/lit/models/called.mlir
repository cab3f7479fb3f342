// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s

// Markers in a function that is called by another one, and in functions that nothing calls.
// CHECK:      module {
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<8xf32>, %arg3: tensor<f32> {scalify.is_scale}) -> (tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<8xf32>, tensor<f32> {scalify.is_scale}) {
// CHECK-NEXT: %c = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %cst = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<1> : tensor<ui32>
// CHECK-NEXT: %c_3 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHECK-NEXT: %cst_4 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
// CHECK-NEXT: %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %0:2 = call @outer_scaled_0(%arg0, %arg1) {scalify.forms = ["s2", "unscaled"]} : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
// CHECK-NEXT: %1:2 = call @outer_scaled_0(%arg2, %arg3) {scalify.forms = ["s3", "unscaled"]} : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
// CHECK-NEXT: %2 = stablehlo.broadcast_in_dim %1#1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %3 = stablehlo.multiply %1#0, %2 : tensor<8xf32>
// CHECK-NEXT: %4 = stablehlo.tanh %3 : tensor<8xf32>
// CHECK-NEXT: %5 = stablehlo.optimization_barrier %arg2 : tensor<8xf32>
// CHECK-NEXT: %6 = stablehlo.abs %5 : tensor<8xf32>
// CHECK-NEXT: %7 = stablehlo.is_finite %5 : (tensor<8xf32>) -> tensor<8xi1>
// CHECK-NEXT: %8 = stablehlo.select %7, %6, %cst_6 : tensor<8xi1>, tensor<8xf32>
// CHECK-NEXT: %9 = stablehlo.reduce(%8 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %10 = stablehlo.multiply %9, %cst_4 : tensor<f32>
// CHECK-NEXT: %11 = stablehlo.bitcast_convert %10 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %12 = stablehlo.and %11, %c_3 : tensor<ui32>
// CHECK-NEXT: %13 = stablehlo.subtract %12, %c_2 : tensor<ui32>
// CHECK-NEXT: %14 = stablehlo.compare LT, %13, %c_1 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHECK-NEXT: %15 = stablehlo.bitcast_convert %12 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %16 = stablehlo.select %14, %15, %cst_7 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %17 = stablehlo.multiply %16, %arg3 : tensor<f32>
// CHECK-NEXT: %18 = stablehlo.clamp %cst_0, %17, %cst : tensor<f32>
// CHECK-NEXT: %19 = stablehlo.bitcast_convert %18 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %20 = stablehlo.subtract %c, %19 : tensor<ui32>
// CHECK-NEXT: %21 = stablehlo.bitcast_convert %20 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %22 = stablehlo.divide %cst_7, %21 : tensor<f32>
// CHECK-NEXT: %23 = stablehlo.optimization_barrier %22 : tensor<f32>
// CHECK-NEXT: %24 = stablehlo.divide %arg3, %23 : tensor<f32>
// CHECK-NEXT: %25 = stablehlo.divide %23, %arg1 : tensor<f32>
// CHECK-NEXT: %26 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %27 = stablehlo.multiply %5, %26 : tensor<8xf32>
// CHECK-NEXT: %28 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %29 = stablehlo.multiply %27, %28 : tensor<8xf32>
// CHECK-NEXT: %30 = stablehlo.add %29, %arg0 {scalify.forms = ["s0"]} : tensor<8xf32>
// CHECK-NEXT: return %0#0, %0#1, %4, %30, %arg1 : tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @outer_scaled_0(%arg0: tensor<8xf32>, %arg1: tensor<f32>) -> (tensor<8xf32>, tensor<f32>) {
// CHECK-NEXT: %0:2 = call @inner_scaled_0(%arg0, %arg1) {scalify.forms = ["s1", "unscaled"]} : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
// CHECK-NEXT: %1 = stablehlo.negate %0#0 {scalify.forms = ["s1"]} : tensor<8xf32>
// CHECK-NEXT: return %1, %0#1 : tensor<8xf32>, tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @inner_scaled_0(%arg0: tensor<8xf32>, %arg1: tensor<f32>) -> (tensor<8xf32>, tensor<f32>) {
// CHECK-NEXT: %c = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %cst = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<1> : tensor<ui32>
// CHECK-NEXT: %c_3 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHECK-NEXT: %c_4 = stablehlo.constant dense<8388607> : tensor<ui32>
// CHECK-NEXT: %c_5 = stablehlo.constant dense<8388608> : tensor<i32>
// CHECK-NEXT: %c_6 = stablehlo.constant dense<8388608> : tensor<8xi32>
// CHECK-NEXT: %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
// CHECK-NEXT: %1 = stablehlo.abs %0 : tensor<8xf32>
// CHECK-NEXT: %2 = stablehlo.bitcast_convert %1 : (tensor<8xf32>) -> tensor<8xi32>
// CHECK-NEXT: %3 = stablehlo.add %2, %c_6 : tensor<8xi32>
// CHECK-NEXT: %4 = stablehlo.reduce(%3 init: %c_5) applies stablehlo.maximum across dimensions = [0] : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %5 = stablehlo.subtract %4, %c_5 : tensor<i32>
// CHECK-NEXT: %6 = stablehlo.bitcast_convert %5 : (tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %7 = stablehlo.bitcast_convert %6 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %8 = stablehlo.add %7, %c_4 : tensor<ui32>
// CHECK-NEXT: %9 = stablehlo.and %8, %c_3 : tensor<ui32>
// CHECK-NEXT: %10 = stablehlo.subtract %9, %c_2 : tensor<ui32>
// CHECK-NEXT: %11 = stablehlo.compare LT, %10, %c_1 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHECK-NEXT: %12 = stablehlo.bitcast_convert %9 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %13 = stablehlo.select %11, %12, %cst_7 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %14 = stablehlo.multiply %13, %arg1 : tensor<f32>
// CHECK-NEXT: %15 = stablehlo.clamp %cst_0, %14, %cst : tensor<f32>
// CHECK-NEXT: %16 = stablehlo.bitcast_convert %15 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %17 = stablehlo.subtract %c, %16 : tensor<ui32>
// CHECK-NEXT: %18 = stablehlo.bitcast_convert %17 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %19 = stablehlo.divide %cst_7, %18 : tensor<f32>
// CHECK-NEXT: %20 = stablehlo.optimization_barrier %19 : tensor<f32>
// CHECK-NEXT: %21 = stablehlo.divide %arg1, %20 : tensor<f32>
// CHECK-NEXT: %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %23 = stablehlo.multiply %0, %22 : tensor<8xf32>
// CHECK-NEXT: return %23, %20 : tensor<8xf32>, tensor<f32>
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
