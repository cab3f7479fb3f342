"""Analyses of a module that the passes of a pipeline share, and their invalidation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, TypeVar

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.listing import Listing

_T = TypeVar("_T")

LISTING: Final = "listing"
"""The analysis that lists the ops of ``main``; see `ModuleIndex.listing`."""


@dataclass
class ModuleIndex:
    """Analyses of a module that its passes share.

    Each pass names the analyses that it preserves, as passes of MLIR do. The others are dropped
    after the pass.

    Attributes:
        keeps: Whether analyses are kept between passes. They are not if passes of MLIR run in
            between, which do not name the analyses that they preserve.
        listing: The ops of ``main``; None if they were not listed since it was edited.
        ops: The number of occurrences of each op before the rewrite; empty if they were not
            counted.
        dense: Whether a constant is not a splat; valid after the ops were counted.
        own: Whether the program itself has narrow formats; None if its ops were not counted.
        asked: Whether the author of the program marked values whose data may be rounded, or passes
            pairs.
        markers: The number of markers in the program, inserted ones included.
        marked: The names of ops that are marked as part of a layer; None if no pass looked for
            layers.
        layers: The number of layers that were found.
        casts: The number of casts that a recipe inserted for scale propagation; after propagation,
            the number of those that it did not reach.
    """

    keeps: bool = True
    listing: Listing | None = None
    ops: Counter[str] = field(default_factory=Counter)
    dense: bool = False
    own: bool | None = None
    asked: bool = False
    markers: int = 0
    marked: set[str] | None = None
    layers: int = 0
    casts: int = 0
    _shared: dict[type, object] = field(default_factory=dict)

    def share(self, made: _T) -> _T:
        """Keeps an object for later passes of a pipeline, which find it by its type."""
        self._shared[type(made)] = made
        return made

    def shared(self, kind: type[_T]) -> _T | None:
        """Returns the object of a type that an earlier pass shared; None if there is none."""
        found = self._shared.get(kind)
        return found if isinstance(found, kind) else None

    @property
    def counted(self) -> bool:
        """Whether the ops were counted."""
        return bool(self.ops)

    def list_ops(self, block: ir.Block) -> Listing:
        """Returns the listing of the ops of ``main``, which is computed if there is none.

        Args:
            block: The block of ``main``.
        """
        self.listing = self.listing or Listing(block)
        return self.listing

    def invalidate(self, preserved: Collection[str] = ()) -> None:
        """Drops the analyses that an edit of the module invalidates.

        Args:
            preserved: The analyses that are still valid, such as `LISTING`.
        """
        if not self.keeps or LISTING not in preserved:
            self.listing = None
        if not self.keeps:
            self._shared.clear()
