"""The GPT-2 of the Scalify paper over its steps: losses, scales, and rescalings now and then.

    python -m benchmarks.papers.steps losses     # the recipes of table 3, three seeds, 100 steps
    python -m benchmarks.papers.steps scales     # fp8-state, one seed, 65 steps
    python -m benchmarks.papers.steps periods    # rescalings of each 4, 16 and 64 steps
    python -m benchmarks.papers.steps losses --full --output FILE

`losses` is figure 1. `scales` has the scales of state and of FP8 data in each step, the rms of the
data, and by how many octaves a scale moves from one step to the next. `periods` rescales in some
steps only: state, gradients of normalizations, or those of weights. Its runs start from states of
f32 after ten steps, which amplify differences most, and its gap is that of the last fifth of the
steps. With `--output`, each figure is a line of a file, with versions, and losses that are in it
are not computed again.

Source: Scalify paper, sections 2, 3.3 and 4, and algorithm 1. What differs: the text is that of
Python's standard library in bytes, and without `--full` the model has four layers and width 128.
"""

import argparse
import math
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax

import scalify_hlo
from benchmarks.paired_losses import (
    EXACT,
    FULL,
    Compiled,
    Losses,
    append,
    compiled,
    standard_error,
)
from benchmarks.search_gap import (
    SMALL,
    continued,
    language_model,
    last_loss,
    train,
)
from scalify_hlo import StatsRecord, ValueStats

RECIPES = ("fp16", "fp16-state", "fp8", "fp8-state")
"""The recipes of table 3."""

RECIPE = "fp8-state"
"""The recipe whose scales are shown: that with most dynamic rescalings."""

SITES = {
    "state": "state_rescale",
    "gradients of norms": "norm_gradients",
    "gradients of weights": "state_gradients",
}
PERIODS = (4, 16, 64)
BEFORE = 10
"""The steps in f32 from which the runs of `periods` start."""

SHOWN = (0, 1, 4, 16, 64)
"""The steps of which scales are kept."""

KINDS: Mapping[str, Callable[[ValueStats], bool]] = {
    "weights": lambda value: value.role == "weight",
    "first moments": lambda value: value.role == "first_moment",
    "second moments": lambda value: value.role == "second_moment",
    "FP8 data, forward": lambda value: _is_cast(value, "f8E4M3FN"),
    "FP8 data, backward": lambda value: _is_cast(value, "f8E5M2"),
}


def _is_cast(value: ValueStats, dtype: str) -> bool:
    return value.op == "stablehlo.convert" and value.dtype == dtype


def contender(site: str, period: int) -> str:
    """Returns the recipe that rescales at a site in each step whose count is a multiple."""
    return f"{RECIPE}:{SITES[site]}.every={period}:inputs.step=*.count"


class Model:
    """The model, and the compiled steps of contenders."""

    def __init__(self, full: bool) -> None:
        """Exports the step."""
        self.training = language_model(FULL if full else SMALL)
        self.setting = {"size": "full" if full else "small"}
        self.sample = (*self.training.state(0), *next(self.training.batches(0, 1)))
        self.program = jax.export.export(jax.jit(self.training.step))(*self.sample)

    def step(self, name: str) -> Compiled:
        """Compiles the step of a contender, or that in f32."""
        if name == EXACT:
            return Compiled(jax.jit(self.program.call))
        return compiled(self.program, name, self.sample)


def losses(model: Model, options: argparse.Namespace) -> None:
    """Prints the losses of each recipe, and adds a line for each run with those of all steps."""
    for name in (EXACT, *RECIPES):
        step = model.step(name)
        for seed in range(options.seeds or 3):
            run = train(step.run, step.begun(model.training), seed, options.steps or 100)
            print(f"{name}, seed {seed}: {last_loss(run):.4f}", flush=True)
            found = [round(loss, 5) for loss in run.losses]
            entry = {"contender": name, "seed": seed, "losses": found, **model.setting}
            _write(options.output, {"experiment": "losses", **entry})


def periods(model: Model, options: argparse.Namespace) -> None:
    """Prints the gap for each site and period."""
    steps = options.steps or 40
    later = continued(model.step(EXACT).run, model.training, BEFORE)
    setting: dict[str, Any] = {"experiment": "periods", "steps": steps, **model.setting}
    found = Losses(options.output, setting)

    def loss(step: Compiled, seed: int) -> float:
        return last_loss(train(step.run, step.begun(later), seed, steps))

    for name in (EXACT, RECIPE, *[contender(s, n) for s in SITES for n in PERIODS]):
        step = model.step(name)
        for seed in range(options.seeds or 6):
            found.find(name, seed, partial(loss, step, seed))
        gaps = found.gaps(name)
        error = standard_error(gaps)
        print(f"{name}: {statistics.mean(gaps):+.5f} +- {error:.5f}", flush=True)


def scales(model: Model, options: argparse.Namespace) -> None:
    """Prints the scales of each kind of values in some steps."""
    stats = scalify_hlo.Stats(every=1)
    step = scalify_hlo.scalify(model.training.step, recipe=RECIPE, stats=stats)
    state = scalify_hlo.as_scaled_array(model.training.state(0))
    for batch in model.training.batches(0, options.steps or SHOWN[-1] + 1):
        *state, _ = step(*state, *batch)
    for entry in _moves(stats.records):
        print(entry, flush=True)
        about = {"experiment": "scales", "contender": RECIPE, **model.setting}
        _write(options.output, {**about, **entry})


def _moves(records: Sequence[StatsRecord]) -> Iterator[dict[str, Any]]:
    """Yields the least, the middle and the largest scale and rms of each kind, as log2."""
    before: dict[str, float] = {}
    for number, record in enumerate(records):
        for kind, belongs in KINDS.items():
            values = [value for value in record.variants[0].values if belongs(value)]
            known = {v.id: s[0] for v in values if (s := v.scales) and s[0] is not None}
            rms = [math.log2(value.rms[0]) for value in values if value.rms[0]]
            moved = [abs(known[id_] - before[id_]) for id_ in known if id_ in before]
            before |= known
            if number in SHOWN and known and rms:
                entry = {"step": number, "kind": kind, "values": len(known)}
                about = {"scales": _spread(list(known.values())), "rms": _spread(rms)}
                yield {**entry, **about, "moved": round(statistics.mean(moved or [0]), 4)}


def _spread(numbers: Sequence[float]) -> list[float]:
    return [round(f(numbers), 3) for f in (min, statistics.median, max)]


def _write(path: Path | None, entry: Mapping[str, Any]) -> None:
    if path:
        append(path, entry)


EXPERIMENTS = {"losses": losses, "scales": scales, "periods": periods}


def main() -> int:
    """Runs an experiment."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seeds", type=int, help="not for scales, which has one")
    parser.add_argument("--full", action="store_true", help="the size of the paper")
    parser.add_argument("--output", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.seeds and options.experiment == "scales":
        parser.error("--seeds is for losses and periods: scales has one run")
    EXPERIMENTS[options.experiment](Model(options.full), options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
