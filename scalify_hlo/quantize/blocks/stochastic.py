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

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS, FloatFormat
from scalify_hlo.algebra.noise import MANTISSA, WORD
from scalify_hlo.quantize.blocks.bitwise import Bitwise
from scalify_hlo.quantize.blocks.hashes import hash_of_elements
from scalify_hlo.quantize.blocks.random_words import random_words

SIGN: Final = 1 << (WORD - 1)
"""The bit of the sign of an f32 number."""

Words: TypeAlias = Callable[[ir.Value, Bitwise], ir.Value]
"""Returns a random ui32 for each element of a tensor, whose bits are given."""


def rounded(value: ir.Value, format_: str, words: Words, at: ir.Operation) -> ir.Value:
    """Returns numbers of a format, in f32.

    Args:
        value: An f32 tensor of static shape, within the range of the format.
        format_: The format.
        words: The random words.
        at: The op before which they are computed.
    """
    build = Bitwise(at, value.type)
    data = round_magnitudes(build.op("abs", value), words, FORMATS[format_], build)
    sign = build.op("and", build.cast(build.bits, value), build.integer(SIGN))
    data = build.cast(build.real, build.op("or", build.cast(build.bits, data), sign))
    return build.select(build.is_finite(value), data, value)


def round_magnitudes(
    data: ir.Value, words: Words, target: FloatFormat, build: Bitwise, *, up: bool = False
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
    return build.op("subtract", build.cast(build.real, bits), added)


def drawn(word: ir.Value, number: int) -> Words:
    """Returns words that `rng_bit_generator` draws; see `random_words`."""
    return lambda _, build: random_words(word, number, build)


def hashed(salt: ir.Value) -> Words:
    """Returns words that are a hash of the first bits of each element, of its index and of a salt.

    Args:
        salt: A ui32 of rank 0.
    """
    return lambda bits, build: hash_of_elements(bits, salt, build)


def _shifted(value: ir.Value, count: int, build: Bitwise) -> ir.Value:
    return build.op("shift_right_logical", value, build.integer(count))
