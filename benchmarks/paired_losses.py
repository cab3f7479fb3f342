"""The gap of losses from f32 over many seeds of a small GPT-2, with its standard error.

    python -m benchmarks.paired_losses mxfp8 fp8-block nvfp4 --seeds 8
    python -m benchmarks.paired_losses nvfp4 nvfp4:blocks.hadamard=true --seeds 12 --steps 200

A recipe is a preset, with options after colons. All contenders of a seed begin with the same
parameters and see the same batches. A gap is the mean loss of the last fifth of the steps, less
that of f32. The rows have the mean over the seeds, its standard error, and the gap of each seed.
`nudged` is f32 from parameters that are rounded to four bits once: its gaps are chance.
"""

import argparse
import math
import statistics
import sys
from collections.abc import Sequence

import jax

import scalify_hlo
from benchmarks.search_gap import SMALL, Training, language_model, last_loss, nudged, train
from scalify_hlo.recipes.loading import load_recipe

NUDGED = "nudged"


def compiled(program: jax.export.Exported, contender: str) -> object:
    """Returns the compiled step of a contender, of signature ``same``."""
    recipe, *settings = contender.split(":")
    return jax.jit(scalify_hlo.rewrite(program, recipe=load_recipe(recipe, settings)).call)


def standard_error(gaps: Sequence[float]) -> float:
    """Returns the standard error of the mean; NaN for one number."""
    return statistics.stdev(gaps) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.nan


def main() -> int:
    """Trains all, and prints a row for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("contenders", nargs="*", metavar="RECIPE[:KEY=VALUE]")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=8)
    options = parser.parse_args()
    training = language_model(SMALL)
    sample = (*training.state(0), *next(training.batches(0, 1)))
    program = jax.export.export(jax.jit(training.step))(*sample)
    original = jax.jit(program.call)
    seeds = range(options.seeds)

    def losses(run: object, training: Training) -> list[float]:
        return [last_loss(train(run, training, seed, options.steps)) for seed in seeds]

    exact = losses(original, training)
    print(f"f32: {statistics.mean(exact):.4f}, {options.steps} steps, {options.seeds} seeds")
    for name in (NUDGED, *options.contenders):
        if name == NUDGED:
            found = losses(original, nudged(training))
        else:
            found = losses(compiled(program, name), training)
        gaps = [one - other for one, other in zip(found, exact, strict=True)]
        each = " ".join(f"{gap:+.3f}" for gap in gaps)
        mean, error = statistics.mean(gaps), standard_error(gaps)
        print(f"{name}: {mean:+.4f} +- {error:.4f} ({each})", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
