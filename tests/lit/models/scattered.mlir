// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-recognize{inputs},scalify-propagate{recipe=unit annotate=true})' \
// RUN:   | %filecheck %s

// Sizes of what is scattered over zeros, selected, padded and raised to powers, and of functions of
// constants.
// CHECK:      module {
// CHECK-NEXT: func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x1xi32>, %arg2: tensor<8x3xi1>, %arg3: tensor<2x3xf32>, %arg4: tensor<i32>, %arg5: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4x5xf32>, tensor<f32>, tensor<f32>) {
// CHECK-NEXT: %cst = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<8x3xf32>
// CHECK-NEXT: %cst_0 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<4.000000e+00> : tensor<2x3xf32>
// CHECK-NEXT: %cst_1 = stablehlo.constant {scalify.forms = ["any"]} dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = "stablehlo.scatter"(%cst, %arg1, %arg0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
// CHECK-NEXT: ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
// CHECK-NEXT: %12 = stablehlo.add %arg6, %arg7 : tensor<f32>
// CHECK-NEXT: stablehlo.return %12 : tensor<f32>
// CHECK-NEXT: }) {scalify.forms = ["2^0"]} : (tensor<8x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<8x3xf32>
// CHECK-NEXT: %1 = "stablehlo.scatter"(%cst, %arg1, %cst_0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
// CHECK-NEXT: ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
// CHECK-NEXT: stablehlo.return %arg7 : tensor<f32>
// CHECK-NEXT: }) {scalify.forms = ["2^0 level 1"]} : (tensor<8x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<8x3xf32>
// CHECK-NEXT: %2 = stablehlo.select %arg2, %0, %cst {scalify.forms = ["2^0"]} : tensor<8x3xi1>, tensor<8x3xf32>
// CHECK-NEXT: %cst_2 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<3.000000e+00> : tensor<2x3xf32>
// CHECK-NEXT: %cst_3 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<5.000000e-01> : tensor<2x3xf32>
// CHECK-NEXT: %3 = stablehlo.power %arg0, %cst_2 {scalify.forms = ["2^0 level 3"]} : tensor<2x3xf32>
// CHECK-NEXT: %4 = stablehlo.power %arg0, %cst_3 {scalify.forms = ["2^0"]} : tensor<2x3xf32>
// CHECK-NEXT: %5 = stablehlo.power %arg0, %arg3 {scalify.forms = ["2^0"]} : tensor<2x3xf32>
// CHECK-NEXT: %6 = stablehlo.add %3, %4 {scalify.forms = ["2^0 level 3.01118"]} : tensor<2x3xf32>
// CHECK-NEXT: %7 = stablehlo.pad %5, %cst_1, low = [1, 1], high = [1, 1], interior = [0, 0] {scalify.forms = ["2^0 level -0.792481"]} : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x5xf32>
// CHECK-NEXT: %cst_4 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.600000e+01> : tensor<f32>
// CHECK-NEXT: %cst_5 = stablehlo.constant {scalify.forms = ["unscaled"]} dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %8 = stablehlo.convert %arg4 : (tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %9 = stablehlo.subtract %8, %cst_4 {scalify.forms = ["2^0 level 4"]} : tensor<f32>
// CHECK-NEXT: %10 = stablehlo.subtract %cst_5, %cst_4 {scalify.forms = ["2^0 level 3.90689"]} : tensor<f32>
// CHECK-NEXT: %11 = stablehlo.multiply %arg0, %arg5 {scalify.forms = ["2^0 level -4.5"]} : tensor<2x3xf32>
// CHECK-NEXT: return %11, %0, %1, %2, %6, %5, %7, %9, %10 : tensor<2x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4x5xf32>, tensor<f32>, tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: }

module {
  func.func @main(%x: tensor<2x3xf32> {scalify.scale = 1 : i64}, %i: tensor<2x1xi32>, %p: tensor<8x3xi1>, %e: tensor<2x3xf32>, %n: tensor<i32>, %g: tensor<2x3xf32> {scalify.scale = -6 : i64, scalify.size = -5.5 : f64})
      -> (tensor<2x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4x5xf32>, tensor<f32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<8x3xf32>
    %ones = stablehlo.constant dense<4.0> : tensor<2x3xf32>
    %null = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.scatter"(%zero, %i, %x) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<8x3xf32>
    %1 = "stablehlo.scatter"(%zero, %i, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<8x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<8x3xf32>
    %2 = stablehlo.select %p, %0, %zero : tensor<8x3xi1>, tensor<8x3xf32>
    %three = stablehlo.constant dense<3.0> : tensor<2x3xf32>
    %half = stablehlo.constant dense<0.5> : tensor<2x3xf32>
    %3 = stablehlo.power %x, %three : tensor<2x3xf32>
    %4 = stablehlo.power %x, %half : tensor<2x3xf32>
    %5 = stablehlo.power %x, %e : tensor<2x3xf32>
    %6 = stablehlo.add %3, %4 : tensor<2x3xf32>
    %7 = stablehlo.pad %5, %null, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x5xf32>
    %count = stablehlo.constant dense<16.0> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %given = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
    %8 = stablehlo.subtract %given, %count : tensor<f32>
    %9 = stablehlo.subtract %one, %count : tensor<f32>
    %10 = stablehlo.multiply %x, %g : tensor<2x3xf32>
    return %10, %0, %1, %2, %6, %5, %7, %8, %9 : tensor<2x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4x5xf32>, tensor<f32>, tensor<f32>
  }
}
