"""Gradients of small programs under predicted sizes, against those under measured scales.

    python -m benchmarks.small_programs                     # all, under fp8 and unit
    python -m benchmarks.small_programs models --only siren maml --recipe fp16
    python -m benchmarks.small_programs activations losses

The groups of programs:

activations  two layers with one of 30 activations, five losses, weights of three sizes
losses       two layers with one of two activations, 30 losses, last weights of four sizes
models       29 small architectures, inputs of four sizes

Each program computes the gradients of its weights. It is rewritten as it comes, and with the
measured scales of its inputs declared. Signal-to-noise ratios of gradients, in dB, are compared
with those under `fp8-current`, which measures all scales. A line is printed for each rewritten
program that misses the bound.

Bounds, for each gradient: under `fp8` and `unit` 13 dB, or the ratio of `fp8-current` if that is
lower, less 1.5 dB; under `fp16` 45 dB, or the ratio of `fp8-current` plus 15 dB if that is lower. A
gradient of zeros has no ratio. Programs with gradients that are not finite, or with zeros only, are
left out. Exit code 1 if a bound is missed.
"""

import argparse
import itertools
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.export
import numpy as np
from jax import nn

import scalify_hlo
from benchmarks.common import Row, report
from benchmarks.numerics import snr
from benchmarks.small_programs.activations import ACTIVATIONS, Activation
from benchmarks.small_programs.losses import COLUMNS, LOSSES, ROWS, SIMPLE_LOSSES, OutputLoss
from benchmarks.small_programs.models import BATCH, MODELS, WIDTH, Array, Loss, normal

REFERENCE = "fp8-current"
RECIPES = ("fp8", "unit", "fp16")
"""The recipes with predicted sizes."""

DEFAULT = ("fp8", "unit")
"""The recipes that are measured if none is named."""

ENOUGH, ROOM = 13.0, 1.5
"""The ratio in dB that a recipe with 8 bits has to keep, and the room below it."""

ENOUGH_F16, GAIN_F16 = 45.0, 15.0
"""The ratio in dB that `fp16` has to keep, and what is enough above `fp8-current`."""

ACTIVATION_SIZES = (0.09, 1.0, 8.0)
"""The rms of both weights."""

LOSS_SIZES = (0.09, 1.0, 8.0, 1e-4)
"""The rms of the second weight."""

FIRST_SIZE = 0.09
"""The rms of the first weight under `losses`."""

MODEL_SIZES = (1.0, 1e3, 1e-3, 30.0)
"""The rms of inputs."""

LOSS_ACTIVATIONS: Mapping[str, Activation] = {"relu": nn.relu, "gelu": nn.gelu}


class Program(NamedTuple):
    """A loss whose gradients are taken.

    Attributes:
        name: What is printed.
        size: The size that changes from program to program.
        loss: Takes the parameters and the inputs.
        parameters: What the gradients are taken by.
        inputs: The other argument.
    """

    name: str
    size: float
    loss: Loss
    parameters: Any
    inputs: Array


class Group(NamedTuple):
    """Programs of one kind.

    Attributes:
        names: The names that `--only` takes.
        programs: Makes the programs of a name.
    """

    names: Collection[str]
    programs: Callable[[str], Iterator[Program]]


def _weights(first: float, second: float) -> list[Array]:
    """Weights of two layers, of given rms."""
    seeds = {20: first, 21: second}
    return [normal(seed, COLUMNS, COLUMNS, divisor=1) * rms for seed, rms in seeds.items()]


def _after_both(activation: Activation, loss: OutputLoss) -> Loss:
    """Two layers, each followed by an activation."""

    def total(parameters: Any, x: jax.Array) -> jax.Array:
        for weight in parameters:
            x = activation(x @ weight)
        return loss(x)

    return total


def _between(activation: Activation, loss: OutputLoss) -> Loss:
    """Two layers with an activation between them."""

    def total(parameters: Any, x: jax.Array) -> jax.Array:
        return loss(activation(x @ parameters[0]) @ parameters[1])

    return total


def _of_activation(name: str) -> Iterator[Program]:
    """The programs with an activation."""
    inputs = normal(9, ROWS, COLUMNS, divisor=1)
    for (label, loss), size in itertools.product(SIMPLE_LOSSES.items(), ACTIVATION_SIZES):
        total = _after_both(ACTIVATIONS[name], loss)
        yield Program(f"{name}, {label}", size, total, _weights(size, size), inputs)


def _of_loss(name: str) -> Iterator[Program]:
    """The programs with a loss."""
    inputs = normal(9, ROWS, COLUMNS, divisor=1)
    for (label, activation), size in itertools.product(LOSS_ACTIVATIONS.items(), LOSS_SIZES):
        total = _between(activation, LOSSES[name])
        yield Program(f"{name}, {label}", size, total, _weights(FIRST_SIZE, size), inputs)


def _of_model(name: str) -> Iterator[Program]:
    """The programs of an architecture."""
    loss, parameters = MODELS[name]()
    numbers = np.random.default_rng(1).normal(size=(BATCH, WIDTH))
    for size in MODEL_SIZES:
        yield Program(name, size, loss, parameters, (numbers * size).astype(np.float32))


GROUPS: Mapping[str, Group] = {
    "activations": Group(ACTIVATIONS, _of_activation),
    "losses": Group(LOSSES, _of_loss),
    "models": Group(MODELS, _of_model),
}


def least(recipe: str, reference: float) -> float:
    """The least ratio in dB for a gradient whose ratio under `fp8-current` is `reference`.

    A gradient of which that leaves nothing is one of terms that cancel, and has no bound.
    """
    if reference <= 0.0:
        return -np.inf
    if recipe == "fp16":
        return min(ENOUGH_F16, reference + GAIN_F16)
    return min(ENOUGH, reference) - ROOM


def measure(program: Program, recipes: Sequence[str]) -> set[str] | None:
    """Prints a line for each miss of a program.

    Returns:
        The recipes that miss the bound, or None if the gradients are no reference.
    """
    arguments = (program.parameters, program.inputs)
    exported = jax.export.export(jax.jit(jax.grad(program.loss)))(*arguments)
    exact = _gradients(exported, arguments)
    kept = [i for i, gradient in enumerate(exact) if gradient.any()]
    if not kept or not all(np.isfinite(gradient).all() for gradient in exact):
        return None

    def ratios(recipe: str, scales: Mapping[str, float] | None) -> list[float]:
        rewritten = scalify_hlo.rewrite(exported, recipe=recipe, input_scale=scales)
        found = _gradients(rewritten, arguments)
        return [snr(found[i], exact[i]) for i in kept]

    reference = ratios(REFERENCE, None)
    declared = scalify_hlo.measured_scales(exported, *arguments)
    missed = set()
    for recipe, scales in itertools.product(recipes, (None, declared)):
        found = ratios(recipe, scales)
        pairs = zip(found, reference, strict=True)
        if any(ratio < least(recipe, other) for ratio, other in pairs):
            missed.add(recipe)
            how = "undeclared" if scales is None else "declared"
            print(_line(program, f"{recipe:5}{how:11}", found, reference), flush=True)
    return missed


def _gradients(exported: jax.export.Exported, arguments: tuple[Any, ...]) -> list[Any]:
    """The gradients that a program returns, in f64."""
    return [np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(exported.call(*arguments))]


def _line(program: Program, how: str, found: Sequence[float], reference: Sequence[float]) -> str:
    """A miss."""
    figures, others = (" ".join(f"{x:.1f}" for x in ratios) for ratios in (found, reference))
    return f"{program.name:38}{program.size:<7g}{how}{figures} dB ({REFERENCE} {others})"


def _chosen(groups: Sequence[str], only: Sequence[str]) -> Iterator[Program]:
    """The programs to measure; what jax has compiled for one name is forgotten at the next."""
    for group in groups:
        for name in GROUPS[group].names:
            if not only or name in only:
                jax.clear_caches()
                yield from GROUPS[group].programs(name)


def _options() -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--recipe", nargs="+", choices=RECIPES, default=list(DEFAULT))
    options = parser.parse_args()
    if unknown := [group for group in options.groups if group not in GROUPS]:
        parser.error(f"no group is named {unknown[0]!r}; the groups are: {', '.join(GROUPS)}")
    options.groups = options.groups or list(GROUPS)
    names = [name for group in options.groups for name in GROUPS[group].names]
    if unknown := [name for name in options.only if name not in names]:
        parser.error(f"nothing is named {unknown[0]!r}; the names are: {', '.join(names)}")
    return options


def main() -> int:
    """Measures the programs that are named, or all."""
    options = _options()
    warnings.filterwarnings("ignore")
    found = [measure(program, options.recipe) for program in _chosen(options.groups, options.only)]
    measured = [missed for missed in found if missed is not None]
    return report(
        "Small programs with predicted sizes",
        [
            Row("programs", len(measured), form=".0f"),
            Row(
                "left out: gradients not finite, or zeros only",
                len(found) - len(measured),
                form=".0f",
            ),
            *(
                Row(f"that miss the bound, {recipe}", sum(recipe in x for x in measured), 0, ".0f")
                for recipe in options.recipe
            ),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
