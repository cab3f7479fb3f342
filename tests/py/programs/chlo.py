"""Programs for ops of CHLO, those with a rule of their own and those that are expanded."""

from __future__ import annotations

from tests.py.programs.program import read

PROGRAMS = read("""
for NAME = DATA in acos = finite; acosh = positive; asin = finite; asinh = any; atan = any;
  atanh = finite; bessel_i1e = finite; cosh = any; digamma = any; erf = any; erf_inv = finite;
  erfc = any; lgamma = any; sinh = any; tan = finite
chlo_NAME | chlo.NAME | DATA any | aa | read | span=3
%x: $mn, %y: $mn
  %0 = chlo.NAME %x : $mn -> $mn
  %1 = stablehlo.multiply %0, %y : $mn
  return %0, %1 : $mn, $mn

for NAME = FIRST = TYPES in next_after = $mn = $mn, $mn -> $mn; polygamma = $mn = $mn, $mn -> $mn;
  zeta = $mn = $mn, $mn -> $mn; broadcast_next_after = $n = ($n, $mn) -> $mn;
  broadcast_polygamma = $n = ($n, $mn) -> $mn; broadcast_zeta = $n = ($n, $mn) -> $mn
chlo_NAME | chlo.NAME | positive positive | ab | read | span=2
%x: FIRST, %y: $mn
  %0 = chlo.NAME %x, %y : TYPES
  return %0 : $mn

for NAME = GROUPS = MOVES in add = aa = a:1; atan2 = aa = a:0; divide = ab = a:1 b:-1;
  maximum = aa = a:1; minimum = aa = a:1; multiply = ab = a:1 b:1; remainder = aa = a:1;
  subtract = aa = a:1
chlo_broadcast_NAME | chlo.broadcast_NAME | nonzero nonzero | GROUPS | MOVES
%x: $n, %y: $mn
  %0 = chlo.broadcast_NAME %x, %y : ($n, $mn) -> $mn

for NAME in and; or; shift_left; shift_right_arithmetic; shift_right_logical; xor
chlo_broadcast_NAME | chlo.broadcast_NAME | any index index | a-- | a:1
%x: $mn, %i: $n_i32, %j: $mn_i32
  %0 = chlo.broadcast_NAME %i, %j : ($n_i32, $mn_i32) -> $mn_i32
  %1 = stablehlo.convert %0 : ($mn_i32) -> $mn
  %2 = stablehlo.multiply %x, %1 : $mn

chlo_broadcast_power | chlo.broadcast_power | positive positive | ab | read | span=2
%x: $n, %y: $mn
  %0 = chlo.broadcast_power %x, %y : ($n, $mn) -> $mn

chlo_broadcast_compare | chlo.broadcast_compare | any any | aa | a:0
%x: $n, %y: $mn
  %0 = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>}
    : ($n, $mn) -> $mn_i1

chlo_broadcast_complex | chlo.broadcast_complex | any any | aa | a:1
%x: $n, %y: $mn
  %0 = chlo.broadcast_complex %x, %y : ($n, $mn) -> $mn_c
  %1 = stablehlo.real %0 : ($mn_c) -> $mn
  %2 = stablehlo.imag %0 : ($mn_c) -> $mn
  return %1, %2 : $mn, $mn

chlo_broadcast_select | chlo.broadcast_select | bool any any | -aa | a:1
%p: $mn_i1, %x: $n, %y: $mn
  %0 = chlo.broadcast_select %p, %x, %y : ($mn_i1, $n, $mn) -> $mn

chlo_conj | chlo.conj | any any | aa | a:1
%x: $mn, %y: $mn
  %0 = stablehlo.complex %x, %y : $mn_c
  %1 = chlo.conj %0 : $mn_c -> $mn_c
  %2 = stablehlo.real %1 : ($mn_c) -> $mn
  %3 = stablehlo.imag %1 : ($mn_c) -> $mn
  return %2, %3 : $mn, $mn

chlo_asin_of_complex | chlo._asin_acos_kernel | finite finite | aa | read
%x: $mn, %y: $mn
  %0 = stablehlo.complex %x, %y : $mn_c
  %1 = chlo._asin_acos_kernel %0 : $mn_c -> $mn_c
  %2 = stablehlo.real %1 : ($mn_c) -> $mn
  %3 = stablehlo.imag %1 : ($mn_c) -> $mn
  return %2, %3 : $mn, $mn

chlo_constant | chlo.constant | any | a | a:1
%x: $s
  %0 = chlo.constant dense<1.5> : $s
  %1 = stablehlo.multiply %x, %0 : $s

chlo_constant_like | chlo.constant_like | any | a | a:1
%x: $mn
  %0 = "chlo.constant_like"(%x) {value = 1.5 : f32} : ($mn) -> $mn
  %1 = stablehlo.multiply %x, %0 : $mn

chlo_mulhi | chlo.mulhi | any index | a- | a:1
%x: $mn, %i: $mn_ui32
  %0 = "chlo.mulhi"(%i, %i) : ($mn_ui32, $mn_ui32) -> $mn_ui32
  %1 = stablehlo.convert %0 : ($mn_ui32) -> $mn
  %2 = stablehlo.multiply %x, %1 : $mn

chlo_square | chlo.square | any | a | a:2
%x: $mn
  %0 = chlo.square %x : $mn -> $mn

chlo_top_k | chlo.top_k | nonzero | a | read
%x: $mn
  %0:2 = chlo.top_k(%x, k = 1) : $mn -> (tensor<${M}x1xf32>, tensor<${M}x1xi32>)

chlo_ragged_dot | chlo.ragged_dot | nonzero nonzero | ab | a:1 b:1
%x: $mk, %y: tensor<1x${K}x${N}xf32>
  %sizes = stablehlo.constant dense<$M> : tensor<1xi64>
  %0 = "chlo.ragged_dot"(%x, %y, %sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [],
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
  } : ($mk, tensor<1x${K}x${N}xf32>, tensor<1xi64>) -> $mn

chlo_scan | chlo.scan | finite finite | aa | read | judge=report | scales=s0 s1
%x: $mn, %y: $n
  %0:2 = "chlo.scan"(%x, %y) ({
  ^bb0(%a: $n, %b: $n):
    %1 = stablehlo.add %a, %b : $n
    "stablehlo.return"(%1, %1) : ($n, $n) -> ()
  }) {
    dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>,
    resultSegmentSizes = array<i32: 1, 1>
  } : ($mn, $n) -> ($mn, $n)

for NAME in is_inf; is_neg_inf; is_pos_inf
chlo_NAME | chlo.NAME | any | a | a:0
%x: $mn
  %0 = "chlo.NAME"(%x) : ($mn) -> $mn_i1
""")
