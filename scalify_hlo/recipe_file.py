"""Recipes as text: TOML files, the presets among them, and ``key=value`` pairs."""

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
from importlib.resources import files
from typing import Final, NoReturn, TypeAlias

from scalify_hlo.diagnostics import InputError, ScalifyError, UsageError, nearest
from scalify_hlo.files import read_open

Value: TypeAlias = bool | int | float | str | tuple[str, ...] | tuple[int, ...]
"""What an option of a recipe can be."""

_PRESETS = files("scalify_hlo") / "recipes"
_SUFFIX = ".toml"
_LARGEST = 1 << 24
"""How many bytes of a stream can be a recipe."""
_BASE = "base"


class Source(enum.IntEnum):
    """Who gave a value: a preset, a file, or the call; each outdoes those before it."""

    PRESET = 0
    FILE = 1
    CALL = 2


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of one option and where it comes from.

    Attributes:
        key: The option, such as ``matmul.activation``.
        value: As TOML has it; from a call, all text as well.
        source: Who gave it.
        location: The file that it stands in.
    """

    key: str
    value: object
    source: Source = Source.PRESET
    location: str | None = None

    def boolean(self) -> bool:
        """The value, if it is true or false."""
        value = self.value
        if self._spelt:
            value = {"true": True, "false": False}.get(str(value), value)
        return value if isinstance(value, bool) else self._refuse("true or false")

    def number(self, least: int = 1) -> int:
        """The value, if it is a whole number of some size."""
        value = self._whole(self.value)
        if value is not None and value >= least:
            return value
        return self._refuse(f"a whole number, at least {least}")

    def numbers(self, count: int, least: int = 1) -> tuple[int, ...]:
        """The value, if it is some whole numbers, or one that stands for all of them."""
        value = self.value
        if self._spelt and "," in str(value):
            value = [part.strip() for part in str(value).split(",")]
        parts = list(value) if isinstance(value, list | tuple) else [value]
        found = [self._whole(part) for part in parts]
        known = [number for number in found if number is not None and number >= least]
        if len(known) == len(parts) and len(parts) in (1, count):
            return tuple(known * (count // len(known)))
        return self._refuse(f"a whole number or a list of {count}, each at least {least}")

    def _whole(self, value: object) -> int | None:
        if self.source is Source.CALL and re.fullmatch(r"[0-9]{1,9}", str(value)):
            value = int(str(value))
        return value if type(value) is int else None

    def real(self) -> float:
        """The value, if it is a number above 0 and up to 100."""
        value = self.value
        if self._spelt and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,9})?", str(value)):
            value = float(str(value))
        if type(value) in (int, float) and 0 < value <= 100:  # type: ignore[operator]
            return float(value)  # type: ignore[arg-type]
        return self._refuse("a number above 0 and up to 100")

    def string(self) -> str:
        """The value, if it is text."""
        if isinstance(self.value, str) and _is_unicode(self.value):
            return self.value
        return self._refuse("a string")

    def strings(self) -> tuple[str, ...]:
        """The value, if it is a list of texts; a call may give them with commas between."""
        value = self.value
        if isinstance(value, str) and self._spelt:
            value = [part.strip() for part in value.split(",") if part.strip()]
        if isinstance(value, list | tuple) and all(
            isinstance(v, str) and _is_unicode(v) for v in value
        ):
            return tuple(value)
        return self._refuse('a list of strings, such as ["head", "embed*"]')

    @property
    def _spelt(self) -> bool:
        """Whether text may stand for a value of another type."""
        return self.source is Source.CALL and isinstance(self.value, str)

    def _refuse(self, wanted: str) -> NoReturn:
        given = "a table" if isinstance(self.value, dict) else reprlib.repr(self.value)
        raise self.error(f"{self.key!r} takes {wanted}, and not {given}", _HELP)

    def error(self, message: str, hint: str) -> ScalifyError:
        """What is wrong with the setting, as the fault of the file or of the call."""
        if self.location is None:
            return UsageError(message, hint=hint)
        return InputError(message, location=self.location, hint=hint)


_HELP = "`scalify-hlo recipes propagate --all` shows every option with a value"


def is_path(recipe: str) -> bool:
    """Whether what names a recipe is the path of a file rather than a preset's name."""
    return recipe.endswith(_SUFFIX) or any(s and s in recipe for s in ("/", os.sep, os.altsep))


def preset_names() -> list[str]:
    """The names of the presets, which are those of their files."""
    names = (entry.name for entry in _PRESETS.iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))


def preset_text(name: str) -> str:
    """The file of a preset.

    Raises:
        UsageError: There is none of this name.
    """
    _check_preset(Setting(_BASE, name, Source.CALL), name)
    return (_PRESETS / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def preset_settings(name: str) -> dict[str, Setting]:
    """What a preset sets, by key.

    Raises:
        UsageError: There is none of this name.
    """
    document = tomllib.loads(preset_text(name))
    base = document.pop(_BASE, None)
    settings = preset_settings(str(base)) if base is not None else {}
    settings |= _by_key(_flat(document, Source.PRESET, None))
    return settings | {"name": Setting("name", name)}


def file_settings(path: str) -> dict[str, Setting]:
    """What a file sets, by key, over the preset that it names as its ``base``.

    Raises:
        InputError: It cannot be read, is no TOML, or its base is no preset.
    """
    text = _read(path)
    document, lines = _parse(text, path), _lines(text)
    settings = {}
    if _BASE in document:
        base = Setting(_BASE, document.pop(_BASE), Source.FILE, _at_line(path, lines.get(_BASE)))
        _check_preset(base, base.string())
        settings = preset_settings(base.string())
    found = _by_key(_flat(document, Source.FILE, path))
    places = {key: _at_line(path, lines.get(key)) for key in found}
    return settings | {key: replace(s, location=places[key]) for key, s in found.items()}


_HEADER: Final = re.compile(r"\s*\[\s*([\w.\-]+)\s*\]")
_ENTRY: Final = re.compile(r"\s*([\w.\-]+)\s*=")


def _lines(text: str) -> dict[str, int]:
    """The line on which each key of a document is set; keys in quotes have none."""
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
    """What a call sets, by key: a mapping, or ``key=value`` strings.

    Raises:
        UsageError: A string is no ``key=value``.
    """
    if isinstance(overrides, str):
        overrides = [overrides]
    pairs = overrides.items() if isinstance(overrides, Mapping) else map(_key_value, overrides)
    return _by_key(Setting(str(key), value, Source.CALL) for key, value in pairs)


def to_toml(values: Mapping[str, Value]) -> str:
    """Values by key as a TOML document: keys with a dot go into tables."""
    tables: dict[str, list[str]] = {"": []}
    for key, value in values.items():
        table, _, name = key.rpartition(".")
        tables.setdefault(table, []).append(f"{name} = {to_literal(value)}")
    blocks = [[f"[{name}]", *lines] if name else lines for name, lines in tables.items() if lines]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def to_literal(value: Value) -> str:
    """A value in TOML: JSON's literals are TOML's, but for one control character."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(to_literal, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


LEAST_EXPONENT, MOST_EXPONENT = -1022, 1022
"""log2 of the least and of the largest scale of an input: normal numbers of f64."""


def parse_input_scale(text: str) -> tuple[str, float]:
    """Reads ``PATTERN=2^k``, or ``PATTERN=0.02``.

    Returns:
        The pattern, and how large inputs are whose names match.

    Raises:
        UsageError: The number is not positive, or has no power of two near it that f64 holds.
    """
    pattern, _, number = text.rpartition("=")
    size = _positive(number.strip())
    if not pattern or size is None:
        raise UsageError(
            f"input scale {reprlib.repr(text)} is not PATTERN=2^k",
            hint="write a pattern of argument names and a power of two, or how large the inputs "
            "are, as in '*=2^-4' or '*=0.06'",
        )
    if not 2.0**LEAST_EXPONENT <= size <= 2.0**MOST_EXPONENT:
        raise UsageError(
            f"the scale in {reprlib.repr(text)} is out of range",
            hint=f"give one from 2^{LEAST_EXPONENT} to 2^{MOST_EXPONENT}",
        )
    return pattern.strip(), size


def _positive(text: str) -> float | None:
    """A positive number; infinity and zero stand for what f64 does not hold."""
    try:
        if not text.startswith("2^"):
            return size if (size := float(text)) > 0 else None
        exponent = int(text[2:])
    except ValueError:
        return None
    if exponent > MOST_EXPONENT:
        return math.inf
    return math.ldexp(1.0, max(LEAST_EXPONENT - 1, exponent))


def _check_preset(setting: Setting, name: str) -> None:
    names = preset_names()
    if name not in names:
        raise setting.error(
            f"no recipe is named {name!r}{nearest(name, names)}",
            f"the recipes are: {', '.join(names)}; a file's name ends in {_SUFFIX}",
        )


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return read_open(file, path, most=_LARGEST).decode()
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
        if not isinstance(error, tomllib.TOMLDecodeError):  # of Python, on digits
            reason = "it has a number of thousands of digits"
    raise InputError(
        f"this is no TOML: {reason}",
        location=f"{path}{place}",
        hint="`scalify-hlo recipes propagate --all` shows what a recipe looks like",
    )


def _place(message: str) -> tuple[str, str]:
    """The line and the column, which the parser gives in words only."""
    message = message[:1].lower() + message[1:]
    found = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    return (message[: found.start()], f":{found[1]}:{found[2]}") if found else (message, "")


def _flat(
    document: Mapping[str, object], source: Source, location: str | None
) -> Iterator[Setting]:
    """The values of a document and of its tables, which are one level deep."""
    for name, value in document.items():
        if isinstance(value, dict) and value:
            for inner, leaf in value.items():
                yield Setting(f"{_quoted(name)}.{_quoted(inner)}", leaf, source, location)
        else:
            yield Setting(_quoted(name), value, source, location)


def _quoted(name: str) -> str:
    """A name with a dot in it, which TOML allows in quotes, is not a path."""
    return json.dumps(name) if "." in name else name


def _by_key(settings: Iterable[Setting]) -> dict[str, Setting]:
    return {setting.key: setting for setting in settings}


def _key_value(text: str) -> Sequence[str]:
    key, sign, value = text.partition("=")
    if not sign:
        raise UsageError(
            f"{text!r} sets no option of the recipe", hint="write it as key=value, as in meet=max"
        )
    return key.strip(), value.strip()


def _is_unicode(text: str) -> bool:
    """Arguments of a command may hold bytes that are no text, and no file can keep them."""
    return not any("\ud800" <= c <= "\udfff" for c in text)
