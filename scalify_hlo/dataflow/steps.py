"""The ops of a training program that only its updates of state use: as a rule the optimizer.

They come after the gradients, and are as many as those of the model. Analyses of the model skip
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cmp_to_key
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import STEP_DEPTH
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.frames import Named
from scalify_hlo.dataflow.listing import Listing
from scalify_hlo.dataflow.reach import is_uniform
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.functions import is_block, terminator
from scalify_hlo.ir.traits import IN_ORDER, SUMS
from scalify_hlo.ir.value_map import OpSet

_WEIGHT = "weight"
_CONVERT: Final = "stablehlo.convert"


def without_steps(main: ir.OpView, listing: Listing | None = None) -> Sequence[Named]:
    """Returns the ops of a program without those after all gradients that only update its state.

    An update adds to a state. If a weight has no gradient of its own, other ops may be needed after
    the gradients. Then all ops are returned, as for a program without roles.

    Args:
        main: The entry function, in which state and gradients are marked.
        listing: All its ops, if they were listed.

    Returns:
        The ops in order with their names, without the terminator.
    """
    block = main.regions[0].blocks[0]
    arguments = block.arguments
    outputs, weights = [], 0
    for value, state in zip(terminator(block).operands, attributes.states(main), strict=True):
        if state is None or not _is_step(value, arguments[state[1]]):
            outputs.append(value)
        if state is not None and state[0] == _WEIGHT and not is_block(value.owner):
            weights += 1
    listing = listing or Listing(block)
    ops = listing.ops
    count = _to_gradients(listing, weights) if weights else None
    rest = _after(ops[count - 1][1], outputs) if count is not None else None
    return ops if rest is None else [*ops[:count], *rest]


def _is_step(value: ir.Value, state: ir.Value, depth: int = 0) -> bool:
    """Whether a value is a state plus a term, up to constant factors."""
    if value == state:
        return True
    owner = value.owner
    if depth == STEP_DEPTH or is_block(owner):
        return False
    name, operands = owner.name, owner.operands
    if name in SUMS or name == _CONVERT:
        # The new term is usually before the state of a moment, and after a weight.
        terms = list(operands)
        return state in terms or any(_is_step(term, state, depth + 1) for term in terms[::-1])
    if name == "stablehlo.multiply":
        one, other = operands[0], operands[1]
        if one != state and is_uniform(one):
            return _is_step(other, state, depth + 1)
        return is_uniform(other) and _is_step(one, state, depth + 1)
    return False


def _to_gradients(listing: Listing, number: int) -> int | None:
    """Returns the number of ops up to the op that makes the last of a number of gradients.

    None if there are fewer gradients.
    """
    names = listing.with_roles
    for count, (name, op) in enumerate(listing.ops, 1):
        if names is not None and name not in names:
            continue
        present = op.attributes
        if attributes.STATE_GRADIENT in present:
            number -= len(ir.ArrayAttr(present[attributes.STATE_GRADIENT]))
            if number <= 0:
                return count if number == 0 else None
    return None


def _after(last: ir.Operation, values: Iterable[ir.Value]) -> list[Named] | None:
    """Returns the ops after another one that values depend on; None if they are not known."""

    def makers(some: Iterable[ir.Value]) -> Iterator[ir.Operation]:
        owners = (value.owner for value in some)
        ops = (owner.operation for owner in owners if not is_block(owner))
        return (op for op in ops if last.is_before_in_block(op))

    ops = list(Search(makers(values), lambda op: makers(op.operands), seen=OpSet()))
    if any(op.name in IN_ORDER for op in ops):
        return None
    return sorted(((op.name, op) for op in ops), key=cmp_to_key(_order))


def _order(one: Named, other: Named) -> int:
    return -1 if one[1].is_before_in_block(other[1]) else 1
