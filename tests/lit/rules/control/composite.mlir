// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A composite becomes the call of a copy of its decomposition, unless the copy would be the same.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}, tensor<2x3xf32> {scalify.pair}) {
  // CHECK-NEXT: %[[F:.*]] = call @[[COPY:.*]](%arg0, %arg2, %arg1, %arg3) {scalify.forms = ["s0"]}
  %0 = stablehlo.composite "some.op" %x, %y {decomposition = @f}
    : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[G:.*]] = stablehlo.composite "other.op" %arg0 {decomposition = @g, scalify.forms = ["s0"]}
  %1 = stablehlo.composite "other.op" %x {decomposition = @g}
    : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[F]], %arg1, %[[G]], %arg1 :
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK:      func.func private @[[COPY]](%{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>)
func.func private @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %a, %b : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK:      func.func private @g(
func.func private @g(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.abs %a : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A composite that is named for an op which reads values is given values.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}) -> tensor<2x3xf32> {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.composite "chlo.erf" %[[X]] {decomposition = @erf
  %0 = stablehlo.composite "chlo.erf" %x {decomposition = @erf}
    : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[Y]] :
  return %0 : tensor<2x3xf32>
}

func.func private @erf(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.tanh %a : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
