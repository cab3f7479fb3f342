"""Programs for tests: their text for three sizes, and the data that they take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from string import Template
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect.attributes import function_type
from tests.py.programs.statements import lines
from tests.py.shared.judge import main_of, parse

Array = npt.NDArray[np.generic]
Sizes = tuple[int, int, int]

SIZES: Sizes = (2, 3, 4)
READ: None = None
"""Results that move in no simple way when scales move."""

ABSENT = frozenset({"stablehlo.collective_reduce"}) - {
    getattr(op, "OPERATION_NAME", "") for op in vars(stablehlo).values()
}
"""Ops with a rule that this jaxlib does not have yet."""

_SHORT = {
    "BY_ROWS": """indices_are_sorted = false, unique_indices = false,
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>""",
    "COUNTS": """%zero = stablehlo.constant dense<0> : $s_i32
  %one = stablehlo.constant dense<1> : $s_i32
  %three = stablehlo.constant dense<3> : $s_i32""",
    "BELOW_THREE": """cond {
    %1 = stablehlo.compare LT, %i, %three : ($s_i32, $s_i32) -> $s_i1
    stablehlo.return %1 : $s_i1
  } do {""",
}
"""Words of tables, and the text that they stand for."""
_SPECIAL = {
    "f16": {"INF": "0x7C00", "NINF": "0xFC00", "NAN": "0x7E00"},
    "f32": {"INF": "0x7F800000", "NINF": "0xFF800000", "NAN": "0x7FC00000"},
    "f64": {
        "INF": "0x7FF0000000000000",
        "NINF": "0xFFF0000000000000",
        "NAN": "0x7FF8000000000000",
    },
}
_DTYPES: dict[str, npt.DTypeLike] = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
    "ui32": np.uint32,
}


@dataclass(frozen=True)
class Program:
    """A program over sizes m, n and k.

    Attributes:
        name: Unique among all programs.
        op: The op whose rule it is about.
        body: Text in which ``$mn`` is the type of an m by n tensor, ``$mn_i32`` that of one of
            i32, ``$s`` that of a scalar, ``$M`` the number m, ``$MN`` m*n and ``$M_N`` m+n.
        data: What each argument may be, a word for each; see `draw`.
        groups: A letter for each argument; the scales of one letter must move together.
        moves: The degree of each result in each letter; READ if there is none.
        span: Bound on the exponents of the scales, so that nothing overflows.
        ulps: How far results may be off, 0 but for what libm makes scale dependent.
        judge: What runs it: ``xla`` for ops that the interpreter lacks, ``report`` if nothing can.
        scales: For ``report``, the scale that each result should be reported to have, with every
            float argument a pair.
        element: The element type of ``$mn``.
    """

    name: str
    op: str
    body: str
    data: str
    groups: str = ""
    moves: Mapping[str, float] | None = READ
    span: int = 20
    ulps: int = 0
    judge: Literal["interpreter", "xla", "report"] = "interpreter"
    scales: tuple[str, ...] = ()
    element: str = field(default="f32", kw_only=True)

    def text(self, sizes: Sizes = SIZES) -> str:
        """The program at given sizes."""
        return Template(self.body).substitute(_Names(sizes, self.element))

    def __str__(self) -> str:
        return self.name


def read(table: str, words: Mapping[str, str] = MappingProxyType({})) -> tuple[Program, ...]:
    """Programs of a table, in which an empty line stands between two.

    Each begins with a line of its name, op, data, groups, moves and other fields, and one of the
    arguments of `main`. Its results are what `main` returns, that of its last op if it does not
    say; its last brace is left out. No groups are `_`, and moves without a degree are `read`.
    A line ``do a / b`` is two statements of `tests.py.programs.statements`, and words stand for
    longer texts.
    """
    programs = []
    for entry in entries(table):
        for word, text in (*_SHORT.items(), *words.items()):
            entry = entry.replace(word, text)
        programs.append(_program(entry))
    return tuple(programs)


def entries(table: str) -> Iterator[str]:
    """The entries of a table; one that begins with ``for A = B in a = b; c = d`` is two.

    The last value of a row may have `` = `` in it.
    """
    for entry in table.strip("\n").split("\n\n"):
        loop, _, rest = entry.partition("\n")
        if not loop.startswith("for "):
            yield entry
            continue
        while rest.startswith("  "):
            more, _, rest = rest.partition("\n")
            loop += " " + more.lstrip()
        names, rows = loop.removeprefix("for ").split(" in ")
        for row in rows.split(";"):
            made = rest
            keys = names.split(" = ")
            for name, value in zip(keys, row.strip().split(" = ", len(keys) - 1), strict=True):
                made = made.replace(name, value)
            yield made


def _program(entry: str) -> Program:
    stated = re.sub("(?m)^ +do (.*)$", lambda m: lines(m[1].replace(" / ", ";")), entry)
    (name, op, data, groups, moves, *others), text = parts_of(stated)
    given: dict[str, Any] = dict(each.split("=") for each in others)
    given |= {key: int(given[key]) for key in ("span", "ulps") if key in given}
    if "scales" in given:
        given["scales"] = tuple(given["scales"].split())
    found = {m[0]: float(Fraction(m[2:])) for m in re.findall(r"\w:\S+", moves)}
    degrees = READ if moves == "read" else found
    return Program(name, op, text, data, groups.strip("_"), degrees, **given)


def parts_of(entry: str) -> tuple[list[str], str]:
    """The fields of an entry, and the text of its program."""
    fields, arguments, text = entry.replace("\n  | ", " | ").split("\n", 2)
    functions = list(map(_returning, text.split("\n}\n")))
    (types,) = re.findall(r"^  return .* : (.*)$", functions[0], re.M)
    results = f"({types})" if ", " in re.sub(r"<[^>]*>", "", types) else types
    body = "\n}\n".join(functions)
    return fields.split(" | "), f"\nfunc.func @main({arguments}) -> {results} {{\n{body}\n}}"


def _returning(function: str) -> str:
    """The text of a function, which returns the results of its last op if it does not say."""
    if re.search("^  return ", function, re.M):
        return function
    *_, last = re.split("^  %", function, flags=re.M)
    name, count = re.findall(r"^(\w+)(?::(\d+))? =", last)[0]
    *_, arrow, types = re.split("( -> | : )", last)
    types = types.strip("()") if count or arrow == " -> " else types.rpartition(", ")[2]
    values = ", ".join(f"%{name}#{i}" for i in range(int(count))) if count else f"%{name}"
    return f"{function}\n  return {values} : {types}"


def texts(table: str) -> dict[str, str]:
    """The programs of a table that has no field but their names."""
    return {name: text for (name,), text in map(parts_of, entries(table))}


class _Names(dict[str, str]):
    """Types and numbers by name."""

    def __init__(self, sizes: Sizes, element: str) -> None:
        super().__init__(_SPECIAL[element])
        self._sizes = dict(zip("mnk", sizes, strict=True))
        self._element = element

    def __missing__(self, name: str) -> str:
        if name[0].isupper():
            return str(sum(prod(self._sizes[c.lower()] for c in p) for p in name.split("_")))
        letters, _, element = name.partition("_")
        if element == "c":
            element = f"complex<{self._element}>"
        shape = [str(self._sizes[c]) for c in letters if c != "s"]
        return f"tensor<{'x'.join([*shape, element or self._element])}>"


def draw(program: Program, sizes: Sizes, seed: int, *, wild: bool = False) -> list[Array]:
    """Data for the arguments of a program.

    Args:
        program: The program; each word of its `data` says what one argument may be.
        sizes: m, n and k.
        seed: Of the generator of random numbers.
        wild: Whether ``any`` includes zeros of both signs, infinities and NaN.
    """
    rng = np.random.default_rng(seed)
    types = argument_types(program.text(sizes))
    words = program.data.split()
    return [
        _DRAW[word](rng, shape).astype(dtype)
        if word != "any"
        else _any(rng, shape, wild).astype(dtype)
        for word, (shape, dtype) in zip(words, types, strict=True)
    ]


def argument_types(text: str) -> list[tuple[tuple[int, ...], npt.DTypeLike]]:
    """Shape and dtype of each argument of `main`."""
    module = parse(text)
    return [(tuple(t.shape), _DTYPES[_name(t)]) for t in function_type(main_of(module)).inputs]


def _name(type_: ir.Type) -> str:
    return str(type_.element_type)


Generator = np.random.Generator
Shape = tuple[int, ...]


def _positive(rng: Generator, shape: Shape) -> npt.NDArray[np.float64]:
    """From 1/4 to 4, a good part of them powers of two, where rounding goes astray first."""
    values = np.exp2(rng.uniform(-2, 2, shape))
    powers = np.exp2(np.round(np.log2(values)))
    return np.asarray(np.where(rng.random(shape) < 0.2, powers, values), np.float64)


def _nonzero(rng: Generator, shape: Shape) -> npt.NDArray[np.float64]:
    return np.asarray(_positive(rng, shape) * rng.choice([-1.0, 1.0], shape), np.float64)


def _any(rng: Generator, shape: Shape, wild: bool) -> npt.NDArray[np.float64]:
    values = _nonzero(rng, shape)
    if not wild:
        return values
    special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan], shape, p=[0.3, 0.3, 0.15, 0.15, 0.1])
    return np.where(rng.random(shape) < 0.25, special, values)


def _finite(rng: Generator, shape: Shape) -> npt.NDArray[np.float64]:
    return _nonzero(rng, shape) * (rng.random(shape) < 0.9)


def _definite(rng: Generator, shape: Shape) -> npt.NDArray[np.float64]:
    root = rng.standard_normal(shape)
    product: npt.NDArray[np.float64] = root @ root.T
    return product + np.eye(shape[0])


_DRAW: dict[str, Callable[[Generator, Shape], npt.NDArray[Any]]] = {
    "definite": _definite,
    "positive": _positive,
    "nonzero": _nonzero,
    "finite": _finite,
    "bool": lambda rng, shape: rng.random(shape) < 0.5,
    "index": lambda rng, shape: rng.integers(0, 4, shape),
    "integer": lambda rng, shape: rng.integers(-9, 9, shape),
}
