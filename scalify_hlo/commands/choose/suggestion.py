"""The suggestion of a recipe after a comparison, with its reason as one sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from scalify_hlo.commands.choose.results import GRADIENT, MOMENT, OUTPUT, UPDATE
from scalify_hlo.commands.choose.trials import Comparison, Trial
from scalify_hlo.results.decibels import written

_NAMED: Final = 2
"""The most sites that a suggestion names."""

_KINDS: Final = {
    OUTPUT: "outputs",
    GRADIENT: "gradients",
    MOMENT: "changes of first moments",
    UPDATE: "changes of weights",
}


class Judge(Protocol):
    """Says which recipes are good enough.

    Attributes:
        need: The words for what a recipe needs.
    """

    @property
    def need(self) -> str:
        """The words for what a recipe needs."""

    def margin(self, trial: Trial) -> float:
        """Returns by how much a recipe has more than it needs; negative if it has less."""

    def told(self, trial: Trial) -> str:
        """Returns what a recipe has, in words."""


@dataclass(frozen=True)
class BySnr:
    """Judges recipes by the signal-to-noise ratio of results of a step.

    Attributes:
        kinds: The kinds of results.
        snr_db: The least ratio in dB.
    """

    kinds: Sequence[str]
    snr_db: float

    @property
    def need(self) -> str:
        """See `Judge`."""
        return f"{self.snr_db:g} dB in all {' and '.join(_KINDS[kind] for kind in self.kinds)}"

    def margin(self, trial: Trial) -> float:
        """See `Judge.margin`."""
        worst = trial.worst(self.kinds)
        return math.inf if worst is None else worst.snr_db - self.snr_db

    def told(self, trial: Trial) -> str:
        """See `Judge.told`."""
        worst = trial.worst(self.kinds)
        if worst is None:
            return "without float results"
        return f"with {_db(worst.snr_db)} in {worst.name}"


@dataclass(frozen=True)
class ByLoss:
    """Judges recipes by the loss after steps of training.

    Attributes:
        found: The comparison.
        within: The share of the first loss by which the last loss may be larger.
    """

    found: Comparison
    within: float

    @property
    def need(self) -> str:
        """See `Judge`."""
        return f"a loss after {self.found.steps} steps within {self.within:.2g} of the first loss"

    def margin(self, trial: Trial) -> float:
        """See `Judge.margin`."""
        gap = self.found.gap(trial)
        return -math.inf if gap is None else self.within - gap

    def told(self, trial: Trial) -> str:
        """See `Judge.told`."""
        gap = self.found.gap(trial)
        return "whose loss is not finite" if gap is None else f"with {gap:+.2g}"


def suggest(trials: Sequence[Trial], judge: Judge) -> tuple[str, str]:
    """Returns the cheapest recipe whose results are good enough, and the reason.

    Recipes that save nothing, such as ``propagate``, are not suggested.

    Args:
        trials: The recipes.
        judge: Says which are good enough.

    Returns:
        The name of the recipe, which is empty if there is none, and a sentence.
    """
    ran = [trial for trial in trials if not trial.reason and trial.saves]
    if not ran:
        return "", "none: no recipe that the program takes has a matmul or state in low precision"
    good = [trial for trial in ran if judge.margin(trial) >= 0]
    if not good:
        best = max(ran, key=judge.margin)
        return "", f"none: no recipe has {judge.need}; the nearest is {best.name}, " + _reason(
            best, judge
        )
    chosen = min(good, key=lambda trial: trial.cost)
    cheaper = [t for t in ran if t.cost < chosen.cost and t not in good]
    text = f"{chosen.name}: the cheapest with {judge.need}, "
    if not cheaper:
        return chosen.name, text + _reason(chosen, judge)
    nearest = max(cheaper, key=judge.margin)
    text += f"{judge.told(chosen)}; {nearest.name} is cheaper, {_reason(nearest, judge)}"
    return chosen.name, text


def _reason(trial: Trial, judge: Judge) -> str:
    """Returns what a recipe has, and the sites with the largest errors."""
    text = judge.told(trial)
    sites = [f"{each.site.name} ({_db(each.snr_db)})" for each in trial.matmuls[:_NAMED]]
    return f"{text}, decided by {' and '.join(sites)}" if sites else text


def _db(snr_db: float) -> str:
    text = written(snr_db)
    return f"{text} dB" if text[-1].isdigit() else text
