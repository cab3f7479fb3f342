"""The number formats of a recipe: how they may be spelt, where each may stand, which can meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

from scalify_hlo.diagnostics import nearest
from scalify_hlo.formats import FORMATS
from scalify_hlo.recipe_file import Setting

KEEP = "keep"
"""In a format's place: what the program says itself."""

F8 = tuple(name for name in FORMATS if name.startswith("f8"))
ANY = (KEEP, "f32", "bf16", "f16", *F8)
WIDE = (KEEP, "f32", "bf16", "f16")
OPERANDS = ("matmul.activation", "matmul.weight", "matmul.gradient")
"""The roles that meet in matmuls, each with each other one."""
PLACES: Mapping[str, tuple[str, ...]] = {
    "compute": (KEEP, "bf16", "f16"),
    **dict.fromkeys(OPERANDS, ANY),
    "matmul.output": WIDE,
    "state.weight": ANY,
    "state.gradient": ANY,
    "state.first_moment": ANY,
    "state.second_moment": ANY,
}
"""The formats that each option takes."""

FNUZ = ("f8E4M3FNUZ", "f8E5M2FNUZ")
"""AMD's, which no hardware multiplies with others."""
E5M2 = ("f8E5M2", "f8E5M2FNUZ")
LACKING: Mapping[str, tuple[str, ...]] = {
    "gpu": ("f8E4M3", "f8E4M3B11FNUZ", "f8E3M4", *FNUZ),
    "tpu": ("f8E4M3", "f8E3M4", *FNUZ),
    "iree": ("f8E4M3", "f8E4M3B11FNUZ", "f8E3M4"),
    "portable": ("f8E4M3", "f8E3M4"),
}
"""The f8 formats that a target lacks. CPUs compute in f32 and convert any, AMD's GPUs have the FNUZ
ones or, the newer ones, those of the OCP, and ``any`` is not known. What ``portable`` lacks came
with StableHLO 1.7."""

SHORT = {
    "e4m3": ("f8E4M3FN", "f8E4M3FNUZ"),
    "e5m2": ("f8E5M2", "f8E5M2FNUZ"),
}
"""Names for what a target has: AMD's second, all others' first."""
_ALIASES = {
    "fp16": "f16",
    "float16": "f16",
    "half": "f16",
    "bfloat16": "bf16",
    "fp32": "f32",
    "float32": "f32",
} | {
    spelling: name
    for name in F8
    for spelling in (name.lower().replace("f8", "float8_"), name.lower().removeprefix("f8"))
    if spelling not in SHORT
}


def canonical(name: str, target: str) -> str:
    """A format's name as MLIR spells it, from any spelling; other names stay as they are."""
    lower = name.lower()
    if lower in SHORT:
        return SHORT[lower][target == "rocm"]
    known = {format_.lower(): format_ for format_ in (*FORMATS, KEEP)}
    return known.get(_ALIASES.get(lower, lower).lower(), name)


def spellings(name: str) -> list[str]:
    """The other names that a format goes by."""
    return [
        *(s for s, names in SHORT.items() if name in names),
        *(s for s, n in _ALIASES.items() if n == name),
    ]


def resolve(settings: Mapping[str, Setting], target: Setting) -> dict[str, str]:
    """The formats of a recipe, as MLIR spells them.

    Args:
        settings: One for each key of `PLACES`.
        target: What the program is for.

    Raises:
        ScalifyError: A name is no format, a format cannot stand where it does, the target lacks
            it, or two that meet in a matmul can't.
    """
    formats = {
        key: _format(settings[key], places, str(target.value)) for key, places in PLACES.items()
    }
    for key, format_ in formats.items():
        _check_target(settings[key], format_, target)
    for a, b in combinations(OPERANDS, 2):
        for message, hint in _clashes((a, formats[a]), (b, formats[b])):
            raise _later(settings[a], settings[b], target).error(message, hint)
    return formats


def named_formats(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """The formats of operands that `scaling.fp8_format` stands for, unless others came later."""
    named = settings["scaling.fp8_format"]
    formats = _NAMED.get(str(named.value))
    if formats is None:
        return {}
    return {
        key: replace(named, key=key, value=format_)
        for key, format_ in zip(OPERANDS, formats, strict=True)
        if settings[key].value == KEEP or _later(settings[key], named) is named
    }


_NAMED = {"HYBRID": ("e4m3", "e4m3", "e5m2"), "E4M3": ("e4m3", "e4m3", "e4m3")}
"""Transformer Engine's names for the formats of activations, weights and gradients."""


def _format(setting: Setting, allowed: tuple[str, ...], target: str) -> str:
    given = setting.string()
    name = canonical(given, target)
    if name in allowed:
        return name
    listing = f"it takes: {', '.join(allowed)}"
    if name in FORMATS:
        raise setting.error(f"{setting.key!r} cannot be {name}", listing)
    guess = nearest(given, (*allowed, *SHORT, *_ALIASES))
    raise setting.error(f"{given!r} is not a format for {setting.key!r}{guess}", listing)


def _check_target(setting: Setting, format_: str, target: Setting) -> None:
    lacking = LACKING.get(str(target.value), ())
    if format_ in lacking:
        present = ", ".join(name for name in F8 if name not in lacking)
        raise _later(setting, target).error(
            f"{setting.key!r} is {format_}, a format that the target {target.value!r} lacks",
            f"it has {present}; `e4m3` and `e5m2` stand for what each target has",
        )


def _clashes(a: tuple[str, str], b: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """Why two roles, each with its format, cannot meet in a matmul, and the cure."""
    (role, format_), (other, its) = a, b
    both = f"{role!r} is {format_} and {other!r} is {its}"
    if (format_ in F8) != (its in F8):
        yield (
            f"{both}, and a matmul takes two f8 operands or none",
            f"give f8 formats to all of {', '.join(OPERANDS)}, or to none",
        )
    elif (format_ in FNUZ) != (its in FNUZ):
        yield (
            f"{both}, and no matmul takes a FNUZ format of AMD with another f8 format",
            "`e4m3` and `e5m2` stand for what the target has: FNUZ with target=rocm",
        )
    elif format_ in E5M2 and its in E5M2:
        yield (
            f"{both}, and no hardware multiplies E5M2 by E5M2",
            "activations and weights are mostly e4m3, and gradients e5m2",
        )


def _later(*settings: Setting) -> Setting:
    """The one that was given last: with those before it alone, all was well."""
    return max(settings, key=lambda setting: setting.source)
