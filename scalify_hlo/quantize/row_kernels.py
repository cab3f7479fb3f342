"""Tensors that XLA for NVIDIA GPUs computes together with a reduction of their rows.

A normalization, a softmax, and the gradients of both reduce a tensor over its last dimension, and
broadcast the result to it. XLA makes one kernel of that, which returns a single tensor. It does not
join the readers of such a kernel either: a cast and an amax read the tensor one after the other.
Behind an `optimization_barrier`, they are one kernel, as they are for other tensors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import ROW_STEPS
from scalify_hlo.dialect import traits
from scalify_hlo.dialect.functions import is_block

_BROADCAST: Final = "stablehlo.broadcast_in_dim"
_REDUCE: Final = "stablehlo.reduce"
_ROWS: Final = traits.EACH | traits.RESHAPES | {_BROADCAST, _REDUCE}
"""The ops that compute numbers of rows from other numbers of them."""


def is_made_of_rows(value: ir.Value) -> bool:
    """Whether the kernel that computes a tensor reduces rows of the same shape.

    The ops between the tensor and the broadcast are in that kernel if nothing else reads them.
    """
    if not value.type.has_static_shape or not value.type.rank:
        return False
    shape, waiting = list(value.type.shape), [value]
    for _ in range(ROW_STEPS):
        if not waiting:
            return False
        owner = waiting.pop().owner
        if is_block(owner):
            continue
        if owner.name == _BROADCAST and _is_reduced(owner.operands[0], shape):
            return True
        if owner.name in traits.EACH:
            waiting += (each for each in owner.operands if _is_read_once(each))
    return False


def _is_reduced(rows: ir.Value, shape: list[int]) -> bool:
    """Whether numbers of rows follow from a reduction of a tensor over its last dimension."""
    waiting = [rows]
    for _ in range(ROW_STEPS):
        if not waiting:
            return False
        owner = waiting.pop().owner
        if is_block(owner) or owner.name not in _ROWS:
            continue
        if owner.name == _REDUCE and list(owner.operands[0].type.shape) == shape:
            if _reduced(owner) == [len(shape) - 1]:
                return True
            continue
        waiting += _smaller(owner, shape)
    return False


def _smaller(owner: ir.Operation, shape: list[int]) -> Iterator[ir.Value]:
    """Yields the operands of an op that are numbers of rows."""
    for value in owner.operands:
        type_ = value.type
        if type_.has_static_shape and list(type_.shape) != shape:
            yield value


def _reduced(reduce: ir.Operation) -> list[int]:
    return list(ir.DenseI64ArrayAttr(reduce.attributes["dimensions"]))


def _is_read_once(value: ir.Value) -> bool:
    uses = iter(value.uses)
    return next(uses, None) is not None and next(uses, None) is None
