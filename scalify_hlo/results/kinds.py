"""Kinds of values that the results of several commands have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, TypeAlias

from scalify_hlo.results.decibels import stored
from scalify_hlo.results.model import Kind


def one_of(values: Iterable[str]) -> Kind:
    """Returns the kind of texts that are one of some values."""
    return Kind({"enum": list(values)})


def named(names: Iterable[str]) -> Kind:
    """Returns the kind of mappings that have all of some keys and no other."""
    known = list(names)
    return Kind({"required": known, "propertyNames": {"enum": known}})


def made(write: Callable[[Any], Any], **schema: Any) -> Kind:
    """Returns the kind of values that a function converts.

    Args:
        write: The function.
        schema: What the schema has besides that of the annotated type.
    """
    return Kind(schema, lambda value, _: write(value))


def rounded(digits: int, factor: float = 1.0, **schema: Any) -> Kind:
    """Returns the kind of numbers that are written as multiples of a unit.

    Args:
        digits: The number of decimals.
        factor: The number of units in 1.
        schema: As for `made`.
    """
    return made(lambda number: round(number * factor, digits), **schema)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


_DECIBELS: Final = [{"type": "number"}, {"enum": ["exact", "lost"]}]

NAME: Final = Kind({"type": "string"}, lambda _, name: name)
"""The kind of the name of the program."""
SOME: Final = Kind({"minItems": 1})
"""The kind of lists that are not empty."""
Count: TypeAlias = Annotated[int, Kind({"minimum": 0})]
Several: TypeAlias = Annotated[int, Kind({"minimum": 1})]
Size: TypeAlias = Annotated[float, Kind({"minimum": 0})]
Share: TypeAlias = Annotated[float, rounded(6, minimum=0, maximum=1)]
Ratio: TypeAlias = Annotated[float, rounded(6, minimum=0)]
Finite: TypeAlias = Annotated[float, made(_finite, type=["number", "null"])]
"""A number, which is null if it is infinite or NaN."""
Seconds: TypeAlias = Annotated[float, rounded(3, minimum=0)]
Microseconds: TypeAlias = Annotated[float, rounded(3, 1e6, minimum=0)]
"""A number of seconds, which is written in microseconds."""
Decibels: TypeAlias = Annotated[float, made(stored, type=["number", "string"], oneOf=_DECIBELS)]
"""A signal-to-noise ratio in dB: ``exact`` without noise, and ``lost`` without signal."""
Words: TypeAlias = Annotated[str, made(lambda text: text or None, type=["string", "null"])]
"""A text, which is null if it is empty."""
Part: TypeAlias = Annotated[str, one_of(["forward", "backward", "other"])]
"""A part of the program."""
