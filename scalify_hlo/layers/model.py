"""Layers, as the recognition returns them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Final, TypeAlias

from scalify_hlo.layers.graph import Graph, Node

FORWARD, BACKWARD = "forward", "backward"

NORMS: Final = frozenset({"layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm"})
"""The layers whose result does not depend on the scale of the input."""


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of a program, in one call of its function.

    Attributes:
        name: The kind of layer: ``layer_norm``, ``gelu`` ...
        part: ``forward``, or ``backward`` for the computation of the gradient of its input.
        inputs: The inputs; for the backward part, the incoming gradient.
        output: The output; for the backward part, the gradient of the input.
        where: The name stack of the op that makes the output, for display; it may be empty.
        epsilon: For the forward part of a normalization, the op that adds epsilon.
        input_gradient: For the forward part, the gradient of the input through this layer, before
            others are added to it; None if the program has none, or none was found.
        exact: Whether the gradient includes no other gradient.
        also: Further outputs: values that are this layer of the negative input, such as
            1 - sigmoid(x).
    """

    name: str
    part: str
    inputs: tuple[Node, ...]
    output: Node
    where: str = ""
    epsilon: Node | None = None
    input_gradient: Node | None = None
    exact: bool = True
    also: tuple[Node, ...] = ()

    @property
    def outputs(self) -> tuple[Node, ...]:
        """The output, and the further ones."""
        return (self.output, *self.also)


class Stage(IntEnum):
    """The order in which kinds of layers are searched for; each search knows what was found."""

    SCALED = auto()
    """Normalizations and softmax, on which rewrites depend."""
    COMPOSED = auto()
    """Layers of several ops, which may contain activations."""
    ELEMENTWISE = auto()
    """Activations."""
    OF_LAYERS = auto()
    """Layers that are made of others."""


Finder: TypeAlias = Callable[[Graph, set[Node], Sequence[Layer]], list[Layer]]
"""Returns the layers of one kind: of a graph, of which some values are inside of other layers, to
which those inside of these are added, and with the layers that were found before."""

FINDERS: Final[dict[str, tuple[Stage, Finder]]] = {}
"""The finders by the names of their modules, each with its stage."""


def finds(stage: Stage) -> Callable[[Finder], Finder]:
    """Registers the finder of a module."""

    def register(finder: Finder) -> Finder:
        FINDERS[finder.__module__] = stage, finder
        return finder

    return register
