"""Casts of results right behind their matmuls, so that the kernel of a matmul writes f8.

XLA for GPUs lets a matmul of f8 operands write f8 if its result is multiplied with one scale, is
clamped to the largest number of the format, and is converted. A gradient of a weight that is
rounded to f8 is often transposed, widened and multiplied again before. These ops commute with the
cast, as long as the factors are powers of two:

    cast(2^b * widened(transpose(2^a * dot(A, B)))) = cast(2^(a+b) * dot(B, A))

Both sides have the same bits if no product on the left overflows before that on the right, and if
all numbers that are flushed on the left are zero in f8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import FLUSHED_ROOM, NORMAL
from scalify_hlo.dataflow.frames import named
from scalify_hlo.dialect.swapped_operands import swapped_attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import format_of, is_small
from scalify_hlo.ir.functions import maker
from scalify_hlo.ir.splats import filled_with
from scalify_hlo.ir.value_map import OpSet, erase_unread, replace_op, uses_of

_DOT: Final = "stablehlo.dot_general"
_CONVERT: Final = "stablehlo.convert"
_MULTIPLY: Final = "stablehlo.multiply"
_TRANSPOSE: Final = "stablehlo.transpose"


def round_results(block: ir.Block) -> None:
    """Moves casts of results of matmuls right behind the matmuls.

    Args:
        block: The block of ``main``, of a program for one device.

    Returns:
        The number of casts that were moved.
    """
    casts = (op for name, op in named(block) if name == _CONVERT)
    types = [(op, op.results[0].type) for op in casts]
    for op in [op for op, type_ in types if is_small(type_) and type_.has_static_shape]:
        _move(op)


def _move(cast: ir.Operation) -> None:
    """Moves a cast behind the matmul whose result it rounds, if there is such a matmul."""
    steps = _steps(cast)
    exponent = _exponent(steps)
    if len(steps) <= 1 + (exponent != 0) or exponent is None:
        return
    dot, *between = steps
    transposed = [step for step in between if step.name == _TRANSPOSE]
    if len(transposed) > 1 or (transposed and not _is_swap(dot, transposed[0])):
        return
    made = _swapped(dot) if transposed else dot.results[0]
    if exponent:
        made = emit.times_power(made, exponent, cast)
    made = emit.saturate(made, _most(cast), cast)
    made = emit.convert(made, cast.results[0].type.element_type, cast)
    made = emit.reshaped(made, cast.results[0].type.shape, cast)
    unread = OpSet([cast.operands[0].owner.operation, dot, *between])
    clamped = cast.operands[0]
    replace_op(cast, [made])
    erase_unread(clamped, lambda op: op in unread or op.name == "stablehlo.constant")


def _steps(cast: ir.Operation) -> list[ir.Operation]:
    """Returns a matmul and the ops from it to the clamp of a cast; none if there are others."""
    clamp = _maker(cast.operands[0])
    if clamp is None or clamp.name != "stablehlo.clamp":
        return []
    most = _most(cast)
    if [filled_with(clamp.operands[n]) for n in (0, 2)] != [-most, most]:
        return []  # It does not leave exactly the finite numbers of the format.
    steps, op = list[ir.Operation](), _maker(clamp.operands[1])
    while op is not None and _is_exact(op):
        steps.append(op)
        op = _maker(op.operands[0])
    if op is None or op.name != _DOT or not all(is_small(each.type) for each in op.operands):
        return []
    return [op, *steps[::-1]] if _is_wide(op.results[0]) else []


def _is_exact(op: ir.Operation) -> bool:
    """Whether an op moves elements, widens them, or multiplies them with a power of two."""
    if op.name == _CONVERT:
        return _is_wide(op.operands[0]) and isinstance(op.results[0].type.element_type, ir.F32Type)
    if op.name == _MULTIPLY:
        return _power(op) is not None
    return op.name in {"stablehlo.reshape", _TRANSPOSE}


def _is_wide(value: ir.Value) -> bool:
    """Whether a value is bf16 or f32, which have the same exponents."""
    return isinstance(value.type.element_type, ir.BF16Type | ir.F32Type)


def _maker(value: ir.Value) -> ir.Operation | None:
    """Returns the op that makes a value which is read once; None for other values."""
    return maker(value) if len(uses_of(value)) == 1 else None


def _most(cast: ir.Operation) -> float:
    """Returns the largest number of the format of a cast."""
    format_ = format_of(cast.results[0].type)
    return math.nan if format_ is None else format_.max_finite


def _power(multiply: ir.Operation) -> int | None:
    """Returns log2 of the second operand of a product; None if it is no power of two."""
    number = filled_with(multiply.operands[1])
    if number is None or not 0 < number < math.inf:
        return None
    mantissa, exponent = math.frexp(number)
    return exponent - 1 if mantissa == 0.5 else None


def _exponent(steps: Sequence[ir.Operation]) -> int | None:
    """Returns log2 of the product of all factors; None if the order of the products matters."""
    powers = [_power(step) or 0 for step in steps if step.name == _MULTIPLY]
    total = sum(powers)
    partial = list(accumulate(powers))
    if abs(total) > NORMAL or any(each > max(total, 0) for each in partial):
        return None  # A product might overflow that becomes finite again.
    return total if all(total - each <= FLUSHED_ROOM for each in partial) else None


def _is_swap(dot: ir.Operation, transpose: ir.Operation) -> bool:
    """Whether a matmul of matrices of swapped operands makes the transpose of its result.

    The result may have been reshaped before, so that several dimensions are those of one operand.
    """
    order = list(ir.DenseI64ArrayAttr(transpose.attributes["permutation"]))
    first = order.index(0)
    rows = math.prod(transpose.operands[0].type.shape[: len(order) - first])
    plain = all(operand.type.rank == 2 for operand in dot.operands)
    rotated = order == [*range(len(order) - first, len(order)), *range(len(order) - first)]
    return plain and rotated and rows == dot.results[0].type.shape[0]


def _swapped(dot: ir.Operation) -> ir.Value:
    """Builds the matmul of swapped operands, which has the transposed result."""
    operands, old = list(dot.operands), dot.results[0].type
    type_ = ir.RankedTensorType.get(old.shape[::-1], old.element_type)
    return emit.op(dot, _DOT, [type_], operands[::-1], swapped_attributes(dot)).result
