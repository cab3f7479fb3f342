"""The effect of casts to low-precision formats: error, flushed and clipped elements.

A sample of rows is cast with NumPy, at the scales that the whole tensor, the rows or blocks of
the rows have.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from operator import add
from typing import Any, Final, TypeAlias

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

_F32_MANTISSA: Final = 23
_F32_EXPONENT: Final = np.uint32(0x7F800000)


@dataclass(frozen=True)
class Target:
    """A format to which operands are cast.

    Attributes:
        name: Its name, of MLIR for floats, and ``i8``.
        largest: Its largest number.
        mantissa: The number of mantissa bits; 0 for integers.
        lowest: The exponent of its smallest normal number; 0 for integers, of which all are
            multiples of 1.
    """

    name: str
    largest: float
    mantissa: int
    lowest: int

    @property
    def exponent(self) -> int:
        """``floor(log2(largest))``."""
        return math.frexp(self.largest)[1] - 1

    @property
    def integer(self) -> bool:
        """Whether the numbers of the format are evenly spaced."""
        return not self.mantissa

    def cast(self, data: Floats, out: Floats | None = None) -> Floats:
        """Rounds magnitudes up to the largest number to the nearest, ties to even.

        After a sum with 2^23 times the spacing of the format, no bits below that spacing are left.

        Args:
            data: The magnitudes.
            out: Where to write; by default a new array.

        Returns:
            Numbers of the format, as f32.
        """
        rounded = np.empty_like(data) if out is None else out
        if self.integer:
            np.rint(data, out=rounded)
            return rounded
        magic = rounded.view(np.uint32)
        np.bitwise_and(data.view(np.uint32), _F32_EXPONENT, out=magic)
        np.maximum(magic, np.float32(2.0**self.lowest).view(np.uint32), out=magic)
        magic += np.uint32((_F32_MANTISSA - self.mantissa) << _F32_MANTISSA)
        np.subtract(data + rounded, rounded, out=rounded)
        return rounded


def _float(name: str) -> Target:
    format_ = FORMATS[name]
    return Target(name, format_.max_finite, format_.mantissa_bits, format_.min_exponent)


TARGETS: Final = (*map(_float, ("f8E4M3FN", "f8E5M2", "f16")), Target("i8", 127.0, 0, 0))


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
        return Effect(*map(add, astuple(self), astuple(other)))

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
    wide = np.abs(rows if rows.dtype == np.float64 else rows.astype(np.float32))
    finite = np.isfinite(wide)
    count = int(np.count_nonzero(finite))
    known = wide if count == wide.size else np.where(finite, wide, 0)
    largest = float(known.max(initial=0)) if amax is None else amax
    # Near unit, no square leaves f32.
    shift = math.frexp(largest)[1] if largest else 0
    x = np.ldexp(known, -shift).astype(np.float32)
    moved = math.ldexp(largest, -shift)
    return dict(_Casts(x, moved, shift, count, int(np.count_nonzero(known > 0))).effects())


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
        x: The magnitudes, times ``2^-shift``, zeros in place of those that are not finite.
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
            blocks = _Blocks(_blocks(self.x, scaling))
            zeros = blocks.x.size - self.nonzero
            for target in TARGETS:
                scale = self._scale(scaling, target, blocks.largest)
                noise, zero, clipped = blocks.cast(scale, target)
                effect = Effect(signal, noise, self.count, self.nonzero, zero - zeros, clipped)
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
    """The sum of squares."""
    flat = x.ravel(order="K")
    return float(np.dot(flat, flat))


def _blocks(x: Floats, scaling: str) -> Floats:
    """Elements that share a scale in the first dimension, the last of a row filled with zeros."""
    size = _BLOCKS.get(scaling)
    if size is None:
        return x.T
    missing = -x.shape[1] % size
    padded = np.pad(x, ((0, 0), (0, missing))) if missing else x
    return np.ascontiguousarray(padded.reshape(-1, size).T)


def _usable(scale: Any) -> Any:
    """Returns scales with 1 in place of 0: data of zeros are zeros at any scale."""
    return np.where(scale > 0, scale, np.float32(1))


class _Blocks:
    """Casts of magnitudes in blocks.

    New arrays of this size cost more than arithmetic on them, so that casts share their arrays.

    Args:
        x: The magnitudes; those that share a scale are in the first dimension.

    Attributes:
        x: The same.
        largest: The largest of each block.
    """

    def __init__(self, x: Floats) -> None:
        self.x = x
        self.largest: Floats = x.max(axis=0, initial=0)
        self._data, self._rounded, self._spare = (np.empty_like(x) for _ in range(3))

    def cast(self, scale: Any, target: Target) -> tuple[float, int, int]:
        """Returns the sum of squared errors, and the numbers of zeros and of clipped elements.

        Args:
            scale: The scale of each block, or of all; a block whose scale is 0 becomes 0.
            target: The format.
        """
        divisor = np.where(scale > 0, scale, np.float32(np.inf))
        data = np.divide(self.x, divisor, out=self._data)
        clipped, kept, bound = 0, data, np.float32(target.largest * _NOT_CLIPPED)
        if (self.largest / divisor).max(initial=0) > bound:
            clipped = int(np.count_nonzero(data > bound))
            kept = np.minimum(data, np.float32(target.largest), out=self._spare)
        rounded = target.cast(kept, self._rounded)
        zeros = int(np.count_nonzero(rounded == 0))
        rounded *= scale
        rounded -= self.x
        return _energy(rounded), zeros, clipped
