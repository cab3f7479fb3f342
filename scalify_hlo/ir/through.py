"""Looking through ops that pass their operands on: which value is it, and who reads it?"""

from __future__ import annotations

from collections.abc import Collection, Iterator

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
