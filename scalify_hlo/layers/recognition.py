"""Finds all layers of a program."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace

import numpy as np

from scalify_hlo import layers
from scalify_hlo._compat import ir
from scalify_hlo.dataflow.listing import Listing
from scalify_hlo.dataflow.names import name_of, shown_name
from scalify_hlo.ir.functions import main_function
from scalify_hlo.layers.graph import Graph, Node
from scalify_hlo.layers.model import FINDERS, Layer, Stage
from scalify_hlo.layers.reading import read

for _module in pkgutil.iter_modules(layers.__path__, f"{layers.__name__}."):
    if _module.name != __name__:
        importlib.import_module(_module.name)


def recognize(module: ir.Module | ir.Operation) -> list[Layer]:
    """Returns the layers of a program, forward and backward, in execution order.

    Args:
        module: StableHLO with a function ``@main``. It is not changed.

    Returns:
        A layer for each call; none if there is no ``@main``. Layers that are not certain are left
        out.
    """
    with module.context:
        return layers_of(graph_of(module))


def graph_of(module: ir.Module | ir.Operation, listing: Listing | None = None) -> Graph:
    """Returns the graph of a program; empty if there is no ``@main``.

    If roles are marked, ops after all gradients that only update state are left out.

    Args:
        module: StableHLO.
        listing: The ops of ``@main``, if they were listed.
    """
    main = main_function(module.operation)
    return Graph() if main is None or not main.regions[0].blocks else read(main, listing)


def layers_of(graph: Graph, *, scales: bool = False) -> list[Layer]:
    """Returns the layers of a graph; see `recognize`.

    Dropout and attention are found for the command ``inspect`` and for reports. No rewrite depends
    on them.

    Args:
        graph: The program.
        scales: Whether only the layers that a rewrite needs are found: normalizations and softmax.
    """
    found: list[Layer] = []
    inside: set[Node] = set()
    with np.errstate(all="ignore"):  # Samples may overflow.
        for (stage, _), finder in sorted(
            ((stage, name), finder) for name, (stage, finder) in FINDERS.items()
        ):
            if stage == Stage.SCALED or not scales:
                found += finder(graph, inside, found)
    named = [replace(layer, where=_where(layer)) for layer in found]
    return sorted(named, key=lambda layer: layer.output.index)


def _where(layer: Layer) -> str:
    op = layer.output.op
    return "" if op is None else shown_name(name_of(op))
