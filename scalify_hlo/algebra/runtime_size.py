"""Sizes of which a part is measured at run time.

The level of a value is the expected log2 of an rms, a number. If it depends on an argument that the
program measures, it is a number plus integer or fractional multiples of log2 of run-time scales.
`RuntimeSize` is a float, the expected size, that keeps these multiples through sums and multiples.
So rules that add up levels need not distinguish the two. Rules that compare levels, or compute
other functions of them, use the expected size.

This module does not depend on MLIR.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any


class RuntimeSize(float):
    """log2 of a size: a number, plus multiples of log2 of run-time scales.

    Attributes:
        powers: The run-time scales with their non-zero multiples. The value of the float includes
            their expected sizes.
    """

    __slots__ = ("powers",)
    powers: Mapping[Any, float]

    def __new__(cls, expected: float, powers: Mapping[Any, float]) -> RuntimeSize:
        """Returns a size with at least one run-time scale; see `sized`."""
        made = super().__new__(cls, expected)
        made.powers = powers
        return made

    def __add__(self, other: float) -> float:
        return _sum(self, other, 1)

    __radd__ = __add__

    def __sub__(self, other: float) -> float:
        return _sum(self, other, -1)

    def __rsub__(self, other: float) -> float:
        return self * -1 + other

    def __neg__(self) -> float:
        return self * -1

    def __mul__(self, other: float) -> float:
        powers = {g: k * float(other) for g, k in self.powers.items()} if other else {}
        return sized(float(self) * float(other), powers)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> float:
        return self * (1 / other)

    def __floordiv__(self, other: float) -> float:
        return sized(float(self) // other, {g: k / other for g, k in self.powers.items()})

    def __round__(self, ndigits: int | None = None) -> float:  # type: ignore[override]
        return sized(round(float(self), ndigits), self.powers)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and _key(self) == _key(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(_key(self))


def sized(expected: float, powers: Mapping[Any, float]) -> float:
    """Returns a size; a plain number if no run-time scale is in it."""
    return RuntimeSize(expected, powers) if powers else expected


def powers_of(size: float) -> Mapping[Any, float]:
    """Returns the run-time scales of a size, with their multiples."""
    return size.powers if isinstance(size, RuntimeSize) else {}


def alike(sizes: Iterable[float]) -> bool:
    """Whether sizes have the same run-time part, so that their expected values can be compared."""
    first, *others = map(powers_of, sizes)
    return all(powers == first for powers in others)


def _key(size: float) -> Hashable:
    return float(size), frozenset(powers_of(size).items())


def _sum(size: RuntimeSize, other: float, sign: int) -> float:
    expected, powers = float(size) + sign * float(other), dict(size.powers)
    for runtime, k in powers_of(other).items():
        total = powers.pop(runtime, 0) + sign * k
        if total:
            powers[runtime] = total
    return sized(expected, powers)
