"""Ragged matmuls: each group of rows is multiplied by its own matrix, as in mixtures of experts.

``chlo.ragged_dot`` takes the left operand, the right operand and the sizes of the groups. Its three
kinds differ in the ragged dimension of the left operand: a free dimension, a contracted one (for
the gradient of the matrices), or a batch dimension. jax.export writes a composite of this name.
XLA turns the composite back into the op and ignores its decomposition.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.ir.contraction import RAGGED_DOT, RaggedNumbers, ragged_numbers
from scalify_hlo.ir.functions import target_of

NUMBERS: Final = "ragged_dot_dimension_numbers"
PRECISION: Final = "precision_config"


def lists(numbers: RaggedNumbers) -> ir.Attribute:
    """Returns dimension numbers as an attribute of the composite."""
    arrays = [np.asarray(part, np.int64) for part in numbers]
    return ir.ArrayAttr.get([ir.DenseElementsAttr.get(array) for array in arrays])


def is_composite(op: ir.Operation) -> bool:
    """Whether an op is the composite that jax.export writes for a ragged matmul."""
    return target_of(op) == RAGGED_DOT and NUMBERS in _given(op)


def dimensions(op: ir.Operation | ir.OpView) -> RaggedNumbers:
    """Returns the dimension numbers of a ragged matmul, which is an op or a composite."""
    if op.operation.name == RAGGED_DOT:
        return ragged_numbers(op.attributes[NUMBERS])
    parts = ir.ArrayAttr(_given(op)[NUMBERS])
    return RaggedNumbers(*([int(d) for d in ir.DenseIntElementsAttr(part)] for part in parts))


def precision(op: ir.Operation) -> list[str] | None:
    """Returns the precisions of a composite's operands; None if it has none."""
    given = _given(op)
    return [part.value for part in given[PRECISION]] if PRECISION in given else None


def _given(op: ir.Operation | ir.OpView) -> ir.DictAttr:
    if "composite_attributes" not in op.attributes:
        return ir.DictAttr.get({})
    return ir.DictAttr(op.attributes["composite_attributes"])


def terms(op: ir.Operation | ir.OpView) -> int | None:
    """The mean number of terms summed for an element of the result; None if it is not known."""
    lhs, groups = list(op.operands[0].type.shape), list(op.operands[2].type.shape)
    numbers = dimensions(op)
    summed: list[int] = [lhs[d] for d in numbers.lhs_contracting]
    if min([*summed, *groups], default=1) < 0:
        return None
    k = math.prod(summed)
    shared = set(numbers.lhs_ragged) & set(numbers.lhs_contracting)
    return max(k // max(groups[-1], 1), 1) if shared else k
