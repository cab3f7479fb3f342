"""Dropout: a value times a random mask, divided by the probability of the mask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from scalify_hlo.algebra.limits import DROPOUT_MASKS, DROPOUT_SPREAD, DROPOUT_VALUES
from scalify_hlo.ir.traits import BINARY, LAYOUT, short
from scalify_hlo.layers.graph import MOVEMENT, Graph, Node
from scalify_hlo.layers.match import incoming
from scalify_hlo.layers.model import BACKWARD, FORWARD, Layer, Stage, finds
from scalify_hlo.layers.numbers import close
from scalify_hlo.layers.samples import Points

_MASK: Final = np.array([1.0, 1.0, 0.0, 0.0])
_VALUES: Final = np.array([3.0, -2.0, 1.5, -0.5])
_UNIFORM: Final = short(LAYOUT | BINARY)
_LESS: Final = {"compare_LT": 0, "compare_LE": 0, "compare_GT": 1, "compare_GE": 1}
"""The operand of a comparison that is the smaller one."""

_TOLERANCE = 4e-3


@finds(Stage.COMPOSED)
def find(graph: Graph, inside: set[Node], _: Sequence[Layer]) -> list[Layer]:
    """Returns the dropouts of a program, each with its backward part after it; see `Finder`."""
    layers: list[Layer] = []
    for node in graph.nodes:
        below = _probability(node, inside) if node.name in _LESS else None
        if below is not None:
            parts = sorted(_masked(node, below), key=lambda found: found[1].index)
            for number, (source, output) in enumerate(parts):
                part = BACKWARD if number else FORWARD
                layers.append(Layer("dropout", part, (source,), output))
    return layers


def _probability(comparison: Node, inside: set[Node]) -> float | None:
    """Returns the probability that a comparison of a uniform random number holds, or None."""
    side = _LESS[comparison.name]
    for number in (side, 1 - side):
        limit = comparison.inputs[1 - number].constant
        if limit is not None and _is_uniform(comparison.inputs[number], inside):
            return limit if number == side else 1 - limit
    return None


def _is_uniform(node: Node, inside: set[Node]) -> bool:
    """Whether a value is a number from 0 to 1 that is made of random bits."""
    chain = []
    while node.name in _UNIFORM:
        free = [s for s in node.inputs if not s.is_constant]
        if len(free) != 1:
            return False
        chain.append(node)
        node = free[0]
    if node.name != "bitcast_convert" or node.inputs[0].name != "or" or len(chain) > 8:
        return False
    bits = [s for s in node.inputs[0].inputs if not s.is_constant]
    if len(bits) != 1 or bits[0].name != "shift_right_logical":
        return False
    inside.update(chain)
    return True


def _masked(mask: Node, kept: float) -> Iterator[tuple[Node, Node]]:
    """Yields the values to which a mask is applied, and the results."""
    if not 0 < kept < 1:
        return
    moved = [mask, *(u for u in mask.users if u.name in MOVEMENT)]
    seen: set[Node] = set()
    for start in moved:
        points = Points(start, _MASK)
        list(points.spread([start], DROPOUT_MASKS))
        for source, _ in incoming(points, DROPOUT_VALUES):
            if source.shape != start.shape:
                continue
            inner = Points(source, _VALUES, points)
            for node in inner.spread([source], DROPOUT_SPREAD):
                if node not in seen and _is_dropped(inner, node, kept):
                    seen.add(node)
                    yield source, node
                    break


def _is_dropped(inner: Points, node: Node, kept: float) -> bool:
    array = inner.arrays[node]
    expected = (_VALUES * _MASK / kept, _VALUES * (1 - _MASK) / (1 - kept))
    return array.shape == _VALUES.shape and any(
        close(array, e, _TOLERANCE * 0.01) for e in expected
    )
