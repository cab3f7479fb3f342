"""The gap of losses from f32 over many seeds of a small GPT-2, with its standard error.

    python -m benchmarks.paired_losses mxfp8 fp8-block nvfp4 --seeds 8
    python -m benchmarks.paired_losses nvfp4 nvfp4:blocks.hadamard=true --seeds 12 --steps 200
    python -m benchmarks.paired_losses fp8-current mxfp8 --outlier 16

A recipe is a preset, with options after colons. All contenders of a seed begin with the same
parameters and see the same batches. A gap is the mean loss of the last fifth of the steps, less
that of f32. The rows have the mean over the seeds, its standard error, and the gap of each seed.
`nudged` is f32 from parameters that are rounded to four bits once: its gaps are chance.

With `--outlier`, one channel before each MLP is multiplied by a power of two, and its weights are
divided by it, so that f32 computes the same numbers.
"""

import argparse
import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax

import scalify_hlo
from benchmarks.search_gap import SMALL, Training, language_model, last_loss, nudged, train
from examples import gpt2
from examples.training import training_step
from scalify_hlo.recipes.loading import load_recipe

NUDGED = "nudged"


def with_outliers(params: Any, octaves: int) -> Any:
    """Returns parameters that compute the same, with an outlier channel before each MLP."""
    factor = 2.0**octaves

    def planted(block: Any) -> Any:
        norm = {name: value.at[0].multiply(factor) for name, value in block["ln_2"].items()}
        up = block["mlp"]["up"].at[0].divide(factor)
        return {**block, "ln_2": norm, "mlp": {**block["mlp"], "up": up}}

    return {**params, "blocks": [planted(block) for block in params["blocks"]]}


def planted_model(octaves: int) -> Training:
    """Returns the training of the small GPT-2 with outlier channels."""

    def loss(params: Any, tokens: jax.Array) -> jax.Array:
        return gpt2.loss(with_outliers(params, octaves), tokens)

    return replace(language_model(SMALL), step=training_step(loss, gpt2.ADAMW))


def compiled(program: jax.export.Exported, contender: str) -> Any:
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
    parser.add_argument("--outlier", type=int, default=0, metavar="OCTAVES")
    options = parser.parse_args()
    training = planted_model(options.outlier) if options.outlier else language_model(SMALL)
    sample = (*training.state(0), *next(training.batches(0, 1)))
    program = jax.export.export(jax.jit(training.step))(*sample)
    original = jax.jit(program.call)
    seeds = range(options.seeds)

    def losses(run: Any, training: Training) -> list[float]:
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
