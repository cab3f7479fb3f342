// RUN: %scalify-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(scalify-cast-again)' \
// RUN:   | %filecheck %s

// An argument that is normalized by one statistic, and read in f8 along both of its dimensions.
// CHECK-LABEL: func.func @main
// CHECK:         %[[STATISTIC:.*]] = stablehlo.rsqrt %{{.*}} : tensor<1024xf32>
// CHECK-NEXT:    %[[APART:.*]] = stablehlo.optimization_barrier %[[STATISTIC]] : tensor<1024xf32>
// CHECK:         stablehlo.broadcast_in_dim %[[APART]], dims = [0]
func.func @main(%x: tensor<1024x1024xbf16>, %gain: tensor<1024xbf16>, %w: tensor<1024x16xf8E4M3FN>, %dy: tensor<1024x16xf8E5M2>)
    -> (tensor<1024x16xbf16>, tensor<1024x16xbf16>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %wide = stablehlo.convert %x : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf32>
  %square = stablehlo.multiply %wide, %wide : tensor<1024x1024xf32>
  %sum = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %r = stablehlo.rsqrt %sum : tensor<1024xf32>
  %rs = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %n = stablehlo.multiply %wide, %rs : tensor<1024x1024xf32>
  %b = stablehlo.convert %n : (tensor<1024x1024xf32>) -> tensor<1024x1024xbf16>
  %g = stablehlo.broadcast_in_dim %gain, dims = [1] : (tensor<1024xbf16>) -> tensor<1024x1024xbf16>
  %y = stablehlo.multiply %b, %g : tensor<1024x1024xbf16>
  %q = stablehlo.convert %y : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E4M3FN>
  %0 = stablehlo.dot_general %q, %w, contracting_dims = [1] x [0] : (tensor<1024x1024xf8E4M3FN>, tensor<1024x16xf8E4M3FN>) -> tensor<1024x16xbf16>
  %1 = stablehlo.dot_general %q, %dy, contracting_dims = [0] x [0] : (tensor<1024x1024xf8E4M3FN>, tensor<1024x16xf8E5M2>) -> tensor<1024x16xbf16>
  return %0, %1 : tensor<1024x16xbf16>, tensor<1024x16xbf16>
}

// -----

// Two statistics would read the argument twice, and matmuls in one order need no second one.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     stablehlo.optimization_barrier
func.func @main(%x: tensor<1024x1024xf32>, %z: tensor<1024x1024xf32>, %w: tensor<1024x16xf8E4M3FN>, %dy: tensor<1024x16xf8E5M2>)
    -> (tensor<1024x16xbf16>, tensor<1024x16xbf16>, tensor<1024x16xbf16>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %mean = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %centered = stablehlo.subtract %x, %mean : tensor<1024x1024xf32>
  %square = stablehlo.multiply %centered, %centered : tensor<1024x1024xf32>
  %squares = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %r = stablehlo.rsqrt %squares : tensor<1024xf32>
  %rs = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %n = stablehlo.multiply %centered, %rs : tensor<1024x1024xf32>
  %q = stablehlo.convert %n : (tensor<1024x1024xf32>) -> tensor<1024x1024xf8E4M3FN>
  %0 = stablehlo.dot_general %q, %w, contracting_dims = [1] x [0] : (tensor<1024x1024xf8E4M3FN>, tensor<1024x16xf8E4M3FN>) -> tensor<1024x16xbf16>
  %1 = stablehlo.dot_general %q, %dy, contracting_dims = [0] x [0] : (tensor<1024x1024xf8E4M3FN>, tensor<1024x16xf8E5M2>) -> tensor<1024x16xbf16>
  %largest = stablehlo.reduce(%z init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %ls = stablehlo.broadcast_in_dim %largest, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %d = stablehlo.divide %z, %ls : tensor<1024x1024xf32>
  %qz = stablehlo.convert %d : (tensor<1024x1024xf32>) -> tensor<1024x1024xf8E4M3FN>
  %2 = stablehlo.dot_general %qz, %w, contracting_dims = [1] x [0] : (tensor<1024x1024xf8E4M3FN>, tensor<1024x16xf8E4M3FN>) -> tensor<1024x16xbf16>
  return %0, %1, %2 : tensor<1024x16xbf16>, tensor<1024x16xbf16>, tensor<1024x16xbf16>
}
