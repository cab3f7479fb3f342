"""Evaluation of ops on NumPy arrays in f64."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_erf = np.vectorize(math.erf, otypes=[float])
_erfc = np.vectorize(math.erfc, otypes=[float])


def logistic(x: Array) -> Array:
    """Returns 1 / (1 + exp(-x))."""
    return np.asarray(1 / (1 + np.exp(-x)))


def erf(x: Array) -> Array:
    """Returns the error function of an array."""
    return np.asarray(_erf(x))


def _power(x: Array, y: Array) -> Array:
    return np.asarray(np.power(np.asarray(x, float), y))


TABLE: Final[Mapping[str, Callable[..., Any]]] = {
    "abs": np.abs,
    "add": np.add,
    "and": np.logical_and,
    "cbrt": np.cbrt,
    "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
    "compare_EQ": np.equal,
    "compare_GE": np.greater_equal,
    "compare_GT": np.greater,
    "compare_LE": np.less_equal,
    "compare_LT": np.less,
    "compare_NE": np.not_equal,
    "convert": lambda x: np.asarray(x, float),
    "divide": np.divide,
    "erf": _erf,
    "erfc": _erfc,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "is_finite": np.isfinite,
    "log": np.log,
    "log_plus_one": np.log1p,
    "logistic": logistic,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "negate": np.negative,
    "not": np.logical_not,
    "or": np.logical_or,
    "power": _power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "select": np.where,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "square": np.square,
    "subtract": np.subtract,
    "tanh": np.tanh,
}
"""The elementwise ops, by the names of their nodes."""


def evaluate(name: str, operands: Sequence[Any]) -> Any:
    """Evaluates an op of the table on its operands; overflow is not an error."""
    with np.errstate(all="ignore"):
        return TABLE[name](*operands)


def spread_to(array: Array, other: Array) -> Array:
    """Broadcasts an array against another; usually it has the shape already."""
    if array.shape == other.shape:
        return array
    return np.broadcast_to(array, np.broadcast_shapes(array.shape, other.shape))


def mean(array: Array, axes: tuple[int, ...]) -> Array:
    """Returns the mean over axes, which keep size 1; on small arrays faster than `np.mean`."""
    count = math.prod([array.shape[axis] for axis in axes])
    return np.asarray(np.add.reduce(array, axis=axes, dtype=float, keepdims=True) / count)


class Target:
    """An array with which others are compared, up to rounding.

    Args:
        expected: The expected array.
        tolerance: The relative tolerance.
        unit: The magnitude to which the tolerance refers, by default the largest expected one.
    """

    __slots__ = ("_allowed", "_first", "_first_allowed", "expected")

    def __init__(self, expected: Array, tolerance: float, unit: float | None = None) -> None:
        magnitudes = np.abs(expected)
        largest = magnitudes.max() if unit is None else unit
        self.expected = expected
        self._allowed = tolerance * (magnitudes + largest)
        self._first, self._first_allowed = expected.item(0), self._allowed.item(0)

    def met_by(self, found: Array) -> bool:
        """Whether an array is equal after broadcasting, and finite."""
        # Most arrays differ in their first elements, which are cheap to compare.
        if abs(found.item(0) - self._first) > self._first_allowed:
            return False
        near = np.abs(found - self.expected) <= self._allowed
        return bool(near.all() and np.isfinite(found).all())


def close(found: Array, expected: Array, tolerance: float, unit: float | None = None) -> bool:
    """Whether an array is equal to another one within a tolerance; see `Target`."""
    return Target(expected, tolerance, unit).met_by(found)
