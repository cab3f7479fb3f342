"""The op by which the region of a reduction, a scatter or a collective combines two elements."""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.ir.through import behind
from scalify_hlo.ir.traits import where

TAKES: Final = "takes"
"""The result of `monoid` for a region that returns its second argument."""

_CONSTRAINT: Final = "sdy.sharding_constraint"
_REDUCING: Final = where("reduction", data=None)


def monoid(region: ir.Region) -> str | None:
    """Returns the name of the op that a region applies to its two scalar arguments.

    Returns:
        The name of the op; `TAKES` for a region that returns its second argument; None for any
        other region.
    """
    block = region.blocks[0]
    arguments = list(block.arguments)
    body = [op for op in block.operations if op.operation.name != _CONSTRAINT]
    returned = [behind(value, ()) for value in body[-1].operands]
    if len(arguments) != 2 or len(returned) != 1 or len(body) > 2:
        return None
    if len(body) == 1:
        return TAKES if returned[0] == arguments[1] else None
    inner = body[0].operation
    operands = [behind(value, ()) for value in inner.operands]
    if inner.results[0] != returned[0] or operands not in (arguments, arguments[::-1]):
        return None
    return str(inner.name)


def is_sum(op: ir.Operation) -> bool:
    """Whether an op sums all elements of its operand along some dimensions, or those of windows."""
    return op.name in _REDUCING and monoid(op.regions[0]) == "stablehlo.add"
