"""Casts of data whose predicted size cannot be trusted.

A cast to a narrow format divides by the predicted size of its operand. If the size is more
uncertain than the format has room for, this division could flush the operand to zero or saturate
it. The recipe chooses one of three ways: the size is measured, or the operand is divided only by
the certain part of its size, or the matmul keeps its wide operands.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import LAST_MATMUL_CONE, MEASURED_BOUND, MEASURED_MARGIN, TRAINED
from scalify_hlo.algebra.scale import ONE, Scaled, ScaleInfo
from scalify_hlo.algebra.search import Search
from scalify_hlo.algebra.uncertainty import CERTAIN, GRADIENT, Uncertainty
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit, markers
from scalify_hlo.ir.formats import FloatFormat, is_narrow
from scalify_hlo.ir.functions import in_block
from scalify_hlo.ir.through import readers
from scalify_hlo.ir.traits import CONTRACTIONS, ELEMENTWISE, LAYOUT, RETURNS, ROUNDS
from scalify_hlo.ir.value_map import ValueSet, erase
from scalify_hlo.recipes.model import BOUNDED, MEASURE, WIDE
from scalify_hlo.rules.marker_ops import PEAK, dynamic_rescale
from scalify_hlo.rules.reported_scales import CastScale, of_size
from scalify_hlo.rules.scale_rewriter import ScaleRewriter, Untrusted

_UNKNOWN: Final = 100
"""The uncertainty, in octaves, above which a remark does not state it."""


_CERTAIN: Final = ELEMENTWISE | ROUNDS | LAYOUT | {"stablehlo.reduce"}
"""Ops that may follow the last matmul."""


class Trusted(NamedTuple):
    """Data at the scale of their cast.

    Attributes:
        value: The data.
        info: The scale, level and uncertainty of the data.
        remark: The remark on a size that is not trusted.
    """

    value: ir.Value
    info: Scaled
    remark: str = ""


class Cast(NamedTuple):
    """A cast of a recipe, or a rounding of the program that is treated as one.

    Attributes:
        op: The op.
        info: The scale information of its operand.
        target: The format of the cast.
        kind: The kind of the cast; see `scalify_hlo.dialect.attributes`.
    """

    op: ir.Operation
    info: ScaleInfo
    target: FloatFormat
    kind: str

    @property
    def octaves(self) -> float:
        """See `octaves_of`."""
        return octaves_of(self.info, self.target, self.kind)

    @property
    def place(self) -> Place:
        """See `place_of`."""
        return place_of(self.info, self.target, self.kind, self.octaves)


def uncertainty_of(info: ScaleInfo) -> Uncertainty:
    """Returns the uncertainty of the size of a value at a cast; unscaled values are certain."""
    return info.uncertainty if isinstance(info, Scaled) else CERTAIN


def handled(cast: Cast, rewriter: ScaleRewriter) -> Trusted | None:
    """Returns data at a safe scale, for a cast of data whose size is not trusted.

    Args:
        cast: The cast.
        rewriter: The rewriter, which has the recipe and gets the remark.

    Returns:
        The data; None if the format has room for the uncertainty, as formats with the range of f32
        always have.
    """
    if cast.target.wide:
        return None
    octaves, room = cast.octaves, cast.place.room
    how: str = rewriter.recipe.untrusted
    if octaves <= room:
        shrinks = how == MEASURE and _shrinks(cast.info, room, cast.kind)
        return measured(cast, rewriter) if shrinks else None
    numbers = _numbers(cast.op) if how == WIDE else frozenset()
    how = MEASURE if how == WIDE and not numbers else how
    remark = rewriter.remark(cast.op, _remark(octaves, cast.target.name, room, how))
    rewriter.notes.untrusted.append(Untrusted(remark, numbers))
    found = measured(cast, rewriter) if how == MEASURE else _bounded(cast, rewriter)
    return found._replace(remark=remark.message)


def noted(readers: tuple[int, ...], cast: Cast, *, measured: bool) -> CastScale:
    """Returns the record of the scale of a cast.

    Args:
        readers: The operands of matmuls that the cast makes.
        cast: The cast.
        measured: Whether the operand is measured for the cast.
    """
    if measured:
        return CastScale(readers, "measured")
    octaves = 0.0 if cast.target.wide else cast.octaves
    room = place_of(cast.info, cast.target, cast.kind, octaves).room
    return of_size(readers, cast.op.operands[0], cast.info, octaves, room)


def octaves_of(info: ScaleInfo, target: FloatFormat, kind: str) -> float:
    """Returns the uncertainty of the size of an operand at a cast, in octaves.

    The gradient of a squared error has degree 2 in every weight, so that declared scales are
    trusted for gradients in 8 bits. In the forward pass, squares of an input are rare.

    Args:
        info: The scale information of the operand.
        target: The format of the cast.
        kind: The kind of the cast; see `scalify_hlo.dialect.attributes`.
    """
    uncertainty = uncertainty_of(info)
    gradient = kind == attributes.GRADIENT and target.small
    return uncertainty.octaves if gradient else uncertainty.misdeclared


_DONE: Final = {
    MEASURE: "its amax is measured at run time",
    BOUNDED: "its scale is bounded",
    WIDE: "it stays wide",
}


def _readers(op: ir.Operation) -> Iterator[ir.Operation]:
    """Yields the ops that read a cast, through data movement."""
    if op.name not in _MOVING:
        return iter([op])
    return (reader for result in op.results for reader, _ in readers(result, _MOVING))


def _numbers(op: ir.Operation) -> frozenset[int]:
    """Returns the numbers of the matmuls that read a cast, through data movement."""
    numbers = (r.attributes.get(attributes.NUMBER) for r in _readers(op))
    return frozenset(ir.IntegerAttr(n).value for n in numbers if n is not None)


_MOVING: Final = (LAYOUT - {"stablehlo.broadcast_in_dim"}) | {"stablehlo.convert"}


def _remark(octaves: float, target: str, room: int, how: str) -> str:
    known = "is not known" if octaves >= _UNKNOWN else f"may be off by 2^±{octaves:.0f}"
    done = _DONE[how]
    return f"the predicted size of the operand {known}, {target} holds 2^±{room}; {done}"


class Place(NamedTuple):
    """The place of data in the range of a format.

    Attributes:
        above: The octaves by which their predicted rms is above unit.
        room: The octaves by which it may be wrong, in both directions.
    """

    above: int
    room: int


def place_of(info: ScaleInfo, target: FloatFormat, kind: str, octaves: float) -> Place:
    """Returns where a cast puts data of an uncertain size.

    A format of few exponents has more room above unit than below, for the amax of data of any
    distribution. Data are put at unit, and one octave above if their size is uncertain. The further
    room that this makes is given to gradients alone: `benchmarks.idioms` has activations whose
    errors are larger than their uncertainty. If the amax is known from a statistic, the room is
    more useful below. Such data are put a few octaves below the end of the format, which leaves a
    margin for errors.

    Args:
        info: The scale information of the data.
        target: The format.
        kind: The kind of the cast.
        octaves: The uncertainty of their size, in octaves.
    """
    spare = target.max_exponent - PEAK
    if spare <= target.room:
        return Place(0, target.room)
    if _follows_amax(info):
        above = max(0, spare - MEASURED_MARGIN)
        return Place(above, MEASURED_MARGIN if above else target.room)
    most = (spare - target.room) // 2
    room = target.room + most * (kind == attributes.GRADIENT)
    above = most if target.room - most < octaves <= room else 0
    return Place(above, room if above else target.room)


def _shrinks(info: ScaleInfo, room: int, kind: str) -> bool:
    """Whether a gradient leaves its format as the loss falls in training, unless it is measured.

    All gradients become smaller together. One that is measured, for its cast or by a rescaling,
    tells the size of those that are made of it.
    """
    if kind != attributes.GRADIENT or room >= TRAINED:
        return False
    own = uncertainty_of(info)
    rescaled = isinstance(info, Scaled) and not info.scale.static and own is CERTAIN
    return own.peak != GRADIENT and not rescaled


def _follows_amax(info: ScaleInfo) -> bool:
    """Whether the scale of data follows from an amax that is measured."""
    if not isinstance(info, Scaled) or info.scale.static:
        return False
    return info.uncertainty.peak not in ("", GRADIENT)


def measured(cast: Cast, rewriter: ScaleRewriter) -> Trusted:
    """Returns data at the scale at which their amax is next to the largest number of a format.

    Data in f16 or bf16 with which other ops than matmuls compute, or matmuls with results in such
    a format, are near unit instead.
    """
    op, info, target, kind = cast
    value = op.operands[0]
    if not isinstance(info, Scaled):
        rewriter.assume(value, Scaled(ONE))
    headroom = math.frexp(target.max_finite)[1] - 1
    marker = stablehlo.OptimizationBarrierOp([value], **emit.before(op))
    marker.attributes[markers.STATISTIC] = ir.StringAttr.get("max")
    marker.attributes[markers.HEADROOM] = attributes.integer(headroom)
    marker.attributes[markers.BOUND] = attributes.integer(MEASURED_BOUND)
    marker.attributes[markers.PEAK] = ir.StringAttr.get(
        GRADIENT if kind == attributes.GRADIENT else markers.KNOWN
    )
    (data,) = dynamic_rescale(marker, rewriter)
    erase(marker)
    found = rewriter.info(data)
    known = found if isinstance(found, Scaled) else Scaled(ONE)
    computed = not target.small and not all(map(_multiplies, _readers(op)))
    near_unit = computed or is_narrow(value.type)
    after = rewriter.rescale_to(data, known.normalized, op) if near_unit else data
    _follow(value, after, op)
    return Trusted(after, known.at(known.normalized)) if computed else Trusted(data, known)


_MANY_SCALES: Final = (
    "its f16 data are divided by their rms, which is measured: their scale is a product of many, "
    "and f16 has no room for the errors of all"
)


def rescaled_by_rms(value: ir.Value, rewriter: ScaleRewriter) -> None:
    """Rescales the data of a pair by their rms, for all ops that follow.

    Data of a pair are up to twice as large as their scale says, so that those of a product of many
    are too large for f16.
    """
    at = rewriter.next
    if not isinstance(value.owner, ir.Block):
        rewriter.remark(value.owner, _MANY_SCALES)
    places = [(use, in_block(use.owner.operation, at.block)) for use in value.uses]
    marker = stablehlo.OptimizationBarrierOp([value], **emit.before(at))
    marker.attributes[markers.STATISTIC] = ir.StringAttr.get("l2")
    (data,) = dynamic_rescale(marker, rewriter)
    erase(marker)
    for use, place in places:
        if place is not None and not place.is_before_in_block(at):
            use.owner.operands[use.operand_number] = data


def _multiplies(op: ir.Operation) -> bool:
    """Whether an op is a matmul whose result has the range of f32."""
    return op.name in CONTRACTIONS and not is_narrow(op.results[0].type)


def _follow(value: ir.Value, data: ir.Value, op: ir.Operation) -> None:
    """Passes measured data to the ops after a cast, so that their sizes are certain again.

    Narrow data are passed near unit, as their squares could leave the format otherwise. A wide
    matmul at the end of the program, such as that of the gradient of a weight, reads the value as
    it was. Measured data would be written for it, while the cast makes them in its own kernel.
    """
    for use in list(value.uses):
        user = use.owner.operation
        place = None if user.name in RETURNS else in_block(user, op.block)
        if place is None or not op.is_before_in_block(place):
            continue
        last = (
            place == user
            and user.name in CONTRACTIONS
            and not is_narrow(value.type)
            and _is_last(user)
        )
        if not last:
            use.owner.operands[use.operand_number] = data


def _is_last(matmul: ir.Operation) -> bool:
    """Whether all that depends on a matmul is wide, and is neither a matmul nor in a region."""

    def users(value: ir.Value) -> list[ir.Operation]:
        return [use.owner.operation for use in value.uses]

    def is_certain(user: ir.Operation) -> bool:
        return user.name in _CERTAIN and user.block == matmul.block

    def made_of(value: ir.Value) -> Iterator[ir.Value]:
        return (user.results[0] for user in users(value) if is_certain(user))

    search = iter(Search(matmul.results, made_of, seen=ValueSet()))
    certain = all(
        not is_narrow(value.type)
        and all(user.name == "func.return" or is_certain(user) for user in users(value))
        for value in islice(search, LAST_MATMUL_CONE)
    )
    return certain and next(search, None) is None


def _bounded(cast: Cast, rewriter: ScaleRewriter) -> Trusted:
    """Returns data that are divided only by the certain part of their size."""
    value, info = cast.op.operands[0], cast.info if isinstance(cast.info, Scaled) else Scaled(ONE)
    scale = rewriter.bounded(value, info, cast.target, cast.octaves)
    between = info.scale / scale
    level = info.level + between.exponent
    return Trusted(
        rewriter.rescale_to(value, scale, cast.op), Scaled(scale, level, info.uncertainty)
    )
