"""Programs for the rules of elementwise ops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tests.py.programs.elementwise_others import OTHERS
from tests.py.programs.program import READ, Program, read


@dataclass(frozen=True)
class Partner:
    """Where the second operand of an op comes from.

    Attributes:
        name: Part of the program's name.
        argument: The argument that it takes, if any.
        lines: What makes %y.
    """

    name: str
    argument: str = ""
    lines: str = ""

    @property
    def constant(self) -> bool:
        return not self.argument


_BROADCAST = "%y = stablehlo.broadcast_in_dim {}, dims = {} : ({}) -> $mn"
ARGUMENT = Partner("argument", "%y: $mn")
PARTNERS = (
    ARGUMENT,
    Partner("vector", "%b: $n", _BROADCAST.format("%b", "[1]", "$n")),
    Partner("scalar", "%b: $s", _BROADCAST.format("%b", "[]", "$s")),
)
SPLATS = (
    Partner("splat", "", "%y = stablehlo.constant dense<0.75> : $mn"),
    Partner("large", "", "%y = stablehlo.constant dense<-3.0e4> : $mn"),
    Partner(
        "broadcast_splat",
        "",
        "%c = stablehlo.constant dense<1.5> : $s\n  " + _BROADCAST.format("%c", "[]", "$s"),
    ),
    Partner("iota", "", "%y = stablehlo.iota dim = 1 : $mn"),
)
ANYS = tuple(
    Partner(name, "", f"%y = stablehlo.constant dense<{value}> : $mn")
    for name, value in (("zero", "0.0"), ("ninf", "$NINF"), ("nan", "$NAN"))
)

_BINARY = """
func.func @main({arguments}) -> {result} {{
  {lines}
  %0 = stablehlo.{op} : {signature}
  return %0 : {result}
}}"""


def _binary(
    op: str,
    partner: Partner,
    call: str,
    data: str,
    groups: str,
    moves: Mapping[str, float] | None,
    result: str = "$mn",
    signature: str = "$mn",
) -> Program:
    text = _BINARY.format(
        arguments=f"%x: $mn, {partner.argument}".rstrip(", "),
        lines=partner.lines,
        op=call,
        result=result,
        signature=signature,
    )
    words = data.split()[: 1 if partner.constant else 2]
    side = "right" if call.endswith("%y") else "left"
    name = f"{op}_{partner.name}_{side}"
    return Program(name, f"stablehlo.{op}", text, " ".join(words), groups[: len(words)], moves)


def _sides(op: str, data: str = "any any") -> Iterator[tuple[str, str]]:
    """The op with %x first, and with %y first, data in the same order."""
    a, b = data.split()
    yield f"{op} %x, %y", f"{a} {b}"
    yield f"{op} %y, %x", f"{b} {a}"


def _family(
    op: str, groups: str, *kinds: Mapping[str, float] | None, inverse: bool = False
) -> Iterator[Program]:
    """All partners on both sides, with the moves for arguments, for splats and for any scale."""
    for sign, (call, data) in zip((1, -1 if inverse else 1), _sides(op), strict=True):
        for partners, moves in zip((PARTNERS, SPLATS, ANYS), kinds, strict=True):
            signed = moves and {name: sign * degree for name, degree in moves.items()}
            for partner in partners:
                program = _binary(op, partner, call, data, groups, signed)
                yield program
                if program.name.endswith(("argument_right", "splat_left")):
                    yield replace(program, name=f"{program.name}_f64", element="f64")


def _comparisons() -> Iterator[Program]:
    for order, (call, data) in zip(("LT", "GE"), _sides("compare"), strict=True):
        for partner in (*PARTNERS, *ANYS):
            moves: Mapping[str, float] | None = {}
            yield _compare(order, call, partner, data, moves)
        for partner in SPLATS:
            yield _compare(order, call, partner, data, READ)


def _compare(
    order: str, call: str, partner: Partner, data: str, moves: Mapping[str, float] | None
) -> Program:
    program = _binary("compare", partner, call, data, "aa", moves, "$mn_i1", "($mn, $mn) -> $mn_i1")
    body = program.body.replace("compare %", f"compare {order}, %")
    return replace(program, name=f"{program.name}_{order}", body=body)


def _angles() -> Iterator[Program]:
    for call, data in _sides("atan2", "any any"):
        for partner in PARTNERS:
            yield _binary("atan2", partner, call, data, "aa", {})
        yield _binary("atan2", SPLATS[0], call, data, "a", READ)


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

_ONE = {"a": 1}
PROGRAMS = (
    *(
        p
        for op in ("add", "subtract", "maximum", "minimum", "remainder")
        for p in _family(op, "aa", _ONE, READ, _ONE)
    ),
    *_family("multiply", "ab", {"a": 1, "b": 1}, _ONE, {}),
    *_family("divide", "ab", {"a": 1, "b": -1}, _ONE, {}, inverse=True),
    *_comparisons(),
    *_angles(),
    *_UNARIES,
    *_POWERS,
    _binary("power", ARGUMENT, "power %x, %y", "positive nonzero", "ab", READ),
    *OTHERS,
)
