"""Predicted sizes of the results of attention, and of the gradients of its scores.

A softmax over n positions is 1/n, and comes to be 1 at one of them: its rms is then 1/sqrt(n). Its
gradient takes off what the averaged values have in common. At first that is nothing, as tokens are
looked up one by one; after a mean over positions was added to each, it is most of them.
"""

from __future__ import annotations

import math
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.scale import Scaled
from scalify_hlo.algebra.uncertainty import NORMALIZED
from scalify_hlo.dialect import attributes
from scalify_hlo.rules.attended import summed
from scalify_hlo.rules.contraction import contracted
from scalify_hlo.rules.families import rise
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.unit_scaling import size_of, softmax

_CLAMP = "stablehlo.clamp"
_CASTING = frozenset({"stablehlo.convert", _CLAMP})
_KEEPING = _CASTING | {"stablehlo.multiply"}
"""The ops between a softmax and a matmul: casts, and the factors that rescale data for them."""
_SOFTMAX = "softmax"

_SHARPENED: Final = 3 / 8
"""By which power of n probabilities are above 1/n: three quarters of the way to 1/sqrt(n)."""
_COMMON: Final = 3
"""log2 of the size of values over that of what they do not have in common, once tokens are mixed.

Measured on the demo model, as is what is taken where nothing is known.
"""
_UNKNOWN: Final = 1


def is_softmax(op: ir.Operation, mark: str = attributes.LAYER) -> bool:
    """Whether an op ends a softmax, or by another mark its gradient."""
    return mark in op.attributes and _SOFTMAX in attributes.texts(op.attributes[mark])


def probabilities(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """A softmax over n elements: their mean is 1/n, so the level is ``-floor(log2(n))``.

    At scale 1 they would underflow FP8 where n is large.
    """
    info, count = rewriter.info(op.results[0]), summed(op)
    if isinstance(info, Scaled) and info.scale.static and count > 1:
        level = -_log2(count, rewriter) - info.scale.exponent
        rewriter.set(op.results[0], Scaled(info.scale, level, NORMALIZED))


def weighted(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """A matmul with probabilities.

    Along the axis of the softmax they add up to one, and it is a mean of values. Along another axis
    they are what gradients of values are summed with: that has the size of a gradient where each
    query attends one position, and 1/sqrt(n) of it where all are attended alike. The middle of both
    is taken.
    """
    ends = [_softmax(value) for value in op.operands]
    if all(end is None for end in ends):
        return
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    sides = (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions)
    for side, (end, axes) in enumerate(zip(ends, map(list, sides), strict=True)):
        if end is None or len(axes) != 1:
            continue
        if _summed_axes(end) == set(axes):
            if not rewriter.predicts:
                rewriter.attention.average(op, end, op.operands[1 - side])
            _resize(op, rewriter, -1)  # half of their size, since values differ
        else:
            root = rise(contracted(op), rewriter)
            _resize(op, rewriter, -root / 2 if rewriter.predicts else -(root // 2))
        return


def _resize(op: ir.Operation, rewriter: ScaleRewriter, size: float) -> None:
    """Says how large a matmul with probabilities is, in logarithms, over what it averages.

    It is of the size of values and not 1/sqrt(n) of it: what they have in common grows while
    attention is learned.
    """
    info, count = rewriter.info(op.results[0]), contracted(op)
    if isinstance(info, Scaled) and count is not None and count > 1:
        more = _log2(count, rewriter) + size - rise(count, rewriter)
        rewriter.set(op.results[0], info._replace(level=info.level + more))


def of_scores(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Gradients of scores: larger as probabilities sharpen, smaller by what values have in common.

    The level so far is that of probabilities that are 1/n, which is what is predicted: where they
    are sharp, hardly any gradient is left.
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
    """The op that ends the softmax that a value is, perhaps rounded."""
    owner = value.owner
    while not isinstance(owner, ir.Block):
        name = owner.name
        if name not in _CASTING and is_softmax(owner):
            return owner.operation
        if name not in _KEEPING:
            return None
        owner = owner.operands[1 if name == _CLAMP else 0].owner
    return None


def _summed_axes(op: ir.Operation) -> set[int]:
    """The axes over which the divisor of a quotient was summed."""
    divisor = op.operands[1].owner
    if isinstance(divisor, ir.Block) or divisor.name != "stablehlo.broadcast_in_dim":
        return set()
    shape = divisor.operands[0].type.shape
    dims = list(divisor.attributes["broadcast_dimensions"])
    kept = {d for d, size in zip(dims, shape, strict=True) if size > 1}
    return set(range(op.results[0].type.rank)) - kept


def _log2(count: int, rewriter: ScaleRewriter) -> float:
    """log2 of a softmax's factor; its floor, unless sizes are predicted."""
    exact = -size_of(softmax(count))
    return exact if rewriter.predicts else int(exact)
