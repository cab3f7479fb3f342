"""The search for a recipe at a budget: the sites whose casts cost most are left wide."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Final

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.casts.selection import VOCABULARY
from scalify_hlo.commands.choose.bench import (
    Bench,
    CompareOptions,
    Outcome,
    refuse_profile,
    require_one_step,
)
from scalify_hlo.commands.choose.comparison import name_of
from scalify_hlo.commands.choose.front import Front, Point, efficient, parse_budget
from scalify_hlo.commands.choose.measuring import Measuring, excluding
from scalify_hlo.commands.choose.model import Effect, GradientFormat, Search, SearchedSite
from scalify_hlo.commands.choose.sensitivity import RATIO, Cost, Sensitivity
from scalify_hlo.commands.choose.sites import Site, require_sites, sites_of
from scalify_hlo.profile.file import profile_of
from scalify_hlo.profile.model import Profile
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import KEEP, Recipe
from scalify_hlo.report.totals import BOUNDS, Requirement, Totals
from scalify_hlo.results.decibels import decibels
from scalify_hlo.run.given import Sample
from scalify_hlo.run.runner import Progress, untold

LEAST_DECREASE: Final = 2.0**-10
"""The least share of the loss that a step is taken to take away, as in a step with a rate of 0."""

_RUNS: Final = 3
"""The runs of the original, of the given recipe, and of the found one."""


def search(
    program: Any,
    samples: Sequence[Sample],
    recipe: str | PathLike[str] | Recipe,
    budget: str,
    *,
    formats: bool = False,
    signature: str = "auto",
    profile: str | PathLike[str] | Profile | None = None,
    progress: Progress = untold,
) -> Search:
    """Searches for the sites of a recipe that are in low precision at a budget.

    The casts of each site have a cost, a share of the loss: the gradient of the loss with respect
    to the result of the matmul, times the error that the casts make, and the noise of gradients,
    times what a step takes away from the loss. Sites with the highest cost for each matmul are left
    wide, as many as the budget allows. See `sensitivity` for the formulas.

    Args:
        program: As for `rewrite`; it is not changed. If its shapes are symbolic, it runs at the
            shapes of the samples.
        samples: The arguments, as for `calibrate`: those of one step.
        recipe: The recipe, as for `load_recipe`. Matmuls that project to a vocabulary, which
            recipes leave wide, are searched too if the budget cannot be met without.
        budget: The share of matmuls in low precision, as in ``narrow>=0.95``; the quantities are
            those of `rewrite --require`.
        formats: Whether a finer format of gradients is tried too.
        signature: As for `compare_recipes`.
        profile: As for `compare_recipes`.
        progress: Is told how many programs were run, of how many.

    Returns:
        The recipe, the costs of sites, and the trade-off between cost and low precision.

    Raises:
        InputError: The program is not valid, has no matmul that the recipe quantizes, cannot be
            rewritten or run on the CPU, or cannot meet the budget.
        UsageError: A sample does not fit the program, a recipe or an option is not known, or the
            budget cannot be read.

    Example:
        >>> x = np.random.default_rng(0).standard_normal((32, 32), np.float32)
        >>> program = jax.export.export(jax.jit(lambda x: x @ x))(x)
        >>> search(program, [(x,)], "bf16", "narrow>=1").chosen.narrow
        1.0
    """
    required = parse_budget(budget)
    compared = CompareOptions(signature=signature, profile=profile_of(profile))
    loaded = load_recipe(recipe)
    require_one_step("search", samples)
    refuse_profile(compared.profile, [loaded])
    bench = Bench(program, samples, compared)
    searching = _Searching(bench, loaded, required, progress, formats=formats)
    return searching.found(name_of(recipe))


class _Searching:
    """The runs of a search.

    Args:
        bench: The program.
        recipe: The given recipe.
        budget: The requirements.
        progress: Is told how many programs were run, of how many.
        formats: Whether a finer format of gradients is tried too.

    Attributes:
        measuring: Runs recipes.
        outcome: The run of the given recipe.
        tried: The recipes that were tried, of which the given one is the first.
    """

    def __init__(
        self,
        bench: Bench,
        recipe: Recipe,
        budget: Sequence[Requirement],
        progress: Progress,
        *,
        formats: bool,
    ) -> None:
        self._bench, self._recipe, self._budget = bench, recipe, budget
        self._tell, self._total = progress, _RUNS
        self.measuring = Measuring(bench, recipe, self._count)
        decrease = bench.decrease
        self._sensitivity = Sensitivity(
            bench.sites,
            bench.energies(),
            bench.backward(),
            self.measuring.loss,
            1.0 if decrease is None else min(max(decrease, LEAST_DECREASE), 1.0),
        )
        self.outcome = self.measuring.outcome(recipe, casts=True)
        self.tried = [self._candidate(recipe, self.outcome)]
        able = self.tried[0].chosen is not None
        others = list(variants(recipe, self.outcome, formats=formats, able=able))
        self._total += len(others)
        for other in others:
            self.tried.append(self._candidate(other, self.measuring.outcome(other, casts=True)))

    def found(self, name: str) -> Search:
        """Returns the recipe that was found, with its costs.

        Args:
            name: The name of the given recipe.
        """
        best, chosen = self.best()
        effect = self.effect_of(best.result())
        points = [point for each in self.tried for point in each.front.points]
        return Search(
            self._bench.name,
            self._bench.hash,
            name,
            ",".join(map(str, self._budget)),
            self.measuring.loss,
            self.measuring.effect_of(self.outcome),
            self.tried[0].front.points[0].cost,
            self.formats(best),
            best.searched(),
            tuple(efficient(points, self._budget)),
            chosen,
            tuple(best.left_out),
            effect,
            self._recipe,
            best.result(),
        )

    def _count(self, done: int) -> None:
        self._tell(done + 1, self._total)

    def _candidate(self, recipe: Recipe, outcome: Outcome) -> Candidate:
        return Candidate.of(recipe, outcome, self._sensitivity, self._budget, self._bench.name)

    def best(self) -> tuple[Candidate, Point]:
        """Returns the recipe of the least cost at the budget, with the point.

        Raises:
            InputError: No recipe can meet the budget.
        """
        able = [(each, each.chosen) for each in self.tried if each.chosen is not None]
        if not able:
            widest = max(self.tried, key=lambda each: each.front.points[0].narrow or 0.0)
            self._require(widest.front.totals(()))
        return min(able, key=lambda pair: pair[1].cost)

    def formats(self, best: Candidate) -> tuple[GradientFormat, ...]:
        """Returns the formats of gradients that can meet the budget, with their costs."""
        costs: dict[str, float] = {}
        for each in self.tried:
            if each.chosen is not None:
                name = each.recipe.matmul.gradient
                costs[name] = min(each.chosen.cost, costs.get(name, math.inf))
        taken = best.recipe.matmul.gradient
        return tuple(GradientFormat(name, cost, name == taken) for name, cost in costs.items())

    def effect_of(self, result: Recipe) -> Effect:
        """Runs the found recipe, and checks that it meets the budget."""
        outcome = self.measuring.outcome(result)
        self._require(outcome.report.totals)
        return self.measuring.effect_of(outcome)

    def _require(self, totals: Totals) -> None:
        BOUNDS.check(totals, self._budget, self._bench.name)


# The recipes that a search tries, each with a choice of sites that are left wide.


_NO_COST = Cost(0.0, RATIO, 0.0)


def variants(recipe: Recipe, outcome: Outcome, *, formats: bool, able: bool) -> Iterator[Recipe]:
    """Yields the other recipes that a search tries.

    They differ in the format of gradients, and in whether matmuls that project to a vocabulary are
    in low precision. A recipe leaves those wide on purpose, and trainings are further from f32 with
    them than the cost of one step says. So they are tried if the budget needs them. E5M2 has more
    range than E4M3, and one bit less of precision. With a scale for each gradient, the range may
    not be needed. One step cannot show that of later ones, so the format is tried only on request.

    Args:
        recipe: The given recipe.
        outcome: Its run.
        formats: Whether a finer format of gradients is tried too.
        able: Whether the recipe can meet the budget as it is.
    """
    own, other = recipe.matmul.gradient, recipe.matmul.activation
    finer = formats and KEEP not in (own, other) and _is_finer(other, own)
    gradients = [own, other] if finer else [own]
    vocabulary = not able and any(each.wide == VOCABULARY for each in outcome.report.matmuls)
    for gradient in gradients:
        for included in (False, True) if vocabulary else (False,):
            settings: dict[str, object] = {"matmul.gradient": gradient} if gradient != own else {}
            settings |= {"matmul.vocabulary": True} if included else {}
            if settings:
                yield load_recipe(recipe, settings)


def _is_finer(format_: str, other: str) -> bool:
    one, two = FORMATS[format_], FORMATS[other]
    return one.bits == two.bits and one.mantissa_bits > two.mantissa_bits


@dataclass(frozen=True)
class Candidate:
    """A recipe that was tried.

    Attributes:
        recipe: The recipe, with as many sites in low precision as possible.
        sites: These sites.
        costs: The costs of sites by name.
        front: The trade-off.
        chosen: The point at the budget; None if the recipe cannot meet it.
    """

    recipe: Recipe
    sites: list[Site]
    costs: dict[str, Cost]
    front: Front
    chosen: Point | None

    @classmethod
    def of(
        cls,
        recipe: Recipe,
        outcome: Outcome,
        sensitivity: Sensitivity,
        budget: Sequence[Requirement],
        program: str,
    ) -> Candidate:
        """Returns a recipe with the choice among its sites.

        Args:
            recipe: The recipe.
            outcome: Its run, in which the errors of casts were measured.
            sensitivity: The measurements of the original.
            budget: The budget.
            program: The name of the program.

        Raises:
            InputError: The recipe quantizes no matmul.
        """
        matmuls = outcome.report.matmuls
        sites = [site for site in sites_of(matmuls, program) if site.narrow]
        require_sites(sites, recipe.name, program)
        costs = sensitivity.costs(outcome.casts)
        amounts = {site: cost.amount for site, cost in costs.items()}
        front = Front(matmuls, sites, amounts, budget, recipe.matmul.gradient)
        return cls(recipe, sites, costs, front, front.chosen())

    @property
    def left_out(self) -> list[Site]:
        """The sites that are left wide, in the order of the choice."""
        by_name = {site.name: site for site in self.sites}
        return [] if self.chosen is None else [by_name[name] for name in self.chosen.left]

    def result(self) -> Recipe:
        """Returns the recipe that leaves the chosen sites wide."""
        return excluding(self.recipe, (site.name for site in self.left_out))

    def searched(self) -> tuple[SearchedSite, ...]:
        """Returns the sites with their costs, the highest first."""
        left = {site.name for site in self.left_out}
        costs = [self.costs.get(site.name, _NO_COST) for site in self.sites]
        found = [
            SearchedSite(site, cost.amount, cost.effect, decibels(cost.ratio), site.name in left)
            for site, cost in zip(self.sites, costs, strict=True)
        ]
        return tuple(sorted(found, key=lambda each: -each.cost))
