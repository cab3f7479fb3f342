"""Programs for the rules of data movement."""

from __future__ import annotations

from tests.py.programs.program import read

PROGRAMS = (
    *read(
        """
broadcast | stablehlo.broadcast | any | a | a:1 | judge=xla
x: $mn
  0 = broadcast x, sizes = [$K] : $kmn; return 0

broadcast_in_dim | stablehlo.broadcast_in_dim | any any | aa | a:1
x: $nm, y: $mkn
  0 = broadcast_in_dim x, dims = [2, 0] : $mkn; 1 = add 0 y; return 1

dynamic_broadcast_in_dim | stablehlo.dynamic_broadcast_in_dim | any index | a- | a:1
x: $mn, shape: 3xi32
  s = const [$M, $K, $N] : 3xi32; 0 = dynamic_broadcast_in_dim x s, dims = [0, 2] : $mkn; return 0

reshape | stablehlo.reshape | any | a | a:1
x: $mnk
  0 = reshape x : ${MNK}; return 0

dynamic_reshape | stablehlo.dynamic_reshape | any | a | a:1
x: $mnk
  s = const [$MNK] : 1xi32; 0 = dynamic_reshape x s : ${MNK}; return 0

reverse | stablehlo.reverse | any | a | a:1
x: $mn
  0 = reverse x, dims = [1]; return 0

transpose | stablehlo.transpose | any | a | a:1
x: $mnk
  0 = transpose x, dims = [2, 0, 1] : $kmn; return 0

slice | stablehlo.slice | any | a | a:1
x: ${M_N}x${K}
  %0 = stablehlo.slice %x [$M:$M_N, 0:$K] : (tensor<${M_N}x${K}xf32>) -> $nk
  return 0

real_dynamic_slice | stablehlo.real_dynamic_slice | any | a | a:1 | judge=xla
x: ${M_N}x${K}
  start = const [$M, 0] : 2xi32; limit = const [$M_N, $K] : 2xi32; step = const [1, 1] : 2xi32
  0 = real_dynamic_slice x start limit step : $nk; return 0

dynamic_slice | stablehlo.dynamic_slice | any index | a- | a:1
x: ${M_N}x${K}, i: $s_i32
  zero = const 0 : $s_i32; 0 = dynamic_slice x i zero, sizes = [$M, $K] : $mk; return 0

gather | stablehlo.gather | any index | a- | a:1
%x: $nk, %i: tensor<${M}x1xi32>
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>,
    indices_are_sorted = false, slice_sizes = array<i64: 1, $K>
  }> : ($nk, tensor<${M}x1xi32>) -> $mk
  return %0 : $mk

dynamic_gather | stablehlo.dynamic_gather | any index | a- | a:1
%x: $nk, %i: tensor<${M}x1xi32>
  sizes = const [1, $K] : 2xi32
  %0 = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>,
    indices_are_sorted = false
  }> : ($nk, tensor<${M}x1xi32>, tensor<2xi32>) -> $mk
  return %0 : $mk

torch_index_select | stablehlo.torch_index_select | any index | a- | a:1 | judge=xla
x: $nk, i: $m_i32
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = 0 : i64}>
    : ($nk, $m_i32) -> $mk
  return 0

set_dimension_size | stablehlo.set_dimension_size | any index | a- | a:1 | judge=report | scales=s0
x: $mn, i: $s_i32
  0 = set_dimension_size x i, dim = 1 : tensor<${M}x?xf32, #stablehlo.bounds<?, $N>>; return 0

optimization_barrier | stablehlo.optimization_barrier | any any integer | aa- | a:1
x: $mn, y: $n, i: $m_i32
  %0:3 = stablehlo.optimization_barrier %x, %y, %i : $mn, $n, $m_i32
  return 0#0 0#1 0#2

concatenate | stablehlo.concatenate | any any any | aaa | a:1
x: $mk, y: $nk, z: $kk
  0 = concatenate x y z, dim = 0 : ${M_N_K}x${K}; return 0

for NAME = VALUE = MOVES in zero = 0.0 = a:1; ninf = $NINF = a:1; splat = 3.0 = read
concatenate_NAME | stablehlo.concatenate | any | a | MOVES
x: $mk
  c = const VALUE : $nk; 0 = concatenate c x, dim = 0 : ${M_N}x${K}; return 0

pad | stablehlo.pad | any any | aa | a:1
x: $mn, p: $s
  t = transpose x, dims = [1, 0] : $nm; r = reshape t : $mn
  0 = pad r p, low = [$N, 1], high = [$N, -1], interior = [0, 0] : ${M_N_N}x${N}; return 0

pad_inside | stablehlo.pad | any | a | a:1
x: 5x${N}
  p = const 0.0 : $s; 0 = pad x p, low = [1, 0], high = [2, 0], interior = [2, 0] : 16x${N}
  return 0

pad_splat | stablehlo.pad | any | a | read
x: $mn
  p = const -1.0 : $s; 0 = pad x p, low = [$K, 0], high = [0, 0], interior = [0, 0] : ${M_K}x${N}
  return 0

dynamic_pad | stablehlo.dynamic_pad | any any | aa | a:1
x: $mn, p: $s
  low = const [$N, 0] : 2xi32; zero = const 0 : 2xi32
  0 = dynamic_pad x p low low zero : ${M_N_N}x${N}; return 0

dynamic_update_slice | stablehlo.dynamic_update_slice | any any index | aa- | a:1
x: ${M_N}x${K}, y: $mk, i: $s_i32
  zero = const 0 : $s_i32; 0 = dynamic_update_slice x y i zero; return 0

dynamic_update_slice_of_zeros | stablehlo.dynamic_update_slice | any index | a- | a:1
y: $mk, i: $s_i32
  x = const 0.0 : ${M_N}x${K}; zero = const 0 : $s_i32; 0 = dynamic_update_slice x y i zero
  return 0

constant | stablehlo.constant | any | a | read
x: 2x2
  c = const [[1.0, -2.5], [0.0, 3.0e-3]] : 2x2; splat = const 0.75 : 2x2; 0 = multiply x c
  1 = add x c; 2 = add x splat; 3 = maximum x splat; return 0 1 2 3

splat_that_moves | stablehlo.reshape | any index | a- | read
x: $nm, i: $s_i32
  c = const -0.3 : $mn; 0 = transpose c, dims = [1, 0] : $nm
  1 = dynamic_slice 0 i i, sizes = [1, 1] : 1x1; 2 = reshape 1 : $s
  3 = broadcast_in_dim 2, dims = [] : $nm; 4 = reverse 3, dims = [0]; 5 = maximum 4 x; return 5

iota | stablehlo.iota | any | a | a:1
x: $mn
  %c = stablehlo.iota dim = 0 : $mn
  0 = multiply x c; return 0

dynamic_iota | stablehlo.dynamic_iota | any | a | a:1
x: $mn
  s = const [$M, $N] : 2xi32; c = dynamic_iota s, dim = 0 : $mn; 0 = multiply x c; return 0

get_dimension_size | stablehlo.get_dimension_size | any | a | _
x: $mn
  c = get_dimension_size x, dim = 1 : $s_i32; return c

rng | stablehlo.rng | finite finite finite | --a | read | judge=report | scales=s2
a b: $s, x: $mn
  shape = const [$M, $N] : 2xi64; 0 = rng a b shape, distribution = UNIFORM : $mn
  1 = multiply x 0; return 1

rng_bit_generator | stablehlo.rng_bit_generator | index finite | -a | read | judge=report
  | scales=s0 unscaled
%k: tensor<2xui64>, %x: $mn
  %0, %1 = stablehlo.rng_bit_generator %k, algorithm = DEFAULT
    : (tensor<2xui64>) -> (tensor<2xui64>, $mn_ui32)
  return %x, %1 : $mn, $mn_ui32

tokens | stablehlo.infeed | finite | a | read | judge=report | scales=s0 unscaled
x: $mn
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = "stablehlo.infeed"(%t) <{infeed_config = ""}>
    : (!stablehlo.token) -> ($mn, !stablehlo.token)
  1 = multiply 0#0 x; 2 = add 0#0 0#0; return 1 2
"""
    ),
)
