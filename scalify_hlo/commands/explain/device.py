"""The device that a rewrite is for, as the target of its recipe."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from os import PathLike
from typing import Final, get_args

from scalify_hlo.errors import UsageError
from scalify_hlo.recipes.loading import sets
from scalify_hlo.recipes.model import Gpu, Recipe
from scalify_hlo.recipes.model import Target as RecipeTarget
from scalify_hlo.targets.description import Target, load_target

KEY: Final = "target"
"""The key of the option of recipes."""
_RECIPES: Final[Mapping[str, RecipeTarget]] = {"cuda": "gpu", "tpu": "tpu", "cpu": "cpu"}
"""The target of a recipe for each platform."""


def recipe_target(target: Target) -> RecipeTarget:
    """Returns the target of a recipe for a device.

    Args:
        target: The device.

    Example:
        >>> recipe_target(load_target("tpu-v6e"))
        'tpu'
    """
    return next((n for n in get_args(Gpu) if n == target.name), _RECIPES[target.platform])


def for_device(name: str, settings: Mapping[str, object]) -> dict[str, object]:
    """Returns the options of a recipe for a device.

    Args:
        name: The name of the device, such as ``h200``.
        settings: The other options, by key.

    Raises:
        InputError: There is no such device.
        UsageError: The options have a target already.

    Example:
        >>> for_device("h200", {"matmul.output": "bf16"})
        {'matmul.output': 'bf16', 'target': 'h200'}
    """
    device = load_target(name)
    if KEY in settings:
        raise UsageError(
            f"the target of the recipe is set to {settings[KEY]!r}, and the device is {name}",
            hint="leave one of them out: the device sets the target of the recipe",
        )
    return {**settings, KEY: recipe_target(device)}


def chosen_target(
    device: Target, recipe: str | PathLike[str] | Recipe, keys: Collection[str]
) -> dict[str, RecipeTarget]:
    """Returns the target that a device gives a recipe, as an option.

    Args:
        device: The device.
        recipe: The recipe, as for `load_recipe`.
        keys: The keys of the options that are set over the recipe.

    Returns:
        The option; nothing if the recipe or the options have a target already.
    """
    known = KEY in keys or sets(recipe, KEY)
    return {} if known else {KEY: recipe_target(device)}
