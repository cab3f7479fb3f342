"""Scalar ops on powers of two, before an op of the program."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.noise import INDEX_FACTOR, SALT_FACTOR, UNSURE, WORD
from scalify_hlo.ir import emit

UP: Final = "up"
DOWN: Final = "down"
NEAREST: Final = "nearest"
STOCHASTIC: Final = "stochastic"


@dataclass(frozen=True, slots=True)
class Bits:
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


BITS = {False: Bits(23, 32), True: Bits(52, 64)}


class Emitter:
    """A builder of ops on scalars, or on several scalars at a time, before an op.

    Args:
        at: The op.
        wide: Whether floats are f64 rather than f32.
        shape: The shape of the tensors; empty for one scalar.
        splats: The constants that are shared with other builders.

    Attributes:
        at: As given.
        splats: As given.
        where: The location of the op and the place before it; see `emit.before`.
        float: The type of the tensors.
        bits: The type of their bits: unsigned integers.
    """

    def __init__(
        self,
        at: ir.Operation,
        *,
        wide: bool,
        shape: Sequence[int] = (),
        splats: emit.Splats | None = None,
    ) -> None:
        self.at, self.splats = at, splats
        self.where = emit.before(at)
        self._layout = BITS[wide]
        element = ir.F64Type.get() if wide else ir.F32Type.get()
        self.float = ir.RankedTensorType.get(shape, element)
        unsigned = ir.IntegerType.get_unsigned(self._layout.width)
        self.bits = ir.RankedTensorType.get(shape, unsigned)

    def number(self, value: float) -> ir.Value:
        """A float."""
        return emit.constant(self.float, value, self.at, self.splats)

    def numbers(self, values: Sequence[float]) -> ir.Value:
        """Several floats, one for each element."""
        attributes = [ir.FloatAttr.get(self.float.element_type, value) for value in values]
        elements = ir.DenseElementsAttr.get(attributes, self.float)
        return stablehlo.constant(elements, **self.where)

    def multiply(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Returns the product of two floats."""
        return emit.multiply(lhs, rhs, self.at)

    def divide(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Returns the quotient of two floats."""
        return self.op("divide", lhs, rhs)

    def maximum(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Returns the larger of two floats; NaN if one is NaN."""
        return self.op("maximum", lhs, rhs)

    def minimum(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Returns the smaller of two floats; NaN if one is NaN."""
        return self.op("minimum", lhs, rhs)

    def is_positive(self, value: ir.Value) -> ir.Value:
        """Returns an i1: whether a float is above 0; NaN is not."""
        return self.compare(value, self.number(0.0), "GT")

    def clamped(self, value: ir.Value, bound: int) -> ir.Value:
        """Returns a float, clamped to 2^±bound."""
        low, high = self.number(2.0**-bound), self.number(2.0**bound)
        return emit.elementwise("stablehlo.clamp", low, value, high, **self.where)

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
        return list(stablehlo.OptimizationBarrierOp(values, **self.where).results)

    def power(self, value: ir.Value, rounding: str, otherwise: ir.Value) -> ir.Value:
        """Returns the power of two next to a float; another value unless it is positive and finite.

        Args:
            value: A rank-0 float.
            rounding: ``up``, ``down`` or ``nearest``.
            otherwise: The other value.
        """
        bits = self.cast(self.bits, value)
        if rounding == STOCHASTIC:
            bits = self.op("add", bits, self._noise(bits))
        elif added := self._layout.added(rounding):
            bits = self.op("add", bits, self.integer(added))
        # The mask keeps the sign: as an unsigned number, a negative float is beyond infinity.
        mask = self.integer((1 << self._layout.width) - 1 - self._layout.fraction)
        bits = self.op("and", bits, mask)
        # The bits minus one, so that zero is the largest number.
        less = self.op("subtract", bits, self.integer(1))
        usable = self.compare(less, self.integer(self._layout.infinity - 1), "LT")
        return self.select(usable, self.cast(self.float, bits), otherwise)

    def _noise(self, bits: ir.Value) -> ir.Value:
        """Returns numbers below 2^mantissa that look random: a hash of the first bits of floats.

        A float of fraction f is rounded up with the probability f, so that the mean is kept.
        """
        width, mantissa = self._layout.width, self._layout.mantissa
        first = self.op("shift_right_logical", bits, self.integer(UNSURE))
        factor = INDEX_FACTOR | (SALT_FACTOR << WORD if width > WORD else 0)
        mixed = self.op("multiply", first, self.integer(factor))
        return self.op("shift_right_logical", mixed, self.integer(width - mantissa))

    def inverse_scale(self, amax: ir.Value, largest: float) -> ir.Value:
        """Returns the largest power of two that is at most ``largest / amax``, without a division.

        It is 1 if the power would be subnormal. With exponents E and fractions F, it is
        2^(E(largest) - E(amax) - k), where k is 1 if F(amax) > F(largest), and else 0. Quotients
        are kernels of their own on GPUs, before those that read them.

        Args:
            amax: A positive normal f32.
            largest: A positive number, such that ``largest / amax`` is less than 2^127.
        """
        bits, all_ones = self._layout, self._layout.fraction
        number = int(np.float32(largest).view(np.uint32))
        carried, exponent = all_ones - (number & all_ones), number & bits.infinity
        given = self.cast(self.bits, amax)
        up = self.op("add", given, self.integer(carried))
        up = self.op("and", up, self.integer(bits.infinity))
        inverse = self.op("subtract", self.integer(exponent + bits.one), up)
        inverse = self.cast(self.float, inverse)
        end = exponent + bits.one - carried
        if end >= bits.infinity:
            return inverse
        usable = self.compare(given, self.integer(end), "LT")
        return self.select(usable, inverse, self.number(1.0))

    def reciprocal(self, power: ir.Value) -> ir.Value:
        """Returns the reciprocal of a power of two, 2^-126 to 2^126, as a difference of bits."""
        bits = self.cast(self.bits, power)
        bits = self.op("subtract", self.integer(2 * self._layout.one), bits)
        return self.cast(self.float, bits)

    def finite(self, value: ir.Value) -> ir.Value:
        """Returns a float, and 1 in place of NaN."""
        return self.select(self.compare(value, value, "EQ"), value, self.number(1.0))

    def multiple(self, step: ir.Value, every: int) -> ir.Value:
        """Returns an i1: whether a rank-0 integer is a multiple of a number."""
        type_ = emit.scalar_type(ir.IntegerType.get_signless(64))
        step = stablehlo.convert(
            type_, step, **self.where
        )  # The number may not fit the type of the step.
        rest = self.op("remainder", step, self._like(type_, every))
        return self.compare(rest, self._like(type_, 0), "EQ")

    def is_far(self, power: ir.Value, other: ir.Value, octaves: int) -> ir.Value:
        """Returns an i1: whether two powers of two differ by more than a number of octaves."""
        near = self.multiply(power, self.number(2.0**-octaves))
        far = self.multiply(power, self.number(2.0**octaves))
        above = self.compare(near, other, "GT")
        return self.either(above, self.compare(far, other, "LT"))

    def either(self, one: ir.Value, other: ir.Value) -> ir.Value:
        """Returns an i1: whether one of two conditions holds."""
        return self.op("or", one, other)

    def cast(self, type_: ir.Type, value: ir.Value) -> ir.Value:
        """Returns the same bits as numbers of another type."""
        return emit.bitcast(type_, value, **self.where)

    def is_finite(self, value: ir.Value) -> ir.Value:
        """Returns an i1 for each element: whether it is neither an infinity nor NaN."""
        return stablehlo.is_finite(value, **self.where)

    def select(self, condition: ir.Value, value: ir.Value, otherwise: ir.Value) -> ir.Value:
        """Returns one of two rank-0 values."""
        operands = [condition, value, otherwise]
        return emit.op(self.at, "stablehlo.select", [value.type], operands).result

    def compare(self, lhs: ir.Value, rhs: ir.Value, direction: str) -> ir.Value:
        """Compares two tensors, and returns an i1 for each element."""
        return emit.compare(lhs, rhs, direction, self.at)

    def op(self, name: str, *operands: ir.Value) -> ir.Value:
        """Builds an op of StableHLO whose result has the type of its operands."""
        return emit.elementwise(f"stablehlo.{name}", *operands, **self.where)

    def integer(self, value: int) -> ir.Value:
        """Returns an unsigned integer of the width of the floats."""
        return self._like(self.bits, value)

    def _like(self, type_: ir.Type, value: int) -> ir.Value:
        return emit.integers(type_, value, self.at, self.splats)
