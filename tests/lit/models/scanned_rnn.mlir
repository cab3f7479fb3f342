// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles,scalify-recognize{scales=true inputs=true},scalify-quantize-matmuls{recipe=unit},scalify-narrow-state{recipe=unit},scalify-quantize-constants,scalify-propagate{predict=unit annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-normalize,scalify-signature{every=true told=true},scalify-roles{narrow-state=true},scalify-recognize{scales=true inputs=true},scalify-insert-rescales{recipe=fp8},scalify-quantize-matmuls{recipe=fp8},scalify-narrow-state{recipe=fp8},scalify-quantize-constants,scalify-propagate{annotate=true narrow=true})' \
// RUN:   | %filecheck %s --check-prefix=FP8

// A training step of a recurrent network, which is a scan forward and one backward.
// UNIT:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// UNIT-NEXT: func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x10xf32>, %arg2: tensor<12x8xf32>, %arg3: tensor<3x6x12xf32>, %arg4: tensor<6xi32>) -> (tensor<8x8xf32> {jax.result_info = "result[0]['h']"}, tensor<8x10xf32> {jax.result_info = "result[0]['out']"}, tensor<12x8xf32> {jax.result_info = "result[0]['x']"}, tensor<f32> {jax.result_info = "result[1]"}) {
// UNIT-NEXT: %cst = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e-01> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.000000e+00> : tensor<f32>
// UNIT-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// UNIT-NEXT: %c_2 = stablehlo.constant dense<3> : tensor<i32>
// UNIT-NEXT: %c_3 = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x8xf32>
// UNIT-NEXT: %1 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<3x6x8xf32>
// UNIT-NEXT: %2 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<3x6x8xf32>
// UNIT-NEXT: %3 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<3x6x8xf32>
// UNIT-NEXT: %4:8 = stablehlo.while(%iterArg = %arg3, %iterArg_5 = %arg2, %iterArg_6 = %arg0, %iterArg_7 = %c_3, %iterArg_8 = %0, %iterArg_9 = %1, %iterArg_10 = %2, %iterArg_11 = %3) : tensor<3x6x12xf32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0 level -0.671746", "2^0 level -0.75", "2^0 level -0.75", "2^0 level 0.25"]}
// UNIT-NEXT: cond {
// UNIT-NEXT: %32 = stablehlo.compare LT, %iterArg_7, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// UNIT-NEXT: stablehlo.return %32 : tensor<i1>
// UNIT-NEXT: } do {
// UNIT-NEXT: %32 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_7) {scalify.forms = ["2^0"]} : (tensor<3x6x12xf32>, tensor<i32>) -> tensor<6x12xf32>
// UNIT-NEXT: %33:4 = func.call @closed_call(%iterArg_5, %iterArg_6, %iterArg_8, %32) {scalify.forms = ["2^0 level -0.671746", "2^0 level -0.75", "2^0 level -0.671746", "2^0 level 0.239649"]} : (tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>, tensor<6x12xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>)
// UNIT-NEXT: %34 = func.call @dynamic_update_index_in_dim(%iterArg_9, %33#1, %iterArg_7) {scalify.forms = ["2^0 level -0.75"]} : (tensor<3x6x8xf32>, tensor<6x8xf32>, tensor<i32>) -> tensor<3x6x8xf32>
// UNIT-NEXT: %35 = func.call @dynamic_update_index_in_dim(%iterArg_10, %33#2, %iterArg_7) {scalify.forms = ["2^0 level -0.75"]} : (tensor<3x6x8xf32>, tensor<6x8xf32>, tensor<i32>) -> tensor<3x6x8xf32>
// UNIT-NEXT: %36 = func.call @dynamic_update_index_in_dim(%iterArg_11, %33#3, %iterArg_7) {scalify.forms = ["2^0 level 0.25"]} : (tensor<3x6x8xf32>, tensor<6x8xf32>, tensor<i32>) -> tensor<3x6x8xf32>
// UNIT-NEXT: %37 = stablehlo.add %iterArg_7, %c : tensor<i32>
// UNIT-NEXT: stablehlo.return %iterArg, %iterArg_5, %iterArg_6, %37, %33#0, %34, %35, %36 : tensor<3x6x12xf32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: %5 = stablehlo.dot_general %4#4, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 0.828254"]} : (tensor<6x8xf32>, tensor<8x10xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: %6:3 = call @log_softmax(%5) {scalify.forms = ["2^0 level 1.36742", "2^0", "2^0 level 3.32193"]} : (tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>)
// UNIT-NEXT: %7 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
// UNIT-NEXT: %8:2 = call @take_along_axis(%6#0, %7) {scalify.forms = ["2^0 level 1.25", "unscaled"]} : (tensor<6x10xf32>, tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>)
// UNIT-NEXT: %9 = stablehlo.reduce(%8#0 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] {scalify.forms = ["2^0 level 2.54248"]} : (tensor<6x1xf32>, tensor<f32>) -> tensor<f32>
// UNIT-NEXT: %10 = stablehlo.divide %9, %cst_1 {scalify.forms = ["2^0 level -0.0424813"]} : tensor<f32>
// UNIT-NEXT: %11 = stablehlo.negate %10 {scalify.forms = ["2^0 level -0.0424813"]} : tensor<f32>
// UNIT-NEXT: %12 = stablehlo.negate %cst_0 {scalify.forms = ["unscaled"]} : tensor<f32>
// UNIT-NEXT: %13 = stablehlo.divide %12, %cst_1 {scalify.forms = ["2^0 level -2.58496"]} : tensor<f32>
// UNIT-NEXT: %14 = stablehlo.broadcast_in_dim %13, dims = [] {scalify.forms = ["2^0 level -2.58496"]} : (tensor<f32>) -> tensor<6x1xf32>
// UNIT-NEXT: %15 = call @take_along_axis_0(%8#1, %14) {scalify.forms = ["2^0 level -4.16096"]} : (tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: %16 = call @log_softmax_1(%6#1, %6#2, %15) {scalify.forms = ["2^0 level -4.1744"]} : (tensor<6x10xf32>, tensor<6x1xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
// UNIT-NEXT: %17 = stablehlo.dot_general %16, %4#4, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -3.55367"]} : (tensor<6x10xf32>, tensor<6x8xf32>) -> tensor<10x8xf32>
// UNIT-NEXT: %18 = stablehlo.transpose %17, dims = [1, 0] {scalify.forms = ["2^0 level -3.55367"]} : (tensor<10x8xf32>) -> tensor<8x10xf32>
// UNIT-NEXT: %19 = stablehlo.dot_general %16, %arg1, contracting_dims = [1] x [1] {scalify.forms = ["2^0 level -2.51344"]} : (tensor<6x10xf32>, tensor<8x10xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<12x8xf32>
// UNIT-NEXT: %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<8x8xf32>
// UNIT-NEXT: %22:9 = stablehlo.while(%iterArg = %arg3, %iterArg_5 = %4#5, %iterArg_6 = %4#6, %iterArg_7 = %4#7, %iterArg_8 = %arg0, %iterArg_9 = %c_3, %iterArg_10 = %20, %iterArg_11 = %21, %iterArg_12 = %19) : tensor<3x6x12xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32> attributes {scalify.forms = ["2^0", "2^0 level -0.75", "2^0 level -0.75", "2^0 level 0.25", "2^0", "unscaled", "2^0 level -1.25518", "2^0 level -2.00518", "2^0 level -1.55287"]}
// UNIT-NEXT: cond {
// UNIT-NEXT: %32 = stablehlo.compare LT, %iterArg_9, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// UNIT-NEXT: stablehlo.return %32 : tensor<i1>
// UNIT-NEXT: } do {
// UNIT-NEXT: %32 = stablehlo.subtract %c_2, %iterArg_9 : tensor<i32>
// UNIT-NEXT: %33 = stablehlo.subtract %32, %c : tensor<i32>
// UNIT-NEXT: %34 = func.call @dynamic_index_in_dim(%iterArg, %33) {scalify.forms = ["2^0"]} : (tensor<3x6x12xf32>, tensor<i32>) -> tensor<6x12xf32>
// UNIT-NEXT: %35 = func.call @dynamic_index_in_dim_2(%iterArg_5, %33) {scalify.forms = ["2^0 level -0.75"]} : (tensor<3x6x8xf32>, tensor<i32>) -> tensor<6x8xf32>
// UNIT-NEXT: %36 = func.call @dynamic_index_in_dim_2(%iterArg_6, %33) {scalify.forms = ["2^0 level -0.75"]} : (tensor<3x6x8xf32>, tensor<i32>) -> tensor<6x8xf32>
// UNIT-NEXT: %37 = func.call @dynamic_index_in_dim_2(%iterArg_7, %33) {scalify.forms = ["2^0 level 0.25"]} : (tensor<3x6x8xf32>, tensor<i32>) -> tensor<6x8xf32>
// UNIT-NEXT: %38:3 = func.call @closed_call_3(%iterArg_8, %iterArg_10, %iterArg_11, %iterArg_12, %34, %35, %36, %37) {scalify.forms = ["2^0 level -1.25518", "2^0 level -2.00518", "2^0 level -1.55287"]} : (tensor<8x8xf32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>, tensor<6x12xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> (tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>)
// UNIT-NEXT: %39 = stablehlo.add %iterArg_9, %c : tensor<i32>
// UNIT-NEXT: stablehlo.return %iterArg, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %39, %38#0, %38#1, %38#2 : tensor<3x6x12xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: %23 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<8x8xf32>
// UNIT-NEXT: %24 = stablehlo.multiply %23, %22#7 {scalify.forms = ["2^0 level -5.3271"]} : tensor<8x8xf32>
// UNIT-NEXT: %25 = stablehlo.subtract %arg0, %24 {scalify.forms = ["2^0 level 0.000447481"]} : tensor<8x8xf32>
// UNIT-NEXT: %26 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<8x10xf32>
// UNIT-NEXT: %27 = stablehlo.multiply %26, %18 {scalify.forms = ["2^0 level -6.8756"]} : tensor<8x10xf32>
// UNIT-NEXT: %28 = stablehlo.subtract %arg1, %27 {scalify.forms = ["2^0 level 5.23126e-05"]} : tensor<8x10xf32>
// UNIT-NEXT: %29 = stablehlo.broadcast_in_dim %cst, dims = [] {scalify.forms = ["unscaled"]} : (tensor<f32>) -> tensor<12x8xf32>
// UNIT-NEXT: %30 = stablehlo.multiply %29, %22#6 {scalify.forms = ["2^0 level -4.5771"]} : tensor<12x8xf32>
// UNIT-NEXT: %31 = stablehlo.subtract %arg2, %30 {scalify.forms = ["2^0 level 0.00126495"]} : tensor<12x8xf32>
// UNIT-NEXT: return %25, %28, %31, %11 : tensor<8x8xf32>, tensor<8x10xf32>, tensor<12x8xf32>, tensor<f32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<3x6x12xf32>, %arg1: tensor<i32>) -> tensor<6x12xf32> {
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 6, 12] : (tensor<3x6x12xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x12xf32>
// UNIT-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x6x12xf32>) -> tensor<6x12xf32>
// UNIT-NEXT: return %1 : tensor<6x12xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @closed_call(%arg0: tensor<12x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<6x8xf32>, %arg3: tensor<6x12xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) {
// UNIT-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] : (tensor<6x12xf32>, tensor<12x8xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %1 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %2 = stablehlo.add %0, %1 : tensor<6x8xf32>
// UNIT-NEXT: %3 = stablehlo.tanh %2 : tensor<6x8xf32>
// UNIT-NEXT: %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// UNIT-NEXT: %5 = stablehlo.subtract %4, %3 : tensor<6x8xf32>
// UNIT-NEXT: return %3, %arg2, %3, %5 : tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x6x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<i32>) -> tensor<3x6x8xf32> {
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<6x8xf32>) -> tensor<1x6x8xf32>
// UNIT-NEXT: %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c : (tensor<3x6x8xf32>, tensor<1x6x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x6x8xf32>
// UNIT-NEXT: return %1 : tensor<3x6x8xf32>
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
// UNIT-NEXT: func.func private @dynamic_index_in_dim_2(%arg0: tensor<3x6x8xf32>, %arg1: tensor<i32>) -> tensor<6x8xf32> {
// UNIT-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// UNIT-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 6, 8] : (tensor<3x6x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x8xf32>
// UNIT-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x6x8xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: return %1 : tensor<6x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: func.func private @closed_call_3(%arg0: tensor<8x8xf32>, %arg1: tensor<12x8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<6x8xf32>, %arg4: tensor<6x12xf32>, %arg5: tensor<6x8xf32>, %arg6: tensor<6x8xf32>, %arg7: tensor<6x8xf32>) -> (tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>) {
// UNIT-NEXT: %0 = stablehlo.multiply %arg3, %arg7 : tensor<6x8xf32>
// UNIT-NEXT: %1 = stablehlo.multiply %0, %arg6 : tensor<6x8xf32>
// UNIT-NEXT: %2 = stablehlo.add %0, %1 : tensor<6x8xf32>
// UNIT-NEXT: %3 = stablehlo.dot_general %2, %arg5, contracting_dims = [0] x [0] : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
// UNIT-NEXT: %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
// UNIT-NEXT: %5 = stablehlo.add %arg2, %4 : tensor<8x8xf32>
// UNIT-NEXT: %6 = stablehlo.dot_general %2, %arg0, contracting_dims = [1] x [1] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
// UNIT-NEXT: %7 = stablehlo.dot_general %2, %arg4, contracting_dims = [0] x [0] : (tensor<6x8xf32>, tensor<6x12xf32>) -> tensor<8x12xf32>
// UNIT-NEXT: %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<8x12xf32>) -> tensor<12x8xf32>
// UNIT-NEXT: %9 = stablehlo.add %arg1, %8 : tensor<12x8xf32>
// UNIT-NEXT: return %9, %5, %6 : tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// FP8-NEXT: func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x10xf32>, %arg2: tensor<12x8xf32>, %arg3: tensor<3x6x12xf32>, %arg4: tensor<6xi32>) -> (tensor<8x8xf32> {jax.result_info = "result[0]['h']"}, tensor<8x10xf32> {jax.result_info = "result[0]['out']"}, tensor<12x8xf32> {jax.result_info = "result[0]['x']"}, tensor<f32> {jax.result_info = "result[1]"}) {
// FP8-NEXT: %cst = stablehlo.constant dense<-5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<5.734400e+04> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<6.000000e+00> : tensor<f32>
// FP8-NEXT: %c = stablehlo.constant dense<1> : tensor<i32>
// FP8-NEXT: %c_3 = stablehlo.constant dense<3> : tensor<i32>
// FP8-NEXT: %c_4 = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<6x8xf32>
// FP8-NEXT: %1 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<3x6x8xf32>
// FP8-NEXT: %2 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<3x6x8xf32>
// FP8-NEXT: %3 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<3x6x8xf32>
// FP8-NEXT: %4:8 = stablehlo.while(%iterArg = %arg3, %iterArg_12 = %arg2, %iterArg_13 = %arg0, %iterArg_14 = %c_4, %iterArg_15 = %0, %iterArg_16 = %1, %iterArg_17 = %2, %iterArg_18 = %3) : tensor<3x6x12xf32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "unscaled", "2^0", "2^0", "2^0", "2^0"]}
// FP8-NEXT: cond {
// FP8-NEXT: %44 = stablehlo.compare LT, %iterArg_14, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// FP8-NEXT: stablehlo.return %44 : tensor<i1>
// FP8-NEXT: } do {
// FP8-NEXT: %44 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_14) {scalify.forms = ["2^0"]} : (tensor<3x6x12xf32>, tensor<i32>) -> tensor<6x12xf32>
// FP8-NEXT: %45:4 = func.call @closed_call(%iterArg_12, %iterArg_13, %iterArg_15, %44) {scalify.forms = ["2^0", "2^0", "2^0", "2^0"]} : (tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>, tensor<6x12xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>)
// FP8-NEXT: %46 = func.call @dynamic_update_index_in_dim(%iterArg_16, %45#1, %iterArg_14) {scalify.forms = ["2^0"]} : (tensor<3x6x8xf32>, tensor<6x8xf32>, tensor<i32>) -> tensor<3x6x8xf32>
// FP8-NEXT: %47 = func.call @dynamic_update_index_in_dim(%iterArg_17, %45#2, %iterArg_14) {scalify.forms = ["2^0"]} : (tensor<3x6x8xf32>, tensor<6x8xf32>, tensor<i32>) -> tensor<3x6x8xf32>
// FP8-NEXT: %48 = func.call @dynamic_update_index_in_dim(%iterArg_18, %45#3, %iterArg_14) {scalify.forms = ["2^0"]} : (tensor<3x6x8xf32>, tensor<6x8xf32>, tensor<i32>) -> tensor<3x6x8xf32>
// FP8-NEXT: %49 = stablehlo.add %iterArg_14, %c : tensor<i32>
// FP8-NEXT: stablehlo.return %iterArg, %iterArg_12, %iterArg_13, %49, %45#0, %46, %47, %48 : tensor<3x6x12xf32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>
// FP8-NEXT: }
// FP8-NEXT: %5 = stablehlo.dot_general %4#4, %arg1, contracting_dims = [1] x [0] {scalify.forms = ["2^0 level 1"]} : (tensor<6x8xf32>, tensor<8x10xf32>) -> tensor<6x10xf32>
// FP8-NEXT: %6:3 = call @log_softmax(%5) {scalify.forms = ["2^0 level 1", "2^0", "2^0 level 1"]} : (tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>)
// FP8-NEXT: %7 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
// FP8-NEXT: %8:2 = call @take_along_axis(%6#0, %7) {scalify.forms = ["2^0 level 1", "unscaled"]} : (tensor<6x10xf32>, tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>)
// FP8-NEXT: %9 = stablehlo.reduce(%8#0 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] {scalify.forms = ["2^0 level 2"]} : (tensor<6x1xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %10 = stablehlo.divide %9, %cst_2 {scalify.forms = ["2^0 level -0.584963"]} : tensor<f32>
// FP8-NEXT: %11 = stablehlo.negate %10 {scalify.forms = ["2^0 level -0.584963"]} : tensor<f32>
// FP8-NEXT: %12 = stablehlo.negate %cst_1 {scalify.forms = ["unscaled"]} : tensor<f32>
// FP8-NEXT: %13 = stablehlo.divide %12, %cst_2 {scalify.forms = ["2^0 level -2.58496"]} : tensor<f32>
// FP8-NEXT: %14 = stablehlo.broadcast_in_dim %13, dims = [] {scalify.forms = ["2^0 level -2.58496"]} : (tensor<f32>) -> tensor<6x1xf32>
// FP8-NEXT: %15 = call @take_along_axis_0(%8#1, %14) {scalify.forms = ["2^0 level -3.5"]} : (tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
// FP8-NEXT: %16 = call @log_softmax_1(%6#1, %6#2, %15) {scalify.forms = ["2^0 level -3.5"]} : (tensor<6x10xf32>, tensor<6x1xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
// FP8-NEXT: %17 = stablehlo.dot_general %16, %4#4, contracting_dims = [0] x [0] {scalify.forms = ["2^0 level -2.5"]} : (tensor<6x10xf32>, tensor<6x8xf32>) -> tensor<10x8xf32>
// FP8-NEXT: %18 = stablehlo.transpose %17, dims = [1, 0] {scalify.forms = ["2^0 level -2.5"]} : (tensor<10x8xf32>) -> tensor<8x10xf32>
// FP8-NEXT: %cst_6 = stablehlo.constant dense<4.000000e+00> : tensor<8x10xf32>
// FP8-NEXT: %19 = stablehlo.multiply %18, %cst_6 : tensor<8x10xf32>
// FP8-NEXT: %20 = stablehlo.clamp %cst, %19, %cst_0 : (tensor<f32>, tensor<8x10xf32>, tensor<f32>) -> tensor<8x10xf32>
// FP8-NEXT: %21 = stablehlo.convert %20 {scalify.forms = ["2^-2 level -0.5"]} : (tensor<8x10xf32>) -> tensor<8x10xf8E5M2>
// FP8-NEXT: %22 = stablehlo.optimization_barrier {scalify.forms = ["2^-2 level -0.5"]} %21 : tensor<8x10xf8E5M2>
// FP8-NEXT: %23 = stablehlo.convert %22 {scalify.forms = ["2^-2 level -0.5"]} : (tensor<8x10xf8E5M2>) -> tensor<8x10xf32>
// FP8-NEXT: %24 = stablehlo.dot_general %16, %arg1, contracting_dims = [1] x [1] {scalify.forms = ["2^0 level -2.5"]} : (tensor<6x10xf32>, tensor<8x10xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %25 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<12x8xf32>
// FP8-NEXT: %26 = stablehlo.broadcast_in_dim %cst_5, dims = [] {scalify.forms = ["any"]} : (tensor<f32>) -> tensor<8x8xf32>
// FP8-NEXT: %27:9 = stablehlo.while(%iterArg = %arg3, %iterArg_12 = %4#5, %iterArg_13 = %4#6, %iterArg_14 = %4#7, %iterArg_15 = %arg0, %iterArg_16 = %c_4, %iterArg_17 = %25, %iterArg_18 = %26, %iterArg_19 = %24) : tensor<3x6x12xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32> attributes {scalify.forms = ["2^0", "2^0", "2^0", "2^0", "2^0", "unscaled", "2^0 level -1.5", "2^0 level -1.5", "2^0 level -1.5"]}
// FP8-NEXT: cond {
// FP8-NEXT: %44 = stablehlo.compare LT, %iterArg_16, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// FP8-NEXT: stablehlo.return %44 : tensor<i1>
// FP8-NEXT: } do {
// FP8-NEXT: %44 = stablehlo.subtract %c_3, %iterArg_16 : tensor<i32>
// FP8-NEXT: %45 = stablehlo.subtract %44, %c : tensor<i32>
// FP8-NEXT: %46 = func.call @dynamic_index_in_dim(%iterArg, %45) {scalify.forms = ["2^0"]} : (tensor<3x6x12xf32>, tensor<i32>) -> tensor<6x12xf32>
// FP8-NEXT: %47 = func.call @dynamic_index_in_dim_2(%iterArg_12, %45) {scalify.forms = ["2^0"]} : (tensor<3x6x8xf32>, tensor<i32>) -> tensor<6x8xf32>
// FP8-NEXT: %48 = func.call @dynamic_index_in_dim_2(%iterArg_13, %45) {scalify.forms = ["2^0"]} : (tensor<3x6x8xf32>, tensor<i32>) -> tensor<6x8xf32>
// FP8-NEXT: %49 = func.call @dynamic_index_in_dim_2(%iterArg_14, %45) {scalify.forms = ["2^0"]} : (tensor<3x6x8xf32>, tensor<i32>) -> tensor<6x8xf32>
// FP8-NEXT: %50:3 = func.call @closed_call_3(%iterArg_15, %iterArg_17, %iterArg_18, %iterArg_19, %46, %47, %48, %49) {scalify.forms = ["2^0 level -1.5", "2^0 level -1.5", "2^0 level -1.5"]} : (tensor<8x8xf32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>, tensor<6x12xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> (tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>)
// FP8-NEXT: %51 = stablehlo.add %iterArg_16, %c : tensor<i32>
// FP8-NEXT: stablehlo.return %iterArg, %iterArg_12, %iterArg_13, %iterArg_14, %iterArg_15, %51, %50#0, %50#1, %50#2 : tensor<3x6x12xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>
// FP8-NEXT: }
// FP8-NEXT: %cst_7 = stablehlo.constant dense<4.000000e+00> : tensor<8x8xf32>
// FP8-NEXT: %28 = stablehlo.multiply %27#7, %cst_7 : tensor<8x8xf32>
// FP8-NEXT: %29 = stablehlo.clamp %cst, %28, %cst_0 : (tensor<f32>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
// FP8-NEXT: %30 = stablehlo.convert %29 {scalify.forms = ["2^-2 level 0.5"]} : (tensor<8x8xf32>) -> tensor<8x8xf8E5M2>
// FP8-NEXT: %31 = stablehlo.optimization_barrier {scalify.forms = ["2^-2 level 0.5"]} %30 : tensor<8x8xf8E5M2>
// FP8-NEXT: %32 = stablehlo.convert %31 {scalify.forms = ["2^-2 level 0.5"]} : (tensor<8x8xf8E5M2>) -> tensor<8x8xf32>
// FP8-NEXT: %cst_8 = stablehlo.constant dense<4.000000e+00> : tensor<12x8xf32>
// FP8-NEXT: %33 = stablehlo.multiply %27#6, %cst_8 : tensor<12x8xf32>
// FP8-NEXT: %34 = stablehlo.clamp %cst, %33, %cst_0 : (tensor<f32>, tensor<12x8xf32>, tensor<f32>) -> tensor<12x8xf32>
// FP8-NEXT: %35 = stablehlo.convert %34 {scalify.forms = ["2^-2 level 0.5"]} : (tensor<12x8xf32>) -> tensor<12x8xf8E5M2>
// FP8-NEXT: %36 = stablehlo.optimization_barrier {scalify.forms = ["2^-2 level 0.5"]} %35 : tensor<12x8xf8E5M2>
// FP8-NEXT: %37 = stablehlo.convert %36 {scalify.forms = ["2^-2 level 0.5"]} : (tensor<12x8xf8E5M2>) -> tensor<12x8xf32>
// FP8-NEXT: %cst_9 = stablehlo.constant dense<2.500000e-02> : tensor<8x8xf32>
// FP8-NEXT: %38 = stablehlo.multiply %cst_9, %32 : tensor<8x8xf32>
// FP8-NEXT: %39 = stablehlo.subtract %arg0, %38 {scalify.forms = ["2^0"]} : tensor<8x8xf32>
// FP8-NEXT: %cst_10 = stablehlo.constant dense<2.500000e-02> : tensor<8x10xf32>
// FP8-NEXT: %40 = stablehlo.multiply %cst_10, %23 : tensor<8x10xf32>
// FP8-NEXT: %41 = stablehlo.subtract %arg1, %40 {scalify.forms = ["2^0"]} : tensor<8x10xf32>
// FP8-NEXT: %cst_11 = stablehlo.constant dense<2.500000e-02> : tensor<12x8xf32>
// FP8-NEXT: %42 = stablehlo.multiply %cst_11, %37 : tensor<12x8xf32>
// FP8-NEXT: %43 = stablehlo.subtract %arg2, %42 {scalify.forms = ["2^0"]} : tensor<12x8xf32>
// FP8-NEXT: return %39, %41, %43, %11 : tensor<8x8xf32>, tensor<8x10xf32>, tensor<12x8xf32>, tensor<f32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @dynamic_index_in_dim(%arg0: tensor<3x6x12xf32>, %arg1: tensor<i32>) -> tensor<6x12xf32> {
// FP8-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 6, 12] : (tensor<3x6x12xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x12xf32>
// FP8-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x6x12xf32>) -> tensor<6x12xf32>
// FP8-NEXT: return %1 : tensor<6x12xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @closed_call(%arg0: tensor<12x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<6x8xf32>, %arg3: tensor<6x12xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) {
// FP8-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] : (tensor<6x12xf32>, tensor<12x8xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %1 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %2 = stablehlo.add %0, %1 : tensor<6x8xf32>
// FP8-NEXT: %3 = stablehlo.tanh %2 : tensor<6x8xf32>
// FP8-NEXT: %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
// FP8-NEXT: %5 = stablehlo.subtract %4, %3 : tensor<6x8xf32>
// FP8-NEXT: return %3, %arg2, %3, %5 : tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x6x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<i32>) -> tensor<3x6x8xf32> {
// FP8-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<6x8xf32>) -> tensor<1x6x8xf32>
// FP8-NEXT: %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c : (tensor<3x6x8xf32>, tensor<1x6x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x6x8xf32>
// FP8-NEXT: return %1 : tensor<3x6x8xf32>
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
// FP8-NEXT: func.func private @dynamic_index_in_dim_2(%arg0: tensor<3x6x8xf32>, %arg1: tensor<i32>) -> tensor<6x8xf32> {
// FP8-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// FP8-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 6, 8] : (tensor<3x6x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x8xf32>
// FP8-NEXT: %1 = stablehlo.reshape %0 : (tensor<1x6x8xf32>) -> tensor<6x8xf32>
// FP8-NEXT: return %1 : tensor<6x8xf32>
// FP8-NEXT: }
// FP8-NEXT: func.func private @closed_call_3(%arg0: tensor<8x8xf32>, %arg1: tensor<12x8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<6x8xf32>, %arg4: tensor<6x12xf32>, %arg5: tensor<6x8xf32>, %arg6: tensor<6x8xf32>, %arg7: tensor<6x8xf32>) -> (tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>) {
// FP8-NEXT: %0 = stablehlo.multiply %arg3, %arg7 : tensor<6x8xf32>
// FP8-NEXT: %1 = stablehlo.multiply %0, %arg6 : tensor<6x8xf32>
// FP8-NEXT: %2 = stablehlo.add %0, %1 : tensor<6x8xf32>
// FP8-NEXT: %3 = stablehlo.dot_general %2, %arg5, contracting_dims = [0] x [0] : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
// FP8-NEXT: %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
// FP8-NEXT: %5 = stablehlo.add %arg2, %4 : tensor<8x8xf32>
// FP8-NEXT: %6 = stablehlo.dot_general %2, %arg0, contracting_dims = [1] x [1] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
// FP8-NEXT: %7 = stablehlo.dot_general %2, %arg4, contracting_dims = [0] x [0] : (tensor<6x8xf32>, tensor<6x12xf32>) -> tensor<8x12xf32>
// FP8-NEXT: %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<8x12xf32>) -> tensor<12x8xf32>
// FP8-NEXT: %9 = stablehlo.add %arg1, %8 : tensor<12x8xf32>
// FP8-NEXT: return %9, %5, %6 : tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>
// FP8-NEXT: }
// FP8-NEXT: }

module @_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x10xf32>, %arg2: tensor<12x8xf32>, %arg3: tensor<3x6x12xf32>, %arg4: tensor<6xi32>) -> (tensor<8x8xf32> {jax.result_info = "result[0]['h']"}, tensor<8x10xf32> {jax.result_info = "result[0]['out']"}, tensor<12x8xf32> {jax.result_info = "result[0]['x']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %1 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x6x8xf32>
    %2 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x6x8xf32>
    %3 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x6x8xf32>
    %4:8 = stablehlo.while(%iterArg = %arg3, %iterArg_5 = %arg2, %iterArg_6 = %arg0, %iterArg_7 = %c_3, %iterArg_8 = %0, %iterArg_9 = %1, %iterArg_10 = %2, %iterArg_11 = %3) : tensor<3x6x12xf32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>
    cond {
      %32 = stablehlo.compare LT, %iterArg_7, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    } do {
      %32 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_7) : (tensor<3x6x12xf32>, tensor<i32>) -> tensor<6x12xf32>
      %33:4 = func.call @closed_call(%iterArg_5, %iterArg_6, %iterArg_8, %32) : (tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>, tensor<6x12xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>)
      %34 = func.call @dynamic_update_index_in_dim(%iterArg_9, %33#1, %iterArg_7) : (tensor<3x6x8xf32>, tensor<6x8xf32>, tensor<i32>) -> tensor<3x6x8xf32>
      %35 = func.call @dynamic_update_index_in_dim(%iterArg_10, %33#2, %iterArg_7) : (tensor<3x6x8xf32>, tensor<6x8xf32>, tensor<i32>) -> tensor<3x6x8xf32>
      %36 = func.call @dynamic_update_index_in_dim(%iterArg_11, %33#3, %iterArg_7) : (tensor<3x6x8xf32>, tensor<6x8xf32>, tensor<i32>) -> tensor<3x6x8xf32>
      %37 = stablehlo.add %iterArg_7, %c : tensor<i32>
      stablehlo.return %iterArg, %iterArg_5, %iterArg_6, %37, %33#0, %34, %35, %36 : tensor<3x6x12xf32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>
    }
    %5 = stablehlo.dot_general %4#4, %arg1, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x10xf32>) -> tensor<6x10xf32>
    %6:3 = call @log_softmax(%5) : (tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>)
    %7 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %8:2 = call @take_along_axis(%6#0, %7) : (tensor<6x10xf32>, tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>)
    %9 = stablehlo.reduce(%8#0 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<f32>
    %10 = stablehlo.divide %9, %cst_1 : tensor<f32>
    %11 = stablehlo.negate %10 : tensor<f32>
    %12 = stablehlo.negate %cst_0 : tensor<f32>
    %13 = stablehlo.divide %12, %cst_1 : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %15 = call @take_along_axis_0(%8#1, %14) : (tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x10xf32>
    %16 = call @log_softmax_1(%6#1, %6#2, %15) : (tensor<6x10xf32>, tensor<6x1xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
    %17 = stablehlo.dot_general %16, %4#4, contracting_dims = [0] x [0] : (tensor<6x10xf32>, tensor<6x8xf32>) -> tensor<10x8xf32>
    %18 = stablehlo.transpose %17, dims = [1, 0] : (tensor<10x8xf32>) -> tensor<8x10xf32>
    %19 = stablehlo.dot_general %16, %arg1, contracting_dims = [1] x [1] : (tensor<6x10xf32>, tensor<8x10xf32>) -> tensor<6x8xf32>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %22:9 = stablehlo.while(%iterArg = %arg3, %iterArg_5 = %4#5, %iterArg_6 = %4#6, %iterArg_7 = %4#7, %iterArg_8 = %arg0, %iterArg_9 = %c_3, %iterArg_10 = %20, %iterArg_11 = %21, %iterArg_12 = %19) : tensor<3x6x12xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>
    cond {
      %32 = stablehlo.compare LT, %iterArg_9, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    } do {
      %32 = stablehlo.subtract %c_2, %iterArg_9 : tensor<i32>
      %33 = stablehlo.subtract %32, %c : tensor<i32>
      %34 = func.call @dynamic_index_in_dim(%iterArg, %33) : (tensor<3x6x12xf32>, tensor<i32>) -> tensor<6x12xf32>
      %35 = func.call @dynamic_index_in_dim_2(%iterArg_5, %33) : (tensor<3x6x8xf32>, tensor<i32>) -> tensor<6x8xf32>
      %36 = func.call @dynamic_index_in_dim_2(%iterArg_6, %33) : (tensor<3x6x8xf32>, tensor<i32>) -> tensor<6x8xf32>
      %37 = func.call @dynamic_index_in_dim_2(%iterArg_7, %33) : (tensor<3x6x8xf32>, tensor<i32>) -> tensor<6x8xf32>
      %38:3 = func.call @closed_call_3(%iterArg_8, %iterArg_10, %iterArg_11, %iterArg_12, %34, %35, %36, %37) : (tensor<8x8xf32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>, tensor<6x12xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> (tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>)
      %39 = stablehlo.add %iterArg_9, %c : tensor<i32>
      stablehlo.return %iterArg, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %39, %38#0, %38#1, %38#2 : tensor<3x6x12xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<3x6x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>
    }
    %23 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %24 = stablehlo.multiply %23, %22#7 : tensor<8x8xf32>
    %25 = stablehlo.subtract %arg0, %24 : tensor<8x8xf32>
    %26 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x10xf32>
    %27 = stablehlo.multiply %26, %18 : tensor<8x10xf32>
    %28 = stablehlo.subtract %arg1, %27 : tensor<8x10xf32>
    %29 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %30 = stablehlo.multiply %29, %22#6 : tensor<12x8xf32>
    %31 = stablehlo.subtract %arg2, %30 : tensor<12x8xf32>
    return %25, %28, %31, %11 : tensor<8x8xf32>, tensor<8x10xf32>, tensor<12x8xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x6x12xf32>, %arg1: tensor<i32>) -> tensor<6x12xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 6, 12] : (tensor<3x6x12xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x12xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x6x12xf32>) -> tensor<6x12xf32>
    return %1 : tensor<6x12xf32>
  }
  func.func private @closed_call(%arg0: tensor<12x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<6x8xf32>, %arg3: tensor<6x12xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] : (tensor<6x12xf32>, tensor<12x8xf32>) -> tensor<6x8xf32>
    %1 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
    %2 = stablehlo.add %0, %1 : tensor<6x8xf32>
    %3 = stablehlo.tanh %2 : tensor<6x8xf32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %5 = stablehlo.subtract %4, %3 : tensor<6x8xf32>
    return %3, %arg2, %3, %5 : tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x6x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<i32>) -> tensor<3x6x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<6x8xf32>) -> tensor<1x6x8xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c : (tensor<3x6x8xf32>, tensor<1x6x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x6x8xf32>
    return %1 : tensor<3x6x8xf32>
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
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<3x6x8xf32>, %arg1: tensor<i32>) -> tensor<6x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 6, 8] : (tensor<3x6x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x6x8xf32>) -> tensor<6x8xf32>
    return %1 : tensor<6x8xf32>
  }
  func.func private @closed_call_3(%arg0: tensor<8x8xf32>, %arg1: tensor<12x8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<6x8xf32>, %arg4: tensor<6x12xf32>, %arg5: tensor<6x8xf32>, %arg6: tensor<6x8xf32>, %arg7: tensor<6x8xf32>) -> (tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>) {
    %0 = stablehlo.multiply %arg3, %arg7 : tensor<6x8xf32>
    %1 = stablehlo.multiply %0, %arg6 : tensor<6x8xf32>
    %2 = stablehlo.add %0, %1 : tensor<6x8xf32>
    %3 = stablehlo.dot_general %2, %arg5, contracting_dims = [0] x [0] : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.add %arg2, %4 : tensor<8x8xf32>
    %6 = stablehlo.dot_general %2, %arg0, contracting_dims = [1] x [1] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
    %7 = stablehlo.dot_general %2, %arg4, contracting_dims = [0] x [0] : (tensor<6x8xf32>, tensor<6x12xf32>) -> tensor<8x12xf32>
    %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<8x12xf32>) -> tensor<12x8xf32>
    %9 = stablehlo.add %arg1, %8 : tensor<12x8xf32>
    return %9, %5, %6 : tensor<12x8xf32>, tensor<8x8xf32>, tensor<6x8xf32>
  }
}
