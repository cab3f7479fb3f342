"""Casts of values whose sizes are hard to predict, against casts with the best scale.

    python -m benchmarks.idioms                             # all: about five minutes
    python -m benchmarks.idioms newton_schulz erf           # some idioms
    python -m benchmarks.idioms --recipe fp8 --scale 0      # one recipe, the true scale only
    python -m benchmarks.idioms --set untrusted=bounded     # with an option of the recipes
    python -m benchmarks.idioms --measure                   # only with the activation measured

Each idiom computes a value from an activation, and a matmul with a weight follows. The programs are
rewritten with the signature `same`. The scale declared for the activation is 2^-8, 1 and 2^8 times
the true one, which is the power of two at or below its rms; the scales of weights and gains are the
true ones. Recipes that trust what is declared come twice: as they are, and marked `+m` with
`inputs.verify=x`, under which the program takes the scale of the activation itself. The rewritten
program also returns the narrow left operand of its last matmul, and a line is the worst over the
declared scales:

error    relative rms error of the operand against the value that the original computes in f32, at
         the power of two that suits the operand best, over `best`: at most 2
best     that error of a cast with the best scale, in the format of the operand
zeros    elements of the operand that are zero and whose f32 value is not: at most `allowed`
allowed  those of a cast whose scale is two octaves larger than its amax asks for
at rms   those of a cast to data near unit, whose scale is the power of two at or below the rms, for
         information
stats    `reduce` ops that the rewrite added; not counted where the recipe measures every operand
result   relative error of the matmul's result against f32, for information

Casts inside of an idiom have errors too, which reach its value. Therefore `best`, `allowed` and `at
rms` are those of the original in which each operand that the rewritten program casts, of each inner
matmul, is cast to the same format with its best scale. An idiom is refused if nudging its input by
one unit in the last place moves its value by more than a quarter of `best`, or if the value is not
finite: it is then no reference. (The logistic map has a = 3.5 for that reason.) An operand of the
last matmul that stays wide holds only with `--set untrusted=wide`.
"""

import argparse
import functools
import itertools
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

import scalify_hlo
from benchmarks.idiom_programs import IDIOMS, Idiom
from benchmarks.numerics import rounded
from examples.xla import Executable, flat
from scalify_hlo._compat import ir, new_context
from scalify_hlo.ir.functions import main_function
from scalify_hlo.program.tensors import DTYPES
from scalify_hlo.run.input_scales import measured_size
from scalify_hlo.transforms.hoist import add_results

RECIPES = ("fp16", "fp8", "fp8-current", "fp8-delayed", "unit")
SCALES = (-8, 0, 8)
"""log2 of the declared scale over the true one."""

ERROR = 2.0
"""The most that an operand's error may be over that of the best cast."""

MARGIN = 2
"""Octaves by which the scale whose zeros are allowed is larger than the amax asks for."""

_CHAOS = 0.25
"""The most by which one unit in the last place may move a reference, over the best cast's error."""

_SEARCHED = range(-3, 1)
"""Exponents, relative to the one that the amax asks for, among which the best scale is looked for.

Below the first, the saturated elements alone are off by most of their size.
"""

_MEASURING = ("fp8-current", "fp8-delayed")
"""Recipes that take a statistic of every operand."""

_F32_ERROR = 2.0**-20
"""The error of an operand that is not cast, about."""

_WIDE = 4
"""Bytes of an element that is not narrow."""

_MEASURED = {"inputs.verify": "x"}
"""The option with which a program takes the scale of the activation itself."""

_MATMUL = "stablehlo.dot_general"

Array = np.ndarray[Any, Any]
Format = np.dtype[Any]
Formats = tuple[tuple[Format, Format], ...]
"""Of the operands of matmuls."""


@dataclass(frozen=True)
class Limits:
    """A cast with the scale that suits a value best.

    Attributes:
        error: Its relative rms error.
        zeros: How many elements a scale that is `MARGIN` octaves too large would flush.
        at_rms: How many the power of two at or below their rms would flush.
    """

    error: float
    zeros: int
    at_rms: int = 0


@dataclass(frozen=True)
class Observed:
    """A program that also returns the left operand of its last matmul.

    Attributes:
        text: The program.
        inner: The formats of the operands of the other matmuls, in program order.
    """

    text: str
    inner: Formats


@dataclass(frozen=True)
class Figures:
    """An idiom under a recipe with a declared scale.

    Attributes:
        error: The operand's relative rms error.
        zeros: Its flushed elements.
        limits: Of a cast with the best scale.
        wide: Whether it was not cast, although the recipe should.
        statistics: `reduce` ops that the rewrite added; None if they are not counted.
        result: Relative error of the matmul's result.
        failure: The exception that the rewrite or the run ended with.
    """

    error: float
    zeros: int
    limits: Limits
    wide: bool = False
    statistics: int | None = None
    result: float = math.nan
    failure: str = ""

    @property
    def ratio(self) -> float:
        """The error over that of the best cast."""
        return self.error / self.limits.error if self.limits.error else math.inf

    @property
    def problems(self) -> list[str]:
        """The bounds that are missed; NaN keeps none."""
        if self.failure:
            return [self.failure]
        held = {
            "wide": not self.wide,
            "error": self.error <= ERROR * self.limits.error,
            "zeros": self.zeros <= self.limits.zeros,
        }
        return [name for name, holds in held.items() if not holds]


def distance(values: Array, reference: Array) -> float:
    """Relative rms error; infinite where a value is not finite."""
    wide = values.astype(np.float64)
    if not np.isfinite(wide).all():
        return math.inf
    away = float(np.linalg.norm(wide - reference))
    return away / float(np.linalg.norm(reference.astype(np.float64))) if away else 0.0


def operand_error(operand: Array, reference: Array) -> float:
    """Relative rms error of data at the power of two that suits them best.

    Args:
        operand: Data, whose scale is not known.
        reference: Values.
    """
    data = operand.astype(np.float64)
    power = float(np.square(data).sum())
    fit = float((data * reference).sum()) / power if power else 0.0
    if not fit > 0 or not math.isfinite(fit):
        return math.inf if not np.isfinite(data).all() else 1.0
    least = math.floor(math.log2(fit))
    return min(distance(np.ldexp(data, e), reference) for e in (least, least + 1))


def flushed(operand: Array, reference: Array) -> int:
    """How many elements are zero whose f32 value is not."""
    return int(np.count_nonzero((operand == 0) & (reference != 0)))


def amax_exponent(values: Array, format_: Format) -> int:
    """log2 of the smallest power of two that divides values into a format's range."""
    amax = float(np.abs(values).max())
    return math.ceil(math.log2(amax / float(ml_dtypes.finfo(format_).max))) if amax else 0


def best_cast(values: Array, format_: Format, reference: Array) -> Array:
    """Values cast with the scale whose result is the nearest to a reference."""
    if _is_wide(format_):
        return values
    wide, start = values.astype(np.float64), amax_exponent(values, format_)
    casts = (rounded(wide, format_, start + e) for e in _SEARCHED)
    return min(casts, key=lambda cast: distance(cast, reference))


def limits_of(values: Array, format_: Format, reference: Array) -> Limits:
    """The error and the zeros that casts of values may have."""
    too_large = amax_exponent(values, format_) + MARGIN
    near_unit = math.floor(measured_size(values) or 0)
    wide = values.astype(np.float64)
    zeros, at_rms = (flushed(rounded(wide, format_, e), reference) for e in (too_large, near_unit))
    return Limits(distance(best_cast(values, format_, reference), reference), zeros, at_rms)


def observed(text: str) -> Observed:
    """Makes a program return the left operand of the last matmul of `main` too.

    The operand is returned in its own format: XLA drops a cast that is undone right away.
    """
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text).operation
        main = main_function(module)
        if main is None:
            raise ValueError("the program has no function main")
        body = main.regions[0].blocks[0].operations
        last = [op.operation for op in body if op.operation.name == _MATMUL][-1]
        add_results(main, [last.operands[0]], ["operand"])
        inner = tuple(_operands(op) for op in _named(module, _MATMUL) if op != last)
        return Observed(module.get_asm(enable_debug_info=False), inner)


def _operands(matmul: ir.Operation) -> tuple[Format, Format]:
    lhs, rhs = (np.dtype(DTYPES[str(v.type.element_type)]) for v in matmul.operands)
    return lhs, rhs


def _named(parent: ir.Operation, *names: str) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in names:
            found.append(op)
        return ir.WalkResult.ADVANCE

    parent.walk(visit)
    return found


def reductions(text: str) -> int:
    """How many `reduce` ops a program has, those of a function once for each call of it."""
    with new_context():
        module = ir.Module.parse(text).operation
        functions = {op.attributes["sym_name"].value: op for op in _named(module, "func.func")}

        @functools.cache
        def count(name: str) -> int:
            calls = _named(functions[name], "func.call")
            called = (ir.FlatSymbolRefAttr(call.attributes["callee"]).value for call in calls)
            return len(_named(functions[name], "stablehlo.reduce")) + sum(map(count, called))

        return count("main")


class Case:
    """An idiom with its arguments, as it is in f32.

    Args:
        idiom: The idiom.

    Attributes:
        value: What it computes.
        result: The result of the matmul that follows.
    """

    def __init__(self, idiom: Idiom) -> None:
        self.idiom = idiom
        self._arguments = idiom.arguments()
        self._exported = jax.export.export(jax.jit(idiom.program))(*self._arguments)
        self._text = str(self._exported.mlir_module())
        self._scales = scalify_hlo.measured_scales(self._text, *self._arguments)
        self._original = Executable(observed(self._text).text)
        self.result, self.value = self._run(self._arguments[0])
        self.limits = functools.cache(self._limits)

    def measure(
        self, recipe: str, scale: int, settings: Mapping[str, object] | None = None
    ) -> Figures:
        """The figures under a recipe; an exception of the rewrite is one of them.

        Args:
            recipe: A preset's name.
            scale: log2 of the activation's declared scale over its true one.
            settings: Options of the recipe.
        """
        try:
            return self._measured(recipe, scale, settings or {})
        except Exception as error:  # a rewrite that fails is a line of the table
            failure = f"{type(error).__name__}: {error}".splitlines()[0]
            return Figures(math.inf, self.value.size, Limits(math.nan, 0), failure=failure)

    def _measured(self, recipe: str, scale: int, settings: Mapping[str, object]) -> Figures:
        scales = {name: float(scale) for name, scale in self._scales.items()}  # declared
        scales["x"] *= 2.0**scale
        program = scalify_hlo.rewrite(
            self._exported, recipe=recipe, input_scale=scales, settings=settings
        )
        state: Any = ()
        if recipe == "fp8-delayed":
            state = scalify_hlo.init_scaling_state(program, *self._arguments)
        text = str(program.mlir_module())
        seen = observed(text)
        result, *_, operand = map(np.asarray, Executable(seen.text)(flat(self._arguments, state)))
        return Figures(
            error=operand_error(operand, self.value),
            zeros=flushed(operand, self.value),
            limits=self.limits(operand.dtype, seen.inner),
            wide=_is_wide(operand.dtype) and settings.get("untrusted") != "wide",
            statistics=None if recipe in _MEASURING else reductions(text) - self._reductions,
            result=distance(result, self.result),
        )

    @functools.cached_property
    def _reductions(self) -> int:
        return reductions(self._text)

    def _run(self, x: Array) -> tuple[Array, Array]:
        result, value = self._original(flat([x, *self._arguments[1:]]))
        return np.asarray(result), np.asarray(value)

    def _limits(self, format_: Format, inner: Formats) -> Limits:
        found = limits_of(self._cast_inside(inner), format_, self.value)
        found = replace(found, error=max(found.error, _F32_ERROR))
        moved = self._moved
        if not moved <= _CHAOS * found.error:
            raise ValueError(f"{self.idiom.name} is no reference: an ulp moves it by {moved:.1e}")
        return found

    @functools.cached_property
    def _moved(self) -> float:
        """How far the value moves when half of the input's elements are nudged."""
        x = self._arguments[0].copy()
        x.flat[::2] = np.nextafter(x.flat[::2], np.float32(np.inf))
        return distance(self._run(x)[1], self.value)

    def _cast_inside(self, inner: Formats) -> Array:
        """The value if the operands of inner matmuls are cast with their best scales.

        Args:
            inner: The formats. A loop runs through those of its matmuls again in each turn.
        """
        formats = itertools.cycle(inner)

        def dot(a: jax.Array, b: jax.Array) -> jax.Array:
            pairs = zip(map(np.asarray, (a, b)), next(formats), strict=True)
            lhs, rhs = (best_cast(values, format_, values) for values, format_ in pairs)
            return jnp.asarray(lhs @ rhs, jnp.float32)

        self._require(len(inner))
        x, _, *rest = map(jnp.asarray, self._arguments)
        with jax.disable_jit():  # loops too run op by op, so that `dot` sees values
            return np.asarray(self.idiom.function(dot, x, *rest))

    def _require(self, count: int) -> None:
        """Requires the inner matmuls of a rewritten program to be those of the idiom."""
        calls = []

        def dot(a: jax.Array, b: jax.Array) -> jax.Array:
            calls.append((a, b))
            return jnp.matmul(a, b)

        x, _, *rest = self._arguments
        jax.eval_shape(functools.partial(self.idiom.function, dot), x, *rest)
        if len(calls) != count:
            raise ValueError(f"{count} inner matmuls, not {len(calls)}")


def _is_wide(format_: Format) -> bool:
    return format_.itemsize >= _WIDE


HEADER = (
    f"{'idiom':18} {'recipe':12} {'error':>7} {'best':>8} {'zeros':>6} {'allowed':>7} "
    f"{'at rms':>6} {'stats':>5} {'result':>8}  holds"
)


def line(name: str, recipe: str, found: Mapping[int, Figures]) -> str:
    """One line of the table: the worst figures over the declared scales.

    Args:
        name: The idiom.
        recipe: The preset.
        found: Figures by log2 of the declared scale over the true one.
    """
    every = list(found.values())
    limits = next((f.limits for f in every if not f.failure), Limits(math.nan, 0))
    counts = [f.statistics for f in every if f.statistics is not None]
    stats = str(max(counts)) if counts else "-"
    ratio, zeros = _worst([f.ratio for f in every]), max(f.zeros for f in every)
    missed: dict[str, list[str]] = {}
    for scale, figures in found.items():
        if figures.problems:
            missed.setdefault(", ".join(figures.problems), []).append(f"2^{scale}")
    reasons = "; ".join(f"{problem} at {' '.join(at)}" for problem, at in missed.items())
    return (
        f"{name:18} {recipe:12} {ratio:7.3g} {limits.error:8.2g} {zeros:6} {limits.zeros:7} "
        f"{limits.at_rms:6} {stats:>5} {_worst([f.result for f in every]):8.2g}  "
        + (f"NO: {reasons}" if reasons else "OK")
    )


def _worst(values: Sequence[float]) -> float:
    """The largest; NaN counts as more than any number."""
    return max(values, key=lambda value: math.inf if math.isnan(value) else value)


def main() -> int:
    """Prints the table; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("idioms", nargs="*", metavar="IDIOM", help="default: all")
    parser.add_argument("--recipe", action="append", help="a preset; may be repeated")
    parser.add_argument(
        "--scale",
        action="append",
        type=int,
        help="log2 of the declared scale over the true one; may be repeated",
    )
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE")
    parser.add_argument("--measure", action="store_true", help="only the lines marked `+m`")
    options = parser.parse_args()
    unknown = [name for name in options.idioms if name not in IDIOMS]
    if unknown:
        parser.error(f"no idiom is named {unknown[0]!r}; the idioms are: {', '.join(IDIOMS)}")
    settings = dict(setting.split("=", 1) for setting in options.settings)
    every = variants(options.recipe or RECIPES, settings)
    chosen = {label: v for label, v in every.items() if not options.measure or v[1] != settings}
    held: dict[str, list[bool]] = {_PLAIN: [], _WITH: []}
    print(HEADER)
    for name in options.idioms or IDIOMS:
        case = Case(IDIOMS[name])
        for label, (recipe, set_) in chosen.items():
            scales = options.scale or SCALES
            found = {scale: case.measure(recipe, scale, set_) for scale in scales}
            print(line(name, label, found), flush=True)
            kind = _PLAIN if set_ == settings else _WITH
            held[kind].append(not any(figures.problems for figures in found.values()))
    for kind, lines in held.items():
        if lines:
            print(f"{kind}: {sum(lines)} of {len(lines)} hold: {_BOUND}")
    return int(not all(map(all, held.values())))


_PLAIN, _WITH = "as declared", "with inputs.verify=x"
_BOUND = f"error at most {ERROR:g} times that of the best cast"


def variants(
    recipes: Sequence[str], settings: Mapping[str, object]
) -> dict[str, tuple[str, Mapping[str, object]]]:
    """The recipes and options of each line of an idiom, by its label.

    Args:
        recipes: Names of presets.
        settings: Options for all of them.
    """
    found: dict[str, tuple[str, Mapping[str, object]]] = {}
    for recipe in recipes:
        found[recipe] = recipe, settings
        if recipe not in _MEASURING and not _MEASURED.keys() <= settings.keys():
            found[f"{recipe} +m"] = recipe, {**settings, **_MEASURED}
    return found


if __name__ == "__main__":
    sys.exit(main())
