"""Helpers shared by the matchers of all layers: slices of the graph, and incoming gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import LAYER_CONE, LAYER_GRADIENTS, LAYER_SOURCES, LAYER_STEPS
from scalify_hlo.algebra.search import Search
from scalify_hlo.ir.locations import described
from scalify_hlo.ir.traits import ARITHMETIC, LAYOUT, MAGNITUDES, short, where
from scalify_hlo.layers import layout as layouts
from scalify_hlo.layers.graph import MOVEMENT, Node
from scalify_hlo.layers.layout import Layout
from scalify_hlo.layers.model import BACKWARD, Layer
from scalify_hlo.layers.numbers import SUM, Array, Target
from scalify_hlo.layers.samples import EVALUATED, Samples


def sources(key: Node, before: Node | None = None, most: int = LAYER_SOURCES) -> Iterator[Node]:
    """Yields values on which all of a value depends, the nearest first: possible layer inputs.

    Args:
        key: The value.
        before: Another value that has to depend on them.
        most: The largest number of values.
    """
    end = key if before is None else before
    waiting, looked = {key.index: key}, 0
    while waiting and most and looked < LAYER_CONE:
        node = waiting.pop(max(waiting))
        looked += 1
        if not waiting and node.index < end.index:
            most -= 1
            yield node
        if node.name not in EVALUATED:
            return
        waiting |= {s.index: s for s in node.inputs if not s.is_constant}
    if waiting and most:
        key.trace.ended.add(f"more than {LAYER_CONE} values lead to {described(key.value)}")


def cone(key: Node, source: Node) -> list[Node]:
    """Returns the values between an input and a result, without the input."""

    def inner(node: Node) -> Iterator[Node]:
        return (n for n in node.inputs if n.index > source.index and not n.is_constant)

    return list(Search([key], inner).to_end().found)


def evaluated(key: Node, source: Node, samples: Samples) -> bool:
    """Whether the values between an input and a result, which are evaluated, have samples."""
    nodes = sorted(cone(key, source), key=lambda node: node.index)
    return all(samples.evaluate(node) for node in nodes)


def through(node: Node, names: frozenset[str] = MOVEMENT) -> Node:
    """Returns the value before data movement."""
    while node.name in names:
        node = node.inputs[0]
    return node


def scaled(node: Node) -> Node:
    """Returns the value before data movement, negation and products with constants."""
    while True:
        free = [s for s in node.inputs if not s.is_constant]
        linear = node.name in ("multiply", "divide") and free and free[0] is node.inputs[0]
        swapped = node.name == "multiply" and len(free) == 1
        if node.name not in MOVEMENT | {"negate"} and not (len(free) == 1 and (linear or swapped)):
            return node
        node = free[0]


ExpectedGradients = Callable[[Array], list[Array]]
"""Computes the possible gradients of a layer's input from that of its output."""

GRADIENTS: Final = short(where("product", "choice"))
"""The ops that make the gradient of an input of that of the output."""

_BACK: Final = short(LAYOUT | ARITHMETIC | MAGNITUDES)


def incoming(samples: Samples, most: int = LAYER_GRADIENTS) -> Iterator[tuple[Node, Node]]:
    """Yields values that may be the gradient of a layer's output: factors of known values.

    Args:
        samples: The known values.
        most: The largest number of values.

    Yields:
        A value, and the known value by which it is multiplied.
    """
    seen: set[Node] = set()
    for known in [node for node in samples.arrays if node not in samples.parameters]:
        for user in known.users:
            if user.name not in GRADIENTS:
                continue
            for other in user.inputs:
                for candidate in _back(other, samples):
                    if candidate not in seen and len(seen) < most:
                        seen.add(candidate)
                        yield candidate, known


def _back(node: Node, samples: Samples) -> Iterator[Node]:
    """Yields an unknown value, and that value before it was summed, moved or scaled."""
    for _ in range(LAYER_STEPS):
        if node.is_constant or samples.array(node) is not None:
            return
        yield node
        unknown = [s for s in node.inputs if not s.is_constant and samples.array(s) is None]
        if len(unknown) != 1 or not (node.name in _BACK or node.name == SUM):
            return
        node = unknown[0]


class Gradient:
    """The search for the gradient of a layer's input.

    Args:
        samples: The known values of the layer.
        expected: Computes the expected gradients.
        tolerance: The relative tolerance of the comparison.
        shape: The shape of the input.
    """

    def __init__(
        self,
        samples: Samples,
        expected: ExpectedGradients,
        tolerance: float,
        shape: tuple[int, ...],
    ) -> None:
        self._samples, self._expected = samples, expected
        self._tolerance, self._shape = tolerance, shape

    def of(
        self, seed: Node, inner: Samples, most: int = 120, *, alone: bool = False
    ) -> tuple[Node, bool] | None:
        """Returns the gradient of the input that is computed from one of the output.

        Args:
            seed: The gradient of the output.
            inner: The samples of the gradient of the output.
            most: The largest number of values that are searched.
            alone: Whether the gradient must not include other gradients.

        Returns:
            The gradient, and whether it includes no other gradient; None if it is not found.
        """
        expected = self._expected(inner.arrays[seed])
        targets = [Target(array, self._tolerance) for array in expected]
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
        return any(_fits(array, t.expected) and t.met_by(array) for t in targets)


def _fits(array: Array, target: Array) -> bool:
    return array.shape == target.shape or (
        array.ndim == target.ndim
        and all(a in (1, t) for a, t in zip(array.shape, target.shape, strict=True))
    )


class _Others:
    """Sums with another gradient, which is evaluated as 0.

    Args:
        inner: The samples of values computed from a gradient.
    """

    def __init__(self, inner: Samples) -> None:
        self._inner = inner
        self._reached: list[Node] = list(inner.arrays)

    def note(self, node: Node) -> None:
        """Notes that a value depends on the layer's gradient alone."""
        self._reached.append(node)

    def follow(self, most: int) -> Iterator[tuple[Node, Array]]:
        """Yields the sums, and their values without the other gradient, in program order."""
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
    """Returns the possible layouts of the gradient of an output: those of values of its shape.

    Args:
        seed: The gradient.
        known: The known value by which it is multiplied.
        samples: The samples, which have the layouts.
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
    """Returns the largest error that counts as rounding, since constants are rounded too."""
    return _TOLERANCES.get(type(node.type.element_type), 1e-5)


_TOLERANCES: Final[Mapping[type, float]] = {ir.BF16Type: 4e-3, ir.F16Type: 1e-3}


def gradient(
    samples: Samples,
    expected: ExpectedGradients,
    tolerance: float,
    shape: tuple[int, ...],
    *,
    smaller: bool = False,
) -> tuple[Node, bool, Node] | None:
    """Returns the gradient of a layer's input, if possible without other gradients.

    Args:
        samples: The known values of the layer.
        expected: Computes the expected gradients of the input from that of the output.
        tolerance: The relative tolerance of the comparison.
        shape: The shape of the input.
        smaller: Whether the output has fewer elements than the input.

    Returns:
        The gradient, whether it includes no other gradient, and the gradient of the output.
    """
    search, inexact = Gradient(samples, expected, tolerance, shape), None
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
    """Returns a layer, and its backward part if there is one.

    Args:
        layer: The forward part.
        found: The result of `gradient`.
    """
    if found is None:
        return [layer]
    made, exact, seed = found
    return [
        replace(layer, input_gradient=made, exact=exact),
        Layer(layer.name, BACKWARD, (seed,), made, exact=exact),
    ]
