"""The effect of casts to low-precision formats: error, flushed and clipped elements.

A sample of rows is cast with NumPy, at the scales that the whole tensor, the rows or blocks of
the rows have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt

from scalify_hlo.algebra.formats import FORMATS

Floats: TypeAlias = npt.NDArray[np.float32]

SCALINGS: Final = ("tensor", "channel", "1x128", "mx32", "nv16")
"""The elements that share a scale: see `docs/stats.md`."""

_BLOCKS: Final = {"1x128": 128, "mx32": 32, "nv16": 16}
_E8M0_BOUND: Final = 127
_NOT_CLIPPED: Final = 1 + 2.0**-20
"""Data at the amax may exceed the largest number by the rounding of the scale."""


@dataclass(frozen=True)
class Target:
    """A format to which operands are cast.

    Attributes:
        name: Its name, of MLIR for floats, and ``i8``.
        largest: Its largest number.
        cast: Rounds f32 numbers within its range to it, as f32 numbers.
    """

    name: str
    largest: float
    cast: Callable[[Floats], Floats]

    @property
    def exponent(self) -> int:
        """``floor(log2(largest))``."""
        return math.frexp(self.largest)[1] - 1


def _through(dtype: Any) -> Callable[[Floats], Floats]:
    return lambda data: data.astype(dtype).astype(np.float32)


TARGETS: Final = (
    Target("f8E4M3FN", FORMATS["f8E4M3FN"].max_finite, _through(ml_dtypes.float8_e4m3fn)),
    Target("f8E5M2", FORMATS["f8E5M2"].max_finite, _through(ml_dtypes.float8_e5m2)),
    Target("f16", FORMATS["f16"].max_finite, _through(np.float16)),
    Target("i8", 127.0, np.rint),
)


@dataclass(frozen=True)
class Effect:
    """The effect of a cast on elements; effects of several samples add up.

    Attributes:
        signal: The sum of the squares of the elements.
        noise: The sum of the squares of the errors.
        count: The number of finite elements.
        nonzero: The number of those that are not zero.
        flushed: The number of those that become zero.
        clipped: The number of elements that saturate.
    """

    signal: float = 0.0
    noise: float = 0.0
    count: int = 0
    nonzero: int = 0
    flushed: int = 0
    clipped: int = 0

    def __add__(self, other: Effect) -> Effect:
        return Effect(
            self.signal + other.signal,
            self.noise + other.noise,
            self.count + other.count,
            self.nonzero + other.nonzero,
            self.flushed + other.flushed,
            self.clipped + other.clipped,
        )

    @property
    def snr_db(self) -> float | None:
        """The signal-to-noise ratio in dB; None without signal or noise."""
        if not self.noise or not self.signal:
            return None
        return 10 * (math.log10(self.signal) - math.log10(self.noise))


Effects: TypeAlias = dict[tuple[str, str], Effect]
"""Effects by format and scaling."""


def effects(rows: npt.NDArray[Any], amax: float | None = None) -> Effects:
    """Returns the effect of each format at each scaling on rows of a tensor.

    Args:
        rows: The rows, ``[rows, elements]``, of any float dtype.
        amax: The largest finite magnitude of the whole tensor; by default that of the rows.
    """
    wide = rows.astype(np.float64) if rows.dtype == np.float64 else rows.astype(np.float32)
    finite = np.isfinite(wide)
    known = wide if finite.all() else np.where(finite, wide, 0)
    largest = float(np.abs(known).max(initial=0)) if amax is None else amax
    # Near unit, no square leaves f32.
    shift = math.frexp(largest)[1] if largest else 0
    x = np.ldexp(known, -shift).astype(np.float32)
    moved = math.ldexp(largest, -shift)
    counts = int(np.count_nonzero(finite)), int(np.count_nonzero(known))
    return dict(_Casts(x, moved, shift, *counts).effects())


def total(parts: Iterable[Effects]) -> Effects:
    """Returns the effects on several samples together."""
    found: Effects = {}
    for part in parts:
        for key, effect in part.items():
            found[key] = found.get(key, Effect()) + effect
    return found


@dataclass(frozen=True)
class _Casts:
    """Casts of a sample.

    Attributes:
        x: The elements, times ``2^-shift``, zeros in place of those that are not finite.
        amax: The largest magnitude of the whole tensor, times ``2^-shift``.
        shift: See there.
        count: The number of finite elements.
        nonzero: The number of those that are not zero.
    """

    x: Floats
    amax: float
    shift: int
    count: int
    nonzero: int

    def effects(self) -> Iterator[tuple[tuple[str, str], Effect]]:
        """Yields the effect of each format at each scaling."""
        signal = _energy(self.x)
        for scaling in SCALINGS:
            blocks = _blocks(self.x, scaling)
            largest = np.abs(blocks).max(axis=-1, keepdims=True, initial=0)
            for target in TARGETS:
                scale = self._scale(scaling, target, largest)
                noise, flushed, clipped = _cast(blocks, scale, target)
                effect = Effect(signal, noise, self.count, self.nonzero, flushed, clipped)
                yield (target.name, scaling), effect

    def _scale(self, scaling: str, target: Target, largest: Floats) -> Any:
        """Returns the scale of each block: its data are the elements divided by it."""
        most = np.float32(target.largest)
        if scaling == "tensor":
            return _usable(np.float32(self.amax) / most)
        if scaling == "mx32":
            return self._power_of_two(target, largest)
        if scaling == "nv16":
            return self._two_levels(target, largest)
        return _usable(largest / most)

    def _power_of_two(self, target: Target, largest: Floats) -> Floats:
        """Returns the scale of the OCP MX formats, from the exponent of the amax."""
        bound = _E8M0_BOUND
        exponent = np.frexp(largest)[1] - 1 - target.exponent
        bounded = np.clip(exponent, -bound - self.shift, bound - self.shift)
        power = np.ldexp(np.float32(1), bounded).astype(np.float32)
        return np.where(largest > 0, power, np.float32(1))

    def _two_levels(self, target: Target, largest: Floats) -> Floats:
        """Returns an E4M3 scale for each block, times an f32 scale that makes the largest 448."""
        e4m3 = TARGETS[0]
        common = _usable(np.float32(self.amax / (target.largest * e4m3.largest)))
        wanted = np.minimum(largest / (np.float32(target.largest) * common), e4m3.largest)
        scale: Floats = e4m3.cast(wanted.astype(np.float32)) * common
        return scale


def _energy(x: Floats) -> float:
    """Returns the sum of squares, in f32 row by row and in f64 over rows."""
    flat = x.reshape(len(x), -1)
    return float(np.einsum("ij,ij->i", flat, flat).sum(dtype=np.float64))


def _blocks(x: Floats, scaling: str) -> Floats:
    """Elements that share a scale in the last dimension, the last of a row filled with zeros."""
    size = _BLOCKS.get(scaling)
    if size is None:
        return x
    missing = -x.shape[1] % size
    padded = np.pad(x, ((0, 0), (0, missing))) if missing else x
    return padded.reshape(-1, size)


def _usable(scale: Any) -> Any:
    """Returns scales with 1 in place of 0: data of zeros are zeros at any scale."""
    return np.where(scale > 0, scale, np.float32(1))


def _cast(blocks: Floats, scale: Floats, target: Target) -> tuple[float, int, int]:
    """Returns the sum of squared errors, and the numbers of flushed and of clipped elements."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        data = blocks / scale
    if not np.all(scale):  # a block whose scale is 0 becomes 0
        data = np.where(scale > 0, data, np.float32(0))
    clipped = int(np.count_nonzero(np.abs(data) > target.largest * _NOT_CLIPPED))
    rounded = target.cast(np.clip(data, -target.largest, target.largest))
    flushed = int(np.count_nonzero((rounded == 0) & (blocks != 0)))
    return _energy(rounded * scale - blocks), flushed, clipped
