// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=WIDE
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=NARROW

// High powers of values, their quotients and sums with constants: scales do not follow all of them.
// WIDE:      module {
// WIDE-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32>, %arg2: tensor<8xf32>, %arg3: tensor<f32>, %arg4: tensor<8xf32>, %arg5: tensor<f32>, %arg6: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) {
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
// NARROW-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32>, %arg2: tensor<8xf32>, %arg3: tensor<f32>, %arg4: tensor<8xf32>, %arg5: tensor<f32>, %arg6: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) {
// NARROW-NEXT: %0 = stablehlo.multiply %arg1, %arg3 : tensor<f32>
// NARROW-NEXT: %1 = stablehlo.multiply %0, %arg1 : tensor<f32>
// NARROW-NEXT: %2 = stablehlo.divide %arg3, %arg1 : tensor<f32>
// NARROW-NEXT: %3 = stablehlo.divide %arg5, %arg1 : tensor<f32>
// NARROW-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// NARROW-NEXT: %4 = stablehlo.bitcast_convert %arg1 : (tensor<f32>) -> tensor<i32>
// NARROW-NEXT: %c_0 = stablehlo.constant dense<23> : tensor<i32>
// NARROW-NEXT: %5 = stablehlo.shift_right_logical %4, %c_0 : tensor<i32>
// NARROW-NEXT: %c_1 = stablehlo.constant dense<127> : tensor<i32>
// NARROW-NEXT: %6 = stablehlo.subtract %5, %c_1 : tensor<i32>
// NARROW-NEXT: %c_2 = stablehlo.constant dense<8> : tensor<i32>
// NARROW-NEXT: %7 = stablehlo.multiply %6, %c_2 : tensor<i32>
// NARROW-NEXT: %8 = stablehlo.add %c, %7 : tensor<i32>
// NARROW-NEXT: %9 = stablehlo.bitcast_convert %arg3 : (tensor<f32>) -> tensor<i32>
// NARROW-NEXT: %10 = stablehlo.shift_right_logical %9, %c_0 : tensor<i32>
// NARROW-NEXT: %11 = stablehlo.subtract %10, %c_1 : tensor<i32>
// NARROW-NEXT: %12 = stablehlo.multiply %11, %c_2 : tensor<i32>
// NARROW-NEXT: %13 = stablehlo.subtract %8, %12 : tensor<i32>
// NARROW-NEXT: %c_3 = stablehlo.constant dense<-126> : tensor<i32>
// NARROW-NEXT: %c_4 = stablehlo.constant dense<126> : tensor<i32>
// NARROW-NEXT: %14 = stablehlo.clamp %c_3, %13, %c_4 : tensor<i32>
// NARROW-NEXT: %15 = stablehlo.clamp %c_3, %14, %c_4 : tensor<i32>
// NARROW-NEXT: %16 = stablehlo.add %15, %c_1 : tensor<i32>
// NARROW-NEXT: %17 = stablehlo.shift_left %16, %c_0 : tensor<i32>
// NARROW-NEXT: %18 = stablehlo.bitcast_convert %17 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %19 = stablehlo.subtract %13, %14 : tensor<i32>
// NARROW-NEXT: %20 = stablehlo.clamp %c_3, %19, %c_4 : tensor<i32>
// NARROW-NEXT: %21 = stablehlo.add %20, %c_1 : tensor<i32>
// NARROW-NEXT: %22 = stablehlo.shift_left %21, %c_0 : tensor<i32>
// NARROW-NEXT: %23 = stablehlo.bitcast_convert %22 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %24 = stablehlo.add %8, %12 : tensor<i32>
// NARROW-NEXT: %25 = stablehlo.clamp %c_3, %24, %c_4 : tensor<i32>
// NARROW-NEXT: %26 = stablehlo.clamp %c_3, %25, %c_4 : tensor<i32>
// NARROW-NEXT: %27 = stablehlo.add %26, %c_1 : tensor<i32>
// NARROW-NEXT: %28 = stablehlo.shift_left %27, %c_0 : tensor<i32>
// NARROW-NEXT: %29 = stablehlo.bitcast_convert %28 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %30 = stablehlo.subtract %24, %25 : tensor<i32>
// NARROW-NEXT: %31 = stablehlo.clamp %c_3, %30, %c_4 : tensor<i32>
// NARROW-NEXT: %32 = stablehlo.add %31, %c_1 : tensor<i32>
// NARROW-NEXT: %33 = stablehlo.shift_left %32, %c_0 : tensor<i32>
// NARROW-NEXT: %34 = stablehlo.bitcast_convert %33 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %35 = stablehlo.multiply %0, %arg5 : tensor<f32>
// NARROW-NEXT: %36 = stablehlo.multiply %arg1, %arg1 : tensor<f32>
// NARROW-NEXT: %37 = stablehlo.multiply %36, %arg1 : tensor<f32>
// NARROW-NEXT: %38 = stablehlo.multiply %37, %arg1 : tensor<f32>
// NARROW-NEXT: %39 = stablehlo.multiply %38, %arg1 : tensor<f32>
// NARROW-NEXT: %40 = stablehlo.multiply %39, %38 : tensor<f32>
// NARROW-NEXT: %cst = stablehlo.constant dense<1.17549435E-38> : tensor<f32>
// NARROW-NEXT: %cst_5 = stablehlo.constant dense<8.50705917E+37> : tensor<f32>
// NARROW-NEXT: %41 = stablehlo.clamp %cst, %40, %cst_5 : tensor<f32>
// NARROW-NEXT: %42 = stablehlo.divide %39, %41 : tensor<f32>
// NARROW-NEXT: %43 = stablehlo.multiply %42, %38 : tensor<f32>
// NARROW-NEXT: %44 = stablehlo.multiply %35, %35 : tensor<f32>
// NARROW-NEXT: %45 = stablehlo.clamp %cst, %44, %cst_5 : tensor<f32>
// NARROW-NEXT: %46 = stablehlo.divide %35, %45 : tensor<f32>
// NARROW-NEXT: %47 = stablehlo.multiply %46, %35 : tensor<f32>
// NARROW-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<8xf32>
// NARROW-NEXT: %48 = stablehlo.multiply %arg0, %arg0 {scalify.forms = ["s0^2"]} : tensor<8xf32>
// NARROW-NEXT: %49 = stablehlo.multiply %48, %48 {scalify.forms = ["s0^4"]} : tensor<8xf32>
// NARROW-NEXT: %50 = stablehlo.multiply %49, %49 {scalify.forms = ["s0^8"]} : tensor<8xf32>
// NARROW-NEXT: %51 = stablehlo.multiply %arg2, %arg2 {scalify.forms = ["s1^2"]} : tensor<8xf32>
// NARROW-NEXT: %52 = stablehlo.multiply %51, %51 {scalify.forms = ["s1^4"]} : tensor<8xf32>
// NARROW-NEXT: %53 = stablehlo.multiply %52, %52 {scalify.forms = ["s1^8"]} : tensor<8xf32>
// NARROW-NEXT: %54 = stablehlo.divide %50, %53 {scalify.forms = ["s0^8*s1^-8"]} : tensor<8xf32>
// NARROW-NEXT: %55 = stablehlo.multiply %50, %53 {scalify.forms = ["s0^8*s1^8"]} : tensor<8xf32>
// NARROW-NEXT: %56 = stablehlo.multiply %arg0, %arg2 {scalify.forms = ["s0*s1"]} : tensor<8xf32>
// NARROW-NEXT: %57 = stablehlo.multiply %56, %arg4 {scalify.forms = ["s0*s1*s2"]} : tensor<8xf32>
// NARROW-NEXT: %58 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %59 = stablehlo.multiply %56, %58 : tensor<8xf32>
// NARROW-NEXT: %60 = stablehlo.add %59, %cst_6 {scalify.forms = ["2^0 level 0.5"]} : tensor<8xf32>
// NARROW-NEXT: %61 = stablehlo.multiply %60, %arg0 {scalify.forms = ["s0 level 0.5"]} : tensor<8xf32>
// NARROW-NEXT: %62 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %63 = stablehlo.multiply %61, %62 : tensor<8xf32>
// NARROW-NEXT: %64 = stablehlo.add %cst_6, %63 {scalify.forms = ["2^0 level 0.792481"]} : tensor<8xf32>
// NARROW-NEXT: %cst_7 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<2.500000e-01> : tensor<8xf32>
// NARROW-NEXT: %65 = stablehlo.multiply %61, %56 {scalify.forms = ["s0^2*s1 level 0.5"]} : tensor<8xf32>
// NARROW-NEXT: %66 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %67 = stablehlo.multiply %65, %66 : tensor<8xf32>
// NARROW-NEXT: %68 = stablehlo.add %cst_7, %67 {scalify.forms = ["2^0 level 0.522197"]} : tensor<8xf32>
// NARROW-NEXT: %69 = stablehlo.add %arg6, %cst_6 {scalify.forms = ["2^0 level 12"]} : tensor<8xf32>
// NARROW-NEXT: %70 = stablehlo.multiply %arg6, %arg6 {scalify.forms = ["2^0 level 24"]} : tensor<8xf32>
// NARROW-NEXT: %71 = stablehlo.subtract %cst_6, %70 {scalify.forms = ["2^0 level 24"]} : tensor<8xf32>
// NARROW-NEXT: %72 = stablehlo.divide %cst_6, %arg0 {scalify.forms = ["s0^-1"]} : tensor<8xf32>
// NARROW-NEXT: %73 = stablehlo.divide %50, %72 {scalify.forms = ["s0^9"]} : tensor<8xf32>
// NARROW-NEXT: %74 = stablehlo.multiply %57, %57 {scalify.forms = ["s0^2*s1^2*s2^2"]} : tensor<8xf32>
// NARROW-NEXT: %75 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %76 = stablehlo.multiply %arg2, %75 : tensor<8xf32>
// NARROW-NEXT: %77 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %78 = stablehlo.multiply %arg4, %77 : tensor<8xf32>
// NARROW-NEXT: %79 = stablehlo.clamp %arg0, %76, %78 {scalify.forms = ["s0"]} : tensor<8xf32>
// NARROW-NEXT: %80 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %81 = stablehlo.multiply %54, %80 : tensor<8xf32>
// NARROW-NEXT: %82 = stablehlo.broadcast_in_dim %34, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %83 = stablehlo.multiply %55, %82 : tensor<8xf32>
// NARROW-NEXT: %cst_8 = stablehlo.constant dense<5.000000e-01> : tensor<8xf32>
// NARROW-NEXT: %84 = stablehlo.multiply %64, %cst_8 : tensor<8xf32>
// NARROW-NEXT: %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
// NARROW-NEXT: %85 = stablehlo.broadcast_in_dim %43, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %86 = stablehlo.multiply %73, %85 : tensor<8xf32>
// NARROW-NEXT: %87 = stablehlo.broadcast_in_dim %47, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %88 = stablehlo.multiply %74, %87 : tensor<8xf32>
// NARROW-NEXT: return %68, %81, %18, %83, %29, %57, %35, %84, %cst_9, %79, %arg1, %86, %41, %88, %45, %71 : tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>
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
