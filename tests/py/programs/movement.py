"""Programs for the rules of data movement."""

from __future__ import annotations

from tests.py.programs.program import read

PROGRAMS = read("""
broadcast | stablehlo.broadcast | any | a | a:1 | judge=xla
%x: $mn
  %0 = stablehlo.broadcast %x, sizes = [$K] : ($mn) -> $kmn

broadcast_in_dim | stablehlo.broadcast_in_dim | any any | aa | a:1
%x: $nm, %y: $mkn
  %0 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : ($nm) -> $mkn
  %1 = stablehlo.add %0, %y : $mkn

dynamic_broadcast_in_dim | stablehlo.dynamic_broadcast_in_dim | any index | a- | a:1
%x: $mn, %shape: tensor<3xi32>
  %s = stablehlo.constant dense<[$M, $K, $N]> : tensor<3xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 2]
    : ($mn, tensor<3xi32>) -> $mkn

reshape | stablehlo.reshape | any | a | a:1
%x: $mnk
  %0 = stablehlo.reshape %x : ($mnk) -> tensor<${MNK}xf32>

dynamic_reshape | stablehlo.dynamic_reshape | any | a | a:1
%x: $mnk
  %s = stablehlo.constant dense<[$MNK]> : tensor<1xi32>
  %0 = stablehlo.dynamic_reshape %x, %s : ($mnk, tensor<1xi32>) -> tensor<${MNK}xf32>

reverse | stablehlo.reverse | any | a | a:1
%x: $mn
  %0 = stablehlo.reverse %x, dims = [1] : $mn

transpose | stablehlo.transpose | any | a | a:1
%x: $mnk
  %0 = stablehlo.transpose %x, dims = [2, 0, 1] : ($mnk) -> $kmn

slice | stablehlo.slice | any | a | a:1
%x: tensor<${M_N}x${K}xf32>
  %0 = stablehlo.slice %x [$M:$M_N, 0:$K] : (tensor<${M_N}x${K}xf32>) -> $nk

real_dynamic_slice | stablehlo.real_dynamic_slice | any | a | a:1 | judge=xla
%x: tensor<${M_N}x${K}xf32>
  %start = stablehlo.constant dense<[$M, 0]> : tensor<2xi32>
  %limit = stablehlo.constant dense<[$M_N, $K]> : tensor<2xi32>
  %step = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
  %0 = stablehlo.real_dynamic_slice %x, %start, %limit, %step
    : (tensor<${M_N}x${K}xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> $nk

dynamic_slice | stablehlo.dynamic_slice | any index | a- | a:1
%x: tensor<${M_N}x${K}xf32>, %i: $s_i32
  %zero = stablehlo.constant dense<0> : $s_i32
  %0 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [$M, $K]
    : (tensor<${M_N}x${K}xf32>, $s_i32, $s_i32) -> $mk

gather | stablehlo.gather | any index | a- | a:1
%x: $nk, %i: tensor<${M}x1xi32>
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>,
    indices_are_sorted = false, slice_sizes = array<i64: 1, $K>
  }> : ($nk, tensor<${M}x1xi32>) -> $mk

dynamic_gather | stablehlo.dynamic_gather | any index | a- | a:1
%x: $nk, %i: tensor<${M}x1xi32>
  %sizes = stablehlo.constant dense<[1, $K]> : tensor<2xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>,
    indices_are_sorted = false
  }> : ($nk, tensor<${M}x1xi32>, tensor<2xi32>) -> $mk

torch_index_select | stablehlo.torch_index_select | any index | a- | a:1 | judge=xla
%x: $nk, %i: $m_i32
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = 0 : i64}>
    : ($nk, $m_i32) -> $mk

set_dimension_size | stablehlo.set_dimension_size | any index | a- | a:1 | judge=report | scales=s0
%x: $mn, %i: $s_i32
  %0 = stablehlo.set_dimension_size %x, %i, dim = 1
    : ($mn, $s_i32) -> tensor<${M}x?xf32, #stablehlo.bounds<?, $N>>

optimization_barrier | stablehlo.optimization_barrier | any any integer | aa- | a:1
%x: $mn, %y: $n, %i: $m_i32
  %0:3 = stablehlo.optimization_barrier %x, %y, %i : $mn, $n, $m_i32

concatenate | stablehlo.concatenate | any any any | aaa | a:1
%x: $mk, %y: $nk, %z: $kk
  %0 = stablehlo.concatenate %x, %y, %z, dim = 0
    : ($mk, $nk, $kk) -> tensor<${M_N_K}x${K}xf32>

for NAME = VALUE = MOVES in zero = 0.0 = a:1; ninf = $NINF = a:1; splat = 3.0 = read
concatenate_NAME | stablehlo.concatenate | any | a | MOVES
%x: $mk
  %c = stablehlo.constant dense<VALUE> : $nk
  %0 = stablehlo.concatenate %c, %x, dim = 0 : ($nk, $mk) -> tensor<${M_N}x${K}xf32>

pad | stablehlo.pad | any any | aa | a:1
%x: $mn, %p: $s
  %t = stablehlo.transpose %x, dims = [1, 0] : ($mn) -> $nm
  %r = stablehlo.reshape %t : ($nm) -> $mn
  %0 = stablehlo.pad %r, %p, low = [$N, 1], high = [$N, -1], interior = [0, 0]
    : ($mn, $s) -> tensor<${M_N_N}x${N}xf32>

pad_inside | stablehlo.pad | any | a | a:1
%x: tensor<5x${N}xf32>
  %p = stablehlo.constant dense<0.0> : $s
  %0 = stablehlo.pad %x, %p, low = [1, 0], high = [2, 0], interior = [2, 0]
    : (tensor<5x${N}xf32>, $s) -> tensor<16x${N}xf32>

pad_splat | stablehlo.pad | any | a | read
%x: $mn
  %p = stablehlo.constant dense<-1.0> : $s
  %0 = stablehlo.pad %x, %p, low = [$K, 0], high = [0, 0], interior = [0, 0]
    : ($mn, $s) -> tensor<${M_K}x${N}xf32>

dynamic_pad | stablehlo.dynamic_pad | any any | aa | a:1
%x: $mn, %p: $s
  %low = stablehlo.constant dense<[$N, 0]> : tensor<2xi32>
  %zero = stablehlo.constant dense<0> : tensor<2xi32>
  %0 = stablehlo.dynamic_pad %x, %p, %low, %low, %zero
    : ($mn, $s, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<${M_N_N}x${N}xf32>

dynamic_update_slice | stablehlo.dynamic_update_slice | any any index | aa- | a:1
%x: tensor<${M_N}x${K}xf32>, %y: $mk, %i: $s_i32
  %zero = stablehlo.constant dense<0> : $s_i32
  %0 = stablehlo.dynamic_update_slice %x, %y, %i, %zero
    : (tensor<${M_N}x${K}xf32>, $mk, $s_i32, $s_i32) -> tensor<${M_N}x${K}xf32>

dynamic_update_slice_of_zeros | stablehlo.dynamic_update_slice | any index | a- | a:1
%y: $mk, %i: $s_i32
  %x = stablehlo.constant dense<0.0> : tensor<${M_N}x${K}xf32>
  %zero = stablehlo.constant dense<0> : $s_i32
  %0 = stablehlo.dynamic_update_slice %x, %y, %i, %zero
    : (tensor<${M_N}x${K}xf32>, $mk, $s_i32, $s_i32) -> tensor<${M_N}x${K}xf32>

constant | stablehlo.constant | any | a | read
%x: tensor<2x2xf32>
  %c = stablehlo.constant dense<[[1.0, -2.5], [0.0, 3.0e-3]]> : tensor<2x2xf32>
  %splat = stablehlo.constant dense<0.75> : tensor<2x2xf32>
  %0 = stablehlo.multiply %x, %c : tensor<2x2xf32>
  %1 = stablehlo.add %x, %c : tensor<2x2xf32>
  %2 = stablehlo.add %x, %splat : tensor<2x2xf32>
  %3 = stablehlo.maximum %x, %splat : tensor<2x2xf32>
  return %0, %1, %2, %3 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>

splat_that_moves | stablehlo.reshape | any index | a- | read
%x: $nm, %i: $s_i32
  %c = stablehlo.constant dense<-0.3> : $mn
  %0 = stablehlo.transpose %c, dims = [1, 0] : ($mn) -> $nm
  %1 = stablehlo.dynamic_slice %0, %i, %i, sizes = [1, 1]
    : ($nm, $s_i32, $s_i32) -> tensor<1x1xf32>
  %2 = stablehlo.reshape %1 : (tensor<1x1xf32>) -> $s
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : ($s) -> $nm
  %4 = stablehlo.reverse %3, dims = [0] : $nm
  %5 = stablehlo.maximum %4, %x : $nm

iota | stablehlo.iota | any | a | a:1
%x: $mn
  %c = stablehlo.iota dim = 0 : $mn
  %0 = stablehlo.multiply %x, %c : $mn

dynamic_iota | stablehlo.dynamic_iota | any | a | a:1
%x: $mn
  %s = stablehlo.constant dense<[$M, $N]> : tensor<2xi32>
  %c = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> $mn
  %0 = stablehlo.multiply %x, %c : $mn

get_dimension_size | stablehlo.get_dimension_size | any | a | _
%x: $mn
  %c = stablehlo.get_dimension_size %x, dim = 1 : ($mn) -> $s_i32

rng | stablehlo.rng | finite finite finite | --a | read | judge=report | scales=s2
%a: $s, %b: $s, %x: $mn
  %shape = stablehlo.constant dense<[$M, $N]> : tensor<2xi64>
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : ($s, $s, tensor<2xi64>) -> $mn
  %1 = stablehlo.multiply %x, %0 : $mn

rng_bit_generator | stablehlo.rng_bit_generator | index finite | -a | read | judge=report
  | scales=s0 unscaled
%k: tensor<2xui64>, %x: $mn
  %0, %1 = stablehlo.rng_bit_generator %k, algorithm = DEFAULT
    : (tensor<2xui64>) -> (tensor<2xui64>, $mn_ui32)
  return %x, %1 : $mn, $mn_ui32

tokens | stablehlo.infeed | finite | a | read | judge=report | scales=s0 unscaled
%x: $mn
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = "stablehlo.infeed"(%t) <{infeed_config = ""}>
    : (!stablehlo.token) -> ($mn, !stablehlo.token)
  %1 = stablehlo.multiply %0#0, %x : $mn
  %2 = stablehlo.add %0#0, %0#0 : $mn
  return %1, %2 : $mn, $mn
""")
