"""Casts of transposed tensors in the order of their dimensions.

XLA may leave a cast of a transpose in the order of the tensor before it, and the copies that
matmuls read, in both orders of rows and columns, are transposes of more than two groups of
dimensions then. On an H200 such a copy takes ten times as long as a transpose of a matrix. A value
with one dimension has only one order. So a cast that a matmul reads as a matrix, along its rows, is
reshaped to one dimension before the barrier that stands behind it, and back.
"""

from __future__ import annotations

import math
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.contraction import contraction_of
from scalify_hlo.ir.formats import is_small
from scalify_hlo.ir.through import readers
from scalify_hlo.ir.value_map import replace_op
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.rules.placement import is_placed
from scalify_hlo.transforms.matmul_dims import BARRIER, made_by

_DOT: Final = "stablehlo.dot_general"
_RESHAPE: Final = "stablehlo.reshape"
_TRANSPOSE: Final = "stablehlo.transpose"


def order_casts(module: ir.Operation) -> int:
    """Keeps casts of transposes in the order of their dimensions, and returns how many."""
    found = [
        op
        for op in ops_in(module, {BARRIER}, outer_first=True)
        if not is_placed(op) and _is_small(op) and _is_of_transpose(op) and _is_matrix(op)
    ]
    for op in found:
        _flatten(op)
    return len(found)


def _is_small(barrier: ir.Operation) -> bool:
    """Whether one tensor in 8 bits, of more than one dimension and static shape, passes."""
    if len(barrier.operands) != 1:
        return False
    type_ = barrier.operands[0].type
    return type_.has_static_shape and type_.rank > 1 and is_small(type_)


def _is_of_transpose(barrier: ir.Operation) -> bool:
    """Whether a transpose is cast, which may be rounded or scaled before."""
    made = made_by(barrier.operands[0], {_RESHAPE})
    return any(op.name == _TRANSPOSE for op in made)


def _is_matrix(barrier: ir.Operation) -> bool:
    """Whether a matmul without batch dimensions sums over the last dimensions of the cast."""
    found = readers(barrier.results[0], {_RESHAPE})
    sums = (contraction_of(op)[number] for op, number in found if op.name == _DOT)
    return any(not batch and min(summed, default=0) >= len(free) for batch, free, summed in sums)


def _flatten(barrier: ir.Operation) -> None:
    """Replaces a barrier by one of a tensor of one dimension."""
    data = barrier.operands[0]
    flat = emit.reshaped(data, [math.prod(data.type.shape)], barrier)
    given = attributes.all_of(barrier)
    made = emit.op(barrier, BARRIER, [flat.type], [flat], given).result
    replace_op(barrier, [emit.reshape(made, data.type, barrier)])
