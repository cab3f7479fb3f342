"""The trade-off between the share of matmuls in low precision and the cost of their casts."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from scalify_hlo.commands.choose.sites import Site, left_wide
from scalify_hlo.errors import UsageError
from scalify_hlo.report.matmuls import MatmulReport
from scalify_hlo.report.totals import BOUNDS, QUANTITIES, Requirement, Totals
from scalify_hlo.results.kinds import Count, Share, Size
from scalify_hlo.results.model import keys

_SHARES: Final = ("narrow", "narrow-forward", "narrow-backward", "narrow-flops")
_BY_FLOPS: Final = "narrow-flops"
_BOUNDS: Final = {**dict.fromkeys(_SHARES, (">=", ">")), "wide": ("<=", "<")}
"""The quantities of a budget, with the comparisons that limit how many sites are left wide."""


def parse_budget(text: str) -> list[Requirement]:
    """Reads a budget, such as ``narrow>=0.95``: requirements that are separated by commas.

    Raises:
        UsageError: It is not of that form, or does not limit how many matmuls stay wide.
    """
    found = BOUNDS.parse(text)
    for each in found:
        if each.comparison not in _BOUNDS.get(each.name, ()):
            raise UsageError(
                f"{each} is not a budget",
                hint=f"give the least share of matmuls in low precision ({', '.join(_SHARES)}) or "
                "the most that stay wide, as in 'narrow>=0.95' or 'wide<=4'",
            )
    return found


@keys("gradient wide narrow narrow_flops=flops cost")
@dataclass(frozen=True)
class Point:
    """A set of sites that are left wide.

    Attributes:
        left: The names of the sites, in the order in which they were chosen.
        gradient: The format of gradients.
        wide: The number of all matmuls that stay wide.
        narrow: The share of matmuls in low precision; None without matmuls.
        flops: The share of the matmuls' floating-point operations in low precision; None if the
            size of a matmul is unknown.
        cost: The cost of the sites in low precision: the root of the sum of their squares.
    """

    left: tuple[str, ...]
    gradient: str
    wide: Count
    narrow: Share | None
    flops: Share | None
    cost: Size


class Front:
    """The points from all sites in low precision to those whose casts cost anything left wide.

    Each point leaves one more site wide: the one with the highest square of the cost for each
    matmul, or for each floating-point operation if the budget counts these.

    Args:
        matmuls: The matmuls of a rewrite with as many sites in low precision as possible.
        sites: Its sites in low precision.
        costs: The costs of sites by name; those without a cost have none.
        budget: The budget.
        gradient: The format of gradients of the rewrite.
    """

    def __init__(
        self,
        matmuls: Sequence[MatmulReport],
        sites: Sequence[Site],
        costs: Mapping[str, float],
        budget: Sequence[Requirement],
        gradient: str,
    ) -> None:
        self._matmuls, self._budget, self._gradient = matmuls, budget, gradient
        names = [site.name for site in sites]
        self._squares = {name: costs.get(name, 0.0) ** 2 for name in names}
        self._weights = dict.fromkeys(names, 0.0)
        by_flops = counts_flops(budget)
        for each in matmuls:
            if each.name in self._weights:
                self._weights[each.name] += (each.flops or 0) if by_flops else each.calls

    @cached_property
    def points(self) -> list[Point]:
        """The points, from the one with most matmuls in low precision."""
        left: list[str] = []
        found = [self._point(left)]
        while (best := self._best(left)) is not None:
            left.append(best)
            found.append(self._point(left))
        return found

    def chosen(self) -> Point | None:
        """Returns the point of the least cost at the budget; None if the budget cannot be met.

        It is the last point that meets the budget, with further sites that are small enough.
        """
        able = [point for point in self.points if self._holds(point.left)]
        if not able:
            return None
        left, refused = list(able[-1].left), set[str]()
        while (best := self._best(left, refused)) is not None:
            if self._holds([*left, best]):
                left.append(best)
            else:
                refused.add(best)
        return self._point(left)

    def _best(self, left: Collection[str], refused: Collection[str] = ()) -> str | None:
        """Returns the site with the highest cost for its size; None if no other costs anything."""
        out = {*left, *refused}
        gains = {name: self._gain(name) for name in self._squares if name not in out}
        best = max(gains, key=lambda name: gains[name], default=None)
        return best if best is not None and gains[best] > 0 else None

    def _gain(self, name: str) -> float:
        size, square = self._weights[name], self._squares[name]
        return square / size if size else square

    def _point(self, left: Sequence[str]) -> Point:
        totals = self.totals(left)
        matmuls, out = totals.matmuls, set(left)
        cost = math.sqrt(sum(each for name, each in self._squares.items() if name not in out))
        wide = matmuls.total - matmuls.narrow
        return Point(tuple(left), self._gradient, wide, matmuls.share, totals.flops, cost)

    def _holds(self, left: Collection[str]) -> bool:
        totals = self.totals(left)
        return not any(each.fault(totals, QUANTITIES) for each in self._budget)

    def totals(self, left: Collection[str]) -> Totals:
        """Returns the numbers of a report with some sites wide, as `rewrite --require` has them."""
        matmuls = left_wide(self._matmuls, set(left))
        return Totals.of(matmuls, statistics=0, state=None, remarks=0, assumed=0)


def efficient(points: Iterable[Point], budget: Sequence[Requirement]) -> list[Point]:
    """Returns the points without those that cost as much as one with more in low precision.

    Args:
        points: Points of several fronts.
        budget: The budget, which tells whether matmuls or floating-point operations count.

    Returns:
        The rest, from the one with most in low precision.
    """
    by_flops = counts_flops(budget)

    def size(point: Point) -> float:
        return 1 - point.flops if by_flops and point.flops is not None else point.wide

    found: list[Point] = []
    for point in sorted(points, key=lambda point: (size(point), point.cost)):
        if not found or point.cost < found[-1].cost:
            found.append(point)
    return found


def counts_flops(budget: Sequence[Requirement]) -> bool:
    """Whether a budget counts floating-point operations, and not matmuls."""
    return any(each.name == _BY_FLOPS for each in budget)
