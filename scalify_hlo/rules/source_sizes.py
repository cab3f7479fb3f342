"""Predicted sizes of constants, counts, and integers that are converted to floats."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import CONSTANT_SAMPLE, MASKING
from scalify_hlo.algebra.scale import ONE, Scaled, ScaleInfo, Splat, splat_info
from scalify_hlo.algebra.uncertainty import CONSTANT, of_root
from scalify_hlo.ir.dispatch import Dispatch
from scalify_hlo.ir.splats import dense_of, filled_with
from scalify_hlo.ir.through import behind
from scalify_hlo.ir.traits import LAYOUT

_BYTE: Final = 8
_READABLE: Final = frozenset({"f16", "f32", "f64"})
"""The element types of which the bindings provide a NumPy view."""

_EVEN: Final = 5.0
"""The largest standard deviation, in octaves, of elements of similar size."""

_INTEGER: Final = 5.0
"""The uncertainty, in octaves, of the size of integers: more than E4M3 has room for."""

_SPREADING: Final = LAYOUT | {"stablehlo.convert", "stablehlo.slice"}


_OF_CONSTANTS: Final[Dispatch[Callable[[float], float]]] = Dispatch()
"""Functions of constants, such as the root of the width of a head, which divides scores."""

_OF_CONSTANTS.on("stablehlo.cbrt")(math.cbrt)
_OF_CONSTANTS.on("stablehlo.convert")(float)
_OF_CONSTANTS.on("stablehlo.cosine")(math.cos)
_OF_CONSTANTS.on("stablehlo.exponential")(math.exp)
_OF_CONSTANTS.on("stablehlo.exponential_minus_one")(math.expm1)
_OF_CONSTANTS.on("stablehlo.log")(math.log)
_OF_CONSTANTS.on("stablehlo.log_plus_one")(math.log1p)
_OF_CONSTANTS.on("stablehlo.sine")(math.sin)
_OF_CONSTANTS.on("stablehlo.sqrt")(math.sqrt)
_OF_CONSTANTS.on("stablehlo.tanh")(math.tanh)


@_OF_CONSTANTS.on("stablehlo.rsqrt")
def _rsqrt(value: float) -> float:
    return 1 / math.sqrt(value)


def size_of_function(op: ir.Operation, constant: Splat) -> Scaled | None:
    """Returns the scale information of a function of a splat; None if its size is unknown."""
    function = _OF_CONSTANTS.get(op.name)
    try:
        value = function(constant.value) if function is not None else 0.0
    except (OverflowError, ValueError, ZeroDivisionError):
        return None
    info = splat_info(value)
    return Scaled(ONE, info.size, CONSTANT) if isinstance(info, Splat) else None


_LARGE: Final = 3
"""log2 of the least constant that is larger than the other operand of a sum of unknown size."""


def size_of_sum(op: ir.Operation, infos: Sequence[ScaleInfo]) -> Scaled | None:
    """Returns the size of a sum, or difference, of a splat constant and an unscaled value.

    An example is the count in a variance, minus a number that may be an argument of its function.

    Args:
        op: The sum.
        infos: The scale information of its operands, none of which is scaled.
    """
    values = [info.value for info in infos if isinstance(info, Splat)]
    if not values:
        return None
    info: ScaleInfo = Splat(values[0])
    if len(values) > 1:
        sign = -1 if op.name == "stablehlo.subtract" else 1
        info = splat_info(values[0] + sign * values[1])
    elif None in infos and math.log2(abs(values[0])) < _LARGE:
        return None
    return Scaled(ONE, info.size, CONSTANT) if isinstance(info, Splat) else None


def info_of_constant(attribute: ir.DenseElementsAttr | None) -> Scaled | None:
    """Returns the scale information of a constant that is no splat; None if its size is unknown.

    The size is the rms of the whole. If the elements are many octaves apart, such as the
    coefficients of an expansion, elements that the program selects may have any of their sizes.
    """
    if attribute is None or attribute.is_splat:
        return None
    if str(attribute.type.element_type) not in _READABLE:
        return None
    elements = np.asarray(memoryview(attribute)).reshape(-1)
    sample = elements[:: max(1, elements.size // CONSTANT_SAMPLE)].astype(np.float64)
    sample = sample[np.isfinite(sample)]
    if not sample.any() or np.abs(sample).max() >= MASKING:
        return None
    spread = float(np.std(np.log2(np.abs(sample[sample != 0]))))
    uncertainty = of_root(spread, constant=True) if spread > _EVEN else CONSTANT
    return Scaled(ONE, 0.5 * math.log2(np.mean(np.square(sample))), uncertainty)


def info_of_integers(value: ir.Value) -> ScaleInfo:
    """Returns the scale information of integers, or booleans, that became floats.

    Booleans are near unit, and counts have the size of their mean. The size of other integers is
    unknown. A scalar, such as a step, is assumed to be near unit.
    """
    if not value.type.rank:
        return None
    value = behind(value, _SPREADING)
    owner, element = value.owner, value.type.element_type
    if not isinstance(element, ir.IntegerType) or element.width == 1:
        return None
    if not isinstance(owner, ir.Block) and owner.name == "stablehlo.iota":
        return Scaled(ONE, size_of_iota(owner.operation), CONSTANT)
    size = None if isinstance(owner, ir.Block) else _size_of_integers(owner.operation)
    return Scaled(ONE, 0, of_root(_INTEGER)) if size is None else Scaled(ONE, size, CONSTANT)


def _size_of_integers(op: ir.Operation) -> float | None:
    """Returns log2 of the rms of a constant of integers; None for zeros, or for another op."""
    if op.name != "stablehlo.constant" or op.result.type.element_type.width < _BYTE:
        return None
    attribute = dense_of(op.result)
    if attribute is None:
        return None
    if attribute.is_splat:
        number = filled_with(op.result)
        return math.log2(abs(number)) if number else None
    elements = np.asarray(memoryview(attribute)).reshape(-1)
    sample = elements[:: max(1, elements.size // CONSTANT_SAMPLE)].astype(np.float64)
    return 0.5 * math.log2(np.mean(np.square(sample))) if sample.any() else None


def size_of_iota(op: ir.Operation) -> int:
    """Returns log2 of the rms of 0, 1, 2 ... along a dimension, rounded to an integer."""
    dimension = ir.IntegerAttr(op.attributes["iota_dimension"]).value
    count = op.results[0].type.shape[dimension]
    return round(math.log2(count / math.sqrt(3))) if count > 1 else 0
