// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// The value is read, part by part, and the result is unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<3xcomplex<f32>> {scalify.pair}) -> tensor<3xcomplex<f32>> {
  // CHECK:      %[[X:.*]] = stablehlo.complex %{{.*}}, %{{.*}} : tensor<3xcomplex<f32>>
  // CHECK-NEXT: %[[Y:.*]] = chlo._asin_acos_kernel %[[X]] :
  %0 = chlo._asin_acos_kernel %x : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>
  // CHECK-NEXT: return %[[Y]]
  return %0 : tensor<3xcomplex<f32>>
}
