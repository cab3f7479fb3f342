"""Constants in blocks: scales and data are computed while rewriting, and stored in their formats.

The numbers are the bits that the program would compute from the wide constant, as the StableHLO
interpreter does. XLA for CPUs takes subnormal f32 numbers as zeros, which a constant here does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import ENCODED_CHUNK
from scalify_hlo.dialect.contraction import Axes
from scalify_hlo.quantize.blocks.layout import block_size
from scalify_hlo.quantize.blocks.scales import Members, static_scales
from scalify_hlo.quantize.encoding import Array, dtype_of
from scalify_hlo.recipes.model import Blocks


class StaticBlocks(NamedTuple):
    """A constant in blocks.

    Attributes:
        data: X_d in its format, of shape ``[batch, free, contracted]``, padded to whole blocks; of
            two dimensions if there is no batch.
        scale: The scales in f32, of shape ``[batch, blocks of rows, blocks]``.
        height: The number of rows in a block.
        common: The common factor of all scales in f32; None if there is none.
    """

    data: Array
    scale: Array
    height: int
    common: Array | None


def static_blocks(
    values: Array,
    axes: Axes,
    format_: str,
    blocks: Blocks,
    members: Members | None = None,
    *,
    square: bool,
) -> StaticBlocks | None:
    """Quantizes a constant that is an operand of a matmul.

    Args:
        values: The constant, of any float dtype.
        axes: Its dimensions.
        format_: The format of the data. Larger numbers become the largest one.
        blocks: The options of block scales.
        members: The members of the constant, if it has any.
        square: Whether blocks span as many free dimensions as contracted ones.

    Returns:
        The constant in blocks; None if a number is not finite in f32.
    """
    batch, rows, terms = (
        math.prod(values.shape[d] for d in dims) for dims in (axes.batch, axes.free, axes.summed)
    )
    wide = values.transpose(axes.order).reshape(batch, rows, terms)
    size = block_size(blocks.size, terms)
    height = min(size, rows) if square else 1
    tall, long = -(-rows // height), -(-terms // size)
    amax = np.empty((batch, tall, long), np.float32)
    for place, _, tiles in _tiles(wide, height, size):
        amax[place] = np.abs(tiles).max(axis=(1, 3))
    if not np.isfinite(amax).all():
        return None
    scales = static_scales(amax, format_, blocks, members)
    data = np.empty((batch, rows, long * size), dtype_of(format_))
    most = np.float32(FORMATS[format_].max_finite)
    for place, kept, tiles in _tiles(wide, height, size):
        tiles *= scales.inverse[place][:, None, :, None]
        np.clip(tiles, -most, most, out=tiles)
        here = tiles.reshape(-1, long * size)[: data[kept].shape[0]]
        data[kept] = here.astype(data.dtype)
    shape = [batch] * bool(axes.batch)
    scale = scales.scale.reshape(*shape, tall, long)
    return StaticBlocks(data.reshape(*shape, rows, long * size), scale, height, scales.common)


def _tiles(
    wide: Array, height: int, size: int
) -> Iterator[tuple[tuple[int, slice], tuple[int, slice], Array]]:
    """Yields parts of an operand as blocks in f32, which the caller may overwrite.

    Args:
        wide: The operand, of shape ``[batch, free, contracted]``.
        height: The number of rows in a block.
        size: The number of columns in a block.

    Yields:
        The place of the part among the blocks, its place among the rows, and its blocks, of shape
        ``[blocks of rows, height, blocks, size]``, padded with zeros.
    """
    batch, rows, terms = wide.shape
    step = max(1, ENCODED_CHUNK // max(1, height * terms))
    tall, long = -(-rows // height), -(-terms // size)
    for number in range(batch):
        for start in range(0, tall, step):
            blocks = slice(start, min(start + step, tall))
            kept = slice(blocks.start * height, min(blocks.stop * height, rows))
            count = blocks.stop - blocks.start
            tiles = np.zeros((count * height, long * size), np.float32)
            with np.errstate(over="ignore", under="ignore"):
                tiles[: kept.stop - kept.start, :terms] = wide[number, kept]
            yield (number, blocks), (number, kept), tiles.reshape(count, height, long, size)
