"""Profiles: magnitudes of the tensors of a program, measured on samples, and scales from them.

This module does not depend on MLIR. `scalify_hlo.commands.calibrate.calibration` makes profiles,
and `rewrite` takes them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, get_args

from scalify_hlo.algebra.formats import FORMATS, FloatFormat
from scalify_hlo.algebra.limits import PROFILE_SEARCH
from scalify_hlo.errors import InputError, UsageError, nearest
from scalify_hlo.profile.histogram import FINITE_BINS, octaves, percentile, squared_error
from scalify_hlo.results.kinds import Count, Size
from scalify_hlo.results.shown import Shown

Method: TypeAlias = Literal["max", "percentile", "rms", "mse"]
METHODS: Final[tuple[Method, ...]] = get_args(Method)
PERCENTILE: Final = 99.99
"""The default percentile of magnitudes for the method ``percentile``."""


@dataclass(frozen=True)
class TensorProfile:
    """Statistics of a tensor over all samples, loop iterations and devices.

    Attributes:
        count: The number of elements.
        amax: The largest finite magnitude.
        rms: The root mean square of the finite elements.
        histogram: The number of elements by bin; see `scalify_hlo.profile.histogram`.
    """

    count: Count
    amax: Size
    rms: Size
    histogram: Mapping[int, int]

    @property
    def zeros(self) -> int:
        """The number of zeros. Magnitudes in the lowest bin of f32 count as zeros."""
        return self.histogram.get(0, 0)

    @property
    def nonfinite(self) -> int:
        """The number of elements that are infinite or NaN."""
        return sum(n for bin_, n in self.histogram.items() if bin_ >= FINITE_BINS)

    @property
    def exponents(self) -> dict[int, int]:
        """The number of finite elements by ``floor(log2(magnitude))``, zeros excluded."""
        return octaves(self.histogram)

    def percentile(self, percent: float) -> float:
        """Returns a percentile of the magnitudes of the finite elements.

        Args:
            percent: The percentage, above 0 and at most 100.

        Returns:
            The end of the bin with the percentile, at most a 16th of an octave above it, or the
            amax if that is smaller.

        Raises:
            UsageError: The percentage is out of range.
        """
        if not 0 < percent <= 100:
            raise UsageError(
                f"{percent!r} is not a percentile", hint="give one above 0, up to 100, as in 99.99"
            )
        return min(percentile(self.histogram, percent), self.amax)

    def mse(self, exponent: int, format_: str | FloatFormat) -> float:
        """Returns the mean squared error of quantizing the finite elements at a scale.

        Data are rounded to nearest and saturate.

        Args:
            exponent: log2 of the scale X_s.
            format_: The format of the data, such as ``f8E4M3FN``.

        Returns:
            The error of the values, not of the data.

        Raises:
            UsageError: The format is not known.
        """
        return squared_error(self.histogram, _format(format_), exponent)

    def exponent(
        self, method: str, format_: str | FloatFormat, *, percent: float = PERCENTILE
    ) -> int:
        """Returns log2 of a scale X_s for the data of this tensor in a format.

        Args:
            method: ``max`` gives the smallest scale at which no data saturate. ``percentile`` gives
                the smallest scale at which data up to a percentile do not saturate. ``rms`` gives
                the power of two at or below the rms, so that the rms of the data is near 1, as in
                the Scalify paper (section 3). ``mse`` gives the scale of the least mean squared
                error, the largest if there are several.
            format_: The format of the data, such as ``f8E4M3FN``.
            percent: The percentage for the method ``percentile``.

        Returns:
            log2 of the scale; 0 for a tensor of zeros.

        Raises:
            UsageError: The method or the format is not known, or the percentage is out of range.
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
        """Returns log2 of the scale of the least mean squared error.

        The search starts at the smallest scale at which no data saturate: at larger scales, more
        data are subnormal, and the error only grows.
        """
        top = _unclipped(self.amax, format_)
        least = min(self.exponents, default=top) - format_.min_exponent
        candidates = range(top, max(min(least, top) - 1, top - PROFILE_SEARCH) - 1, -1)
        errors = {e: squared_error(self.histogram, format_, e) for e in candidates}
        return min(errors, key=errors.__getitem__)

    def merge(self, other: TensorProfile) -> TensorProfile:
        """Returns the statistics of all elements of this profile and another one.

        Args:
            other: A profile of the same tensor on other samples.
        """
        bins = sorted({*self.histogram, *other.histogram})
        histogram = {b: self.histogram.get(b, 0) + other.histogram.get(b, 0) for b in bins}
        known = [(part, part.count - part.nonfinite) for part in (self, other)]
        # `hypot` of weighted rms values does not overflow, but a sum of squares could.
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
    """log2 of the smallest scale at which a magnitude is at most `FloatFormat.scaled_amax`."""
    if not largest:
        return 0
    mantissa, exponent = math.frexp(largest / format_.scaled_amax)
    return exponent - (mantissa == 0.5)


@dataclass(frozen=True)
class Profile(Shown):
    """Statistics of the operands of all matmuls of a program.

    Attributes:
        program: The structural hash of the program; see `scalify_hlo.dialect.structure`.
        samples: The number of samples.
        tensors: The statistics by the names of matmul operands, ``SITE:lhs`` and ``SITE:rhs``, in
            program order. An operand of several matmuls has several names. Members of a sweep, and
            experts, are tensors of their own besides: ``SITE:lhs[0]`` and so on.
        name: The name of its file, for diagnostics.
    """

    DUMP = "profile.file.dump_profile"
    LINES = "cli.calibrate.lines"
    ROWS = "tensors"

    program: str
    samples: int
    tensors: Mapping[str, TensorProfile]
    name: str = field(default="<profile>", compare=False)

    def __repr__(self) -> str:
        counts = f"samples={self.samples}, tensors={len(self.tensors)}"
        return f"Profile(program={self.program!r}, {counts})"

    def merge(self, other: Profile) -> Profile:
        """Returns a profile of the samples of this profile and another one.

        Args:
            other: A profile of the same program.

        Raises:
            InputError: The other profile is of another program, or has other tensors.
        """
        other.require(self.program)
        for name in self.tensors.keys() ^ other.tensors.keys():
            raise InputError(
                f"only one of the two profiles has the tensor {name!r}",
                location=other.name,
                hint="make both from the same program with the same version",
            )
        tensors = {name: seen.merge(other.tensors[name]) for name, seen in self.tensors.items()}
        return replace(self, samples=self.samples + other.samples, tensors=tensors)

    def require(self, program: str) -> None:
        """Checks that this is a profile of a program.

        Args:
            program: The structural hash of the program.

        Raises:
            InputError: This is a profile of another program.
        """
        if self.program != program:
            raise InputError(
                "this is a profile of another program",
                location=self.name,
                hint="make one of this program with `scalify-hlo calibrate`",
            )
