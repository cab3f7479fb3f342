"""Random programs of StableHLO text: regions, calls, composites, tuples, tokens, modules."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from string import Template as Placeholders

import numpy as np

from tests.py.fuzzing.steps import Step, Steps, draw_steps
from tests.py.fuzzing.templates import DRAWS, Template
from tests.py.programs.program import _Names
from tests.py.shared.judge import Array

_SIZES = (3, 3, 3)
_NAME = re.compile(r"%([A-Za-z_]\w*)")
_CONSTANTS = ("zero", "inf", "nan", "half")
_HEAD = """  %zero = stablehlo.constant dense<0.0> : $s
  %inf = stablehlo.constant dense<$NINF> : $s
  %nan = stablehlo.constant dense<$NAN> : $s
  %half = stablehlo.constant dense<0.5> : $s
  %ints = stablehlo.constant dense<[[0, 2, 1], [1, 1, 0], [3, 0, 2]]> : $mm_i32
  %mask = stablehlo.constant dense<[[true, false, true], [false, true, true],
    [false, false, true]]> : $mm_i1"""
_GIVEN = (("%half", "s"), ("%ints", "mm_i32"), ("%mask", "mm_i1"))
ARGUMENTS = ("mm", "mm", "mm", "m", "s", "mm_i32")
"""The types of the arguments of `main`."""
FLOATS = ("mm", "m", "s")


@dataclass(frozen=True)
class Value:
    """A value of a program, and its type as a placeholder."""

    name: str
    type: str


@dataclass
class Writer:
    """Writes a block: the values that it can use, and its lines."""

    functions: list[str]
    values: list[Value]
    lines: list[str] = field(default_factory=list)

    def pick(self, step: Step, slot: int, type_: str) -> str:
        """An operand of a step."""
        fitting = [v for v in self.values if v.type == type_]
        return step.pick(slot, fitting, lambda v: v.name).name

    def inside(self, *more: Value) -> Writer:
        """Of a block in this one."""
        return Writer(self.functions, [*self.values, *more])

    def write(self, steps: Steps) -> Writer:
        """Writes steps one after the other."""
        for step in steps:
            if step.kind in WITH_BODIES:
                WITH_BODIES[step.kind](self, step)
            else:
                self.put(step, DRAWS[step.kind][1](step.random()))
        return self

    def put(self, step: Step, template: Template, operands: Sequence[str] = ()) -> None:
        """Writes a text, and adds its results to the values."""
        given = operands or [self.pick(step, i, t) for i, t in enumerate(template.operands)]
        names = dict(zip("xyzw", given, strict=False))
        names |= {name: f"%{name}" for name in _CONSTANTS}
        names["captured"] = self.pick(step, 9, "s")
        own = f"%s{step.number}_"
        text = _NAME.sub(lambda m: names.get(m[1], f"{own}{m[1]}"), template.text)
        self.lines.append(f"  {text}")
        several = len(template.results) > 1
        for index, type_ in enumerate(template.results):
            self.values.append(Value(f"{own}r#{index}" if several else f"{own}r", type_))

    def block(self, step: Step, end: str, types: Sequence[str], slot: int) -> str:
        """The lines, and what ends the block with values of some types."""
        names = [self.pick(step, slot + i, t) for i, t in enumerate(types)]
        returned = f"  {end} {', '.join(names)} : {', '.join(f'${t}' for t in types)}"
        return "\n".join((*self.lines, returned))


def _if(writer: Writer, step: Step) -> None:
    first, second = (
        writer.inside().write(body).block(step, "stablehlo.return", ("mm", "m"), 20 + 5 * i)
        for i, body in enumerate(step.bodies)
    )
    text = f"""%p = stablehlo.compare LT, %x, %half : ($s, $s) -> $s_i1
  %r:2 = "stablehlo.if"(%p) ({{
{_kept(first)}
  }}, {{
{_kept(second)}
  }}) : ($s_i1) -> ($mm, $m)"""
    _put_kept(writer, step, Template(text, ("s",), ("mm", "m")))


def _case(writer: Writer, step: Step) -> None:
    blocks = (
        writer.inside().write(body).block(step, "stablehlo.return", ("mm",), 20 + 5 * i)
        for i, body in enumerate(step.bodies)
    )
    branches = "\n  }, {\n".join(map(_kept, blocks))
    text = f"""%s = stablehlo.slice %x [0:1, 1:2] : ($mm_i32) -> tensor<1x1xi32>
  %i = stablehlo.reshape %s : (tensor<1x1xi32>) -> $s_i32
  %r = "stablehlo.case"(%i) ({{
{branches}
  }}) : ($s_i32) -> $mm"""
    _put_kept(writer, step, Template(text, ("mm_i32",)))


def _while(writer: Writer, step: Step) -> None:
    random = step.random()
    own = f"%s{step.number}_"
    carried = (Value(f"{own}a", "mm"), Value(f"{own}b", "m"), Value(f"{own}c", "mm"))
    inner = writer.inside(*carried).write(step.bodies[0])
    inner.lines.append(f"  {own}j = stablehlo.add {own}i, {own}one : $s_i32")
    returned = [inner.pick(step, 20 + i, v.type) for i, v in enumerate(carried)]
    if random.random() < 0.3:
        returned[2] = carried[0].name  # what was carried in the turn before
    names = ", ".join((f"{own}j", *returned))
    inner.lines.append(f"  stablehlo.return {names} : $s_i32, $mm, $m, $mm")
    turns = random.randrange(4)
    bound = "%n" if random.random() < 0.7 else "%l"
    text = f"""%o = stablehlo.constant dense<0> : $s_i32
  %one = stablehlo.constant dense<1> : $s_i32
  %n = stablehlo.constant dense<{turns}> : $s_i32
  %t = stablehlo.constant dense<2> : $s_i32
  %l = stablehlo.minimum %n, %t : $s_i32
  %k:4 = stablehlo.while(%i = %o, %a = %x, %b = %y, %c = %z) : $s_i32, $mm, $m, $mm
  cond {{
    %p = stablehlo.compare LT, %i, {bound} : ($s_i32, $s_i32) -> $s_i1
    %q = stablehlo.slice %b [0:1] : ($m) -> tensor<1x$F>
    %e = stablehlo.reshape %q : (tensor<1x$F>) -> $s
    %f = stablehlo.constant dense<3.0e3> : $s
    %g = stablehlo.compare LT, %e, %f : ($s, $s) -> $s_i1
    %h = stablehlo.and %p, %g : $s_i1
    stablehlo.return %h : $s_i1
  }} do {{
{_kept(chr(10).join(inner.lines))}
  }}
  %u = stablehlo.broadcast_in_dim %k#2, dims = [0] : ($m) -> $mm
  %v = stablehlo.add %k#1, %u : $mm
  %r = stablehlo.subtract %v, %k#3 : $mm"""
    _put_kept(writer, step, Template(text, ("mm", "m", "mm")))


def _function(writer: Writer, step: Step) -> str:
    """A private function of two matrices and a row, which it returns some of."""
    name = f"f{step.number}"
    arguments = [Value("%p0", "mm"), Value("%p1", "mm"), Value("%p2", "m")]
    given = [*arguments, *(Value(*pair) for pair in _GIVEN)]
    inner = Writer(writer.functions, given).write(step.bodies[0])
    body = inner.block(step, "return", ("mm", "m"), 20)
    taken = ", ".join(f"{v.name}: ${v.type}" for v in arguments)
    writer.functions.append(
        f"func.func private @{name}({taken}) -> ($mm, $m) {{\n{_HEAD}\n{body}\n}}"
    )
    return name


def _call(writer: Writer, step: Step) -> None:
    name = _function(writer, step)
    type_ = "($mm, $mm, $m) -> ($mm, $m)"
    text = f"%r:2 = func.call @{name}(%x, %y, %z) : {type_}"
    if step.random().random() < 0.5:  # once more, with other scales
        text = f"%k:2 = func.call @{name}(%y, %w, %z) : {type_}\n  " + text.replace("%x", "%k#0")
    writer.put(step, Template(text, ("mm", "mm", "m", "mm"), ("mm", "m")))


def _composite(writer: Writer, step: Step) -> None:
    name = _function(writer, step)
    text = f"""%r:2 = stablehlo.composite "fuzzed.op{step.number}" %x, %y, %z {{
    composite_attributes = {{n = {step.number} : i64}}, decomposition = @{name}
  }} : ($mm, $mm, $m) -> ($mm, $m)"""
    writer.put(step, Template(text, ("mm", "mm", "m"), ("mm", "m")))


_KEPT = "\0"


def _kept(text: str) -> str:
    """A text whose names are final: `_put_kept` leaves them alone."""
    return text.replace("%", _KEPT)


def _put_kept(writer: Writer, step: Step, template: Template) -> None:
    writer.put(step, template)
    writer.lines[-1] = writer.lines[-1].replace(_KEPT, "%")


WITH_BODIES: Mapping[str, Callable[[Writer, Step], None]] = {
    "if": _if,
    "case": _case,
    "while": _while,
    "call": _call,
    "composite": _composite,
}
"""The kinds of steps that have bodies."""
_BODIES = {"if": 2, "case": 3, "while": 1, "call": 1, "composite": 1}
KINDS = {kind: often for kind, (often, _) in DRAWS.items()} | {
    "if": 4,
    "case": 3,
    "while": 6,
    "call": 6,
    "composite": 3,
}
"""The relative frequency of each kind of step."""


def draw(random: Random) -> Steps:
    """The steps of a program."""
    return draw_steps(random, KINDS, _BODIES, 10)


def text_of(steps: Steps, seed: int, element: str = "f32", *, everything: bool = False) -> str:
    """A program as text.

    Args:
        steps: Its steps.
        seed: Of what it returns, and of its attributes and modules.
        element: The element type of its floats.
        everything: Whether it returns all float values of `main` instead.
    """
    random = Random(seed)
    arguments = [Value(f"%x{i}", t) for i, t in enumerate(ARGUMENTS)]
    main = Writer([], [*arguments, *(Value(*pair) for pair in _GIVEN)]).write(steps)
    floats = [v for v in main.values if v.type in FLOATS]
    results = floats if everything else [floats[-1], *random.choices(floats, k=random.randrange(3))]
    attributes = ["" if everything else _donation(random, a, results) for a in arguments]
    taken = ", ".join(
        f"{a.name}: ${a.type}{more}" for a, more in zip(arguments, attributes, strict=True)
    )
    names, types = (
        ", ".join(r.name for r in results),
        ", ".join(f"${r.type}" for r in results),
    )
    body = "\n".join(main.lines)
    functions = [
        f"func.func public @main({taken}) -> ({types}) {{\n{_HEAD}\n{body}\n"
        f"  return {names} : {types}\n}}",
        *main.functions,
    ]
    random.shuffle(functions)
    text = "\n".join((*functions, *_modules(random)))
    placeholders = _Names(_SIZES, element)
    return Placeholders(text.replace("$F", element)).substitute(placeholders)


def _donation(random: Random, argument: Value, results: Sequence[Value]) -> str:
    """Attributes of an argument whose memory the program may take."""
    if random.random() < 0.6:
        return ""
    fitting = [i for i, result in enumerate(results) if result.type == argument.type]
    if fitting and random.random() < 0.5:
        return f" {{tf.aliasing_output = {random.choice(fitting)} : i32}}"
    return " {jax.buffer_donor = true}"


def _modules(random: Random) -> list[str]:
    """Modules in the module, whose functions have the names of those outside."""
    if random.random() < 0.7:
        return []
    name = f"@f{random.randrange(6)}"
    return [
        f"""module @inner {{
  func.func private {name}(%a: $mm) -> $mm {{
    %0 = stablehlo.add %a, %a : $mm
    return %0 : $mm
  }}
  func.func @main(%a: $mm) -> $mm {{
    %0 = func.call {name}(%a) : ($mm) -> $mm
    return %0 : $mm
  }}
}}"""
    ]


def arrays_of(seed: int, element: str) -> list[Array]:
    """Arguments of a program."""
    rng = np.random.default_rng(seed)
    dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[element]
    shapes = {"mm": (3, 3), "m": (3,), "s": (), "mm_i32": (3, 3)}
    return [
        rng.integers(0, 4, shapes[t]).astype(np.int32)
        if t == "mm_i32"
        else rng.standard_normal(shapes[t]).astype(dtype)
        for t in ARGUMENTS
    ]
