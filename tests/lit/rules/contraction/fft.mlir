// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A transform sums 16 terms: the level rises by 2, and is paid part by part where it leaves.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xcomplex<f32>> {scalify.pair})
    -> (tensor<2x16xcomplex<f32>> {scalify.pair}) {
  // CHECK:      %[[S:.*]] = stablehlo.multiply %arg1, %{{.*}} : tensor<f32>
  // CHECK:      %[[Y:.*]] = stablehlo.fft %arg0, type = {{ *}}FFT, length = [16] {scalify.forms = ["s0 level 2"]}
  %0 = stablehlo.fft %x, type = FFT, length = [16]
    : (tensor<2x16xcomplex<f32>>) -> tensor<2x16xcomplex<f32>>
  // CHECK-NEXT: %[[RE:.*]] = stablehlo.real %[[Y]]
  // CHECK-NEXT: %[[IM:.*]] = stablehlo.imag %[[Y]]
  // CHECK:      %[[RE_D:.*]] = stablehlo.multiply %[[RE]], %{{.*}}
  // CHECK:      %[[IM_D:.*]] = stablehlo.multiply %[[IM]], %{{.*}}
  // CHECK-NEXT: %[[D:.*]] = stablehlo.complex %[[RE_D]], %[[IM_D]]
  // CHECK-NEXT: return %[[D]], %[[S]]
  return %0 : tensor<2x16xcomplex<f32>>
}

// -----

// The inverse takes it back, so nothing is owed.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x16xcomplex<f32>> {scalify.pair})
    -> (tensor<2x16xcomplex<f32>> {scalify.pair}) {
  // CHECK:      %[[Y:.*]] = stablehlo.fft %arg0, type = {{ *}}FFT, length = [16] {scalify.forms = ["s0 level 2"]}
  %0 = stablehlo.fft %x, type = FFT, length = [16] : (tensor<2x16xcomplex<f32>>) -> tensor<2x16xcomplex<f32>>
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.fft %[[Y]], type = {{ *}}IFFT, length = [16] {scalify.forms = ["s0"]}
  %1 = stablehlo.fft %0, type = IFFT, length = [16] : (tensor<2x16xcomplex<f32>>) -> tensor<2x16xcomplex<f32>>
  // CHECK-NEXT: return %[[Z]], %arg1
  return %1 : tensor<2x16xcomplex<f32>>
}
