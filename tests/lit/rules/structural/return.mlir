// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What a region returns is up to the op that holds it.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<3xf32> {scalify.pair}, %p: tensor<i1>) -> (tensor<3xf32> {scalify.pair}) {
  // CHECK: "stablehlo.if"(%arg2) ({
  %0 = "stablehlo.if"(%p) ({
    // CHECK-NEXT: stablehlo.return %arg0
    stablehlo.return %x : tensor<3xf32>
  }, {
    // CHECK: stablehlo.return %{{.*}} : tensor<3xf32>
    %1 = stablehlo.negate %x : tensor<3xf32>
    stablehlo.return %1 : tensor<3xf32>
  }) : (tensor<i1>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
