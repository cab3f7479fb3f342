// RUN: %scalify-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(scalify-cast-again)' \
// RUN:   | %filecheck %s

// Two layers of x @ w, whose weights are updated with their gradients. The cast of the second
// weight is read in both directions. A barrier keeps its second cast apart, and the update reads
// the same value.
// CHECK-LABEL: func.func @main
// CHECK:         %[[A:.*]] = stablehlo.convert %arg0 : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E4M3FN>
// CHECK:         %[[B:.*]] = stablehlo.convert %arg1
// CHECK:         %[[Y:.*]] = stablehlo.dot_general %arg2, %[[A]], contracting_dims = [1] x [0]
// CHECK:         %[[DB:.*]] = stablehlo.dot_general %{{.*}}, contracting_dims = [0] x [0]
// CHECK:         %[[FLAT:.*]] = stablehlo.reshape %arg1 : (tensor<1024x1024xbf16>) -> tensor<1048576xbf16>
// CHECK:         %[[APART:.*]] = stablehlo.optimization_barrier %[[FLAT]]
// CHECK:         %[[WIDE:.*]] = stablehlo.reshape %[[APART]] : (tensor<1048576xbf16>) -> tensor<1024x1024xbf16>
// CHECK:         %[[AGAIN:.*]] = stablehlo.convert %[[WIDE]] : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E4M3FN>
// CHECK:         stablehlo.dot_general %{{.*}}, %[[AGAIN]], contracting_dims = [1] x [1]
// CHECK:         stablehlo.subtract %{{.*}}, %{{.*}} : tensor<1024x1024xbf16>
// CHECK:         stablehlo.subtract %[[WIDE]], %[[DB]]
func.func @main(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>, %x: tensor<16x1024xf8E4M3FN>)
    -> (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<16x1024xbf16>) {
  %qa = stablehlo.convert %a : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E4M3FN>
  %qb = stablehlo.convert %b : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E4M3FN>
  %y = stablehlo.dot_general %x, %qa, contracting_dims = [1] x [0] : (tensor<16x1024xf8E4M3FN>, tensor<1024x1024xf8E4M3FN>) -> tensor<16x1024xbf16>
  %qy = stablehlo.convert %y : (tensor<16x1024xbf16>) -> tensor<16x1024xf8E4M3FN>
  %z = stablehlo.dot_general %qy, %qb, contracting_dims = [1] x [0] : (tensor<16x1024xf8E4M3FN>, tensor<1024x1024xf8E4M3FN>) -> tensor<16x1024xbf16>
  %dz = stablehlo.convert %z : (tensor<16x1024xbf16>) -> tensor<16x1024xf8E5M2>
  %db = stablehlo.dot_general %qy, %dz, contracting_dims = [0] x [0] : (tensor<16x1024xf8E4M3FN>, tensor<16x1024xf8E5M2>) -> tensor<1024x1024xbf16>
  %dy = stablehlo.dot_general %dz, %qb, contracting_dims = [1] x [1] : (tensor<16x1024xf8E5M2>, tensor<1024x1024xf8E4M3FN>) -> tensor<16x1024xbf16>
  %qdy = stablehlo.convert %dy : (tensor<16x1024xbf16>) -> tensor<16x1024xf8E5M2>
  %da = stablehlo.dot_general %x, %qdy, contracting_dims = [0] x [0] : (tensor<16x1024xf8E4M3FN>, tensor<16x1024xf8E5M2>) -> tensor<1024x1024xbf16>
  %dx = stablehlo.dot_general %qdy, %qa, contracting_dims = [1] x [1] : (tensor<16x1024xf8E5M2>, tensor<1024x1024xf8E4M3FN>) -> tensor<16x1024xbf16>
  %na = stablehlo.subtract %a, %da : tensor<1024x1024xbf16>
  %nb = stablehlo.subtract %b, %db : tensor<1024x1024xbf16>
  return %na, %nb, %dx : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<16x1024xbf16>
}

// -----

// An update that needs the gradient of the input, as with gradients that are clipped by their
// common norm, cannot be computed before that gradient.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     stablehlo.optimization_barrier
func.func @main(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>, %x: tensor<1024x1024xf8E4M3FN>)
    -> (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) {
  %qa = stablehlo.convert %a : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E4M3FN>
  %qb = stablehlo.convert %b : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E4M3FN>
  %y = stablehlo.dot_general %x, %qa, contracting_dims = [1] x [0] : (tensor<1024x1024xf8E4M3FN>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %z = stablehlo.dot_general %x, %qb, contracting_dims = [1] x [0] : (tensor<1024x1024xf8E4M3FN>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %dy = stablehlo.convert %y : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E5M2>
  %dz = stablehlo.convert %z : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E5M2>
  %da = stablehlo.dot_general %dy, %qa, contracting_dims = [1] x [1] : (tensor<1024x1024xf8E5M2>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %db = stablehlo.dot_general %dz, %qb, contracting_dims = [1] x [1] : (tensor<1024x1024xf8E5M2>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %sum = stablehlo.add %da, %db : tensor<1024x1024xbf16>
  %na = stablehlo.subtract %a, %sum : tensor<1024x1024xbf16>
  %nb = stablehlo.subtract %b, %sum : tensor<1024x1024xbf16>
  return %na, %nb : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>
}

// -----

// A single weight: its gradient and the second copy take more memory than two copies.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     stablehlo.optimization_barrier
func.func @main(%a: tensor<1024x1024xbf16>, %x: tensor<1024x1024xf8E4M3FN>)
    -> (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) {
  %qa = stablehlo.convert %a : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E4M3FN>
  %y = stablehlo.dot_general %x, %qa, contracting_dims = [1] x [0] : (tensor<1024x1024xf8E4M3FN>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %dy = stablehlo.convert %y : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E5M2>
  %dx = stablehlo.dot_general %dy, %qa, contracting_dims = [1] x [1] : (tensor<1024x1024xf8E5M2>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %na = stablehlo.subtract %a, %y : tensor<1024x1024xbf16>
  return %na, %dx : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>
}

// -----

// The amax of a weight that only the next step reads is taken where the weight is updated. A
// reshape that kept the order of the first cast is dropped, as the second cast has that order.
// CHECK-LABEL: func.func @main
// CHECK:         %[[QA:.*]] = stablehlo.convert %arg0
// CHECK:         %[[QB:.*]] = stablehlo.convert %arg1
// CHECK:         stablehlo.dot_general %arg2, %[[QA]], contracting_dims = [1] x [0]
// CHECK:         stablehlo.dot_general %arg2, %[[QB]], contracting_dims = [1] x [0]
// CHECK:         stablehlo.optimization_barrier
// CHECK:         %[[A:.*]] = stablehlo.reshape %{{.*}} : (tensor<1048576xbf16>) -> tensor<1024x1024xbf16>
// CHECK:         %[[ABS:.*]] = stablehlo.abs %[[A]]
// CHECK:         %[[AMAX:.*]] = stablehlo.reduce(%[[ABS]] init: %{{.*}})
// CHECK:         stablehlo.convert %[[A]] : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E4M3FN>
// CHECK:         stablehlo.optimization_barrier
// CHECK:         return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[AMAX]]
func.func @main(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>, %x: tensor<1024x1024xf8E4M3FN>)
    -> (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<bf16>) {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %abs = stablehlo.abs %a : tensor<1024x1024xbf16>
  %amax = stablehlo.reduce(%abs init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<1024x1024xbf16>, tensor<bf16>) -> tensor<bf16>
  %qa = stablehlo.convert %a : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E4M3FN>
  %flat = stablehlo.reshape %qa : (tensor<1024x1024xf8E4M3FN>) -> tensor<1048576xf8E4M3FN>
  %kept = stablehlo.optimization_barrier %flat : tensor<1048576xf8E4M3FN>
  %ra = stablehlo.reshape %kept : (tensor<1048576xf8E4M3FN>) -> tensor<1024x1024xf8E4M3FN>
  %qb = stablehlo.convert %b : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E4M3FN>
  %y = stablehlo.dot_general %x, %ra, contracting_dims = [1] x [0] : (tensor<1024x1024xf8E4M3FN>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %z = stablehlo.dot_general %x, %qb, contracting_dims = [1] x [0] : (tensor<1024x1024xf8E4M3FN>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %dy = stablehlo.convert %y : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E5M2>
  %dz = stablehlo.convert %z : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E5M2>
  %da = stablehlo.dot_general %dy, %ra, contracting_dims = [1] x [1] : (tensor<1024x1024xf8E5M2>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %db = stablehlo.dot_general %dz, %qb, contracting_dims = [1] x [1] : (tensor<1024x1024xf8E5M2>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %na = stablehlo.subtract %a, %y : tensor<1024x1024xbf16>
  %nb = stablehlo.subtract %b, %z : tensor<1024x1024xbf16>
  return %na, %nb, %da, %db, %amax : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<bf16>
}

// -----

// Small weights keep their only cast.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     stablehlo.optimization_barrier
func.func @main(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %x: tensor<64x64xf8E4M3FN>)
    -> (tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>) {
  %qa = stablehlo.convert %a : (tensor<64x64xbf16>) -> tensor<64x64xf8E4M3FN>
  %qb = stablehlo.convert %b : (tensor<64x64xbf16>) -> tensor<64x64xf8E4M3FN>
  %y = stablehlo.dot_general %x, %qa, contracting_dims = [1] x [0] : (tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>) -> tensor<64x64xbf16>
  %z = stablehlo.dot_general %x, %qb, contracting_dims = [1] x [0] : (tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>) -> tensor<64x64xbf16>
  %dy = stablehlo.convert %y : (tensor<64x64xbf16>) -> tensor<64x64xf8E5M2>
  %dz = stablehlo.convert %z : (tensor<64x64xbf16>) -> tensor<64x64xf8E5M2>
  %da = stablehlo.dot_general %dy, %qa, contracting_dims = [1] x [1] : (tensor<64x64xf8E5M2>, tensor<64x64xf8E4M3FN>) -> tensor<64x64xbf16>
  %db = stablehlo.dot_general %dz, %qb, contracting_dims = [1] x [1] : (tensor<64x64xf8E5M2>, tensor<64x64xf8E4M3FN>) -> tensor<64x64xbf16>
  %na = stablehlo.subtract %a, %y : tensor<64x64xbf16>
  %nb = stablehlo.subtract %b, %z : tensor<64x64xbf16>
  return %na, %nb, %da, %db : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>
}

// -----

// The amax of a weight that is read inside of an earlier op stays where it is.
// CHECK-LABEL: func.func @main
// CHECK:         %[[ABS:.*]] = stablehlo.abs %arg0
// CHECK:         %[[AMAX:.*]] = stablehlo.reduce(%[[ABS]] init: %{{.*}})
// CHECK:         stablehlo.if
// CHECK:           stablehlo.return %[[AMAX]]
// CHECK:         stablehlo.optimization_barrier
func.func @main(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>, %x: tensor<1024x1024xf8E4M3FN>, %p: tensor<i1>)
    -> (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<bf16>) {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %abs = stablehlo.abs %a : tensor<1024x1024xbf16>
  %amax = stablehlo.reduce(%abs init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<1024x1024xbf16>, tensor<bf16>) -> tensor<bf16>
  %chosen = "stablehlo.if"(%p) ({
    stablehlo.return %amax : tensor<bf16>
  }, {
    stablehlo.return %zero : tensor<bf16>
  }) : (tensor<i1>) -> tensor<bf16>
  %qa = stablehlo.convert %a : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E4M3FN>
  %qb = stablehlo.convert %b : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E4M3FN>
  %y = stablehlo.dot_general %x, %qa, contracting_dims = [1] x [0] : (tensor<1024x1024xf8E4M3FN>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %z = stablehlo.dot_general %x, %qb, contracting_dims = [1] x [0] : (tensor<1024x1024xf8E4M3FN>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %dy = stablehlo.convert %y : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E5M2>
  %dz = stablehlo.convert %z : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf8E5M2>
  %da = stablehlo.dot_general %dy, %qa, contracting_dims = [1] x [1] : (tensor<1024x1024xf8E5M2>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %db = stablehlo.dot_general %dz, %qb, contracting_dims = [1] x [1] : (tensor<1024x1024xf8E5M2>, tensor<1024x1024xf8E4M3FN>) -> tensor<1024x1024xbf16>
  %na = stablehlo.subtract %a, %y : tensor<1024x1024xbf16>
  %nb = stablehlo.subtract %b, %z : tensor<1024x1024xbf16>
  return %na, %nb, %da, %db, %chosen : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<1024x1024xbf16>, tensor<bf16>
}
