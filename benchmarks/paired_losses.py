"""The gap of losses from f32 over many seeds of a small model, with its standard error.

    python -m benchmarks.paired_losses mxfp8 fp8-block nvfp4 --seeds 8
    python -m benchmarks.paired_losses nvfp4 nvfp4:blocks.hadamard=wgrad --seeds 12 --steps 200
    python -m benchmarks.paired_losses fp8-current mxfp8 --outlier 16
    python -m benchmarks.paired_losses unit unit:compute=bf16 --short --steps 60 --seeds 6
    python -m benchmarks.paired_losses mxfp8 --steps 300 --seeds 100 --until 0.005 --output FILE
    python -m benchmarks.paired_losses deepseek-v3 --model experts --short --steps 60 --seeds 6
    python -m benchmarks.paired_losses unit fp8 plain-f8 --model bert --full --short --steps 60

A recipe is a preset, with options after colons. All contenders of a seed begin with the same
parameters and see the same batches. A gap is the mean loss of the last fifth of the steps, less
that of f32. The rows have the mean over the seeds, its standard error, and the gap of each seed.
`nudged` is f32 from parameters that are rounded to four bits once: its gaps are chance.
With `--until`, no further seed is begun once all standard errors are at most that. With `--output`,
each loss is a line of a file, with versions. Losses that are in it are not computed again, so that
a run can be interrupted, and the rows are over all seeds in it. Several processes may add to it,
each with its own seeds, which begin at `--first`.

Training amplifies any difference. With `--short`, runs of five steps start from states of the run
in f32, after its first ten steps, which amplify most. A gap is that of the loss of the fifth step.
The rows have the mean of these gaps, its standard error, and the median of their magnitudes; with
`--output`, each row is a line of a file, with versions.

The model is a GPT-2, `benchmarks.papers.bert`, or one of `benchmarks.papers.decoders`. With
`--full`, the first two have the sizes of their papers, for a GPU. With `--outlier`, one channel
before each MLP of GPT-2 is multiplied by a power of two, and its weights are divided by it, so that
f32 computes the same. Recipes of static scales have those of the first state.
"""

import argparse
import json
import math
import platform
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax

import scalify_hlo
from benchmarks.papers import bert, decoders
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
from scalify_hlo.recipes.model import NONE

DECODERS = {"llama": 0, "experts": decoders.EXPERTS}
"""The models of `decoders`, with their experts."""

MODELS = ("gpt2", "bert", *DECODERS)

EXACT, NUDGED = "f32", "nudged"

FULL = gpt2.Config(tied=False, vocab=50304)
"""The size of the Scalify paper's GPT-2, nearly: 163M parameters, of which it counts 168M."""

FIRST_RUNS = 2
"""The short runs of a seed that do not count: differences grow by thousands in the first steps."""


Step = Callable[[str], "Compiled"]
"""Compiles a contender."""


def with_outliers(params: Any, octaves: int) -> Any:
    """Returns parameters that compute the same, with an outlier channel before each MLP."""
    factor = 2.0**octaves

    def planted(block: Any) -> Any:
        norm = {name: value.at[0].multiply(factor) for name, value in block["ln_2"].items()}
        up = block["mlp"]["up"].at[0].divide(factor)
        return {**block, "ln_2": norm, "mlp": {**block["mlp"], "up": up}}

    return {**params, "blocks": [planted(block) for block in params["blocks"]]}


def planted_model(octaves: int, config: gpt2.Config) -> Training:
    """Returns the training of a GPT-2 with outlier channels."""

    def loss(params: Any, tokens: jax.Array) -> jax.Array:
        return gpt2.loss(with_outliers(params, octaves), tokens)

    return replace(language_model(config), step=training_step(loss, gpt2.ADAMW))


@dataclass(frozen=True)
class Compiled:
    """The compiled step of a contender.

    Attributes:
        run: (*state, *batch) -> (*state, loss).
        stored: Returns the state as the step takes it, from that of the model.
    """

    run: Callable[..., Any]
    stored: Callable[[Any], Any] = tuple

    def begun(self, training: Training) -> Training:
        """Returns a training whose first state is as the step takes it."""
        return replace(training, state=lambda seed: self.stored(training.state(seed)))


def compiled(program: jax.export.Exported, contender: str, sample: Sequence[Any]) -> Compiled:
    """Compiles the step of a contender, of signature ``scaled`` if it stores narrow state.

    Args:
        program: The step.
        contender: A recipe, with options after colons.
        sample: The arguments of a step, from which scales that are state begin, and which static
            scales are measured from.
    """
    name, *settings = contender.split(":")
    recipe = load_recipe(name, settings)
    if not recipe.state.narrow:
        static = recipe.predict != NONE
        scales = scalify_hlo.measured_scales(program, *sample) if static else None
        found = scalify_hlo.rewrite(program, recipe=recipe, input_scale=scales)
        stateful = len(found.in_avals) > len(program.in_avals)
        return _stateful(found, sample) if stateful else Compiled(jax.jit(found.call))
    rewritten = scalify_hlo.rewrite(program, recipe=recipe, signature="scaled")
    step = jax.jit(rewritten.call)

    def run(*arguments: Any) -> Any:
        *state, loss = step(*arguments)
        return *state, scalify_hlo.asarray(loss)

    return Compiled(run, lambda state: scalify_hlo.scaled_state(rewritten, tuple(state)))


def _stateful(found: jax.export.Exported, sample: Sequence[Any]) -> Compiled:
    """Returns a step with the state of its scales, which begins anew where a run does."""
    step, first = jax.jit(found.call), scalify_hlo.init_scaling_state(found, *sample)
    now = [first]

    def run(*arguments: Any) -> Any:
        results, now[0] = step(*arguments, now[0])
        return results

    def begun(state: Any) -> Any:
        now[0] = first
        return tuple(state)

    return Compiled(run, begun)


def standard_error(gaps: Sequence[float]) -> float:
    """Returns the standard error of the mean; NaN for one number, or if one is not finite."""
    known = len(gaps) > 1 and all(map(math.isfinite, gaps))
    return statistics.stdev(gaps) / math.sqrt(len(gaps)) if known else math.nan


def append(path: Path, entry: Mapping[str, Any]) -> None:
    """Adds a line to a file, with versions."""
    versions = {"jax": jax.__version__, "python": platform.python_version()}
    with path.open("a") as file:
        print(json.dumps({**entry, **versions}), file=file)


class Losses:
    """The losses at the end of training, of contenders and seeds, in memory and in a file."""

    def __init__(self, path: Path | None, setting: Mapping[str, int]) -> None:
        """Reads the losses of a setting, which is the number of steps and the like."""
        self._path, self._setting = path, setting
        self._found: dict[tuple[str, int], float] = {}
        for line in path.read_text().splitlines() if path and path.exists() else ():
            entry = json.loads(line)
            if setting.items() <= entry.items():
                self._found[entry["contender"], entry["seed"]] = entry["loss"]

    def find(self, contender: str, seed: int, loss: Callable[[], float]) -> None:
        """Computes a loss that is not known."""
        key = contender, seed
        if key in self._found:
            return
        self._found[key] = loss()
        if self._path:
            entry = {"contender": contender, "seed": seed, "loss": self._found[key]}
            append(self._path, {**entry, **self._setting})

    def gaps(self, contender: str) -> list[float]:
        """Returns the gaps from f32 of the seeds that have both losses."""
        seeds = sorted(seed for name, seed in self._found if name == contender)
        exact = {seed: loss for (name, seed), loss in self._found.items() if name == EXACT}
        return [self._found[contender, seed] - exact[seed] for seed in seeds if seed in exact]

    def exact(self) -> list[float]:
        """Returns the losses of f32."""
        return [loss for (name, _), loss in self._found.items() if name == EXACT]


def parsed() -> argparse.Namespace:
    """Returns the arguments of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("contenders", nargs="*", metavar="RECIPE[:KEY=VALUE]")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--until", type=float, default=0.0, metavar="ERROR")
    parser.add_argument("--output", type=Path, metavar="FILE")
    parser.add_argument("--short", action="store_true", help="short runs, from states of f32")
    parser.add_argument("--model", choices=MODELS, default="gpt2")
    parser.add_argument("--full", action="store_true", help="the size of the paper")
    parser.add_argument("--outlier", type=int, default=0, metavar="OCTAVES")
    options = parser.parse_args()
    if options.short and options.until:
        parser.error("--until is for whole runs, and not for --short")
    if options.outlier and options.model != "gpt2":
        parser.error("--outlier is for the model gpt2")
    if options.full and options.model in DECODERS:
        parser.error("--full is for gpt2 and bert: no paper has the other models")
    return options


def trainings(options: argparse.Namespace) -> Training:
    """Returns the training that is asked for."""
    if options.model in DECODERS:
        return decoders.training(DECODERS[options.model])
    if options.model == "bert":
        return bert.training(bert.FULL if options.full else bert.SMALL)
    config = FULL if options.full else SMALL
    return planted_model(options.outlier, config) if options.outlier else language_model(config)


def _model(options: argparse.Namespace) -> str:
    """Returns the name of the model in files; that of the size of a paper is another."""
    return f"{options.model}-full" if options.full else str(options.model)


def main() -> int:
    """Trains all, and prints a row for each."""
    options = parsed()
    training = trainings(options)
    sample = (*training.state(0), *next(training.batches(0, 1)))
    program = jax.export.export(jax.jit(training.step))(*sample)
    original = jax.jit(program.call)
    step = cache(lambda name: compiled(program, name, sample))
    (_short_runs if options.short else _whole_runs)(options, training, step, original)
    return 0


def _whole_runs(options: argparse.Namespace, training: Training, step: Step, original: Any) -> None:
    """Trains seed by seed, and prints the gaps at the end."""
    contenders = [NUDGED, *options.contenders]
    setting = {"steps": options.steps, "outlier": options.outlier}
    if _model(options) != "gpt2":
        setting["model"] = _model(options)
    losses = Losses(options.output, setting)

    def loss(name: str, seed: int) -> float:
        begun = nudged(training) if name == NUDGED else training
        mine = Compiled(original) if name in (EXACT, NUDGED) else step(name)
        return last_loss(train(mine.run, mine.begun(begun), seed, options.steps))

    for seed in range(options.first, options.first + options.seeds):
        for name in (EXACT, *contenders):
            losses.find(name, seed, partial(loss, name, seed))
        if all(standard_error(losses.gaps(name)) <= options.until for name in contenders):
            break
    exact = losses.exact()
    print(f"f32: {statistics.mean(exact):.4f}, {options.steps} steps, {len(exact)} seeds")
    for name in contenders:
        _print_gaps(name, losses.gaps(name))


def _print_gaps(name: str, gaps: Sequence[float]) -> None:
    """Prints the mean of gaps, its error, and the gap of each seed."""
    each = " ".join(f"{gap:+.3f}" for gap in gaps)
    print(f"{name}: {statistics.mean(gaps):+.4f} +- {standard_error(gaps):.4f} ({each})")


def _short_runs(options: argparse.Namespace, training: Training, step: Step, original: Any) -> None:
    """Prints the gaps of short runs."""
    seeds = range(options.first, options.first + options.seeds)
    exact = [train(original, training, seed, options.steps) for seed in seeds]
    mean = statistics.mean(map(last_loss, exact))
    print(f"f32: {mean:.4f}, {options.steps} steps, {options.seeds} seeds")
    setting = {each: getattr(options, each) for each in ("outlier", "steps", "seeds")}
    setting["model"] = _model(options)
    for name in options.contenders:
        runs = dict(zip(seeds, exact, strict=True))
        found = _print_short(name, step(name), training, runs)
        if options.output:
            append(options.output, {"contender": name, **setting, "f32": mean, **found})


def _print_short(
    name: str, step: Compiled, training: Training, exact: Mapping[int, Trajectory]
) -> dict[str, float]:
    """Prints the gaps at the end of short runs from states of f32, and returns the figures."""
    gaps: list[float] = []
    for seed, one in exact.items():
        begun = replace(one, states=list(map(step.stored, one.states)))
        found = short_gaps(step.run, training, seed, len(one.losses), begun)
        gaps += list(found)[FIRST_RUNS:]
    mean, error = statistics.mean(gaps), standard_error(gaps)
    size = statistics.median(map(abs, gaps))
    print(f"{name}: {mean:+.5f} +- {error:.5f}, magnitude {size:.5f}", flush=True)
    return {"gap": mean, "error": error, "magnitude": size}


if __name__ == "__main__":
    sys.exit(main())
