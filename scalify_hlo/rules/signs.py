"""Signs of values, as far as the ops that make them tell."""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import READ_CONE
from scalify_hlo.dialect.functions import is_block
from scalify_hlo.dialect.splats import filled_with
from scalify_hlo.dialect.traits import (
    BROADCASTS,
    COPIES,
    NOT_NEGATIVE,
    REORDERS,
    RESHAPES,
    ROUNDS,
    SLICES,
)

_MOVES: Final = BROADCASTS | COPIES | REORDERS | RESHAPES | ROUNDS | SLICES
_PRODUCTS: Final = frozenset({"stablehlo.multiply", "stablehlo.divide"})


def sign_of(value: ir.Value, depth: int = READ_CONE) -> int:
    """Returns 1 if no element of a value is negative, -1 if none is positive, and 0 otherwise.

    Args:
        value: A tensor of numbers.
        depth: The number of ops that are followed.
    """
    if is_block(value.owner) or not depth:
        return 0
    op = value.owner.operation
    if op.name in NOT_NEGATIVE:
        return 1
    number = filled_with(value) if op.name == "stablehlo.constant" else None
    if number is not None:
        return 1 if number >= 0 else -1
    if op.name in _MOVES:
        return sign_of(op.operands[0], depth - 1)
    if op.name == "stablehlo.negate":
        return -sign_of(op.operands[0], depth - 1)
    if op.name in _PRODUCTS:
        lhs, rhs = op.operands
        return 1 if lhs == rhs else sign_of(lhs, depth - 1) * sign_of(rhs, depth - 1)
    return 0
