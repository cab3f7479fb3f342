"""The ops through which factors of blocks pass, and where to.

A rule holds if the op f has ``f(Y * F) = f(Y) * F'``, with factors F' that are those of F, moved
in the same way. Products with powers of two commute with rounding, so f32 results keep their bits;
with other numbers, the order of the roundings changes.

========================== ========================================================================
op                         factors of the result
========================== ========================================================================
negate, abs, rounding      those of the operand
convert                    those of the operand, if no range is lost, or in a cast of a recipe
multiply                   those of both operands
divide                     those of the dividend
add, maximum, select ...   those of both operands, if they are the same
transpose, reverse         those of the operand, moved as its elements
reshape                    those of the operand, if each block stays one
broadcast_in_dim           those of the operand; one for each new dimension
slice, dynamic_slice       the part for the slice, if it has whole blocks
gather                     the part for each slice, as an embedding looks up rows
matmul, convolution        those of operands along dimensions that are not summed
barrier, dynamic_rescale   those of each operand
========================== ========================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import FACTOR_ARRAYS
from scalify_hlo.algebra.scale_shapes import reshaped
from scalify_hlo.casts.channels import Channels, channels
from scalify_hlo.ir import emit, markers
from scalify_hlo.ir.contraction import contraction_of
from scalify_hlo.ir.dispatch import Dispatch
from scalify_hlo.ir.traits import EXTREMES, SUMS
from scalify_hlo.scaling.arrays.factors import Factors, is_cast, is_smaller, keeps_range, multiplied

Rule: TypeAlias = Callable[[ir.Operation, Factors], bool]
"""A rule, which sets the factors of the results; it returns whether the op is one of its cases."""

RULES: Final[Dispatch[Rule]] = Dispatch()
"""The rules by name of op."""

_EXPONENT_BITS: Final = FORMATS["f32"].exponent_bits


Where: TypeAlias = dict[str, Any]
"""Location and insertion point of the factors of a result."""

Move: TypeAlias = Callable[[ir.Operation, ir.Value, Where], ir.Value | None]
"""Moves factors as an op moves the elements of its first operand; None if it divides blocks."""


def _moves(*ops: str) -> Callable[[Move], Move]:
    """Registers the rule of ops that move the elements of their first operand."""

    def register(move: Move) -> Move:
        RULES.on(*ops)(_moved(move))
        return move

    return register


def _moved(move: Move) -> Rule:
    """Returns the rule of an op that moves the elements of its first operand."""

    def apply(op: ir.Operation, factors: Factors) -> bool:
        if factors.held(op) != [0]:
            return False
        moved = [move(op, array, _where(op, factors)) for array in factors.of(op.operands[0])]
        if any(array is None for array in moved):
            return False
        factors.set(op.results[0], factors.derived(op.operands[0], moved))
        return True

    return apply


@_moves("stablehlo.negate", "stablehlo.abs")
def _same(_: ir.Operation, array: ir.Value, _w: Where) -> ir.Value:
    return array


@_moves("stablehlo.convert")
def _converted(op: ir.Operation, array: ir.Value, _w: Where) -> ir.Value | None:
    """Factors wait behind casts to f8 only if the cast has a scale that follows from its data."""
    source, result = op.operands[0].type, op.results[0]
    return array if keeps_range(source, result.type) or is_cast(op) else None


@RULES.on("stablehlo.reduce_precision")
def _rounded(op: ir.Operation, factors: Factors) -> bool:
    """Passes a rounding that keeps the exponents of f32, or more."""
    if ir.IntegerAttr(op.attributes["exponent_bits"]).value < _EXPONENT_BITS:
        return False
    return _moved(_same)(op, factors)


@_moves("stablehlo.transpose")
def _transposed(op: ir.Operation, array: ir.Value, where: Where) -> ir.Value:
    return stablehlo.transpose(array, list(op.attributes["permutation"]), **where)


@_moves("stablehlo.reverse")
def _reversed(op: ir.Operation, array: ir.Value, where: Where) -> ir.Value:
    return stablehlo.reverse(array, list(op.attributes["dimensions"]), **where)


@_moves("stablehlo.reshape")
def _reshaped(op: ir.Operation, array: ir.Value, where: Where) -> ir.Value | None:
    source, result = op.operands[0].type, op.results[0].type
    found = reshaped(source.shape, array.type.shape, result.shape)
    if found is None:
        return None
    type_ = ir.RankedTensorType.get(found, array.type.element_type)
    return stablehlo.reshape(type_, array, **where)


@_moves("stablehlo.broadcast_in_dim")
def _broadcast(op: ir.Operation, array: ir.Value, where: Where) -> ir.Value:
    result = op.results[0].type
    shape = [1] * result.rank
    dims = list(op.attributes["broadcast_dimensions"])
    for d, count in zip(dims, array.type.shape, strict=True):
        shape[d] = count
    type_ = ir.RankedTensorType.get(shape, array.type.element_type)
    return stablehlo.broadcast_in_dim(type_, array, dims, **where)


@_moves("stablehlo.slice")
def _sliced(op: ir.Operation, array: ir.Value, where: Where) -> ir.Value | None:
    starts, limits, strides = (
        list(op.attributes[f"{name}"]) for name in ("start_indices", "limit_indices", "strides")
    )
    shape = op.operands[0].type.shape
    for d, (count, whole) in enumerate(zip(array.type.shape, shape, strict=True)):
        if count == 1:
            starts[d], limits[d], strides[d] = 0, 1, 1
        elif count < whole:
            size = whole // count
            if strides[d] != 1 or starts[d] % size or limits[d] % size:
                return None
            starts[d], limits[d] = starts[d] // size, limits[d] // size
    return stablehlo.slice(array, starts, limits, strides, **where)


@_moves("stablehlo.dynamic_slice")
def _sliced_at(op: ir.Operation, array: ir.Value, where: Where) -> ir.Value | None:
    sizes = _slice_sizes(op, array)
    if sizes is None:
        return None
    starts = list(op.operands)[1:]
    return stablehlo.dynamic_slice(array, starts, sizes, **where)


@_moves("stablehlo.gather")
def _gathered(op: ir.Operation, array: ir.Value, where: Where) -> ir.Value | None:
    """A start index along a dimension with one factor is clamped to 0."""
    sizes = _slice_sizes(op, array)
    if sizes is None:
        return None
    numbers = stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    if list(numbers.operand_batching_dims):
        return None
    keys = [key for key in ("dimension_numbers", "indices_are_sorted") if key in op.attributes]
    given = {key: op.attributes[key] for key in keys}
    result, offsets = list(op.results[0].type.shape), list(numbers.offset_dims)
    kept = [d for d in range(len(sizes)) if d not in list(numbers.collapsed_slice_dims)]
    for d, place in zip(kept, offsets, strict=True):
        result[place] = sizes[d]
    given["slice_sizes"] = ir.DenseI64ArrayAttr.get(sizes)
    type_ = ir.RankedTensorType.get(result, array.type.element_type)
    return emit.made("stablehlo.gather", type_, [array, op.operands[1]], given, **where)


def _slice_sizes(op: ir.Operation, array: ir.Value) -> list[int] | None:
    """Returns the size of a slice of the factors; None if its start might be within a block."""
    sizes = list(op.attributes["slice_sizes"])
    shape = op.operands[0].type.shape
    for d, (count, whole) in enumerate(zip(array.type.shape, shape, strict=True)):
        if count == 1:
            sizes[d] = 1
        elif count < whole:
            if sizes[d] != whole:
                return None
            sizes[d] = count
    return sizes


@RULES.on("stablehlo.multiply")
def _multiplied(op: ir.Operation, factors: Factors) -> bool:
    arrays = [array for value in op.operands for array in factors.of(value)]
    if len(arrays) > FACTOR_ARRAYS:
        factors.apply(op, 0)
        arrays = list(factors.of(op.operands[1]))
    factors.set(op.results[0], tuple(arrays))
    return True


@RULES.on("stablehlo.divide")
def _over(op: ir.Operation, factors: Factors) -> bool:
    factors.apply(op, 1)
    factors.set(op.results[0], factors.of(op.operands[0]))
    return True


@RULES.on(*SUMS, *EXTREMES, "stablehlo.select")
def _alike(op: ir.Operation, factors: Factors) -> bool:
    """Passes sums and choices of values that have the same factors."""
    first, second = list(op.operands)[-2:]
    arrays = factors.of(first)
    if factors.of(second) != arrays:
        return False
    factors.set(op.results[0], arrays)
    return True


@RULES.on("stablehlo.optimization_barrier")
def _through(op: ir.Operation, factors: Factors) -> bool:
    """Passes a barrier, and a marker that rescales data by a statistic of them."""
    name = op.attributes[markers.MARKER].value if markers.MARKER in op.attributes else None
    if name not in (None, markers.DYNAMIC_RESCALE):
        return False
    for value, result in zip(op.operands, op.results, strict=True):
        factors.set(result, factors.of(value))
    return True


@RULES.on("stablehlo.dot_general", "stablehlo.dot", "stablehlo.convolution")
def _contracted(op: ir.Operation, factors: Factors) -> bool:
    """Moves factors along output channels to the result; others are applied to an operand."""
    found: list[ir.Value] = []
    for side in (0, 1):
        value = op.operands[side]
        if not factors.of(value):
            continue
        arrays = _to_result(op, side, factors)
        if arrays is not None and len(found) + len(arrays) <= FACTOR_ARRAYS:
            found += factors.derived(value, arrays, waits=True)
        elif not _to_other(op, side, factors):
            factors.apply(op, side)
    factors.set(op.results[0], tuple(found))
    return True


def _to_result(op: ir.Operation, side: int, factors: Factors) -> list[ir.Value] | None:
    """Returns the factors of an operand along dimensions of the result; None if any is summed."""
    known = channels(op.opview, side)
    if known is None:
        return None
    rank, where = op.results[0].type.rank, _where(op, factors)
    moved = [_placed(array, known, rank, where) for array in factors.of(op.operands[side])]
    return None if any(array is None for array in moved) else [a for a in moved if a is not None]


def _to_other(op: ir.Operation, side: int, factors: Factors) -> bool:
    """Applies factors of summed indices to the other operand, if it is smaller and wide.

    Σ_k A_k (B_kn F_k) = Σ_k (A_k F_k) B_kn, whose products are the same numbers.
    """
    own, other = op.operands[side], op.operands[1 - side]
    if op.name != "stablehlo.dot_general" or is_smaller(own.type, other.type):
        return False
    if not keeps_range(other.type, other.type) or not keeps_range(own.type, own.type):
        return False
    of = contraction_of(op)
    known = Channels(of[side].summed, of[1 - side].summed)
    arrays = factors.of(own)
    if any(_divides(array, own.type.shape) for array in arrays):
        return False
    where = emit.before(op)
    moved = [_placed(array, known, other.type.rank, where) for array in arrays]
    if any(array is None for array in moved):
        return False
    op.operands[1 - side] = multiplied(other, tuple(a for a in moved if a is not None), op)
    factors.set(op.operands[1 - side], factors.of(other))
    return True


def _divides(array: ir.Value, shape: Sequence[int]) -> bool:
    """Whether blocks divide a dimension, and do not have one index each."""
    counts = zip(array.type.shape, shape, strict=True)
    return any(1 < count < whole for count, whole in counts)


def _placed(array: ir.Value, known: Channels, rank: int, where: Where) -> ir.Value | None:
    """Returns factors along some dimensions of an operand, moved to the dimensions for them."""
    counts = list(array.type.shape)
    if any(count > 1 and d not in known.dims for d, count in enumerate(counts)):
        return None
    shape = [1] * rank
    for d, place in zip(known.dims, known.result, strict=True):
        shape[place] = counts[d]
    ordered = [d for _, d in sorted(zip(known.result, known.dims, strict=True))]
    permutation = [*(d for d in range(len(counts)) if d not in known.dims), *ordered]
    if permutation != sorted(permutation):
        array = stablehlo.transpose(array, permutation, **where)
    type_ = ir.RankedTensorType.get(shape, array.type.element_type)
    return array if array.type == type_ else stablehlo.reshape(type_, array, **where)


def _where(op: ir.Operation, factors: Factors) -> Where:
    return {"loc": op.location, "ip": ir.InsertionPoint(factors.next)}
