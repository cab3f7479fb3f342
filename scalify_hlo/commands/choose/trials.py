"""The data of comparisons of recipes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple, TypeAlias

from scalify_hlo.commands.choose.results import Judged, ResultError
from scalify_hlo.commands.choose.sites import SiteError
from scalify_hlo.results.kinds import (
    SOME,
    Count,
    Finite,
    Microseconds,
    Ratio,
    Several,
    Share,
    Words,
)
from scalify_hlo.results.model import dump, keys, result
from scalify_hlo.results.shown import Shown

_IN_FP32: Final = 32.0

Losses: TypeAlias = tuple[tuple[Finite, ...], ...]
"""The loss of each step, for each seed."""


@dataclass(frozen=True)
class Trial:
    """A recipe on a program.

    Attributes:
        name: The name of the recipe as it was given.
        recipe: The rewrite in words; empty if it failed.
        reason: The reason why the program cannot take the recipe, as a sentence; empty if it can.
        results: The errors of the float results in the first step.
        matmuls: The errors that matmuls make by the casts of their operands, the largest first.
        losses: The loss of each step, for each seed; empty if the program has no loss.
        fp8: The share of matmuls with operands of at most 8 bits; None without matmuls.
        narrow: The share of matmuls in low precision; None without matmuls.
        bits: The mean bits of an element of matmul operands; None without matmuls.
        statistics: The number of statistics that the program takes at run time.
        state: The bytes of state over those of the original; None without state.
        seconds: The estimated time of the matmuls on a device; None without a device, or if the
            size of a matmul is not known.
        memory: The bytes that the rewrite has in memory at the peak; None if that was not asked
            for.
    """

    name: str
    recipe: str = ""
    reason: str = ""
    results: tuple[ResultError, ...] = ()
    matmuls: tuple[SiteError, ...] = ()
    losses: Losses = ()
    fp8: Share | None = None
    narrow: Share | None = None
    bits: Ratio | None = None
    statistics: Count = 0
    state: Ratio | None = None
    seconds: Microseconds | None = None
    memory: Count | None = None

    @property
    def saves(self) -> bool:
        """Whether it has matmuls or state in low precision."""
        return bool(self.narrow) or (self.state is not None and self.state < 1)

    @property
    def cost(self) -> tuple[float, float, float]:
        """The bits of matmul operands, the statistics, and the bytes of state: smaller is first."""
        bits = _IN_FP32 if self.bits is None else round(self.bits, 1)
        return bits, self.statistics, 1.0 if self.state is None else round(self.state, 2)

    def worst(self, kinds: Iterable[str]) -> ResultError | None:
        """Returns the result with the largest error.

        Args:
            kinds: The kinds of results.

        Returns:
            The result; None if there is none of these kinds.
        """
        chosen = set(kinds)
        found = (each for each in self.results if each.kind in chosen)
        return min(found, key=lambda each: each.snr_db, default=None)

    def passes(self, kinds: Iterable[str], snr_db: float) -> bool:
        """Whether results have a signal-to-noise ratio that is high enough.

        Args:
            kinds: The kinds of results.
            snr_db: The least ratio in dB.

        Returns:
            Whether all results of these kinds have it; False if the recipe was not run.
        """
        worst = self.worst(kinds)
        return not self.reason and (worst is None or worst.snr_db >= snr_db)


class Refused(NamedTuple):
    """A recipe that the program cannot take.

    Attributes:
        name: The name of the recipe as it was given.
        reason: The reason, as a sentence.
    """

    name: str
    reason: str


@keys(
    "*trial(name) reason *trial(recipe) passes *trial(fp8 narrow operand_bits=bits statistics "
    "state_bytes=state us=seconds memory losses results matmuls)"
)
class Ran(NamedTuple):
    """A recipe that was run.

    Attributes:
        trial: The recipe.
        passes: Whether its results have the signal-to-noise ratio that a recipe needs.
        reason: None, as the program can take it.
    """

    trial: Trial
    passes: bool
    reason: None = None


WITHIN: Final = 0.02
"""The share of the first loss by which the last loss of a recipe may be larger by default."""


@result("scalify-hlo compare", version=1)
@keys(
    "program hash steps carry snr_db within judged loss losses target us=seconds unknown_turns "
    "memory recipes suggested suggestion"
)
@dataclass(frozen=True)
class Comparison(Shown):
    """A comparison of recipes on a program; `dump_comparison` makes JSON of it.

    Attributes:
        program: The name of the program.
        hash: Its structural hash, as in a profile.
        steps: The number of steps.
        carry: Whether state was passed on from step to step.
        snr_db: The signal-to-noise ratio in dB that a recipe needs; None if it needs a loss.
        within: The share of the first loss by which the last loss may be larger; None if a recipe
            needs a ratio.
        judged: The kinds of results by which recipes are judged.
        loss: The name of the result that is the loss; empty without one.
        losses: The loss of the original in each step, for each seed.
        trials: The recipes, as they were given.
        suggested: The name of the suggested recipe; empty if there is none.
        suggestion: The suggestion with its reason, as a sentence.
        target: The device for which times are estimated; empty without one.
        seconds: The estimated time of the matmuls of the original; see `Trial`.
        unknown_turns: The number of matmuls in loops of unknown length, which count as one turn in
            all times; 0 without a device.
        memory: The bytes that the original has in memory at the peak; see `Trial`.
    """

    DUMP = "commands.choose.trials.dump_comparison"
    LINES = "cli.compare.lines"
    ROWS = "recipes"

    program: str
    hash: str
    steps: Several
    carry: bool
    snr_db: float | None
    within: float | None
    judged: Judged
    loss: Words
    losses: Losses
    trials: tuple[Trial, ...]
    suggested: Words
    suggestion: str
    target: Words = ""
    seconds: Microseconds | None = None
    unknown_turns: Count = 0
    memory: Count | None = None

    def __repr__(self) -> str:
        trials = [trial.name for trial in self.trials]
        suggested = f"suggested={self.suggested!r}"
        return f"Comparison(program={self.program!r}, trials={trials}, {suggested})"

    @property
    def recipes(self) -> Annotated[tuple[Refused | Ran, ...], SOME]:
        """The recipes as JSON has them."""
        return tuple(
            Refused(trial.name, trial.reason) if trial.reason else Ran(trial, self.passes(trial))
            for trial in self.trials
        )

    def passes(self, trial: Trial) -> bool:
        """Returns whether a recipe is good enough.

        Args:
            trial: The recipe.

        Returns:
            Whether its results have the ratio in dB, or its last loss is within the share.
        """
        if self.snr_db is not None:
            return trial.passes(self.judged, self.snr_db)
        gap = self.gap(trial)
        return gap is not None and self.within is not None and gap <= self.within

    def gap(self, trial: Trial) -> float | None:
        """Returns the change of the last loss as a share of the first loss.

        Args:
            trial: The recipe.

        Returns:
            The share; None if it is not finite.
        """
        first = sum(abs(losses[0]) for losses in self.losses) / len(self.losses)
        change = self.loss_change(trial, -1)
        gap = math.nan if change is None or not first else change / first
        return gap if math.isfinite(gap) else None

    def loss_change(self, trial: Trial, step: int = 0) -> float | None:
        """Returns the loss of a recipe less that of the original: the mean over seeds.

        Args:
            trial: The recipe.
            step: The number of the step; -1 for the last.

        Returns:
            The difference; None if there is no loss, or the recipe was not run.
        """
        changes = self.loss_changes(trial, step)
        return sum(changes) / len(changes) if changes else None

    def loss_changes(self, trial: Trial, step: int = 0) -> list[float]:
        """Returns the loss of a recipe less that of the original for each seed.

        Args:
            trial: The recipe.
            step: The number of the step; -1 for the last.
        """
        pairs = zip(trial.losses, self.losses, strict=False)
        return [mine[step] - theirs[step] for mine, theirs in pairs]

    @property
    def spread(self) -> float | None:
        """The standard deviation of the original's last loss over seeds; None for one seed."""
        last = [losses[-1] for losses in self.losses]
        if len(last) < 2:
            return None
        mean = sum(last) / len(last)
        return math.sqrt(sum((loss - mean) ** 2 for loss in last) / (len(last) - 1))


def dump_comparison(comparison: Comparison) -> str:
    """Returns a comparison as JSON.

    Args:
        comparison: The comparison.

    Returns:
        An object with the name of its ``format`` and its ``version``; `json_schema` returns its
        JSON Schema.
    """
    return dump(comparison)
