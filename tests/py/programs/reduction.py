"""Programs for the rules of reductions, by the monoid of their region."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.py.programs.program import READ, Program, read

_ONE = {"a": 1}
_REDUCE = """
func.func @main(%x: $mn) -> $m {
  %i = stablehlo.constant dense<INIT> : $s
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.OP across dimensions = [1]
    : ($mn, $s) -> $m
  return %0 : $m
}"""


def _reduce(
    op: str, init: str, moves: Mapping[str, float] | None, name: str = "", span: int = 20
) -> Program:
    body = _REDUCE.replace("INIT", init).replace("OP", op)
    return Program(name or f"reduce_{op}", "stablehlo.reduce", body, "any", "a", moves, span)


_COMBINE = """
func.func @main(%x: $mn, %i: $iSHAPE, %u: $mn) -> $mn {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    indices_are_sorted = false, unique_indices = false,
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }> ({
  ^bb0(%a: $s, %b: $s):
    REGION
  }) : ($mn, $iSHAPE, $mn) -> $mn
  return %0 : $mn
}""".replace("$iSHAPE", "tensor<${M}x1xi32>")


def _scatter(name: str, region: str, moves: Mapping[str, float] | None, span: int = 20) -> Program:
    body = _COMBINE.replace("REGION", region)
    return Program(
        f"scatter_{name}", "stablehlo.scatter", body, "any index any", "a-a", moves, span
    )


def _two(op: str) -> str:
    return f"""%r = stablehlo.{op} %a, %b : $s
    stablehlo.return %r : $s"""


_WINDOW = """
func.func @main(%x: tensor<${M}x9xf32>, %y: $s) -> tensor<${M}x5xf32> {
  %i = stablehlo.constant dense<INIT> : $s
  %0 = "stablehlo.reduce_window"(%x, %i) <{
    window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>,
    padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>
  }> ({
  ^bb0(%a: $s, %b: $s):
    REGION
  }) : (tensor<${M}x9xf32>, $s) -> tensor<${M}x5xf32>
  %1 = stablehlo.broadcast_in_dim %y, dims = [] : ($s) -> tensor<${M}x5xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<${M}x5xf32>
  return %2 : tensor<${M}x5xf32>
}"""


def _window(name: str, init: str, region: str, moves: Mapping[str, float] | None) -> Program:
    body = _WINDOW.replace("INIT", init).replace("REGION", region)
    return Program(
        f"reduce_window_{name}", "stablehlo.reduce_window", body, "any any", "ab", moves, 12
    )


_BOTH = {"a": 1, "b": 1}
PROGRAMS = (
    _reduce("add", "0.0", _ONE),
    _reduce("add", "-0.0", _ONE, "reduce_add_negative_zero"),
    _reduce("add", "2.5", READ, "reduce_add_from_splat"),
    _reduce("add", "$NINF", _ONE, "reduce_add_from_ninf"),
    _reduce("maximum", "$NINF", _ONE),
    _reduce("maximum", "0.0", _ONE, "reduce_maximum_zero"),
    _reduce("maximum", "-3.0", READ, "reduce_maximum_from_splat"),
    _reduce("minimum", "$INF", _ONE),
    _reduce("multiply", "1.0", {"a": 3}, span=12),
    *read(
        """
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
"""
    ),
    _window("sum", "0.0", _two("add"), _BOTH),
    _window("max", "$NINF", _two("maximum"), _BOTH),
    _window("min", "$INF", _two("minimum"), _BOTH),
    _window("product", "1.0", _two("multiply"), READ),
    _window("sum_from_splat", "0.5", _two("add"), READ),
    _scatter("add", _two("add"), _ONE),
    _scatter("maximum", _two("maximum"), _ONE),
    _scatter("minimum", _two("minimum"), _ONE),
    _scatter("multiply", _two("multiply"), READ),
    replace(_scatter("multiply_inputs", _two("multiply"), _ONE), groups="a--"),
    _scatter("subtract", _two("subtract"), _ONE),
    _scatter("update", "stablehlo.return %b : $s", _ONE),
    _scatter("keep", "stablehlo.return %a : $s", _ONE),
    _scatter("add_itself", _two("add").replace("%a, %b", "%b, %b"), _ONE),
    *read(
        """
scatter_into_zeros | stablehlo.scatter | index any | -a | a:1
%i: tensor<${M}x1xi32>, %u: $mn
  %x = stablehlo.constant dense<0.0> : $kn
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    indices_are_sorted = false, unique_indices = false,
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }> ({
  ^bb0(%a: $s, %b: $s):
    %r = stablehlo.add %b, %a : $s
    stablehlo.return %r : $s
  }) : ($kn, tensor<${M}x1xi32>, $mn) -> $kn
"""
    ),
    *read("""
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
"""),
)
