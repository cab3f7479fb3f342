"""Epsilons that a format does not have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.commands.lint.model import Place, Subject
from scalify_hlo.commands.lint.values import CARRIES, number_of
from scalify_hlo.ir.formats import FloatFormat, format_of
from scalify_hlo.ir.through import readers
from scalify_hlo.ir.traits import POLES, STEEP

_MAXIMUM: Final = "stablehlo.maximum"
_DIVIDE: Final = "stablehlo.divide"


def epsilons(subject: Subject) -> Iterator[Place]:
    """Yields sums and maxima with an epsilon that is 0 in their format.

    An epsilon is a small constant that keeps a divisor, or the operand of a root or a logarithm,
    away from 0. JAX writes one that is too small for f16 as 0, so that a sum with 0 counts too; a
    maximum with 0 does only where 0 is a pole, since it may bound the operand of a root.
    """
    for op in subject.ops:
        if op.name not in ("stablehlo.add", _MAXIMUM):
            continue
        format_ = format_of(op.results[0].type)
        number = next((n for v in op.operands if (n := number_of(v)) is not None), None)
        if format_ is None or number is None or not _is_lost(number, format_):
            continue
        if _is_guard(op, number):
            told = f"its epsilon {number:g} is 0" if number else "its epsilon is 0"
            least = f"in {format_.name}, whose smallest number is 2^{_log2(format_.smallest)}"
            yield Place.at(op, f"{op.name}: {told} {least}")


def _is_lost(number: float, format_: FloatFormat) -> bool:
    """Whether a number is zero in a format; zero itself is taken for an epsilon in f16 and f8."""
    if number == 0:
        return not format_.wide
    return abs(number) < format_.smallest


def _is_guard(op: ir.Operation, number: float) -> bool:
    """Whether a sum or a maximum keeps what takes it away from 0."""
    steep = POLES if op.name == _MAXIMUM and not number else STEEP
    return any(
        user.name in steep or (user.name == _DIVIDE and place == 1)
        for user, place in readers(op.results[0], CARRIES)
    )


def _log2(number: float) -> int:
    """Returns the exponent of a power of two."""
    return math.frexp(number)[1] - 1
