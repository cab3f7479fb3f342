"""The state of delayed scales among the arguments and results of an Exported."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import jax
import numpy as np

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.casts.delayed import LEAVES
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.functions import entry
from scalify_hlo.ir.value_map import erase_argument, replace_uses
from scalify_hlo.program.leaves import Leaf
from scalify_hlo.report.model import StateReport

_TREE = jax.tree.structure(dict.fromkeys(LEAVES, 0))
_PAIR: Any = jax.tree.structure((0, 0))


def extended(
    module: ir.Module,
    state: StateReport,
    arguments: Sequence[Leaf],
    results: Sequence[Leaf],
    trees: tuple[Any, Any],
) -> tuple[list[Leaf], list[Leaf], tuple[Any, Any]]:
    """Returns the leaves and trees of a program with the state, its last positional argument.

    Args:
        module: The module, whose last arguments are the state. They are moved before the keyword
            arguments.
        state: The state.
        arguments: The arguments without the state.
        results: The results without the state.
        trees: The trees of arguments and results without the state.
    """
    (positional, keywords), out_tree = trees[0].children(), trees[1]
    at = _leaves_in(arguments, positional.num_leaves)
    _move_state(module, sum(leaf.count for leaf in arguments[at:] if leaf.number is not None))
    count, f32 = len(state.names), np.dtype(np.float32)
    shapes = [((state.length, count), f32), ((count,), f32), ((), np.dtype(np.int32))]
    added = [Leaf(jax.core.ShapedArray(*shape), -1, i) for i, shape in enumerate(shapes)]
    taken = _compat.make_tree(positional.node_data(), [*positional.children(), _TREE])
    in_tree = _compat.make_tree(trees[0].node_data(), [taken, keywords])
    out_tree = _compat.make_tree(_PAIR.node_data(), [out_tree, _TREE])
    return [*arguments[:at], *added, *arguments[at:]], [*results, *added], (in_tree, out_tree)


def _leaves_in(leaves: Sequence[Leaf], count: int) -> int:
    """Returns how many leaves become the first flat values."""
    starts = accumulate((leaf.count for leaf in leaves), initial=0)
    return next(i for i, start in enumerate(starts) if start == count)


def _move_state(module: ir.Module, count: int) -> None:
    """Moves the state before the arguments that it follows, of which there are `count`."""
    if not count:
        return
    main = entry(module)
    block = main.regions[0].blocks[0]
    marks = attributes.argument_attributes(main)
    start = len(marks) - len(LEAVES) - count
    for old in list(block.arguments)[start : start + count]:
        replace_uses(old, block.add_argument(old.type, old.location))
    for _ in range(count):
        erase_argument(block, start)
    attributes.renew_function_type(main)
    moved = [*marks[:start], *marks[start + count :], *marks[start : start + count]]
    attributes.set_argument_attributes(main, moved)
