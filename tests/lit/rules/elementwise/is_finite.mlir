// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Scales are finite and not zero, so the data tell.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> tensor<2x3xi1> {
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.is_finite %arg0 :
  %0 = stablehlo.is_finite %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: return %[[Y]] :
  return %0 : tensor<2x3xi1>
}

// -----

// A product that would overflow at scale 1 is finite if its data are.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> tensor<2x3xi1> {
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.multiply %arg0, %arg0 {scalify.forms = ["s0^2"]}
  %0 = stablehlo.multiply %x, %x : tensor<2x3xf32>
  // CHECK-NEXT: %[[F:.*]] = stablehlo.is_finite %[[Y]] :
  %1 = stablehlo.is_finite %0 : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: return %[[F]] :
  return %1 : tensor<2x3xi1>
}
