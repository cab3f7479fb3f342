"""Programs of several elementwise ops, and of those that stand for no other op."""

from __future__ import annotations

from tests.py.programs.program import read

OTHERS = read("""
square | stablehlo.multiply | any | a | a:2
%x: $mn
  %0 = stablehlo.multiply %x, %x : $mn

itself | stablehlo.divide | any | a | a:0
%x: $mn
  %0 = stablehlo.divide %x, %x : $mn

double | stablehlo.add | any | a | a:1
%x: $mn
  %0 = stablehlo.add %x, %x : $mn

complex | stablehlo.complex | any any | aa | a:1
%x: $mn, %y: $mn
  %0 = stablehlo.complex %x, %y : $mn_c
  %1 = stablehlo.real %0 : ($mn_c) -> $mn
  %2 = stablehlo.imag %0 : ($mn_c) -> $mn
  return %1, %2 : $mn, $mn

for PART in real; imag
PART_of_product | stablehlo.PART | finite finite finite | aaa | a:2
%x: $mn, %y: $mn, %z: $mn
  %0 = stablehlo.complex %x, %y : $mn_c
  %1 = stablehlo.complex %z, %x : $mn_c
  %2 = stablehlo.multiply %0, %1 : $mn_c
  %3 = stablehlo.negate %2 : $mn_c
  %4 = stablehlo.PART %3 : ($mn_c) -> $mn

complex_sum_with_constant | stablehlo.complex | finite finite | aa | read
%x: $mn, %y: $mn
  %c = stablehlo.constant dense<(0.5, -2.0)> : $mn_c
  %0 = stablehlo.complex %x, %y : $mn_c
  %1 = stablehlo.add %0, %c : $mn_c
  %2 = stablehlo.abs %1 : ($mn_c) -> $mn

for OP in negate; abs; sign; exponential; ceil
OP_of_splat | stablehlo.OP | any | a | read
%x: $mn
  %c = stablehlo.constant dense<-0.3> : $mn
  %0 = stablehlo.OP %c : $mn
  %1 = stablehlo.add %0, %x : $mn
  %2 = stablehlo.multiply %0, %x : $mn
  return %1, %2 : $mn, $mn

splat_through_bf16 | stablehlo.convert | any | a | read
%x: $mn
  %c = stablehlo.constant dense<0.3> : $mn
  %0 = stablehlo.convert %c : ($mn) -> $mn_bf16
  %1 = stablehlo.convert %0 : ($mn_bf16) -> $mn
  %2 = stablehlo.add %1, %x : $mn

select | stablehlo.select | bool any any | -aa | a:1
%p: $mn_i1, %x: $mn, %y: $mn
  %0 = stablehlo.select %p, %x, %y : $mn_i1, $mn

select_by_scalar | stablehlo.select | bool any any | -aa | a:1
%p: $s_i1, %x: $mn, %b: $n
  %y = stablehlo.broadcast_in_dim %b, dims = [1] : ($n) -> $mn
  %0 = stablehlo.select %p, %y, %x : $s_i1, $mn

for NAME = VALUE = MOVES in zero = 0.0 = a:1; ninf = $NINF = a:1; nan = $NAN = a:1;
  splat = -7.0 = read
mask_NAME | stablehlo.select | bool any | -a | MOVES
%p: $mn_i1, %x: $mn
  %y = stablehlo.constant dense<VALUE> : $mn
  %0 = stablehlo.select %p, %x, %y : $mn_i1, $mn

select_of_masks | stablehlo.select | bool any | -a | a:1
%p: $mn_i1, %x: $mn
  %low = stablehlo.constant dense<$NINF> : $mn
  %zero = stablehlo.constant dense<0.0> : $mn
  %0 = stablehlo.select %p, %low, %zero : $mn_i1, $mn
  %1 = stablehlo.add %0, %x : $mn

clamp | stablehlo.clamp | any any any | aaa | a:1
%l: $mn, %x: $mn, %h: $mn
  %0 = stablehlo.clamp %l, %x, %h : $mn

clamp_by_scalars | stablehlo.clamp | any any any | aaa | a:1
%l: $s, %x: $mn, %h: $s
  %0 = stablehlo.clamp %l, %x, %h : ($s, $mn, $s) -> $mn

clamp_by_constants | stablehlo.clamp | any | a | read
%x: $mn
  %l = stablehlo.constant dense<0.0> : $s
  %h = stablehlo.constant dense<1.5> : $s
  %0 = stablehlo.clamp %l, %x, %h : ($s, $mn, $s) -> $mn

from_i32 | stablehlo.convert | integer any | -a | a:1
%x: $mn_i32, %y: $mn
  %0 = stablehlo.convert %x : ($mn_i32) -> $mn
  %1 = stablehlo.multiply %0, %y : $mn

through_f16 | stablehlo.convert | nonzero nonzero | aa | a:1 | span=2
%x: $mn, %y: $mn
  %0 = stablehlo.convert %x : ($mn) -> $mn_f16
  %1 = stablehlo.convert %y : ($mn) -> $mn_f16
  %2 = stablehlo.add %0, %1 : $mn_f16
  %3 = stablehlo.convert %2 : ($mn_f16) -> $mn

through_bf16 | stablehlo.convert | any any | aa | a:1
%x: $mn, %y: $mn
  %0 = stablehlo.convert %x : ($mn) -> $mn_bf16
  %1 = stablehlo.convert %y : ($mn) -> $mn_bf16
  %2 = stablehlo.add %0, %1 : $mn_bf16
  %3 = stablehlo.convert %2 : ($mn_bf16) -> $mn

through_f8 | stablehlo.convert | any | a | read | span=6
%x: $mn
  %0 = stablehlo.convert %x : ($mn) -> $mn_f8E5M2
  %1 = stablehlo.convert %0 : ($mn_f8E5M2) -> $mn

polynomial | stablehlo.add | nonzero nonzero | aa | read
%x: $mn, %y: $mn
  %a = stablehlo.constant dense<0.044715> : $mn
  %b = stablehlo.constant dense<-2.5> : $mn
  %0 = stablehlo.multiply %x, %x : $mn
  %1 = stablehlo.multiply %0, %a : $mn
  %2 = stablehlo.add %1, %y : $mn
  %3 = stablehlo.multiply %2, %b : $mn
  %4 = stablehlo.subtract %3, %x : $mn
  %5 = stablehlo.divide %4, %y : $mn

horner | stablehlo.multiply | positive | a | read | span=10
%x: $mn
  %c = stablehlo.constant dense<0.75> : $mn
  %0 = stablehlo.multiply %x, %x : $mn
  %1 = stablehlo.multiply %0, %x : $mn
  %2 = stablehlo.add %1, %c : $mn
  %3 = stablehlo.multiply %2, %x : $mn
  %4 = stablehlo.add %3, %c : $mn
  %5 = stablehlo.multiply %4, %x : $mn
  %6 = stablehlo.add %5, %c : $mn
  %7 = stablehlo.multiply %6, %x : $mn
  %8 = stablehlo.add %7, %c : $mn
  %9 = stablehlo.multiply %8, %x : $mn
  %10 = stablehlo.add %9, %c : $mn
  %11 = stablehlo.multiply %10, %x : $mn
  %12 = stablehlo.add %11, %c : $mn
  %13 = stablehlo.multiply %12, %x : $mn
  %14 = stablehlo.add %13, %c : $mn
  %15 = stablehlo.multiply %14, %x : $mn
  %16 = stablehlo.add %15, %c : $mn
  %17 = stablehlo.divide %c, %16 : $mn
  return %16, %17 : $mn, $mn

ninth_power | stablehlo.multiply | positive | a | read | span=12
%x: $mn
  %0 = stablehlo.multiply %x, %x : $mn
  %1 = stablehlo.multiply %0, %0 : $mn
  %2 = stablehlo.multiply %1, %1 : $mn
  %3 = stablehlo.multiply %2, %x : $mn

roots_of_products | stablehlo.sqrt | positive positive positive | aaa | read
%x: $mn, %y: $mn, %z: $mn
  %0 = stablehlo.multiply %x, %y : $mn
  %1 = stablehlo.sqrt %0 : $mn
  %2 = stablehlo.multiply %0, %z : $mn
  %3 = stablehlo.rsqrt %2 : $mn
  %4 = stablehlo.add %1, %z : $mn
  return %4, %3 : $mn, $mn
""")
