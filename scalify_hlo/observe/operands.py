"""The operands of matmuls: samples of whole rows, along the dimensions that are summed over."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import HISTOGRAM_ELEMENTS, SAMPLE_ELEMENTS, SAMPLE_ROWS
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.contraction import contraction_of
from scalify_hlo.dialect.traits import CONTRACTED, MATMULS
from scalify_hlo.dialect.walk import ops_in
from scalify_hlo.observe.measures import sliced
from scalify_hlo.rules import emit

_SIDES: Final = ("lhs", "rhs")


@dataclass(frozen=True)
class Operand:
    """An operand of a matmul.

    Attributes:
        name: ``SITE:lhs`` or ``SITE:rhs``, as in a profile.
        value: The value.
        op: The matmul.
        role: The role of the operand.
        part: The part of the program.
        summed: The dimensions of the value that are summed over.
    """

    name: str
    value: ir.Value
    op: ir.Operation
    role: str
    part: str
    summed: tuple[int, ...]

    @property
    def contracted(self) -> int:
        """The number of elements that are summed over."""
        return math.prod(self.value.type.shape[d] for d in self.summed)


def operands_of(main: ir.OpView) -> list[Operand]:
    """Returns the float operands of the matmuls that have roles, in program order.

    Where sites have the same name, all but the first have a number: ``SITE#2:lhs``.

    Args:
        main: The function, in which all calls that lead to matmuls were inlined.
    """
    found: list[Operand] = []
    counts: dict[str, int] = {}
    for op in _matmuls(main):
        site = op.attributes[attributes.SITE].value
        number = counts[site] = counts.get(site, 0) + 1
        unique = site if number == 1 else f"{site}#{number}"
        roles = attributes.texts(op.attributes[attributes.ROLES])
        part = op.attributes[attributes.PART].value
        for side, value in enumerate(list(op.operands)[:2]):
            if isinstance(value.type.element_type, ir.FloatType) and value.type.has_static_shape:
                name = f"{unique}:{_SIDES[side]}"
                summed = _summed(op, side)
                found.append(Operand(name, value, op, roles[side], part, summed))
    return found


@dataclass(frozen=True)
class RowSampler:
    """Builds a sample of the rows of a tensor: slices along some of its dimensions.

    Attributes:
        shape: The shape of the tensor in the original. A rewrite may join dimensions of it.
        summed: The dimensions of a row.
    """

    shape: tuple[int, ...]
    summed: tuple[int, ...]

    def __call__(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """Returns a tensor ``[rows, elements]``, with rows that are evenly spaced."""
        shape = self.shape
        whole = ir.RankedTensorType.get(shape, value.type.element_type)
        value = emit.reshape(value, whole, at)
        kept = [d for d in range(len(shape)) if d not in self.summed]
        order = [*kept, *self.summed]
        length = math.prod(shape[d] for d in self.summed)
        count = math.prod(shape[d] for d in kept)
        if order != sorted(order):
            where = emit.before(at)
            value = stablehlo.transpose(value, ir.DenseI64ArrayAttr.get(order), **where)
        rows = ir.RankedTensorType.get([count, length], value.type.element_type)
        table = emit.reshape(value, rows, at)
        wanted = max(-(-HISTOGRAM_ELEMENTS // max(length, 1)), SAMPLE_ROWS)
        stride = max(count // wanted, 1)
        columns = min(length, SAMPLE_ELEMENTS // min(wanted, max(count, 1)))
        return sliced(table, [0, 0], [count, columns], [stride, 1], at)


def _matmuls(main: ir.OpView) -> list[ir.Operation]:
    return ops_in(main, MATMULS, where=lambda op: attributes.ROLES in op.attributes)


def _summed(op: ir.Operation, side: int) -> tuple[int, ...]:
    """Returns the dimensions of an operand that a matmul sums over."""
    if op.name in CONTRACTED:
        return contraction_of(op)[side].summed
    convolved = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    if side == 0:
        return (convolved.input_feature_dimension,)
    spatial = convolved.kernel_spatial_dimensions
    return tuple(sorted([convolved.kernel_input_feature_dimension, *spatial]))
