"""Residuals: fewer and smaller stacks between the loops of the forward and the backward pass.

What a forward loop keeps of each turn for the backward one is replaced by the cheapest set of
values from which the backward loop gets what it reads. In between it computes cheap ops again, such
as elementwise ones, never matmuls; see `algebra.min_cut`. A value that is only read as a cast to f8
is kept as that. All values are the same as before, bit for bit, since the ops are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dataflow.crossing import LoopCrossing
from scalify_hlo.dataflow.stacks import Pair, body_of, pair_of, readers_of
from scalify_hlo.dataflow.turns import turns_of
from scalify_hlo.dataflow.value_numbers import PURE, Computed
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import Remark
from scalify_hlo.ir import emit
from scalify_hlo.ir.calls import CALL, functions_in
from scalify_hlo.ir.formats import is_complex, with_element
from scalify_hlo.ir.functions import block_of, callee_of, terminator
from scalify_hlo.ir.locations import remark
from scalify_hlo.ir.traits import COPIES, LOOP
from scalify_hlo.ir.value_map import (
    ValueSet,
    erase,
    replace_op,
    replace_uses,
)
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.transforms.carries import without_dead_carries
from scalify_hlo.transforms.hoist import return_more, with_more
from scalify_hlo.transforms.inlining import inline_call

_LEFT: Final = "what the loop keeps for a later one stays as it is"


def cut_residuals(
    module: ir.Operation, remarks: list[Remark] | None = None
) -> list[tuple[int, int]]:
    """Replaces what loops keep for later ones by what costs least.

    Args:
        module: A ``builtin.module``, which is edited in place.
        remarks: A list to which the reasons are added why loops stay as they are.

    Returns:
        For each pair of loops, the bytes of all turns before and after.
    """
    functions = {name: f.operation for name, f in functions_in(module).items()}
    loops, found = ops_in(module, [LOOP]), []
    for number, forward in enumerate(loops):
        readers = readers_of(forward)
        if not readers:
            continue
        if why := _why_left(forward, readers):
            if remarks is not None:
                remarks.append(remark(forward, f"{_LEFT}: {why}"))
            continue
        backward = readers[0]
        for loop in (forward, backward):
            loops += inline_in(body_of(loop).operations, functions)
        pair, place = pair_of(forward, backward), loops.index(backward)
        cut = _Cut(pair) if pair is not None else None
        if cut is not None and (sizes := cut.apply()):
            found.append(sizes)
            loops[number], loops[place] = cut.finish()
    return found


def _why_left(loop: ir.Operation, readers: Sequence[ir.Operation]) -> str:
    """Returns the reason why a loop that others read stays as it is; empty if there is none."""
    if len(readers) > 1:
        return f"{len(readers)} loops read it"
    if any("shard" in name for name in attributes.all_of(loop)):
        return "shardings of its carries are written at the loop"
    return "" if turns_of(loop) else "its number of turns is not known"


def inline_in(
    ops: Iterable[ir.OpView | ir.Operation], functions: dict[str, ir.Operation]
) -> list[ir.Operation]:
    """Inlines the calls among some ops, and returns the loops in these."""
    loops: list[ir.Operation] = []
    for call in [op.operation for op in ops if op.operation.name == CALL]:
        callee = functions[callee_of(call)]
        if len(callee.regions[0].blocks):
            inner = inline_call(call, callee)
            loops += [loop for op in inner for loop in ops_in(op, [LOOP])]
            loops += inline_in(inner, functions)
    return loops


class _Cut:
    """The cut between two loops.

    Args:
        pair: The loops.
    """

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._crossing = LoopCrossing(pair)
        self._backward = body_of(pair.backward)
        first = next(iter(pair.stacks.values()))
        self._index, self._turns = first.index, first.turns
        self._splats = emit.Splats()
        self._stacks: dict[int, ir.Value] = {}  # new stacks, by the number of what they keep
        self._made: dict[int, ir.Value] = {}  # in the second loop
        self._dropped: set[int] = set()  # what is kept no more
        self._new: set[int] = set()
        self._rows: dict[int, ir.Value] = {}  # rows of the stacks that are left

    def apply(self) -> tuple[int, int] | None:
        """Edits the loops, if that makes the stacks smaller; returns the bytes before and after."""
        crossing = self._crossing
        if crossing.read is None:
            return None
        kept, old = crossing.kept(), set(crossing.old.values())
        self._dropped = {row for row in old if not crossing.same_as(row) & kept}
        self._rows = {
            number: value
            for value, row in crossing.reads.items()
            for number in crossing.same_as(row)
            if row not in self._dropped
        }
        self._new = kept.difference(*(crossing.same_as(row) for row in old))
        before, removed, added = map(self._bytes, (old, self._dropped, self._new))
        if added >= removed:
            return None
        self._loop = self._keep()
        self._replace_reads()
        return before, before + added - removed

    def finish(self) -> list[ir.Operation]:
        """Erases what nothing reads any more, and returns the two loops."""
        loops = [self._loop, self._pair.backward]
        for i in (1, 0):
            erase_unread_ops(body_of(loops[i]))
            smaller = without_dead_carries(loops[i])
            loops[i] = loops[i] if smaller is None else smaller.loop
        return loops

    def _bytes(self, numbers: set[int]) -> int:
        return self._turns * sum(self._crossing.bytes_of(number) or 0 for number in numbers)

    # The first loop.

    def _keep(self) -> ir.Operation:
        """Adds the new stacks to the first loop, and returns the loop."""
        loop, last = self._pair.forward, terminator(body_of(self._pair.forward))
        starts, rows, numbers = [], [], sorted(self._new)
        for number in numbers:
            value = self._in_forward(number, last)
            shape, element = value.type.shape, value.type.element_type
            type_ = ir.RankedTensorType.get([self._turns, *shape], element)
            starts.append(_zeros(type_, loop))
            _, stack = (each.blocks[0].add_argument(type_, loop.location) for each in loop.regions)
            row = emit.reshaped(value, [1, *shape], last)
            rows.append(_written(stack, row, self._index, last, self._splats))
        if not rows:
            return loop
        return_more(last, rows)
        new = with_more(loop, starts, [start.type for start in starts])
        results = list(new.results)
        replace_op(loop, results[: -len(rows)])
        self._stacks = dict(zip(numbers, results[-len(rows) :], strict=True))
        return new

    def _in_forward(self, number: int, last: ir.Operation) -> ir.Value:
        """Returns the value of a number in the first loop, which may have to compute it."""
        known, each = self._crossing.forward, self._crossing.numbers.computed[number]
        if number not in known:
            operands = [self._in_forward(operand, last) for operand in each.operands or ()]
            known[number] = computed_of(each, operands, last)
        return known[number]

    # The second loop.

    def _replace_reads(self) -> None:
        """Has the second loop read the new stacks."""
        read = self._crossing.read
        self._early, self._placed = ValueSet(), ValueSet()
        ops = [op.operation for op in self._backward.operations]
        for op in ops:
            self._early.add_all(op.results)
            if op == read:
                break
        place, index = ops[ops.index(read) + 1], self._crossing.index
        self._at = emit.constant(index.type, 0, place).owner.operation
        reads = self._crossing.reads
        self._replace(value for op in ops for value in op.results if value not in reads)
        erase_unread_ops(self._backward, self._at)  # Rows that only they read need not be computed.
        self._replace(value for value in list(reads) if any(value.uses))
        erase(self._at)

    def _replace(self, values: Iterable[ir.Value]) -> None:
        """Replaces values of new stacks, and rows of stacks that are dropped."""
        for value in values:
            new = self._replaced(value)
            if new is not None:
                replace_uses(value, new)

    def _replaced(self, value: ir.Value) -> ir.Value | None:
        """Returns what is read in place of a value of a new stack, or a row of one dropped."""
        number = self._crossing.numbers.get(value)
        dropped = number in self._dropped and value in self._crossing.reads
        if number is None or not (dropped or number in self._new):
            return None
        return self._in_backward(number)

    def _in_backward(self, number: int) -> ir.Value:
        """Returns the value of a number in the second loop, early in it."""
        if number not in self._made:
            self._made[number] = self._make(number)
            self._placed.add(self._made[number])
        return self._made[number]

    def _make(self, number: int) -> ir.Value:
        crossing = self._crossing
        if number in self._stacks:
            return _row(self._stacks[number], crossing.index, self._at, self._splats)
        each = crossing.numbers.computed[number]
        row = self._rows.get(number)
        if row is not None:
            return emit.reshaped(self._early_form(row), each.value.type.shape, self._at)
        value = crossing.backward.get(number)
        if value is not None:
            return self._early_form(value)
        return computed_of(each, [*map(self._in_backward, each.operands or ())], self._at)

    def _early_form(self, value: ir.Value) -> ir.Value:
        """Moves the op that makes a value, and those before it, to the reads of rows."""
        new = self._replaced(value)
        if new is not None:
            return new
        if block_of(value) != self._backward or value in self._early or value in self._placed:
            return value
        op = value.owner
        if isinstance(op, ir.Block):
            return value
        op = op.operation
        for i, operand in enumerate(list(op.operands)):
            early = self._early_form(operand)
            if early != operand:
                op.operands[i] = early
        op.move_before(self._at)
        self._placed.add_all(op.results)
        return value


def computed_of(each: Computed, operands: Sequence[ir.Value], at: ir.Operation) -> ir.Value:
    """Builds a value of other operands, before an op; one of which they are not known is itself."""
    if each.operands is None:
        return each.value
    if each.reshapes:
        return emit.reshape(operands[0], each.value.type, at)
    op = each.value.owner.operation.clone(ip=ir.InsertionPoint(at)).operation
    for i, operand in enumerate(operands):
        op.operands[i] = operand
    return op.results[0]


def _zeros(type_: ir.Type, at: ir.Operation) -> ir.Value:
    """Builds what a stack starts with."""
    if not is_complex(type_):
        return emit.constant(type_, 0, at)
    part = with_element(type_, ir.ComplexType(type_.element_type).element_type)
    zeros = emit.constant(part, 0, at)
    return stablehlo.complex(zeros, zeros, **emit.before(at))


def _written(
    stack: ir.Value, row: ir.Value, index: ir.Value, at: ir.Operation, splats: emit.Splats
) -> ir.Value:
    """Writes a row into a stack."""
    zero = emit.integers(index.type, 0, at, splats)
    starts = [index, *[zero] * (stack.type.rank - 1)]
    return stablehlo.dynamic_update_slice(stack, row, starts, **emit.before(at))


def _row(stack: ir.Value, index: ir.Value, at: ir.Operation, splats: emit.Splats) -> ir.Value:
    """Reads a row of a stack."""
    zero = emit.integers(index.type, 0, at, splats)
    shape = list(stack.type.shape)[1:]
    starts = [index, *[zero] * len(shape)]
    row = stablehlo.dynamic_slice(
        stack, starts, ir.DenseI64ArrayAttr.get([1, *shape]), **emit.before(at)
    )
    return emit.reshaped(row, shape, at)


def erase_unread_ops(body: ir.Block, but: ir.Operation | None = None) -> None:
    """Erases pure ops of a block that nothing reads, but for one."""
    for op in reversed([op.operation for op in body.operations]):
        if not len(op.results) or any(any(result.uses) for result in op.results):
            continue
        if (op.name in PURE or op.name in COPIES) and (but is None or op != but):
            erase(op)
