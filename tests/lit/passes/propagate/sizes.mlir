// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-recognize{inputs},scalify-propagate{recipe=unit annotate})' \
// RUN:   | %filecheck %s

// Constants and integers have the size of their root mean square, functions of constants that of the
// result. Integers that nothing tells are near 1. A constant with masks tells no size, and a constant
// that is smaller than 8 none of a sum with an unknown number.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x4xf32> {scalify.scale = 0 : i64}, %i: tensor<4xi32>, %b: tensor<4xi1>, %n: tensor<i32>) -> (tensor<8x4xf32>) {
  // CHECK:      {{.*}}stablehlo.constant {{[^"]*$}}
  %0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-NEXT: {{.*}}stablehlo.convert {{.*}}["2^0 level 1.45345"]
  %1 = stablehlo.convert %0 : (tensor<4xi32>) -> tensor<4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.constant {{[^"]*$}}
  %2 = stablehlo.constant dense<6> : tensor<4xi32>
  // CHECK-NEXT: {{.*}}stablehlo.convert {{.*}}["2^0 level 2.58496"]
  %3 = stablehlo.convert %2 : (tensor<4xi32>) -> tensor<4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.iota {{[^"]*$}}
  %4 = stablehlo.iota dim = 0 : tensor<32xi32>
  // CHECK-NEXT: {{.*}}stablehlo.convert {{.*}}["2^0 level 4"]
  %5 = stablehlo.convert %4 : (tensor<32xi32>) -> tensor<32xf32>
  // CHECK-NEXT: {{.*}}stablehlo.convert {{.*}}["2^0"]
  %6 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.convert {{[^"]*$}}
  %7 = stablehlo.convert %b : (tensor<4xi1>) -> tensor<4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.constant {{.*}}["2^0 level 1.16321"]
  %8 = stablehlo.constant dense<[0.25, 4.0, 0.0, 2.0]> : tensor<4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.constant {{[^"]*$}}
  %9 = stablehlo.constant dense<[0.25, 4.0e+30, 0.0, 2.0]> : tensor<4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.constant {{.*}}["unscaled"]
  %10 = stablehlo.constant dense<16.0> : tensor<f32>
  // CHECK-NEXT: {{.*}}stablehlo.convert {{[^"]*$}}
  %11 = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  // CHECK-NEXT: {{.*}}stablehlo.subtract {{.*}}["2^0 level 4"]
  %12 = stablehlo.subtract %10, %11 : tensor<f32>
  // CHECK-NEXT: {{.*}}stablehlo.constant {{.*}}["unscaled"]
  %13 = stablehlo.constant dense<4.0> : tensor<f32>
  // CHECK-NEXT: {{.*}}stablehlo.subtract {{[^"]*$}}
  %14 = stablehlo.subtract %13, %11 : tensor<f32>
  // CHECK-NEXT: {{.*}}stablehlo.sqrt {{.*}}["2^0 level 2"]
  %15 = stablehlo.sqrt %10 : tensor<f32>
  // CHECK-NEXT: {{.*}}stablehlo.rsqrt {{.*}}["2^0 level -2"]
  %16 = stablehlo.rsqrt %10 : tensor<f32>
  // CHECK-NEXT: {{.*}}stablehlo.subtract {{.*}}["2^0 level 3.58496"]
  %17 = stablehlo.subtract %10, %13 : tensor<f32>
  // CHECK-NEXT: {{.*}}stablehlo.add {{.*}}["2^0 level 4.32193"]
  %18 = stablehlo.add %10, %13 : tensor<f32>
  // CHECK-NEXT: {{.*}}stablehlo.multiply {{.*}}["2^0 level 4.03841"]
  %y1 = stablehlo.multiply %1, %3 : tensor<4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.multiply {{.*}}["2^0"]
  %y2 = stablehlo.multiply %6, %7 : tensor<4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.multiply {{.*}}["2^0 level 1.16321"]
  %y3 = stablehlo.multiply %8, %9 : tensor<4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.multiply {{.*}}["2^0 level 2.61666"]
  %y4 = stablehlo.multiply %8, %1 : tensor<4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.multiply {{.*}}["2^0 level 4"]
  %z = stablehlo.multiply %12, %14 : tensor<f32>
  // CHECK-NEXT: {{.*}}stablehlo.multiply {{.*}}["2^0"]
  %z2 = stablehlo.multiply %15, %16 : tensor<f32>
  // CHECK-NEXT: {{.*}}stablehlo.multiply {{.*}}["2^0 level 7.90689"]
  %z3 = stablehlo.multiply %17, %18 : tensor<f32>
  return %x : tensor<8x4xf32>
}

// -----

// A function that is linear near 0 is as small as its operand. Of the others, the size is that of
// operands near 1, or of the bounded result.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x4xf32> {scalify.scale = 0 : i64}, %l: tensor<8x4xf32> {scalify.scale = 5 : i64}, %s: tensor<8x4xf32> {scalify.scale = -6 : i64}) -> (tensor<8x4xf32>) {
  // CHECK:      {{.*}}stablehlo.tanh {{.*}}["2^0 level -0.671746"]
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.logistic {{.*}}["2^0 level -0.884612"]
  %1 = stablehlo.logistic %x : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.exponential {{.*}}["2^0"]
  %2 = stablehlo.exponential %x : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.exponential {{.*}}["2^0"]
  %3 = stablehlo.exponential %l : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.log {{.*}}["2^0"]
  %4 = stablehlo.log %l : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.floor {{.*}}["2^0 level 5"]
  %5 = stablehlo.floor %l : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.floor {{.*}}["2^0"]
  %6 = stablehlo.floor %s : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.sine {{.*}}["2^0 level -6"]
  %7 = stablehlo.sine %s : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.sine {{.*}}["2^0"]
  %8 = stablehlo.sine %l : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.cosine {{.*}}["2^0"]
  %9 = stablehlo.cosine %s : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.tanh {{.*}}["2^0 level -6.67175"]
  %10 = stablehlo.tanh %s : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.tanh {{.*}}["2^0 level -0.671746"]
  %11 = stablehlo.tanh %l : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.exponential_minus_one {{.*}}["2^0 level -6"]
  %12 = stablehlo.exponential_minus_one %s : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.exponential_minus_one {{.*}}["2^0"]
  %13 = stablehlo.exponential_minus_one %l : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.reduce_precision {{[^"]*$}}
  %14 = stablehlo.reduce_precision %l, format = e4m3 : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.atan2 {{.*}}["2^0 level -11"]
  %15 = stablehlo.atan2 %s, %l : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.atan2 {{.*}}["2^0"]
  %16 = stablehlo.atan2 %l, %s : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.logistic {{.*}}["2^0 level -0.884612"]
  %17 = stablehlo.logistic %l : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.logistic {{.*}}["2^0 level -0.999969"]
  %18 = stablehlo.logistic %s : tensor<8x4xf32>
  // CHECK-NEXT: {{.*}}stablehlo.log_plus_one {{.*}}["2^0 level -6"]
  %19 = stablehlo.log_plus_one %s : tensor<8x4xf32>
  return %x : tensor<8x4xf32>
}
