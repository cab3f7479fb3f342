// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=NARROW

// Branches and loops in which scales are computed, and what is used after them.
// CHECK:      module {
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<8xf32>, %arg3: tensor<f32> {scalify.is_scale}, %arg4: tensor<i1>, %arg5: tensor<i32>) -> (tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}) {
// CHECK-NEXT: %0 = stablehlo.divide %arg3, %arg1 : tensor<f32>
// CHECK-NEXT: %1 = "stablehlo.if"(%arg4) ({
// CHECK-NEXT: %c_1 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %cst = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %cst_2 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %c_3 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHECK-NEXT: %c_4 = stablehlo.constant dense<1> : tensor<ui32>
// CHECK-NEXT: %c_5 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHECK-NEXT: %cst_6 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
// CHECK-NEXT: %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %3 = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
// CHECK-NEXT: %4 = stablehlo.multiply %3, %3 : tensor<8xf32>
// CHECK-NEXT: %5 = stablehlo.is_finite %3 : (tensor<8xf32>) -> tensor<8xi1>
// CHECK-NEXT: %6 = stablehlo.select %5, %4, %cst_8 : tensor<8xi1>, tensor<8xf32>
// CHECK-NEXT: %7 = stablehlo.reduce(%6 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %8 = stablehlo.multiply %7, %cst_6 : tensor<f32>
// CHECK-NEXT: %9 = stablehlo.sqrt %8 : tensor<f32>
// CHECK-NEXT: %10 = stablehlo.bitcast_convert %9 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %11 = stablehlo.and %10, %c_5 : tensor<ui32>
// CHECK-NEXT: %12 = stablehlo.subtract %11, %c_4 : tensor<ui32>
// CHECK-NEXT: %13 = stablehlo.compare LT, %12, %c_3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHECK-NEXT: %14 = stablehlo.bitcast_convert %11 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %15 = stablehlo.select %13, %14, %cst_9 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %16 = stablehlo.multiply %15, %arg1 : tensor<f32>
// CHECK-NEXT: %17 = stablehlo.clamp %cst_2, %16, %cst : tensor<f32>
// CHECK-NEXT: %18 = stablehlo.bitcast_convert %17 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %19 = stablehlo.subtract %c_1, %18 : tensor<ui32>
// CHECK-NEXT: %20 = stablehlo.bitcast_convert %19 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %21 = stablehlo.divide %cst_9, %20 : tensor<f32>
// CHECK-NEXT: %22 = stablehlo.optimization_barrier %21 : tensor<f32>
// CHECK-NEXT: %23 = stablehlo.divide %arg1, %22 : tensor<f32>
// CHECK-NEXT: %24 = stablehlo.multiply %arg3, %22 : tensor<f32>
// CHECK-NEXT: %25 = stablehlo.divide %24, %arg1 : tensor<f32>
// CHECK-NEXT: %26 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %27 = stablehlo.multiply %3, %26 : tensor<8xf32>
// CHECK-NEXT: %28 = stablehlo.multiply %27, %arg2 {scalify.forms = ["s1*s2"]} : tensor<8xf32>
// CHECK-NEXT: %29 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %30 = stablehlo.multiply %28, %29 : tensor<8xf32>
// CHECK-NEXT: %31 = stablehlo.add %30, %arg0 {scalify.forms = ["s0"]} : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %31 : tensor<8xf32>
// CHECK-NEXT: }, {
// CHECK-NEXT: %3 = stablehlo.negate %arg2 {scalify.forms = ["s1"]} : tensor<8xf32>
// CHECK-NEXT: %4 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %5 = stablehlo.multiply %3, %4 : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %5 : tensor<8xf32>
// CHECK-NEXT: }) {scalify.forms = ["s0"]} : (tensor<i1>) -> tensor<8xf32>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT: %2:5 = stablehlo.while(%iterArg = %c, %iterArg_1 = %arg0, %iterArg_2 = %arg2, %iterArg_3 = %arg1, %iterArg_4 = %arg3) : tensor<i32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32> attributes {scalify.forms = ["unscaled", "s13", "s14", "unscaled", "unscaled"]}
// CHECK-NEXT: cond {
// CHECK-NEXT: %3 = stablehlo.compare LT, %iterArg, %arg5 : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: stablehlo.return %3 : tensor<i1>
// CHECK-NEXT: } do {
// CHECK-NEXT: %c_5 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %cst = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %cst_6 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %c_7 = stablehlo.constant dense<2139095039> : tensor<ui32>
// CHECK-NEXT: %c_8 = stablehlo.constant dense<1> : tensor<ui32>
// CHECK-NEXT: %c_9 = stablehlo.constant dense<4286578688> : tensor<ui32>
// CHECK-NEXT: %c_10 = stablehlo.constant dense<8388607> : tensor<ui32>
// CHECK-NEXT: %c_11 = stablehlo.constant dense<8388608> : tensor<i32>
// CHECK-NEXT: %c_12 = stablehlo.constant dense<8388608> : tensor<8xi32>
// CHECK-NEXT: %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %3 = stablehlo.add %iterArg, %c_0 : tensor<i32>
// CHECK-NEXT: %4 = stablehlo.optimization_barrier %iterArg_1 : tensor<8xf32>
// CHECK-NEXT: %5 = stablehlo.abs %4 : tensor<8xf32>
// CHECK-NEXT: %6 = stablehlo.bitcast_convert %5 : (tensor<8xf32>) -> tensor<8xi32>
// CHECK-NEXT: %7 = stablehlo.add %6, %c_12 : tensor<8xi32>
// CHECK-NEXT: %8 = stablehlo.reduce(%7 init: %c_11) applies stablehlo.maximum across dimensions = [0] : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %9 = stablehlo.subtract %8, %c_11 : tensor<i32>
// CHECK-NEXT: %10 = stablehlo.bitcast_convert %9 : (tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %11 = stablehlo.bitcast_convert %10 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %12 = stablehlo.add %11, %c_10 : tensor<ui32>
// CHECK-NEXT: %13 = stablehlo.and %12, %c_9 : tensor<ui32>
// CHECK-NEXT: %14 = stablehlo.subtract %13, %c_8 : tensor<ui32>
// CHECK-NEXT: %15 = stablehlo.compare LT, %14, %c_7 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHECK-NEXT: %16 = stablehlo.bitcast_convert %13 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %17 = stablehlo.select %15, %16, %cst_13 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %18 = stablehlo.multiply %17, %iterArg_3 : tensor<f32>
// CHECK-NEXT: %19 = stablehlo.clamp %cst_6, %18, %cst : tensor<f32>
// CHECK-NEXT: %20 = stablehlo.bitcast_convert %19 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %21 = stablehlo.subtract %c_5, %20 : tensor<ui32>
// CHECK-NEXT: %22 = stablehlo.bitcast_convert %21 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %23 = stablehlo.divide %cst_13, %22 : tensor<f32>
// CHECK-NEXT: %24 = stablehlo.optimization_barrier %23 : tensor<f32>
// CHECK-NEXT: %25 = stablehlo.divide %iterArg_3, %24 : tensor<f32>
// CHECK-NEXT: %26 = stablehlo.multiply %iterArg_4, %24 : tensor<f32>
// CHECK-NEXT: %27 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %28 = stablehlo.multiply %4, %27 : tensor<8xf32>
// CHECK-NEXT: %29 = stablehlo.multiply %28, %iterArg_2 {scalify.forms = ["s10*s11"]} : tensor<8xf32>
// CHECK-NEXT: %cst_14 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// CHECK-NEXT: %cst_15 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// CHECK-NEXT: %30 = stablehlo.clamp %cst_14, %26, %cst_15 : tensor<f32>
// CHECK-NEXT: %31 = stablehlo.bitcast_convert %30 : (tensor<f32>) -> tensor<ui32>
// CHECK-NEXT: %c_16 = stablehlo.constant dense<2130706432> : tensor<ui32>
// CHECK-NEXT: %32 = stablehlo.subtract %c_16, %31 : tensor<ui32>
// CHECK-NEXT: %33 = stablehlo.bitcast_convert %32 : (tensor<ui32>) -> tensor<f32>
// CHECK-NEXT: %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %34 = stablehlo.divide %cst_17, %33 : tensor<f32>
// CHECK-NEXT: %35 = stablehlo.optimization_barrier %34 : tensor<f32>
// CHECK-NEXT: %36 = stablehlo.divide %26, %35 : tensor<f32>
// CHECK-NEXT: %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %38 = stablehlo.multiply %29, %37 : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %3, %38, %28, %35, %24 : tensor<i32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: return %1, %arg1, %2#1, %2#3, %2#2, %2#4 : tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @uncalled(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: return %arg0 : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// NARROW:      module {
// NARROW-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<8xf32>, %arg3: tensor<f32> {scalify.is_scale}, %arg4: tensor<i1>, %arg5: tensor<i32>) -> (tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}) {
// NARROW-NEXT: %0 = stablehlo.divide %arg3, %arg1 : tensor<f32>
// NARROW-NEXT: %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
// NARROW-NEXT: %1 = stablehlo.multiply %arg1, %cst : tensor<f32>
// NARROW-NEXT: %2 = "stablehlo.if"(%arg4) ({
// NARROW-NEXT: %c_2 = stablehlo.constant dense<2130706432> : tensor<ui32>
// NARROW-NEXT: %cst_3 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// NARROW-NEXT: %cst_4 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// NARROW-NEXT: %c_5 = stablehlo.constant dense<2139095039> : tensor<ui32>
// NARROW-NEXT: %c_6 = stablehlo.constant dense<1> : tensor<ui32>
// NARROW-NEXT: %c_7 = stablehlo.constant dense<4286578688> : tensor<ui32>
// NARROW-NEXT: %cst_8 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
// NARROW-NEXT: %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// NARROW-NEXT: %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// NARROW-NEXT: %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// NARROW-NEXT: %5 = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
// NARROW-NEXT: %6 = stablehlo.multiply %5, %5 : tensor<8xf32>
// NARROW-NEXT: %7 = stablehlo.is_finite %5 : (tensor<8xf32>) -> tensor<8xi1>
// NARROW-NEXT: %8 = stablehlo.select %7, %6, %cst_10 : tensor<8xi1>, tensor<8xf32>
// NARROW-NEXT: %9 = stablehlo.reduce(%8 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
// NARROW-NEXT: %10 = stablehlo.multiply %9, %cst_8 : tensor<f32>
// NARROW-NEXT: %11 = stablehlo.sqrt %10 : tensor<f32>
// NARROW-NEXT: %12 = stablehlo.bitcast_convert %11 : (tensor<f32>) -> tensor<ui32>
// NARROW-NEXT: %13 = stablehlo.and %12, %c_7 : tensor<ui32>
// NARROW-NEXT: %14 = stablehlo.subtract %13, %c_6 : tensor<ui32>
// NARROW-NEXT: %15 = stablehlo.compare LT, %14, %c_5 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// NARROW-NEXT: %16 = stablehlo.bitcast_convert %13 : (tensor<ui32>) -> tensor<f32>
// NARROW-NEXT: %17 = stablehlo.select %15, %16, %cst_11 : tensor<i1>, tensor<f32>
// NARROW-NEXT: %18 = stablehlo.multiply %17, %arg1 : tensor<f32>
// NARROW-NEXT: %19 = stablehlo.clamp %cst_4, %18, %cst_3 : tensor<f32>
// NARROW-NEXT: %20 = stablehlo.bitcast_convert %19 : (tensor<f32>) -> tensor<ui32>
// NARROW-NEXT: %21 = stablehlo.subtract %c_2, %20 : tensor<ui32>
// NARROW-NEXT: %22 = stablehlo.bitcast_convert %21 : (tensor<ui32>) -> tensor<f32>
// NARROW-NEXT: %23 = stablehlo.divide %cst_11, %22 : tensor<f32>
// NARROW-NEXT: %24 = stablehlo.optimization_barrier %23 : tensor<f32>
// NARROW-NEXT: %25 = stablehlo.divide %arg1, %24 : tensor<f32>
// NARROW-NEXT: %26 = stablehlo.multiply %arg3, %24 : tensor<f32>
// NARROW-NEXT: %27 = stablehlo.divide %26, %arg1 : tensor<f32>
// NARROW-NEXT: %28 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %29 = stablehlo.multiply %5, %28 : tensor<8xf32>
// NARROW-NEXT: %30 = stablehlo.multiply %29, %arg2 {scalify.forms = ["s1*s2 level 0.5"]} : tensor<8xf32>
// NARROW-NEXT: %31 = stablehlo.broadcast_in_dim %27, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %32 = stablehlo.multiply %30, %31 : tensor<8xf32>
// NARROW-NEXT: %33 = stablehlo.add %32, %arg0 {scalify.forms = ["s0 level 0.75"]} : tensor<8xf32>
// NARROW-NEXT: stablehlo.return %33 : tensor<8xf32>
// NARROW-NEXT: }, {
// NARROW-NEXT: %5 = stablehlo.negate %arg2 {scalify.forms = ["s1 level 0.5"]} : tensor<8xf32>
// NARROW-NEXT: %6 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %7 = stablehlo.multiply %5, %6 : tensor<8xf32>
// NARROW-NEXT: stablehlo.return %7 : tensor<8xf32>
// NARROW-NEXT: }) {scalify.forms = ["s0 level 0.75"]} : (tensor<i1>) -> tensor<8xf32>
// NARROW-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// NARROW-NEXT: %c_0 = stablehlo.constant dense<1> : tensor<i32>
// NARROW-NEXT: %3:5 = stablehlo.while(%iterArg = %c, %iterArg_2 = %arg0, %iterArg_3 = %arg2, %iterArg_4 = %arg1, %iterArg_5 = %arg3) : tensor<i32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32> attributes {scalify.forms = ["unscaled", "s13 level 0.5", "s14 level 0.5", "unscaled", "unscaled"]}
// NARROW-NEXT: cond {
// NARROW-NEXT: %5 = stablehlo.compare LT, %iterArg, %arg5 : (tensor<i32>, tensor<i32>) -> tensor<i1>
// NARROW-NEXT: stablehlo.return %5 : tensor<i1>
// NARROW-NEXT: } do {
// NARROW-NEXT: %c_6 = stablehlo.constant dense<2130706432> : tensor<ui32>
// NARROW-NEXT: %cst_7 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// NARROW-NEXT: %cst_8 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// NARROW-NEXT: %c_9 = stablehlo.constant dense<2139095039> : tensor<ui32>
// NARROW-NEXT: %c_10 = stablehlo.constant dense<1> : tensor<ui32>
// NARROW-NEXT: %c_11 = stablehlo.constant dense<4286578688> : tensor<ui32>
// NARROW-NEXT: %c_12 = stablehlo.constant dense<8388607> : tensor<ui32>
// NARROW-NEXT: %c_13 = stablehlo.constant dense<8388608> : tensor<i32>
// NARROW-NEXT: %c_14 = stablehlo.constant dense<8388608> : tensor<8xi32>
// NARROW-NEXT: %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// NARROW-NEXT: %5 = stablehlo.add %iterArg, %c_0 : tensor<i32>
// NARROW-NEXT: %6 = stablehlo.optimization_barrier %iterArg_2 : tensor<8xf32>
// NARROW-NEXT: %7 = stablehlo.abs %6 : tensor<8xf32>
// NARROW-NEXT: %8 = stablehlo.bitcast_convert %7 : (tensor<8xf32>) -> tensor<8xi32>
// NARROW-NEXT: %9 = stablehlo.add %8, %c_14 : tensor<8xi32>
// NARROW-NEXT: %10 = stablehlo.reduce(%9 init: %c_13) applies stablehlo.maximum across dimensions = [0] : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
// NARROW-NEXT: %11 = stablehlo.subtract %10, %c_13 : tensor<i32>
// NARROW-NEXT: %12 = stablehlo.bitcast_convert %11 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %13 = stablehlo.bitcast_convert %12 : (tensor<f32>) -> tensor<ui32>
// NARROW-NEXT: %14 = stablehlo.add %13, %c_12 : tensor<ui32>
// NARROW-NEXT: %15 = stablehlo.and %14, %c_11 : tensor<ui32>
// NARROW-NEXT: %16 = stablehlo.subtract %15, %c_10 : tensor<ui32>
// NARROW-NEXT: %17 = stablehlo.compare LT, %16, %c_9 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// NARROW-NEXT: %18 = stablehlo.bitcast_convert %15 : (tensor<ui32>) -> tensor<f32>
// NARROW-NEXT: %19 = stablehlo.select %17, %18, %cst_15 : tensor<i1>, tensor<f32>
// NARROW-NEXT: %20 = stablehlo.multiply %19, %iterArg_4 : tensor<f32>
// NARROW-NEXT: %21 = stablehlo.clamp %cst_8, %20, %cst_7 : tensor<f32>
// NARROW-NEXT: %22 = stablehlo.bitcast_convert %21 : (tensor<f32>) -> tensor<ui32>
// NARROW-NEXT: %23 = stablehlo.subtract %c_6, %22 : tensor<ui32>
// NARROW-NEXT: %24 = stablehlo.bitcast_convert %23 : (tensor<ui32>) -> tensor<f32>
// NARROW-NEXT: %25 = stablehlo.divide %cst_15, %24 : tensor<f32>
// NARROW-NEXT: %26 = stablehlo.optimization_barrier %25 : tensor<f32>
// NARROW-NEXT: %27 = stablehlo.divide %iterArg_4, %26 : tensor<f32>
// NARROW-NEXT: %28 = stablehlo.multiply %iterArg_5, %26 : tensor<f32>
// NARROW-NEXT: %29 = stablehlo.broadcast_in_dim %27, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %30 = stablehlo.multiply %6, %29 : tensor<8xf32>
// NARROW-NEXT: %31 = stablehlo.multiply %30, %iterArg_3 {scalify.forms = ["s10*s11 level 0.5"]} : tensor<8xf32>
// NARROW-NEXT: %cst_16 = stablehlo.constant dense<2.27373675E-13> : tensor<f32>
// NARROW-NEXT: %cst_17 = stablehlo.constant dense<4.39804651E+12> : tensor<f32>
// NARROW-NEXT: %32 = stablehlo.clamp %cst_16, %28, %cst_17 : tensor<f32>
// NARROW-NEXT: %33 = stablehlo.bitcast_convert %32 : (tensor<f32>) -> tensor<ui32>
// NARROW-NEXT: %c_18 = stablehlo.constant dense<2130706432> : tensor<ui32>
// NARROW-NEXT: %34 = stablehlo.subtract %c_18, %33 : tensor<ui32>
// NARROW-NEXT: %35 = stablehlo.bitcast_convert %34 : (tensor<ui32>) -> tensor<f32>
// NARROW-NEXT: %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// NARROW-NEXT: %36 = stablehlo.divide %cst_19, %35 : tensor<f32>
// NARROW-NEXT: %37 = stablehlo.optimization_barrier %36 : tensor<f32>
// NARROW-NEXT: %38 = stablehlo.divide %28, %37 : tensor<f32>
// NARROW-NEXT: %39 = stablehlo.broadcast_in_dim %38, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %40 = stablehlo.multiply %31, %39 : tensor<8xf32>
// NARROW-NEXT: stablehlo.return %5, %40, %30, %37, %26 : tensor<i32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>
// NARROW-NEXT: }
// NARROW-NEXT: %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<8xf32>
// NARROW-NEXT: %4 = stablehlo.multiply %2, %cst_1 : tensor<8xf32>
// NARROW-NEXT: return %4, %1, %3#1, %3#3, %3#2, %3#4 : tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>
// NARROW-NEXT: }
// NARROW-NEXT: func.func private @uncalled(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// NARROW-NEXT: return %arg0 : tensor<8xf32>
// NARROW-NEXT: }
// NARROW-NEXT: }

module {
  func.func @main(%x: tensor<8xf32> {scalify.pair}, %y: tensor<8xf32> {scalify.pair}, %p: tensor<i1>, %n: tensor<i32>)
      -> (tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}) {
    %0 = "stablehlo.if"(%p) ({
      %1 = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.statistic = "l2"} %x : tensor<8xf32>
      %2 = stablehlo.multiply %1, %y : tensor<8xf32>
      %3 = stablehlo.add %2, %x : tensor<8xf32>
      stablehlo.return %3 : tensor<8xf32>
    }, {
      %1 = stablehlo.negate %y : tensor<8xf32>
      stablehlo.return %1 : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %step = stablehlo.constant dense<1> : tensor<i32>
    %4:3 = stablehlo.while(%i = %zero, %a = %x, %b = %y) : tensor<i32>, tensor<8xf32>, tensor<8xf32>
      cond {
        %5 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %5 : tensor<i1>
      } do {
        %5 = stablehlo.add %i, %step : tensor<i32>
        %6 = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.statistic = "max"} %a : tensor<8xf32>
        %7 = stablehlo.multiply %6, %b : tensor<8xf32>
        stablehlo.return %5, %7, %6 : tensor<i32>, tensor<8xf32>, tensor<8xf32>
      }
    return %0, %4#1, %4#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  func.func private @uncalled(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.statistic = "l2"} %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
