"""Predicted sizes, and uncertainties, of functions that read values at scale 1."""

from __future__ import annotations

import math
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import READ_CONE
from scalify_hlo.algebra.scale import ONE, Scaled, ScaleInfo
from scalify_hlo.algebra.uncertainty import UNKNOWN, of_root
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.splats import filled_with
from scalify_hlo.ir.through import behind
from scalify_hlo.ir.traits import (
    BATCH_NORMS,
    BOUNDED_FROM_ZERO,
    BOUNDED_THROUGH_ZERO,
    BROADCASTS,
    COPIES,
    INTEGRAL,
    NOT_NEGATIVE,
    PRODUCTS,
    REORDERS,
    RESHAPES,
    ROUNDS,
    SLICES,
    THROUGH_ZERO,
)
from scalify_hlo.rules.rescaler import broadcast_source

_NEAR_ONE: Final = (
    (BATCH_NORMS - {"stablehlo.batch_norm_grad"})
    | BOUNDED_FROM_ZERO
    | {"stablehlo.bitcast_convert"}
)
"""Functions whose results are near 1 for all operands: bounded ones that are not 0 at 0, normalized
ones, and bits, from which random numbers are made."""

_ROUNDING: Final = INTEGRAL | {"stablehlo.convert"}
"""Functions whose results are integers about as large as their operands."""

_LOGARITHMIC: Final = frozenset({"stablehlo.log", "chlo.acosh"})
"""Functions whose results are near 1 for operands near 1."""

_EXPONENTIAL: Final = "stablehlo.exponential"

_CUTTING: Final = frozenset({"stablehlo.reduce_precision"})
"""Functions whose results have the size of their operands."""

_RESCALING: Final = frozenset({"stablehlo.convert", "stablehlo.multiply"})
"""The ops that rescale values to scale 1."""

_OCTAVE: Final = 1.0

_SAMPLES: Final = 3.0
"""The standard deviations of the numbers that make most of the rms of an exponential: that of
normal numbers x is exp(s**2), if numbers of 2*s standard deviations are among them."""

_LARGEST: Final = 20.0
"""log2 of the size above which the uncertainty no longer grows."""

_SMALL: Final = -1.0
"""log2 of the size below which functions are linear."""

_UNCERTAIN: Final = 8.0
"""The uncertainty, in octaves, above which a value near 1 may be in the linear range."""


def size_of_read(op: ir.Operation, info: ScaleInfo) -> Scaled:
    """Returns the scale information of a function's result at scale 1.

    Args:
        op: The op that reads a value.
        info: The scale information of the value.
    """
    name = op.name
    if name in _NEAR_ONE:
        return Scaled(ONE)
    if name in _LOGARITHMIC:
        return Scaled(ONE, 0, of_root(_OCTAVE))
    value = info.at(ONE) if isinstance(info, Scaled) else Scaled(ONE)
    if name in THROUGH_ZERO:
        return _vanishing(value, bounded=name in BOUNDED_THROUGH_ZERO)
    if name == _EXPONENTIAL:
        deviation = 2.0 ** min(value.level + value.uncertainty.drift, _LARGEST)
        octaves = math.log2(math.e) * deviation * min(deviation, _SAMPLES)
        near = _is_shifted(op.operands[0]) or sign_of(op.operands[0]) < 0
        found = of_root(_OCTAVE if near else max(_OCTAVE, octaves), exponential=True)
        return Scaled(ONE, 0, found)
    if name in _CUTTING and isinstance(info, Scaled):
        return value
    if name in _ROUNDING and isinstance(info, Scaled):
        return value._replace(level=max(value.level, 0))
    return Scaled(ONE, 0, UNKNOWN)


def _is_shifted(value: ir.Value) -> bool:
    """Whether a value is a difference, with a broadcast operand, as in a softmax."""
    owner = behind(value, _RESCALING).owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.subtract":
        return False
    spread = broadcast_source(owner.operands[1])
    if spread is None:
        return False
    source = spread.operands[0].owner
    return isinstance(source, ir.Block) or source.name != "stablehlo.constant"


def size_of_angle(ratio: Scaled) -> Scaled:
    """Returns the scale information of the angle of a ratio at scale 1."""
    return _vanishing(ratio, bounded=True)


def _vanishing(value: Scaled, *, bounded: bool) -> Scaled:
    """Returns the scale information of a function, linear near 0, of a value."""
    if value.level <= _SMALL or value.uncertainty.octaves - value.level > _UNCERTAIN:
        return value._replace(level=min(value.level, 0))
    return Scaled(ONE) if bounded else Scaled(ONE, 0, of_root(_OCTAVE))


# Signs of values, as far as the ops that make them tell.


_MOVES: Final = BROADCASTS | COPIES | REORDERS | RESHAPES | ROUNDS | SLICES


def sign_of(value: ir.Value, depth: int = READ_CONE) -> int:
    """Returns 1 if no element of a value is negative, -1 if none is positive, and 0 otherwise.

    Args:
        value: A tensor of numbers.
        depth: The number of ops that are followed.
    """
    if is_block(value.owner) or not depth:
        return 0
    op = value.owner.operation
    if op.name in NOT_NEGATIVE:
        return 1
    number = filled_with(value) if op.name == "stablehlo.constant" else None
    if number is not None:
        return 1 if number >= 0 else -1
    if op.name in _MOVES:
        return sign_of(op.operands[0], depth - 1)
    if op.name == "stablehlo.negate":
        return -sign_of(op.operands[0], depth - 1)
    if op.name in PRODUCTS:
        lhs, rhs = op.operands
        return 1 if lhs == rhs else sign_of(lhs, depth - 1) * sign_of(rhs, depth - 1)
    return 0
