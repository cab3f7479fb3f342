"""The reads of arguments that are weights, through loops and calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.dialect.calls import CALL, Calls
from scalify_hlo.dialect.functions import callee_of, is_block, symbol_of, terminator
from scalify_hlo.dialect.traits import where
from scalify_hlo.dialect.value_map import ValueMap, ValueSet

_MOVES: Final = where("reshape", "transpose", "reverse", "slice")
_FUNCTION: Final = "func.func"
_RETURN: Final = "func.return"
_WHILE: Final = "stablehlo.while"


class Weight(NamedTuple):
    """A weight of a quantized matmul.

    Attributes:
        op: The matmul.
        side: The number of the operand.
    """

    op: ir.OpView
    side: int


class WeightReads:
    """The reads of an argument, and of all arguments that other calls of a function pass for it.

    Args:
        argument: An argument of the entry function.
        allowed: The arguments that may be stored.
        sides: The results of matmuls, with the numbers of operands that are to be quantized.
        calls: The calls of the module.

    Attributes:
        moved: The arguments, and all values that are made of them by moving data.
        weights: The weights of matmuls that they are, with the value that each matmul reads.
        others: The other ops that read them.
        callees: The functions with an argument among the values.
    """

    def __init__(
        self,
        argument: ir.Value,
        allowed: ValueSet,
        sides: ValueMap[set[int]],
        calls: Calls,
    ) -> None:
        self.moved: list[ir.Value] = []
        self.weights: list[tuple[ir.Value, Weight]] = []
        self.others: list[ir.Operation] = []
        self.callees: dict[str, ir.OpView] = {}
        self._allowed, self._sides, self._calls = allowed, sides, calls
        self._seen = ValueSet()
        self._add(argument)
        for value in self.moved:
            for use in value.uses:
                self._read(value, use.owner, use.operand_number)

    @property
    def stored(self) -> bool:
        """Whether nothing but quantized matmuls reads the arguments."""
        return bool(self.weights) and not self.others

    @property
    def roots(self) -> Iterator[ir.Value]:
        """The arguments of the entry function."""
        return (value for value in self.moved if value in self._allowed)

    def _add(self, value: ir.Value) -> None:
        if value not in self._seen:
            self._seen.add(value)
            self.moved.append(value)

    def _read(self, value: ir.Value, op: ir.OpView, side: int) -> None:
        name = op.operation.name
        if name in _MOVES and side == 0:
            self._add(op.results[0])
        elif name == _WHILE and _is_invariant(op, side):
            for block in (region.blocks[0] for region in op.regions):
                self._add(block.arguments[side])
            self._add(op.results[side])
        elif name == CALL:
            self._enter(op.operation, side)
        elif name == _RETURN and self._calls.only(op.operation.parent.opview):
            for site in self._calls.sites.get(symbol_of(op.operation.parent), []):
                self._add(site.results[side])
        elif len(op.results) and side in self._sides.get(op.results[0], ()):
            self.weights.append((value, Weight(op, side)))
        elif not _returns_invariant(op, side):
            self.others.append(op.operation)

    def _enter(self, call: ir.Operation, number: int) -> None:
        """Adds the argument of a called function, and what all its calls pass for it."""
        name = callee_of(call)
        function = self._calls.functions[name]
        private = self._calls.only(function)
        for site in self._calls.sites[name] if private else ():
            root = self._root(site.operands[number])
            if root is None:
                self.others.append(site)
            else:
                self._add(root)
        if private:
            self.callees[name] = function
            self._add(function.regions[0].blocks[0].arguments[number])
        else:
            self.others.append(call)

    def _root(self, value: ir.Value) -> ir.Value | None:
        """Returns the argument of the entry function that a value is made of; None if not known."""
        while value not in self._seen and value not in self._allowed:
            before = self._before(value)
            if before is None:
                return None
            value = before
        return value

    def _before(self, value: ir.Value) -> ir.Value | None:
        """Returns the value of which another one is made by moving data."""
        owner = value.owner
        if is_block(owner):
            outer, number = owner.owner.operation, ir.BlockArgument(value).arg_number
            if outer.name == _WHILE:
                return outer.operands[number]
            sites = self._calls.sites.get(symbol_of(outer), []) if outer.name == _FUNCTION else []
            return sites[0].operands[number] if sites else None
        op, number = owner.operation, ir.OpResult(value).result_number
        if op.name == CALL:
            body = self._calls.functions[callee_of(op)].regions[0].blocks[0]
            return terminator(body).operands[number]
        return op.operands[0] if op.name in _MOVES else None


def _is_invariant(loop: ir.OpView, number: int) -> bool:
    """Whether a loop passes one of its values on as it is."""
    body = loop.regions[1].blocks[0]
    returned: bool = terminator(body).operands[number] == body.arguments[number]
    return returned


def _returns_invariant(op: ir.OpView, number: int) -> bool:
    """Whether an op returns a value of a loop that the loop does not change."""
    if op.operation.name != "stablehlo.return":
        return False
    loop = op.operation.parent.opview
    return loop.operation.name == _WHILE and _is_invariant(loop, number)
