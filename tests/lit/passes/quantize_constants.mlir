// RUN: %scalify-opt %s --split-input-file \
// RUN:     --pass-pipeline='builtin.module(scalify-quantize-constants)' | %filecheck %s

// A constant that is cast becomes one in that format, data over the power of two below its rms.
// CHECK-LABEL: func.func @main
func.func @main() -> tensor<2xf8E4M3FN> {
  // CHECK-NEXT: %[[W:.*]] = stablehlo.constant {scalify.constant_scale = 2 : i64}
  // CHECK-SAME:     dense<[7.500000e-01, 1.250000e+00]> : tensor<2xf8E4M3FN>
  // CHECK-NEXT: return %[[W]]
  %w = stablehlo.constant dense<[3.0, 5.0]> : tensor<2xf32>
  %0 = stablehlo.convert %w {scalify.cast = "data"} : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  return %0 : tensor<2xf8E4M3FN>
}

// -----

// What moves elements moves the narrow ones; the wide constant stays where something reads it.
// CHECK-LABEL: func.func @main
func.func @main() -> (tensor<2x2xf8E5M2>, tensor<4xf32>) {
  // CHECK-NEXT: %[[N:.*]] = stablehlo.constant {scalify.constant_scale = 1 : i64}
  // CHECK-SAME:     tensor<4xf8E5M2>
  // CHECK-NEXT: %[[W:.*]] = stablehlo.constant {{.*}} : tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[N]] : (tensor<4xf8E5M2>) -> tensor<2x2xf8E5M2>
  // CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [1, 0]
  // CHECK-NEXT: return %[[T]], %[[W]]
  %w = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = stablehlo.reshape %w : (tensor<4xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.convert %1 {scalify.cast = "data"} : (tensor<2x2xf32>) -> tensor<2x2xf8E5M2>
  return %2, %w : tensor<2x2xf8E5M2>, tensor<4xf32>
}

// -----

// Constants of one value adopt scales, and stay.
// CHECK-LABEL: func.func @main
func.func @main() -> tensor<2xf8E4M3FN> {
  // CHECK: stablehlo.convert {{.*}} {scalify.cast = "data"}
  %w = stablehlo.constant dense<3.0> : tensor<2xf32>
  %0 = stablehlo.convert %w {scalify.cast = "data"} : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  return %0 : tensor<2xf8E4M3FN>
}

// -----

// A loop carries no constant around that it only casts.
// CHECK-LABEL: func.func @main
func.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<2xf8E4M3FN>) {
  // CHECK: %[[N:.*]] = stablehlo.constant {scalify.constant_scale = 2 : i64}
  // CHECK: stablehlo.while(%[[I:.*]] = %arg0, %{{.*}} = %{{.*}}) : tensor<i32>, tensor<2xf8E4M3FN>
  // CHECK: stablehlo.return %{{.*}}, %[[N]] : tensor<i32>, tensor<2xf8E4M3FN>
  %w = stablehlo.constant dense<[3.0, 5.0]> : tensor<2xf32>
  %s = stablehlo.constant dense<1.0> : tensor<2xf8E4M3FN>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%i = %n, %v = %w, %a = %s)
      : tensor<i32>, tensor<2xf32>, tensor<2xf8E4M3FN>
   cond {
    %c = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1 = stablehlo.convert %v {scalify.cast = "data"} : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %v, %1 : tensor<i32>, tensor<2xf32>, tensor<2xf8E4M3FN>
  }
  return %0#0, %0#2 : tensor<i32>, tensor<2xf8E4M3FN>
}

// -----

// A function that casts its argument takes it narrow, where it is called with a constant.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>) {
  // CHECK: %[[X:.*]] = stablehlo.convert %arg0 {scalify.cast = "data"}
  // CHECK: %[[N:.*]] = stablehlo.constant {scalify.constant_scale = 2 : i64}
  // CHECK-NEXT: call @f(%[[N]]) : (tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN>
  // CHECK-NEXT: call @f(%[[X]]) : (tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN>
  %w = stablehlo.constant dense<[3.0, 5.0]> : tensor<2xf32>
  %0 = call @f(%w) : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %1 = call @f(%x) : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  return %0, %1 : tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>
}
// CHECK-LABEL: func.func private @f(%arg0: tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN>
func.func private @f(%w: tensor<2xf32>) -> tensor<2xf8E4M3FN> {
  // CHECK-NEXT: stablehlo.reverse %arg0, dims = [0] : tensor<2xf8E4M3FN>
  %0 = stablehlo.reverse %w, dims = [0] : tensor<2xf32>
  %1 = stablehlo.convert %0 {scalify.cast = "data"} : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  return %1 : tensor<2xf8E4M3FN>
}

// -----

// So does one in which a loop carries the argument to its cast.
// CHECK-LABEL: func.func @main
func.func @main(%n: tensor<i32>) -> tensor<2xf8E4M3FN> {
  // CHECK: %[[N:.*]] = stablehlo.constant {scalify.constant_scale = 2 : i64}
  // CHECK: call @f(%{{.*}}, %[[N]]) : (tensor<i32>, tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN>
  %w = stablehlo.constant dense<[3.0, 5.0]> : tensor<2xf32>
  %0 = call @f(%n, %w) : (tensor<i32>, tensor<2xf32>) -> tensor<2xf8E4M3FN>
  return %0 : tensor<2xf8E4M3FN>
}
// CHECK-LABEL: func.func private @f(%arg0: tensor<i32>, %arg1: tensor<2xf8E4M3FN>)
func.func private @f(%n: tensor<i32>, %w: tensor<2xf32>) -> tensor<2xf8E4M3FN> {
  %s = stablehlo.constant dense<1.0> : tensor<2xf8E4M3FN>
  %one = stablehlo.constant dense<1> : tensor<i32>
  // CHECK: stablehlo.while({{.*}}) : tensor<i32>, tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>
  %0:3 = stablehlo.while(%i = %n, %v = %w, %a = %s)
      : tensor<i32>, tensor<2xf32>, tensor<2xf8E4M3FN>
   cond {
    %c = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1 = stablehlo.convert %v {scalify.cast = "data"} : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %v, %1 : tensor<i32>, tensor<2xf32>, tensor<2xf8E4M3FN>
  }
  return %0#2 : tensor<2xf8E4M3FN>
}
