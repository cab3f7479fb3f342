// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{predict=unit annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature,scalify-roles,scalify-recognize{scales=true marked=true},scalify-quantize-matmuls{recipe=fp8-current},scalify-narrow-state{recipe=fp8-current},scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=CURRENT

// A training step of a convolutional network.
// UNIT:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<3x3x4x8xf32>, %arg1: tensor<3x3x8x12xf32>, %arg2: tensor<12x10xf32>, %arg3: tensor<6x8x8x4xf32>, %arg4: tensor<6xi32>) -> (tensor<3x3x4x8xf32> {jax.result_info = "result[0][0]"}, tensor<3x3x8x12xf32> {jax.result_info = "result[0][1]"}, tensor<12x10xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
// UNIT-NEXT: %cst = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.600000e+01> : tensor<f32>
// UNIT-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.convolution(%arg3, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = {{\[\[}}1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^0 level 2.58496"]} : (tensor<6x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<6x8x8x8xf32>
// UNIT-NEXT: %1 = call @relu(%0) {scalify.forms = ["2^0 level 2"]} : (tensor<6x8x8x8xf32>) -> tensor<6x8x8x8xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x8x8x8xf32>
// UNIT-NEXT: %3 = stablehlo.compare GT, %0, %2, FLOAT : (tensor<6x8x8x8xf32>, tensor<6x8x8x8xf32>) -> tensor<6x8x8x8xi1>
// UNIT-NEXT: %4 = stablehlo.convolution(%1, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = {{\[\[}}0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^0 level 5.08496"]} : (tensor<6x8x8x8xf32>, tensor<3x3x8x12xf32>) -> tensor<6x4x4x12xf32>
// UNIT-NEXT: %5 = call @relu_0(%4) {scalify.forms = ["2^0 level 4.5"]} : (tensor<6x4x4x12xf32>) -> tensor<6x4x4x12xf32>
// UNIT-NEXT: %6 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x4x4x12xf32>
// UNIT-NEXT: %7 = stablehlo.compare GT, %4, %6, FLOAT : (tensor<6x4x4x12xf32>, tensor<6x4x4x12xf32>) -> tensor<6x4x4x12xi1>
// UNIT-NEXT: %8 = stablehlo.reduce(%5 init: %cst_3) applies stablehlo.add across dimensions = [1, 2] {scalify.forms = ["2^0 level 6.5"]} : (tensor<6x4x4x12xf32>, tensor<f32>) -> tensor<6x12xf32>
// UNIT-NEXT: %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// UNIT-NEXT: %10 = stablehlo.divide %8, %9 {scalify.forms = ["2^0 level 2.5"]} : tensor<6x12xf32>
// UNIT-NEXT: %11 = stablehlo.dot_general %10, %arg2, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 4.29248"]} : (tensor<6x12xf32>, tensor<12x10xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: %12:3 = call @log_softmax(%11) {scalify.forms = ["2^0 level 4.751", "2^0", "2^0 level 3.32193"]} : (tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>)
// UNIT-NEXT: %13 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
// UNIT-NEXT: %14:2 = call @take_along_axis(%12#0, %13) {scalify.forms = ["2^0 level 4.75", "unscaled"]} : (tensor<6x10xf32>, tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>)
// UNIT-NEXT: %15 = stablehlo.reduce(%14#0 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] {scalify.forms = ["2^0 level 6.04248"]} : (tensor<6x1xf32>, tensor<f32>) -> tensor<f32>
// UNIT-NEXT: %16 = stablehlo.divide %15, %cst_1 {scalify.forms = ["2^0 level 3.45752"]} : tensor<f32>
// UNIT-NEXT: %17 = stablehlo.negate %16 {scalify.forms = ["2^0 level 3.45752"]} : tensor<f32>
// UNIT-NEXT: %18 = stablehlo.negate %cst_0 {scalify.forms = ["unscaled"]} : tensor<f32>
// UNIT-NEXT: %19 = stablehlo.divide %18, %cst_1 {scalify.forms = ["2^0 level -2.58496"]} : tensor<f32>
// UNIT-NEXT: %20 = stablehlo.broadcast_in_dim %19, dims = [] {scalify.forms = ["2^0 level -2.58496"]} : (tensor<f32>) -> tensor<6x1xf32>
// UNIT-NEXT: %21 = call @take_along_axis_1(%14#1, %20) {scalify.forms = ["2^0 level -4.16096"]} : (tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: %22 = call @log_softmax_2(%12#1, %12#2, %21) {scalify.forms = ["2^0 level -4.1744"]} : (tensor<6x10xf32>, tensor<6x1xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: %23 = stablehlo.dot_general %22, %10, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -0.381924"]} : (tensor<6x10xf32>, tensor<6x12xf32>) -> tensor<10x12xf32>
// UNIT-NEXT: %24 = stablehlo.transpose %23, dims = [1, 0] {scalify.forms = ["2^0 level -0.381924"]} : (tensor<10x12xf32>) -> tensor<12x10xf32>
// UNIT-NEXT: %25 = stablehlo.dot_general %22, %arg2, contracting_dims = [1] x [1] {scalify.forms = ["2^0 level -2.51344"]} : (tensor<6x10xf32>, tensor<12x10xf32>) -> tensor<6x12xf32>
// UNIT-NEXT: %26 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// UNIT-NEXT: %27 = stablehlo.divide %25, %26 {scalify.forms = ["2^0 level -6.51344"]} : tensor<6x12xf32>
// UNIT-NEXT: %28 = stablehlo.broadcast_in_dim %27, dims = [0, 3] {scalify.forms = ["2^0 level -6.51344"]} : (tensor<6x12xf32>) -> tensor<6x4x4x12xf32>
// UNIT-NEXT: %29 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x4x4x12xf32>
// UNIT-NEXT: %30 = stablehlo.select %7, %28, %29 {scalify.forms = ["2^0 level -7.01344"]} : tensor<6x4x4x12xi1>, tensor<6x4x4x12xf32>
// UNIT-NEXT: %31 = stablehlo.convolution(%1, %30) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = {{\[\[}}0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^0 level -1.72096"]} : (tensor<6x8x8x8xf32>, tensor<6x4x4x12xf32>) -> tensor<3x3x8x12xf32>
// UNIT-NEXT: %32 = stablehlo.reverse %arg1, dims = [0, 1] {scalify.forms = ["2^0"]} : tensor<3x3x8x12xf32>
// UNIT-NEXT: %33 = stablehlo.convolution(%30, %32) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = {{\[\[}}2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^0 level -3.636"]} : (tensor<6x4x4x12xf32>, tensor<3x3x8x12xf32>) -> tensor<6x8x8x8xf32>
// UNIT-NEXT: %34 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x8x8x8xf32>
// UNIT-NEXT: %35 = stablehlo.select %3, %33, %34 {scalify.forms = ["2^0 level -4.136"]} : tensor<6x8x8x8xi1>, tensor<6x8x8x8xf32>
// UNIT-NEXT: %36 = stablehlo.convolution(%arg3, %35) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = {{\[\[}}1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, scalify.forms = ["2^0 level 0.156484"]} : (tensor<6x8x8x4xf32>, tensor<6x8x8x8xf32>) -> tensor<3x3x4x8xf32>
// UNIT-NEXT: %37 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<3x3x4x8xf32>
// UNIT-NEXT: %38 = stablehlo.multiply %37, %36 {scalify.forms = ["2^0 level -3.16544"]} : tensor<3x3x4x8xf32>
// UNIT-NEXT: %39 = stablehlo.subtract %arg0, %38 {scalify.forms = ["2^0 level 0.00890582"]} : tensor<3x3x4x8xf32>
// UNIT-NEXT: %40 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<3x3x8x12xf32>
// UNIT-NEXT: %41 = stablehlo.multiply %40, %31 {scalify.forms = ["2^0 level -5.04289"]} : tensor<3x3x8x12xf32>
// UNIT-NEXT: %42 = stablehlo.subtract %arg1, %41 {scalify.forms = ["2^0 level 0.000663474"]} : tensor<3x3x8x12xf32>
// UNIT-NEXT: %43 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<12x10xf32>
// UNIT-NEXT: %44 = stablehlo.multiply %43, %24 {scalify.forms = ["2^0 level -3.70385"]} : tensor<12x10xf32>
// UNIT-NEXT: %45 = stablehlo.subtract %arg2, %44 {scalify.forms = ["2^0 level 0.00423573"]} : tensor<12x10xf32>
// UNIT-NEXT: return %39, %42, %45, %17 : tensor<3x3x4x8xf32>, tensor<3x3x8x12xf32>, tensor<12x10xf32>, tensor<f32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @relu(%arg0: tensor<6x8x8x8xf32>) -> tensor<6x8x8x8xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8x8x8xf32>
// UNIT-NEXT: %1 = stablehlo.maximum %arg0, %0 : tensor<6x8x8x8xf32>
// UNIT-NEXT: return %1 : tensor<6x8x8x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @relu_0(%arg0: tensor<6x4x4x12xf32>) -> tensor<6x4x4x12xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x4x4x12xf32>
// UNIT-NEXT: %1 = stablehlo.maximum %arg0, %0 : tensor<6x4x4x12xf32>
// UNIT-NEXT: return %1 : tensor<6x4x4x12xf32>
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
// UNIT-NEXT: func.func private @take_along_axis_1(%arg0: tensor<6x1x1xi32>, %arg1: tensor<6x1xf32>) -> tensor<6x10xf32> {
// UNIT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
// UNIT-NEXT: %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
// UNIT-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// UNIT-NEXT: %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
// UNIT-NEXT: stablehlo.return %2 : tensor<f32>
// UNIT-NEXT: }) : (tensor<6x10xf32>, tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: return %1 : tensor<6x10xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @log_softmax_2(%arg0: tensor<6x10xf32>, %arg1: tensor<6x1xf32>, %arg2: tensor<6x10xf32>) -> tensor<6x10xf32> {
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
// CURRENT:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// CURRENT-NEXT: func.func public @main(%arg0: tensor<3x3x4x8xf32>, %arg1: tensor<3x3x8x12xf32>, %arg2: tensor<12x10xf32>, %arg3: tensor<6x8x8x4xf32>, %arg4: tensor<6xi32>) -> (tensor<3x3x4x8xf32> {jax.result_info = "result[0][0]"}, tensor<3x3x8x12xf32> {jax.result_info = "result[0][1]"}, tensor<12x10xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
// CURRENT-NEXT: %cst = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// CURRENT-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CURRENT-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.000000e+00> : tensor<f32>
// CURRENT-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.600000e+01> : tensor<f32>
// CURRENT-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %0 = stablehlo.convolution(%arg3, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = {{\[\[}}1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<6x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<6x8x8x8xf32>
// CURRENT-NEXT: %1 = call @relu(%0) : (tensor<6x8x8x8xf32>) -> tensor<6x8x8x8xf32>
// CURRENT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x8x8x8xf32>
// CURRENT-NEXT: %3 = stablehlo.compare GT, %0, %2, FLOAT : (tensor<6x8x8x8xf32>, tensor<6x8x8x8xf32>) -> tensor<6x8x8x8xi1>
// CURRENT-NEXT: %4 = stablehlo.convolution(%1, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = {{\[\[}}0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<6x8x8x8xf32>, tensor<3x3x8x12xf32>) -> tensor<6x4x4x12xf32>
// CURRENT-NEXT: %5 = call @relu_0(%4) : (tensor<6x4x4x12xf32>) -> tensor<6x4x4x12xf32>
// CURRENT-NEXT: %6 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x4x4x12xf32>
// CURRENT-NEXT: %7 = stablehlo.compare GT, %4, %6, FLOAT : (tensor<6x4x4x12xf32>, tensor<6x4x4x12xf32>) -> tensor<6x4x4x12xi1>
// CURRENT-NEXT: %8 = stablehlo.reduce(%5 init: %cst_3) applies stablehlo.add across dimensions = [1, 2] : (tensor<6x4x4x12xf32>, tensor<f32>) -> tensor<6x12xf32>
// CURRENT-NEXT: %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// CURRENT-NEXT: %10 = stablehlo.divide %8, %9 : tensor<6x12xf32>
// CURRENT-NEXT: %11 = stablehlo.dot_general %10, %arg2, contracting_dims = [1] x [0] : (tensor<6x12xf32>, tensor<12x10xf32>) -> tensor<6x10xf32>
// CURRENT-NEXT: %12:3 = call @log_softmax(%11) : (tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>)
// CURRENT-NEXT: %13 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
// CURRENT-NEXT: %14:2 = call @take_along_axis(%12#0, %13) : (tensor<6x10xf32>, tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>)
// CURRENT-NEXT: %15 = stablehlo.reduce(%14#0 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<f32>
// CURRENT-NEXT: %16 = stablehlo.divide %15, %cst_1 : tensor<f32>
// CURRENT-NEXT: %17 = stablehlo.negate %16 : tensor<f32>
// CURRENT-NEXT: %18 = stablehlo.negate %cst_0 {scalify.forms = ["unscaled"]} : tensor<f32>
// CURRENT-NEXT: %19 = stablehlo.divide %18, %cst_1 : tensor<f32>
// CURRENT-NEXT: %20 = stablehlo.broadcast_in_dim %19, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
// CURRENT-NEXT: %21 = call @take_along_axis_1(%14#1, %20) : (tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
// CURRENT-NEXT: %22 = call @log_softmax_2(%12#1, %12#2, %21) : (tensor<6x10xf32>, tensor<6x1xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
// CURRENT-NEXT: %23 = stablehlo.dot_general %22, %10, contracting_dims = [0] x [0] : (tensor<6x10xf32>, tensor<6x12xf32>) -> tensor<10x12xf32>
// CURRENT-NEXT: %24 = stablehlo.transpose %23, dims = [1, 0] : (tensor<10x12xf32>) -> tensor<12x10xf32>
// CURRENT-NEXT: %25 = stablehlo.dot_general %22, %arg2, contracting_dims = [1] x [1] : (tensor<6x10xf32>, tensor<12x10xf32>) -> tensor<6x12xf32>
// CURRENT-NEXT: %26 = stablehlo.broadcast_in_dim %cst_2, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<6x12xf32>
// CURRENT-NEXT: %27 = stablehlo.divide %25, %26 : tensor<6x12xf32>
// CURRENT-NEXT: %28 = stablehlo.broadcast_in_dim %27, dims = [0, 3] : (tensor<6x12xf32>) -> tensor<6x4x4x12xf32>
// CURRENT-NEXT: %29 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x4x4x12xf32>
// CURRENT-NEXT: %30 = stablehlo.select %7, %28, %29 : tensor<6x4x4x12xi1>, tensor<6x4x4x12xf32>
// CURRENT-NEXT: %31 = stablehlo.convolution(%1, %30) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = {{\[\[}}0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<6x8x8x8xf32>, tensor<6x4x4x12xf32>) -> tensor<3x3x8x12xf32>
// CURRENT-NEXT: %32 = stablehlo.reverse %arg1, dims = [0, 1] : tensor<3x3x8x12xf32>
// CURRENT-NEXT: %33 = stablehlo.convolution(%30, %32) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = {{\[\[}}2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<6x4x4x12xf32>, tensor<3x3x8x12xf32>) -> tensor<6x8x8x8xf32>
// CURRENT-NEXT: %34 = stablehlo.broadcast_in_dim %cst_3, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x8x8x8xf32>
// CURRENT-NEXT: %35 = stablehlo.select %3, %33, %34 : tensor<6x8x8x8xi1>, tensor<6x8x8x8xf32>
// CURRENT-NEXT: %36 = stablehlo.convolution(%arg3, %35) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = {{\[\[}}1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<6x8x8x4xf32>, tensor<6x8x8x8xf32>) -> tensor<3x3x4x8xf32>
// CURRENT-NEXT: %37 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<3x3x4x8xf32>
// CURRENT-NEXT: %38 = stablehlo.multiply %37, %36 : tensor<3x3x4x8xf32>
// CURRENT-NEXT: %39 = stablehlo.subtract %arg0, %38 : tensor<3x3x4x8xf32>
// CURRENT-NEXT: %40 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<3x3x8x12xf32>
// CURRENT-NEXT: %41 = stablehlo.multiply %40, %31 : tensor<3x3x8x12xf32>
// CURRENT-NEXT: %42 = stablehlo.subtract %arg1, %41 : tensor<3x3x8x12xf32>
// CURRENT-NEXT: %43 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<12x10xf32>
// CURRENT-NEXT: %44 = stablehlo.multiply %43, %24 : tensor<12x10xf32>
// CURRENT-NEXT: %45 = stablehlo.subtract %arg2, %44 : tensor<12x10xf32>
// CURRENT-NEXT: return %39, %42, %45, %17 : tensor<3x3x4x8xf32>, tensor<3x3x8x12xf32>, tensor<12x10xf32>, tensor<f32>
// CURRENT-NEXT: }
// CURRENT-NEXT: func.func private @relu(%arg0: tensor<6x8x8x8xf32>) -> tensor<6x8x8x8xf32> {
// CURRENT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8x8x8xf32>
// CURRENT-NEXT: %1 = stablehlo.maximum %arg0, %0 : tensor<6x8x8x8xf32>
// CURRENT-NEXT: return %1 : tensor<6x8x8x8xf32>
// CURRENT-NEXT: }
// CURRENT-NEXT: func.func private @relu_0(%arg0: tensor<6x4x4x12xf32>) -> tensor<6x4x4x12xf32> {
// CURRENT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x4x4x12xf32>
// CURRENT-NEXT: %1 = stablehlo.maximum %arg0, %0 : tensor<6x4x4x12xf32>
// CURRENT-NEXT: return %1 : tensor<6x4x4x12xf32>
// CURRENT-NEXT: }
// CURRENT-NEXT: func.func private @log_softmax(%arg0: tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>) {
// CURRENT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CURRENT-NEXT: %0 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
// CURRENT-NEXT: %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6xf32>
// CURRENT-NEXT: %2 = stablehlo.maximum %1, %0 : tensor<6xf32>
// CURRENT-NEXT: %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
// CURRENT-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x10xf32>
// CURRENT-NEXT: %5 = stablehlo.subtract %arg0, %4 : tensor<6x10xf32>
// CURRENT-NEXT: %6 = stablehlo.exponential %5 : tensor<6x10xf32>
// CURRENT-NEXT: %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
// CURRENT-NEXT: %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
// CURRENT-NEXT: %9 = stablehlo.log %8 : tensor<6x1xf32>
// CURRENT-NEXT: %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x10xf32>
// CURRENT-NEXT: %11 = stablehlo.subtract %5, %10 : tensor<6x10xf32>
// CURRENT-NEXT: return %11, %6, %8 : tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>
// CURRENT-NEXT: }
// CURRENT-NEXT: func.func private @take_along_axis(%arg0: tensor<6x10xf32>, %arg1: tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>) {
// CURRENT-NEXT: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// CURRENT-NEXT: %c = stablehlo.constant dense<true> : tensor<i1>
// CURRENT-NEXT: %c_0 = stablehlo.constant dense<9> : tensor<1xi32>
// CURRENT-NEXT: %c_1 = stablehlo.constant dense<10> : tensor<i32>
// CURRENT-NEXT: %c_2 = stablehlo.constant dense<0> : tensor<i32>
// CURRENT-NEXT: %0 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6x1xi32>
// CURRENT-NEXT: %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi1>
// CURRENT-NEXT: %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<6x1xi32>
// CURRENT-NEXT: %3 = stablehlo.add %arg1, %2 : tensor<6x1xi32>
// CURRENT-NEXT: %4 = stablehlo.select %1, %3, %arg1 : tensor<6x1xi1>, tensor<6x1xi32>
// CURRENT-NEXT: %5 = stablehlo.reshape %4 : (tensor<6x1xi32>) -> tensor<6x1x1xi32>
// CURRENT-NEXT: %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6x1x1xi32>
// CURRENT-NEXT: %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<6x1x1xi32>, tensor<6x1x1xi32>) -> tensor<6x1x1xi1>
// CURRENT-NEXT: %8 = stablehlo.broadcast_in_dim %c_0, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
// CURRENT-NEXT: %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<6x1x1xi32>
// CURRENT-NEXT: %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<6x1x1xi32>, tensor<6x1x1xi32>) -> tensor<6x1x1xi1>
// CURRENT-NEXT: %11 = stablehlo.and %7, %10 : tensor<6x1x1xi1>
// CURRENT-NEXT: %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.and across dimensions = [2] : (tensor<6x1x1xi1>, tensor<i1>) -> tensor<6x1xi1>
// CURRENT-NEXT: %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<6x10xf32>, tensor<6x1x1xi32>) -> tensor<6x1xf32>
// CURRENT-NEXT: %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
// CURRENT-NEXT: %15 = stablehlo.select %12, %13, %14 : tensor<6x1xi1>, tensor<6x1xf32>
// CURRENT-NEXT: return %15, %5 : tensor<6x1xf32>, tensor<6x1x1xi32>
// CURRENT-NEXT: }
// CURRENT-NEXT: func.func private @take_along_axis_1(%arg0: tensor<6x1x1xi32>, %arg1: tensor<6x1xf32>) -> tensor<6x10xf32> {
// CURRENT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
// CURRENT-NEXT: %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
// CURRENT-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CURRENT-NEXT: %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
// CURRENT-NEXT: stablehlo.return %2 : tensor<f32>
// CURRENT-NEXT: }) : (tensor<6x10xf32>, tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
// CURRENT-NEXT: return %1 : tensor<6x10xf32>
// CURRENT-NEXT: }
// CURRENT-NEXT: func.func private @log_softmax_2(%arg0: tensor<6x10xf32>, %arg1: tensor<6x1xf32>, %arg2: tensor<6x10xf32>) -> tensor<6x10xf32> {
// CURRENT-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CURRENT-NEXT: %0 = stablehlo.negate %arg2 : tensor<6x10xf32>
// CURRENT-NEXT: %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
// CURRENT-NEXT: %2 = stablehlo.reshape %1 : (tensor<6xf32>) -> tensor<6x1xf32>
// CURRENT-NEXT: %3 = stablehlo.divide %2, %arg1 : tensor<6x1xf32>
// CURRENT-NEXT: %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6xf32>
// CURRENT-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<6xf32>) -> tensor<6x10xf32>
// CURRENT-NEXT: %6 = stablehlo.multiply %5, %arg0 : tensor<6x10xf32>
// CURRENT-NEXT: %7 = stablehlo.add %arg2, %6 : tensor<6x10xf32>
// CURRENT-NEXT: return %7 : tensor<6x10xf32>
// CURRENT-NEXT: }
// CURRENT-NEXT: }

module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3x4x8xf32>, %arg1: tensor<3x3x8x12xf32>, %arg2: tensor<12x10xf32>, %arg3: tensor<6x8x8x4xf32>, %arg4: tensor<6xi32>) -> (tensor<3x3x4x8xf32> {jax.result_info = "result[0][0]"}, tensor<3x3x8x12xf32> {jax.result_info = "result[0][1]"}, tensor<12x10xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.convolution(%arg3, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<6x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<6x8x8x8xf32>
    %1 = call @relu(%0) : (tensor<6x8x8x8xf32>) -> tensor<6x8x8x8xf32>
    %2 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x8x8x8xf32>
    %3 = stablehlo.compare GT, %0, %2, FLOAT : (tensor<6x8x8x8xf32>, tensor<6x8x8x8xf32>) -> tensor<6x8x8x8xi1>
    %4 = stablehlo.convolution(%1, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<6x8x8x8xf32>, tensor<3x3x8x12xf32>) -> tensor<6x4x4x12xf32>
    %5 = call @relu_0(%4) : (tensor<6x4x4x12xf32>) -> tensor<6x4x4x12xf32>
    %6 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x4x4x12xf32>
    %7 = stablehlo.compare GT, %4, %6, FLOAT : (tensor<6x4x4x12xf32>, tensor<6x4x4x12xf32>) -> tensor<6x4x4x12xi1>
    %8 = stablehlo.reduce(%5 init: %cst_3) applies stablehlo.add across dimensions = [1, 2] : (tensor<6x4x4x12xf32>, tensor<f32>) -> tensor<6x12xf32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %10 = stablehlo.divide %8, %9 : tensor<6x12xf32>
    %11 = stablehlo.dot_general %10, %arg2, contracting_dims = [1] x [0] : (tensor<6x12xf32>, tensor<12x10xf32>) -> tensor<6x10xf32>
    %12:3 = call @log_softmax(%11) : (tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>)
    %13 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %14:2 = call @take_along_axis(%12#0, %13) : (tensor<6x10xf32>, tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>)
    %15 = stablehlo.reduce(%14#0 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<f32>
    %16 = stablehlo.divide %15, %cst_1 : tensor<f32>
    %17 = stablehlo.negate %16 : tensor<f32>
    %18 = stablehlo.negate %cst_0 : tensor<f32>
    %19 = stablehlo.divide %18, %cst_1 : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %21 = call @take_along_axis_1(%14#1, %20) : (tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
    %22 = call @log_softmax_2(%12#1, %12#2, %21) : (tensor<6x10xf32>, tensor<6x1xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
    %23 = stablehlo.dot_general %22, %10, contracting_dims = [0] x [0] : (tensor<6x10xf32>, tensor<6x12xf32>) -> tensor<10x12xf32>
    %24 = stablehlo.transpose %23, dims = [1, 0] : (tensor<10x12xf32>) -> tensor<12x10xf32>
    %25 = stablehlo.dot_general %22, %arg2, contracting_dims = [1] x [1] : (tensor<6x10xf32>, tensor<12x10xf32>) -> tensor<6x12xf32>
    %26 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %27 = stablehlo.divide %25, %26 : tensor<6x12xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 3] : (tensor<6x12xf32>) -> tensor<6x4x4x12xf32>
    %29 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x4x4x12xf32>
    %30 = stablehlo.select %7, %28, %29 : tensor<6x4x4x12xi1>, tensor<6x4x4x12xf32>
    %31 = stablehlo.convolution(%1, %30) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<6x8x8x8xf32>, tensor<6x4x4x12xf32>) -> tensor<3x3x8x12xf32>
    %32 = stablehlo.reverse %arg1, dims = [0, 1] : tensor<3x3x8x12xf32>
    %33 = stablehlo.convolution(%30, %32) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<6x4x4x12xf32>, tensor<3x3x8x12xf32>) -> tensor<6x8x8x8xf32>
    %34 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x8x8x8xf32>
    %35 = stablehlo.select %3, %33, %34 : tensor<6x8x8x8xi1>, tensor<6x8x8x8xf32>
    %36 = stablehlo.convolution(%arg3, %35) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<6x8x8x4xf32>, tensor<6x8x8x8xf32>) -> tensor<3x3x4x8xf32>
    %37 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3x4x8xf32>
    %38 = stablehlo.multiply %37, %36 : tensor<3x3x4x8xf32>
    %39 = stablehlo.subtract %arg0, %38 : tensor<3x3x4x8xf32>
    %40 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3x8x12xf32>
    %41 = stablehlo.multiply %40, %31 : tensor<3x3x8x12xf32>
    %42 = stablehlo.subtract %arg1, %41 : tensor<3x3x8x12xf32>
    %43 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x10xf32>
    %44 = stablehlo.multiply %43, %24 : tensor<12x10xf32>
    %45 = stablehlo.subtract %arg2, %44 : tensor<12x10xf32>
    return %39, %42, %45, %17 : tensor<3x3x4x8xf32>, tensor<3x3x8x12xf32>, tensor<12x10xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<6x8x8x8xf32>) -> tensor<6x8x8x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8x8x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<6x8x8x8xf32>
    return %1 : tensor<6x8x8x8xf32>
  }
  func.func private @relu_0(%arg0: tensor<6x4x4x12xf32>) -> tensor<6x4x4x12xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x4x4x12xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<6x4x4x12xf32>
    return %1 : tensor<6x4x4x12xf32>
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
  func.func private @take_along_axis_1(%arg0: tensor<6x1x1xi32>, %arg1: tensor<6x1xf32>) -> tensor<6x10xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x10xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<6x10xf32>, tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
    return %1 : tensor<6x10xf32>
  }
  func.func private @log_softmax_2(%arg0: tensor<6x10xf32>, %arg1: tensor<6x1xf32>, %arg2: tensor<6x10xf32>) -> tensor<6x10xf32> {
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
