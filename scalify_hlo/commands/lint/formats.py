"""Lints on formats: epsilons, infinities and sums that a format does not hold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.commands.lint.model import Place, Subject
from scalify_hlo.commands.lint.values import CARRIES, extremes_of, number_of
from scalify_hlo.dataflow.sizes import Sizes
from scalify_hlo.ir.formats import FloatFormat, format_of
from scalify_hlo.ir.functions import maker
from scalify_hlo.ir.monoid import is_sum
from scalify_hlo.ir.through import data_in, readers
from scalify_hlo.ir.traits import CONTRACTIONS, PASSES, POLES, STEEP
from scalify_hlo.ir.value_map import ValueSet

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
            yield Place.at(op, f"{told} {least}")


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
            yield Place.at(op, _message(number, target))


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


_WINDOW: Final = "stablehlo.reduce_window"
_WIDEST: Final = 16
"""Bits of the formats that are looked at."""


def long_sums(subject: Subject) -> Iterator[Place]:
    """Yields sums in 16 bits or fewer that have more terms than the format can count.

    A sum of n equal terms stops growing at 2^(m + 1) terms in a format with m bits of mantissa,
    since the next term is less than half of the last bit. A matmul sums in a wider format on all
    hardware, and only its result is rounded: there, the sum of terms of 1 must be in range.
    """
    sizes = Sizes()
    for op in subject.ops:
        format_ = format_of(op.results[0].type) if len(op.results) else None
        if format_ is None or format_.bits > _WIDEST:
            continue
        if is_sum(op):
            terms, most = _terms(op), 2 ** (format_.mantissa_bits + 1)
            if terms > most:
                yield Place.at(op, f"sums {terms} terms in {format_.name}, which counts to {most}")
        elif op.name in CONTRACTIONS and not format_.wide:
            terms = sizes.of(op.opview).k.least
            if terms > format_.max_finite:
                end = f"ends at {format_.max_finite:g}"
                yield Place.at(op, f"sums {terms} terms in {format_.name}, which {end}")


def _terms(op: ir.Operation) -> int:
    """Returns the number of terms of each sum, with dimensions of unknown size left out."""
    if op.name == _WINDOW:
        window: int = math.prod(ir.DenseI64ArrayAttr(op.attributes["window_dimensions"]))
        return window
    shape = op.operands[0].type.shape
    dims = ir.DenseI64ArrayAttr(op.attributes["dimensions"])
    count: int = math.prod(shape[d] for d in dims if shape[d] > 0)
    return count
