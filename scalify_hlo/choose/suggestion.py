"""The suggestion of a recipe, with its reason as one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scalify_hlo.choose.model import Trial
from scalify_hlo.choose.results import GRADIENT, MOMENT, OUTPUT, UPDATE
from scalify_hlo.results.decibels import written

_NAMED: Final = 2
"""The most sites that a suggestion names."""

_KINDS: Final = {
    OUTPUT: "outputs",
    GRADIENT: "gradients",
    MOMENT: "changes of first moments",
    UPDATE: "changes of weights",
}


def suggest(trials: Sequence[Trial], kinds: Sequence[str], snr_db: float) -> tuple[str, str]:
    """Returns the cheapest recipe whose results are good enough, and the reason.

    Recipes that save nothing, such as ``propagate``, are not suggested.

    Args:
        trials: The recipes.
        kinds: The kinds of results by which they are judged.
        snr_db: The least signal-to-noise ratio of these in dB.

    Returns:
        The name of the recipe, which is empty if there is none, and a sentence.
    """
    ran = [trial for trial in trials if not trial.reason and trial.saves]
    if not ran:
        return "", "none: no recipe that the program takes has a matmul or state in low precision"
    good = [trial for trial in ran if trial.passes(kinds, snr_db)]
    need = f"{snr_db:g} dB in all {' and '.join(_KINDS[kind] for kind in kinds)}"
    if not good:
        best = max(ran, key=lambda trial: _least(trial, kinds))
        return "", f"none: no recipe has {need}; the nearest is {best.name}, {_reason(best, kinds)}"
    chosen = min(good, key=lambda trial: trial.cost)
    cheaper = [t for t in ran if t.cost < chosen.cost and not t.passes(kinds, snr_db)]
    text = f"{chosen.name}: the cheapest with {need}, "
    if not cheaper:
        return chosen.name, text + _reason(chosen, kinds)
    nearest = max(cheaper, key=lambda trial: _least(trial, kinds))
    text += f"{_worst(chosen, kinds)}; {nearest.name} is cheaper, {_reason(nearest, kinds)}"
    return chosen.name, text


def _least(trial: Trial, kinds: Sequence[str]) -> float:
    worst = trial.worst(kinds)
    return float("inf") if worst is None else worst.snr_db


def _reason(trial: Trial, kinds: Sequence[str]) -> str:
    """Returns the worst result of a recipe, and the sites with the largest errors."""
    text = _worst(trial, kinds)
    sites = [f"{each.site.name} ({_db(each.snr_db)})" for each in trial.matmuls[:_NAMED]]
    return f"{text}, decided by {' and '.join(sites)}" if sites else text


def _worst(trial: Trial, kinds: Sequence[str]) -> str:
    worst = trial.worst(kinds)
    return "without float results" if worst is None else f"with {_db(worst.snr_db)} in {worst.name}"


def _db(snr_db: float) -> str:
    text = written(snr_db)
    return f"{text} dB" if text[-1].isdigit() else text
