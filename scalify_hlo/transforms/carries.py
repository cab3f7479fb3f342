"""Removal of the carries of loops that nothing reads."""

from __future__ import annotations

from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.traits import LOOP, WRITES
from scalify_hlo.ir.value_map import erase, erase_argument, replace_uses

_PLACING = ("mhlo.", "sdy.")
"""Prefixes of the attributes that give the placement of each value of a loop."""


def carried_by(value: ir.Value) -> tuple[ir.Operation, ir.Value] | None:
    """Returns the loop that carries a value unchanged, and the initial value."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        loop, index = owner.owner.operation, ir.BlockArgument(value).arg_number
    else:
        loop, index = owner, ir.OpResult(value).result_number
    if loop.name != LOOP:
        return None
    body = loop.regions[1].blocks[0]
    if isinstance(owner, ir.Block) and owner != body:
        return None
    if body.operations[-1].operands[index] != body.arguments[index]:
        return None
    return loop, loop.operands[index]


def carried_to(value: ir.Value, op: ir.Operation, index: int) -> list[ir.Value] | None:
    """Returns what a value is in and after a loop that carries it unchanged, given a use of it.

    Args:
        value: The value.
        op: The op that uses it.
        index: The number of the operand.

    Returns:
        The arguments of the loop and its result. They are none for the use at the end of the loop,
        and None for other uses.
    """
    if op.name == LOOP and carried_by(op.results[index]) is not None:
        return [*(region.blocks[0].arguments[index] for region in op.regions), op.results[index]]
    if not isinstance(value.owner, ir.Block) or carried_by(value) is None:
        return None
    last = value.owner.operations[-1].operation
    return [] if last == op and ir.BlockArgument(value).arg_number == index else None


class Loop(NamedTuple):
    """A loop with fewer carries, and the initial values of the removed carries."""

    loop: ir.Operation
    starts: list[ir.Value]


def without_dead_carries(loop: ir.Operation) -> Loop | None:
    """Removes the carries of a loop that nothing reads; returns None if there are none.

    They are carries that it does not change, or in which each turn writes.
    """
    blocks = [region.blocks[0] for region in loop.regions]
    body = blocks[1]
    last = body.operations[-1]

    def dead(index: int) -> bool:
        argument, next_ = body.arguments[index], last.operands[index]
        if any(blocks[0].arguments[index].uses) or any(loop.results[index].uses):
            return False
        inner = [use.owner.operation for use in argument.uses]
        if next_ != argument and len(inner) == 1 and inner[0].name in WRITES:
            return next_ == inner[0].results[0] and len(list(next_.uses)) == 1
        return next_ == argument and inner == [last.operation]

    kept = [i for i in range(len(loop.operands)) if not dead(i)]
    dropped = [i for i in range(len(loop.operands)) if i not in kept]
    if not dropped or any(key.startswith(_PLACING) for key, _ in attributes.all_of(loop).items()):
        return None
    emit.op(last, last.operation.name, [], [last.operands[i] for i in kept])
    erase(last)
    for index in dropped:
        for use in [use.owner for use in body.arguments[index].uses]:
            erase(use)
    for block in blocks:
        for index in reversed(dropped):
            erase_argument(block, index)
    types = [loop.results[i].type for i in kept]
    operands = [loop.operands[i] for i in kept]
    new = emit.taking_regions(loop, types, operands, attributes.all_of(loop))
    for index, result in zip(kept, new.results, strict=True):
        replace_uses(loop.results[index], result)
    starts = [loop.operands[i] for i in dropped]
    erase(loop)
    return Loop(new, starts)
