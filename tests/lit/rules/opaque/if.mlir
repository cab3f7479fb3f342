// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What its branches use of the outside is read; what it returns is unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%p: tensor<i1>, %x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32>)
    -> tensor<2x3xf32> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg1, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = "stablehlo.if"(%arg0) ({
  // CHECK-NEXT:   stablehlo.return %[[X]] :
  // CHECK:        stablehlo.return %arg3 :
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<2x3xf32>
  }, {
    stablehlo.return %y : tensor<2x3xf32>
  }) : (tensor<i1>) -> tensor<2x3xf32>
  // CHECK:      return %[[Y]] :
  return %0 : tensor<2x3xf32>
}

// -----

// Ops inside that use it see the same value.
// CHECK-LABEL: func.func @main
func.func @main(%p: tensor<i1>, %x: tensor<2x3xf32> {scalify.pair}) -> tensor<2x3xf32> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg1, %{{.*}}
  // CHECK:        %[[Z:.*]] = stablehlo.add %[[X]], %[[X]] :
  // CHECK-NEXT:   stablehlo.return %[[Z]] :
  // CHECK:        stablehlo.return %[[X]] :
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.add %x, %x : tensor<2x3xf32>
    stablehlo.return %1 : tensor<2x3xf32>
  }, {
    stablehlo.return %x : tensor<2x3xf32>
  }) : (tensor<i1>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
