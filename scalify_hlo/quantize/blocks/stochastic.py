"""Rounding of numbers up or down at random, up with a probability that makes the mean right.

With the least normal number 2^low of a format T, and p bits of its fraction:

    w = |X| + c,  c = 2^low if |X| is below 2^low, and 0 otherwise
    round(X) = sign(X) * (float((bits(w) + n) & ~(2^(23 - p) - 1)) - c)

n is from 0 to 2^(23 - p) - 1, each as likely. The sum with c gives subnormal numbers the distance
of those above them. All numbers of T are fixed points, and so is what is not finite.

The number n is a hash of the bits of w, of the index of the element, and of a salt, which is a hash
of the whole tensor and of the number of the operand. So no key has to be carried from step to step,
or into loops and functions, and equal tensors are rounded equally on every device.
"""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS, FloatFormat
from scalify_hlo.algebra.noise import (
    INDEX_FACTOR,
    MANTISSA,
    MIXES,
    SALT_FACTOR,
    UNSURE,
    WORD,
    strides,
)
from scalify_hlo.quantize.blocks.bitwise import Bitwise
from scalify_hlo.rules import emit
from scalify_hlo.rules.statistics import fill_reduction

SIGN: Final = 1 << (WORD - 1)
"""The bit of the sign of an f32 number."""


def rounded(value: ir.Value, format_: str, number: int, at: ir.Operation) -> ir.Value:
    """Returns numbers of a format, in f32.

    Args:
        value: An f32 tensor of static shape, within the range of the format.
        format_: The format.
        number: The number of the operand.
        at: The op before which they are computed.
    """
    build = Bitwise(at, value.type)
    salt = salt_of(build.cast(build.bits, value), number, at)
    data = round_magnitudes(build.op("abs", value), salt, FORMATS[format_], build)
    sign = build.op("and", build.cast(build.bits, value), build.integer(SIGN))
    return build.cast(build.real, build.op("or", build.cast(build.bits, data), sign))


def round_magnitudes(
    data: ir.Value, salt: ir.Value, target: FloatFormat, build: Bitwise, *, up: bool = False
) -> ir.Value:
    """Rounds magnitudes to numbers of a format, up or down at random.

    Args:
        data: The magnitudes in f32.
        salt: A ui32 of rank 0, on which the random numbers depend.
        target: The format.
        build: The builder.
        up: Whether numbers below the least normal one are rounded up instead.
    """
    dropped = MANTISSA - target.mantissa_bits
    low = build.number(2.0**target.min_exponent)
    small = build.compare(data, low, "LT")
    added = build.select(small, low, build.number(0.0))
    bits = build.cast(build.bits, build.op("add", data, added))
    noise = _shifted(_hash(bits, salt, build), WORD - dropped, build)
    if up:
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


def salt_of(words: ir.Value, number: int, at: ir.Operation) -> ir.Value:
    """Returns a ui32 of rank 0 that differs from tensor to tensor, and from number to number.

    salt = number + sum of words[i] * (2 i + 1) * `INDEX_FACTOR`, modulo 2^32

    Args:
        words: The bits of a tensor, as ui32 of static shape.
        number: A number of the tensor.
        at: The op before which it is computed.
    """
    build = Bitwise(at, ir.RankedTensorType.get(words.type.shape, ir.F32Type.get()))
    odd = build.op("add", _times(_indices(build), 2, build), build.integer(1))
    terms = build.op("multiply", words, _times(odd, INDEX_FACTOR, build))
    scalar = emit.scalar_type(words.type.element_type)
    total = ir.Operation.create(
        "stablehlo.reduce",
        results=[scalar],
        operands=[terms, emit.integers(scalar, 0, at)],
        attributes={"dimensions": ir.DenseI64ArrayAttr.get(list(range(words.type.rank)))},
        regions=1,
        loc=at.location,
        ip=ir.InsertionPoint(at),
    )
    fill_reduction(total.regions[0], "stablehlo.add", scalar, at.location)
    where = {"loc": at.location, "ip": ir.InsertionPoint(at)}
    # XLA may add the first value of a reduction several times, so that it has to be zero.
    return emit.elementwise(
        "stablehlo.add", total.result, emit.integers(scalar, number, at), **where
    )
