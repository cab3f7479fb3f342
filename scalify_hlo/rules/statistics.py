"""Statistics of data as rank-0 powers of two, in few ops that XLA does not expand.

A power of two is the exponent bits of a float, so rounding is an addition to the bits and a mask. A
statistic is that of the finite elements, so that an infinity or a NaN changes no other element. One
that is not positive and finite counts as 1, and does not rescale data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect.formats import is_complex
from scalify_hlo.rules import emit

STATISTICS: Final = ("max", "l1", "l2")

UP: Final = "up"
DOWN: Final = "down"
NEAREST: Final = "nearest"


@dataclass(frozen=True, slots=True)
class Devices:
    """The devices of a per-device computation.

    Attributes:
        groups: Replica groups, each of devices that have parts of one tensor.
    """

    groups: ir.Attribute
    count: int


@dataclass(frozen=True, slots=True)
class _Bits:
    """The bit layout of the floats that hold scales."""

    mantissa: int
    width: int

    @property
    def fraction(self) -> int:
        """The mask of all bits of the fraction."""
        return (1 << self.mantissa) - 1

    @property
    def infinity(self) -> int:
        """The bits of +inf: all bits of the exponent."""
        return (1 << (self.width - 1)) - 1 - self.fraction

    @property
    def one(self) -> int:
        """The bits of 1: the bias of the exponent."""
        return ((1 << (self.width - self.mantissa - 2)) - 1) << self.mantissa

    def added(self, rounding: str) -> int:
        """Returns the number that is added to the bits of a float before its fraction is cut off.

        The nearest power of two is that of logarithms: the midpoint is sqrt(2).
        """
        if rounding == NEAREST:
            return self.fraction + 1 - int((math.sqrt(2) - 1) * (self.fraction + 1))
        return self.fraction if rounding == UP else 0


_BITS = {False: _Bits(23, 32), True: _Bits(52, 64)}
_SIGNED = {"bf16": _Bits(7, 16), "f32": _BITS[False], "f64": _BITS[True]}


class Emitter:
    """A builder of ops on scalars, or on several scalars at a time, before an op.

    Args:
        at: The op.
        wide: Whether floats are f64 rather than f32.
        shape: The shape of the tensors; empty for one scalar.
    """

    def __init__(self, at: ir.Operation, *, wide: bool, shape: Sequence[int] = ()) -> None:
        self._at = at
        self._where = {"loc": at.location, "ip": ir.InsertionPoint(at)}
        self._bits = _BITS[wide]
        element = ir.F64Type.get() if wide else ir.F32Type.get()
        self.float = ir.RankedTensorType.get(shape, element)
        unsigned = ir.IntegerType.get_unsigned(self._bits.width)
        self._integer = ir.RankedTensorType.get(shape, unsigned)

    def number(self, value: float) -> ir.Value:
        """A float."""
        return emit.constant(self.float, value, self._at)

    def numbers(self, values: Sequence[float]) -> ir.Value:
        """Several floats, one for each element."""
        attributes = [ir.FloatAttr.get(self.float.element_type, value) for value in values]
        elements = ir.DenseElementsAttr.get(attributes, self.float)
        return stablehlo.constant(elements, **self._where)

    def multiply(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Returns the product of two floats."""
        return emit.multiply(lhs, rhs, self._at)

    def divide(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Returns the quotient of two floats."""
        return self._elementwise("divide", lhs, rhs)

    def maximum(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Returns the larger of two floats; NaN if one is NaN."""
        return self._elementwise("maximum", lhs, rhs)

    def minimum(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Returns the smaller of two floats; NaN if one is NaN."""
        return self._elementwise("minimum", lhs, rhs)

    def is_positive(self, value: ir.Value) -> ir.Value:
        """Returns an i1: whether a float is above 0; NaN is not."""
        return self._compare(value, self.number(0.0), "GT")

    def clamped(self, value: ir.Value, bound: int) -> ir.Value:
        """Returns a float, clamped to 2^±bound."""
        low, high = self.number(2.0**-bound), self.number(2.0**bound)
        return emit.elementwise("stablehlo.clamp", low, value, high, **self._where)

    def computed(self, power: ir.Value) -> ir.Value:
        """Returns a power of two that XLA computes once; see `kept`.

        Older versions of XLA remove the barrier before they fuse. They do not copy a division, so
        the power is computed as the reciprocal of its reciprocal, whose bits are a difference.
        """
        inverse = self.reciprocal(power)
        return self.kept(self.divide(self.number(1.0), inverse))

    def kept(self, value: ir.Value) -> ir.Value:
        """Returns a value behind a barrier, as XLA copies scalar ops into each fusion."""
        return self.kept_together(value)[0]

    def kept_together(self, *values: ir.Value) -> list[ir.Value]:
        """Returns several values behind a barrier; see `kept`."""
        return list(stablehlo.OptimizationBarrierOp(values, **self._where).results)

    def power(self, value: ir.Value, rounding: str, otherwise: ir.Value) -> ir.Value:
        """Returns the power of two next to a float; another value unless it is positive and finite.

        Args:
            value: A rank-0 float.
            rounding: ``up``, ``down`` or ``nearest``.
            otherwise: The other value.
        """
        bits = stablehlo.bitcast_convert(self._integer, value, **self._where)
        if added := self._bits.added(rounding):
            bits = self._elementwise("add", bits, self._constant(added))
        # The mask keeps the sign: as an unsigned number, a negative float is beyond infinity.
        mask = self._constant((1 << self._bits.width) - 1 - self._bits.fraction)
        bits = self._elementwise("and", bits, mask)
        # The bits minus one, so that zero is the largest number.
        less = self._elementwise("subtract", bits, self._constant(1))
        usable = self._compare(less, self._constant(self._bits.infinity - 1), "LT")
        return self.select(
            usable, stablehlo.bitcast_convert(self.float, bits, **self._where), otherwise
        )

    def inverse_scale(self, amax: ir.Value, largest: float) -> ir.Value:
        """Returns the largest power of two that is at most ``largest / amax``, without a division.

        It is 1 if the power would be subnormal. With exponents E and fractions F, it is
        2^(E(largest) - E(amax) - k), where k is 1 if F(amax) > F(largest), and else 0. Quotients
        are kernels of their own on GPUs, before those that read them.

        Args:
            amax: A positive normal f32.
            largest: A positive number, such that ``largest / amax`` is less than 2^127.
        """
        bits, all_ones = self._bits, self._bits.fraction
        number = int(np.float32(largest).view(np.uint32))
        carried, exponent = all_ones - (number & all_ones), number & bits.infinity
        given = stablehlo.bitcast_convert(self._integer, amax, **self._where)
        up = self._elementwise("add", given, self._constant(carried))
        up = self._elementwise("and", up, self._constant(bits.infinity))
        inverse = self._elementwise("subtract", self._constant(exponent + bits.one), up)
        inverse = stablehlo.bitcast_convert(self.float, inverse, **self._where)
        end = exponent + bits.one - carried
        if end >= bits.infinity:
            return inverse
        usable = self._compare(given, self._constant(end), "LT")
        return self.select(usable, inverse, self.number(1.0))

    def reciprocal(self, power: ir.Value) -> ir.Value:
        """Returns the reciprocal of a power of two, 2^-126 to 2^126, as a difference of bits."""
        bits = stablehlo.bitcast_convert(self._integer, power, **self._where)
        bits = self._elementwise("subtract", self._constant(2 * self._bits.one), bits)
        return stablehlo.bitcast_convert(self.float, bits, **self._where)

    def finite(self, value: ir.Value) -> ir.Value:
        """Returns a float, and 1 in place of NaN."""
        return self.select(self._compare(value, value, "EQ"), value, self.number(1.0))

    def multiple(self, step: ir.Value, every: int) -> ir.Value:
        """Returns an i1: whether a rank-0 integer is a multiple of a number, of i64."""
        type_ = emit.scalar_type(ir.IntegerType.get_signless(64))
        step = stablehlo.convert(type_, step, **self._where)
        rest = self._elementwise("remainder", step, self._like(type_, every))
        return self._compare(rest, self._like(type_, 0), "EQ")

    def is_far(self, power: ir.Value, other: ir.Value, octaves: int) -> ir.Value:
        """Returns an i1: whether two powers of two differ by more than a number of octaves."""
        near = self.multiply(power, self.number(2.0**-octaves))
        far = self.multiply(power, self.number(2.0**octaves))
        above = self._compare(near, other, "GT")
        return self.either(above, self._compare(far, other, "LT"))

    def either(self, one: ir.Value, other: ir.Value) -> ir.Value:
        """Returns an i1: whether one of two conditions holds."""
        return self._elementwise("or", one, other)

    def select(self, condition: ir.Value, value: ir.Value, otherwise: ir.Value) -> ir.Value:
        """Returns one of two rank-0 values."""
        return stablehlo.select(condition, value, otherwise, **self._where)

    def _compare(self, lhs: ir.Value, rhs: ir.Value, direction: str) -> ir.Value:
        attribute = stablehlo.ComparisonDirectionAttr.get(direction)
        return stablehlo.compare(lhs, rhs, attribute, **self._where)

    def _elementwise(self, name: str, *operands: ir.Value) -> ir.Value:
        return emit.elementwise(f"stablehlo.{name}", *operands, **self._where)

    def _constant(self, value: int) -> ir.Value:
        return self._like(self._integer, value)

    def _like(self, type_: ir.Type, value: int) -> ir.Value:
        return emit.integers(type_, value, self._at)


def statistic(
    data: ir.Value,
    kind: str,
    at: ir.Operation,
    *,
    wide: bool,
    devices: Devices | None,
    kept: Sequence[int] = (),
    narrow: bool = False,
    finite: bool = True,
    apart: bool = False,
) -> ir.Value:
    """Returns the rms, mean magnitude or largest magnitude of data as a rank-0 f32, or f64.

    Elements that are not finite count as zero. f16, bf16 and 8-bit data are converted to f32, in
    which their squares are finite. Magnitudes of bf16 data are taken before, so that XLA does not
    find two converts after each other: it would drop both, and store the data in f32, from which
    they were rounded.

    Args:
        data: A float or complex tensor of any shape. Both parts of complex numbers count, and the
            largest magnitude is that of a part.
        kind: ``l2``, ``l1`` or ``max``.
        at: The op before which the statistic is computed.
        wide: Whether the statistic is f64.
        devices: The devices of a per-device computation, whose data are all included; or None.
        kept: Dimensions of static size, in order, along which there is one statistic per index.
        narrow: Whether the largest magnitude of bf16 data is found before the convert. XLA for GPUs
            then takes it in the matmul that makes the data and casts them to f8. It must not if
            the scale of that cast depends on it: XLA would refuse the program.
        finite: Whether elements that are not finite count as zero; if not, the statistic may be
            infinite or NaN because of them.
        apart: Whether a barrier stands behind the reduction that finds the largest magnitude, as of
            `Emitter.kept`.
    """
    reduction = _Reduction(kind, at, data.type, wide=wide, devices=devices, kept=kept)
    return reduction.of(data, narrow=narrow, finite=finite, apart=apart)


def sum_of_squares(data: ir.Value, at: ir.Operation, zero: ir.Value, *, wide: bool) -> ir.Value:
    """Returns the sum of the squares of all elements, of rank 0; see `statistic`."""
    reduction = _Reduction("l2", at, data.type, wide=wide, devices=None, kept=())
    return reduction.total(data, zero=zero)


def largest(
    magnitudes: ir.Value, at: ir.Operation, *, finite: bool, kept: Sequence[int] = ()
) -> ir.Value:
    """Returns the largest of f32 magnitudes, or the largest finite one; see `statistic`."""
    found = _Reduction("max", at, magnitudes.type, wide=False, devices=None, kept=kept)
    return found.largest(magnitudes, finite=finite)


def everywhere(value: ir.Value, body: str, devices: Devices | None, at: ir.Operation) -> ir.Value:
    """Reduces the values of all devices of a per-device computation; each device has the result.

    Args:
        value: The value of each device.
        body: The op that combines two elements, such as ``stablehlo.maximum``.
        devices: The devices of the computation; if None, the value itself is returned.
        at: The op before which the result is computed.
    """
    if devices is None:
        return value
    op = ir.Operation.create(
        "stablehlo.all_reduce",
        results=[value.type],
        operands=[value],
        attributes={
            "replica_groups": devices.groups,
            "channel_handle": stablehlo.ChannelHandle.get(1, 0),
            "use_global_device_ids": ir.UnitAttr.get(),
        },
        regions=1,
        loc=at.location,
        ip=ir.InsertionPoint(at),
    )
    fill_reduction(op.regions[0], body, emit.scalar_type(value.type.element_type), at.location)
    return op.result


def gathered(value: ir.Value, devices: Devices | None, at: ir.Operation) -> ir.Value:
    """The values of all devices of a per-device computation, in a new first dimension.

    Args:
        value: What each device has.
        devices: Those of the computation; the new dimension is of size 1 if there are none.
        at: The op before which it is computed.
    """
    type_ = value.type
    one = ir.RankedTensorType.get([1, *type_.shape], type_.element_type)
    row = emit.reshape(value, one, at)
    if devices is None:
        return row
    return ir.Operation.create(
        "stablehlo.all_gather",
        results=[ir.RankedTensorType.get([devices.count, *type_.shape], type_.element_type)],
        operands=[row],
        attributes={
            "all_gather_dim": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0),
            "replica_groups": devices.groups,
            "channel_handle": stablehlo.ChannelHandle.get(1, 0),
            "use_global_device_ids": ir.UnitAttr.get(),
        },
        loc=at.location,
        ip=ir.InsertionPoint(at),
    ).result


def scatter_add(into: ir.Value, indices: ir.Value, updates: ir.Value, at: ir.Operation) -> ir.Value:
    """Adds scalars to elements of a tensor of rank 1.

    Args:
        into: The tensor.
        indices: The numbers of the elements, of shape ``[n, 1]``.
        updates: What is added to each, of shape ``[n]``.
        at: The op before which the scatter stands.
    """
    op = ir.Operation.create(
        "stablehlo.scatter",
        results=[into.type],
        operands=[into, indices, updates],
        attributes={
            "scatter_dimension_numbers": stablehlo.ScatterDimensionNumbers.get(
                update_window_dims=[],
                inserted_window_dims=[0],
                input_batching_dims=[],
                scatter_indices_batching_dims=[],
                scattered_dims_to_operand_dims=[0],
                index_vector_dim=1,
            )
        },
        regions=1,
        loc=at.location,
        ip=ir.InsertionPoint(at),
    )
    scalar = emit.scalar_type(into.type.element_type)
    fill_reduction(op.regions[0], "stablehlo.add", scalar, at.location)
    return op.result


def fill_reduction(region: ir.Region, name: str, scalar: ir.Type, location: ir.Location) -> None:
    """Fills the region of a reduction with one op."""
    block = region.blocks.append(scalar, scalar, arg_locs=[location, location])
    where = {"loc": location, "ip": ir.InsertionPoint(block)}
    stablehlo.return_([emit.elementwise(name, *block.arguments, **where)], **where)


class _Reduction:
    def __init__(
        self,
        kind: str,
        at: ir.Operation,
        type_: ir.Type,
        *,
        wide: bool,
        devices: Devices | None,
        kept: Sequence[int],
    ) -> None:
        self._kind, self._at, self._devices = kind, at, devices
        shape = [type_.shape[d] for d in kept]
        self._emitter = Emitter(at, wide=wide, shape=shape)
        self._reduce = [d for d in range(type_.rank) if d not in kept]
        self._element = self._emitter.float.element_type
        self._where = {"loc": at.location, "ip": ir.InsertionPoint(at)}
        self._body = "stablehlo.maximum" if kind == "max" else "stablehlo.add"

    def total(
        self,
        data: ir.Value,
        *,
        narrow: bool = False,
        finite: bool = True,
        apart: bool = False,
        zero: ir.Value | None = None,
    ) -> ir.Value:
        terms = self._terms(data, finite=finite)
        if finite and self._kind == "max":
            total = self.largest(terms, apart=apart)
        else:
            terms = terms if narrow else emit.convert(terms, self._element, self._at)
            total = self.reduced(terms, zero)
        return emit.convert(total, self._element, self._at)

    def of(self, data: ir.Value, *, narrow: bool, finite: bool, apart: bool) -> ir.Value:
        total = self.total(data, narrow=narrow, finite=finite, apart=apart)
        total = everywhere(total, self._body, self._devices, self._at)
        if self._kind == "max":
            return total
        mean = self._mean(total, data)
        return stablehlo.sqrt(mean, **self._where) if self._kind == "l2" else mean

    def _terms(self, data: ir.Value, *, finite: bool) -> ir.Value:
        if is_complex(data.type):
            parts = [stablehlo.real(data, **self._where), stablehlo.imag(data, **self._where)]
            name = "stablehlo.maximum" if self._kind == "max" else "stablehlo.add"
            terms = [self._term(part, finite=finite) for part in parts]
            return emit.elementwise(name, *terms, **self._where)
        if self._kind == "max" and isinstance(data.type.element_type, ir.BF16Type):
            return self._term(data, finite=finite)
        return self._term(emit.convert(data, self._element, self._at), finite=finite)

    def _term(self, data: ir.Value, *, finite: bool) -> ir.Value:
        if self._kind == "l2":
            size = emit.multiply(data, data, self._at)
        else:
            size = emit.elementwise("stablehlo.abs", data, **self._where)
        return emit.where_finite(data, size, self._at) if finite and self._kind != "max" else size

    def largest(self, sizes: ir.Value, *, finite: bool = True, apart: bool = False) -> ir.Value:
        """Returns the largest of magnitudes, or the largest finite one.

        Bits of magnitudes are in order, NaN last, which XLA's maximum of floats may drop. Signed,
        sums with those of the least normal number are negative for infinity and NaN. Unlike a
        select, it leaves XLA the fusions of the program.
        """
        bits = _SIGNED[str(sizes.type.element_type)]
        least = 1 << bits.mantissa if finite else 0
        make = ir.IntegerType.get_signless if finite else ir.IntegerType.get_unsigned
        codes = ir.RankedTensorType.get(sizes.type.shape, make(bits.width), sizes.type.encoding)
        made = stablehlo.bitcast_convert(codes, sizes, **self._where)
        made = self._more(made, "add", least) if finite else made
        zero = emit.constant(emit.scalar_type(codes.element_type), least, self._at)
        found = self.reduced(made, zero)
        found = self._emitter.kept(found) if apart else found
        found = self._more(found, "subtract", least) if finite else found
        result = ir.RankedTensorType.get(found.type.shape, sizes.type.element_type)
        return stablehlo.bitcast_convert(result, found, **self._where)

    def _more(self, codes: ir.Value, name: str, number: int) -> ir.Value:
        operands = codes, emit.filled(codes, number, self._at)
        return emit.elementwise(f"stablehlo.{name}", *operands, **self._where)

    def reduced(self, terms: ir.Value, zero: ir.Value | None = None) -> ir.Value:
        element = terms.type.element_type
        scalar = emit.scalar_type(element)
        zero = emit.constant(scalar, 0.0, self._at) if zero is None else zero
        op = ir.Operation.create(
            "stablehlo.reduce",
            results=[ir.RankedTensorType.get(self._emitter.float.shape, element)],
            operands=[terms, zero],
            attributes={"dimensions": ir.DenseI64ArrayAttr.get(self._reduce)},
            regions=1,
            **self._where,
        )
        fill_reduction(op.regions[0], self._body, scalar, self._at.location)
        return op.result

    def _mean(self, total: ir.Value, data: ir.Value) -> ir.Value:
        devices = 1 if self._devices is None else self._devices.count
        if data.type.has_static_shape:
            count = math.prod(data.type.shape[d] for d in self._reduce) * devices
            return self._emitter.multiply(total, self._emitter.number(1.0 / max(count, 1)))
        count = self._emitter.number(float(devices))
        for dimension in self._reduce:
            size = stablehlo.get_dimension_size(data, dimension, **self._where)
            size = stablehlo.convert(self._emitter.float, size, **self._where)
            count = self._emitter.multiply(count, size)
        return emit.elementwise("stablehlo.divide", total, count, **self._where)
