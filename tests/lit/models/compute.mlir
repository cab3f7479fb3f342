// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=%S/Inputs/compute_f16.toml},scalify-narrow-state{recipe=%S/Inputs/compute_f16.toml},scalify-narrow-compute{recipe=%S/Inputs/compute_f16.toml},scalify-quantize-constants,scalify-propagate{recipe=%S/Inputs/compute_f16.toml annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=COMPUTE

// A branch, a loop, a sort and a call that are computed in f16.
// COMPUTE:      module @_comp attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// COMPUTE-NEXT: func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<i32>) -> (tensor<f32> {jax.result_info = "result"}) {
// COMPUTE-NEXT: %cst = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// COMPUTE-NEXT: %cst_0 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// COMPUTE-NEXT: %0 = stablehlo.is_finite %arg0 : (tensor<16x16xf32>) -> tensor<16x16xi1>
// COMPUTE-NEXT: %1 = stablehlo.clamp %cst, %arg0, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %2 = stablehlo.select %0, %1, %arg0 : tensor<16x16xi1>, tensor<16x16xf32>
// COMPUTE-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf16>
// COMPUTE-NEXT: %4 = stablehlo.is_finite %arg1 : (tensor<16x16xf32>) -> tensor<16x16xi1>
// COMPUTE-NEXT: %5 = stablehlo.clamp %cst, %arg1, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %6 = stablehlo.select %4, %5, %arg1 : tensor<16x16xi1>, tensor<16x16xf32>
// COMPUTE-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf16>
// COMPUTE-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.600000e+01> : tensor<f32>
// COMPUTE-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// COMPUTE-NEXT: %8 = call @turned_f16_0(%7) {scalify.forms = ["2^0"]} : (tensor<16x16xf16>) -> tensor<16x16xf16>
// COMPUTE-NEXT: %9 = call @gated_f16_1_scaled_1(%3, %8, %arg2) {scalify.forms = ["2^4"]} : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<i32>) -> tensor<16xf16>
// COMPUTE-NEXT: %10 = stablehlo.convert %9 {scalify.forms = ["2^4"]} : (tensor<16xf16>) -> tensor<16xf32>
// COMPUTE-NEXT: %11 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
// COMPUTE-NEXT: %12 = stablehlo.multiply %10, %11 {scalify.forms = ["2^4 level 2"]} : tensor<16xf32>
// COMPUTE-NEXT: %cst_3 = stablehlo.constant dense<1.600000e+01> : tensor<16xf32>
// COMPUTE-NEXT: %13 = stablehlo.multiply %12, %cst_3 : tensor<16xf32>
// COMPUTE-NEXT: %14 = stablehlo.reduce(%13 init: %cst_2) applies stablehlo.add across dimensions = [0] {scalify.forms = ["2^0 level 8"]} : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
// COMPUTE-NEXT: %15 = stablehlo.divide %14, %cst_1 {scalify.forms = ["2^0 level 4"]} : tensor<f32>
// COMPUTE-NEXT: return %15 : tensor<f32>
// COMPUTE-NEXT: }
// COMPUTE-NEXT: func.func private @turned_f16_0(%arg0: tensor<16x16xf16>) -> tensor<16x16xf16> {
// COMPUTE-NEXT: %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<16x16xf16>) -> tensor<16x16xf16>
// COMPUTE-NEXT: return %0 : tensor<16x16xf16>
// COMPUTE-NEXT: }
// COMPUTE-NEXT: func.func private @gated_f16_1_scaled_1(%arg0: tensor<16x16xf16>, %arg1: tensor<16x16xf16>, %arg2: tensor<i32>) -> tensor<16xf16> {
// COMPUTE-NEXT: %cst = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// COMPUTE-NEXT: %cst_0 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// COMPUTE-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// COMPUTE-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// COMPUTE-NEXT: %c_2 = stablehlo.constant dense<3> : tensor<i32>
// COMPUTE-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// COMPUTE-NEXT: %c_4 = stablehlo.constant dense<0> : tensor<i32>
// COMPUTE-NEXT: %0 = stablehlo.compare GT, %arg2, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// COMPUTE-NEXT: %1 = stablehlo.convert %0 : (tensor<i1>) -> tensor<i32>
// COMPUTE-NEXT: %2 = "stablehlo.case"(%1) ({
// COMPUTE-NEXT: %19 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %cst_9 = stablehlo.constant dense<2.500000e-01> : tensor<16x16xf32>
// COMPUTE-NEXT: %20 = stablehlo.multiply %19, %cst_9 : tensor<16x16xf32>
// COMPUTE-NEXT: %21 = stablehlo.is_finite %20 : (tensor<16x16xf32>) -> tensor<16x16xi1>
// COMPUTE-NEXT: %22 = stablehlo.clamp %cst, %20, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %23 = stablehlo.select %21, %22, %20 : tensor<16x16xi1>, tensor<16x16xf32>
// COMPUTE-NEXT: %24 = stablehlo.convert %23 {scalify.forms = ["2^2"]} : (tensor<16x16xf32>) -> tensor<16x16xf16>
// COMPUTE-NEXT: %25 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<16x16xf16>
// COMPUTE-NEXT: %26 = stablehlo.multiply %24, %cst_10 {scalify.forms = ["2^1"]} : tensor<16x16xf16>
// COMPUTE-NEXT: stablehlo.return %26 : tensor<16x16xf16>
// COMPUTE-NEXT: }, {
// COMPUTE-NEXT: %19 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %cst_9 = stablehlo.constant dense<2.500000e-01> : tensor<16x16xf32>
// COMPUTE-NEXT: %20 = stablehlo.multiply %19, %cst_9 : tensor<16x16xf32>
// COMPUTE-NEXT: %21 = stablehlo.is_finite %20 : (tensor<16x16xf32>) -> tensor<16x16xi1>
// COMPUTE-NEXT: %22 = stablehlo.clamp %cst, %20, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %23 = stablehlo.select %21, %22, %20 : tensor<16x16xi1>, tensor<16x16xf32>
// COMPUTE-NEXT: %24 = stablehlo.convert %23 {scalify.forms = ["2^2"]} : (tensor<16x16xf32>) -> tensor<16x16xf16>
// COMPUTE-NEXT: %cst_10 = stablehlo.constant dense<4.000000e+00> : tensor<16x16xf16>
// COMPUTE-NEXT: %25 = stablehlo.multiply %24, %cst_10 : tensor<16x16xf16>
// COMPUTE-NEXT: %26 = stablehlo.tanh %25 {scalify.forms = ["2^0"]} : tensor<16x16xf16>
// COMPUTE-NEXT: %cst_11 = stablehlo.constant dense<5.000000e-01> : tensor<16x16xf16>
// COMPUTE-NEXT: %27 = stablehlo.multiply %26, %cst_11 : tensor<16x16xf16>
// COMPUTE-NEXT: stablehlo.return %27 : tensor<16x16xf16>
// COMPUTE-NEXT: }) {scalify.forms = ["2^1"]} : (tensor<i32>) -> tensor<16x16xf16>
// COMPUTE-NEXT: %3:3 = stablehlo.while(%iterArg = %arg1, %iterArg_9 = %c_4, %iterArg_10 = %2) : tensor<16x16xf16>, tensor<i32>, tensor<16x16xf16> attributes {scalify.forms = ["2^0", "unscaled", "2^1 level 1"]}
// COMPUTE-NEXT: cond {
// COMPUTE-NEXT: %19 = stablehlo.compare LT, %iterArg_9, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// COMPUTE-NEXT: stablehlo.return %19 : tensor<i1>
// COMPUTE-NEXT: } do {
// COMPUTE-NEXT: %19 = func.call @closed_call_f16_1_scaled_2(%iterArg, %iterArg_10) {scalify.forms = ["2^2"]} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
// COMPUTE-NEXT: %20 = stablehlo.add %iterArg_9, %c : tensor<i32>
// COMPUTE-NEXT: %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<16x16xf16>
// COMPUTE-NEXT: %21 = stablehlo.multiply %19, %cst_11 : tensor<16x16xf16>
// COMPUTE-NEXT: stablehlo.return %iterArg, %20, %21 : tensor<16x16xf16>, tensor<i32>, tensor<16x16xf16>
// COMPUTE-NEXT: }
// COMPUTE-NEXT: %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<16x16xf16>
// COMPUTE-NEXT: %4 = stablehlo.multiply %3#2, %cst_5 : tensor<16x16xf16>
// COMPUTE-NEXT: %5 = call @cumsum_f16_2_scaled_3(%4) {scalify.forms = ["2^4"]} : (tensor<16x16xf16>) -> tensor<16x16xf16>
// COMPUTE-NEXT: %6 = stablehlo.convert %5 {scalify.forms = ["2^4"]} : (tensor<16x16xf16>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %cst_6 = stablehlo.constant dense<1.600000e+01> : tensor<16x16xf32>
// COMPUTE-NEXT: %7 = stablehlo.multiply %6, %cst_6 : tensor<16x16xf32>
// COMPUTE-NEXT: %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.maximum across dimensions = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
// COMPUTE-NEXT: %cst_7 = stablehlo.constant dense<6.250000e-02> : tensor<16xf32>
// COMPUTE-NEXT: %9 = stablehlo.multiply %8, %cst_7 : tensor<16xf32>
// COMPUTE-NEXT: %10 = stablehlo.is_finite %9 : (tensor<16xf32>) -> tensor<16xi1>
// COMPUTE-NEXT: %11 = stablehlo.clamp %cst, %9, %cst_0 : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
// COMPUTE-NEXT: %12 = stablehlo.select %10, %11, %9 : tensor<16xi1>, tensor<16xf32>
// COMPUTE-NEXT: %13 = stablehlo.convert %12 {scalify.forms = ["2^4"]} : (tensor<16xf32>) -> tensor<16xf16>
// COMPUTE-NEXT: %14 = call @sort_f16_4_scaled_5(%4) {scalify.forms = ["2^2"]} : (tensor<16x16xf16>) -> tensor<16x16xf16>
// COMPUTE-NEXT: %15 = stablehlo.slice %14 [0:1, 0:16] {scalify.forms = ["2^2"]} : (tensor<16x16xf16>) -> tensor<1x16xf16>
// COMPUTE-NEXT: %16 = stablehlo.reshape %15 {scalify.forms = ["2^2"]} : (tensor<1x16xf16>) -> tensor<16xf16>
// COMPUTE-NEXT: %cst_8 = stablehlo.constant dense<2.500000e-01> : tensor<16xf16>
// COMPUTE-NEXT: %17 = stablehlo.multiply %16, %cst_8 : tensor<16xf16>
// COMPUTE-NEXT: %18 = stablehlo.add %13, %17 {scalify.forms = ["2^4"]} : tensor<16xf16>
// COMPUTE-NEXT: return %18 : tensor<16xf16>
// COMPUTE-NEXT: }
// COMPUTE-NEXT: func.func private @closed_call_f16_1_scaled_2(%arg0: tensor<16x16xf16>, %arg1: tensor<16x16xf16>) -> tensor<16x16xf16> {
// COMPUTE-NEXT: %cst = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// COMPUTE-NEXT: %cst_0 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// COMPUTE-NEXT: %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<16x16xf16>
// COMPUTE-NEXT: %0 = stablehlo.multiply %arg1, %cst_1 : tensor<16x16xf16>
// COMPUTE-NEXT: %1 = stablehlo.sine %0 {scalify.forms = ["2^0"]} : tensor<16x16xf16>
// COMPUTE-NEXT: %2 = stablehlo.dot_general %1, %arg0, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 2"]} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %cst_2 = stablehlo.constant dense<2.500000e-01> : tensor<16x16xf32>
// COMPUTE-NEXT: %3 = stablehlo.multiply %2, %cst_2 : tensor<16x16xf32>
// COMPUTE-NEXT: %4 = stablehlo.is_finite %3 : (tensor<16x16xf32>) -> tensor<16x16xi1>
// COMPUTE-NEXT: %5 = stablehlo.clamp %cst, %3, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %6 = stablehlo.select %4, %5, %3 : tensor<16x16xi1>, tensor<16x16xf32>
// COMPUTE-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^2"]} : (tensor<16x16xf32>) -> tensor<16x16xf16>
// COMPUTE-NEXT: return %7 : tensor<16x16xf16>
// COMPUTE-NEXT: }
// COMPUTE-NEXT: func.func private @cumsum_f16_2_scaled_3(%arg0: tensor<16x16xf16>) -> tensor<16x16xf16> {
// COMPUTE-NEXT: %0 = call @cumsum_0_f16_2_scaled_3(%arg0) {scalify.forms = ["2^4"]} : (tensor<16x16xf16>) -> tensor<16x16xf16>
// COMPUTE-NEXT: return %0 : tensor<16x16xf16>
// COMPUTE-NEXT: }
// COMPUTE-NEXT: func.func private @cumsum_0_f16_2_scaled_3(%arg0: tensor<16x16xf16>) -> tensor<16x16xf16> {
// COMPUTE-NEXT: %cst = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// COMPUTE-NEXT: %cst_0 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// COMPUTE-NEXT: %0 = stablehlo.convert %arg0 {scalify.forms = ["2^2"]} : (tensor<16x16xf16>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// COMPUTE-NEXT: %1 = stablehlo.broadcast_in_dim %cst_1, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<f32>
// COMPUTE-NEXT: %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<16x16xf32>
// COMPUTE-NEXT: %2 = stablehlo.multiply %0, %cst_2 : tensor<16x16xf32>
// COMPUTE-NEXT: %3 = "stablehlo.reduce_window"(%2, %1) <{padding = dense<[[15, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 16, 1>}> ({
// COMPUTE-NEXT: ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// COMPUTE-NEXT: %9 = stablehlo.add %arg1, %arg2 : tensor<f32>
// COMPUTE-NEXT: stablehlo.return %9 : tensor<f32>
// COMPUTE-NEXT: }) {scalify.forms = ["2^0 level 4"]} : (tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %cst_3 = stablehlo.constant dense<6.250000e-02> : tensor<16x16xf32>
// COMPUTE-NEXT: %4 = stablehlo.multiply %3, %cst_3 : tensor<16x16xf32>
// COMPUTE-NEXT: %5 = stablehlo.is_finite %4 : (tensor<16x16xf32>) -> tensor<16x16xi1>
// COMPUTE-NEXT: %6 = stablehlo.clamp %cst, %4, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %7 = stablehlo.select %5, %6, %4 : tensor<16x16xi1>, tensor<16x16xf32>
// COMPUTE-NEXT: %8 = stablehlo.convert %7 {scalify.forms = ["2^4"]} : (tensor<16x16xf32>) -> tensor<16x16xf16>
// COMPUTE-NEXT: return %8 : tensor<16x16xf16>
// COMPUTE-NEXT: }
// COMPUTE-NEXT: func.func private @sort_f16_4_scaled_5(%arg0: tensor<16x16xf16>) -> tensor<16x16xf16> {
// COMPUTE-NEXT: %cst = stablehlo.constant dense<-6.550400e+04> : tensor<f32>
// COMPUTE-NEXT: %cst_0 = stablehlo.constant dense<6.550400e+04> : tensor<f32>
// COMPUTE-NEXT: %0 = stablehlo.convert %arg0 {scalify.forms = ["2^2"]} : (tensor<16x16xf16>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["any"]} dense<0x7FC00000> : tensor<f32>
// COMPUTE-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// COMPUTE-NEXT: %1 = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
// COMPUTE-NEXT: ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// COMPUTE-NEXT: %6 = stablehlo.compare EQ, %arg1, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
// COMPUTE-NEXT: %7 = stablehlo.select %6, %cst_2, %arg1 : tensor<i1>, tensor<f32>
// COMPUTE-NEXT: %8 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
// COMPUTE-NEXT: %9 = stablehlo.select %8, %cst_1, %7 : tensor<i1>, tensor<f32>
// COMPUTE-NEXT: %10 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
// COMPUTE-NEXT: %11 = stablehlo.select %10, %cst_2, %arg2 : tensor<i1>, tensor<f32>
// COMPUTE-NEXT: %12 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
// COMPUTE-NEXT: %13 = stablehlo.select %12, %cst_1, %11 : tensor<i1>, tensor<f32>
// COMPUTE-NEXT: %14 = stablehlo.compare LT, %9, %13, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
// COMPUTE-NEXT: stablehlo.return %14 : tensor<i1>
// COMPUTE-NEXT: }) {scalify.forms = ["2^2"]} : (tensor<16x16xf32>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %2 = stablehlo.is_finite %1 : (tensor<16x16xf32>) -> tensor<16x16xi1>
// COMPUTE-NEXT: %3 = stablehlo.clamp %cst, %1, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// COMPUTE-NEXT: %4 = stablehlo.select %2, %3, %1 : tensor<16x16xi1>, tensor<16x16xf32>
// COMPUTE-NEXT: %5 = stablehlo.convert %4 {scalify.forms = ["2^2"]} : (tensor<16x16xf32>) -> tensor<16x16xf16>
// COMPUTE-NEXT: return %5 : tensor<16x16xf16>
// COMPUTE-NEXT: }
// COMPUTE-NEXT: }

module @_comp attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<i32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = call @turned(%arg1) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %1 = call @gated(%arg0, %0, %arg2) : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<i32>) -> tensor<16xf32>
    %2 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<16xf32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    %5 = stablehlo.divide %4, %cst : tensor<f32>
    return %5 : tensor<f32>
  }
  func.func private @turned(%arg0: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    return %0 : tensor<16x16xf32>
  }
  func.func private @gated(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<i32>) -> tensor<16xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare GT, %arg2, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = stablehlo.convert %0 : (tensor<i1>) -> tensor<i32>
    %2 = "stablehlo.case"(%1) ({
      %10 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
      %12 = stablehlo.multiply %10, %11 : tensor<16x16xf32>
      stablehlo.return %12 : tensor<16x16xf32>
    }, {
      %10 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      %11 = stablehlo.tanh %10 : tensor<16x16xf32>
      stablehlo.return %11 : tensor<16x16xf32>
    }) : (tensor<i32>) -> tensor<16x16xf32>
    %3:3 = stablehlo.while(%iterArg = %arg1, %iterArg_3 = %c_2, %iterArg_4 = %2) : tensor<16x16xf32>, tensor<i32>, tensor<16x16xf32>
    cond {
      %10 = stablehlo.compare LT, %iterArg_3, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    } do {
      %10 = func.call @closed_call(%iterArg, %iterArg_4) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      %11 = stablehlo.add %iterArg_3, %c : tensor<i32>
      stablehlo.return %iterArg, %11, %10 : tensor<16x16xf32>, tensor<i32>, tensor<16x16xf32>
    }
    %4 = call @cumsum(%3#2) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
    %6 = call @sort(%3#2) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %7 = stablehlo.slice %6 [0:1, 0:16] : (tensor<16x16xf32>) -> tensor<1x16xf32>
    %8 = stablehlo.reshape %7 : (tensor<1x16xf32>) -> tensor<16xf32>
    %9 = stablehlo.add %5, %8 : tensor<16xf32>
    return %9 : tensor<16xf32>
  }
  func.func private @closed_call(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %0 = stablehlo.sine %arg1 : tensor<16x16xf32>
    %1 = stablehlo.dot_general %0, %arg0, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
  func.func private @cumsum(%arg0: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    return %0 : tensor<16x16xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{padding = dense<[[15, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 16, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
  func.func private @sort(%arg0: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.compare EQ, %arg1, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.select %3, %cst, %2 : tensor<i1>, tensor<f32>
      %5 = stablehlo.compare EQ, %arg2, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.select %5, %cst_0, %arg2 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.select %7, %cst, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    return %0 : tensor<16x16xf32>
  }
}
