"""Layers, as the recognition returns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scalify_hlo.analysis.layers.graph import Node

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
