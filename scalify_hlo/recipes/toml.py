"""Recipes as text: TOML files, which the presets are too, and ``key=value`` pairs."""

from __future__ import annotations

import enum
import json
import math
import os
import re
import reprlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from scalify_hlo.algebra.limits import RECIPE_BYTES, SAFE_REACH
from scalify_hlo.algebra.measured import Measured
from scalify_hlo.errors import InputError, ScalifyError, UsageError, nearest, shown
from scalify_hlo.recipes.fields import Values, values_of
from scalify_hlo.storage.files import read_open

Value: TypeAlias = bool | int | float | str | tuple[str, ...] | tuple[int, ...]
"""The value of an option of a recipe."""

_PRESETS: Final = "presets"
_SUFFIX = ".toml"
_BASE = "base"


class OptionSource(enum.IntEnum):
    """The source of a setting: a preset, a file or the call; later ones take precedence."""

    PRESET = 0
    FILE = 1
    CALL = 2


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of one option, and its source.

    Attributes:
        key: The key of the option, such as ``matmul.activation``.
        value: The value, of a type of TOML; a value from a call may be text instead.
        source: The source of the setting.
        location: The file, with a line if known; None for presets and calls.
    """

    key: str
    value: object
    source: OptionSource = OptionSource.PRESET
    location: str | None = None

    def read(self, values: Values) -> Any:
        """Returns the value of the option.

        Args:
            values: The values that the option takes.

        Raises:
            ScalifyError: The option does not take the value.
        """
        spelt = self.source is OptionSource.CALL
        try:
            return values.read(repr(self.key), self.value, spelt=spelt, hint=_HELP)
        except UsageError as error:
            raise self.error(error.message, str(error.hint)) from None

    def over(self, before: Setting) -> Setting:
        """Returns the setting over an earlier one of the option, to which a table adds patterns."""
        if not isinstance(self.value, Mapping) or not self.value:
            return self
        value = before.value if isinstance(before.value, Mapping) else {"*": before.value}
        kept = {pattern: v for pattern, v in value.items() if pattern not in self.value}
        return replace(self, value={**kept, **self.value})

    def error(self, message: str, hint: str) -> ScalifyError:
        """Returns an error about the setting: of the file if it has one, else of the call."""
        if self.location is None:
            return UsageError(message, hint=hint)
        return InputError(message, location=self.location, hint=hint)


_HELP = "`scalify-hlo recipes propagate --all` shows every option with a value"


def is_path(recipe: str) -> bool:
    """Whether the name of a recipe is the path of a file, and not the name of a preset."""
    return recipe.endswith(_SUFFIX) or any(s and s in recipe for s in ("/", os.sep, os.altsep))


@cache
def _files() -> Mapping[str, Path]:
    """Returns the files of all recipes that have a name, which is that of the file."""
    found = Path(__file__).parent.glob(f"*/*{_SUFFIX}")
    return {path.stem: path for path in sorted(found, key=lambda path: path.stem)}


def recipe_names() -> list[str]:
    """Returns the names of all recipes that have one: presets, and recipes of the literature."""
    return list(_files())


def preset_names() -> list[str]:
    """Returns the names of the presets."""
    return [name for name, path in _files().items() if path.parent.name == _PRESETS]


def literature_names() -> list[str]:
    """Returns the names of the recipes of the literature, and of baselines of papers."""
    return [name for name, path in _files().items() if path.parent.name != _PRESETS]


def preset_text(name: str) -> str:
    """Returns the text of the file of a preset, or of a recipe of the literature.

    Raises:
        UsageError: There is no recipe of this name.
    """
    _check_preset(Setting(_BASE, name, OptionSource.CALL), name)
    return _files()[name].read_text(encoding="utf-8")


def preset_settings(name: str) -> dict[str, Setting]:
    """Returns the settings of a preset, or of a recipe of the literature, by key.

    Raises:
        UsageError: There is no recipe of this name.
    """
    document = tomllib.loads(preset_text(name))
    base = document.pop(_BASE, None)
    settings = preset_settings(str(base)) if base is not None else {}
    settings |= _by_key(_flat(document, OptionSource.PRESET, None))
    return settings | {"name": Setting("name", name)}


def file_settings(path: str) -> dict[str, Setting]:
    """Returns the settings of a file by key, over those of the preset that is its ``base``.

    Raises:
        InputError: The file cannot be read or is not valid TOML, or its base is not a preset.
    """
    text = _read(path)
    document, lines = _parse(text, path), _lines(text)
    settings = {}
    if _BASE in document:
        base = Setting(
            _BASE, document.pop(_BASE), OptionSource.FILE, _at_line(path, lines.get(_BASE))
        )
        name = base.read(values_of(str))
        _check_preset(base, name)
        settings = preset_settings(name)
    found = _flat(document, OptionSource.FILE, path)
    placed = (replace(s, location=_at_line(path, lines.get(s.key))) for s in found)
    return _by_key([*settings.values(), *placed])


_HEADER: Final = re.compile(r"\s*\[\s*([\w.\-]+)\s*\]")
_ENTRY: Final = re.compile(r"\s*([\w.\-]+?)(?:\s*\.\s*(?:\"[^\"]*\"|'[^']*'))?\s*=")
_OF_TENSOR: Final = re.compile(r"""(\w+\.\w+)\.(["'])(.+)\2""")


def _lines(text: str) -> dict[str, int]:
    """Returns the line on which each key of a document is set, except keys in quotes."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = f"{header[1]}."
            lines.setdefault(header[1], number)
        elif entry := _ENTRY.match(line):
            lines.setdefault(f"{table}{entry[1]}", number)
    return lines


def _at_line(path: str, line: int | None) -> str:
    return path if line is None else f"{path}:{line}"


def call_settings(overrides: Mapping[str, object] | Iterable[str]) -> dict[str, Setting]:
    """Returns the settings of a call by key, from a mapping or from ``key=value`` strings.

    Raises:
        UsageError: A string is not of the form ``key=value``.
    """
    if isinstance(overrides, str):
        overrides = [overrides]
    pairs = overrides.items() if isinstance(overrides, Mapping) else map(_key_value, overrides)
    return _by_key(_of_call(str(key), value) for key, value in pairs)


def _of_call(key: str, value: object) -> Setting:
    """Returns a setting of a call, whose key may end in a pattern: ``state.weight."base/*"``."""
    found = _OF_TENSOR.fullmatch(key)
    if found is None:
        return Setting(key, value, OptionSource.CALL)
    return Setting(found[1], {found[3]: value}, OptionSource.CALL)


def to_toml(values: Mapping[str, Value]) -> str:
    """Returns values by key as a TOML document; keys with a dot are put into tables."""
    tables: dict[str, list[str]] = {"": []}
    for key, value in values.items():
        table, _, name = key.rpartition(".")
        tables.setdefault(table, []).append(f"{name} = {to_literal(value)}")
    blocks = [[f"[{name}]", *lines] if name else lines for name, lines in tables.items() if lines]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def to_literal(value: Value) -> str:
    """Returns a value as a TOML literal: that of JSON, with other characters escaped too."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(to_literal, value))}]"
    return shown(json.dumps(value, ensure_ascii=False))


MOST_EXPONENT = SAFE_REACH[True]
"""The largest |log2| of the scale of an input, which is a normal f64 number."""


_MEASURED: Final = " measured"
"""The end of an input scale that was measured from values."""


def parse_input_scale(text: str) -> tuple[str, float]:
    """Parses ``PATTERN=2^k`` or ``PATTERN=0.02``, of which both may end in `` measured``.

    Returns:
        The pattern of names, and the expected rms of the inputs that match it, which is `Measured`
        if the text says so.

    Raises:
        UsageError: The number is not positive, or is not in the range of f64.
    """
    pattern, _, number = text.rpartition("=")
    plain = number.strip().removesuffix(_MEASURED)
    size = _positive(plain)
    if not pattern or size is None:
        raise UsageError(
            f"input scale {reprlib.repr(text)} is not PATTERN=2^k",
            hint="write a pattern of argument names and a power of two, or the rms of the inputs, "
            "as in '*=2^-4' or '*=0.06'",
        )
    if not 2.0**-MOST_EXPONENT <= size <= 2.0**MOST_EXPONENT:
        raise UsageError(
            f"the scale in {reprlib.repr(text)} is out of range",
            hint=f"give one from 2^{-MOST_EXPONENT} to 2^{MOST_EXPONENT}",
        )
    return pattern.strip(), Measured(size) if number.strip() != plain else size


def parse_input_blocks(text: str) -> tuple[str, tuple[int, ...]]:
    """Parses ``PATTERN=0x1``, the sizes of a block along each dimension.

    Returns:
        The pattern of names, and the sizes; 0 is the whole dimension.

    Raises:
        UsageError: The sizes are not whole numbers with ``x`` between them.
    """
    pattern, _, sizes = text.rpartition("=")
    if not pattern or re.fullmatch(r"\s*[0-9]{1,9}(x[0-9]{1,9})*\s*", sizes) is None:
        raise UsageError(
            f"inputs.blocks {reprlib.repr(text)} is not PATTERN=AxB",
            hint="write a pattern of argument names and the sizes of a block, 0 for a whole "
            "dimension, as in '*kernel=0x1' for a scale for each column",
        )
    return pattern.strip(), tuple(map(int, sizes.strip().split("x")))


def input_scale_text(pattern: str, scale: float) -> str:
    """Returns an input scale as text that `parse_input_scale` reads.

    Args:
        pattern: The pattern of names.
        scale: The expected rms, which may be `Measured`.
    """
    return f"{pattern}={float(scale)!r}{_MEASURED if isinstance(scale, Measured) else ''}"


def _positive(text: str) -> float | None:
    """Parses a positive number; the result is infinite or subnormal if f64 cannot represent it."""
    try:
        if not text.startswith("2^"):
            return size if (size := float(text)) > 0 else None
        exponent = int(text[2:])
    except ValueError:
        return None
    if exponent > MOST_EXPONENT:
        return math.inf
    return math.ldexp(1.0, max(-MOST_EXPONENT - 1, exponent))


def _check_preset(setting: Setting, name: str) -> None:
    names = recipe_names()
    if name not in names:
        raise setting.error(
            f"no recipe is named {name!r}{nearest(name, names)}",
            f"the recipes are: {', '.join(preset_names())}; `scalify-hlo recipes --literature` "
            f"lists those of papers, and a file's name ends in {_SUFFIX}",
        )


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return read_open(file, path, most=RECIPE_BYTES).decode()
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
    raise InputError(
        f"cannot read the recipe: {reason}",
        location=path,
        hint="give the path of a TOML file, or the name of a preset",
    )


def _parse(text: str, path: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        reason, place = "it is nested too deep", ""
    except ValueError as error:
        reason, place = _place(str(error))
        if not isinstance(error, tomllib.TOMLDecodeError):  # Python's limit on digits of an int
            reason = "it has a number of thousands of digits"
    raise InputError(
        f"invalid TOML: {reason}",
        location=f"{path}{place}",
        hint="`scalify-hlo recipes propagate --all` shows a recipe",
    )


def _place(message: str) -> tuple[str, str]:
    """Splits the parser's message into its text and its location, ``:line:column``."""
    message = message[:1].lower() + message[1:]
    found = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    return (message[: found.start()], f":{found[1]}:{found[2]}") if found else (message, "")


def _flat(
    document: Mapping[str, object], source: OptionSource, location: str | None
) -> Iterator[Setting]:
    """Yields the settings of a document and of its tables, which are one level deep."""
    for name, value in document.items():
        if isinstance(value, dict) and value:
            for inner, leaf in value.items():
                yield Setting(f"{_quoted(name)}.{_quoted(inner)}", leaf, source, location)
        else:
            yield Setting(_quoted(name), value, source, location)


def _quoted(name: str) -> str:
    """Quotes a name with a dot in it, which TOML allows, to tell it from the key of a table."""
    return json.dumps(name) if "." in name else name


def _by_key(settings: Iterable[Setting]) -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    for setting in settings:
        before = found.get(setting.key)
        found[setting.key] = setting if before is None else setting.over(before)
    return found


def _key_value(text: str) -> Sequence[str]:
    quoted = re.match(r"""\s*\w+\.\w+\.(?:"[^"]*"|'[^']*')(?=\s*=)""", text)
    end = 0 if quoted is None else quoted.end()
    key, sign, value = text[end:].partition("=")
    key = text[:end] + key
    if not sign:
        raise UsageError(
            f"{text!r} sets no option of the recipe", hint="write it as key=value, as in meet=max"
        )
    return key.strip(), value.strip()
