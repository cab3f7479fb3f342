"""Second casts of weights for the backward pass, each in the kernel that updates the weight.

The matmul of a forward pass sums over the first dimension of a weight, and that of the gradient of
its input over the last one. GPUs of which both operands are read along the summed dimension need
two copies of a cast then, of which one is the transpose of the other. Compilers make both at the
start, as these copies depend on arguments alone, and they stay in memory until they are read.

The update of the weight reads it as well. If the update does not depend on the gradient of the
input, one kernel can read the weight once, and write the new weight and the second copy. That copy
exists only from there to its matmul, and the gradient of the weight is read before the next one is
computed. The first copy and its transpose are one kernel less.

The second cast has the bits of the first, as it does the same to the same value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import NORMALIZATION_OPS, SECOND_CAST_ELEMENTS, UPDATE_OPS
from scalify_hlo.algebra.search import Search
from scalify_hlo.casts.casts import barrier_after
from scalify_hlo.casts.costs import contracted_last
from scalify_hlo.dataflow.frames import Named
from scalify_hlo.ir import emit, traits
from scalify_hlo.ir.formats import format_of, is_small
from scalify_hlo.ir.functions import is_block, maker, terminator
from scalify_hlo.ir.splats import is_constant, is_one_number
from scalify_hlo.ir.traits import RETURNS
from scalify_hlo.ir.value_map import ValueMap, ValueSet, erase_unread, redirect, uses_of
from scalify_hlo.rules.saturation import before_saturation

_DOT: Final = "stablehlo.dot_general"
_BARRIER: Final = "stablehlo.optimization_barrier"
_CONVERT: Final = "stablehlo.convert"
_RESHAPE: Final = "stablehlo.reshape"
_VIEWS: Final = frozenset({_RESHAPE, _BARRIER})
"""Ops of one operand whose results have its elements in the same order."""
_CLAMP: Final = "stablehlo.clamp"
_REDUCE: Final = "stablehlo.reduce"


class _Reader(NamedTuple):
    """A matmul that reads a cast.

    Attributes:
        op: The matmul.
        side: The number of the operand.
        position: Its position in the program.
    """

    op: ir.Operation
    side: int
    position: int


@dataclass
class _Cast:
    """A cast of an argument that matmuls read in two orders.

    Attributes:
        steps: The ops that make it from the argument, first to last.
        root: The argument.
        late: The readers that sum over its last dimension.
        others: The other readers.
        updates: The ops of the update that read the argument.
        statistics: The ops of each statistic of the argument that is read later, first to last.
    """

    steps: list[ir.Operation]
    root: ir.Value
    late: list[_Reader]
    others: list[_Reader]
    updates: Sequence[ir.Operation] = ()
    statistics: Sequence[list[ir.Operation]] = ()

    @property
    def elements(self) -> int:
        """The number of elements of the argument."""
        return prod(self.root.type.shape)

    @property
    def start(self) -> int:
        """The position of the first matmul that sums over the last dimension."""
        return self.late[0].position


def cast_again(block: ir.Block, ops: Sequence[Named]) -> None:
    """Casts weights a second time where they are updated.

    Args:
        block: The block of ``main``, of a program for one device.
        ops: Its ops. Some are erased, none of which is a cast.
    """
    casts = [steps for name, op in ops if name == _CONVERT and (steps := _steps(op))]
    if not casts:
        return
    positions = ValueMap((op.results[0], i) for i, (_, op) in enumerate(ops) if len(op.results))
    found = [cast for each in casts if (cast := _read_in_two_orders(each, positions)) is not None]
    latest = _latest(ops, found) if found else ValueMap()
    end = terminator(block)
    for cast in found:
        cast.updates = _updates(cast, positions, latest, end)
    found = _smaller_than_the_rest([cast for cast in found if cast.updates])
    for cast in found:
        cast.statistics = _statistics(cast, positions)
    for cast in found:
        _make_again(cast)


def _smaller_than_the_rest(casts: Sequence[_Cast]) -> list[_Cast]:
    """Returns casts without those that take more memory where they are made than all others save.

    At its update, the gradient of the weight is in memory beside the second cast. Without a second
    cast, the copies of the other weights are, and the two copies of this one.
    """
    casts = sorted(casts, key=lambda cast: cast.elements)
    totals = accumulate(cast.elements for cast in casts)
    pairs = enumerate(zip(casts, totals, strict=True), 1)
    counts = [count for count, (cast, total) in pairs if 2 * cast.elements <= total]
    return casts[: max(counts, default=0)]


def _is_large_cast(op: ir.Operation) -> bool:
    type_ = op.results[0].type
    large = type_.has_static_shape and prod(type_.shape) >= SECOND_CAST_ELEMENTS
    return large and is_small(type_)


def _steps(cast: ir.Operation) -> list[ir.Operation]:
    """Returns the ops that make a large cast from an argument, first to last; else none."""
    if not _is_large_cast(cast):
        return []
    steps, value = list[ir.Operation](), cast.results[0]
    while not is_block(value.owner):
        op = value.owner.operation
        source = before_saturation(op)
        if source is not None:
            steps += [op, op.operands[1].owner.operation]
            value = source
            continue
        if op.name not in traits.CASTING:
            return []
        operands = list(op.operands)
        value = operands.pop(_tensor_of(op))
        if not all(map(is_one_number, operands)):
            return []
        steps.append(op)
    wide = format_of(value.type)
    return steps[::-1] if wide is not None and not wide.small else []


def _tensor_of(step: ir.Operation) -> int:
    """Returns the number of the operand of a step that is the tensor."""
    return 1 if step.name == _CLAMP else 0


def _read_in_two_orders(steps: list[ir.Operation], positions: ValueMap[int]) -> _Cast | None:
    """Returns a cast whose later readers sum over its last dimension, and others do not."""
    late, others = list[_Reader](), list[_Reader]()
    for op, side in readers_of(steps[-1].results[0]):
        if op.name != _DOT or op.results[0] not in positions:
            return None
        readers = late if contracted_last(op.opview)[side] else others
        readers.append(_Reader(op, side, positions[op.results[0]]))
    late.sort(key=lambda reader: reader.position)
    root = steps[0].operands[_tensor_of(steps[0])]
    return _Cast(steps, root, late, others) if late and others else None


def readers_of(value: ir.Value) -> Iterator[tuple[ir.Operation, int]]:
    """Yields the ops that read a value, in its order of elements, with the operand's number."""

    def is_view(op: ir.Operation) -> bool:
        return op.name in _VIEWS and len(op.results) == 1

    def views(value: ir.Value) -> Iterator[ir.Value]:
        users = (use.owner.operation for use in value.uses)
        return (user.results[0] for user in users if is_view(user))

    for view in Search([value], views, seen=ValueSet()):
        for use in view.uses:
            if not is_view(use.owner.operation):
                yield use.owner.operation, use.operand_number


def _latest(ops: Sequence[Named], casts: Sequence[_Cast]) -> ValueMap[int]:
    """Returns, for each value, the position of the last matmul of a second cast that it needs.

    An op with regions may read any value before it. Values without an entry need none.
    """
    starts = {cast.start for cast in casts}
    latest, last, first = ValueMap[int](), -1, min(starts)
    find = latest.get
    for i, (_, op) in enumerate(ops[first:], first):
        if i in starts:
            last = needed = i
        elif len(op.regions):
            needed = last
        else:
            needed = max([find(value, -1) for value in op.operands], default=-1)
        if needed >= 0:
            latest.update((result, needed) for result in op.results)
    return latest


def _updates(
    cast: _Cast, positions: ValueMap[int], latest: ValueMap[int], end: ir.Operation
) -> list[ir.Operation]:
    """Returns the ops of an update that read an argument, if it may come before a second cast."""
    found = []
    for use in cast.root.uses:
        op = use.owner.operation
        late = op.name in traits.EACH and positions.get(op.results[0], -1) > cast.start
        if late and _is_update(op, cast.start, latest, end):
            found.append(op)
    return found


def _is_update(op: ir.Operation, start: int, latest: ValueMap[int], end: ir.Operation) -> bool:
    """Whether elementwise ops lead from an op to a result, and need no matmul from a position on.

    Args:
        op: The first of the ops.
        start: The position of the matmul.
        latest: See `_latest`.
        end: The op that returns the results.
    """
    count, returned = prod(op.results[0].type.shape), False

    def updated(value: ir.Value) -> Iterator[ir.Value]:
        users = (use.owner.operation for use in value.uses)
        results = (user.results[0] for user in users if user.name in traits.EACH)
        return (result for result in results if prod(result.type.shape) == count)

    search = Search([op.results[0]], updated, seen=ValueSet())
    for value in search:
        if latest.get(value, -1) >= start or len(search.found) > UPDATE_OPS:
            return False
        returned |= any(use.owner.operation == end for use in value.uses)
    return returned


def _statistics(cast: _Cast, positions: ValueMap[int]) -> list[list[ir.Operation]]:
    """Returns the ops of statistics of an argument that nothing reads before the second cast.

    The kernel of the update takes the amax that a later step needs, if it reads the same value.
    """
    found = []
    for use in cast.root.uses:
        ops, user = list[ir.Operation](), use.owner.operation
        while not _is_late(user, cast.start, positions):
            ops.append(user)
            uses = list(user.results[0].uses) if len(user.results) == 1 else []
            early = len(uses) == 1 and user.results[0] in positions and len(ops) < UPDATE_OPS
            if not early or user.name not in traits.STATISTICS:
                ops = []
                break
            user = uses[0].owner.operation
        if any(op.name == _REDUCE for op in ops):
            found.append(ops)
    return found


def _is_late(op: ir.Operation, start: int, positions: ValueMap[int]) -> bool:
    """Whether an op of ``main`` comes after a position; ops in regions are not told."""
    if not len(op.results):
        return bool(op.name in RETURNS and op.parent.name == "func.func")
    return positions.get(op.results[0], -1) >= start


def _make_again(cast: _Cast) -> None:
    """Casts an argument again before its first late reader, and lets the update read it there.

    XLA would share the second cast with the first if both read the argument. The barrier has one
    dimension, so that the layout of the first cast, which is that of its transpose, is not that of
    the second.
    """
    at, root = cast.late[0].op, cast.root
    again = _apart(root, at, cast.steps[-1].location)
    for ops in cast.statistics:
        for op in ops:
            op.move_before(at)
    for op in (*cast.updates, *(ops[0] for ops in cast.statistics)):
        for i, value in enumerate(op.operands):
            if value == root:
                op.operands[i] = again
    made = ValueMap([(root, again)])
    for step in cast.steps:
        copy = step.clone(ir.InsertionPoint(at)).operation
        for i, value in enumerate(copy.operands):
            copy.operands[i] = made.get(value, value)
        made[step.results[0]] = copy.results[0]
    for reader in cast.late:
        _read(reader, made[cast.steps[-1].results[0]])
    for reader in cast.others:  # Its order is free now, so that no barrier has to keep it.
        _read(reader, cast.steps[-1].results[0])


def _apart(value: ir.Value, at: ir.Operation, location: ir.Location) -> ir.Value:
    """Returns a value behind a barrier with one dimension, before an op."""
    flat = ir.RankedTensorType.get([prod(value.type.shape)], value.type.element_type)
    apart = value
    for name, type_ in ((_RESHAPE, flat), (_BARRIER, flat), (_RESHAPE, value.type)):
        apart = emit.made(name, type_, [apart], loc=location, ip=ir.InsertionPoint(at))
    return apart


def _read(reader: _Reader, data: ir.Value) -> None:
    """Lets a matmul read the data of a cast without other ops between than a reshape."""
    old = reader.op.operands[reader.side]
    same = old.type == data.type
    reader.op.operands[reader.side] = data if same else emit.reshape(data, old.type, reader.op)
    erase_unread(old, lambda op: op.name in _VIEWS)


# Statistics of normalized arguments behind barriers, so that casts read the argument itself.
#
# XLA for GPUs normalizes the rows of a tensor in one kernel, if it finds a tensor in memory that is
# multiplied with one statistic of itself. That kernel has one result in one order. If the result is
# cast to f8 for matmuls that read it in two orders, as those of a forward and a backward pass do,
# the kernel writes it wide, another one reads it, and it is kept for the gradient of the
# normalization.
#
# Behind a barrier, the statistic is a kernel of its own, and that of the cast reads the argument.
# If a kernel computes the tensor, it takes the statistic along anyway. With two statistics, as
# those of a layer normalization, the argument would be read once more.


_BROADCAST: Final = "stablehlo.broadcast_in_dim"
_SMALL: Final = traits.EACH | traits.SAME_ORDER


def part_statistics(ops: Sequence[Named]) -> None:
    """Puts the statistics of normalized arguments behind barriers.

    Args:
        ops: The ops of the block of ``main``, of which casts were not erased.
    """
    found = ValueSet()
    for name, op in ops:
        if name == _CONVERT and _is_read_in_two_orders(op):
            found.add_all(_statistic(op))
    for value in list(found):
        uses = uses_of(value)
        redirect(uses, barrier_after(value))


def _is_read_in_two_orders(cast: ir.Operation) -> bool:
    """Whether matmuls sum over the last dimension of a large cast to 8 bits, and over another."""
    if not _is_large_cast(cast):
        return False
    dots = [read for read in readers_of(cast.results[0]) if read[0].name == _DOT]
    return len({contracted_last(op.opview)[side] for op, side in dots}) == 2


def _statistic(cast: ir.Operation) -> list[ir.Value]:
    """Returns the only statistic with which a cast normalizes an argument; none if it does not."""
    arguments, spread = ValueSet(), ValueSet()
    for value in _sources(cast.operands[0]):
        if is_block(value.owner):
            arguments.add(value)
        elif value.owner.operation.name == _BROADCAST:
            if prod(value.owner.operands[0].type.shape) > 1:
                spread.add(value.owner.operands[0])
        else:
            return []
    reduced = [(value, reduce) for value in spread if (reduce := _reduce_of(value)) is not None]
    if len(arguments) != 1 or len(reduced) != 1:
        return []
    value, reduce = reduced[0]
    own = ValueSet(_sources(reduce.operands[0]))
    return [value] if list(own) == list(arguments) else []


def _sources(value: ir.Value) -> Iterator[ir.Value]:
    """Yields the values of the same number of elements of which elementwise ops make a value."""
    count = prod(value.type.shape)

    def is_made(value: ir.Value) -> bool:
        made = not is_block(value.owner) and value.owner.name in traits.EACH
        return made and len(search.found) <= NORMALIZATION_OPS

    def made_of(value: ir.Value) -> Iterator[ir.Value]:
        operands = value.owner.operands if is_made(value) else ()
        return (each for each in operands if prod(each.type.shape) == count)

    search = Search([value], made_of, seen=ValueSet())
    for here in search:
        if not is_constant(here) and not is_made(here):
            yield here


def _reduce_of(value: ir.Value) -> ir.Operation | None:
    """Returns the only reduction of which ops on its result make a value; None for others."""
    found = list[ir.Operation]()

    def made_of(value: ir.Value) -> Sequence[ir.Value]:
        small = not is_block(value.owner) and value.owner.name in _SMALL
        return list(value.owner.operands) if small else []

    search = Search([value], made_of, seen=ValueSet(), limit=NORMALIZATION_OPS + 1)
    for here in search:
        op = maker(here)
        if op is not None and op.name == _REDUCE and len(op.results) == 1:
            found.append(op)
        elif not is_constant(here) and (op is None or op.name not in _SMALL):
            return None
    return found[0] if len(found) == 1 and not search.ended else None
