"""Recipes: what a rewrite is asked to do, as frozen dataclasses with presets by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal, cast, get_args

from scalify_hlo.diagnostics import UsageError, nearest

Meet = Literal["anchor", "max"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """The options of a rewrite.

    Attributes:
        name: The preset it started from.
        meet: Where unrelated dynamic scales meet: ``anchor`` keeps the scale of one operand, so
            that one factor is built instead of two; ``max`` takes the larger, a new generator.
    """

    name: str = "propagate"
    meet: Meet = "anchor"

    def override(self, key: str, value: str) -> Recipe:
        """The recipe with one option set.

        Raises:
            UsageError: The key or the value is not one the recipe knows.
        """
        choices = {"meet": get_args(Meet)}
        if key not in choices:
            raise UsageError(
                f"recipe {self.name!r} has no option {key!r}{nearest(key, choices)}",
                hint=f"its options are: {', '.join(choices)}",
            )
        if value not in choices[key]:
            raise UsageError(
                f"{value!r} is not a value of {key!r}{nearest(str(value), choices[key])}",
                hint=f"its values are: {', '.join(choices[key])}",
            )
        return replace(self, meet=cast(Meet, value))


PRESETS = {"propagate": Recipe()}
"""Recipes by name. ``propagate`` splits values into data and scale and changes no dtype."""


def load_recipe(name: str, overrides: Mapping[str, str] | Iterable[str] = ()) -> Recipe:
    """A preset by name, with options set over it.

    Args:
        name: A key of `PRESETS`.
        overrides: Options and their values, or ``key=value`` strings.

    Raises:
        UsageError: The name, a key or a value is unknown.
    """
    if name not in PRESETS:
        raise UsageError(
            f"no recipe is named {name!r}{nearest(name, PRESETS)}",
            hint=f"the recipes are: {', '.join(PRESETS)}",
        )
    recipe = PRESETS[name]
    pairs = overrides.items() if isinstance(overrides, Mapping) else map(_key_value, overrides)
    for key, value in pairs:
        recipe = recipe.override(key, value)
    return recipe


def describe(recipe: Recipe) -> str:
    """A recipe as ``key=value`` pairs."""
    return " ".join(f"{f.name}={getattr(recipe, f.name)}" for f in fields(recipe))


def _key_value(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign:
        raise UsageError(
            f"{text!r} sets no option of the recipe", hint="write it as key=value, as in meet=max"
        )
    return key.strip(), value.strip()
