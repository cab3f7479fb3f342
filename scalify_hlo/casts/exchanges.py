"""Casts before the ops that move their operands between devices, so that narrow data are exchanged.

A collective that moves elements between devices commutes with a cast at one scale, and so does a
change of sharding, for which the partitioner may insert a collective:

    cast(move(X) / X_s) = move(cast(X / X_s))

if all devices have the same X_s, as they do inside of a per-device computation of Shardy. Both
sides have the same bits: each element is cast alone, and moves as a whole. The amax of all devices
is the same before and after, as each element goes to some device: an ``all_gather`` and an
``all_to_all`` drop none, and of the ``collective_permute`` only those are moved over that give each
device the elements of one other device. Reshapes and transposes on the way move elements too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import with_element
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.traits import GATHERS_FROM_DEVICES, VIEWS
from scalify_hlo.ir.value_map import OpSet, ValueCache, ValueSet, erase_unread
from scalify_hlo.rules.devices import devices_of

_CONVERT: Final = "stablehlo.convert"
_PERMUTE: Final = "stablehlo.collective_permute"
Moves: TypeAlias = tuple[ir.Operation, ...]
"""Ops that each move the elements of their operand, in the order of the program."""
_CONSTRAINT: Final = "sdy.sharding_constraint"


class Exchanges:
    """The collectives whose results are read by quantized matmuls alone."""

    def __init__(self) -> None:
        self._readers = OpSet()
        self._moves: ValueCache[Moves] = ValueCache()
        self._made: ValueCache[ir.Value] = ValueCache()
        self._passed = ValueSet()

    def expect(self, readers: Iterable[ir.OpView]) -> None:
        """Says which matmuls will be quantized, before the first of them is."""
        self._readers.add_all(op.operation for op in readers)

    def source(self, value: ir.Value) -> ir.Value:
        """Returns the value that is cast in the place of an operand.

        Args:
            value: The operand of a matmul that will be quantized.

        Returns:
            The operand itself, unless it is the result of a collective that a cast may stand
            before.
        """
        if value not in self._moves:
            self._moves[value] = self._found(value)
        moves = self._moves[value]
        return moves[0].operands[0] if moves else value

    def _found(self, value: ir.Value) -> Moves:
        if is_block(value.owner) or not self._is_read_narrow(value):
            return ()
        moves = tuple(reversed(list(_moves_to(value))))
        while moves and moves[0].name in VIEWS:
            moves = moves[1:]
        # All devices have the same scale of what each op moves.
        known = (
            op.name in VIEWS or op.name == _CONSTRAINT or devices_of(op.opview) is not None
            for op in moves
        )
        return moves if all(known) else ()

    def _is_read_narrow(self, value: ir.Value) -> bool:
        """Whether only matmuls that will be quantized read a value, or they and what widens it."""
        return all(
            use.owner.operation in self._readers
            or (use.owner.name == _CONVERT and self._is_read_narrow(use.owner.results[0]))
            for use in value.uses
        )

    def moved(self, value: ir.Value, data: ir.Value) -> ir.Value:
        """Returns the narrow data of an operand, moved as the operand is.

        Args:
            value: The operand.
            data: The data of its `source`.
        """
        moves = self._moves[value]
        if not moves:
            return data
        key = value, data
        if key not in self._made:
            self._made[key] = _repeated(moves, data, moves[0])
            self._passed.add_all(op.results[0] for op in moves)
        return self._made[key]

    def moved_before(self, value: ir.Value, data: ir.Value, at: ir.Operation) -> ir.Value:
        """Returns data as `moved` does, moved before an op."""
        return _repeated(self._moves[value], data, at)

    def finish(self) -> None:
        """Erases the wide collectives without readers, which XLA would run."""
        while self._passed:
            erase_unread(self._passed.popitem()[0], _moves)


def _repeated(moves: Moves, data: ir.Value, at: ir.Operation) -> ir.Value:
    """Repeats ops on narrow data, before an op."""
    for op in moves:
        old = op.results[0].type
        type_ = with_element(old, data.type.element_type)
        where = {"loc": op.location, "ip": ir.InsertionPoint(at)}
        data = emit.made(op.name, type_, [data], attributes.all_of(op), **where)
    return data


def _moves_to(value: ir.Value) -> Iterator[ir.Operation]:
    """Yields the ops that move the elements of a value to their places, the last one first."""
    block = value.owner.operation.block
    while (
        not is_block(value.owner) and value.owner.operation.block == block and _moves(value.owner)
    ):
        op = value.owner.operation
        yield op
        value = op.operands[0]
        if len(list(value.uses)) > 1:
            return


def _moves(op: ir.Operation) -> bool:
    if len(op.operands) != 1 or len(op.results) != 1:
        return False
    if op.name == _PERMUTE:
        return _whole(op)
    return op.name in VIEWS or op.name in GATHERS_FROM_DEVICES or op.name == _CONSTRAINT


def _whole(op: ir.Operation) -> bool:
    """Whether each device of a computation receives from one device, and sends to one."""
    devices = devices_of(op.opview)
    pairs = np.asarray(ir.DenseIntElementsAttr(op.attributes["source_target_pairs"])).reshape(-1, 2)
    return devices is not None and all(
        len(set(ends.tolist())) == len(pairs) == devices.count for ends in pairs.T
    )
