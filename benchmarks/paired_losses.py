"""The gap of losses from f32 over many seeds of a small GPT-2, with its standard error.

    python -m benchmarks.paired_losses mxfp8 fp8-block nvfp4 --seeds 8
    python -m benchmarks.paired_losses nvfp4 nvfp4:blocks.hadamard=true --seeds 12 --steps 200
    python -m benchmarks.paired_losses fp8-current mxfp8 --outlier 16
    python -m benchmarks.paired_losses unit unit:compute=bf16 --short --steps 60 --seeds 6

A recipe is a preset, with options after colons. All contenders of a seed begin with the same
parameters and see the same batches. A gap is the mean loss of the last fifth of the steps, less
that of f32. The rows have the mean over the seeds, its standard error, and the gap of each seed.
`nudged` is f32 from parameters that are rounded to four bits once: its gaps are chance.

Training amplifies any difference. With `--short`, runs of five steps start from states of the run
in f32, after its first ten steps, which amplify most. A gap is that of the loss of the fifth step.
The rows have the mean of these gaps, its standard error, and the median of their magnitudes.

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
from benchmarks.search_gap import (
    SMALL,
    Training,
    Trajectory,
    language_model,
    last_loss,
    nudged,
    short_gaps,
    train,
)
from examples import gpt2
from examples.training import training_step
from scalify_hlo.recipes.loading import load_recipe

NUDGED = "nudged"

FIRST_RUNS = 2
"""The short runs of a seed that do not count: differences grow by thousands in the first steps."""


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
    parser.add_argument("--short", action="store_true", help="short runs, from states of f32")
    parser.add_argument("--outlier", type=int, default=0, metavar="OCTAVES")
    options = parser.parse_args()
    training = planted_model(options.outlier) if options.outlier else language_model(SMALL)
    sample = (*training.state(0), *next(training.batches(0, 1)))
    program = jax.export.export(jax.jit(training.step))(*sample)
    original = jax.jit(program.call)
    exact = [train(original, training, seed, options.steps) for seed in range(options.seeds)]
    mean = statistics.mean(map(last_loss, exact))
    print(f"f32: {mean:.4f}, {options.steps} steps, {options.seeds} seeds")
    if not options.short:
        _print_whole(NUDGED, original, nudged(training), exact)
    for name in options.contenders:
        run = compiled(program, name)
        (_print_short if options.short else _print_whole)(name, run, training, exact)
    return 0


def _print_whole(name: str, run: Any, training: Training, exact: Sequence[Trajectory]) -> None:
    """Prints the gaps at the end of training, of each seed."""
    steps = len(exact[0].losses)
    gaps = [
        last_loss(train(run, training, seed, steps)) - last_loss(one)
        for seed, one in enumerate(exact)
    ]
    each = " ".join(f"{gap:+.3f}" for gap in gaps)
    print(
        f"{name}: {statistics.mean(gaps):+.4f} +- {standard_error(gaps):.4f} ({each})", flush=True
    )


def _print_short(name: str, run: Any, training: Training, exact: Sequence[Trajectory]) -> None:
    """Prints the gaps at the end of short runs from states of f32."""
    steps = len(exact[0].losses)
    gaps = [
        gap
        for seed, one in enumerate(exact)
        for gap in list(short_gaps(run, training, seed, steps, one))[FIRST_RUNS:]
    ]
    mean, error = statistics.mean(gaps), standard_error(gaps)
    size = statistics.median(map(abs, gaps))
    print(f"{name}: {mean:+.5f} +- {error:.5f}, magnitude {size:.5f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
