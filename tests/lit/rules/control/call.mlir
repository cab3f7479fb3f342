// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// func.call: a function is copied for each combination of scales that it is called with.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32> {scalify.pair}, %y: tensor<2x3xf32> {scalify.pair})
    -> (tensor<2x3xf32> {scalify.pair}, tensor<2x3xf32> {scalify.pair}) {
  // CHECK:      %[[A:.*]] = call @[[TWO:.*]](%arg0, %arg2, %arg1, %arg3) {scalify.forms = ["s0"]}
  %0 = func.call @f(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[B:.*]] = call @f(%arg2, %arg2) {scalify.forms = ["s1"]}
  %1 = func.call @f(%y, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[A]], %arg1, %[[B]], %arg3 :
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-DAG:  func.func private @[[TWO]](%{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>)
// CHECK-DAG:  func.func private @f(%{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<2x3xf32>) ->
func.func private @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %a, %b : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
