"""The cheapest values to keep, against all sets of values."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from scalify_hlo.algebra.min_cut import Node, cheapest

GIB = 2**30


def holds(nodes: list[Node], kept: set[int]) -> bool:
    """Whether what is needed is kept, or computed again of what is."""
    have: list[bool] = []
    for number, node in enumerate(nodes):
        again = node.again and all(have[operand] for operand in node.operands)
        have.append(number in kept or again)
    return all(have[number] for number, node in enumerate(nodes) if node.needed)


def least(nodes: list[Node]) -> float:
    """The least cost of a set that holds, of all."""
    costs = [
        sum(nodes[n].cost or 0 for n in kept)
        for size in range(len(nodes) + 1)
        for kept in combinations([n for n, node in enumerate(nodes) if node.cost], size)
        if holds(nodes, set(kept))
    ]
    return min(costs, default=np.inf)


@pytest.mark.parametrize("unit", [64, GIB])
@pytest.mark.parametrize("seed", range(40))
def test_no_set_costs_less(seed: int, unit: int) -> None:
    random, nodes = np.random.default_rng(seed), list[Node]()
    for number in range(9):
        operands = sorted(random.choice(number, min(number, 2), replace=False).tolist())
        again = bool(random.random() < 0.7)
        cost = unit * int(random.integers(1, 5))
        unsized = again and number > 2 and random.random() < 0.3
        nodes.append(Node(operands, None if unsized else cost, again, needed=number > 6))
    kept = cheapest(nodes)
    if least(nodes) < np.inf:
        assert holds(nodes, kept)
        assert sum(nodes[n].cost or 0 for n in kept) == least(nodes)


def test_tensors_of_many_gibibytes_are_told_apart() -> None:
    """Capacities have 32 bits, so that the sum of all has to fit."""
    layers = 400
    wide = [Node((), 3 * GIB, False, kept=True) for _ in range(layers)]
    casts = [Node((n,), 2 * GIB, True, needed=True) for n in range(layers)]
    assert cheapest([*wide, *casts]) == set(range(layers, 2 * layers))


def test_a_source_without_a_size_is_not_run_dry() -> None:
    source = Node((), None, False)
    values = [Node((0,), 3 * GIB, True, needed=True) for _ in range(400)]
    assert cheapest([source, *values]) == set(range(1, 401))


def test_of_equal_sets_that_which_is_kept_stays() -> None:
    first, second = Node((), 64, False), Node((0,), 64, True, kept=True)
    assert cheapest([first, second, Node((1,), 128, True, needed=True)]) == {1}
    assert cheapest([first._replace(kept=True), second._replace(kept=False, needed=True)]) == {0}
