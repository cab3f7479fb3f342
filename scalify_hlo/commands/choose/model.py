"""The data of comparisons of recipes, of blamed sites, and of recipes found at a budget."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple, TypeAlias

from scalify_hlo.commands.choose.front import Point
from scalify_hlo.commands.choose.results import LARGEST, OUTPUT, Judged, ResultError
from scalify_hlo.commands.choose.sites import Site, SiteError
from scalify_hlo.recipes.loading import dump_recipe, own_settings
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.recipes.toml import to_toml
from scalify_hlo.results.kinds import (
    SOME,
    Count,
    Decibels,
    Finite,
    Ratio,
    Several,
    Share,
    Size,
    Words,
    one_of,
)
from scalify_hlo.results.model import dump, keys, result
from scalify_hlo.results.shown import Shown

Losses: TypeAlias = tuple[tuple[Finite, ...], ...]
"""The loss of each step, for each seed."""

_GRADIENTS: Final = "gradients"
_IN_FP32: Final = 32.0


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
    "state_bytes=state losses results matmuls)"
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


@result("scalify-hlo compare", version=1)
@keys("program hash steps carry snr_db judged loss losses recipes suggested suggestion")
@dataclass(frozen=True)
class Comparison(Shown):
    """A comparison of recipes on a program; `dump_comparison` makes JSON of it.

    Attributes:
        program: The name of the program.
        hash: Its structural hash, as in a profile.
        steps: The number of steps.
        carry: Whether state was passed on from step to step.
        snr_db: The signal-to-noise ratio in dB that a recipe needs.
        judged: The kinds of results by which recipes are judged.
        loss: The name of the result that is the loss; empty without one.
        losses: The loss of the original in each step, for each seed.
        trials: The recipes, as they were given.
        suggested: The name of the suggested recipe; empty if there is none.
        suggestion: The suggestion with its reason, as a sentence.
    """

    DUMP = "commands.choose.model.dump_comparison"
    LINES = "cli.compare.lines"
    ROWS = "recipes"

    program: str
    hash: str
    steps: Several
    carry: bool
    snr_db: float
    judged: Judged
    loss: Words
    losses: Losses
    trials: tuple[Trial, ...]
    suggested: Words
    suggestion: str

    def __repr__(self) -> str:
        trials = [trial.name for trial in self.trials]
        suggested = f"suggested={self.suggested!r}"
        return f"Comparison(program={self.program!r}, trials={trials}, {suggested})"

    @property
    def recipes(self) -> Annotated[tuple[Refused | Ran, ...], SOME]:
        """The recipes as JSON has them."""
        return tuple(
            Refused(trial.name, trial.reason)
            if trial.reason
            else Ran(trial, trial.passes(self.judged, self.snr_db))
            for trial in self.trials
        )

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


@keys("loss_change=loss narrow results")
@dataclass(frozen=True)
class Effect:
    """The error of a rewrite with some sites in low precision.

    Attributes:
        loss: The loss less that of the original; None without a loss.
        results: The errors of the results by which a recipe is judged.
        narrow: The share of matmuls in low precision; None without matmuls.
    """

    loss: Finite | None
    results: tuple[ResultError, ...]
    narrow: Share | None

    def worst(self, *, outputs: bool) -> ResultError | None:
        """Returns the result with the largest error.

        Args:
            outputs: Whether it is one of the outputs, or else one of the gradients.

        Returns:
            The result; None if there is none.
        """
        found = (each for each in self.results if (each.kind == OUTPUT) == outputs)
        return min(found, key=lambda each: each.snr_db, default=None)

    @property
    def output(self) -> float | None:
        """The signal-to-noise ratio of the worst output in dB; None without any."""
        worst = self.worst(outputs=True)
        return None if worst is None else worst.snr_db

    @property
    def gradient(self) -> float | None:
        """The signal-to-noise ratio of the worst gradient in dB; None without any."""
        worst = self.worst(outputs=False)
        return None if worst is None else worst.snr_db

    def passes(self, snr_db: float) -> bool:
        """Whether all results have a signal-to-noise ratio that is high enough.

        Args:
            snr_db: The least ratio in dB.

        Returns:
            Whether all have it.
        """
        return all(each.snr_db >= snr_db for each in self.results)

    @property
    def noise(self) -> dict[str, float]:
        """The noise over the signal, summed over outputs and over gradients."""
        noise: dict[str, float] = {}
        for each in self.results:
            group = OUTPUT if each.kind == OUTPUT else _GRADIENTS
            noise[group] = noise.get(group, 0.0) + bounded(each)
        return noise


def bounded(error: ResultError) -> float:
    """Returns the noise over the signal, with a bound for results that are lost."""
    return min(error.ratio, LARGEST)


@keys("*site share effect")
@dataclass(frozen=True)
class BlamedSite:
    """A site, and the error that it makes.

    Attributes:
        site: The site.
        share: The share of the error of all sites: the mean of those of outputs and of gradients.
        effect: The error of a rewrite in which only this site is in low precision.
    """

    site: Site
    share: Share
    effect: Effect


@result("scalify-hlo blame", version=1)
@keys(
    "program hash recipe snr_db judged loss whole wide sites rest=(sites=rest share=rest_share) "
    "runs exclude=result.matmul.exclude left_out effect toml"
)
@dataclass(frozen=True)
class Blame(Shown):
    """The sites of a rewrite by the error that they make; `dump_blame` makes JSON of it.

    Attributes:
        program: The name of the program.
        hash: Its structural hash, as in a profile.
        recipe: The name of the recipe.
        snr_db: The signal-to-noise ratio in dB that outputs and gradients need.
        judged: The kinds of results that are compared.
        loss: The loss of the original; None without one.
        whole: The error of the recipe as it is.
        wide: The error of the recipe with all matmuls wide.
        sites: The sites that were measured alone, the largest share first.
        rest: The number of other sites.
        rest_share: Their share of the error.
        runs: The number of programs that were run.
        left_out: The sites that the result leaves wide, the worst first.
        effect: The error without these.
        result: The recipe that leaves them wide.
    """

    DUMP = "commands.choose.model.dump_blame"
    LINES = "cli.blame.lines"
    ROWS = "sites"

    program: str
    hash: str
    recipe: str
    snr_db: float
    judged: Judged
    loss: Finite | None
    whole: Effect
    wide: Effect
    sites: tuple[BlamedSite, ...]
    rest: Count
    rest_share: Share
    runs: Several
    left_out: tuple[Site, ...]
    effect: Effect
    result: Recipe

    def __repr__(self) -> str:
        return f"Blame(recipe={self.recipe!r}, left_out={len(self.left_out)})"

    @property
    def fragment(self) -> str:
        """The part of a TOML file that leaves the worst sites wide."""
        return to_toml({"matmul.exclude": self.result.matmul.exclude})

    @property
    def toml(self) -> str:
        """The whole recipe as a TOML file."""
        return dump_recipe(self.result)


def dump_blame(blame: Blame) -> str:
    """Returns the sites that cost accuracy as JSON.

    Args:
        blame: The sites, as `blame` returned them.

    Returns:
        An object with the name of its ``format`` and its ``version``; `json_schema` returns its
        JSON Schema.
    """
    return dump(blame)


@keys("*site cost by=effect snr_db wide")
@dataclass(frozen=True)
class SearchedSite:
    """A site, and the cost of its casts.

    Attributes:
        site: The site.
        cost: The cost, as a share of the loss.
        effect: The effect from which the cost follows: ``loss``, ``gradients`` or ``noise``.
        snr_db: The signal-to-noise ratio of the result of its casts in dB.
        wide: Whether the found recipe leaves it wide.
    """

    site: Site
    cost: Size
    effect: Annotated[str, one_of(["loss", "gradients", "noise"])]
    snr_db: Decibels
    wide: bool


@keys("gradient=name cost taken")
@dataclass(frozen=True)
class GradientFormat:
    """A format of gradients that was tried.

    Attributes:
        name: The format, such as ``f8E5M2``.
        cost: The cost at the budget.
        taken: Whether the found recipe has it.
    """

    name: str
    cost: Size
    taken: bool


@result("scalify-hlo search", version=1)
@keys(
    "program hash recipe budget loss whole=(*whole cost=whole_cost) formats sites front chosen "
    "exclude=result.matmul.exclude left_out effect=(*effect cost=chosen.cost) toml"
)
@dataclass(frozen=True)
class Search(Shown):
    """A recipe that was found at a budget; `dump_search` makes JSON of it.

    Attributes:
        program: The name of the program.
        hash: Its structural hash, as in a profile.
        recipe: The name of the given recipe.
        budget: The budget, as requirements with commas between them.
        loss: The loss of the original; None without one.
        whole: The error of the given recipe as it is.
        whole_cost: The cost of the given recipe as it is.
        formats: The formats of gradients that were tried.
        sites: The sites that can be in low precision, the highest cost first.
        front: The points of the trade-off, from the one with most matmuls in low precision.
        chosen: The point at the budget.
        left_out: The sites that the found recipe leaves wide, in the order of the choice.
        effect: The error of the found recipe.
        base: The given recipe.
        result: The found recipe.
    """

    DUMP = "commands.choose.model.dump_search"
    LINES = "cli.search.lines"
    ROWS = "sites"

    program: str
    hash: str
    recipe: str
    budget: str
    loss: Finite | None
    whole: Effect
    whole_cost: Size
    formats: Annotated[tuple[GradientFormat, ...], SOME]
    sites: tuple[SearchedSite, ...]
    front: Annotated[tuple[Point, ...], SOME]
    chosen: Point
    left_out: tuple[Site, ...]
    effect: Effect
    base: Recipe
    result: Recipe

    def __repr__(self) -> str:
        return f"Search(recipe={self.recipe!r}, left_out={len(self.left_out)})"

    @property
    def fragment(self) -> str:
        """The part of a TOML file that makes the found recipe of the given one."""
        before, after = own_settings(self.base), own_settings(self.result)
        return to_toml({key: v for key, v in after.items() if before.get(key) != v})

    @property
    def toml(self) -> str:
        """The whole recipe as a TOML file."""
        return dump_recipe(self.result)


def dump_search(search: Search) -> str:
    """Returns a recipe that was found at a budget as JSON.

    Args:
        search: The recipe, as `search` returned it.

    Returns:
        An object with the name of its ``format`` and its ``version``; `json_schema` returns its
        JSON Schema.
    """
    return dump(search)
