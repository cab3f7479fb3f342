"""Matmuls of operands with block scales, for which GPUs have kernels.

A program has them as a composite (`jax.lax.scaled_dot`) or as a custom call
(`jax.nn.scaled_matmul`). The operands are the data of both sides, and then their scales:

    dot(X_d * spread(X_s), Y_d * spread(Y_s))
"""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.ir.contraction import Contraction, contraction
from scalify_hlo.ir.functions import target_of
from scalify_hlo.ir.traits import MATMULS, STANDING

SCALED_DOT: Final = "xla.scaled_dot"
"""The name of the composite, with dimension numbers among its attributes."""

BLOCK_SCALED_DOT: Final = "__op$block_scaled_dot"
"""The target of the custom call, whose operands have shapes (batch, M, K) and (batch, N, K)."""


def is_scaled_dot(op: ir.Operation, name: str) -> bool:
    """Whether an op, given with its name, is a matmul of operands with block scales."""
    if name not in STANDING or target_of(op) not in (SCALED_DOT, BLOCK_SCALED_DOT):
        return False
    return len(op.operands) == 4 and len(op.results) == 1  # Both sides, and their scales.


def is_matmul(op: ir.Operation) -> bool:
    """Whether an op is a matmul, of operands with block scales or without, or a convolution."""
    name = op.name
    return name in MATMULS or is_scaled_dot(op, name)


def dimensions(op: ir.Operation | ir.OpView) -> Contraction:
    """Returns the dimensions of a matmul of operands with block scales."""
    ranks = op.operands[0].type.rank, op.operands[1].type.rank
    if op.operation.name == "stablehlo.custom_call":
        return contraction(ranks, ([0], [0]), ([2], [2]))
    given = ir.DictAttr(op.attributes["composite_attributes"])
    summed, batch = ([[int(d.value) for d in s] for s in x] for x in given["dimension_numbers"])
    return contraction(ranks, batch, summed)
