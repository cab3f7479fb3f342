"""How large matmuls and convolutions are."""

from __future__ import annotations

import math

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import ragged
from scalify_hlo.dialect.ragged import RAGGED_DOT


class Sizes:
    """How large the matmuls of a program are; most are alike, and are looked at once."""

    def __init__(self) -> None:
        self._known: dict[tuple[ir.Attribute | ir.Type, ...], tuple[int, int, int] | None] = {}

    def of(self, op: ir.OpView) -> tuple[int, int, int] | None:
        """M, N and K of a matmul; None if one is not known."""
        if op.operation.name != "stablehlo.dot_general":
            return _sizes(op)
        operands = op.operands
        key = op.attributes["dot_dimension_numbers"], operands[0].type, operands[1].type
        if key not in self._known:
            self._known[key] = _sizes(op)
        return self._known[key]


def _sizes(op: ir.OpView) -> tuple[int, int, int] | None:
    lhs, rhs = (list(value.type.shape) for value in list(op.operands)[:2])
    result = list(op.results[0].type.shape)
    if min([*lhs, *rhs, *result], default=1) < 0:
        return None
    if op.operation.name == "stablehlo.dot_general":
        numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
        k = math.prod(lhs[d] for d in numbers.lhs_contracting_dimensions)
        batch = math.prod(lhs[d] for d in numbers.lhs_batching_dimensions)
        return math.prod(lhs) // (k * batch or 1), math.prod(rhs) // (k * batch or 1), k
    if op.operation.name == RAGGED_DOT:
        return ragged.sizes(op)
    if op.operation.name == "stablehlo.dot":
        k = lhs[-1]
        return math.prod(lhs) // (k or 1), math.prod(rhs) // (k or 1), k
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    n = rhs[numbers.kernel_output_feature_dimension]
    return math.prod(result) // (n or 1), n, math.prod(rhs) // (n or 1)
