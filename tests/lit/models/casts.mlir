// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-recognize{inputs=true},scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{recipe=fp8})' \
// RUN:   | %filecheck %s --check-prefix=FP8
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{recipe=%S/Inputs/untrusted_wide.toml})' \
// RUN:   | %filecheck %s --check-prefix=WIDE

// Casts of a recipe: of constants within and beyond the range of a format, of values of which nothing
// is known, and of run-time scales.
// UNIT:      module {
// UNIT-NEXT: func.func @main(%arg0: tensor<16x16xf32>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
// UNIT-NEXT: %c = stablehlo.constant dense<2130706432> : tensor<ui32>
// UNIT-NEXT: %cst = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// UNIT-NEXT: %c_3 = stablehlo.constant dense<2139095039> : tensor<ui32>
// UNIT-NEXT: %c_4 = stablehlo.constant dense<1> : tensor<ui32>
// UNIT-NEXT: %c_5 = stablehlo.constant dense<4286578688> : tensor<ui32>
// UNIT-NEXT: %c_6 = stablehlo.constant dense<8388607> : tensor<ui32>
// UNIT-NEXT: %c_7 = stablehlo.constant dense<8388608> : tensor<i32>
// UNIT-NEXT: %c_8 = stablehlo.constant dense<8388608> : tensor<16x16xi32>
// UNIT-NEXT: %cst_9 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// UNIT-NEXT: %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<16x16xf32>
// UNIT-NEXT: %cst_11 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_12 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_14 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg1, %cst_14 : tensor<f32>
// UNIT-NEXT: %cst_15 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
// UNIT-NEXT: %1 = stablehlo.multiply %arg1, %cst_15 : tensor<f32>
// UNIT-NEXT: %cst_16 = stablehlo.constant dense<9.765625E-4> : tensor<f32>
// UNIT-NEXT: %2 = stablehlo.multiply %arg0, %cst_10 : tensor<16x16xf32>
// UNIT-NEXT: %3 = stablehlo.add %arg0, %2 : tensor<16x16xf32>
// UNIT-NEXT: %4 = stablehlo.clamp %cst_11, %3, %cst_12 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %5 = stablehlo.convert %4 {scalify.forms = ["s0 level 0.5"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %cst_17 = stablehlo.constant dense<7.500000e-01> : tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %6 = stablehlo.dot_general %5, %cst_17, contracting_dims = [1] x [0] {scalify.forms = ["2^2*s0 level 2.08496"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %cst_18 = stablehlo.constant dense<0.732421875> : tensor<16x16xf32>
// UNIT-NEXT: %7 = stablehlo.convert %cst_18 {scalify.forms = ["2^12"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %8 = stablehlo.dot_general %5, %7, contracting_dims = [1] x [0] {scalify.forms = ["2^12*s0 level 2.5"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %9 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %10 = stablehlo.multiply %arg0, %9 : tensor<16x16xf32>
// UNIT-NEXT: %11 = stablehlo.custom_call @given(%10) {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf32>
// UNIT-NEXT: %12 = stablehlo.optimization_barrier %11 : tensor<16x16xf32>
// UNIT-NEXT: %13 = stablehlo.abs %12 : tensor<16x16xf32>
// UNIT-NEXT: %14 = stablehlo.bitcast_convert %13 : (tensor<16x16xf32>) -> tensor<16x16xi32>
// UNIT-NEXT: %15 = stablehlo.add %14, %c_8 : tensor<16x16xi32>
// UNIT-NEXT: %16 = stablehlo.reduce(%15 init: %c_7) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xi32>, tensor<i32>) -> tensor<i32>
// UNIT-NEXT: %17 = stablehlo.subtract %16, %c_7 : tensor<i32>
// UNIT-NEXT: %18 = stablehlo.bitcast_convert %17 : (tensor<i32>) -> tensor<f32>
// UNIT-NEXT: %19 = stablehlo.bitcast_convert %18 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %20 = stablehlo.add %19, %c_6 : tensor<ui32>
// UNIT-NEXT: %21 = stablehlo.and %20, %c_5 : tensor<ui32>
// UNIT-NEXT: %22 = stablehlo.subtract %21, %c_4 : tensor<ui32>
// UNIT-NEXT: %23 = stablehlo.compare LT, %22, %c_3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// UNIT-NEXT: %24 = stablehlo.bitcast_convert %21 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %25 = stablehlo.select %23, %24, %cst_9 : tensor<i1>, tensor<f32>
// UNIT-NEXT: %26 = stablehlo.multiply %25, %cst_2 : tensor<f32>
// UNIT-NEXT: %27 = stablehlo.multiply %26, %cst_1 : tensor<f32>
// UNIT-NEXT: %28 = stablehlo.clamp %cst_0, %27, %cst : tensor<f32>
// UNIT-NEXT: %29 = stablehlo.bitcast_convert %28 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %30 = stablehlo.subtract %c, %29 : tensor<ui32>
// UNIT-NEXT: %31 = stablehlo.bitcast_convert %30 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %32 = stablehlo.divide %cst_1, %31 : tensor<f32>
// UNIT-NEXT: %33 = stablehlo.optimization_barrier %32 : tensor<f32>
// UNIT-NEXT: %34 = stablehlo.divide %cst_13, %33 : tensor<f32>
// UNIT-NEXT: %35 = stablehlo.multiply %arg1, %33 : tensor<f32>
// UNIT-NEXT: %36 = stablehlo.broadcast_in_dim %34, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %37 = stablehlo.multiply %12, %36 : tensor<16x16xf32>
// UNIT-NEXT: %38 = stablehlo.multiply %37, %cst_10 : tensor<16x16xf32>
// UNIT-NEXT: %39 = stablehlo.add %37, %38 : tensor<16x16xf32>
// UNIT-NEXT: %40 = stablehlo.clamp %cst_11, %39, %cst_12 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %41 = stablehlo.convert %40 {scalify.forms = ["s1 level 6"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %42 = stablehlo.dot_general %5, %41, contracting_dims = [1] x [0] {scalify.forms = ["s0*s1 level 8.5"], scalify.number = 3 : i64} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %43 = stablehlo.multiply %arg2, %arg2 {scalify.forms = ["2^0 level 4"]} : tensor<16x16xf32>
// UNIT-NEXT: %44 = stablehlo.multiply %43, %arg2 {scalify.forms = ["2^0 level 6"]} : tensor<16x16xf32>
// UNIT-NEXT: %cst_19 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<16x16xf32>
// UNIT-NEXT: %45 = stablehlo.add %44, %cst_19 {scalify.forms = ["2^0 level 6.00018"]} : tensor<16x16xf32>
// UNIT-NEXT: %46 = stablehlo.optimization_barrier %45 : tensor<16x16xf32>
// UNIT-NEXT: %47 = stablehlo.abs %46 : tensor<16x16xf32>
// UNIT-NEXT: %48 = stablehlo.bitcast_convert %47 : (tensor<16x16xf32>) -> tensor<16x16xi32>
// UNIT-NEXT: %49 = stablehlo.add %48, %c_8 : tensor<16x16xi32>
// UNIT-NEXT: %50 = stablehlo.reduce(%49 init: %c_7) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xi32>, tensor<i32>) -> tensor<i32>
// UNIT-NEXT: %51 = stablehlo.subtract %50, %c_7 : tensor<i32>
// UNIT-NEXT: %52 = stablehlo.bitcast_convert %51 : (tensor<i32>) -> tensor<f32>
// UNIT-NEXT: %53 = stablehlo.bitcast_convert %52 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %54 = stablehlo.add %53, %c_6 : tensor<ui32>
// UNIT-NEXT: %55 = stablehlo.and %54, %c_5 : tensor<ui32>
// UNIT-NEXT: %56 = stablehlo.subtract %55, %c_4 : tensor<ui32>
// UNIT-NEXT: %57 = stablehlo.compare LT, %56, %c_3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// UNIT-NEXT: %58 = stablehlo.bitcast_convert %55 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %59 = stablehlo.select %57, %58, %cst_9 : tensor<i1>, tensor<f32>
// UNIT-NEXT: %60 = stablehlo.multiply %59, %cst_2 : tensor<f32>
// UNIT-NEXT: %61 = stablehlo.multiply %60, %cst_1 : tensor<f32>
// UNIT-NEXT: %62 = stablehlo.clamp %cst_0, %61, %cst : tensor<f32>
// UNIT-NEXT: %63 = stablehlo.bitcast_convert %62 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %64 = stablehlo.subtract %c, %63 : tensor<ui32>
// UNIT-NEXT: %65 = stablehlo.bitcast_convert %64 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %66 = stablehlo.divide %cst_1, %65 : tensor<f32>
// UNIT-NEXT: %67 = stablehlo.optimization_barrier %66 : tensor<f32>
// UNIT-NEXT: %68 = stablehlo.divide %cst_13, %67 : tensor<f32>
// UNIT-NEXT: %69 = stablehlo.multiply %arg1, %67 : tensor<f32>
// UNIT-NEXT: %70 = stablehlo.multiply %67, %cst_16 : tensor<f32>
// UNIT-NEXT: %71 = stablehlo.broadcast_in_dim %68, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %72 = stablehlo.multiply %46, %71 : tensor<16x16xf32>
// UNIT-NEXT: %73 = stablehlo.multiply %72, %cst_10 : tensor<16x16xf32>
// UNIT-NEXT: %74 = stablehlo.add %72, %73 : tensor<16x16xf32>
// UNIT-NEXT: %75 = stablehlo.clamp %cst_11, %74, %cst_12 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %76 = stablehlo.convert %75 {scalify.forms = ["s2 level 6"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %77 = stablehlo.dot_general %5, %76, contracting_dims = [1] x [0] {scalify.forms = ["s0*s2 level 8.5"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %cst_20 = stablehlo.constant dense<1.024000e+00> : tensor<16x16xf32>
// UNIT-NEXT: %78 = stablehlo.convert %cst_20 {scalify.forms = ["2^-10"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %79 = stablehlo.dot_general %76, %78, contracting_dims = [1] x [0] {scalify.forms = ["2^-10*s2 level 8"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %80 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %81 = stablehlo.multiply %6, %80 : tensor<16x16xf32>
// UNIT-NEXT: %82 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %83 = stablehlo.multiply %8, %82 : tensor<16x16xf32>
// UNIT-NEXT: %84 = stablehlo.broadcast_in_dim %35, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %85 = stablehlo.multiply %42, %84 : tensor<16x16xf32>
// UNIT-NEXT: %86 = stablehlo.broadcast_in_dim %69, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %87 = stablehlo.multiply %77, %86 : tensor<16x16xf32>
// UNIT-NEXT: %88 = stablehlo.broadcast_in_dim %70, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %89 = stablehlo.multiply %79, %88 : tensor<16x16xf32>
// UNIT-NEXT: return %81, %83, %85, %87, %89 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module {
// FP8-NEXT: func.func @main(%arg0: tensor<16x16xf32>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
// FP8-NEXT: %c = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %cst = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// FP8-NEXT: %c_3 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %c_4 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %c_5 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %c_6 = stablehlo.constant dense<8388607> : tensor<ui32>
// FP8-NEXT: %c_7 = stablehlo.constant dense<8388608> : tensor<i32>
// FP8-NEXT: %c_8 = stablehlo.constant dense<8388608> : tensor<16x16xi32>
// FP8-NEXT: %cst_9 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// FP8-NEXT: %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<16x16xf32>
// FP8-NEXT: %cst_11 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_12 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_14 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg1, %cst_14 : tensor<f32>
// FP8-NEXT: %cst_15 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
// FP8-NEXT: %1 = stablehlo.multiply %arg1, %cst_15 : tensor<f32>
// FP8-NEXT: %cst_16 = stablehlo.constant dense<9.765625E-4> : tensor<f32>
// FP8-NEXT: %2 = stablehlo.multiply %arg0, %cst_10 : tensor<16x16xf32>
// FP8-NEXT: %3 = stablehlo.add %arg0, %2 : tensor<16x16xf32>
// FP8-NEXT: %4 = stablehlo.clamp %cst_11, %3, %cst_12 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %5 = stablehlo.convert %4 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %cst_17 = stablehlo.constant dense<7.500000e-01> : tensor<16x16xf8E4M3FN>
// FP8-NEXT: %6 = stablehlo.dot_general %5, %cst_17, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %cst_18 = stablehlo.constant dense<0.732421875> : tensor<16x16xf32>
// FP8-NEXT: %7 = stablehlo.convert %cst_18 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %8 = stablehlo.dot_general %5, %7, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %9 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %10 = stablehlo.multiply %arg0, %9 : tensor<16x16xf32>
// FP8-NEXT: %11 = stablehlo.custom_call @given(%10) : (tensor<16x16xf32>) -> tensor<16x16xf32>
// FP8-NEXT: %12 = stablehlo.optimization_barrier %11 : tensor<16x16xf32>
// FP8-NEXT: %13 = stablehlo.abs %12 : tensor<16x16xf32>
// FP8-NEXT: %14 = stablehlo.bitcast_convert %13 : (tensor<16x16xf32>) -> tensor<16x16xi32>
// FP8-NEXT: %15 = stablehlo.add %14, %c_8 : tensor<16x16xi32>
// FP8-NEXT: %16 = stablehlo.reduce(%15 init: %c_7) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xi32>, tensor<i32>) -> tensor<i32>
// FP8-NEXT: %17 = stablehlo.subtract %16, %c_7 : tensor<i32>
// FP8-NEXT: %18 = stablehlo.bitcast_convert %17 : (tensor<i32>) -> tensor<f32>
// FP8-NEXT: %19 = stablehlo.bitcast_convert %18 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %20 = stablehlo.add %19, %c_6 : tensor<ui32>
// FP8-NEXT: %21 = stablehlo.and %20, %c_5 : tensor<ui32>
// FP8-NEXT: %22 = stablehlo.subtract %21, %c_4 : tensor<ui32>
// FP8-NEXT: %23 = stablehlo.compare LT, %22, %c_3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %24 = stablehlo.bitcast_convert %21 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %25 = stablehlo.select %23, %24, %cst_9 : tensor<i1>, tensor<f32>
// FP8-NEXT: %26 = stablehlo.multiply %25, %cst_2 : tensor<f32>
// FP8-NEXT: %27 = stablehlo.multiply %26, %cst_1 : tensor<f32>
// FP8-NEXT: %28 = stablehlo.clamp %cst_0, %27, %cst : tensor<f32>
// FP8-NEXT: %29 = stablehlo.bitcast_convert %28 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %30 = stablehlo.subtract %c, %29 : tensor<ui32>
// FP8-NEXT: %31 = stablehlo.bitcast_convert %30 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %32 = stablehlo.divide %cst_1, %31 : tensor<f32>
// FP8-NEXT: %33 = stablehlo.optimization_barrier %32 : tensor<f32>
// FP8-NEXT: %34 = stablehlo.divide %cst_13, %33 : tensor<f32>
// FP8-NEXT: %35 = stablehlo.multiply %arg1, %33 : tensor<f32>
// FP8-NEXT: %36 = stablehlo.broadcast_in_dim %34, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %37 = stablehlo.multiply %12, %36 : tensor<16x16xf32>
// FP8-NEXT: %38 = stablehlo.multiply %37, %cst_10 : tensor<16x16xf32>
// FP8-NEXT: %39 = stablehlo.add %37, %38 : tensor<16x16xf32>
// FP8-NEXT: %40 = stablehlo.clamp %cst_11, %39, %cst_12 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %41 = stablehlo.convert %40 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %42 = stablehlo.dot_general %5, %41, contracting_dims = [1] x [0] {scalify.number = 3 : i64} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %43 = stablehlo.multiply %arg2, %arg2 : tensor<16x16xf32>
// FP8-NEXT: %44 = stablehlo.multiply %43, %arg2 : tensor<16x16xf32>
// FP8-NEXT: %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<16x16xf32>
// FP8-NEXT: %45 = stablehlo.add %44, %cst_19 : tensor<16x16xf32>
// FP8-NEXT: %46 = stablehlo.optimization_barrier %45 : tensor<16x16xf32>
// FP8-NEXT: %47 = stablehlo.abs %46 : tensor<16x16xf32>
// FP8-NEXT: %48 = stablehlo.bitcast_convert %47 : (tensor<16x16xf32>) -> tensor<16x16xi32>
// FP8-NEXT: %49 = stablehlo.add %48, %c_8 : tensor<16x16xi32>
// FP8-NEXT: %50 = stablehlo.reduce(%49 init: %c_7) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xi32>, tensor<i32>) -> tensor<i32>
// FP8-NEXT: %51 = stablehlo.subtract %50, %c_7 : tensor<i32>
// FP8-NEXT: %52 = stablehlo.bitcast_convert %51 : (tensor<i32>) -> tensor<f32>
// FP8-NEXT: %53 = stablehlo.bitcast_convert %52 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %54 = stablehlo.add %53, %c_6 : tensor<ui32>
// FP8-NEXT: %55 = stablehlo.and %54, %c_5 : tensor<ui32>
// FP8-NEXT: %56 = stablehlo.subtract %55, %c_4 : tensor<ui32>
// FP8-NEXT: %57 = stablehlo.compare LT, %56, %c_3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %58 = stablehlo.bitcast_convert %55 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %59 = stablehlo.select %57, %58, %cst_9 : tensor<i1>, tensor<f32>
// FP8-NEXT: %60 = stablehlo.multiply %59, %cst_2 : tensor<f32>
// FP8-NEXT: %61 = stablehlo.multiply %60, %cst_1 : tensor<f32>
// FP8-NEXT: %62 = stablehlo.clamp %cst_0, %61, %cst : tensor<f32>
// FP8-NEXT: %63 = stablehlo.bitcast_convert %62 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %64 = stablehlo.subtract %c, %63 : tensor<ui32>
// FP8-NEXT: %65 = stablehlo.bitcast_convert %64 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %66 = stablehlo.divide %cst_1, %65 : tensor<f32>
// FP8-NEXT: %67 = stablehlo.optimization_barrier %66 : tensor<f32>
// FP8-NEXT: %68 = stablehlo.divide %cst_13, %67 : tensor<f32>
// FP8-NEXT: %69 = stablehlo.multiply %arg1, %67 : tensor<f32>
// FP8-NEXT: %70 = stablehlo.multiply %67, %cst_16 : tensor<f32>
// FP8-NEXT: %71 = stablehlo.broadcast_in_dim %68, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %72 = stablehlo.multiply %46, %71 : tensor<16x16xf32>
// FP8-NEXT: %73 = stablehlo.multiply %72, %cst_10 : tensor<16x16xf32>
// FP8-NEXT: %74 = stablehlo.add %72, %73 : tensor<16x16xf32>
// FP8-NEXT: %75 = stablehlo.clamp %cst_11, %74, %cst_12 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %76 = stablehlo.convert %75 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %77 = stablehlo.dot_general %5, %76, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %cst_20 = stablehlo.constant dense<1.024000e+00> : tensor<16x16xf32>
// FP8-NEXT: %78 = stablehlo.convert %cst_20 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %79 = stablehlo.dot_general %76, %78, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %80 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %81 = stablehlo.multiply %6, %80 : tensor<16x16xf32>
// FP8-NEXT: %82 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %83 = stablehlo.multiply %8, %82 : tensor<16x16xf32>
// FP8-NEXT: %84 = stablehlo.broadcast_in_dim %35, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %85 = stablehlo.multiply %42, %84 : tensor<16x16xf32>
// FP8-NEXT: %86 = stablehlo.broadcast_in_dim %69, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %87 = stablehlo.multiply %77, %86 : tensor<16x16xf32>
// FP8-NEXT: %88 = stablehlo.broadcast_in_dim %70, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %89 = stablehlo.multiply %79, %88 : tensor<16x16xf32>
// FP8-NEXT: return %81, %83, %85, %87, %89 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
// FP8-NEXT: }
// FP8-NEXT: }
// WIDE:      module {
// WIDE-NEXT: func.func @main(%arg0: tensor<16x16xf32>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
// WIDE-NEXT: %c = stablehlo.constant dense<2130706432> : tensor<ui32>
// WIDE-NEXT: %cst = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// WIDE-NEXT: %cst_0 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// WIDE-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// WIDE-NEXT: %cst_2 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// WIDE-NEXT: %c_3 = stablehlo.constant dense<2139095039> : tensor<ui32>
// WIDE-NEXT: %c_4 = stablehlo.constant dense<1> : tensor<ui32>
// WIDE-NEXT: %c_5 = stablehlo.constant dense<4286578688> : tensor<ui32>
// WIDE-NEXT: %c_6 = stablehlo.constant dense<8388607> : tensor<ui32>
// WIDE-NEXT: %c_7 = stablehlo.constant dense<8388608> : tensor<i32>
// WIDE-NEXT: %c_8 = stablehlo.constant dense<8388608> : tensor<16x16xi32>
// WIDE-NEXT: %cst_9 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// WIDE-NEXT: %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<16x16xf32>
// WIDE-NEXT: %cst_11 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// WIDE-NEXT: %cst_12 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// WIDE-NEXT: %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// WIDE-NEXT: %cst_14 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
// WIDE-NEXT: %0 = stablehlo.multiply %arg1, %cst_14 : tensor<f32>
// WIDE-NEXT: %cst_15 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
// WIDE-NEXT: %1 = stablehlo.multiply %arg1, %cst_15 : tensor<f32>
// WIDE-NEXT: %cst_16 = stablehlo.constant dense<9.765625E-4> : tensor<f32>
// WIDE-NEXT: %2 = stablehlo.multiply %arg0, %cst_10 : tensor<16x16xf32>
// WIDE-NEXT: %3 = stablehlo.add %arg0, %2 : tensor<16x16xf32>
// WIDE-NEXT: %4 = stablehlo.clamp %cst_11, %3, %cst_12 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %5 = stablehlo.convert %4 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// WIDE-NEXT: %cst_17 = stablehlo.constant dense<7.500000e-01> : tensor<16x16xf8E4M3FN>
// WIDE-NEXT: %6 = stablehlo.dot_general %5, %cst_17, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// WIDE-NEXT: %cst_18 = stablehlo.constant dense<0.732421875> : tensor<16x16xf32>
// WIDE-NEXT: %7 = stablehlo.convert %cst_18 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// WIDE-NEXT: %8 = stablehlo.dot_general %5, %7, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// WIDE-NEXT: %9 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %10 = stablehlo.multiply %arg0, %9 : tensor<16x16xf32>
// WIDE-NEXT: %11 = stablehlo.custom_call @given(%10) : (tensor<16x16xf32>) -> tensor<16x16xf32>
// WIDE-NEXT: %12 = stablehlo.multiply %11, %cst_10 : tensor<16x16xf32>
// WIDE-NEXT: %13 = stablehlo.add %11, %12 : tensor<16x16xf32>
// WIDE-NEXT: %14 = stablehlo.clamp %cst_11, %13, %cst_12 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %15 = stablehlo.convert %14 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// WIDE-NEXT: %16 = stablehlo.dot_general %5, %15, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// WIDE-NEXT: %17 = stablehlo.multiply %arg2, %arg2 : tensor<16x16xf32>
// WIDE-NEXT: %18 = stablehlo.multiply %17, %arg2 : tensor<16x16xf32>
// WIDE-NEXT: %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<16x16xf32>
// WIDE-NEXT: %19 = stablehlo.add %18, %cst_19 : tensor<16x16xf32>
// WIDE-NEXT: %20 = stablehlo.optimization_barrier %19 : tensor<16x16xf32>
// WIDE-NEXT: %21 = stablehlo.abs %20 : tensor<16x16xf32>
// WIDE-NEXT: %22 = stablehlo.bitcast_convert %21 : (tensor<16x16xf32>) -> tensor<16x16xi32>
// WIDE-NEXT: %23 = stablehlo.add %22, %c_8 : tensor<16x16xi32>
// WIDE-NEXT: %24 = stablehlo.reduce(%23 init: %c_7) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xi32>, tensor<i32>) -> tensor<i32>
// WIDE-NEXT: %25 = stablehlo.subtract %24, %c_7 : tensor<i32>
// WIDE-NEXT: %26 = stablehlo.bitcast_convert %25 : (tensor<i32>) -> tensor<f32>
// WIDE-NEXT: %27 = stablehlo.bitcast_convert %26 : (tensor<f32>) -> tensor<ui32>
// WIDE-NEXT: %28 = stablehlo.add %27, %c_6 : tensor<ui32>
// WIDE-NEXT: %29 = stablehlo.and %28, %c_5 : tensor<ui32>
// WIDE-NEXT: %30 = stablehlo.subtract %29, %c_4 : tensor<ui32>
// WIDE-NEXT: %31 = stablehlo.compare LT, %30, %c_3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// WIDE-NEXT: %32 = stablehlo.bitcast_convert %29 : (tensor<ui32>) -> tensor<f32>
// WIDE-NEXT: %33 = stablehlo.select %31, %32, %cst_9 : tensor<i1>, tensor<f32>
// WIDE-NEXT: %34 = stablehlo.multiply %33, %cst_2 : tensor<f32>
// WIDE-NEXT: %35 = stablehlo.multiply %34, %cst_1 : tensor<f32>
// WIDE-NEXT: %36 = stablehlo.clamp %cst_0, %35, %cst : tensor<f32>
// WIDE-NEXT: %37 = stablehlo.bitcast_convert %36 : (tensor<f32>) -> tensor<ui32>
// WIDE-NEXT: %38 = stablehlo.subtract %c, %37 : tensor<ui32>
// WIDE-NEXT: %39 = stablehlo.bitcast_convert %38 : (tensor<ui32>) -> tensor<f32>
// WIDE-NEXT: %40 = stablehlo.divide %cst_1, %39 : tensor<f32>
// WIDE-NEXT: %41 = stablehlo.optimization_barrier %40 : tensor<f32>
// WIDE-NEXT: %42 = stablehlo.divide %cst_13, %41 : tensor<f32>
// WIDE-NEXT: %43 = stablehlo.multiply %arg1, %41 : tensor<f32>
// WIDE-NEXT: %44 = stablehlo.multiply %41, %cst_16 : tensor<f32>
// WIDE-NEXT: %45 = stablehlo.broadcast_in_dim %42, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %46 = stablehlo.multiply %20, %45 : tensor<16x16xf32>
// WIDE-NEXT: %47 = stablehlo.multiply %46, %cst_10 : tensor<16x16xf32>
// WIDE-NEXT: %48 = stablehlo.add %46, %47 : tensor<16x16xf32>
// WIDE-NEXT: %49 = stablehlo.clamp %cst_11, %48, %cst_12 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %50 = stablehlo.convert %49 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// WIDE-NEXT: %51 = stablehlo.dot_general %5, %50, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// WIDE-NEXT: %cst_20 = stablehlo.constant dense<1.024000e+00> : tensor<16x16xf32>
// WIDE-NEXT: %52 = stablehlo.convert %cst_20 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// WIDE-NEXT: %53 = stablehlo.dot_general %50, %52, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// WIDE-NEXT: %54 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %55 = stablehlo.multiply %6, %54 : tensor<16x16xf32>
// WIDE-NEXT: %56 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %57 = stablehlo.multiply %8, %56 : tensor<16x16xf32>
// WIDE-NEXT: %58 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %59 = stablehlo.multiply %16, %58 : tensor<16x16xf32>
// WIDE-NEXT: %60 = stablehlo.broadcast_in_dim %43, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %61 = stablehlo.multiply %51, %60 : tensor<16x16xf32>
// WIDE-NEXT: %62 = stablehlo.broadcast_in_dim %44, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %63 = stablehlo.multiply %53, %62 : tensor<16x16xf32>
// WIDE-NEXT: return %55, %57, %59, %61, %63 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
// WIDE-NEXT: }
// WIDE-NEXT: }

module {
  func.func @main(%x: tensor<16x16xf32> {scalify.pair}, %y: tensor<16x16xf32> {scalify.scale = 2 : i64}) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
    %a = stablehlo.convert %x {scalify.cast = "data"} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
    %within = stablehlo.constant dense<3.0> : tensor<16x16xf32>
    %b = stablehlo.convert %within {scalify.cast = "data"} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
    %beyond = stablehlo.constant dense<3000.0> : tensor<16x16xf32>
    %c = stablehlo.convert %beyond {scalify.cast = "data"} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
    %1 = stablehlo.dot_general %a, %c, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
    %unknown = stablehlo.custom_call @given(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %d = stablehlo.convert %unknown {scalify.cast = "data"} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
    %2 = stablehlo.dot_general %a, %d, contracting_dims = [1] x [0] {scalify.number = 3 : i64} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
    %square = stablehlo.multiply %y, %y : tensor<16x16xf32>
    %cube = stablehlo.multiply %square, %y : tensor<16x16xf32>
    %one = stablehlo.constant dense<1.0> : tensor<16x16xf32>
    %sum = stablehlo.add %cube, %one : tensor<16x16xf32>
    %e = stablehlo.convert %sum {scalify.cast = "data"} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
    %3 = stablehlo.dot_general %a, %e, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
    %least = stablehlo.constant dense<1.000000e-03> : tensor<16x16xf32>
    %f = stablehlo.convert %least {scalify.cast = "data"} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
    %4 = stablehlo.dot_general %e, %f, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
    return %0, %1, %2, %3, %4 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  }
}
