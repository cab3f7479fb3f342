"""Moments in blocks in NumPy, by the formulas of `docs/state.md`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scalify_hlo.algebra.formats import FORMATS, FloatFormat
from scalify_hlo.casts.encoding import dtype_of

Array = npt.NDArray[Any]
F32 = np.float32
TINY = F32(2.0**-126)
WORD = 1 << 32


class Blocks(NamedTuple):
    """Data in the f8 format, and log2 of the scale of each block."""

    data: Array
    exponents: npt.NDArray[np.int64]

    def values(self, *, root: bool) -> Array:
        """The numbers that they stand for, in f32."""
        scale = np.repeat(2.0**self.exponents, 128, axis=-1)[..., : self.data.shape[-1]]
        wide = flushed((self.data.astype(np.float64) * scale).astype(F32))
        with np.errstate(over="ignore", under="ignore"):
            return flushed(wide * np.abs(wide)) if root else wide


def flushed(x: Array) -> Array:
    """XLA has no subnormal numbers."""
    return np.where(np.abs(x) < TINY, np.copysign(F32(0), x), x)


def blocks(x: Array, format_: str, *, root: bool, salt: int = 0) -> Blocks:
    """Stores a moment, one block and one element after the other."""
    target = FORMATS[format_]
    x = flushed(np.asarray(x, F32))
    size = np.sqrt(np.abs(x)) if root else np.abs(x)
    rows = size.reshape(-1, x.shape[-1])
    count = math.ceil(x.shape[-1] / 128)
    exponents = np.empty((len(rows), count), np.int64)
    data = np.empty(rows.shape, dtype_of(format_))
    for i, row in enumerate(rows):
        for j in range(count):
            part = range(128 * j, min(128 * (j + 1), len(row)))
            exponents[i, j] = e = exponent([float(row[k]) for k in part], target)
            for k in part:
                number = i * len(row) + k
                given = x.reshape(-1)[number]
                stored = rounded(row[k], e, target, number, salt, root=root)
                data[i, k] = np.copysign(stored, given) if np.isfinite(given) else given
    return Blocks(data.reshape(x.shape), exponents.reshape(*x.shape[:-1], count))


def exponent(sizes: list[float], target: FloatFormat) -> int:
    """log2 of the least scale at which the finite magnitudes are in range."""
    amax = max([size for size in sizes if math.isfinite(size)], default=0.0)
    if amax == 0:
        return -126
    found = math.frexp(amax)[1] - 1 - target.max_exponent
    found += amax > math.ldexp(target.max_finite, found)
    return max(-126, min(126, found))


def rounded(
    size: Any, e: int, target: FloatFormat, number: int, salt: int, *, root: bool
) -> np.float32:
    """A magnitude over its scale, rounded at random; roots below the normal numbers upwards."""
    if not np.isfinite(size) or size == 0:
        return F32(0)
    y = F32(flushed(np.asarray(math.ldexp(float(size), -e), F32)))
    low = F32(2.0**target.min_exponent)
    c = low if y < low else F32(0)
    bits = int(F32(y + c).view(np.uint32))
    dropped = 23 - target.mantissa_bits
    noise = (1 << dropped) - 1 if root and c else mixed(bits, number, salt) >> (32 - dropped)
    q = F32(np.uint32((bits + noise) >> dropped << dropped).view(F32) - c)
    return max(q, F32(target.smallest)) if root else q


def mixed(bits: int, number: int, salt: int) -> int:
    """The hash from which the direction of a rounding follows."""
    return finalized((bits >> 8) ^ ((number * 0x9E3779B1 + salt * 0x85EBCA77) % WORD))


def finalized(h: int) -> int:
    """The finalizer of MurmurHash3."""
    h = (h ^ (h >> 16)) * 0x85EBCA6B % WORD
    h = (h ^ (h >> 13)) * 0xC2B2AE35 % WORD
    return h ^ (h >> 16)


def salt_of(data: Array) -> int:
    """The salt of a step that takes these data."""
    bits = np.asarray(data).reshape(-1).view(np.uint8).astype(object)
    terms = (finalized(int(b) ^ i * 0x9E3779B1 % WORD) for i, b in enumerate(bits))
    return sum(terms) % WORD
