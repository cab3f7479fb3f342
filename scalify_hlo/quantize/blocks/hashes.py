"""Hashes of tensors and of their elements, as ops on integers."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.algebra.noise import INDEX_FACTOR, MIXES, SALT_FACTOR, UNSURE, strides
from scalify_hlo.quantize.blocks.bitwise import Bitwise
from scalify_hlo.rules import emit
from scalify_hlo.rules.statistics import fill_reduction


def hash_of_elements(bits: ir.Value, salt: ir.Value, build: Bitwise) -> ir.Value:
    """Returns a hash of the first bits of each element, of its index and of a salt."""
    index = _times(_indices(build), INDEX_FACTOR, build)
    salt = _times(build.spread(salt, bits), SALT_FACTOR, build)
    mixed = build.op("xor", _shifted(bits, UNSURE, build), build.op("add", index, salt))
    return _mixed(mixed, build)


def _mixed(words: ir.Value, build: Bitwise) -> ir.Value:
    """Returns words in which a bit changes half of the bits of a word."""
    for shift, factor in MIXES:
        words = build.op("xor", words, _shifted(words, shift, build))
        words = _times(words, factor, build)
    return words


def _indices(build: Bitwise) -> ir.Value:
    """Returns the index of each element in row-major order, as ui32, which may wrap around."""
    total = None
    for dimension, stride in strides(build.bits.shape).items():
        part = _times(_iota(build, dimension), stride, build)
        total = part if total is None else build.op("add", total, part)
    return build.integer(0) if total is None else total


def _iota(build: Bitwise, dimension: int) -> ir.Value:
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension)
    return emit.op(build.at, "stablehlo.iota", [build.bits], [], {"iota_dimension": number}).result


def _times(value: ir.Value, factor: int, build: Bitwise) -> ir.Value:
    return value if factor == 1 else build.op("multiply", value, build.integer(factor))


def _shifted(value: ir.Value, count: int, build: Bitwise) -> ir.Value:
    return build.op("shift_right_logical", value, build.integer(count))


def hash_of_tensor(words: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns a ui32 of rank 0 that differs from tensor to tensor.

    It is the sum of the words, each mixed with its index, modulo 2^32. The sum of their multiples
    would not do: weights that were in bf16 differ in their first 16 bits only, and so would it.

    Args:
        words: The bits of a tensor, as ui32 of static shape.
        at: The op before which it is computed.
    """
    build = Bitwise(at, ir.RankedTensorType.get(words.type.shape, ir.F32Type.get()))
    terms = _mixed(build.op("xor", words, _times(_indices(build), INDEX_FACTOR, build)), build)
    scalar = emit.scalar_type(words.type.element_type)
    total = emit.op(
        at,
        "stablehlo.reduce",
        [scalar],
        [terms, emit.integers(scalar, 0, at)],
        {"dimensions": ir.DenseI64ArrayAttr.get(list(range(words.type.rank)))},
        regions=1,
    )
    fill_reduction(total.regions[0], "stablehlo.add", scalar, at.location)
    return total.result
