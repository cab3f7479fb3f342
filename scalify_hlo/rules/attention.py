"""Predicted sizes of the results of attention, and of the gradients of its scores.

The elements of a softmax over n positions are 1/n at first. In the course of training, one of them
approaches 1, and the rms is then 1/sqrt(n). The gradient of a softmax subtracts the common part of
the averaged values. Embeddings of different tokens have no common part. After a mean over positions
was added to each value, the common part is most of it.
"""

from __future__ import annotations

import math
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import Scaled
from scalify_hlo.algebra.uncertainty import NORMALIZED
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.contraction import contraction_of
from scalify_hlo.ir.functions import is_block
from scalify_hlo.rules.attended import summed
from scalify_hlo.rules.contraction import contracted
from scalify_hlo.rules.families import rise
from scalify_hlo.rules.saturation import unsaturated
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.unit_scaling import size_of, softmax

_CASTING = frozenset({"stablehlo.convert"})
_KEEPING = _CASTING | {"stablehlo.multiply"}
"""The ops between a softmax and a matmul: casts, and the factors that rescale data for them."""
_SOFTMAX = "softmax"

_SHARPENED: Final = 3 / 8
"""The power of n by which probabilities exceed 1/n: three quarters of the way to 1/sqrt(n)."""
_COMMON: Final = round((3 + math.log2(24) / 2) / 2)
"""log2 of the size of values over the size of their differences, after tokens were mixed.

It is between 0, if the values of different positions are independent, and the precision of the
values, which are in E4M3 with 3 bits of mantissa. The rounding error of m * 2^e is uniform within
2^(e-4) of 0, so its rms is 2^(e-3) / sqrt(12). For a typical m of sqrt(2) it is 2^-3 / sqrt(24) of
the value, or 2^-5.3, and differences of rounded values are at least of this size. Training moves
the common part from one end towards the other, and 3 is the rounded mean of both.
"""
_UNKNOWN: Final = round(7 * _SHARPENED - _COMMON / 2)
"""log2 of the factor if it is not known whether tokens were mixed: the mean of both cases.

The number of positions is taken to be 2^7. For 16 to 2,048 positions the mean differs from it by
less than 2 octaves, and E5M2 has room for more.
"""


def is_softmax(op: ir.Operation, mark: str = attributes.LAYER) -> bool:
    """Whether an op is the last op of a softmax, or of its gradient, by the mark."""
    return mark in op.attributes and _SOFTMAX in attributes.texts(op.attributes[mark])


def probabilities(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Sets the size of a softmax over n elements: ``-floor(log2(n))``, as their mean is 1/n.

    At scale 1 they would underflow in FP8 for large n.
    """
    info, count = rewriter.info(op.results[0]), summed(op)
    if isinstance(info, Scaled) and info.scale.static and count > 1:
        level = -_log2(count, rewriter) - info.scale.exponent
        rewriter.set(op.results[0], Scaled(info.scale, level, NORMALIZED))


def weighted(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Sets the size of a matmul with probabilities.

    Along the axis of the softmax, probabilities add up to one, and the matmul is a mean of values.
    Along another axis, it is a sum of gradients of values. The sum has the size of a gradient if
    each query attends to one position, and 1/sqrt(n) of it if all positions have equal weights. The
    mean of both logarithms is used.
    """
    ends = [_softmax(value) for value in op.operands]
    if all(end is None for end in ends):
        return
    for side, (end, axes) in enumerate(zip(ends, contraction_of(op).summed, strict=True)):
        if end is None or len(axes) != 1:
            continue
        if _summed_axes(end) == set(axes):
            if not rewriter.predicts:
                rewriter.attention.average(op, end, op.operands[1 - side])
            _resize(op, rewriter, -1)  # Half of their size, since values differ.
        else:
            root = rise(contracted(op), rewriter)
            _resize(op, rewriter, -root / 2 if rewriter.predicts else -(root // 2))
        return


def _resize(op: ir.Operation, rewriter: ScaleRewriter, size: float) -> None:
    """Sets log2 of the size of a matmul with probabilities over that of the averaged values.

    The result has the size of the values, and not 1/sqrt(n) of it: the common part of the values
    grows in training.
    """
    info, count = rewriter.info(op.results[0]), contracted(op)
    if isinstance(info, Scaled) and count is not None and count > 1:
        more = _log2(count, rewriter) + size - rise(count, rewriter)
        rewriter.set(op.results[0], info._replace(level=info.level + more))


def of_scores(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Sets the size of gradients of scores: it is smaller by the common part of the values.

    The level is that of probabilities of 1/n. Gradients nearly vanish for sharp probabilities.
    """
    info, attended = rewriter.info(op.results[0]), rewriter.attention.behind(op)
    if rewriter.predicts or not isinstance(info, Scaled):
        return
    more = _UNKNOWN
    if attended is not None and attended.mixed is not None:
        sharpened = round(math.log2(max(attended.positions, 1)) * _SHARPENED)
        more = sharpened - (_COMMON if attended.mixed else 0)
    rewriter.set(op.results[0], info._replace(level=info.level + more))


def _softmax(value: ir.Value) -> ir.Operation | None:
    """Returns the last op of the softmax that a value is, up to rounding; None if it is none."""
    owner = unsaturated(value).owner
    while not is_block(owner):
        name = owner.name
        if name not in _CASTING and is_softmax(owner):
            return owner.operation
        if name not in _KEEPING:
            return None
        owner = unsaturated(owner.operands[0]).owner
    return None


def _summed_axes(op: ir.Operation) -> set[int]:
    """Returns the axes over which the divisor of a quotient is summed."""
    divisor = op.operands[1].owner
    if is_block(divisor) or divisor.name != "stablehlo.broadcast_in_dim":
        return set()
    shape = divisor.operands[0].type.shape
    dims = list(divisor.attributes["broadcast_dimensions"])
    kept = {d for d, size in zip(dims, shape, strict=True) if size > 1}
    return set(range(op.results[0].type.rank)) - kept


def _log2(count: int, rewriter: ScaleRewriter) -> float:
    """Returns log2 of the factor of a softmax; its floor, unless sizes are predicted."""
    exact = -size_of(softmax(count))
    return exact if rewriter.predicts else int(exact)
