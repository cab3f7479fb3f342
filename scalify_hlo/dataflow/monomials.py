"""Monomials: the growth of a value with the tensors from which it is computed.

A monomial maps tensors, which have numbers, to exponents: ``g * h / sqrt(v)`` has degree 1 in g and
in h, and degree -1/2 in v. The role of a state follows from the degree of its monomial.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, TypeAlias

from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.frames import Place

Monomial: TypeAlias = tuple[tuple[int, float], ...]
"""Exponents by numbers of tensors, in the order of the numbers."""

NUMBER: Final[Monomial] = ()
"""The monomial of values without degree: constants, learning rates, weights."""

FLAT: Final[Monomial] = ((0, 0.0),)
"""The monomial of values of degree 0, such as the signs of gradients."""

MIXED: Final[Monomial] = ((-1, 1.0),)
"""The monomial of values without a single degree, such as a sum of different degrees."""

_DIGITS = 6


def degree_of(monomial: Monomial | None) -> float | None:
    """Returns the degree of a value in the gradients; None if it has none.

    A gradient may be a product of tensors of the model: in ``dy * x`` both have the exponent 1, and
    in its square 2. So if all exponents have one sign, the degree is their greatest common divisor.
    Exponents of different signs belong to a gradient and to its divisor, such as its norm. They are
    added.
    """
    if monomial is None or monomial is MIXED:
        return None
    if len(monomial) < 2:
        return monomial[0][1] if monomial else 0.0
    exponents = [exponent for _, exponent in monomial]
    if min(exponents) < 0 < max(exponents):
        return round(sum(exponents), _DIGITS)
    if all(exponent == exponents[0] for exponent in exponents):
        return exponents[0]
    if not all(exponent.is_integer() for exponent in exponents):
        return None
    divisor = float(math.gcd(*(int(exponent) for exponent in exponents)))
    return divisor if exponents[0] > 0 else -divisor


def power(monomial: Monomial | None, exponent: float) -> Monomial | None:
    """Returns the monomial of a power of a value."""
    if not monomial or monomial is FLAT or monomial is MIXED:
        return monomial
    return tuple((number, round(each * exponent, _DIGITS)) for number, each in monomial)


def product(one: Monomial | None, other: Monomial | None) -> Monomial | None:
    """Returns the monomial of a product of two values; None if one of them is not known."""
    if one is None or other is None:
        return None
    if not one or not other:
        return one or other
    if one is MIXED or other is MIXED:
        return MIXED
    if one is FLAT or other is FLAT:
        return other if one is FLAT else one
    exponents = dict(one)
    for number, exponent in other:
        exponents[number] = round(exponents.get(number, 0.0) + exponent, _DIGITS)
    return tuple(sorted((n, e) for n, e in exponents.items() if e)) or FLAT


class Sums:
    """The monomials of sums, of contractions, and of the tensors from which values start.

    Attributes:
        outer: The numbers of outer products, such as the factors of Kronecker optimizers.
    """

    def __init__(self) -> None:
        self.outer: set[int] = set()
        self._parts: dict[int, frozenset[Monomial]] = {}
        self._numbers: dict[object, int] = {}
        self._places: dict[int, Place] = {}

    def tensor(self, place: Place) -> Monomial:
        """Returns the monomial of a tensor from which others start."""
        number = self._number(place)
        self._places[number] = place
        return ((number, 1.0),)

    def of(self, one: Monomial | None, other: Monomial | None) -> Monomial | None:
        """Returns the monomial of a sum, if its terms with a degree have one degree."""
        if not one or one == other:
            return one if other is None else other
        if not other:
            return one
        degree = degree_of(one)
        if degree is None or degree != degree_of(other):
            return MIXED
        if not degree:
            return FLAT
        parts = frozenset((power(one, 1 / degree) or one, power(other, 1 / degree) or other))
        return ((self._number(parts, parts), degree),)

    def outer_product(self, one: Monomial | None, other: Monomial | None) -> Monomial | None:
        """Returns the monomial of a contraction whose result has dimensions of both operands."""
        both = product(one, other)
        degree = degree_of(both)
        if not both or not degree or not degree_of(one) or not degree_of(other):
            return both
        parts = frozenset((power(both, 1 / degree) or both,))
        number = self._number(("outer", parts), parts)
        self.outer.add(number)
        return ((number, degree),)

    def tensors_in(self, monomial: Monomial) -> list[Place]:
        """Returns the tensors from which a value starts."""

        def summed(number: int) -> Iterator[int]:
            return (n for part in self._parts.get(number, ()) for n, _ in part)

        found = Search((number for number, _ in monomial), summed)
        return [self._places[number] for number in found if number in self._places]

    def _number(self, key: object, parts: frozenset[Monomial] = frozenset()) -> int:
        number = self._numbers.setdefault(key, len(self._numbers) + 1)
        if parts:
            self._parts[number] = parts
        return number
