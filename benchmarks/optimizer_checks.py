"""The bounds of `benchmarks.optimizers`: the worst figures of a configuration, and which hold."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.optimizer_runs import Floats, Original, Rewritten, Trace
from scalify_hlo.recipes.loading import load_recipe

NARROW_RMS = 8.0
"""How far log2 of the rms of narrow state may be from 0."""

WIDE_RMS = 8.0
"""How many octaves further from unit f32 data may be than their values are."""

SATURATED = 1e-3
"""The largest share of saturated elements of a matmul's operand."""

MOMENTS, PACKED_MOMENTS = 0.1, 0.27
"""The largest relative error of the amax of a moment. With scales of blocks, its root is rounded to
one of the two numbers of E4M3 next to it, which differ by up to an eighth."""

LOSS = 0.02
"""The largest difference of the mean last loss from that of f32, over the initial loss."""

FIRST_LOSSES, FIRST = 1e-5, 20
"""The largest relative difference of each of the first losses under `propagate`."""

_LAST = 10
"""Losses are means of the last tenth of all steps."""

_NUDGES, _FIRST_NUDGES = 3, 8
"""The numbers of nudged trainings that f32's own spread is taken from: over all seeds, and for the
first losses of each."""


@dataclass(frozen=True)
class Figure:
    """The worst of one measurement.

    Attributes:
        value: How bad.
        bound: The most it may be.
        where: The value, step and seed it was seen at.
    """

    value: float
    bound: float
    where: str = ""

    @property
    def holds(self) -> bool:
        """Whether the bound is kept; NaN keeps none."""
        return bool(self.value <= self.bound)


def figures(
    original: Original, rewritten: Rewritten, traces: Mapping[int, Trace], recipe: str
) -> dict[str, Figure]:
    """Every check of a configuration, by name.

    Args:
        original: The training in f32.
        rewritten: The training under a recipe.
        traces: What it gave, by seed.
        recipe: The preset's name.
    """
    found = {
        "narrow-rms": _worst(traces, _narrow_rms(rewritten), rewritten.leaves, NARROW_RMS),
        "narrow-full": _worst(traces, _narrow_saturated(rewritten), rewritten.leaves, 0),
        "wide-rms": _worst(traces, _wide_excess(rewritten), rewritten.leaves, WIDE_RMS),
        "scales": _worst(traces, lambda t: ~np.isfinite(t.scales), rewritten.leaves, 0),
        "operands": _worst(traces, lambda t: t.operands, rewritten.operands, SATURATED),
        "moments": _moments(traces, rewritten.moments, _bound_of_moments(recipe)),
        "loss": _loss(original, traces),
    }
    if recipe == "propagate":
        found["first-losses"] = _first_losses(original, rewritten, traces)
    return found


def _narrow_rms(rewritten: Rewritten) -> Callable[[Trace], Floats]:
    return lambda t: np.where(rewritten.narrow & (t.rms > -np.inf), np.abs(t.rms), 0)


def _narrow_saturated(rewritten: Rewritten) -> Callable[[Trace], Floats]:
    return lambda t: np.where(rewritten.narrow, t.saturated, 0)


def _wide_excess(rewritten: Rewritten) -> Callable[[Trace], Floats]:
    def excess(trace: Trace) -> Floats:
        # A leaf with an infinite element or scale is as far from unit as can be.
        with np.errstate(invalid="ignore"):
            further = np.abs(trace.rms) - np.abs(trace.rms + trace.scales)
        further = np.where(np.isfinite(trace.scales), further, np.inf)
        further = np.where(trace.saturated > 0, np.inf, further)
        return np.where(~rewritten.narrow & (trace.rms > -np.inf), further, 0)

    return excess


def _worst(
    traces: Mapping[int, Trace],
    measure: Callable[[Trace], Any],
    names: Sequence[str],
    bound: float,
) -> Figure:
    """The largest of an array of steps by names; NaN is larger than all."""
    worst = Figure(0.0, bound)
    for seed, trace in traces.items():
        table = np.asarray(measure(trace), np.float64)
        if not table.size:
            continue
        table = np.where(np.isnan(table), np.inf, table)
        row, column = map(int, np.unravel_index(table.argmax(), table.shape))
        if table[row, column] > worst.value:
            at = trace.at if len(trace.at) == len(table) else np.arange(len(table))
            where = f"{names[column]}, step {at[row]} of seed {seed}"
            beyond = table > bound
            if beyond.any():
                first = at[beyond[:, column].argmax()]
                where += f", {beyond.any(axis=0).sum()} such, this one from step {first}"
            worst = Figure(float(table[row, column]), bound, where)
    return worst


def _bound_of_moments(recipe: str) -> float:
    return PACKED_MOMENTS if load_recipe(recipe).state.blocked else MOMENTS


def _moments(traces: Mapping[int, Trace], names: Sequence[str], bound: float) -> Figure:
    worst = Figure(0.0, bound)
    for seed, trace in traces.items():
        for step, pairs in trace.moments.items():
            for name, (found, expected) in zip(names, pairs, strict=True):
                if found == expected:
                    continue
                error = abs(found - expected) / expected if expected else math.inf
                error = math.inf if math.isnan(error) else error
                if error > worst.value:
                    where = f"{name}, step {step} of seed {seed}: {found:.3g}, f32 {expected:.3g}"
                    worst = Figure(error, bound, where)
    return worst


def _last(losses: Floats) -> float:
    last = losses[-max(1, len(losses) // _LAST) :]
    return float(np.mean(last)) if np.isfinite(last).all() else math.nan


def _loss(original: Original, traces: Mapping[int, Trace]) -> Figure:
    """The difference of mean losses; the bound is f32's own spread where that is more."""
    references = {seed: original.losses(seed) for seed in traces}
    initial = float(np.mean([losses[0] for losses in references.values()]))
    gaps = [_last(trace.losses) - _last(references[seed]) for seed, trace in traces.items()]
    gap = float(np.mean(gaps)) / initial
    bound, where = LOSS, f"{gap:+.2%} of {initial:.3g}"
    if np.isfinite(gap) and abs(gap) > LOSS:
        spread = _spread(original, references) / initial
        bound, where = max(LOSS, spread), f"{where}, f32's spread is {spread:.2%}"
    return Figure(abs(gap), bound, where)


def _spread(original: Original, references: Mapping[int, Floats]) -> float:
    """The furthest that the last loss moves when the first parameters are nudged."""
    each = max(1, _NUDGES // len(references))
    return max(
        abs(_last(original.losses(seed, nudge)) - _last(losses))
        for seed, losses in references.items()
        for nudge in range(1, each + 1)
    )


def _first_losses(original: Original, rewritten: Rewritten, traces: Mapping[int, Trace]) -> Figure:
    """The largest difference of a first loss; of seeds, that which is furthest beyond its bound.

    XLA rounds what it fuses otherwise than what it does not, and fuses a rewritten program
    differently. A training may amplify that: then one unit in the last place of the parameters
    moves the original's own losses as far. Only where the losses are within the bound when XLA
    fuses nothing, so that the rewrite has no part in the difference, is that spread the bound.
    """
    worst = Figure(0.0, FIRST_LOSSES)
    for seed, trace in traces.items():
        expected = original.losses(seed)[:FIRST]
        errors = _relative(trace.losses[:FIRST], expected)
        error, bound, where = float(errors.max()), FIRST_LOSSES, ""
        if np.isfinite(error) and error > FIRST_LOSSES:
            apart = _unfused(original, rewritten, seed, len(expected))
            where = f", {apart:.1e} without fusion"
            if apart <= FIRST_LOSSES:
                spread = _first_spread(original, seed, expected)
                bound, where = max(bound, spread), f"{where}, f32's spread is {spread:.1e}"
        if error / bound > worst.value / worst.bound:
            worst = Figure(error, bound, f"step {errors.argmax()} of seed {seed}{where}")
    return worst


def _relative(losses: Floats, expected: Floats) -> Floats:
    """The relative difference of each loss; infinite where one is NaN."""
    errors = np.abs(losses - expected) / np.abs(expected)
    return np.where(np.isnan(errors), np.inf, errors)


def _unfused(original: Original, rewritten: Rewritten, seed: int, steps: int) -> float:
    """The largest relative difference of the first losses when XLA fuses nothing."""
    losses = rewritten.unfused_losses(seed, steps)
    return float(_relative(losses, original.unfused_losses(seed, steps)).max())


def _first_spread(original: Original, seed: int, expected: Floats) -> float:
    """The furthest that a first loss moves, relatively, when parameters move by one ulp."""
    nudged = [original.first_losses(seed, n + 1, len(expected)) for n in range(_FIRST_NUDGES)]
    return max(float(_relative(losses, expected).max()) for losses in nudged)
