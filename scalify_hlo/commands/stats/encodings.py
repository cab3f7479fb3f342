"""The encodings of floats as unsigned integers, in which statistics are exact.

XLA on CPUs takes subnormal numbers for zeros in comparisons, and may compute in a wider format
than the program says. The bits of a value have neither problem. Magnitudes are ordered as their
bits are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scalify_hlo.algebra.formats import FORMATS, FloatFormat

_BYTE: Final = 8
_CARRIER: Final = "f8E4M3FN"
"""The format that floats of fewer than eight bits are converted to, which holds all of them."""

_HUGE: Final = 500
"""log2 of the magnitudes of f64 beyond which squares are summed up at another scale."""

_SHIFT: Final = 600
"""log2 of that scale."""


@dataclass(frozen=True)
class Encoding:
    """The encoding of a format.

    Attributes:
        format: The format.
        carrier: The format whose bits are read: itself, or a wider one for sub-byte formats.
        width: The number of bits of the carrier.
        wide: Whether bits are counted in 64-bit integers rather than in 32-bit ones.
    """

    format: FloatFormat
    carrier: FloatFormat
    width: int
    wide: bool

    @property
    def mantissa(self) -> int:
        """The number of mantissa bits of the carrier."""
        return self.carrier.mantissa_bits

    @property
    def bias(self) -> int:
        """The exponent bias of the carrier."""
        return 1 - self.carrier.min_exponent

    @property
    def magnitude(self) -> int:
        """The mask of all bits but the sign."""
        return (1 << (self.width - 1)) - 1

    @property
    def smallest_normal(self) -> int:
        """The bits of the smallest normal number of the format."""
        return self._bits(2.0**self.format.min_exponent)

    @property
    def largest(self) -> int:
        """The bits of the largest finite number of the format."""
        return self._bits(self.format.max_finite)

    @property
    def infinity(self) -> int | None:
        """The bits of +inf; None if the format has none."""
        infinite = self.format.infinite and self.format is self.carrier
        return ((1 << self.carrier.exponent_bits) - 1) << self.mantissa if infinite else None

    @property
    def negative_zero_is_nan(self) -> bool:
        """Whether NaN has the bits of a negative zero, and no others."""
        return self.format.name.endswith("UZ")

    @property
    def lowest(self) -> int:
        """``floor(log2(x))`` of the smallest number of the carrier."""
        return self.carrier.min_exponent - self.mantissa

    @property
    def bins(self) -> int:
        """The number of bins of a histogram: zeros, one for each octave, and what is not finite."""
        return self.carrier.max_exponent - self.lowest + 3

    @property
    def parts(self) -> tuple[int, ...]:
        """log2 of the scales at which squares are summed up, so that no square leaves f64.

        Magnitudes up to ``2^-500`` and from ``2^500`` on have sums of their own in f64.
        """
        return (0, _SHIFT, -_SHIFT) if self.wide else (0,)

    def _bits(self, number: float) -> int:
        mantissa, exponent = math.frexp(number)
        fraction = int((2 * mantissa - 1) * 2**self.mantissa)
        return ((exponent - 1 + self.bias) << self.mantissa) + fraction

    def number(self, bits: int) -> float:
        """Returns the finite magnitude that has these bits."""
        exponent, fraction = bits >> self.mantissa, bits & ((1 << self.mantissa) - 1)
        whole = fraction + ((1 << self.mantissa) if exponent else 0)
        return math.ldexp(whole, max(exponent, 1) - self.bias - self.mantissa)

    def at_place(self, place: int) -> float:
        """Returns the number at a place of `Extents.extent`; NaN at 0."""
        if not place:
            return math.nan
        bits = place - self.magnitude
        return math.copysign(self.number(abs(bits)), bits)


@lru_cache
def encoding_of(format_: FloatFormat) -> Encoding | None:
    """Returns the encoding of a format; None for tf32, of which no tensor consists."""
    if format_.name == "tf32":
        return None
    carrier = format_ if format_.bits >= _BYTE else FORMATS[_CARRIER]
    return Encoding(format_, carrier, carrier.bits, carrier.bits > 32)


@dataclass(frozen=True)
class Tally:
    """Statistics that add up: over turns, devices and steps.

    Attributes:
        count: The number of elements.
        squares: The sums of squares, at the scales of `Encoding.parts`.
        amax: The bits of the largest finite magnitude.
        smallest: The bits of the smallest magnitude that is not zero; 0 if there is none.
        classes: The numbers of zeros, subnormals, saturated elements, infinities and NaN.
        bins: The histogram of a sample.
    """

    count: int
    squares: tuple[float, ...]
    amax: int
    smallest: int
    classes: tuple[int, ...]
    bins: npt.NDArray[np.uint64]

    def times(self, factor: int) -> Tally:
        """Returns the statistics of as many copies of the elements."""
        return Tally(
            self.count * factor,
            tuple(s * factor for s in self.squares),
            self.amax if factor else 0,
            self.smallest if factor else 0,
            tuple(n * factor for n in self.classes),
            self.bins if factor else np.zeros_like(self.bins),
        )


def tally(array: npt.NDArray[Any], encoding: Encoding) -> Tally:
    """Returns the statistics of a real NumPy array, such as a constant.

    Args:
        array: Elements of the format of the encoding.
        encoding: The encoding.
    """
    raw = _raw(array, encoding)
    bits = raw & np.uint64(encoding.magnitude)
    nan = _is_nan(raw, bits, encoding)
    infinite = bits == encoding.infinity if encoding.infinity is not None else np.zeros_like(nan)
    finite = ~(nan | infinite)
    zero = (bits == 0) & finite
    subnormal = finite & ~zero & (bits < encoding.smallest_normal)
    saturated = bits == encoding.largest
    others = bits[finite & ~zero]
    classes = tuple(int(m.sum()) for m in (zero, subnormal, saturated, infinite, nan))
    bins = np.bincount(_bins(bits, zero, finite, encoding), minlength=encoding.bins)
    return Tally(
        bits.size,
        _squares(others, encoding),
        int(others.max(initial=0)),
        int(others.min()) if others.size else 0,
        classes,
        bins.astype(np.uint64),
    )


def _raw(array: npt.NDArray[Any], encoding: Encoding) -> npt.NDArray[np.uint64]:
    flat = np.ascontiguousarray(array).reshape(-1)
    if encoding.format is not encoding.carrier:
        import ml_dtypes

        flat = flat.astype(ml_dtypes.float8_e4m3fn)
    return flat.view(f"u{encoding.width // _BYTE}").astype(np.uint64)


def _is_nan(raw: Any, bits: Any, encoding: Encoding) -> npt.NDArray[np.bool_]:
    if encoding.negative_zero_is_nan:
        found: npt.NDArray[np.bool_] = raw == encoding.magnitude + 1
        return found
    above = encoding.largest if encoding.infinity is None else encoding.infinity
    beyond: npt.NDArray[np.bool_] = bits > above
    return beyond


def _magnitudes(bits: npt.NDArray[np.uint64], encoding: Encoding, shift: int) -> Any:
    """Returns the magnitudes that have these bits, times ``2^shift``, in f64."""
    exponent = (bits >> np.uint64(encoding.mantissa)).astype(np.int64)
    whole = bits & np.uint64((1 << encoding.mantissa) - 1)
    whole = whole + np.where(exponent > 0, np.uint64(1 << encoding.mantissa), np.uint64(0))
    power = np.maximum(exponent, 1) - encoding.bias - encoding.mantissa + shift
    return np.ldexp(whole.astype(np.float64), power)


def _squares(bits: npt.NDArray[np.uint64], encoding: Encoding) -> tuple[float, ...]:
    sums = []
    for shift in encoding.parts:
        part = bits[_of_part(bits, encoding, shift)]
        sums.append(float(np.sum(_magnitudes(part, encoding, shift) ** 2)))
    return tuple(sums)


def _of_part(bits: npt.NDArray[np.uint64], encoding: Encoding, shift: int) -> Any:
    if not encoding.wide:
        return np.ones(bits.shape, bool)
    low, high = bounds(encoding)
    if shift == 0:
        return (bits >= low) & (bits < high)
    return bits < low if shift > 0 else bits >= high


def bounds(encoding: Encoding) -> tuple[int, int]:
    """Returns the bits of ``2^-500`` and of ``2^500`` in f64, between which squares are usual."""
    low, high = ((power + encoding.bias) << encoding.mantissa for power in (-_HUGE, _HUGE))
    return low, high


def _bins(bits: Any, zero: Any, finite: Any, encoding: Encoding) -> Any:
    octave = np.frexp(_magnitudes(bits, encoding, 0))[1] - 1
    inside = np.where(zero, 0, octave - encoding.lowest + 1)
    return np.where(finite, inside, encoding.bins - 1)


def rms(squares: tuple[float, ...], count: int, encoding: Encoding) -> float:
    """Returns the rms of finite elements from their sums of squares."""
    if not count:
        return 0.0
    roots = zip(squares, encoding.parts, strict=True)
    return math.hypot(*(math.ldexp(math.sqrt(s / count), -shift) for s, shift in roots))
