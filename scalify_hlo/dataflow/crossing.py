"""The values that cross from one part of a program to a later one, and those that have to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.min_cut import Node, cheapest
from scalify_hlo.dataflow.stacks import Pair, body_of, start_of
from scalify_hlo.dataflow.value_numbers import Computed, ValueNumbers
from scalify_hlo.ir.formats import element_type
from scalify_hlo.ir.functions import block_of
from scalify_hlo.ir.traits import CHEAP, COPIES, RESHAPES
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.ir.walk import read_by

_PASSING: Final = RESHAPES | COPIES
"""Ops whose results are no computation of their own."""

_SLICE: Final = "stablehlo.dynamic_slice"


class Crossing:
    """The values of two parts of a program, a first and a second one that reads what it computes.

    The parts are numbered together, so that a cast in both is one computation. Of the second part,
    the ops count that take nothing but values of the first one, or what both have. All others need
    what they take of these.

    Attributes:
        numbers: The numbers of the values.
        forward: The first value of each number in the first part.
        backward: The same in the second part.
        given: The numbers of what the second part has in any case.
        needed: The numbers of what it needs.
        rounded: The bytes of the values that are kept rounded if they are kept, by number.
    """

    def __init__(self) -> None:
        self.numbers = ValueNumbers()
        self.forward: dict[int, ir.Value] = {}
        self.backward: dict[int, ir.Value] = {}
        self.given: set[int] = set()
        self.needed: set[int] = set()
        self.rounded: dict[int, int] = {}

    def cheapest(self, now: Collection[int]) -> set[int]:
        """Returns the numbers of the values to keep, of the fewest bytes in all.

        Args:
            now: Those of what is kept now.
        """
        here: list[bool] = []
        nodes = []
        for number, each in enumerate(self.numbers.computed):
            given = number in self.given
            here.append(number in self.forward or _is_made(each, here))
            cost = self.cost_of(number) if here[number] and not given else None
            again = given or self.is_again(number, each)
            operands = () if given else each.operands or ()
            nodes.append(Node(operands, cost, again, number in now, number in self.needed))
        return cheapest(nodes)

    def cost_of(self, number: int) -> int | None:
        """Returns the bytes of a value as it is kept; None if they are not known."""
        return self.rounded.get(number) or self.bytes_of(number)

    def bytes_of(self, number: int) -> int | None:
        """Returns the size of a value; None if it is not known."""
        type_ = self.numbers.computed[number].value.type
        element = element_type(type_)
        if element is None or not type_.has_static_shape:
            return None
        bits: int = element.width if isinstance(element, ir.IntegerType | ir.FloatType) else 128
        return int(prod(type_.shape)) * max(1, bits // 8)

    def first(self, op: ir.Operation) -> None:
        """Numbers an op of the first part."""
        if not self.numbers.number(op):
            for result in op.results:
                self.numbers.put(result)
        for result in op.results:
            self.forward.setdefault(self.number(result), result)

    def second(self, op: ir.Operation) -> bool:
        """Numbers an op of the second part, or notes what it needs; returns which of the two."""
        if self.numbers.number(op):
            for result in op.results if op.name not in _PASSING else ():
                self.backward.setdefault(self.number(result), result)
            return True
        self.need(op)
        return False

    def need(self, op: ir.Operation) -> None:
        """Notes what an op of the second part needs."""
        numbers = (self.numbers.get(value) for value in read_by(op))
        self.needed.update(number for number in numbers if number is not None)

    def number(self, value: ir.Value) -> int:
        """Returns the number of a value, which gets one if it has none."""
        number = self.numbers.get(value)
        return self.numbers.put(value) if number is None else number

    def is_again(self, number: int, each: Computed) -> bool:
        """Whether the second part may compute a value of its operands."""
        if each.operands is None:
            return False
        name: str = each.value.owner.operation.name
        return number in self.backward or name in CHEAP


def _is_made(each: Computed, here: Sequence[bool]) -> bool:
    """Whether the first part can compute what only the second one does."""
    return each.operands is not None and all(here[operand] for operand in each.operands)


class LoopCrossing(Crossing):
    """The values of the bodies of a pair of loops.

    A row that the second loop reads has the number of what the first one wrote.

    Args:
        pair: The pair.

    Attributes:
        rows: The number of what each stack keeps, by the number of its carry.
        reads: The number of each row that the second loop reads.
        read: The first op of the second loop that reads a row; None if there is none.
        index: The number of the row, in the second loop.
    """

    def __init__(self, pair: Pair) -> None:
        super().__init__()
        self.rows: dict[int, int] = {}
        self.reads: ValueMap[int] = ValueMap()
        self.index: ir.Value = next(iter(pair.stacks.values())).index
        self._row_number = 0
        self._pair = pair
        self._shared = dict(pair.shared)
        self._number_forward()
        self.read = self._find_index()
        if self.read is not None:
            self._number_backward()

    def kept(self) -> set[int]:
        """Returns the numbers of the values to keep, of the fewest bytes in all."""
        return self.cheapest(set().union(*map(self.same_as, self.rows.values())))

    @property
    def old(self) -> dict[int, int]:
        """The numbers of what stacks keep that nothing else reads, by the number of the carry."""
        return {stack: row for stack, row in self.rows.items() if not self._shared[stack]}

    def same_as(self, row: int) -> set[int]:
        """Returns the number of a row, and of the same in another shape."""
        each = self.numbers.computed[row]
        return {row, *(each.operands or ())} if each.reshapes else {row}

    def _number_forward(self) -> None:
        loop = self._pair.forward
        body = body_of(loop)
        for number, argument in enumerate(body.arguments):
            self._put_argument(loop, number, argument)
        for op in body.operations:
            self._take_outer(op.operation, body)
            self.first(op.operation)

    def _put_argument(self, loop: ir.Operation, number: int, argument: ir.Value) -> None:
        start = start_of(loop, number)
        if start is None:
            found = self.numbers.put(argument)
        else:
            found = self.numbers.put(argument, self.numbers.outer(start))
            self.given.add(found)
        self.forward.setdefault(found, argument)

    def _take_outer(self, op: ir.Operation, body: ir.Block) -> None:
        """Numbers the operands of an op that come from around the loop."""
        for operand in op.operands:
            if self.numbers.get(operand) is None and _is_around(operand, body):
                self.given.add(self.numbers.outer(operand))

    def _find_index(self) -> ir.Operation | None:
        """Finds which row the second loop reads, and the stacks of which it reads that row."""
        first: ir.Operation | None = None
        body = body_of(self._pair.backward)
        stacks = ValueMap((body.arguments[n], s) for n, s in self._pair.stacks.items())
        for op in body.operations:
            if op.operation.name != _SLICE:
                continue
            stack = stacks.get(op.operands[0])
            if stack is None:
                continue
            index, row = self.number(stack.index), self.number(stack.row)
            if first is None:
                first, self.index = op.operation, op.operands[1]
                self._row_number = index
            read = op.results[0]
            same = op.operands[1] == self.index and index == self._row_number
            if same and read.type == stack.row.type:
                self.reads[read] = row
                self.rows[stack.number] = row
        for carry, stack in self._pair.stacks.items():
            uses = (use.owner for use in body.arguments[carry].uses)
            others = [op for op in uses if not len(op.results) or op.results[0] not in self.reads]
            after = any(self._pair.backward.results[carry].uses)
            if after or len(others) > 1:  # The loop returns it.
                self._shared[stack.number] = True
        for number, row in self.rows.items():
            if self._shared[number]:
                self.given |= self.same_as(row)
        return first

    def _number_backward(self) -> None:
        loop = self._pair.backward
        body = body_of(loop)
        self.numbers.put(self.index, self._row_number)
        self.given.add(self._row_number)
        self.backward[self._row_number] = self.index
        for value, row in self.reads.items():
            self.numbers.put(value, row)
        for number, argument in enumerate(body.arguments):
            start = start_of(loop, number)
            if start is not None and number not in self._pair.stacks:
                found = self.numbers.put(argument, self.numbers.outer(start))
                self.given.add(found)
                self.backward.setdefault(found, argument)
        for op in body.operations:
            known = [self.numbers.get(result) is not None for result in op.results]
            if not known or not all(known):
                self._take_outer(op.operation, body)
                self.second(op.operation)


def _is_around(value: ir.Value, body: ir.Block) -> bool:
    return bool(block_of(value) != body)
