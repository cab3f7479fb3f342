"""The output channels of a matmul: their dimensions in an operand and in the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import attributes, traits
from scalify_hlo.dialect.convolutions import CONVOLUTION, groups
from scalify_hlo.dialect.functions import is_block
from scalify_hlo.dialect.ragged import RAGGED_DOT, dimensions
from scalify_hlo.quantize.casts import unwidened
from scalify_hlo.quantize.groups import group_of
from scalify_hlo.rules import emit


class Channels(NamedTuple):
    """The output channels of one operand of a matmul: dimensions that are not contracted.

    Attributes:
        dims: The dimensions of the operand, in order.
        result: The dimensions of the result to which they correspond.
    """

    dims: tuple[int, ...]
    result: tuple[int, ...]


class Part(NamedTuple):
    """The first part of a dimension, in which a reshape makes it a dimension by itself.

    Attributes:
        dim: The dimension.
        size: The size of the part.
    """

    dim: int
    size: int

    def apart(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """Returns a tensor with the part as a dimension by itself, or what it was made of."""
        value = unwidened(value)
        shape, whole = list(value.type.shape), value.type.shape[self.dim]
        rest = whole // self.size if whole > 0 else whole  # It may be dynamic.
        shape[self.dim : self.dim + 1] = [self.size, rest]
        owner = value.owner
        if not is_block(owner) and owner.name in traits.RESHAPES:
            source = owner.operands[0]
            if list(source.type.shape) == shape:
                return source
        type_, sizes = ir.RankedTensorType.get(shape, value.type.element_type), list[ir.Value]()
        if not type_.has_static_shape:
            sizes = emit.sizes_of(value, at)
            each = emit.integers(sizes[0].type, self.size, at)
            rest = stablehlo.divide(
                sizes[self.dim], each, loc=at.location, ip=ir.InsertionPoint(at)
            )
            sizes[self.dim : self.dim + 1] = [each, rest]
        return emit.reshape(value, type_, at, sizes)

    @staticmethod
    def joined(value: ir.Value, like: ir.Value, at: ir.Operation) -> ir.Value:
        """Returns a tensor with the part in its dimension, in the shape of another tensor."""
        type_ = ir.RankedTensorType.get(like.type.shape, value.type.element_type)
        sizes = [] if type_.has_static_shape else emit.sizes_of(like, at)
        return emit.reshape(value, type_, at, sizes)


def channels(op: ir.OpView, side: int) -> Channels | None:
    """Returns the output channels of an operand.

    The scale of an output channel can be factored out of the sum, and multiplied with the result.
    Output channels are the output features of a kernel, and the columns of a weight. Batch
    dimensions of a matmul are output channels too.

    Args:
        op: A ``dot_general``, ``dot``, ``ragged_dot`` or ``convolution``.
        side: 0 for the left operand, 1 for the right one.

    Returns:
        None if there are none of static size, or if features of an input would have scales.
    """
    if op.operation.name == "stablehlo.dot_general":
        found = _of_dot_general(op, side)
    elif op.operation.name == "stablehlo.dot":
        found = _of_dot(op, side)
    elif op.operation.name == RAGGED_DOT:
        found = _of_ragged_dot(op, side)
    else:
        found = _of_convolution(op, side)
    shape = op.operands[side].type.shape
    if found is None or not all(shape[d] > 0 for d in found.dims):
        return None
    if grouped(op)[side] is not None:  # The features of a kernel, behind its members.
        return Channels(*((dim, dim + 1) for (dim,) in found))
    return found


def independent(op: ir.OpView, side: int, *, each: bool) -> Channels | None:
    """Returns the dimensions of an operand whose indices share no scale: members and experts.

    Args:
        op: A matmul with marks of `scalify-roles`.
        side: 0 for the left operand, 1 for the right one.
        each: Whether all batch dimensions of static size are among them.

    Returns:
        None if there are none. The groups of a ragged matmul correspond to the rows of the result;
        see `scalify_hlo.quantize.groups.of_rows`.
    """
    if (group := group_of(op)) is not None:
        marked = side and attributes.MEMBERS in op.attributes
        return Channels((group[0],), (group[1],)) if marked else None
    *sides, result = grouped(op)
    part = sides[side]
    if part is not None and result is not None:
        return Channels((part.dim,), (result.dim,))
    if op.operation.name != "stablehlo.dot_general":
        return None
    dims = set[int]()
    if attributes.MEMBERS in op.attributes:
        dims |= {*ir.DenseI64ArrayAttr(ir.ArrayAttr(op.attributes[attributes.MEMBERS])[side])}
    elif not each:
        return None
    batch, where = _places(op, side)
    shape = op.operands[side].type.shape
    dims |= {d for d in batch if shape[d] > 0} if each else set()
    return _ordered({d: where[d] for d in dims}) if dims else None


def grouped(op: ir.OpView) -> tuple[Part | None, Part | None, Part | None]:
    """Returns the parts of both operands and of the result of a convolution that are members.

    See `scalify_hlo.analysis.members.Members.dims`.
    """
    if op.operation.name != CONVOLUTION or attributes.MEMBERS not in op.attributes:
        return None, None, None
    counts = map(ir.DenseI64ArrayAttr, ir.ArrayAttr(op.attributes[attributes.MEMBERS]))
    _, *places = groups(op)
    lhs, rhs = (
        Part(place, count[0]) if len(count) else None
        for place, count in zip(places, counts, strict=True)
    )
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    result = None if rhs is None else Part(numbers.output_feature_dimension, rhs.size)
    return lhs, rhs, result


def joined(some: Channels | None, more: Channels | None) -> Channels | None:
    """Returns the dimensions of both."""
    if some is None or more is None:
        return more if some is None else some
    return _ordered(dict(zip(some.dims, some.result, strict=True)) | dict(zip(*more, strict=True)))


def batch_rank(op: ir.OpView) -> int:
    """Returns the number of batch dimensions of a matmul, with which its result begins."""
    return len(_places(op, 0)[0]) if op.operation.name == "stablehlo.dot_general" else 0


def _of_dot_general(op: ir.OpView, side: int) -> Channels | None:
    batch, where = _places(op, side)
    return _ordered(where) if len(where) > len(batch) else None


def _ordered(where: Mapping[int, int]) -> Channels:
    dims = tuple(sorted(where))
    return Channels(dims, tuple(where[d] for d in dims))


def _places(op: ir.OpView, side: int) -> tuple[list[int], dict[int, int]]:
    """Returns the batch dimensions of an operand, and the places of all dimensions in the result.

    Those that are summed have none.
    """
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    batch = [list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)]
    summed = [list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)]
    ranks = [value.type.rank for value in list(op.operands)[:2]]
    free = [[d for d in range(ranks[i]) if d not in (*batch[i], *summed[i])] for i in (0, 1)]
    first = len(batch[0]) + (len(free[0]) if side else 0)
    where = dict(zip(batch[side], range(len(batch[0])), strict=True))
    return batch[side], where | {d: first + i for i, d in enumerate(free[side])}


def _of_ragged_dot(op: ir.OpView, side: int) -> Channels | None:
    """Returns the columns of the matrices of all experts; None for the gradient of these."""
    numbers = dimensions(op)
    if side == 0 or not numbers.rhs_group or numbers.rhs_batching:
        return None
    gone = {*numbers.rhs_contracting, *numbers.rhs_group}
    free = [d for d in range(op.operands[1].type.rank) if d not in gone]
    first = op.results[0].type.rank - len(free)
    return Channels(tuple(free), tuple(range(first, first + len(free))))


def _of_dot(op: ir.OpView, side: int) -> Channels | None:
    rank = op.operands[side].type.rank
    if rank < 2:
        return None
    return Channels((1,), (op.results[0].type.rank - 1,)) if side else Channels((0,), (0,))


def _of_convolution(op: ir.OpView, side: int) -> Channels | None:
    if side == 0:
        return None
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    return Channels((numbers.kernel_output_feature_dimension,), (numbers.output_feature_dimension,))
