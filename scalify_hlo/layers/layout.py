"""The dimensions of a value in terms of the dimensions of a layer's input.

A dimension is a sequence of parts. A part is an axis of the input, or a piece of an axis that the
layer splits, such as groups and their channels. Or it is no axis, and the value is constant along
it. Parts of size 1 are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from scalify_hlo.algebra.limits import LAYOUT_ANSWERS
from scalify_hlo.layers.graph import Dims

SAME: Final = -1
"""The axis of a part along which a value is constant."""


class LayoutPart(NamedTuple):
    """A part of a dimension.

    Attributes:
        axis: The axis of the input, or `SAME`.
        size: The size.
    """

    axis: int
    size: int


Layout = tuple[tuple[LayoutPart, ...], ...]
"""The parts of each dimension, the slowest first."""


def fresh(shape: Dims) -> Layout:
    """Returns the layout in which each dimension is an axis."""
    return tuple((LayoutPart(axis, size),) if size != 1 else () for axis, size in enumerate(shape))


def parts(layout: Iterable[tuple[LayoutPart, ...]]) -> list[LayoutPart]:
    """Yields all parts, the slowest first."""
    return [part for dim in layout for part in dim]


def axes(layout: Iterable[tuple[LayoutPart, ...]]) -> frozenset[int]:
    """Returns the axes of a layout."""
    return frozenset(part.axis for part in parts(layout) if part.axis != SAME)


@lru_cache(LAYOUT_ANSWERS)
def regrouped(layout: Layout, shape: Dims) -> Layout | None:
    """Returns the layout of a reshape; None if it splits an axis."""
    waiting = parts(layout)[::-1]
    made = []
    for size in shape:
        dim: list[LayoutPart] = []
        while size != 1:
            if not waiting:
                return None
            part = waiting.pop()
            if part.size > size or size % part.size:
                if part.axis != SAME or part.size % size:
                    return None
                waiting.append(LayoutPart(SAME, part.size // size))
                part = LayoutPart(SAME, size)
            dim.append(part)
            size //= part.size
        made.append(tuple(dim))
    return None if waiting else tuple(made)


@lru_cache(LAYOUT_ANSWERS)
def unified(one: Layout, other: Layout) -> Layout | None:
    """Returns the layout of an op on two values; None if their axes differ.

    An outer product, in which two dimensions are of one axis, has none: samples are its diagonal.
    """
    if one == other:
        return one
    if len(one) != len(other):
        return None
    dims = [_unified(a, b) for a, b in zip(one, other, strict=True)]
    made = tuple(dim for dim in dims if dim is not None)
    found = [part.axis for part in parts(made) if part.axis != SAME]
    return made if len(made) == len(dims) and len(set(found)) == len(found) else None


def _unified(
    one: Sequence[LayoutPart], other: Sequence[LayoutPart]
) -> tuple[LayoutPart, ...] | None:
    first, second = list(one[::-1]), list(other[::-1])
    made = []
    while first and second:
        a, b = first.pop(), second.pop()
        if a.size > b.size:
            a = _cut(a, b, first)
        elif b.size > a.size:
            b = _cut(b, a, second)
        if a.size != b.size or (a.axis != b.axis and SAME not in (a.axis, b.axis)):
            return None
        made.append(a if a.axis != SAME else b)
    return None if first or second else tuple(made)


def _cut(part: LayoutPart, by: LayoutPart, rest: list[LayoutPart]) -> LayoutPart:
    """Returns the first piece of a part of the size of another part, if it can be split."""
    if part.axis != SAME or part.size % by.size:
        return part
    rest.append(LayoutPart(SAME, part.size // by.size))
    return LayoutPart(SAME, by.size)


@lru_cache(LAYOUT_ANSWERS)
def broadcast(layout: Layout, dims: Dims, shape: Dims) -> Layout:
    """Returns the layout of a broadcast."""
    made: list[tuple[LayoutPart, ...]] = [(LayoutPart(SAME, n),) if n != 1 else () for n in shape]
    for dim, target in zip(layout, dims, strict=True):
        made[target] = dim or made[target]
    return tuple(made)
