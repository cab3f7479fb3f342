// REQUIRES: collective_reduce
// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A sum over 16 devices for one of them raises the level by 2; the others receive zeros.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}) -> tensor<4xf32> {
  // CHECK: %[[SUM:.*]] = "stablehlo.collective_reduce"(%arg0)
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]> : tensor<1x16xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: scalify.forms = ["s0 level 2"]
  return %0 : tensor<4xf32>
}

// -----

// The largest of equal constants is that constant on one device, and zero on the others.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}) -> (tensor<4xf32> {scalify.pair}) {
  %c = stablehlo.constant dense<2.0> : tensor<4xf32>
  // CHECK: %[[MAX:.*]] = "stablehlo.collective_reduce"(%{{.*}})
  %0 = "stablehlo.collective_reduce"(%c) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[BROUGHT:.*]] = stablehlo.multiply %[[MAX]], %{{.*}}
  // CHECK: stablehlo.add %arg0, %[[BROUGHT]]
  %2 = stablehlo.add %x, %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
