"""Residuals: fewer and smaller stacks between the loops of the forward and the backward pass.

What a forward loop keeps of each turn for the backward one is replaced by the cheapest set of
values from which the backward loop gets what it reads. In between it computes cheap ops again, such
as elementwise ones, never matmuls; see `algebra.min_cut`. A value that is only read as a cast to f8
is kept as that. All values are the same as before, bit for bit, since the ops are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.moments import SCALE_FORMAT
from scalify_hlo.dataflow.crossing import Crossing, LoopCrossing
from scalify_hlo.dataflow.names import BACKWARD, name_of, part_of
from scalify_hlo.dataflow.stacks import Pair, body_of, pair_of, readers_of
from scalify_hlo.dataflow.tolerance import tolerant
from scalify_hlo.dataflow.turns import turns_of
from scalify_hlo.dataflow.value_numbers import PURE, Computed
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import Remark
from scalify_hlo.ir import emit
from scalify_hlo.ir.calls import CALL, functions_in
from scalify_hlo.ir.formats import element_of, is_complex, with_element
from scalify_hlo.ir.functions import block_of, callee_of, is_block, terminator
from scalify_hlo.ir.locations import remark
from scalify_hlo.ir.traits import COPIES, LOOP
from scalify_hlo.ir.value_map import (
    ValueMap,
    ValueSet,
    erase,
    replace_op,
    replace_uses,
)
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.transforms.carries import without_dead_carries
from scalify_hlo.transforms.hoist import return_more, with_more
from scalify_hlo.transforms.inlining import inline_call


class Form(Protocol):
    """A form in which values may be kept, with fewer bytes than their own."""

    def size(self, type_: ir.Type) -> int | None:
        """Returns the bytes of a value of a type; None if it is kept as it is."""

    def parts(self, value: ir.Value, at: ir.Operation) -> list[ir.Value]:
        """Returns what is kept of a value, built before an op."""

    def whole(self, parts: Sequence[ir.Value], type_: ir.Type, at: ir.Operation) -> ir.Value:
        """Returns a value of a type of what was kept of it, built before an op."""

    def bound(self, cast: ir.Operation) -> None:
        """Has a cast saturate, which did not overflow before its operand was rounded."""


_LEFT: Final = "what the loop keeps for a later one stays as it is"


class Saved(NamedTuple):
    """The bytes that are kept where something is changed.

    Attributes:
        before: The bytes that were kept before.
        after: The bytes that are kept now.
        rounded: The number of the values that are kept rounded.
    """

    before: int
    after: int
    rounded: int = 0


def cut_residuals(
    module: ir.Operation, form: Form | None = None, remarks: list[Remark] | None = None
) -> list[Saved]:
    """Replaces what loops keep for later ones by what costs least.

    Args:
        module: A ``builtin.module``, which is edited in place.
        form: The form in which tolerant values are kept; None for their own.
        remarks: A list to which the reasons are added why loops stay as they are.

    Returns:
        For each pair of loops what all turns keep.
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
        cut = _Cut(pair, form) if pair is not None else None
        if cut is not None and (sizes := cut.apply()):
            found.append(sizes)
            loops[number], loops[place] = cut.finish()
    return found


def is_little(before: int, after: int) -> bool:
    """Whether a change would save less than a 64th of the bytes, and is not worth its ops."""
    return 64 * after >= 63 * before


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
            loops += [loop for op in inner if len(op.regions) for loop in ops_in(op, [LOOP])]
            loops += inline_in(inner, functions)
    return loops


class Kept:
    """The ways in which values are kept: some of them in another form.

    Args:
        crossing: The values.
        form: The form in which tolerant ones are kept; None for their own.
    """

    def __init__(self, crossing: Crossing, form: Form | None) -> None:
        self._crossing, self._form = crossing, form

    def allow(self, first: Sequence[ir.Operation], second: Sequence[ir.Operation]) -> None:
        """Finds the tolerant values of a forward pass; see `dataflow.tolerance`."""
        if self._form is None:
            return
        for number in tolerant(self._crossing, first, second):
            size = self._form.size(self._crossing.forward[number].type)
            if size is not None and size < (self._crossing.bytes_of(number) or 0):
                self._crossing.rounded[number] = size

    def parts(self, number: int, value: ir.Value, at: ir.Operation) -> list[ir.Value]:
        """Returns what is kept of a value, built before an op."""
        if self._form is None or number not in self._crossing.rounded:
            return [value]
        return self._form.parts(value, at)

    def whole(self, number: int, parts: list[ir.Value], at: ir.Operation) -> ir.Value:
        """Returns a value of what is kept of it, built before an op."""
        if self._form is None or number not in self._crossing.rounded:
            return parts[0]
        return self._form.whole(parts, self._crossing.numbers.computed[number].value.type, at)

    def bound(self, kept: set[int], ops: Iterable[ir.Operation]) -> int:
        """Has casts of what is computed of rounded values saturate; returns the number of those."""
        rounded = len(kept & self._crossing.rounded.keys())
        if self._form is None or not rounded:
            return 0
        for op in ops:
            owner = op.operands[0].owner if op.name == "stablehlo.convert" else op.block
            if not is_block(owner) and owner.name != "stablehlo.clamp":
                self._form.bound(op)
        return rounded


class _Cut:
    """The cut between two loops.

    Args:
        pair: The loops.
        form: The form in which tolerant values are kept.
    """

    def __init__(self, pair: Pair, form: Form | None) -> None:
        self._pair, self._crossing = pair, LoopCrossing(pair)
        self._form = Kept(self._crossing, form)
        self._backward = body_of(pair.backward)
        first = next(iter(pair.stacks.values()))
        self._index, self._turns = first.index, first.turns
        self._splats = emit.Splats()
        self._stacks: dict[int, list[ir.Value]] = {}  # new ones, by the number of what they keep
        self._made: dict[int, ir.Value] = {}  # in the second loop
        self._dropped: set[int] = set()  # what is kept no more
        self._new: set[int] = set()
        self._rows: dict[int, ir.Value] = {}  # rows of the stacks that are left

    def apply(self) -> Saved | None:
        """Edits the loops, if that makes the stacks smaller; returns what they keep."""
        crossing = self._crossing
        if crossing.read is None:
            return None
        if part_of(name_of(self._pair.backward)) == BACKWARD:
            loops = self._pair.forward, self._pair.backward
            first, second = ([op.operation for op in body_of(loop).operations] for loop in loops)
            self._form.allow(first, second)
        kept, old = crossing.kept(), set(crossing.old.values())
        exact = kept - crossing.rounded.keys()
        self._dropped = {row for row in old if not crossing.same_as(row) & exact}
        self._rows = {
            number: value
            for value, row in crossing.reads.items()
            for number in crossing.same_as(row)
            if row not in self._dropped
        }
        self._new = kept.difference(*(crossing.same_as(row) for row in old - self._dropped))
        before, removed = map(self._bytes, (old, self._dropped))
        added = self._turns * sum(crossing.cost_of(number) or 0 for number in self._new)
        if is_little(before, before + added - removed):
            return None
        self._loop = self._keep()
        self._replace_reads()
        values = [v for op in self._backward.operations for v in op.results]
        known = (v for v in values if v in self._placed or crossing.numbers.get(v) is not None)
        rounded = self._form.bound(self._new, [value.owner.operation for value in known])
        return Saved(before, before + added - removed, rounded)

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
        starts, rows, numbers = [], [], list[int]()
        for number in sorted(self._new):
            for value in self._form.parts(number, self._in_forward(number, last), last):
                shape, element = value.type.shape, value.type.element_type
                type_ = ir.RankedTensorType.get([self._turns, *shape], element)
                starts.append(_zeros(type_, loop))
                arguments = (r.blocks[0].add_argument(type_, loop.location) for r in loop.regions)
                row = emit.reshaped(value, [1, *shape], last)
                rows.append(_written([*arguments][1], row, self._index, last, self._splats))
                numbers.append(number)
        if not rows:
            return loop
        return_more(last, rows)
        new = with_more(loop, starts, [start.type for start in starts])
        results = list(new.results)
        replace_op(loop, results[: -len(rows)])
        for number, stack in zip(numbers, results[-len(rows) :], strict=True):
            self._stacks.setdefault(number, []).append(stack)
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
        self._erase_unread()  # Rows that only they read need not be computed.
        self._replace(value for value in list(reads) if any(value.uses))
        erase(self._at)

    def _erase_unread(self) -> None:
        """Erases ops of the second loop that nothing reads, and forgets their values."""
        known = [self._crossing.backward, self._made]
        left = [ValueMap((value, number) for number, value in some.items()) for some in known]
        erase_unread_ops(self._backward, self._at)
        self._crossing.backward, self._made = ({n: v for v, n in some.items()} for some in left)

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
        each = crossing.numbers.computed[number]
        if number in self._stacks:
            parts = [
                _row(stack, crossing.index, self._at, self._splats)
                for stack in self._stacks[number]
            ]
            return self._form.whole(number, parts, self._at)
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
    """Builds what a stack starts with: zeros, or ones if there is no zero."""
    if not is_complex(type_):
        return emit.constant(type_, type_.element_type == element_of(SCALE_FORMAT), at)
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
