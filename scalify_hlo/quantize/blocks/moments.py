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
from scalify_hlo.algebra.formats import FORMATS, FloatFormat
from scalify_hlo.algebra.moments import (
    INDEX_FACTOR,
    MANTISSA,
    MIXES,
    SALT_FACTOR,
    SCALE_FORMAT,
    UNSURE,
    WORD,
    block_length,
    scale_shape,
    strides,
)
from scalify_hlo.dialect.formats import element_of
from scalify_hlo.quantize.blocks.bitwise import Bitwise
from scalify_hlo.quantize.blocks.layout import cut, padded, reshaped
from scalify_hlo.quantize.blocks.operands import spread
from scalify_hlo.quantize.blocks.scales import block_scales
from scalify_hlo.recipes.model import Blocks
from scalify_hlo.rules import emit
from scalify_hlo.rules.statistics import fill_reduction

_SIGN: Final = 1 << (WORD - 1)
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
    value: ir.Value, format_: str, salt: ir.Value, at: ir.Operation, *, root: bool
) -> Packed:
    """Returns a moment in blocks.

    Args:
        value: The moment in f32, f16 or bf16, of static shape, of rank 1 or more, not empty.
        format_: The f8 format of the data.
        salt: A ui32 of rank 0, which `salt_of` makes.
        at: The op before which it is packed.
        root: Whether its square root is stored.
    """
    target = FORMATS[format_]
    wide = emit.convert(value, ir.F32Type.get(), at)
    build = Bitwise(at, wide.type)
    size = build.op("abs", wide)
    if root:
        size = build.op("sqrt", size)
    finite = build.is_finite(wide)
    zero = build.number(0.0)
    counted = build.select(finite, size, zero)
    shape = list(wide.type.shape)
    length, blocks = block_length(shape[-1]), scale_shape(shape)
    tiles = padded(counted, len(shape) - 1, length, at)
    tiles = reshaped(tiles, [*blocks, length], at)
    scales = block_scales(tiles, range(len(shape)), format_, _E8M0, at)
    data = build.op("multiply", counted, _by_element(scales.inverse, shape, at))
    data = _rounded(data, salt, target, build, root=root)
    if root:  # The root may be too small for `_rounded`, next to the largest one of the block.
        least = build.op("maximum", data, build.number(target.smallest))
        data = build.select(build.compare(counted, zero, "EQ"), zero, least)
    sign = build.op("and", build.cast(build.bits, wide), build.integer(_SIGN))
    data = build.cast(build.real, build.op("or", build.cast(build.bits, data), sign))
    data = emit.convert(build.select(finite, data, wide), element_of(format_), at)
    return Packed(data, emit.convert(scales.scale, element_of(SCALE_FORMAT), at))


def unpacked(moment: Packed, element: ir.Type, at: ir.Operation, *, root: bool) -> ir.Value:
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
        wide = emit.multiply(wide, Bitwise(at, wide.type).op("abs", wide), at)
    return emit.convert(wide, element, at)


def _by_element(scale: ir.Value, shape: list[int], at: ir.Operation) -> ir.Value:
    """Returns the scale of each element of a tensor of a shape."""
    blocks, length = list(scale.type.shape), block_length(shape[-1])
    tiles = spread(scale, range(len(blocks)), [*blocks, length], at)
    flat = reshaped(tiles, [*shape[:-1], blocks[-1] * length], at)
    return cut(flat, len(shape) - 1, shape[-1], at)


def _rounded(
    data: ir.Value, salt: ir.Value, target: FloatFormat, build: Bitwise, *, root: bool
) -> ir.Value:
    """Rounds magnitudes to numbers of a format, up or down at random."""
    dropped = MANTISSA - target.mantissa_bits
    low = build.number(2.0**target.min_exponent)
    small = build.compare(data, low, "LT")
    added = build.select(small, low, build.number(0.0))
    bits = build.cast(build.bits, build.op("add", data, added))
    noise = _shifted(_hash(bits, salt, build), WORD - dropped, build)
    if root:
        noise = build.select(small, build.integer((1 << dropped) - 1), noise)
    kept = build.integer((1 << WORD) - (1 << dropped))
    bits = build.op("and", build.op("add", bits, noise), kept)
    return build.op("subtract", build.cast(build.real, bits), added)


def _hash(bits: ir.Value, salt: ir.Value, build: Bitwise) -> ir.Value:
    """Returns a hash of the first bits of each element, of its index and of a salt."""
    index = _times(_indices(build), INDEX_FACTOR, build)
    salt = _times(build.spread(salt, bits), SALT_FACTOR, build)
    mixed = build.op("xor", _shifted(bits, UNSURE, build), build.op("add", index, salt))
    for shift, factor in MIXES:
        mixed = build.op("xor", mixed, _shifted(mixed, shift, build))
        mixed = _times(mixed, factor, build)
    return mixed


def _indices(build: Bitwise) -> ir.Value:
    """Returns the index of each element in row-major order, as ui32, which may wrap around."""
    total = None
    for dimension, stride in strides(build.bits.shape).items():
        part = _times(_iota(build, dimension), stride, build)
        total = part if total is None else build.op("add", total, part)
    return build.integer(0) if total is None else total


def _iota(build: Bitwise, dimension: int) -> ir.Value:
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension)
    return ir.Operation.create(
        "stablehlo.iota",
        results=[build.bits],
        attributes={"iota_dimension": number},
        loc=build.at.location,
        ip=ir.InsertionPoint(build.at),
    ).result


def _times(value: ir.Value, factor: int, build: Bitwise) -> ir.Value:
    return value if factor == 1 else build.op("multiply", value, build.integer(factor))


def _shifted(value: ir.Value, count: int, build: Bitwise) -> ir.Value:
    return build.op("shift_right_logical", value, build.integer(count))


def salt_of(data: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns a ui32 of rank 0 that differs from step to step: a sum of the bits of state.

    salt = sum of bits(X_d[i]) * (2 i + 1) * `INDEX_FACTOR`, modulo 2^32

    Args:
        data: Data of a moment that the step takes, in an f8 format.
        at: The op before which it is computed.
    """
    where = {"loc": at.location, "ip": ir.InsertionPoint(at)}
    f32, byte = ir.F32Type.get(), ir.IntegerType.get_unsigned(8)
    build = Bitwise(at, ir.RankedTensorType.get(data.type.shape, f32))
    bytes_ = build.cast(ir.RankedTensorType.get(data.type.shape, byte), data)
    words = emit.convert(bytes_, build.bits.element_type, at)
    odd = build.op("add", _times(_indices(build), 2, build), build.integer(1))
    terms = build.op("multiply", words, _times(odd, INDEX_FACTOR, build))
    scalar = emit.scalar_type(build.bits.element_type)
    total = ir.Operation.create(
        "stablehlo.reduce",
        results=[scalar],
        operands=[terms, emit.integers(scalar, 0, at)],
        attributes={"dimensions": ir.DenseI64ArrayAttr.get(list(range(data.type.rank)))},
        regions=1,
        **where,
    )
    fill_reduction(total.regions[0], "stablehlo.add", scalar, at.location)
    return total.result
