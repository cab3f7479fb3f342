// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize{expand=true},scalify-signature{every=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=%S/Inputs/compute_f16.toml},scalify-narrow-state{recipe=%S/Inputs/compute_f16.toml},scalify-narrow-compute{recipe=%S/Inputs/compute_f16.toml},scalify-propagate{annotate=true narrow=true})' \
// RUN:   | %filecheck %s

// A computation on each device that is computed in f16, with a branch in it.
// CHECK:      module {
// CHECK-NEXT: sdy.mesh @mesh = <["a"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<32x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<i1>, %arg3: tensor<32xi32>) -> (tensor<32x16xf32>, tensor<32xi32>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.clamp %cst, %arg1, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// CHECK-NEXT: %1 = stablehlo.convert %0 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf16>
// CHECK-NEXT: %2 = stablehlo.clamp %cst, %arg0, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: %4:2 = sdy.manual_computation(%3, %1, %arg2, %arg3) in_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{}, {}]>, <@mesh, []>, <@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{"a"}]>] manual_axes={"a"} (%arg4: tensor<16x16xf16>, %arg5: tensor<16x16xf16>, %arg6: tensor<i1>, %arg7: tensor<16xi32>) {
// CHECK-NEXT: %cst_4 = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// CHECK-NEXT: %cst_5 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// CHECK-NEXT: %11 = stablehlo.dot_general %arg4, %arg5, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf32>
// CHECK-NEXT: %cst_6 = stablehlo.constant dense<2.500000e-01> : tensor<16x16xf32>
// CHECK-NEXT: %12 = stablehlo.multiply %11, %cst_6 : tensor<16x16xf32>
// CHECK-NEXT: %13 = stablehlo.clamp %cst_4, %12, %cst_5 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// CHECK-NEXT: %14 = stablehlo.convert %13 {scalify.forms = ["2^2"]} : (tensor<16x16xf32>) -> tensor<16x16xf16>
// CHECK-NEXT: %15:2 = "stablehlo.if"(%arg6) ({
// CHECK-NEXT: %cst_7 = stablehlo.constant dense<4.000000e+00> : tensor<16x16xf16>
// CHECK-NEXT: %16 = stablehlo.multiply %14, %cst_7 : tensor<16x16xf16>
// CHECK-NEXT: %17 = stablehlo.tanh %16 {scalify.forms = ["2^0"]} : tensor<16x16xf16>
// CHECK-NEXT: %cst_8 = stablehlo.constant dense<6.250000e-02> : tensor<16x16xf16>
// CHECK-NEXT: %18 = stablehlo.multiply %17, %cst_8 : tensor<16x16xf16>
// CHECK-NEXT: stablehlo.return %18, %arg7 : tensor<16x16xf16>, tensor<16xi32>
// CHECK-NEXT: }, {
// CHECK-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT: %16 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16x16xf32>
// CHECK-NEXT: %cst_8 = stablehlo.constant dense<7.500000e-01> : tensor<16x16xf16>
// CHECK-NEXT: %17 = stablehlo.multiply %14, %cst_8 {scalify.forms = ["2^4 level -0.415037"]} : tensor<16x16xf16>
// CHECK-NEXT: stablehlo.return %17, %arg7 : tensor<16x16xf16>, tensor<16xi32>
// CHECK-NEXT: }) {scalify.forms = ["2^4 level -0.415037", "unscaled"]} : (tensor<i1>) -> (tensor<16x16xf16>, tensor<16xi32>)
// CHECK-NEXT: sdy.return %15#0, %15#1 : tensor<16x16xf16>, tensor<16xi32>
// CHECK-NEXT: } {scalify.forms = ["2^4 level -0.415037", "unscaled"]} : (tensor<32x16xf16>, tensor<16x16xf16>, tensor<i1>, tensor<32xi32>) -> (tensor<32x16xf16>, tensor<32xi32>)
// CHECK-NEXT: %5:2 = call @constants_f16_0(%4#0) {scalify.forms = ["unscaled", "2^4 level -0.5"]} : (tensor<32x16xf16>) -> (tensor<32x16xf32>, tensor<32x16xf16>)
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<32x16xf16>
// CHECK-NEXT: %6 = stablehlo.multiply %4#0, %cst_1 {scalify.forms = ["2^3 level -0.415037"]} : tensor<32x16xf16>
// CHECK-NEXT: %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<32x16xf16>
// CHECK-NEXT: %7 = stablehlo.multiply %6, %cst_2 : tensor<32x16xf16>
// CHECK-NEXT: %8 = stablehlo.add %7, %5#1 {scalify.forms = ["2^4 level -0.5"]} : tensor<32x16xf16>
// CHECK-NEXT: %9 = stablehlo.convert %8 {scalify.forms = ["2^4 level -0.5"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// CHECK-NEXT: %cst_3 = stablehlo.constant dense<1.600000e+01> : tensor<32x16xf32>
// CHECK-NEXT: %10 = stablehlo.multiply %9, %cst_3 : tensor<32x16xf32>
// CHECK-NEXT: return %10, %4#1 : tensor<32x16xf32>, tensor<32xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @constants_f16_0(%arg0: tensor<32x16xf16>) -> (tensor<32x16xf32>, tensor<32x16xf16>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<5.000000e-01> : tensor<32x16xf32>
// CHECK-NEXT: return %cst, %arg0 : tensor<32x16xf32>, tensor<32x16xf16>
// CHECK-NEXT: }
// CHECK-NEXT: }

module {
  sdy.mesh @mesh = <["a"=2]>
  func.func @main(%x: tensor<32x16xf32>, %w: tensor<16x16xf32>, %p: tensor<i1>, %n: tensor<32xi32>) -> (tensor<32x16xf32>, tensor<32xi32>) {
    %0:2 = sdy.manual_computation(%x, %w, %p, %n) in_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{}, {}]>, <@mesh, []>, <@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{"a"}]>] manual_axes={"a"} (%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %q: tensor<i1>, %m: tensor<16xi32>) {
      %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      %2:2 = "stablehlo.if"(%q) ({
        %3 = stablehlo.tanh %1 : tensor<16x16xf32>
        stablehlo.return %3, %m : tensor<16x16xf32>, tensor<16xi32>
      }, {
        %three = stablehlo.constant dense<3.0> : tensor<f32>
        %4 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
        %3 = stablehlo.multiply %1, %4 : tensor<16x16xf32>
        stablehlo.return %3, %m : tensor<16x16xf32>, tensor<16xi32>
      }) : (tensor<i1>) -> (tensor<16x16xf32>, tensor<16xi32>)
      sdy.return %2#0, %2#1 : tensor<16x16xf32>, tensor<16xi32>
    } : (tensor<32x16xf32>, tensor<16x16xf32>, tensor<i1>, tensor<32xi32>) -> (tensor<32x16xf32>, tensor<32xi32>)
    %f:2 = call @constants(%0#0) : (tensor<32x16xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>)
    %g = stablehlo.multiply %0#0, %f#0 : tensor<32x16xf32>
    %5 = stablehlo.add %g, %f#1 : tensor<32x16xf32>
    return %5, %0#1 : tensor<32x16xf32>, tensor<32xi32>
  }
  func.func private @constants(%x: tensor<32x16xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>) {
    %half = stablehlo.constant dense<0.5> : tensor<32x16xf32>
    return %half, %x : tensor<32x16xf32>, tensor<32x16xf32>
  }
}
