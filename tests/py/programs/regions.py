"""Programs for ops whose regions are more than a monoid: pairs, comparators, functions."""

from __future__ import annotations

from tests.py.programs.program import read


def _canonical(value: str) -> str:
    """As jax has it: zeros of both signs, and all NaN, are the same in its total order."""
    text = "?z = EQ ? zero / ?n = select ?z zero ? / ?u = NE ? ? / ?k = select ?u nan ?n / "
    return text.replace("?", value)


_BY_BOTH = (
    "".join(map(_canonical, "abcd"))
    + "t = LTt ck dk / l = LTt ak bk / e = EQt ak bk / v = and e t / p = or l v"
)

PROGRAMS = read(
    """
sort | stablehlo.sort | finite any | aa | a:1
%x: $mn, %y: $mn
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: $s, %b: $s, %c: $s, %d: $s):
    %1 = stablehlo.compare LT, %a, %b : ($s, $s) -> $s_i1
    stablehlo.return %1 : $s_i1
  }) : ($mn, $mn) -> ($mn, $mn)

map_that_reads | stablehlo.map | any any | aa | read
%x: $mn, %y: $mn
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: $s, %b: $s):
    %1 = stablehlo.multiply %a, %b : $s
    %2 = stablehlo.add %1, %b : $s
    stablehlo.return %2 : $s
  }) : ($mn, $mn) -> $mn

argmax_of_jax | stablehlo.reduce | any | a | a:1
%x: $mn
  %low = stablehlo.constant dense<$NINF> : $s
  %zero = stablehlo.constant dense<0> : $s_i32
  %iota = stablehlo.iota dim = 1 : $mn_i32
  %0:2 = stablehlo.reduce(%x init: %low), (%iota init: %zero) across dimensions = [1]
    : ($mn, $mn_i32, $s, $s_i32) -> ($m, $m_i32)
    reducer(%a: $s, %b: $s) (%i: $s_i32, %j: $s_i32) {
      %2 = stablehlo.compare GT, %a, %b, FLOAT : ($s, $s) -> $s_i1
      %3 = stablehlo.compare NE, %a, %a, FLOAT : ($s, $s) -> $s_i1
      %4 = stablehlo.or %2, %3 : $s_i1
      %5 = stablehlo.compare EQ, %a, %b, FLOAT : ($s, $s) -> $s_i1
      %6 = stablehlo.compare LT, %i, %j, SIGNED : ($s_i32, $s_i32) -> $s_i1
      %7 = stablehlo.and %5, %6 : $s_i1
      %8 = stablehlo.or %4, %7 : $s_i1
      %9 = stablehlo.select %4, %a, %b : $s_i1, $s
      %10 = stablehlo.select %8, %i, %j : $s_i1, $s_i32
      stablehlo.return %9, %10 : $s, $s_i32
    }
  return %0#0, %0#1 : $m, $m_i32

for NAME = FIRST = SECOND = GROUPS = MOVES = REGION in
  two_sums = 0.0 = 0.0 = ab = a:1 b:1 = 1 = add a c / 2 = add b d;
  sum_and_minimum = 0.0 = $INF = ab = a:1 b:1 = 1 = add a c / 2 = minimum b d;
  sum_and_product = 0.0 = 1.0 = a- = a:1 = 1 = add a c / 2 = multiply b d;
  sums_of_both = 0.0 = 0.0 = aa = a:2 = 3 = add a b / 1 = add 3 c / 2 = add 3 d;
  logsumexp = $NINF = 0.0 = -b = b:1 = 1 = maximum a c / 3 = subtract a 1 / 4 = exponential 3
    / 5 = subtract c 1 / 6 = exponential 5 / 7 = multiply b 4 / 8 = multiply d 6 / 2 = add 7 8
reduce_NAME | stablehlo.reduce | finite finite | GROUPS | MOVES | span=8
%x: $mn, %y: $mn
  %i = stablehlo.constant dense<FIRST> : $s
  %j = stablehlo.constant dense<SECOND> : $s
  %0:2 = stablehlo.reduce(%x init: %i), (%y init: %j) across dimensions = [1]
    : ($mn, $mn, $s, $s) -> ($m, $m)
    reducer(%a: $s, %c: $s) (%b: $s, %d: $s) {
    do REGION / return 1 2
  }
  %1 = stablehlo.multiply %0#0, %0#1 : $m

for NAME = TYPE = START = SPAN in of_many = tensor<${M}x17xf32> = 1.0 = 4;
  from_splat = $mn = 3.0 = 12
reduce_product_NAME | stablehlo.reduce | any | a | read | span=SPAN
%x: TYPE
  %i = stablehlo.constant dense<START> : $s
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [1]
    : (TYPE, $s) -> $m

for NAME = SIZES = START = INIT = GROUPS = MOVES in
  of_none = 0xf32 = 1.0 = %start = a- = a:0 | span=8;
  of_five = 5xf32 = 1.0 = %start = a- = a:5 | span=6;
  of_six = 6xf32 = 1.0 = %start = a- = read | span=6;
  from_zero = 3xf32 = 0.0 = %start = aa = read | span=8;
  from_minus_one = 3xf32 = -1.0 = %start = aa = read | span=8;
  from_an_argument = 3xf32 = 1.0 = %i = aa = read | span=8;
  in_f16 = 3xf16 = 1.0 = %start = a- = a:3 | span=1 | element=f16;
  from_an_argument_in_f16 = 2xf16 = 1.0 = %i = aa = read | span=1 | element=f16
reduce_product_NAME | stablehlo.reduce | nonzero nonzero | GROUPS | MOVES
%x: tensor<${M}xSIZES>, %i: $s
  %start = stablehlo.constant dense<START> : $s
  %0 = stablehlo.reduce(%x init: INIT) applies stablehlo.multiply across dimensions = [1]
    : (tensor<${M}xSIZES>, $s) -> $m

reduce_product_of_unknown_count | stablehlo.reduce | nonzero index | a- | read | span=8
  | judge=report | scales=unscaled
%x: tensor<4x${M}xf32>, %i: $s_i32
  %0 = stablehlo.set_dimension_size %x, %i, dim = 0
    : (tensor<4x${M}xf32>, $s_i32) -> tensor<?x${M}xf32, #stablehlo.bounds<4, ?>>
  %one = stablehlo.constant dense<1.0> : $s
  %1 = stablehlo.reduce(%0 init: %one) applies stablehlo.multiply across dimensions = [0]
    : (tensor<?x${M}xf32, #stablehlo.bounds<4, ?>>, $s) -> $m

reduce_window_product_from_an_argument | stablehlo.reduce_window | nonzero nonzero | aa | read
  | span=8
%x: tensor<${M}x8xf32>, %i: $s
  %0 = "stablehlo.reduce_window"(%x, %i) <{
    window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
  }> ({
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.multiply %b, %a : $s
    stablehlo.return %r : $s
  }) : (tensor<${M}x8xf32>, $s) -> tensor<${M}x4xf32>

for NAME = FIRST = SECOND = GROUPS = MOVES in of_splats = %threes = %u = --a = read;
  by_splats = %x = %threes = a-- = read; by_zeros = %x = %zeros = a-a = a:1;
  of_zeros = %zeros = %u = --a = read
scatter_product_NAME | stablehlo.scatter | any index any | GROUPS | MOVES | span=6
%x: $mn, %i: tensor<${M}x1xi32>, %u: $mn
  %threes = stablehlo.constant dense<3.0> : $mn
  %zeros = stablehlo.constant dense<0.0> : $mn
  %0 = "stablehlo.scatter"(FIRST, %i, SECOND) <{
    BY_ROWS
  }> ({
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.multiply %b, %a : $s
    stablehlo.return %r : $s
  }) : ($mn, tensor<${M}x1xi32>, $mn) -> $mn
  %1 = stablehlo.maximum %0, %u : $mn
  return %0, %1 : $mn, $mn

reduce_integers_with_capture | stablehlo.reduce | integer nonzero | -a | read
%x: $mn_i32, %y: $s
  %i = stablehlo.constant dense<1> : $s_i32
  %zero = stablehlo.constant dense<1.0> : $s
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [1] : ($mn_i32, $s_i32) -> $m_i32
    reducer(%a: $s_i32, %b: $s_i32) {
      %1 = stablehlo.compare GT, %y, %zero : ($s, $s) -> $s_i1
      %2 = stablehlo.add %a, %b : $s_i32
      %3 = stablehlo.select %1, %2, %a : $s_i1, $s_i32
      stablehlo.return %3 : $s_i32
    }
  return %0 : $m_i32

reduce_window_pairs | stablehlo.reduce_window | finite finite | ab | a:1 b:1 | span=8
%x: tensor<${M}x8xf32>, %y: tensor<${M}x8xf32>
  %i = stablehlo.constant dense<0.0> : $s
  %j = stablehlo.constant dense<$NINF> : $s
  %0:2 = "stablehlo.reduce_window"(%x, %y, %i, %j) <{
    window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
  }> ({
  ^bb0(%a: $s, %b: $s, %c: $s, %d: $s):
    %1 = stablehlo.add %a, %c : $s
    %2 = stablehlo.maximum %b, %d : $s
    stablehlo.return %1, %2 : $s, $s
  }) : (tensor<${M}x8xf32>, tensor<${M}x8xf32>, $s, $s)
    -> (tensor<${M}x4xf32>, tensor<${M}x4xf32>)
  %1 = stablehlo.multiply %0#0, %0#1 : tensor<${M}x4xf32>

for NAME = OP = INIT = MOVES in sum = add = 0.0 = a:1; maximum = maximum = $NINF = a:1;
  product = multiply = 1.0 = read
cumulative_NAME | stablehlo.reduce_window | finite | a | MOVES | span=10
%x: tensor<${M}x8xf32>
  %i = stablehlo.constant dense<INIT> : $s
  %0 = "stablehlo.reduce_window"(%x, %i) <{
    padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 8>
  }> ({
  ^bb0(%a: $s, %b: $s):
    do r = OP a b / return r
  }) : (tensor<${M}x8xf32>, $s) -> tensor<${M}x8xf32>

scatter_pairs | stablehlo.scatter | any any index any any | ab-ab | a:1 b:1 | span=8
%x: $mn, %y: $mn, %i: tensor<${M}x1xi32>, %u: $mn, %v: $mn
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{
    BY_ROWS
  }> ({
  ^bb0(%a: $s, %b: $s, %c: $s, %d: $s):
    %1 = stablehlo.add %a, %c : $s
    %2 = stablehlo.maximum %b, %d : $s
    stablehlo.return %1, %2 : $s, $s
  }) : ($mn, $mn, tensor<${M}x1xi32>, $mn, $mn) -> ($mn, $mn)
  %1 = stablehlo.multiply %0#0, %0#1 : $mn

for NAME = REGION in by_size = e = abs a / f = abs b / p = GE e f;
  by_value = e = minimum a one / p = GE e b
select_and_scatter_NAME | stablehlo.select_and_scatter | finite any | -b | b:1 | span=12
%x: tensor<${M}x8xf32>, %u: tensor<${M}x4xf32>
  %i = stablehlo.constant dense<0.0> : $s
  %one = stablehlo.constant dense<1.0> : $s
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{
    window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
  }> ({
  ^bb0(%a: $s, %b: $s):
    do REGION
    stablehlo.return %p : $s_i1
  }, {
  ^bb0(%a: $s, %b: $s):
    do r = maximum a b / return r
  }) : (tensor<${M}x8xf32>, tensor<${M}x4xf32>, $s) -> tensor<${M}x8xf32>

for NAME = DATA = GROUPS = MOVES = REGION in by_one = any any = ab = a:1 b:1 = p = LTt a b;
  by_both = any any = ab = a:1 b:1 = BY_BOTH;
  by_size = any any = ab = a:1 b:1 = e = abs a / f = abs b / p = GT e f;
  across = finite finite = aa = a:2 = u = maximum a c / v = maximum b d / p = LT u v;
  by_products = finite finite = ab = a:1 b:1 = u = multiply a c / v = multiply b d / p = LT u v;
  by_distance = any any = -b = b:1
    = u = subtract a one / v = subtract b one / e = abs u / f = abs v / p = LT e f
sort_NAME | stablehlo.sort | DATA | GROUPS | MOVES | span=12
%x: $mn, %y: $mn
  %zero = stablehlo.constant dense<0.0> : $s
  %nan = stablehlo.constant dense<$NAN> : $s
  %one = stablehlo.constant dense<1.0> : $s
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: $s, %b: $s, %c: $s, %d: $s):
    do REGION
    stablehlo.return %p : $s_i1
  }) : ($mn, $mn) -> ($mn, $mn)
  %1 = stablehlo.multiply %0#0, %0#1 : $mn

for NAME = FIRST = GROUPS = MOVES = REGION in
  product = finite finite nonzero = ab- = a:1 b:1 = s = multiply a b / r = divide s c;
  sum = finite finite finite = aaa = a:1 = s = add a b / r = maximum s c;
  fused = finite finite finite = abc = read = s = multiply a b / r = add s c;
  length = finite finite finite = aa- = a:1
    = s = multiply a a / t = multiply b b / u = add s t / v = sqrt u / r = add v zero;
  reciprocal = positive finite finite = ab- = b:1 a:-1
    = s = multiply a a / t = rsqrt s / r = multiply t b;
  root = positive finite finite = a-- = read = r = sqrt a;
  wave = finite finite finite = -b- = b:1 = s = sine a / r = multiply s b;
  sign = finite finite finite = ab- = b:1 = s = sign a / r = multiply s b;
  call = finite finite finite = aa- = a:1 = %r = func.call @larger(%a, %b) : ($s, $s) -> $s;
  nothing = finite finite finite = abc = read = r = multiply zero a;
  powers = finite finite finite = abc = read
    = s = multiply a a / t = multiply b b / u = multiply t b / r = add s u
map_NAME | stablehlo.map | FIRST | GROUPS | MOVES | span=8
%x: $mn, %y: $mn, %z: $mn
  %zero = stablehlo.constant dense<0.0> : $s
  %0 = "stablehlo.map"(%x, %y, %z) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: $s, %b: $s, %c: $s):
    do REGION
    stablehlo.return %r : $s
  }) : ($mn, $mn, $mn) -> $mn
}
func.func private @larger(%a: $s, %b: $s) -> $s {
  %0 = stablehlo.compare GT, %a, %b : ($s, $s) -> $s_i1
  %1 = stablehlo.select %0, %a, %b : $s_i1, $s
""".replace("BY_BOTH", _BY_BOTH)
)
