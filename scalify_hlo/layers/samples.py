"""Values of the graph on a few samples of a layer's input.

An axis of the input is represented by a few positions. A sum along the axis is the mean over the
samples times the size of the axis. So the cost does not depend on shapes, and divisors in the
program are correct. The first axis of the samples has cases of different magnitude.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from copy import copy
from functools import cache
from typing import Final, Self

import numpy as np

from scalify_hlo.algebra.limits import DRAWN_NUMBERS
from scalify_hlo.layers import layout as layouts
from scalify_hlo.layers.graph import MOVEMENT, Node
from scalify_hlo.layers.layout import SAME, Layout
from scalify_hlo.layers.numbers import REDUCTIONS, SUM, TABLE, Array, mean

MAGNITUDES: Final = (1.0, 4.0, 0.04)
"""The magnitudes of the cases: clipping and epsilons show at different ones."""

EVALUATED: Final = frozenset({*TABLE, *MOVEMENT, *REDUCTIONS})
"""The names of the nodes that samples follow."""

_SIZES: Final = {1: 5, 2: 3}
"""The number of sampled positions of an axis, by the number of axes."""


@cache
def _normal(count: int) -> Array:
    return np.random.default_rng(0).standard_normal(count)


class _Random:
    """A generator of random numbers that is cheap to restart."""

    def __init__(self) -> None:
        self._drawn = 0

    def normal(self, shape: tuple[int, ...]) -> Array:
        """Returns the next numbers of a normal distribution, the same ones in each run."""
        start, self._drawn = self._drawn, self._drawn + _count(shape)
        enough = max(
            DRAWN_NUMBERS, 1 << self._drawn.bit_length()
        )  # The first numbers do not depend on the count.
        return _normal(enough)[start : self._drawn].reshape(shape)


class Samples:
    """Samples of values that depend only on a layer's input and on admitted parameters.

    Args:
        source: The input.
        layout: The layout of the input.
        outer: For values computed from a gradient, the samples of the forward part.

    Attributes:
        arrays: The samples of values, with an axis for the cases and one for each axis of the
            input.
        layouts: The layouts of the values.
        parameters: The admitted parameters.
    """

    def __init__(self, source: Node, layout: Layout, outer: Samples | None = None) -> None:
        self.arrays: dict[Node, Array] = {}
        self.layouts: dict[Node, Layout] = {}
        self.parameters: set[Node] = set()
        self.outer = outer
        if outer is None:
            sizes = {p.axis: p.size for p in layouts.parts(layout)}
            self.rank = 1 + max(sizes, default=-1) + 1
            few = _SIZES.get(len(sizes), 2)
            self.sizes = [min(sizes.get(a, 1), few) for a in range(self.rank - 1)]
            self._random = _Random()
            self.give(source, layout, _cases(self._draw(layout)))
        else:
            self.rank, self.sizes, self._random = outer.rank, outer.sizes, outer._random
            self.give(source, layout, self._draw(layout))

    def _draw(self, layout: Layout) -> Array:
        used = layouts.axes(layout)
        shape = [size if axis in used else 1 for axis, size in enumerate(self.sizes)]
        return self._random.normal((len(MAGNITUDES), *shape)) + 0.5

    def give(self, node: Node, layout: Layout, array: Array) -> None:
        """Sets the samples of a value."""
        self.arrays[node], self.layouts[node] = array, layout

    def admit(self, node: Node, layout: Layout) -> Node | None:
        """Draws samples for an unknown value, or for the tensor before data movement.

        Returns:
            The tensor before data movement; None if its dimensions are not those of the input.
        """
        chain = []
        while node.name in MOVEMENT and self.array(node) is None:
            below = _below(node, layout)
            if below is None:
                return None
            chain.append(node)
            node, layout = node.inputs[0], below
        if self.array(node) is None:
            if tuple(_size(dim) for dim in layout) != node.shape:
                return None
            self.give(node, layout, self._draw(layout))
            self.parameters.add(node)
        if not all(self.evaluate(moved) for moved in reversed(chain)):
            return None
        return node

    def array(self, node: Node) -> Array | None:
        """Returns the samples of a value, if they are known."""
        found = self.arrays.get(node)
        return found if found is not None or self.outer is None else self.outer.array(node)

    def layout(self, node: Node) -> Layout | None:
        """Returns the layout of a value, if it is known."""
        found = self.layouts.get(node)
        return found if found is not None or self.outer is None else self.outer.layout(node)

    def evaluate(self, node: Node) -> bool:
        """Evaluates a value whose inputs are known, and returns whether it has samples."""
        if self.array(node) is not None:
            return True
        if node.name in TABLE:
            return self._elementwise(node)
        if node.name in MOVEMENT:
            return self._moved(node)
        return node.name in REDUCTIONS and self._reduced(node)

    def _elementwise(self, node: Node) -> bool:
        layout: Layout | None = None
        operands: list[Array | float] = []
        for source in node.inputs:
            if source.constant is not None:
                operands.append(source.constant)
                continue
            array = self.array(source)
            if array is None and source.name in MOVEMENT and self._moved(source):
                array = self.array(source)
            if array is None:
                return False
            operands.append(array)
            if source.shape == node.shape:  # The predicate of a select may be a scalar.
                known = self.layout(source)
                if known is None:
                    return False
                layout = known if layout is None else layouts.unified(layout, known)
                if layout is None:
                    return False
        if layout is None:
            return False
        self.give(node, layout, np.asarray(TABLE[node.name](*operands)))
        return True

    def _moved(self, node: Node) -> bool:
        source = node.inputs[0]
        if source.name in MOVEMENT:
            self.evaluate(source)
        array, layout = self.array(source), self.layout(source)
        if array is None or layout is None:
            return False
        if node.name == "transpose":
            made: Layout | None = tuple(layout[d] for d in node.dims)
        elif node.name == "reshape":
            made = layouts.regrouped(layout, node.shape)
        else:
            made = layouts.broadcast(layout, node.dims, node.shape)
        if made is None:
            return False
        self.give(node, made, array)
        return True

    def _reduced(self, node: Node) -> bool:
        source = node.inputs[0]
        array, layout = self.array(source), self.layout(source)
        if array is None or layout is None:
            return False
        gone = layouts.parts(layout[d] for d in node.dims)
        positions = tuple(1 + part.axis for part in gone if part.axis != SAME)
        if node.name == SUM:
            size = float(_count(part.size for part in gone))
            array = mean(array, positions) * size
        else:
            array = np.max(array, axis=positions, keepdims=True)
        kept = tuple(dim for d, dim in enumerate(layout) if d not in node.dims)
        self.give(node, kept, array)
        return True

    def without(self, node: Node) -> Self:
        """Returns the same samples, without those of a value and of what depends on it."""
        rest = copy(self)
        rest.arrays = {}
        gone = {node}
        for known in sorted(self.arrays, key=lambda known: known.index):
            if gone.isdisjoint({known, *known.inputs}):
                rest.arrays[known] = self.arrays[known]
            else:
                gone.add(known)
        return rest

    def spread(self, start: Iterable[Node], most: int) -> Iterator[Node]:
        """Yields the values that can be evaluated from some others, the nearest first.

        Args:
            start: Known values.
            most: The largest number of values.
        """
        waiting, seen, outer = deque(start), set(start), self.outer
        while waiting and most > 0:
            for user in waiting.popleft().users:
                if user in seen or (outer is not None and outer.array(user) is not None):
                    continue
                if self.evaluate(user):
                    seen.add(user)
                    waiting.append(user)
                    most -= 1
                    yield user


class Points(Samples):
    """Samples of an elementwise layer; only elementwise ops are evaluated.

    Args:
        source: The input.
        points: The samples of the input.
        outer: As in `Samples`.
    """

    def __init__(self, source: Node, points: Array, outer: Points | None = None) -> None:
        self.arrays, self.layouts, self.outer = {source: points}, {}, outer
        self.parameters = set()
        self._shape = source.shape
        self._count = _count(source.shape)

    def evaluate(self, node: Node) -> bool:
        """See `Samples.evaluate`."""
        if self.array(node) is not None:
            return True
        if node.name == "reshape" and _count(node.shape) == self._count:
            array = self.array(node.inputs[0])
        elif node.name in TABLE and _count(node.shape) == self._count:
            operands = [s.constant if s.is_constant else self.array(s) for s in node.inputs]
            known = not any(operand is None for operand in operands)
            array = np.asarray(TABLE[node.name](*operands)) if known else None
        else:
            return False
        if array is None:
            return False
        self.arrays[node] = array
        return True


def _count(shape: Iterable[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _cases(array: Array) -> Array:
    magnitudes = np.array(MAGNITUDES).reshape(-1, *[1] * (array.ndim - 1))
    return np.asarray(array * magnitudes)


def _size(dim: Iterable[layouts.LayoutPart]) -> int:
    return _count(part.size for part in dim)


def _below(node: Node, layout: Layout) -> Layout | None:
    """Returns the layout of the operand of a data movement op, from that of the result."""
    source = node.inputs[0]
    if node.name == "transpose":
        order = sorted(range(len(node.dims)), key=lambda i: node.dims[i])
        return tuple(layout[i] for i in order)
    if node.name == "reshape":
        return layouts.regrouped(layout, source.shape)
    return tuple(
        layout[dim] if size == node.shape[dim] else ()
        for dim, size in zip(node.dims, source.shape, strict=True)
    )
