"""Finds all layers of a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.analysis.frames import Named
from scalify_hlo.analysis.layers import activations, attention, dropout, norms, softmax
from scalify_hlo.analysis.layers.graph import Graph
from scalify_hlo.analysis.layers.model import Layer
from scalify_hlo.analysis.layers.reading import read


def recognize(module: ir.Module | ir.Operation) -> list[Layer]:
    """The layers of a program, forward and backward, in the order in which it computes them.

    Args:
        module: StableHLO with a function ``@main``; it is left as it is.

    Returns:
        Each layer as often as it is called; nothing if there is no ``@main``. What is not sure is
        left out.
    """
    with module.context:
        return layers_of(graph_of(module))


def graph_of(module: ir.Module | ir.Operation, listing: Sequence[Named] | None = None) -> Graph:
    """The graph of a program; empty if there is no ``@main``.

    Where roles are marked, what comes after all gradients for the state alone is not in it.

    Args:
        module: StableHLO.
        listing: The ops of ``@main``, where they were listed.
    """
    blocks = module.operation.regions[0].blocks
    for op in blocks[0].operations:
        if op.operation.name == "func.func" and op.attributes["sym_name"].value == "main":
            return read(op, listing) if op.regions[0].blocks else Graph()
    return Graph()


def layers_of(graph: Graph, *, scales: bool = False) -> list[Layer]:
    """The layers of a graph; see `recognize`.

    Args:
        graph: The program.
        scales: Whether only those count that a rewrite needs to know: normalizations and softmax.
    """
    with np.errstate(all="ignore"):  # samples may overflow
        found, inside = norms.find(graph)
        found += softmax.find(graph, inside)
        if scales:
            return found
        found += dropout.find(graph, inside)
        found += activations.find(graph, inside)
    found += attention.find(found)
    named = [replace(layer, where=_where(layer)) for layer in found]
    return sorted(named, key=lambda layer: layer.output.index)


def _where(layer: Layer) -> str:
    op = layer.output.op
    location = op.location if op is not None else None
    return str(location.name_str) if isinstance(location, ir.NameLoc) else ""
