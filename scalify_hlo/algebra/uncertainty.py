"""Uncertainties of the predicted sizes of values.

The level of a value is an estimate. Its uncertainty is a monomial ``{root: degree}`` over *roots*,
as a scale is a monomial over run-time scales. A root is a quantity whose size is not known exactly,
such as an argument; it has a standard deviation in octaves. Degrees are added in products and
subtracted in quotients. So the ratio of two values with the same root is certain, a matrix times
itself has twice the uncertainty, and the uncertainties of independent weights add in quadrature.
Errors without a root, such as the small errors of the rules, are a bias that adds linearly.

This module does not depend on MLIR.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from scalify_hlo.algebra.limits import HIGHEST_DEGREE, HOPELESS, UNBOUNDED, UNCERTAINTY_ROOTS

GIVEN: Final = 0.5
"""The typical distance from 1, in octaves, of scales that are arguments."""

STATISTIC: Final = 1.0
"""The uncertainty, in octaves, of statistics against the expected ones."""

GRADIENT: Final = "gradient"
"""The kind of a root that is the amax of a gradient."""

_SQUARE: Final = 2
"""The least degree at which a root counts as a power; see `Root.in_powers`."""


class Root:
    """A quantity whose size is not known exactly; each is equal only to itself.

    Attributes:
        deviation: Standard deviation of log2 of its size, in octaves.
        in_powers: The deviation per degree in powers of the quantity, from squares on. The declared
            size of an argument is trusted for the argument itself, but a power multiplies its
            error.
        misdeclared: The deviation of the quantity itself, if it is made of such powers.
        constant: Whether it is an element of a constant whose elements have different sizes.
        peak: The kind of what is measured at run time, if the size follows from an amax; else "".
        made: Whether it represents all roots of a value that was computed, such as an activation.
        exponential: Whether it is the size of an exponential.
    """

    __slots__ = (
        *("constant", "deviation", "exponential"),
        *("in_powers", "made", "misdeclared", "peak"),
    )

    def __init__(
        self,
        deviation: float,
        in_powers: float = 0.0,
        misdeclared: float = 0.0,
        *,
        constant: bool = False,
        peak: str = "",
        made: bool = False,
        exponential: bool = False,
    ) -> None:
        self.constant, self.exponential = constant, exponential
        self.made = made
        self.peak = peak
        self.deviation = deviation
        self.misdeclared = max(deviation, misdeclared)
        self.in_powers = max(self.misdeclared, in_powers)

    def octaves(self, degree: float) -> float:
        """Standard deviation of log2 of the size of a power, if inputs are misdeclared.

        Args:
            degree: The degree of the power.
        """
        return abs(degree) * (self.misdeclared if abs(degree) < _SQUARE else self.in_powers)


@dataclass(eq=False, slots=True)
class Uncertainty:
    """The uncertainty of log2 of a size, as a monomial over roots.

    Attributes:
        degrees: The roots with their non-zero degrees.
        rest: Variance, in octaves², of errors that are independent of all roots.
        bias: Error in octaves that adds linearly.
        drift: Octaves by which the value is known to be larger than its level says, since levels
            are whole numbers. It is followed through products, quotients, powers and sums.
        tails: Bias of gains since the last contraction. A gain makes some elements larger than
            others, and a contraction averages them.
    """

    degrees: Mapping[Root, float]
    rest: float = 0.0
    bias: float = 0.0
    drift: float = 0.0
    tails: float = 0.0

    @property
    def octaves(self) -> float:
        """``bias + tails + sqrt(rest + sum((degree * deviation)²))``, one standard deviation."""
        return min(self.bias + self.tails + math.sqrt(self._variance()), UNBOUNDED)

    @property
    def misdeclared(self) -> float:
        """One standard deviation in octaves, if the declared scales of inputs are inexact."""
        variance = self.rest
        for root, degree in self.degrees.items():
            variance += root.octaves(degree) ** 2
        return min(self.bias + self.tails + math.sqrt(variance), UNBOUNDED)

    def __mul__(self, other: Uncertainty) -> Uncertainty:
        return self.times(other, 1.0)

    def __truediv__(self, other: Uncertainty) -> Uncertainty:
        return self.times(other, -1.0)

    def __pow__(self, n: float) -> Uncertainty:
        if n == 1 or self is CERTAIN:
            return self
        degrees = {r: k for r, degree in self.degrees.items() if (k := _limited(degree * n))}
        n = _limited(n)
        size = abs(n)
        rest, bias, tails = self.rest * n * n, self.bias * size, self.tails * size
        return Uncertainty(degrees, rest, bias, self.drift * n, tails)

    def times(self, other: Uncertainty, sign: float) -> Uncertainty:
        """Returns the uncertainty of a product with another value to the power of `sign`, ±1."""
        if other is CERTAIN:
            return self
        if self is CERTAIN and sign == 1:
            return other
        degrees = dict(self.degrees)
        for root, degree in other.degrees.items():
            total = degrees.get(root, 0.0) + sign * degree
            if not -HIGHEST_DEGREE < total < HIGHEST_DEGREE:
                total = _limited(total)
            if total:
                degrees[root] = total
            else:
                degrees.pop(root, None)  # A power may be rounded to 0.
        drift, tails = self.drift + sign * other.drift, self.tails + other.tails
        return _capped(degrees, self.rest + other.rest, self.bias + other.bias, drift, tails)

    def correlation(self, other: Uncertainty) -> float:
        """The correlation of two uncertainties by their common roots, from 0 to 1."""
        ours, theirs = self.degrees, other.degrees
        common = 0.0
        if ours.keys().isdisjoint(theirs):
            return common
        for root, degree in ours.items():
            if root in theirs:
                common += abs(degree * theirs[root]) * root.deviation**2
        if not common:
            return 0.0
        return common / math.sqrt(self._variance() * other._variance())

    def is_power_of(self, other: Uncertainty) -> bool:
        """Whether both have the same roots, and the degrees of one are a multiple of the other's.

        That holds for powers of one value.
        """
        ours, theirs = self.degrees, other.degrees
        if not ours or ours.keys() != theirs.keys():
            return False
        root = next(iter(ours))
        mine, its = ours[root], theirs[root]
        return all(ours[r] * its == theirs[r] * mine for r in ours) and mine * its > 0

    def _variance(self) -> float:
        variance = self.rest
        for root, degree in self.degrees.items():
            variance += (degree * root.deviation) ** 2
        return variance

    @property
    def widest(self) -> float:
        """The largest standard deviation of an exponential, in octaves."""
        return max([root.deviation for root in self.degrees if root.exponential], default=0.0)

    @property
    def in_powers(self) -> float:
        """The uncertainty in octaves per degree, in the square of the value."""
        return (self * self).misdeclared / _SQUARE

    @property
    def constant(self) -> bool:
        """Whether the value is a constant whose elements differ, in size or not.

        Such a value does not reduce the uncertainty of a sum; see `mean_uncertainty`.
        """
        if self is CONSTANT:
            return True
        degrees = self.degrees
        return bool(degrees) and all(root.constant for root in degrees) and not self.rest

    @property
    def peak(self) -> str:
        """The kind of what is measured if the size follows from an amax, a gradient first."""
        kinds = [r.peak for r, degree in self.degrees.items() if r.peak and degree > 0]
        return GRADIENT if GRADIENT in kinds else "".join(kinds[:1])

    @property
    def stated(self) -> bool:
        """Whether the size follows from known sizes, and is near the predicted one if these are."""
        return bool(self.degrees) and self.misdeclared <= HOPELESS

    @property
    def single(self) -> bool:
        """Whether the uncertainty is that of one root alone, such as an argument."""
        if len(self.degrees) != 1 or self.rest or self.bias or self.tails:
            return False
        return not any(root.made for root in self.degrees)

    @property
    def degree(self) -> float:
        """The highest degree of a root, in absolute value."""
        degrees = self.degrees
        return max(map(abs, degrees.values())) if degrees else 0.0

    def with_root(self, deviation: float) -> Uncertainty:
        """Returns the uncertainty with one more root, of this deviation in octaves."""
        degrees = {**self.degrees, Root(deviation): 1.0}
        return _capped(degrees, self.rest, self.bias, self.drift, self.tails)

    def with_bias(self, octaves: float) -> Uncertainty:
        """Returns the uncertainty with more bias."""
        return Uncertainty(self.degrees, self.rest, self.bias + octaves, self.drift, self.tails)

    def with_gain(self, octaves: float) -> Uncertainty:
        """Returns the uncertainty of a product with a gain."""
        return Uncertainty(self.degrees, self.rest, self.bias, self.drift, self.tails + octaves)

    def contracted(self, octaves: float) -> Uncertainty:
        """Returns the uncertainty of a contraction, whose rule is off by some octaves."""
        rest = self.rest + self.tails * self.tails
        return Uncertainty(self.degrees, rest, self.bias + octaves, self.drift)

    @property
    def averaged(self) -> Uncertainty:
        """The uncertainty with its bias as one independent error."""
        bias = self.bias + self.tails
        if not bias:
            return self
        return Uncertainty(self.degrees, self.rest + bias * bias, 0.0, self.drift)

    def drifting(self, octaves: float) -> Uncertainty:
        """Returns the uncertainty with another drift."""
        if octaves == self.drift:
            return self
        return Uncertainty(self.degrees, self.rest, self.bias, octaves, self.tails)

    def and_of(self, other: Uncertainty) -> Uncertainty:
        """Returns the uncertainty of a product with a value that is one new root."""
        degrees = {**self.degrees, renamed(other): 1.0}
        return Uncertainty(degrees, self.rest, self.bias, self.drift, self.tails)

    def rooted_at(self, names: Mapping[Root, Uncertainty]) -> Uncertainty:
        """Replaces some roots by uncertainties, to the power of the degrees of the roots."""
        kept = {root: degree for root, degree in self.degrees.items() if root not in names}
        parts = [names[root] ** k for root, k in self.degrees.items() if root in names]
        own = Uncertainty(kept, self.rest, self.bias, self.drift, self.tails)
        return reduce(Uncertainty.__mul__, parts, own)


CERTAIN: Final = Uncertainty({})
"""The uncertainty of a value of known size, such as a constant."""

CONSTANT: Final = Uncertainty({})
"""The uncertainty of a constant whose elements differ, but are of similar size."""

NORMALIZED: Final = Uncertainty({}, rest=0.0625)
"""The uncertainty of the result of a normalization or a softmax: a quarter of an octave."""

UNKNOWN: Final = Uncertainty({}, bias=UNBOUNDED)
"""The uncertainty of a value of unknown size."""


def renamed(own: Uncertainty) -> Root:
    """Returns one new root that has the deviations of an uncertainty, but none of its roots."""
    return Root(
        own.octaves,
        own.in_powers,
        own.misdeclared,
        constant=own.constant,
        peak=own.peak,
        made=not own.single,
    )


def of_product(parts: Iterable[tuple[Uncertainty, float]]) -> Uncertainty:
    """Returns the uncertainty of a product of powers, without a limit on its roots.

    Args:
        parts: The uncertainty and the exponent of each factor.
    """
    degrees: dict[Root, float] = {}
    rest = bias = drift = tails = 0.0
    for part, n in parts:
        for root, degree in part.degrees.items():
            degrees[root] = degrees.get(root, 0.0) + n * degree
        rest += part.rest * n * n
        bias += part.bias * abs(n)
        drift += part.drift * n
        tails += part.tails * abs(n)
    kept = {
        r: k if -HIGHEST_DEGREE < k < HIGHEST_DEGREE else _limited(k)
        for r, k in degrees.items()
        if k
    }
    return Uncertainty(kept, rest, bias, drift, tails)


def of_root(
    deviation: float,
    in_powers: float = 0.0,
    *,
    constant: bool = False,
    peak: str = "",
    exponential: bool = False,
) -> Uncertainty:
    """Returns the uncertainty of a new root.

    Args:
        deviation: Standard deviation of log2 of its size, in octaves.
        in_powers: The deviation per degree in its powers, if that is larger.
        constant: Whether the root is an element of a constant.
        peak: The kind of what is measured, if the size follows from an amax.
        exponential: Whether it is the size of an exponential.
    """
    root = Root(deviation, in_powers, constant=constant, peak=peak, exponential=exponential)
    return Uncertainty({root: 1.0})


def mean(parts: Sequence[Uncertainty]) -> Uncertainty:
    """Returns the uncertainty of a sum of values of similar size: the mean of their degrees."""
    first = parts[0]
    if not [part for part in parts if part is not first]:
        return first
    share = 1.0 / len(parts)
    degrees: dict[Root, float] = {}
    for part in parts:
        for root, degree in part.degrees.items():
            degrees[root] = degrees.get(root, 0.0) + share * degree
    bias = share * sum([part.bias for part in parts])
    rest = share * share * sum([part.rest for part in parts])
    drift = share * sum([part.drift for part in parts])
    tails = share * sum([part.tails for part in parts])
    kept = {root: degree for root, degree in degrees.items() if degree}
    return _capped(kept, rest, bias, drift, tails)


def least(parts: Iterable[Uncertainty]) -> Uncertainty:
    """Returns the uncertainty with the fewest octaves."""
    return min(parts, key=_octaves)


def most(parts: Iterable[Uncertainty]) -> Uncertainty:
    """Returns the uncertainty with the most octaves."""
    return max(parts, key=_octaves)


def _limited(degree: float) -> float:
    return max(-HIGHEST_DEGREE, min(HIGHEST_DEGREE, degree))


def _octaves(part: Uncertainty) -> float:
    return part.octaves


def _capped(
    degrees: dict[Root, float],
    rest: float,
    bias: float,
    drift: float = 0.0,
    tails: float = 0.0,
) -> Uncertainty:
    """Returns an uncertainty with at most `UNCERTAINTY_ROOTS` roots."""
    excess = len(degrees) - UNCERTAINTY_ROOTS
    if excess > 0:
        shares = {root: abs(degree) * root.deviation for root, degree in degrees.items()}
        share = shares.__getitem__
        # The least of several is found without sorting them; both take the first of equal ones.
        smallest = sorted(shares, key=share)[:excess] if excess > 1 else [min(shares, key=share)]
        for root in smallest:
            rest += (degrees.pop(root) * root.deviation) ** 2
    return Uncertainty(degrees, rest, bias, drift, tails)
