"""Bisection of a set of sites until those that make most of an error are alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

T = TypeVar("T")

LARGEST: Final = 1e3
"""The most noise, over the signal, that a result counts with, such as one that became NaN."""

Noise = Mapping[str, float]
"""The noise by groups of results: the sum of the noise over the signal of each result."""


@dataclass(frozen=True)
class Piece(Generic[T]):
    """Items that were measured together.

    Attributes:
        items: The items.
        noise: The noise that they make, without that of a program with none of them.
    """

    items: tuple[T, ...]
    noise: Noise


class Bisection(Generic[T]):
    """Splits a set of items, always the part with most of the noise.

    The noise of independent errors adds up, so each item is measured with all others left out.

    Args:
        items: The items.
        measure: Returns the noise of some items, with all others left out.
        whole: The noise of all items.
        runs: The most calls of `measure`.

    Attributes:
        pieces: The parts, in the order of the items.
        runs: The number of calls of `measure`.
    """

    def __init__(
        self,
        items: Sequence[T],
        measure: Callable[[tuple[T, ...]], Noise],
        whole: Noise,
        runs: int,
    ) -> None:
        self._measure, self._most = measure, runs
        self.pieces: list[Piece[T]] = [Piece(tuple(items), whole)] if items else []
        self.runs = 0

    def run(self, explained: float) -> None:
        """Splits until single items make a share of the noise, or no run is left.

        Args:
            explained: The share.
        """
        while self.runs + 2 <= self._most:
            shares = self.shares()
            open_ = [i for i, piece in enumerate(self.pieces) if len(piece.items) > 1]
            if not open_ or sum(shares[i] for i in open_) <= 1 - explained:
                return
            self._split(max(open_, key=lambda i: shares[i]))

    def _split(self, number: int) -> None:
        items = self.pieces[number].items
        half = len(items) // 2
        halves = [Piece(part, self._measure(part)) for part in (items[:half], items[half:])]
        self.runs += len(halves)
        self.pieces[number : number + 1] = halves

    def shares(self) -> list[float]:
        """Returns the share of the noise that each piece makes: the mean over groups."""
        groups = {name for piece in self.pieces for name in piece.noise}
        totals = {name: sum(piece.noise[name] for piece in self.pieces) for name in groups}
        known = [name for name, total in totals.items() if total]
        return [
            sum(piece.noise[name] / totals[name] for name in known) / max(len(known), 1)
            for piece in self.pieces
        ]
