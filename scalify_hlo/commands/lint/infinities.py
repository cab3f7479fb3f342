"""Infinities, and numbers beyond the range, that are cast to 8 bits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.commands.lint.model import Place, Subject
from scalify_hlo.commands.lint.values import extremes_of
from scalify_hlo.ir.formats import FloatFormat, format_of
from scalify_hlo.ir.functions import maker
from scalify_hlo.ir.through import data_in
from scalify_hlo.ir.traits import PASSES
from scalify_hlo.ir.value_map import ValueSet

_CONSTANT: Final = "stablehlo.constant"


def infinities(subject: Subject) -> Iterator[Place]:
    """Yields casts to f8 of values that may have an infinite element, or one beyond the range.

    Constants are followed from where they are written, such as the -inf of an attention mask, to
    the cast. A clamp, an exponential or any other function ends that.
    """
    for op in subject.ops:
        target = _small_format(op)
        if target is None:
            continue
        source = op.results[0] if op.name == _CONSTANT else op.operands[0]
        number = next((n for n in _constants_in(source) if not _fits(n, target)), None)
        if number is not None:
            yield Place.at(op, f"{op.name}: {_message(number, target)}")


def _small_format(op: ir.Operation) -> FloatFormat | None:
    """Returns the format of 8 bits or fewer that an op casts to, or has a constant in."""
    if op.name not in ("stablehlo.convert", _CONSTANT):
        return None
    target = format_of(op.results[0].type)
    return target if target is not None and target.small else None


def _fits(number: float, target: FloatFormat) -> bool:
    return abs(number) <= target.max_finite


def _message(number: float, target: FloatFormat) -> str:
    kept = "keeps it, and 0 times it is NaN" if target.infinite else "makes NaN of it"
    if math.isinf(number):
        return f"{number:g} is cast to {target.name}, which {kept}"
    if math.isnan(number):
        return f"a constant in {target.name} is NaN, as an infinity in it would be"
    becomes = "an infinity" if target.infinite else "NaN"
    return (
        f"{number:g} is cast to {target.name}, whose largest number is {target.max_finite:g}: "
        f"it becomes {becomes}"
    )


def _constants_in(value: ir.Value) -> Iterator[float]:
    """Yields the extreme elements of the constants that may be elements of a value."""
    for found in Search([value], _followed, seen=ValueSet()):
        op = maker(found)
        if op is not None and op.name == _CONSTANT:
            yield from extremes_of(op)


def _followed(value: ir.Value) -> list[ir.Value]:
    op = maker(value)
    return [] if op is None or op.name not in PASSES else data_in(op)
