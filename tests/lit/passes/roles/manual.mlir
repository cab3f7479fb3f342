// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-roles)' | %filecheck %s

// What each device does on its own is looked into.

// CHECK: sdy.manual_computation
// CHECK: dot_general
// CHECK-SAME: scalify.part = "forward", scalify.roles = ["activation", "weight"]
// CHECK: dot_general
// CHECK-SAME: scalify.part = "backward", scalify.roles = ["gradient", "activation"]
sdy.mesh @mesh = <["data"=2]>
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x2xf32>) -> tensor<2x4xf32> {
  %0 = sdy.manual_computation(%x, %w) in_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"data"} (%a: tensor<4x4xf32>, %b: tensor<4x2xf32>) {
    %y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    %dy = stablehlo.tanh %y : tensor<4x2xf32>
    %dw = stablehlo.dot_general %dy, %a, contracting_dims = [0] x [0] : (tensor<4x2xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    sdy.return %dw : tensor<2x4xf32>
  } : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
