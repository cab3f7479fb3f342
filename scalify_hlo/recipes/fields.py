"""Options: all that the field of a dataclass says of one.

Recipes, passes and commands are dataclasses whose fields are their options. The annotation of a
field says which values the option takes, and the docstring of the class describes it. TOML files,
``--set``, pipelines of passes, the command line and the pages of documentation follow from them.
"""

from __future__ import annotations

import math
import re
import reprlib
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from numbers import Integral
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from scalify_hlo.algebra.limits import MOST_LOSS_SCALE
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.results.model import attributes_of

_REAL: Final = re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]{0,20})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?")
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, eq=False)
class Values:
    """The values that an option takes.

    Attributes:
        about: The values in words, as in "a whole number".
        check: Returns a value as the option has it; None if the option does not take it.
        parse: Returns the value that a text stands for; it leaves other objects, and texts that
            stand for none, as they are.
        names: The values, if they are names.
        unit: The placeholder of a value in help texts; empty for that of a text.
    """

    about: str
    check: Callable[[Any], Any]
    parse: Callable[[Any], Any] = _same
    names: tuple[str, ...] = ()
    unit: str = ""

    def read(self, option: str, given: object, *, spelt: bool, hint: str = "") -> Any:
        """Returns the value of an option.

        Args:
            option: The option, as the error names it.
            given: The value that was given.
            spelt: Whether a text may stand for a value of another type.
            hint: The note of the error, unless it lists the values.

        Raises:
            UsageError: The option does not take the value.
        """
        value = self.check(self.parse(given) if spelt else given)
        if value is not None:
            return value
        if self.names and isinstance(given, str):
            message = f"{given!r} is not a value of {option}{nearest(given, self.names)}"
            raise UsageError(message, hint=f"its values are: {', '.join(self.names)}")
        shown = "a table" if isinstance(given, dict) else reprlib.repr(given)
        hint = hint or f"give {self.about}"
        raise UsageError(f"{option} takes {self.about}, and not {shown}", hint=hint)


def number(kind: type[int | float], about: str, holds: Callable[[Any], bool]) -> Values:
    """Returns numbers with a bound.

    Args:
        kind: The type of the numbers.
        about: The numbers in words.
        holds: Whether a number is within the bound.
    """
    form = _WHOLE if kind is int else _REAL
    types = (Integral,) if kind is int else (int, float)

    def parse(value: Any) -> Any:
        return kind(value) if isinstance(value, str) and form.fullmatch(value) else value

    def check(value: Any) -> Any:
        known = isinstance(value, types) and not isinstance(value, bool)
        return kind(value) if known and holds(value) else None

    return Values(about, check, parse, unit="N" if kind is int else "X")


def numbers(count: int, each: Values) -> Values:
    """Returns lists of numbers, or one number that is repeated.

    Args:
        count: The length of a list.
        each: The numbers.
    """

    def parse(value: Any) -> Any:
        if isinstance(value, str) and ("," in value or value.startswith("[")):
            value = _listed(value)
        return [*map(each.parse, value)] if isinstance(value, list | tuple) else each.parse(value)

    def check(value: Any) -> Any:
        parts = list(value) if isinstance(value, list | tuple) else [value]
        found = [each.check(part) for part in parts]
        fits = len(parts) in (1, count) and None not in found
        return tuple(found * (count // len(found))) if fits else None

    first, _, bound = each.about.partition(", ")
    return Values(f"{first} or a list of {count}, each {bound}", check, parse)


def names(*choices: str) -> Values:
    """Returns the values of an option that takes one of some names."""
    return Values(
        "a string", lambda v: v if isinstance(v, str) and v in choices else None, _same, choices
    )


def formed(parse: Callable[[str], object], about: str) -> Values:
    """Returns lists of strings of a form.

    Args:
        parse: Reads one string, and raises an error if it has another form.
        about: The lists in words.
    """

    def check(value: Any) -> Any:
        found = STRINGS.check(value)
        for text in found or ():
            parse(text)
        return found

    return Values(about, check, STRINGS.parse)


def _boolean(value: Any) -> Any:
    known = {"true": True, "false": False}
    return known.get(value, value) if isinstance(value, str) else value


def string(value: object) -> str | None:
    """Returns text without surrogates, which stand in commands for bytes that are not UTF-8."""
    known = isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)
    return str(value) if known else None


def _strings(value: Any) -> tuple[str, ...] | None:
    known = isinstance(value, list | tuple) and None not in map(string, value)
    return tuple(value) if known else None


def _split(value: Any) -> Any:
    return _listed(value) if isinstance(value, str) else value


def _listed(text: str) -> list[Any]:
    """Returns a list that is written as in TOML, or with commas alone."""
    try:
        found = tomllib.loads(f"list = {text}")["list"] if text.startswith("[") else None
    except tomllib.TOMLDecodeError:  # Names of arguments may begin with a bracket.
        found = None
    if isinstance(found, list):
        return found
    return [part.strip() for part in text.split(",") if part.strip()]


STRINGS: Final = Values('a list of strings, such as ["head", "embed*"]', _strings, _split)
"""Lists of patterns; in text, it is as in TOML, or commas separate them."""
Count = Annotated[int, number(int, "a whole number, at least 1", lambda n: n >= 1)]
Amount = Annotated[int, number(int, "a whole number, at least 0", lambda n: n >= 0)]
Positive = Annotated[float, number(float, "a number above 0 and up to 100", lambda x: 0 < x <= 100)]
Share = Annotated[float, number(float, "a number from 0 to 1", lambda x: 0 <= x <= 1)]
PowerOfTwo = Annotated[
    float,
    number(
        float,
        f"a power of two, from 1 to {2.0**MOST_LOSS_SCALE:.0f}",
        lambda x: 1 <= x <= 2.0**MOST_LOSS_SCALE and math.frexp(x)[0] == 1 / 2,
    ),
]

_KNOWN: Final[dict[Any, Values]] = {
    bool: Values("true or false", lambda v: v if isinstance(v, bool) else None, _boolean),
    int: number(int, "a whole number", lambda _: True),
    float: number(float, "a finite number", lambda x: abs(x) <= sys.float_info.max),
    str: Values("a string", string),
    tuple[str, ...]: STRINGS,
}


def register(hint: Any, values: Values) -> None:
    """Sets the values of an annotation."""
    _KNOWN[hint] = values


@cache
def values_of(hint: Any) -> Values:
    """Returns the values of an annotation."""
    if hint in _KNOWN:
        return _KNOWN[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return next(each for each in inner[1:] if isinstance(each, Values))
    if origin is Literal:
        return names(*inner)
    if origin in (Union, UnionType):
        return values_of(next(each for each in inner if each is not NoneType))
    raise TypeError(f"{hint} does not say which values an option takes")


class Option(NamedTuple):
    """An option.

    Attributes:
        field: The field of the dataclass.
        hint: The annotation of the field.
        about: The description of the option, from the docstring of the class.
    """

    field: Field[Any]
    hint: Any
    about: str

    @property
    def values(self) -> Values:
        """The values that the option takes."""
        return values_of(self.hint)

    @property
    def default(self) -> Any:
        """The value without a setting; `MISSING` if there has to be one."""
        factory = self.field.default_factory
        return self.field.default if factory is MISSING else factory()

    def said(self, key: str) -> Any:
        """Returns what `option` says of the field: the value of a key, or None."""
        return self.field.metadata.get(key)


def option(default: Any = MISSING, **says: Any) -> Any:
    """Returns a field that says more of an option than its annotation.

    Args:
        default: The value without a setting, or a class whose instance it is.
        **says: What it says; see `Option.said`.
    """
    if isinstance(default, type):
        return field(default_factory=default, metadata=says)
    return field(default=default, metadata=says)


def options_of(model: type) -> Mapping[str, Option]:
    """Returns the options of a dataclass by the names of the fields."""
    known: Any = model
    return _options(known)


@cache
def _options(model: Any) -> Mapping[str, Option]:
    hints = get_type_hints(model, include_extras=True)
    about: dict[str, str] = {}
    for each in reversed(model.__mro__[:-1]):
        about |= attributes_of(each)
    return {f.name: Option(f, hints[f.name], about.get(f.name, "")) for f in fields(model)}


class Checked:
    """A base of dataclasses whose values are checked when they are made."""

    def __post_init__(self) -> None:
        """Checks the values.

        Raises:
            UsageError: An option does not take its value.
        """
        for name, each in options_of(type(self)).items():
            given = getattr(self, name)
            if given is not each.default:
                each.values.read(name, given, spelt=False)
