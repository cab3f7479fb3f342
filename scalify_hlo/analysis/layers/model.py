"""Layers, as the recognition returns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scalify_hlo.analysis.layers.graph import Node

FORWARD, BACKWARD = "forward", "backward"

NORMS: Final = frozenset({"layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm"})
"""The layers that take the scale from their inputs."""


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of a program, as one call of its function makes it.

    Attributes:
        name: What it is: ``layer_norm``, ``gelu`` ...
        part: ``forward``, or ``backward`` for what makes the gradient of its input.
        inputs: What it is computed from; for the backward part, the gradient that comes in.
        output: What it makes; for the backward part, the gradient of the input.
        where: The name stack of the op that makes the output, for display; it may be empty.
        epsilon: For the forward part of a normalization, what epsilon is added in.
        input_gradient: For the forward part, the gradient of the input that comes through this
            layer, before others are added to it; None if the program has none, or none was found.
        exact: Whether the gradient is that alone; if not, another was added to it on the way.
    """

    name: str
    part: str
    inputs: tuple[Node, ...]
    output: Node
    where: str = ""
    epsilon: Node | None = None
    input_gradient: Node | None = None
    exact: bool = True
