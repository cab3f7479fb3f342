"""Block scales in NumPy, by the formulas of `docs/blocks.md`, along the last dimension."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.quantize.encoding import dtype_of

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
    both = scales * common
    return np.where(both == 0, F32(0), one / both), scales, common


def rounded_at_random(value: Array, format_: str, number: int) -> Array:
    """The stochastic rounding of `scalify_hlo.quantize.blocks.stochastic`, in NumPy."""
    target, word = FORMATS[format_], np.uint32
    index = np.arange(value.size, dtype=word).reshape(value.shape)
    with np.errstate(over="ignore"):
        bits = value.astype(F32).view(word)
        terms = bits * (index * word(2) + word(1)) * word(0x9E3779B1)
        salt = word((int(terms.astype(np.uint64).sum()) + number) % 2**32)
        low = F32(2.0**target.min_exponent)
        size = np.abs(value)
        added = np.where(size < low, low, F32(0)).astype(F32)
        bits = (size + added).view(word)
        mixed = (bits >> word(8)) ^ (index * word(0x9E3779B1) + salt * word(0x85EBCA77))
        for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
            mixed = (mixed ^ (mixed >> word(shift))) * word(factor)
        dropped = 23 - target.mantissa_bits
        bits = (bits + (mixed >> word(32 - dropped))) & word(2**32 - 2**dropped)
    return np.asarray(np.copysign(bits.view(F32) - added, value))
