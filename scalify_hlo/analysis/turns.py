"""The number of turns of a loop that counts up to a constant, as `jax.lax.scan` writes it."""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.dialect.splats import integer_of

_COMPARE: Final = "stablehlo.compare"
_LESS: Final = "LT"


def turns_of(op: ir.Operation) -> int | None:
    """Returns the number of turns of a ``stablehlo.while``; None if it is not known.

    Args:
        op: The loop. Its condition has to compare a carry with a constant; the carry has to start
            with a constant, and to grow by one in each turn.
    """
    condition, body = (region.blocks[0] for region in op.regions)
    test = condition.operations[-1].operands[0].owner
    if isinstance(test, ir.Block) or test.name != _COMPARE or _LESS not in _direction(test):
        return None
    carried, limit = test.operands
    number = _number(carried, condition)
    if number is None:
        return None
    start, end = integer_of(op.operands[number]), _constant_in(limit, condition, op)
    step = _step(body.operations[-1].operands[number], body.arguments[number])
    if start is None or end is None or step != 1:
        return None
    return max(end - start, 0)


def _direction(op: ir.Operation) -> str:
    return str(op.attributes["comparison_direction"])


def _number(value: ir.Value, block: ir.Block) -> int | None:
    """The number of an argument of a block; None for other values."""
    if isinstance(value.owner, ir.Block) and value.owner == block:
        return int(ir.BlockArgument(value).arg_number)
    return None


def _constant_in(value: ir.Value, condition: ir.Block, op: ir.Operation) -> int | None:
    """An integer constant, which may be a carry that no turn changes."""
    number = _number(value, condition)
    if number is None:
        return integer_of(value)
    body = op.regions[1].blocks[0]
    kept = body.operations[-1].operands[number] == body.arguments[number]
    return integer_of(op.operands[number]) if kept else None


def _step(value: ir.Value, argument: ir.Value) -> int | None:
    """The constant that is added to an argument; None if it is another value."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.add":
        return None
    one, other = owner.operands
    if other == argument:
        one, other = other, one
    return integer_of(other) if one == argument else None
