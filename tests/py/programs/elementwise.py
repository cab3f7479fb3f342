"""Programs for the rules of elementwise ops."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tests.py.programs.elementwise_others import OTHERS
from tests.py.programs.program import Program, read

_BROADCAST = """%c = stablehlo.constant dense<1.5> : $s
  %y = stablehlo.broadcast_in_dim %c, dims = [] : ($s) -> $mn"""
_PARTNERS = (
    ("argument", ", %y: $mn", "", 0),
    ("vector", ", %b: $n", "%y = stablehlo.broadcast_in_dim %b, dims = [1] : ($n) -> $mn", 0),
    ("scalar", ", %b: $s", "%y = stablehlo.broadcast_in_dim %b, dims = [] : ($s) -> $mn", 0),
    ("splat", "", "%y = stablehlo.constant dense<0.75> : $mn", 1),
    ("large", "", "%y = stablehlo.constant dense<-3.0e4> : $mn", 1),
    ("broadcast_splat", "", _BROADCAST, 1),
    ("iota", "", "%y = stablehlo.iota dim = 1 : $mn", 1),
    ("zero", "", "%y = stablehlo.constant dense<0.0> : $mn", 2),
    ("ninf", "", "%y = stablehlo.constant dense<$NINF> : $mn", 2),
    ("nan", "", "%y = stablehlo.constant dense<$NAN> : $mn", 2),
)
"""Where the second operand comes from: name, argument, ops, and which of three moves it has."""
_ALIGNED = ("add", "subtract", "maximum", "minimum", "remainder")
_BINARY = {
    **dict.fromkeys(_ALIGNED, ("aa", "a:1", "read", "a:1")),
    "multiply": ("ab", "a:1 b:1", "a:1", "_"),
    "divide": ("ab", "a:1 b:-1", "a:1", "_"),
    "compare": ("aa", "_", "read", "_"),
    "atan2": ("aa", "_", "read", "_"),
}
"""The groups of each op, and its moves with an argument, a splat, and a splat of any scale."""
_SIDES = (("right", "%x, %y", "LT"), ("left", "%y, %x", "GE"))


def _binaries() -> Iterator[Program]:
    """All ops on all partners, on both sides."""
    for (op, (groups, *kinds)), (side, operands, order) in product(_BINARY.items(), _SIDES):
        name, call = side, f"{op} {operands} : $mn"
        if op == "compare":
            name, call = f"{side}_{order}", f"{op} {order}, {operands} : ($mn, $mn) -> $mn_i1"
        for partner, argument, made, kind in _PARTNERS:
            if op == "atan2" and kind and partner != "splat":
                continue
            moves = kinds[kind]
            if op == "divide" and side == "left":
                moves = moves.replace(":", ":-").replace("--", "")
            data, letters = ("any any", groups) if argument else ("any", groups[0])
            text = f"%x: $mn{argument}\n  {made}\n  %0 = stablehlo.{call}"
            fields = f"stablehlo.{op} | {data} | {letters} | {moves}"
            yield from read(f"{op}_{partner}_{name} | {fields}\n{text}")
            wide = f"{partner}_{name}".endswith(("argument_right", "splat_left"))
            if wide and op != "atan2":
                yield from read(f"{op}_{partner}_{name}_f64 | {fields} | element=f64\n{text}")


_DEGREES = """for DEGREE = VALUE = DATA = MOVES = SPAN in 1 = 1.0 = nonzero = a:1 = 8;
  2 = 2.0 = nonzero = a:2 = 8;
  3 = 3.0 = nonzero = a:3 = 8; 5 = 5.0 = nonzero = a:5 = 8; -1 = -1.0 = nonzero = a:-1 = 8;
  -2 = -2.0 = nonzero = a:-2 = 8; 0.5 = 0.5 = positive = read = 20"""
_UNARIES = read("""
for NAME = DATA = MOVES in negate = any = a:1; abs = any = a:1; sign = any = _;
  sqrt = positive = a:0.5; rsqrt = positive = a:-0.5; cbrt = nonzero = a:1/3 | ulps=1;
  log = positive = read; log_plus_one = positive = read; ceil = any = read; cosine = any = read;
  exponential = any = read; exponential_minus_one = any = read; floor = any = read;
  logistic = any = read; round_nearest_afz = any = read; round_nearest_even = any = read;
  sine = any = read; tan = any = read; tanh = any = read
NAME | stablehlo.NAME | DATA | a | MOVES
%x: $mn
  %0 = stablehlo.NAME %x : $mn

for NAME = FORMAT = MOVES in reduce_precision = e8m7 = a:1; reduce_range = e7m2 = read
NAME | stablehlo.reduce_precision | any | a | MOVES
%x: $mn
  %0 = stablehlo.reduce_precision %x, format = FORMAT : $mn

for NAME = OP = RESULT = FIELDS in is_finite = is_finite = i1 = any | a | _;
  bitcast_convert = bitcast_convert = i32 = any | a | read; to_f64 = convert = f64 = any | a | a:1;
  to_i32 = convert = i32 = nonzero | a | read | span=4; to_i1 = convert = i1 = any | a | read;
  from_f64 = convert = f32 = any | a | a:1 | element=f64 | span=12
NAME | stablehlo.OP | FIELDS
%x: $mn
  %0 = stablehlo.OP %x : ($mn) -> $mn_RESULT
""")
"""In the second format of `reduce_precision`, values and data are normal numbers."""

_POWERS = read(f"""
power_argument_right | stablehlo.power | positive nonzero | ab | read
%x: $mn, %y: $mn
  %0 = stablehlo.power %x, %y : $mn

{_DEGREES}
power_DEGREE | stablehlo.power | DATA | a | MOVES | span=SPAN
%x: $mn
  %n = stablehlo.constant dense<VALUE> : $mn
  %0 = stablehlo.power %x, %n : $mn

{_DEGREES}
power_broadcast_DEGREE | stablehlo.power | DATA | a | MOVES | span=SPAN
%x: $mn
  %c = stablehlo.constant dense<VALUE> : $s
  %n = stablehlo.broadcast_in_dim %c, dims = [] : ($s) -> $mn
  %0 = stablehlo.power %x, %n : $mn
""")

PROGRAMS = (*_binaries(), *_UNARIES, *_POWERS, *OTHERS)
