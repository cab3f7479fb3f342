// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate{annotate})' \
// RUN:   | %filecheck %s

// A body that needs no scale takes none; its results' scales are those of the operands outside.
sdy.mesh @mesh = <["a"=2, "b"=16]>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x8xf32> {scalify.pair, sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
                %y: tensor<8x8xf32> {scalify.pair}) -> (tensor<8x8xf32> {scalify.pair}) {
  // CHECK:      %[[R:.*]] = sdy.manual_computation(%arg0, %arg2) in_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{}, {}]>]
  // CHECK-SAME:   out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a", "b"} (%[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x8xf32>)
  %0 = sdy.manual_computation(%x, %y) in_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{}, {}]>]
      out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a", "b"}
      (%a: tensor<4x8xf32>, %b: tensor<8x8xf32>) {
    // CHECK-NEXT: %[[P:.*]] = stablehlo.dot_general %[[A]], %[[B]], {{.*}}["s0*s1 level 1"]
    // CHECK-NEXT: "stablehlo.all_reduce"(%[[P]])
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %2 = "stablehlo.all_reduce"(%1) <{
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids,
      replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "b">]>
    }> ({
    ^bb0(%c: tensor<f32>, %d: tensor<f32>):
      %3 = stablehlo.add %c, %d : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    // CHECK:      scalify.forms = ["s0*s1 level 3"]
    // CHECK-NEXT: sdy.return
    sdy.return %2 : tensor<4x8xf32>
  // CHECK-NEXT: } {scalify.forms = ["s0*s1 level 3"]}
  } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Scales that the body meets go in, the same on every device; what is derived in it is derived again.
sdy.mesh @mesh = <["a"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32> {scalify.pair}, %y: tensor<8xf32> {scalify.pair},
                %i: tensor<8xi32>) -> (tensor<8xf32> {scalify.pair}, tensor<8xi32>) {
  // CHECK:      %[[ROOT:.*]] = stablehlo.sqrt %arg3
  // CHECK:      %[[H:.*]] = stablehlo.reduce_precision %[[ROOT]], format = e8m0
  // CHECK:      %[[R:.*]]:2 = sdy.manual_computation(%arg0, %arg4, %arg2, %arg1, %arg3)
  // CHECK-SAME:   in_shardings=[<@mesh, [{"a"}]>, <@mesh, [{"a"}]>, <@mesh, [{"a"}]>, <@mesh, []>, <@mesh, []>]
  // CHECK-SAME:   (%[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi32>, %[[Y:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<f32>, %[[T:.*]]: tensor<f32>)
  %0:2 = sdy.manual_computation(%x, %i, %y)
      in_shardings=[<@mesh, [{"a"}]>, <@mesh, [{"a"}]>, <@mesh, [{"a"}]>]
      out_shardings=[<@mesh, [{"a"}]>, <@mesh, [{"a"}]>] manual_axes={"a"}
      (%a: tensor<4xf32>, %j: tensor<4xi32>, %b: tensor<4xf32>) {
    // CHECK:      stablehlo.sqrt %[[T]]
    // CHECK:      stablehlo.exponential
    // CHECK:      stablehlo.multiply
    %1 = stablehlo.sqrt %b : tensor<4xf32>
    %2 = stablehlo.exponential %a : tensor<4xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<4xf32>
    sdy.return %3, %j : tensor<4xf32>, tensor<4xi32>
  } : (tensor<8xf32>, tensor<8xi32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi32>)
  // CHECK: return %[[R]]#0, %[[H]], %[[R]]#1
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
}

// -----

// With static scales nothing goes in.
sdy.mesh @mesh = <["a"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32> {scalify.scale = -4 : i64}, %y: tensor<8xf32> {scalify.scale = 2 : i64})
    -> tensor<8xf32> {
  // CHECK:      sdy.manual_computation(%{{.*}}, %{{.*}}) in_shardings=[<@mesh, [{"a"}]>, <@mesh, [{"a"}]>] out
  %0 = sdy.manual_computation(%x, %y) in_shardings=[<@mesh, [{"a"}]>, <@mesh, [{"a"}]>]
      out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%a: tensor<4xf32>, %b: tensor<4xf32>) {
    // CHECK:      %[[F:.*]] = stablehlo.constant dense<1.562500e-02> : tensor<4xf32>
    // CHECK-NEXT: %[[A:.*]] = stablehlo.multiply %{{.*}}, %[[F]]
    // CHECK-NEXT: stablehlo.add %[[A]], %{{.*}} {scalify.forms = ["2^2"]}
    %1 = stablehlo.add %a, %b : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// With unscaled operands it stays as it is.
sdy.mesh @mesh = <["a"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}]>]
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>]
      manual_axes={"a"} (%a: tensor<4xf32>) {
    // CHECK-NEXT: stablehlo.add
    // CHECK-NEXT: sdy.return
    %1 = stablehlo.add %a, %a : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
