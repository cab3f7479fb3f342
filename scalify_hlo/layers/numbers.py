"""Evaluation of ops on NumPy arrays in f64."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scalify_hlo.ir.dispatch import Dispatch
from scalify_hlo.ir.traits import BINARY, LOGARITHMS, LOGICAL, MAGNITUDES, ROOTS, SIGMOIDS, short

Array = npt.NDArray[Any]

TABLE: Final[Dispatch[Callable[..., Any]]] = Dispatch()
"""The elementwise ops, by the names of their nodes."""

for _name in short(BINARY | LOGARITHMS | MAGNITUDES | ROOTS | SIGMOIDS):
    if hasattr(np, _name):
        TABLE.on(_name)(getattr(np, _name))
for _name in short(LOGICAL - {"stablehlo.xor"}):
    TABLE.on(_name)(getattr(np, f"logical_{_name}"))
for _name in ("EQ", "GE", "GT", "LE", "LT", "NE"):
    TABLE.on(f"compare_{_name}")(getattr(operator, _name.lower()))
TABLE.on("exponential")(np.exp)
TABLE.on("exponential_minus_one")(np.expm1)
TABLE.on("is_finite")(np.isfinite)
TABLE.on("log_plus_one")(np.log1p)
TABLE.on("negate")(np.negative)
TABLE.on("select")(np.where)
TABLE.on("sign")(np.sign)
TABLE.on("square")(np.square)

SUM: Final = "reduce_add"
REDUCTIONS: Final = {SUM: 0.0, "reduce_maximum": -math.inf}
"""The names of the nodes of reductions that samples follow, with the initial value of each."""

_erf = np.vectorize(math.erf, otypes=[float])
_erfc = np.vectorize(math.erfc, otypes=[float])
TABLE.on("erfc")(_erfc)


@TABLE.on("erf")
def erf(x: Array) -> Array:
    """Returns the error function of an array."""
    return np.asarray(_erf(x))


@TABLE.on("logistic")
def logistic(x: Array) -> Array:
    """Returns 1 / (1 + exp(-x))."""
    return np.asarray(1 / (1 + np.exp(-x)))


@TABLE.on("clamp")
def _clamp(low: Array, x: Array, high: Array) -> Array:
    return np.asarray(np.minimum(np.maximum(x, low), high))


@TABLE.on("convert")
def _convert(x: Array) -> Array:
    return np.asarray(x, float)


@TABLE.on("power")
def _power(x: Array, y: Array) -> Array:
    return np.asarray(np.power(np.asarray(x, float), y))


@TABLE.on("rsqrt")
def _rsqrt(x: Array) -> Array:
    return np.asarray(1 / np.sqrt(x))


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
