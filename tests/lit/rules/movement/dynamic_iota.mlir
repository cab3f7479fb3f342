// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// Counts are unscaled, and scale nothing in a product.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %n: tensor<2xi32>)
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[N:.*]] = stablehlo.dynamic_iota %arg2, dim = 1 :
  %i = stablehlo.dynamic_iota %n, dim = 1 : (tensor<2xi32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.multiply %arg0, %[[N]] {scalify.forms = ["s0"]}
  %0 = stablehlo.multiply %x, %i : tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]], %arg1
  return %0 : tensor<2x3xf32>
}

// -----

// In a sum they are brought to the scale of their partner.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.scale = -4 : i64}, %n: tensor<2xi32>)
    -> (tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[SPLIT:.*]] = stablehlo.constant {{.*}}dense<1.600000e+01>
  // CHECK-NEXT: %[[X:.*]] = stablehlo.multiply %arg0, %[[SPLIT]] {scalify.forms = ["2^-4"]}
  // CHECK:      %[[N:.*]] = stablehlo.dynamic_iota %arg1, dim = 1 :
  %i = stablehlo.dynamic_iota %n, dim = 1 : (tensor<2xi32>) -> tensor<2x3xf32>
  // CHECK:      %[[Y:.*]] = stablehlo.multiply %[[N]], %{{.*}}
  // CHECK-NEXT: stablehlo.add %[[X]], %[[Y]] {scalify.forms = ["2^-4"]}
  %0 = stablehlo.add %x, %i : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
