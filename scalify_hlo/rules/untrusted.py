"""Casts of data whose predicted size cannot be trusted.

A cast to a narrow format divides by the predicted size of its operand. Where that is uncertain by
more than the format has room for, dividing by it could flush the operand to zero or saturate it.
The recipe says what is done then: the size is measured there, or the operand is divided by no more
than what cannot do harm, or the matmul keeps its wide operands.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import attributes, markers
from scalify_hlo.dialect.formats import FloatFormat
from scalify_hlo.recipe import BOUNDED, MEASURE, WIDE
from scalify_hlo.rules.markers import dynamic_rescale
from scalify_hlo.rules.placement import in_block
from scalify_hlo.rules.split import Split, Untrusted
from scalify_hlo.scale import MEASURED_BOUND, ONE, Form, Scaled
from scalify_hlo.uncertainty import CERTAIN, Uncertainty, of_root

_PEAK: Final = 2
"""log2 of the largest magnitude of data over their rms, about; that of 10,000 normal numbers."""

_PEAK_DEVIATION: Final = 1.0
"""By how many octaves that differs from distribution to distribution."""


_UNKNOWN: Final = 100
"""Octaves from which on a remark gives no number."""


_TERMINATORS: Final = frozenset({"func.return", "stablehlo.return", "sdy.return"})


class Trusted(NamedTuple):
    """Data at the scale at which they are cast.

    Attributes:
        value: The data.
        form: Their scale, level and uncertainty.
    """

    value: ir.Value
    form: Scaled


def uncertainty_of(form: Form) -> Uncertainty:
    """How far the size of a value can be trusted at a cast; one with no form is near unit."""
    return form.uncertainty if isinstance(form, Scaled) else CERTAIN


def handled(op: ir.Operation, form: Form, target: FloatFormat, split: Split) -> Trusted | None:
    """Data at a scale that does no harm, for a cast of data that are not trusted.

    Args:
        op: The cast.
        form: What is known of its operand.
        target: The format that it is cast to.
        split: Knows the recipe, and takes the remark.

    Returns:
        None where the predicted size can be trusted to within the format's room, as of all that
        have the range of f32.
    """
    if target.wide:
        return None
    octaves = _octaves(uncertainty_of(form), target)
    if octaves <= target.room:
        return None
    numbers = _numbers(op) if split.recipe.untrusted == WIDE else frozenset()
    how = MEASURE if split.recipe.untrusted == WIDE and not numbers else split.recipe.untrusted
    split.untrusted.append(Untrusted(split.remark(op, _remark(octaves, target, how)), numbers))
    if how == MEASURE:
        return measured(op, form, target, split)
    known = form if isinstance(form, Scaled) else Scaled(ONE)
    return _bounded(op, known, target, octaves, split)


def _octaves(uncertainty: Uncertainty, target: FloatFormat) -> float:
    """By how many octaves the size of an operand may be off.

    A gradient of a squared error has degree 2 in every weight. E5M2 is what gradients are cast to,
    and declared scales are trusted there; in the forward pass, squares of an input are rare.
    """
    if target.mantissa_bits <= _GRADIENT_BITS:
        return uncertainty.octaves
    return uncertainty.misdeclared


_GRADIENT_BITS: Final = 2
"""Of the mantissa of E5M2."""

_DONE: Final = {
    MEASURE: "its amax is measured at run time",
    BOUNDED: "its scale is bounded",
    WIDE: "it stays wide",
}


def _numbers(op: ir.Operation) -> frozenset[int]:
    """The numbers of what reads a cast, through ops that move its data."""
    found, waiting = set[int](), [op]
    while waiting:
        here = waiting.pop()
        if attributes.NUMBER in here.attributes:
            found.add(ir.IntegerAttr(here.attributes[attributes.NUMBER]).value)
        elif here.name in _MOVING:
            waiting += [use.owner.operation for result in here.results for use in result.uses]
    return frozenset(found)


_MOVING: Final = frozenset(
    f"stablehlo.{name}" for name in ("convert", "optimization_barrier", "reshape", "transpose")
)


def _remark(octaves: float, target: FloatFormat, how: str) -> str:
    known = "is not known" if octaves >= _UNKNOWN else f"may be off by 2^±{octaves:.0f}"
    done = _DONE[how]
    return (
        f"the predicted size of the operand {known}, {target.name} holds 2^±{target.room}; {done}"
    )


def measured(op: ir.Operation, form: Form, target: FloatFormat, split: Split) -> Trusted:
    """Data at the scale that puts their amax next to the largest number of a format."""
    value = op.operands[0]
    if not isinstance(form, Scaled):
        split.assume(value, Scaled(ONE))
    headroom = math.frexp(target.max_finite)[1] - 1
    marker = stablehlo.OptimizationBarrierOp([value], loc=op.location, ip=ir.InsertionPoint(op))
    marker.attributes[markers.STATISTIC] = ir.StringAttr.get("max")
    i64 = ir.IntegerType.get_signless(64)
    marker.attributes[markers.HEADROOM] = ir.IntegerAttr.get(i64, headroom)
    marker.attributes[markers.BOUND] = ir.IntegerAttr.get(i64, MEASURED_BOUND)
    (data,) = dynamic_rescale(marker, split)
    marker.operation.erase()
    found = split.form(data)
    scale = found.scale if isinstance(found, Scaled) else ONE
    known = Scaled(scale, headroom - _PEAK, of_root(_PEAK_DEVIATION))
    for generator, _ in scale.powers:
        generator.size -= known.level  # of the scale, which is that of the values over their data
    split.assume(data, known)
    format_ = split.format(value)
    near_unit = format_ is not None and not format_.wide
    after = split.bring(data, known.settled, op) if near_unit else data
    _follow(value, after, op)
    return Trusted(data, known)


def _follow(value: ir.Value, data: ir.Value, op: ir.Operation) -> None:
    """Gives the ops after a cast what was measured, so that their sizes are certain again.

    Narrow data, whose squares would leave their format there, are given near unit.
    """
    for use in list(value.uses):
        user = use.owner.operation
        place = None if user.name in _TERMINATORS else in_block(user, op.block)
        if place is not None and op.is_before_in_block(place):
            use.owner.operands[use.operand_number] = data


def _bounded(
    op: ir.Operation, form: Scaled, target: FloatFormat, octaves: float, split: Split
) -> Trusted:
    """Data divided by no more of their size than is certain."""
    value = op.operands[0]
    scale = split.bounded(value, form, target, octaves)
    between = form.scale / scale
    level = form.level + between.exponent
    return Trusted(split.bring(value, scale, op), Scaled(scale, level, form.uncertainty))
