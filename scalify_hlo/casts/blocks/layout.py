"""The layout of a matmul's operands for block scales: ``[batch, free, contracted]``.

    dot(A, B)[b.., m.., n..] = reshape(sum over k of A'[b, m, k] * B'[b, n, k])

Each operand is transposed and reshaped to three dimensions, or to two without batch dimensions. The
blocks lie along the last one, so that dimensions that are contracted together share blocks, in the
order in which they are contracted. The last dimension is padded with zeros to whole blocks, which
adds products of zeros to the sums.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.ir import emit
from scalify_hlo.ir.contraction import Axes
from scalify_hlo.rules.statistics import largest

_MULTIPLE = 16
"""Devices take blocks that are multiples of this; see `block_size`."""


def block_size(size: int, terms: int) -> int:
    """Returns the number of elements in a block: less than the recipe's if a sum has fewer terms.

    Args:
        size: The number of elements that the recipe names.
        terms: The number of terms of each sum of the matmul.
    """
    return min(size, math.ceil(terms / _MULTIPLE) * _MULTIPLE)


def arranged(value: ir.Value, axes: Axes, at: ir.Operation) -> ir.Value:
    """Returns an operand in the layout, before an op."""
    shape, order = list(value.type.shape), axes.order
    if order != sorted(order):
        value = emit.transpose(value, order, at)
    parts = ([axes.batch] if axes.batch else []) + [axes.free, axes.summed]
    return emit.reshaped(value, [math.prod(shape[d] for d in dims) for dims in parts], at)


def merged(value: ir.Value, axes: Axes, at: ir.Operation) -> tuple[ir.Value, Axes]:
    """Returns an operand with one dimension for those of a part that lie together, and its axes."""
    parts = [part for part in axes if part]
    if any(list(part) != list(range(part[0], part[0] + len(part))) for part in parts):
        return value, axes
    inner = sorted(parts)
    shape = [math.prod(value.type.shape[d] for d in part) for part in inner]
    places = {part: (place,) for place, part in enumerate(inner)}
    batch, free, summed = (places.get(part, ()) for part in axes)
    return emit.reshaped(value, shape, at), Axes(batch, free, summed)


def amax_along(
    tiles: ir.Value, kept: Sequence[int], at: ir.Operation, splats: emit.Splats | None = None
) -> ir.Value:
    """Returns the largest magnitude of each block in f32, with one for each index of dimensions.

    That of a block with an infinity or a NaN is not finite, by which the block is marked.
    """
    sizes = emit.elementwise("stablehlo.abs", tiles, **emit.before(at))
    return largest(sizes, at, finite=False, kept=kept, splats=splats)


def amax_in_place(
    value: ir.Value, axes: Axes, size: int, height: int, at: ir.Operation, splats: emit.Splats
) -> ir.Value | None:
    """Returns the amax of the blocks of an operand that is transposed, without a transposed copy.

    The blocks of the operand as it is are reduced, and their amax is transposed instead, which is
    smaller by the size of a block.

    Args:
        value: The operand.
        axes: Its dimensions.
        size: The number of elements in a block along the contracted dimension.
        height: The number of elements in a block along the free dimension.
        at: The op before which it is computed.
        splats: The constants that are shared with other operands.

    Returns:
        The amax of shape ``[batch, free, blocks]``. None if the operand is in the layout already,
        or if its blocks span several of its dimensions.
    """
    if axes.order == sorted(axes.order) or len(axes.summed) != 1:
        return None
    if height > 1 and len(axes.free) != 1:
        return None
    wide = emit.convert(value, ir.F32Type.get(), at)
    lengths = {axes.summed[0]: size, **({axes.free[0]: height} if height > 1 else {})}
    shape: list[int] = []
    kept: list[int] = []
    for dimension in range(wide.type.rank):
        length = lengths.get(dimension, 1)
        wide = padded(wide, dimension, length, at)
        kept.append(len(shape))
        shape.append(wide.type.shape[dimension] // length)
        shape += [length] if dimension in lengths else []
    return arranged(amax_along(emit.reshaped(wide, shape, at), kept, at, splats), axes, at)


def padded(value: ir.Value, dimension: int, multiple: int, at: ir.Operation) -> ir.Value:
    """Returns a tensor with zeros after its end along a dimension, up to a multiple of a size."""
    shape = list(value.type.shape)
    missing = -shape[dimension] % multiple
    if not missing:
        return value
    zero = emit.constant(emit.scalar_type(value.type.element_type), 0.0, at)
    none = [0] * len(shape)
    high = [missing if d == dimension else 0 for d in range(len(shape))]
    return stablehlo.pad(value, zero, none, high, none, **emit.before(at))


def cut(value: ir.Value, dimension: int, size: int, at: ir.Operation) -> ir.Value:
    """Returns the first elements of a tensor along a dimension."""
    shape = list(value.type.shape)
    if shape[dimension] == size:
        return value
    ends = [size if d == dimension else length for d, length in enumerate(shape)]
    return stablehlo.slice(value, [0] * len(shape), ends, [1] * len(shape), **emit.before(at))
