"""Scatters of single numbers into a constant, written as a comparison with positions and a select.

The gradient of a cross-entropy with integer labels is such a scatter: it adds one number to each
row of zeros. A scatter is a kernel of its own, which writes a tensor of the size of the logits, and
its reader reads it again. A select is computed where it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dataflow.single_scatter import SCATTER, SingleScatter, column_of, single_scatter
from scalify_hlo.ir import emit
from scalify_hlo.ir.splats import splat_of
from scalify_hlo.ir.through import behind
from scalify_hlo.ir.value_map import replace_op
from scalify_hlo.ir.walk import ops_in

_ADD: Final = "stablehlo.add"
_OWN: Final = frozenset({"scatter_dimension_numbers", "indices_are_sorted", "unique_indices"})
"""The attributes of a scatter itself; others, such as that of a sharding, are of its result."""


def replace_scatters(module: ir.Operation) -> int:
    """Replaces scatters that put at most one number into each row of a constant.

    With the constant c, the updates u and the indices i, the scatter that adds is

        select(iota == i, c + u, c)

    where u and i are broadcast to the shape of the result. It has the same bits: each element is c,
    or c plus one update. An index out of bounds equals no position, and its update is dropped as by
    the scatter. A scatter that does not add but writes has u in place of c + u.

    Args:
        module: The module, which is edited.

    Returns:
        The number of scatters that were replaced.
    """
    found = ops_in(module, {SCATTER})
    return sum(map(_replace, found))


def _replace(op: ir.Operation) -> bool:
    """Replaces a scatter, and returns whether it could be."""
    number, adds = _splat(op.operands[0]), _adds(op)
    dimensions = single_scatter(op) if number is not None and adds is not None else None
    if dimensions is None or not _fits(op, dimensions):
        return False
    updates = op.operands[2]
    if adds:
        constant = ir.DenseElementsAttr.get_splat(updates.type, number)
        place = emit.before(op)
        filled = emit.constant_of(updates.type, constant, **place)
        updates = emit.elementwise(_ADD, filled, updates, **place)
    hit, spread = _hit(op, dimensions), _spread(updates, dimensions.update_dims, op)
    chosen = stablehlo.SelectOp(hit, spread, op.operands[0], **emit.before(op))
    for named in op.attributes:
        if named not in _OWN:
            chosen.attributes[named] = op.attributes[named]
    replace_op(op, chosen.results)
    return True


def _splat(value: ir.Value) -> ir.Attribute | None:
    """Returns the number that all elements of a constant are, broadcast or not; else None."""
    elements = splat_of(behind(value, {"stablehlo.broadcast_in_dim"}))
    return None if elements is None else elements.get_splat_value()


def _adds(op: ir.Operation) -> bool | None:
    """Returns True for a scatter that adds, False for one that writes, and None for others."""
    body = op.regions[0].blocks[0]
    old, new = body.arguments
    if old.type.element_type != op.operands[0].type.element_type:
        return None
    *ops, end = body.operations
    value = end.operands[0]
    if value == new:
        return False
    one = len(ops) == 1 and ops[0].operation.name == _ADD and value == ops[0].results[0]
    if one and tuple(ops[0].operands) in ((old, new), (new, old)):
        return True
    return None


def _fits(op: ir.Operation, dimensions: SingleScatter) -> bool:
    """Whether the type of the indices has a number for each position that is compared."""
    element, shape = op.operands[1].type.element_type, op.results[0].type.shape
    bits = element.width - (not element.is_unsigned)
    return all(shape[dimension] <= 1 << bits for dimension, _ in dimensions.columns)


def _hit(op: ir.Operation, dimensions: SingleScatter) -> ir.Value:
    """Builds booleans in the shape of the result: whether an element has an update."""
    indices = op.operands[1]
    shape = op.results[0].type.shape
    hits = []
    for dimension, number in dimensions.columns:
        column = _spread(_column(op, number), dimensions.index_dims, op)
        places = emit.iota(shape, dimension, indices.type.element_type, op)
        hits.append(emit.compare(places, column, "EQ", op))
    hit = hits[0]
    for other in hits[1:]:
        hit = emit.elementwise("stablehlo.and", hit, other, **emit.before(op))
    return hit


def _column(op: ir.Operation, number: int) -> ir.Value:
    """Builds one index of each vector of indices, without the dimension of vectors."""
    indices = op.operands[1]
    vector = stablehlo.ScatterDimensionNumbers(
        op.attributes["scatter_dimension_numbers"]
    ).index_vector_dim
    shape = list(indices.type.shape)
    if vector == len(shape):
        return indices
    column = column_of(indices, vector, number)
    if column.type.shape[vector] > 1:
        start, limit = [0] * len(shape), list(shape)
        start[vector], limit[vector] = number, number + 1
        column = stablehlo.slice(column, start, limit, [1] * len(shape), **emit.before(op))
    kept = [size for dimension, size in enumerate(shape) if dimension != vector]
    return emit.reshaped(column, kept, op)


def _spread(value: ir.Value, dims: Sequence[int | None], op: ir.Operation) -> ir.Value:
    """Broadcasts a value to the shape of the result of a scatter.

    Args:
        value: The value.
        dims: For each of its dimensions, that of the result; None for one of size 1 to drop.
        op: The scatter.
    """
    kept = [dimension for dimension in dims if dimension is not None]
    if len(kept) < len(dims):
        sizes = [size for size, d in zip(value.type.shape, dims, strict=True) if d is not None]
        value = emit.reshaped(value, sizes, op)
    return emit.spread(value, kept, op.results[0].type.shape, op)
