// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=WIDE
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=NARROW

// High powers of values, their quotients and sums with constants: scales do not follow all of them.
// WIDE:      module {
// WIDE-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<8xf32>, %arg3: tensor<f32> {scalify.is_scale}, %arg4: tensor<8xf32>, %arg5: tensor<f32> {scalify.is_scale}, %arg6: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>) {
// WIDE-NEXT: %0 = stablehlo.multiply %arg1, %arg1 : tensor<f32>
// WIDE-NEXT: %1 = stablehlo.multiply %0, %arg1 : tensor<f32>
// WIDE-NEXT: %2 = stablehlo.multiply %1, %arg1 : tensor<f32>
// WIDE-NEXT: %3 = stablehlo.multiply %arg3, %arg3 : tensor<f32>
// WIDE-NEXT: %4 = stablehlo.multiply %3, %arg3 : tensor<f32>
// WIDE-NEXT: %5 = stablehlo.multiply %4, %arg3 : tensor<f32>
// WIDE-NEXT: %6 = stablehlo.multiply %arg1, %arg3 : tensor<f32>
// WIDE-NEXT: %7 = stablehlo.multiply %6, %arg1 : tensor<f32>
// WIDE-NEXT: %8 = stablehlo.multiply %6, %arg5 : tensor<f32>
// WIDE-NEXT: %9 = stablehlo.divide %arg3, %arg1 : tensor<f32>
// WIDE-NEXT: %10 = stablehlo.divide %arg5, %arg1 : tensor<f32>
// WIDE-NEXT: %11 = stablehlo.divide %0, %3 : tensor<f32>
// WIDE-NEXT: %12 = stablehlo.multiply %11, %11 : tensor<f32>
// WIDE-NEXT: %cst = stablehlo.constant dense<1.17549435E-38> : tensor<f32>
// WIDE-NEXT: %cst_0 = stablehlo.constant dense<8.50705917E+37> : tensor<f32>
// WIDE-NEXT: %13 = stablehlo.clamp %cst, %12, %cst_0 : tensor<f32>
// WIDE-NEXT: %14 = stablehlo.divide %11, %13 : tensor<f32>
// WIDE-NEXT: %15 = stablehlo.multiply %14, %11 : tensor<f32>
// WIDE-NEXT: %16 = stablehlo.multiply %7, %arg3 : tensor<f32>
// WIDE-NEXT: %17 = stablehlo.multiply %16, %16 : tensor<f32>
// WIDE-NEXT: %18 = stablehlo.clamp %cst, %17, %cst_0 : tensor<f32>
// WIDE-NEXT: %19 = stablehlo.divide %16, %18 : tensor<f32>
// WIDE-NEXT: %20 = stablehlo.multiply %19, %16 : tensor<f32>
// WIDE-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<8xf32>
// WIDE-NEXT: %21 = stablehlo.multiply %arg0, %arg0 {scalify.forms = ["s0^2"]} : tensor<8xf32>
// WIDE-NEXT: %22 = stablehlo.multiply %21, %21 {scalify.forms = ["s0^4"]} : tensor<8xf32>
// WIDE-NEXT: %23 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %24 = stablehlo.multiply %22, %23 : tensor<8xf32>
// WIDE-NEXT: %25 = stablehlo.multiply %24, %22 {scalify.forms = ["s0^4"]} : tensor<8xf32>
// WIDE-NEXT: %26 = stablehlo.multiply %arg2, %arg2 {scalify.forms = ["s1^2"]} : tensor<8xf32>
// WIDE-NEXT: %27 = stablehlo.multiply %26, %26 {scalify.forms = ["s1^4"]} : tensor<8xf32>
// WIDE-NEXT: %28 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %29 = stablehlo.multiply %27, %28 : tensor<8xf32>
// WIDE-NEXT: %30 = stablehlo.multiply %29, %27 {scalify.forms = ["s1^4"]} : tensor<8xf32>
// WIDE-NEXT: %31 = stablehlo.divide %25, %30 {scalify.forms = ["s0^4*s1^-4"]} : tensor<8xf32>
// WIDE-NEXT: %32 = stablehlo.multiply %25, %30 {scalify.forms = ["s0^4*s1^4"]} : tensor<8xf32>
// WIDE-NEXT: %33 = stablehlo.multiply %arg0, %arg2 {scalify.forms = ["s0*s1"]} : tensor<8xf32>
// WIDE-NEXT: %34 = stablehlo.multiply %33, %arg4 {scalify.forms = ["s0*s1*s2"]} : tensor<8xf32>
// WIDE-NEXT: %35 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %36 = stablehlo.multiply %33, %35 : tensor<8xf32>
// WIDE-NEXT: %37 = stablehlo.add %36, %cst_1 {scalify.forms = ["2^0"]} : tensor<8xf32>
// WIDE-NEXT: %38 = stablehlo.multiply %37, %arg0 {scalify.forms = ["s0"]} : tensor<8xf32>
// WIDE-NEXT: %39 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %40 = stablehlo.multiply %38, %39 : tensor<8xf32>
// WIDE-NEXT: %41 = stablehlo.add %cst_1, %40 {scalify.forms = ["2^0"]} : tensor<8xf32>
// WIDE-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.500000e-01> : tensor<8xf32>
// WIDE-NEXT: %42 = stablehlo.multiply %38, %33 {scalify.forms = ["s0^2*s1"]} : tensor<8xf32>
// WIDE-NEXT: %43 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %44 = stablehlo.multiply %42, %43 : tensor<8xf32>
// WIDE-NEXT: %45 = stablehlo.add %cst_2, %44 {scalify.forms = ["2^0"]} : tensor<8xf32>
// WIDE-NEXT: %46 = stablehlo.add %arg6, %cst_1 {scalify.forms = ["2^0 level 12"]} : tensor<8xf32>
// WIDE-NEXT: %47 = stablehlo.multiply %arg6, %arg6 {scalify.forms = ["2^0 level 24"]} : tensor<8xf32>
// WIDE-NEXT: %48 = stablehlo.subtract %cst_1, %47 {scalify.forms = ["2^0 level 24"]} : tensor<8xf32>
// WIDE-NEXT: %49 = stablehlo.divide %cst_1, %arg0 {scalify.forms = ["s0^-1"]} : tensor<8xf32>
// WIDE-NEXT: %50 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %51 = stablehlo.multiply %25, %50 : tensor<8xf32>
// WIDE-NEXT: %52 = stablehlo.divide %51, %49 {scalify.forms = ["s0"]} : tensor<8xf32>
// WIDE-NEXT: %53 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %54 = stablehlo.multiply %34, %53 : tensor<8xf32>
// WIDE-NEXT: %55 = stablehlo.multiply %54, %34 {scalify.forms = ["s0*s1*s2"]} : tensor<8xf32>
// WIDE-NEXT: %56 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %57 = stablehlo.multiply %arg2, %56 : tensor<8xf32>
// WIDE-NEXT: %58 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %59 = stablehlo.multiply %arg4, %58 : tensor<8xf32>
// WIDE-NEXT: %60 = stablehlo.clamp %arg0, %57, %59 {scalify.forms = ["s0"]} : tensor<8xf32>
// WIDE-NEXT: %61 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %62 = stablehlo.multiply %31, %61 : tensor<8xf32>
// WIDE-NEXT: %63 = stablehlo.broadcast_in_dim %20, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %64 = stablehlo.multiply %32, %63 : tensor<8xf32>
// WIDE-NEXT: %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// WIDE-NEXT: return %45, %62, %13, %64, %18, %34, %8, %41, %cst_3, %60, %arg1, %52, %arg1, %55, %8, %48 : tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>
// WIDE-NEXT: }
// WIDE-NEXT: }
// NARROW:      module {
// NARROW-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32> {scalify.is_scale}, %arg2: tensor<8xf32>, %arg3: tensor<f32> {scalify.is_scale}, %arg4: tensor<8xf32>, %arg5: tensor<f32> {scalify.is_scale}, %arg6: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>, tensor<f32> {scalify.is_scale}, tensor<8xf32>) {
// NARROW-NEXT: %0 = stablehlo.multiply %arg1, %arg3 : tensor<f32>
// NARROW-NEXT: %1 = stablehlo.multiply %0, %arg1 : tensor<f32>
// NARROW-NEXT: %2 = stablehlo.divide %arg3, %arg1 : tensor<f32>
// NARROW-NEXT: %3 = stablehlo.divide %arg5, %arg1 : tensor<f32>
// NARROW-NEXT: %4 = stablehlo.bitcast_convert %arg1 : (tensor<f32>) -> tensor<i32>
// NARROW-NEXT: %c = stablehlo.constant dense<23> : tensor<i32>
// NARROW-NEXT: %5 = stablehlo.shift_right_logical %4, %c : tensor<i32>
// NARROW-NEXT: %c_0 = stablehlo.constant dense<8> : tensor<i32>
// NARROW-NEXT: %6 = stablehlo.multiply %5, %c_0 : tensor<i32>
// NARROW-NEXT: %7 = stablehlo.bitcast_convert %arg3 : (tensor<f32>) -> tensor<i32>
// NARROW-NEXT: %8 = stablehlo.shift_right_logical %7, %c : tensor<i32>
// NARROW-NEXT: %9 = stablehlo.multiply %8, %c_0 : tensor<i32>
// NARROW-NEXT: %10 = stablehlo.subtract %6, %9 : tensor<i32>
// NARROW-NEXT: %c_1 = stablehlo.constant dense<127> : tensor<i32>
// NARROW-NEXT: %11 = stablehlo.add %10, %c_1 : tensor<i32>
// NARROW-NEXT: %c_2 = stablehlo.constant dense<1> : tensor<i32>
// NARROW-NEXT: %c_3 = stablehlo.constant dense<253> : tensor<i32>
// NARROW-NEXT: %12 = stablehlo.clamp %c_2, %11, %c_3 : tensor<i32>
// NARROW-NEXT: %13 = stablehlo.shift_left %12, %c : tensor<i32>
// NARROW-NEXT: %14 = stablehlo.bitcast_convert %13 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %15 = stablehlo.subtract %11, %12 : tensor<i32>
// NARROW-NEXT: %16 = stablehlo.add %15, %c_1 : tensor<i32>
// NARROW-NEXT: %17 = stablehlo.clamp %c_2, %16, %c_3 : tensor<i32>
// NARROW-NEXT: %18 = stablehlo.shift_left %17, %c : tensor<i32>
// NARROW-NEXT: %19 = stablehlo.bitcast_convert %18 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %c_4 = stablehlo.constant dense<8388607> : tensor<i32>
// NARROW-NEXT: %20 = stablehlo.and %4, %c_4 : tensor<i32>
// NARROW-NEXT: %c_5 = stablehlo.constant dense<1065353216> : tensor<i32>
// NARROW-NEXT: %21 = stablehlo.or %20, %c_5 : tensor<i32>
// NARROW-NEXT: %22 = stablehlo.bitcast_convert %21 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %23 = stablehlo.and %7, %c_4 : tensor<i32>
// NARROW-NEXT: %24 = stablehlo.or %23, %c_5 : tensor<i32>
// NARROW-NEXT: %25 = stablehlo.bitcast_convert %24 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %26 = stablehlo.multiply %19, %22 : tensor<f32>
// NARROW-NEXT: %27 = stablehlo.divide %26, %25 : tensor<f32>
// NARROW-NEXT: %28 = stablehlo.multiply %27, %22 : tensor<f32>
// NARROW-NEXT: %29 = stablehlo.divide %28, %25 : tensor<f32>
// NARROW-NEXT: %30 = stablehlo.multiply %29, %22 : tensor<f32>
// NARROW-NEXT: %31 = stablehlo.divide %30, %25 : tensor<f32>
// NARROW-NEXT: %32 = stablehlo.multiply %31, %22 : tensor<f32>
// NARROW-NEXT: %33 = stablehlo.divide %32, %25 : tensor<f32>
// NARROW-NEXT: %34 = stablehlo.multiply %33, %22 : tensor<f32>
// NARROW-NEXT: %35 = stablehlo.divide %34, %25 : tensor<f32>
// NARROW-NEXT: %36 = stablehlo.multiply %35, %22 : tensor<f32>
// NARROW-NEXT: %37 = stablehlo.divide %36, %25 : tensor<f32>
// NARROW-NEXT: %38 = stablehlo.multiply %37, %22 : tensor<f32>
// NARROW-NEXT: %39 = stablehlo.divide %38, %25 : tensor<f32>
// NARROW-NEXT: %40 = stablehlo.multiply %39, %22 : tensor<f32>
// NARROW-NEXT: %41 = stablehlo.divide %40, %25 : tensor<f32>
// NARROW-NEXT: %42 = stablehlo.add %5, %8 : tensor<i32>
// NARROW-NEXT: %43 = stablehlo.multiply %42, %c_0 : tensor<i32>
// NARROW-NEXT: %c_6 = stablehlo.constant dense<-1897> : tensor<i32>
// NARROW-NEXT: %44 = stablehlo.add %43, %c_6 : tensor<i32>
// NARROW-NEXT: %45 = stablehlo.clamp %c_2, %44, %c_3 : tensor<i32>
// NARROW-NEXT: %46 = stablehlo.shift_left %45, %c : tensor<i32>
// NARROW-NEXT: %47 = stablehlo.bitcast_convert %46 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %48 = stablehlo.subtract %44, %45 : tensor<i32>
// NARROW-NEXT: %49 = stablehlo.add %48, %c_1 : tensor<i32>
// NARROW-NEXT: %50 = stablehlo.clamp %c_2, %49, %c_3 : tensor<i32>
// NARROW-NEXT: %51 = stablehlo.shift_left %50, %c : tensor<i32>
// NARROW-NEXT: %52 = stablehlo.bitcast_convert %51 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %53 = stablehlo.multiply %22, %25 : tensor<f32>
// NARROW-NEXT: %54 = stablehlo.multiply %52, %53 : tensor<f32>
// NARROW-NEXT: %55 = stablehlo.multiply %54, %53 : tensor<f32>
// NARROW-NEXT: %56 = stablehlo.multiply %55, %53 : tensor<f32>
// NARROW-NEXT: %57 = stablehlo.multiply %56, %53 : tensor<f32>
// NARROW-NEXT: %58 = stablehlo.multiply %57, %53 : tensor<f32>
// NARROW-NEXT: %59 = stablehlo.multiply %58, %53 : tensor<f32>
// NARROW-NEXT: %60 = stablehlo.multiply %59, %53 : tensor<f32>
// NARROW-NEXT: %61 = stablehlo.multiply %60, %53 : tensor<f32>
// NARROW-NEXT: %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
// NARROW-NEXT: %62 = stablehlo.multiply %0, %arg5 : tensor<f32>
// NARROW-NEXT: %63 = stablehlo.multiply %62, %cst : tensor<f32>
// NARROW-NEXT: %cst_7 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
// NARROW-NEXT: %64 = stablehlo.multiply %arg1, %arg1 : tensor<f32>
// NARROW-NEXT: %65 = stablehlo.multiply %64, %arg1 : tensor<f32>
// NARROW-NEXT: %66 = stablehlo.multiply %65, %arg1 : tensor<f32>
// NARROW-NEXT: %67 = stablehlo.multiply %66, %cst_7 : tensor<f32>
// NARROW-NEXT: %68 = stablehlo.multiply %66, %arg1 : tensor<f32>
// NARROW-NEXT: %69 = stablehlo.multiply %67, %68 : tensor<f32>
// NARROW-NEXT: %cst_8 = stablehlo.constant dense<1.17549435E-38> : tensor<f32>
// NARROW-NEXT: %cst_9 = stablehlo.constant dense<8.50705917E+37> : tensor<f32>
// NARROW-NEXT: %70 = stablehlo.clamp %cst_8, %69, %cst_9 : tensor<f32>
// NARROW-NEXT: %71 = stablehlo.divide %67, %70 : tensor<f32>
// NARROW-NEXT: %72 = stablehlo.multiply %71, %68 : tensor<f32>
// NARROW-NEXT: %cst_10 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
// NARROW-NEXT: %73 = stablehlo.multiply %62, %cst_10 : tensor<f32>
// NARROW-NEXT: %74 = stablehlo.multiply %73, %62 : tensor<f32>
// NARROW-NEXT: %75 = stablehlo.clamp %cst_8, %74, %cst_9 : tensor<f32>
// NARROW-NEXT: %76 = stablehlo.divide %73, %75 : tensor<f32>
// NARROW-NEXT: %77 = stablehlo.multiply %76, %62 : tensor<f32>
// NARROW-NEXT: %cst_11 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<8xf32>
// NARROW-NEXT: %78 = stablehlo.multiply %arg0, %arg0 {scalify.forms = ["s0^2 level 1"]} : tensor<8xf32>
// NARROW-NEXT: %79 = stablehlo.multiply %78, %78 {scalify.forms = ["s0^4 level 2"]} : tensor<8xf32>
// NARROW-NEXT: %80 = stablehlo.multiply %79, %79 {scalify.forms = ["s0^8 level 4"]} : tensor<8xf32>
// NARROW-NEXT: %81 = stablehlo.multiply %arg2, %arg2 {scalify.forms = ["s1^2 level 1"]} : tensor<8xf32>
// NARROW-NEXT: %82 = stablehlo.multiply %81, %81 {scalify.forms = ["s1^4 level 2"]} : tensor<8xf32>
// NARROW-NEXT: %83 = stablehlo.multiply %82, %82 {scalify.forms = ["s1^8 level 4"]} : tensor<8xf32>
// NARROW-NEXT: %84 = stablehlo.divide %80, %83 {scalify.forms = ["s0^8*s1^-8"]} : tensor<8xf32>
// NARROW-NEXT: %85 = stablehlo.multiply %80, %83 {scalify.forms = ["s0^8*s1^8 level 8"]} : tensor<8xf32>
// NARROW-NEXT: %86 = stablehlo.multiply %arg0, %arg2 {scalify.forms = ["s0*s1 level 1"]} : tensor<8xf32>
// NARROW-NEXT: %87 = stablehlo.multiply %86, %arg4 {scalify.forms = ["s0*s1*s2 level 1.5"]} : tensor<8xf32>
// NARROW-NEXT: %88 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %89 = stablehlo.multiply %86, %88 : tensor<8xf32>
// NARROW-NEXT: %90 = stablehlo.add %89, %cst_11 {scalify.forms = ["2^0 level 1"]} : tensor<8xf32>
// NARROW-NEXT: %91 = stablehlo.multiply %90, %arg0 {scalify.forms = ["s0 level 1.5"]} : tensor<8xf32>
// NARROW-NEXT: %92 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %93 = stablehlo.multiply %91, %92 : tensor<8xf32>
// NARROW-NEXT: %94 = stablehlo.add %cst_11, %93 {scalify.forms = ["2^0 level 1.5"]} : tensor<8xf32>
// NARROW-NEXT: %cst_12 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.500000e-01> : tensor<8xf32>
// NARROW-NEXT: %95 = stablehlo.multiply %91, %86 {scalify.forms = ["s0^2*s1 level 2.5"]} : tensor<8xf32>
// NARROW-NEXT: %96 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %97 = stablehlo.multiply %95, %96 : tensor<8xf32>
// NARROW-NEXT: %98 = stablehlo.add %cst_12, %97 {scalify.forms = ["2^0 level 2.5"]} : tensor<8xf32>
// NARROW-NEXT: %99 = stablehlo.add %arg6, %cst_11 {scalify.forms = ["2^0 level 12"]} : tensor<8xf32>
// NARROW-NEXT: %100 = stablehlo.multiply %arg6, %arg6 {scalify.forms = ["2^0 level 24"]} : tensor<8xf32>
// NARROW-NEXT: %101 = stablehlo.subtract %cst_11, %100 {scalify.forms = ["2^0 level 24"]} : tensor<8xf32>
// NARROW-NEXT: %102 = stablehlo.divide %cst_11, %arg0 {scalify.forms = ["s0^-1 level -0.5"]} : tensor<8xf32>
// NARROW-NEXT: %103 = stablehlo.divide %80, %102 {scalify.forms = ["s0^9 level 4.5"]} : tensor<8xf32>
// NARROW-NEXT: %104 = stablehlo.multiply %87, %87 {scalify.forms = ["s0^2*s1^2*s2^2 level 3"]} : tensor<8xf32>
// NARROW-NEXT: %105 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %106 = stablehlo.multiply %arg2, %105 : tensor<8xf32>
// NARROW-NEXT: %107 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %108 = stablehlo.multiply %arg4, %107 : tensor<8xf32>
// NARROW-NEXT: %109 = stablehlo.clamp %arg0, %106, %108 {scalify.forms = ["s0 level 0.5"]} : tensor<8xf32>
// NARROW-NEXT: %110 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %111 = stablehlo.multiply %84, %110 : tensor<8xf32>
// NARROW-NEXT: %cst_13 = stablehlo.constant dense<3.906250e-03> : tensor<8xf32>
// NARROW-NEXT: %112 = stablehlo.multiply %85, %cst_13 : tensor<8xf32>
// NARROW-NEXT: %113 = stablehlo.broadcast_in_dim %61, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %114 = stablehlo.multiply %112, %113 : tensor<8xf32>
// NARROW-NEXT: %cst_14 = stablehlo.constant dense<2.500000e-01> : tensor<8xf32>
// NARROW-NEXT: %115 = stablehlo.multiply %87, %cst_14 : tensor<8xf32>
// NARROW-NEXT: %cst_15 = stablehlo.constant dense<2.500000e-01> : tensor<8xf32>
// NARROW-NEXT: %116 = stablehlo.multiply %94, %cst_15 : tensor<8xf32>
// NARROW-NEXT: %cst_16 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
// NARROW-NEXT: %cst_17 = stablehlo.constant dense<6.250000e-02> : tensor<8xf32>
// NARROW-NEXT: %117 = stablehlo.multiply %103, %cst_17 : tensor<8xf32>
// NARROW-NEXT: %118 = stablehlo.broadcast_in_dim %72, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %119 = stablehlo.multiply %117, %118 : tensor<8xf32>
// NARROW-NEXT: %cst_18 = stablehlo.constant dense<1.250000e-01> : tensor<8xf32>
// NARROW-NEXT: %120 = stablehlo.multiply %104, %cst_18 : tensor<8xf32>
// NARROW-NEXT: %121 = stablehlo.broadcast_in_dim %77, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %122 = stablehlo.multiply %120, %121 : tensor<8xf32>
// NARROW-NEXT: return %98, %111, %14, %114, %47, %115, %63, %116, %cst_16, %109, %arg1, %119, %70, %122, %75, %101 : tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>
// NARROW-NEXT: }
// NARROW-NEXT: }

module {
  func.func @main(%x: tensor<8xf32> {scalify.pair}, %y: tensor<8xf32> {scalify.pair}, %z: tensor<8xf32> {scalify.pair}, %w: tensor<8xf32> {scalify.scale = 12 : i64})
      -> (tensor<8xf32>, tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32>) {
    %one = stablehlo.constant dense<1.0> : tensor<8xf32>
    %x2 = stablehlo.multiply %x, %x : tensor<8xf32>
    %x4 = stablehlo.multiply %x2, %x2 : tensor<8xf32>
    %x8 = stablehlo.multiply %x4, %x4 : tensor<8xf32>
    %y2 = stablehlo.multiply %y, %y : tensor<8xf32>
    %y4 = stablehlo.multiply %y2, %y2 : tensor<8xf32>
    %y8 = stablehlo.multiply %y4, %y4 : tensor<8xf32>
    %q = stablehlo.divide %x8, %y8 : tensor<8xf32>
    %p = stablehlo.multiply %x8, %y8 : tensor<8xf32>
    %xy = stablehlo.multiply %x, %y : tensor<8xf32>
    %xyz = stablehlo.multiply %xy, %z : tensor<8xf32>
    %h1 = stablehlo.add %xy, %one : tensor<8xf32>
    %h2 = stablehlo.multiply %h1, %x : tensor<8xf32>
    %h3 = stablehlo.add %one, %h2 : tensor<8xf32>
    %quarter = stablehlo.constant dense<0.25> : tensor<8xf32>
    %h4 = stablehlo.multiply %h2, %xy : tensor<8xf32>
    %h5 = stablehlo.add %quarter, %h4 : tensor<8xf32>
    %s1 = stablehlo.add %w, %one : tensor<8xf32>
    %s2 = stablehlo.multiply %w, %w : tensor<8xf32>
    %s3 = stablehlo.subtract %one, %s2 : tensor<8xf32>
    %r = stablehlo.divide %one, %x : tensor<8xf32>
    %q5 = stablehlo.divide %x8, %r : tensor<8xf32>
    %xyz2 = stablehlo.multiply %xyz, %xyz : tensor<8xf32>
    %c = stablehlo.clamp %x, %y, %z : tensor<8xf32>
    return %h5, %q, %p, %xyz, %h3, %c, %q5, %xyz2, %s3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
