"""Sizes of things that share their parts, if each had parts of its own."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Size(NamedTuple):
    """The size of a thing and of all its parts, and how deep they are nested."""

    size: int
    depth: int


class Unfolding(Generic[T]):
    """The sizes of things; each is computed once, however often it is shared.

    Attributes:
        folded: The size of all things that were asked for, if each is counted once.
    """

    def __init__(self) -> None:
        self.folded = 0
        self._known: dict[Hashable, Size] = {}

    def key(self, thing: T) -> Hashable:
        """Returns the identity of a thing."""
        return thing

    def parts(self, thing: T) -> tuple[int, Sequence[T]]:
        """Returns the size of a thing without its parts, and the parts."""
        raise NotImplementedError

    def inside_itself(self, thing: T, part: T) -> Exception:
        """Returns the error about a thing with a part that it is a part of."""
        return ValueError(f"{thing} is a part of its part {part}")

    def of(self, thing: T) -> Size:
        """Returns the size of a thing, of which all parts are written out."""
        known, opened = self._known, dict[Hashable, tuple[int, Sequence[T]]]()
        waiting = [thing]
        while waiting:
            key = self.key(waiting[-1])
            if key in known:
                waiting.pop()
            elif key in opened:
                own, parts = opened.pop(key)
                inner = [known[self.key(part)] for part in parts]
                size = own + sum(each.size for each in inner)
                known[key] = Size(size, 1 + max((each.depth for each in inner), default=0))
                self.folded += own
            else:
                opened[key] = self.parts(waiting[-1])
                missing = [part for part in opened[key][1] if self.key(part) not in known]
                for part in missing:
                    if self.key(part) in opened:
                        raise self.inside_itself(waiting[-1], part)
                waiting += missing
        return known[self.key(thing)]
