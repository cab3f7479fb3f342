"""States of recurrent cells, whose elements are between -1 and 1 in all turns of a loop.

The state is made by tanh, by products with sigmoids, or by ``(1 - z) * n + z * h`` of such values,
as in an LSTM and in a GRU. In a cell that is trained, it is between a fraction of 1 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import STATE_DEPTH
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.formats import is_real
from scalify_hlo.ir.functions import callee_of, is_block, terminator
from scalify_hlo.ir.splats import filled_with
from scalify_hlo.ir.through import behind
from scalify_hlo.ir.traits import BROADCASTS, LAYOUT, ROUNDS, SLICES
from scalify_hlo.ir.walk import ops_in

_ANY, _SIGNED, _SHARE = 0, 1, 2
"""The range of a value: any, -1 to 1, or 0 to 1."""

_MOVES: Final = LAYOUT | SLICES | ROUNDS | BROADCASTS | {"stablehlo.convert"}
_RANGES: Final = {"stablehlo.tanh": _SIGNED, "stablehlo.logistic": _SHARE}
_ENDS: Final = {"tanh": _SIGNED, "sigmoid": _SHARE}
_LAYER: Final = attributes.LAYER
_ADD, _SUBTRACT = "stablehlo.add", "stablehlo.subtract"
_MULTIPLY: Final = "stablehlo.multiply"


class _Place(NamedTuple):
    """A value, and the calls around it, each with the place of the call."""

    value: ir.Value
    calls: tuple[ir.OpView, ...] = ()


def mark_states(module: ir.Operation) -> list[ir.Operation]:
    """Marks the ops that make the states of recurrent cells; returns these ops."""
    functions = functions_in(module)
    found = [
        op
        for loop in ops_in(module, {"stablehlo.while"})
        for op in _Cell(loop.regions[1].blocks[0], functions).states()
    ]
    for op in found:
        op.attributes[attributes.CELL_STATE] = ir.UnitAttr.get()
    return found


class _Cell:
    """The body of a loop, whose carries are assumed to be between -1 and 1 unless one is not.

    Args:
        body: The body.
        functions: The functions of the module by name.
    """

    def __init__(self, body: ir.Block, functions: Mapping[str, ir.OpView]) -> None:
        self._body, self._functions = body, functions
        self._ends = list(terminator(body).operands)
        self._carries = {
            number
            for number, end in enumerate(self._ends)
            if is_real(end.type) and not is_block(end.owner)
        }

    def states(self) -> list[ir.Operation]:
        """Returns the ops that make the carries that are between -1 and 1."""
        while True:
            kept = {i for i in self._carries if self._range(_Place(self._ends[i]))}
            if kept == self._carries:
                break
            self._carries = kept
        makers = (self._source(_Place(self._ends[i])).value.owner for i in sorted(kept))
        return [maker.operation for maker in makers if not is_block(maker)]

    def _source(self, place: _Place) -> _Place:
        """Returns what a value is, behind moves, calls and arguments of functions."""
        value, calls = place
        while True:
            value = behind(value, _MOVES)
            owner = value.owner
            if is_block(owner):
                if owner == self._body or not calls:
                    return _Place(value, calls)
                *rest, call = calls
                value, calls = call.operands[ir.BlockArgument(value).arg_number], tuple(rest)
            elif owner.name == "func.call":
                block = self._functions[callee_of(owner)].regions[0].blocks[0]
                number = ir.OpResult(value).result_number
                value, calls = terminator(block).operands[number], (*calls, owner)
            else:
                return _Place(value, calls)

    def _range(self, place: _Place, depth: int = STATE_DEPTH) -> int:
        """Returns the range of a value."""
        value, calls = place = self._source(place)
        owner = value.owner
        if is_block(owner):
            carried = owner == self._body and ir.BlockArgument(value).arg_number in self._carries
            return _SIGNED if carried else _ANY
        if (known := _known(owner.operation)) or depth <= 0:
            return known
        operands = [_Place(operand, calls) for operand in owner.operands]
        name = owner.name
        if name == _MULTIPLY or name == "stablehlo.select":
            return min(self._range(each, depth - 1) for each in operands[-2:])
        if name == "stablehlo.negate":
            return min(_SIGNED, self._range(operands[0], depth - 1))
        if name == _SUBTRACT and self._is_one(operands[0]):
            return _SHARE if self._range(operands[1], depth - 1) == _SHARE else _ANY
        if name == _ADD and any(self._mixes(a, b, depth) for a, b in (operands, operands[::-1])):
            return _SIGNED
        return _ANY

    def _mixes(self, a: _Place, b: _Place, depth: int) -> bool:
        """Whether a sum is ``(1 - z) * n + z * h``, or ``n + z * (h - n)``."""
        for gate, h in self._orders(b, _MULTIPLY):
            for rest, n in self._orders(a, _MULTIPLY):
                one = next(self._orders(rest, _SUBTRACT), None)
                if one and self._is_one(one[0]) and self._same(one[1], gate):
                    return self._all_in(gate, (n, h), depth)
            ends = next(self._orders(h, _SUBTRACT), None)
            if ends and self._same(ends[1], a):
                return self._all_in(gate, ends, depth)
        return False

    def _all_in(self, gate: _Place, values: Iterable[_Place], depth: int) -> bool:
        """Whether a gate is between 0 and 1, and values between -1 and 1."""
        bounded = all(self._range(value, depth - 1) for value in values)
        return bounded and self._range(gate, depth - 1) == _SHARE

    def _orders(self, place: _Place, name: str) -> Iterator[tuple[_Place, _Place]]:
        """Yields the operands of a value that an op of some name makes, in both orders."""
        value, calls = self._source(place)
        if not is_block(value.owner) and value.owner.name == name:
            first, second = (_Place(operand, calls) for operand in value.owner.operands)
            yield from ((first, second), (second, first))

    def _same(self, one: _Place, other: _Place) -> bool:
        return self._source(one) == self._source(other)

    def _is_one(self, place: _Place) -> bool:
        return filled_with(self._source(place).value) == 1


def _known(op: ir.Operation) -> int:
    """Returns the range of the result of an op, or of the activation that it ends."""
    names = attributes.texts(op.attributes[_LAYER]) if _LAYER in op.attributes else ()
    return max([_RANGES.get(op.name, _ANY), *(_ENDS.get(name, _ANY) for name in names)])
