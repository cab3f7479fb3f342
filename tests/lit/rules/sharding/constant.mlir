// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Unscaled, it is brought to the scale that it meets.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}) -> (tensor<4xf32> {scalify.pair}) {
  // CHECK:      %[[C:.*]] = sdy.constant dense<3.000000e+00>
  // CHECK:      %[[D:.*]] = stablehlo.multiply %[[C]], %{{.*}}
  // CHECK-NEXT: stablehlo.add %arg0, %[[D]] {scalify.forms = ["s0"]}
  %0 = sdy.constant dense<3.0> : tensor<4xf32>
  %1 = stablehlo.add %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
