// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A sum over 16 devices raises the level by 2.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}) -> (tensor<4xf32> {scalify.pair}) {
  // CHECK: "stablehlo.cross-replica-sum"(%arg0) {{.*}}["s0 level 2"]
  %0 = "stablehlo.cross-replica-sum"(%x) <{
    replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]> : tensor<1x16xi64>
  }> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
