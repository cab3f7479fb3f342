// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A sum over 16 devices raises the level by 2, paid where the result leaves.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x4xf32> {scalify.pair}) -> (tensor<16x4xf32> {scalify.pair}) {
  // CHECK:      %[[FOUR:.*]] = stablehlo.constant dense<4.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.multiply %arg1, %[[FOUR]]
  // CHECK:      %[[SUM:.*]] = "stablehlo.all_reduce"(%arg0)
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]> : tensor<1x16xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<16x4xf32>) -> tensor<16x4xf32>
  // CHECK:      scalify.forms = ["s0 level 2"]
  // CHECK:      %[[D:.*]] = stablehlo.multiply %[[SUM]], %{{.*}}
  // CHECK-NEXT: return %[[D]], %[[S]]
  return %0 : tensor<16x4xf32>
}

// -----

// A maximum keeps the scale.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x4xf32> {scalify.pair}) -> (tensor<16x4xf32> {scalify.pair}) {
  // CHECK:      %[[MAX:.*]] = "stablehlo.all_reduce"(%arg0)
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]> : tensor<1x16xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<16x4xf32>) -> tensor<16x4xf32>
  // CHECK:      scalify.forms = ["s0"]
  // CHECK:      return %[[MAX]], %arg1
  return %0 : tensor<16x4xf32>
}

// -----

// Products have no common scale: values are read.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x4xf32> {scalify.pair}) -> (tensor<16x4xf32> {scalify.pair}) {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}}
  // CHECK-NEXT: %[[Y:.*]] = "stablehlo.all_reduce"(%[[X]])
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]> : tensor<1x16xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<16x4xf32>) -> tensor<16x4xf32>
  // CHECK:      %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: return %[[Y]], %[[ONE]]
  return %0 : tensor<16x4xf32>
}

// -----

// Groups that are the axes of a mesh: 4 devices, the level rises by 1.
sdy.mesh @mesh = <["a"=2, "b"=4]>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x4xf32> {scalify.pair}) -> (tensor<16x4xf32> {scalify.pair}) {
  // CHECK:      "stablehlo.all_reduce"
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "b">]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<16x4xf32>) -> tensor<16x4xf32>
  // CHECK:      scalify.forms = ["s0 level 1"]
  return %0 : tensor<16x4xf32>
}

// -----

// Groups that are not known before the program is run: no level.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x4xf32> {scalify.pair}) -> (tensor<16x4xf32> {scalify.pair}) {
  // CHECK:      "stablehlo.all_reduce"
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<16x4xf32>) -> tensor<16x4xf32>
  // CHECK:      scalify.forms = ["s0"]
  return %0 : tensor<16x4xf32>
}

// -----

// Each operand has a scale of its own; a constant is unscaled.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}, %y: tensor<4xf32> {scalify.scale = -4 : i64})
    -> (tensor<4xf32> {scalify.pair}, tensor<4xf32> {scalify.pair}) {
  %c = stablehlo.constant dense<3.0> : tensor<4xf32>
  // CHECK: "stablehlo.all_reduce"(%arg0, %{{.*}}, %{{.*}})
  %0:3 = "stablehlo.all_reduce"(%x, %y, %c) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: scalify.forms = ["s0", "2^-4", "unscaled"]
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A constant that is summed up is another one: the sum is brought to the scale that it meets.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x4xf32> {scalify.pair}) -> (tensor<16x4xf32> {scalify.pair}) {
  %c = stablehlo.constant dense<3.0> : tensor<16x4xf32>
  // CHECK:      %[[Y:.*]] = "stablehlo.all_reduce"(%{{.*}})
  // CHECK:      %[[D:.*]] = stablehlo.multiply %[[Y]], %{{.*}}
  // CHECK-NEXT: stablehlo.add %arg0, %[[D]] {scalify.forms = ["s0"]}
  %0 = "stablehlo.all_reduce"(%c) <{replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]> : tensor<1x16xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<16x4xf32>) -> tensor<16x4xf32>
  %2 = stablehlo.add %x, %0 : tensor<16x4xf32>
  return %2 : tensor<16x4xf32>
}

// -----

// In the body of a per-device computation the sum may have a sharding.
sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}) -> (tensor<4xf32> {scalify.pair}) {
  // CHECK: "stablehlo.all_reduce"(%arg0)
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    %2 = sdy.sharding_constraint %1 <@mesh, []> : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: scalify.forms = ["s0 level 1"]
  return %0 : tensor<4xf32>
}

// -----

// A region reads the values that it captures, in regions inside of it and beside integers too.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32> {scalify.pair}, %i: tensor<4xi32>, %y: tensor<f32> {scalify.pair})
    -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK:      %[[X:.*]] = stablehlo.multiply %arg0, %{{.*}} : tensor<4xf32>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.multiply %arg3, %arg4 : tensor<f32>
  // CHECK-NEXT: "stablehlo.all_reduce"(%[[X]])
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // CHECK: stablehlo.compare GT, %{{.*}}, %[[Y]] :
    %p = stablehlo.compare GT, %a, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = "stablehlo.if"(%p) ({
      // CHECK: stablehlo.minimum %{{.*}}, %[[Y]] :
      %2 = stablehlo.minimum %b, %y : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }, {
      // CHECK: stablehlo.return %[[Y]] :
      stablehlo.return %y : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.all_reduce"(%arg2)
  %3 = "stablehlo.all_reduce"(%i) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    // CHECK: stablehlo.is_finite %[[Y]] :
    %p = stablehlo.is_finite %y : (tensor<f32>) -> tensor<i1>
    %1 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<4xi32>) -> tensor<4xi32>
  return %0, %3 : tensor<4xf32>, tensor<4xi32>
}
