// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A = L * L^T is of degree 2 in L: the root of the scale, as for sqrt.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<3x3xf32> {scalify.pair}) -> (tensor<3x3xf32> {scalify.pair}) {
  // CHECK:      %[[ROOT:.*]] = stablehlo.sqrt %arg1 : tensor<f32>
  // CHECK-NEXT: %[[H:.*]] = stablehlo.reduce_precision %[[ROOT]], format = e8m0
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: %[[L:.*]] = stablehlo.cholesky %[[X]], lower = true {scalify.forms = ["s1"]}
  %0 = stablehlo.cholesky %x, lower = true : tensor<3x3xf32>
  // CHECK-NEXT: return %[[L]], %[[H]]
  return %0 : tensor<3x3xf32>
}

// -----

// An even static exponent is halved.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<3x3xf32> {scalify.scale = -4 : i64})
    -> (tensor<3x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK-NEXT: stablehlo.cholesky %[[X]], lower = true {scalify.forms = ["2^-2"]}
  %0 = stablehlo.cholesky %x, lower = true : tensor<3x3xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<f32>
  return %0 : tensor<3x3xf32>
}
