// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{recipe=fp8})' \
// RUN:   | %filecheck %s

// Ops after the last cast. Data of f16 arguments with a scale are rescaled there, too; wide data are
// values, and their ops are passed over.
// CHECK:      module {
// CHECK-NEXT: func.func @main(%arg0: tensor<4xf16>, %arg1: tensor<4xf32>, %arg2: tensor<4xi1>, %arg3: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<3.125000e-02> : tensor<4xf16>
// CHECK-NEXT: %0 = stablehlo.multiply %arg0, %cst : tensor<4xf16>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// CHECK-NEXT: %cst_2 = stablehlo.constant dense<1.250000e-01> : tensor<4xf32>
// CHECK-NEXT: %1 = stablehlo.multiply %arg1, %cst_2 : tensor<4xf32>
// CHECK-NEXT: %2 = stablehlo.subtract %1, %1 : tensor<4xf32>
// CHECK-NEXT: %3 = stablehlo.subtract %1, %2 : tensor<4xf32>
// CHECK-NEXT: %4 = stablehlo.clamp %cst_0, %3, %cst_1 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %5 = stablehlo.convert %4 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
// CHECK-NEXT: %6 = stablehlo.negate %0 : tensor<4xf16>
// CHECK-NEXT: %cst_3 = stablehlo.constant dense<3.125000e-02> : tensor<4xf16>
// CHECK-NEXT: %7 = stablehlo.multiply %arg3, %cst_3 : tensor<4xf16>
// CHECK-NEXT: %8 = stablehlo.select %arg2, %7, %0 : tensor<4xi1>, tensor<4xf16>
// CHECK-NEXT: %9 = stablehlo.select %arg2, %0, %7 : tensor<4xi1>, tensor<4xf16>
// CHECK-NEXT: %10 = stablehlo.add %7, %0 : tensor<4xf16>
// CHECK-NEXT: %11 = stablehlo.optimization_barrier %0 : tensor<4xf16>
// CHECK-NEXT: %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %12 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %13 = stablehlo.add %arg1, %12 : tensor<4xf32>
// CHECK-NEXT: %14 = stablehlo.abs %13 : tensor<4xf32>
// CHECK-NEXT: %15 = stablehlo.tanh %14 : tensor<4xf32>
// CHECK-NEXT: %16 = stablehlo.multiply %15, %12 : tensor<4xf32>
// CHECK-NEXT: %17 = stablehlo.convert %0 : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NEXT: %cst_5 = stablehlo.constant dense<3.200000e+01> : tensor<4xf32>
// CHECK-NEXT: %18 = stablehlo.multiply %17, %cst_5 : tensor<4xf32>
// CHECK-NEXT: %19 = stablehlo.select %arg2, %arg1, %18 : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT: %20 = stablehlo.optimization_barrier %17 : tensor<4xf32>
// CHECK-NEXT: %cst_6 = stablehlo.constant dense<3.200000e+01> : tensor<4xf32>
// CHECK-NEXT: %21 = stablehlo.multiply %20, %cst_6 : tensor<4xf32>
// CHECK-NEXT: %22 = stablehlo.add %21, %19 : tensor<4xf32>
// CHECK-NEXT: %cst_7 = stablehlo.constant dense<8.000000e+00> : tensor<4xf8E4M3FN>
// CHECK-NEXT: %23 = stablehlo.multiply %5, %cst_7 : tensor<4xf8E4M3FN>
// CHECK-NEXT: %cst_8 = stablehlo.constant dense<3.200000e+01> : tensor<4xf16>
// CHECK-NEXT: %24 = stablehlo.multiply %6, %cst_8 : tensor<4xf16>
// CHECK-NEXT: %cst_9 = stablehlo.constant dense<3.200000e+01> : tensor<4xf16>
// CHECK-NEXT: %25 = stablehlo.multiply %8, %cst_9 : tensor<4xf16>
// CHECK-NEXT: %cst_10 = stablehlo.constant dense<3.200000e+01> : tensor<4xf16>
// CHECK-NEXT: %26 = stablehlo.multiply %9, %cst_10 : tensor<4xf16>
// CHECK-NEXT: %cst_11 = stablehlo.constant dense<3.200000e+01> : tensor<4xf16>
// CHECK-NEXT: %27 = stablehlo.multiply %10, %cst_11 : tensor<4xf16>
// CHECK-NEXT: %cst_12 = stablehlo.constant dense<3.200000e+01> : tensor<4xf16>
// CHECK-NEXT: %28 = stablehlo.multiply %11, %cst_12 : tensor<4xf16>
// CHECK-NEXT: return %22, %23, %24, %25, %26, %27, %28, %14, %15, %16 : tensor<4xf32>, tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: // -----
// CHECK-NEXT: module {
// CHECK-NEXT: func.func @main(%arg0: tensor<4xf16>, %arg1: tensor<4xf32>) -> (tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf32>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<3.125000e-02> : tensor<4xf16>
// CHECK-NEXT: %0 = stablehlo.multiply %arg0, %cst : tensor<4xf16>
// CHECK-NEXT: %1 = stablehlo.negate %arg1 : tensor<4xf32>
// CHECK-NEXT: %2 = call @cast_scaled_0(%1) : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
// CHECK-NEXT: %3 = call @negated(%0) : (tensor<4xf16>) -> tensor<4xf16>
// CHECK-NEXT: %4 = stablehlo.convert %3 : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<3.200000e+01> : tensor<4xf32>
// CHECK-NEXT: %5 = stablehlo.multiply %4, %cst_0 : tensor<4xf32>
// CHECK-NEXT: %6 = stablehlo.add %5, %1 : tensor<4xf32>
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<4xf8E4M3FN>
// CHECK-NEXT: %7 = stablehlo.multiply %2, %cst_1 : tensor<4xf8E4M3FN>
// CHECK-NEXT: %cst_2 = stablehlo.constant dense<3.200000e+01> : tensor<4xf16>
// CHECK-NEXT: %8 = stablehlo.multiply %3, %cst_2 : tensor<4xf16>
// CHECK-NEXT: return %7, %8, %6 : tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @cast_scaled_0(%arg0: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
// CHECK-NEXT: %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<1.250000e-01> : tensor<4xf32>
// CHECK-NEXT: %0 = stablehlo.multiply %arg0, %cst_1 : tensor<4xf32>
// CHECK-NEXT: %1 = stablehlo.subtract %0, %0 : tensor<4xf32>
// CHECK-NEXT: %2 = stablehlo.subtract %0, %1 : tensor<4xf32>
// CHECK-NEXT: %3 = stablehlo.clamp %cst, %2, %cst_0 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %4 = stablehlo.convert %3 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
// CHECK-NEXT: return %4 : tensor<4xf8E4M3FN>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @negated(%arg0: tensor<4xf16>) -> tensor<4xf16> {
// CHECK-NEXT: %0 = stablehlo.negate %arg0 : tensor<4xf16>
// CHECK-NEXT: return %0 : tensor<4xf16>
// CHECK-NEXT: }
// CHECK-NEXT: }

module {
  func.func @main(%x: tensor<4xf16> {scalify.scale = 5 : i64}, %w: tensor<4xf32> {scalify.scale = 3 : i64}, %p: tensor<4xi1>, %y: tensor<4xf16>)
      -> (tensor<4xf32>, tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %c = stablehlo.convert %w {scalify.cast = "data"} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
    %0 = stablehlo.negate %x : tensor<4xf16>
    %1 = stablehlo.select %p, %y, %x : tensor<4xi1>, tensor<4xf16>
    %2 = stablehlo.select %p, %x, %y : tensor<4xi1>, tensor<4xf16>
    %3 = stablehlo.add %y, %x : tensor<4xf16>
    %4 = stablehlo.optimization_barrier %x : tensor<4xf16>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.add %w, %ones : tensor<4xf32>
    %6 = stablehlo.abs %5 : tensor<4xf32>
    %7 = stablehlo.tanh %6 : tensor<4xf32>
    %8 = stablehlo.multiply %7, %ones : tensor<4xf32>
    %9 = stablehlo.convert %x : (tensor<4xf16>) -> tensor<4xf32>
    %10 = stablehlo.select %p, %w, %9 : tensor<4xi1>, tensor<4xf32>
    %11 = stablehlo.optimization_barrier %9 : tensor<4xf32>
    %12 = stablehlo.add %11, %10 : tensor<4xf32>
    return %12, %c, %0, %1, %2, %3, %4, %6, %7, %8 : tensor<4xf32>, tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A call of a function with a cast is one, and of a function without none.

module {
  func.func @main(%x: tensor<4xf16> {scalify.scale = 5 : i64}, %w: tensor<4xf32> {scalify.scale = 3 : i64}) -> (tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf32>) {
    %0 = stablehlo.negate %w : tensor<4xf32>
    %1 = call @cast(%0) : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
    %2 = call @negated(%x) : (tensor<4xf16>) -> tensor<4xf16>
    %3 = stablehlo.convert %2 : (tensor<4xf16>) -> tensor<4xf32>
    %4 = stablehlo.add %3, %0 : tensor<4xf32>
    return %1, %2, %4 : tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf32>
  }
  func.func private @cast(%x: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
    %0 = stablehlo.convert %x {scalify.cast = "data"} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
    return %0 : tensor<4xf8E4M3FN>
  }
  func.func private @negated(%x: tensor<4xf16>) -> tensor<4xf16> {
    %0 = stablehlo.negate %x : tensor<4xf16>
    return %0 : tensor<4xf16>
  }
}
