"""Stacks: what a loop keeps of each turn, and the loop that reads it, as the backward pass does.

A forward loop of n turns writes a value of turn i into row i of a tensor of n rows, and passes the
tensor to a later loop, which reads a row in each turn. Each row is written once before any is read,
so that two stacks of one loop have values of the same turn in the same row, whatever the order in
which the rows are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.turns import turns_of
from scalify_hlo.ir.functions import is_block, terminator
from scalify_hlo.ir.splats import integer_of
from scalify_hlo.ir.through import behind, readers
from scalify_hlo.ir.traits import LOOP, RESHAPES, SUMS
from scalify_hlo.ir.value_map import ValueMap


class Stack(NamedTuple):
    """A stack of a loop.

    Attributes:
        number: The number of the carry.
        row: What a turn writes, with a first dimension of 1.
        index: The number of the row, which is another one in each turn.
        turns: The number of turns, and of rows.
    """

    number: int
    row: ir.Value
    index: ir.Value
    turns: int


@dataclass(frozen=True)
class Pair:
    """A loop, and a later one that reads its stacks.

    Attributes:
        forward: The first loop.
        backward: The second one.
        stacks: The stacks of the first loop, by the number of the carry of the second one.
        shared: Whether something else reads a stack, by the number of the carry of the first loop.
    """

    forward: ir.Operation
    backward: ir.Operation
    stacks: dict[int, Stack]
    shared: dict[int, bool]


def body_of(loop: ir.Operation) -> ir.Block:
    """Returns the body of a loop."""
    return loop.regions[1].blocks[0]


def start_of(loop: ir.Operation, number: int) -> ir.Value | None:
    """Returns the value that a loop carries unchanged; None for a carry that changes."""
    body = body_of(loop)
    if terminator(body).operands[number] != body.arguments[number]:
        return None
    return behind(loop.operands[number], ())


def readers_of(forward: ir.Operation) -> list[ir.Operation]:
    """Returns the later loops of the block that carry results of a loop unchanged."""
    found: ValueMap[ir.Operation] = ValueMap()
    for result in forward.results:
        for op, number in readers(result, ()):
            if op.name == LOOP and op.block == forward.block and start_of(op, number) is not None:
                found[op.results[0]] = op
    return list(found.values())


def pair_of(forward: ir.Operation, backward: ir.Operation) -> Pair | None:
    """Returns a pair of loops; None if no stack of the first is read in the second.

    Args:
        forward: The first loop. There are no calls in the bodies of the two.
        backward: The second loop.
    """
    written = {stack.number: stack for stack in _stacks(forward)}
    stacks, shared = dict[int, Stack](), dict[int, bool]()
    for number in range(len(backward.operands)):
        start = start_of(backward, number)
        if start is None or is_block(start.owner) or start.owner != forward:
            continue
        stack = written.get(ir.OpResult(start).result_number)
        if stack is not None:
            stacks[number] = stack
            uses = sum(1 for _ in readers(start, ()))
            shared[stack.number] = uses > 1 or shared.get(stack.number, False)
    return Pair(forward, backward, stacks, shared) if stacks else None


def _stacks(loop: ir.Operation) -> Iterator[Stack]:
    """Yields the stacks of a loop that writes each row of them."""
    turns, body = turns_of(loop), body_of(loop)
    if not turns:
        return
    last = terminator(body)
    for number, argument in enumerate(body.arguments):
        write, type_ = behind(last.operands[number], ()).owner, argument.type
        if is_block(write) or write.name != "stablehlo.dynamic_update_slice":
            continue
        whole, row, index, *_ = write.operands
        reads = sum(1 for _ in argument.uses)
        fits = whole == argument and type_.has_static_shape and type_.shape[0] == turns
        fits = fits and list(row.type.shape) == [1, *type_.shape[1:]]
        if fits and reads == 1 and _covers(loop, index, turns):
            yield Stack(number, row, index, turns)


def _covers(loop: ir.Operation, index: ir.Value, turns: int) -> bool:
    """Whether a row number takes each value from 0 to the number of turns, less one, once."""
    found = _line(index)
    if found is None:
        return False
    counter, slope, offset = found
    body = body_of(loop)
    if not is_block(counter.owner) or counter.owner != body:
        return False
    number = ir.BlockArgument(counter).arg_number
    start = integer_of(behind(loop.operands[number], ()))
    end = _line(terminator(body).operands[number])
    if start is None or end is None or end[:2] != (counter, 1) or abs(slope * end[2]) != 1:
        return False
    ends = [slope * (start + end[2] * turn) + offset for turn in (0, turns - 1)]
    return sorted(ends) == sorted([0, turns - 1])


def _line(value: ir.Value) -> tuple[ir.Value, int, int] | None:
    """Returns a value, a slope of 1 or -1 and an offset for an integer that is linear in it."""
    slope, offset = 1, 0
    while not is_block(owner := (value := behind(value, ())).owner):
        if owner.name in RESHAPES:
            value = owner.operands[0]
            continue
        if owner.name not in SUMS:
            break
        one, other = (behind(each, ()) for each in owner.operands)
        adds = owner.name == "stablehlo.add"
        if (number := integer_of(other)) is not None:
            value, offset = one, offset + slope * (number if adds else -number)
        elif (number := integer_of(one)) is not None:
            value, offset = other, offset + slope * number
            slope = slope if adds else -slope
        else:
            break
    return value, slope, offset
