// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize{expand=true},scalify-signature{every=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=%S/Inputs/compute_f16.toml},scalify-narrow-state{recipe=%S/Inputs/compute_f16.toml},scalify-narrow-compute{recipe=%S/Inputs/compute_f16.toml},scalify-propagate{recipe=fp8 annotate=true})' \
// RUN:   | %filecheck %s

// A computation on each device that is computed in f16, with a branch in it.
// CHECK:      module {
// CHECK-NEXT: sdy.mesh @mesh = <["a"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<32x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<i1>, %arg3: tensor<32xi32>) -> (tensor<32x16xf32>, tensor<32xi32>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.is_finite %arg1 : (tensor<16x16xf32>) -> tensor<16x16xi1>
// CHECK-NEXT: %1 = stablehlo.clamp %cst, %arg1, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// CHECK-NEXT: %2 = stablehlo.select %0, %1, %arg1 : tensor<16x16xi1>, tensor<16x16xf32>
// CHECK-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf16>
// CHECK-NEXT: %4 = stablehlo.is_finite %arg0 : (tensor<32x16xf32>) -> tensor<32x16xi1>
// CHECK-NEXT: %5 = stablehlo.clamp %cst, %arg0, %cst_0 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK-NEXT: %6 = stablehlo.select %4, %5, %arg0 : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0"]} : (tensor<32x16xf32>) -> tensor<32x16xf16>
// CHECK-NEXT: %8:2 = sdy.manual_computation(%7, %3, %arg2, %arg3) in_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{}, {}]>, <@mesh, []>, <@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{"a"}]>] manual_axes={"a"} (%arg4: tensor<16x16xf16>, %arg5: tensor<16x16xf16>, %arg6: tensor<i1>, %arg7: tensor<16xi32>) {
// CHECK-NEXT: %cst_3 = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// CHECK-NEXT: %cst_4 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// CHECK-NEXT: %18 = stablehlo.dot_general %arg4, %arg5, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf32>
// CHECK-NEXT: %cst_5 = stablehlo.constant dense<2.500000e-01> : tensor<16x16xf32>
// CHECK-NEXT: %19 = stablehlo.multiply %18, %cst_5 : tensor<16x16xf32>
// CHECK-NEXT: %20 = stablehlo.is_finite %19 : (tensor<16x16xf32>) -> tensor<16x16xi1>
// CHECK-NEXT: %21 = stablehlo.clamp %cst_3, %19, %cst_4 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// CHECK-NEXT: %22 = stablehlo.select %20, %21, %19 : tensor<16x16xi1>, tensor<16x16xf32>
// CHECK-NEXT: %23 = stablehlo.convert %22 {scalify.forms = ["2^2"]} : (tensor<16x16xf32>) -> tensor<16x16xf16>
// CHECK-NEXT: %24:2 = "stablehlo.if"(%arg6) ({
// CHECK-NEXT: %cst_6 = stablehlo.constant dense<4.000000e+00> : tensor<16x16xf16>
// CHECK-NEXT: %25 = stablehlo.multiply %23, %cst_6 : tensor<16x16xf16>
// CHECK-NEXT: %26 = stablehlo.tanh %25 {scalify.forms = ["2^0"]} : tensor<16x16xf16>
// CHECK-NEXT: %27 = stablehlo.convert %26 : (tensor<16x16xf16>) -> tensor<16x16xf32>
// CHECK-NEXT: %cst_7 = stablehlo.constant dense<1.90734863E-6> : tensor<16x16xf32>
// CHECK-NEXT: %28 = stablehlo.multiply %27, %cst_7 : tensor<16x16xf32>
// CHECK-NEXT: %29 = stablehlo.convert %28 : (tensor<16x16xf32>) -> tensor<16x16xf16>
// CHECK-NEXT: stablehlo.return %29, %arg7 : tensor<16x16xf16>, tensor<16xi32>
// CHECK-NEXT: }, {
// CHECK-NEXT: %cst_6 = stablehlo.constant dense<0.190734863> : tensor<16x16xf32>
// CHECK-NEXT: %25 = stablehlo.multiply %18, %cst_6 : tensor<16x16xf32>
// CHECK-NEXT: %26 = stablehlo.is_finite %25 : (tensor<16x16xf32>) -> tensor<16x16xi1>
// CHECK-NEXT: %27 = stablehlo.clamp %cst_3, %25, %cst_4 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// CHECK-NEXT: %28 = stablehlo.select %26, %27, %25 : tensor<16x16xi1>, tensor<16x16xf32>
// CHECK-NEXT: %29 = stablehlo.convert %28 {scalify.forms = ["2^19 level -0.39036"]} : (tensor<16x16xf32>) -> tensor<16x16xf16>
// CHECK-NEXT: stablehlo.return %29, %arg7 : tensor<16x16xf16>, tensor<16xi32>
// CHECK-NEXT: }) {scalify.forms = ["2^19 level -0.39036", "unscaled"]} : (tensor<i1>) -> (tensor<16x16xf16>, tensor<16xi32>)
// CHECK-NEXT: sdy.return %24#0, %24#1 : tensor<16x16xf16>, tensor<16xi32>
// CHECK-NEXT: } {scalify.forms = ["2^19 level -0.39036", "unscaled"]} : (tensor<32x16xf16>, tensor<16x16xf16>, tensor<i1>, tensor<32xi32>) -> (tensor<32x16xf16>, tensor<32xi32>)
// CHECK-NEXT: %9 = stablehlo.convert %8#0 {scalify.forms = ["2^19 level -0.39036"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<5.242880e+05> : tensor<32x16xf32>
// CHECK-NEXT: %10 = stablehlo.multiply %9, %cst_1 : tensor<32x16xf32>
// CHECK-NEXT: %11:2 = call @constants_f16_0(%8#0) {scalify.forms = ["unscaled", "2^19 level -0.5"]} : (tensor<32x16xf16>) -> (tensor<32x16xf32>, tensor<32x16xf16>)
// CHECK-NEXT: %12 = stablehlo.convert %11#1 {scalify.forms = ["2^19 level -0.5"]} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// CHECK-NEXT: %cst_2 = stablehlo.constant dense<5.242880e+05> : tensor<32x16xf32>
// CHECK-NEXT: %13 = stablehlo.multiply %12, %cst_2 : tensor<32x16xf32>
// CHECK-NEXT: %14 = stablehlo.iota dim = 0 : tensor<32x1xi32>
// CHECK-NEXT: %15 = "stablehlo.gather"(%10, %14) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> {scalify.forms = ["2^0 level 18.6096"]} : (tensor<32x16xf32>, tensor<32x1xi32>) -> tensor<32x16xf32>
// CHECK-NEXT: %16 = stablehlo.multiply %15, %11#0 {scalify.forms = ["2^0 level 17.6096"]} : tensor<32x16xf32>
// CHECK-NEXT: %17 = stablehlo.add %16, %13 {scalify.forms = ["2^0 level 18.5"]} : tensor<32x16xf32>
// CHECK-NEXT: return %17, %8#1 : tensor<32x16xf32>, tensor<32xi32>
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
        %three = stablehlo.constant dense<100000.0> : tensor<f32>
        %4 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
        %3 = stablehlo.multiply %1, %4 : tensor<16x16xf32>
        stablehlo.return %3, %m : tensor<16x16xf32>, tensor<16xi32>
      }) : (tensor<i1>) -> (tensor<16x16xf32>, tensor<16xi32>)
      sdy.return %2#0, %2#1 : tensor<16x16xf32>, tensor<16xi32>
    } : (tensor<32x16xf32>, tensor<16x16xf32>, tensor<i1>, tensor<32xi32>) -> (tensor<32x16xf32>, tensor<32xi32>)
    %f:2 = call @constants(%0#0) : (tensor<32x16xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>)
    %rows = stablehlo.iota dim = 0 : tensor<32x1xi32>
    %t = "stablehlo.gather"(%0#0, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (tensor<32x16xf32>, tensor<32x1xi32>) -> tensor<32x16xf32>
    %g = stablehlo.multiply %t, %f#0 : tensor<32x16xf32>
    %5 = stablehlo.add %g, %f#1 : tensor<32x16xf32>
    return %5, %0#1 : tensor<32x16xf32>, tensor<32xi32>
  }
  func.func private @constants(%x: tensor<32x16xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>) {
    %half = stablehlo.constant dense<0.5> : tensor<32x16xf32>
    return %half, %x : tensor<32x16xf32>, tensor<32x16xf32>
  }
}
