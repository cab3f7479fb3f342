"""Rewrites matmuls of 8-bit data as matmuls of matrices: adjacent dimensions are collapsed.

    dot(A[b, t, k], B[k, h, n]) = reshape(dot(reshape(A)[b*t, k], reshape(B)[k, h*n]))

XLA makes matrices of the operands itself, by transposes that it fuses into the matmul. It cannot do
so if 8-bit data are widened in between, as on a CPU. Then each transpose is a kernel, and both
matmuls of a gradient widen it again. Reshapes cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.dialect.contraction import Axes, dot_numbers, of_numbers
from scalify_hlo.rules import emit

_PARTITIONS, _MESH = "mhlo.num_partitions", "sdy.mesh"


class Matrices(NamedTuple):
    """A matmul of matrices.

    Attributes:
        types: The types of the operands, left and right.
        numbers: The dimension numbers of the matmul, as an attribute.
        shape: The shape of the result.
    """

    types: list[ir.Type]
    numbers: ir.Attribute
    shape: list[int]

    def operands(self, data: Sequence[ir.Value], at: ir.OpView) -> list[ir.Value]:
        """Reshapes the operands of the matmul of tensors to matrices, before an op."""
        pairs = zip(data, self.types, strict=True)
        return [
            v if v.type == type_ else emit.reshape(v, type_, at.operation) for v, type_ in pairs
        ]


def on_one_device(module: ir.Operation) -> bool:
    """Whether a program is for one device; reshapes may lose the shardings of other programs."""
    if _PARTITIONS in module.attributes:
        partitions = module.attributes[_PARTITIONS]
        return isinstance(partitions, ir.IntegerAttr) and partitions.value == 1
    return not any(op.operation.name == _MESH for op in module.regions[0].blocks[0].operations)


class Flattening:
    """Finds the matmul of matrices for a matmul; equal matmuls are analyzed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[ir.Attribute | ir.Type, ...], Matrices | None] = {}

    def of(self, op: ir.OpView, data: Sequence[ir.Value]) -> Matrices | None:
        """Returns a matmul as one of matrices.

        Args:
            op: The matmul.
            data: Its operands.

        Returns:
            None if it is not a ``dot_general``, if the operands are matrices already, or if
            dimensions are not static, not adjacent, or batch dimensions.
        """
        if op.operation.name != "stablehlo.dot_general":
            return None
        key = op.attributes["dot_dimension_numbers"], *[value.type for value in data]
        if key not in self._known:
            self._known[key] = _matrices(*key)
        return self._known[key]


def _matrices(attribute: ir.Attribute, *types: ir.Type) -> Matrices | None:
    of = of_numbers(attribute, (type_.rank for type_ in types))
    if of.lhs.batch or all(type_.rank == 2 for type_ in types):
        return None
    found = [_side(type_, axes) for type_, axes in zip(types, of, strict=True)]
    sides = [side for side in found if side is not None]
    if len(sides) < len(found):
        return None
    matrices, places, sizes = [], [], []
    for type_, (shape, place) in zip(types, sides, strict=True):
        same = list(type_.shape) == shape
        matrices.append(type_ if same else ir.RankedTensorType.get(shape, type_.element_type))
        places.append([place])
        sizes.append(shape[1 - place])
    return Matrices(matrices, dot_numbers(*places), sizes)


def _side(type_: ir.Type, axes: Axes) -> tuple[list[int], int] | None:
    """Returns the shape of an operand as a matrix, and the dimension that is contracted."""
    _, free, summed = axes
    if not type_.has_static_shape or not free or not summed:
        return None
    first, second = sorted((free, summed))
    if first + second != tuple(range(type_.rank)):
        return None
    sizes = [math.prod(type_.shape[d] for d in dims) for dims in (first, second)]
    return sizes, int(second is summed)
