"""How far from unit the data of models of other packages go under `propagate`, signature `same`.

    python -m benchmarks.wide_values                        # all models, a training step of each
    python -m benchmarks.wide_values vit-flax llama --worst 5
    python -m benchmarks.wide_values lstm --kind forward
    python -m benchmarks.wide_values gpt2-decode --run unfused       # minutes less, bits may differ

The inputs are declared at 2^-4 and at 1, or each at its measured scale (`measured_scales`). The
original and its rewrites run op by op on the StableHLO interpreter, and each returns every float
value that is not made of constants alone: f32 data of the rewrite against the same value of the
original. A value in a loop, its carries among them, counts with its rms over the turns. A line
has

values   the float values of the rewrite
unknown  those of them of which it is not known for what value of the original they stand
beyond   those whose data have an rms beyond 2^±16 while that of the original's value is 8 octaves
         nearer to 1, or whose data are all zeros while the value is not; of values with elements
         that are infinite or NaN, as in a branch that is not selected, the others count
flushed  values, not counting results, some elements of which are 0, inf or NaN in the data only;
         for information
lost     elements of results that are 0, inf or NaN, and finite and not 0 in the original
unequal  results that differ in any bit

Models that take long on the interpreter run on XLA without fusion, where bits may differ; for them
`unequal` counts the results that are further apart than 1e-6 of their largest element. Models of
packages that are not installed are left out. Exit code 1 if a value is beyond or unknown, an
element lost, or a result unequal.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

import scalify_hlo
from benchmarks.models.__main__ import MODELS, each, make
from benchmarks.models.measure import distance, export
from benchmarks.models.origins import Origin, Origins, carried, numbered
from benchmarks.models.probe import Probed, log_rms, probed
from benchmarks.models.run import RUNS, Run
from scalify_hlo._compat import ir
from scalify_hlo.ir.formats import is_real
from scalify_hlo.program.tensors import Array
from scalify_hlo.run.differences import compare

FURTHEST = 16
"""|log2| of an rms from which on data are beyond."""

NEARER = 8
"""Octaves by which the original has to be nearer to 1 for data to be beyond."""

SLOW = frozenset({"resnet50", "unet"})
"""The models that take minutes on the interpreter; `resnet-flax` and `unet-flax` are like them."""

TOLERANCE = 1e-6
"""The largest difference of a result of one of these, over its largest element."""


class Place(NamedTuple):
    """A value of a program.

    Attributes:
        op: The op that makes it.
        where: Where that comes from.
        origin: What the value stands for.
    """

    op: str
    where: str
    origin: Origin | None


class Far(NamedTuple):
    """A value that is beyond.

    Attributes:
        size: log2 of the rms of its data.
        before: log2 of the rms of the original's value.
        place: The value.
    """

    size: float
    before: float
    place: Place


@dataclass(frozen=True)
class Line:
    """What is found of one rewrite; see the module."""

    values: int
    unknown: int
    beyond: Sequence[Far]
    flushed: int
    lost: int
    unequal: int

    @property
    def holds(self) -> bool:
        """Whether the bounds are kept."""
        return not (self.unknown or self.beyond or self.lost or self.unequal)


class Original:
    """A model's program and its values.

    Args:
        text: StableHLO.
        arguments: What it is run with.
        run: Runs programs.
        exact: Whether results are to be equal in each bit.
    """

    def __init__(self, text: str, arguments: Sequence[Array], run: Run, *, exact: bool) -> None:
        self.text = numbered(text)
        self.arguments = arguments
        self._run, self._exact = run, exact
        self._sizes: dict[Origin, float | None] = {}
        self._values: dict[Origin, Array] = {}
        for number, array in enumerate(arguments):
            self._note(Origin(-1, number, 0), np.abs(array.astype(np.float64)))
        program, self._results = self._returned(self.text)
        for place, magnitudes in program.magnitudes(self._results):
            if place.origin is not None:
                self._note(place.origin, magnitudes)
        self._results = self._results[: program.results]

    def _note(self, origin: Origin, magnitudes: Array) -> None:
        self._values[origin] = magnitudes
        self._sizes[origin] = log_rms(magnitudes)

    def _returned(self, text: str) -> tuple[Probed[Place], list[Array]]:
        program = probed(text, values_of)
        return program, self._run(program.text, self.arguments)

    def compare(self, rewritten: str) -> Line:
        """Compares a rewrite, value by value."""
        program, results = self._returned(rewritten)
        found = list(program.magnitudes(results))
        known = [(p, m) for p, m in found if p.origin is not None and p.origin in self._sizes]
        pairs = list(zip(self._results, results[: program.results], strict=True))
        return Line(
            values=len(found),
            unknown=len(found) - len(known),
            beyond=[far for place, data in known if (far := self._far(place, data))],
            flushed=sum(bool(self._lost(place, data)) for place, data in known),
            lost=sum(lost(a, b) for a, b in pairs),
            unequal=sum(not self._equal(a, b) for a, b in pairs),
        )

    def _far(self, place: Place, data: Array) -> Far | None:
        values = self._values[place.origin] if place.origin else None
        if values is not None and values.shape == data.shape and not np.isfinite(values).all():
            finite = np.isfinite(values) & np.isfinite(data)
            size, before = log_rms(data[finite]), log_rms(values[finite])
        else:
            size = log_rms(data)
            before = self._sizes[place.origin] if place.origin else None
        if size is None or before is None or np.isneginf(before):
            return None
        beyond = abs(size) > FURTHEST and abs(size) - abs(before) >= NEARER
        return Far(size, before, place) if beyond else None

    def _lost(self, place: Place, data: Array) -> int:
        before = self._values[place.origin] if place.origin else data
        return lost(before, data) if before.shape == data.shape else 0

    def _equal(self, before: Array, after: Array) -> bool:
        if self._exact:
            return same_bits(before, after)
        return distance(compare("", before, after)) <= TOLERANCE


def values_of(main: ir.OpView) -> Callable[[ir.Operation], Iterable[tuple[ir.Value, Place]]]:
    """Chooses the float values that are not made of constants alone."""
    origins = Origins(main)

    def choose(op: ir.Operation) -> Iterable[tuple[ir.Value, Place]]:
        origins.note(op)
        where = _stack(op.location)
        return [
            (value, Place(op.name.removeprefix("stablehlo."), where, origins.of(value)))
            for value in [*op.results, *carried(op)]
            if is_real(value.type) and not origins.is_constant(value)
        ]

    return choose


def _stack(location: ir.Location) -> str:
    """The name stack of an op that was numbered."""
    stacks = str(location).split('"')[3:4]
    return stacks[0] if stacks else "?"


def lost(before: Array, after: Array) -> int:
    """How many elements that are finite are not any more, or are 0 and were not."""
    if before.dtype.kind not in "fc":
        return 0
    gone = ~np.isfinite(after) | ((after == 0) & (before != 0))
    return int(np.sum(np.isfinite(before) & gone))


def same_bits(before: Array, after: Array) -> bool:
    """Whether two arrays are equal, all NaNs being equal and 0 not being -0."""
    if not np.array_equal(before, after, equal_nan=before.dtype.kind in "fc"):
        return False
    return before.dtype.kind != "f" or np.array_equal(np.signbit(before), np.signbit(after))


def scales(text: str, arguments: Sequence[Array]) -> Mapping[str, Mapping[str, float]]:
    """The scales that inputs are declared at."""
    measured = scalify_hlo.measured_scales(text, *arguments)
    return {"2^-4": {"*": 2.0**-4}, "1": {"*": 1.0}, "measured": measured}


def measure(name: str, kind: str, worst: int, run: str | None) -> list[bool]:
    """Prints a line for each declaration of inputs; says which hold."""
    exported = export(make(name).case(kind))
    run = run or ("unfused" if name in SLOW else "interpreter")
    exact = run == "interpreter"
    original = Original(exported.text, exported.arguments, RUNS[run], exact=exact)
    held = []
    for inputs, declared in scales(original.text, exported.arguments).items():
        text = scalify_hlo.rewrite(original.text, recipe="propagate", input_scale=declared)
        line = original.compare(text)
        held.append(line.holds)
        print(_cells(name, inputs, line), flush=True)
        for far in sorted(line.beyond, key=_distance)[:worst]:
            print(f"    2^{far.size:.1f}, was 2^{far.before:.1f}: {far.place.op} {far.place.where}")
    return held


def _distance(far: Far) -> float:
    return abs(far.before) - abs(far.size)


_HEADER = ("values", "unknown", "beyond", "flushed", "lost", "unequal", "holds")


def _cells(name: str, inputs: str, line: Line) -> str:
    numbers = (line.values, line.unknown, len(line.beyond), line.flushed, line.lost, line.unequal)
    return row(name, inputs, [*map(str, numbers), "yes" if line.holds else "NO"])


def row(name: str, inputs: str, cells: Sequence[str]) -> str:
    """A line of the table."""
    return f"{name:22}{inputs:>9}" + "".join(f"{cell:>9}" for cell in cells)


def main() -> int:
    """Measures the models that are named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    parser.add_argument("--kind", choices=("forward", "train"), default="train")
    parser.add_argument("--run", choices=("interpreter", "unfused"), help="what runs all models")
    parser.add_argument("--worst", type=int, default=2, help="values named for each line")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in MODELS]:
        parser.error(f"no model is named {unknown[0]!r}; the models are: {', '.join(MODELS)}")
    warnings.filterwarnings("ignore")
    print(row(f"model ({options.kind})", "inputs", _HEADER))
    settings = {"kind": options.kind, "worst": options.worst, "run": options.run}
    held = each(options.names, partial(measure, **settings))
    missed = sum(not holds for lines in held.values() for holds in lines)
    print(f"{len(held)} models; lines that miss a bound: {missed}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
