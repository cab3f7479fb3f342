"""The definitions of run-time scales that are made of others: roots and maxima.

This module does not depend on MLIR.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from scalify_hlo.algebra.scale import Scale
from scalify_hlo.algebra.uncertainty import Uncertainty, mean


@dataclass(frozen=True, slots=True)
class ScaleRoot:
    """The definition of a run-time scale as a power of two near the n-th root of a scale.

    Attributes:
        scale: The scale.
        n: The degree of the root.
        up: Whether the root is rounded up to a power of two. Otherwise it is rounded to nearest,
            which for square roots is down.
    """

    scale: Scale
    n: int
    up: bool = False

    @property
    def bound(self) -> int:
        """Bound on ``|log2|`` of the run-time scale."""
        return self.scale.reach // self.n + 1

    @property
    def factors(self) -> int:
        """The number of given or computed scales of which the run-time scale is made."""
        return -(-self.scale.factors // self.n)

    @property
    def depth(self) -> int:
        """The number of nested regions in which the run-time scale is computed."""
        return self.scale.depth

    @property
    def size(self) -> float:
        """Expected log2 of the run-time scale."""
        return float(self.scale.size) / self.n

    @property
    def unsized(self) -> bool:
        """Whether `size` is unknown."""
        return self.scale.unsized

    @property
    def of_size(self) -> bool:
        """Whether it is made of measured sizes."""
        return self.scale.passing

    @property
    def wide(self) -> bool:
        """Whether it is made of measured sizes of f64 arguments."""
        return self.scale.wide

    @property
    def uncertainty(self) -> Uncertainty:
        """The uncertainty of `size`."""
        return self.scale.uncertainty ** (1 / self.n)


@dataclass(frozen=True, slots=True)
class ScaleMaximum:
    """The definition of a run-time scale as the largest of several scales."""

    scales: tuple[Scale, ...]

    @property
    def bound(self) -> int:
        """Bound on ``|log2|`` of the run-time scale."""
        return max(scale.reach for scale in self.scales)

    @property
    def factors(self) -> int:
        """The number of given or computed scales of which the run-time scale is made."""
        return max(scale.factors for scale in self.scales)

    @property
    def depth(self) -> int:
        """The number of nested regions in which the run-time scale is computed."""
        return max(scale.depth for scale in self.scales)

    @property
    def size(self) -> float:
        """Expected log2 of the run-time scale."""
        return max(float(scale.size) for scale in self.scales)

    @property
    def unsized(self) -> bool:
        """Whether `size` is unknown."""
        return any(scale.unsized for scale in self.scales)

    @property
    def of_size(self) -> bool:
        """Whether it is made of measured sizes."""
        return all(scale.passing for scale in self.scales)

    @property
    def wide(self) -> bool:
        """Whether one of them is made of measured sizes of f64 arguments."""
        return any(scale.wide for scale in self.scales)

    @property
    def uncertainty(self) -> Uncertainty:
        """The uncertainty of `size`."""
        return mean([scale.uncertainty for scale in self.scales])


RuntimeOrigin: TypeAlias = ScaleRoot | ScaleMaximum
