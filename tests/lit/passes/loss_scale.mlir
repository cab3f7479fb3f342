// RUN: %scalify-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(scalify-loss-scale{recipe=%S/Inputs/loss_scale.toml})' \
// RUN:   | %filecheck %s

// The constant of the loss is multiplied by 2^10, and each gradient by 2^-10 where the update reads it.
// CHECK-LABEL: func.func @main
func.func @main(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<4xf32>
  // CHECK:      %[[S:.*]] = stablehlo.constant dense<1.024000e+03> : tensor<f32>
  // CHECK-NEXT: %[[AT:.*]] = stablehlo.broadcast_in_dim %[[S]]
  // CHECK-NEXT: %[[SEED:.*]] = stablehlo.multiply %{{.*}}, %[[AT]] : tensor<4xf32>
  %seed = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<4xf32> loc("transpose(jvp())/broadcast_in_dim")
  // CHECK-NEXT: %[[G:.*]] = stablehlo.multiply %[[SEED]], %arg1
  %g = stablehlo.multiply %seed, %x : tensor<4xf32> loc("transpose(jvp())/mul")
  // CHECK-NEXT: %[[I:.*]] = stablehlo.constant dense<9.765625E-4> : tensor<f32>
  // CHECK-NEXT: %[[AT:.*]] = stablehlo.broadcast_in_dim %[[I]]
  // CHECK-NEXT: %[[READ:.*]] = stablehlo.multiply %[[G]], %[[AT]] : tensor<4xf32>
  // CHECK-NEXT: stablehlo.multiply %{{.*}}, %[[READ]]
  %u = stablehlo.multiply %half, %g : tensor<4xf32> loc("mul")
  %new = stablehlo.subtract %w, %u : tensor<4xf32> loc("sub")
  return %new : tensor<4xf32>
}

// -----

// Another term of a sum is multiplied too; an exponential reads its operand without S.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}} : tensor<f32>
  // CHECK:      %[[SEED:.*]] = stablehlo.multiply %{{.*}} : tensor<f32>
  %seed = stablehlo.negate %one : tensor<f32> loc("transpose(jvp())/neg")
  // CHECK:      %[[READ:.*]] = stablehlo.multiply %[[SEED]], %{{.*}} : tensor<f32>
  // CHECK:      %[[G:.*]] = stablehlo.add %[[SEED]], %[[X]]
  %g = stablehlo.add %seed, %x : tensor<f32> loc("transpose(jvp())/add_any")
  // CHECK:      %[[OUT:.*]] = stablehlo.multiply %[[G]], %{{.*}} : tensor<f32>
  // CHECK:      %[[E:.*]] = stablehlo.exponential %[[READ]]
  %e = stablehlo.exponential %seed : tensor<f32> loc("transpose(jvp())/exp")
  // CHECK:      return %[[OUT]], %[[E]]
  return %g, %e : tensor<f32>, tensor<f32>
}

// -----

// f16 numbers are multiplied in f32, since S may be beyond their range; zeros have any scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2xf16>) -> tensor<4xf16> {
  %one = stablehlo.constant dense<1.0> : tensor<2xf16>
  %zero = stablehlo.constant dense<0.0> : tensor<f16>
  // CHECK:      %[[WIDE:.*]] = stablehlo.convert %{{.*}} : (tensor<2xf16>) -> tensor<2xf32>
  // CHECK:      %[[S:.*]] = stablehlo.multiply %[[WIDE]], %{{.*}} : tensor<2xf32>
  // CHECK-NEXT: %[[SEED:.*]] = stablehlo.convert %[[S]] : (tensor<2xf32>) -> tensor<2xf16>
  %seed = stablehlo.negate %one : tensor<2xf16> loc("transpose(jvp())/neg")
  // CHECK-NEXT: stablehlo.pad %[[SEED]], %cst
  %g = stablehlo.pad %seed, %zero, low = [1], high = [1], interior = [0] : (tensor<2xf16>, tensor<f16>) -> tensor<4xf16> loc("transpose(jvp())/pad")
  return %g : tensor<4xf16>
}
