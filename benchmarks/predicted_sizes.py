"""Errors of predicted sizes, and what they cost, over the matmul operands of many models.

    python -m benchmarks.predicted_sizes                   # a training step of each model, and of
                                                           # those of `benchmarks.zoo`
    python -m benchmarks.predicted_sizes vit-flax --worst 10
    python -m benchmarks.predicted_sizes --set untrusted=bounded
    python -m benchmarks.predicted_sizes --undeclared --recipe fp8 --steps 60

The scales of the inputs are measured from the values that the step runs on, or nothing is declared.
The rewritten step also returns the data of each matmul operand before its cast, and each cast says
what rms it predicts. An error is log2 of the real rms over the predicted one; for a cast in a loop
the rms is that over its turns. Activations and weights are one kind, in E4M3 but for those that are
convolved with gradients, and gradients the other, in E5M2. Where a predicted size is not trusted,
the step measures the amax, and the error is that of a scale that was measured: such operands count
in the share within the bound, and not as trusted.

The cost of an error is what rounding adds: the noise of the cast over that at the power of two that
is best for the very data, in dB. A prediction of half its size in E5M2 costs nothing, one that lets
a few elements saturate costs much. With `--steps N`, the step runs N times in f32 before.

Gradients that are zero but for rounding, such as that of a bias before a normalization, have
no size: operands that come out as different, with XLA's fusion and without, as they are large are
left out, where a model has some that are too small by more than the bound.

Bounds, over the operands of all models: forward 95 % within 2 octaves and none trusted that is off
by more than 4; gradients 90 % within 3 and none trusted that is off by more than their format has
room for; none trusted that costs more than 1 dB, a sixth of a bit. Errors are bounded where sizes
are declared: those that are measured in each step make a model of all else. The lines of single
models are for information. Models of packages that are not installed are left out. Exit code 1 if
a bound is missed.
"""

import argparse
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple
from unittest import mock

import jax
import ml_dtypes
import numpy as np

import scalify_hlo
from benchmarks import zoo
from benchmarks.common import Row, report
from benchmarks.models.__main__ import MODELS, each, make
from benchmarks.models.measure import export
from benchmarks.models.model import Case, training_of
from benchmarks.models.probe import PREFIX, log_rms, probed
from benchmarks.models.run import fused, unfused
from scalify_hlo._compat import ir
from scalify_hlo.api import make_options
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.formats import FORMATS
from scalify_hlo.program.program import read_text, write_program
from scalify_hlo.program.rewriting import rewrite_program
from scalify_hlo.program.tensors import Array
from scalify_hlo.rules import elementwise, untrusted
from scalify_hlo.rules.reported_scales import CastScale
from scalify_hlo.rules.untrusted import noted

ORIGIN = f"{PREFIX}origin"
"""The attribute with the kind of a cast, and the origin of its scale."""

DEAREST = 1.0
"""The decibels that a trusted prediction may cost."""


@dataclass(frozen=True)
class Part:
    """The operands of one kind.

    Attributes:
        name: The kind.
        near: Octaves within which most predictions are to be.
        share: How many of them are to be.
        far: Octaves by which no trusted prediction may be off.
    """

    name: str
    near: int
    share: float
    far: int


FORWARD = Part("forward", 2, 0.95, 4)
BACKWARD = Part("gradients", 3, 0.9, FORMATS["f8E5M2"].room)


class Cast(NamedTuple):
    """A cast of a matmul operand.

    Attributes:
        part: What it is of.
        format: Its format.
        where: The name stack of the matmul or of what made the operand.
        level: log2 of the rms that is predicted for the data.
        measured: Whether the program measures the operand for the cast.
    """

    part: Part
    format: str
    where: str
    level: float
    measured: bool


class Operand(NamedTuple):
    """An operand, by how many octaves its predicted size is off, and the decibels that it costs."""

    cast: Cast
    error: float
    cost: float


class Setting(NamedTuple):
    """Says how models are rewritten.

    Attributes:
        recipe: The recipe.
        options: Options of it, as on the command line.
        declared: Whether the measured scales of the inputs are declared.
        steps: How many steps are run in f32 before.
    """

    recipe: str
    options: Sequence[str] = ()
    declared: bool = True
    steps: int = 0


def casts_of(_: ir.OpView) -> Callable[[ir.Operation], Iterable[tuple[ir.Value, Cast]]]:
    """Chooses what is cast to f8."""
    return _cast


def _cast(op: ir.Operation) -> Iterable[tuple[ir.Value, Cast]]:
    if ORIGIN not in op.attributes:
        return []
    level = str(op.attributes[attributes.FORMS][0].value).partition(" level ")[2]
    kind, _, origin = str(op.attributes[ORIGIN].value).partition(" ")
    part = BACKWARD if kind == attributes.GRADIENT else FORWARD
    format_, predicted = str(op.results[0].type.element_type), float(level.split(" ")[0] or 0)
    cast = Cast(part, format_, _stack(op), predicted, origin == "measured")
    return [(_unclamped(op.operands[0]), cast)]


def _noted(readers: tuple[int, ...], cast: untrusted.Cast, *, measured: bool) -> CastScale:
    """As `elementwise.noted`, and writes the origin of the scale on a cast to f8."""
    found = noted(readers, cast, measured=measured)
    if str(cast.op.results[0].type.element_type).startswith("f8"):
        cast.op.attributes[ORIGIN] = ir.StringAttr.get(f"{cast.kind} {found.origin}")
    return found


def _unclamped(value: ir.Value) -> ir.Value:
    """The data before a cast that saturates holds them within its format."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.clamp":
        return value
    return owner.operands[1]


def _stack(op: ir.Operation) -> str:
    """The name stack of an op."""
    stacks = str(op.location).split('"')[1:2]
    return stacks[0] if stacks else "?"


def amid(name: str, setting: Setting) -> Case:
    """The training step of a model or of one of the zoo, after some steps in f32."""
    own = zoo.make(name) if name in zoo.ZOO else training_of(make(name).train)
    run, state = jax.jit(own.step), own.state
    for number in range(setting.steps):
        state, _ = run(state, *own.batch(number))
    return Case(own.step, (state, *own.batch(setting.steps)))


def operands(name: str, kind: str, setting: Setting) -> list[Operand]:
    """The operands of a model that are cast and not all zeros."""
    exported = export(make(name).forward if kind == "forward" else amid(name, setting))
    scales = {}
    if setting.declared:
        scales = scalify_hlo.measured_scales(exported.text, *exported.arguments)
    settings = dict(s.split("=", 1) for s in setting.options)
    options = make_options(setting.recipe, "same", scales, settings)
    options = replace(options, annotate=True, listed=True)
    with mock.patch.object(elementwise, "noted", _noted):
        program, _ = rewrite_program(read_text(exported.text), options)
    told = probed(str(write_program(program)), casts_of)
    found = list(told.magnitudes(fused(told.text, exported.arguments)))
    sizes = [(c, log_rms(data), data) for c, data in found]
    if any(s is not None and c.level - s > c.part.far for c, s, _ in sizes if not c.measured):
        again = told.magnitudes(unfused(told.text, exported.arguments))
        noise = [_is_noise(a, b) for (_, a), (_, b) in zip(found, again, strict=True)]
        sizes = [size for size, is_noise in zip(sizes, noise, strict=True) if not is_noise]
    return [
        Operand(c, s - c.level, cost_of(data, c.format))
        for c, s, data in sizes
        if s is not None and np.isfinite(s)
    ]


def cost_of(magnitudes: Array, format_: str) -> float:
    """The noise of rounding data to f8 over that at the best power of two, in dB."""
    type_, end = DTYPES[format_], FORMATS[format_].max_finite
    data = magnitudes[np.isfinite(magnitudes)]
    fit = math.floor(math.log2(end / data.max()))
    best = min(_noise(data, fit - k, type_, end) for k in range(-1, 4))
    own = _noise(data, 0, type_, end)
    if own <= best:
        return 0.0
    return float(10 * np.log10(own / best)) if best else math.inf


DTYPES = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}


def _noise(data: Array, k: int, type_: Any, end: float) -> float:
    """The squared error of data that are rounded at 2^k times their size."""
    scaled = np.ldexp(data, k)
    rounded = np.minimum(scaled, end).astype(np.float32).astype(type_).astype(np.float64)
    return float(np.sum((rounded - scaled) ** 2)) * 4.0**-k


def _is_noise(data: Array, again: Array) -> bool:
    """Whether two runs differ by as much as what they give is large."""
    size, error = log_rms(data), log_rms(np.abs(data - again))
    return size is not None and error is not None and np.isfinite(size) and error > size - 1


def measure(name: str, kind: str, setting: Setting, worst: int) -> list[Operand]:
    """Prints a line for a model, and its worst predictions."""
    found = operands(name, kind, setting)
    print(f"{name:22}" + "".join(_cells(found, part) for part in (FORWARD, BACKWARD)), flush=True)
    for operand in sorted(found, key=_size, reverse=True)[:worst]:
        kept = "measured" if operand.cast.measured else "trusted"
        cost = f"{operand.error:+6.1f}, {operand.cost:.1f} dB"
        print(f"    {cost} {operand.cast.part.name}, {kept}: {operand.cast.where}")
    return found


def _size(operand: Operand) -> float:
    return abs(operand.error)


def _of(found: Iterable[Operand], part: Part) -> list[Operand]:
    return [operand for operand in found if operand.cast.part == part]


def near(found: Sequence[Operand], part: Part) -> float:
    """The share of the operands of a kind that are within its bound; 1 if there are none."""
    errors = [abs(operand.error) <= part.near for operand in _of(found, part)]
    return sum(errors) / len(errors) if errors else 1.0


def _trusted(found: Iterable[Operand], part: Part) -> list[Operand]:
    return [operand for operand in _of(found, part) if not operand.cast.measured]


def far(found: Sequence[Operand], part: Part) -> int:
    """Counts the trusted predictions of a kind that are off by more than they may."""
    return sum(abs(operand.error) > part.far for operand in _trusted(found, part))


def dear(found: Sequence[Operand], part: Part) -> int:
    """Counts the trusted predictions of a kind that cost more than they may."""
    return sum(operand.cost > DEAREST for operand in _trusted(found, part))


def _cells(found: Sequence[Operand], part: Part) -> str:
    own = _of(found, part)
    measured = sum(operand.cast.measured for operand in own)
    worst = max([abs(operand.error) for operand in own], default=0.0)
    share = f"{near(found, part):.1%}" if own else "-"
    cells = f"{len(own):>7}{measured:>9}{share:>9}{worst:>7.1f}"
    return f"{cells}{far(found, part):>5}{dear(found, part):>5}"


_CELLS = f"{'casts':>7}{'measured':>9}{'near':>9}{'worst':>7}{'far':>5}{'dear':>5}"


def rows(found: Sequence[Operand], part: Part, *, declared: bool) -> list[Row]:
    """The figures of a kind over all models."""
    within = f"{part.name}: share off by more than {part.near} octaves"
    beyond = f"{part.name}: trusted and off by more than {part.far} octaves"
    high = sum(o.error > 1 for o in _trusted(found, part))
    low = sum(o.error < -3 for o in _trusted(found, part))
    costs = f"{part.name}: trusted and off at a cost of more than {DEAREST} dB"
    return [
        Row(f"{part.name}: operands", len(_of(found, part)), form=".0f"),
        Row(f"{part.name}: of these trusted", len(_trusted(found, part)), form=".0f"),
        Row(within, 1 - near(found, part), 1 - part.share if declared else None),
        Row(beyond, far(found, part), 0 if declared else None, ".0f"),
        Row(f"{part.name}: trusted and over 1 octave larger", high, form=".0f"),
        Row(f"{part.name}: trusted and over 3 octaves smaller", low, form=".0f"),
        Row(costs, dear(found, part), 0, ".0f"),
    ]


def main() -> int:
    """Measures the models that are named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [*MODELS, *zoo.ZOO]
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--kind", choices=("forward", "train"), default="train")
    parser.add_argument("--worst", type=int, default=1, help="operands named for each model")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE")
    parser.add_argument("--recipe", default="unit")
    parser.add_argument("--undeclared", action="store_true", help="declare no scales of inputs")
    parser.add_argument("--steps", type=int, default=0, help="steps in f32 before")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in names]:
        parser.error(f"no model is named {unknown[0]!r}; the models are: {', '.join(names)}")
    warnings.filterwarnings("ignore")
    print(f"{'':22}{FORWARD.name:^42}{BACKWARD.name:^42}")
    print(f"{f'model ({options.kind})':22}{_CELLS}{_CELLS}")
    declared = not options.undeclared
    chosen: list[str] = options.names or (list(MODELS) if options.kind == "forward" else names)
    setting = Setting(options.recipe, options.settings, declared, options.steps)
    one = partial(measure, kind=options.kind, setting=setting, worst=options.worst)
    found = [operand for own in each(chosen, one).values() for operand in own]
    figures = [row for part in (FORWARD, BACKWARD) for row in rows(found, part, declared=declared)]
    return report(f"Predicted sizes of matmul operands, {options.recipe}", figures)


if __name__ == "__main__":
    sys.exit(main())
