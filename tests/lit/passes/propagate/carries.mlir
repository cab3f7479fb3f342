// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A carry that a marker in the body moves takes its scale along, as a carry beside the others that
// is the same on all devices. What is taken over from it, %b, has one too; a sum is at one
// scale throughout, and brought back to it.
sdy.mesh @mesh = <["d"=2]>
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:.*]]: tensor<8xf32>, %[[XS:.*]]: tensor<f32> {scalify.is_scale}, %[[Y:.*]]: tensor<8xf32>, %[[YS:.*]]: tensor<f32> {scalify.is_scale}, %[[N:.*]]: tensor<i32>)
func.func @main(%x: tensor<8xf32> {scalify.pair},
                %y: tensor<8xf32> {scalify.pair},
                %n: tensor<i32>)
    -> (tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}, tensor<8xf32> {scalify.pair}) {
  // CHECK:      %[[Z:.*]]:6 = stablehlo.while(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[Y]], %[[T:.*]] = %[[Y]], %[[I:.*]] = %[[N]], %[[AS:.*]] = %[[XS]], %[[BS:.*]] = %[[YS]])
  // CHECK-SAME:   scalify.forms = ["s{{[0-9]+}}", "s{{[0-9]+}}", "s1", "unscaled", "unscaled", "unscaled"]
  // CHECK-SAME:   sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}]>, <@mesh, [{"d"}]>, <@mesh, [{}]>, <@mesh, []>, <@mesh, []>, <@mesh, []>]>
  %0:4 = stablehlo.while(%a = %x, %b = %y, %t = %y, %i = %n)
    : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<i32>
    attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}]>, <@mesh, [{"d"}]>, <@mesh, [{}]>, <@mesh, []>]>}
  cond {
    // CHECK: stablehlo.abs %[[A]] {scalify.forms = ["s{{[0-9]+}}"]}
    %1 = stablehlo.abs %a : tensor<8xf32>
    %2 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    // CHECK:     %[[SQUARE:.*]] = stablehlo.multiply %[[A]], %[[A]] {scalify.forms = ["s{{[0-9]+}}^2"]}
    %1 = stablehlo.multiply %a, %a : tensor<8xf32>
    // CHECK:     %[[NEW:.*]] = stablehlo.optimization_barrier %{{.*}} : tensor<f32>
    // CHECK:     %[[DATA:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} : tensor<8xf32>
    %2 = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.statistic = "max"} %1 : tensor<8xf32>
    // CHECK:     %[[SUM:.*]] = stablehlo.add %[[T]], %{{.*}} {scalify.forms = ["s1"]}
    %3 = stablehlo.add %t, %2 : tensor<8xf32>
    // CHECK:     stablehlo.return %[[DATA]], %[[A]], %[[SUM]], %[[I]], %[[NEW]], %[[AS]] :
    stablehlo.return %2, %a, %3, %i : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<i32>
  }
  // CHECK:      return %[[Z]]#0, %[[Z]]#4, %[[Z]]#1, %[[Z]]#5, %[[Z]]#2, %[[YS]] :
  return %0#0, %0#1, %0#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A marker whose scale leaves through nothing else than values at scale 1 changes no carry.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32> {scalify.pair}, %n: tensor<i32>) -> (tensor<8xf32> {scalify.pair}) {
  // CHECK:      %[[Z:.*]]:2 = stablehlo.while
  // CHECK-SAME:   scalify.forms = ["s0", "unscaled"]
  %0:2 = stablehlo.while(%a = %x, %i = %n) : tensor<8xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.statistic = "max"} %a : tensor<8xf32>
    %2 = stablehlo.tanh %1 : tensor<8xf32>
    stablehlo.return %2, %i : tensor<8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8xf32>
}

// -----

// A carry of its own scale is expected to be as large as what the body yields.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x16xf32> {scalify.pair}, %y: tensor<16x16xf32> {scalify.pair}, %n: tensor<i32>)
    -> (tensor<16x16xf32> {scalify.pair}) {
  %0:2 = stablehlo.while(%a = %x, %i = %n) : tensor<16x16xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // CHECK: stablehlo.abs %{{.*}} {scalify.forms = ["s{{[0-9]+}} level 2"]}
    %1 = stablehlo.abs %a : tensor<16x16xf32>
    %2 = stablehlo.optimization_barrier {scalify.marker = "dynamic_rescale", scalify.statistic = "max"} %1 : tensor<16x16xf32>
    // CHECK: stablehlo.dot_general {{.*}} {scalify.forms = ["s1*s{{[0-9]+}} level 2"]}
    %3 = stablehlo.dot_general %2, %y, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    stablehlo.return %3, %i : tensor<16x16xf32>, tensor<i32>
  }
  return %0#0 : tensor<16x16xf32>
}
