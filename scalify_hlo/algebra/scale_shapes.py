"""The shapes of arrays of scales: one scale for each block of an array, for MLIR and for JAX alike.

The array of scales has the rank of the data. Its size along a dimension is the number of blocks
along it: 1 if a block has the whole dimension, and that of the data if each index has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import mul


def shape_of_blocks(shape: Sequence[int], block: Sequence[int]) -> list[int] | None:
    """Returns the shape of the scales of an array.

    Args:
        shape: The shape of the array.
        block: The sizes of a block; 0 is the whole dimension.

    Returns:
        None if the ranks differ, or if a block does not divide its dimension.
    """
    if len(block) != len(shape) or 0 in shape:
        return None
    sizes = [part or whole for part, whole in zip(block, shape, strict=True)]
    if any(whole % size for size, whole in zip(sizes, shape, strict=True)):
        return None
    return [whole // size for size, whole in zip(sizes, shape, strict=True)]


def are_blocks(scales: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether an array of scales of a shape divides an array of another shape into blocks."""
    return len(scales) == len(shape) and all(
        count > 0 and whole % count == 0 for count, whole in zip(scales, shape, strict=True)
    )


def split_shape(shape: Sequence[int], scales: Sequence[int]) -> list[int]:
    """Returns the shape of an array with two dimensions for each: its blocks, and a block."""
    each = zip(scales, shape, strict=True)
    return [size for count, whole in each for size in (count, whole // count)]


def reshaped(
    shape: Sequence[int], scales: Sequence[int], result: Sequence[int]
) -> list[int] | None:
    """Returns the shape of the scales of a reshaped array, which have the same order.

    Args:
        shape: The shape of the array.
        scales: The shape of its scales.
        result: The shape of the reshaped array.

    Returns:
        None if a block of the array is no block of the reshaped one.
    """
    found = [1] * len(result)
    for group, other in _groups(shape, result):
        own = [(shape[d], scales[d]) for d in group if shape[d] > 1]
        if all(count == 1 for _, count in own):
            continue
        parts = _regrouped(own, [result[d] for d in other])
        if parts is None:
            return None
        for d, count in zip(other, parts, strict=True):
            found[d] = count
    return found


def _groups(shape: Sequence[int], result: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Returns the smallest runs of dimensions with equal numbers of elements."""
    before = list(accumulate(shape, mul, initial=1))
    after = list(accumulate(result, mul, initial=1))
    ends = sorted(set(before) & set(after))
    groups = []
    for low, high in zip([0, *ends], ends, strict=False):
        own = [d for d in range(len(shape)) if low < before[d + 1] <= high]
        other = [d for d in range(len(result)) if low < after[d + 1] <= high]
        groups.append((own, other))
    return groups


def _regrouped(own: Sequence[tuple[int, int]], sizes: Sequence[int]) -> list[int] | None:
    """Returns the numbers of blocks along new dimensions of a run.

    Blocks of a run are blocks of its new dimensions if its outer dimensions have a scale for each
    index, and its inner ones none: the scales then belong to equal pieces of the run.
    """
    pieces, inner = 1, False
    for whole, count in own:
        if count > 1 and inner:
            return None
        inner = inner or count < whole
        pieces *= count
    parts = []
    for size in sizes:
        if pieces % size == 0:
            parts.append(size)
        elif size % pieces == 0:
            parts.append(pieces)
        else:
            return None
        pieces //= parts[-1]
    return parts if pieces == 1 else None
