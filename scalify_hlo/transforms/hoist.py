"""Hoists values out of loops, branches and per-device computations to the end of `main`.

A value in a region is computed many times, not at all, or on each device. The hoisted value is the
maximum or the sum of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dataflow.turns import turns_of
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import block_of, terminator
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.traits import BODIES, BRANCHES, LOOP
from scalify_hlo.ir.value_map import ValueCache, ValueMap, erase, replace_op, replace_uses
from scalify_hlo.rules.devices import devices_of, mesh_of, replicated_after
from scalify_hlo.rules.statistics import Devices, everywhere, gathered

Joined: TypeAlias = Literal["maximum", "add"]
"""The op that makes one value of several."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Keeps the values of the turns of loops one by one, each loop in a new first dimension.

    Attributes:
        devices: How the values of devices come together: ``maximum``, ``add``, or ``gather`` for a
            new first dimension.
        most: The most turns of one loop that are kept; None for all. Loops with more turns keep
            some that are evenly spaced, and loops with an unknown number of turns the last ones.
    """

    devices: Joined | Literal["gather"]
    most: int | None = None

    def slots(self, op: ir.Operation) -> int | None:
        """Returns how many turns of a loop are kept; None if all are hoisted and not known."""
        turns = turns_of(op)
        if turns is None or self.most is None:
            return self.most if turns is None else turns
        return min(turns, self.most)


@dataclass(frozen=True, slots=True)
class First:
    """Keeps for each column of a table the first turn in which its first row is not zero.

    A value is a table ``[rows, columns]`` of unsigned 64-bit integers. Each loop around it adds a
    row, after the others, with the number of the turn that was kept, counted from 0; columns whose
    first row is zero have no meaning. A per-device computation puts the columns of the devices one
    after another, in the order of the devices.
    """


Combine: TypeAlias = Joined | Stack | First

_PER_DEVICE = "sdy.manual_computation"
_OUT, _PER_VALUE = "out_shardings", "sdy.sharding"
"""The attributes that give the sharding of each result."""

_OLD_PLACING = "mhlo.sharding"
"""The attribute that gives the shardings of all results as text; XLA infers them without it."""


def lift(
    main: ir.OpView, values: Sequence[ir.Value], combine: Combine | Sequence[Combine]
) -> list[ir.Value]:
    """Hoists values of a function to its end.

    A loop returns the maximum, or the sum, over all its iterations, starting with 0. A branch that
    is not taken returns 0. A per-device computation returns the maximum or sum over all devices, on
    each of them. Calls have to be inlined before; see `inline_calls`.

    Args:
        main: A function. The loops, branches and computations around the values are replaced by ops
            with more results; handles of the old ops are not valid afterwards.
        values: Tensors of static shape, of floats or integers; not negative for ``maximum``.
        combine: ``maximum``, ``add``, `Stack` or `First`, for each value if it is a list. All
            values have to be hoisted in one call, as a second call would invalidate the results of
            the first.

    Returns:
        For each value, a value of its type in the function's own block. If it is stacked, the type
        has more dimensions.

    Raises:
        InputError: A value is in another region, such as the condition of a loop or the body of a
            reduction.
    """
    top = main.regions[0].blocks[0]
    each = combine if isinstance(combine, Sequence) and not isinstance(combine, str) else None
    hoisting = _Hoisting(values, each or [combine] * len(values), top)  # type: ignore[list-item]
    while deepest := hoisting.deepest():
        for numbers in deepest:
            hoisting.raise_together(numbers)
    return hoisting.values


def add_results(main: ir.OpView, values: Sequence[ir.Value], names: Sequence[str]) -> None:
    """Adds results to a function, after the others.

    Args:
        main: The function.
        values: Values of its own block.
        names: Their ``jax.result_info``.
    """
    marks = attributes.result_attributes(main)
    marks += [{"jax.result_info": ir.StringAttr.get(name)} for name in names]
    returned = terminator(main.regions[0].blocks[0]).operands
    attributes.return_values(main, [*returned, *values])
    attributes.set_result_attributes(main, marks)


_Hoisted: TypeAlias = tuple[ir.Value, Combine]
"""A value, and how several such values are combined."""


class _Hoisting:
    """Values that are being hoisted.

    Args:
        values: The values before.
        combine: How several of each are combined.
        top: The block to which they are hoisted.
    """

    def __init__(
        self, values: Sequence[ir.Value], combine: Sequence[Combine], top: ir.Block
    ) -> None:
        self.values = list(values)
        self._combine = combine
        self._depths = ValueMap([(top, 0)])

    def deepest(self) -> list[list[int]]:
        """Returns the numbers of the most deeply nested values, grouped by op."""
        groups: ValueMap[list[int]] = ValueMap()
        most = 1
        for number, value in enumerate(self.values):
            block = block_of(value)
            depth = self._depth(block)
            if depth > most:
                most, groups = depth, ValueMap()
            if depth == most:
                groups.setdefault(block.owner.regions[0].blocks[0], []).append(number)
        return list(groups.values())

    def _depth(self, block: ir.Block) -> int:
        """Returns the number of ops with regions around a block."""
        if block not in self._depths:
            self._depths[block] = 1 + self._depth(block.owner.operation.block)
        return self._depths[block]

    def raise_together(self, numbers: Sequence[int]) -> None:
        """Hoists values in the regions of one op to results of the op."""
        op = block_of(self.values[numbers[0]]).owner.operation
        inner = list(ValueCache.fromkeys((self.values[n], self._combine[n]) for n in numbers))
        old = list(op.results)
        results = list(_raised(op, inner).results)
        renewed = ValueMap(zip(old, results, strict=False))
        for before, after in renewed.items():
            replace_uses(before, after)
        lifted: ValueCache[ir.Value] = ValueCache()
        lifted.update(zip(inner, results[len(old) :], strict=False))  # a counter may follow
        for number, hoisted in enumerate(zip(self.values, self._combine, strict=True)):
            value = hoisted[0]
            self.values[number] = lifted.get(hoisted, renewed.get(value, value))
        erase(op)


def _raised(op: ir.Operation, hoisted: Sequence[_Hoisted]) -> ir.Operation:
    """Returns the op that replaces one, with values of its regions as further results."""
    values = [value for value, _ in hoisted]
    if op.name == LOOP:
        return _loop(op, hoisted)
    if op.name in BRANCHES:
        return _branches(op, values)
    if op.name == _PER_DEVICE:
        return _per_device(op, hoisted)
    raise InputError(
        f"a value of a matmul is in a region of {op.name!r}, out of which it cannot be hoisted",
        location=str(emit.location_of(values[0])),
        hint="write the matmul outside of it, or exclude it",
    )


def _loop(op: ir.Operation, hoisted: Sequence[_Hoisted]) -> ir.Operation:
    """Adds carries, which start with 0, and combine the values of all iterations."""
    body = op.regions[1].blocks[0]
    values = [value for value, _ in hoisted]
    for value in values:
        if block_of(value) != body:
            raise InputError(
                "a value of a matmul in the condition of a loop cannot be hoisted out of it",
                location=str(emit.location_of(value)),
                hint="compute it in the body of the loop, and carry the result to the condition",
            )
    last = terminator(body)
    carries = [_Carry(op, value, combine) for value, combine in hoisted]
    starts = [emit.constant(carry.type, 0, op) for carry in carries]
    ends = []
    if any(carry.counted for carry in carries):
        op.regions[0].blocks[0].add_argument(_index(), op.location)
        counter = body.add_argument(_index(), last.location)
        starts.append(emit.constant(counter.type, 0, op))
        one = emit.constant(_index(), 1, last)
        ends.append(emit.elementwise("stablehlo.add", counter, one, **emit.before(last)))
    else:
        counter = None
    return_more(last, [*(carry.combined(counter, last) for carry in carries), *ends])
    return with_more(op, starts, [start.type for start in starts])


class _Carry:
    """A value of the body of a loop, which becomes a carry.

    Args:
        op: The loop.
        value: The value.
        combine: How the values of several turns come together.

    Attributes:
        counted: Whether the numbers of turns are needed.
        type: The type of the carry.
    """

    def __init__(self, op: ir.Operation, value: ir.Value, combine: Combine) -> None:
        self._value, self._combine = value, combine
        self.counted = isinstance(combine, Stack | First)
        self.type = value.type
        self._slots, self._turns = 0, turns_of(op)
        if isinstance(combine, Stack):
            slots = combine.slots(op)
            if slots is None:
                raise InputError(
                    "how many turns a loop has is not known, so none can be kept apart",
                    location=source_location(op.location),
                    hint="ask for what all turns have together",
                )
            self._slots = slots
            self.type = ir.RankedTensorType.get([slots, *value.type.shape], value.type.element_type)
        elif isinstance(combine, First):
            rows, columns = value.type.shape
            self.type = ir.RankedTensorType.get([rows + 1, columns], value.type.element_type)
        for region in op.regions:
            self._carried = region.blocks[0].add_argument(self.type, op.location)

    def combined(self, counter: ir.Value | None, last: ir.Operation) -> ir.Value:
        """Returns the next value of the carry."""
        carried = self._carried
        where = {"loc": emit.location_of(self._value), "ip": ir.InsertionPoint(last)}
        if isinstance(self._combine, str):
            return emit.elementwise(f"stablehlo.{self._combine}", carried, self._value, **where)
        if isinstance(self._combine, First):
            return _first(carried, self._value, counter, last)
        update = emit.reshaped(self._value, [1, *self._value.type.shape], last)
        zero = emit.constant(_index(), 0, last)
        starts = [self._slot(counter, last), *[zero] * self._value.type.rank]
        return stablehlo.dynamic_update_slice(carried, update, starts, **where)

    def _slot(self, counter: ir.Value | None, last: ir.Operation) -> ir.Value:
        """The slot of a turn: evenly spaced, or in a ring if the number of turns is not known."""
        where = emit.before(last)
        slots = emit.constant(_index(), max(self._slots, 1), last)
        if self._turns is None:
            return emit.elementwise("stablehlo.remainder", counter, slots, **where)
        if self._turns == self._slots:
            return counter
        turns = emit.constant(_index(), self._turns, last)
        scaled = emit.multiply(counter, slots, last)
        return emit.elementwise("stablehlo.divide", scaled, turns, **where)


def _first(
    carried: ir.Value, value: ir.Value, counter: ir.Value | None, last: ir.Operation
) -> ir.Value:
    """The columns of a carried table, and those of this turn where its first row is zero."""
    where = emit.before(last)
    type_, columns = carried.type, carried.type.shape[1]
    row = ir.RankedTensorType.get([1, columns], type_.element_type)
    turn = emit.convert(counter, type_.element_type, last)
    turns = emit.spread(turn, [], row.shape, last)
    now = stablehlo.concatenate([value, turns], 0, **where)
    ends = [ir.DenseI64ArrayAttr.get(each) for each in ([0, 0], [1, columns], [1, 1])]
    keys = stablehlo.slice(carried, *ends, **where)
    known = emit.compare(keys, emit.constant(row, 0, last), "NE", last)
    kept = emit.spread(known, [0, 1], type_.shape, last)
    return stablehlo.select(kept, carried, now, **where)


def _index() -> ir.Type:
    return emit.scalar_type(ir.IntegerType.get_signless(64))


def _branches(op: ir.Operation, values: Sequence[ir.Value]) -> ir.Operation:
    """Adds results to branches: its own values, and zeros for those of other branches."""
    for region in op.regions:
        block = region.blocks[0]
        last = terminator(block)
        own = [v if block_of(v) == block else emit.constant(v.type, 0, last) for v in values]
        return_more(last, own)
    return with_more(op, (), [value.type for value in values])


def _per_device(op: ir.Operation, hoisted: Sequence[_Hoisted]) -> ir.Operation:
    """Reduces the values over all devices, on each device."""
    devices = devices_of(op.opview, nested=False)
    last = terminator(op.regions[0].blocks[0])
    together = [_of_devices(value, combine, devices, last) for value, combine in hoisted]
    return_more(last, together)
    return with_more(op, (), [value.type for value in together])


def _of_devices(
    value: ir.Value, combine: Combine, devices: Devices | None, last: ir.Operation
) -> ir.Value:
    if isinstance(combine, First):
        return _side_by_side(gathered(value, devices, last), last)
    how = combine.devices if isinstance(combine, Stack) else combine
    if how == "gather":
        return gathered(value, devices, last)
    return everywhere(value, f"stablehlo.{how}", devices, last)


def _side_by_side(tables: ir.Value, last: ir.Operation) -> ir.Value:
    """The tables of all devices as one, with the columns of one device after another."""
    where = emit.before(last)
    devices, rows, columns = tables.type.shape
    swapped = stablehlo.transpose(tables, ir.DenseI64ArrayAttr.get([1, 0, 2]), **where)
    return emit.reshaped(swapped, [rows, devices * columns], last)


def return_more(last: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Has the last op of a block return values after its others."""
    emit.op(last, last.name, [], [*last.operands, *values], attributes.all_of(last))
    erase(last)


def with_more(
    op: ir.Operation, operands: Sequence[ir.Value], types: Sequence[ir.Type]
) -> ir.Operation:
    """Returns an op with more operands and results; it takes the blocks of the old op."""
    marks = attributes.all_of(op)
    marks.pop(_OLD_PLACING, None)
    if _PER_VALUE in marks:
        marks[_PER_VALUE] = replicated_after(marks[_PER_VALUE], types)
    if op.name == _PER_DEVICE:
        marks[_OUT] = replicated_after(marks[_OUT], types, mesh_of(op))
    results = [*(result.type for result in op.results), *types]
    return emit.taking_regions(op, results, [*op.operands, *operands], marks)


# Values of `main` sunk into per-device computations, whose regions capture no values. Loops and
# branches capture the values around them.


def lower(values: Sequence[ir.Value], places: Sequence[ir.Operation]) -> list[list[ir.Value]]:
    """Sinks values to ops.

    Args:
        values: Values of the function's own block, which are the same on each device.
        places: Ops of the function, in regions too. The per-device computations around them are
            replaced by ops with more operands; handles of the old ops are not valid afterwards.

    Returns:
        For each place, the values that correspond to `values` there.
    """
    sinking = _Sinking(list(values))
    return [sinking.at(place) for place in places]


class _Sinking:
    def __init__(self, values: list[ir.Value]) -> None:
        self._values = values
        self._inside: ValueMap[list[ir.Value]] = ValueMap()

    def at(self, place: ir.Operation) -> list[ir.Value]:
        block = place.block
        while (owner := block.owner.operation).name not in BODIES:
            if owner.name == "func.func":
                return self._values
            block = owner.block
        if block not in self._inside:
            outer = self.at(owner)
            self._inside[block] = [block.add_argument(v.type, v.location) for v in outer]
            _with_operands(owner, outer)
        return self._inside[block]


def _with_operands(op: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Replaces an op by one with more operands, which takes its body."""
    marks = attributes.all_of(op)
    if "in_shardings" in marks:
        types = [value.type for value in values]
        marks["in_shardings"] = replicated_after(marks["in_shardings"], types, mesh_of(op))
    results = [result.type for result in op.results]
    new = emit.taking_regions(op, results, [*op.operands, *values], marks)
    replace_op(op, new.results)
