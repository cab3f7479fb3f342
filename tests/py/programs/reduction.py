"""Programs for the rules of reductions, by the monoid of their region."""

from __future__ import annotations

from tests.py.programs.program import read

PROGRAMS = read("""
for NAME = OP = INIT = MOVES in add = add = 0.0 = a:1; add_negative_zero = add = -0.0 = a:1;
  add_from_splat = add = 2.5 = read; add_from_ninf = add = $NINF = a:1;
  maximum = maximum = $NINF = a:1; maximum_zero = maximum = 0.0 = a:1;
  maximum_from_splat = maximum = -3.0 = read; minimum = minimum = $INF = a:1;
  multiply = multiply = 1.0 = a:3 | span=12
reduce_NAME | stablehlo.reduce | any | a | MOVES
%x: $mn
  %i = stablehlo.constant dense<INIT> : $s
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.OP across dimensions = [1]
    : ($mn, $s) -> $m

reduce_long | stablehlo.reduce | finite finite | aa | a:1
%x: tensor<${M}x100xf32>, %y: $m
  %i = stablehlo.constant dense<0.0> : $s
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1]
    : (tensor<${M}x100xf32>, $s) -> $m
  %c = stablehlo.constant dense<100.0> : $m
  %1 = stablehlo.divide %0, %c : $m
  %2 = stablehlo.subtract %y, %1 : $m

reduce_from_argument | stablehlo.reduce | any any | aa | a:1
%x: $mn, %i: $s
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.minimum across dimensions = [0, 1]
    : ($mn, $s) -> $s

reduce_by_other_region | stablehlo.reduce | any | a | a:1
%x: $mn
  %i = stablehlo.constant dense<0.0> : $s
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [1] : ($mn, $s) -> $m
    reducer(%a: $s, %b: $s) {
      %1 = stablehlo.abs %b : $s
      %2 = stablehlo.add %a, %1 : $s
      stablehlo.return %2 : $s
    }
  return %0 : $m

reduce_with_capture | stablehlo.reduce | finite finite | aa | read
%x: $mn, %y: $s
  %i = stablehlo.constant dense<1.0> : $s
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [1] : ($mn, $s) -> $m
    reducer(%a: $s, %b: $s) {
      %1 = stablehlo.maximum %a, %y : $s
      %2 = stablehlo.add %1, %b : $s
      stablehlo.return %2 : $s
    }
  return %0 : $m

reduce_the_first | stablehlo.reduce | any | a | read
%x: $mn
  %i = stablehlo.constant dense<2.0> : $s
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [1] : ($mn, $s) -> $m
    reducer(%a: $s, %b: $s) {
      stablehlo.return %a : $s
    }
  return %0 : $m

argmax | stablehlo.reduce | finite | a | a:1
%x: $mn
  %low = stablehlo.constant dense<$NINF> : $s
  %zero = stablehlo.constant dense<0> : $s_i32
  %iota = stablehlo.iota dim = 1 : $mn_i32
  %0:2 = stablehlo.reduce(%x init: %low), (%iota init: %zero) across dimensions = [1]
    : ($mn, $mn_i32, $s, $s_i32) -> ($m, $m_i32)
    reducer(%a: $s, %b: $s) (%i: $s_i32, %j: $s_i32) {
      %1 = stablehlo.compare GE, %a, %b : ($s, $s) -> $s_i1
      %2 = stablehlo.select %1, %a, %b : $s_i1, $s
      %3 = stablehlo.select %1, %i, %j : $s_i1, $s_i32
      stablehlo.return %2, %3 : $s, $s_i32
    }
  return %0#0, %0#1 : $m, $m_i32

for NAME = OP = INIT = MOVES in sum = add = 0.0 = a:1 b:1; max = maximum = $NINF = a:1 b:1;
  min = minimum = $INF = a:1 b:1; product = multiply = 1.0 = read;
  sum_from_splat = add = 0.5 = read
reduce_window_NAME | stablehlo.reduce_window | any any | ab | MOVES | span=12
%x: tensor<${M}x9xf32>, %y: $s
  %i = stablehlo.constant dense<INIT> : $s
  %0 = "stablehlo.reduce_window"(%x, %i) <{
    window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>,
    padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>
  }> ({
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.OP %a, %b : $s
    stablehlo.return %r : $s
  }) : (tensor<${M}x9xf32>, $s) -> tensor<${M}x5xf32>
  %1 = stablehlo.broadcast_in_dim %y, dims = [] : ($s) -> tensor<${M}x5xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<${M}x5xf32>

for NAME = OP = OTHER = GROUPS = MOVES in add = add = %a = a-a = a:1;
  maximum = maximum = %a = a-a = a:1; minimum = minimum = %a = a-a = a:1;
  multiply = multiply = %a = a-a = read; multiply_inputs = multiply = %a = a-- = a:1;
  subtract = subtract = %a = a-a = a:1; add_itself = add = %b = a-a = a:1
scatter_NAME | stablehlo.scatter | any index any | GROUPS | MOVES
%x: $mn, %i: tensor<${M}x1xi32>, %u: $mn
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    BY_ROWS
  }> ({
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.OP OTHER, %b : $s
    stablehlo.return %r : $s
  }) : ($mn, tensor<${M}x1xi32>, $mn) -> $mn

for NAME = VALUE in update = %b; keep = %a
scatter_NAME | stablehlo.scatter | any index any | a-a | a:1
%x: $mn, %i: tensor<${M}x1xi32>, %u: $mn
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    BY_ROWS
  }> ({
  ^bb0(%a: $s, %b: $s):
    stablehlo.return VALUE : $s
  }) : ($mn, tensor<${M}x1xi32>, $mn) -> $mn

scatter_into_zeros | stablehlo.scatter | index any | -a | a:1
%i: tensor<${M}x1xi32>, %u: $mn
  %x = stablehlo.constant dense<0.0> : $kn
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    BY_ROWS
  }> ({
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.add %b, %a : $s
    stablehlo.return %r : $s
  }) : ($kn, tensor<${M}x1xi32>, $mn) -> $kn

for NAME = INIT = ORDER = OP = MOVES in max = 0.0 = GE = add = b:1; min = 0.0 = LE = add = b:1;
  from_splat = 0.25 = GT = add = read; product = 1.0 = GE = multiply = read
select_and_scatter_NAME | stablehlo.select_and_scatter | finite any | ab | MOVES | span=12
%x: tensor<${M}x8xf32>, %u: tensor<${M}x4xf32>
  %i = stablehlo.constant dense<INIT> : $s
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{
    window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
  }> ({
  ^bb0(%a: $s, %b: $s):
    %p = stablehlo.compare ORDER, %a, %b : ($s, $s) -> $s_i1
    stablehlo.return %p : $s_i1
  }, {
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.OP %a, %b : $s
    stablehlo.return %r : $s
  }) : (tensor<${M}x8xf32>, tensor<${M}x4xf32>, $s) -> tensor<${M}x8xf32>
""")
