"""Statistics of arrays by NumPy, and arrays with a known number of elements of every class."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from scalify_hlo.commands.stats.record import ValueStats

Array = np.ndarray[Any, np.dtype[Any]]

PLANTED = {"zeros": 7, "subnormals": 5, "saturated": 3, "infinities": 2, "nans": 4}
"""The number of elements of each class in `planted`."""

RMS = 1e-6


def planted(shape: tuple[int, ...], dtype: Any = np.float32, seed: int = 0) -> Array:
    """Normal numbers of a dtype, and among them elements of each class, at random places."""
    rng = np.random.default_rng(seed)
    info = ml_dtypes.finfo(dtype)
    wide = np.abs(rng.standard_normal(shape)) + 0.25
    flat = (wide * rng.choice([-1, 1], shape)).astype(dtype).reshape(-1)
    tiny, largest = info.smallest_subnormal, info.max
    infinite = np.inf if np.isinf(np.asarray(np.inf, dtype)) else np.nan
    values: dict[str, list[Any]] = {
        "zeros": [0.0, -0.0],
        "subnormals": [tiny, -2 * tiny],
        "saturated": [largest, -largest],
        "infinities": [infinite, -infinite],
        "nans": [np.nan],
    }
    places = iter(rng.permutation(flat.size))
    for name, count in PLANTED.items():
        for i in range(count):
            flat[next(places)] = np.asarray(values[name][i % len(values[name])]).astype(dtype)
    planted_: Array = flat.reshape(shape)
    return planted_


def classes(values: Array) -> dict[str, int]:
    """The numbers of elements of each class."""
    info = ml_dtypes.finfo(values.dtype)
    wide = np.abs(values.astype(np.float64))
    normal = float(info.smallest_normal)
    return {
        "count": values.size,
        "zeros": int((wide == 0).sum()),
        "subnormals": int(((wide > 0) & (wide < normal)).sum()),
        "saturated": int((wide == float(info.max)).sum()),
        "infinities": int(np.isinf(wide).sum()),
        "nans": int(np.isnan(wide).sum()),
    }


def assert_is(stats: ValueStats, values: Array, record: int = 0) -> None:
    """Asserts that a record has the statistics of an array."""
    for name, count in classes(values).items():
        assert getattr(stats, name)[record] == count, (stats.id, name)
    wide = np.abs(values.astype(np.float64))
    finite = wide[np.isfinite(wide)]
    largest = finite.max(initial=0)
    scale = largest or 1.0  # so that no square leaves f64
    expected = np.sqrt(np.mean((finite / scale) ** 2)) * scale if finite.size else 0.0
    found = stats.rms[record]
    assert abs(found - expected) <= RMS * expected, (stats.id, found, expected)
    assert stats.amax[record] == largest
    assert stats.smallest[record] == (finite[finite > 0].min() if largest else 0.0)


def assert_octaves(stats: ValueStats, values: Array) -> None:
    """Asserts that the histogram of a value, of which no sample was taken, is that of an array."""
    wide = np.abs(values.astype(np.float64)).reshape(-1)
    finite = wide[np.isfinite(wide) & (wide > 0)]
    octaves, counts = np.unique(np.frexp(finite)[1] - 1, return_counts=True)
    histogram = stats.histogram
    found = {histogram.first + i: n for i, n in enumerate(histogram.counts) if n}
    assert found == dict(zip(octaves.tolist(), counts.tolist(), strict=True))
    assert histogram.sample == values.size
