"""The data flow between the float values of `main`, and the order in which they are computed.

A value in a loop is computed in each turn. The moment of a value is a tuple of numbers: for each op
with regions around it the place of the op in its block and the number of its turn, and then the
place of its own op. Moments are ordered as tuples are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.commands.stats.packing import devices_in
from scalify_hlo.commands.stats.values import Watched, bodies_of, name_and_place
from scalify_hlo.dataflow.turns import turns_of
from scalify_hlo.ir.functions import terminator
from scalify_hlo.ir.traits import BRANCHES, LOOP, SOURCES
from scalify_hlo.ir.value_map import ValueMap

Moment: TypeAlias = tuple[float, ...]

_BEFORE: Final = -1.0
"""The place of the arguments of the program."""


@dataclass(frozen=True, slots=True)
class Around:
    """An op with regions around a value.

    Attributes:
        place: The place of the op in its block.
        op: The name of the op.
        name: Its name stack.
        location: Its source location.
        turns: The number of its turns; None if it is not a loop, or the number is not known.
        devices: The number of devices among which it divides its data; 1 for other ops.
    """

    place: int
    op: str
    name: str
    location: str
    turns: int | None
    devices: int = 1

    @property
    def is_loop(self) -> bool:
        """Whether the op has turns."""
        return self.op == LOOP


@dataclass(eq=False, slots=True)
class Node:
    """A float value in the data flow.

    Attributes:
        around: The ops with regions around it, from the outside in.
        place: The place of its op in its block.
        sources: The numbers of the nodes that it is computed from.
        watched: The value, if something is known of it; None for arguments of bodies and for
            values of dynamic shape.
        given: Whether it is a constant, or is computed from constants alone.
    """

    around: tuple[Around, ...]
    place: float
    sources: list[int] = field(default_factory=list)
    watched: Watched | None = None
    given: bool = False

    def moment(self, turns: Sequence[int]) -> Moment:
        """Returns the moment at which the value is computed.

        Args:
            turns: The number of the turn of each loop around it, from the outside in.
        """
        numbers = iter(turns)
        found: list[float] = []
        for around in self.around:
            found += [around.place, next(numbers) if around.is_loop else 0]
        # An op ends after all that is inside of it.
        return (*found, self.place, math.inf)


class Flow:
    """The data flow between the float values of a function, in which all calls were inlined.

    Args:
        main: The function.
        program: The name of the program in locations.
        values: The values of which something is known.

    Attributes:
        nodes: The values, in program order.
        results: The number of the node of each float result of the function; None for others.
    """

    def __init__(self, main: ir.OpView, program: str, values: Iterable[Watched]) -> None:
        self.nodes: list[Node] = []
        self._program = program
        self._watched = ValueMap((one.value, one) for one in values)
        self._numbers: ValueMap[int] = ValueMap()
        self._given: ValueMap[bool] = ValueMap()
        block = main.regions[0].blocks[0]
        for argument in block.arguments:
            self._add(argument, (), _BEFORE, [])
        self._block(block, ())
        returned = terminator(block).operands
        self.results = [self._numbers.get(value) for value in returned]

    def reached(self, starts: Iterable[int], passes: Callable[[Node], bool]) -> set[int]:
        """Returns the nodes that are reached from some, against the data flow.

        Args:
            starts: The numbers of the first nodes.
            passes: Whether a node is reached, and its sources may be; only asked of nodes that are
                watched.
        """

        def passing(numbers: Iterable[int]) -> Iterator[int]:
            nodes = self.nodes
            return (n for n in numbers if nodes[n].watched is None or passes(nodes[n]))

        return set(Search(passing(starts), lambda number: passing(self.nodes[number].sources)))

    def sources(self, number: int) -> set[int]:
        """Returns the watched nodes that a node is computed from, past others between."""

        def past(at: int) -> Iterable[int]:
            return self.nodes[at].sources if self.nodes[at].watched is None else ()

        search = Search(self.nodes[number].sources, past)
        return {at for at in search if self.nodes[at].watched is not None}

    def _add(
        self, value: ir.Value, around: tuple[Around, ...], place: float, sources: list[int]
    ) -> int:
        """Adds the node of a value, of whatever type."""
        number = self._numbers[value] = len(self.nodes)
        watched = self._watched.get(value)
        given = self._given.get(value, False)
        self.nodes.append(Node(around, place, sources, watched, given))
        return number

    def _block(self, block: ir.Block, around: tuple[Around, ...]) -> None:
        for place, op in enumerate([op.operation for op in block.operations][:-1]):
            inner = list(bodies_of(op))
            if inner:
                self._with_bodies(op, inner, around, place)
                continue
            operands = _operands(op)
            sources = [n for v in operands if (n := self._numbers.get(v)) is not None]
            given = op.name in SOURCES or (
                bool(operands) and all(self._given.get(v, False) for v in operands)
            )
            for result in op.results:
                self._given[result] = given
                if _is_float(result):
                    self._add(result, around, place, sources)

    def _with_bodies(
        self, op: ir.Operation, inner: list[ir.Block], around: tuple[Around, ...], place: int
    ) -> None:
        """Adds the nodes of a loop, of branches or of a per-device computation."""
        name, location = name_and_place(op, self._program)
        turns = turns_of(op) if op.name == LOOP else None
        here = (*around, Around(place, op.name, name, location, turns, devices_in(op)))
        returned: list[list[int]] = [[] for _ in op.results]
        entered: list[int | None] = []
        for block in inner:
            entered = self._enter(op, block, here)
            self._block(block, here)
            for number, value in enumerate(terminator(block).operands):
                found = self._numbers.get(value)
                if found is not None:
                    returned[number].append(found)
        if op.name == LOOP:
            for number, entry in enumerate(entered):
                if entry is not None:
                    self.nodes[entry].sources += returned[number]
                    returned[number] += self.nodes[entry].sources[:1]
        for number, result in enumerate(op.results):
            if _is_float(result):
                self._add(result, around, place, returned[number])

    def _enter(
        self, op: ir.Operation, block: ir.Block, here: tuple[Around, ...]
    ) -> list[int | None]:
        """Adds the nodes of the arguments of a body, which are operands of its op."""
        if op.name in BRANCHES:
            return []
        entered: list[int | None] = []
        for argument, operand in zip(block.arguments, op.operands, strict=True):
            outside = self._numbers.get(operand)
            if outside is None or not _is_float(argument):
                entered.append(None)
            else:
                entered.append(self._add(argument, here, _BEFORE, [outside]))
        return entered


def _operands(op: ir.Operation) -> list[ir.Value]:
    """The operands of an op, and the values around it that its regions use."""
    found = list(op.operands)
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                found += [v for v in inner.operands if _is_outside(v, op)]
    return found


def _is_outside(value: ir.Value, op: ir.Operation) -> bool:
    """Whether a value that an op of a region uses is defined around the op of the region."""
    owner = value.owner
    block = owner if isinstance(owner, ir.Block) else owner.operation.block
    return all(block != each for region in op.regions for each in region.blocks)


def _is_float(value: ir.Value) -> bool:
    element = getattr(value.type, "element_type", None)
    return isinstance(element, ir.FloatType | ir.ComplexType)
