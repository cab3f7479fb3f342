// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-measure-inputs{inputs=x,unused})' | %filecheck %s

// The argument that a narrow cast reads gets a marker, which its other users read, but not the
// return of the function. No cast depends on the other argument.

// CHECK: @main(%[[X:.*]]: tensor<4x4xf32>, %[[UNUSED:.*]]: tensor<4x4xf32>)
// CHECK: %[[MARKED:.*]] = stablehlo.optimization_barrier {scalify.bound = 100 : i64, scalify.headroom = 2 : i64, scalify.marker = "dynamic_rescale", scalify.peak = "unknown", scalify.statistic = "max"} %[[X]]
// CHECK-NEXT: %{{.*}} = stablehlo.convert %[[MARKED]]
// CHECK-NEXT: %{{.*}} = stablehlo.tanh %[[MARKED]]
// CHECK-NEXT: %{{.*}} = stablehlo.tanh %[[UNUSED]]
// CHECK: return %[[X]]
func.func @main(%x: tensor<4x4xf32> loc("x"), %unused: tensor<4x4xf32> loc("unused")) -> (tensor<4x4xf32>, tensor<4x4xf8E4M3FN>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.convert %x {scalify.cast = "data"} : (tensor<4x4xf32>) -> tensor<4x4xf8E4M3FN>
  %1 = stablehlo.tanh %x : tensor<4x4xf32>
  %2 = stablehlo.tanh %unused : tensor<4x4xf32>
  return %x, %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf8E4M3FN>, tensor<4x4xf32>, tensor<4x4xf32>
}
