"""Ops of random MLIR programs, each a text over named operands.

In a text ``%x``, ``%y``, ``%z`` and ``%w`` are the operands, ``%r`` (or ``%r#0``, ...) the results,
``%captured`` is a scalar of the program and ``%zero``, ``%inf``, ``%nan``, ``%half`` are constants;
all other values are the op's own. Types are those of `tests.py.programs.program`, with m = 3.

There is no power and no cbrt: libm's round in other ways at other scales.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random

from tests.py.fuzzing.bodies import Body, draw_body, order_by
from tests.py.programs.statements import lines


@dataclass(frozen=True)
class Template:
    """An op: its text, the types of its operands, and those of its results."""

    text: str
    operands: tuple[str, ...]
    results: tuple[str, ...] = ("mm",)


Draw = Callable[[Random], Template]

_ROOTS = ("sqrt", "rsqrt", "log", "log_plus_one")
_FUNCTIONS = ("tanh", "logistic", "sine", "cosine", "exponential", "exponential_minus_one", "tan")
_MOVES = ("negate", "abs", "sign", "floor", "ceil", "round_nearest_even", "round_nearest_afz")
_BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum")
_NUMBERS = ("0.0", "1.0", "-0.3", "3.0e3", "2.5e-4", "-0.0", "0.5", "$NINF", "$INF", "$NAN")
_FLOATS = ("mm", "mm", "mm", "m", "s")


def _unary(random: Random) -> Template:
    kind = random.choice(_FLOATS)
    if random.random() < 0.3:
        op = random.choice(_ROOTS)
        text = f"%t = stablehlo.abs %x : ${kind}\n  %r = stablehlo.{op} %t : ${kind}"
    else:
        op = random.choice((*_FUNCTIONS, *_MOVES, *_MOVES))
        text = f"%r = stablehlo.{op} %x : ${kind}"
    return Template(text, (kind,), (kind,))


def _binary(random: Random) -> Template:
    kind = random.choice(_FLOATS)
    op = random.choice((*_BINARY, *_BINARY, "atan2"))
    return Template(f"%r = stablehlo.{op} %x, %y : ${kind}", (kind, kind), (kind,))


def _constant(random: Random) -> Template:
    kind = random.choice(_FLOATS)
    value = random.choice(_NUMBERS)
    if kind == "mm" and random.random() < 0.5:
        rows = (", ".join(random.choice(_NUMBERS) for _ in range(3)) for _ in range(3))
        value = f"[{', '.join(f'[{row}]' for row in rows)}]"
    return Template(f"%r = stablehlo.constant dense<{value}> : ${kind}", (), (kind,))


def _broadcast(random: Random) -> Template:
    kind, dims = random.choice((("m", "0"), ("m", "1"), ("s", "")))
    text = f"%r = stablehlo.broadcast_in_dim %x, dims = [{dims}] : (${kind}) -> $mm"
    return Template(text, (kind,))


def _pad(random: Random) -> Template:
    low = random.choice((-1, 0, 1))
    value = random.choice(("%y", "%zero", "%inf"))
    return Template(
        f"%r = stablehlo.pad %x, {value}, low = [{low}, 1], high = [{-low}, -1], interior = [0, 0]"
        " : ($mm, $s) -> $mm",
        ("mm", "s"),
    )


def _convolution(random: Random) -> Template:
    pad = random.choice((0, 1))
    n = 2 * pad + 1
    return Template(
        f"""%a = stablehlo.reshape %x : ($mm) -> tensor<1x3x3x1x$F>
  %b = stablehlo.slice %y [0:{n}, 0:{n}] : ($mm) -> tensor<{n}x{n}x$F>
  %c = stablehlo.reshape %b : (tensor<{n}x{n}x$F>) -> tensor<{n}x{n}x1x1x$F>
  %d = stablehlo.convolution(%a, %c) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {{pad = [[{pad}, {pad}], [{pad}, {pad}]]}}
    {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
    : (tensor<1x3x3x1x$F>, tensor<{n}x{n}x1x1x$F>) -> tensor<1x3x3x1x$F>
  %r = stablehlo.reshape %d : (tensor<1x3x3x1x$F>) -> $mm""",
        ("mm", "mm"),
    )


def _total(random: Random) -> Template:
    op, start = random.choice(
        (("add", "%zero"), ("maximum", "%inf"), ("minimum", "%y"), ("multiply", "%half"))
    )
    text = f"%r = stablehlo.reduce(%x init: {start}) applies stablehlo.{op} across dimensions"
    return Template(f"{text} = [{random.randrange(2)}] : ($mm, $s) -> $m", ("mm", "s"), ("m",))


def _region(body: Body, results: int, random: Random) -> str:
    returned = [body.names[-1], *(random.choice(body.names) for _ in range(results - 1))]
    return lines("; ".join((*body.statements, f"return {' '.join(returned)}")))


def _arguments(names: str) -> str:
    return ", ".join(f"%{name}: $s" for name in names)


def _reduce(random: Random) -> Template:
    region = _region(draw_body(random, "abcd", 3), 2, random)
    return Template(
        f"""%r:2 = "stablehlo.reduce"(%x, %y, %zero, %z) <{{dimensions = array<i64: 1>}}> ({{
  ^bb0({_arguments("abcd")}):
    {region}
  }}) : ($mm, $mm, $s, $s) -> ($m, $m)""",
        ("mm", "mm", "s"),
        ("m", "m"),
    )


def _window(random: Random) -> Template:
    region = _region(draw_body(random, "ab", 3), 1, random)
    start = random.choice(("%zero", "%half", "%y"))
    return Template(
        f"""%r = "stablehlo.reduce_window"(%x, {start}) <{{
    padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 2>
  }}> ({{
  ^bb0(%a: $s, %b: $s):
    {region}
  }}) : ($mm, $s) -> $mm""",
        ("mm", "s"),
    )


def _windows(random: Random) -> Template:
    region = _region(draw_body(random, "abcd", 3), 2, random)
    return Template(
        f"""%r:2 = "stablehlo.reduce_window"(%x, %y, %zero, %half) <{{
    padding = dense<[[2, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>
  }}> ({{
  ^bb0({_arguments("abcd")}):
    {region}
  }}) : ($mm, $mm, $s, $s) -> ($mm, $mm)""",
        ("mm", "mm"),
        ("mm", "mm"),
    )


# The interpreter scatters in place, so an input or update that is used again would change.
def _scatter(random: Random) -> Template:
    region = _region(draw_body(random, "abcd", 3), 2, random)
    return Template(
        f"""%i = stablehlo.slice %w [0:3, 1:2] : ($mm_i32) -> tensor<3x1xi32>
  %e = stablehlo.negate %x : $mm
  %f = stablehlo.negate %y : $mm
  %u = stablehlo.negate %z : $mm
  %v = stablehlo.abs %x : $mm
  %r:2 = "stablehlo.scatter"(%e, %f, %i, %u, %v) <{{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }}> ({{
  ^bb0({_arguments("abcd")}):
    {region}
  }}) : ($mm, $mm, tensor<3x1xi32>, $mm, $mm) -> ($mm, $mm)""",
        ("mm", "mm", "mm", "mm_i32"),
        ("mm", "mm"),
    )


def _sort(random: Random) -> Template:
    region = lines("; ".join(order_by(draw_body(random, "abc", 4))))
    arguments = ", ".join(f"%{n}: $s, %{n}_: $s" for n in "abc")
    return Template(
        f"""%r:3 = "stablehlo.sort"(%x, %y, %z) <{{dimension = 1 : i64, is_stable = true}}> ({{
  ^bb0({arguments}):
    {region}
  }}) : ($mm, $mm, $mm) -> ($mm, $mm, $mm)""",
        ("mm", "mm", "mm"),
        ("mm", "mm", "mm"),
    )


def _map(random: Random) -> Template:
    region = _region(draw_body(random, "abc", 4), 1, random)
    return Template(
        f"""%r = "stablehlo.map"(%x, %y, %z) <{{dimensions = array<i64: 0, 1>}}> ({{
  ^bb0({_arguments("abc")}):
    {region}
  }}) : ($mm, $mm, $mm) -> $mm""",
        ("mm", "mm", "mm"),
    )


def _select_and_scatter(random: Random) -> Template:
    combine = _region(draw_body(random, "ab", 2), 1, random)
    direction = random.choice(("GE", "LE", "GT"))
    return Template(
        f"""%u = stablehlo.reshape %y : ($m) -> tensor<1x3x$F>
  %r = "stablehlo.select_and_scatter"(%x, %u, %z) <{{
    window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 3, 1>
  }}> ({{
  ^bb0(%a: $s, %b: $s):
    %p = stablehlo.compare {direction}, %a, %b : ($s, $s) -> $s_i1
    stablehlo.return %p : $s_i1
  }}, {{
  ^bb0(%a: $s, %b: $s):
    {combine}
  }}) : ($mm, tensor<1x3x$F>, $s) -> $mm""",
        ("mm", "m", "s"),
    )


def _tuple(random: Random) -> Template:
    pair = "tuple<$mm, $mm>"
    i, j = random.randrange(2), random.randrange(2)
    return Template(
        f"""%t = stablehlo.tuple %x, %y : {pair}
  %u = stablehlo.tuple %t, %z : tuple<{pair}, $m>
  %v = stablehlo.get_tuple_element %u[0] : (tuple<{pair}, $m>) -> {pair}
  %k = stablehlo.get_tuple_element %v[{i}] : ({pair}) -> $mm
  %l = stablehlo.get_tuple_element %t[{j}] : ({pair}) -> $mm
  %m = stablehlo.get_tuple_element %u[1] : (tuple<{pair}, $m>) -> $m
  %n = stablehlo.broadcast_in_dim %m, dims = [1] : ($m) -> $mm
  %o = stablehlo.subtract %k, %n : $mm
  %r = stablehlo.add %o, %l : $mm""",
        ("mm", "mm", "m"),
    )


_CHOICE = re.compile(r"\{(?:(\w)=)?([^{}|]*\|[^{}]*)\}|\{(\w)\}")


def _chosen(*parts: str) -> Draw:
    """Draws an op from a text with choices, and from the types of its operands and results."""

    def draw(random: Random) -> Template:
        named: dict[str, str] = {}

        def choose(match: re.Match[str]) -> str:
            name, choices, known = match.groups()
            if known:
                return named[known]
            found = random.choice(choices.split("|"))
            if name:
                named[name] = found
            return "" if name else found

        text, *types = _CHOICE.sub(choose, "\0".join(parts)).split("\0")
        return Template(text, *(tuple(each.split()) for each in types))

    return draw


_DRAWN: dict[str, Draw] = {
    each.__name__: each
    for each in (
        _unary,
        _binary,
        _constant,
        _broadcast,
        _pad,
        _convolution,
        _total,
        _reduce,
        _window,
        _windows,
        _scatter,
        _sort,
        _map,
        _select_and_scatter,
        _tuple,
    )
}


def _read(table: str) -> Iterator[tuple[str, tuple[int, Draw]]]:
    for entry in re.split(r"\n(?=\w)", table.strip()):
        head, _, text = entry.partition("\n  ")
        name, weight = head.partition(":")[0].split()
        types = head.partition(":")[2].split("->")
        yield name, (int(weight), _chosen(text, *types) if text else _DRAWN[f"_{name}"])


DRAWS: Mapping[str, tuple[int, Draw]] = dict(
    _read("""
unary 10
binary 16
constant 6
iota 2:  -> {k}
  {k=mm|mm_i32}%r = stablehlo.iota dim = {0|1} : ${k}
select 4: mm mm mm -> mm
  %p = stablehlo.compare {LT|GE|EQ|NE}, %x, %y : ($mm, $mm) -> $mm_i1
  %r = stablehlo.select %p, %y, %z : $mm_i1, $mm
compare 3: mm mm -> mm_i1
  %r = stablehlo.compare {LT|GE|EQ|NE}, %x, %y : ($mm, $mm) -> $mm_i1
masked 3: mm mm mm_i1 -> mm
  %r = stablehlo.select %z, %x, {%y|%x} : $mm_i1, $mm
clamp 3: mm s s -> mm
  %r = stablehlo.clamp {%zero, %x, %y|%y, %x, %z|%half, %x, %inf} : ($s, $mm, $s) -> $mm
complex 2: mm mm mm -> mm
  {o=multiply|add|subtract|divide}%c = stablehlo.complex %x, %y : $mm_c
  %d = stablehlo.complex %z, %x : $mm_c
  %e = stablehlo.{o} %c, %d : $mm_c
  %k:2 = stablehlo.optimization_barrier %x, %e : $mm, $mm_c
  %f = stablehlo.{real|imag} %k#1 : ($mm_c) -> $mm
  %g = stablehlo.abs %e : ($mm_c) -> $mm
  %r = stablehlo.add %f, %g : $mm
narrow 2: mm mm -> mm
  {f=bf16|bf16|f16|f64}%c = stablehlo.convert %x : ($mm) -> $mm_{f}
  %d = stablehlo.convert %y : ($mm) -> $mm_{f}
  %e = stablehlo.{add|subtract|multiply} %c, %d : $mm_{f}
  %r = stablehlo.convert %e : ($mm_{f}) -> $mm
precision 1: mm -> mm
  %r = stablehlo.reduce_precision %x, format = {e8m7|e8m3} : $mm
to_integer 3: mm -> mm_i32
  %l = stablehlo.constant dense<-9.0> : $s
  %h = stablehlo.constant dense<9.0> : $s
  %i = stablehlo.compare EQ, %x, %x : ($mm, $mm) -> $mm_i1
  %n = stablehlo.constant dense<1.0> : $mm
  %f = stablehlo.select %i, %x, %n : $mm_i1, $mm
  %c = stablehlo.clamp %l, %f, %h : ($s, $mm, $s) -> $mm
  %r = stablehlo.convert %c : ($mm) -> $mm_i32
from_integer 3: {k} -> mm
  {k=mm_i32|mm_i1}%r = stablehlo.convert %x : (${k}) -> $mm
transpose 2: mm -> mm
  %r = stablehlo.transpose %x, dims = [1, 0] : ($mm) -> $mm
broadcast 5
row 4: mm -> m
  %t = stablehlo.slice %x [{0:1|1:2|2:3}, 0:3] : ($mm) -> tensor<1x3x$F>
  %r = stablehlo.reshape %t : (tensor<1x3x$F>) -> $m
element 4: m -> s
  %t = stablehlo.slice %x [{0:1|1:2|2:3}] : ($m) -> tensor<1x$F>
  %r = stablehlo.reshape %t : (tensor<1x$F>) -> $s
concatenate 3: mm mm -> mm
  %t = stablehlo.concatenate %x, %y, dim = 0 : ($mm, $mm) -> tensor<6x3x$F>
  %r = stablehlo.slice %t [{0:3|1:4|2:5|3:6}, 0:3] : (tensor<6x3x$F>) -> $mm
pad 2
reverse 1: mm -> mm
  %r = stablehlo.reverse %x, dims = [{0|1}] : $mm
update 2: mm m -> mm
  %i = stablehlo.constant dense<{0|1|2|3}> : $s_i32
  %u = stablehlo.reshape %y : ($m) -> tensor<1x3x$F>
  %t = stablehlo.dynamic_update_slice %x, %u, %i, %i
    : ($mm, tensor<1x3x$F>, $s_i32, $s_i32) -> $mm
  %r = stablehlo.dynamic_slice %t, %i, %i, sizes = [3, 3] : ($mm, $s_i32, $s_i32) -> $mm
gather 2: mm mm_i32 -> mm
  %s = stablehlo.slice %y [0:3, 0:1] : ($mm_i32) -> tensor<3x1xi32>
  %r = "stablehlo.gather"(%x, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 3>}> : ($mm, tensor<3x1xi32>) -> $mm
dot 6: mm mm -> mm
  %r = stablehlo.dot_general %x, %y, contracting_dims = [{0|1}] x [{0|1}] : ($mm, $mm) -> $mm
vector 2: mm m -> m
  %r = stablehlo.dot_general %x, %y, contracting_dims = [{0|1}] x [0] : ($mm, $m) -> $m
convolution 2
total 5
reduce 4
window 3
windows 2
scatter 4
sort 3
map 3
select_and_scatter 2
tuple 3
token 2: mm mm -> mm
  %t = stablehlo.after_all : !stablehlo.token
  %u = stablehlo.after_all {|%t|%t, %t} : !stablehlo.token
  %v:3 = stablehlo.optimization_barrier %x, %u, %y : $mm, !stablehlo.token, $mm
  %r = stablehlo.subtract %v#0, %v#2 : $mm
token_loop 2: mm mm -> mm
  %t = stablehlo.after_all : !stablehlo.token
  %n = stablehlo.constant dense<{0|1|2}> : $s_i32
  %o = stablehlo.constant dense<1> : $s_i32
  %i = stablehlo.constant dense<0> : $s_i32
  %k:3 = stablehlo.while(%a = %i, %b = %t, %c = %x) : $s_i32, !stablehlo.token, $mm
  cond {
    %p = stablehlo.compare LT, %a, %n : ($s_i32, $s_i32) -> $s_i1
    stablehlo.return %p : $s_i1
  } do {
    %d = stablehlo.after_all %b, %t : !stablehlo.token
    %e = stablehlo.multiply %c, %y : $mm
    %f = stablehlo.add %a, %o : $s_i32
    stablehlo.return %f, %d, %e : $s_i32, !stablehlo.token, $mm
  }
  %r = stablehlo.negate %k#2 : $mm
""")
)
"""The relative frequency of each op, and the function that draws it.

The table has the names of functions, and texts with types of operands and results. Where
a text has ``{a|b}``, one of these stands; ``{k=a|b}`` chooses for each later ``{k}``, in silence.
"""
