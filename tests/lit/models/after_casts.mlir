// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{recipe=fp8})' \
// RUN:   | %filecheck %s

// Ops after the last cast. Data of f16 arguments with a scale are rescaled there, too; wide data are
// values, and their ops are passed over.
// CHECK:      module {
// CHECK-NEXT: func.func @main(%arg0: tensor<4xf16>, %arg1: tensor<4xf32>, %arg2: tensor<4xi1>, %arg3: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// CHECK-NEXT: %cst_2 = stablehlo.constant dense<1.250000e-01> : tensor<4xf32>
// CHECK-NEXT: %0 = stablehlo.multiply %arg1, %cst_2 : tensor<4xf32>
// CHECK-NEXT: %1 = stablehlo.multiply %0, %cst : tensor<4xf32>
// CHECK-NEXT: %2 = stablehlo.add %0, %1 : tensor<4xf32>
// CHECK-NEXT: %3 = stablehlo.clamp %cst_0, %2, %cst_1 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %4 = stablehlo.convert %3 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
// CHECK-NEXT: %5 = stablehlo.negate %arg0 : tensor<4xf16>
// CHECK-NEXT: %6 = stablehlo.select %arg2, %arg3, %arg0 : tensor<4xi1>, tensor<4xf16>
// CHECK-NEXT: %7 = stablehlo.select %arg2, %arg0, %arg3 : tensor<4xi1>, tensor<4xf16>
// CHECK-NEXT: %8 = stablehlo.add %arg3, %arg0 : tensor<4xf16>
// CHECK-NEXT: %9 = stablehlo.optimization_barrier %arg0 : tensor<4xf16>
// CHECK-NEXT: %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %11 = stablehlo.add %arg1, %10 : tensor<4xf32>
// CHECK-NEXT: %12 = stablehlo.abs %11 : tensor<4xf32>
// CHECK-NEXT: %13 = stablehlo.tanh %12 : tensor<4xf32>
// CHECK-NEXT: %14 = stablehlo.multiply %13, %10 : tensor<4xf32>
// CHECK-NEXT: %15 = stablehlo.convert %arg0 : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NEXT: %16 = stablehlo.select %arg2, %arg1, %15 : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT: %17 = stablehlo.optimization_barrier %15 : tensor<4xf32>
// CHECK-NEXT: %18 = stablehlo.add %17, %16 : tensor<4xf32>
// CHECK-NEXT: %cst_4 = stablehlo.constant dense<8.000000e+00> : tensor<4xf8E4M3FN>
// CHECK-NEXT: %19 = stablehlo.multiply %4, %cst_4 : tensor<4xf8E4M3FN>
// CHECK-NEXT: return %18, %19, %5, %6, %7, %8, %9, %12, %13, %14 : tensor<4xf32>, tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: // -----
// CHECK-NEXT: module {
// CHECK-NEXT: func.func @main(%arg0: tensor<4xf16>, %arg1: tensor<4xf32>) -> (tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf32>) {
// CHECK-NEXT: %0 = stablehlo.negate %arg1 : tensor<4xf32>
// CHECK-NEXT: %1 = call @cast_scaled_0(%0) : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
// CHECK-NEXT: %2 = call @negated(%arg0) : (tensor<4xf16>) -> tensor<4xf16>
// CHECK-NEXT: %3 = stablehlo.convert %2 : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NEXT: %4 = stablehlo.add %3, %0 : tensor<4xf32>
// CHECK-NEXT: %cst = stablehlo.constant dense<8.000000e+00> : tensor<4xf8E4M3FN>
// CHECK-NEXT: %5 = stablehlo.multiply %1, %cst : tensor<4xf8E4M3FN>
// CHECK-NEXT: return %5, %2, %4 : tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @cast_scaled_0(%arg0: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// CHECK-NEXT: %cst_2 = stablehlo.constant dense<1.250000e-01> : tensor<4xf32>
// CHECK-NEXT: %0 = stablehlo.multiply %arg0, %cst_2 : tensor<4xf32>
// CHECK-NEXT: %1 = stablehlo.multiply %0, %cst : tensor<4xf32>
// CHECK-NEXT: %2 = stablehlo.add %0, %1 : tensor<4xf32>
// CHECK-NEXT: %3 = stablehlo.clamp %cst_0, %2, %cst_1 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
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
