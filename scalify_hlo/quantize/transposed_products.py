"""Matmuls of which only a transpose is read: that of the swapped operands is the same.

    transpose(dot(A, B)) = dot(B, A)

The transpose swaps the free dimensions of the operands, as in the gradient of a weight. Each
element is the sum of the same products, in the same order. XLA finds this itself, but not behind
the product with the scales of the operands. Then it computes the update of the weight in the order
of the gradient, and copies the weight and its state to and from that order.

The new matmul is marked with ``scalify.swapped``, as reports list operands in the original order.
"""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.contraction import contraction_of
from scalify_hlo.dialect.value_map import replace_op
from scalify_hlo.rules.placement import is_placed


def transpose_of(op: ir.OpView) -> ir.Operation | None:
    """Returns the transpose for which the operands of a matmul can be swapped.

    Args:
        op: The matmul.

    Returns:
        The transpose; None if the op is no ``dot_general``, or if anything else reads its result.
    """
    uses = [use.owner.operation for use in op.results[0].uses]
    if op.operation.name != "stablehlo.dot_general" or len(uses) != 1:
        return None
    transpose = uses[0]
    if transpose.name != "stablehlo.transpose" or is_placed(op.operation) or is_placed(transpose):
        return None
    moves = list(ir.DenseI64ArrayAttr(transpose.attributes["permutation"]))
    order = _swapped_order(op)
    return transpose if moves == order != sorted(order) else None


def _swapped_order(op: ir.OpView) -> list[int]:
    """Returns the dimensions of the result in the order in which swapped operands make them."""
    (batched, free, _), rank = contraction_of(op).lhs, op.results[0].type.rank
    batch, lhs = len(batched), len(batched) + len(free)
    return [*range(batch), *range(lhs, rank), *range(batch, lhs)]


def marks_of_swapped(transpose: ir.Operation) -> attributes.Attributes:
    """Returns the attributes that only a matmul of swapped operands has.

    Its result is that of the transpose, so that it has the number by which statistics know that.

    Args:
        transpose: The transpose whose place the matmul takes.
    """
    found: attributes.Attributes = {attributes.SWAPPED: ir.UnitAttr.get()}
    if attributes.VALUE_NUMBER in transpose.attributes:
        found[attributes.VALUE_NUMBER] = transpose.attributes[attributes.VALUE_NUMBER]
    return found


def replace_transpose(transpose: ir.Operation, made: ir.Value) -> list[ir.OpView]:
    """Replaces the transpose of a matmul by a value that is equal to it, with its marks.

    Returns:
        The op that makes the value if it is the gradient of a weight.
    """
    gradient = attributes.STATE_GRADIENT in transpose.attributes
    if gradient:
        attributes.mark_gradient(made)
    replace_op(transpose, [made])
    return [made.owner.opview] if gradient else []
