"""Programs with ops on integers, between values with scales."""

from __future__ import annotations

from tests.py.programs.program import Program

_ONE, _TWO = "%i", "%i, %j"
_OPS = {
    "and": _TWO,
    "count_leading_zeros": _ONE,
    "not": _ONE,
    "or": _TWO,
    "popcnt": _ONE,
    "shift_left": _TWO,
    "shift_right_arithmetic": _TWO,
    "shift_right_logical": _TWO,
    "xor": _TWO,
}

PROGRAMS: tuple[Program, ...] = tuple(
    Program(
        f"integer_{name}",
        f"stablehlo.{name}",
        f"""
func.func @main(%x: $mn, %i: $mn_i32, %j: $mn_i32) -> ($mn, $mn_i32) {{
  %0 = stablehlo.{name} {operands} : $mn_i32
  %1 = stablehlo.convert %0 : ($mn_i32) -> $mn
  %2 = stablehlo.multiply %x, %1 : $mn
  return %2, %0 : $mn, $mn_i32
}}""",
        "any index index",
        "a--",
        {"a": 1},
    )
    for name, operands in _OPS.items()
)
