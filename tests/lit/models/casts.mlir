// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-recognize{inputs=true},scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=UNIT
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{recipe=fp8})' \
// RUN:   | %filecheck %s --check-prefix=FP8
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{recipe=%S/Inputs/untrusted_wide.toml})' \
// RUN:   | %filecheck %s --check-prefix=WIDE

// Casts of a recipe: of constants within and beyond the range of a format, of values of which nothing
// is known, and of run-time scales.
// UNIT:      module {
// UNIT-NEXT: func.func @main(%arg0: tensor<16x16xf32>, %arg1: tensor<f32>, %arg2: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
// UNIT-NEXT: %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// UNIT-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
// UNIT-NEXT: %0 = stablehlo.multiply %arg1, %cst_2 : tensor<f32>
// UNIT-NEXT: %cst_3 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
// UNIT-NEXT: %1 = stablehlo.multiply %arg1, %cst_3 : tensor<f32>
// UNIT-NEXT: %cst_4 = stablehlo.constant dense<9.765625E-4> : tensor<f32>
// UNIT-NEXT: %2 = stablehlo.clamp %cst, %arg0, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %3 = stablehlo.convert %2 {scalify.forms = ["s0"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %cst_5 = stablehlo.constant dense<7.500000e-01> : tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %4 = stablehlo.dot_general %3, %cst_5, contracting_dims = [1] x [0] {scalify.forms = ["2^2*s0 level 1.58496"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %cst_6 = stablehlo.constant dense<0.732421875> : tensor<16x16xf32>
// UNIT-NEXT: %5 = stablehlo.clamp %cst, %cst_6, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %6 = stablehlo.convert %5 {scalify.forms = ["2^12"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %7 = stablehlo.dot_general %3, %6, contracting_dims = [1] x [0] {scalify.forms = ["2^12*s0 level 2"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %8 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %9 = stablehlo.multiply %arg0, %8 : tensor<16x16xf32>
// UNIT-NEXT: %10 = stablehlo.custom_call @given(%9) {scalify.forms = ["2^0"]} : (tensor<16x16xf32>) -> tensor<16x16xf32>
// UNIT-NEXT: %cst_7 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// UNIT-NEXT: %11 = stablehlo.optimization_barrier %10 : tensor<16x16xf32>
// UNIT-NEXT: %12 = stablehlo.abs %11 : tensor<16x16xf32>
// UNIT-NEXT: %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %13 = stablehlo.reduce(%12 init: %cst_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
// UNIT-NEXT: %14 = stablehlo.bitcast_convert %13 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %c = stablehlo.constant dense<8388607> : tensor<ui32>
// UNIT-NEXT: %15 = stablehlo.add %14, %c : tensor<ui32>
// UNIT-NEXT: %c_9 = stablehlo.constant dense<4286578688> : tensor<ui32>
// UNIT-NEXT: %16 = stablehlo.and %15, %c_9 : tensor<ui32>
// UNIT-NEXT: %c_10 = stablehlo.constant dense<1> : tensor<ui32>
// UNIT-NEXT: %17 = stablehlo.subtract %16, %c_10 : tensor<ui32>
// UNIT-NEXT: %c_11 = stablehlo.constant dense<2139095039> : tensor<ui32>
// UNIT-NEXT: %18 = stablehlo.compare LT, %17, %c_11 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// UNIT-NEXT: %19 = stablehlo.bitcast_convert %16 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %20 = stablehlo.select %18, %19, %cst_7 : tensor<i1>, tensor<f32>
// UNIT-NEXT: %cst_12 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// UNIT-NEXT: %21 = stablehlo.multiply %20, %cst_12 : tensor<f32>
// UNIT-NEXT: %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %22 = stablehlo.multiply %21, %cst_13 : tensor<f32>
// UNIT-NEXT: %cst_14 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// UNIT-NEXT: %cst_15 = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// UNIT-NEXT: %23 = stablehlo.clamp %cst_14, %22, %cst_15 : tensor<f32>
// UNIT-NEXT: %24 = stablehlo.bitcast_convert %23 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %c_16 = stablehlo.constant dense<2130706432> : tensor<ui32>
// UNIT-NEXT: %25 = stablehlo.subtract %c_16, %24 : tensor<ui32>
// UNIT-NEXT: %26 = stablehlo.bitcast_convert %25 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %27 = stablehlo.divide %cst_17, %26 : tensor<f32>
// UNIT-NEXT: %28 = stablehlo.optimization_barrier %27 : tensor<f32>
// UNIT-NEXT: %29 = stablehlo.divide %cst_1, %28 : tensor<f32>
// UNIT-NEXT: %30 = stablehlo.multiply %arg1, %28 : tensor<f32>
// UNIT-NEXT: %31 = stablehlo.broadcast_in_dim %29, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %32 = stablehlo.multiply %11, %31 : tensor<16x16xf32>
// UNIT-NEXT: %33 = stablehlo.clamp %cst, %32, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %34 = stablehlo.convert %33 {scalify.forms = ["s1 level 6"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %35 = stablehlo.dot_general %3, %34, contracting_dims = [1] x [0] {scalify.forms = ["s0*s1 level 8"], scalify.number = 3 : i64} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %36 = stablehlo.multiply %arg2, %arg2 {scalify.forms = ["2^0 level 4"]} : tensor<16x16xf32>
// UNIT-NEXT: %37 = stablehlo.multiply %36, %arg2 {scalify.forms = ["2^0 level 6"]} : tensor<16x16xf32>
// UNIT-NEXT: %cst_18 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<16x16xf32>
// UNIT-NEXT: %38 = stablehlo.add %37, %cst_18 {scalify.forms = ["2^0 level 6.00018"]} : tensor<16x16xf32>
// UNIT-NEXT: %cst_19 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// UNIT-NEXT: %39 = stablehlo.optimization_barrier %38 : tensor<16x16xf32>
// UNIT-NEXT: %40 = stablehlo.abs %39 : tensor<16x16xf32>
// UNIT-NEXT: %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// UNIT-NEXT: %41 = stablehlo.reduce(%40 init: %cst_20) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
// UNIT-NEXT: %42 = stablehlo.bitcast_convert %41 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %c_21 = stablehlo.constant dense<8388607> : tensor<ui32>
// UNIT-NEXT: %43 = stablehlo.add %42, %c_21 : tensor<ui32>
// UNIT-NEXT: %c_22 = stablehlo.constant dense<4286578688> : tensor<ui32>
// UNIT-NEXT: %44 = stablehlo.and %43, %c_22 : tensor<ui32>
// UNIT-NEXT: %c_23 = stablehlo.constant dense<1> : tensor<ui32>
// UNIT-NEXT: %45 = stablehlo.subtract %44, %c_23 : tensor<ui32>
// UNIT-NEXT: %c_24 = stablehlo.constant dense<2139095039> : tensor<ui32>
// UNIT-NEXT: %46 = stablehlo.compare LT, %45, %c_24 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// UNIT-NEXT: %47 = stablehlo.bitcast_convert %44 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %48 = stablehlo.select %46, %47, %cst_19 : tensor<i1>, tensor<f32>
// UNIT-NEXT: %cst_25 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// UNIT-NEXT: %49 = stablehlo.multiply %48, %cst_25 : tensor<f32>
// UNIT-NEXT: %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %50 = stablehlo.multiply %49, %cst_26 : tensor<f32>
// UNIT-NEXT: %cst_27 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// UNIT-NEXT: %cst_28 = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// UNIT-NEXT: %51 = stablehlo.clamp %cst_27, %50, %cst_28 : tensor<f32>
// UNIT-NEXT: %52 = stablehlo.bitcast_convert %51 : (tensor<f32>) -> tensor<ui32>
// UNIT-NEXT: %c_29 = stablehlo.constant dense<2130706432> : tensor<ui32>
// UNIT-NEXT: %53 = stablehlo.subtract %c_29, %52 : tensor<ui32>
// UNIT-NEXT: %54 = stablehlo.bitcast_convert %53 : (tensor<ui32>) -> tensor<f32>
// UNIT-NEXT: %cst_30 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// UNIT-NEXT: %55 = stablehlo.divide %cst_30, %54 : tensor<f32>
// UNIT-NEXT: %56 = stablehlo.optimization_barrier %55 : tensor<f32>
// UNIT-NEXT: %57 = stablehlo.divide %cst_1, %56 : tensor<f32>
// UNIT-NEXT: %58 = stablehlo.multiply %arg1, %56 : tensor<f32>
// UNIT-NEXT: %59 = stablehlo.multiply %56, %cst_4 : tensor<f32>
// UNIT-NEXT: %60 = stablehlo.broadcast_in_dim %57, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %61 = stablehlo.multiply %39, %60 : tensor<16x16xf32>
// UNIT-NEXT: %62 = stablehlo.clamp %cst, %61, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %63 = stablehlo.convert %62 {scalify.forms = ["s2 level 6"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %64 = stablehlo.dot_general %3, %63, contracting_dims = [1] x [0] {scalify.forms = ["s0*s2 level 8"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %cst_31 = stablehlo.constant dense<1.024000e+00> : tensor<16x16xf32>
// UNIT-NEXT: %65 = stablehlo.clamp %cst, %cst_31, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %66 = stablehlo.convert %65 {scalify.forms = ["2^-10"]} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// UNIT-NEXT: %67 = stablehlo.dot_general %63, %66, contracting_dims = [1] x [0] {scalify.forms = ["2^-10*s2 level 8"]} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// UNIT-NEXT: %68 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %69 = stablehlo.multiply %4, %68 : tensor<16x16xf32>
// UNIT-NEXT: %70 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %71 = stablehlo.multiply %7, %70 : tensor<16x16xf32>
// UNIT-NEXT: %72 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %73 = stablehlo.multiply %35, %72 : tensor<16x16xf32>
// UNIT-NEXT: %74 = stablehlo.broadcast_in_dim %58, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %75 = stablehlo.multiply %64, %74 : tensor<16x16xf32>
// UNIT-NEXT: %76 = stablehlo.broadcast_in_dim %59, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// UNIT-NEXT: %77 = stablehlo.multiply %67, %76 : tensor<16x16xf32>
// UNIT-NEXT: return %69, %71, %73, %75, %77 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
// UNIT-NEXT: }
// UNIT-NEXT: }
// FP8:      module {
// FP8-NEXT: func.func @main(%arg0: tensor<16x16xf32>, %arg1: tensor<f32>, %arg2: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
// FP8-NEXT: %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// FP8-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
// FP8-NEXT: %0 = stablehlo.multiply %arg1, %cst_2 : tensor<f32>
// FP8-NEXT: %cst_3 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
// FP8-NEXT: %1 = stablehlo.multiply %arg1, %cst_3 : tensor<f32>
// FP8-NEXT: %cst_4 = stablehlo.constant dense<9.765625E-4> : tensor<f32>
// FP8-NEXT: %2 = stablehlo.clamp %cst, %arg0, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %3 = stablehlo.convert %2 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %cst_5 = stablehlo.constant dense<7.500000e-01> : tensor<16x16xf8E4M3FN>
// FP8-NEXT: %4 = stablehlo.dot_general %3, %cst_5, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %cst_6 = stablehlo.constant dense<0.732421875> : tensor<16x16xf32>
// FP8-NEXT: %5 = stablehlo.clamp %cst, %cst_6, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %6 = stablehlo.convert %5 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %7 = stablehlo.dot_general %3, %6, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %8 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %9 = stablehlo.multiply %arg0, %8 : tensor<16x16xf32>
// FP8-NEXT: %10 = stablehlo.custom_call @given(%9) : (tensor<16x16xf32>) -> tensor<16x16xf32>
// FP8-NEXT: %cst_7 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// FP8-NEXT: %11 = stablehlo.optimization_barrier %10 : tensor<16x16xf32>
// FP8-NEXT: %12 = stablehlo.abs %11 : tensor<16x16xf32>
// FP8-NEXT: %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %13 = stablehlo.reduce(%12 init: %cst_8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %14 = stablehlo.bitcast_convert %13 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c = stablehlo.constant dense<8388607> : tensor<ui32>
// FP8-NEXT: %15 = stablehlo.add %14, %c : tensor<ui32>
// FP8-NEXT: %c_9 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %16 = stablehlo.and %15, %c_9 : tensor<ui32>
// FP8-NEXT: %c_10 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %17 = stablehlo.subtract %16, %c_10 : tensor<ui32>
// FP8-NEXT: %c_11 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %18 = stablehlo.compare LT, %17, %c_11 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %19 = stablehlo.bitcast_convert %16 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %20 = stablehlo.select %18, %19, %cst_7 : tensor<i1>, tensor<f32>
// FP8-NEXT: %cst_12 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// FP8-NEXT: %21 = stablehlo.multiply %20, %cst_12 : tensor<f32>
// FP8-NEXT: %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %22 = stablehlo.multiply %21, %cst_13 : tensor<f32>
// FP8-NEXT: %cst_14 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// FP8-NEXT: %cst_15 = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// FP8-NEXT: %23 = stablehlo.clamp %cst_14, %22, %cst_15 : tensor<f32>
// FP8-NEXT: %24 = stablehlo.bitcast_convert %23 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_16 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %25 = stablehlo.subtract %c_16, %24 : tensor<ui32>
// FP8-NEXT: %26 = stablehlo.bitcast_convert %25 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %27 = stablehlo.divide %cst_17, %26 : tensor<f32>
// FP8-NEXT: %28 = stablehlo.optimization_barrier %27 : tensor<f32>
// FP8-NEXT: %29 = stablehlo.divide %cst_1, %28 : tensor<f32>
// FP8-NEXT: %30 = stablehlo.multiply %arg1, %28 : tensor<f32>
// FP8-NEXT: %31 = stablehlo.broadcast_in_dim %29, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %32 = stablehlo.multiply %11, %31 : tensor<16x16xf32>
// FP8-NEXT: %33 = stablehlo.clamp %cst, %32, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %34 = stablehlo.convert %33 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %35 = stablehlo.dot_general %3, %34, contracting_dims = [1] x [0] {scalify.number = 3 : i64} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %36 = stablehlo.multiply %arg2, %arg2 : tensor<16x16xf32>
// FP8-NEXT: %37 = stablehlo.multiply %36, %arg2 : tensor<16x16xf32>
// FP8-NEXT: %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<16x16xf32>
// FP8-NEXT: %38 = stablehlo.add %37, %cst_18 : tensor<16x16xf32>
// FP8-NEXT: %cst_19 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// FP8-NEXT: %39 = stablehlo.optimization_barrier %38 : tensor<16x16xf32>
// FP8-NEXT: %40 = stablehlo.abs %39 : tensor<16x16xf32>
// FP8-NEXT: %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// FP8-NEXT: %41 = stablehlo.reduce(%40 init: %cst_20) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
// FP8-NEXT: %42 = stablehlo.bitcast_convert %41 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_21 = stablehlo.constant dense<8388607> : tensor<ui32>
// FP8-NEXT: %43 = stablehlo.add %42, %c_21 : tensor<ui32>
// FP8-NEXT: %c_22 = stablehlo.constant dense<4286578688> : tensor<ui32>
// FP8-NEXT: %44 = stablehlo.and %43, %c_22 : tensor<ui32>
// FP8-NEXT: %c_23 = stablehlo.constant dense<1> : tensor<ui32>
// FP8-NEXT: %45 = stablehlo.subtract %44, %c_23 : tensor<ui32>
// FP8-NEXT: %c_24 = stablehlo.constant dense<2139095039> : tensor<ui32>
// FP8-NEXT: %46 = stablehlo.compare LT, %45, %c_24 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// FP8-NEXT: %47 = stablehlo.bitcast_convert %44 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %48 = stablehlo.select %46, %47, %cst_19 : tensor<i1>, tensor<f32>
// FP8-NEXT: %cst_25 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// FP8-NEXT: %49 = stablehlo.multiply %48, %cst_25 : tensor<f32>
// FP8-NEXT: %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %50 = stablehlo.multiply %49, %cst_26 : tensor<f32>
// FP8-NEXT: %cst_27 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// FP8-NEXT: %cst_28 = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// FP8-NEXT: %51 = stablehlo.clamp %cst_27, %50, %cst_28 : tensor<f32>
// FP8-NEXT: %52 = stablehlo.bitcast_convert %51 : (tensor<f32>) -> tensor<ui32>
// FP8-NEXT: %c_29 = stablehlo.constant dense<2130706432> : tensor<ui32>
// FP8-NEXT: %53 = stablehlo.subtract %c_29, %52 : tensor<ui32>
// FP8-NEXT: %54 = stablehlo.bitcast_convert %53 : (tensor<ui32>) -> tensor<f32>
// FP8-NEXT: %cst_30 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// FP8-NEXT: %55 = stablehlo.divide %cst_30, %54 : tensor<f32>
// FP8-NEXT: %56 = stablehlo.optimization_barrier %55 : tensor<f32>
// FP8-NEXT: %57 = stablehlo.divide %cst_1, %56 : tensor<f32>
// FP8-NEXT: %58 = stablehlo.multiply %arg1, %56 : tensor<f32>
// FP8-NEXT: %59 = stablehlo.multiply %56, %cst_4 : tensor<f32>
// FP8-NEXT: %60 = stablehlo.broadcast_in_dim %57, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %61 = stablehlo.multiply %39, %60 : tensor<16x16xf32>
// FP8-NEXT: %62 = stablehlo.clamp %cst, %61, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %63 = stablehlo.convert %62 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %64 = stablehlo.dot_general %3, %63, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %cst_31 = stablehlo.constant dense<1.024000e+00> : tensor<16x16xf32>
// FP8-NEXT: %65 = stablehlo.clamp %cst, %cst_31, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %66 = stablehlo.convert %65 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// FP8-NEXT: %67 = stablehlo.dot_general %63, %66, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// FP8-NEXT: %68 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %69 = stablehlo.multiply %4, %68 : tensor<16x16xf32>
// FP8-NEXT: %70 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %71 = stablehlo.multiply %7, %70 : tensor<16x16xf32>
// FP8-NEXT: %72 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %73 = stablehlo.multiply %35, %72 : tensor<16x16xf32>
// FP8-NEXT: %74 = stablehlo.broadcast_in_dim %58, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %75 = stablehlo.multiply %64, %74 : tensor<16x16xf32>
// FP8-NEXT: %76 = stablehlo.broadcast_in_dim %59, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// FP8-NEXT: %77 = stablehlo.multiply %67, %76 : tensor<16x16xf32>
// FP8-NEXT: return %69, %71, %73, %75, %77 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
// FP8-NEXT: }
// FP8-NEXT: }
// WIDE:      module {
// WIDE-NEXT: func.func @main(%arg0: tensor<16x16xf32>, %arg1: tensor<f32>, %arg2: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
// WIDE-NEXT: %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// WIDE-NEXT: %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// WIDE-NEXT: %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// WIDE-NEXT: %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
// WIDE-NEXT: %0 = stablehlo.multiply %arg1, %cst_2 : tensor<f32>
// WIDE-NEXT: %cst_3 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
// WIDE-NEXT: %1 = stablehlo.multiply %arg1, %cst_3 : tensor<f32>
// WIDE-NEXT: %cst_4 = stablehlo.constant dense<9.765625E-4> : tensor<f32>
// WIDE-NEXT: %2 = stablehlo.clamp %cst, %arg0, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %3 = stablehlo.convert %2 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// WIDE-NEXT: %cst_5 = stablehlo.constant dense<7.500000e-01> : tensor<16x16xf8E4M3FN>
// WIDE-NEXT: %4 = stablehlo.dot_general %3, %cst_5, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// WIDE-NEXT: %cst_6 = stablehlo.constant dense<0.732421875> : tensor<16x16xf32>
// WIDE-NEXT: %5 = stablehlo.clamp %cst, %cst_6, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %6 = stablehlo.convert %5 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// WIDE-NEXT: %7 = stablehlo.dot_general %3, %6, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// WIDE-NEXT: %8 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %9 = stablehlo.multiply %arg0, %8 : tensor<16x16xf32>
// WIDE-NEXT: %10 = stablehlo.custom_call @given(%9) : (tensor<16x16xf32>) -> tensor<16x16xf32>
// WIDE-NEXT: %11 = stablehlo.clamp %cst, %10, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %12 = stablehlo.convert %11 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// WIDE-NEXT: %13 = stablehlo.dot_general %3, %12, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// WIDE-NEXT: %14 = stablehlo.multiply %arg2, %arg2 : tensor<16x16xf32>
// WIDE-NEXT: %15 = stablehlo.multiply %14, %arg2 : tensor<16x16xf32>
// WIDE-NEXT: %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<16x16xf32>
// WIDE-NEXT: %16 = stablehlo.add %15, %cst_7 : tensor<16x16xf32>
// WIDE-NEXT: %cst_8 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
// WIDE-NEXT: %17 = stablehlo.optimization_barrier %16 : tensor<16x16xf32>
// WIDE-NEXT: %18 = stablehlo.abs %17 : tensor<16x16xf32>
// WIDE-NEXT: %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// WIDE-NEXT: %19 = stablehlo.reduce(%18 init: %cst_9) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
// WIDE-NEXT: %20 = stablehlo.bitcast_convert %19 : (tensor<f32>) -> tensor<ui32>
// WIDE-NEXT: %c = stablehlo.constant dense<8388607> : tensor<ui32>
// WIDE-NEXT: %21 = stablehlo.add %20, %c : tensor<ui32>
// WIDE-NEXT: %c_10 = stablehlo.constant dense<4286578688> : tensor<ui32>
// WIDE-NEXT: %22 = stablehlo.and %21, %c_10 : tensor<ui32>
// WIDE-NEXT: %c_11 = stablehlo.constant dense<1> : tensor<ui32>
// WIDE-NEXT: %23 = stablehlo.subtract %22, %c_11 : tensor<ui32>
// WIDE-NEXT: %c_12 = stablehlo.constant dense<2139095039> : tensor<ui32>
// WIDE-NEXT: %24 = stablehlo.compare LT, %23, %c_12 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// WIDE-NEXT: %25 = stablehlo.bitcast_convert %22 : (tensor<ui32>) -> tensor<f32>
// WIDE-NEXT: %26 = stablehlo.select %24, %25, %cst_8 : tensor<i1>, tensor<f32>
// WIDE-NEXT: %cst_13 = stablehlo.constant dense<3.906250e-03> : tensor<f32>
// WIDE-NEXT: %27 = stablehlo.multiply %26, %cst_13 : tensor<f32>
// WIDE-NEXT: %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// WIDE-NEXT: %28 = stablehlo.multiply %27, %cst_14 : tensor<f32>
// WIDE-NEXT: %cst_15 = stablehlo.constant dense<7.88860905E-31> : tensor<f32>
// WIDE-NEXT: %cst_16 = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
// WIDE-NEXT: %29 = stablehlo.clamp %cst_15, %28, %cst_16 : tensor<f32>
// WIDE-NEXT: %30 = stablehlo.bitcast_convert %29 : (tensor<f32>) -> tensor<ui32>
// WIDE-NEXT: %c_17 = stablehlo.constant dense<2130706432> : tensor<ui32>
// WIDE-NEXT: %31 = stablehlo.subtract %c_17, %30 : tensor<ui32>
// WIDE-NEXT: %32 = stablehlo.bitcast_convert %31 : (tensor<ui32>) -> tensor<f32>
// WIDE-NEXT: %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// WIDE-NEXT: %33 = stablehlo.divide %cst_18, %32 : tensor<f32>
// WIDE-NEXT: %34 = stablehlo.optimization_barrier %33 : tensor<f32>
// WIDE-NEXT: %35 = stablehlo.divide %cst_1, %34 : tensor<f32>
// WIDE-NEXT: %36 = stablehlo.multiply %arg1, %34 : tensor<f32>
// WIDE-NEXT: %37 = stablehlo.multiply %34, %cst_4 : tensor<f32>
// WIDE-NEXT: %38 = stablehlo.broadcast_in_dim %35, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %39 = stablehlo.multiply %17, %38 : tensor<16x16xf32>
// WIDE-NEXT: %40 = stablehlo.clamp %cst, %39, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %41 = stablehlo.convert %40 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// WIDE-NEXT: %42 = stablehlo.dot_general %3, %41, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// WIDE-NEXT: %cst_19 = stablehlo.constant dense<1.024000e+00> : tensor<16x16xf32>
// WIDE-NEXT: %43 = stablehlo.clamp %cst, %cst_19, %cst_0 : (tensor<f32>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %44 = stablehlo.convert %43 : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
// WIDE-NEXT: %45 = stablehlo.dot_general %41, %44, contracting_dims = [1] x [0] : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
// WIDE-NEXT: %46 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %47 = stablehlo.multiply %4, %46 : tensor<16x16xf32>
// WIDE-NEXT: %48 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %49 = stablehlo.multiply %7, %48 : tensor<16x16xf32>
// WIDE-NEXT: %50 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %51 = stablehlo.multiply %13, %50 : tensor<16x16xf32>
// WIDE-NEXT: %52 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %53 = stablehlo.multiply %42, %52 : tensor<16x16xf32>
// WIDE-NEXT: %54 = stablehlo.broadcast_in_dim %37, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
// WIDE-NEXT: %55 = stablehlo.multiply %45, %54 : tensor<16x16xf32>
// WIDE-NEXT: return %47, %49, %51, %53, %55 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
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
