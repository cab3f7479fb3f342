"""Reuse of searches: a model repeats its blocks, whose layers are found once.

The result of a search depends only on the nodes that it accesses, and on their order. If another op
has an equal neighborhood, as far as the search accessed it, the result is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TypeAlias

from scalify_hlo.algebra.limits import TWIN_SEARCHES
from scalify_hlo.layers.graph import Dims, Graph, Node
from scalify_hlo.layers.model import Layer

_Looks: TypeAlias = dict[tuple[Node, bool], None]
"""As of `Trace.looks`."""


@dataclass(frozen=True)
class Found:
    """The result of a search.

    Attributes:
        layers: The layers.
        inside: The values that are inside of them.
    """

    layers: Collection[Layer] = ()
    inside: Collection[Node] = ()

    def moved(self, nodes: Mapping[Node, Node]) -> Found:
        """Returns the same result for other nodes."""
        layers = [_moved(layer, nodes) for layer in self.layers]
        return Found(layers, [nodes[node] for node in self.inside])


class Twins:
    """Searches of a graph, which are reused for equal neighborhoods.

    Args:
        graph: The graph.
        search: Finds the layers around a key op. It uses attributes of nodes only, and compares
            their indices only with each other.
    """

    def __init__(self, graph: Graph, search: Callable[[Node], Found]) -> None:
        self._trace, self._search = graph.trace, search
        self._known: dict[tuple[str, Dims], list[tuple[Node, _Looks, Found]]] = {}

    def at(self, key: Node) -> Found:
        """Returns the layers around a key op."""
        known = self._known.setdefault((key.name, key.shape), [])
        for other, looks, found in reversed(known[-TWIN_SEARCHES:]):
            nodes = _onto(key, other, looks)
            if nodes is not None:
                return found.moved(nodes)
        looks = self._trace.looks = {}
        found = self._search(key)
        self._trace.looks = None
        known.append((key, looks, found))
        return found


def found_at(
    graph: Graph, inside: set[Node], may_be: Callable[[Node], bool], search: Callable[[Node], Found]
) -> list[Layer]:
    """Returns the layers around the key ops of a graph.

    Args:
        graph: The graph.
        inside: The values that are inside of layers, to which those of the found ones are added.
        may_be: Whether an op may be a key op.
        search: As for `Twins`.
    """
    layers: list[Layer] = []
    twins = Twins(graph, search)
    for node in graph.nodes:
        if may_be(node) and node not in inside:
            found = twins.at(node)
            layers += found.layers
            inside.update(found.inside)
    return layers


def _onto(key: Node, other: Node, looks: _Looks) -> dict[Node, Node] | None:
    """Returns the nodes around a key op, by the corresponding nodes around another one."""
    if not _is_alike(other, key):
        return None
    nodes = {other: key}
    for node, users in looks:
        twin = nodes[node]
        pair = (node.used_by, twin.used_by) if users else (node.made_of, twin.made_of)
        if len(pair[0]) != len(pair[1]):
            return None
        for one, its_twin in zip(*pair, strict=True):
            known = nodes.get(one)
            if known is None:
                if not _is_alike(one, its_twin):
                    return None
                nodes[one] = its_twin
            elif known is not its_twin:
                return None
    order = [nodes[node].index for node in sorted(nodes, key=_index)]
    return nodes if order == sorted(set(order)) else None


_index = attrgetter("index")


def _is_alike(one: Node, other: Node) -> bool:
    if one is other:
        return True
    # Each type of a graph has a unique object.
    if one.name != other.name or one.type is not other.type or one.dims != other.dims:
        return False
    if one.constant is other.constant:
        return True
    return str(one.constant) == str(other.constant)  # These constants have different types.


def _moved(layer: Layer, nodes: Mapping[Node, Node]) -> Layer:
    return replace(
        layer,
        inputs=tuple(nodes[node] for node in layer.inputs),
        output=nodes[layer.output],
        also=tuple(nodes[node] for node in layer.also),
        epsilon=None if layer.epsilon is None else nodes[layer.epsilon],
        input_gradient=None if layer.input_gradient is None else nodes[layer.input_gradient],
    )
