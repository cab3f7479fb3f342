"""The recipes that a search tries, each with a choice of sites that are left wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.choose.bench import Outcome
from scalify_hlo.choose.front import Front, Point
from scalify_hlo.choose.model import SearchedSite
from scalify_hlo.choose.sensitivity import RATIO, Cost, Sensitivity
from scalify_hlo.choose.sites import Site, require_sites, sites_of
from scalify_hlo.quantize.selection import VOCABULARY
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import KEEP, Recipe
from scalify_hlo.report.requirements import Requirement
from scalify_hlo.results.decibels import decibels

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
        by_name = {site.key: site for site in self.sites}
        return [] if self.chosen is None else [by_name[name] for name in self.chosen.left]

    @property
    def patterns(self) -> list[str]:
        """The patterns that leave these sites wide."""
        found: list[str] = []
        for site in self.left_out:
            if not any(map(site.is_matched, found)):
                found.append(site.pattern)
        return found

    @property
    def bound(self) -> int:
        """The number of sites that are left wide by the pattern of another one."""
        return sum(site.pattern not in self.patterns for site in self.left_out)

    def result(self) -> Recipe:
        """Returns the recipe that leaves the chosen sites wide."""
        matmul = self.recipe.matmul
        exclude = tuple(dict.fromkeys((*matmul.exclude, *self.patterns)))
        return replace(self.recipe, matmul=replace(matmul, exclude=exclude))

    def searched(self) -> tuple[SearchedSite, ...]:
        """Returns the sites with their costs, the highest first."""
        left = {site.key for site in self.left_out}
        costs = [self.costs.get(site.key, _NO_COST) for site in self.sites]
        found = [
            SearchedSite(site, cost.amount, cost.effect, decibels(cost.ratio), site.key in left)
            for site, cost in zip(self.sites, costs, strict=True)
        ]
        return tuple(sorted(found, key=lambda each: -each.cost))
