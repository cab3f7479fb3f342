"""Profiles: how large the tensors of a program are on samples, and the scales that follow.

Nothing here knows MLIR. `scalify_hlo.calibration` makes profiles, `rewrite` takes them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, get_args

from scalify_hlo.diagnostics import InputError, UsageError, nearest
from scalify_hlo.formats import FORMATS, FloatFormat
from scalify_hlo.histogram import FINITE_BINS, octaves, percentile, squared_error

Method: TypeAlias = Literal["max", "percentile", "rms", "mse"]
METHODS: Final[tuple[Method, ...]] = get_args(Method)
PERCENTILE: Final = 99.99
"""Of magnitudes, below which the method ``percentile`` clips none."""

_FARTHEST: Final = 64
"""Octaves below the amax in which the method ``mse`` looks for a scale."""


@dataclass(frozen=True)
class TensorProfile:
    """What was seen of a tensor over all samples, turns of loops, and devices.

    Attributes:
        count: How many elements.
        amax: The largest finite magnitude.
        rms: The root of the mean square of the finite elements.
        histogram: How many elements by bin; see `scalify_hlo.histogram`.
    """

    count: int
    amax: float
    rms: float
    histogram: Mapping[int, int]

    @property
    def zeros(self) -> int:
        """How many elements are zero."""
        return self.histogram.get(0, 0)

    @property
    def nonfinite(self) -> int:
        """How many elements are infinite or NaN."""
        return sum(n for bin_, n in self.histogram.items() if bin_ >= FINITE_BINS)

    @property
    def exponents(self) -> dict[int, int]:
        """How many elements there are by ``floor(log2(magnitude))``; zeros are left out."""
        return octaves(self.histogram)

    def percentile(self, percent: float) -> float:
        """A magnitude that so many percent of the finite elements do not exceed.

        Args:
            percent: Above 0, at most 100.

        Returns:
            The end of a bin, up to a 16th of an octave above the percentile, or the amax.

        Raises:
            UsageError: The percentage is none.
        """
        if not 0 < percent <= 100:
            raise UsageError(
                f"{percent!r} is not a percentile", hint="give one above 0, up to 100, as in 99.99"
            )
        return min(percentile(self.histogram, percent), self.amax)

    def mse(self, exponent: int, format_: str | FloatFormat) -> float:
        """The mean squared error of the finite elements as data of a format, at ``2^exponent``.

        Data are rounded to nearest and saturate.

        Args:
            exponent: log2 of the scale X_s.
            format_: Such as ``f8E4M3FN``.

        Raises:
            UsageError: The format is not known.
        """
        return squared_error(self.histogram, _format(format_), exponent)

    def exponent(
        self, method: str, format_: str | FloatFormat, *, percent: float = PERCENTILE
    ) -> int:
        """log2 of a scale X_s for the data of this tensor in a format.

        Args:
            method: ``max``: the least at which nothing clips; ``percentile``: the same of all but
                the largest; ``rms``: that of the rms, rounded down, so that data are near unit
                size as the paper wants them (section 3); ``mse``: that of the least mean squared
                error, and of several such the largest.
            format_: Of the data, such as ``f8E4M3FN``.
            percent: Of the method ``percentile``.

        Returns:
            0 for a tensor of zeros.

        Raises:
            UsageError: The method or the format is not known, or the percentage is none.
        """
        kind = _format(format_)
        if method == "rms":
            return math.frexp(self.rms)[1] - 1 if self.rms else 0
        if method == "percentile":
            return _unclipped(self.percentile(percent), kind)
        if method == "max":
            return _unclipped(self.amax, kind)
        if method == "mse":
            return self._most_exact(kind)
        raise UsageError(
            f"no method is named {method!r}{nearest(method, METHODS)}",
            hint=f"the methods are: {', '.join(METHODS)}",
        )

    def _most_exact(self, format_: FloatFormat) -> int:
        """Above the scale at which nothing clips, errors of subnormal numbers only grow."""
        top = _unclipped(self.amax, format_)
        least = min(self.exponents, default=top) - format_.min_exponent
        candidates = range(top, max(min(least, top) - 1, top - _FARTHEST) - 1, -1)
        errors = {e: squared_error(self.histogram, format_, e) for e in candidates}
        return min(errors, key=errors.__getitem__)

    def merge(self, other: TensorProfile) -> TensorProfile:
        """What both saw."""
        bins = sorted({*self.histogram, *other.histogram})
        histogram = {b: self.histogram.get(b, 0) + other.histogram.get(b, 0) for b in bins}
        known = [(part, part.count - part.nonfinite) for part in (self, other)]
        # Roots first: squares of f32 numbers, as a file may have them, can leave f64 in sums.
        total = sum(n for _, n in known)
        parts = [part.rms * math.sqrt(n / total) for part, n in known] if total else [0.0]
        return TensorProfile(
            self.count + other.count, max(self.amax, other.amax), math.hypot(*parts), histogram
        )


def _format(format_: str | FloatFormat) -> FloatFormat:
    if isinstance(format_, FloatFormat):
        return format_
    if format_ not in FORMATS:
        raise UsageError(
            f"no format is named {format_!r}{nearest(format_, FORMATS)}",
            hint=f"the formats are: {', '.join(FORMATS)}",
        )
    return FORMATS[format_]


def _unclipped(largest: float, format_: FloatFormat) -> int:
    """log2 of the least power of two at which a magnitude is in range."""
    if not largest:
        return 0
    mantissa, exponent = math.frexp(largest / format_.max_finite)
    return exponent - (mantissa == 0.5)


@dataclass(frozen=True)
class Profile:
    """What was seen of the operands of a program's matmuls.

    Attributes:
        program: The structural hash of the program; see `scalify_hlo.dialect.structure`.
        samples: How many there were.
        tensors: By the names of matmul operands, ``SITE:lhs`` and ``SITE:rhs``, in order of the
            program; what several matmuls take stands under several names.
    """

    program: str
    samples: int
    tensors: Mapping[str, TensorProfile]

    def merge(self, other: Profile) -> Profile:
        """What both saw, of the same program.

        Raises:
            InputError: The other is a profile of another program.
        """
        other.require(self.program)
        for name in self.tensors.keys() ^ other.tensors.keys():
            raise InputError(
                f"only one of the two profiles has the tensor {name!r}",
                hint="make both from the same program with the same version",
            )
        tensors = {name: seen.merge(other.tensors[name]) for name, seen in self.tensors.items()}
        return replace(self, samples=self.samples + other.samples, tensors=tensors)

    def require(self, program: str, name: str | None = None) -> None:
        """Checks that this is a profile of a program.

        Args:
            program: The structural hash of the program.
            name: How diagnostics call the profile.

        Raises:
            InputError: It is one of another program.
        """
        if self.program != program:
            raise InputError(
                "this is a profile of another program",
                location=name,
                hint="make one of this program with `scalify-hlo calibrate`",
            )
