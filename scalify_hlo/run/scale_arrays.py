"""Arrays of scales as NumPy arrays; `scalify_hlo.algebra.scale_shapes` has their shapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scalify_hlo.algebra.scale_shapes import split_shape
from scalify_hlo.io.tensors import Array, Tensor
from scalify_hlo.quantize.encoding import exponent_below_rms
from scalify_hlo.run.inputs import scaled_by


def by_element(scales: Array, shape: Sequence[int]) -> Array:
    """Returns the number of the block of each element; one number of rank 0 stays one."""
    if not scales.shape:
        return scales
    for d, (count, whole) in enumerate(zip(scales.shape, shape, strict=True)):
        scales = np.repeat(scales, whole // count, axis=d)
    return scales


def exponents_of_blocks(value: Array, shape: Sequence[int]) -> Array:
    """Returns log2 of the power of two at or below the rms of each block.

    Args:
        value: A float array.
        shape: The shape of its scales.
    """
    rank = value.ndim
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    split = value.reshape(split_shape(value.shape, shape)).transpose(order)
    rows = split.reshape(int(np.prod(shape)), -1)
    return np.reshape([exponent_below_rms(row) for row in rows], shape)


def split_in_blocks(value: Array, data: Tensor, scale: Tensor) -> list[Array]:
    """Returns data and scales of a value, each at or below the rms of its block.

    Args:
        value: The value, a float array.
        data: The argument that takes its data.
        scale: The argument that takes its scales.
    """
    exponents = exponents_of_blocks(value, scale.shape)
    factors = np.ldexp(1.0, -exponents)
    divided = scaled_by(value, by_element(factors, value.shape))
    return [divided.astype(data.dtype), np.ldexp(1.0, exponents).astype(scale.dtype)]
