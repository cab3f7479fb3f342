"""Sums of more terms than their format holds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.commands.lint.model import Place, Subject
from scalify_hlo.dataflow.sizes import Sizes
from scalify_hlo.ir.formats import FloatFormat, format_of
from scalify_hlo.ir.monoid import monoid
from scalify_hlo.ir.traits import CONTRACTIONS

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
        if op.name in ("stablehlo.reduce", _WINDOW) and monoid(op.regions[0]) == "stablehlo.add":
            terms, most = _terms(op), 2 ** (format_.mantissa_bits + 1)
            if terms > most:
                yield Place.at(op, _message(op, terms, format_, f"counts to {most}"))
        elif op.name in CONTRACTIONS and not format_.wide:
            terms = sizes.of(op.opview).k.least
            if terms > format_.max_finite:
                most_text = f"ends at {format_.max_finite:g}"
                yield Place.at(op, _message(op, terms, format_, most_text))


def _message(op: ir.Operation, terms: int, format_: FloatFormat, most: str) -> str:
    return f"{op.name}: sums {terms} terms in {format_.name}, which {most}"


def _terms(op: ir.Operation) -> int:
    """Returns the number of terms of each sum, with dimensions of unknown size left out."""
    if op.name == _WINDOW:
        window: int = math.prod(ir.DenseI64ArrayAttr(op.attributes["window_dimensions"]))
        return window
    shape = op.operands[0].type.shape
    dims = ir.DenseI64ArrayAttr(op.attributes["dimensions"])
    count: int = math.prod(shape[d] for d in dims if shape[d] > 0)
    return count
