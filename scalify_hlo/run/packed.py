"""Moments with a scale for each block as NumPy arrays; `scalify_hlo.algebra.moments` has more."""

from __future__ import annotations

import numpy as np

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import NORMAL
from scalify_hlo.algebra.moments import SCALE_FORMAT, block_length, scale_shape
from scalify_hlo.io.tensors import DTYPES, Array, Tensor
from scalify_hlo.quantize.encoding import rounded, unclipped
from scalify_hlo.run.inputs import scaled_by
from scalify_hlo.run.scale_arrays import by_element

_SCALE_DTYPE = np.dtype(DTYPES[SCALE_FORMAT])


def is_packed(scale: Tensor) -> bool:
    """Whether the scale of a pair has a number for each block."""
    return scale.dtype == _SCALE_DTYPE


def packed(value: Array, data: Tensor) -> list[Array]:
    """Returns the data and the scales of a moment, with data that are rounded to nearest.

    Args:
        value: The moment, a float array.
        data: The argument that takes its data.
    """
    target = next(f for name, f in FORMATS.items() if data.dtype == DTYPES.get(name))
    wide = value.astype(np.float64)
    size = np.sqrt(np.abs(wide)) if data.root else np.abs(wide)
    counted = np.where(np.isfinite(size), size, 0)
    block, blocks = block_length(wide.shape[-1]), scale_shape(wide.shape)
    padding = [(0, 0)] * (wide.ndim - 1) + [(0, -wide.shape[-1] % block)]
    amax = np.max(np.pad(counted, padding).reshape(*blocks, block), axis=-1)
    exponents = np.where(amax > 0, unclipped(amax, target), -NORMAL).clip(-NORMAL, NORMAL)
    stored = rounded(counted, _by_element(exponents, wide.shape), target, None)
    if data.root:  # An update that is divided by it has to stay bounded.
        least = np.maximum(stored.astype(np.float64), target.smallest)
        stored = np.where(counted > 0, least, 0).astype(data.dtype)
    signed = np.copysign(stored.astype(np.float64), wide)
    signed = np.where(np.isfinite(wide), signed, wide).astype(data.dtype)
    return [signed, np.ldexp(1.0, exponents).astype(_SCALE_DTYPE)]


def value_of_pair(data: Array, scale: Array, tensor: Tensor) -> Array:
    """Returns data times scale in f64, or the numbers of a moment in blocks.

    Args:
        data: The data.
        scale: One scale, or the scale of each block; see `scalify_hlo.run.scale_arrays`.
        tensor: The argument or the result that the data are.
    """
    if scale.dtype != _SCALE_DTYPE:
        return scaled_by(data, by_element(scale, data.shape))
    with np.errstate(over="ignore", invalid="ignore"):
        wide = data.astype(np.float64) * _by_element(scale.astype(np.float64), data.shape)
        values: Array = wide * np.abs(wide) if tensor.root else wide
    return values


def _by_element(scale: Array, shape: tuple[int, ...]) -> Array:
    """Returns the number of the block of each element."""
    return np.repeat(scale, block_length(shape[-1]), axis=-1)[..., : shape[-1]]
