// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A * Y = B: scales divide.
// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<3x3xf32> {scalify.pair}, %b: tensor<3x3xf32> {scalify.pair})
    -> (tensor<3x3xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[S:.*]] = stablehlo.divide %arg3, %arg1 : tensor<f32>
  // CHECK-NEXT: %[[Y:.*]] = "stablehlo.triangular_solve"(%arg0, %arg2){{.*}}["s0^-1*s1"]
  %0 = "stablehlo.triangular_solve"(%a, %b) <{
    left_side = true, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  }> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<3x3xf32>
}

// -----

// A diagonal that is taken to be 1 has no scale: A is read.
// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<3x3xf32> {scalify.pair}, %b: tensor<3x3xf32> {scalify.pair})
    -> (tensor<3x3xf32> {scalify.pair}) {
  // CHECK:      %[[A:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = "stablehlo.triangular_solve"(%[[A]], %arg2){{.*}}["s1"]
  %0 = "stablehlo.triangular_solve"(%a, %b) <{
    left_side = true, lower = true, unit_diagonal = true,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  }> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  // CHECK-NEXT: return %[[Y]], %arg3
  return %0 : tensor<3x3xf32>
}
