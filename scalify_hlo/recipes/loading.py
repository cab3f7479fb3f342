"""Recipes from presets, files and settings, and their check."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, Final

from scalify_hlo.errors import ScalifyError, UsageError, nearest
from scalify_hlo.recipes.default import CALIBRATED, DEFAULT
from scalify_hlo.recipes.effects import PAIRS, Idle
from scalify_hlo.recipes.fields import Option, options_of
from scalify_hlo.recipes.formats import KEEP as KEEP
from scalify_hlo.recipes.formats import Formats, named_formats, resolve
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.recipes.toml import (
    Setting,
    Value,
    call_settings,
    file_settings,
    is_path,
    preset_settings,
    recipe_names,
    to_toml,
)

LAST_WIDE = "matmul.last_wide"
"""The key of the option whose value is a share."""

TABLES: Final[Mapping[str, type[Any]]] = {
    name: each.hint
    for name, each in options_of(Recipe).items()
    if isinstance(each.hint, type) and is_dataclass(each.hint)
}
"""The tables of a recipe file, with the dataclasses of their options."""

OPTIONS: Final[Mapping[str, Option]] = {
    **{key: each for key, each in options_of(Recipe).items() if key not in TABLES},
    **{
        f"{table}.{name}": each
        for table, model in TABLES.items()
        for name, each in options_of(model).items()
    },
}
"""The options of a recipe by key."""

PLACES: Final = {k: o.values.names for k, o in OPTIONS.items() if isinstance(o.values, Formats)}
"""The formats that each option for a format accepts."""


def load_recipe(
    recipe: str | os.PathLike[str] | Recipe = "propagate",
    overrides: Mapping[str, object] | Iterable[str] = (),
) -> Recipe:
    """Loads a recipe and sets options over it.

    Args:
        recipe: The name of a preset; the path of a TOML file, which contains a separator or ends in
            ``.toml``; or a `Recipe`.
        overrides: Options and their values, as a mapping or as ``key=value`` strings. Keys of
            options in tables have a dot, as in ``matmul.activation``, and formats of single
            tensors a pattern in quotes, as in ``state.weight."base/*"``. Values may be text; lists
            have commas between their items.

    Returns:
        The recipe.

    Raises:
        UsageError: The name, a key or a value is unknown, an option has no effect, or two operand
            formats cannot be multiplied.
        InputError: The file cannot be read, or has such a fault; the location is in the file.

    Example:
        >>> load_recipe("fp8", ["matmul.weight=f8E5M2", "matmul.gradient=e4m3"]).matmul.gradient
        'f8E4M3FN'
    """
    settings = _merged(_settings(recipe), call_settings(overrides))
    return _without_idle(_build(settings), settings)


def _merged(*layers: Mapping[str, Setting]) -> dict[str, Setting]:
    """Merges layers of settings over the defaults; later layers take precedence."""
    settings = {key: Setting(key, value) for key, value in defaults().items()}
    for layer in layers:
        for key, setting in layer.items():
            if setting.value == {} and key in TABLES:
                continue
            if key not in settings:
                raise _unknown(setting)
            settings[key] = setting.over(settings[key])
    return settings


def recipe_of(
    recipe: str | os.PathLike[str] | Recipe | None,
    overrides: Mapping[str, object] | Iterable[str] = (),
    *,
    calibrated: bool,
) -> Recipe:
    """Loads the recipe of a rewrite.

    Args:
        recipe: As for `load_recipe`; None for the default recipe.
        overrides: As for `load_recipe`.
        calibrated: Whether the rewrite has a profile, from which scales come.

    Raises:
        UsageError: As for `load_recipe` and `load_calibrated`.
        InputError: As for `load_recipe`.
    """
    if calibrated:
        return load_calibrated(CALIBRATED if recipe is None else recipe, overrides)
    return load_recipe(DEFAULT if recipe is None else recipe, overrides)


def load_calibrated(
    recipe: str | os.PathLike[str] | Recipe,
    overrides: Mapping[str, object] | Iterable[str] = (),
) -> Recipe:
    """Loads a recipe whose scales come from a profile; see `load_recipe`.

    If the recipe keeps the formats of all matmul operands, its options are set over the preset
    ``fp8-calibrated``, which quantizes them.

    Args:
        recipe: As for `load_recipe`.
        overrides: As for `load_recipe`.

    Raises:
        UsageError: As for `load_recipe`, or the scales of the recipe are delayed.
        InputError: As for `load_recipe`.
    """
    given, over = _settings(recipe), call_settings(overrides)
    settings = _merged(given, over)
    loaded = _build(settings)
    if loaded.scaling.kind == "delayed":
        raise UsageError(
            f"the recipe {loaded.name} takes its scales from past steps, not from a profile",
            hint=f"give the profile to init_scaling_state, or take the recipe {CALIBRATED}",
        )
    if not loaded.matmul.narrow:
        own = {key: s for key, s in given.items() if s.value != defaults().get(key)}
        settings = _merged(preset_settings(CALIBRATED), own, over)
    settings["scaling.kind"] = replace(settings["scaling.kind"], value="calibrated")
    return _without_idle(_build(settings), settings)


def dump_recipe(recipe: Recipe, *, whole: bool = False) -> str:
    """Returns a recipe as the text of a TOML file.

    Args:
        recipe: The recipe.
        whole: Whether options at their defaults are written too.

    Returns:
        The text, which `load_recipe` reads from a file.

    Example:
        >>> print(dump_recipe(Recipe(meet="max")), end="")
        name = "propagate"
        meet = "max"
    """
    return to_toml(settings_of(recipe, whole=whole))


def settings_of(recipe: Recipe, *, whole: bool = False) -> dict[str, Value]:
    """Returns the name of a recipe and its options by key.

    Args:
        recipe: The recipe.
        whole: Whether options at their defaults are returned too.
    """
    values = dict(_leaves(recipe))
    if whole:
        return values
    return {k: v for k, v in values.items() if k == "name" or v != defaults()[k]}


@cache
def defaults() -> Mapping[str, Value]:
    """Returns the default of each option by key."""
    return {key: each.default for key, each in OPTIONS.items()}


def _leaves(node: Any, prefix: str = "") -> Iterator[tuple[str, Value]]:
    for field_ in fields(node):
        value = getattr(node, field_.name)
        if is_dataclass(value):
            yield from _leaves(value, f"{prefix}{field_.name}.")
        else:
            yield f"{prefix}{field_.name}", value


def _settings(recipe: object) -> dict[str, Setting]:
    if isinstance(recipe, Recipe):
        return {key: Setting(key, value) for key, value in _leaves(recipe)}
    if isinstance(recipe, os.PathLike):
        return file_settings(os.fspath(recipe))
    if isinstance(recipe, str):
        return file_settings(recipe) if is_path(recipe) else preset_settings(recipe)
    raise UsageError(
        f"an object of class {type(recipe).__name__} is not a recipe",
        hint="give a preset's name, the path of a TOML file, or a Recipe",
    )


def sets(recipe: str | os.PathLike[str] | Recipe, key: str) -> bool:
    """Whether a recipe itself gives an option another value than the default."""
    given = _settings(recipe).get(key)
    return given is not None and given.value != defaults()[key]


def _unknown(setting: Setting) -> ScalifyError:
    table = setting.key.partition(".")[0]
    near = [key for key in defaults() if key.startswith(f"{table}.")] or list(defaults())
    return setting.error(
        f"a recipe has no option {setting.key!r}{nearest(setting.key, defaults())}",
        f"{f'the options of {table}' if table in TABLES else 'its options'} are: {', '.join(near)}",
    )


def _build(settings: Mapping[str, Setting]) -> Recipe:
    settings = {k: replace(s, value=s.read(OPTIONS[k].values)) for k, s in settings.items()}
    settings |= named_formats(settings)
    values: dict[str, Any] = {key: setting.value for key, setting in settings.items()}
    values |= resolve(settings, PLACES)
    parts: dict[str, Any] = {key: value for key, value in values.items() if "." not in key}
    for name, table in TABLES.items():
        parts[name] = table(**{f.name: values[f"{name}.{f.name}"] for f in fields(table)})
    return Recipe(**parts)


def _without_idle(recipe: Recipe, settings: Mapping[str, Setting]) -> Recipe:
    """Returns the recipe, and refuses options that were set and have no effect in it."""
    for option in own_options(recipe, idle(recipe)):
        raise settings[option.key].error(option.message, option.cure)
    return recipe


def idle(recipe: Recipe) -> Iterator[Idle]:
    """Yields the options that have no effect in a recipe, whatever their values."""
    for key, each in OPTIONS.items():
        need, table = each.said("needs"), key.partition(".")[0]
        if need is not None and not need.met(recipe, table):
            cure = need.cure.format(recipe, table)
            yield Idle(key, need.reason.format(recipe, table), cure)


def idle_under_same() -> Iterator[Idle]:
    """Yields the options of pairs, which have no effect with the signature ``same``."""
    own = options_of(Recipe)
    for key, each in OPTIONS.items():
        if each.said("pairs") or own[key.partition(".")[0]].said("pairs"):
            yield Idle(key, PAIRS.reason, PAIRS.cure)


def require_pairs(recipe: Recipe, signature: str) -> None:
    """Refuses options of state with the signature ``same``.

    Raises:
        UsageError: Such an option was set, and not by the preset that the recipe starts from.
    """
    if signature == "same":
        for option in own_options(recipe, idle_under_same()):
            raise UsageError(option.message, hint=option.cure)


def own_options(recipe: Recipe, options: Iterable[Idle]) -> Iterator[Idle]:
    """Yields the options that differ from their defaults and from the preset of the recipe."""
    values, preset = dict(_leaves(recipe)), _of_preset(recipe.name)
    for option in options:
        if values[option.key] not in (defaults()[option.key], preset[option.key]):
            yield option


def own_settings(recipe: Recipe) -> dict[str, Value]:
    """Returns the options, except `name`, in which a recipe differs from its preset."""
    preset = _of_preset(recipe.name)
    return {k: v for k, v in _leaves(recipe) if k != "name" and v != preset[k]}


@cache
def _of_preset(name: str) -> Mapping[str, Value]:
    """Returns all options of a preset; the defaults for any other name."""
    known = name in recipe_names()
    return dict(_leaves(_build(_merged(preset_settings(name))))) if known else defaults()
