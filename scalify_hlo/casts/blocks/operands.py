"""Operands of matmuls with block scales; each is quantized once for each contracted axis."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import ENCODED_CHUNK, HADAMARD
from scalify_hlo.casts.blocks.layout import (
    amax_along,
    amax_in_place,
    arranged,
    block_size,
    cut,
    merged,
    padded,
)
from scalify_hlo.casts.blocks.scales import Members, block_scales, may_saturate, static_scales
from scalify_hlo.casts.blocks.stochastic import Steps, drawn, rounded
from scalify_hlo.casts.casts import barrier_after, convert_after, unwidened
from scalify_hlo.casts.constant_folding import Quantizer
from scalify_hlo.casts.constant_operands import values_of
from scalify_hlo.casts.encoding import Array, dense, dtype_of
from scalify_hlo.casts.strategy import CastOperand
from scalify_hlo.ir import emit
from scalify_hlo.ir.contraction import DOT_GENERAL, NUMBERS, Axes, dot_numbers
from scalify_hlo.ir.formats import element_of
from scalify_hlo.ir.value_map import ValueCache, erase
from scalify_hlo.recipes.model import Blocks, Recipe
from scalify_hlo.report.matmuls import CONSTANT, MEASURED


@dataclass(frozen=True)
class BlockOperand(CastOperand):
    """An operand in blocks, whose data are of shape ``[batch, free, contracted]``.

    Attributes:
        scale: The scales in f32, of shape ``[batch, free, blocks]``. Those of a constant are in
            their own format.
        common: The common factor of all scales, an f32 of rank 0, or one for each member; None if
            there is none.
    """

    scale: ir.Value
    common: ir.Value | None


class How(NamedTuple):
    """The way in which an operand is quantized.

    Attributes:
        square: Whether blocks span as many free dimensions as contracted ones.
        transformed: Whether it gets a Hadamard transform before.
        stochastic: Whether its data are rounded up or down at random.
        members: The members that have their own common factors; None if there are none.
    """

    square: bool = False
    transformed: bool = False
    stochastic: bool = False
    members: Members | None = None


class BlockOperands:
    """The quantized operands of a module's matmuls.

    Args:
        module: The module.
        recipe: The recipe.
        element: The format in which scales of constants are stored.

    Attributes:
        count: The number of quantized operands.
        static: The number of these that are constants.
    """

    def __init__(self, module: ir.Operation, recipe: Recipe, element: str) -> None:
        self._blocks, self._saturate = recipe.blocks, recipe.saturate
        self._element = element
        self._constants = Quantizer(module, saturate=recipe.saturate)
        self._steps, self._splats = Steps(module), emit.Splats()
        self._made: ValueCache[BlockOperand] = ValueCache()
        self.count = self.static = 0

    def get(self, value: ir.Value, axes: Axes, format_: str, how: How) -> BlockOperand:
        """Returns a quantized operand, built after the definition of the operand.

        Args:
            value: The operand, of static shape.
            axes: Its dimensions.
            format_: The format of the data.
            how: The way in which it is quantized.
        """
        value = unwidened(value)
        key = value, axes, format_, how
        made = self._made.get(key)
        if made is None:
            made = self._static(value, axes, format_, how)
            self.static += made is not None
            made = self._made[key] = made or self._quantized(value, axes, format_, how)
            self.count += 1
        return made

    def clean(self) -> None:
        """Erases the wide constants that no op reads any more, with the ops that moved them."""
        self._constants.clean()

    def _static(self, value: ir.Value, axes: Axes, format_: str, how: How) -> BlockOperand | None:
        """Returns an operand that is made of a constant; None if it is not known while rewriting.

        XLA and NumPy agree on numbers above the largest one only if they saturate.
        """
        if how.transformed or how.stochastic or not self._saturate or not _size(value):
            return None
        origin = self._constants.origin(value)
        if origin is None or _size(value) > _size(origin.constant.results[0]):
            return None  # A constant that is repeated would be larger than the wide one.
        values = values_of(origin, self._constants.functions)
        if values is None:
            return None
        made = static_blocks(values, axes, format_, self._blocks, how.members, square=how.square)
        if made is None:
            return None
        mark = convert_after(value, ir.F32Type.get())
        at = mark.owner.operation
        data = _constant(made.data, format_, at)
        scale = _constant(made.scale.astype(dtype_of(self._element)), self._element, at)
        if made.height > 1:
            *batch, rows, _ = made.data.shape
            scale = _for_rows(scale, made.height, at)
            scale = cut(scale, len(batch), rows, at)
        common = None if made.common is None else _constant(made.common, "f32", at)
        erase(at)
        self._constants.pass_over(value)
        return BlockOperand(data, CONSTANT, scale, common)

    def _quantized(self, value: ir.Value, axes: Axes, format_: str, how: How) -> BlockOperand:
        mark = convert_after(value, ir.F32Type.get())
        at = mark.owner.operation
        if isinstance(value, ir.BlockArgument):
            self._splats.lead(at)
        value, axes = merged(value, axes, at)
        wide = emit.convert(arranged(value, axes, at), ir.F32Type.get(), at)
        *batch, rows, terms = wide.type.shape
        size = block_size(self._blocks.size, terms)
        wide = padded(wide, len(batch) + 1, size, at)
        if how.transformed:
            wide = transformed(wide, at)
        height = min(size, rows) if how.square else 1
        if how.square:
            wide = padded(wide, len(batch), height, at)
        *_, tall, long = wide.type.shape
        tiles = emit.reshaped(wide, [*batch, tall // height, height, long // size, size], at)
        kept = [*range(len(batch) + 1), len(batch) + 2]
        amax = None
        if not how.transformed:
            amax = amax_in_place(value, axes, size, height, at, self._splats)
        if amax is None:
            amax = amax_along(tiles, kept, at, self._splats)
        scales = block_scales(amax, format_, self._blocks, at, self._splats, how.members)
        tiles = emit.multiply(tiles, emit.spread(scales.inverse, kept, tiles.type.shape, at), at)
        if self._saturate and (how.stochastic or may_saturate(self._blocks)):
            tiles = emit.saturate(tiles, FORMATS[format_].max_finite, at, self._splats)
        wide = emit.reshaped(tiles, [*batch, tall, long], at)
        if how.stochastic:
            words = drawn(self._steps.word(wide, at), self.count)
            wide = rounded(wide, format_, words, at)
        data = emit.convert(wide, element_of(format_), at)
        data = barrier_after(data)  # XLA for GPUs omits a convert and its inverse.
        scale = scales.scale if height == 1 else _for_rows(scales.scale, height, at)
        data, scale = (cut(each, len(batch), rows, at) for each in (data, scale))
        erase(at)
        return BlockOperand(data, MEASURED, scale, scales.common)


def _for_rows(scale: ir.Value, height: int, at: ir.Operation) -> ir.Value:
    """Returns the scales of rows, of shape ``[batch, free, blocks]``, of those of square blocks."""
    *batch, tall, long = scale.type.shape
    kept = [*range(len(batch) + 1), len(batch) + 2]
    scale = emit.spread(scale, kept, [*batch, tall, height, long], at)
    return emit.reshaped(scale, [*batch, tall * height, long], at)


def _size(value: ir.Value) -> int:
    shape: list[int] = list(value.type.shape)
    return math.prod(shape)


def _constant(values: Array, format_: str, at: ir.Operation) -> ir.Value:
    """Returns a constant with the elements of an array, in its format."""
    type_ = ir.RankedTensorType.get(list(values.shape), element_of(format_))
    return emit.constant_of(type_, dense(values, type_), **emit.before(at))


def dequantized(operand: BlockOperand, element: ir.Type, at: ir.Operation) -> ir.Value:
    """Returns the numbers that an operand stands for, without the common factor.

    A product of an f8 or f4 number and an E8M0 or E4M3 scale has at most 8 digits, so that it is
    exact in bf16 too.

    Args:
        operand: The operand.
        element: The element type of the numbers: f32, or bf16.
        at: The op before which they are computed.
    """
    data, scale = operand.data, emit.convert(operand.scale, element, at)
    shape, blocks = list(data.type.shape), list(scale.type.shape)
    tiles = [*blocks, shape[-1] // blocks[-1]]
    factors = emit.reshaped(emit.spread(scale, range(len(blocks)), tiles, at), shape, at)
    return emit.multiply(emit.convert(data, element, at), factors, at)


# A random Hadamard transform of both operands of a matmul, along its contracted dimension.
#
# Each 16 terms x of an operand become x H, with H = diag(s) W / 4, random signs s that are the same
# for all matmuls, and the Walsh-Hadamard matrix W of 1 and -1. H is orthogonal, so that
#
#     sum over k of A[m, k] B[n, k] = sum over k of (A H)[m, k] (B H)[n, k]
#
# A single large term is spread over 16, and takes less precision from the others. All entries of H
# are 1/4 or -1/4, exact in every format (arXiv 2509.25149, section 4.2).


def matrix() -> Array:
    """Returns H, of shape ``[16, 16]`` in f32."""
    walsh = np.ones((1, 1), np.float32)
    while len(walsh) < HADAMARD:
        walsh = np.block([[walsh, walsh], [walsh, -walsh]])
    signs = np.random.default_rng(0).choice(np.asarray([-1, 1], np.float32), (HADAMARD, 1))
    scaled: Array = signs * walsh / np.float32(np.sqrt(HADAMARD))
    return scaled


def transformed(value: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns an operand times H along its last dimension.

    Args:
        value: An f32 tensor, whose last dimension is a multiple of 16.
        at: The op before which it is computed.
    """
    shape = list(value.type.shape)
    pieces = emit.reshaped(value, [*shape[:-1], shape[-1] // HADAMARD, HADAMARD], at)
    square = ir.RankedTensorType.get([HADAMARD, HADAMARD], value.type.element_type)
    elements = ir.DenseElementsAttr.get(matrix())
    factor = emit.constant_of(square, elements, **emit.before(at))
    exact = ir.ArrayAttr.get([stablehlo.PrecisionAttr.get("HIGHEST")] * 2)
    given = {NUMBERS: dot_numbers([len(shape)], [0]), "precision_config": exact}
    product = emit.op(at, DOT_GENERAL, [pieces.type], [pieces, factor], given)
    return emit.reshaped(product.result, shape, at)


# Constants in blocks: scales and data are computed while rewriting, and stored in their formats.
#
# The numbers are the bits that the program would compute from the wide constant, as the StableHLO
# interpreter does. XLA for CPUs takes subnormal f32 numbers as zeros, which a constant here does
# not.


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
