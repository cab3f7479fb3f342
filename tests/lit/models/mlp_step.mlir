// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{predict=unit annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8

// A training step of a perceptron, with cross-entropy and SGD.
// UNIT:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<12x8xf32>, %arg1: tensor<8x12xf32>, %arg2: tensor<12x10xf32>, %arg3: tensor<6x12xf32>, %arg4: tensor<6xi32>) -> (tensor<12x8xf32> {jax.result_info = "result[0][0]"}, tensor<8x12xf32> {jax.result_info = "result[0][1]"}, tensor<12x10xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
// UNIT-NEXT: %cst = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.797884583> : tensor<f32>
// UNIT-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.471500e-02> : tensor<f32>
// UNIT-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 1.79248"]} : (tensor<6x12xf32>, tensor<12x8xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %1 = call @relu(%0) {scalify.forms = ["2^0 level 1.25"]} : (tensor<6x8xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x8xf32>
// UNIT-NEXT: %3 = stablehlo.compare GT, %0, %2, FLOAT : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xi1>
// UNIT-NEXT: %4 = stablehlo.dot_general %1, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 2.75"]} : (tensor<6x8xf32>, tensor<8x12xf32>) -> tensor<6x12xf32>
// UNIT-NEXT: %5 = stablehlo.multiply %4, %4 {scalify.forms = ["2^0 level 5.5"]} : tensor<6x12xf32>
// UNIT-NEXT: %6 = stablehlo.multiply %5, %4 {scalify.forms = ["2^0 level 8.25"]} : tensor<6x12xf32>
// UNIT-NEXT: %7 = stablehlo.multiply %4, %4 {scalify.forms = ["2^0 level 5.5"]} : tensor<6x12xf32>
// UNIT-NEXT: %8 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// UNIT-NEXT: %9 = stablehlo.multiply %8, %7 {scalify.forms = ["2^0 level 7.08496"]} : tensor<6x12xf32>
// UNIT-NEXT: %10 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// UNIT-NEXT: %11 = stablehlo.multiply %10, %6 {scalify.forms = ["2^0 level 3.7669"]} : tensor<6x12xf32>
// UNIT-NEXT: %12 = stablehlo.add %4, %11 {scalify.forms = ["2^0 level 3.92452"]} : tensor<6x12xf32>
// UNIT-NEXT: %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// UNIT-NEXT: %14 = stablehlo.multiply %13, %12 {scalify.forms = ["2^0 level 3.59877"]} : tensor<6x12xf32>
// UNIT-NEXT: %15 = stablehlo.tanh %14 {scalify.forms = ["2^0 level -0.671746"]} : tensor<6x12xf32>
// UNIT-NEXT: %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// UNIT-NEXT: %17 = stablehlo.subtract %16, %15 {scalify.forms = ["2^0 level 0.239649"]} : tensor<6x12xf32>
// UNIT-NEXT: %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// UNIT-NEXT: %19 = stablehlo.add %18, %15 {scalify.forms = ["2^0 level 0.239649"]} : tensor<6x12xf32>
// UNIT-NEXT: %20 = stablehlo.broadcast_in_dim %cst_1, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// UNIT-NEXT: %21 = stablehlo.multiply %20, %19 {scalify.forms = ["2^0 level -0.760351"]} : tensor<6x12xf32>
// UNIT-NEXT: %22 = stablehlo.multiply %4, %21 {scalify.forms = ["2^0 level 2.13309"]} : tensor<6x12xf32>
// UNIT-NEXT: %23 = stablehlo.dot_general %22, %arg2, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 3.92557"]} : (tensor<6x12xf32>, tensor<12x10xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: %24:3 = call @log_softmax(%23) {scalify.forms = ["2^0 level 4.50141", "2^0", "2^0 level 3.32193"]} : (tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>)
// UNIT-NEXT: %25 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
// UNIT-NEXT: %26:2 = call @take_along_axis(%24#0, %25) {scalify.forms = ["2^0 level 4.5", "unscaled"]} : (tensor<6x10xf32>, tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>)
// UNIT-NEXT: %27 = stablehlo.reduce(%26#0 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] {scalify.forms = ["2^0 level 5.79248"]} : (tensor<6x1xf32>, tensor<f32>) -> tensor<f32>
// UNIT-NEXT: %28 = stablehlo.divide %27, %cst_0 {scalify.forms = ["2^0 level 3.20752"]} : tensor<f32>
// UNIT-NEXT: %29 = stablehlo.negate %28 {scalify.forms = ["2^0 level 3.20752"]} : tensor<f32>
// UNIT-NEXT: %30 = stablehlo.negate %cst_2 {scalify.forms = ["unscaled"]} : tensor<f32>
// UNIT-NEXT: %31 = stablehlo.divide %30, %cst_0 {scalify.forms = ["2^0 level -2.58496"]} : tensor<f32>
// UNIT-NEXT: %32 = stablehlo.broadcast_in_dim %31, dims = [] {scalify.forms = ["2^0 level -2.58496"]} : (tensor<f32>) -> tensor<6x1xf32>
// UNIT-NEXT: %33 = call @take_along_axis_0(%26#1, %32) {scalify.forms = ["2^0 level -4.16096"]} : (tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: %34 = call @log_softmax_1(%24#1, %24#2, %33) {scalify.forms = ["2^0 level -4.1744"]} : (tensor<6x10xf32>, tensor<6x1xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: %35 = stablehlo.dot_general %34, %22, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -0.748831"]} : (tensor<6x10xf32>, tensor<6x12xf32>) -> tensor<10x12xf32>
// UNIT-NEXT: %36 = stablehlo.transpose %35, dims = [1, 0] {scalify.forms = ["2^0 level -0.748831"]} : (tensor<10x12xf32>) -> tensor<12x10xf32>
// UNIT-NEXT: %37 = stablehlo.dot_general %34, %arg2, contracting_dims = [1] x [1] {scalify.forms = ["2^0 level -2.51344"]} : (tensor<6x10xf32>, tensor<12x10xf32>) -> tensor<6x12xf32>
// UNIT-NEXT: %38 = stablehlo.multiply %4, %37 {scalify.forms = ["2^0 level 0.236559"]} : tensor<6x12xf32>
// UNIT-NEXT: %39 = stablehlo.multiply %37, %21 {scalify.forms = ["2^0 level -3.27379"]} : tensor<6x12xf32>
// UNIT-NEXT: %40 = stablehlo.broadcast_in_dim %cst_1, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// UNIT-NEXT: %41 = stablehlo.multiply %40, %38 {scalify.forms = ["2^0 level -0.763441"]} : tensor<6x12xf32>
// UNIT-NEXT: %42 = stablehlo.multiply %41, %17 {scalify.forms = ["2^0 level -0.523792"]} : tensor<6x12xf32>
// UNIT-NEXT: %43 = stablehlo.multiply %42, %15 {scalify.forms = ["2^0 level -1.19554"]} : tensor<6x12xf32>
// UNIT-NEXT: %44 = stablehlo.add %42, %43 {scalify.forms = ["2^0 level -0.284142"]} : tensor<6x12xf32>
// UNIT-NEXT: %45 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// UNIT-NEXT: %46 = stablehlo.multiply %45, %44 {scalify.forms = ["2^0 level -0.60989"]} : tensor<6x12xf32>
// UNIT-NEXT: %47 = stablehlo.add %39, %46 {scalify.forms = ["2^0 level -0.59215"]} : tensor<6x12xf32>
// UNIT-NEXT: %48 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// UNIT-NEXT: %49 = stablehlo.multiply %48, %46 {scalify.forms = ["2^0 level -5.09299"]} : tensor<6x12xf32>
// UNIT-NEXT: %50 = stablehlo.multiply %49, %9 {scalify.forms = ["2^0 level 1.99197"]} : tensor<6x12xf32>
// UNIT-NEXT: %51 = stablehlo.add %47, %50 {scalify.forms = ["2^0 level -3.08001"]} : tensor<6x12xf32>
// UNIT-NEXT: %52 = stablehlo.dot_general %51, %1, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -0.537531"]} : (tensor<6x12xf32>, tensor<6x8xf32>) -> tensor<12x8xf32>
// UNIT-NEXT: %53 = stablehlo.transpose %52, dims = [1, 0] {scalify.forms = ["2^0 level -0.537531"]} : (tensor<12x8xf32>) -> tensor<8x12xf32>
// UNIT-NEXT: %54 = stablehlo.dot_general %51, %arg1, contracting_dims = [1] x [1] {scalify.forms = ["2^0 level -1.28753"]} : (tensor<6x12xf32>, tensor<8x12xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %55 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x8xf32>
// UNIT-NEXT: %56 = stablehlo.select %3, %54, %55 {scalify.forms = ["2^0 level -1.78753"]} : tensor<6x8xi1>, tensor<6x8xf32>
// UNIT-NEXT: %57 = stablehlo.dot_general %56, %arg3, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -0.49505"]} : (tensor<6x8xf32>, tensor<6x12xf32>) -> tensor<8x12xf32>
// UNIT-NEXT: %58 = stablehlo.transpose %57, dims = [1, 0] {scalify.forms = ["2^0 level -0.49505"]} : (tensor<8x12xf32>) -> tensor<12x8xf32>
// UNIT-NEXT: %59 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<12x8xf32>
// UNIT-NEXT: %60 = stablehlo.multiply %59, %58 {scalify.forms = ["2^0 level -3.81698"]} : tensor<12x8xf32>
// UNIT-NEXT: %61 = stablehlo.subtract %arg0, %60 {scalify.forms = ["2^0 level 0.00362246"]} : tensor<12x8xf32>
// UNIT-NEXT: %62 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<8x12xf32>
// UNIT-NEXT: %63 = stablehlo.multiply %62, %53 {scalify.forms = ["2^0 level -3.85946"]} : tensor<8x12xf32>
// UNIT-NEXT: %64 = stablehlo.subtract %arg1, %63 {scalify.forms = ["2^0 level 0.00341578"]} : tensor<8x12xf32>
// UNIT-NEXT: %65 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<12x10xf32>
// UNIT-NEXT: %66 = stablehlo.multiply %65, %36 {scalify.forms = ["2^0 level -4.07076"]} : tensor<12x10xf32>
// UNIT-NEXT: %67 = stablehlo.subtract %arg2, %66 {scalify.forms = ["2^0 level 0.00254997"]} : tensor<12x10xf32>
// UNIT-NEXT: return %61, %64, %67, %29 : tensor<12x8xf32>, tensor<8x12xf32>, tensor<12x10xf32>, tensor<f32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @relu(%arg0: tensor<6x8xf32>) -> tensor<6x8xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// UNIT-NEXT: %1 = stablehlo.maximum %arg0, %0 : tensor<6x8xf32>
// UNIT-NEXT: return %1 : tensor<6x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @log_softmax(%arg0: tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
// UNIT-NEXT: %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6xf32>
// UNIT-NEXT: %2 = stablehlo.maximum %1, %0 : tensor<6xf32>
// UNIT-NEXT: %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: %5 = stablehlo.subtract %arg0, %4 : tensor<6x10xf32>
// UNIT-NEXT: %6 = stablehlo.exponential %5 : tensor<6x10xf32>
// UNIT-NEXT: %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
// UNIT-NEXT: %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
// UNIT-NEXT: %9 = stablehlo.log %8 : tensor<6x1xf32>
// UNIT-NEXT: %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: %11 = stablehlo.subtract %5, %10 : tensor<6x10xf32>
// UNIT-NEXT: return %11, %6, %8 : tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @take_along_axis(%arg0: tensor<6x10xf32>, %arg1: tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>) {
// UNIT-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// UNIT-NEXT: %c = stablehlo.constant dense<true> : tensor<i1>
// UNIT-NEXT: %c_0 = stablehlo.constant dense<9> : tensor<1xi32>
// UNIT-NEXT: %c_1 = stablehlo.constant dense<10> : tensor<i32>
// UNIT-NEXT: %c_2 = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6x1xi32>
// UNIT-NEXT: %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi1>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<6x1xi32>
// UNIT-NEXT: %3 = stablehlo.add %arg1, %2 : tensor<6x1xi32>
// UNIT-NEXT: %4 = stablehlo.select %1, %3, %arg1 : tensor<6x1xi1>, tensor<6x1xi32>
// UNIT-NEXT: %5 = stablehlo.reshape %4 : (tensor<6x1xi32>) -> tensor<6x1x1xi32>
// UNIT-NEXT: %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6x1x1xi32>
// UNIT-NEXT: %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<6x1x1xi32>, tensor<6x1x1xi32>) -> tensor<6x1x1xi1>
// UNIT-NEXT: %8 = stablehlo.broadcast_in_dim %c_0, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
// UNIT-NEXT: %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<6x1x1xi32>
// UNIT-NEXT: %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<6x1x1xi32>, tensor<6x1x1xi32>) -> tensor<6x1x1xi1>
// UNIT-NEXT: %11 = stablehlo.and %7, %10 : tensor<6x1x1xi1>
// UNIT-NEXT: %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.and across dimensions = [2] : (tensor<6x1x1xi1>, tensor<i1>) -> tensor<6x1xi1>
// UNIT-NEXT: %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<6x10xf32>, tensor<6x1x1xi32>) -> tensor<6x1xf32>
// UNIT-NEXT: %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
// UNIT-NEXT: %15 = stablehlo.select %12, %13, %14 : tensor<6x1xi1>, tensor<6x1xf32>
// UNIT-NEXT: return %15, %5 : tensor<6x1xf32>, tensor<6x1x1xi32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @take_along_axis_0(%arg0: tensor<6x1x1xi32>, %arg1: tensor<6x1xf32>) -> tensor<6x10xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
// UNIT-NEXT: %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
// UNIT-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// UNIT-NEXT: %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
// UNIT-NEXT: stablehlo.return %2 : tensor<f32>
// UNIT-NEXT: }) : (tensor<6x10xf32>, tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: return %1 : tensor<6x10xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @log_softmax_1(%arg0: tensor<6x10xf32>, %arg1: tensor<6x1xf32>, %arg2: tensor<6x10xf32>) -> tensor<6x10xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.negate %arg2 : tensor<6x10xf32>
// UNIT-NEXT: %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
// UNIT-NEXT: %2 = stablehlo.reshape %1 : (tensor<6xf32>) -> tensor<6x1xf32>
// UNIT-NEXT: %3 = stablehlo.divide %2, %arg1 : tensor<6x1xf32>
// UNIT-NEXT: %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6xf32>
// UNIT-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<6xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: %6 = stablehlo.multiply %5, %arg0 : tensor<6x10xf32>
// UNIT-NEXT: %7 = stablehlo.add %arg2, %6 : tensor<6x10xf32>
// UNIT-NEXT: return %7 : tensor<6x10xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<12x8xf32>, %arg1: tensor<8x12xf32>, %arg2: tensor<12x10xf32>, %arg3: tensor<6x12xf32>, %arg4: tensor<6xi32>) -> (tensor<12x8xf32> {jax.result_info = "result[0][0]"}, tensor<8x12xf32> {jax.result_info = "result[0][1]"}, tensor<12x10xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
// FP8-NEXT: %cst = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<f32>
// FP8-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<0.797884583> : tensor<f32>
// FP8-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.471500e-02> : tensor<f32>
// FP8-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 1"]} : (tensor<6x12xf32>, tensor<12x8xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %1 = call @relu(%0) {scalify.forms = ["2^0 level 1"]} : (tensor<6x8xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x8xf32>
// FP8-NEXT: %3 = stablehlo.compare GT, %0, %2, FLOAT : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xi1>
// FP8-NEXT: %4 = stablehlo.dot_general %1, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 2"]} : (tensor<6x8xf32>, tensor<8x12xf32>) -> tensor<6x12xf32>
// FP8-NEXT: %5 = stablehlo.multiply %4, %4 {scalify.forms = ["2^0 level 4"]} : tensor<6x12xf32>
// FP8-NEXT: %6 = stablehlo.multiply %5, %4 {scalify.forms = ["2^0 level 6"]} : tensor<6x12xf32>
// FP8-NEXT: %7 = stablehlo.multiply %4, %4 {scalify.forms = ["2^0 level 4"]} : tensor<6x12xf32>
// FP8-NEXT: %8 = stablehlo.broadcast_in_dim %cst_6, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// FP8-NEXT: %9 = stablehlo.multiply %8, %7 {scalify.forms = ["2^0 level 5.58496"]} : tensor<6x12xf32>
// FP8-NEXT: %10 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// FP8-NEXT: %11 = stablehlo.multiply %10, %6 {scalify.forms = ["2^0 level 1.5169"]} : tensor<6x12xf32>
// FP8-NEXT: %12 = stablehlo.add %4, %11 {scalify.forms = ["2^0 level 2"]} : tensor<6x12xf32>
// FP8-NEXT: %13 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// FP8-NEXT: %14 = stablehlo.multiply %13, %12 {scalify.forms = ["2^0 level 1.67425"]} : tensor<6x12xf32>
// FP8-NEXT: %15 = stablehlo.tanh %14 {scalify.forms = ["2^0"]} : tensor<6x12xf32>
// FP8-NEXT: %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// FP8-NEXT: %17 = stablehlo.subtract %16, %15 {scalify.forms = ["2^0"]} : tensor<6x12xf32>
// FP8-NEXT: %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// FP8-NEXT: %19 = stablehlo.add %18, %15 {scalify.forms = ["2^0"]} : tensor<6x12xf32>
// FP8-NEXT: %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// FP8-NEXT: %21 = stablehlo.multiply %20, %19 {scalify.forms = ["2^0 level -1"]} : tensor<6x12xf32>
// FP8-NEXT: %22 = stablehlo.multiply %4, %21 {scalify.forms = ["2^0 level 1"]} : tensor<6x12xf32>
// FP8-NEXT: %23 = stablehlo.dot_general %22, %arg2, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 2"]} : (tensor<6x12xf32>, tensor<12x10xf32>) -> tensor<6x10xf32>
// FP8-NEXT: %24:3 = call @log_softmax(%23) {scalify.forms = ["2^0 level 2", "2^0", "2^0 level 1"]} : (tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>)
// FP8-NEXT: %25 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
// FP8-NEXT: %26:2 = call @take_along_axis(%24#0, %25) {scalify.forms = ["2^0 level 2", "unscaled"]} : (tensor<6x10xf32>, tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>)
// FP8-NEXT: %27 = stablehlo.reduce(%26#0 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] {scalify.forms = ["2^0 level 3"]} : (tensor<6x1xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %28 = stablehlo.divide %27, %cst_1 {scalify.forms = ["2^0 level 0.415037"]} : tensor<f32>
// FP8-NEXT: %29 = stablehlo.negate %28 {scalify.forms = ["2^0 level 0.415037"]} : tensor<f32>
// FP8-NEXT: %30 = stablehlo.negate %cst_3 {scalify.forms = ["unscaled"]} : tensor<f32>
// FP8-NEXT: %31 = stablehlo.divide %30, %cst_1 {scalify.forms = ["2^0 level -2.58496"]} : tensor<f32>
// FP8-NEXT: %32 = stablehlo.broadcast_in_dim %31, dims = [] {scalify.forms = ["2^0 level -2.58496"]} : (tensor<f32>) -> tensor<6x1xf32>
// FP8-NEXT: %33 = call @take_along_axis_0(%26#1, %32) {scalify.forms = ["2^0 level -3.5"]} : (tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
// FP8-NEXT: %34 = call @log_softmax_1(%24#1, %24#2, %33) {scalify.forms = ["2^0 level -3.5"]} : (tensor<6x10xf32>, tensor<6x1xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
// FP8-NEXT: %35 = stablehlo.dot_general %34, %22, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -1.5"]} : (tensor<6x10xf32>, tensor<6x12xf32>) -> tensor<10x12xf32>
// FP8-NEXT: %36 = stablehlo.transpose %35, dims = [1, 0] {scalify.forms = ["2^0 level -1.5"]} : (tensor<10x12xf32>) -> tensor<12x10xf32>
// FP8-NEXT: %cst_8 = stablehlo.constant dense<4.000000e+00> : tensor<12x10xf32>
// FP8-NEXT: %37 = stablehlo.multiply %36, %cst_8 : tensor<12x10xf32>
// FP8-NEXT: %38 = stablehlo.clamp %cst, %37, %cst_0 : (tensor<f32>, tensor<12x10xf32>, tensor<f32>) -> tensor<12x10xf32>
// FP8-NEXT: %39 = stablehlo.convert %38 {scalify.forms = ["2^-2 level 0.5"]} : (tensor<12x10xf32>) -> tensor<12x10xf8E5M2>
// FP8-NEXT: %40 = stablehlo.optimization_barrier {scalify.forms = ["2^-2 level 0.5"]} %39 : tensor<12x10xf8E5M2>
// FP8-NEXT: %41 = stablehlo.convert %40 {scalify.forms = ["2^-2 level 0.5"]} : (tensor<12x10xf8E5M2>) -> tensor<12x10xf32>
// FP8-NEXT: %42 = stablehlo.dot_general %34, %arg2, contracting_dims = [1] x [1] {scalify.forms = ["2^0 level -2.5"]} : (tensor<6x10xf32>, tensor<12x10xf32>) -> tensor<6x12xf32>
// FP8-NEXT: %43 = stablehlo.multiply %4, %42 {scalify.forms = ["2^0 level -0.5"]} : tensor<6x12xf32>
// FP8-NEXT: %44 = stablehlo.multiply %42, %21 {scalify.forms = ["2^0 level -3.5"]} : tensor<6x12xf32>
// FP8-NEXT: %45 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// FP8-NEXT: %46 = stablehlo.multiply %45, %43 {scalify.forms = ["2^0 level -1.5"]} : tensor<6x12xf32>
// FP8-NEXT: %47 = stablehlo.multiply %46, %17 {scalify.forms = ["2^0 level -1.5"]} : tensor<6x12xf32>
// FP8-NEXT: %48 = stablehlo.multiply %47, %15 {scalify.forms = ["2^0 level -1.5"]} : tensor<6x12xf32>
// FP8-NEXT: %49 = stablehlo.add %47, %48 {scalify.forms = ["2^0 level -1.5"]} : tensor<6x12xf32>
// FP8-NEXT: %50 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// FP8-NEXT: %51 = stablehlo.multiply %50, %49 {scalify.forms = ["2^0 level -1.82575"]} : tensor<6x12xf32>
// FP8-NEXT: %52 = stablehlo.add %44, %51 {scalify.forms = ["2^0 level -1.82575"]} : tensor<6x12xf32>
// FP8-NEXT: %53 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// FP8-NEXT: %54 = stablehlo.multiply %53, %51 {scalify.forms = ["2^0 level -6.30885"]} : tensor<6x12xf32>
// FP8-NEXT: %55 = stablehlo.multiply %54, %9 {scalify.forms = ["2^0 level -0.723883"]} : tensor<6x12xf32>
// FP8-NEXT: %56 = stablehlo.add %52, %55 {scalify.forms = ["2^0 level -0.723883"]} : tensor<6x12xf32>
// FP8-NEXT: %57 = stablehlo.dot_general %56, %1, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level 1.27612"]} : (tensor<6x12xf32>, tensor<6x8xf32>) -> tensor<12x8xf32>
// FP8-NEXT: %58 = stablehlo.transpose %57, dims = [1, 0] {scalify.forms = ["2^0 level 1.27612"]} : (tensor<12x8xf32>) -> tensor<8x12xf32>
// FP8-NEXT: %cst_9 = stablehlo.constant dense<5.000000e-01> : tensor<8x12xf32>
// FP8-NEXT: %59 = stablehlo.multiply %58, %cst_9 : tensor<8x12xf32>
// FP8-NEXT: %60 = stablehlo.clamp %cst, %59, %cst_0 : (tensor<f32>, tensor<8x12xf32>, tensor<f32>) -> tensor<8x12xf32>
// FP8-NEXT: %61 = stablehlo.convert %60 {scalify.forms = ["2^1 level 0.276117"]} : (tensor<8x12xf32>) -> tensor<8x12xf8E5M2>
// FP8-NEXT: %62 = stablehlo.optimization_barrier {scalify.forms = ["2^1 level 0.276117"]} %61 : tensor<8x12xf8E5M2>
// FP8-NEXT: %63 = stablehlo.convert %62 {scalify.forms = ["2^1 level 0.276117"]} : (tensor<8x12xf8E5M2>) -> tensor<8x12xf32>
// FP8-NEXT: %64 = stablehlo.dot_general %56, %arg1, contracting_dims = [1] x [1] {scalify.forms = ["2^0 level 0.276117"]} : (tensor<6x12xf32>, tensor<8x12xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %65 = stablehlo.broadcast_in_dim %cst_7, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x8xf32>
// FP8-NEXT: %66 = stablehlo.select %3, %64, %65 {scalify.forms = ["2^0 level 0.276117"]} : tensor<6x8xi1>, tensor<6x8xf32>
// FP8-NEXT: %67 = stablehlo.dot_general %66, %arg3, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level 1.27612"]} : (tensor<6x8xf32>, tensor<6x12xf32>) -> tensor<8x12xf32>
// FP8-NEXT: %68 = stablehlo.transpose %67, dims = [1, 0] {scalify.forms = ["2^0 level 1.27612"]} : (tensor<8x12xf32>) -> tensor<12x8xf32>
// FP8-NEXT: %cst_10 = stablehlo.constant dense<5.000000e-01> : tensor<12x8xf32>
// FP8-NEXT: %69 = stablehlo.multiply %68, %cst_10 : tensor<12x8xf32>
// FP8-NEXT: %70 = stablehlo.clamp %cst, %69, %cst_0 : (tensor<f32>, tensor<12x8xf32>, tensor<f32>) -> tensor<12x8xf32>
// FP8-NEXT: %71 = stablehlo.convert %70 {scalify.forms = ["2^1 level 0.276117"]} : (tensor<12x8xf32>) -> tensor<12x8xf8E5M2>
// FP8-NEXT: %72 = stablehlo.optimization_barrier {scalify.forms = ["2^1 level 0.276117"]} %71 : tensor<12x8xf8E5M2>
// FP8-NEXT: %73 = stablehlo.convert %72 {scalify.forms = ["2^1 level 0.276117"]} : (tensor<12x8xf8E5M2>) -> tensor<12x8xf32>
// FP8-NEXT: %cst_11 = stablehlo.constant dense<2.000000e-01> : tensor<12x8xf32>
// FP8-NEXT: %74 = stablehlo.multiply %cst_11, %73 : tensor<12x8xf32>
// FP8-NEXT: %75 = stablehlo.subtract %arg0, %74 {scalify.forms = ["2^0"]} : tensor<12x8xf32>
// FP8-NEXT: %cst_12 = stablehlo.constant dense<2.000000e-01> : tensor<8x12xf32>
// FP8-NEXT: %76 = stablehlo.multiply %cst_12, %63 : tensor<8x12xf32>
// FP8-NEXT: %77 = stablehlo.subtract %arg1, %76 {scalify.forms = ["2^0"]} : tensor<8x12xf32>
// FP8-NEXT: %cst_13 = stablehlo.constant dense<2.500000e-02> : tensor<12x10xf32>
// FP8-NEXT: %78 = stablehlo.multiply %cst_13, %41 : tensor<12x10xf32>
// FP8-NEXT: %79 = stablehlo.subtract %arg2, %78 {scalify.forms = ["2^0"]} : tensor<12x10xf32>
// FP8-NEXT: return %75, %77, %79, %29 : tensor<12x8xf32>, tensor<8x12xf32>, tensor<12x10xf32>, tensor<f32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @relu(%arg0: tensor<6x8xf32>) -> tensor<6x8xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// FP8-NEXT: %1 = stablehlo.maximum %arg0, %0 : tensor<6x8xf32>
// FP8-NEXT: return %1 : tensor<6x8xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @log_softmax(%arg0: tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>) {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %2 = stablehlo.maximum %1, %0 : tensor<6xf32>
// FP8-NEXT: %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x10xf32>
// FP8-NEXT: %5 = stablehlo.subtract %arg0, %4 : tensor<6x10xf32>
// FP8-NEXT: %6 = stablehlo.exponential %5 : tensor<6x10xf32>
// FP8-NEXT: %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
// FP8-NEXT: %9 = stablehlo.log %8 : tensor<6x1xf32>
// FP8-NEXT: %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x10xf32>
// FP8-NEXT: %11 = stablehlo.subtract %5, %10 : tensor<6x10xf32>
// FP8-NEXT: return %11, %6, %8 : tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @take_along_axis(%arg0: tensor<6x10xf32>, %arg1: tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>) {
// FP8-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// FP8-NEXT: %c = stablehlo.constant dense<true> : tensor<i1>
// FP8-NEXT: %c_0 = stablehlo.constant dense<9> : tensor<1xi32>
// FP8-NEXT: %c_1 = stablehlo.constant dense<10> : tensor<i32>
// FP8-NEXT: %c_2 = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6x1xi32>
// FP8-NEXT: %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi1>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<6x1xi32>
// FP8-NEXT: %3 = stablehlo.add %arg1, %2 : tensor<6x1xi32>
// FP8-NEXT: %4 = stablehlo.select %1, %3, %arg1 : tensor<6x1xi1>, tensor<6x1xi32>
// FP8-NEXT: %5 = stablehlo.reshape %4 : (tensor<6x1xi32>) -> tensor<6x1x1xi32>
// FP8-NEXT: %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6x1x1xi32>
// FP8-NEXT: %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<6x1x1xi32>, tensor<6x1x1xi32>) -> tensor<6x1x1xi1>
// FP8-NEXT: %8 = stablehlo.broadcast_in_dim %c_0, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
// FP8-NEXT: %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<6x1x1xi32>
// FP8-NEXT: %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<6x1x1xi32>, tensor<6x1x1xi32>) -> tensor<6x1x1xi1>
// FP8-NEXT: %11 = stablehlo.and %7, %10 : tensor<6x1x1xi1>
// FP8-NEXT: %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.and across dimensions = [2] : (tensor<6x1x1xi1>, tensor<i1>) -> tensor<6x1xi1>
// FP8-NEXT: %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<6x10xf32>, tensor<6x1x1xi32>) -> tensor<6x1xf32>
// FP8-NEXT: %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
// FP8-NEXT: %15 = stablehlo.select %12, %13, %14 : tensor<6x1xi1>, tensor<6x1xf32>
// FP8-NEXT: return %15, %5 : tensor<6x1xf32>, tensor<6x1x1xi32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @take_along_axis_0(%arg0: tensor<6x1x1xi32>, %arg1: tensor<6x1xf32>) -> tensor<6x10xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
// FP8-NEXT: %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
// FP8-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// FP8-NEXT: %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
// FP8-NEXT: stablehlo.return %2 : tensor<f32>
// FP8-NEXT: }) : (tensor<6x10xf32>, tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
// FP8-NEXT: return %1 : tensor<6x10xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @log_softmax_1(%arg0: tensor<6x10xf32>, %arg1: tensor<6x1xf32>, %arg2: tensor<6x10xf32>) -> tensor<6x10xf32> {
// FP8-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.negate %arg2 : tensor<6x10xf32>
// FP8-NEXT: %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %2 = stablehlo.reshape %1 : (tensor<6xf32>) -> tensor<6x1xf32>
// FP8-NEXT: %3 = stablehlo.divide %2, %arg1 : tensor<6x1xf32>
// FP8-NEXT: %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6xf32>
// FP8-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<6xf32>) -> tensor<6x10xf32>
// FP8-NEXT: %6 = stablehlo.multiply %5, %arg0 : tensor<6x10xf32>
// FP8-NEXT: %7 = stablehlo.add %arg2, %6 : tensor<6x10xf32>
// FP8-NEXT: return %7 : tensor<6x10xf32>
// FP8-NEXT: }
// FP8-NEXT: }

module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x8xf32>, %arg1: tensor<8x12xf32>, %arg2: tensor<12x10xf32>, %arg3: tensor<6x12xf32>, %arg4: tensor<6xi32>) -> (tensor<12x8xf32> {jax.result_info = "result[0][0]"}, tensor<8x12xf32> {jax.result_info = "result[0][1]"}, tensor<12x10xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %cst_4 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %cst_5 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] : (tensor<6x12xf32>, tensor<12x8xf32>) -> tensor<6x8xf32>
    %1 = call @relu(%0) : (tensor<6x8xf32>) -> tensor<6x8xf32>
    %2 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %3 = stablehlo.compare GT, %0, %2, FLOAT : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xi1>
    %4 = stablehlo.dot_general %1, %arg1, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x12xf32>) -> tensor<6x12xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<6x12xf32>
    %6 = stablehlo.multiply %5, %4 : tensor<6x12xf32>
    %7 = stablehlo.multiply %4, %4 : tensor<6x12xf32>
    %8 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<6x12xf32>
    %10 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %11 = stablehlo.multiply %10, %6 : tensor<6x12xf32>
    %12 = stablehlo.add %4, %11 : tensor<6x12xf32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %14 = stablehlo.multiply %13, %12 : tensor<6x12xf32>
    %15 = stablehlo.tanh %14 : tensor<6x12xf32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %17 = stablehlo.subtract %16, %15 : tensor<6x12xf32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %19 = stablehlo.add %18, %15 : tensor<6x12xf32>
    %20 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %21 = stablehlo.multiply %20, %19 : tensor<6x12xf32>
    %22 = stablehlo.multiply %4, %21 : tensor<6x12xf32>
    %23 = stablehlo.dot_general %22, %arg2, contracting_dims = [1] x [0] : (tensor<6x12xf32>, tensor<12x10xf32>) -> tensor<6x10xf32>
    %24:3 = call @log_softmax(%23) : (tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>)
    %25 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %26:2 = call @take_along_axis(%24#0, %25) : (tensor<6x10xf32>, tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>)
    %27 = stablehlo.reduce(%26#0 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<f32>
    %28 = stablehlo.divide %27, %cst_0 : tensor<f32>
    %29 = stablehlo.negate %28 : tensor<f32>
    %30 = stablehlo.negate %cst_2 : tensor<f32>
    %31 = stablehlo.divide %30, %cst_0 : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %33 = call @take_along_axis_0(%26#1, %32) : (tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
    %34 = call @log_softmax_1(%24#1, %24#2, %33) : (tensor<6x10xf32>, tensor<6x1xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
    %35 = stablehlo.dot_general %34, %22, contracting_dims = [0] x [0] : (tensor<6x10xf32>, tensor<6x12xf32>) -> tensor<10x12xf32>
    %36 = stablehlo.transpose %35, dims = [1, 0] : (tensor<10x12xf32>) -> tensor<12x10xf32>
    %37 = stablehlo.dot_general %34, %arg2, contracting_dims = [1] x [1] : (tensor<6x10xf32>, tensor<12x10xf32>) -> tensor<6x12xf32>
    %38 = stablehlo.multiply %4, %37 : tensor<6x12xf32>
    %39 = stablehlo.multiply %37, %21 : tensor<6x12xf32>
    %40 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %41 = stablehlo.multiply %40, %38 : tensor<6x12xf32>
    %42 = stablehlo.multiply %41, %17 : tensor<6x12xf32>
    %43 = stablehlo.multiply %42, %15 : tensor<6x12xf32>
    %44 = stablehlo.add %42, %43 : tensor<6x12xf32>
    %45 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %46 = stablehlo.multiply %45, %44 : tensor<6x12xf32>
    %47 = stablehlo.add %39, %46 : tensor<6x12xf32>
    %48 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %49 = stablehlo.multiply %48, %46 : tensor<6x12xf32>
    %50 = stablehlo.multiply %49, %9 : tensor<6x12xf32>
    %51 = stablehlo.add %47, %50 : tensor<6x12xf32>
    %52 = stablehlo.dot_general %51, %1, contracting_dims = [0] x [0] : (tensor<6x12xf32>, tensor<6x8xf32>) -> tensor<12x8xf32>
    %53 = stablehlo.transpose %52, dims = [1, 0] : (tensor<12x8xf32>) -> tensor<8x12xf32>
    %54 = stablehlo.dot_general %51, %arg1, contracting_dims = [1] x [1] : (tensor<6x12xf32>, tensor<8x12xf32>) -> tensor<6x8xf32>
    %55 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %56 = stablehlo.select %3, %54, %55 : tensor<6x8xi1>, tensor<6x8xf32>
    %57 = stablehlo.dot_general %56, %arg3, contracting_dims = [0] x [0] : (tensor<6x8xf32>, tensor<6x12xf32>) -> tensor<8x12xf32>
    %58 = stablehlo.transpose %57, dims = [1, 0] : (tensor<8x12xf32>) -> tensor<12x8xf32>
    %59 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %60 = stablehlo.multiply %59, %58 : tensor<12x8xf32>
    %61 = stablehlo.subtract %arg0, %60 : tensor<12x8xf32>
    %62 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x12xf32>
    %63 = stablehlo.multiply %62, %53 : tensor<8x12xf32>
    %64 = stablehlo.subtract %arg1, %63 : tensor<8x12xf32>
    %65 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x10xf32>
    %66 = stablehlo.multiply %65, %36 : tensor<12x10xf32>
    %67 = stablehlo.subtract %arg2, %66 : tensor<12x10xf32>
    return %61, %64, %67, %29 : tensor<12x8xf32>, tensor<8x12xf32>, tensor<12x10xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<6x8xf32>) -> tensor<6x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<6x8xf32>
    return %1 : tensor<6x8xf32>
  }
  func.func private @log_softmax(%arg0: tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<6xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<6x10xf32>
    %6 = stablehlo.exponential %5 : tensor<6x10xf32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %9 = stablehlo.log %8 : tensor<6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<6x10xf32>
    return %11, %6, %8 : tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<6x10xf32>, %arg1: tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>) {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %c_0 = stablehlo.constant dense<9> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<10> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi1>
    %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<6x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<6x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<6x1xi1>, tensor<6x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<6x1xi32>) -> tensor<6x1x1xi32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<6x1x1xi32>, tensor<6x1x1xi32>) -> tensor<6x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<6x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<6x1x1xi32>, tensor<6x1x1xi32>) -> tensor<6x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<6x1x1xi1>
    %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.and across dimensions = [2] : (tensor<6x1x1xi1>, tensor<i1>) -> tensor<6x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<6x10xf32>, tensor<6x1x1xi32>) -> tensor<6x1xf32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<6x1xi1>, tensor<6x1xf32>
    return %15, %5 : tensor<6x1xf32>, tensor<6x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<6x1x1xi32>, %arg1: tensor<6x1xf32>) -> tensor<6x10xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<6x10xf32>, tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
    return %1 : tensor<6x10xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<6x10xf32>, %arg1: tensor<6x1xf32>, %arg2: tensor<6x10xf32>) -> tensor<6x10xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.negate %arg2 : tensor<6x10xf32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
    %2 = stablehlo.reshape %1 : (tensor<6xf32>) -> tensor<6x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<6x1xf32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<6xf32>) -> tensor<6x10xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<6x10xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<6x10xf32>
    return %7 : tensor<6x10xf32>
  }
}
