"""Operands of matmuls with block scales; each is quantized once for each contracted axis."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.dialect.contraction import Axes
from scalify_hlo.dialect.formats import element_of
from scalify_hlo.dialect.value_map import ValueCache, erase
from scalify_hlo.quantize.blocks.hadamard import transformed
from scalify_hlo.quantize.blocks.layout import (
    amax_along,
    amax_in_place,
    arranged,
    block_size,
    cut,
    merged,
    padded,
    reshaped,
)
from scalify_hlo.quantize.blocks.random_words import Steps
from scalify_hlo.quantize.blocks.scales import Members, block_scales, may_saturate
from scalify_hlo.quantize.blocks.static import static_blocks
from scalify_hlo.quantize.blocks.stochastic import drawn, rounded
from scalify_hlo.quantize.casts import barrier_after, convert_after, unwidened
from scalify_hlo.quantize.constant_values import values_of
from scalify_hlo.quantize.constants import Functions, Quantizer
from scalify_hlo.quantize.encoding import Array, dense, dtype_of
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.rules import emit


class BlockOperand(NamedTuple):
    """An operand in blocks.

    Attributes:
        data: X_d in the narrow format, of shape ``[batch, free, contracted]``.
        scale: The scales in f32, of shape ``[batch, free, blocks]``. Those of a constant are in
            their own format.
        common: The common factor of all scales, an f32 of rank 0, or one for each member; None if
            there is none.
        static: Whether all of these are constants.
    """

    data: ir.Value
    scale: ir.Value
    common: ir.Value | None
    static: bool = False


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
        self._functions = Functions(module)
        self._constants = Quantizer(self._functions, saturate=recipe.saturate)
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
        self._functions.clean()

    def _static(self, value: ir.Value, axes: Axes, format_: str, how: How) -> BlockOperand | None:
        """Returns an operand that is made of a constant; None if it is not known while rewriting.

        XLA and NumPy agree on numbers above the largest one only if they saturate.
        """
        if how.transformed or how.stochastic or not self._saturate or not _size(value):
            return None
        origin = self._constants.origin(value)
        if origin is None or _size(value) > _size(origin.constant.results[0]):
            return None  # A constant that is repeated would be larger than the wide one.
        values = values_of(origin, self._functions)
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
        return BlockOperand(data, scale, common, static=True)

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
        tiles = reshaped(wide, [*batch, tall // height, height, long // size, size], at)
        kept = [*range(len(batch) + 1), len(batch) + 2]
        amax = None
        if not how.transformed:
            amax = amax_in_place(value, axes, size, height, at, self._splats)
        if amax is None:
            amax = amax_along(tiles, kept, at, self._splats)
        scales = block_scales(amax, format_, self._blocks, at, self._splats, how.members)
        tiles = emit.multiply(tiles, spread(scales.inverse, kept, tiles.type.shape, at), at)
        if self._saturate and (how.stochastic or may_saturate(self._blocks)):
            tiles = emit.saturate(tiles, FORMATS[format_].max_finite, at, self._splats)
        wide = reshaped(tiles, [*batch, tall, long], at)
        if how.stochastic:
            words = drawn(self._steps.word(wide, at), self.count)
            wide = rounded(wide, format_, words, at)
        data = emit.convert(wide, element_of(format_), at)
        data = barrier_after(data)  # XLA for GPUs omits a convert and its inverse.
        scale = scales.scale if height == 1 else _for_rows(scales.scale, height, at)
        data, scale = (cut(each, len(batch), rows, at) for each in (data, scale))
        erase(at)
        return BlockOperand(data, scale, scales.common)


def _for_rows(scale: ir.Value, height: int, at: ir.Operation) -> ir.Value:
    """Returns the scales of rows, of shape ``[batch, free, blocks]``, of those of square blocks."""
    *batch, tall, long = scale.type.shape
    kept = [*range(len(batch) + 1), len(batch) + 2]
    scale = spread(scale, kept, [*batch, tall, height, long], at)
    return reshaped(scale, [*batch, tall * height, long], at)


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
    factors = reshaped(spread(scale, range(len(blocks)), tiles, at), shape, at)
    return emit.multiply(emit.convert(data, element, at), factors, at)


def spread(
    value: ir.Value, dims: Iterable[int], shape: Iterable[int], at: ir.Operation
) -> ir.Value:
    """Broadcasts a tensor to a shape, of which its dimensions are given."""
    type_ = ir.RankedTensorType.get(list(shape), value.type.element_type)
    numbers = ir.DenseI64ArrayAttr.get(list(dims))
    where = emit.before(at)
    return emit.broadcast(type_, value, numbers, **where)
