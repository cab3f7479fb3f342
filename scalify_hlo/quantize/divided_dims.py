"""The dimensions of weights that devices divide, also where loops slice stacks of weights."""

from __future__ import annotations

from collections.abc import Sequence

from scalify_hlo._compat import ir
from scalify_hlo.dialect.calls import Calls
from scalify_hlo.dialect.functions import callee_of, is_block, terminator
from scalify_hlo.rules.placement import argument_sharding, divided
from scalify_hlo.transforms.carries import carried_by


class DividedDims:
    """The dimensions of tensors that devices divide, as far as the program says.

    A sharding of Shardy is on an argument, or on a constraint. Ops between it and the tensor may
    slice, reshape, transpose or convert, and be in loops and functions that are called once.

    Args:
        module: The module.
    """

    def __init__(self, module: ir.Operation) -> None:
        self._calls = Calls(module)

    def of(self, value: ir.Value) -> set[int]:
        """Returns the dimensions of a tensor that devices divide; none if that is not known."""
        dims: list[int | None] = list(range(value.type.rank))
        entered: list[ir.Operation] = []  # The calls whose results were followed into functions.
        while True:
            sharding = _sharding(value)
            if sharding is not None:
                found = divided(sharding)
                return {i for i, dim in enumerate(dims) if dim in found}
            source = self._source(value, entered)
            if source is None:
                return set()
            value, places = source
            dims = [None if dim is None else places[dim] for dim in dims]

    def _source(
        self, value: ir.Value, entered: list[ir.Operation]
    ) -> tuple[ir.Value, Sequence[int | None]] | None:
        """Returns what a tensor is made of, and the dimension there of each of its dimensions."""
        whole: list[int | None] = list(range(value.type.rank))
        carried = carried_by(value)
        if carried is not None:
            return carried[1], whole
        if is_block(value.owner):
            given = self._given(value, entered)
            return None if given is None else (given, whole)
        op = value.owner.operation
        if op.name == "func.call":
            function = self._calls.functions[callee_of(op)]
            entered.append(op)
            end = terminator(function.regions[0].blocks[0])
            return end.operands[ir.OpResult(value).result_number], whole
        if op.name == "stablehlo.optimization_barrier":
            return op.operands[ir.OpResult(value).result_number], whole
        places = whole if op.name == "stablehlo.convert" else _places(op)
        return None if places is None else (op.operands[0], places)

    def _given(self, argument: ir.Value, entered: list[ir.Operation]) -> ir.Value | None:
        """Returns the operand of a call for an argument: of that entered, or of the only one."""
        function = argument.owner.owner
        if function.operation.name != "func.func":
            return None
        name, number = function.name.value, ir.BlockArgument(argument).arg_number
        if entered and callee_of(entered[-1]) == name:
            return entered.pop().operands[number]
        calls = self._calls.sites.get(name, [])
        return calls[0].operands[number] if len(calls) == 1 and not entered else None


def _places(op: ir.Operation) -> Sequence[int | None] | None:
    """Returns the dimension of an operand for each of the result; None for other ops."""
    if op.name == "stablehlo.transpose":
        return list(op.opview.permutation)
    if op.name == "stablehlo.reshape":
        return _without_ones(op.results[0].type.shape, op.operands[0].type.shape)
    if op.name == "stablehlo.slice" or op.name == "stablehlo.dynamic_slice":
        sizes = zip(op.results[0].type.shape, op.operands[0].type.shape, strict=True)
        return [i if new == old else None for i, (new, old) in enumerate(sizes)]
    return None


def _sharding(value: ir.Value) -> ir.Attribute | None:
    """Returns the sharding that an argument or a constraint has."""
    if is_block(value.owner):
        return argument_sharding(value)
    placed = value.owner.name == "sdy.sharding_constraint"
    return value.owner.attributes["sharding"] if placed else None


def _without_ones(new: Sequence[int], old: Sequence[int]) -> list[int | None] | None:
    """Returns the dimension of each, if shapes differ only in dimensions of size 1."""
    if min((*new, *old), default=0) < 0:  # A dynamic size.
        return None
    kept = [i for i, size in enumerate(old) if size != 1]
    if [old[i] for i in kept] != [size for size in new if size != 1]:
        return None
    left = iter(kept)
    return [None if size == 1 else next(left) for size in new]
