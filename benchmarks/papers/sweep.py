"""Bits per character of 27 small language models, in f32 and with recipes.

    python -m benchmarks.papers.sweep                          # unit, three seeds
    python -m benchmarks.papers.sweep unit fp8-current --steps 100 --only "rnn/*"
    python -m benchmarks.papers.sweep plain-f16 loss-scaling --full
    python -m benchmarks.papers.sweep --output FILE            # each loss a line of a file

The models are attention, a recurrent layer or a convolution, with norms before, after or nowhere,
and three residual sums: `benchmarks.papers.language`. A recipe is a preset, with options after
colons. Each row has the statistics that a recipe costs, the bits per character of f32, and the gap
of each recipe from it: means over the seeds of the last fifth of the steps.

Source: Unit Scaling paper, figure 4 and tables A.3 and A.4. What differs: the text is that of
Python's standard library in bytes, the models have width 64 and sequences of 64 without `--full`,
one learning rate serves all, there is no test set, and the models are plain ones that a rewrite
scales. Sequences are drawn at random, so that hardly any is seen twice.

Bounds: under `unit`, no statistic, and a gap of at most 0.02. Exit code 1 if one is missed.
"""

import argparse
import math
import statistics
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import jax

import scalify_hlo
from benchmarks.common import Row, report
from benchmarks.paired_losses import EXACT, Losses
from benchmarks.papers.language import CELLS, Cell, full, training
from benchmarks.search_gap import last_loss, train
from scalify_hlo.recipes.loading import load_recipe

GAP = 0.02
"""The most bits per character that `unit` may cost."""


class Contenders:
    """The compiled steps of a model.

    Attributes:
        statistics: The run-time statistics of each recipe.
    """

    def __init__(self, cell: Cell, names: Sequence[str]) -> None:
        """Compiles the step in f32 and with each recipe."""
        self.training = training(cell)
        sample = (*self.training.state(0), *next(self.training.batches(0, 1)))
        program = jax.export.export(jax.jit(self.training.step))(*sample)
        scales = scalify_hlo.measured_scales(program, *sample)
        self._runs: dict[str, Any] = {EXACT: jax.jit(program.call)}
        self.statistics: dict[str, int] = {}
        for name in names:
            preset, *settings = name.split(":")
            recipe = load_recipe(preset, settings)
            declared = scales if recipe.scaling.kind == "propagated" else None
            found, about = scalify_hlo.rewrite(
                program, recipe=recipe, input_scale=declared, report=True
            )
            self._runs[name] = jax.jit(found.call)
            self.statistics[name] = about.statistics

    def loss(self, name: str, seed: int, steps: int) -> float:
        """Returns the loss at the end of a run."""
        return last_loss(train(self._runs[name], self.training, seed, steps))


def rows(cell: Cell, options: argparse.Namespace) -> list[Row]:
    """Trains a model, and returns its rows."""
    setting: dict[str, Any] = {"cell": cell.name, "steps": options.steps, "hidden": cell.hidden}
    losses, contenders = Losses(options.output, setting), Contenders(cell, options.recipes)
    for seed in range(options.seeds):
        for name in (EXACT, *options.recipes):
            losses.find(name, seed, partial(contenders.loss, name, seed, options.steps))
    made = [Row(f"{cell.name}: bits in f32", statistics.mean(losses.exact()) / math.log(2))]
    for name in options.recipes:
        judged = name == "unit"
        count = contenders.statistics[name]
        gap = statistics.mean(losses.gaps(name)) / math.log(2)
        made += [
            Row(f"{name}: statistics", count, 0 if judged else None, ".0f"),
            Row(f"{name}: gap", gap, GAP if judged else None, "+.4f"),
        ]
    return made


def main() -> int:
    """Trains all, and prints their rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipes", nargs="*", metavar="RECIPE[:KEY=VALUE]")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="*", metavar="PATTERN", help="models by their names")
    parser.add_argument("--full", action="store_true", help="the sizes of the paper")
    parser.add_argument("--output", type=Path, metavar="FILE")
    options = parser.parse_args()
    options.recipes = options.recipes or ["unit"]
    cells = list(map(full, CELLS)) if options.full else CELLS
    made: list[Row] = []
    for cell in (each for each in cells if fnmatch(each.name, options.only)):
        made += rows(cell, options)
        print(f"{cell.name}: done", file=sys.stderr, flush=True)
    return report(f"Character language models, {options.steps} steps", made)


if __name__ == "__main__":
    sys.exit(main())
