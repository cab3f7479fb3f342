"""Sizes of things that share their parts, if each had parts of its own."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Generic, NamedTuple, TypeVar

from scalify_hlo.algebra.search import Search

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
        known, things = self._known, {self.key(thing): thing}
        own: dict[Hashable, int] = {}
        inside: dict[Hashable, list[Hashable]] = {}

        def parts_of(key: Hashable) -> list[Hashable]:
            if key in known:
                return []
            own[key], parts = self.parts(things[key])
            things.update((self.key(part), part) for part in parts)
            inside[key] = list(map(self.key, parts))
            return inside[key]

        Search(list(things), parts_of).to_end()
        try:
            order = list(TopologicalSorter(inside).static_order())
        except CycleError as error:
            part, whole, *_ = error.args[1]
            raise self.inside_itself(things[whole], things[part]) from None
        for key in order:
            if key not in known:
                parts = [known[part] for part in inside[key]]
                depth = 1 + max((part.depth for part in parts), default=0)
                known[key] = Size(own[key] + sum(part.size for part in parts), depth)
                self.folded += own[key]
        return known[self.key(thing)]
