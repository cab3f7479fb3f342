"""Histograms of magnitudes: percentiles, and the rounding error of a format at a scale.

The bin of a number is given by the eight exponent bits and the first four fraction bits of its
magnitude in f32: 16 bins per octave. Multiplication by a power of two shifts a histogram by whole
bins. The numbers of an f8 format and the midpoints between them are edges of bins, so that all
numbers of a bin round to the same number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scalify_hlo.algebra.formats import FloatFormat

BINS: Final = 4096
FINITE_BINS: Final = BINS - 16
"""The number of bins of finite numbers. The last 16 bins are those of infinities and NaN."""

SHIFT: Final = 19
"""The number of low bits of an f32 that do not select its bin."""

SUBNORMAL: Final = 2.0**-126
"""The smallest normal f32; XLA may flush smaller magnitudes to zero."""

_BIAS: Final = 127

Floats = npt.NDArray[np.float64]
Counts = Mapping[int, int]
"""The number of elements by bin; a missing bin has none."""


def edges(bins: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """Returns the smallest number of each bin of finite numbers, and that of the next bin."""
    return _smallest(bins), _smallest(bins + 1)


def _smallest(bins: npt.NDArray[Any]) -> Floats:
    numbers = (bins.astype(np.uint32) << SHIFT).view(np.float32).astype(np.float64)
    return np.where(bins == FINITE_BINS, 2.0 ** (_BIAS + 1), numbers)


def split(counts: Counts) -> tuple[npt.NDArray[np.int64], Floats]:
    """Returns the bins of finite numbers in increasing order, and their numbers of elements."""
    bins = np.array(sorted(b for b in counts if b < FINITE_BINS), np.int64)
    return bins, np.array([counts[b] for b in bins.tolist()], np.float64)


def percentile(counts: Counts, percent: float) -> float:
    """Returns the end of the bin with a percentile of the finite magnitudes."""
    bins, each = split(counts)
    if not bins.size:
        return 0.0
    wanted = each.sum() * (percent / 100)
    index = min(int(np.searchsorted(np.cumsum(each), wanted)), bins.size - 1)
    return 0.0 if bins[index] == 0 else float(edges(bins[index : index + 1])[1][0])


def octaves(counts: Counts) -> dict[int, int]:
    """Returns the number of finite non-zero elements by ``floor(log2(magnitude))``."""
    found: dict[int, int] = {}
    for bin_ in sorted(counts):
        if 0 < bin_ < FINITE_BINS:
            low = float(_smallest(np.array([bin_]))[0])
            exponent = math.frexp(low)[1] - 1
            found[exponent] = found.get(exponent, 0) + counts[bin_]
    return found


def squared_error(counts: Counts, format_: FloatFormat, exponent: int) -> float:
    """Returns the mean squared error of quantizing the finite elements at a scale.

    The data are the elements divided by ``2^exponent``. They are rounded to nearest and saturate.
    Within a bin, elements are assumed to be spread evenly.

    Args:
        counts: The histogram.
        format_: The format of the data.
        exponent: log2 of the scale.
    """
    bins, each = split(counts)
    if not each.sum():
        return 0.0
    inside = bins > 0
    low, high = edges(bins[inside])
    most = np.ldexp(format_.max_finite, exponent)
    # Within an octave, the numbers of a format are equally spaced.
    power = np.maximum(np.frexp(low)[1] - 1, format_.min_exponent + exponent)
    step = np.ldexp(1.0, power - format_.mantissa_bits)
    rounding = _rounded(np.minimum(high, most), step) - _rounded(np.minimum(low, most), step)
    clipping = _cube(np.maximum(high - most, 0)) - _cube(np.maximum(low - most, 0))
    errors = (rounding + clipping) / (high - low)
    return float(errors @ each[inside]) / float(each.sum())


def _rounded(end: Floats, step: Floats) -> Floats:
    """The integral, from 0 to `end`, of the squared error of rounding to multiples of a step."""
    whole = np.rint(end / step)
    integral: Floats = whole * step**3 / 12 + _cube(end - whole * step)
    return integral


def _cube(distance: Floats) -> Floats:
    """The integral, from 0 to `distance`, of the squared distance."""
    integral: Floats = distance**3 / 3
    return integral
