"""Matmuls of operands with block scales, for which GPUs have kernels.

A program has them as a composite (`jax.lax.scaled_dot`) or as a custom call
(`jax.nn.scaled_matmul`). The operands are the data of both sides, and then their scales:

    dot(X_d * spread(X_s), Y_d * spread(Y_s))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from scalify_hlo._compat import ir

SCALED_DOT: Final = "xla.scaled_dot"
"""The name of the composite, with dimension numbers among its attributes."""

BLOCK_SCALED_DOT: Final = "__op$block_scaled_dot"
"""The target of the custom call, whose operands have shapes (batch, M, K) and (batch, N, K)."""

_NAMES: Final = {
    "stablehlo.composite": ("name", SCALED_DOT),
    "stablehlo.custom_call": ("call_target_name", BLOCK_SCALED_DOT),
}


class Dimensions(NamedTuple):
    """The contracting and batching dimensions of both sides."""

    lhs_contracting: Sequence[int]
    rhs_contracting: Sequence[int]
    lhs_batching: Sequence[int]
    rhs_batching: Sequence[int]


def is_scaled_dot(op: ir.Operation, name: str) -> bool:
    """Whether an op, given with its name, is a matmul of operands with block scales."""
    found = _NAMES.get(name)
    if found is None or op.attributes[found[0]].value != found[1]:
        return False
    return len(op.operands) == 4 and len(op.results) == 1  # Both sides, and their scales.


def dimensions(op: ir.Operation | ir.OpView) -> Dimensions:
    """Returns the dimension numbers of a matmul of operands with block scales."""
    if op.operation.name == "stablehlo.custom_call":
        return Dimensions([2], [2], [0], [0])
    given = ir.DictAttr(op.attributes["composite_attributes"])
    contracting, batching = given["dimension_numbers"]
    return Dimensions(*([int(d.value) for d in side] for side in (*contracting, *batching)))
