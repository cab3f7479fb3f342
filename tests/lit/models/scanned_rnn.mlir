// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{recipe=fp8 annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8

// A training step of a recurrent network, which is a scan forward and one backward.
// UNIT:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<32x32xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<32x32xf32>, %arg3: tensor<3x4x32xf32>, %arg4: tensor<4xi32>) -> (tensor<32x32xf32> {jax.result_info = "result[0]['h']"}, tensor<32x16xf32> {jax.result_info = "result[0]['out']"}, tensor<32x32xf32> {jax.result_info = "result[0]['x']"}, tensor<f32> {jax.result_info = "result[1]"}) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<4x16xf32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<32x16xf32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_3 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_4 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// UNIT-NEXT: %cst_5 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg1, %cst_1 : tensor<32x16xf32>
// UNIT-NEXT: %1 = stablehlo.add %arg1, %0 : tensor<32x16xf32>
// UNIT-NEXT: %2 = stablehlo.clamp %cst_2, %1, %cst_3 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// UNIT-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.000000e+00> : tensor<f32>
// UNIT-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// UNIT-NEXT: %c_9 = stablehlo.constant dense<3> : tensor<i32>
// UNIT-NEXT: %c_10 = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %5 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<3x4x32xf32>
// UNIT-NEXT: %6 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<3x4x32xf32>
// UNIT-NEXT: %7 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<3x4x32xf32>
// UNIT-NEXT: %8:8 = stablehlo.while(%iterArg = %arg3, %iterArg_15 = %arg2, %iterArg_16 = %arg0, %iterArg_17 = %c_10, %iterArg_18 = %4, %iterArg_19 = %5, %iterArg_20 = %6, %iterArg_21 = %7) : tensor<3x4x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<i32>, tensor<4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0 level -0.671746", "2^0 level -0.75", "2^0 level -0.75", "2^0 level 0.25"]}
// UNIT-NEXT: cond {
// UNIT-NEXT: %47 = stablehlo.compare LT, %iterArg_17, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// UNIT-NEXT: stablehlo.return %47 : tensor<i1>
// UNIT-NEXT: } do {
// UNIT-NEXT: %47 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_17) {scalify.forms = ["2^0"]} : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
// UNIT-NEXT: %48:4 = func.call @closed_call_scaled_5(%iterArg_15, %iterArg_16, %iterArg_18, %47) {scalify.forms = ["2^0 level -0.671746", "2^0 level -0.75", "2^0 level -0.671746", "2^0 level 0.239649"]} : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
// UNIT-NEXT: %49 = func.call @dynamic_update_index_in_dim(%iterArg_19, %48#1, %iterArg_17) {scalify.forms = ["2^0 level -0.75"]} : (tensor<3x4x32xf32>, tensor<4x32xf32>, tensor<i32>) -> tensor<3x4x32xf32>
// UNIT-NEXT: %50 = func.call @dynamic_update_index_in_dim(%iterArg_20, %48#2, %iterArg_17) {scalify.forms = ["2^0 level -0.75"]} : (tensor<3x4x32xf32>, tensor<4x32xf32>, tensor<i32>) -> tensor<3x4x32xf32>
// UNIT-NEXT: %51 = func.call @dynamic_update_index_in_dim(%iterArg_21, %48#3, %iterArg_17) {scalify.forms = ["2^0 level 0.25"]} : (tensor<3x4x32xf32>, tensor<4x32xf32>, tensor<i32>) -> tensor<3x4x32xf32>
// UNIT-NEXT: %52 = stablehlo.add %iterArg_17, %c : tensor<i32>
// UNIT-NEXT: stablehlo.return %iterArg, %iterArg_15, %iterArg_16, %52, %48#0, %49, %50, %51 : tensor<3x4x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<i32>, tensor<4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>
// UNIT-NEXT: }
// UNIT-NEXT: %cst_12 = stablehlo.constant dense<2.000000e+00> : tensor<4x32xf32>
// UNIT-NEXT: %9 = stablehlo.multiply %8#4, %cst_12 : tensor<4x32xf32>
// UNIT-NEXT: %10 = stablehlo.multiply %9, %cst_0 : tensor<4x32xf32>
// UNIT-NEXT: %11 = stablehlo.add %9, %10 : tensor<4x32xf32>
// UNIT-NEXT: %12 = stablehlo.clamp %cst_2, %11, %cst_3 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %13 = stablehlo.convert %12 {scalify.forms = ["2^-1 level 0.328254"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// UNIT-NEXT: %14 = stablehlo.dot_general %13, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-1 level 2.82825"]} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// UNIT-NEXT: %15:3 = call @log_softmax_scaled_8(%14) {scalify.forms = ["2^0 level 2.2812", "2^0", "2^0 level 4"]} : (tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>)
// UNIT-NEXT: %16 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
// UNIT-NEXT: %17:2 = call @take_along_axis(%15#0, %16) {scalify.forms = ["2^0 level 2.25", "unscaled"]} : (tensor<4x16xf32>, tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>)
// UNIT-NEXT: %18 = stablehlo.reduce(%17#0 init: %cst_11) applies stablehlo.add across dimensions = [0, 1] {scalify.forms = ["2^0 level 3.25"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
// UNIT-NEXT: %19 = stablehlo.divide %18, %cst_8 {scalify.forms = ["2^0 level 1.25"]} : tensor<f32>
// UNIT-NEXT: %20 = stablehlo.negate %19 {scalify.forms = ["2^0 level 1.25"]} : tensor<f32>
// UNIT-NEXT: %21 = stablehlo.negate %cst_7 {scalify.forms = ["unscaled"]} : tensor<f32>
// UNIT-NEXT: %22 = stablehlo.divide %21, %cst_8 {scalify.forms = ["2^0 level -2"]} : tensor<f32>
// UNIT-NEXT: %23 = stablehlo.broadcast_in_dim %22, dims = [] {scalify.forms = ["2^0 level -2"]} : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %24 = call @take_along_axis_0(%17#1, %23) {scalify.forms = ["2^0 level -4"]} : (tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %25 = call @log_softmax_1(%15#1, %15#2, %24) {scalify.forms = ["2^0 level -3.95627"]} : (tensor<4x16xf32>, tensor<4x1xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %cst_13 = stablehlo.constant dense<1.600000e+01> : tensor<4x16xf32>
// UNIT-NEXT: %26 = stablehlo.multiply %25, %cst_13 : tensor<4x16xf32>
// UNIT-NEXT: %27 = stablehlo.multiply %26, %cst : tensor<4x16xf32>
// UNIT-NEXT: %28 = stablehlo.add %26, %27 : tensor<4x16xf32>
// UNIT-NEXT: %29 = stablehlo.clamp %cst_4, %28, %cst_5 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %30 = stablehlo.convert %29 {scalify.forms = ["2^-4 level 0.0437314"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// UNIT-NEXT: %31 = stablehlo.dot_general %25, %8#4, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -3.62801"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// UNIT-NEXT: %32 = stablehlo.transpose %31, dims = [1, 0] {scalify.forms = ["2^0 level -3.62801"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// UNIT-NEXT: %33 = stablehlo.dot_general %30, %3, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-4 level 2.04373"]} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %34 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %35 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %36:9 = stablehlo.while(%iterArg = %arg3, %iterArg_15 = %8#5, %iterArg_16 = %8#6, %iterArg_17 = %8#7, %iterArg_18 = %arg0, %iterArg_19 = %c_10, %iterArg_20 = %34, %iterArg_21 = %35, %iterArg_22 = %33) : tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<32x32xf32>, tensor<i32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32> attributes {scalify.forms = ["2^0", "2^0 level -0.75", "2^0 level -0.75", "2^0 level 0.25", "2^0", "unscaled", "2^0 level 0.512669", "2^0 level -0.237331", "2^-4 level 5.94713"]}
// UNIT-NEXT: cond {
// UNIT-NEXT: %47 = stablehlo.compare LT, %iterArg_19, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// UNIT-NEXT: stablehlo.return %47 : tensor<i1>
// UNIT-NEXT: } do {
// UNIT-NEXT: %47 = stablehlo.subtract %c_9, %iterArg_19 : tensor<i32>
// UNIT-NEXT: %48 = stablehlo.subtract %47, %c : tensor<i32>
// UNIT-NEXT: %49 = func.call @dynamic_index_in_dim(%iterArg, %48) {scalify.forms = ["2^0"]} : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
// UNIT-NEXT: %50 = func.call @dynamic_index_in_dim(%iterArg_15, %48) {scalify.forms = ["2^0 level -0.75"]} : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
// UNIT-NEXT: %51 = func.call @dynamic_index_in_dim(%iterArg_16, %48) {scalify.forms = ["2^0 level -0.75"]} : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
// UNIT-NEXT: %52 = func.call @dynamic_index_in_dim(%iterArg_17, %48) {scalify.forms = ["2^0 level 0.25"]} : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
// UNIT-NEXT: %53:3 = func.call @closed_call_2_scaled_16(%iterArg_18, %iterArg_20, %iterArg_21, %iterArg_22, %49, %50, %51, %52) {scalify.forms = ["2^0 level 0.512669", "2^0 level -0.237331", "2^-3 level 4.94713"]} : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>)
// UNIT-NEXT: %cst_23 = stablehlo.constant dense<1.250000e-01> : tensor<4x32xf32>
// UNIT-NEXT: %54 = stablehlo.multiply %53#2, %cst_23 : tensor<4x32xf32>
// UNIT-NEXT: %55 = stablehlo.add %iterArg_19, %c : tensor<i32>
// UNIT-NEXT: %cst_24 = stablehlo.constant dense<1.600000e+01> : tensor<4x32xf32>
// UNIT-NEXT: %56 = stablehlo.multiply %54, %cst_24 : tensor<4x32xf32>
// UNIT-NEXT: stablehlo.return %iterArg, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %55, %53#0, %53#1, %56 : tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<32x32xf32>, tensor<i32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>
// UNIT-NEXT: }
// UNIT-NEXT: %cst_14 = stablehlo.constant dense<6.250000e-02> : tensor<4x32xf32>
// UNIT-NEXT: %37 = stablehlo.multiply %36#8, %cst_14 : tensor<4x32xf32>
// UNIT-NEXT: %38 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %39 = stablehlo.multiply %38, %36#7 {scalify.forms = ["2^0 level -3.55926"]} : tensor<32x32xf32>
// UNIT-NEXT: %40 = stablehlo.subtract %arg0, %39 {scalify.forms = ["2^0 level 0.00517248"]} : tensor<32x32xf32>
// UNIT-NEXT: %41 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x16xf32>
// UNIT-NEXT: %42 = stablehlo.multiply %41, %32 {scalify.forms = ["2^0 level -6.94994"]} : tensor<32x16xf32>
// UNIT-NEXT: %43 = stablehlo.subtract %arg1, %42 {scalify.forms = ["2^0 level 4.71898e-05"]} : tensor<32x16xf32>
// UNIT-NEXT: %44 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %45 = stablehlo.multiply %44, %36#6 {scalify.forms = ["2^0 level -2.80926"]} : tensor<32x32xf32>
// UNIT-NEXT: %46 = stablehlo.subtract %arg2, %45 {scalify.forms = ["2^0 level 0.0145351"]} : tensor<32x32xf32>
// UNIT-NEXT: return %40, %43, %46, %20 : tensor<32x32xf32>, tensor<32x16xf32>, tensor<32x32xf32>, tensor<f32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<3x4x32xf32>, %arg1: tensor<i32>) -> tensor<4x32xf32> {
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 4, 32] : (tensor<3x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x32xf32>
// UNIT-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x4x32xf32>) -> tensor<4x32xf32>
// UNIT-NEXT: return %1 : tensor<4x32xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @closed_call_scaled_5(%arg0: tensor<32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<4x32xf32>, %arg3: tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg1, %cst_0 : tensor<32x32xf32>
// UNIT-NEXT: %1 = stablehlo.add %arg1, %0 : tensor<32x32xf32>
// UNIT-NEXT: %2 = stablehlo.clamp %cst_1, %1, %cst_2 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %4 = stablehlo.multiply %arg2, %cst : tensor<4x32xf32>
// UNIT-NEXT: %5 = stablehlo.add %arg2, %4 : tensor<4x32xf32>
// UNIT-NEXT: %6 = stablehlo.clamp %cst_1, %5, %cst_2 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0 level -0.75"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// UNIT-NEXT: %8 = stablehlo.multiply %arg0, %cst_0 : tensor<32x32xf32>
// UNIT-NEXT: %9 = stablehlo.add %arg0, %8 : tensor<32x32xf32>
// UNIT-NEXT: %10 = stablehlo.clamp %cst_1, %9, %cst_2 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %11 = stablehlo.convert %10 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %12 = stablehlo.multiply %arg3, %cst : tensor<4x32xf32>
// UNIT-NEXT: %13 = stablehlo.add %arg3, %12 : tensor<4x32xf32>
// UNIT-NEXT: %14 = stablehlo.clamp %cst_1, %13, %cst_2 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %15 = stablehlo.convert %14 {scalify.forms = ["2^0"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// UNIT-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %16 = stablehlo.dot_general %15, %11, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2.5"]} : (tensor<4x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %17 = stablehlo.dot_general %7, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 1.75"]} : (tensor<4x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %18 = stablehlo.add %16, %17 {scalify.forms = ["2^0 level 2.71838"]} : tensor<4x32xf32>
// UNIT-NEXT: %19 = stablehlo.tanh %18 {scalify.forms = ["2^0 level -0.671746"]} : tensor<4x32xf32>
// UNIT-NEXT: %20 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %21 = stablehlo.subtract %20, %19 {scalify.forms = ["2^0 level 0.239649"]} : tensor<4x32xf32>
// UNIT-NEXT: return %19, %arg2, %19, %21 : tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x4x32xf32>, %arg1: tensor<4x32xf32>, %arg2: tensor<i32>) -> tensor<3x4x32xf32> {
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4x32xf32>) -> tensor<1x4x32xf32>
// UNIT-NEXT: %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c : (tensor<3x4x32xf32>, tensor<1x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x32xf32>
// UNIT-NEXT: return %1 : tensor<3x4x32xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @log_softmax_scaled_8(%arg0: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>) {
// UNIT-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["any"]} dense<0xFF800000> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<4x16xf32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg0, %cst_1 : tensor<4x16xf32>
// UNIT-NEXT: %1 = stablehlo.reduce(%0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] {scalify.forms = ["2^0 level 1.75"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %3 = stablehlo.maximum %2, %1 {scalify.forms = ["2^0 level 1.75"]} : tensor<4xf32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0] {scalify.forms = ["2^0 level 1.75"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] {scalify.forms = ["2^0 level 1.75"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %6 = stablehlo.subtract %0, %5 {scalify.forms = ["2^0 level 2.25"]} : tensor<4x16xf32>
// UNIT-NEXT: %7 = stablehlo.exponential %6 {scalify.forms = ["2^0"]} : tensor<4x16xf32>
// UNIT-NEXT: %8 = stablehlo.reduce(%7 init: %cst) applies stablehlo.add across dimensions = [1] {scalify.forms = ["2^0 level 4"]} : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %9 = stablehlo.broadcast_in_dim %8, dims = [0] {scalify.forms = ["2^0 level 4"]} : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %10 = stablehlo.log %9 {scalify.forms = ["2^0"]} : tensor<4x1xf32>
// UNIT-NEXT: %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] {scalify.forms = ["2^0"]} : (tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %12 = stablehlo.subtract %6, %11 {scalify.forms = ["2^0 level 2.2812"]} : tensor<4x16xf32>
// UNIT-NEXT: return %12, %7, %9 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @take_along_axis(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// UNIT-NEXT: %c = stablehlo.constant dense<true> : tensor<i1>
// UNIT-NEXT: %c_0 = stablehlo.constant dense<15> : tensor<1xi32>
// UNIT-NEXT: %c_1 = stablehlo.constant dense<16> : tensor<i32>
// UNIT-NEXT: %c_2 = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
// UNIT-NEXT: %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
// UNIT-NEXT: %3 = stablehlo.add %arg1, %2 : tensor<4x1xi32>
// UNIT-NEXT: %4 = stablehlo.select %1, %3, %arg1 : tensor<4x1xi1>, tensor<4x1xi32>
// UNIT-NEXT: %5 = stablehlo.reshape %4 : (tensor<4x1xi32>) -> tensor<4x1x1xi32>
// UNIT-NEXT: %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1x1xi32>
// UNIT-NEXT: %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
// UNIT-NEXT: %8 = stablehlo.broadcast_in_dim %c_0, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
// UNIT-NEXT: %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<4x1x1xi32>
// UNIT-NEXT: %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
// UNIT-NEXT: %11 = stablehlo.and %7, %10 : tensor<4x1x1xi1>
// UNIT-NEXT: %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.and across dimensions = [2] : (tensor<4x1x1xi1>, tensor<i1>) -> tensor<4x1xi1>
// UNIT-NEXT: %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x1x1xi32>) -> tensor<4x1xf32>
// UNIT-NEXT: %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// UNIT-NEXT: %15 = stablehlo.select %12, %13, %14 : tensor<4x1xi1>, tensor<4x1xf32>
// UNIT-NEXT: return %15, %5 : tensor<4x1xf32>, tensor<4x1x1xi32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @take_along_axis_0(%arg0: tensor<4x1x1xi32>, %arg1: tensor<4x1xf32>) -> tensor<4x16xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// UNIT-NEXT: %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
// UNIT-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// UNIT-NEXT: %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
// UNIT-NEXT: stablehlo.return %2 : tensor<f32>
// UNIT-NEXT: }) : (tensor<4x16xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: return %1 : tensor<4x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @log_softmax_1(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x16xf32>) -> tensor<4x16xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.negate %arg2 : tensor<4x16xf32>
// UNIT-NEXT: %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<4x1xf32>
// UNIT-NEXT: %3 = stablehlo.divide %2, %arg1 : tensor<4x1xf32>
// UNIT-NEXT: %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// UNIT-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x16xf32>
// UNIT-NEXT: %6 = stablehlo.multiply %5, %arg0 : tensor<4x16xf32>
// UNIT-NEXT: %7 = stablehlo.add %arg2, %6 : tensor<4x16xf32>
// UNIT-NEXT: return %7 : tensor<4x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @closed_call_2_scaled_16(%arg0: tensor<32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x32xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4x32xf32>, %arg5: tensor<4x32xf32>, %arg6: tensor<4x32xf32>, %arg7: tensor<4x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_3 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// UNIT-NEXT: %cst_4 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg0, %cst_0 : tensor<32x32xf32>
// UNIT-NEXT: %1 = stablehlo.add %arg0, %0 : tensor<32x32xf32>
// UNIT-NEXT: %2 = stablehlo.clamp %cst_1, %1, %cst_2 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// UNIT-NEXT: %4 = stablehlo.multiply %arg3, %arg7 {scalify.forms = ["2^-4 level 4.25"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_5 = stablehlo.constant dense<6.250000e-02> : tensor<4x32xf32>
// UNIT-NEXT: %5 = stablehlo.multiply %4, %cst_5 : tensor<4x32xf32>
// UNIT-NEXT: %6 = stablehlo.multiply %5, %arg6 {scalify.forms = ["2^0 level -0.5"]} : tensor<4x32xf32>
// UNIT-NEXT: %7 = stablehlo.add %5, %6 {scalify.forms = ["2^0 level -0.552869"]} : tensor<4x32xf32>
// UNIT-NEXT: %cst_6 = stablehlo.constant dense<8.000000e+00> : tensor<4x32xf32>
// UNIT-NEXT: %8 = stablehlo.multiply %7, %cst_6 : tensor<4x32xf32>
// UNIT-NEXT: %9 = stablehlo.multiply %8, %cst : tensor<4x32xf32>
// UNIT-NEXT: %10 = stablehlo.add %8, %9 : tensor<4x32xf32>
// UNIT-NEXT: %11 = stablehlo.clamp %cst_3, %10, %cst_4 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// UNIT-NEXT: %12 = stablehlo.convert %11 {scalify.forms = ["2^-3 level 2.44713"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E5M2>
// UNIT-NEXT: %13 = stablehlo.dot_general %7, %arg5, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -0.302869"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %14 = stablehlo.transpose %13, dims = [1, 0] {scalify.forms = ["2^0 level -0.302869"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %15 = stablehlo.add %arg2, %14 {scalify.forms = ["2^0 level -0.237331"]} : tensor<32x32xf32>
// UNIT-NEXT: %16 = stablehlo.dot_general %12, %3, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-3 level 4.94713"]} : (tensor<4x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// UNIT-NEXT: %17 = stablehlo.dot_general %7, %arg4, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level 0.447131"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %18 = stablehlo.transpose %17, dims = [1, 0] {scalify.forms = ["2^0 level 0.447131"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// UNIT-NEXT: %19 = stablehlo.add %arg1, %18 {scalify.forms = ["2^0 level 0.512669"]} : tensor<32x32xf32>
// UNIT-NEXT: return %19, %15, %16 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<32x32xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<32x32xf32>, %arg3: tensor<3x4x32xf32>, %arg4: tensor<4xi32>) -> (tensor<32x32xf32> {jax.result_info = "result[0]['h']"}, tensor<32x16xf32> {jax.result_info = "result[0]['out']"}, tensor<32x32xf32> {jax.result_info = "result[0]['x']"}, tensor<f32> {jax.result_info = "result[1]"}) {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<4x16xf32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<32x16xf32>
// FP8-NEXT: %cst_3 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_4 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_5 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_6 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg1, %cst_2 : tensor<32x16xf32>
// FP8-NEXT: %1 = stablehlo.add %arg1, %0 : tensor<32x16xf32>
// FP8-NEXT: %2 = stablehlo.clamp %cst_3, %1, %cst_4 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E4M3FN>
// FP8-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_8 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.000000e+00> : tensor<f32>
// FP8-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// FP8-NEXT: %c_9 = stablehlo.constant dense<3> : tensor<i32>
// FP8-NEXT: %c_10 = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %5 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<3x4x32xf32>
// FP8-NEXT: %6 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<3x4x32xf32>
// FP8-NEXT: %7 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<3x4x32xf32>
// FP8-NEXT: %8:8 = stablehlo.while(%iterArg = %arg3, %iterArg_20 = %arg2, %iterArg_21 = %arg0, %iterArg_22 = %c_10, %iterArg_23 = %4, %iterArg_24 = %5, %iterArg_25 = %6, %iterArg_26 = %7) : tensor<3x4x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<i32>, tensor<4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0", "2^0", "2^0", "2^0"]}
// FP8-NEXT: cond {
// FP8-NEXT: %64 = stablehlo.compare LT, %iterArg_22, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// FP8-NEXT: stablehlo.return %64 : tensor<i1>
// FP8-NEXT: } do {
// FP8-NEXT: %64 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_22) {scalify.forms = ["2^0"]} : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
// FP8-NEXT: %65:4 = func.call @closed_call_scaled_4(%iterArg_20, %iterArg_21, %iterArg_23, %64) {scalify.forms = ["2^0", "2^0", "2^0", "2^0"]} : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
// FP8-NEXT: %66 = func.call @dynamic_update_index_in_dim(%iterArg_24, %65#1, %iterArg_22) {scalify.forms = ["2^0"]} : (tensor<3x4x32xf32>, tensor<4x32xf32>, tensor<i32>) -> tensor<3x4x32xf32>
// FP8-NEXT: %67 = func.call @dynamic_update_index_in_dim(%iterArg_25, %65#2, %iterArg_22) {scalify.forms = ["2^0"]} : (tensor<3x4x32xf32>, tensor<4x32xf32>, tensor<i32>) -> tensor<3x4x32xf32>
// FP8-NEXT: %68 = func.call @dynamic_update_index_in_dim(%iterArg_26, %65#3, %iterArg_22) {scalify.forms = ["2^0"]} : (tensor<3x4x32xf32>, tensor<4x32xf32>, tensor<i32>) -> tensor<3x4x32xf32>
// FP8-NEXT: %69 = stablehlo.add %iterArg_22, %c : tensor<i32>
// FP8-NEXT: stablehlo.return %iterArg, %iterArg_20, %iterArg_21, %69, %65#0, %66, %67, %68 : tensor<3x4x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<i32>, tensor<4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>
// FP8-NEXT: }
// FP8-NEXT: %9 = stablehlo.multiply %8#4, %cst_1 : tensor<4x32xf32>
// FP8-NEXT: %10 = stablehlo.add %8#4, %9 : tensor<4x32xf32>
// FP8-NEXT: %11 = stablehlo.clamp %cst_3, %10, %cst_4 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %12 = stablehlo.convert %11 {scalify.forms = ["2^0"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// FP8-NEXT: %13 = stablehlo.dot_general %12, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<4x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<4x16xf32>
// FP8-NEXT: %14:3 = call @log_softmax(%13) {scalify.forms = ["2^0 level 2", "2^0", "2^0 level 2"]} : (tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>)
// FP8-NEXT: %15 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
// FP8-NEXT: %16:2 = call @take_along_axis(%14#0, %15) {scalify.forms = ["2^0 level 2", "unscaled"]} : (tensor<4x16xf32>, tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>)
// FP8-NEXT: %17 = stablehlo.reduce(%16#0 init: %cst_11) applies stablehlo.add across dimensions = [0, 1] {scalify.forms = ["2^0 level 3"]} : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %18 = stablehlo.divide %17, %cst_8 {scalify.forms = ["2^0 level 1"]} : tensor<f32>
// FP8-NEXT: %19 = stablehlo.negate %18 {scalify.forms = ["2^0 level 1"]} : tensor<f32>
// FP8-NEXT: %20 = stablehlo.negate %cst_7 {scalify.forms = ["unscaled"]} : tensor<f32>
// FP8-NEXT: %21 = stablehlo.divide %20, %cst_8 {scalify.forms = ["2^0 level -2"]} : tensor<f32>
// FP8-NEXT: %22 = stablehlo.broadcast_in_dim %21, dims = [] {scalify.forms = ["2^0 level -2"]} : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %23 = call @take_along_axis_0(%16#1, %22) {scalify.forms = ["2^0 level -4"]} : (tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %24 = call @log_softmax_1(%14#1, %14#2, %23) {scalify.forms = ["2^0 level -4"]} : (tensor<4x16xf32>, tensor<4x1xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %cst_12 = stablehlo.constant dense<1.600000e+01> : tensor<4x16xf32>
// FP8-NEXT: %25 = stablehlo.multiply %24, %cst_12 : tensor<4x16xf32>
// FP8-NEXT: %26 = stablehlo.multiply %25, %cst_0 : tensor<4x16xf32>
// FP8-NEXT: %27 = stablehlo.add %25, %26 : tensor<4x16xf32>
// FP8-NEXT: %28 = stablehlo.clamp %cst_5, %27, %cst_6 : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %29 = stablehlo.convert %28 {scalify.forms = ["2^-4"]} : (tensor<4x16xf32>) -> tensor<4x16xf8E5M2>
// FP8-NEXT: %30 = stablehlo.dot_general %24, %8#4, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -3"]} : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
// FP8-NEXT: %31 = stablehlo.transpose %30, dims = [1, 0] {scalify.forms = ["2^0 level -3"]} : (tensor<16x32xf32>) -> tensor<32x16xf32>
// FP8-NEXT: %cst_13 = stablehlo.constant dense<8.000000e+00> : tensor<32x16xf32>
// FP8-NEXT: %32 = stablehlo.multiply %31, %cst_13 : tensor<32x16xf32>
// FP8-NEXT: %33 = stablehlo.multiply %32, %cst_2 : tensor<32x16xf32>
// FP8-NEXT: %34 = stablehlo.add %32, %33 : tensor<32x16xf32>
// FP8-NEXT: %35 = stablehlo.clamp %cst_5, %34, %cst_6 : (tensor<f32>, tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// FP8-NEXT: %36 = stablehlo.convert %35 {scalify.forms = ["2^-3"]} : (tensor<32x16xf32>) -> tensor<32x16xf8E5M2>
// FP8-NEXT: %37 = stablehlo.optimization_barrier {scalify.forms = ["2^-3"]} %36 : tensor<32x16xf8E5M2>
// FP8-NEXT: %38 = stablehlo.convert %37 {scalify.forms = ["2^-3"]} : (tensor<32x16xf8E5M2>) -> tensor<32x16xf32>
// FP8-NEXT: %39 = stablehlo.dot_general %29, %3, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^-4 level 2"]} : (tensor<4x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<4x32xf32>
// FP8-NEXT: %40 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %41 = stablehlo.broadcast_in_dim %cst_11, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %42:9 = stablehlo.while(%iterArg = %arg3, %iterArg_20 = %8#5, %iterArg_21 = %8#6, %iterArg_22 = %8#7, %iterArg_23 = %arg0, %iterArg_24 = %c_10, %iterArg_25 = %40, %iterArg_26 = %41, %iterArg_27 = %39) : tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<32x32xf32>, tensor<i32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "2^0", "2^0", "unscaled", "2^0 level 2", "2^0 level 2", "2^-4 level 8"]}
// FP8-NEXT: cond {
// FP8-NEXT: %64 = stablehlo.compare LT, %iterArg_24, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// FP8-NEXT: stablehlo.return %64 : tensor<i1>
// FP8-NEXT: } do {
// FP8-NEXT: %64 = stablehlo.subtract %c_9, %iterArg_24 : tensor<i32>
// FP8-NEXT: %65 = stablehlo.subtract %64, %c : tensor<i32>
// FP8-NEXT: %66 = func.call @dynamic_index_in_dim(%iterArg, %65) {scalify.forms = ["2^0"]} : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
// FP8-NEXT: %67 = func.call @dynamic_index_in_dim(%iterArg_20, %65) {scalify.forms = ["2^0"]} : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
// FP8-NEXT: %68 = func.call @dynamic_index_in_dim(%iterArg_21, %65) {scalify.forms = ["2^0"]} : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
// FP8-NEXT: %69 = func.call @dynamic_index_in_dim(%iterArg_22, %65) {scalify.forms = ["2^0"]} : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
// FP8-NEXT: %70:3 = func.call @closed_call_2_scaled_12(%iterArg_23, %iterArg_25, %iterArg_26, %iterArg_27, %66, %67, %68, %69) {scalify.forms = ["2^0 level 2", "2^0 level 2", "2^1 level 3"]} : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>)
// FP8-NEXT: %cst_28 = stablehlo.constant dense<2.000000e+00> : tensor<4x32xf32>
// FP8-NEXT: %71 = stablehlo.multiply %70#2, %cst_28 : tensor<4x32xf32>
// FP8-NEXT: %72 = stablehlo.add %iterArg_24, %c : tensor<i32>
// FP8-NEXT: %cst_29 = stablehlo.constant dense<1.600000e+01> : tensor<4x32xf32>
// FP8-NEXT: %73 = stablehlo.multiply %71, %cst_29 : tensor<4x32xf32>
// FP8-NEXT: stablehlo.return %iterArg, %iterArg_20, %iterArg_21, %iterArg_22, %iterArg_23, %72, %70#0, %70#1, %73 : tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<32x32xf32>, tensor<i32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>
// FP8-NEXT: }
// FP8-NEXT: %cst_14 = stablehlo.constant dense<6.250000e-02> : tensor<4x32xf32>
// FP8-NEXT: %43 = stablehlo.multiply %42#8, %cst_14 : tensor<4x32xf32>
// FP8-NEXT: %cst_15 = stablehlo.constant dense<2.500000e-01> : tensor<32x32xf32>
// FP8-NEXT: %44 = stablehlo.multiply %42#7, %cst_15 : tensor<32x32xf32>
// FP8-NEXT: %45 = stablehlo.multiply %44, %cst : tensor<32x32xf32>
// FP8-NEXT: %46 = stablehlo.add %44, %45 : tensor<32x32xf32>
// FP8-NEXT: %47 = stablehlo.clamp %cst_5, %46, %cst_6 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %48 = stablehlo.convert %47 {scalify.forms = ["2^2"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E5M2>
// FP8-NEXT: %49 = stablehlo.optimization_barrier {scalify.forms = ["2^2"]} %48 : tensor<32x32xf8E5M2>
// FP8-NEXT: %50 = stablehlo.convert %49 {scalify.forms = ["2^2"]} : (tensor<32x32xf8E5M2>) -> tensor<32x32xf32>
// FP8-NEXT: %cst_16 = stablehlo.constant dense<2.500000e-01> : tensor<32x32xf32>
// FP8-NEXT: %51 = stablehlo.multiply %42#6, %cst_16 : tensor<32x32xf32>
// FP8-NEXT: %52 = stablehlo.multiply %51, %cst : tensor<32x32xf32>
// FP8-NEXT: %53 = stablehlo.add %51, %52 : tensor<32x32xf32>
// FP8-NEXT: %54 = stablehlo.clamp %cst_5, %53, %cst_6 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %55 = stablehlo.convert %54 {scalify.forms = ["2^2"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E5M2>
// FP8-NEXT: %56 = stablehlo.optimization_barrier {scalify.forms = ["2^2"]} %55 : tensor<32x32xf8E5M2>
// FP8-NEXT: %57 = stablehlo.convert %56 {scalify.forms = ["2^2"]} : (tensor<32x32xf8E5M2>) -> tensor<32x32xf32>
// FP8-NEXT: %cst_17 = stablehlo.constant dense<4.000000e-01> : tensor<32x32xf32>
// FP8-NEXT: %58 = stablehlo.multiply %cst_17, %50 : tensor<32x32xf32>
// FP8-NEXT: %59 = stablehlo.subtract %arg0, %58 {scalify.forms = ["2^0"]} : tensor<32x32xf32>
// FP8-NEXT: %cst_18 = stablehlo.constant dense<1.250000e-02> : tensor<32x16xf32>
// FP8-NEXT: %60 = stablehlo.multiply %cst_18, %38 : tensor<32x16xf32>
// FP8-NEXT: %61 = stablehlo.subtract %arg1, %60 {scalify.forms = ["2^0"]} : tensor<32x16xf32>
// FP8-NEXT: %cst_19 = stablehlo.constant dense<4.000000e-01> : tensor<32x32xf32>
// FP8-NEXT: %62 = stablehlo.multiply %cst_19, %57 : tensor<32x32xf32>
// FP8-NEXT: %63 = stablehlo.subtract %arg2, %62 {scalify.forms = ["2^0"]} : tensor<32x32xf32>
// FP8-NEXT: return %59, %61, %63, %19 : tensor<32x32xf32>, tensor<32x16xf32>, tensor<32x32xf32>, tensor<f32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<3x4x32xf32>, %arg1: tensor<i32>) -> tensor<4x32xf32> {
// FP8-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 4, 32] : (tensor<3x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x32xf32>
// FP8-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x4x32xf32>) -> tensor<4x32xf32>
// FP8-NEXT: return %1 : tensor<4x32xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @closed_call_scaled_4(%arg0: tensor<32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<4x32xf32>, %arg3: tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg1, %cst_0 : tensor<32x32xf32>
// FP8-NEXT: %1 = stablehlo.add %arg1, %0 : tensor<32x32xf32>
// FP8-NEXT: %2 = stablehlo.clamp %cst_1, %1, %cst_2 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %4 = stablehlo.multiply %arg2, %cst : tensor<4x32xf32>
// FP8-NEXT: %5 = stablehlo.add %arg2, %4 : tensor<4x32xf32>
// FP8-NEXT: %6 = stablehlo.clamp %cst_1, %5, %cst_2 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %7 = stablehlo.convert %6 {scalify.forms = ["2^0"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// FP8-NEXT: %8 = stablehlo.multiply %arg0, %cst_0 : tensor<32x32xf32>
// FP8-NEXT: %9 = stablehlo.add %arg0, %8 : tensor<32x32xf32>
// FP8-NEXT: %10 = stablehlo.clamp %cst_1, %9, %cst_2 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %11 = stablehlo.convert %10 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %12 = stablehlo.multiply %arg3, %cst : tensor<4x32xf32>
// FP8-NEXT: %13 = stablehlo.add %arg3, %12 : tensor<4x32xf32>
// FP8-NEXT: %14 = stablehlo.clamp %cst_1, %13, %cst_2 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %15 = stablehlo.convert %14 {scalify.forms = ["2^0"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN>
// FP8-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %16 = stablehlo.dot_general %15, %11, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<4x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// FP8-NEXT: %17 = stablehlo.dot_general %7, %3, contracting_dims = [1] x [0]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^0 level 2"]} : (tensor<4x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// FP8-NEXT: %18 = stablehlo.add %16, %17 {scalify.forms = ["2^0 level 3"]} : tensor<4x32xf32>
// FP8-NEXT: %19 = stablehlo.tanh %18 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: %20 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %21 = stablehlo.subtract %20, %19 {scalify.forms = ["2^0"]} : tensor<4x32xf32>
// FP8-NEXT: return %19, %arg2, %19, %21 : tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x4x32xf32>, %arg1: tensor<4x32xf32>, %arg2: tensor<i32>) -> tensor<3x4x32xf32> {
// FP8-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4x32xf32>) -> tensor<1x4x32xf32>
// FP8-NEXT: %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c : (tensor<3x4x32xf32>, tensor<1x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x32xf32>
// FP8-NEXT: return %1 : tensor<3x4x32xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @log_softmax(%arg0: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>) {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %2 = stablehlo.maximum %1, %0 : tensor<4xf32>
// FP8-NEXT: %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %5 = stablehlo.subtract %arg0, %4 : tensor<4x16xf32>
// FP8-NEXT: %6 = stablehlo.exponential %5 : tensor<4x16xf32>
// FP8-NEXT: %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %9 = stablehlo.log %8 : tensor<4x1xf32>
// FP8-NEXT: %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %11 = stablehlo.subtract %5, %10 : tensor<4x16xf32>
// FP8-NEXT: return %11, %6, %8 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @take_along_axis(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>) {
// FP8-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// FP8-NEXT: %c = stablehlo.constant dense<true> : tensor<i1>
// FP8-NEXT: %c_0 = stablehlo.constant dense<15> : tensor<1xi32>
// FP8-NEXT: %c_1 = stablehlo.constant dense<16> : tensor<i32>
// FP8-NEXT: %c_2 = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
// FP8-NEXT: %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
// FP8-NEXT: %3 = stablehlo.add %arg1, %2 : tensor<4x1xi32>
// FP8-NEXT: %4 = stablehlo.select %1, %3, %arg1 : tensor<4x1xi1>, tensor<4x1xi32>
// FP8-NEXT: %5 = stablehlo.reshape %4 : (tensor<4x1xi32>) -> tensor<4x1x1xi32>
// FP8-NEXT: %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1x1xi32>
// FP8-NEXT: %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
// FP8-NEXT: %8 = stablehlo.broadcast_in_dim %c_0, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
// FP8-NEXT: %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<4x1x1xi32>
// FP8-NEXT: %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
// FP8-NEXT: %11 = stablehlo.and %7, %10 : tensor<4x1x1xi1>
// FP8-NEXT: %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.and across dimensions = [2] : (tensor<4x1x1xi1>, tensor<i1>) -> tensor<4x1xi1>
// FP8-NEXT: %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x1x1xi32>) -> tensor<4x1xf32>
// FP8-NEXT: %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
// FP8-NEXT: %15 = stablehlo.select %12, %13, %14 : tensor<4x1xi1>, tensor<4x1xf32>
// FP8-NEXT: return %15, %5 : tensor<4x1xf32>, tensor<4x1x1xi32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @take_along_axis_0(%arg0: tensor<4x1x1xi32>, %arg1: tensor<4x1xf32>) -> tensor<4x16xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// FP8-NEXT: %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
// FP8-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// FP8-NEXT: %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
// FP8-NEXT: stablehlo.return %2 : tensor<f32>
// FP8-NEXT: }) : (tensor<4x16xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
// FP8-NEXT: return %1 : tensor<4x16xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @log_softmax_1(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x16xf32>) -> tensor<4x16xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.negate %arg2 : tensor<4x16xf32>
// FP8-NEXT: %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<4x1xf32>
// FP8-NEXT: %3 = stablehlo.divide %2, %arg1 : tensor<4x1xf32>
// FP8-NEXT: %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
// FP8-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x16xf32>
// FP8-NEXT: %6 = stablehlo.multiply %5, %arg0 : tensor<4x16xf32>
// FP8-NEXT: %7 = stablehlo.add %arg2, %6 : tensor<4x16xf32>
// FP8-NEXT: return %7 : tensor<4x16xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @closed_call_2_scaled_12(%arg0: tensor<32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x32xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4x32xf32>, %arg5: tensor<4x32xf32>, %arg6: tensor<4x32xf32>, %arg7: tensor<4x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>) {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<32x32xf32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_3 = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_4 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg0, %cst_0 : tensor<32x32xf32>
// FP8-NEXT: %1 = stablehlo.add %arg0, %0 : tensor<32x32xf32>
// FP8-NEXT: %2 = stablehlo.clamp %cst_1, %1, %cst_2 : (tensor<f32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["2^0"]} : (tensor<32x32xf32>) -> tensor<32x32xf8E4M3FN>
// FP8-NEXT: %4 = stablehlo.multiply %arg3, %arg7 {scalify.forms = ["2^-4 level 5"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_5 = stablehlo.constant dense<6.250000e-02> : tensor<4x32xf32>
// FP8-NEXT: %5 = stablehlo.multiply %4, %cst_5 : tensor<4x32xf32>
// FP8-NEXT: %6 = stablehlo.multiply %5, %arg6 {scalify.forms = ["2^0 level 1"]} : tensor<4x32xf32>
// FP8-NEXT: %7 = stablehlo.add %5, %6 {scalify.forms = ["2^0 level 1"]} : tensor<4x32xf32>
// FP8-NEXT: %cst_6 = stablehlo.constant dense<5.000000e-01> : tensor<4x32xf32>
// FP8-NEXT: %8 = stablehlo.multiply %7, %cst_6 : tensor<4x32xf32>
// FP8-NEXT: %9 = stablehlo.multiply %8, %cst : tensor<4x32xf32>
// FP8-NEXT: %10 = stablehlo.add %8, %9 : tensor<4x32xf32>
// FP8-NEXT: %11 = stablehlo.clamp %cst_3, %10, %cst_4 : (tensor<f32>, tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
// FP8-NEXT: %12 = stablehlo.convert %11 {scalify.forms = ["2^1"]} : (tensor<4x32xf32>) -> tensor<4x32xf8E5M2>
// FP8-NEXT: %13 = stablehlo.dot_general %7, %arg5, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %14 = stablehlo.transpose %13, dims = [1, 0] {scalify.forms = ["2^0 level 2"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %15 = stablehlo.add %arg2, %14 {scalify.forms = ["2^0 level 2"]} : tensor<32x32xf32>
// FP8-NEXT: %16 = stablehlo.dot_general %12, %3, contracting_dims = [1] x [1]{{(, algorithm = <[^>]*>)?}} {scalify.forms = ["2^1 level 3"]} : (tensor<4x32xf8E5M2>, tensor<32x32xf8E4M3FN>) -> tensor<4x32xf32>
// FP8-NEXT: %17 = stablehlo.dot_general %7, %arg4, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level 2"]} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %18 = stablehlo.transpose %17, dims = [1, 0] {scalify.forms = ["2^0 level 2"]} : (tensor<32x32xf32>) -> tensor<32x32xf32>
// FP8-NEXT: %19 = stablehlo.add %arg1, %18 {scalify.forms = ["2^0 level 2"]} : tensor<32x32xf32>
// FP8-NEXT: return %19, %15, %16 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>
// FP8-NEXT: }
// FP8-NEXT: }

module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<32x32xf32>, %arg3: tensor<3x4x32xf32>, %arg4: tensor<4xi32>) -> (tensor<32x32xf32> {jax.result_info = "result[0]['h']"}, tensor<32x16xf32> {jax.result_info = "result[0]['out']"}, tensor<32x32xf32> {jax.result_info = "result[0]['x']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %1 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x4x32xf32>
    %2 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x4x32xf32>
    %3 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x4x32xf32>
    %4:8 = stablehlo.while(%iterArg = %arg3, %iterArg_5 = %arg2, %iterArg_6 = %arg0, %iterArg_7 = %c_3, %iterArg_8 = %0, %iterArg_9 = %1, %iterArg_10 = %2, %iterArg_11 = %3) : tensor<3x4x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<i32>, tensor<4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>
    cond {
      %32 = stablehlo.compare LT, %iterArg_7, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    } do {
      %32 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_7) : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
      %33:4 = func.call @closed_call(%iterArg_5, %iterArg_6, %iterArg_8, %32) : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
      %34 = func.call @dynamic_update_index_in_dim(%iterArg_9, %33#1, %iterArg_7) : (tensor<3x4x32xf32>, tensor<4x32xf32>, tensor<i32>) -> tensor<3x4x32xf32>
      %35 = func.call @dynamic_update_index_in_dim(%iterArg_10, %33#2, %iterArg_7) : (tensor<3x4x32xf32>, tensor<4x32xf32>, tensor<i32>) -> tensor<3x4x32xf32>
      %36 = func.call @dynamic_update_index_in_dim(%iterArg_11, %33#3, %iterArg_7) : (tensor<3x4x32xf32>, tensor<4x32xf32>, tensor<i32>) -> tensor<3x4x32xf32>
      %37 = stablehlo.add %iterArg_7, %c : tensor<i32>
      stablehlo.return %iterArg, %iterArg_5, %iterArg_6, %37, %33#0, %34, %35, %36 : tensor<3x4x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<i32>, tensor<4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>
    }
    %5 = stablehlo.dot_general %4#4, %arg1, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x16xf32>) -> tensor<4x16xf32>
    %6:3 = call @log_softmax(%5) : (tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>)
    %7 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %8:2 = call @take_along_axis(%6#0, %7) : (tensor<4x16xf32>, tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>)
    %9 = stablehlo.reduce(%8#0 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
    %10 = stablehlo.divide %9, %cst_1 : tensor<f32>
    %11 = stablehlo.negate %10 : tensor<f32>
    %12 = stablehlo.negate %cst_0 : tensor<f32>
    %13 = stablehlo.divide %12, %cst_1 : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %15 = call @take_along_axis_0(%8#1, %14) : (tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
    %16 = call @log_softmax_1(%6#1, %6#2, %15) : (tensor<4x16xf32>, tensor<4x1xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %17 = stablehlo.dot_general %16, %4#4, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
    %18 = stablehlo.transpose %17, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %19 = stablehlo.dot_general %16, %arg1, contracting_dims = [1] x [1] : (tensor<4x16xf32>, tensor<32x16xf32>) -> tensor<4x32xf32>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %22:9 = stablehlo.while(%iterArg = %arg3, %iterArg_5 = %4#5, %iterArg_6 = %4#6, %iterArg_7 = %4#7, %iterArg_8 = %arg0, %iterArg_9 = %c_3, %iterArg_10 = %20, %iterArg_11 = %21, %iterArg_12 = %19) : tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<32x32xf32>, tensor<i32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>
    cond {
      %32 = stablehlo.compare LT, %iterArg_9, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    } do {
      %32 = stablehlo.subtract %c_2, %iterArg_9 : tensor<i32>
      %33 = stablehlo.subtract %32, %c : tensor<i32>
      %34 = func.call @dynamic_index_in_dim(%iterArg, %33) : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
      %35 = func.call @dynamic_index_in_dim(%iterArg_5, %33) : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
      %36 = func.call @dynamic_index_in_dim(%iterArg_6, %33) : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
      %37 = func.call @dynamic_index_in_dim(%iterArg_7, %33) : (tensor<3x4x32xf32>, tensor<i32>) -> tensor<4x32xf32>
      %38:3 = func.call @closed_call_2(%iterArg_8, %iterArg_10, %iterArg_11, %iterArg_12, %34, %35, %36, %37) : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>)
      %39 = stablehlo.add %iterArg_9, %c : tensor<i32>
      stablehlo.return %iterArg, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %39, %38#0, %38#1, %38#2 : tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<3x4x32xf32>, tensor<32x32xf32>, tensor<i32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>
    }
    %23 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %24 = stablehlo.multiply %23, %22#7 : tensor<32x32xf32>
    %25 = stablehlo.subtract %arg0, %24 : tensor<32x32xf32>
    %26 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %27 = stablehlo.multiply %26, %18 : tensor<32x16xf32>
    %28 = stablehlo.subtract %arg1, %27 : tensor<32x16xf32>
    %29 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %30 = stablehlo.multiply %29, %22#6 : tensor<32x32xf32>
    %31 = stablehlo.subtract %arg2, %30 : tensor<32x32xf32>
    return %25, %28, %31, %11 : tensor<32x32xf32>, tensor<32x16xf32>, tensor<32x32xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x4x32xf32>, %arg1: tensor<i32>) -> tensor<4x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 4, 32] : (tensor<3x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x32xf32>) -> tensor<4x32xf32>
    return %1 : tensor<4x32xf32>
  }
  func.func private @closed_call(%arg0: tensor<32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<4x32xf32>, %arg3: tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    %1 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x32xf32>
    %3 = stablehlo.tanh %2 : tensor<4x32xf32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %5 = stablehlo.subtract %4, %3 : tensor<4x32xf32>
    return %3, %arg2, %3, %5 : tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x4x32xf32>, %arg1: tensor<4x32xf32>, %arg2: tensor<i32>) -> tensor<3x4x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4x32xf32>) -> tensor<1x4x32xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c : (tensor<3x4x32xf32>, tensor<1x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x32xf32>
    return %1 : tensor<3x4x32xf32>
  }
  func.func private @log_softmax(%arg0: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<4xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x16xf32>
    %6 = stablehlo.exponential %5 : tensor<4x16xf32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %9 = stablehlo.log %8 : tensor<4x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<4x16xf32>
    return %11, %6, %8 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>) {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %c_0 = stablehlo.constant dense<15> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<16> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
    %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x1xi1>, tensor<4x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4x1xi32>) -> tensor<4x1x1xi32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<4x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<4x1x1xi1>
    %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.and across dimensions = [2] : (tensor<4x1x1xi1>, tensor<i1>) -> tensor<4x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x1x1xi32>) -> tensor<4x1xf32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<4x1xi1>, tensor<4x1xf32>
    return %15, %5 : tensor<4x1xf32>, tensor<4x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<4x1x1xi32>, %arg1: tensor<4x1xf32>) -> tensor<4x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x16xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x16xf32>
    return %1 : tensor<4x16xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<4x16xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x16xf32>) -> tensor<4x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.negate %arg2 : tensor<4x16xf32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<4x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<4x1xf32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x16xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<4x16xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<4x16xf32>
    return %7 : tensor<4x16xf32>
  }
  func.func private @closed_call_2(%arg0: tensor<32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x32xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4x32xf32>, %arg5: tensor<4x32xf32>, %arg6: tensor<4x32xf32>, %arg7: tensor<4x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>) {
    %0 = stablehlo.multiply %arg3, %arg7 : tensor<4x32xf32>
    %1 = stablehlo.multiply %0, %arg6 : tensor<4x32xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x32xf32>
    %3 = stablehlo.dot_general %2, %arg5, contracting_dims = [0] x [0] : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %5 = stablehlo.add %arg2, %4 : tensor<32x32xf32>
    %6 = stablehlo.dot_general %2, %arg0, contracting_dims = [1] x [1] : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    %7 = stablehlo.dot_general %2, %arg4, contracting_dims = [0] x [0] : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32x32xf32>
    %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %9 = stablehlo.add %arg1, %8 : tensor<32x32xf32>
    return %9, %5, %6 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>
  }
}
