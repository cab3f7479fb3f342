"""Matmuls of 8-bit data as matmuls of matrices: dimensions that are next to each other are one.

    dot(A[b, t, k], B[k, h, n]) = reshape(dot(reshape(A)[b*t, k], reshape(B)[k, h*n]))

XLA makes matrices of the operands itself, by transposes that it then takes into the matmul. Where
8 bits are widened in between, as on a CPU, it cannot: each transpose is a kernel, and both matmuls
of a gradient widen it by themselves. Reshapes cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scalify_hlo._compat import ir, stablehlo

_PARTITIONS, _MESH = "mhlo.num_partitions", "sdy.mesh"


@dataclass(frozen=True)
class Matrices:
    """A matmul of matrices.

    Attributes:
        operands: They, left and right.
        numbers: Which of their dimensions are summed over, as the op's attribute has it.
        shape: That of the result.
    """

    operands: list[ir.Value]
    numbers: ir.Attribute
    shape: list[int]


def on_one_device(module: ir.Operation) -> bool:
    """Whether a program is of one device: the placement of others may not survive a reshape."""
    if _PARTITIONS in module.attributes:
        return bool(ir.IntegerAttr(module.attributes[_PARTITIONS]).value == 1)
    return not any(op.operation.name == _MESH for op in module.regions[0].blocks[0].operations)


def matrices(op: ir.OpView, data: Sequence[ir.Value]) -> Matrices | None:
    """Operands of a matmul as matrices.

    Args:
        op: A ``dot_general``; what is built stands before it.
        data: Its operands.

    Returns:
        None where they are matrices already, or dimensions are of unknown size, not next to each
        other, or batches.
    """
    if op.operation.name != "stablehlo.dot_general":
        return None
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    if len(numbers.lhs_batching_dimensions) or all(value.type.rank == 2 for value in data):
        return None
    summed = (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions)
    found = [_side(v, list(dims)) for v, dims in zip(data, summed, strict=True)]
    sides = [side for side in found if side is not None]
    if len(sides) < len(found):
        return None
    operands, places, sizes = [], [], []
    for value, (shape, place) in zip(data, sides, strict=True):
        operands.append(_reshaped(value, shape, op))
        places.append([place])
        sizes.append(shape[1 - place])
    return Matrices(operands, stablehlo.DotDimensionNumbers.get([], [], *places), sizes)


def _side(value: ir.Value, summed: list[int]) -> tuple[list[int], int] | None:
    """The shape of an operand as a matrix, and which of its dimensions is summed over."""
    type_ = value.type
    free = [d for d in range(type_.rank) if d not in summed]
    if not type_.has_static_shape or not free or not summed:
        return None
    first, second = sorted((free, summed))
    if first + second != list(range(type_.rank)):
        return None
    sizes = [math.prod(type_.shape[d] for d in dims) for dims in (first, second)]
    return sizes, int(second is summed)


def _reshaped(value: ir.Value, shape: Sequence[int], at: ir.OpView) -> ir.Value:
    type_ = value.type
    if list(type_.shape) == list(shape):
        return value
    matrix = ir.RankedTensorType.get(shape, type_.element_type)
    return stablehlo.reshape(matrix, value, loc=at.location, ip=ir.InsertionPoint(at))
