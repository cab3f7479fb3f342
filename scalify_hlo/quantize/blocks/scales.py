"""The scales of blocks, from the largest magnitude of each block, called its amax.

``largest`` is the largest number of the format of the data, ``2^top`` the power of two at or below
it, and ``X`` the numbers of a block. In all formats X is about X_d * S.

E8M0 scales are powers of two, computed exactly on the bits of the amax:

    floor:  S = 2^(floor(log2(amax)) - top)
    even:   S = 2^(floor(log2(round(amax))) - top), amax rounded to the digits of the format
    ceil:   S = 2^(ceil(log2(amax)) - top)
    rceil:  S = 2^ceil(log2(amax / largest))
    X_d = cast(X / S)

S is from 2^-126 to 2^126, so that S and 1/S are normal f32 numbers; a block of zeros has 2^-126.

F32 scales:

    S = max(amax, 2^-110) * (1 / largest);  X_d = cast(X * (1 / S))

E4M3 scales have a common factor G in f32, as their range is small. With
t = max(amax of the tensor, 2^-100):

    G = t * (1 / (448 * largest));  S = E4M3(amax * (448 / t)) * G
    X_d = cast(X * (1 / S)), and 0 where S is 0

A block with an infinity or a NaN has a scale that is not finite, and all its numbers become NaN in
the matmul. With E4M3 scales, so does the whole tensor. Casts round to nearest even; larger numbers
become the largest one. No scale is the reciprocal of a quotient or a quotient by a constant, which
XLA would rewrite and round differently.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.formats import FORMATS, FloatFormat
from scalify_hlo.algebra.limits import NORMAL, SMALLEST_AMAX, SMALLEST_PAIRED_AMAX
from scalify_hlo.dialect.formats import element_of
from scalify_hlo.quantize.casts import barrier_after
from scalify_hlo.recipes.model import Blocks
from scalify_hlo.rules import emit
from scalify_hlo.rules.statistics import statistic

_MANTISSA: Final = 23
_FRACTION: Final = (1 << _MANTISSA) - 1
_BIAS: Final = 127
_INFINITY: Final = 0x7F800000
_E4M3: Final = FORMATS["f8E4M3FN"]


class BlockScales(NamedTuple):
    """The scales of blocks in f32, one for each block.

    Attributes:
        inverse: The factor of the numbers before their cast.
        scale: S, or S / G with E4M3 scales: a number of the format of the scales.
        common: G, of rank 0; None for other formats.
    """

    inverse: ir.Value
    scale: ir.Value
    common: ir.Value | None = None


def block_scales(
    value: ir.Value, kept: Sequence[int], format_: str, blocks: Blocks, at: ir.Operation
) -> BlockScales:
    """Returns the scales of an f32 tensor.

    Args:
        value: The tensor, of static shape.
        kept: The dimensions, in order, along which there is one scale per index.
        format_: The format of the data.
        blocks: The options of block scales.
        at: The op before which the scales are computed.
    """
    amax = statistic(value, "max", at, wide=False, devices=None, kept=kept)
    build = _Builder(at, amax.type)
    if blocks.scale == "e8m0":
        return build.powers(amax, FORMATS[format_], blocks.rounding)
    if blocks.scale == "f32":
        return build.quotients(amax, FORMATS[format_])
    return build.pairs(amax, FORMATS[format_])


def added(target: FloatFormat, rounding: str) -> int:
    """Returns the number that is added to the bits of an amax before its fraction is cut off.

    The carry into the exponent is the step to the next power of two. With ``rceil`` there is one if
    the fraction of the amax is above that of the largest number of the format.

    Args:
        target: The format of the data.
        rounding: ``floor``, ``even``, ``ceil`` or ``rceil``.
    """
    if rounding == "floor":
        return 0
    if rounding == "even":
        return 1 << (_MANTISSA - target.mantissa_bits - 1)
    if rounding == "ceil":
        return _FRACTION
    largest = int(np.float32(target.max_finite).view(np.uint32))
    return _FRACTION - (largest & _FRACTION)


class _Builder:
    """Builds scales before an op.

    Args:
        at: The op.
        type_: The f32 type of the scales.
    """

    def __init__(self, at: ir.Operation, type_: ir.Type) -> None:
        self._at, self._float = at, type_
        self._where = {"loc": at.location, "ip": ir.InsertionPoint(at)}
        self._bits = ir.RankedTensorType.get(type_.shape, ir.IntegerType.get_unsigned(32))

    def powers(self, amax: ir.Value, target: FloatFormat, rounding: str) -> BlockScales:
        """Returns E8M0 scales."""
        bits = self._cast(self._bits, amax)
        rounded, top = bits, target.max_exponent
        if more := added(target, rounding):
            rounded = self._op("add", bits, self._integer(more))
        exponent = self._op("and", rounded, self._integer(_INFINITY))
        scalar = emit.scalar_type(self._bits.element_type)
        low, high = (
            emit.integers(scalar, end + top << _MANTISSA, self._at)
            for end in (_BIAS - NORMAL, _BIAS + NORMAL)
        )
        exponent = emit.clamp(low, exponent, high, self._at)
        exponent = self._op("subtract", exponent, self._integer(top << _MANTISSA))
        inverse = self._op("subtract", self._integer(2 * _BIAS << _MANTISSA), exponent)
        finite = self._compare(bits, self._integer(_INFINITY), "LT")
        scale = self._select(finite, self._cast(self._float, exponent), self._number(math.nan))
        return BlockScales(self._cast(self._float, inverse), scale)

    def quotients(self, amax: ir.Value, target: FloatFormat) -> BlockScales:
        """Returns f32 scales."""
        bounded = self._op("maximum", amax, self._number(SMALLEST_AMAX))
        scale = self._op("multiply", bounded, self._number(1.0 / target.max_finite))
        return BlockScales(self._op("divide", self._number(1.0), scale), scale)

    def pairs(self, amax: ir.Value, target: FloatFormat) -> BlockScales:
        """Returns E4M3 scales with their common factor."""
        dims = range(amax.type.rank)
        whole = statistic(amax, "max", self._at, wide=False, devices=None) if dims else amax
        one = _Builder(self._at, whole.type)
        whole = one._op("maximum", whole, one._number(SMALLEST_PAIRED_AMAX))
        most = _E4M3.max_finite
        common = one._op("multiply", whole, one._number(1.0 / (most * target.max_finite)))
        ratio = one._op("divide", one._number(most), whole)
        finite = one._compare(whole, one._number(float(np.finfo(np.float32).max)), "LE")
        ratio = one._select(finite, ratio, one._number(math.nan))
        scale = self._op("multiply", amax, self._spread(ratio, amax))
        scale = emit.saturate(scale, most, self._at)
        # XLA for GPUs omits a convert and its inverse, unless there is a barrier between them.
        scale = barrier_after(emit.convert(scale, element_of(_E4M3.name), self._at))
        scale = emit.convert(scale, ir.F32Type.get(), self._at)
        both = self._op("multiply", scale, self._spread(common, amax))
        zero = self._compare(both, self._number(0.0), "EQ")
        inverse = self._op("divide", self._number(1.0), both)
        return BlockScales(self._select(zero, self._number(0.0), inverse), scale, common)

    def _spread(self, scalar: ir.Value, like: ir.Value) -> ir.Value:
        return emit.broadcast_scalar(scalar, like, self._at)

    def _cast(self, type_: ir.Type, value: ir.Value) -> ir.Value:
        """Returns the same bits as numbers of another type."""
        name = "stablehlo.bitcast_convert"
        return ir.Operation.create(name, results=[type_], operands=[value], **self._where).result

    def _number(self, value: float) -> ir.Value:
        return emit.constant(self._float, value, self._at)

    def _integer(self, value: int) -> ir.Value:
        return emit.integers(self._bits, value, self._at)

    def _op(self, name: str, *operands: ir.Value) -> ir.Value:
        return emit.elementwise(f"stablehlo.{name}", *operands, **self._where)

    def _select(self, condition: ir.Value, value: ir.Value, otherwise: ir.Value) -> ir.Value:
        operands = [condition, value, otherwise]
        return ir.Operation.create(
            "stablehlo.select", results=[value.type], operands=operands, **self._where
        ).result

    def _compare(self, lhs: ir.Value, rhs: ir.Value, direction: str) -> ir.Value:
        type_ = ir.RankedTensorType.get(lhs.type.shape, ir.IntegerType.get_signless(1))
        given = {"comparison_direction": stablehlo.ComparisonDirectionAttr.get(direction)}
        return ir.Operation.create(
            "stablehlo.compare",
            results=[type_],
            operands=[lhs, rhs],
            attributes=given,
            **self._where,
        ).result
