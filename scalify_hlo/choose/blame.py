"""The sites whose casts cost accuracy: each is measured with all other matmuls wide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any, Final, NamedTuple

from scalify_hlo.choose.bench import Bench, options_for
from scalify_hlo.choose.comparison import CompareOptions, Progress
from scalify_hlo.choose.partition import LARGEST, Bisection, Noise, Piece
from scalify_hlo.choose.results import OUTPUT, ResultError, judged, loss_of
from scalify_hlo.choose.sites import Site, sites_of
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.profile.file import load_profile
from scalify_hlo.profile.model import Profile
from scalify_hlo.recipes.loading import dump_recipe, load_recipe
from scalify_hlo.recipes.model import Recipe, Scaling
from scalify_hlo.recipes.toml import to_toml
from scalify_hlo.run.given import Sample

RUNS: Final = 64
"""The most programs that are run by default."""

EXPLAINED: Final = 0.9
"""The share of the error that single sites have to make by default."""

_FIXED: Final = 3
"""The runs of the recipe as it is, with all matmuls wide, and with the worst sites wide."""

_HALF: Final = 0.5
"""The share of the error that sites make that are left wide if no number of them is enough."""

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
            noise[group] = noise.get(group, 0.0) + _bounded(each)
        return noise


def _bounded(error: ResultError) -> float:
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


@dataclass(frozen=True)
class BlameOptions:
    """The options of a search for sites.

    Attributes:
        runs: The most programs that are run.
        explained: The share of the error that single sites have to make.
        worst: The number of sites that the result leaves wide; None for as many as needed.
    """

    runs: int = RUNS
    explained: float = EXPLAINED
    worst: int | None = None

    def __post_init__(self) -> None:
        """Checks the numbers.

        Raises:
            UsageError: One of them is not possible.
        """
        if self.runs < _FIXED + 2:
            raise UsageError(
                f"{self.runs} runs are too few to find a site",
                hint=f"give a whole number of at least {_FIXED + 2}",
            )
        if not 0 < self.explained <= 1:
            raise UsageError(
                f"a share of {self.explained:g} cannot be explained",
                hint="give a number above 0 and up to 1",
            )
        if self.worst is not None and self.worst < 0:
            raise UsageError(
                f"{self.worst} sites cannot be left wide", hint="give a whole number, or leave it"
            )


def blame(
    program: Any,
    samples: Sequence[Sample],
    recipe: str | PathLike[str] | Recipe,
    *,
    runs: int = RUNS,
    explained: float = EXPLAINED,
    worst: int | None = None,
    snr_db: float = 20.0,
    signature: str = "auto",
    profile: str | PathLike[str] | Profile | None = None,
    progress: Progress | None = None,
) -> Blame:
    """Finds the matmuls of a rewrite that cost accuracy.

    Sets of sites are run with all other matmuls wide, and the set with most of the error is split,
    until single sites make most of it.

    Args:
        program: As for `rewrite`; it is not changed. If its shapes are symbolic, it runs at the
            shapes of the samples.
        samples: The arguments, as for `calibrate`; the first ones are used.
        recipe: The recipe, as for `load_recipe`.
        runs: The most programs that are run.
        explained: The share of the error that single sites have to make.
        worst: The number of sites that the result leaves wide. By default, as many as outputs and
            gradients need for `snr_db`, but at least one; if no number is enough, those that make
            half of the error.
        snr_db: A signal-to-noise ratio in dB.
        signature: As for `compare_recipes`.
        profile: As for `compare_recipes`.
        progress: Is told how many programs were run, of at most how many.

    Returns:
        The sites with their shares of the error, and a recipe that leaves the worst wide.

    Raises:
        InputError: The program is not valid, has no matmul that the recipe quantizes, or cannot be
            rewritten or run on the CPU.
        UsageError: A sample does not fit the program, or a recipe or an option is not known.

    Example:
        >>> x = np.random.default_rng(0).standard_normal((32, 32), np.float32)
        >>> program = jax.export.export(jax.jit(lambda x: x @ x))(x)
        >>> [each.site.pattern for each in blame(program, [(x,)], "bf16").sites]
        ['jit(<lambda>)/dot_general']
    """
    seen = load_profile(profile) if isinstance(profile, (str, PathLike)) else profile
    name = recipe.name if isinstance(recipe, Recipe) else fspath(recipe)
    return find_blame(
        program,
        samples,
        (name, load_recipe(recipe)),
        BlameOptions(runs, explained, worst),
        CompareOptions(snr_db=snr_db, signature=signature, profile=seen),
        progress,
    )


def find_blame(
    program: Any,
    samples: Sequence[Sample],
    recipe: tuple[str, Recipe],
    options: BlameOptions,
    compared: CompareOptions,
    progress: Progress | None = None,
) -> Blame:
    """Finds the sites that cost accuracy; see `blame`.

    Args:
        program: As for `blame`, or a `Program`.
        samples: As for `blame`.
        recipe: The name of the recipe, and the recipe.
        options: The options of the search.
        compared: The options of rewrites and runs.
        progress: Is told how many programs were run, of at most how many.
    """
    bench = Bench(program, samples[:1])
    tell = progress or (lambda _, __: None)
    measuring = _Measuring(bench, recipe[1], compared, lambda done: tell(done, options.runs))
    whole = measuring.whole()
    if not measuring.sites:
        raise InputError(
            f"the recipe {recipe[0]} quantizes no matmul of the program",
            location=bench.name,
            hint="`scalify-hlo inspect --recipe R --wide` lists the matmuls with reasons",
        )
    wide = measuring.effect(())
    bisection = Bisection(
        measuring.sites,
        lambda items: _less(measuring.effect(items).noise, wide.noise),
        _less(whole.noise, wide.noise),
        options.runs - _FIXED,
    )
    bisection.run(options.explained)
    ranked, rest = _ranked(bisection, measuring)
    result = _left_out(measuring, ranked, rest, options, compared.snr_db)
    loss = loss_of(bench.kinds)
    original = bench.losses(bench.original, loss, [bench.seeded(0, 0)])
    return Blame(
        bench.name,
        bench.hash,
        recipe[0],
        compared.snr_db,
        judged(bench.kinds),
        original[0][0] if original else None,
        whole,
        wide,
        tuple(ranked),
        sum(len(piece.items) for piece in rest),
        max(0.0, 1 - sum(each.share for each in ranked)) if rest else 0.0,
        measuring.runs,
        *result,
    )


class Result(NamedTuple):
    """A recipe that leaves sites wide.

    Attributes:
        left_out: The sites, the worst first, and then those that no pattern tells from them.
        effect: The error of the recipe.
        recipe: The recipe.
    """

    left_out: tuple[Site, ...]
    effect: Effect
    recipe: Recipe


class _Measuring:
    """Runs a recipe with some of its sites wide.

    Args:
        bench: The program.
        recipe: The recipe.
        compared: The options of rewrites.
        tell: Is told how many programs were run.

    Attributes:
        sites: The sites that the recipe quantizes.
        runs: The number of programs that were run.
    """

    def __init__(
        self, bench: Bench, recipe: Recipe, compared: CompareOptions, tell: Callable[[int], None]
    ) -> None:
        self._bench, self._recipe, self._compared, self._tell = bench, recipe, compared, tell
        self._loss = loss_of(bench.kinds)
        self._inputs = [bench.seeded(0, 0)]
        self._original = bench.losses(bench.original, self._loss, self._inputs)
        self._kinds = set(judged(bench.kinds))
        self._known: dict[frozenset[str], Effect] = {}
        self._all: list[Site] = []
        self.sites: list[Site] = []
        self.runs = 0

    def whole(self) -> Effect:
        """Runs the recipe as it is, and finds its sites."""
        whole = self._run(self._recipe, first=True)
        self._known[frozenset(site.full for site in self.sites)] = whole
        return whole

    def effect(self, narrow: Iterable[Site]) -> Effect:
        """Returns the error with only some sites in low precision."""
        key = frozenset(site.full for site in narrow)
        if key not in self._known:
            self._known[key] = self._run(self._recipe_with(key))
        return self._known[key]

    def without(self, sites: Iterable[Site]) -> Result:
        """Excludes some sites from the recipe, and runs it."""
        chosen = list(sites)
        recipe = self._recipe_without(chosen)
        more = [site for site in self.sites if site not in chosen]
        out = [*chosen, *(s for s in more if any(map(s.is_matched, recipe.matmul.exclude)))]
        key = frozenset(site.full for site in self.sites if site not in out)
        if key and key not in self._known:
            self._known[key] = self._run(recipe)
        kept = [site for site in self.sites if site not in out]
        return Result(tuple(out), self.effect(kept), recipe)

    def _recipe_with(self, names: AbstractSet[str]) -> Recipe:
        """Returns the recipe with all sites wide but those of some names.

        A name that is part of the name of another site would include that site too.
        """
        kept = [site for site in self._all if site.full in names]
        others = [site.full for site in self._all if site.full not in names]
        out = [name for name in others if not any(site.is_matched(name) for site in kept)]
        matmul, scaling = self._recipe.matmul, self._recipe.scaling
        exclude = tuple(dict.fromkeys((*matmul.exclude, *out)))
        if not names and scaling.kind == "delayed":  # It refuses a program without any such scale.
            scaling = Scaling("current", scaling.fp8_format)
        chosen = replace(matmul, include=tuple(names), exclude=exclude)
        return replace(self._recipe, matmul=chosen, scaling=scaling)

    def _recipe_without(self, sites: Iterable[Site]) -> Recipe:
        """Returns the recipe with some sites wide."""
        matmul = self._recipe.matmul
        patterns = dict.fromkeys((*matmul.exclude, *(site.pattern for site in sites)))
        return replace(self._recipe, matmul=replace(matmul, exclude=tuple(patterns)))

    def _run(self, recipe: Recipe, *, first: bool = False) -> Effect:
        bench, compared = self._bench, self._compared
        options = options_for(recipe, compared.signature, pairs=bench.takes_pairs)
        if recipe.scaling.kind == "calibrated":
            options = Options(recipe, options.signature, profile=compared.profile)
        outcome = bench.outcome(bench.rewritten(options), self._loss, self._inputs)
        self.runs += 1
        self._tell(self.runs)
        if first:
            matmuls = outcome.report.matmuls
            self._all = sites_of(matmuls, bench.name)
            self.sites = [site for site in self._all if site.narrow]
        change = outcome.losses[0][0] - self._original[0][0] if outcome.losses else None
        errors = tuple(each for each in outcome.errors if each.kind in self._kinds)
        return Effect(change, errors, outcome.report.totals.matmuls.share)


def _less(noise: Noise, floor: Noise) -> dict[str, float]:
    """Returns the noise that sites add to that of the recipe without them."""
    return {group: max(0.0, amount - floor.get(group, 0.0)) for group, amount in noise.items()}


def _ranked(
    bisection: Bisection[Site], measuring: _Measuring
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
    measuring: _Measuring,
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
        count = max(1, _main_part(ranked) if needed is None else needed)
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
    floor = [_bounded(each) for each in wide.results]
    for count in range(len(ranked) + 1):
        others = [each.effect for each in ranked[count:]] + list(rest)
        added = [
            sum(max(0.0, _bounded(one.results[i]) - floor[i]) for one in others)
            for i in range(len(floor))
        ]
        if all(a + b <= most for a, b in zip(floor, added, strict=True)):
            return count
    return None


def _main_part(ranked: Sequence[BlamedSite]) -> int:
    """Returns the number of worst sites that make half of the error, or of all that are ranked."""
    total = 0.0
    for count, each in enumerate(ranked, 1):
        total += each.share
        if total >= _HALF:
            return count
    return len(ranked)
