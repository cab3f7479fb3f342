"""The sites whose casts cost accuracy: each is measured with all other matmuls wide.

The set of sites is split until those that make most of an error are alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Annotated, Any, Final, Generic, TypeVar

from scalify_hlo.commands.choose.bench import (
    Bench,
    CompareOptions,
    refuse_profile,
    require_one_step,
)
from scalify_hlo.commands.choose.comparison import name_of
from scalify_hlo.commands.choose.measuring import Measuring, Result
from scalify_hlo.commands.choose.model import Blame, BlamedSite, Effect, bounded
from scalify_hlo.commands.choose.results import judged
from scalify_hlo.commands.choose.sites import Site, require_sites
from scalify_hlo.profile.file import profile_of
from scalify_hlo.profile.model import Profile
from scalify_hlo.recipes.fields import Amount, Checked, number
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.run.given import Sample
from scalify_hlo.run.runner import Progress, untold

T = TypeVar("T")

Noise = Mapping[str, float]
"""The noise by groups of results: the sum of the noise over the signal of each result."""


@dataclass(frozen=True)
class Piece(Generic[T]):
    """Items that were measured together.

    Attributes:
        items: The items.
        noise: The noise that they make, without that of a program with none of them.
    """

    items: tuple[T, ...]
    noise: Noise


class Bisection(Generic[T]):
    """Splits a set of items, always the part with most of the noise.

    The noise of independent errors adds up, so each item is measured with all others left out.

    Args:
        items: The items.
        measure: Returns the noise of some items, with all others left out.
        whole: The noise of all items.
        runs: The most calls of `measure`.

    Attributes:
        pieces: The parts, in the order of the items.
        runs: The number of calls of `measure`.
    """

    def __init__(
        self,
        items: Sequence[T],
        measure: Callable[[tuple[T, ...]], Noise],
        whole: Noise,
        runs: int,
    ) -> None:
        self._measure, self._most = measure, runs
        self.pieces: list[Piece[T]] = [Piece(tuple(items), whole)] if items else []
        self.runs = 0

    def run(self, explained: float) -> None:
        """Splits until single items make a share of the noise, or no run is left.

        Args:
            explained: The share.
        """
        while self.runs + 2 <= self._most:
            shares = self.shares()
            open_ = [i for i, piece in enumerate(self.pieces) if len(piece.items) > 1]
            if not open_ or sum(shares[i] for i in open_) <= 1 - explained:
                return
            self._split(max(open_, key=lambda i: shares[i]))

    def _split(self, number: int) -> None:
        items = self.pieces[number].items
        half = len(items) // 2
        halves = [Piece(part, self._measure(part)) for part in (items[:half], items[half:])]
        self.runs += len(halves)
        self.pieces[number : number + 1] = halves

    def shares(self) -> list[float]:
        """Returns the share of the noise that each piece makes: the mean over groups."""
        groups = {name for piece in self.pieces for name in piece.noise}
        totals = {name: sum(piece.noise[name] for piece in self.pieces) for name in groups}
        known = [name for name, total in totals.items() if total]
        return [
            sum(piece.noise[name] / totals[name] for name in known) / max(len(known), 1)
            for piece in self.pieces
        ]


RUNS: Final = 64
"""The most runs of the rewrite by default."""

EXPLAINED: Final = 0.9
"""The share of the error that single sites have to make by default."""

_FIXED: Final = 3
"""The runs of the recipe as it is, with all matmuls wide, and with the worst sites wide."""

_HALF: Final = 0.5
"""The share, of the error of single sites, of those that are left wide if no number is enough."""


Runs = Annotated[
    int, number(int, f"a whole number, at least {_FIXED + 2}", lambda n: n >= _FIXED + 2)
]
Explained = Annotated[float, number(float, "a number above 0 and up to 1", lambda x: 0 < x <= 1)]


@dataclass(frozen=True)
class BlameOptions(Checked):
    """The options of a search for sites.

    Attributes:
        runs: The most runs of the rewrite.
        explained: The share of the error that single sites have to make.
        worst: The number of sites that the result leaves wide; None for as many as needed.
    """

    runs: Runs = RUNS
    explained: Explained = EXPLAINED
    worst: Amount | None = None


def blame(
    program: Any,
    samples: Sequence[Sample],
    recipe: str | PathLike[str] | Recipe,
    *,
    settings: Mapping[str, object] | None = None,
    runs: int = RUNS,
    explained: float = EXPLAINED,
    worst: int | None = None,
    snr_db: float = 20.0,
    signature: str = "auto",
    profile: str | PathLike[str] | Profile | None = None,
    progress: Progress = untold,
) -> Blame:
    """Finds the matmuls of a rewrite that cost accuracy.

    Sets of sites are run with all other matmuls wide, and the set with most of the error is split,
    until single sites make most of it. One rewrite with a switch for each site is compiled.

    Args:
        program: As for `rewrite`; it is not changed. If its shapes are symbolic, it runs at the
            shapes of the samples.
        samples: The arguments, as for `calibrate`: those of one step.
        recipe: The recipe, as for `load_recipe`.
        settings: Options that are set over it, by key, as for `rewrite`.
        runs: The most runs of the rewrite.
        explained: The share of the error that single sites have to make.
        worst: The number of sites that the result leaves wide. By default, as many as outputs and
            gradients need for `snr_db`, but at least one with a share; if no number is enough,
            those that make half of the error of single sites.
        snr_db: A signal-to-noise ratio in dB.
        signature: As for `compare_recipes`.
        profile: As for `compare_recipes`.
        progress: Is told how often the rewrite was run, of at most how often.

    Returns:
        The sites with their shares of the error, and a recipe that leaves the worst wide.

    Raises:
        InputError: The program is not valid, has no matmul that the recipe quantizes, or cannot be
            rewritten or run on the CPU.
        UsageError: A sample does not fit the program, or a recipe or an option is not known.

    Example:
        >>> x = np.random.default_rng(0).standard_normal((32, 32), np.float32)
        >>> program = jax.export.export(jax.jit(lambda x: x @ x))(x)
        >>> [each.site.name for each in blame(program, [(x,)], "bf16").sites]
        ['jit(<lambda>)/dot_general']
    """
    options = BlameOptions(runs, explained, worst)
    compared = CompareOptions(snr_db=snr_db, signature=signature, profile=profile_of(profile))
    loaded = load_recipe(recipe, settings or {})
    require_one_step("blame", samples)
    refuse_profile(compared.profile, [loaded])
    bench = Bench(program, samples, compared)

    def tell(done: int) -> None:
        progress(done, max(done, most_runs(len(measuring.sites), runs)))

    measuring = Measuring(bench, loaded, tell)
    return _found(bench, measuring, name_of(recipe), options, snr_db)


def _found(
    bench: Bench, measuring: Measuring, name: str, options: BlameOptions, snr_db: float
) -> Blame:
    """Returns the sites that cost accuracy.

    Args:
        bench: The program.
        measuring: Runs the recipe.
        name: The name of the recipe.
        options: The options of the search.
        snr_db: The signal-to-noise ratio in dB that outputs and gradients need.
    """
    require_sites(measuring.sites, name, bench.name)
    whole = measuring.effect(measuring.sites)
    wide = measuring.effect(())
    bisection = Bisection(
        measuring.sites,
        lambda items: _less(measuring.effect(items).noise, wide.noise),
        _less(whole.noise, wide.noise),
        options.runs - _FIXED,
    )
    bisection.run(options.explained)
    ranked, rest = _ranked(bisection, measuring)
    result = _left_out(measuring, ranked, rest, options, snr_db)
    return Blame(
        bench.name,
        bench.hash,
        name,
        snr_db,
        judged(bench.kinds),
        measuring.loss,
        whole,
        wide,
        tuple(ranked),
        sum(len(piece.items) for piece in rest),
        max(0.0, 1 - sum(each.share for each in ranked)) if rest else 0.0,
        measuring.runs,
        *result,
    )


def most_runs(sites: int, runs: int) -> int:
    """Returns the most runs of a bisection of some sites; `_left_out` may add some.

    Args:
        sites: The number of sites.
        runs: The most runs that are allowed.
    """
    return min(runs, _FIXED + 2 * (sites - 1))


def _less(noise: Noise, floor: Noise) -> dict[str, float]:
    """Returns the noise that sites add to that of the recipe without them."""
    return {group: max(0.0, amount - floor.get(group, 0.0)) for group, amount in noise.items()}


def _ranked(
    bisection: Bisection[Site], measuring: Measuring
) -> tuple[list[BlamedSite], list[Piece[Site]]]:
    """Returns the sites that are alone, the largest share first, and the other pieces."""
    pieces = list(zip(bisection.pieces, bisection.shares(), strict=True))
    found = [
        BlamedSite(piece.items[0], share, measuring.effect(piece.items))
        for piece, share in pieces
        if len(piece.items) == 1
    ]
    rest = [piece for piece, _ in pieces if len(piece.items) > 1]
    return sorted(found, key=lambda each: -each.share), rest


def _left_out(
    measuring: Measuring,
    ranked: Sequence[BlamedSite],
    rest: Sequence[Piece[Site]],
    options: BlameOptions,
    snr_db: float,
) -> Result:
    """Leaves the worst sites wide.

    As many are left wide as the sum of the errors of all others asks for. If this is not enough,
    more are tried while runs are left.
    """
    effects = [measuring.effect(piece.items) for piece in rest]
    needed = _needed(measuring.effect(()), ranked, effects, snr_db)
    count = options.worst
    if count is None:
        shared = [each for each in ranked if each.share]
        count = max(min(1, len(shared)), main_part(shared) if needed is None else needed)
    while True:
        result = measuring.without(each.site for each in ranked[:count])
        done = options.worst is not None or needed is None or result.effect.passes(snr_db)
        if done or count >= len(ranked) or measuring.runs >= options.runs:
            return result
        count += 1


def _needed(
    wide: Effect, ranked: Sequence[BlamedSite], rest: Sequence[Effect], snr_db: float
) -> int | None:
    """Returns the number of worst sites without which the errors of all others are small enough.

    Returns:
        The number; None if there is none.
    """
    most = 10 ** (-snr_db / 10)
    floor = [bounded(each) for each in wide.results]
    for count in range(len(ranked) + 1):
        others = [each.effect for each in ranked[count:]] + list(rest)
        added = [
            sum(max(0.0, bounded(one.results[i]) - floor[i]) for one in others)
            for i in range(len(floor))
        ]
        if all(a + b <= most for a, b in zip(floor, added, strict=True)):
            return count
    return None


def main_part(ranked: Sequence[BlamedSite]) -> int:
    """Returns the number of worst sites that make half of the error of those that are ranked."""
    rest = _HALF * sum(each.share for each in ranked)
    for count, each in enumerate(ranked, 1):
        rest -= each.share
        if rest <= 0:
            return count
    return len(ranked)
