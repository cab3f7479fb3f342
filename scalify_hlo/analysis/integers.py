"""The elements of integer tensors that do not depend on the inputs of a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import INDEX_DEPTH, INDEX_ELEMENTS
from scalify_hlo.dialect.dispatch import Dispatch
from scalify_hlo.dialect.splats import dense_of, filled_with

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_FUNCTIONS: Final[Dispatch[Callable[..., Array]]] = Dispatch()
"""Of each op, the function of the elements of its operands."""


def known_integers(value: ir.Value, depth: int = INDEX_DEPTH) -> Array | None:
    """Returns the elements of an integer or boolean tensor that is computed from constants.

    Args:
        value: The value, such as the positions that ``jnp.arange`` makes.
        depth: The most ops behind one another that are followed.

    Returns:
        The elements, in the shape and type of the value. None if they depend on an input, on an op
        that is not one of a few, or if they are too many.
    """
    type_ = value.type
    owner = value.owner
    if isinstance(owner, ir.Block) or not depth or owner.name not in _FUNCTIONS:
        return None
    dtype = _dtype(type_)
    if dtype is None or not type_.has_static_shape or np.prod(type_.shape) > INDEX_ELEMENTS:
        return None
    operands = [known_integers(operand, depth - 1) for operand in owner.operands]
    known = [operand for operand in operands if operand is not None]
    if len(known) < len(operands):
        return None
    with np.errstate(over="ignore"):
        return _FUNCTIONS[owner.name](owner.operation, *known).astype(dtype, copy=False)


def _dtype(type_: ir.Type) -> np.dtype[Any] | None:
    """Returns the NumPy dtype of a tensor of booleans or of integers of whole bytes."""
    element = getattr(type_, "element_type", None)
    if not isinstance(element, ir.IntegerType):
        return None
    if element.width == 1:
        return np.dtype(np.bool_)
    return (
        np.dtype(f"{'u' * element.is_unsigned}int{element.width}") if element.width >= 8 else None
    )


@_FUNCTIONS.on("stablehlo.constant")
def _constant(op: ir.Operation) -> Array:
    shape = op.results[0].type.shape
    number = filled_with(op.result)
    if number is not None:
        return np.broadcast_to(np.asarray(number), shape)
    return np.array(dense_of(op.result)).reshape(shape)


@_FUNCTIONS.on("stablehlo.iota")
def _iota(op: ir.Operation) -> Array:
    shape = op.results[0].type.shape
    dimension = ir.IntegerAttr(op.attributes["iota_dimension"]).value
    places = np.arange(shape[dimension])
    return np.broadcast_to(places.reshape([-1] + [1] * (len(shape) - dimension - 1)), shape)


@_FUNCTIONS.on("stablehlo.broadcast_in_dim")
def _broadcast(op: ir.Operation, operand: Array) -> Array:
    shape = op.results[0].type.shape
    dims = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
    order = np.argsort(dims, kind="stable")
    spread = [1] * len(shape)
    for number in order:
        spread[dims[number]] = operand.shape[number]
    return np.broadcast_to(operand.transpose(order).reshape(spread), shape)


@_FUNCTIONS.on("stablehlo.reshape")
def _reshape(op: ir.Operation, operand: Array) -> Array:
    return operand.reshape(op.results[0].type.shape)


_COMPARISONS: Final[Mapping[str, Callable[[Array, Array], Array]]] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


@_FUNCTIONS.on("stablehlo.compare")
def _compare(op: ir.Operation, lhs: Array, rhs: Array) -> Array:
    direction = stablehlo.ComparisonDirectionAttr(op.attributes["comparison_direction"]).value
    return _COMPARISONS[direction](lhs, rhs)


@_FUNCTIONS.on("stablehlo.select")
def _select(_: ir.Operation, chosen: Array, one: Array, other: Array) -> Array:
    return np.where(chosen, one, other)


@_FUNCTIONS.on("stablehlo.convert")
def _convert(_: ir.Operation, operand: Array) -> Array:
    return operand


@_FUNCTIONS.on("stablehlo.add")
def _add(_: ir.Operation, lhs: Array, rhs: Array) -> Array:
    return lhs + rhs
