"""The parameters of StableHLO's floating-point formats. This module does not depend on MLIR."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

_SMALLEST_WITH_INFINITIES = 6
"""Formats of at most this many bits have no infinities, whatever their names say."""


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A floating-point format.

    Attributes:
        name: The name in MLIR, such as ``f8E4M3FN``.
        exponent_bits: Width of the exponent field, in bits.
        mantissa_bits: Width of the stored mantissa, in bits.
        min_exponent: Exponent of the smallest positive normal number.
        max_exponent: Exponent of the largest finite number.
        max_finite: The largest finite number.
        wide: Whether the range is that of f32 or more, so that data need not be near unit.
        smallest: The smallest positive number that is not flushed to zero. XLA flushes subnormal
            numbers of the wide formats. Arithmetic on the others is done in f32, and their
            subnormal numbers are kept.
    """

    name: str
    exponent_bits: int
    mantissa_bits: int
    min_exponent: int
    max_exponent: int
    max_finite: float
    wide: bool = field(init=False)
    smallest: float = field(init=False)

    def __post_init__(self) -> None:
        """Computes `wide` and `smallest` once; they are read for every operand."""
        wide = self.exponent_bits >= 8 and self.mantissa_bits > 0
        object.__setattr__(self, "wide", wide)
        least = self.min_exponent - (0 if wide else self.mantissa_bits)
        object.__setattr__(self, "smallest", 2.0**least)

    @property
    def room(self) -> int:
        """The octaves by which the rms of data may differ from 1 with almost no loss of accuracy.

        Elements at the rms (with four exponent bits or fewer, down to an eighth of it) are still
        normal numbers then. There is more room above 1 than below.
        """
        return -self.min_exponent - (1 if self.exponent_bits >= _MANY_EXPONENT_BITS else 3)

    @property
    def scaled_amax(self) -> float:
        """The amax that scales from statistics give data: the largest number of the format.

        It is 1 in the wide formats, in which products of larger data would overflow, and which lose
        nothing near 1.
        """
        return 1.0 if self.wide else self.max_finite

    @property
    def small(self) -> bool:
        """Whether it has 8 bits or fewer: too little range for products with powers of two."""
        return self.bits <= _SMALL_BITS

    @property
    def bits(self) -> int:
        """The number of bits of an element."""
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def infinite(self) -> bool:
        """Whether the format has infinities; without them, overflow gives NaN."""
        return "FN" not in self.name and self.bits > _SMALLEST_WITH_INFINITIES

    def holds(self, number: float) -> bool:
        """Whether a finite non-zero number is exactly a normal number of the format."""
        mantissa, exponent = math.frexp(abs(number))
        whole = math.ldexp(mantissa, self.mantissa_bits + 1).is_integer()
        return whole and self.min_exponent < exponent and abs(number) <= self.max_finite

    def includes(self, other: FloatFormat) -> bool:
        """Whether all finite numbers of another format are numbers of this one."""
        fine = other.min_exponent - other.mantissa_bits >= self.min_exponent - self.mantissa_bits
        return (
            fine
            and self.mantissa_bits >= other.mantissa_bits
            and (self.max_finite >= other.max_finite)
        )


_MANY_EXPONENT_BITS = 5
_SMALL_BITS = 8

_TABLE = (
    FloatFormat("f64", 11, 52, -1022, 1023, (2 - 2.0**-52) * 2.0**1023),
    FloatFormat("f32", 8, 23, -126, 127, (2 - 2.0**-23) * 2.0**127),
    FloatFormat("tf32", 8, 10, -126, 127, (2 - 2.0**-10) * 2.0**127),
    FloatFormat("bf16", 8, 7, -126, 127, (2 - 2.0**-7) * 2.0**127),
    FloatFormat("f16", 5, 10, -14, 15, 65504.0),
    FloatFormat("f8E5M2", 5, 2, -14, 15, 57344.0),
    FloatFormat("f8E5M2FNUZ", 5, 2, -15, 15, 57344.0),
    FloatFormat("f8E4M3FN", 4, 3, -6, 8, 448.0),
    FloatFormat("f8E4M3", 4, 3, -6, 7, 240.0),
    FloatFormat("f8E4M3FNUZ", 4, 3, -7, 7, 240.0),
    FloatFormat("f8E4M3B11FNUZ", 4, 3, -10, 4, 30.0),
    FloatFormat("f8E3M4", 3, 4, -2, 3, 15.5),
    FloatFormat("f6E2M3FN", 2, 3, 0, 2, 7.5),
    FloatFormat("f6E3M2FN", 3, 2, -2, 4, 28.0),
    FloatFormat("f4E2M1FN", 2, 1, 0, 2, 6.0),
)
FORMATS = {f.name: f for f in _TABLE}


def float_format(exponent_bits: int, mantissa_bits: int) -> FloatFormat:
    """Returns the IEEE format with given numbers of bits, as `reduce_precision` rounds to one."""
    most = 2 ** (exponent_bits - 1) - 1
    name = f"f{1 + exponent_bits + mantissa_bits}E{exponent_bits}M{mantissa_bits}"
    largest = math.ldexp(2 - 2.0**-mantissa_bits, most)
    return FloatFormat(name, exponent_bits, mantissa_bits, 1 - most, most, largest)


def is_small(format_: str) -> bool:
    """Whether a format has at most 8 bits."""
    return format_ in FORMATS and FORMATS[format_].small
