// RUN: %scalify-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(scalify-late-factors)' | %filecheck %s

// Two gradients of one activation, of which devices have parts: their scale follows their sum, and
// the changes of its sharding.
module attributes {mhlo.num_partitions = 8 : i32} {
sdy.mesh @mesh = <["d"=8]>
// CHECK-LABEL: func.func @main
// CHECK:         %[[A:.*]] = stablehlo.dot_general %arg0, %arg1
// CHECK:         %[[B:.*]] = stablehlo.dot_general %arg2, %arg3
// CHECK:         %[[SUM:.*]] = stablehlo.add %[[A]], %[[B]] : tensor<64x32xbf16>
// CHECK-NEXT:    %[[WHOLE:.*]] = sdy.sharding_constraint %[[SUM]] <@mesh, [{}, {}]>
// CHECK-NEXT:    %[[ROWS:.*]] = sdy.sharding_constraint %[[WHOLE]] <@mesh, [{"d"}, {}]>
// CHECK-NEXT:    %[[Y:.*]] = stablehlo.multiply %[[ROWS]], %{{.*}} : tensor<64x32xbf16>
// CHECK-NEXT:    return %[[Y]]
func.func @main(%g: tensor<64x16xf8E5M2>, %w: tensor<32x16xf8E4M3FN>, %h: tensor<64x16xf8E5M2>, %v: tensor<32x16xf8E4M3FN>) -> tensor<64x32xbf16> {
  %a = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<64x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<64x32xbf16>
  %c = stablehlo.constant dense<0.25> : tensor<64x32xbf16>
  %0 = stablehlo.multiply %a, %c : tensor<64x32xbf16>
  %b = stablehlo.dot_general %h, %v, contracting_dims = [1] x [1] : (tensor<64x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<64x32xbf16>
  %d = stablehlo.constant dense<0.25> : tensor<64x32xbf16>
  %1 = stablehlo.multiply %d, %b : tensor<64x32xbf16>
  %2 = stablehlo.add %0, %1 : tensor<64x32xbf16>
  %3 = sdy.sharding_constraint %2 <@mesh, [{}, {}]> : tensor<64x32xbf16>
  %4 = sdy.sharding_constraint %3 <@mesh, [{"d"}, {}]> : tensor<64x32xbf16>
  return %4 : tensor<64x32xbf16>
}
}

// -----

// Three summands at one scale that the program computes: only the last sum was scaled.
module attributes {mhlo.num_partitions = 8 : i32} {
sdy.mesh @mesh = <["d"=8]>
// CHECK-LABEL: func.func @main
// CHECK:         %[[PLACED:.*]] = sdy.sharding_constraint %{{.*}} <@mesh, [{"d"}, {}]>
// CHECK-NEXT:    %[[Y:.*]] = stablehlo.multiply %[[PLACED]], %{{.*}} : tensor<64x32xbf16>
// CHECK-NEXT:    return %[[Y]]
func.func @main(%g: tensor<64x16xf8E5M2>, %w: tensor<32x16xf8E4M3FN>, %s: tensor<bf16>) -> tensor<64x32xbf16> {
  %a = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<64x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<64x32xbf16>
  %b = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<64x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<64x32xbf16>
  %0 = stablehlo.add %a, %b : tensor<64x32xbf16>
  %c = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<bf16>) -> tensor<64x32xbf16>
  %1 = stablehlo.multiply %0, %c : tensor<64x32xbf16>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"d"}, {}]> : tensor<64x32xbf16>
  return %2 : tensor<64x32xbf16>
}
}

// -----

// Scales that differ, or that are no powers of two, stay where they are. So does the scale of a
// product that is read twice, and all scales of a matmul of wide operands.
module attributes {mhlo.num_partitions = 8 : i32} {
sdy.mesh @mesh = <["d"=8]>
// CHECK-LABEL: func.func @main
// CHECK:         %[[A:.*]] = stablehlo.dot_general
// CHECK-NEXT:    %[[C:.*]] = stablehlo.constant dense<2.500000e-01>
// CHECK-NEXT:    stablehlo.multiply %[[A]], %[[C]]
// CHECK:         %[[S:.*]] = stablehlo.add
// CHECK:         %[[T:.*]] = stablehlo.add
// CHECK:         %[[READ:.*]] = stablehlo.multiply
// CHECK:         sdy.sharding_constraint %[[READ]]
// CHECK:         %[[WIDE:.*]] = stablehlo.multiply
// CHECK:         sdy.sharding_constraint %[[WIDE]]
// CHECK-NEXT:    return
func.func @main(%g: tensor<64x16xf8E5M2>, %w: tensor<32x16xf8E4M3FN>, %x: tensor<64x16xbf16>, %v: tensor<32x16xbf16>) -> (tensor<64x32xbf16>, tensor<64x32xbf16>, tensor<64x32xbf16>, tensor<64x32xbf16>, tensor<64x32xbf16>) {
  %a = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<64x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<64x32xbf16>
  %c = stablehlo.constant dense<0.25> : tensor<64x32xbf16>
  %0 = stablehlo.multiply %a, %c : tensor<64x32xbf16>
  %b = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<64x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<64x32xbf16>
  %d = stablehlo.constant dense<0.5> : tensor<64x32xbf16>
  %1 = stablehlo.multiply %b, %d : tensor<64x32xbf16>
  %2 = stablehlo.add %0, %1 : tensor<64x32xbf16>
  %three = stablehlo.constant dense<3.0> : tensor<64x32xbf16>
  %e = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<64x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<64x32xbf16>
  %f = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<64x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<64x32xbf16>
  %3 = stablehlo.multiply %e, %three : tensor<64x32xbf16>
  %4 = stablehlo.multiply %f, %three : tensor<64x32xbf16>
  %5 = stablehlo.add %3, %4 : tensor<64x32xbf16>
  %h = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<64x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<64x32xbf16>
  %6 = stablehlo.multiply %h, %c : tensor<64x32xbf16>
  %7 = sdy.sharding_constraint %6 <@mesh, [{"d"}, {}]> : tensor<64x32xbf16>
  %k = stablehlo.dot_general %x, %v, contracting_dims = [1] x [1] : (tensor<64x16xbf16>, tensor<32x16xbf16>) -> tensor<64x32xbf16>
  %8 = stablehlo.multiply %k, %c : tensor<64x32xbf16>
  %9 = sdy.sharding_constraint %8 <@mesh, [{"d"}, {}]> : tensor<64x32xbf16>
  return %2, %5, %6, %7, %9 : tensor<64x32xbf16>, tensor<64x32xbf16>, tensor<64x32xbf16>, tensor<64x32xbf16>, tensor<64x32xbf16>
}
}

// -----

// In f16, the sum of the matmuls could be infinite.
module attributes {mhlo.num_partitions = 8 : i32} {
sdy.mesh @mesh = <["d"=8]>
// CHECK-LABEL: func.func @main
// CHECK:         %[[X:.*]] = stablehlo.multiply
// CHECK:         %[[Y:.*]] = stablehlo.multiply
// CHECK-NEXT:    %[[SUM:.*]] = stablehlo.add %[[X]], %[[Y]] : tensor<64x32xf16>
// CHECK-NEXT:    return %[[SUM]]
func.func @main(%g: tensor<64x16xf8E5M2>, %w: tensor<32x16xf8E4M3FN>) -> tensor<64x32xf16> {
  %c = stablehlo.constant dense<0.25> : tensor<64x32xf16>
  %a = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<64x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<64x32xf16>
  %0 = stablehlo.multiply %a, %c : tensor<64x32xf16>
  %b = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<64x16xf8E5M2>, tensor<32x16xf8E4M3FN>) -> tensor<64x32xf16>
  %1 = stablehlo.multiply %b, %c : tensor<64x32xf16>
  %2 = stablehlo.add %0, %1 : tensor<64x32xf16>
  return %2 : tensor<64x32xf16>
}
}
