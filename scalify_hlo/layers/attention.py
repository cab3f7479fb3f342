"""Attention: a softmax between two matmuls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from scalify_hlo.algebra.limits import LAYER_STEPS, PROBABILITY_USERS
from scalify_hlo.algebra.search import Search
from scalify_hlo.layers.graph import LEAF, MOVEMENT, Graph, Node
from scalify_hlo.layers.match import GRADIENTS, scaled, through
from scalify_hlo.layers.model import FORWARD, Layer, Stage, finds

_MATMUL: Final = "dot_general"

_LOW = -1e4
"""Numbers below this one count as minus infinity in a softmax."""


@finds(Stage.OF_LAYERS)
def find(_graph: Graph, _inside: set[Node], layers: Sequence[Layer]) -> list[Layer]:
    """Returns the attention layers of softmaxes; see `Finder`."""
    found = []
    for layer in layers:
        if layer.name == "softmax" and layer.part == FORWARD:
            scores, masked = _scores(layer.inputs[0])
            output = _mixed(layer.output)
            if scores is not None and output is not None and (masked or _is_of_alike(scores)):
                name = "masked_attention" if masked else "attention"
                found.append(Layer(name, FORWARD, (*scores.inputs, *_values(output)), output))
    return found


def _is_of_alike(scores: Node) -> bool:
    """Whether queries and keys are both computed, or both inputs; keys of a router are a weight."""
    given = [scaled(node).name == LEAF for node in scores.inputs]
    return all(given) or not any(given)


def _values(output: Node) -> tuple[Node, ...]:
    return tuple(s for s in output.inputs if s.name != "divide")


def _scores(node: Node) -> tuple[Node | None, bool]:
    """Returns the matmul that computes the scores, and whether some are masked."""
    masked = False
    for _ in range(LAYER_STEPS):
        node = scaled(node)
        if node.name == _MATMUL:
            return node, masked
        hidden = _unmasked(node)
        if hidden is None:
            return None, False
        node, hides = hidden
        masked |= hides
    return None, False


def _unmasked(node: Node) -> tuple[Node, bool] | None:
    """Returns the scores to which a mask or a bias is applied, and whether it is a mask."""
    if node.name == "select":
        low = [s for s in node.inputs[1:] if _is_low(s)]
        rest = [s for s in node.inputs[1:] if s not in low]
        return (rest[0], True) if len(low) == 1 and len(rest) == 1 else None
    if node.name == "add":
        made = [s for s in node.inputs if _is_of_matmul(s)]
        other = [s for s in node.inputs if s not in made]
        if len(made) == 1 and len(other) == 1:
            return made[0], _is_mask(other[0])
    return None


def _is_low(node: Node) -> bool:
    return node.constant is not None and node.constant <= _LOW


def _is_mask(node: Node) -> bool:
    """Whether a value is 0 in some places and very low in others."""
    node = through(node)
    return node.name in ("select", "multiply") and any(_is_low(s) for s in node.inputs)


def _is_of_matmul(node: Node) -> bool:
    node = scaled(node)
    inner = _unmasked(node) if node.name == "select" else None
    return node.name == _MATMUL or (inner is not None and _is_of_matmul(inner[0]))


def _mixed(node: Node) -> Node | None:
    """Returns the matmul of the probabilities."""

    def after(node: Node) -> Iterator[Node]:
        # Dropout may be between the softmax and its matmul.
        return (user for user in node.users if user.name in MOVEMENT or user.name in GRADIENTS)

    nearest = islice(Search([node], after, nearest=True), PROBABILITY_USERS)
    return next((u for each in nearest for u in each.users if u.name == _MATMUL), None)
