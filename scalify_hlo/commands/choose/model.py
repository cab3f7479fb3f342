"""The data of blamed sites, and of recipes found at a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from scalify_hlo.commands.choose.front import Point
from scalify_hlo.commands.choose.results import LARGEST, OUTPUT, Judged, ResultError
from scalify_hlo.commands.choose.sites import Site
from scalify_hlo.recipes.loading import dump_recipe, own_settings
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.recipes.toml import to_toml
from scalify_hlo.results.kinds import (
    SOME,
    Count,
    Decibels,
    Finite,
    Several,
    Share,
    Size,
    one_of,
)
from scalify_hlo.results.model import dump, keys, result
from scalify_hlo.results.shown import Shown

_GRADIENTS: Final = "gradients"


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
        runs: The number of runs of the rewrite.
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
