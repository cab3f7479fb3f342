"""The definition of a run-time scale that is made of others: a root, or a maximum.

This module does not depend on MLIR.
"""

from __future__ import annotations

from dataclasses import dataclass

from scalify_hlo.algebra.scale import Scale
from scalify_hlo.algebra.uncertainty import Uncertainty, mean


@dataclass(frozen=True, slots=True)
class ScaleOrigin:
    """The definition of a run-time scale: a power of two near a root of the largest of scales.

    Attributes:
        scales: The scales.
        n: The degree of the root; 1 for the largest scale itself.
        up: Whether the root is rounded up to a power of two. Otherwise it is rounded to nearest,
            which for square roots is down.
    """

    scales: tuple[Scale, ...]
    n: int = 1
    up: bool = False

    @property
    def bound(self) -> int:
        """Bound on ``|log2|`` of the run-time scale."""
        return max(scale.reach for scale in self.scales) // self.n + (self.n > 1)

    @property
    def factors(self) -> int:
        """The number of given or computed scales of which the run-time scale is made."""
        return -(-max(scale.factors for scale in self.scales) // self.n)

    @property
    def depth(self) -> int:
        """The number of nested regions in which the run-time scale is computed."""
        return max(scale.depth for scale in self.scales)

    @property
    def size(self) -> float:
        """Expected log2 of the run-time scale."""
        return max(float(scale.size) for scale in self.scales) / self.n

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
        """Whether one of the scales is made of measured sizes of f64 arguments."""
        return any(scale.wide for scale in self.scales)

    @property
    def uncertainty(self) -> Uncertainty:
        """The uncertainty of `size`."""
        return mean([scale.uncertainty for scale in self.scales]) ** (1 / self.n)
