"""Matmul operands that are constants of the program: cast while rewriting, at static scales."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.casts.constant_folding import ConstantOrigin, Functions, Quantizer, Step
from scalify_hlo.casts.encoding import Array, Scales, converted, dtype_of, elements_of
from scalify_hlo.casts.operand_scales import Operand, QuantizeRequest
from scalify_hlo.ir.dispatch import Dispatch
from scalify_hlo.ir.splats import dense_of
from scalify_hlo.ir.through import dims_through
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.matmuls import CONSTANT


class ConstantOperands:
    """The constants of a module in the formats of the matmuls that read them.

    Args:
        module: The module, in which functions with matmuls are inlined.
        recipe: The recipe.
    """

    def __init__(self, module: ir.Operation, recipe: Recipe) -> None:
        self._quantizer = Quantizer(module, saturate=recipe.saturate)
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
        exponents = made.exponents
        if axes is not None:  # Those of the axes of the constant, in the order of the operand.
            exponents = np.transpose(exponents, [sorted(axes).index(axis) for axis in axes])
        channels = request.channels if axes is not None else None
        return Operand(made.value, CONSTANT, exponents, None, channels)

    def _axes(self, origin: ConstantOrigin, dims: Sequence[int]) -> list[int] | None:
        """Returns the axes of a constant that become the dimensions of an operand, or None."""
        axes = list(dims)
        for step in self._quantizer.functions.moves(origin.steps):
            before = dims_through(step)
            found = [before[axis] for axis in axes] if before is not None else [None]
            axes = [axis for axis in found if axis is not None]
            if None in found:
                return None
        return axes

    def clean(self) -> None:
        """Erases the constants without uses, and the ops that moved them."""
        self._quantizer.clean()


# The elements of values that are made of a constant by ops that only move or convert them.


_Move: TypeAlias = Callable[[Step, Array], Array]
_MOVES: Final = Dispatch[_Move]()
"""Functions of an op and of the elements of its operand, which return those of its result."""


def values_of(origin: ConstantOrigin, functions: Functions) -> Array | None:
    """Returns the elements of a value that is made of a constant.

    Args:
        origin: The constant, and the ops from the value back to it.
        functions: The functions of the module, of which these ops may call some.

    Returns:
        The elements in the shape of the value, if possible as a view of the constant; None if their
        place is known at run time only, as in a loop that slices a stack.
    """
    attribute = dense_of(origin.constant.results[0])
    if attribute is None:
        return None
    values = elements_of(attribute).reshape(list(attribute.type.shape))
    for step in reversed(list(functions.moves(origin.steps))):
        move = _MOVES.get(step.name)
        if move is None:
            return None
        values = move(step, values)
    return values


def _numbers(step: Step, name: str) -> tuple[int, ...]:
    return tuple(ir.DenseI64ArrayAttr(step.attributes[name]))


@_MOVES.on("stablehlo.convert")
def _converted(step: Step, values: Array) -> Array:
    dtype = dtype_of(str(step.results[0].type.element_type))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return converted(values, dtype)


@_MOVES.on("stablehlo.reshape")
def _reshaped(step: Step, values: Array) -> Array:
    return values.reshape(list(step.results[0].type.shape))


@_MOVES.on("stablehlo.transpose")
def _transposed(step: Step, values: Array) -> Array:
    return np.transpose(values, _numbers(step, "permutation"))


@_MOVES.on("stablehlo.reverse")
def _reversed(step: Step, values: Array) -> Array:
    return np.flip(values, _numbers(step, "dimensions"))


@_MOVES.on("stablehlo.slice")
def _sliced(step: Step, values: Array) -> Array:
    bounds = (_numbers(step, name) for name in ("start_indices", "limit_indices", "strides"))
    return values[tuple(slice(*each) for each in zip(*bounds, strict=True))]


@_MOVES.on("stablehlo.broadcast_in_dim")
def _spread(step: Step, values: Array) -> Array:
    shape = list(step.results[0].type.shape)
    places = _numbers(step, "broadcast_dimensions")
    values = values.transpose(sorted(range(len(places)), key=places.__getitem__))
    whole = [1] * len(shape)
    for place, size in zip(sorted(places), values.shape, strict=True):
        whole[place] = size
    return np.broadcast_to(values.reshape(whole), shape)
