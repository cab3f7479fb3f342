// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What its branches use of the outside is read; what it returns is unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%i: tensor<i32>, %x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32>)
    -> tensor<2x3xf32> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg1, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = "stablehlo.case"(%arg0) ({
  // CHECK-NEXT:   stablehlo.return %arg3 :
  // CHECK:        stablehlo.return %[[X]] :
  // CHECK:        %[[Z:.*]] = stablehlo.add %[[X]], %arg3 :
  // CHECK-NEXT:   stablehlo.return %[[Z]] :
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %y : tensor<2x3xf32>
  }, {
    stablehlo.return %x : tensor<2x3xf32>
  }, {
    %1 = stablehlo.add %x, %y : tensor<2x3xf32>
    stablehlo.return %1 : tensor<2x3xf32>
  }) : (tensor<i32>) -> tensor<2x3xf32>
  // CHECK:      return %[[Y]] :
  return %0 : tensor<2x3xf32>
}
