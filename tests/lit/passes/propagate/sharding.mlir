// RUN: %scalify-opt %s --split-input-file --pass-pipeline='builtin.module(scalify-propagate)' \
// RUN:   | %filecheck %s

// Data that are moved to another scale where they are made stay where they were placed.
sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK-LABEL: func.func @main
func.func @main(
    %x: tensor<8x16xf16> {scalify.pair, sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
    %y: tensor<16x8xf16> {scalify.pair}) -> (tensor<8x8xf16> {scalify.pair}) {
  // CHECK:      %[[P:.*]] = stablehlo.dot_general
  // CHECK:      %[[D:.*]] = stablehlo.multiply %[[P]], %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>}
  // CHECK-NEXT: sdy.all_gather [{"a"}, {}] %[[D]]
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>}
    : (tensor<8x16xf16>, tensor<16x8xf16>) -> tensor<8x8xf16>
  %1 = sdy.all_gather [{"a"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf16>
  return %1 : tensor<8x8xf16>
}

// -----

// As text, too.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x16xf16> {scalify.pair}, %y: tensor<16x8xf16> {scalify.pair})
    -> (tensor<8x8xf16> {scalify.pair}) {
  // CHECK: stablehlo.multiply %{{.*}}, %{{.*}} {mhlo.sharding = "{replicated}"} : tensor<8x8xf16>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] {mhlo.sharding = "{replicated}"}
    : (tensor<8x16xf16>, tensor<16x8xf16>) -> tensor<8x8xf16>
  return %0 : tensor<8x8xf16>
}

// -----

// Arguments of a function that is copied, results of its calls, and arguments of main keep theirs;
// scales have none.
sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK:      func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg1: tensor<f32> {scalify.is_scale})
// CHECK-SAME:   -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}, tensor<f32> {scalify.is_scale})
func.func @main(%x: tensor<8xf32> {scalify.pair, sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
    -> (tensor<8xf32> {scalify.pair, sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) {
  // CHECK:      call @f_scaled_{{.*}}(%arg0, %arg1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>}
  %0 = call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>}
    : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK: func.func private @f_scaled_{{.*}}(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg1: tensor<f32>)
func.func private @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.exponential %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
