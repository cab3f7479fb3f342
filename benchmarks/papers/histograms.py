"""Magnitudes of BERT's tensors at the beginning and at the end of training.

    python -m benchmarks.papers.histograms                 # 60 steps
    python -m benchmarks.papers.histograms --full --output FILE

Figures A.4 and A.6 of the Unit Scaling paper are those of the model as it is, and A.5 and A.7 those
of the unit-scaled model. Here a value is as it is, or as data without its scale, under the recipe
`unit` with FP16 for all operands of matmuls and for gradients of weights. Scales follow from the
first state, also at the end. Training is in f32, and the statistics are those of one step. With
`--output`, each group of tensors is a line of a file, with versions: its elements by octaves of
their magnitudes, and log2 of the least, the middle and the largest rms of its tensors.

Source: Unit Scaling paper, appendix K. What differs, beside the model, which is
`benchmarks.papers.bert`: the unit-scaled model of the paper is another one, built of scaled ops.
"""

import argparse
import math
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

import scalify_hlo
from benchmarks.paired_losses import append
from benchmarks.papers import bert
from benchmarks.search_gap import inputs_after
from examples.xla import flat
from scalify_hlo import ValueStats
from scalify_hlo.api import make_options
from scalify_hlo.commands.stats.prepare import Selection
from scalify_hlo.commands.stats.values import Watched
from tests.py.shared.cast_stats import FP8Operands, casts_of

ROLES = ("matmul.activation", "matmul.weight", "matmul.gradient", "state.gradient")
SETTINGS = dict.fromkeys(ROLES, "f16")
"""The figures are those of training in FP16."""

FIGURES = {"start": ("A.4", "A.5"), "end": ("A.6", "A.7")}
"""The figures of values and of data."""

PLACE = re.compile("embedding|layer_[0-9]+|heads")


@dataclass(frozen=True)
class F16Casts(FP8Operands):
    """The selection of all casts to FP16."""

    pattern: str = "f16"

    def matches(self, one: Watched) -> bool:
        """Whether a value is a cast, before it is moved."""
        return one.dtype == "f16" and one.source is None


def group(value: ValueStats, weights: set[tuple[int, ...]]) -> tuple[str, str]:
    """Returns the kind of a tensor as in the figures, and its place in the model.

    Args:
        value: The tensor.
        weights: The sorted shapes of the weights, which their gradients have.
    """
    forward = value.part != "backward"
    if tuple(sorted(value.shape)) in weights:
        return ("w" if forward else "gradw"), ""
    place = PLACE.search(value.name)
    return ("x" if forward else "gradx"), place.group() if place else "other"


def entry(values: Sequence[ValueStats], shifts: Sequence[int]) -> dict[str, Any]:
    """Returns the elements of tensors by octaves, and the extremes of their rms as log2.

    Args:
        values: The statistics of data.
        shifts: The octaves by which the values are larger.
    """
    octaves: Counter[int] = Counter()
    for value, shift in zip(values, shifts, strict=True):
        whole = value.count[0] / max(value.histogram.sample, 1)
        for i, count in enumerate(value.histogram.counts):
            octaves[value.histogram.first + i + shift] += round(count * whole)
    both = zip(values, shifts, strict=True)
    rms = [math.log2(value.rms[0]) + shift for value, shift in both if value.rms[0]]
    return {
        "tensors": len(values),
        "octaves": sorted(octaves.items()),
        "rms": [min(rms), statistics.median(rms), max(rms)] if rms else [],
    }


def lines(size: bert.Size, steps: int) -> Iterator[dict[str, Any]]:
    """Yields the line of each figure and group."""
    training = bert.training(size)
    first = (*training.state(0), *next(training.batches(0, 1)))
    program = jax.export.export(jax.jit(training.step))(*first)
    scales = scalify_hlo.measured_scales(program, *first)
    options = make_options("unit", "same", scales, SETTINGS)
    weights = {tuple(sorted(leaf.shape)) for leaf in jax.tree.leaves(first[0]) if leaf.ndim > 1}
    last = inputs_after(jax.jit(program.call), training, steps)
    chosen: Selection = F16Casts()
    for time, sample in (("start", first), ("end", last)):
        found: dict[tuple[str, str], list[ValueStats]] = defaultdict(list)
        arguments = [np.asarray(each) for each in flat(sample)]
        for value in casts_of(program.mlir_module(), arguments, options, chosen):
            found[group(value, weights)].append(value)
        for (kind, place), values in found.items():
            scale = [int(v.scales[0] or 0) if v.scales else 0 for v in values]
            for figure, shifts in zip(FIGURES[time], (scale, [0] * len(values)), strict=True):
                about = {"figure": figure, "kind": kind, "place": place}
                yield {**about, "layers": size.layers, "steps": steps, **entry(values, shifts)}


def main() -> int:
    """Prints a line for each figure and group."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--full", action="store_true", help="the size of the paper")
    parser.add_argument("--output", type=Path, metavar="FILE")
    options = parser.parse_args()
    for line in lines(bert.FULL if options.full else bert.SMALL, options.steps):
        print(line["figure"], line["kind"], line["place"], line["tensors"], line["rms"], flush=True)
        if options.output:
            append(options.output, line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
