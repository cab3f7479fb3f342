"""Comparison of recipes on a program: each rewrite runs on the same inputs as the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import Any, Final, TypeAlias

from scalify_hlo.commands.choose.bench import (
    LEAST_SNR,
    Bench,
    CompareOptions,
    Losses,
    refuse_profile,
)
from scalify_hlo.commands.choose.estimates import matmul_seconds, with_speeds
from scalify_hlo.commands.choose.results import judged
from scalify_hlo.commands.choose.sites import operand_bits, share_of_bits, site_errors, sites_of
from scalify_hlo.commands.choose.suggestion import ByLoss, BySnr, suggest
from scalify_hlo.commands.choose.trials import WITHIN, Comparison, Trial
from scalify_hlo.commands.explain.device import for_device
from scalify_hlo.errors import ScalifyError, UsageError
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.profile.file import profile_of
from scalify_hlo.profile.model import Profile
from scalify_hlo.program.record import described
from scalify_hlo.recipes.loading import load_recipe, require_pairs
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.recipes.toml import literature_names, preset_names
from scalify_hlo.run.given import Sample
from scalify_hlo.run.runner import Progress, untold
from scalify_hlo.targets.description import Target, load_target, plugin_versions

ALL: Final = "all"
_GROUPS: Final = {ALL: preset_names, "literature": literature_names}
TRAINING_STEPS: Final = 50
"""The steps of training that are compared by default."""

_SMALL: Final = 8
_CPU: Final = "cpu"
Devices: TypeAlias = tuple[Target | None, Target | None]
"""The device for which times are estimated, and the one for which programs are compiled, if any."""


def compare_recipes(
    program: Any,
    samples: Sequence[Sample],
    recipes: str | Sequence[str | PathLike[str] | Recipe] = ALL,
    *,
    settings: Mapping[str, object] | None = None,
    steps: int | None = None,
    carry: bool = False,
    seeds: int = 1,
    snr_db: float | None = None,
    within: float | None = None,
    signature: str = "auto",
    profile: str | PathLike[str] | Profile | None = None,
    target: str | None = None,
    memory: bool = False,
    progress: Progress = untold,
) -> Comparison:
    """Runs a program and its rewrites by several recipes on the same inputs with XLA on the CPU.

    Args:
        program: As for `rewrite`; it is not changed. If its shapes are symbolic, it runs at the
            shapes of the samples.
        samples: The arguments of each step, as for `calibrate`. If there are fewer samples than
            steps, the first follows on the last.
        recipes: ``all`` for all presets, ``literature`` for those of papers, or names, paths of
            TOML files and `Recipe`
            objects. In a string, names are separated by commas.
        settings: Options that are set over each recipe, by key, as for `rewrite`.
        steps: The number of steps. Results are compared after the first one, and losses after each.
            By default, a step of training runs 50 times and passes on its state, and other
            programs run once.
        carry: Whether results that are arguments of the next call are passed on to the next step.
        seeds: The number of runs. All but the first multiply each weight by ``1 + n / 256``, with n
            normal, the same for the original and all recipes.
        snr_db: The signal-to-noise ratio in dB that outputs and gradients of a suggested recipe
            need; 20 by default, unless it is judged by its loss.
        within: The share of the first loss by which the last loss of a suggested recipe may be
            larger than that of the original. Recipes are judged so where steps pass on their state
            and `snr_db` is not given, with 0.02 by default.
        signature: ``same`` or ``scaled``, as for `rewrite`; ``auto`` is ``scaled`` for recipes that
            keep state in low precision.
        profile: The profile of recipes of calibrated scales, or the path of its file; by default,
            one of the samples.
        target: A device, such as ``h200``, for which recipes are taken, as by `rewrite`, and times
            of matmuls are estimated.
        memory: Whether the original and each rewrite are compiled for the device, or for the CPU
            without one, to tell how much they have in memory at the peak.
        progress: Is told how many programs are done, of how many.

    Returns:
        The comparison. A recipe that the program cannot take, or in which an option of `settings`
        has no effect, is in it with the reason.

    Raises:
        InputError: The program is not valid, was rewritten before, or XLA cannot run it on the CPU,
            or compile it for the device; or the compiler of the device is not installed.
        UsageError: A sample does not fit the program, a recipe or an option is not known, or the
            profile, further inputs, steps or seeds, or `within` have no effect; or the speeds of
            the target are not described.

    Example:
        >>> x = np.random.default_rng(0).standard_normal((32, 32), np.float32)
        >>> program = jax.export.export(jax.jit(lambda x: x @ x))(x)
        >>> compare_recipes(program, [(x,)], "propagate, bf16").suggested
        'bf16'
    """
    seen = profile_of(profile)
    first = max(len(samples), 1) if steps is None else steps
    least = LEAST_SNR if snr_db is None else snr_db
    options = CompareOptions(first, carry, seeds, least, signature, seen)
    devices = device, _ = _devices(target, memory=memory)
    given = dict(settings or {})
    chosen = recipes_of(recipes, given if device is None else for_device(device.name, given))
    refuse_profile(seen, [recipe for _, recipe in chosen if isinstance(recipe, Recipe)])
    bench = Bench(program, samples, options)
    if steps is None and bench.has_state and bench.loss is not None:
        bench.train(max(first, TRAINING_STEPS))
    if bench.loss is None and (first > 1 or seeds > 1):
        further = "seeds" if first == 1 else "inputs" if steps is None else "steps"
        raise UsageError(
            f"further {further} have no effect: no result is a loss",
            location=bench.name,
            hint="leave them out, or return the loss, a scalar, from the step",
        )
    found = _compared(bench, chosen, _allowed(bench, snr_db, within), devices, progress)
    return _with_devices(found, bench, devices)


def _devices(target: str | None, *, memory: bool) -> Devices:
    """Returns the device for which times are estimated, and the one for which is compiled.

    Raises:
        InputError: There is no such device, or its compiler is needed and not installed.
        UsageError: The speeds of the target are not described.
    """
    timed = None if target is None else with_speeds(target)
    if not memory:
        return timed, None
    compiled = timed or load_target(_CPU)
    plugin_versions(compiled)
    return timed, compiled


def _with_devices(found: Comparison, bench: Bench, devices: Devices) -> Comparison:
    """Returns a comparison with the times and the memory of the original."""
    timed, compiled = devices
    if compiled is not None:
        found = replace(found, memory=bench.memory(compiled))
    if timed is None:
        return found
    return replace(
        found,
        target=timed.name,
        seconds=matmul_seconds(bench.matmuls, timed),
        unknown_turns=sum(each.calls for each in bench.matmuls if each.unknown_turns),
    )


def _allowed(bench: Bench, snr_db: float | None, within: float | None) -> float | None:
    """Returns the share by which losses may be larger; None if they are not judged.

    Raises:
        UsageError: It is given, and losses are not judged.
    """
    trains = bench.options.carry and bench.options.steps > 1 and bench.loss is not None
    if trains and snr_db is None:
        return WITHIN if within is None else within
    if within is not None:
        why = "recipes are judged by --snr (snr_db=)" if trains else "no steps of training are run"
        raise UsageError(
            f"--within (within=) has no effect: {why}",
            location=bench.name,
            hint="give one of both" if trains else "leave it out, or give a step of training",
        )
    return None


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
        recipes = _GROUPS[names[0]]() if names in [[group] for group in _GROUPS] else names
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


def _compared(
    bench: Bench,
    recipes: Sequence[Given],
    within: float | None,
    devices: Devices,
    tell: Progress,
) -> Comparison:
    options, loss, losses = bench.options, bench.loss, bench.losses
    trials: list[Trial] = []
    for number, (name, recipe) in enumerate(recipes, 1):
        tell(number, len(recipes) + 1)
        trials.append(
            Trial(name, reason=recipe.message)
            if isinstance(recipe, UsageError)
            else _tried(bench, name, recipe, devices)
        )
    tell(len(recipes) + 1, len(recipes) + 1)
    kinds = judged(bench.kinds)
    found = Comparison(
        bench.name, bench.hash, options.steps, options.carry,
        options.snr_db if within is None else None, within, kinds,
        "" if loss is None else loss.tensor.name, _frozen(losses), tuple(trials), "", "",
    )  # fmt: skip
    judge = BySnr(kinds, options.snr_db) if within is None else ByLoss(found, within)
    suggested, suggestion = suggest(trials, judge)
    return replace(found, suggested=suggested, suggestion=suggestion)


def _tried(bench: Bench, name: str, recipe: Recipe, devices: Devices) -> Trial:
    """Returns the result of one recipe, or the reason why the program cannot take it."""
    asked, (device, compiled_for) = bench.asked(recipe), devices
    try:
        require_pairs(recipe, asked.signature)
        outcome = bench.outcome(asked, casts=True)
        memory = None if compiled_for is None else bench.memory(compiled_for, asked)
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
        None if device is None else matmul_seconds(report.matmuls, device),
        memory,
    )


def _frozen(losses: Losses) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, losses))
