"""The sites of a rewrite by the error that they make, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scalify_hlo.choose.partition import LARGEST
from scalify_hlo.choose.results import OUTPUT, ResultError
from scalify_hlo.choose.sites import Site
from scalify_hlo.recipes.loading import dump_recipe
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.recipes.toml import to_toml

_GRADIENTS: Final = "gradients"


@dataclass(frozen=True)
class Effect:
    """The error of a rewrite with some sites in low precision.

    Attributes:
        loss: The loss less that of the original; None without a loss.
        results: The errors of the results by which a recipe is judged.
        narrow: The share of matmuls in low precision; None without matmuls.
    """

    loss: float | None
    results: tuple[ResultError, ...]
    narrow: float | None

    def worst(self, *, outputs: bool) -> ResultError | None:
        """Returns the result with the largest error.

        Args:
            outputs: Whether it is one of the outputs, or else one of the gradients.

        Returns:
            The result; None if there is none.
        """
        found = (each for each in self.results if (each.kind == OUTPUT) == outputs)
        return min(found, key=lambda each: each.snr_db, default=None)

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


@dataclass(frozen=True)
class BlamedSite:
    """A site, and the error that it makes.

    Attributes:
        site: The site.
        share: The share of the error of all sites: the mean of those of outputs and of gradients.
        effect: The error of a rewrite in which only this site is in low precision.
    """

    site: Site
    share: float
    effect: Effect


@dataclass(frozen=True)
class Blame:
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
        left_out: The sites that the result leaves wide: the worst first, and then those that no
            pattern tells from them.
        effect: The error without these.
        result: The recipe that leaves them wide.
    """

    program: str
    hash: str
    recipe: str
    snr_db: float
    judged: tuple[str, ...]
    loss: float | None
    whole: Effect
    wide: Effect
    sites: tuple[BlamedSite, ...]
    rest: int
    rest_share: float
    runs: int
    left_out: tuple[Site, ...]
    effect: Effect
    result: Recipe

    @property
    def fragment(self) -> str:
        """The part of a TOML file that leaves the worst sites wide."""
        return to_toml({"matmul.exclude": self.result.matmul.exclude})

    @property
    def toml(self) -> str:
        """The whole recipe as a TOML file."""
        return dump_recipe(self.result)
