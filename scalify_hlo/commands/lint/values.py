"""Facts about single values that several lints need."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.ir.splats import dense_of, filled_with
from scalify_hlo.ir.through import behind
from scalify_hlo.ir.traits import where

CARRIES: Final = where("copy", "reshape", "transpose", "broadcast", "round")
"""Ops whose result has the elements of their operand, in another format perhaps."""


def number_of(value: ir.Value) -> float | None:
    """Returns the number that all elements of a value are; None if it is not one constant."""
    return filled_with(behind(value, CARRIES))


def extremes_of(op: ir.Operation) -> tuple[float, ...]:
    """Returns the least and the largest element of a constant, as far as they can be read."""
    number = number_of(op.results[0])
    if number is not None:
        return (number,)
    elements, element = dense_of(op.results[0]), op.results[0].type.element_type
    if elements is None or not isinstance(element, (ir.F32Type, ir.F64Type, ir.F16Type)):
        return ()
    values = np.array(elements)
    return (float(np.min(values)), float(np.max(values))) if values.size else ()


def elements_of(value: ir.Value) -> int:
    """Returns the number of elements of a tensor, with dimensions of unknown size left out."""
    count: int = math.prod(size for size in value.type.shape if size > 0)
    return count
