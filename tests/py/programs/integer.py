"""Programs with ops on integers, between values with scales."""

from __future__ import annotations

from tests.py.programs.program import read

PROGRAMS = read("""
for NAME = OPERANDS in and = %i, %j; count_leading_zeros = %i; not = %i; or = %i, %j; popcnt = %i;
  shift_left = %i, %j; shift_right_arithmetic = %i, %j; shift_right_logical = %i, %j; xor = %i, %j
integer_NAME | stablehlo.NAME | any index index | a-- | a:1
%x: $mn, %i: $mn_i32, %j: $mn_i32
  %0 = stablehlo.NAME OPERANDS : $mn_i32
  %1 = stablehlo.convert %0 : ($mn_i32) -> $mn
  %2 = stablehlo.multiply %x, %1 : $mn
  return %2, %0 : $mn, $mn_i32
""")
