// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-propagate{annotate},symbol-dce)' \
// RUN:   | %filecheck %s

// A private function is copied for each pattern of scales that it is called with. Scales that its
// data meet go in as arguments; those of its results come back without any op.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}, %y: tensor<4xf32> {scalify.pair}, %z: tensor<4xf32>)
    -> (tensor<4xf32> {scalify.pair}, tensor<4xf32> {scalify.pair}, tensor<4xf32>, tensor<4xf32>) {
  // CHECK:      %[[A:.*]] = call @exp_times[[COPY:.*]](%arg0, %arg1) {scalify.forms = ["s0"]}
  %0 = call @exp_times(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // The same pattern, so the same copy.
  // CHECK-NEXT: %[[B:.*]] = call @exp_times[[COPY]](%arg2, %arg3) {scalify.forms = ["s1"]}
  %1 = call @exp_times(%y) : (tensor<4xf32>) -> tensor<4xf32>
  // Called with unscaled values it is the original.
  // CHECK-NEXT: %[[C:.*]] = call @exp_times(%arg4) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @exp_times(%z) : (tensor<4xf32>) -> tensor<4xf32>
  // A copy that would be the original is none.
  // CHECK-NEXT: %[[D:.*]] = call @twice(%arg4) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = call @twice(%z) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK:      func.func private @exp_times[[COPY]](%arg0: tensor<4xf32>, %arg1: tensor<f32>)
// CHECK:        %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}} : tensor<4xf32>
// CHECK-NEXT:   %[[E:.*]] = stablehlo.exponential %[[X]] : tensor<4xf32>
// CHECK-NEXT:   %[[Y:.*]] = stablehlo.multiply %[[E]], %arg0 {scalify.forms = ["s0"]}
// CHECK-NEXT:   return %[[Y]] : tensor<4xf32>
// CHECK-LABEL: func.func private @exp_times(
func.func private @exp_times(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: stablehlo.exponential %arg0 : tensor<4xf32>
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = stablehlo.multiply %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}

func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
