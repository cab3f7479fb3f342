"""How far the sizes that `unit` predicts are off, over the matmul operands of many models.

    python -m benchmarks.predicted_sizes                   # all models, a training step of each
    python -m benchmarks.predicted_sizes vit-flax --worst 10
    python -m benchmarks.predicted_sizes --set untrusted=bounded

The scales of the inputs are measured from the values that the step runs on. The rewritten step also
returns the data of each matmul operand before its cast, and each cast says what rms it predicts.
An error is log2 of the real rms over the predicted one; for a cast in a loop the rms is that over
its turns. Operands in E4M3 are forward ones, weights among them; gradients are in E5M2. Where a
predicted size is not trusted, the step measures the amax, and the error is that of a scale that was
measured: such operands count in the share within the bound, and not as trusted.

Gradients that are zero but for rounding, such as that of a bias before a normalization, have
no size: operands that come out as different, with XLA's fusion and without, as they are large are
left out, where a model has some that are too small by more than the bound.

Bounds, over the operands of all models: forward 95 % within 2 octaves and none trusted that is off
by more than 4; gradients 90 % within 3 and none trusted that is off by more than their format has
room for. The lines of single models are for information. Models of packages that are not installed
are left out. Exit code 1 if a bound is missed.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

import scalify_hlo
from benchmarks.common import Row, report
from benchmarks.models.__main__ import MODELS, each, make
from benchmarks.models.measure import export
from benchmarks.models.probe import log_rms, probed
from benchmarks.models.run import fused, unfused
from scalify_hlo._compat import ir
from scalify_hlo.api import make_options
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.formats import FORMATS
from scalify_hlo.program.program import read_text, write_program
from scalify_hlo.program.rewriting import rewrite_program
from scalify_hlo.program.tensors import Array

GRADIENT = "f8E5M2"


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
BACKWARD = Part("gradients", 3, 0.9, FORMATS[GRADIENT].room)


class Cast(NamedTuple):
    """A cast of a matmul operand.

    Attributes:
        part: What it is of.
        where: The name stack of the matmul or of what made the operand.
        level: log2 of the rms that is predicted for the data.
        measured: Whether the scale is one that the program computes.
    """

    part: Part
    where: str
    level: float
    measured: bool


class Operand(NamedTuple):
    """An operand, and by how many octaves its predicted size is off."""

    cast: Cast
    error: float


def casts_of(_: ir.OpView) -> Callable[[ir.Operation], Iterable[tuple[ir.Value, Cast]]]:
    """Chooses what is cast to f8."""
    return _cast


def _cast(op: ir.Operation) -> Iterable[tuple[ir.Value, Cast]]:
    if op.name != "stablehlo.convert" or attributes.FORMS not in op.attributes:
        return []
    element = str(op.results[0].type.element_type)
    if not element.startswith("f8"):
        return []
    scale, _, level = str(op.attributes[attributes.FORMS][0].value).partition(" level ")
    part = BACKWARD if element == GRADIENT else FORWARD
    measured = "*" in scale or not scale.startswith("2^")
    return [(_unclamped(op.operands[0]), Cast(part, _stack(op), float(level or 0), measured))]


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


def operands(name: str, kind: str, settings: Sequence[str]) -> list[Operand]:
    """The operands of a model that are cast and not all zeros."""
    exported = export(make(name).case(kind))
    scales = scalify_hlo.measured_scales(exported.text, *exported.arguments)
    options = make_options("unit", "same", scales, dict(s.split("=", 1) for s in settings))
    program, _ = rewrite_program(read_text(exported.text), replace(options, annotate=True))
    told = probed(str(write_program(program)), casts_of)
    found = list(told.magnitudes(fused(told.text, exported.arguments)))
    sizes = [(cast, log_rms(data)) for cast, data in found]
    if any(s is not None and c.level - s > c.part.far for c, s in sizes if not c.measured):
        again = told.magnitudes(unfused(told.text, exported.arguments))
        noise = [_is_noise(a, b) for (_, a), (_, b) in zip(found, again, strict=True)]
        sizes = [size for size, is_noise in zip(sizes, noise, strict=True) if not is_noise]
    return [Operand(c, s - c.level) for c, s in sizes if s is not None and np.isfinite(s)]


def _is_noise(data: Array, again: Array) -> bool:
    """Whether two runs differ by as much as what they give is large."""
    size, error = log_rms(data), log_rms(np.abs(data - again))
    return size is not None and error is not None and np.isfinite(size) and error > size - 1


def measure(name: str, kind: str, settings: Sequence[str], worst: int) -> list[Operand]:
    """Prints a line for a model, and its worst predictions."""
    found = operands(name, kind, settings)
    print(f"{name:22}" + "".join(_cells(found, part) for part in (FORWARD, BACKWARD)), flush=True)
    for operand in sorted(found, key=_size, reverse=True)[:worst]:
        kept = "measured" if operand.cast.measured else "trusted"
        print(f"    {operand.error:+6.1f} {operand.cast.part.name}, {kept}: {operand.cast.where}")
    return found


def _size(operand: Operand) -> float:
    return abs(operand.error)


def _of(found: Iterable[Operand], part: Part) -> list[Operand]:
    return [operand for operand in found if operand.cast.part == part]


def near(found: Sequence[Operand], part: Part) -> float:
    """The share of the operands of a kind that are within its bound; 1 if there are none."""
    errors = [abs(operand.error) <= part.near for operand in _of(found, part)]
    return sum(errors) / len(errors) if errors else 1.0


def far(found: Sequence[Operand], part: Part) -> int:
    """How many trusted predictions of a kind are off by more than may be."""
    trusted = [o for o in _of(found, part) if not o.cast.measured]
    return sum(abs(operand.error) > part.far for operand in trusted)


def _cells(found: Sequence[Operand], part: Part) -> str:
    own = _of(found, part)
    measured = sum(operand.cast.measured for operand in own)
    worst = max([abs(operand.error) for operand in own], default=0.0)
    share = f"{near(found, part):.1%}" if own else "-"
    return f"{len(own):>7}{measured:>9}{share:>9}{worst:>7.1f}{far(found, part):>5}"


_CELLS = f"{'casts':>7}{'measured':>9}{'near':>9}{'worst':>7}{'far':>5}"


def rows(found: Sequence[Operand], part: Part) -> list[Row]:
    """The figures of a kind over all models."""
    within = f"{part.name}: share off by more than {part.near} octaves"
    beyond = f"{part.name}: trusted and off by more than {part.far} octaves"
    measured = sum(operand.cast.measured for operand in _of(found, part))
    return [
        Row(f"{part.name}: operands", len(_of(found, part)), form=".0f"),
        Row(f"{part.name}: of these measured", measured, form=".0f"),
        Row(within, 1 - near(found, part), 1 - part.share),
        Row(beyond, far(found, part), 0, ".0f"),
    ]


def main() -> int:
    """Measures the models that are named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    parser.add_argument("--kind", choices=("forward", "train"), default="train")
    parser.add_argument("--worst", type=int, default=1, help="operands named for each model")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in MODELS]:
        parser.error(f"no model is named {unknown[0]!r}; the models are: {', '.join(MODELS)}")
    warnings.filterwarnings("ignore")
    print(f"{'':22}{FORWARD.name:^37}{BACKWARD.name:^37}")
    print(f"{f'model ({options.kind})':22}{_CELLS}{_CELLS}")
    one = partial(measure, kind=options.kind, settings=options.settings, worst=options.worst)
    found = [operand for own in each(options.names, one).values() for operand in own]
    return report(
        "Predicted sizes of matmul operands, unit", rows(found, FORWARD) + rows(found, BACKWARD)
    )


if __name__ == "__main__":
    sys.exit(main())
