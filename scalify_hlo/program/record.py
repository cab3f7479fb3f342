"""The record of the rewrites of a program, by which a second rewrite of it is refused.

A second rewrite of a program with pairs makes pairs of pairs, which is seldom intended. So every
rewrite that changes a program is recorded in an attribute of its module.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from typing import Any, Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.profile.model import Profile
from scalify_hlo.recipes.loading import load_recipe, own_settings
from scalify_hlo.recipes.toml import parse_input_scale, recipe_names, to_literal
from scalify_hlo.report.model import Report
from scalify_hlo.version import __version__

REWRITTEN: Final = "scalify.rewritten"
"""The name of the attribute, a list with a text for each rewrite, the oldest first."""


def rewrites_of(module: ir.Module) -> list[str]:
    """Returns the recorded rewrites of a module: version, recipe and options of each."""
    with module.context:
        found = module.operation.attributes
        if REWRITTEN not in found:
            return []
        recorded = found[REWRITTEN]
        entries = list(recorded) if isinstance(recorded, ir.ArrayAttr) else [recorded]
        return [e.value if isinstance(e, ir.StringAttr) else str(e) for e in entries]


def refuse_rewritten(module: ir.Module, name: str) -> None:
    """Refuses a program that was rewritten before.

    Args:
        module: The module of the program.
        name: The name of the program in the error.

    Raises:
        InputError: The program was rewritten before.
    """
    done = rewrites_of(module)
    if done:
        raise InputError(
            f"the program was rewritten before, by {done[-1]}",
            location=name,
            hint="rewrite the original; to rewrite this one once more, give --again (again=True)",
        )


def record(module: ir.Module, options: Options, report: Report) -> None:
    """Records a rewrite, unless its options ask for no change.

    Args:
        module: The rewritten module.
        options: The options of the rewrite.
        report: The report of the rewrite.
    """
    recipe = options.recipe
    if not (report.has_scales or recipe.narrow or recipe.rescales):
        return
    texts = [*rewrites_of(module), described(options)]
    with module.context:
        entries = [ir.StringAttr.get(text) for text in texts]
        module.operation.attributes[REWRITTEN] = ir.ArrayAttr.get(entries)


def rewrite_recorded(module: ir.Module, options: Options, name: str) -> Report:
    """Rewrites a module as `rewrite_module` does, and records the rewrite in an attribute of it.

    Args:
        module: The module, which is edited.
        options: The options of the rewrite.
        name: The name of the module in diagnostics.

    Returns:
        The report of the rewrite.

    Raises:
        InputError: `rewrite_module` raises it, or the module has the record of a rewrite, and
            `options` do not allow another one.
    """
    if not options.again:
        refuse_rewritten(module, name)
    report = rewrite_module(module, options)
    record(module, options, report)
    return report


def described(options: Options) -> str:
    """Returns a rewrite as text: the version, the recipe, and the other options."""
    asked = [f"scalify-hlo {__version__}", f"recipe {options.recipe.name}"]
    asked.append(f"signature {options.signature}")
    asked += [f"{key} = {to_literal(value)}" for key, value in own_settings(options.recipe).items()]
    asked += [f"{_SCALE}{text}" for text in options.given_scales]
    if options.profile is not None:
        asked.append(f"profile of {options.profile.program}")
    return ", ".join(asked)


_SCALE: Final = "input scale "
_SIZES: Final = "inputs.scale"

_PARTS: Final = re.compile(
    r", (?=(?:recipe|signature|input scale|profile of) |[a-z_]+(?:\.[a-z_]+)* = )"
)
"""The commas between the parts of a text of `described`."""


class _Recorded(NamedTuple):
    """The parts of the text of a rewrite: words, options of the recipe, and input scales."""

    words: dict[str, str]
    settings: dict[str, Any]
    scales: list[str]

    @classmethod
    def of(cls, text: str, name: str) -> _Recorded:
        """Reads a text that `described` wrote into the program of this name.

        Raises:
            InputError: It did not.
        """
        try:
            found = cls._read(text)
        except tomllib.TOMLDecodeError:
            found = cls({}, {}, [])
        if not {"recipe", "signature"} <= found.words.keys():
            raise InputError(
                f"the attribute {REWRITTEN} records no rewrite",
                location=name,
                hint="give the program as `scalify-hlo rewrite` wrote it",
            )
        return found

    @classmethod
    def _read(cls, text: str) -> _Recorded:
        found = cls({}, {}, [])
        for part in _PARTS.split(text)[1:]:
            key, equals, value = part.partition(" = ")
            if part.startswith(_SCALE):
                found.scales.append(part.removeprefix(_SCALE))
            elif equals:
                found.settings[key] = tomllib.loads(f"x = {value}")["x"]
            else:
                word, _, said = part.partition(" ")
                found.words[word] = said
        return found


def recorded_sizes(module: ir.Module, name: str) -> list[str]:
    """Returns the declared sizes that the rewrites of a module record, as ``PATTERN=NUMBER``.

    Args:
        module: The module.
        name: Its name in diagnostics.

    Raises:
        InputError: The attribute of the rewrites does not record them.
    """
    every = [_Recorded.of(text, name) for text in rewrites_of(module)]
    return [text for each in every for text in (*each.settings.get(_SIZES, ()), *each.scales)]


def recorded_options(module: ir.Module, name: str, profile: Profile | None = None) -> Options:
    """Returns the options of the rewrite that a module records.

    Args:
        module: The rewritten module.
        name: Its name in diagnostics.
        profile: The profile of the rewrite; None if there was none.

    Raises:
        UsageError: The module records no rewrite, or several, or the profile is missing, or is
            none of the rewrite.
        InputError: The attribute of the rewrite does not record it.
    """
    done = rewrites_of(module)
    if len(done) != 1:
        raise UsageError(
            f"the program records {len(done) or 'no'} rewrites, of which there has to be one",
            location=name,
            hint="give a program that was rewritten once",
        )
    words, settings, scales = _Recorded.of(done[0], name)
    if "profile" in words and profile is None:
        raise UsageError(
            "the program was rewritten with a profile", location=name, hint="give it by --profile"
        )
    if "profile" not in words and profile is not None:
        raise UsageError(
            "the profile has no effect: the program was rewritten without one",
            location=name,
            hint="leave --profile out",
        )
    known = words["recipe"] in recipe_names()
    recipe = load_recipe(words["recipe"] if known else "propagate", settings)
    return Options(
        recipe=recipe if known else replace(recipe, name=words["recipe"]),
        signature="scaled" if words["signature"] == "scaled" else "same",
        input_scale=dict(map(parse_input_scale, scales)),
        profile=profile if "profile" in words else None,
    )
