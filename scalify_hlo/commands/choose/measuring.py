"""Runs a recipe with some of its sites in low precision, and all others wide."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

from scalify_hlo.commands.choose.bench import Bench, Outcome
from scalify_hlo.commands.choose.model import Effect
from scalify_hlo.commands.choose.results import judged
from scalify_hlo.commands.choose.sites import Site, sites_of
from scalify_hlo.recipes.model import Recipe, Scaling


class Result(NamedTuple):
    """A recipe that leaves sites wide.

    Attributes:
        left_out: The sites, the worst first.
        effect: The error of the recipe.
        recipe: The recipe.
    """

    left_out: tuple[Site, ...]
    effect: Effect
    recipe: Recipe


def excluding(recipe: Recipe, patterns: Iterable[str]) -> Recipe:
    """Returns a recipe that also leaves the matmuls wide that some patterns match."""
    exclude = tuple(dict.fromkeys((*recipe.matmul.exclude, *patterns)))
    return replace(recipe, matmul=replace(recipe.matmul, exclude=exclude))


class Measuring:
    """Runs a recipe with some of its sites wide.

    Args:
        bench: The program.
        recipe: The recipe.
        tell: Is told how many programs were run.

    Attributes:
        sites: The sites that the recipe quantizes.
        runs: The number of programs that were run.
    """

    def __init__(self, bench: Bench, recipe: Recipe, tell: Callable[[int], None]) -> None:
        self._bench, self._recipe, self._tell = bench, recipe, tell
        self._kinds = set(judged(bench.kinds))
        self._known: dict[frozenset[str], Effect] = {}
        self.sites: list[Site] = []
        self.runs = 0

    @property
    def loss(self) -> float | None:
        """The loss of the original; None without one."""
        return self._bench.losses[0][0] if self._bench.losses else None

    def whole(self) -> Effect:
        """Runs the recipe as it is, and finds its sites."""
        whole = self._run(self._recipe, first=True)
        self._known[_names(self.sites)] = whole
        return whole

    def effect(self, narrow: Iterable[Site]) -> Effect:
        """Returns the error with only some sites in low precision."""
        key = _names(narrow)
        if key not in self._known:
            self._known[key] = self._run(self._recipe_with(key))
        return self._known[key]

    def without(self, sites: Iterable[Site]) -> Result:
        """Excludes some sites from the recipe, and runs it."""
        chosen = list(sites)
        recipe = excluding(self._recipe, (site.name for site in chosen))
        kept = [site for site in self.sites if site not in chosen]
        key = _names(kept)
        if key and key not in self._known:
            self._known[key] = self._run(recipe)
        return Result(tuple(chosen), self.effect(kept), recipe)

    def _recipe_with(self, names: AbstractSet[str]) -> Recipe:
        """Returns the recipe with all sites wide but those of some names."""
        kept = tuple(site.name for site in self.sites if site.name in names)
        matmul, scaling = self._recipe.matmul, self._recipe.scaling
        if not names and scaling.kind == "delayed":  # It refuses a program without any such scale.
            scaling = Scaling("current", scaling.fp8_format)
        return replace(self._recipe, matmul=replace(matmul, include=kept), scaling=scaling)

    def _run(self, recipe: Recipe, *, first: bool = False) -> Effect:
        outcome = self.outcome(recipe)
        if first:
            every = sites_of(outcome.report.matmuls, self._bench.name)
            self.sites = [site for site in every if site.narrow]
        return self.effect_of(outcome)

    def outcome(self, recipe: Recipe, *, casts: bool = False) -> Outcome:
        """Runs a recipe.

        Args:
            recipe: The recipe.
            casts: Whether the errors of casts are measured.
        """
        found = self._bench.outcome(self._bench.asked(recipe), casts=casts)
        self.runs += 1
        self._tell(self.runs)
        return found

    def effect_of(self, outcome: Outcome) -> Effect:
        """Returns the error of a run."""
        change = outcome.losses[0][0] - self._bench.losses[0][0] if outcome.losses else None
        errors = tuple(each for each in outcome.errors if each.kind in self._kinds)
        return Effect(change, errors, outcome.report.totals.matmuls.share)


def _names(sites: Iterable[Site]) -> frozenset[str]:
    return frozenset(site.name for site in sites)
