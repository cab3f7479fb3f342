"""Rounding of numbers up or down at random, up with a probability that makes the mean right.

With the least normal number 2^low of a format T, and p bits of its fraction:

    w = |X| + c,  c = 2^low if |X| is below 2^low, and 0 otherwise
    round(X) = sign(X) * (float((bits(w) + n) & ~(2^(23 - p) - 1)) - c)

n is from 0 to 2^(23 - p) - 1, each as likely. The sum with c gives subnormal numbers the distance
of those above them. All numbers of T are fixed points, and so is what is not finite.

The number n is the first bits of a random word, which `random_words` draws or `hashed` computes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from scalify_hlo._compat import ir, stablehlo
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
from scalify_hlo.dataflow.step_count import step_count
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import main_function
from scalify_hlo.rules.emitter import Emitter
from scalify_hlo.rules.statistics import reduced

SIGN: Final = 1 << (WORD - 1)
"""The bit of the sign of an f32 number."""

Words: TypeAlias = Callable[[ir.Value, Emitter], ir.Value]
"""Returns a random ui32 for each element of a tensor, whose bits are given."""


def rounded(value: ir.Value, format_: str, words: Words, at: ir.Operation) -> ir.Value:
    """Returns numbers of a format, in f32.

    Args:
        value: An f32 tensor of static shape, within the range of the format.
        format_: The format.
        words: The random words.
        at: The op before which they are computed.
    """
    build = Emitter(at, wide=False, shape=value.type.shape)
    data = round_magnitudes(build.op("abs", value), words, FORMATS[format_], build)
    sign = build.op("and", build.cast(build.bits, value), build.integer(SIGN))
    data = build.cast(build.float, build.op("or", build.cast(build.bits, data), sign))
    return build.select(build.is_finite(value), data, value)


def round_magnitudes(
    data: ir.Value, words: Words, target: FloatFormat, build: Emitter, *, up: bool = False
) -> ir.Value:
    """Rounds magnitudes to numbers of a format, up or down at random.

    Args:
        data: The magnitudes in f32.
        words: The random words.
        target: The format.
        build: The builder.
        up: Whether numbers below the least normal one are rounded up instead.
    """
    dropped = MANTISSA - target.mantissa_bits
    low = build.number(2.0**target.min_exponent)
    small = build.compare(data, low, "LT")
    added = build.select(small, low, build.number(0.0))
    bits = build.cast(build.bits, build.op("add", data, added))
    noise = _shifted(words(bits, build), WORD - dropped, build)
    if up:
        noise = build.select(small, build.integer((1 << dropped) - 1), noise)
    kept = build.integer((1 << WORD) - (1 << dropped))
    bits = build.op("and", build.op("add", bits, noise), kept)
    return build.op("subtract", build.cast(build.float, bits), added)


def drawn(word: ir.Value, number: int) -> Words:
    """Returns words that `rng_bit_generator` draws; see `random_words`."""
    return lambda _, build: random_words(word, number, build)


def hashed(salt: ir.Value) -> Words:
    """Returns words that are a hash of the first bits of each element, of its index and of a salt.

    Args:
        salt: A ui32 of rank 0.
    """
    return lambda bits, build: hash_of_elements(bits, salt, build)


# Hashes of tensors and of their elements, as ops on integers.


def hash_of_elements(bits: ir.Value, salt: ir.Value, build: Emitter) -> ir.Value:
    """Returns a hash of the first bits of each element, of its index and of a salt."""
    index = _times(_indices(build), INDEX_FACTOR, build)
    salt = _times(emit.broadcast_scalar(salt, bits, build.at), SALT_FACTOR, build)
    mixed = build.op("xor", _shifted(bits, UNSURE, build), build.op("add", index, salt))
    return _mixed(mixed, build)


def _mixed(words: ir.Value, build: Emitter) -> ir.Value:
    """Returns words in which a bit changes half of the bits of a word."""
    for shift, factor in MIXES:
        words = build.op("xor", words, _shifted(words, shift, build))
        words = _times(words, factor, build)
    return words


def _indices(build: Emitter) -> ir.Value:
    """Returns the index of each element in row-major order, as ui32, which may wrap around."""
    total = None
    for dimension, stride in strides(build.bits.shape).items():
        index = emit.iota(build.bits.shape, dimension, build.bits.element_type, build.at)
        part = _times(index, stride, build)
        total = part if total is None else build.op("add", total, part)
    return build.integer(0) if total is None else total


def _times(value: ir.Value, factor: int, build: Emitter) -> ir.Value:
    return value if factor == 1 else build.op("multiply", value, build.integer(factor))


def _shifted(value: ir.Value, count: int, build: Emitter) -> ir.Value:
    return build.op("shift_right_logical", value, build.integer(count))


def hash_of_tensor(words: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns a ui32 of rank 0 that differs from tensor to tensor.

    It is the sum of the words, each mixed with its index, modulo 2^32. The sum of their multiples
    would not do: weights that were in bf16 differ in their first 16 bits only, and so would it.

    Args:
        words: The bits of a tensor, as ui32 of static shape.
        at: The op before which it is computed.
    """
    build = Emitter(at, wide=False, shape=words.type.shape)
    terms = _mixed(build.op("xor", words, _times(_indices(build), INDEX_FACTOR, build)), build)
    zero = emit.integers(emit.scalar_type(words.type.element_type), 0, at)
    return reduced(terms, zero, "stablehlo.add", range(words.type.rank), at)


# Random words from `rng_bit_generator`, with a key of the step or of the data.
#
# The algorithm is THREE_FRY: the bits are those of Threefry-2x32 (Salmon et al., 2011) on every
# backend. With DEFAULT, each backend has bits of its own. A word of 64 bits is drawn for each
# element, of which the second half is taken. XLA computes it from the index of the element alone,
# in the fusion that rounds. For words of 32 bits, and with PHILOX, it concatenates several results
# of each counter. XLA for GPUs writes all words to memory for that.
#
# The key is a word that differs from step to step, and the number of the tensor in the program. The
# word is the count of steps, where the program has one. Ops in loops, branches, functions and
# bodies of single devices do not see it. There, and without a count, the word is a hash of the
# tensor, so that no key has to be carried into them.


FIRST_WEIGHT: Final = 1 << (WORD - 1)
"""The number of the first weight; operands of matmuls are numbered from 0."""


class Steps:
    """The words that differ from step to step.

    Args:
        module: The module, of whose entry function an argument may count steps.
    """

    def __init__(self, module: ir.Operation) -> None:
        main = main_function(module)
        self._count = step_count(main) if main is not None else None

    def word(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """Returns a ui32 of rank 0: the count of steps where it is seen, else a hash of a tensor.

        Args:
            value: An f32 tensor of static shape.
            at: The op before which it is computed.
        """
        if self._count is not None and at.block == self._count.owner:
            return emit.convert(self._count, ir.IntegerType.get_unsigned(WORD), at)
        build = Emitter(at, wide=False, shape=value.type.shape)
        return hash_of_tensor(build.cast(build.bits, value), at)


def random_words(word: ir.Value, number: int, build: Emitter) -> ir.Value:
    """Returns a random ui32 for each element, all of whose bits are as likely 0 as 1.

    The state of the generator is a key, ``word + 2^32 number``, and a counter, which is 0.

    Args:
        word: A ui32 of rank 0 that differs from step to step.
        number: The number of the tensor in the program.
        build: The builder, for the shape of the tensor.
    """
    at, unsigned = build.at, ir.IntegerType.get_unsigned
    one, four, pairs = (
        ir.RankedTensorType.get(shape, unsigned(WORD)) for shape in ([1], [4], [2, 2])
    )
    counter = emit.integers(ir.RankedTensorType.get([2], unsigned(WORD)), 0, at)
    words = [emit.reshape(word, one, at), emit.integers(one, number, at), counter]
    words = emit.made(
        "stablehlo.concatenate",
        four,
        words,
        {"dimension": attributes.integer(0)},
        **emit.before(at),
    )
    state = ir.RankedTensorType.get([2], unsigned(2 * WORD))
    start = build.cast(state, emit.reshape(words, pairs, at))
    double = ir.RankedTensorType.get(build.bits.shape, unsigned(2 * WORD))
    algorithm = {"rng_algorithm": stablehlo.RngAlgorithmAttr.get("THREE_FRY")}
    made = emit.op(at, "stablehlo.rng_bit_generator", [state, double], [start], algorithm)
    shift = emit.integers(double, WORD, at)
    high = "stablehlo.shift_right_logical"
    words = emit.elementwise(high, made.results[1], shift, **emit.before(at))
    return emit.convert(words, unsigned(WORD), at)
