"""Frames: the values that enter and leave calls, loops and branches.

If a function is called twice, each of its values exists twice. So analyses follow a value together
with its frame: the calls and loops around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import Final, NamedTuple, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import CALL_DEPTH
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.turns import turns_of
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.functions import terminator
from scalify_hlo.ir.traits import BODIES, BRANCHES, CALLS, COPIES, IN_ORDER, INSIDES, LOOP, RETURNS
from scalify_hlo.ir.value_map import OpMap, ValueMap


@dataclass(eq=False, slots=True)
class Frame:
    """The calls and regions through which a walk reached a value.

    Attributes:
        functions: The functions of the module by name.
        op: The call, loop or body of this frame; None for the outermost frame.
        outer: The frame around it.
        depth: The number of frames around it.
        ended: The limits at which searches ended, shared by all frames of a program.
        inner: The frames inside of this one, by their ops; None if there are none.
        places: The places in this frame that were asked for.
        place: Returns the place of a value in this frame; the same one each time.
    """

    functions: Mapping[str, ir.OpView]
    op: ir.Operation | None = None
    outer: Frame | None = None
    depth: int = 0
    ended: set[str] = field(default_factory=set)
    inner: OpMap[Frame] | None = None
    places: _Places = field(init=False)
    place: Callable[[ir.Value], Place] = field(init=False)

    def __post_init__(self) -> None:
        self.places = _Places(self)
        self.place = self.places.__getitem__

    @classmethod
    def of(cls, main: ir.OpView) -> Frame:
        """Returns the outermost frame of a program.

        Args:
            main: The entry function.
        """
        return cls(functions_in(main.operation.parent))

    @property
    def turns(self) -> tuple[int, bool]:
        """The turns of the loops around it, and whether all are known: others count once."""
        outer, known = (1, True) if self.outer is None else self.outer.turns
        count = turns_of(self.op) if self.op is not None and self.op.name == LOOP else 1
        return outer * (1 if count is None else count), known and count is not None

    def inside(self, op: ir.Operation) -> Frame:
        """Returns the frame inside of an op; the same one each time."""
        if self.inner is None:
            self.inner = OpMap()
        found = self.inner.get(op)
        if found is None:
            found = Frame(self.functions, op, self, self.depth + 1, self.ended)
            self.inner[op] = found
        return found

    def release(self) -> None:
        """Drops the places and the frames inside, which hold each other."""
        for frame in list(
            Search([self], lambda each: () if each.inner is None else each.inner.values())
        ):
            frame.places.clear()
            frame.inner = None

    def body_of(self, op: ir.Operation, name: str) -> ir.Block | None:
        """Returns the block that a call, a loop or a body runs."""
        if self.depth > CALL_DEPTH:
            self.ended.add(f"calls and loops are nested more than {CALL_DEPTH} deep")
            return None
        if name in CALLS:
            function = self.functions.get(op.attributes[CALLS[name]].value)
            regions = function.regions if function is not None else None
            return regions[0].blocks[0] if regions is not None and regions[0].blocks else None
        if name == LOOP:
            return op.regions[1].blocks[0]
        return op.regions[0].blocks[0] if name in BODIES else None

    def sources(self, value: ir.Value, owner: ir.Operation, name: str) -> list[Place]:
        """Returns the values inside of a call, loop, body or branches that become its result."""
        if name in BRANCHES:
            number = ir.OpResult(value).result_number
            return [self.place(_returned(region.blocks[0], number)) for region in owner.regions]
        op = owner.operation
        block = self.body_of(op, name)
        if block is None:
            return []
        return [self.inside(op).place(_returned(block, ir.OpResult(value).result_number))]

    def source_of_argument(self, value: ir.Value) -> list[Place]:
        """Returns the value outside of a block that its argument is; for a loop, before it.

        A region may capture the arguments of outer blocks.
        """
        frame, block = self, value.owner
        while frame.op is not None and frame.outer is not None:
            if frame._runs(block):
                return [frame.outer.place(frame.op.operands[ir.BlockArgument(value).arg_number])]
            if frame.op.name in CALLS:
                return []
            frame = frame.outer
        return [] if frame is self else [frame.place(value)]

    def _runs(self, block: ir.Block) -> bool:
        """Whether the arguments of a block are the operands of the op of this frame."""
        if self.op is None or self.outer is None:
            return False
        if self.op.name == LOOP:
            return any(block == region.blocks[0] for region in self.op.regions)
        return bool(self.outer.body_of(self.op, self.op.name) == block)

    def targets(self, use: ir.OpOperand) -> list[Place]:
        """Returns the values inside of a call, a loop or a body that its operand becomes."""
        owner = use.owner.operation
        block = self.body_of(owner, owner.name)
        if block is None:
            return []
        return [self.inside(owner).place(block.arguments[use.operand_number])]

    def passed_on(self, use: ir.OpOperand, *, turns: bool = False) -> list[Place] | None:
        """Returns the values that an operand is, where an op only passes it on.

        Args:
            use: The use of the operand: by a call, loop, body or branch, by the end of a region, or
                by an op that copies it.
            turns: Whether a value that a loop's body returns is also the carry of the next turn.

        Returns:
            None for other ops.
        """
        owner = use.owner.operation
        name = owner.name
        if name in RETURNS:
            return self.returned(use) + (self._next_turn(owner, use) if turns else [])
        if name in INSIDES:
            return self.targets(use)
        if name in COPIES:
            return [self.place(owner.results[use.operand_number])]
        return None

    def _next_turn(self, end: ir.Operation, use: ir.OpOperand) -> list[Place]:
        block = end.block
        loop = block.owner.operation
        if loop.name != LOOP or block != loop.regions[1].blocks[0]:
            return []
        return [self.place(block.arguments[use.operand_number])]

    def returned(self, use: ir.OpOperand) -> list[Place]:
        """Returns the values outside of a call, a loop or a region that a returned one becomes.

        A region may return a captured value, whose frame is the one around the region.
        """
        number, block = use.operand_number, use.owner.operation.block
        around = block.owner.operation
        if around.name == LOOP and block != around.regions[1].blocks[0]:
            return []
        if self.op is not None and self.outer is not None and self._runs(block):
            return [self.outer.place(self.op.results[number])]
        if around.name in IN_ORDER:
            return [self.place(around.results[number])]
        return [self.place(result) for result in around.results]


class _ValueInFrame(NamedTuple):
    value: ir.Value
    frame: Frame


class Place(_ValueInFrame):
    """A value and its frame; see `Frame.place`.

    There is one place for each value and frame. It is equal only to itself, so tables with places
    as keys do not compare values, and values that had one address have different places.
    """

    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__
    __ne__ = object.__ne__


_NEW: Final = tuple.__new__


class _Places(ValueMap[Place]):
    """The places in a frame by value; they are made when they are asked for.

    Args:
        frame: The frame.
    """

    __slots__ = ("_frame",)

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self._frame = frame

    def __missing__(self, value: ir.Value) -> Place:
        place = self[value] = _NEW(Place, (value, self._frame))
        return place


def _returned(block: ir.Block, number: int) -> ir.Value:
    return terminator(block).operands[number]


def operations(block: ir.Block, end: ir.Operation | None = None) -> list[ir.Operation]:
    """Returns the ops of a block before an op, or before its terminator.

    The ops of a function are found by a native walk, which is faster.
    """
    owner = block.owner.operation
    if owner.name != "func.func":
        return [op.operation for op in block.operations][:-1]
    found: list[ir.Operation] = []
    note, go_on, skip = found.append, ir.WalkResult.ADVANCE, ir.WalkResult.SKIP

    def visit(op: ir.Operation) -> ir.WalkResult:
        if end is not None and op == end:
            return ir.WalkResult.INTERRUPT
        note(op)
        return skip if len(found) > 1 else go_on

    owner.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[1:-1] if end is None else found[1:]


Named: TypeAlias = tuple[str, ir.Operation]
"""An op with its name, which is slow to look up."""


def named(block: ir.Block) -> list[Named]:
    """Returns the ops of a block without its terminator, with their names.

    Names are interned, as the bindings return new ones each time: tables find them faster.
    """
    return [(intern(op.name), op) for op in operations(block)]


def with_end(block: ir.Block) -> list[Named]:
    """Returns the ops of a block, with their names."""
    end = terminator(block)
    return [*named(block), (end.name, end)]
