"""How far two arrays are apart, in the units that numerics people use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from scalify_hlo.tensors import Array, is_complex, is_inexact


@dataclass(frozen=True, slots=True)
class Difference:
    """One result of two programs.

    Attributes:
        name: Its path.
        type: Dtype and shape.
        max_ulp: Largest distance in units in the last place of the original's dtype, where both
            are finite; for integers the largest difference.
        relative_error: Largest absolute difference over the largest magnitude.
        snr_db: Signal to noise, 20 log10(|X| / |X - Y|) in l2 norms; infinite where equal.
        nonfinite: How many elements are infinite or NaN, original and rewritten.
        mismatched: How many elements are infinite or NaN on one side and not equal on the other.
        epsilon: The distance from 1 to the next number of the dtype, 0 for integers.
    """

    name: str
    type: str
    max_ulp: float
    relative_error: float
    snr_db: float
    nonfinite: tuple[int, int]
    mismatched: int
    epsilon: float


def compare(name: str, original: Array, rewritten: Array) -> Difference:
    """Compares one result of two programs; both arrays are of the same dtype and shape."""
    text = f"{original.dtype}{list(original.shape)}"
    a, b = _real(original), _real(rewritten)
    finite = np.isfinite(_wide(a)) & np.isfinite(_wide(b))
    signal, noise = _wide(a[finite]), _wide(a[finite]) - _wide(b[finite])
    outside_a, outside_b = _wide(a[~finite]), _wide(b[~finite])
    return Difference(
        name=name,
        type=text,
        max_ulp=_max_ulp(a[finite], b[finite]),
        relative_error=_ratio(_largest(noise), _largest(signal)),
        snr_db=_decibel(signal, noise),
        nonfinite=(int(np.sum(~np.isfinite(_wide(a)))), int(np.sum(~np.isfinite(_wide(b))))),
        mismatched=int(np.sum(~_same_outside(outside_a, outside_b))),
        epsilon=epsilon(original.dtype),
    )


def epsilon(dtype: np.dtype[Any]) -> float:
    """The distance from 1 to the next number of a dtype, 0 for integers."""
    if not is_inexact(dtype):
        return 0.0
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).eps)


def _real(array: Array) -> Array:
    """A flat array; of complex numbers the real and then the imaginary parts."""
    if is_complex(array.dtype):
        return np.concatenate([array.real.ravel(), array.imag.ravel()])
    return array.ravel()


def _wide(array: Array) -> Array:
    """Values with enough range and precision to subtract them; f64 subtracts exactly enough."""
    return array.astype(np.float64)


def _same_outside(a: Array, b: Array) -> Array:
    same: Array = (a == b) | (np.isnan(a) & np.isnan(b))
    return same


def _largest(array: Array) -> float:
    return float(np.max(np.abs(array), initial=0.0))


def _ratio(a: float, b: float) -> float:
    if a == 0:
        return 0.0
    return a / b if b else math.inf


def _decibel(signal: Array, noise: Array) -> float:
    largest = max(_largest(signal), _largest(noise))
    if largest == 0 or _largest(noise) == 0:
        return math.inf
    # Divided first, so that no square overflows.
    powers = [float(np.sum(np.square(array / largest))) for array in (signal, noise)]
    return 10 * math.log10(powers[0] / powers[1]) if powers[0] and powers[1] else -math.inf


def _max_ulp(a: Array, b: Array) -> float:
    if not a.size:
        return 0.0
    if not is_inexact(a.dtype):
        return float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64))))
    steps = [_ordered(array) for array in (a, b)]
    larger, smaller = np.maximum(*steps), np.minimum(*steps)
    return float(np.max(larger.view(np.uint64) - smaller.view(np.uint64)))


def _ordered(array: Array) -> Array:
    """Integers in the order of the floats they stand for, one apart for neighbours, 0 for ±0."""
    bits = array.dtype.itemsize * 8
    pattern = np.ascontiguousarray(array).view(f"uint{bits}").astype(np.int64)
    magnitude = pattern & np.int64((1 << (bits - 1)) - 1)
    # The sign of a 64-bit pattern is the sign of the integer it is read as.
    negative = pattern < 0 if bits == 64 else pattern >> (bits - 1) != 0
    return np.where(negative, -magnitude, magnitude)
