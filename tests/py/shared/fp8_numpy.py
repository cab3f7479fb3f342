"""FP8 with a scale for each tensor, in NumPy, as Transformer Engine's documentation has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.casts.encoding import dtype_of

Array = npt.NDArray[Any]

F32 = np.float32
E4M3, E5M2 = "f8E4M3FN", "f8E5M2"
OUTER = {"matmul.smallest": 1}
"""Takes products of columns with rows, each of one term: nothing depends on the order of sums."""


def outer(x: Any, w: Any) -> Any:
    return x[:, None] @ w[None, :]


def sample(seed: int, log2: float = 0.0, size: int = 64) -> Array:
    """Numbers with heavy tails, about as large as a power of two."""
    return np.asarray(np.random.default_rng(seed).standard_t(2, size) * 2.0**log2, F32)


def flushed(value: Array) -> Any:
    """Returns the numbers that XLA makes of numbers below the normal range."""
    return np.asarray(np.where(np.abs(value) < F32(2.0**-126), F32(0), value))


def outer_quantized(x: Array, w: Array, formats: tuple[str, str] = (E4M3, E4M3), **how: Any) -> Any:
    """`outer` of operands that are quantized."""
    (xd, xs), (wd, ws) = (quantized(v, f, **how) for v, f in zip((x, w), formats, strict=True))
    product = xd.astype(F32)[:, None] * wd.astype(F32)[None, :]
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return flushed(np.asarray(product * np.minimum(xs * ws, np.finfo(F32).max), F32))


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
