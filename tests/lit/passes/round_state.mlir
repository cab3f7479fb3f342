// RUN: rm -rf %t && mkdir %t
// RUN: printf 'base = "propagate"\n[state]\nweight = "bf16"\nweight_rounding = "stochastic"\n' > %t/random.toml
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-signature{signature=scaled},\
// RUN:     scalify-roles,scalify-narrow-state{recipe=%t/random.toml})' | %filecheck %s --check-prefix=MARKED
// RUN: %scalify-opt %s --pass-pipeline='builtin.module(scalify-signature{signature=scaled},\
// RUN:     scalify-roles,scalify-narrow-state{recipe=%t/random.toml},\
// RUN:     scalify-propagate{recipe=%t/random.toml},scalify-round-state)' | %filecheck %s

// The cast of a weight is marked with the number of its result.

// MARKED: %[[NEW:.*]] = stablehlo.convert %{{.*}} {scalify.cast = "state", scalify.rounded = 0 : i64}
// MARKED: return %[[NEW]] :

// Its data are rounded to a number of bf16 before: 16 bits of them are dropped. The number of the first
// weight in the key is 2^31, and without a count of steps the rest of the key is a hash of the data.

// CHECK: %[[DATA:.*]] = stablehlo.subtract
// CHECK: %[[HASH:.*]] = stablehlo.reduce({{.*}} applies stablehlo.add across dimensions = [0, 1] : (tensor<32x16xui32>, tensor<ui32>) -> tensor<ui32>
// CHECK: %[[SIZE:.*]] = stablehlo.abs %[[DATA]]
// CHECK: %[[SUM:.*]] = stablehlo.add %[[SIZE]],
// CHECK: %[[BITS:.*]] = stablehlo.bitcast_convert %[[SUM]] : (tensor<32x16xf32>) -> tensor<32x16xui32>
// CHECK: reshape %[[HASH]] : (tensor<ui32>) -> tensor<1xui32>
// CHECK: constant dense<2147483648> : tensor<1xui32>
// CHECK: %{{.*}}, %[[DRAWN:.*]] = stablehlo.rng_bit_generator %{{.*}}, algorithm = THREE_FRY {{.*}} tensor<32x16xui64>)
// CHECK: %[[HIGH:.*]] = stablehlo.shift_right_logical %[[DRAWN]],
// CHECK: %[[WORDS:.*]] = stablehlo.convert %[[HIGH]] : (tensor<32x16xui64>) -> tensor<32x16xui32>
// CHECK: constant dense<16> : tensor<32x16xui32>
// CHECK: %[[NOISE:.*]] = stablehlo.shift_right_logical %[[WORDS]],
// CHECK: constant dense<4294901760> : tensor<32x16xui32>
// CHECK: add %[[BITS]], %[[NOISE]]
// CHECK: %[[FINITE:.*]] = stablehlo.is_finite %[[DATA]]
// CHECK: %[[ROUNDED:.*]] = stablehlo.select %[[FINITE]], %{{.*}}, %[[DATA]]
// CHECK: %[[NEW:.*]] = stablehlo.convert %[[ROUNDED]] : (tensor<32x16xf32>) -> tensor<32x16xbf16>
// CHECK: return %[[NEW]],
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %dy = stablehlo.tanh %y : tensor<64x16xf32>
  %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %new = stablehlo.subtract %w, %dw : tensor<32x16xf32>
  return %new : tensor<32x16xf32>
}
