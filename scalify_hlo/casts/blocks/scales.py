"""The scales of blocks, from the largest magnitude of each block, called its amax.

``largest`` is the largest number of the format of the data, ``2^top`` the power of two at or below
it, and ``X`` the numbers of a block. In all formats X is about X_d * S.

E8M0 scales are powers of two, computed exactly on the bits of the amax:

    floor:  S = 2^(floor(log2(amax)) - top)
    even:   S = 2^(floor(log2(round(amax))) - top), amax rounded to the digits of the format
    ceil:   S = 2^(ceil(log2(amax)) - top)
    rceil:  S = 2^ceil(log2(amax / largest))
    X_d = cast(X / S)

S is at least 2^-126, and below 2^126 since top is at least 2, so that S and 1/S are normal f32
numbers; a block of zeros has 2^-126.

F32 scales:

    S = max(amax, 2^-110) * (1 / largest);  X_d = cast(X * (1 / S))

E4M3 scales have a common factor G in f32, as their range is small. With
t = max(amax of the tensor, 2^-100):

    G = t * (1 / (448 * largest));  S = E4M3(amax * (448 / t)) * G
    X_d = cast(X * (1 / (max(S / G, 2^-9) * G)))

The maximum, whose second term is the smallest E4M3 number, keeps X_d in range where S is 0.

A block with an infinity or a NaN has a scale that is not finite, and all its numbers become NaN in
the matmul. It has no part in the amax of the tensor. Casts round to nearest even. Scales that are
rounded up, and F32 scales, leave no number to saturate: with the latter X_d may be above `largest`
by three roundings of f32, which the cast takes back. With the others, larger numbers become the
largest one. No scale is the reciprocal of a quotient or a quotient by a constant, which
XLA would rewrite and round differently.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS, FloatFormat
from scalify_hlo.algebra.limits import NORMAL, SMALLEST_AMAX, SMALLEST_PAIRED_AMAX
from scalify_hlo.casts.casts import barrier_after
from scalify_hlo.casts.encoding import Array, dtype_of
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import element_of
from scalify_hlo.recipes.model import Blocks
from scalify_hlo.rules.emitter import Emitter
from scalify_hlo.rules.statistics import largest

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
    amax: ir.Value,
    format_: str,
    blocks: Blocks,
    at: ir.Operation,
    splats: emit.Splats | None = None,
    members: Members | None = None,
) -> BlockScales:
    """Returns the scales of the blocks of an f32 tensor.

    Args:
        amax: The largest magnitude of each block, in f32.
        format_: The format of the data.
        blocks: The options of block scales.
        at: The op before which the scales are computed.
        splats: The constants that are shared with other scales.
        members: The members of the tensor, if it has any.
    """
    build = _Builder(at, wide=False, shape=amax.type.shape, splats=splats)
    if blocks.scale == "e8m0":
        return build.powers(amax, FORMATS[format_], blocks.rounding)
    if blocks.scale == "f32":
        return build.quotients(amax, FORMATS[format_])
    return build.pairs(amax, FORMATS[format_], members)


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


def may_saturate(blocks: Blocks) -> bool:
    """Whether numbers may be larger than the largest one of the format, once they are scaled."""
    if blocks.scale == "e8m0":
        return blocks.rounding not in ("ceil", "rceil")
    return blocks.scale != "f32"


class Members(NamedTuple):
    """The members of an operand, each of which has a common factor of E4M3 scales.

    Attributes:
        shape: The shape of the operand's batch and free dimensions.
        kept: The dimensions of that shape which have members.
        batch: The number of batch dimensions.
    """

    shape: tuple[int, ...]
    kept: tuple[int, ...]
    batch: int

    def of_amax(self, shape: Sequence[int]) -> list[int]:
        """Returns the shape of an amax of blocks, with its dimensions of members by themselves.

        Args:
            shape: The shape of the amax, whose blocks have one row if rows have members.
        """
        rows = self.shape[self.batch :] if self.kept[-1] >= self.batch else shape[-2:-1]
        return [*self.shape[: self.batch], *rows, shape[-1]]


class StaticScales(NamedTuple):
    """The scales of the blocks of a constant, as NumPy arrays.

    Attributes:
        inverse: As of `BlockScales`, in f32.
        scale: As of `BlockScales`, in f32.
        common: As of `BlockScales`, in f32; None for other formats.
    """

    inverse: Array
    scale: Array
    common: Array | None = None


def static_scales(
    amax: Array, format_: str, blocks: Blocks, members: Members | None = None
) -> StaticScales:
    """Returns the scales of the blocks of a constant: the bits that `block_scales` computes.

    Args:
        amax: The largest magnitude of each block, in f32; all are finite.
        format_: The format of the data.
        blocks: The options of block scales.
        members: The members of the constant, if it has any.
    """
    target, one = FORMATS[format_], np.float32(1)
    if blocks.scale == "e8m0":
        top = target.max_exponent
        exponent = amax.view(np.uint32) + np.uint32(added(target, blocks.rounding))
        exponent &= np.uint32(_INFINITY)
        exponent = np.maximum(exponent, np.uint32(_BIAS - NORMAL + top << _MANTISSA))
        exponent -= np.uint32(top << _MANTISSA)
        inverse = np.uint32(2 * _BIAS << _MANTISSA) - exponent
        return StaticScales(inverse.view(np.float32), exponent.view(np.float32))
    if blocks.scale == "f32":
        bounded = np.maximum(amax, np.float32(SMALLEST_AMAX))
        scale = bounded * np.float32(1.0 / target.max_finite)
        return StaticScales(one / scale, scale)
    whole = np.maximum(_largest(amax, members), np.float32(SMALLEST_PAIRED_AMAX))
    most = np.float32(_E4M3.max_finite)
    common = whole * np.float32(1.0 / (_E4M3.max_finite * target.max_finite))
    view = amax if members is None else amax.reshape(members.of_amax(amax.shape))
    scale = np.clip(view * (most / whole), -most, most)
    scale = scale.astype(dtype_of(_E4M3.name)).astype(np.float32)
    inverse = one / (np.maximum(scale, np.float32(_E4M3.smallest)) * common)
    if members is not None:
        common = common.reshape([members.shape[d] for d in members.kept])
    return StaticScales(inverse.reshape(amax.shape), scale.reshape(amax.shape), common)


def _largest(amax: Array, members: Members | None) -> Array:
    """Returns the amax of a constant, or of each member, which keeps its dimensions."""
    if members is None:
        return np.asarray(amax.max())
    view = amax.reshape(members.of_amax(amax.shape))
    summed = tuple(d for d in range(view.ndim) if d not in members.kept)
    return np.asarray(view.max(axis=summed, keepdims=True))


class _Builder(Emitter):
    """Builds scales before an op, of the type of `Emitter.float`."""

    def powers(self, amax: ir.Value, target: FloatFormat, rounding: str) -> BlockScales:
        """Returns E8M0 scales."""
        bits = self.cast(self.bits, amax)
        rounded, top = bits, target.max_exponent
        if more := added(target, rounding):
            rounded = self.op("add", bits, self.integer(more))
        exponent = self.op("and", rounded, self.integer(_INFINITY))
        exponent = self.op("maximum", exponent, self.integer(_BIAS - NORMAL + top << _MANTISSA))
        exponent = self.op("subtract", exponent, self.integer(top << _MANTISSA))
        inverse = self.op("subtract", self.integer(2 * _BIAS << _MANTISSA), exponent)
        finite = self.compare(bits, self.integer(_INFINITY), "LT")
        scale = self.select(finite, self.cast(self.float, exponent), self.number(math.nan))
        return BlockScales(self.cast(self.float, inverse), scale)

    def quotients(self, amax: ir.Value, target: FloatFormat) -> BlockScales:
        """Returns f32 scales."""
        bounded = self.op("maximum", amax, self.number(SMALLEST_AMAX))
        scale = self.op("multiply", bounded, self.number(1.0 / target.max_finite))
        return BlockScales(self.op("divide", self.number(1.0), scale), scale)

    def pairs(
        self, amax: ir.Value, target: FloatFormat, members: Members | None = None
    ) -> BlockScales:
        """Returns E4M3 scales with their common factor, or with one for each member."""
        kept = () if members is None else members.kept
        view = (
            amax
            if members is None
            else emit.reshaped(amax, members.of_amax(amax.type.shape), self.at)
        )
        whole = largest(view, self.at, finite=True, kept=kept, splats=self.splats)
        one = _Builder(self.at, wide=False, shape=whole.type.shape, splats=self.splats)
        whole = one.op("maximum", whole, one.number(SMALLEST_PAIRED_AMAX))
        most = _E4M3.max_finite
        common = one.op("multiply", whole, one.number(1.0 / (most * target.max_finite)))
        ratio = one.op("divide", one.number(most), whole)
        scale = self.op("multiply", amax, self._for_each(ratio, amax, members))
        scale = emit.saturate(scale, most, self.at, self.splats)
        scale = self.select(self.is_finite(amax), scale, self.number(math.nan))
        # XLA for GPUs omits a convert and its inverse, unless there is a barrier between them.
        scale = barrier_after(emit.convert(scale, element_of(_E4M3.name), self.at))
        scale = emit.convert(scale, ir.F32Type.get(), self.at)
        divisor = self.op("maximum", scale, self.number(_E4M3.smallest))
        divisor = self.op("multiply", divisor, self._for_each(common, amax, members))
        return BlockScales(self.op("divide", self.number(1.0), divisor), scale, common)

    def _for_each(self, value: ir.Value, amax: ir.Value, members: Members | None) -> ir.Value:
        """Returns the number of the tensor, or those of its members, for each block."""
        if members is None:
            return emit.broadcast_scalar(value, amax, self.at)
        shape = members.of_amax(amax.type.shape)
        whole = emit.spread(value, members.kept, shape, self.at)
        return emit.reshaped(whole, amax.type.shape, self.at)
