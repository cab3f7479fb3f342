// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-signature{every=true},scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s

// A sum of 64 weights by which something is divided is 64 / 2^1.5.
// CHECK-LABEL: func.func @main
func.func @main(%m: tensor<64xf32>, %l: tensor<64xf16>) -> tensor<64xf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  // CHECK: stablehlo.reduce(%arg0 {{.*}} {scalify.forms = ["2^0 level 4.5"]}
  %n = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.maximum {{.*}} {scalify.forms = ["2^0 level 4.5"]}
  %most = stablehlo.maximum %n, %one : tensor<f32>
  // CHECK: stablehlo.divide {{.*}} {scalify.forms = ["2^0 level -4.5"]}
  %g = stablehlo.divide %one, %most : tensor<f32>
  %b = stablehlo.broadcast_in_dim %g, dims = [] : (tensor<f32>) -> tensor<64xf32>
  %w = stablehlo.convert %l : (tensor<64xf16>) -> tensor<64xf32>
  %p = stablehlo.multiply %b, %w : tensor<64xf32>
  %r = stablehlo.convert %p : (tensor<64xf32>) -> tensor<64xf16>
  return %r : tensor<64xf16>
}

// -----

// Booleans that are counted in integers, and a sum by which nothing is divided.
// CHECK-LABEL: func.func @main
func.func @main(%m: tensor<64xi1>, %x: tensor<64xf32>, %l: tensor<64xf16>)
    -> (tensor<64xf16>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %start = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.convert %m : (tensor<64xi1>) -> tensor<64xi32>
  %n = stablehlo.reduce(%i init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<64xi32>, tensor<i32>) -> tensor<i32>
  // CHECK: stablehlo.convert {{.*}} {scalify.forms = ["2^0 level 4.5"]} : (tensor<i32>)
  %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<64xf32>
  %w = stablehlo.convert %l : (tensor<64xf16>) -> tensor<64xf32>
  // CHECK: stablehlo.divide {{.*}} {scalify.forms = ["2^0 level -4.5"]}
  %p = stablehlo.divide %w, %b : tensor<64xf32>
  %r = stablehlo.convert %p : (tensor<64xf32>) -> tensor<64xf16>
  // CHECK: stablehlo.reduce(%arg1 {{.*}} {scalify.forms = ["2^0 level 3"]}
  %s = stablehlo.reduce(%x init: %start) applies stablehlo.add across dimensions = [0]
    : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
  return %r, %s : tensor<64xf16>, tensor<f32>
}
