"""Checks that arrays of random bits are the same once they were split into data and scale.

`as_scaled_array` followed by `asarray` may change no bit in any float format. The scale must be the
power of two at or below the rms, within 2^±63, wherever each quotient is a number of the format.

    python -m benchmarks.pair_bits --arrays 1000000 --seed 0
    python -m benchmarks.pair_bits float8_e4m3fn float8_e5m2
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, TypeAlias

import jax
import ml_dtypes
import numpy as np

import scalify_hlo

Array: TypeAlias = np.ndarray[Any, Any]

FORMATS = (
    *("float64", "float32", "bfloat16", "float16", "complex64", "complex128"),
    *("float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn"),
)
"""The float formats of JAX. A number in float8_e8m0fnu is not split; it has neither sign nor 0."""

_BOUND = 63
_NEAR = 1e-6
_ROWS = 20_000


def draw(random: np.random.Generator, count: int, length: int, dtype: np.dtype[Any]) -> Array:
    """Returns rows of random bits: any numbers, numbers near each other, or subnormal ones.

    Args:
        random: The source of the bits.
        count: The number of rows.
        length: The number of elements of a row.
        dtype: The format.
    """
    real, parts = _real(dtype)
    info = ml_dtypes.finfo(real)
    bits = random.integers(0, 1 << info.bits, (count, length * parts), dtype=np.uint64)
    if info.nmant:
        mantissa, sign = (np.uint64(1 << place) for place in (info.nmant, info.bits - 1))
        few = np.uint64((1 << info.nmant // 2) - 1)
        exponent = random.integers(0, sign, (count, 1), dtype=np.uint64) // mantissa * mantissa
        near = exponent | bits & (sign | mantissa - np.uint64(1))
        kinds = [bits, near, near & ~few, near & ~exponent]
        bits = np.choose(random.integers(0, len(kinds), (count, 1)), kinds)
    store = np.dtype(f"u{max(info.bits // 8, 1)}")
    return bits.astype(store).view(real).view(dtype).reshape(count, length)


def _real(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], int]:
    """Returns the dtype of the parts of a number, and how many it has."""
    if dtype.kind != "c":
        return dtype, 1
    return np.dtype(f"f{dtype.itemsize // 2}"), 2


def wrong_rows(rows: Array) -> dict[str, Array]:
    """Returns the rows that are wrong, by what is wrong of them.

    Args:
        rows: Arrays of one format, one in each row.
    """
    pairs = jax.jit(jax.vmap(scalify_hlo.as_scaled_array))(rows)
    back = np.asarray(jax.jit(jax.vmap(scalify_hlo.asarray))(pairs))
    found: dict[str, Array] = {"bits": np.any(~_same(back, rows), axis=1)}
    if isinstance(pairs, scalify_hlo.ScaledArray):
        found["scale"] = ~_is_scale(np.asarray(pairs.scale), rows)
    return found


def _same(found: Array, wanted: Array) -> Array:
    """Whether bits are the same, but for those of NaN."""
    real, _ = _real(wanted.dtype)
    found, wanted = found.view(real), wanted.view(real)
    store = f"u{real.itemsize}"
    same: Array = found.view(store) == wanted.view(store)
    return same | (_nan(found) & _nan(wanted))


def _nan(numbers: Array) -> Array:
    nan: Array = np.isnan(_wide(numbers))
    return nan


def _wide(numbers: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return numbers.astype(np.float64)


def _is_scale(scales: Array, rows: Array) -> Array:
    """Whether scales are those that are documented; the power of two may be on either side."""
    real, _ = _real(rows.dtype)
    parts = rows.view(real)
    wide = _wide(parts)
    with np.errstate(all="ignore"):
        largest = np.abs(wide).max(axis=1, initial=0, keepdims=True)
        usable = np.isfinite(largest) & (largest > 0)
        _, exponent = np.frexp(np.where(usable, largest, 1))
        unit = np.ldexp(np.where(usable, wide, 1), -exponent)
        mean = np.square(unit).sum(axis=1) / rows.shape[1]
        wanted = exponent[:, 0] + np.log2(mean) / 2
        right = np.zeros(len(rows), bool)
        for shifted in (wanted - _NEAR, wanted + _NEAR):
            log = np.clip(np.floor(shifted), -_BOUND, _BOUND).astype(int)[:, None]
            log = np.where(usable, log, 0)
            quotient = np.ldexp(wide, -log)
            held = quotient.astype(real).astype(np.float64) == quotient
            exact = ((np.ldexp(quotient, log) == wide) & held | np.isnan(wide)).all(axis=1)
            right |= scales == np.where(exact, np.ldexp(1.0, log[:, 0]), 1)
    return right


def main() -> int:
    """Prints a line for each format, and returns whether any array is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arrays", type=int, default=1_000_000, help="arrays of each format")
    parser.add_argument("--length", type=int, default=12, help="the most numbers of an array")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=", ".join(FORMATS))
    given = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    random = np.random.default_rng(given.seed)
    total = 0
    for name in given.formats or FORMATS:
        wrong: dict[str, int] = {}
        for start in range(0, given.arrays, _ROWS):
            length = 1 + start // _ROWS % given.length
            count = min(_ROWS, given.arrays - start)
            rows = draw(random, count, length, np.dtype(getattr(jax.numpy, name)))
            for what, which in wrong_rows(rows).items():
                wrong[what] = wrong.get(what, 0) + int(which.sum())
                if which.any():
                    print(what, rows[which][0])
        text = ", ".join(f"{what} wrong in {count}" for what, count in wrong.items())
        print(f"{name:20} {given.arrays:9,} arrays: {text}", flush=True)
        total += sum(wrong.values())
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
