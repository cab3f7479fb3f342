"""Scatters that put at most one number into each row of a constant."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import INDEX_DEPTH, INDEX_ELEMENTS
from scalify_hlo.ir.dispatch import Dispatch
from scalify_hlo.ir.splats import dense_of, filled_with

SCATTER: Final = "stablehlo.scatter"


@dataclass(frozen=True, slots=True)
class SingleScatter:
    """The dimensions of a scatter whose updates do not meet.

    Attributes:
        update_dims: For each dimension of the updates, the dimension of the result along which it
            lies; None for those of size 1 that lie along none.
        index_dims: As `update_dims`, for the dimensions of the indices without the one of vectors.
        columns: For each dimension of the result that has an index: the dimension, and the number
            of its index in a vector of indices.
    """

    update_dims: tuple[int | None, ...]
    index_dims: tuple[int | None, ...]
    columns: tuple[tuple[int, int], ...]


def single_scatter(op: ir.Operation) -> SingleScatter | None:
    """Returns the dimensions of a scatter if no two of its updates are of the same element.

    Each dimension of the result is one of three. It may be one of windows, all of whose elements
    are updated. It may be one of batches, along which also the updates lie, in the same order: that
    is said by the op, or the indices count up along it. Or it has an index, and there is at most
    one update for all elements along it.

    Args:
        op: A ``stablehlo.scatter`` of one tensor.

    Returns:
        None if updates may be of the same element, or if shapes are dynamic.
    """
    if len(op.operands) != 3 or not all(v.type.has_static_shape for v in op.operands):
        return None
    return _Dimensions(op).found()


class _Dimensions:
    """The dimensions of the operands of a scatter.

    Args:
        op: The scatter.
    """

    def __init__(self, op: ir.Operation) -> None:
        numbers = stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
        operand, self._indices, updates = op.operands
        self._shape: Sequence[int] = operand.type.shape
        self._updates: Sequence[int] = updates.type.shape
        self._vector: int = numbers.index_vector_dim
        self._windows: list[int] = numbers.update_window_dims
        self._free = [d for d in range(len(self._updates)) if d not in self._windows]
        self._batches: list[int] = numbers.input_batching_dims
        self._batches_of_indices: list[int] = numbers.scatter_indices_batching_dims
        self._inserted: list[int] = numbers.inserted_window_dims
        self._indexed: list[int] = numbers.scattered_dims_to_operand_dims

    def found(self) -> SingleScatter | None:
        """Returns the dimensions; None if updates may be of the same element."""
        along: dict[int, int] = {}  # From dimensions of the updates to those of the result.
        if not self._add_windows(along):
            return None
        for batch, dimension in zip(self._batches, self._batches_of_indices, strict=True):
            along[self._free[dimension - (dimension > self._vector)]] = batch
        columns = self._columns(along)
        if not columns or any(self._updates[d] > 1 and d not in along for d in self._free):
            return None
        return SingleScatter(
            tuple(along.get(d) for d in range(len(self._updates))),
            tuple(along.get(d) for d in self._free),
            tuple(columns),
        )

    def _add_windows(self, along: dict[int, int]) -> bool:
        """Adds the dimensions of windows, and returns whether they are whole or of one element."""
        apart = {*self._inserted, *self._batches}
        kept = [d for d in range(len(self._shape)) if d not in apart]
        if not set(self._inserted) <= {*self._indexed}:
            return False
        for update, dimension in zip(self._windows, kept, strict=True):
            indexed = dimension in self._indexed
            if self._updates[update] != (1 if indexed else self._shape[dimension]):
                return False
            if not indexed:
                along[update] = dimension
        return True

    def _columns(self, along: dict[int, int]) -> list[tuple[int, int]]:
        """Returns the dimensions with an index; those whose indices count up are added."""
        columns = []
        for number, dimension in enumerate(self._indexed):
            counted = self._counts_up(number, self._shape[dimension])
            if counted is None or counted in along:
                columns.append((dimension, number))
            else:
                along[counted] = dimension
        return columns

    def _counts_up(self, number: int, size: int) -> int | None:
        """Returns the dimension of the updates along which an index is 0, 1, 2 and so on.

        Args:
            number: The number of the index in a vector of indices.
            size: The size of its dimension of the result, up to which it has to count.
        """
        if size == 1:
            return None
        shape = [self._updates[d] for d in self._free]
        known = self._known(number, shape)
        if known is None:
            return None
        for place, dimension in enumerate(self._free):
            counted = np.arange(size).reshape([-1] + [1] * (len(shape) - place - 1))
            if shape[place] == size and np.array_equal(known, np.broadcast_to(counted, shape)):
                return dimension
        return None

    def _known(self, number: int, shape: Sequence[int]) -> Array | None:
        """Returns one index of each vector of indices; None if it depends on an input."""
        column = column_of(self._indices, self._vector, number)
        known = known_integers(column)
        if known is not None and known.size > math.prod(shape):
            known = known.take(number, axis=self._vector)
        return None if known is None else known.reshape(shape)


def column_of(indices: ir.Value, vector: int, number: int) -> ir.Value:
    """Returns the operand of a concatenation that is one index of each vector of indices.

    Args:
        indices: The indices of a scatter.
        vector: The dimension of their vectors.
        number: The number of the index in its vector.

    Returns:
        The operand; the indices themselves if they are no concatenation of single columns.
    """
    owner = indices.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.concatenate":
        return indices
    along = ir.IntegerAttr(owner.attributes["dimension"]).value == vector
    if not along or any(part.type.shape[vector] != 1 for part in owner.operands):
        return indices
    return owner.operands[number]


# The elements of integer tensors that do not depend on the inputs of a program.


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


@_FUNCTIONS.on("stablehlo.compare")
def _compare(op: ir.Operation, lhs: Array, rhs: Array) -> Array:
    direction = stablehlo.ComparisonDirectionAttr(op.attributes["comparison_direction"]).value
    compare: Callable[[Array, Array], Array] = getattr(operator, direction.lower())
    return compare(lhs, rhs)


@_FUNCTIONS.on("stablehlo.select")
def _select(_: ir.Operation, chosen: Array, one: Array, other: Array) -> Array:
    return np.where(chosen, one, other)


@_FUNCTIONS.on("stablehlo.convert")
def _convert(_: ir.Operation, operand: Array) -> Array:
    return operand


@_FUNCTIONS.on("stablehlo.add")
def _add(_: ir.Operation, lhs: Array, rhs: Array) -> Array:
    return lhs + rhs
