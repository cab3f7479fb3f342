"""Programs for ops of CHLO, those with a rule of their own and those that are expanded."""

from __future__ import annotations

from tests.py.programs.program import READ, Program

_FUNCTIONS = {
    "acos": "finite",
    "acosh": "positive",
    "asin": "finite",
    "asinh": "any",
    "atan": "any",
    "atanh": "finite",
    "bessel_i1e": "finite",
    "cosh": "any",
    "digamma": "any",
    "erf": "any",
    "erf_inv": "finite",
    "erfc": "any",
    "lgamma": "any",
    "sinh": "any",
    "tan": "finite",
}
"""Functions of one value, and what they may be given."""


def _function(name: str, data: str) -> Program:
    return Program(
        f"chlo_{name}",
        f"chlo.{name}",
        f"""
func.func @main(%x: $mn, %y: $mn) -> ($mn, $mn) {{
  %0 = chlo.{name} %x : $mn -> $mn
  %1 = stablehlo.multiply %0, %y : $mn
  return %0, %1 : $mn, $mn
}}""",
        f"{data} any",
        "aa",
        READ,
        span=3,
    )


def _two(name: str) -> Program:
    signature = "($n, $mn) -> $mn" if name.startswith("broadcast") else "$mn, $mn -> $mn"
    first = "$n" if name.startswith("broadcast") else "$mn"
    return Program(
        f"chlo_{name}",
        f"chlo.{name}",
        f"""
func.func @main(%x: {first}, %y: $mn) -> $mn {{
  %0 = chlo.{name} %x, %y : {signature}
  return %0 : $mn
}}""",
        "positive positive",
        "ab",
        READ,
        span=2,
    )


_SUM, _A = {"a": 1}, {"a": 0}
_BROADCASTS = {
    "add": ("aa", _SUM),
    "atan2": ("aa", _A),
    "divide": ("ab", {"a": 1, "b": -1}),
    "maximum": ("aa", _SUM),
    "minimum": ("aa", _SUM),
    "multiply": ("ab", {"a": 1, "b": 1}),
    "remainder": ("aa", _SUM),
    "subtract": ("aa", _SUM),
}
"""Ops of two values: the groups of the operands, and how the result moves."""


def _broadcast(name: str, groups: str, moves: dict[str, int]) -> Program:
    return Program(
        f"chlo_broadcast_{name}",
        f"chlo.broadcast_{name}",
        f"""
func.func @main(%x: $n, %y: $mn) -> $mn {{
  %0 = chlo.broadcast_{name} %x, %y : ($n, $mn) -> $mn
  return %0 : $mn
}}""",
        "nonzero nonzero",
        groups,
        moves,
    )


def _integers(name: str) -> Program:
    return Program(
        f"chlo_broadcast_{name}",
        f"chlo.broadcast_{name}",
        f"""
func.func @main(%x: $mn, %i: $n_i32, %j: $mn_i32) -> $mn {{
  %0 = chlo.broadcast_{name} %i, %j : ($n_i32, $mn_i32) -> $mn_i32
  %1 = stablehlo.convert %0 : ($mn_i32) -> $mn
  %2 = stablehlo.multiply %x, %1 : $mn
  return %2 : $mn
}}""",
        "any index index",
        "a--",
        _SUM,
    )


_OTHERS = (
    Program(
        "chlo_broadcast_power",
        "chlo.broadcast_power",
        """
func.func @main(%x: $n, %y: $mn) -> $mn {
  %0 = chlo.broadcast_power %x, %y : ($n, $mn) -> $mn
  return %0 : $mn
}""",
        "positive positive",
        "ab",
        READ,
        span=2,
    ),
    Program(
        "chlo_broadcast_compare",
        "chlo.broadcast_compare",
        """
func.func @main(%x: $n, %y: $mn) -> $mn_i1 {
  %0 = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>}
    : ($n, $mn) -> $mn_i1
  return %0 : $mn_i1
}""",
        "any any",
        "aa",
        _A,
    ),
    Program(
        "chlo_broadcast_complex",
        "chlo.broadcast_complex",
        """
func.func @main(%x: $n, %y: $mn) -> ($mn, $mn) {
  %0 = chlo.broadcast_complex %x, %y : ($n, $mn) -> $mn_c
  %1 = stablehlo.real %0 : ($mn_c) -> $mn
  %2 = stablehlo.imag %0 : ($mn_c) -> $mn
  return %1, %2 : $mn, $mn
}""",
        "any any",
        "aa",
        _SUM,
    ),
    Program(
        "chlo_broadcast_select",
        "chlo.broadcast_select",
        """
func.func @main(%p: $mn_i1, %x: $n, %y: $mn) -> $mn {
  %0 = chlo.broadcast_select %p, %x, %y : ($mn_i1, $n, $mn) -> $mn
  return %0 : $mn
}""",
        "bool any any",
        "-aa",
        _SUM,
    ),
    Program(
        "chlo_conj",
        "chlo.conj",
        """
func.func @main(%x: $mn, %y: $mn) -> ($mn, $mn) {
  %0 = stablehlo.complex %x, %y : $mn_c
  %1 = chlo.conj %0 : $mn_c -> $mn_c
  %2 = stablehlo.real %1 : ($mn_c) -> $mn
  %3 = stablehlo.imag %1 : ($mn_c) -> $mn
  return %2, %3 : $mn, $mn
}""",
        "any any",
        "aa",
        _SUM,
    ),
    Program(
        "chlo_asin_of_complex",
        "chlo._asin_acos_kernel",
        """
func.func @main(%x: $mn, %y: $mn) -> ($mn, $mn) {
  %0 = stablehlo.complex %x, %y : $mn_c
  %1 = chlo._asin_acos_kernel %0 : $mn_c -> $mn_c
  %2 = stablehlo.real %1 : ($mn_c) -> $mn
  %3 = stablehlo.imag %1 : ($mn_c) -> $mn
  return %2, %3 : $mn, $mn
}""",
        "finite finite",
        "aa",
        READ,
    ),
    Program(
        "chlo_constant",
        "chlo.constant",
        """
func.func @main(%x: $s) -> $s {
  %0 = chlo.constant dense<1.5> : $s
  %1 = stablehlo.multiply %x, %0 : $s
  return %1 : $s
}""",
        "any",
        "a",
        _SUM,
    ),
    Program(
        "chlo_constant_like",
        "chlo.constant_like",
        """
func.func @main(%x: $mn) -> $mn {
  %0 = "chlo.constant_like"(%x) {value = 1.5 : f32} : ($mn) -> $mn
  %1 = stablehlo.multiply %x, %0 : $mn
  return %1 : $mn
}""",
        "any",
        "a",
        _SUM,
    ),
    Program(
        "chlo_mulhi",
        "chlo.mulhi",
        """
func.func @main(%x: $mn, %i: $mn_ui32) -> $mn {
  %0 = "chlo.mulhi"(%i, %i) : ($mn_ui32, $mn_ui32) -> $mn_ui32
  %1 = stablehlo.convert %0 : ($mn_ui32) -> $mn
  %2 = stablehlo.multiply %x, %1 : $mn
  return %2 : $mn
}""",
        "any index",
        "a-",
        _SUM,
    ),
    Program(
        "chlo_square",
        "chlo.square",
        """
func.func @main(%x: $mn) -> $mn {
  %0 = chlo.square %x : $mn -> $mn
  return %0 : $mn
}""",
        "any",
        "a",
        {"a": 2},
    ),
    Program(
        "chlo_top_k",
        "chlo.top_k",
        """
func.func @main(%x: $mn) -> ($m1, $m1_i32) {
  %0:2 = chlo.top_k(%x, k = 1) : $mn -> ($m1, $m1_i32)
  return %0#0, %0#1 : $m1, $m1_i32
}""".replace("$m1_i32", "tensor<${M}x1xi32>").replace("$m1", "tensor<${M}x1xf32>"),
        "nonzero",
        "a",
        READ,
    ),
    Program(
        "chlo_ragged_dot",
        "chlo.ragged_dot",
        """
func.func @main(%x: $mk, %y: tensor<1x${K}x${N}xf32>) -> $mn {
  %sizes = stablehlo.constant dense<$M> : tensor<1xi64>
  %0 = "chlo.ragged_dot"(%x, %y, %sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [],
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
  } : ($mk, tensor<1x${K}x${N}xf32>, tensor<1xi64>) -> $mn
  return %0 : $mn
}""",
        "nonzero nonzero",
        "ab",
        {"a": 1, "b": 1},
    ),
    Program(
        "chlo_scan",
        "chlo.scan",
        """
func.func @main(%x: $mn, %y: $n) -> ($mn, $n) {
  %0:2 = "chlo.scan"(%x, %y) ({
  ^bb0(%a: $n, %b: $n):
    %1 = stablehlo.add %a, %b : $n
    "stablehlo.return"(%1, %1) : ($n, $n) -> ()
  }) {
    dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>,
    resultSegmentSizes = array<i32: 1, 1>
  } : ($mn, $n) -> ($mn, $n)
  return %0#0, %0#1 : $mn, $n
}""",
        "finite finite",
        "aa",
        READ,
        judge="report",
        scales=("s0", "s1"),
    ),
    *(
        Program(
            f"chlo_{name}",
            f"chlo.{name}",
            f"""
func.func @main(%x: $mn) -> $mn_i1 {{
  %0 = "chlo.{name}"(%x) : ($mn) -> $mn_i1
  return %0 : $mn_i1
}}""",
            "any",
            "a",
            _A,
        )
        for name in ("is_inf", "is_neg_inf", "is_pos_inf")
    ),
)

PROGRAMS: tuple[Program, ...] = (
    *(_function(name, data) for name, data in _FUNCTIONS.items()),
    *(
        _two(f"{prefix}{name}")
        for prefix in ("", "broadcast_")
        for name in ("next_after", "polygamma", "zeta")
    ),
    *(_broadcast(name, *how) for name, how in _BROADCASTS.items()),
    *map(
        _integers,
        (
            *("and", "or", "shift_left", "shift_right_arithmetic"),
            *("shift_right_logical", "xor"),
        ),
    ),
    *_OTHERS,
)
