"""FP8 with a scale for each tensor, in NumPy, as Transformer Engine's documentation has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.quantize.encoding import dtype_of

Array = npt.NDArray[Any]

F32 = np.float32


def inverse_scale(amax: Array, format_: str, *, margin: int = 0, power_2: bool = True) -> Array:
    """``fp8_max / amax / 2^margin``: what values are multiplied with, in f32."""
    largest = F32(FORMATS[format_].max_finite * 2.0**-margin)
    with np.errstate(over="ignore", divide="ignore"):
        exact = (largest / np.maximum(amax.astype(F32), F32(2.0**-110))).astype(F32)
        found = (
            np.exp2(np.floor(np.log2(exact.astype(np.float64)))).astype(F32) if power_2 else exact
        )
    return np.where(np.isfinite(amax), found, F32(1))


def quantized(
    value: Array,
    format_: str,
    *,
    axes: tuple[int, ...] | None = None,
    margin: int = 0,
    power_2: bool = True,
) -> tuple[Array, Array]:
    """Data in a format, and the scale with which they stand for values.

    Args:
        value: The tensor.
        format_: As MLIR spells it.
        axes: Those over which the amax is taken; all by default.
        margin: See `inverse_scale`.
        power_2: See `inverse_scale`.
    """
    wide = value.astype(F32)
    amax = np.max(np.abs(wide), axis=axes, keepdims=True, where=np.isfinite(wide), initial=0)
    inverse = inverse_scale(amax, format_, margin=margin, power_2=power_2)
    most = F32(FORMATS[format_].max_finite)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = wide * inverse
        finite = np.isfinite(wide)
        data = np.where(finite, np.clip(scaled, -most, most), scaled).astype(dtype_of(format_))
    return data, (F32(1) / inverse).astype(F32)
