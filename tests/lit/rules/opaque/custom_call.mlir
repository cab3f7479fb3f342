// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What a kernel does is unknown: it is given values, and what it returns is unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.custom_call @some_kernel(%[[X]]) :
  %0 = stablehlo.custom_call @some_kernel(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<2x3xf32>
}

// -----

// Annotations of sharding are on the data.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{replicated}", scalify.forms = ["s0"]}
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]], %arg1
  return %0 : tensor<2x3xf32>
}
