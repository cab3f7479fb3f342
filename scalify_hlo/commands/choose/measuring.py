"""Runs a recipe with some of its sites in low precision, and all others wide."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from scalify_hlo.commands.choose.bench import Bench, Outcome
from scalify_hlo.commands.choose.model import Effect
from scalify_hlo.commands.choose.results import judged
from scalify_hlo.commands.choose.sites import Site, sites_of
from scalify_hlo.commands.choose.switches import Switches
from scalify_hlo.recipes.model import Recipe


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
        tell: Is told how often rewrites were run.

    Attributes:
        runs: The number of runs of rewrites.
    """

    def __init__(self, bench: Bench, recipe: Recipe, tell: Callable[[int], None]) -> None:
        self._bench, self._recipe, self._tell = bench, recipe, tell
        self._kinds = set(judged(bench.kinds))
        self._known: dict[frozenset[str], Effect] = {}
        self.runs = 0

    @property
    def loss(self) -> float | None:
        """The loss of the original; None without one."""
        return self._bench.losses[0][0] if self._bench.losses else None

    @cached_property
    def _switches(self) -> Switches:
        return self._bench.switched(self._bench.asked(self._recipe))

    @cached_property
    def sites(self) -> list[Site]:
        """The sites that the recipe quantizes."""
        every = sites_of(self._switches.report.matmuls, self._bench.name)
        return [site for site in every if site.narrow]

    def effect(self, narrow: Iterable[Site]) -> Effect:
        """Returns the error with only some sites in low precision."""
        key = frozenset(site.name for site in narrow)
        if key not in self._known:
            outcome = self._counted(self._bench.outcome_at(self._switches, key))
            self._known[key] = self.effect_of(outcome)
        return self._known[key]

    def without(self, sites: Iterable[Site]) -> Result:
        """Excludes some sites from the recipe, and returns its error."""
        chosen = list(sites)
        recipe = excluding(self._recipe, (site.name for site in chosen))
        effect = self.effect(site for site in self.sites if site not in chosen)
        return Result(tuple(chosen), effect, recipe)

    def outcome(self, recipe: Recipe, *, casts: bool = False) -> Outcome:
        """Runs a recipe by itself.

        Args:
            recipe: The recipe.
            casts: Whether the errors of casts are measured.
        """
        return self._counted(self._bench.outcome(self._bench.asked(recipe), casts=casts))

    def _counted(self, found: Outcome) -> Outcome:
        self.runs += 1
        self._tell(self.runs)
        return found

    def effect_of(self, outcome: Outcome) -> Effect:
        """Returns the error of a run."""
        change = outcome.losses[0][0] - self._bench.losses[0][0] if outcome.losses else None
        errors = tuple(each for each in outcome.errors if each.kind in self._kinds)
        return Effect(change, errors, outcome.report.totals.matmuls.share)
