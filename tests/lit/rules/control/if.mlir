// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// What the branches yield is brought to one scale, the meet of theirs.
// CHECK-LABEL: func.func @main
func.func @main(%p: tensor<i1>,
                %x: tensor<2x3xf32> {scalify.pair},
                %y: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[Z:.*]] = "stablehlo.if"(%arg0) ({
  %0 = "stablehlo.if"(%p) ({
    // CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %arg1, %arg3 {scalify.forms = ["s0*s1"]}
    // CHECK-NEXT: %[[F:.*]] = stablehlo.broadcast_in_dim %arg2
    // CHECK-NEXT: %[[Q:.*]] = stablehlo.multiply %[[P]], %[[F]] :
    // CHECK-NEXT: stablehlo.return %[[Q]] :
    %1 = stablehlo.multiply %x, %y : tensor<2x3xf32>
    stablehlo.return %1 : tensor<2x3xf32>
  }, {
    // CHECK:      stablehlo.return %arg3 :
    stablehlo.return %y : tensor<2x3xf32>
  // CHECK-NEXT: {scalify.forms = ["s1"]}
  }) : (tensor<i1>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[Z]], %arg4 :
  return %0 : tensor<2x3xf32>
}
