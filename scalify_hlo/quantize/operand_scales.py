"""Operands of matmuls with scales of their own: cast to narrow data, undone right after.

    X_s = amax(X) * 2^margin / largest;  X_d = cast(X / X_s);  Y = matmul(A_d, B_d) * (A_s * B_s)

``largest`` is the format's largest number. With scales that are powers of two X_s is rounded up, so
that nothing clips, and Y may be BF16, in which such scales are applied without rounding. An amax
below 2^-110, such as zero, counts as 2^-110, and where it is infinite or NaN X_s is 1. What is
infinite becomes the largest number, and NaN stays NaN. The formulas and the names in recipes are
Transformer Engine's; its scale is the reciprocal of ours, `inverse` here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import NORMAL
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.formats import FORMATS
from scalify_hlo.dialect.value_map import ValueCache
from scalify_hlo.quantize.casts import barrier_after, barrier_in_order, convert_after, widened_from
from scalify_hlo.quantize.channels import Channels
from scalify_hlo.recipes.model import Recipe, Scaling
from scalify_hlo.report.model import Report
from scalify_hlo.rules import emit
from scalify_hlo.rules.placement import share_sharding
from scalify_hlo.rules.statistics import DOWN, Emitter

SMALLEST_AMAX = 2.0**-110
"""What smaller ones count as: ``largest / amax`` is a number for every format."""

MOST = float(np.finfo(np.float32).max)

MOST_POWER = 2.0**127
"""The largest power of two in f32 and in bf16, where `MOST` would become infinite."""

Exponents = npt.NDArray[np.int64]

UNSCALED: Exponents = np.zeros((), np.int64)
"""The exponent of scale 1."""

Kept: TypeAlias = Literal["no", "apart", "in order"]

OperandPlace: TypeAlias = tuple[ir.Value, int]
"""An operand of a matmul: the result of the matmul, and 0 for the left one, 1 for the right one.

What matmuls take is made anew when those before them are; they themselves stand until then.
"""


@dataclass(frozen=True)
class Operand:
    """An operand in a narrow format: X = data * 2^exponents * scale.

    Attributes:
        data: X_d.
        exponents: The static part of the scale's logarithm: one, or one for each channel.
        scale: The part that the program computes, an f32 tensor of rank 0 or of the channels'
            shape; None if there is none.
        channels: Those that have scales of their own.
        inverse: The reciprocal of a scale that is a power of two, if that is to be used instead:
            XLA computes a quotient once, and copies what a scale is cut out of into each fusion.
        origin: The origin of the scale; see `scalify_hlo.report.matmuls.ORIGINS`.
    """

    data: ir.Value
    exponents: Exponents
    scale: ir.Value | None = None
    channels: Channels | None = None
    inverse: ir.Value | None = None
    origin: str = "program"


@dataclass(frozen=True)
class QuantizeRequest:
    """A request to quantize an operand.

    Attributes:
        value: The operand.
        format: The narrow format.
        place: Where it is taken.
        channels: Those that get scales of their own; None for one scale.
        gradient: Whether it is a gradient. Casts of these have several readers, and XLA is kept
            from copying them into each; see `barrier_after`.
    """

    value: ir.Value
    format: str
    place: OperandPlace
    channels: Channels | None = None
    gradient: bool = False

    @property
    def whole(self) -> QuantizeRequest:
        """The same with one scale."""
        return self if self.channels is None else replace(self, channels=None)


class ScaleProvider(Protocol):
    """A source of scales."""

    def operand(self, wanted: QuantizeRequest) -> Operand:
        """The operand with its scale."""

    def finish(self, report: Report) -> None:
        """Does what is left when all operands are cast."""


class Operands:
    """The operands of a module's matmuls: each cast once for each format and kind of scale."""

    def __init__(self, source: ScaleProvider) -> None:
        self._source = source
        self._made: ValueCache[Operand] = ValueCache()

    @property
    def count(self) -> int:
        """The number of casts."""
        return len(self._made)

    def get(self, wanted: QuantizeRequest) -> Operand:
        """The operand; itself at scale 1 if the program has it in the format already."""
        value, name = wanted.value, wanted.format
        if str(value.type.element_type) == name:
            return Operand(value, UNSCALED)
        narrow = widened_from(value)
        if narrow is not None and str(narrow.type.element_type) == name:
            return Operand(narrow, UNSCALED)
        channels = wanted.channels
        key = value, name, None if channels is None else channels.dims
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._source.operand(wanted)
        return made if made.channels is None else replace(made, channels=channels)


def inverse_scale(
    amax: ir.Value, largest: ir.Value, emitter: Emitter, scaling: Scaling
) -> ir.Value:
    """``largest / amax``, or the power of two below it; 1 if the amax is infinite or NaN."""
    bounded = emitter.maximum(amax, emitter.number(SMALLEST_AMAX))
    exact = emitter.divide(largest, bounded)
    if scaling.power_2_scale:
        return emitter.power(exact, DOWN, emitter.number(1.0))
    return emitter.select(emitter.is_positive(exact), exact, emitter.number(1.0))


class Quantizing:
    """The cast of one operand, made right after what makes the operand.

    Args:
        wanted: What is asked.
        recipe: The options.
        kept: Whether XLA is kept from making casts one with what takes them, as it always is for
            gradients: see `barrier_after` and, for ``in order``, `barrier_in_order`.
    """

    def __init__(self, wanted: QuantizeRequest, recipe: Recipe, kept: Kept = "no") -> None:
        self._wanted, self._saturate, self._kept = wanted, recipe.saturate, kept
        self._format = FORMATS[wanted.format]
        element = ir.Type.parse(wanted.format)
        kind = attributes.VALUE if recipe.narrow_data else ""
        self._cast = convert_after(wanted.value, element, kind)
        self.at: ir.Operation = self._cast.owner.operation

    @cached_property
    def emitter(self) -> Emitter:
        """Builds what computes the scale."""
        return Emitter(self.at, wide=False)

    def operand(self, value: ir.Value, inverse: ir.Value, scale: ir.Value) -> Operand:
        """The operand, cast at a scale of which the reciprocal is known."""
        wide = emit.convert(value, ir.F32Type.get(), self.at)
        factor = self._spread(inverse, wide)
        data = self._finish(emit.multiply(wide, factor, self.at))
        return Operand(data, UNSCALED, scale, self._wanted.channels, origin="measured")

    def static(self, exponents: Exponents) -> Operand:
        """The operand at scales that are known."""
        wide = emit.convert(self._wanted.value, ir.F32Type.get(), self.at)
        if exponents.ndim:
            factor = self._spread(constants(np.ldexp(np.float32(1), -exponents), self.at), wide)
            wide = emit.multiply(wide, factor, self.at)
        elif exponents:
            wide = emit.times_power(wide, -int(exponents), self.at)
        data = self._finish(wide)
        return Operand(data, exponents, None, self._wanted.channels, origin="profile")

    def _spread(self, scale: ir.Value, like: ir.Value) -> ir.Value:
        channels = self._wanted.channels
        if channels is None:
            return emit.broadcast_scalar(scale, like, self.at)
        return spread(scale, channels.dims, like, self.at)

    def _finish(self, wide: ir.Value) -> ir.Value:
        if self._saturate:
            wide = emit.saturate(wide, self._format.max_finite, self.at)
        self.at.operands[0] = wide
        share_sharding(self._wanted.value, self._cast)
        if self._kept == "in order":
            return barrier_in_order(self._cast)
        kept = self._wanted.gradient or self._kept == "apart"
        return barrier_after(self._cast) if kept else self._cast


def dequantize(result: ir.Value, operands: Sequence[Operand], at: ir.Operation) -> ir.Value:
    """A matmul's result times the scales of its operands, which are applied in its own format.

    The product of two scales is held below the format's largest number: infinity times zero is NaN.

    Args:
        result: The matmul of the operands' data: f32, or bf16 if all scales are powers of two.
        operands: They, left and right.
        at: The op before which it is computed.
    """
    element = result.type.element_type
    exponents = sum((o.exponents for o in operands if not o.exponents.ndim), np.int64(0))
    scalars = [o.scale for o in operands if o.scale is not None and o.channels is None]
    for operand in operands:
        if operand.channels is None:
            continue
        vector = operand.scale
        if vector is None:
            powers = operand.exponents
            if not scalars and np.abs(powers + exponents).max() <= NORMAL:
                powers, exponents = powers + exponents, np.int64(0)
            vector = constants(np.ldexp(np.float32(1), powers), at)
        vector = emit.convert(vector, element, at)
        result = emit.multiply(result, spread(vector, operand.channels.result, result, at), at)
    if scalars:
        emitter = Emitter(at, wide=False)
        scale = scalars[0]
        if len(scalars) > 1 or exponents:
            product = _product(operands, emitter) if len(scalars) > 1 else scale
            product = _times_powers(product, int(exponents), at)
            most = MOST if isinstance(element, ir.F32Type) else MOST_POWER
            scale = emitter.minimum(product, emitter.number(most))
        return emit.times(result, emit.convert(scale, element, at), at)
    return _times_powers(result, int(exponents), at)


def _product(operands: Sequence[Operand], emitter: Emitter) -> ir.Value:
    """The product of two scales."""
    inverses = [o.inverse for o in operands if o.inverse is not None]
    if len(inverses) == len(operands):
        return emitter.divide(emitter.number(1.0), emitter.multiply(*inverses))
    return emitter.multiply(*(o.scale for o in operands if o.scale is not None))


def _times_powers(value: ir.Value, exponent: int, at: ir.Operation) -> ir.Value:
    """A tensor times ``2^exponent``, in several steps if that is no normal number."""
    while exponent:
        step = max(-NORMAL, min(NORMAL, exponent))
        value = emit.times_power(value, step, at)
        exponent -= step
    return value


def spread(values: ir.Value, dims: Sequence[int], like: ir.Value, at: ir.Operation) -> ir.Value:
    """Broadcasts a tensor along the other dimensions of one of static or dynamic shape."""
    order = sorted(range(len(dims)), key=lambda i: dims[i])
    if list(order) != list(range(len(dims))):
        permutation = ir.DenseI64ArrayAttr.get(order)
        values = stablehlo.transpose(values, permutation, loc=at.location, ip=ir.InsertionPoint(at))
    numbers = ir.DenseI64ArrayAttr.get(sorted(dims))
    type_ = ir.RankedTensorType.get(like.type.shape, values.type.element_type, like.type.encoding)
    where = {"loc": at.location, "ip": ir.InsertionPoint(at)}
    if type_.has_static_shape:
        return emit.broadcast(type_, values, numbers, **where)
    return stablehlo.dynamic_broadcast_in_dim(
        type_, values, emit.shape_of(like, at), numbers, **where
    )


def constants(values: npt.NDArray[np.float32], at: ir.Operation) -> ir.Value:
    """An f32 tensor of given values."""
    attribute = ir.DenseElementsAttr.get(np.ascontiguousarray(values, np.float32))
    return stablehlo.constant(attribute, loc=at.location, ip=ir.InsertionPoint(at))
