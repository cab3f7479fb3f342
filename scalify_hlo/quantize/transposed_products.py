"""Matmuls of which only a transpose is read: that of the swapped operands is the same.

    transpose(dot(A, B)) = dot(B, A)

The transpose swaps the free dimensions of the operands, as in the gradient of a weight. Each
element is the sum of the same products, in the same order. XLA finds this itself, but not behind
the product with the scales of the operands. Then it computes the update of the weight in the order
of the gradient, and copies the weight and its state to and from that order.

The new matmul is marked with ``scalify.swapped``, as reports list operands in the original order.
"""

from __future__ import annotations

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import attributes
from scalify_hlo.rules.placement import MHLO, SDY


def transpose_of(op: ir.OpView) -> ir.Operation | None:
    """Returns the transpose for which the operands of a matmul can be swapped.

    Args:
        op: The matmul.

    Returns:
        The transpose; None if the op is no ``dot_general``, if anything else reads its result, or
        if the transpose itself is marked for the passes that follow.
    """
    uses = [use.owner.operation for use in op.results[0].uses]
    if op.operation.name != "stablehlo.dot_general" or len(uses) != 1:
        return None
    transpose = uses[0]
    if transpose.name != "stablehlo.transpose" or _placed(op.operation) or _placed(transpose):
        return None
    if attributes.STATE_GRADIENT in transpose.attributes:
        return None
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    batch = len(numbers.lhs_batching_dimensions)
    lhs = op.operands[0].type.rank - len(numbers.lhs_contracting_dimensions)
    rank = op.results[0].type.rank
    order = [*range(batch), *range(lhs, rank), *range(batch, lhs)]
    moves = list(ir.DenseI64ArrayAttr(transpose.attributes["permutation"]))
    if moves != order or order == sorted(order):
        return None
    return transpose


def swapped(numbers: ir.Attribute) -> ir.Attribute:
    """Returns the dimension numbers of a matmul for swapped operands."""
    of = stablehlo.DotDimensionNumbers(numbers)
    return stablehlo.DotDimensionNumbers.get(
        list(of.rhs_batching_dimensions),
        list(of.lhs_batching_dimensions),
        list(of.rhs_contracting_dimensions),
        list(of.lhs_contracting_dimensions),
    )


def _placed(op: ir.Operation) -> bool:
    """Whether an attribute places the dimensions of a result on devices."""
    return SDY in op.attributes or MHLO in op.attributes
