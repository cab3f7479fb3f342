// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A part of a complex pair has its scale, known at run time...
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xcomplex<f32>> {scalify.pair}) -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = stablehlo.imag %arg0 {scalify.forms = ["s0"]}
  %0 = stablehlo.imag %x : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]], %arg1 : tensor<2x3xf32>, tensor<f32>
  return %0 : tensor<2x3xf32>
}

// -----

// ...or when the program is rewritten: a complex argument is split part by part.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xcomplex<f32>> {scalify.scale = -4 : i64})
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[RE:.*]] = stablehlo.real %arg0 :
  // CHECK-NEXT: %[[IM:.*]] = stablehlo.imag %arg0 :
  // CHECK:      %[[RE_D:.*]] = stablehlo.multiply %[[RE]],
  // CHECK:      %[[IM_D:.*]] = stablehlo.multiply %[[IM]],
  // CHECK-NEXT: %[[X:.*]] = stablehlo.complex %[[RE_D]], %[[IM_D]] {scalify.forms = ["2^-4"]}
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.imag %[[X]] {scalify.forms = ["2^-4"]}
  %0 = stablehlo.imag %x : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<6.250000e-02> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[S]]
  return %0 : tensor<2x3xf32>
}
