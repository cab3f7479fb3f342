"""Helpers shared by the matchers of all layers: slices of the graph, and incoming gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import LAYER_CONE
from scalify_hlo.analysis.layers import layout as layouts
from scalify_hlo.analysis.layers.graph import MOVEMENT, Node
from scalify_hlo.analysis.layers.layout import Layout
from scalify_hlo.analysis.layers.model import BACKWARD, Layer
from scalify_hlo.analysis.layers.numbers import TABLE, Array, Target
from scalify_hlo.analysis.layers.samples import Samples
from scalify_hlo.dialect.traits import ARITHMETIC, PRODUCTS, short

TRANSPARENT: Final = frozenset(TABLE) | MOVEMENT | {"reduce_add", "reduce_max"}
"""The ops that matchers look through."""


def sources(key: Node, before: Node | None = None, most: int = 6) -> Iterator[Node]:
    """The values that all of a value is made of, the nearest first: inputs that a layer may have.

    Args:
        key: The value.
        before: What is to be made of them too.
        most: How many to give at most.
    """
    end = key if before is None else before
    waiting, looked = {key.index: key}, 0
    while waiting and most and looked < LAYER_CONE:
        node = waiting.pop(max(waiting))
        looked += 1
        if not waiting and node.index < end.index:
            most -= 1
            yield node
        if node.name not in TRANSPARENT:
            return
        waiting |= {s.index: s for s in node.inputs if not s.is_constant}


def cone(key: Node, source: Node) -> list[Node]:
    """The values between an input and what is made of it, without the input."""
    waiting, found = [key], {key: None}
    while waiting:
        for inner in waiting.pop().inputs:
            if inner.index > source.index and inner not in found and not inner.is_constant:
                found[inner] = None
                waiting.append(inner)
    return list(found)


def through(node: Node, names: frozenset[str] = MOVEMENT) -> Node:
    """Returns the value of which another one is only moved about."""
    while node.name in names:
        node = node.inputs[0]
    return node


def scaled(node: Node) -> Node:
    """Returns the value that another one is, moved about, negated, or times constants."""
    while True:
        free = [s for s in node.inputs if not s.is_constant]
        linear = node.name in ("multiply", "divide") and free and free[0] is node.inputs[0]
        swapped = node.name == "multiply" and len(free) == 1
        if node.name not in MOVEMENT | {"negate"} and not (len(free) == 1 and (linear or swapped)):
            return node
        node = free[0]


Wanted = Callable[[Array], list[Array]]
"""From the gradient of a layer's output: what that of its input may be."""

_GRADIENTS: Final = short(PRODUCTS) | {"select"}
_BACK: Final = MOVEMENT | short(ARITHMETIC) | {"negate", "reduce_add"}


def incoming(samples: Samples, most: int = 24) -> Iterator[tuple[Node, Node]]:
    """Values that may be the gradient of a layer's output: those that meet what is known of it.

    Args:
        samples: What is known.
        most: How many to give at most.

    Yields:
        A value, and the known one that it meets.
    """
    seen: set[Node] = set()
    for known in [node for node in samples.arrays if node not in samples.parameters]:
        for user in known.users:
            if user.name not in _GRADIENTS:
                continue
            for other in user.inputs:
                for candidate in _back(other, samples):
                    if candidate not in seen and len(seen) < most:
                        seen.add(candidate)
                        yield candidate, known


def _back(node: Node, samples: Samples) -> Iterator[Node]:
    """A value that is not known, and what it was before it was summed, moved or scaled."""
    for _ in range(8):
        if node.is_constant or samples.array(node) is not None:
            return
        yield node
        unknown = [s for s in node.inputs if not s.is_constant and samples.array(s) is None]
        if node.name not in _BACK or len(unknown) != 1:
            return
        node = unknown[0]


class Gradient:
    """Looks for the gradient of a layer's input.

    Args:
        samples: What is known of the layer.
        wanted: What the gradient is to be.
        tolerance: How close to that.
        shape: The shape of the input.
    """

    def __init__(
        self, samples: Samples, wanted: Wanted, tolerance: float, shape: tuple[int, ...]
    ) -> None:
        self._samples, self._wanted = samples, wanted
        self._tolerance, self._shape = tolerance, shape

    def of(
        self, seed: Node, inner: Samples, most: int = 120, *, alone: bool = False
    ) -> tuple[Node, bool] | None:
        """The gradient of the input that is made of one of the output.

        Args:
            seed: The gradient of the output.
            inner: Has it alone.
            most: How many values to look at.
            alone: Whether only one that is the layer's alone will do.

        Returns:
            The gradient, and whether it is the layer's alone.
        """
        wanted = self._wanted(inner.arrays[seed])
        targets = [Target(array, self._tolerance) for array in wanted]
        others = _Others(inner)
        for node in inner.spread([seed], most):
            others.note(node)
            if self._is_wanted(node, inner.arrays[node], targets):
                return node, True
        for node, array in () if alone else others.follow(most):
            if self._is_wanted(node, array, targets):
                return node, False
        return None

    def _is_wanted(self, node: Node, array: Array, targets: list[Target]) -> bool:
        if node.shape != self._shape:
            return False
        return any(_fits(array, t.wanted) and t.met_by(array) for t in targets)


def _fits(array: Array, target: Array) -> bool:
    return array.shape == target.shape or (
        array.ndim == target.ndim
        and all(a in (1, t) for a, t in zip(array.shape, target.shape, strict=True))
    )


class _Others:
    """Sums with another gradient, which is taken for 0.

    Args:
        inner: The samples of what a gradient becomes.
    """

    def __init__(self, inner: Samples) -> None:
        self._inner = inner
        self._reached: list[Node] = list(inner.arrays)

    def note(self, node: Node) -> None:
        """Says that a value depends on the layer's gradient alone."""
        self._reached.append(node)

    def follow(self, most: int) -> Iterator[tuple[Node, Array]]:
        """The sums, and what they are without the other gradient, in the order of the program."""
        arrays: dict[Node, Array] = {}
        waiting = {u.index: u for node in self._reached for u in node.users if self._open(u)}
        while waiting and most > 0:
            node = waiting.pop(min(waiting))
            most -= 1
            array = self._sum(node, arrays)
            if array is None:
                continue
            arrays[node] = array
            yield node, array
            waiting |= {u.index: u for u in node.users if u.name in ("add", "reshape")}

    def _open(self, node: Node) -> bool:
        return node.name == "add" and self._inner.array(node) is None

    def _sum(self, node: Node, arrays: dict[Node, Array]) -> Array | None:
        known = [arrays.get(s, self._inner.arrays.get(s)) for s in node.inputs]
        found = [array for array in known if array is not None]
        if not found or any(s.shape != node.inputs[0].shape for s in node.inputs):
            return None
        return found[0] if len(found) == 1 else np.asarray(found[0] + found[1])


def seed_layouts(seed: Node, known: Node, samples: Samples) -> Iterator[Layout]:
    """The layouts that the gradient of an output may have: those of known values of its shape.

    Args:
        seed: The gradient.
        known: What it meets.
        samples: Has the layouts.
    """
    if seed.shape == known.shape and len(seed.shape) > 0:
        met = samples.layouts.get(known)
        if met is not None and _is_full(met):
            yield met
            return
    for node, layout in samples.layouts.items():
        if node.shape == seed.shape and _is_full(layout):
            yield layout
            return


def _is_full(layout: Layout) -> bool:
    return all(part.axis != layouts.SAME for part in layouts.parts(layout))


def tolerance_of(node: Node) -> float:
    """The largest error that counts as rounding: constants are rounded as the data are."""
    return _TOLERANCES.get(type(node.type.element_type), 1e-5)


_TOLERANCES: Final[Mapping[type, float]] = {ir.BF16Type: 4e-3, ir.F16Type: 1e-3}


def gradient(
    samples: Samples,
    wanted: Wanted,
    tolerance: float,
    shape: tuple[int, ...],
    *,
    smaller: bool = False,
) -> tuple[Node, bool, Node] | None:
    """The gradient of a layer's input: one that is nothing else, or else the first with others.

    Args:
        samples: What is known of the layer.
        wanted: What the gradient of the input is to be, from that of the output.
        tolerance: How close to that.
        shape: The shape of the input.
        smaller: Whether the output has fewer elements than that.

    Returns:
        The gradient, whether it is that alone, and the gradient of the output.
    """
    search, inexact = Gradient(samples, wanted, tolerance, shape), None
    for seed, known in incoming(samples):
        if not smaller and math.prod(seed.shape) != math.prod(shape):
            continue
        for layout in seed_layouts(seed, known, samples):
            found = search.of(seed, Samples(seed, layout, samples), alone=inexact is not None)
            if found is not None and found[1]:
                return (*found, seed)
            if found is not None:
                inexact = (*found, seed)
    return inexact


def with_gradient(layer: Layer, found: tuple[Node, bool, Node] | None) -> list[Layer]:
    """A layer, and its backward part if there is one.

    Args:
        layer: The forward part.
        found: As of `gradient`.
    """
    if found is None:
        return [layer]
    made, exact, seed = found
    return [
        replace(layer, input_gradient=made, exact=exact),
        Layer(layer.name, BACKWARD, (seed,), made, exact=exact),
    ]
