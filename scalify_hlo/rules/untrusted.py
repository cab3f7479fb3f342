"""Casts of data whose predicted size cannot be trusted.

A cast to a narrow format divides by the predicted size of its operand. If the size is more
uncertain than the format has room for, this division could flush the operand to zero or saturate
it. The recipe chooses one of three ways: the size is measured, or the operand is divided only by
the certain part of its size, or the matmul keeps its wide operands.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import MEASURED_BOUND
from scalify_hlo.algebra.scale import ONE, Scaled, ScaleInfo
from scalify_hlo.algebra.uncertainty import CERTAIN, Uncertainty, of_root
from scalify_hlo.dialect import attributes, markers
from scalify_hlo.dialect.formats import FloatFormat
from scalify_hlo.dialect.traits import LAYOUT
from scalify_hlo.recipes.model import BOUNDED, MEASURE, WIDE
from scalify_hlo.rules.marker_ops import dynamic_rescale
from scalify_hlo.rules.placement import in_block
from scalify_hlo.rules.scale_rewriter import ScaleRewriter, Untrusted

_PEAK: Final = 2
"""log2 of the expected ratio of amax and rms: that of 10,000 normal numbers."""

_PEAK_DEVIATION: Final = 1.0
"""The variation of this ratio between distributions, in octaves."""


_UNKNOWN: Final = 100
"""The uncertainty, in octaves, above which a remark does not state it."""


_TERMINATORS: Final = frozenset({"func.return", "stablehlo.return", "sdy.return"})


class Trusted(NamedTuple):
    """Data at the scale of their cast.

    Attributes:
        value: The data.
        info: The scale, level and uncertainty of the data.
    """

    value: ir.Value
    info: Scaled


def uncertainty_of(info: ScaleInfo) -> Uncertainty:
    """Returns the uncertainty of the size of a value at a cast; unscaled values are certain."""
    return info.uncertainty if isinstance(info, Scaled) else CERTAIN


def handled(
    op: ir.Operation, info: ScaleInfo, target: FloatFormat, rewriter: ScaleRewriter
) -> Trusted | None:
    """Returns data at a safe scale, for a cast of data whose size is not trusted.

    Args:
        op: The cast.
        info: The scale information of its operand.
        target: The format of the cast.
        rewriter: The rewriter, which has the recipe and gets the remark.

    Returns:
        The data; None if the format has room for the uncertainty, as formats with the range of f32
        always have.
    """
    if target.wide:
        return None
    octaves = _octaves(uncertainty_of(info), target)
    if octaves <= target.room:
        return None
    numbers = _numbers(op) if rewriter.recipe.untrusted == WIDE else frozenset()
    how = (
        MEASURE if rewriter.recipe.untrusted == WIDE and not numbers else rewriter.recipe.untrusted
    )
    rewriter.notes.untrusted.append(
        Untrusted(rewriter.remark(op, _remark(octaves, target, how)), numbers)
    )
    if how == MEASURE:
        return measured(op, info, target, rewriter)
    known = info if isinstance(info, Scaled) else Scaled(ONE)
    return _bounded(op, known, target, octaves, rewriter)


def _octaves(uncertainty: Uncertainty, target: FloatFormat) -> float:
    """Returns the uncertainty of the size of an operand, in octaves.

    The gradient of a squared error has degree 2 in every weight. Gradients are cast to E5M2, for
    which declared scales are trusted. In the forward pass, squares of an input are rare.
    """
    if target.mantissa_bits <= _GRADIENT_BITS:
        return uncertainty.octaves
    return uncertainty.misdeclared


_GRADIENT_BITS: Final = 2
"""The number of mantissa bits of E5M2."""

_DONE: Final = {
    MEASURE: "its amax is measured at run time",
    BOUNDED: "its scale is bounded",
    WIDE: "it stays wide",
}


def _numbers(op: ir.Operation) -> frozenset[int]:
    """Returns the numbers of the matmuls that read a cast, through data movement."""
    found, waiting = set[int](), [op]
    while waiting:
        here = waiting.pop()
        if attributes.NUMBER in here.attributes:
            found.add(ir.IntegerAttr(here.attributes[attributes.NUMBER]).value)
        elif here.name in _MOVING:
            waiting += [use.owner.operation for result in here.results for use in result.uses]
    return frozenset(found)


_MOVING: Final = (LAYOUT - {"stablehlo.broadcast_in_dim"}) | {
    *("stablehlo.convert", "stablehlo.optimization_barrier")
}


def _remark(octaves: float, target: FloatFormat, how: str) -> str:
    known = "is not known" if octaves >= _UNKNOWN else f"may be off by 2^±{octaves:.0f}"
    done = _DONE[how]
    return (
        f"the predicted size of the operand {known}, {target.name} holds 2^±{target.room}; {done}"
    )


def measured(
    op: ir.Operation, info: ScaleInfo, target: FloatFormat, rewriter: ScaleRewriter
) -> Trusted:
    """Returns data at the scale at which their amax is next to the largest number of a format."""
    value = op.operands[0]
    if not isinstance(info, Scaled):
        rewriter.assume(value, Scaled(ONE))
    headroom = math.frexp(target.max_finite)[1] - 1
    marker = stablehlo.OptimizationBarrierOp([value], loc=op.location, ip=ir.InsertionPoint(op))
    marker.attributes[markers.STATISTIC] = ir.StringAttr.get("max")
    i64 = ir.IntegerType.get_signless(64)
    marker.attributes[markers.HEADROOM] = ir.IntegerAttr.get(i64, headroom)
    marker.attributes[markers.BOUND] = ir.IntegerAttr.get(i64, MEASURED_BOUND)
    (data,) = dynamic_rescale(marker, rewriter)
    marker.operation.erase()
    found = rewriter.info(data)
    scale = found.scale if isinstance(found, Scaled) else ONE
    known = Scaled(scale, headroom - _PEAK, of_root(_PEAK_DEVIATION))
    for runtime, _ in scale.powers:
        runtime.size -= (
            known.level
        )  # The size of the scale is that of the values minus that of the data.
    rewriter.assume(data, known)
    format_ = rewriter.format(value)
    near_unit = format_ is not None and not format_.wide
    after = rewriter.rescale_to(data, known.normalized, op) if near_unit else data
    _follow(value, after, op)
    return Trusted(data, known)


def _follow(value: ir.Value, data: ir.Value, op: ir.Operation) -> None:
    """Passes measured data to the ops after a cast, so that their sizes are certain again.

    Narrow data are passed near unit, as their squares could leave the format otherwise.
    """
    for use in list(value.uses):
        user = use.owner.operation
        place = None if user.name in _TERMINATORS else in_block(user, op.block)
        if place is not None and op.is_before_in_block(place):
            use.owner.operands[use.operand_number] = data


def _bounded(
    op: ir.Operation, info: Scaled, target: FloatFormat, octaves: float, rewriter: ScaleRewriter
) -> Trusted:
    """Returns data that are divided only by the certain part of their size."""
    value = op.operands[0]
    scale = rewriter.bounded(value, info, target, octaves)
    between = info.scale / scale
    level = info.level + between.exponent
    return Trusted(rewriter.rescale_to(value, scale, op), Scaled(scale, level, info.uncertainty))
