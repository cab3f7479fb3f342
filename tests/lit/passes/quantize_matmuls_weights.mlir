// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-quantize-matmuls{recipe=%S/Inputs/weights.toml})' | %filecheck %s

// A weight that only matmuls read is an argument in their format, and XLA does not join its matmuls.
// CHECK-LABEL: func.func @main
// CHECK-SAME:      %[[V:.*]]: tensor<64x64xf8E4M3FN> {scalify.pair}
// CHECK-SAME:      %[[W:.*]]: tensor<64x4x16xf8E4M3FN> {scalify.pair}
// CHECK-SAME:      %[[X:.*]]: tensor<32x64xf32> {scalify.pair}
func.func @main(%v: tensor<64x64xf32> {scalify.pair}, %w: tensor<64x4x16xf32> {scalify.pair},
                %x: tensor<32x64xf32> {scalify.pair}) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  // CHECK-NEXT: %[[N:.*]] = stablehlo.convert %[[X]] {scalify.cast = "data"}
  // CHECK-NEXT: %[[B:.*]]:2 = stablehlo.optimization_barrier %[[N]], %[[N]]
  // CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[W]] : (tensor<64x4x16xf8E4M3FN>) -> tensor<64x64xf8E4M3FN>
  // CHECK-NEXT: stablehlo.dot_general %[[B]]#0, %[[V]]
  // CHECK-NEXT: stablehlo.dot_general %[[B]]#1, %[[R]]
  %r = stablehlo.reshape %w : (tensor<64x4x16xf32>) -> tensor<64x64xf32>
  %0 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0]
      {scalify.part = "forward", scalify.roles = ["activation", "weight"], scalify.site = ["a@forward", "a"]}
      : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  %1 = stablehlo.dot_general %x, %r, contracting_dims = [1] x [0]
      {scalify.part = "forward", scalify.roles = ["activation", "weight"], scalify.site = ["b@forward", "b"]}
      : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  return %0, %1 : tensor<32x64xf32>, tensor<32x64xf32>
}

// -----

// Something else reads it too.
// CHECK-LABEL: func.func @main
// CHECK-SAME:      %[[W:.*]]: tensor<64x64xf32> {scalify.pair}
func.func @main(%w: tensor<64x64xf32> {scalify.pair},
                %x: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<64x64xf32>) {
  // CHECK: stablehlo.convert %[[W]] {scalify.cast = "data"}
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      {scalify.part = "forward", scalify.roles = ["activation", "weight"], scalify.site = ["a@forward", "a"]}
      : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  %1 = stablehlo.negate %w : tensor<64x64xf32>
  return %0, %1 : tensor<32x64xf32>, tensor<64x64xf32>
}

// -----

// A loop slices it, and a function passes it on.
// CHECK-LABEL: func.func @main
// CHECK-SAME:      %[[W:.*]]: tensor<4x64x64xf8E4M3FN> {scalify.pair}
// CHECK:       func.func private @layer(%{{.*}}: tensor<64x64xf8E4M3FN>, %{{.*}}: tensor<32x64xf32>)
func.func @main(%w: tensor<4x64x64xf32> {scalify.pair}, %x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c4 = stablehlo.constant dense<4> : tensor<i32>
  %0:3 = stablehlo.while(%all = %w, %i = %c0, %h = %x)
      : tensor<4x64x64xf32>, tensor<i32>, tensor<32x64xf32>
  cond {
    %more = stablehlo.compare LT, %i, %c4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %slice = stablehlo.dynamic_slice %all, %i, %c0, %c0, sizes = [1, 64, 64]
        : (tensor<4x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
    %one = stablehlo.reshape %slice : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %y = func.call @layer(%one, %h) : (tensor<64x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
    %next = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %all, %next, %y : tensor<4x64x64xf32>, tensor<i32>, tensor<32x64xf32>
  }
  return %0#2 : tensor<32x64xf32>
}

func.func private @layer(%w: tensor<64x64xf32>, %x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      {scalify.part = "forward", scalify.roles = ["activation", "weight"], scalify.site = ["a@forward", "a"]}
      : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}
