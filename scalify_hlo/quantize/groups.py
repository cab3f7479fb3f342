"""Factors of the groups of a ragged matmul, each of whose rows is multiplied by its own matrix.

The matrices of a mixture of experts have a scale each. In the result, a scale belongs to the rows
of its group, which are one after the other. With the sizes n of the groups, row m is in group

    g(m) = number of groups h with n_0 + ... + n_h <= m
"""

from __future__ import annotations

from collections.abc import Sequence

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect.contraction import RAGGED_DOT
from scalify_hlo.dialect.ragged import dimensions
from scalify_hlo.rules import emit
from scalify_hlo.rules.statistics import fill_reduction


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
    return emit.op(
        op,
        "stablehlo.gather",
        [ir.RankedTensorType.get(shape, factors.type.element_type)],
        [factors, _groups(op.operands[2], count, shape[place], op)],
        {"dimension_numbers": numbers, "slice_sizes": ir.DenseI64ArrayAttr.get(sizes)},
    ).result


def _groups(sizes: ir.Value, count: int, rows: int, at: ir.Operation) -> ir.Value:
    """Returns the group of each row."""
    where = emit.before(at)
    element = sizes.type.element_type
    square, table = ([count, count], [rows, count])
    lower = _compared("LE", _iota(square, 0, element, at), _iota(square, 1, element, at), at)
    spread = emit.broadcast(
        ir.RankedTensorType.get(square, element), sizes, ir.DenseI64ArrayAttr.get([0]), **where
    )
    ends = _sum(stablehlo.select(lower, spread, emit.filled(spread, 0, at), **where), 0, at)
    spread = emit.broadcast(
        ir.RankedTensorType.get(table, element), ends, ir.DenseI64ArrayAttr.get([1]), **where
    )
    behind = _compared("LE", spread, _iota(table, 0, element, at), at)
    return _sum(emit.convert(behind, element, at), 1, at)


def _iota(shape: Sequence[int], dim: int, element: ir.Type, at: ir.Operation) -> ir.Value:
    type_ = ir.RankedTensorType.get(shape, element)
    return stablehlo.iota(type_, dim, **emit.before(at))


def _compared(direction: str, lhs: ir.Value, rhs: ir.Value, at: ir.Operation) -> ir.Value:
    attribute = stablehlo.ComparisonDirectionAttr.get(direction)
    return stablehlo.compare(lhs, rhs, attribute, **emit.before(at))


def _sum(terms: ir.Value, dim: int, at: ir.Operation) -> ir.Value:
    """Returns the sums along a dimension of a matrix of integers."""
    element = terms.type.element_type
    scalar = emit.scalar_type(element)
    op = emit.op(
        at,
        "stablehlo.reduce",
        [ir.RankedTensorType.get([terms.type.shape[1 - dim]], element)],
        [terms, emit.integers(scalar, 0, at)],
        {"dimensions": ir.DenseI64ArrayAttr.get([dim])},
        regions=1,
    )
    fill_reduction(op.regions[0], "stablehlo.add", scalar, at.location)
    return op.result
