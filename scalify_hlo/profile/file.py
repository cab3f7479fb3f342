"""Profiles as JSON.

A tensor with several names is written once. Percentiles and exponent counts are not written: they
are computed from the histogram.
"""

from __future__ import annotations

import json
import math
import os
import reprlib
from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from typing import Annotated, Any, Final, NamedTuple, TypeVar

import numpy as np

from scalify_hlo.errors import InputError, nearest
from scalify_hlo.profile.histogram import BINS, SUBNORMAL, edges, split
from scalify_hlo.profile.model import Profile, TensorProfile
from scalify_hlo.results.kinds import SOME, Count
from scalify_hlo.results.model import Kind, dump, keys, kind_of, result
from scalify_hlo.storage.files import read_open

_FORMAT: Final = "scalify-hlo profile"
_VERSION: Final = 1
_KEYS: Final = ("format", "version", "program", "samples", "tensors")
_TENSOR_KEYS: Final = ("names", "count", "amax", "rms", "histogram")
_HINT: Final = "make a profile with `scalify-hlo calibrate`"
_SLACK: Final = 1e-5
"""The relative rounding error by which an rms may exceed the amax."""
_DIGITS: Final = 18
"""The most digits of a count, so that sums of counts fit into 64 bits."""

T = TypeVar("T")


_HISTOGRAM: Final = Kind(
    {"type": "object", "additionalProperties": kind_of(Count).schema},
    lambda histogram, _: {str(bin_): n for bin_, n in sorted(histogram.items()) if n},
)


@keys("names *tensor(count amax rms histogram)", histogram=_HISTOGRAM)
class NamedTensor(NamedTuple):
    """A tensor, and ``SITE:lhs`` or ``SITE:rhs`` for each matmul operand that it is."""

    names: Annotated[list[str], SOME]
    tensor: TensorProfile


@result(_FORMAT, _VERSION, lines=("tensors",))
class ProfileRecord(NamedTuple):
    """A profile in which a tensor with several names stands once."""

    program: str
    samples: Count
    tensors: list[NamedTensor]


def dump_profile(profile: Profile) -> str:
    """Returns a profile as JSON text, with one line for each tensor.

    Args:
        profile: The profile.

    Returns:
        The text, which `load_profile` reads from a file. It is an object with the name of its
        ``format`` and its ``version``; `json_schema` returns its JSON Schema.
    """
    names: dict[int, list[str]] = {}
    tensors: dict[int, TensorProfile] = {}
    for name, tensor in profile.tensors.items():
        names.setdefault(id(tensor), []).append(name)
        tensors[id(tensor)] = tensor
    entries = [NamedTensor(names[key], tensor) for key, tensor in tensors.items()]
    return dump(ProfileRecord(profile.program, profile.samples, entries))


def load_profile(path: str | PathLike[str]) -> Profile:
    """Reads a profile from a file.

    Args:
        path: The path of a file that `dump_profile` or `scalify-hlo calibrate` wrote.

    Returns:
        The profile.

    Raises:
        InputError: The file cannot be read, or is not a profile; see `parse_profile`.
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            text = read_open(file, name)
    except OSError as error:
        raise InputError(
            f"cannot read the file: {(error.strerror or str(error)).lower()}",
            location=name,
            hint="give the path of a profile",
        ) from None
    return parse_profile(text, name)


def profile_of(given: str | PathLike[str] | Profile | None) -> Profile | None:
    """Returns a profile that is given by itself or by the path of its file; None for none.

    Raises:
        InputError: As for `load_profile`.
    """
    return load_profile(given) if isinstance(given, str | PathLike) else given


def parse_profile(text: str | bytes, name: str = "<profile>") -> Profile:
    """Parses the JSON text of a profile.

    Args:
        text: The JSON text.
        name: The name of the profile in diagnostics.

    Raises:
        InputError: The text is not a profile or is of another version, or a value is missing,
            unknown or inconsistent.
    """
    reader = _ProfileReader(name)
    whole = reader.table(_parsed(text, name), "", _KEYS)
    format_ = reader.typed(whole, "", "format", str)
    if format_ != _FORMAT:
        raise reader.fault("format", f"is {format_!r}, and not {_FORMAT!r}")
    version = reader.number(whole, "", "version", int)
    if version != _VERSION:
        raise reader.fault(
            "version", f"is {version}", f"this version of scalify-hlo reads version {_VERSION}"
        )
    program = reader.typed(whole, "", "program", str)
    samples = reader.number(whole, "", "samples", int)
    tensors: dict[str, TensorProfile] = {}
    for index, each in enumerate(reader.typed(whole, "", "tensors", list)):
        where = f"tensors[{index}]"
        tensor = reader.tensor(reader.table(each, where, _TENSOR_KEYS), where)
        for site in reader.names(each["names"], f"{where}.names"):
            if site in tensors:
                raise reader.fault(f"{where}.names", f"has {site!r}, which stands there before")
            tensors[site] = tensor
    return Profile(program, samples, tensors, name)


def _parsed(text: str | bytes, name: str) -> object:
    try:
        return json.loads(text, parse_int=_whole)
    except (ValueError, RecursionError):
        raise InputError("this is not a JSON file", location=name, hint=_HINT) from None


def _whole(text: str) -> int | float:
    """Converts the digits of a number to int, or to float if there are too many for a count."""
    return int(text) if len(text) <= _DIGITS else float(text)


class _ProfileReader:
    """Reads and checks values; errors name the file and the key."""

    def __init__(self, name: str) -> None:
        self._name = name

    def fault(self, key: str, what: str, hint: str = _HINT) -> InputError:
        """Returns the error for a value."""
        subject = f"the value of {key!r}" if key else "the profile"
        return InputError(f"{subject} {what}", location=self._name, hint=hint)

    def table(self, value: object, key: str, keys: tuple[str, ...]) -> Mapping[str, Any]:
        """Returns a value that is a table with exactly these keys."""
        if not isinstance(value, dict):
            raise self.fault(key, "is not a table")
        for missing in (k for k in keys if k not in value):
            raise self.fault(key, f"has no {missing!r}")
        for foreign in (k for k in value if k not in keys):
            raise self.fault(key, f"has a foreign key {foreign!r}{nearest(foreign, keys)}")
        return value

    def typed(self, table: Mapping[str, Any], key: str, name: str, type_: type[T]) -> T:
        """Returns a value of the table that has a given type."""
        value = table[name]
        if not isinstance(value, type_) or isinstance(value, bool):
            article = {int: "a whole number", str: "a text", list: "a list"}
            raise self.fault(_joined(key, name), f"is not {article.get(type_, 'a table')}")
        return value

    def number(self, table: Mapping[str, Any], key: str, name: str, type_: Callable[[Any], T]) -> T:
        """Returns a non-negative number of the table: whole for int, else finite."""
        value = table[name]
        kinds, what = (int, "whole number") if type_ is int else ((int, float), "finite number")
        if type_ is int and isinstance(value, float) and value >= 10 ** (_DIGITS - 1):
            raise self.fault(_joined(key, name), f"has more than {_DIGITS} digits")
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise self.fault(_joined(key, name), f"is not a {what}")
        if not 0 <= value < math.inf:
            raise self.fault(_joined(key, name), f"is {value}, and not a {what} from 0 on")
        return type_(value)

    def names(self, value: object, key: str) -> list[str]:
        """Returns a value that is a non-empty list of strings."""
        if not isinstance(value, list) or not value or not all(isinstance(n, str) for n in value):
            raise self.fault(key, "is not a list of names")
        return value

    def tensor(self, table: Mapping[str, Any], key: str) -> TensorProfile:
        """Returns the profile of a tensor after a check that its numbers are consistent."""
        tensor = TensorProfile(
            self.number(table, key, "count", int),
            self.number(table, key, "amax", float),
            self.number(table, key, "rms", float),
            dict(self._histogram(table["histogram"], f"{key}.histogram")),
        )
        if tensor.count != sum(tensor.histogram.values()):
            raise self.fault(f"{key}.count", "is not the sum of its histogram")
        low, high = _largest(tensor)
        if not low <= tensor.amax <= high:
            raise self.fault(f"{key}.amax", "is not in the last bin of its histogram")
        if tensor.rms > tensor.amax * (1 + _SLACK):
            raise self.fault(f"{key}.rms", "is larger than the amax")
        return tensor

    def _histogram(self, value: object, key: str) -> Iterator[tuple[int, int]]:
        if not isinstance(value, dict):
            raise self.fault(key, "is not a table")
        for text in value:
            if not (len(text) <= _DIGITS and text.isascii() and text.isdecimal()) or (
                int(text) >= BINS
            ):
                shown = reprlib.repr(text)
                raise self.fault(key, f"has {shown}, which is no bin from 0 to {BINS - 1}")
            yield int(text), self.number(value, key, text, int)


def _largest(tensor: TensorProfile) -> tuple[float, float]:
    """The bounds of the largest finite element, by the histogram."""
    bins, _ = split({bin_: n for bin_, n in tensor.histogram.items() if n})
    if not bins.size:
        return 0.0, 0.0
    low, high = edges(np.array([bins[-1]]))
    # XLA compares subnormal numbers as zero, so an amax may be 0 in spite of them.
    return float(low[0]) if high[0] > SUBNORMAL else 0.0, float(high[0])


def _joined(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name
