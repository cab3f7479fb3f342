"""The names of matmuls: those of their layers and weights, and what they compute for them.

All matmuls of a layer have its name, by data flow: the forward ones, those that are computed again,
and the backward ones. The name is that of the scopes around the forward matmul. If other layers
have these too, the name of the weight follows, or what the matmul computes if it has no weight. A
matmul in no scope has the name of its weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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

    def shown(self, counts: Mapping[str, int]) -> str:
        """Returns the name by which it is shown.

        Args:
            counts: The number of layers with a path or a weight of some name, in lower case.
        """
        first, *more = (part for part in self if part)
        return first if counts.get(first.casefold(), 0) <= 1 else " ".join([first, *more[:1]])


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

    The calls of a function share its ops, which have the names of all of them. A backward matmul
    has the name of its own scopes besides, as a custom rule may have others than the layer.

    Args:
        matmuls: All of them, in execution order.
        linear: The forward matmuls with weights.
        weight_of: Returns the name of the weight of a forward matmul; empty if it has none.
    """
    layers, of = Layers(matmuls, linear), dict[Matmul, Layer]()
    uses, known = dict[Matmul, str](), dict[Matmul, list[str]]()
    for matmul in matmuls:
        forward, of_weight = layers.forward_of(matmul)
        layer = layer_of(forward.name, forward.op.operation.name, weight_of(forward))
        backward = WGRAD if of_weight else DGRAD
        uses[matmul] = backward if matmul.part == BACKWARD else matmul.part
        of[matmul] = layer
        known[matmul] = [name for name in (layer.path, layer.weight, matmul.scopes.path) if name]
    # Patterns match names in any case.
    having = {(name.casefold(), of[matmul]) for matmul in matmuls for name in known[matmul]}
    counts = Counter(name for name, _ in having)
    every = ValueMap[dict[str, None]]()
    for matmul, layer in of.items():
        names = (layer.shown(counts), *known[matmul])
        every.setdefault(matmul.op.results[0], {}).update(dict.fromkeys(names))
    shared = ValueMap[tuple[str, ...]]()
    shared.update((result, tuple(names)) for result, names in every.items())
    return [MatmulName(shared[matmul.op.results[0]], uses[matmul]) for matmul in matmuls]
