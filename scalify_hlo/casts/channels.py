"""The output channels of a matmul: their dimensions in an operand and in the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.casts.casts import unwidened
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit, traits
from scalify_hlo.ir.contraction import RAGGED_DOT, contraction_of
from scalify_hlo.ir.convolutions import CONVOLUTION, groups
from scalify_hlo.ir.functions import maker
from scalify_hlo.ir.ragged import dimensions
from scalify_hlo.ir.traits import CONTRACTED
from scalify_hlo.rules.statistics import reduced


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
        op = maker(value)
        if op is not None and op.name in traits.RESHAPES:
            source = op.operands[0]
            if list(source.type.shape) == shape:
                return source
        type_, sizes = ir.RankedTensorType.get(shape, value.type.element_type), list[ir.Value]()
        if not type_.has_static_shape:
            sizes = emit.sizes_of(value, at)
            each = emit.integers(sizes[0].type, self.size, at)
            rest = stablehlo.divide(sizes[self.dim], each, **emit.before(at))
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
    found = _of_matmul(op, side) if op.name in CONTRACTED else _of_kernel(op) if side else None
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
        see `scalify_hlo.casts.channels.of_rows`.
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
    of, shape = contraction_of(op), op.operands[side].type.shape
    dims |= {d for d in of[side].batch if shape[d] > 0} if each else set()
    where = of.in_result(side, op.results[0].type.rank)
    return _ordered({d: where[d] for d in dims}) if dims else None


def grouped(op: ir.OpView) -> tuple[Part | None, Part | None, Part | None]:
    """Returns the parts of both operands and of the result of a convolution that are members.

    See `scalify_hlo.dataflow.members.Members.dims`.
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


def _of_matmul(op: ir.OpView, side: int) -> Channels | None:
    """Returns the channels of a matmul; for experts, the columns of the matrices of all."""
    of = contraction_of(op)
    if op.name == RAGGED_DOT:  # Only the matrices have channels, if these have no batches.
        numbers = dimensions(op)
        if side == 0 or not numbers.rhs_group or numbers.rhs_batching:
            return None
    if not of[side].free:
        return None
    return _ordered(of.in_result(side, op.results[0].type.rank))


def _ordered(where: Mapping[int, int]) -> Channels:
    dims = tuple(sorted(where))
    return Channels(dims, tuple(where[d] for d in dims))


def _of_kernel(op: ir.OpView) -> Channels:
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    return Channels((numbers.kernel_output_feature_dimension,), (numbers.output_feature_dimension,))


# Factors of the groups of a ragged matmul, each of whose rows is multiplied by its own matrix.
#
# The matrices of a mixture of experts have a scale each. In the result, a scale belongs to the rows
# of its group, which are one after the other. With the sizes n of the groups, row m is in group
#
#     g(m) = number of groups h with n_0 + ... + n_h <= m


def group_of(op: ir.OpView) -> tuple[int, int] | None:
    """Returns the dimension of the right operand that has groups, and that of the rows.

    Returns:
        None if the op is no ragged matmul of static shape without batch dimensions, in which each
        group of rows has a matrix.
    """
    if op.operation.name != RAGGED_DOT:
        return None
    numbers = dimensions(op)
    ragged = set(numbers.lhs_ragged) - set(numbers.lhs_contracting)
    if not numbers.rhs_group or numbers.lhs_batching or not ragged:
        return None
    if not all(value.type.has_static_shape for value in op.operands):
        return None
    free = [d for d in range(op.operands[0].type.rank) if d not in numbers.lhs_contracting]
    return numbers.rhs_group[0], free.index(ragged.pop())


def of_rows(factors: ir.Value, dims: Sequence[int], op: ir.Operation) -> ir.Value:
    """Returns the factors of the rows of a matmul's result, for those of its groups.

    Args:
        factors: A factor for each index of dimensions of the right operand.
        dims: These dimensions.
        op: The matmul, before which they are computed. Its last operand has the sizes of groups.

    Returns:
        The factors, if none of the dimensions has groups.
    """
    found = group_of(op.opview)
    if found is None or found[0] not in dims:
        return factors
    place, (count, rows) = dims.index(found[0]), (op.operands[2].type.shape[0], found[1])
    shape = list(factors.type.shape)
    sizes = [1 if i == place else size for i, size in enumerate(shape)]
    shape[place] = op.results[0].type.shape[rows]
    numbers = stablehlo.GatherDimensionNumbers.get(
        offset_dims=[i for i in range(len(shape)) if i != place],
        collapsed_slice_dims=[place],
        operand_batching_dims=[],
        start_indices_batching_dims=[],
        start_index_map=[place],
        index_vector_dim=1,
    )
    rows_of = _groups(op.operands[2], count, shape[place], op)
    return stablehlo.gather(factors, rows_of, numbers, sizes, **emit.before(op))


def _groups(sizes: ir.Value, count: int, rows: int, at: ir.Operation) -> ir.Value:
    """Returns the group of each row."""
    element = sizes.type.element_type
    square, table = ([count, count], [rows, count])
    first, second = (emit.iota(square, dim, element, at) for dim in (0, 1))
    lower = emit.compare(first, second, "LE", at)
    spread = emit.spread(sizes, [0], square, at)
    zeros = emit.filled(spread, 0, at)
    ends = _sum(stablehlo.select(lower, spread, zeros, **emit.before(at)), 0, at)
    spread = emit.spread(ends, [1], table, at)
    behind = emit.compare(spread, emit.iota(table, 0, element, at), "LE", at)
    return _sum(emit.convert(behind, element, at), 1, at)


def _sum(terms: ir.Value, dim: int, at: ir.Operation) -> ir.Value:
    """Returns the sums along a dimension of a matrix of integers."""
    zero = emit.integers(emit.scalar_type(terms.type.element_type), 0, at)
    return reduced(terms, zero, "stablehlo.add", [dim], at)
