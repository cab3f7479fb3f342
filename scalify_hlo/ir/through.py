"""Looking through ops that pass their operands on: which value is it, and who reads it?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import prod

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.traits import COPIES, OPS
from scalify_hlo.ir.value_map import ValueSet


def data_in(op: ir.Operation) -> list[ir.Value]:
    """Returns the operands whose elements are elements of the results of an op; see `OPS`."""
    operands, numbers = list(op.operands), OPS[op.name].data
    return operands if numbers is None else [operands[i] for i in numbers]


def behind(value: ir.Value, names: Collection[str]) -> ir.Value:
    """Returns the value that another one is, as far as it passes copies and ops of some names.

    Args:
        value: The value.
        names: The ops, whose first operand is passed on.
    """
    while not is_block(owner := value.owner):
        if owner.name in COPIES:
            value = owner.operands[ir.OpResult(value).result_number]
        elif owner.name in names:
            value = owner.operands[0]
        else:
            break
    return value


def readers(value: ir.Value, names: Collection[str]) -> Iterator[tuple[ir.Operation, int]]:
    """Yields the ops that take a value, past copies and ops of some names.

    Args:
        value: The value.
        names: The ops, whose first result is the value in another form.

    Yields:
        The ops, with the number of the operand.
    """

    def passed(value: ir.Value) -> Iterator[ir.Value]:
        for use in value.uses:
            name = use.owner.operation.name
            if name in COPIES:
                yield use.owner.results[use.operand_number]
            elif name in names:
                yield use.owner.results[0]

    for found in Search([value], passed, seen=ValueSet()):
        for use in found.uses:
            op = use.owner.operation
            if op.name not in COPIES and op.name not in names:
                yield op, use.operand_number


def dims_through(op: ir.Operation) -> list[int | None] | None:
    """Returns, for each dimension of a result, the same dimension of the operand.

    Args:
        op: An op that moves or converts the elements of its first operand.

    Returns:
        The numbers, with None in place of dimensions that the op changes; None for other ops.
    """
    name, result = op.name.removeprefix("stablehlo."), op.results[0]
    if name == "convert":
        return [*range(result.type.rank)]
    if name == "transpose":
        return list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
    slices = name == "slice" or name == "dynamic_slice"  # Sizes of others may be unknown.
    if not (slices or name == "reshape" or name == "reverse" or name == "broadcast_in_dim"):
        return None
    before, after = (list(value.type.shape) for value in (op.operands[0], result))
    if name == "reshape":
        return [_unreshaped(before, after, dim) for dim in range(len(after))]
    places, moved = [*range(len(after))], set[int]()
    if name == "reverse":
        moved = set(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    elif name == "broadcast_in_dim":
        places = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
    kept = {
        place: dim
        for dim, place in enumerate(places)
        if before[dim] == after[place] and dim not in moved
    }
    return [kept.get(dim) for dim in range(len(after))]


def _unreshaped(before: Sequence[int], after: Sequence[int], dim: int) -> int | None:
    """Returns the dimension that a reshape does not change; None if there is none."""
    inner = prod(after[dim + 1 :])
    same = (d for d, size in enumerate(before) if size == after[dim])
    return next((d for d in same if prod(before[d + 1 :]) == inner), None)
