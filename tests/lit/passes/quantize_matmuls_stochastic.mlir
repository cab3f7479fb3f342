// RUN: rm -rf %t && mkdir %t
// RUN: printf 'base = "mxfp8"\n[blocks]\ngradient_rounding = "stochastic"\n' > %t/random.toml
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-roles,\
// RUN:     scalify-quantize-matmuls{recipe=%t/random.toml})' | %filecheck %s

// Data of gradients are rounded with random bits of a named algorithm. The key is the count of steps
// and the number of the operand.

// CHECK: func.func @main
// CHECK-SAME: %[[COUNT:[a-z0-9]+]]: tensor<i32>
// CHECK: %[[WORD:.*]] = stablehlo.convert %[[COUNT]] : (tensor<i32>) -> tensor<ui32>
// CHECK: %[[NONE:.*]] = stablehlo.constant dense<0> : tensor<2xui32>
// CHECK: %[[ONE:.*]] = stablehlo.reshape %[[WORD]]
// CHECK: %[[NUMBER:.*]] = stablehlo.constant dense<{{[0-9]+}}> : tensor<1xui32>
// CHECK: %[[WORDS:.*]] = stablehlo.concatenate %[[ONE]], %[[NUMBER]], %[[NONE]], dim = 0
// CHECK: %[[PAIRS:.*]] = stablehlo.reshape %[[WORDS]] : (tensor<4xui32>) -> tensor<2x2xui32>
// CHECK: %[[STATE:.*]] = stablehlo.bitcast_convert %[[PAIRS]] : (tensor<2x2xui32>) -> tensor<2xui64>
// CHECK: %{{.*}}, %[[RANDOM:.*]] = stablehlo.rng_bit_generator %[[STATE]], algorithm = THREE_FRY
// CHECK: %[[HIGH:.*]] = stablehlo.shift_right_logical %[[RANDOM]]
// CHECK: %[[HALF:.*]] = stablehlo.convert %[[HIGH]] : (tensor<32x64xui64>) -> tensor<32x64xui32>
// CHECK: stablehlo.shift_right_logical %[[HALF]]
// CHECK: stablehlo.is_finite
// CHECK: stablehlo.select
// CHECK: stablehlo.convert {{.*}} -> tensor<32x64xf8E4M3FN>
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x32xf32>, %n: tensor<i32>) -> (tensor<32x32xf32>, tensor<i32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %dy = stablehlo.tanh %y : tensor<64x32xf32>
  %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %new = stablehlo.subtract %w, %dw : tensor<32x32xf32>
  %next = stablehlo.add %n, %one : tensor<i32>
  return %new, %next : tensor<32x32xf32>, tensor<i32>
}
