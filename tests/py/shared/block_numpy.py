"""Block scales in NumPy, by the formulas of `docs/blocks.md`, along the last dimension."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.casts.encoding import dtype_of
from tests.py.shared.moments_numpy import finalized

Array = npt.NDArray[Any]
F32 = np.float32


class Quantized(NamedTuple):
    """Data, their scales by block, and the common factor of the scales, all in f32."""

    data: Array
    scale: Array
    common: Array

    @property
    def wide(self) -> Array:
        """The numbers that the data stand for, in f64."""
        size = self.data.shape[-1] // self.scale.shape[-1]
        scale = np.repeat(self.scale.astype(np.float64), size, axis=-1)
        return self.data.astype(np.float64) * scale * float(self.common)


def power(amax: float, format_: str, rounding: str) -> int:
    """log2 of an E8M0 scale."""
    target = FORMATS[format_]
    if amax == 0:
        return -126
    if rounding == "even":
        digits = target.mantissa_bits + 1
        mantissa, exponent = math.frexp(amax)
        amax = math.ldexp(math.floor(mantissa * 2**digits + 0.5), exponent - digits)
    mantissa, exponent = math.frexp(amax)
    if rounding in ("floor", "even"):
        found = exponent - 1 - target.max_exponent
    elif rounding == "ceil":
        found = exponent - (mantissa == 0.5) - target.max_exponent
    else:
        found = math.frexp(target.max_finite)[1] - 1 - target.max_exponent
        assert found == 0
        found = exponent - 1 - target.max_exponent
        found += amax > math.ldexp(target.max_finite, found)
    return max(-126, min(126, found))


def blocked(
    value: Array, format_: str, size: int, scale: str, rounding: str = "rceil", square: bool = False
) -> Quantized:
    """Quantizes the blocks of a tensor along its last dimension."""
    value = np.asarray(value, F32)
    *_, rows, terms = value.shape
    size = min(size, math.ceil(terms / 16) * 16)
    high = min(size, rows) if square else 1
    pads = [(0, 0)] * (value.ndim - 2) + [(0, -rows % high), (0, -terms % size)]
    wide = np.pad(value, pads)
    tall, long = wide.shape[-2:]
    tiles = wide.reshape(*wide.shape[:-2], tall // high, high, long // size, size)
    amax = np.max(np.abs(tiles), axis=(-3, -1), keepdims=True)
    with np.errstate(all="ignore"):
        inverse, scales, common = _scales(amax, format_, scale, rounding)
        most = F32(FORMATS[format_].max_finite)
        data = np.clip(tiles * inverse, -most, most).astype(dtype_of(format_)).astype(F32)
    spread = np.broadcast_to(scales, (*tiles.shape[:-1], 1))
    shape = (*wide.shape[:-1], long // size)
    return Quantized(
        data.reshape(wide.shape)[..., :rows, :], spread.reshape(shape)[..., :rows, :], common
    )


def _scales(amax: Array, format_: str, scale: str, rounding: str) -> tuple[Array, Array, Array]:
    one, most = np.ones((), F32), F32(FORMATS[format_].max_finite)
    if scale == "e8m0":
        finite = np.where(np.isfinite(amax), amax, np.finfo(F32).max)
        powers = np.vectorize(lambda a: power(float(a), format_, rounding), otypes=[int])(finite)
        scales = np.where(np.isfinite(amax), np.ldexp(one, powers), F32(np.nan))
        return np.ldexp(one, -powers).astype(F32), scales.astype(F32), one
    if scale == "f32":
        scales = np.maximum(amax, F32(2.0**-110)) * F32(1 / float(most))
        return one / scales, scales, one
    whole = np.maximum(np.max(amax), F32(2.0**-100))
    common = whole * F32(1 / (448 * float(most)))
    scales = np.clip(amax * (F32(448) / whole), F32(-448), F32(448))
    scales = scales.astype(dtype_of("f8E4M3FN")).astype(F32)
    return one / (np.maximum(scales, F32(2.0**-9)) * common), scales, common


def rounded_at_random(value: Array, format_: str, words: Array) -> Array:
    """The stochastic rounding of `scalify_hlo.casts.blocks.stochastic`, with random words."""
    target, word = FORMATS[format_], np.uint32
    low = F32(2.0**target.min_exponent)
    size = np.abs(value)
    with np.errstate(over="ignore"):
        added = np.where(size < low, low, F32(0)).astype(F32)
        dropped = 23 - target.mantissa_bits
        bits = (size + added).view(word) + (words >> word(32 - dropped))
        bits &= word(2**32 - 2**dropped)
    return np.asarray(np.copysign(bits.view(F32) - added, value))


def hash_of(value: Array) -> int:
    """The word of a tensor, from which its bits are drawn if no count of steps is seen."""
    words = value.astype(F32).reshape(-1).view(np.uint32)
    return sum(finalized(int(w) ^ i * 0x9E3779B1 % 2**32) for i, w in enumerate(words)) % 2**32


def random_words(word: int, number: int, shape: tuple[int, ...]) -> Array:
    """The words that are drawn with the key of a word and a number: one counter for each."""
    counters = np.arange(math.prod(shape), dtype=np.uint32)
    return threefry(word, number, counters)[1].reshape(shape)


def threefry(word: int, number: int, counters: Array) -> tuple[Array, Array]:
    """Threefry-2x32 with 20 rounds (Salmon et al., 2011), of counters below 2^32."""
    keys = [np.uint32(k) for k in (word, number, word ^ number ^ 0x1BD11BDA)]
    with np.errstate(over="ignore"):
        x, y = counters + keys[0], np.zeros_like(counters) + keys[1]
        for group in range(5):
            for turn in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
                x = x + y
                y = ((y << np.uint32(turn)) | (y >> np.uint32(32 - turn))) ^ x
            x = x + keys[(group + 1) % 3]
            y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y
