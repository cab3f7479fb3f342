"""Comparison of recipes on a program: each rewrite runs on the same inputs as the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Final

from scalify_hlo.commands.choose.bench import (
    LEAST_SNR,
    Bench,
    CompareOptions,
    Losses,
    refuse_profile,
)
from scalify_hlo.commands.choose.model import Comparison, Trial
from scalify_hlo.commands.choose.results import GRADIENT, MOMENT, OUTPUT, UPDATE, judged
from scalify_hlo.commands.choose.sites import operand_bits, share_of_bits, site_errors, sites_of
from scalify_hlo.errors import ScalifyError, UsageError
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.profile.file import profile_of
from scalify_hlo.profile.model import Profile
from scalify_hlo.program.record import described
from scalify_hlo.recipes.loading import load_recipe, require_pairs
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.recipes.toml import preset_names
from scalify_hlo.results.decibels import written
from scalify_hlo.run.given import Sample
from scalify_hlo.run.runner import Progress, untold

ALL: Final = "all"
_SMALL: Final = 8


def compare_recipes(
    program: Any,
    samples: Sequence[Sample],
    recipes: str | Sequence[str | PathLike[str] | Recipe] = ALL,
    *,
    settings: Mapping[str, object] | None = None,
    steps: int = 1,
    carry: bool = False,
    seeds: int = 1,
    snr_db: float = LEAST_SNR,
    signature: str = "auto",
    profile: str | PathLike[str] | Profile | None = None,
    progress: Progress = untold,
) -> Comparison:
    """Runs a program and its rewrites by several recipes on the same inputs with XLA on the CPU.

    Args:
        program: As for `rewrite`; it is not changed. If its shapes are symbolic, it runs at the
            shapes of the samples.
        samples: The arguments of each step, as for `calibrate`. If there are fewer samples than
            steps, the first follows on the last.
        recipes: ``all`` for all presets, or names of presets, paths of TOML files and `Recipe`
            objects. In a string, names are separated by commas.
        settings: Options that are set over each recipe, by key, as for `rewrite`.
        steps: The number of steps. Results are compared after the first one, and losses after each.
        carry: Whether results that are arguments of the next call are passed on to the next step.
        seeds: The number of runs. All but the first multiply each weight by ``1 + n / 256``, with n
            normal, the same for the original and all recipes.
        snr_db: The signal-to-noise ratio in dB that outputs and gradients of a suggested recipe
            need.
        signature: ``same`` or ``scaled``, as for `rewrite`; ``auto`` is ``scaled`` for recipes that
            keep state in low precision.
        profile: The profile of recipes of calibrated scales, or the path of its file; by default,
            one of the samples.
        progress: Is told how many programs are done, of how many.

    Returns:
        The comparison. A recipe that the program cannot take, or in which an option of `settings`
        has no effect, is in it with the reason.

    Raises:
        InputError: The program is not valid, was rewritten before, or XLA cannot run it on the CPU.
        UsageError: A sample does not fit the program, a recipe or an option is not known, or the
            profile, further steps or seeds have no effect.

    Example:
        >>> x = np.random.default_rng(0).standard_normal((32, 32), np.float32)
        >>> program = jax.export.export(jax.jit(lambda x: x @ x))(x)
        >>> compare_recipes(program, [(x,)], "propagate, bf16").suggested
        'bf16'
    """
    seen = profile_of(profile)
    options = CompareOptions(steps, carry, seeds, snr_db, signature, seen)
    chosen = recipes_of(recipes, settings or {})
    refuse_profile(seen, [recipe for _, recipe in chosen if isinstance(recipe, Recipe)])
    bench = Bench(program, samples, options)
    if bench.loss is None and (steps > 1 or seeds > 1):
        raise UsageError(
            f"further {'steps' if steps > 1 else 'seeds'} have no effect: no result is a loss",
            location=bench.name,
            hint="leave --steps and --seeds out, or return the loss, a scalar, from the step",
        )
    return _compared(bench, chosen, progress)


Given = tuple[str, Recipe | UsageError]
"""The name of a recipe, and the recipe, or the reason why options cannot be set over it."""


def recipes_of(
    recipes: str | Sequence[str | PathLike[str] | Recipe],
    settings: Mapping[str, object],
) -> list[Given]:
    """Returns recipes with their names.

    Args:
        recipes: As for `compare_recipes`.
        settings: Options that are set over each recipe, as for `load_recipe`.

    Raises:
        UsageError: There is none, one is not known, or an option cannot be set over any of them.
        InputError: The file of one is not valid.
    """
    if isinstance(recipes, str):
        names = [name.strip() for name in recipes.split(",") if name.strip()]
        recipes = preset_names() if names == [ALL] else names
    loaded = {name_of(recipe): load_recipe(recipe) for recipe in recipes}
    if not loaded:
        raise UsageError(
            "there are no recipes to compare", hint="give names with commas between them, or all"
        )
    found = {name: _with_settings(recipe, settings) for name, recipe in loaded.items()}
    refused = [each for each in found.values() if isinstance(each, UsageError)]
    if len(refused) == len(found):
        raise refused[0]
    return list(found.items())


def _with_settings(recipe: Recipe, settings: Mapping[str, object]) -> Recipe | UsageError:
    try:
        return load_recipe(recipe, settings)
    except UsageError as error:
        return error


def name_of(recipe: str | PathLike[str] | Recipe) -> str:
    """Returns the name by which a recipe was given."""
    return recipe.name if isinstance(recipe, Recipe) else fspath(recipe)


def _compared(bench: Bench, recipes: Sequence[Given], tell: Progress) -> Comparison:
    options, loss, losses = bench.options, bench.loss, bench.losses
    trials: list[Trial] = []
    for number, (name, recipe) in enumerate(recipes, 1):
        tell(number, len(recipes) + 1)
        trials.append(
            Trial(name, reason=recipe.message)
            if isinstance(recipe, UsageError)
            else _tried(bench, name, recipe)
        )
    tell(len(recipes) + 1, len(recipes) + 1)
    kinds = judged(bench.kinds)
    suggested, suggestion = suggest(trials, kinds, options.snr_db)
    return Comparison(
        bench.name, bench.hash, options.steps, options.carry, options.snr_db, kinds,
        "" if loss is None else loss.tensor.name, _frozen(losses), tuple(trials),
        suggested, suggestion,
    )  # fmt: skip


def _tried(bench: Bench, name: str, recipe: Recipe) -> Trial:
    """Returns the result of one recipe, or the reason why the program cannot take it."""
    asked = bench.asked(recipe)
    try:
        require_pairs(recipe, asked.signature)
        outcome = bench.outcome(asked, casts=True)
    except ScalifyError as error:
        return Trial(name, reason=error.message)
    report = outcome.report
    totals, sites = report.totals, sites_of(report.matmuls, bench.name)
    return Trial(
        name,
        described(Options(recipe, asked.signature)),
        "",
        tuple(outcome.errors),
        tuple(site_errors(sites, outcome.casts)),
        _frozen(outcome.losses),
        share_of_bits(report.matmuls, _SMALL),
        totals.matmuls.share,
        operand_bits(report.matmuls),
        report.statistics,
        totals.state.ratio if totals.state is not None else 1.0 if bench.has_state else None,
    )


def _frozen(losses: Losses) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, losses))


# The suggestion of a recipe, with its reason as one sentence.


_NAMED: Final = 2
"""The most sites that a suggestion names."""

_KINDS: Final = {
    OUTPUT: "outputs",
    GRADIENT: "gradients",
    MOMENT: "changes of first moments",
    UPDATE: "changes of weights",
}


def suggest(trials: Sequence[Trial], kinds: Sequence[str], snr_db: float) -> tuple[str, str]:
    """Returns the cheapest recipe whose results are good enough, and the reason.

    Recipes that save nothing, such as ``propagate``, are not suggested.

    Args:
        trials: The recipes.
        kinds: The kinds of results by which they are judged.
        snr_db: The least signal-to-noise ratio of these in dB.

    Returns:
        The name of the recipe, which is empty if there is none, and a sentence.
    """
    ran = [trial for trial in trials if not trial.reason and trial.saves]
    if not ran:
        return "", "none: no recipe that the program takes has a matmul or state in low precision"
    good = [trial for trial in ran if trial.passes(kinds, snr_db)]
    need = f"{snr_db:g} dB in all {' and '.join(_KINDS[kind] for kind in kinds)}"
    if not good:
        best = max(ran, key=lambda trial: _least(trial, kinds))
        return "", f"none: no recipe has {need}; the nearest is {best.name}, {_reason(best, kinds)}"
    chosen = min(good, key=lambda trial: trial.cost)
    cheaper = [t for t in ran if t.cost < chosen.cost and not t.passes(kinds, snr_db)]
    text = f"{chosen.name}: the cheapest with {need}, "
    if not cheaper:
        return chosen.name, text + _reason(chosen, kinds)
    nearest = max(cheaper, key=lambda trial: _least(trial, kinds))
    text += f"{_worst(chosen, kinds)}; {nearest.name} is cheaper, {_reason(nearest, kinds)}"
    return chosen.name, text


def _least(trial: Trial, kinds: Sequence[str]) -> float:
    worst = trial.worst(kinds)
    return float("inf") if worst is None else worst.snr_db


def _reason(trial: Trial, kinds: Sequence[str]) -> str:
    """Returns the worst result of a recipe, and the sites with the largest errors."""
    text = _worst(trial, kinds)
    sites = [f"{each.site.name} ({_db(each.snr_db)})" for each in trial.matmuls[:_NAMED]]
    return f"{text}, decided by {' and '.join(sites)}" if sites else text


def _worst(trial: Trial, kinds: Sequence[str]) -> str:
    worst = trial.worst(kinds)
    return "without float results" if worst is None else f"with {_db(worst.snr_db)} in {worst.name}"


def _db(snr_db: float) -> str:
    text = written(snr_db)
    return f"{text} dB" if text[-1].isdigit() else text
