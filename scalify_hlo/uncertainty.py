"""How far the predicted size of a value can be trusted.

The level of a value is an estimate. Its uncertainty is a monomial over *roots*, as a scale is one
over run-time scales: ``{root: degree}``. A root is one quantity of which the size is not known
exactly, such as an argument, with a standard deviation in octaves. Degrees add in products and
subtract in quotients, so a ratio of two values of one root is certain by arithmetic, a matrix that
is multiplied by itself doubles its uncertainty, and independent weights add in quadrature. What no
root explains, such as the small errors of the rules themselves, is a bias that adds linearly.

Nothing here knows of MLIR.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from heapq import nsmallest
from typing import Final

_MOST_ROOTS: Final = 12
"""The most roots that are told apart; the least of the others are independent of all."""

_SQUARE: Final = 2
"""The degree from which on a monomial is a power."""

_HIGHEST: Final = 1e30
"""The highest degree, in absolute value: squares of higher ones would leave f64."""

UNBOUNDED: Final = 1e6
"""Octaves from which on nothing is known of a size."""


class Root:
    """A quantity of which the size is not known exactly; each is equal only to itself.

    Attributes:
        deviation: Standard deviation of log2 of its size.
        in_powers: The same for each degree of its powers, from squares on. What is said of an
            argument is taken for its size, but a power of it multiplies any error there is.
        misdeclared: The same for the quantity itself, if it is made of such powers.
        constant: Whether it is an element of a constant whose elements are of many sizes.
    """

    __slots__ = ("constant", "deviation", "in_powers", "misdeclared")

    def __init__(
        self,
        deviation: float,
        in_powers: float = 0.0,
        misdeclared: float = 0.0,
        *,
        constant: bool = False,
    ) -> None:
        self.constant = constant
        self.deviation = deviation
        self.misdeclared = max(deviation, misdeclared)
        self.in_powers = max(self.misdeclared, in_powers)

    def octaves(self, degree: float) -> float:
        """Standard deviation of log2 of the size of a power, if inputs are misdeclared."""
        return abs(degree) * (self.misdeclared if abs(degree) < _SQUARE else self.in_powers)


class Uncertainty:
    """How far log2 of a size may be off, as a monomial over roots.

    Attributes:
        degrees: Roots with their non-zero degrees.
        rest: Variance in octaves² of the roots that are not told apart.
        bias: Octaves that add linearly.
    """

    __slots__ = ("bias", "degrees", "rest")

    def __init__(self, degrees: Mapping[Root, float], rest: float = 0.0, bias: float = 0.0) -> None:
        self.degrees = degrees
        self.rest = rest
        self.bias = bias

    @property
    def octaves(self) -> float:
        """``bias + sqrt(rest + sum((degree * deviation)²))``, one standard deviation."""
        return min(self.bias + math.sqrt(self._variance()), UNBOUNDED)

    @property
    def misdeclared(self) -> float:
        """The same if the scales of inputs were declared too roughly for powers of them."""
        variance = self.rest
        for root, degree in self.degrees.items():
            variance += root.octaves(degree) ** 2
        return min(self.bias + math.sqrt(variance), UNBOUNDED)

    def __mul__(self, other: Uncertainty) -> Uncertainty:
        return self.times(other, 1.0)

    def __truediv__(self, other: Uncertainty) -> Uncertainty:
        return self.times(other, -1.0)

    def __pow__(self, n: float) -> Uncertainty:
        if n == 1 or self is CERTAIN:
            return self
        degrees = {r: k for r, degree in self.degrees.items() if (k := _limited(degree * n))}
        n = _limited(n)
        return Uncertainty(degrees, self.rest * n * n, self.bias * abs(n))

    def times(self, other: Uncertainty, sign: float) -> Uncertainty:
        """The uncertainty of a product with a value to the power of `sign`."""
        if other is CERTAIN:
            return self
        if self is CERTAIN and sign == 1:
            return other
        degrees = dict(self.degrees)
        for root, degree in other.degrees.items():
            total = degrees.get(root, 0.0) + sign * degree
            if not -_HIGHEST < total < _HIGHEST:
                total = _limited(total)
            if total:
                degrees[root] = total
            else:
                degrees.pop(root, None)  # a power may be too small to be told from 0
        return _capped(degrees, self.rest + other.rest, self.bias + other.bias)

    def shares(self, other: Uncertainty) -> bool:
        """Whether two values are uncertain for one reason."""
        return not self.degrees.keys().isdisjoint(other.degrees)

    def correlation(self, other: Uncertainty) -> float:
        """How much of two uncertainties has one reason, from 0 to 1."""
        ours, theirs = self.degrees, other.degrees
        common = 0.0
        for root, degree in ours.items():
            if root in theirs:
                common += abs(degree * theirs[root]) * root.deviation**2
        if not common:
            return 0.0
        return common / math.sqrt(self._variance() * other._variance())

    def _variance(self) -> float:
        variance = self.rest
        for root, degree in self.degrees.items():
            variance += (degree * root.deviation) ** 2
        return variance

    @property
    def in_powers(self) -> float:
        """What a square of the value is uncertain by, for each degree."""
        return (self * self).misdeclared / _SQUARE

    @property
    def constant(self) -> bool:
        """Whether the value is a constant with elements of its own, as large as each other or not.

        Such a value makes no sum more certain than its other terms.
        """
        if self is CONSTANT:
            return True
        degrees = self.degrees
        return bool(degrees) and all(root.constant for root in degrees) and not self.rest

    @property
    def single(self) -> bool:
        """Whether one root is all the reason, as of an argument."""
        return len(self.degrees) == 1 and not self.rest and not self.bias

    @property
    def degree(self) -> float:
        """The highest degree in a root, in absolute value."""
        return max(map(abs, self.degrees.values()), default=0.0)

    def with_root(self, deviation: float) -> Uncertainty:
        """With one more root, independent of all others."""
        degrees = {**self.degrees, Root(deviation): 1.0}
        return _capped(degrees, self.rest, self.bias)

    def with_bias(self, octaves: float) -> Uncertainty:
        """With more bias."""
        return Uncertainty(self.degrees, self.rest, self.bias + octaves)

    def and_of(self, other: Uncertainty) -> Uncertainty:
        """That of a product, in which all that the other is uncertain for is one more root."""
        return Uncertainty({**self.degrees, renamed(other): 1.0}, self.rest, self.bias)

    def rooted_at(self, names: Mapping[Root, Uncertainty]) -> Uncertainty:
        """With other uncertainties in the place of some roots, to the power of their degrees."""
        kept = {root: degree for root, degree in self.degrees.items() if root not in names}
        parts = [names[root] ** k for root, k in self.degrees.items() if root in names]
        return reduce(Uncertainty.__mul__, parts, Uncertainty(kept, self.rest, self.bias))


CERTAIN: Final = Uncertainty({})
"""Of a value whose size is fixed by what it is: a constant, a normalised value."""

CONSTANT: Final = Uncertainty({})
"""Of a constant with elements of its own that are about as large as each other."""

NORMALISED: Final = Uncertainty({}, rest=0.0625)
"""Of the result of a normalisation or a softmax, which is off by a quarter of an octave."""

UNKNOWN: Final = Uncertainty({}, bias=UNBOUNDED)
"""Of a value whose size nothing tells."""


def renamed(own: Uncertainty) -> Root:
    """One quantity that is uncertain as a value is, where its reasons do not matter."""
    return Root(own.octaves, own.in_powers, own.misdeclared, constant=own.constant)


def of_product(parts: Iterable[tuple[Uncertainty, float]]) -> Uncertainty:
    """That of a product of powers, however many roots its factors have together."""
    degrees: dict[Root, float] = {}
    rest = bias = 0.0
    for part, n in parts:
        for root, degree in part.degrees.items():
            degrees[root] = degrees.get(root, 0.0) + n * degree
        rest += part.rest * n * n
        bias += part.bias * abs(n)
    return Uncertainty({root: _limited(k) for root, k in degrees.items() if k}, rest, bias)


def of_root(deviation: float, in_powers: float = 0.0, *, constant: bool = False) -> Uncertainty:
    """The uncertainty of a new quantity.

    Args:
        deviation: Standard deviation of log2 of its size.
        in_powers: The same for each degree of its powers, where that is more.
        constant: Whether it is an element of a constant.
    """
    return Uncertainty({Root(deviation, in_powers, constant=constant): 1.0})


def mean(parts: Sequence[Uncertainty]) -> Uncertainty:
    """The uncertainty of a sum of values of about one size: the mean of their degrees."""
    first = parts[0]
    if all(part is first for part in parts):
        return first
    share = 1.0 / len(parts)
    degrees: dict[Root, float] = {}
    for part in parts:
        for root, degree in part.degrees.items():
            degrees[root] = degrees.get(root, 0.0) + share * degree
    bias = share * sum([part.bias for part in parts])
    rest = share * share * sum([part.rest for part in parts])
    return _capped({root: degree for root, degree in degrees.items() if degree}, rest, bias)


def least(parts: Iterable[Uncertainty]) -> Uncertainty:
    """The most certain of several."""
    return min(parts, key=_octaves)


def _limited(degree: float) -> float:
    return max(-_HIGHEST, min(_HIGHEST, degree))


def _octaves(part: Uncertainty) -> float:
    return part.octaves


def _capped(degrees: dict[Root, float], rest: float, bias: float) -> Uncertainty:
    """An uncertainty that tells at most `_MOST_ROOTS` roots apart."""
    excess = len(degrees) - _MOST_ROOTS
    if excess > 0:
        shares = {root: abs(degree) * root.deviation for root, degree in degrees.items()}
        for root in nsmallest(excess, shares, key=shares.__getitem__):
            rest += (degrees.pop(root) * root.deviation) ** 2
    return Uncertainty(degrees, rest, bias)
