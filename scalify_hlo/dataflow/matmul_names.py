"""The names of matmuls: those of their layers and weights, and what they compute for them.

All matmuls of a layer have its name, by data flow: the forward ones, those that are computed again,
and the backward ones. The name is that of the scopes around the forward matmul, as far as no other
weight is in these; else, what the matmul computes with follows. A matmul in no scope has the name
of its weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from scalify_hlo.dataflow.linear_layers import Layers, Linear
from scalify_hlo.dataflow.matmuls import Matmul
from scalify_hlo.dataflow.names import BACKWARD, scopes_of
from scalify_hlo.ir.patterns import DGRAD, WGRAD
from scalify_hlo.ir.value_map import ValueMap


class Layer(NamedTuple):
    """A layer of a program.

    Attributes:
        path: Its scopes; empty if it is in none.
        weight: The name of the argument that is its weight; empty if it has none.
        computed: What it computes: the subscripts of an einsum, or the name of the op.
    """

    path: str
    weight: str
    computed: str

    @property
    def names(self) -> list[str]:
        """The names that several layers may have."""
        return [name for name in (self.path, self.weight) if name]

    @property
    def whole(self) -> str:
        """The name that tells it from other layers, as far as they have other names."""
        return f"{self.path} {self.weight or self.computed}".strip()


class MatmulName(NamedTuple):
    """The names of a matmul.

    Attributes:
        names: The names of its layer and of its weight; that by which it is shown comes first.
        use: What it computes for the layer: ``forward``, ``dgrad``, ``wgrad`` or ``other``.
    """

    names: tuple[str, ...]
    use: str


def layer_of(stack: str, op: str, weight: str = "") -> Layer:
    """Returns the layer of a forward matmul.

    Args:
        stack: Its name stack.
        op: The name of the op.
        weight: The name of its weight.
    """
    path, subscripts = scopes_of(stack)
    return Layer(path, weight, subscripts or op.rpartition(".")[2])


def named_matmuls(
    matmuls: Sequence[Matmul], linear: Iterable[Linear], weight_of: Callable[[Matmul], str]
) -> list[MatmulName]:
    """Returns the names of the matmuls of a program.

    The calls of a function share its ops, which have the names of all of them.

    Args:
        matmuls: All of them, in execution order.
        linear: The forward matmuls with weights.
        weight_of: Returns the name of the weight of a forward matmul; empty if it has none.
    """
    layers, found = Layers(matmuls, linear), list[tuple[Layer, str]]()
    for matmul in matmuls:
        forward, of_weight = layers.forward_of(matmul)
        layer = layer_of(forward.name, forward.op.operation.name, weight_of(forward))
        backward = WGRAD if of_weight else DGRAD
        found.append((layer, backward if matmul.part == BACKWARD else matmul.part))
    named, every = list(_named(found)), ValueMap[dict[str, None]]()
    for matmul, name in zip(matmuls, named, strict=True):
        every.setdefault(matmul.op.results[0], {}).update(dict.fromkeys(name.names))
    shared = ValueMap[tuple[str, ...]]()
    shared.update((result, tuple(names)) for result, names in every.items())
    return [
        MatmulName(shared[matmul.op.results[0]], name.use)
        for matmul, name in zip(matmuls, named, strict=True)
    ]


def _named(found: Sequence[tuple[Layer, str]]) -> Iterator[MatmulName]:
    """Yields the names of matmuls; patterns match them in any case."""
    counts = Counter(
        name.casefold()
        for layer in dict.fromkeys(layer for layer, _ in found)
        for name in layer.names
    )
    for layer, use in found:
        alone = layer.path and counts[layer.path.casefold()] == 1
        shown = layer.path if alone else layer.whole
        yield MatmulName(tuple(dict.fromkeys((shown, *layer.names))), use)
