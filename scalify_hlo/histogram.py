"""Histograms of magnitudes: percentiles, and the error that a format makes at a scale.

A bin is the first 12 bits of a magnitude as f32: its exponent and four bits of the fraction, 16
bins for each octave. A power of two moves a histogram by whole bins, and the numbers of an 8-bit
format and the halves between them are edges of bins: so in each bin all numbers round to one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scalify_hlo.formats import FloatFormat

BINS: Final = 4096
FINITE_BINS: Final = BINS - 16
"""Bins: all, and those of finite numbers; the others are of infinities and NaN."""

SHIFT: Final = 19
"""Bits of an f32 below those that number its bin."""

SUBNORMAL: Final = 2.0**-126
"""Below which XLA may take an f32 for zero."""

_BIAS: Final = 127

Floats = npt.NDArray[np.float64]
Counts = Mapping[int, int]
"""How many elements there are by bin; a bin that is not there has none."""


def edges(bins: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """The smallest number of each bin of finite numbers, and that of the next one."""
    return _smallest(bins), _smallest(bins + 1)


def _smallest(bins: npt.NDArray[Any]) -> Floats:
    numbers = (bins.astype(np.uint32) << SHIFT).view(np.float32).astype(np.float64)
    return np.where(bins == FINITE_BINS, 2.0 ** (_BIAS + 1), numbers)


def split(counts: Counts) -> tuple[npt.NDArray[np.int64], Floats]:
    """The bins of finite numbers in rising order, and how many elements they have."""
    bins = np.array(sorted(b for b in counts if b < FINITE_BINS), np.int64)
    return bins, np.array([counts[b] for b in bins.tolist()], np.float64)


def percentile(counts: Counts, percent: float) -> float:
    """A magnitude that so many percent of the finite elements do not exceed: the end of a bin."""
    bins, each = split(counts)
    if not bins.size:
        return 0.0
    wanted = each.sum() * (percent / 100)
    index = min(int(np.searchsorted(np.cumsum(each), wanted)), bins.size - 1)
    return 0.0 if bins[index] == 0 else float(edges(bins[index : index + 1])[1][0])


def octaves(counts: Counts) -> dict[int, int]:
    """How many finite elements other than zeros there are by ``floor(log2(magnitude))``."""
    found: dict[int, int] = {}
    for bin_ in sorted(counts):
        if 0 < bin_ < FINITE_BINS:
            low = float(_smallest(np.array([bin_]))[0])
            exponent = math.frexp(low)[1] - 1
            found[exponent] = found.get(exponent, 0) + counts[bin_]
    return found


def squared_error(counts: Counts, format_: FloatFormat, exponent: int) -> float:
    """The mean squared error of rounding finite elements to a format, as data at a scale.

    Data are the elements over ``2^exponent``. They are rounded to nearest and saturate. Within a
    bin, elements are taken to be spread evenly.
    """
    bins, each = split(counts)
    if not each.sum():
        return 0.0
    inside = bins > 0
    low, high = edges(bins[inside])
    most = np.ldexp(format_.max_finite, exponent)
    # In one octave the numbers of a format are equally far apart.
    power = np.maximum(np.frexp(low)[1] - 1, format_.min_exponent + exponent)
    step = np.ldexp(1.0, power - format_.mantissa_bits)
    rounding = _rounded(np.minimum(high, most), step) - _rounded(np.minimum(low, most), step)
    clipping = _cube(np.maximum(high - most, 0)) - _cube(np.maximum(low - most, 0))
    errors = (rounding + clipping) / (high - low)
    return float(errors @ each[inside]) / float(each.sum())


def _rounded(end: Floats, step: Floats) -> Floats:
    """The integral, from 0, of the squared error of rounding to multiples of a step."""
    whole = np.rint(end / step)
    integral: Floats = whole * step**3 / 12 + _cube(end - whole * step)
    return integral


def _cube(distance: Floats) -> Floats:
    """The integral, from 0, of the squared distance."""
    integral: Floats = distance**3 / 3
    return integral
