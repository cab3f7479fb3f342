// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Random bits are integers, and the values made of them are unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%k: tensor<2xui64>, %x: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK-NEXT: %{{.*}}, %[[BITS:.*]] = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT :
  %k1, %bits = stablehlo.rng_bit_generator %k, algorithm = DEFAULT
    : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui32>)
  // CHECK-NEXT: %[[R:.*]] = stablehlo.convert %[[BITS]] :
  %r = stablehlo.convert %bits : (tensor<2x3xui32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.multiply %[[R]], %arg1 {scalify.forms = ["s0"]}
  %0 = stablehlo.multiply %r, %x : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]], %arg2
  return %0 : tensor<2x3xf32>
}
