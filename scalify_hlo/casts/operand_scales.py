"""Matmul operands with their own scales, by which the result is multiplied right after.

    X_s = amax(X) * 2^margin / largest;  X_d = cast(X / X_s);  Y = matmul(A_d, B_d) * (A_s * B_s)

``largest`` is the largest number of the format, and the amax is that of the finite elements. If
scales are powers of two, X_s is rounded up, so that no data saturate, and Y may be BF16, in which
such scales are applied without rounding. An amax below 2^-110, such as zero, counts as 2^-110. What
is infinite or NaN stays infinite or NaN, and changes no other element. The formulas and the names
in recipes are those of Transformer Engine, whose scale is the reciprocal of X_s, here `inverse`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import MOST_POWER, NORMAL, SMALLEST_AMAX
from scalify_hlo.algebra.scale import steps
from scalify_hlo.casts.casts import barrier_after, barrier_in_order, convert_after, unwidened
from scalify_hlo.casts.channels import Channels, of_rows
from scalify_hlo.casts.strategy import CastOperand
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import FORMATS, with_element
from scalify_hlo.ir.functions import is_block
from scalify_hlo.recipes.model import Recipe, Scaling
from scalify_hlo.report.matmuls import MEASURED, PROFILE, PROGRAM
from scalify_hlo.rules.emitter import DOWN, Emitter
from scalify_hlo.rules.marker_ops import PEAK
from scalify_hlo.rules.placement import share_sharding
from scalify_hlo.rules.saturation import saturated

MOST = float(np.finfo(np.float32).max)

Exponents = npt.NDArray[np.int64]

UNSCALED: Exponents = np.zeros((), np.int64)
"""The exponent of scale 1."""

Kept: TypeAlias = Literal["no", "apart", "in order"]

OperandPlace: TypeAlias = tuple[ir.Value, int]
"""An operand of a matmul: the result of the matmul, and 0 for the left one, 1 for the right one.

The operands of a matmul may be replaced when earlier matmuls are quantized. The matmul itself stays
until then, and so does its result.
"""


Rule: TypeAlias = Callable[[Sequence[ir.Value], ir.Operation], ir.Value]
"""Builds an f32 of the shape of the first of several scales, before an op."""


class StateScales(Protocol):
    """Scales that the program is given, so that it knows their products from the start."""

    def product(self, numbers: Sequence[int], element: ir.Type, at: ir.Operation) -> ir.Value:
        """Returns the product of one or two scales before an op; see `multiplied`."""

    def computed(
        self, numbers: Sequence[int], rule: Rule, element: ir.Type, at: ir.Operation
    ) -> ir.Value:
        """Returns a number that follows from some scales, before an op, in an element type."""


class StateScale(NamedTuple):
    """One of several scales that the program is given, and its number.

    If an operand of a matmul has one, all operands do, and they have no other scale.
    """

    scales: StateScales
    number: int


@dataclass(frozen=True)
class Operand(CastOperand):
    """An operand in a narrow format: X = data * 2^exponents * scale.

    Attributes:
        exponents: log2 of the static part of the scale: one, or one for each channel.
        scale: The part of the scale that the program computes, an f32 tensor of rank 0 or of the
            shape of the channels; None if there is none.
        channels: The channels that have their own scales.
        state: The scale, if it is state of the program.
    """

    exponents: Exponents
    scale: ir.Value | None = None
    channels: Channels | None = None
    state: StateScale | None = None

    @property
    def at_run_time(self) -> bool:
        """Whether a part of the scale is not known while rewriting."""
        return self.scale is not None or self.state is not None

    @property
    def text(self) -> str:
        """See `CastOperand`."""
        known = not self.at_run_time and not self.exponents.ndim
        return f"2^{int(self.exponents)}" if known else ""


@dataclass(frozen=True)
class QuantizeRequest:
    """A request to quantize an operand.

    Attributes:
        value: The operand.
        format: The narrow format.
        place: The operand of the matmul.
        channels: The channels that get their own scales; None for one scale.
        gradient: Whether it is a gradient.
        kept: Whether a barrier keeps XLA from fusing the cast with its readers; see
            `barrier_after`.
        asked: Whether the author may have asked for scales, which the cast then tells from those of
            the recipe.
    """

    value: ir.Value
    format: str
    place: OperandPlace
    channels: Channels | None = None
    gradient: bool = False
    kept: bool = False
    asked: bool = False

    @property
    def whole(self) -> QuantizeRequest:
        """Returns the same request with one scale."""
        return self if self.channels is None else replace(self, channels=None)


def inverse_scale(
    amax: ir.Value, largest: ir.Value, emitter: Emitter, scaling: Scaling
) -> ir.Value:
    """Returns ``largest / amax``, or the power of two below; 1 if that is not positive."""
    bounded = emitter.maximum(amax, emitter.number(SMALLEST_AMAX))
    exact = emitter.divide(largest, bounded)
    if scaling.power_2_scale:
        return emitter.power(exact, DOWN, emitter.number(1.0))
    return emitter.select(emitter.is_positive(exact), exact, emitter.number(1.0))


class Quantizing:
    """The cast of one operand, right after the definition of the operand.

    Args:
        request: The request.
        recipe: The recipe.
        kept: Whether a barrier keeps XLA from fusing the cast with its readers, even if the request
            does not: ``apart`` is `barrier_after`, and ``in order`` is `barrier_in_order`.
        before: The op before which the operand is cast instead.
        splats: The constants that are shared with other casts.
    """

    def __init__(
        self,
        request: QuantizeRequest,
        recipe: Recipe,
        kept: Kept = "no",
        before: ir.Operation | None = None,
        splats: emit.Splats | None = None,
    ) -> None:
        self._request, self._saturate, self._kept = request, recipe.saturate, kept
        self._powers = recipe.scaling.in_powers
        self._format = FORMATS[request.format]
        element = ir.Type.parse(request.format)
        kind = attributes.VALUE if recipe.narrow_data or request.asked else ""
        self._cast = convert_after(request.value, element, kind)
        self.at: ir.Operation = self._cast.owner.operation
        if before is not None:
            self.at.move_before(before)
        self.splats = splats or emit.Splats()
        if isinstance(request.value, ir.BlockArgument):
            self.splats.lead(self.at)

    @property
    def element(self) -> ir.Type:
        """The type in which the operand is multiplied with the reciprocal of its scale.

        The product of a bf16 number and a power of two is a bf16 number, unless it is far below
        the least number of the format, as bf16 has the exponents of f32. In bf16, XLA shares no
        convert of a weight with its update, for which it would take the order of the cast.
        """
        bf16 = isinstance(self._request.value.type.element_type, ir.BF16Type)
        return ir.BF16Type.get() if self._powers and bf16 else ir.F32Type.get()

    def operand(
        self, value: ir.Value, inverse: ir.Value, scale: ir.Value, *, within: bool = False
    ) -> Operand:
        """Returns the operand, cast at a scale whose reciprocal is given.

        Args:
            value: The operand.
            inverse: The reciprocal of the scale.
            scale: The scale.
            within: Whether the scale leaves no finite number to saturate.
        """
        wide = emit.convert(value, self.element, self.at)
        factor = self._spread(emit.convert(inverse, wide.type.element_type, self.at), wide)
        data = self._finish(emit.multiply(wide, factor, self.at), wide, within=within)
        return Operand(data, MEASURED, UNSCALED, scale, self._request.channels)

    def static(self, exponents: Exponents, origin: str = PROFILE) -> Operand:
        """Returns the operand, cast at static scales; see `CastOperand` for their origin."""
        wide = emit.convert(self._request.value, self.element, self.at)
        if exponents.ndim:
            factors = constants(np.ldexp(np.float32(1), -exponents), self.at)
            factors = emit.convert(factors, wide.type.element_type, self.at)
            wide = emit.multiply(wide, self._spread(factors, wide), self.at)
        elif exponents:
            wide = emit.times_power(wide, -int(exponents), self.at)
        data = self._finish(wide, wide)
        return Operand(data, origin, exponents, None, self._request.channels)

    def _spread(self, scale: ir.Value, like: ir.Value) -> ir.Value:
        channels = self._request.channels
        if channels is None:
            return emit.broadcast_scalar(scale, like, self.at)
        return spread(scale, channels.dims, like, self.at)

    def _finish(self, wide: ir.Value, of: ir.Value, *, within: bool = False) -> ir.Value:
        if self._saturate and not within:
            scalar, most = emit.scalar_type(wide.type.element_type), self._format.max_finite
            low, high = (self.splats.number(scalar, end, self.at) for end in (-most, most))
            # XLA moves transposes of arguments through a product of these and a constant.
            tested, splats = of if is_block(unwidened(of).owner) else None, self.splats
            wide = saturated(wide, self._format, low, high, self.at, splats=splats, tested=tested)
        self.at.operands[0] = wide
        share_sharding(self._request.value, self._cast)
        if self._kept == "in order":
            return barrier_in_order(self._cast)
        kept = self._request.kept or self._kept == "apart"
        return barrier_after(self._cast) if kept else self._cast


def dequantize(result: ir.Value, operands: Sequence[Operand], at: ir.Operation) -> ir.Value:
    """Returns a matmul's result times the scales of its operands, in the format of the result.

    The product of two scales is clamped to the largest number: infinity times zero is NaN.

    Args:
        result: The matmul of the operands' data: f32, or bf16 if all scales are powers of two.
        operands: The quantized operands, left and right.
        at: The op before which it is computed.
    """
    element = result.type.element_type
    exponents = sum((o.exponents for o in operands if not o.exponents.ndim), np.int64(0))
    single = [o for o in operands if o.channels is None and o.at_run_time]
    arrays: dict[tuple[int, ...], list[Operand]] = {}
    groups: dict[tuple[int, ...], tuple[int, ...]] = {}
    for operand in operands:
        if operand.channels is None:
            continue
        dims, groups[operand.channels.result] = operand.channels.result, operand.channels.dims
        if not operand.at_run_time:
            powers = operand.exponents
            if not single and np.abs(powers + exponents).max() <= NORMAL:
                powers, exponents = powers + exponents, np.int64(0)
            operand = replace(operand, scale=constants(np.ldexp(np.float32(1), powers), at))
        arrays.setdefault(dims, []).append(operand)
    for dims, found in arrays.items():
        # A result times one scale may leave f32 where that times both does not.
        factor, single = _product([*found, *single], element, at), []
        factor = of_rows(factor, groups[dims], at)
        result = emit.multiply(result, spread(factor, dims, result, at), at)
    if single:
        return emit.times(result, _product(single, element, at, int(exponents)), at)
    return times_powers(result, int(exponents), at)


def scale_of_terms(
    operands: Sequence[Operand], formats: Sequence[str], at: ir.Operation
) -> ir.Value:
    """Returns the expected size of a product of two elements, each with one scale, as an f32.

    Operands that the program itself cast do not fill their formats, and are no part of it.

    Args:
        operands: The quantized operands, left and right.
        formats: Their formats.
        at: The op before which it is computed.
    """
    exponent = sum(
        int(operand.exponents) + math.floor(math.log2(FORMATS[name].scaled_amax)) - PEAK
        for operand, name in zip(operands, formats, strict=True)
        if operand.origin != PROGRAM
    )
    found = [o for o in operands if o.at_run_time]
    if found:
        return _product(found, ir.F32Type.get(), at, exponent)
    return emit.constant(emit.scalar_type(ir.F32Type.get()), 2.0**exponent, at)


def _product(
    operands: Sequence[Operand], element: ir.Type, at: ir.Operation, exponent: int = 0
) -> ir.Value:
    """Returns the product of the scales of operands in an element type; see `multiplied`."""
    if state := [operand.state for operand in operands if operand.state is not None]:
        return state[0].scales.product([each.number for each in state], element, at)
    scales = [operand.scale for operand in operands if operand.scale is not None]
    return emit.convert(multiplied(scales, most_of(element), at, exponent), element, at)


def multiplied(
    scales: Sequence[ir.Value], most: float, at: ir.Operation, exponent: int = 0
) -> ir.Value:
    """Returns the product of one or two scales and ``2^exponent``, which is at most a number.

    Args:
        scales: f32 tensors, of the shape of the first one or of rank 0.
        most: The largest product, as of `most_of`.
        at: The op before which it is computed.
        exponent: log2 of the static part.
    """
    first, *others = scales
    if not others and not exponent:
        return first
    emitter = Emitter(at, wide=False, shape=first.type.shape)
    for other in others:
        same = other if other.type.rank else emit.broadcast_scalar(other, first, at)
        first = emitter.multiply(first, same)
    return emitter.minimum(times_powers(first, exponent, at), emitter.number(most))


def most_of(element: ir.Type) -> float:
    """Returns the largest product of scales in f32, or in bf16, where they are powers of two."""
    return MOST if isinstance(element, ir.F32Type) else MOST_POWER


def times_powers(value: ir.Value, exponent: int, at: ir.Operation) -> ir.Value:
    """Returns a tensor times ``2^exponent``, in several steps if that is not a normal number."""
    for step in steps(exponent, NORMAL):
        value = emit.times_power(value, step, at)
    return value


def spread(values: ir.Value, dims: Sequence[int], like: ir.Value, at: ir.Operation) -> ir.Value:
    """Broadcasts a tensor to the static or dynamic shape of another one."""
    order = sorted(range(len(dims)), key=lambda i: dims[i])
    if order != sorted(order):
        values = emit.transpose(values, order, at)
    numbers = ir.DenseI64ArrayAttr.get(sorted(dims))
    type_, where = with_element(like.type, values.type.element_type), emit.before(at)
    if type_.has_static_shape:
        return emit.broadcast(type_, values, numbers, **where)
    shape = emit.shape_of(like, at)
    return stablehlo.dynamic_broadcast_in_dim(type_, values, shape, numbers, **where)


def constants(values: npt.NDArray[np.float32], at: ir.Operation) -> ir.Value:
    """Returns an f32 constant of given values."""
    attribute = ir.DenseElementsAttr.get(np.ascontiguousarray(values, np.float32))
    return stablehlo.constant(attribute, **emit.before(at))
