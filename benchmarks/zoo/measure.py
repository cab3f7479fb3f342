"""Trains a model of the zoo in f32 and under recipes, and compares the last losses."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import scalify_hlo
from benchmarks.beside import LAST, NUDGE
from benchmarks.models.model import Training

SIGNATURE = {"fp8": "scaled", "fp8-state8": "scaled"}
"""The signature of each recipe, `same` by default: with `scaled`, the state is what it stores."""

_TOLD = 200
"""The last characters of an error: its cause, behind its location."""


@dataclass(frozen=True)
class Trainer:
    """A step that is compiled once, for all seeds.

    Attributes:
        run: ``(state, *batch) -> (state, loss)``.
        given: Converts a tuple of first arguments to those of `run`.
        batch: Converts a batch.
        narrow: The share of the matmuls' FLOPs in low precision; NaN if it is not known.
        statistics: The reductions that a rewrite added.
    """

    run: Callable[..., Any]
    given: Callable[[Any], Any] = lambda state: state
    batch: Callable[[Any], Any] = lambda batch: batch
    narrow: float = 0.0
    statistics: int = 0

    def losses(self, training: Training, steps: int, nudge: float = 0.0) -> Any:
        """The losses of a training, in f64.

        Args:
            training: The model, from its first state on.
            steps: How many.
            nudge: The relative change of its first state.
        """
        state = self.given(jax.tree.map(lambda leaf: _nudged(leaf, nudge), training.state))
        found = []
        for number in range(steps):
            state, loss = self.run(state, *self.batch(training.batch(number)))
            found.append(float(scalify_hlo.asarray(loss)))
        return np.asarray(found)


def _nudged(leaf: Any, nudge: float) -> jax.Array:
    array = jnp.asarray(leaf)
    return array * (1 + nudge) if jnp.issubdtype(array.dtype, jnp.floating) else array


def exported_of(training: Training) -> jax.export.Exported:
    """Exports the step of a training for the CPU."""
    example = (training.state, *training.batch(0))
    return jax.export.export(jax.jit(training.step), platforms=["cpu"])(*example)


def trainer(exported: jax.export.Exported, training: Training, recipe: str) -> Trainer:
    """Rewrites and compiles a step under a recipe, with the measured scales of its inputs."""
    options: dict[str, Any] = {"signature": SIGNATURE.get(recipe, "same")}
    scaled = options["signature"] == "scaled"
    if not scaled:
        example = (training.state, *training.batch(0))
        options["input_scale"] = scalify_hlo.measured_scales(exported, *example)
    program, report = scalify_hlo.rewrite(exported, recipe=recipe, report=True, **options)
    share = report.totals.flops
    found = {"narrow": math.nan if share is None else share, "statistics": report.statistics}
    run = jax.jit(program.call)
    if not scaled:
        return Trainer(run, **found)

    @jax.jit  # by itself it compiles each op of it
    def given(state: Any) -> Any:
        return scalify_hlo.scaled_state(program, (state,))[0]

    return Trainer(run, given, scalify_hlo.as_scaled_array, **found)


@dataclass(frozen=True)
class Line:
    """A model under one recipe.

    Attributes:
        recipe: Its name.
        gap: The mean of the last losses less that of f32, over the initial loss.
        spread: The same of f32 with a first state that is nudged, without a sign.
        narrow: The share of the matmuls' FLOPs in low precision.
        statistics: The reductions that the recipe added.
        fell: The mean of the last losses of f32, over the initial loss.
        failure: The error of the rewrite or of its run, in a line; the gap is NaN then.
    """

    recipe: str
    gap: float
    spread: float
    narrow: float
    statistics: int
    fell: float
    failure: str = ""


def lines(
    make: Callable[[int], Training], recipes: tuple[str, ...], seeds: int, steps: int
) -> Iterator[Line]:
    """Trains under each recipe from the weights of each seed, and yields what was found."""
    trainings = [make(seed) for seed in range(seeds)]
    exported = exported_of(trainings[0])
    f32 = Trainer(jax.jit(exported.call))
    curves = np.array([f32.losses(each, steps) for each in trainings])
    initial, last = np.abs(curves[:, 0]).sum(), curves[:, -LAST:].mean(axis=1).sum()

    def gap(run: Trainer, nudge: float = 0.0) -> float:
        found = np.array([run.losses(each, steps, nudge) for each in trainings])
        return float((found[:, -LAST:].mean(axis=1).sum() - last) / initial)

    spread = abs(gap(f32, NUDGE))
    fell = float(last / initial)
    for recipe in recipes:
        try:
            run = trainer(exported, trainings[0], recipe)
            yield Line(recipe, gap(run), spread, run.narrow, run.statistics, fell)
        except Exception as error:
            told = f"{type(error).__name__}: {str(error)[-_TOLD:]}".replace("\n", " ")
            yield Line(recipe, math.nan, spread, math.nan, 0, fell, told)
