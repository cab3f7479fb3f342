// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate)' | %filecheck %s

// A statistic of the data, rounded by its exponent bits, moves from the data to the scale. What is
// made of the new scale is built after it. Barriers keep XLA from repeating both in each reader, and
// where it drops barriers early, a division does: the scale is 1 over its reciprocal.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<8xf32>, %arg1: tensor<f32>
func.func @main(%x: tensor<8xf32> {scalify.pair}) -> (tensor<8xf32> {scalify.pair}) {
  // CHECK: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00>
  // CHECK: %[[KEPT:.*]] = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
  // CHECK: %[[SQUARE:.*]] = stablehlo.multiply %[[KEPT]], %[[KEPT]]
  // CHECK: %[[FINITE:.*]] = stablehlo.is_finite %[[KEPT]]
  // CHECK: %[[TERMS:.*]] = stablehlo.select %[[FINITE]], %[[SQUARE]]
  // CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[TERMS]] {{.*}} stablehlo.add
  // CHECK: %[[MEAN:.*]] = stablehlo.multiply %[[SUM]]
  // CHECK: %[[RMS:.*]] = stablehlo.sqrt %[[MEAN]]
  // CHECK: %[[BITS:.*]] = stablehlo.bitcast_convert %[[RMS]] : (tensor<f32>) -> tensor<ui32>
  // CHECK: %[[MASKED:.*]] = stablehlo.and %[[BITS]]
  // CHECK: %[[USABLE:.*]] = stablehlo.compare LT
  // CHECK: %[[POWER:.*]] = stablehlo.bitcast_convert %[[MASKED]] : (tensor<ui32>) -> tensor<f32>
  // CHECK: %[[BY:.*]] = stablehlo.select %[[USABLE]], %[[POWER]], %[[ONE]]
  // CHECK: %[[NEW:.*]] = stablehlo.multiply %[[BY]], %arg1
  // CHECK: %[[CLAMPED:.*]] = stablehlo.clamp %{{.*}}, %[[NEW]], %{{.*}}
  // CHECK: %[[UPSIDE:.*]] = stablehlo.bitcast_convert %[[CLAMPED]] : (tensor<f32>) -> tensor<ui32>
  // CHECK: %[[DOWN:.*]] = stablehlo.subtract %{{.*}}, %[[UPSIDE]] : tensor<ui32>
  // CHECK: %[[INVERSE:.*]] = stablehlo.bitcast_convert %[[DOWN]] : (tensor<ui32>) -> tensor<f32>
  // CHECK: %[[QUOTIENT:.*]] = stablehlo.divide %{{.*}}, %[[INVERSE]] : tensor<f32>
  // CHECK: %[[SCALE:.*]] = stablehlo.optimization_barrier %[[QUOTIENT]] : tensor<f32>
  // CHECK: %[[FACTOR:.*]] = stablehlo.divide %arg1, %[[SCALE]]
  // CHECK: %[[EACH:.*]] = stablehlo.broadcast_in_dim %[[FACTOR]]
  // CHECK: %[[DATA:.*]] = stablehlo.multiply %[[KEPT]], %[[EACH]]
  %0 = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.statistic = "l2"} %x : tensor<8xf32>
  // CHECK: return %[[DATA]], %[[SCALE]]
  return %0 : tensor<8xf32>
}

// -----

// A constant scale is static, and costs no scalar op.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32> {scalify.pair}) {
  %s = stablehlo.constant dense<4.0> : tensor<f32>
  // CHECK: %[[QUARTER:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<8xf32>
  // CHECK: %[[DATA:.*]] = stablehlo.multiply %arg0, %[[QUARTER]]
  // CHECK: %[[FOUR:.*]] = stablehlo.constant dense<4.000000e+00> : tensor<f32>
  // CHECK: return %[[DATA]], %[[FOUR]]
  %0:2 = stablehlo.optimization_barrier {scalify.marker = "set_scaling"} %x, %s : tensor<8xf32>, tensor<f32>
  return %0#0 : tensor<8xf32>
}

// -----

// In a per-device computation the statistic is that of all devices.
sdy.mesh @mesh = <["a"=2, "b"=2]>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32> {scalify.pair}) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"b"}]>] out_shardings=[<@mesh, [{"b"}]>] manual_axes={"b"} (%a: tensor<4xf32>) {
    // CHECK: %[[EIGHTH:.*]] = stablehlo.constant dense<1.250000e-01>
    // CHECK: %[[SUM:.*]] = stablehlo.reduce
    // CHECK: "stablehlo.all_reduce"(%[[SUM]])
    // CHECK-SAME{LITERAL}: dense<[[0, 1], [2, 3]]>
    // CHECK: stablehlo.multiply %{{.*}}, %[[EIGHTH]]
    %1 = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.statistic = "l1"} %a : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
