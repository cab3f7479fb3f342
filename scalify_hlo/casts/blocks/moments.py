"""Moments in 8 bits, with a power-of-two scale for each block along the last dimension.

A moment X of degree 1 in the gradients is stored as it is, and one of degree 2 as its square root,
which needs half the exponents. With the data X_d of a format T, and the scales X_s of blocks:

    degree 1:  R = X                  X = X_d * X_s
    degree 2:  R = sign(X) sqrt|X|    X = R |R|,  R = X_d * X_s
    X_s = 2^ceil(log2(max |R| / largest)), 2^-126 to 2^126, by the finite R of the block
    X_d = T(round(R / X_s))

A moment is an average over many steps, each of which changes it by less than half the distance of
two numbers of T. Rounded to nearest, it would stop to change, and rounded up it would only grow. So
it is rounded up or down at random, up with a probability that makes the mean right. With the least
normal number 2^low of T, and p bits of its fraction:

    w = |R / X_s| + c,  c = 2^low below 2^low, and 0 from there on
    round = float((bits(w) + n) & ~(2^(23 - p) - 1)) - c,  n from 0 to 2^(23 - p) - 1

The sum with c gives subnormal numbers the distance of those above them. The number n is a hash of
the bits of w, of the index of the element, and of a salt, which is a hash of state that the step
takes. So equal states give equal steps. The last bits of w are left out: sums in another order, as
on several devices, may change them.

A second moment below 2^low is rounded up, and is never rounded to zero. So the root of the stored
one is at least 1 / (1 + 2^-p) of that of X, and an update divided by it stays bounded.

Numbers that are not finite keep the other numbers of their block: T has a NaN or an infinity.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.moments import SCALE_FORMAT, block_length, scale_shape
from scalify_hlo.casts.blocks.layout import amax_along, cut, padded
from scalify_hlo.casts.blocks.scales import block_scales
from scalify_hlo.casts.blocks.stochastic import SIGN, hash_of_tensor, hashed, round_magnitudes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import element_of
from scalify_hlo.recipes.model import Blocks
from scalify_hlo.rules.emitter import Emitter

_E8M0: Final = Blocks(scale="e8m0", rounding="rceil")


class Packed(NamedTuple):
    """A moment in blocks.

    Attributes:
        data: The data, of the shape of the moment.
        scale: The scales in `SCALE_FORMAT`, of the shape `scale_shape`.
    """

    data: ir.Value
    scale: ir.Value


def packed(
    value: ir.Value, format_: str, salt: ir.Value | None, at: ir.Operation, *, root: bool = False
) -> Packed:
    """Returns a moment in blocks.

    Args:
        value: The moment in f32, f16 or bf16, of static shape, of rank 1 or more, not empty.
        format_: The f8 format of the data.
        salt: A ui32 of rank 0, which `salt_of` makes; None to round to nearest.
        at: The op before which it is packed.
        root: Whether its square root is stored.
    """
    target = FORMATS[format_]
    wide = emit.convert(value, ir.F32Type.get(), at)
    build = Emitter(at, wide=False, shape=wide.type.shape)
    size = build.op("abs", wide)
    if root:
        size = build.op("sqrt", size)
    finite = build.is_finite(wide)
    zero = build.number(0.0)
    counted = build.select(finite, size, zero)
    shape = list(wide.type.shape)
    length, blocks = block_length(shape[-1]), scale_shape(shape)
    tiles = padded(counted, len(shape) - 1, length, at)
    tiles = emit.reshaped(tiles, [*blocks, length], at)
    amax = amax_along(tiles, range(len(shape)), at)
    scales = block_scales(amax, format_, _E8M0, at)
    inverse = _by_element(scales.inverse, shape, at)
    if salt is None:
        data = build.select(finite, build.op("multiply", wide, inverse), wide)
        data = emit.convert(data, element_of(format_), at)
        return Packed(data, emit.convert(scales.scale, element_of(SCALE_FORMAT), at))
    data = build.op("multiply", counted, inverse)
    data = round_magnitudes(data, hashed(salt), target, build, up=root)
    if (
        root
    ):  # The root may be too small for `round_magnitudes`, next to the largest one of the block.
        least = build.op("maximum", data, build.number(target.smallest))
        data = build.select(build.compare(counted, zero, "EQ"), zero, least)
    sign = build.op("and", build.cast(build.bits, wide), build.integer(SIGN))
    data = build.cast(build.float, build.op("or", build.cast(build.bits, data), sign))
    data = emit.convert(build.select(finite, data, wide), element_of(format_), at)
    return Packed(data, emit.convert(scales.scale, element_of(SCALE_FORMAT), at))


def unpacked(moment: Packed, element: ir.Type, at: ir.Operation, *, root: bool = False) -> ir.Value:
    """Returns the numbers of a moment in blocks; the inverse of `packed`.

    Args:
        moment: The moment.
        element: The element type of the numbers.
        at: The op before which they are computed.
        root: Whether the square root is stored.
    """
    f32 = ir.F32Type.get()
    data = emit.convert(moment.data, f32, at)
    scale = emit.convert(moment.scale, f32, at)
    wide = emit.multiply(data, _by_element(scale, list(data.type.shape), at), at)
    if root:
        wide = emit.multiply(
            wide, Emitter(at, wide=False, shape=wide.type.shape).op("abs", wide), at
        )
    return emit.convert(wide, element, at)


def _by_element(scale: ir.Value, shape: list[int], at: ir.Operation) -> ir.Value:
    """Returns the scale of each element of a tensor of a shape."""
    blocks, length = list(scale.type.shape), block_length(shape[-1])
    tiles = emit.spread(scale, range(len(blocks)), [*blocks, length], at)
    flat = emit.reshaped(tiles, [*shape[:-1], blocks[-1] * length], at)
    return cut(flat, len(shape) - 1, shape[-1], at)


def salt_of(data: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns a ui32 of rank 0 that differs from step to step: a hash of state.

    Args:
        data: Data of a moment that the step takes, in an f8 format.
        at: The op before which it is computed.
    """
    byte = ir.RankedTensorType.get(data.type.shape, ir.IntegerType.get_unsigned(8))
    where = emit.before(at)
    bits = emit.bitcast(byte, data, **where)
    return hash_of_tensor(emit.convert(bits, ir.IntegerType.get_unsigned(32), at), at)
