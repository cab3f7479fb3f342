"""Matmul operands that are constants of the program: cast while rewriting, at static scales."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.quantize.constants import ConstantOrigin, Functions, Quantizer, Step
from scalify_hlo.quantize.encoding import Exponents, Scales
from scalify_hlo.quantize.operand_scales import Operand, QuantizeRequest
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.matmuls import CONSTANT


class ConstantOperands:
    """The constants of a module in the formats of the matmuls that read them.

    Args:
        module: The module, in which functions with matmuls are inlined.
        recipe: The recipe.
    """

    def __init__(self, module: ir.Operation, recipe: Recipe) -> None:
        self._functions = Functions(module)
        self._quantizer = Quantizer(self._functions, saturate=recipe.saturate)
        self._margin = recipe.scaling.margin

    def operand(self, request: QuantizeRequest, exponent: int | None = None) -> Operand | None:
        """Returns an operand that is a constant, or a constant whose elements ops only move.

        Args:
            request: The request. With channels, the scales follow from the amax of each channel.
            exponent: log2 of the scale, by default that of the amax.

        Returns:
            The quantized operand; None if it is not made of one constant.
        """
        origin = self._quantizer.origin(request.value)
        if origin is None:
            return None
        axes = None if request.channels is None else self._axes(origin, request.channels.dims)
        if axes is not None:
            scales = Scales("max", margin=self._margin, axes=tuple(sorted(axes)))
        elif exponent is not None:
            scales = Scales("given", exponent)
        else:
            scales = Scales("max", margin=self._margin)
        element = ir.Type.parse(request.format)
        made = self._quantizer.narrowed(origin, element, scales)
        self._quantizer.pass_over(request.value)
        exponents = made.exponents if axes is None else _in_order(made.exponents, axes)
        channels = request.channels if axes is not None else None
        return Operand(made.value, CONSTANT, exponents, None, channels)

    def _axes(self, origin: ConstantOrigin, dims: Sequence[int]) -> list[int] | None:
        """Returns the axes of a constant that become the dimensions of an operand, or None."""
        axes = list(dims)
        for step in self._functions.moves(origin.steps):
            found = [_axis_before(step, axis) for axis in axes]
            if None in found:
                return None
            axes = [axis for axis in found if axis is not None]
        return axes

    def clean(self) -> None:
        """Erases the constants without uses, and the ops that moved them."""
        self._quantizer.clean()
        self._functions.clean()


def _in_order(exponents: Exponents, axes: Sequence[int]) -> Exponents:
    """Returns the exponents of the axes of a constant, in the order of an operand."""
    return np.transpose(exponents, [sorted(axes).index(axis) for axis in axes])


def _axis_before(step: Step, axis: int) -> int | None:
    """Returns the dimension of an operand that becomes a dimension of the result, or None."""
    name = step.name.removeprefix("stablehlo.")
    if name == "convert":
        return axis
    if name == "transpose":
        return int(ir.DenseI64ArrayAttr(step.attributes["permutation"])[axis])
    before, after = (list(value.type.shape) for value in (step.operands[0], step.results[0]))
    if name == "reverse":
        return None if axis in list(ir.DenseI64ArrayAttr(step.attributes["dimensions"])) else axis
    if name in ("slice", "dynamic_slice"):
        return axis if before[axis] == after[axis] else None
    if name == "reshape":
        return _unreshaped(before, after, axis)
    if name == "broadcast_in_dim":
        places = list(ir.DenseI64ArrayAttr(step.attributes["broadcast_dimensions"]))
        source = places.index(axis) if axis in places else None
        return source if source is not None and before[source] == after[axis] else None
    return None


def _unreshaped(before: Sequence[int], after: Sequence[int], axis: int) -> int | None:
    """Returns the dimension that a reshape does not change, or None."""
    inner = math.prod(after[axis + 1 :])
    for dim, size in enumerate(before):
        if size == after[axis] and math.prod(before[dim + 1 :]) == inner:
            return dim
    return None
