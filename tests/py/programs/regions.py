"""Programs for ops whose regions are more than a monoid: pairs, comparators, functions."""

from __future__ import annotations

from collections.abc import Mapping

from tests.py.programs.program import READ, Program, read
from tests.py.programs.statements import lines

Moves = Mapping[str, float] | None
_ONE = {"a": 1}


_PAIRS = """
func.func @main(%x: $mn, %y: $mn) -> $m {
  %i = stablehlo.constant dense<FIRST> : $s
  %j = stablehlo.constant dense<SECOND> : $s
  %0:2 = stablehlo.reduce(%x init: %i), (%y init: %j) across dimensions = [1]
    : ($mn, $mn, $s, $s) -> ($m, $m)
    reducer(%a: $s, %c: $s) (%b: $s, %d: $s) {
    REGION
  }
  %1 = stablehlo.multiply %0#0, %0#1 : $m
  return %1 : $m
}"""


def _pairs(
    name: str, first: str, second: str, region: str, moves: Moves, groups: str = "ab"
) -> Program:
    """A reduction of two operands, whose results are multiplied."""
    body = _PAIRS.replace("FIRST", first).replace("SECOND", second)
    body = body.replace("REGION", lines(region))
    return Program(f"reduce_{name}", "stablehlo.reduce", body, "finite finite", groups, moves, 8)


_CUMULATIVE = """
func.func @main(%x: tensor<${M}x8xf32>) -> tensor<${M}x8xf32> {
  %i = stablehlo.constant dense<INIT> : $s
  %0 = "stablehlo.reduce_window"(%x, %i) <{
    padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 8>
  }> ({
  ^bb0(%a: $s, %b: $s):
    REGION
  }) : (tensor<${M}x8xf32>, $s) -> tensor<${M}x8xf32>
  return %0 : tensor<${M}x8xf32>
}"""


def _cumulative(name: str, init: str, region: str, moves: Moves) -> Program:
    body = _CUMULATIVE.replace("INIT", init).replace("REGION", lines(region))
    return Program(f"cumulative_{name}", "stablehlo.reduce_window", body, "finite", "a", moves, 10)


def _sort(
    name: str,
    region: str,
    moves: Moves,
    groups: str = "ab",
    data: str = "any any",
    before: str = "",
) -> Program:
    """Two operands sorted together; their results are multiplied."""
    body = f"""
func.func @main(%x: $mn, %y: $mn) -> $mn {{
  %zero = stablehlo.constant dense<0.0> : $s
  %nan = stablehlo.constant dense<$NAN> : $s
  {before}
  %0:2 = "stablehlo.sort"(%x, %y) <{{dimension = 1 : i64, is_stable = true}}> ({{
  ^bb0(%a: $s, %b: $s, %c: $s, %d: $s):
    {lines(region)}
    stablehlo.return %p : $s_i1
  }}) : ($mn, $mn) -> ($mn, $mn)
  %1 = stablehlo.multiply %0#0, %0#1 : $mn
  return %1 : $mn
}}"""
    return Program(f"sort_{name}", "stablehlo.sort", body, data, groups, moves, 12)


def _canonical(value: str) -> str:
    """As jax has it: zeros of both signs, and all NaN, are the same in its total order."""
    return ("?z = EQ ? zero; ?n = select ?z zero ?; ?u = NE ? ?; ?k = select ?u nan ?n;").replace(
        "?", value
    )


_BY_BOTH = (
    "".join(map(_canonical, "abcd"))
    + "t = LTt ck dk; l = LTt ak bk; e = EQt ak bk; v = and e t; p = or l v"
)


def _map(
    name: str, region: str, moves: Moves, groups: str = "abc", data: str = "finite " * 3
) -> Program:
    """A function of three values."""
    body = f"""
func.func private @larger(%a: $s, %b: $s) -> $s {{
  %0 = stablehlo.compare GT, %a, %b : ($s, $s) -> $s_i1
  %1 = stablehlo.select %0, %a, %b : $s_i1, $s
  return %1 : $s
}}
func.func @main(%x: $mn, %y: $mn, %z: $mn) -> $mn {{
  %zero = stablehlo.constant dense<0.0> : $s
  %0 = "stablehlo.map"(%x, %y, %z) <{{dimensions = array<i64: 0, 1>}}> ({{
  ^bb0(%a: $s, %b: $s, %c: $s):
    {lines(region)}
    stablehlo.return %r : $s
  }}) : ($mn, $mn, $mn) -> $mn
  return %0 : $mn
}}"""
    return Program(f"map_{name}", "stablehlo.map", body, data.strip(), groups, moves, 8)


_SELECTED = """
func.func @main(%x: tensor<${M}x8xf32>, %u: tensor<${M}x4xf32>) -> tensor<${M}x8xf32> {
  %i = stablehlo.constant dense<0.0> : $s
  %one = stablehlo.constant dense<1.0> : $s
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{
    window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
  }> ({
  ^bb0(%a: $s, %b: $s):
    REGION
    stablehlo.return %p : $s_i1
  }, {
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.maximum %a, %b : $s
    stablehlo.return %r : $s
  }) : (tensor<${M}x8xf32>, tensor<${M}x4xf32>, $s) -> tensor<${M}x8xf32>
  return %0 : tensor<${M}x8xf32>
}"""


def _selected(name: str, region: str) -> Program:
    body = _SELECTED.replace("REGION", lines(region))
    op = "stablehlo.select_and_scatter"
    return Program(f"select_and_scatter_{name}", op, body, "finite any", "-b", {"b": 1}, 12)


_BOTH = {"a": 1, "b": 1}

PROGRAMS = (
    *read(
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
"""
    ),
    _pairs("two_sums", "0.0", "0.0", "1 = add a c; 2 = add b d; return 1 2", _BOTH),
    _pairs("sum_and_minimum", "0.0", "$INF", "1 = add a c; 2 = minimum b d; return 1 2", _BOTH),
    _pairs(
        "sum_and_product", "0.0", "1.0", "1 = add a c; 2 = multiply b d; return 1 2", _ONE, "a-"
    ),
    _pairs(
        "sums_of_both",
        "0.0",
        "0.0",
        "3 = add a b; 1 = add 3 c; 2 = add 3 d; return 1 2",
        {"a": 2},
        "aa",
    ),
    _pairs(
        "logsumexp",
        "$NINF",
        "0.0",
        "1 = maximum a c; 3 = subtract a 1; 4 = exponential 3; 5 = subtract c 1;"
        "6 = exponential 5; 7 = multiply b 4; 8 = multiply d 6; 2 = add 7 8; return 1 2",
        {"b": 1},
        "-b",
    ),
    *read("""
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
"""),
    *read("""
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
"""),
    _cumulative("sum", "0.0", "r = add a b; return r", _ONE),
    _cumulative("maximum", "$NINF", "r = maximum a b; return r", _ONE),
    _cumulative("product", "1.0", "r = multiply a b; return r", READ),
    *read(
        """
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
"""
    ),
    _selected("by_size", "e = abs a; f = abs b; p = GE e f"),
    _selected("by_value", "e = minimum a one; p = GE e b"),
    _sort("by_one", "p = LTt a b", _BOTH),
    _sort("by_both", _BY_BOTH, _BOTH),
    _sort("by_size", "e = abs a; f = abs b; p = GT e f", _BOTH),
    _sort(
        "across", "u = maximum a c; v = maximum b d; p = LT u v", {"a": 2}, "aa", "finite finite"
    ),
    _sort(
        "by_products",
        "u = multiply a c; v = multiply b d; p = LT u v",
        _BOTH,
        "ab",
        "finite finite",
    ),
    _sort(
        "by_distance",
        "u = subtract a one; v = subtract b one; e = abs u; f = abs v; p = LT e f",
        {"b": 1},
        "-b",
        before="%one = stablehlo.constant dense<1.0> : $s",
    ),
    _map("product", "s = multiply a b; r = divide s c", _BOTH, "ab-", "finite finite nonzero"),
    _map("sum", "s = add a b; r = maximum s c", _ONE, "aaa"),
    _map("fused", "s = multiply a b; r = add s c", READ),
    _map(
        "length",
        "s = multiply a a; t = multiply b b; u = add s t; v = sqrt u; r = add v zero",
        _ONE,
        "aa-",
    ),
    _map(
        "reciprocal",
        "s = multiply a a; t = rsqrt s; r = multiply t b",
        {"b": 1, "a": -1},
        "ab-",
        "positive finite finite",
    ),
    _map("root", "r = sqrt a", READ, "a--", "positive finite finite"),
    _map("wave", "s = sine a; r = multiply s b", {"b": 1}, "-b-"),
    _map("sign", "s = sign a; r = multiply s b", {"b": 1}, "ab-"),
    _map("call", "%r = func.call @larger(%a, %b) : ($s, $s) -> $s", _ONE, "aa-"),
    _map("nothing", "r = multiply zero a", READ),
    _map("powers", "s = multiply a a; t = multiply b b; u = multiply t b; r = add s u", READ),
)
