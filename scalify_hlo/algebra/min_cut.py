"""The cheapest set of values to keep, from which others are computed again.

Values make a graph, of which the edges say what is computed from what. Each value has a capacity,
its cost, as an edge of its own. What cannot be computed again hangs on a source, and what is needed
on a sink. By the theorem of maximum flow and minimum cut, the values whose edges a maximum flow
fills are the cheapest set; the same reduction is used by the partitioners of other compilers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from scalify_hlo.algebra.search import Search

_INFINITE: Final = 2**31 - 1
_TOTAL: Final = 2**30  # of all finite capacities, so that no infinite one is ever filled
_GRAIN: Final = 64  # bytes


class Node(NamedTuple):
    """A value that may be kept.

    Attributes:
        operands: The numbers of the values from which it is computed.
        cost: Its size in bytes; None if it cannot be kept.
        again: Whether it may be computed again from its operands.
        kept: Whether it is kept now, and so preferred to others of its cost.
        needed: Whether it has to be kept or computed again.
    """

    operands: Sequence[int]
    cost: int | None
    again: bool
    kept: bool = False
    needed: bool = False


def cheapest(nodes: Sequence[Node]) -> set[int]:
    """Returns the numbers of the values to keep, of least cost in all.

    Of several such sets, it is the one from which the least is computed again.
    """
    needed = [number for number, node in enumerate(nodes) if node.needed]
    used = Search(needed, lambda n: nodes[n].operands if nodes[n].again else ()).to_end().found
    places = {number: 2 * i for i, number in enumerate(used)}
    source, sink = 2 * len(places), 2 * len(places) + 1
    total = sum(2 * (nodes[number].cost or 0) for number in used)
    grain = max(_GRAIN, -(-total // _TOTAL))
    edges: dict[tuple[int, int], int] = {}
    for number, place in places.items():
        node = nodes[number]
        edges[place, place + 1] = _capacity(node, grain)
        if node.needed:
            edges[place + 1, sink] = _INFINITE
        if not node.again:
            edges[source, place] = _INFINITE
            continue
        for operand in node.operands:
            edges[places[operand] + 1, place] = _INFINITE
    before = _before(edges, source, sink)
    return {n for n, place in places.items() if place not in before and place + 1 in before}


def _capacity(node: Node, grain: int) -> int:
    """The cost in grains, doubled, so that what is kept already is one less than others."""
    return _INFINITE if node.cost is None else 2 * -(-node.cost // grain) + (not node.kept)


def _before(edges: dict[tuple[int, int], int], source: int, sink: int) -> set[int]:
    """Returns the vertices from which a maximum flow leaves a way to the sink."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    if not edges:
        return set()
    rows, columns = np.array(list(edges), np.int32).T
    capacities = np.array(list(edges.values()), np.int32)
    graph = csr_array((capacities, (rows, columns)), (sink + 1, sink + 1))
    flow = maximum_flow(graph, source, sink).flow
    left = (graph.astype(np.int64) - flow.astype(np.int64)).tocoo()
    into: dict[int, list[int]] = defaultdict(list)
    open_ = left.data > 0
    for row, column in zip(left.row[open_].tolist(), left.col[open_].tolist(), strict=True):
        into[column].append(row)
    return set(Search([sink], lambda vertex: into[vertex]).to_end().found)
