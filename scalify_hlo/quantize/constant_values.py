"""The elements of values that are made of a constant by ops that only move or convert them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.dialect.dispatch import Dispatch
from scalify_hlo.dialect.splats import dense_of
from scalify_hlo.quantize.constants import ConstantOrigin, Functions, Step
from scalify_hlo.quantize.encoding import Array, converted, dtype_of, elements_of

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
