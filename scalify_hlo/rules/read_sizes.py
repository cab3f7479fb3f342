"""The sizes of functions that read values at scale 1, and how far these can be trusted."""

from __future__ import annotations

from typing import Final

from scalify_hlo.scale import ONE, Form, Scaled
from scalify_hlo.uncertainty import UNKNOWN, of_root

_BOUNDED: Final = frozenset(
    {
        *("stablehlo.batch_norm_grad", "stablehlo.batch_norm_inference"),
        *("stablehlo.batch_norm_training", "stablehlo.bitcast_convert", "stablehlo.cosine"),
        *("stablehlo.logistic", "stablehlo.reduce_precision", "stablehlo.sine", "stablehlo.tanh"),
        *("chlo._asin_acos_kernel", "chlo.acos", "chlo.asin", "chlo.atan", "chlo.atanh"),
        *("chlo.bessel_i1e", "chlo.erf", "chlo.erf_inv", "chlo.erfc"),
    }
)
"""Functions whose results are near 1, or 0, whatever their operands are: bounded ones, normalised
ones, and bits, of which random numbers are made."""

_ROUNDING: Final = frozenset(
    {
        *("stablehlo.ceil", "stablehlo.floor", "stablehlo.round_nearest_afz"),
        *("stablehlo.round_nearest_even", "stablehlo.convert"),
    }
)
"""Functions whose results are about as large as their operands."""

_LOGARITHMIC: Final = frozenset(
    {
        *("stablehlo.exponential", "stablehlo.exponential_minus_one", "stablehlo.log"),
        *("stablehlo.log_plus_one", "stablehlo.tan", "chlo.acosh", "chlo.asinh", "chlo.tan"),
    }
)
"""Functions whose results are near 1 for operands near 1."""

_OCTAVE: Final = 1.0


def size_of_read(name: str, form: Form) -> Scaled:
    """The form of a function's result at scale 1.

    Args:
        name: The op that reads a value.
        form: What was known of the value.
    """
    if name in _BOUNDED:
        return Scaled(ONE)
    if name in _LOGARITHMIC:
        return Scaled(ONE, 0, of_root(_OCTAVE))
    if name in _ROUNDING and isinstance(form, Scaled):
        level = form.level + form.scale.exponent if form.scale.static else 0
        return Scaled(ONE, max(level, 0), form.uncertainty)
    return Scaled(ONE, 0, UNKNOWN)
