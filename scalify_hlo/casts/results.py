"""The element types of quantized matmuls, and of the ops that apply the scales to their results.

A scale 2^k may be applied after the sum is rounded to bf16, instead of before:

    round(S) * 2^k = round(S * 2^k),    S = sum of A_d * B_d

Both sides have the same significand, as bf16 has the exponents of f32. They may differ only if
S * 2^k is subnormal, and is rounded once more on either side. S itself never is: it is 0 or a
multiple of the product of two f8 numbers, at least 2^-33. If one side is infinite, so is the other.
GPUs apply a bf16 scale in the kernel of a matmul that returns bf16. With an f32 result, the scale
and the rounding are kernels of their own, and the f32 result is stored.

A scale that is not a power of two has more digits than bf16, so that it is applied in f32.
"""

from __future__ import annotations

from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import traits
from scalify_hlo.ir.contraction import contraction_of
from scalify_hlo.ir.formats import element_of, element_type, with_element
from scalify_hlo.ir.value_map import erase, replace_op, replace_uses
from scalify_hlo.recipes.model import KEEP, Recipe
from scalify_hlo.rules.placement import is_placed

_CONVERT = "stablehlo.convert"
_MOVES = traits.RESHAPES | traits.REORDERS


def propagated_type(old: ir.Type, output: str, *, small: bool) -> ir.Type:
    """Returns the element type of a matmul whose scales are propagated.

    A result in f16 is rounded after the sum, which could leave the range of f16. Matmuls of f8
    operands return no f64, as their kernels do not.

    Args:
        old: The element type of the original result.
        output: The format of results.
        small: Whether the operands are f8.
    """
    if output == "f16":
        return ir.F32Type.get()
    if output != KEEP:
        return element_of(output)
    return old if not small or old == ir.BF16Type.get() else ir.F32Type.get()


def scaled_type(old: ir.Type, recipe: Recipe) -> ir.Type:
    """Returns the element type of a matmul whose operands have their own scales.

    The scales are applied in this type. The range of f16 is too small for the product of the data.

    Args:
        old: The element type of the original result.
        recipe: The recipe.
    """
    output, bf16 = recipe.matmul.output, ir.BF16Type.get()
    narrow = output == "bf16" or (output == KEEP and old == bf16)
    return bf16 if narrow and recipe.scaling.in_powers else ir.F32Type.get()


class Rounding(NamedTuple):
    """The ops that round the f32 result of a matmul to bf16.

    Attributes:
        chain: The result, and what reshapes and transposes make of it.
        converts: The converts to bf16, which alone read the last of the chain.
    """

    chain: list[ir.Value]
    converts: list[ir.Operation]


def rounding_of(result: ir.Value) -> Rounding | None:
    """Returns the ops that round a matmul's f32 result; None if the program reads the result wide.

    Models write such converts after a matmul with ``preferred_element_type=jnp.float32``, and JAX
    does in the gradients of one.

    Args:
        result: The result of the matmul.
    """
    if not isinstance(element_type(result.type), ir.F32Type):
        return None
    chain, readers = [result], _users(result)
    while len(readers) == 1 and readers[0].name in _MOVES:
        chain.append(readers[0].results[0])
        readers = _users(chain[-1])
    return Rounding(chain, readers) if readers and all(map(_rounds, readers)) else None


def round_at_once(result: ir.Value) -> None:
    """Makes a matmul return bf16 if the program reads its f32 result only after rounding to bf16.

    If anything else reads the f32 result, such as a sum, the result stays f32.

    Args:
        result: The result of the matmul.
    """
    found = rounding_of(result)
    if found is None:
        return
    for value in found.chain:
        value.set_type(with_element(value.type, ir.BF16Type.get()))
    for convert in found.converts:
        if not len(convert.attributes):  # An op with marks is found by them later.
            replace_uses(convert.results[0], found.chain[-1])
            erase(convert)


def _users(value: ir.Value) -> list[ir.Operation]:
    return [use.owner.operation for use in value.uses]


def _rounds(op: ir.Operation) -> bool:
    """Whether an op is a convert to bf16."""
    return op.name == _CONVERT and isinstance(element_type(op.results[0].type), ir.BF16Type)


# Matmuls of which only a transpose is read: that of the swapped operands is the same.
#
#     transpose(dot(A, B)) = dot(B, A)
#
# The transpose swaps the free dimensions of the operands, as in the gradient of a weight. Each
# element is the sum of the same products, in the same order. XLA finds this itself, but not behind
# the product with the scales of the operands. Then it computes the update of the weight in the
# order of the gradient, and copies the weight and its state to and from that order.
#
# The new matmul is marked with ``scalify.swapped``, as reports list operands in the original order.


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
    number = transpose.attributes.get(attributes.VALUE_NUMBER)
    return found if number is None else found | {attributes.VALUE_NUMBER: number}


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
