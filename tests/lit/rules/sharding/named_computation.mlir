// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// As a per-device body; where operands have no shardings, scales have none.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32> {scalify.pair}, %y: tensor<8xf32> {scalify.pair})
    -> (tensor<8xf32> {scalify.pair}) {
  // CHECK: %[[R:.*]] = sdy.named_computation<"f">(%arg0, %arg2, %arg1, %arg3) (%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>, %[[S:.*]]: tensor<f32>, %[[T:.*]]: tensor<f32>)
  %0 = sdy.named_computation<"f">(%x, %y) (%a: tensor<8xf32>, %b: tensor<8xf32>) {
    // CHECK: stablehlo.divide %[[T]], %[[S]]
    // CHECK: stablehlo.add %[[A]], %{{.*}} {scalify.forms = ["s0"]}
    %1 = stablehlo.add %a, %b : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: return %[[R]], %arg1
  return %0 : tensor<8xf32>
}

// -----

// Where they have, scales are everywhere.
sdy.mesh @mesh = <["a"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32> {scalify.pair}) -> tensor<8xf32> {
  // CHECK: sdy.named_computation<"f">(%arg0, %arg1) in_shardings=[<@mesh, [{"a"}]>, <@mesh, []>] out_shardings=[<@mesh, [{}]>]
  %0 = sdy.named_computation<"f">(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{}]>]
      (%a: tensor<8xf32>) {
    %1 = stablehlo.exponential %a : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
