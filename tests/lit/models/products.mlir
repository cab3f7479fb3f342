// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s

// Products of a few elements have a power of their scale, and those of many, or from another start
// than 1, are unscaled. Statistics of f64 are computed in f64.
// CHECK:      module {
// CHECK-NEXT: func.func @main(%arg0: tensor<8x5xf32>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<8x6xf32>, %arg3: tensor<f32> {scalify.is_scale}, %arg4: tensor<8xf64>, %arg5: tensor<f64> {scalify.is_scale}) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf64>, tensor<f64> {scalify.is_scale}) {
// CHECK-NEXT: %c = stablehlo.constant dense<9214364837600034816> : tensor<ui64>
// CHECK-NEXT: %cst = stablehlo.constant dense<0x4290000000000000> : tensor<f64>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<2.2737367544323206E-13> : tensor<f64>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<9218868437227405311> : tensor<ui64>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<1> : tensor<ui64>
// CHECK-NEXT: %c_3 = stablehlo.constant dense<18442240474082181120> : tensor<ui64>
// CHECK-NEXT: %cst_4 = stablehlo.constant dense<1.250000e-01> : tensor<f64>
// CHECK-NEXT: %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
// CHECK-NEXT: %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<8xf64>
// CHECK-NEXT: %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
// CHECK-NEXT: %0 = stablehlo.multiply %arg1, %arg1 : tensor<f32>
// CHECK-NEXT: %1 = stablehlo.multiply %0, %arg1 : tensor<f32>
// CHECK-NEXT: %2 = stablehlo.multiply %1, %arg1 : tensor<f32>
// CHECK-NEXT: %3 = stablehlo.multiply %2, %arg1 : tensor<f32>
// CHECK-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %cst_9 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %4 = stablehlo.reduce(%arg0 init: %cst_8) applies stablehlo.multiply across dimensions = [1] {scalify.forms = ["s0^5"]} : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %5 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// CHECK-NEXT: %6 = stablehlo.multiply %arg2, %5 : tensor<8x6xf32>
// CHECK-NEXT: %7 = stablehlo.reduce(%6 init: %cst_8) applies stablehlo.multiply across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %8 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8x5xf32>
// CHECK-NEXT: %9 = stablehlo.multiply %arg0, %8 : tensor<8x5xf32>
// CHECK-NEXT: %10 = stablehlo.reduce(%9 init: %cst_9) applies stablehlo.multiply across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %11 = stablehlo.optimization_barrier %arg4 : tensor<8xf64>
// CHECK-NEXT: %12 = stablehlo.multiply %11, %11 : tensor<8xf64>
// CHECK-NEXT: %13 = stablehlo.is_finite %11 : (tensor<8xf64>) -> tensor<8xi1>
// CHECK-NEXT: %14 = stablehlo.select %13, %12, %cst_6 : tensor<8xi1>, tensor<8xf64>
// CHECK-NEXT: %15 = stablehlo.reduce(%14 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<8xf64>, tensor<f64>) -> tensor<f64>
// CHECK-NEXT: %16 = stablehlo.multiply %15, %cst_4 : tensor<f64>
// CHECK-NEXT: %17 = stablehlo.sqrt %16 : tensor<f64>
// CHECK-NEXT: %18 = stablehlo.bitcast_convert %17 : (tensor<f64>) -> tensor<ui64>
// CHECK-NEXT: %19 = stablehlo.and %18, %c_3 : tensor<ui64>
// CHECK-NEXT: %20 = stablehlo.subtract %19, %c_2 : tensor<ui64>
// CHECK-NEXT: %21 = stablehlo.compare LT, %20, %c_1 : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
// CHECK-NEXT: %22 = stablehlo.bitcast_convert %19 : (tensor<ui64>) -> tensor<f64>
// CHECK-NEXT: %23 = stablehlo.select %21, %22, %cst_7 : tensor<i1>, tensor<f64>
// CHECK-NEXT: %24 = stablehlo.multiply %23, %arg5 : tensor<f64>
// CHECK-NEXT: %25 = stablehlo.clamp %cst_0, %24, %cst : tensor<f64>
// CHECK-NEXT: %26 = stablehlo.bitcast_convert %25 : (tensor<f64>) -> tensor<ui64>
// CHECK-NEXT: %27 = stablehlo.subtract %c, %26 : tensor<ui64>
// CHECK-NEXT: %28 = stablehlo.bitcast_convert %27 : (tensor<ui64>) -> tensor<f64>
// CHECK-NEXT: %29 = stablehlo.divide %cst_7, %28 : tensor<f64>
// CHECK-NEXT: %30 = stablehlo.optimization_barrier %29 : tensor<f64>
// CHECK-NEXT: %31 = stablehlo.divide %arg5, %30 : tensor<f64>
// CHECK-NEXT: %32 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f64>) -> tensor<8xf64>
// CHECK-NEXT: %33 = stablehlo.multiply %11, %32 : tensor<8xf64>
// CHECK-NEXT: %34 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %35 = stablehlo.multiply %4, %34 : tensor<8xf32>
// CHECK-NEXT: return %35, %7, %10, %33, %30 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf64>, tensor<f64>
// CHECK-NEXT: }
// CHECK-NEXT: }

module {
  func.func @main(%x: tensor<8x5xf32> {scalify.pair}, %y: tensor<8x6xf32> {scalify.pair}, %z: tensor<8xf64> {scalify.pair})
      -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf64> {scalify.pair}) {
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
    %1 = stablehlo.reduce(%y init: %one) applies stablehlo.multiply across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
    %2 = stablehlo.reduce(%x init: %two) applies stablehlo.multiply across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
    %3 = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.statistic = "l2"} %z : tensor<8xf64>
    return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf64>
  }
}
