"""A recipe that was found at a budget, as data."""

from __future__ import annotations

from dataclasses import dataclass

from scalify_hlo.choose.blame_model import Effect
from scalify_hlo.choose.front import Point
from scalify_hlo.choose.sites import Site
from scalify_hlo.recipes.loading import dump_recipe, own_settings
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.recipes.toml import to_toml


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
    cost: float
    effect: str
    snr_db: float
    wide: bool


@dataclass(frozen=True)
class GradientFormat:
    """A format of gradients that was tried.

    Attributes:
        name: The format, such as ``f8E5M2``.
        cost: The cost at the budget.
        taken: Whether the found recipe has it.
    """

    name: str
    cost: float
    taken: bool


@dataclass(frozen=True)
class Search:
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
        bound: The number of these that only share their names with another one.
        effect: The error of the found recipe.
        base: The given recipe.
        result: The found recipe.
    """

    program: str
    hash: str
    recipe: str
    budget: str
    loss: float | None
    whole: Effect
    whole_cost: float
    formats: tuple[GradientFormat, ...]
    sites: tuple[SearchedSite, ...]
    front: tuple[Point, ...]
    chosen: Point
    left_out: tuple[Site, ...]
    bound: int
    effect: Effect
    base: Recipe
    result: Recipe

    @property
    def fragment(self) -> str:
        """The part of a TOML file that makes the found recipe of the given one."""
        before, after = own_settings(self.base), own_settings(self.result)
        return to_toml({key: v for key, v in after.items() if before.get(key) != v})

    @property
    def toml(self) -> str:
        """The whole recipe as a TOML file."""
        return dump_recipe(self.result)
