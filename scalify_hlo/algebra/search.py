"""Searches: what is reached from some starts, step by step."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Found(Protocol[T]):
    """A table of what was found, in the order of a dict."""

    def __contains__(self, key: T, /) -> bool: ...
    def __setitem__(self, key: T, value: None, /) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[T]: ...


class Search(Generic[T]):
    """The things that are reached from some starts, each once; iterating goes on to the next.

    Args:
        starts: Where the search begins.
        after: Returns what is reached from one of them, or from what was reached.
        limit: The number of things found at which the search ends.
        seen: An empty table for what is found, if a dict has no order for it or no hash.
        nearest: Whether what is nearest to the starts comes first, and not what was found last.

    Attributes:
        found: All that was found.
        ended: Whether the search reached its limit.
    """

    def __init__(
        self,
        starts: Iterable[T],
        after: Callable[[T], Iterable[T]],
        *,
        limit: float = math.inf,
        seen: Found[T] | None = None,
        nearest: bool = False,
    ) -> None:
        self.found: Found[T] = {} if seen is None else seen
        self.ended = False
        self._after, self._limit = after, limit
        self._starts, self._nearest = starts, nearest

    def __iter__(self) -> Iterator[T]:
        """Goes through the starts and what is reached."""
        found, after, waiting = self.found, self._after, deque[T]()
        here, take = self._starts, waiting.popleft if self._nearest else waiting.pop
        while True:
            for each in here:
                if each not in found:
                    found[each] = None
                    waiting.append(each)
            if not waiting:
                return
            if len(found) >= self._limit:
                self.ended = True
                return
            yield (last := take())
            here = after(last)

    def to_end(self) -> Search[T]:
        """Goes through all, and returns the search."""
        for _ in self:
            pass
        return self
