"""Softmax, log-softmax, logsumexp, and cross-entropy, which depends on one of the last two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np

from scalify_hlo.algebra.limits import LOSS_USERS, SOFTMAX_SPREAD
from scalify_hlo.algebra.search import Search
from scalify_hlo.layers import layout as layouts
from scalify_hlo.layers.graph import MOVEMENT, Graph, Node
from scalify_hlo.layers.layout import SAME
from scalify_hlo.layers.match import (
    ExpectedGradients,
    evaluated,
    gradient,
    sources,
    through,
    tolerance_of,
    with_gradient,
)
from scalify_hlo.layers.model import FORWARD, Layer, Stage, finds
from scalify_hlo.layers.numbers import SUM, Array, Target, close, mean, spread_to
from scalify_hlo.layers.samples import Samples
from scalify_hlo.layers.twins import Found, found_at


@dataclass(slots=True)
class _Softmax:
    """The computation of a softmax.

    Attributes:
        source: The input.
        samples: The samples of known values.
        axes: The axes of the sum.
        size: The number of elements that are summed.
    """

    source: Node
    samples: Samples
    axes: tuple[int, ...]
    size: float

    def sum(self, array: Array) -> Array:
        """Returns the sum over the axes; a sample represents several elements."""
        whole = spread_to(array, self.samples.arrays[self.source])
        return np.asarray(self.size * mean(whole, self.axes))

    @property
    def logsumexp(self) -> Array:
        """Returns log Σ exp x."""
        return np.asarray(np.log(self.sum(np.exp(self.samples.arrays[self.source]))))

    @property
    def softmax(self) -> Array:
        """Returns exp x / Σ exp x."""
        return np.asarray(np.exp(self.log_softmax))

    @property
    def log_softmax(self) -> Array:
        """Returns log(exp x / Σ exp x)."""
        return np.asarray(self.samples.arrays[self.source] - self.logsumexp)

    def gradient(self, name: str) -> ExpectedGradients:
        """Returns the gradient of the input from that of the output."""
        probabilities = self.softmax
        formulas: Mapping[str, Callable[[Array], Array]] = {
            "softmax": lambda e: probabilities * (e - self.sum(e * probabilities)),
            "log_softmax": lambda e: e - probabilities * self.sum(e),
            "logsumexp": lambda e: probabilities * e,
        }
        return lambda e: [formulas[name](e)]


_NAMES: Final = ("log_softmax", "logsumexp", "softmax")
"""The kinds, in the order of the search: the backward part of one may contain others."""


@finds(Stage.SCALED)
def find(graph: Graph, inside: set[Node], _: Sequence[Layer]) -> list[Layer]:
    """Returns the softmax layers of a program; see `Finder`."""
    return found_at(graph, inside, lambda node: node.name == "exponential", _at)


def _at(key: Node) -> Found:
    total = next((u for u in key.users if u.name == SUM and u.dims), None)
    if total is None:
        return Found()
    matched: tuple[_Softmax, str, Node] | None = None
    for source in sources(key):
        softmax = _read(key, total, source)
        found = _output(softmax) if softmax is not None else None
        if softmax is not None and found is not None:
            matched = (softmax, *found)
    if matched is None:
        return Found()
    softmax, name, output = matched
    inside = softmax.samples.arrays.keys() - {softmax.source}
    layer = Layer(name, FORWARD, (softmax.source,), output)
    made = gradient(
        softmax.samples,
        softmax.gradient(name),
        tolerance_of(softmax.source),
        softmax.source.shape,
        smaller=name == "logsumexp",
    )
    made = made or _of_mean(softmax, name)
    return Found([*with_gradient(layer, made), *_cross_entropy(layer)], inside)


def _of_mean(softmax: _Softmax, name: str) -> tuple[Node, bool, Node] | None:
    """Returns the gradient of a logsumexp with a constant incoming gradient, as of a mean."""
    if name != "logsumexp":
        return None
    samples, expected = softmax.samples, softmax.softmax
    for node in samples.spread([softmax.source], SOFTMAX_SPREAD):
        array = samples.arrays[node]
        if node.shape == softmax.source.shape and array.shape == expected.shape:
            factor = float(np.sum(array) / np.sum(expected))
            if factor not in (0.0, 1.0) and close(array, factor * expected, 1e-5):
                return node, True, softmax.source
    return None


def _read(key: Node, total: Node, source: Node) -> _Softmax | None:
    if source.shape != key.shape or min(source.shape, default=0) < 1:  # A size is dynamic or 0.
        return None
    samples = Samples(source, layouts.fresh(source.shape))
    if not evaluated(key, source, samples):
        return None
    gone = layouts.parts(samples.layouts[key][d] for d in total.dims)
    axes = tuple(1 + part.axis for part in gone if part.axis != SAME)
    if not axes:
        return None
    return _Softmax(source, samples, axes, float(np.prod([part.size for part in gone])))


def _output(softmax: _Softmax) -> tuple[str, Node] | None:
    """Returns the kind of a result, and its node."""
    samples, tolerance = softmax.samples, tolerance_of(softmax.source)
    nodes = list(samples.spread([softmax.source], SOFTMAX_SPREAD))
    for name in _NAMES:
        expected: Array = getattr(softmax, name)
        target = Target(expected, tolerance)
        for node in nodes:
            array = samples.arrays[node]
            same = node.shape == softmax.source.shape or name == "logsumexp"
            if same and array.shape == expected.shape and target.met_by(array):
                return name, node
    return None


def _cross_entropy(layer: Layer) -> Iterator[Layer]:
    """Yields the cross-entropy of a log-softmax or a logsumexp, if elements are picked."""
    if layer.name == "softmax":
        return
    ends = _is_picked if layer.name == "log_softmax" else _is_less_picked

    def after(node: Node) -> Iterator[Node]:
        return (user for user in node.users if user.name in MOVEMENT | {"multiply", "negate"})

    for node in islice(Search([layer.output], after, nearest=True), LOSS_USERS):
        for user in node.users:
            if ends(user, node, layer):
                yield Layer("cross_entropy", FORWARD, layer.inputs, user)
                return


def _is_picked(user: Node, node: Node, _: Layer) -> bool:
    """Whether an op picks the elements of labels."""
    if user.name == "gather":
        return user.inputs[0] is node
    return user.name == SUM and _is_weighted(node)


def _is_weighted(node: Node) -> bool:
    """Whether a product is with a value that is not constant."""
    return node.name == "multiply" and not any(s.is_constant for s in node.inputs)


def _is_less_picked(user: Node, node: Node, layer: Layer) -> bool:
    """Whether an op has as operands a logsumexp and a picked element of the same input."""
    if user.name != "subtract":
        return False
    other = user.inputs[1] if user.inputs[0] is node else user.inputs[0]
    source, picked = _of_labels(other)
    if picked:
        return source is through(layer.inputs[0])
    if source.name != SUM or not _is_weighted(source.inputs[0]):
        return False
    return any(through(s) is through(layer.inputs[0]) for s in source.inputs[0].inputs)


def _of_labels(node: Node) -> tuple[Node, bool]:
    """Returns the value whose elements are picked, and whether any are.

    A select in between may give NaN for labels out of bounds.
    """
    picked = False
    while node.name in MOVEMENT | {"gather", "select"}:
        free = [s for s in node.inputs[-2:] if not s.is_constant]
        if node.name == "select" and len(free) != 1:
            break
        picked |= node.name == "gather"
        node = free[0] if node.name == "select" else node.inputs[0]
    return node, picked
