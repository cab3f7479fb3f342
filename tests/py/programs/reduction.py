"""Programs for the rules of reductions, by the monoid of their region."""

from __future__ import annotations

from tests.py.programs.program import read

SCATTER = """
    indices_are_sorted = false, unique_indices = false,
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  """
"""The attributes of a scatter of rows."""


PROGRAMS = (
    *read("""
for NAME = OP = INIT = MOVES = SPAN in add = add = 0.0 = a:1 = 20;
  add_negative_zero = add = -0.0 = a:1 = 20; add_from_splat = add = 2.5 = read = 20;
  add_from_ninf = add = $NINF = a:1 = 20; maximum = maximum = $NINF = a:1 = 20;
  maximum_zero = maximum = 0.0 = a:1 = 20; maximum_from_splat = maximum = -3.0 = read = 20;
  minimum = minimum = $INF = a:1 = 20; multiply = multiply = 1.0 = a:3 = 12
reduce_NAME | stablehlo.reduce | any | a | MOVES | span=SPAN
x: $mn
  i = const INIT : $s; 0 = reduce OP x i, dimensions = [1] : $m; return 0
"""),
    *read(
        """
reduce_long | stablehlo.reduce | finite finite | aa | a:1
x: ${M}x100, y: $m
  i = const 0.0 : $s; 0 = reduce add x i, dimensions = [1] : $m; c = const 100.0 : $m
  1 = divide 0 c; 2 = subtract y 1; return 2

reduce_from_argument | stablehlo.reduce | any any | aa | a:1
x: $mn, i: $s
  0 = reduce minimum x i, dimensions = [0, 1] : $s; return 0

reduce_by_other_region | stablehlo.reduce | any | a | a:1
x: $mn
  i = const 0.0 : $s
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [1] : ($mn, $s) -> $m
    reducer(%a: $s, %b: $s) {
      1 = abs b; 2 = add a 1; return 2
    }
  return 0

reduce_with_capture | stablehlo.reduce | finite finite | aa | read
x: $mn, y: $s
  i = const 1.0 : $s
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [1] : ($mn, $s) -> $m
    reducer(%a: $s, %b: $s) {
      1 = maximum a y; 2 = add 1 b; return 2
    }
  return 0

reduce_the_first | stablehlo.reduce | any | a | read
x: $mn
  i = const 2.0 : $s
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [1] : ($mn, $s) -> $m
    reducer(%a: $s, %b: $s) {
      return a
    }
  return 0

argmax | stablehlo.reduce | finite | a | a:1
x: $mn
  low = const $NINF : $s; zero = const 0 : $s_i32
  %iota = stablehlo.iota dim = 1 : $mn_i32
  %0:2 = stablehlo.reduce(%x init: %low), (%iota init: %zero) across dimensions = [1]
    : ($mn, $mn_i32, $s, $s_i32) -> ($m, $m_i32)
    reducer(%a: $s, %b: $s) (%i: $s_i32, %j: $s_i32) {
      1 = GE a b; 2 = select 1 a b; 3 = select 1 i j; return 2 3
    }
  return 0#0 0#1
"""
    ),
    *read(
        """
for NAME = INIT = OP = MOVES in sum = 0.0 = add = a:1 b:1; max = $NINF = maximum = a:1 b:1;
  min = $INF = minimum = a:1 b:1; product = 1.0 = multiply = read; sum_from_splat = 0.5 = add = read
reduce_window_NAME | stablehlo.reduce_window | any any | ab | MOVES | span=12
x: ${M}x9, y: $s
  i = const INIT : $s
  %0 = "stablehlo.reduce_window"(%x, %i) <{
    window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>,
    padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>
  }> ({
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.OP %a, %b : $s
    return r
  }) : (tensor<${M}x9xf32>, $s) -> tensor<${M}x5xf32>
  1 = broadcast_in_dim y, dims = [] : ${M}x5; 2 = multiply 0 1; return 2

for NAME = OP = GROUPS = MOVES = TAKEN in add = add = a-a = a:1 = a;
  maximum = maximum = a-a = a:1 = a;
  minimum = minimum = a-a = a:1 = a; multiply = multiply = a-a = read = a;
  multiply_inputs = multiply = a-- = a:1 = a; subtract = subtract = a-a = a:1 = a;
  add_itself = add = a-a = a:1 = b
scatter_NAME | stablehlo.scatter | any index any | GROUPS | MOVES
x: $mn, i: ${M}x1xi32, u: $mn
  %0 = "stablehlo.scatter"(%x, %i, %u) <{SCATTER}> ({
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.OP %TAKEN, %b : $s
    return r
  }) : ($mn, tensor<${M}x1xi32>, $mn) -> $mn
  return 0

for NAME = KEPT in update = b; keep = a
scatter_NAME | stablehlo.scatter | any index any | a-a | a:1
x: $mn, i: ${M}x1xi32, u: $mn
  %0 = "stablehlo.scatter"(%x, %i, %u) <{SCATTER}> ({
  ^bb0(%a: $s, %b: $s):
    return KEPT
  }) : ($mn, tensor<${M}x1xi32>, $mn) -> $mn
  return 0

scatter_into_zeros | stablehlo.scatter | index any | -a | a:1
i: ${M}x1xi32, u: $mn
  x = const 0.0 : $kn
  %0 = "stablehlo.scatter"(%x, %i, %u) <{SCATTER}> ({
  ^bb0(%a: $s, %b: $s):
    r = add b a; return r
  }) : ($kn, tensor<${M}x1xi32>, $mn) -> $kn
  return 0
""".replace("SCATTER", SCATTER)
    ),
    *read("""
for NAME = INIT = ORDER = OP = MOVES in max = 0.0 = GE = add = b:1; min = 0.0 = LE = add = b:1;
  from_splat = 0.25 = GT = add = read; product = 1.0 = GE = multiply = read
select_and_scatter_NAME | stablehlo.select_and_scatter | finite any | ab | MOVES | span=12
x: ${M}x8, u: ${M}x4
  i = const INIT : $s
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{
    window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
  }> ({
  ^bb0(%a: $s, %b: $s):
    p = ORDER a b; return p
  }, {
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.OP %a, %b : $s
    return r
  }) : (tensor<${M}x8xf32>, tensor<${M}x4xf32>, $s) -> tensor<${M}x8xf32>
  return 0
"""),
)
