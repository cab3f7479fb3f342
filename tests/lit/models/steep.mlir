// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=WIDE
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s --check-prefix=NARROW

// High powers of values, their quotients and sums with constants: scales do not follow all of them.
// WIDE:      module {
// WIDE-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32>, %arg2: tensor<8xf32>, %arg3: tensor<f32>, %arg4: tensor<8xf32>, %arg5: tensor<f32>, %arg6: tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) {
// WIDE-NEXT: %0 = stablehlo.multiply %arg1, %arg1 : tensor<f32>
// WIDE-NEXT: %1 = stablehlo.multiply %0, %arg1 : tensor<f32>
// WIDE-NEXT: %2 = stablehlo.multiply %1, %arg1 : tensor<f32>
// WIDE-NEXT: %3 = stablehlo.multiply %arg3, %arg3 : tensor<f32>
// WIDE-NEXT: %4 = stablehlo.multiply %3, %arg3 : tensor<f32>
// WIDE-NEXT: %5 = stablehlo.multiply %4, %arg3 : tensor<f32>
// WIDE-NEXT: %6 = stablehlo.multiply %arg1, %arg3 : tensor<f32>
// WIDE-NEXT: %7 = stablehlo.multiply %6, %arg5 : tensor<f32>
// WIDE-NEXT: %8 = stablehlo.divide %arg3, %arg1 : tensor<f32>
// WIDE-NEXT: %9 = stablehlo.divide %arg5, %arg1 : tensor<f32>
// WIDE-NEXT: %10 = stablehlo.divide %0, %3 : tensor<f32>
// WIDE-NEXT: %11 = stablehlo.multiply %10, %10 : tensor<f32>
// WIDE-NEXT: %cst = stablehlo.constant dense<1.17549435E-38> : tensor<f32>
// WIDE-NEXT: %cst_0 = stablehlo.constant dense<8.50705917E+37> : tensor<f32>
// WIDE-NEXT: %12 = stablehlo.clamp %cst, %11, %cst_0 : tensor<f32>
// WIDE-NEXT: %13 = stablehlo.divide %10, %12 : tensor<f32>
// WIDE-NEXT: %14 = stablehlo.multiply %13, %10 : tensor<f32>
// WIDE-NEXT: %15 = stablehlo.multiply %6, %arg1 : tensor<f32>
// WIDE-NEXT: %16 = stablehlo.multiply %15, %arg3 : tensor<f32>
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
// WIDE-NEXT: %42 = stablehlo.add %arg6, %cst_1 {scalify.forms = ["2^0 level 12"]} : tensor<8xf32>
// WIDE-NEXT: %43 = stablehlo.multiply %arg6, %arg6 {scalify.forms = ["2^0 level 24"]} : tensor<8xf32>
// WIDE-NEXT: %44 = stablehlo.subtract %cst_1, %43 {scalify.forms = ["2^0 level 24"]} : tensor<8xf32>
// WIDE-NEXT: %45 = stablehlo.divide %cst_1, %arg0 {scalify.forms = ["s0^-1"]} : tensor<8xf32>
// WIDE-NEXT: %46 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %47 = stablehlo.multiply %25, %46 : tensor<8xf32>
// WIDE-NEXT: %48 = stablehlo.divide %47, %45 {scalify.forms = ["s0"]} : tensor<8xf32>
// WIDE-NEXT: %49 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %50 = stablehlo.multiply %34, %49 : tensor<8xf32>
// WIDE-NEXT: %51 = stablehlo.multiply %50, %34 {scalify.forms = ["s0*s1*s2"]} : tensor<8xf32>
// WIDE-NEXT: %52 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %53 = stablehlo.multiply %arg2, %52 : tensor<8xf32>
// WIDE-NEXT: %54 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %55 = stablehlo.multiply %arg4, %54 : tensor<8xf32>
// WIDE-NEXT: %56 = stablehlo.clamp %arg0, %53, %55 {scalify.forms = ["s0"]} : tensor<8xf32>
// WIDE-NEXT: %57 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %58 = stablehlo.multiply %31, %57 : tensor<8xf32>
// WIDE-NEXT: %59 = stablehlo.broadcast_in_dim %20, dims = [] : (tensor<f32>) -> tensor<8xf32>
// WIDE-NEXT: %60 = stablehlo.multiply %32, %59 : tensor<8xf32>
// WIDE-NEXT: %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// WIDE-NEXT: return %58, %12, %60, %18, %34, %7, %41, %cst_2, %56, %arg1, %48, %arg1, %51, %7, %44 : tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>
// WIDE-NEXT: }
// WIDE-NEXT: }
// NARROW:      module {
// NARROW-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32>, %arg2: tensor<8xf32>, %arg3: tensor<f32>, %arg4: tensor<8xf32>, %arg5: tensor<f32>, %arg6: tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) {
// NARROW-NEXT: %0 = stablehlo.multiply %arg1, %arg3 : tensor<f32>
// NARROW-NEXT: %1 = stablehlo.divide %arg3, %arg1 : tensor<f32>
// NARROW-NEXT: %2 = stablehlo.divide %arg5, %arg1 : tensor<f32>
// NARROW-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// NARROW-NEXT: %3 = stablehlo.bitcast_convert %arg1 : (tensor<f32>) -> tensor<i32>
// NARROW-NEXT: %c_0 = stablehlo.constant dense<23> : tensor<i32>
// NARROW-NEXT: %4 = stablehlo.shift_right_logical %3, %c_0 : tensor<i32>
// NARROW-NEXT: %c_1 = stablehlo.constant dense<127> : tensor<i32>
// NARROW-NEXT: %5 = stablehlo.subtract %4, %c_1 : tensor<i32>
// NARROW-NEXT: %c_2 = stablehlo.constant dense<8> : tensor<i32>
// NARROW-NEXT: %6 = stablehlo.multiply %5, %c_2 : tensor<i32>
// NARROW-NEXT: %7 = stablehlo.add %c, %6 : tensor<i32>
// NARROW-NEXT: %8 = stablehlo.bitcast_convert %arg3 : (tensor<f32>) -> tensor<i32>
// NARROW-NEXT: %9 = stablehlo.shift_right_logical %8, %c_0 : tensor<i32>
// NARROW-NEXT: %10 = stablehlo.subtract %9, %c_1 : tensor<i32>
// NARROW-NEXT: %11 = stablehlo.multiply %10, %c_2 : tensor<i32>
// NARROW-NEXT: %12 = stablehlo.subtract %7, %11 : tensor<i32>
// NARROW-NEXT: %c_3 = stablehlo.constant dense<-126> : tensor<i32>
// NARROW-NEXT: %c_4 = stablehlo.constant dense<126> : tensor<i32>
// NARROW-NEXT: %13 = stablehlo.clamp %c_3, %12, %c_4 : tensor<i32>
// NARROW-NEXT: %14 = stablehlo.clamp %c_3, %13, %c_4 : tensor<i32>
// NARROW-NEXT: %15 = stablehlo.add %14, %c_1 : tensor<i32>
// NARROW-NEXT: %16 = stablehlo.shift_left %15, %c_0 : tensor<i32>
// NARROW-NEXT: %17 = stablehlo.bitcast_convert %16 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %18 = stablehlo.subtract %12, %13 : tensor<i32>
// NARROW-NEXT: %19 = stablehlo.clamp %c_3, %18, %c_4 : tensor<i32>
// NARROW-NEXT: %20 = stablehlo.add %19, %c_1 : tensor<i32>
// NARROW-NEXT: %21 = stablehlo.shift_left %20, %c_0 : tensor<i32>
// NARROW-NEXT: %22 = stablehlo.bitcast_convert %21 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %23 = stablehlo.add %7, %11 : tensor<i32>
// NARROW-NEXT: %24 = stablehlo.clamp %c_3, %23, %c_4 : tensor<i32>
// NARROW-NEXT: %25 = stablehlo.clamp %c_3, %24, %c_4 : tensor<i32>
// NARROW-NEXT: %26 = stablehlo.add %25, %c_1 : tensor<i32>
// NARROW-NEXT: %27 = stablehlo.shift_left %26, %c_0 : tensor<i32>
// NARROW-NEXT: %28 = stablehlo.bitcast_convert %27 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %29 = stablehlo.subtract %23, %24 : tensor<i32>
// NARROW-NEXT: %30 = stablehlo.clamp %c_3, %29, %c_4 : tensor<i32>
// NARROW-NEXT: %31 = stablehlo.add %30, %c_1 : tensor<i32>
// NARROW-NEXT: %32 = stablehlo.shift_left %31, %c_0 : tensor<i32>
// NARROW-NEXT: %33 = stablehlo.bitcast_convert %32 : (tensor<i32>) -> tensor<f32>
// NARROW-NEXT: %34 = stablehlo.multiply %0, %arg5 : tensor<f32>
// NARROW-NEXT: %35 = stablehlo.multiply %arg1, %arg1 : tensor<f32>
// NARROW-NEXT: %36 = stablehlo.multiply %35, %arg1 : tensor<f32>
// NARROW-NEXT: %37 = stablehlo.multiply %36, %arg1 : tensor<f32>
// NARROW-NEXT: %38 = stablehlo.multiply %37, %arg1 : tensor<f32>
// NARROW-NEXT: %39 = stablehlo.multiply %38, %37 : tensor<f32>
// NARROW-NEXT: %cst = stablehlo.constant dense<1.17549435E-38> : tensor<f32>
// NARROW-NEXT: %cst_5 = stablehlo.constant dense<8.50705917E+37> : tensor<f32>
// NARROW-NEXT: %40 = stablehlo.clamp %cst, %39, %cst_5 : tensor<f32>
// NARROW-NEXT: %41 = stablehlo.divide %38, %40 : tensor<f32>
// NARROW-NEXT: %42 = stablehlo.multiply %41, %37 : tensor<f32>
// NARROW-NEXT: %43 = stablehlo.multiply %34, %34 : tensor<f32>
// NARROW-NEXT: %44 = stablehlo.clamp %cst, %43, %cst_5 : tensor<f32>
// NARROW-NEXT: %45 = stablehlo.divide %34, %44 : tensor<f32>
// NARROW-NEXT: %46 = stablehlo.multiply %45, %34 : tensor<f32>
// NARROW-NEXT: %cst_6 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<8xf32>
// NARROW-NEXT: %47 = stablehlo.multiply %arg0, %arg0 {scalify.forms = ["s0^2"]} : tensor<8xf32>
// NARROW-NEXT: %48 = stablehlo.multiply %47, %47 {scalify.forms = ["s0^4"]} : tensor<8xf32>
// NARROW-NEXT: %49 = stablehlo.multiply %48, %48 {scalify.forms = ["s0^8"]} : tensor<8xf32>
// NARROW-NEXT: %50 = stablehlo.multiply %arg2, %arg2 {scalify.forms = ["s1^2"]} : tensor<8xf32>
// NARROW-NEXT: %51 = stablehlo.multiply %50, %50 {scalify.forms = ["s1^4"]} : tensor<8xf32>
// NARROW-NEXT: %52 = stablehlo.multiply %51, %51 {scalify.forms = ["s1^8"]} : tensor<8xf32>
// NARROW-NEXT: %53 = stablehlo.divide %49, %52 {scalify.forms = ["s0^8*s1^-8"]} : tensor<8xf32>
// NARROW-NEXT: %54 = stablehlo.multiply %49, %52 {scalify.forms = ["s0^8*s1^8"]} : tensor<8xf32>
// NARROW-NEXT: %55 = stablehlo.multiply %arg0, %arg2 {scalify.forms = ["s0*s1"]} : tensor<8xf32>
// NARROW-NEXT: %56 = stablehlo.multiply %55, %arg4 {scalify.forms = ["s0*s1*s2"]} : tensor<8xf32>
// NARROW-NEXT: %57 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %58 = stablehlo.multiply %55, %57 : tensor<8xf32>
// NARROW-NEXT: %59 = stablehlo.add %58, %cst_6 {scalify.forms = ["2^0 level 0.5"]} : tensor<8xf32>
// NARROW-NEXT: %60 = stablehlo.multiply %59, %arg0 {scalify.forms = ["s0 level 0.5"]} : tensor<8xf32>
// NARROW-NEXT: %61 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %62 = stablehlo.multiply %60, %61 : tensor<8xf32>
// NARROW-NEXT: %63 = stablehlo.add %cst_6, %62 {scalify.forms = ["2^0 level 0.792481"]} : tensor<8xf32>
// NARROW-NEXT: %64 = stablehlo.add %arg6, %cst_6 {scalify.forms = ["2^0 level 12"]} : tensor<8xf32>
// NARROW-NEXT: %65 = stablehlo.multiply %arg6, %arg6 {scalify.forms = ["2^0 level 24"]} : tensor<8xf32>
// NARROW-NEXT: %66 = stablehlo.subtract %cst_6, %65 {scalify.forms = ["2^0 level 24"]} : tensor<8xf32>
// NARROW-NEXT: %67 = stablehlo.divide %cst_6, %arg0 {scalify.forms = ["s0^-1"]} : tensor<8xf32>
// NARROW-NEXT: %68 = stablehlo.divide %49, %67 {scalify.forms = ["s0^9"]} : tensor<8xf32>
// NARROW-NEXT: %69 = stablehlo.multiply %56, %56 {scalify.forms = ["s0^2*s1^2*s2^2"]} : tensor<8xf32>
// NARROW-NEXT: %70 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %71 = stablehlo.multiply %arg2, %70 : tensor<8xf32>
// NARROW-NEXT: %72 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %73 = stablehlo.multiply %arg4, %72 : tensor<8xf32>
// NARROW-NEXT: %74 = stablehlo.clamp %arg0, %71, %73 {scalify.forms = ["s0"]} : tensor<8xf32>
// NARROW-NEXT: %75 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %76 = stablehlo.multiply %53, %75 : tensor<8xf32>
// NARROW-NEXT: %77 = stablehlo.broadcast_in_dim %33, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %78 = stablehlo.multiply %54, %77 : tensor<8xf32>
// NARROW-NEXT: %cst_7 = stablehlo.constant dense<5.000000e-01> : tensor<8xf32>
// NARROW-NEXT: %79 = stablehlo.multiply %63, %cst_7 : tensor<8xf32>
// NARROW-NEXT: %cst_8 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
// NARROW-NEXT: %80 = stablehlo.broadcast_in_dim %42, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %81 = stablehlo.multiply %68, %80 : tensor<8xf32>
// NARROW-NEXT: %82 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<f32>) -> tensor<8xf32>
// NARROW-NEXT: %83 = stablehlo.multiply %69, %82 : tensor<8xf32>
// NARROW-NEXT: return %76, %17, %78, %28, %56, %34, %79, %cst_8, %74, %arg1, %81, %40, %83, %44, %66 : tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>
// NARROW-NEXT: }
// NARROW-NEXT: }

module {
  func.func @main(%x: tensor<8xf32> {scalify.pair}, %y: tensor<8xf32> {scalify.pair}, %z: tensor<8xf32> {scalify.pair}, %w: tensor<8xf32> {scalify.scale = 12 : i64})
      -> (tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32>) {
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
    %s1 = stablehlo.add %w, %one : tensor<8xf32>
    %s2 = stablehlo.multiply %w, %w : tensor<8xf32>
    %s3 = stablehlo.subtract %one, %s2 : tensor<8xf32>
    %r = stablehlo.divide %one, %x : tensor<8xf32>
    %q5 = stablehlo.divide %x8, %r : tensor<8xf32>
    %xyz2 = stablehlo.multiply %xyz, %xyz : tensor<8xf32>
    %c = stablehlo.clamp %x, %y, %z : tensor<8xf32>
    return %q, %p, %xyz, %h3, %c, %q5, %xyz2, %s3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
