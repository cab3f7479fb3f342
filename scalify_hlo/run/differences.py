"""Error measures of two arrays: ulps, relative error and signal-to-noise ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from scalify_hlo.program.tensors import Array, is_complex, is_inexact
from scalify_hlo.results.kinds import Count, Decibels, Finite, made


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of one result of two programs.

    Attributes:
        name: The pytree path of the result.
        type: The dtype and the shape.
        max_ulp: The largest distance, in units in the last place of the original's dtype, of
            elements that are finite in both; for integers, the largest difference.
        relative_error: The largest absolute difference divided by the largest magnitude.
        snr_db: The signal-to-noise ratio in dB, 20 log10(|X| / |X - Y|) with l2 norms; infinite if
            the results are equal.
        nonfinite: The numbers of elements that are infinite or NaN, in the original and in the
            rewrite.
        mismatched: The number of elements that are infinite or NaN in one result and differ in the
            other.
        epsilon: The distance from 1 to the next number of the dtype; 0 for integers.
    """

    name: str
    type: str
    max_ulp: Annotated[float, made(int, type="integer", minimum=0)]
    relative_error: Finite
    snr_db: Decibels
    nonfinite: tuple[Count, Count]
    mismatched: Count
    epsilon: float


def compare(name: str, original: Array, rewritten: Array) -> Difference:
    """Compares one result of two programs; both arrays have the same dtype and shape."""
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
    """Returns the distance from 1 to the next number of a dtype; 0 for integers."""
    if not is_inexact(dtype):
        return 0.0
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).eps)


def _real(array: Array) -> Array:
    """Returns a flat real array; complex numbers become all real and then all imaginary parts."""
    if is_complex(array.dtype):
        return np.concatenate([array.real.ravel(), array.imag.ravel()])
    return array.ravel()


def _wide(array: Array) -> Array:
    """Returns values in f64, which has the range and precision to subtract them."""
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
    # The arrays are normalized first, so that no square overflows.
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
    """Maps floats to integers in the same order; neighbors differ by 1, and ±0 is 0."""
    bits = array.dtype.itemsize * 8
    pattern = np.ascontiguousarray(array).view(f"uint{bits}").astype(np.int64)
    magnitude = pattern & np.int64((1 << (bits - 1)) - 1)
    # As int64, a 64-bit pattern has the sign of its float.
    negative = pattern < 0 if bits == 64 else pattern >> (bits - 1) != 0
    return np.where(negative, -magnitude, magnitude)
