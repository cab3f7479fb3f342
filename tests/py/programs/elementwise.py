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


_UNARY = """
func.func @main(%x: $mn) -> {result} {{
  %0 = stablehlo.{op} %x{attributes} : {signature}
  return %0 : {result}
}}"""


def _unary(
    op: str,
    data: str,
    moves: Mapping[str, float] | None,
    *,
    result: str = "$mn",
    attributes: str = "",
    name: str = "",
    span: int = 20,
    ulps: int = 0,
    element: str = "f32",
) -> Program:
    signature = "$mn" if result == "$mn" and op != "convert" else f"($mn) -> {result}"
    text = _UNARY.format(op=op, result=result, signature=signature, attributes=attributes)
    return Program(
        name or op, f"stablehlo.{op}", text, data, "a", moves, span, ulps, element=element
    )


def _unaries() -> Iterator[Program]:
    for op in ("negate", "abs"):
        yield _unary(op, "any", {"a": 1})
    yield _unary("sign", "any", {})
    yield _unary("is_finite", "any", {}, result="$mn_i1")
    yield _unary("sqrt", "positive", {"a": 0.5})
    yield _unary("rsqrt", "positive", {"a": -0.5})
    yield _unary("cbrt", "nonzero", {"a": 1 / 3}, ulps=1)
    for op in ("log", "log_plus_one"):
        yield _unary(op, "positive", READ)
    for op in (
        "ceil",
        "cosine",
        "exponential",
        "exponential_minus_one",
        "floor",
        "logistic",
        "round_nearest_afz",
        "round_nearest_even",
        "sine",
        "tan",
        "tanh",
    ):
        yield _unary(op, "any", READ)
    yield _unary("bitcast_convert", "any", READ, result="$mn_i32")
    yield _unary("reduce_precision", "any", {"a": 1}, attributes=", format = e8m7")
    # A format in which values and data are normal numbers.
    yield _unary("reduce_precision", "any", READ, attributes=", format = e7m2", name="reduce_range")
    yield _unary("convert", "any", {"a": 1}, result="$mn_f64", name="to_f64")
    yield _unary("convert", "nonzero", READ, result="$mn_i32", name="to_i32", span=4)
    yield _unary("convert", "any", READ, result="$mn_i1", name="to_i1")
    yield _unary(
        "convert", "any", {"a": 1}, result="$mn_f32", name="from_f64", element="f64", span=12
    )


_DEGREES = """for DEGREE = VALUE = DATA = MOVES = SPAN in 1 = 1.0 = nonzero = a:1 = 8;
  2 = 2.0 = nonzero = a:2 = 8;
  3 = 3.0 = nonzero = a:3 = 8; 5 = 5.0 = nonzero = a:5 = 8; -1 = -1.0 = nonzero = a:-1 = 8;
  -2 = -2.0 = nonzero = a:-2 = 8; 0.5 = 0.5 = positive = read = 20"""
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
    *_unaries(),
    *_POWERS,
    _binary("power", ARGUMENT, "power %x, %y", "positive nonzero", "ab", READ),
    *OTHERS,
)
