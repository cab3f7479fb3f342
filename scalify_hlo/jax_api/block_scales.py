"""Arrays with a scale for each block in JAX, with the formulas of `scalify_hlo.casts.blocks`."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from scalify_hlo.algebra.formats import FORMATS, FloatFormat
from scalify_hlo.algebra.limits import NORMAL
from scalify_hlo.algebra.moments import block_length, scale_shape
from scalify_hlo.algebra.noise import BIAS, INDEX_FACTOR, MANTISSA, MIXES, UNSURE, WORD, strides

SCALE_DTYPE: Final = np.dtype(jnp.float8_e8m0fnu)
"""The dtype of the scales of blocks: powers of two in a byte."""


def scales_of_blocks(shape: Any) -> tuple[int, ...]:
    """Returns the shape of the scales of an array of this shape."""
    return tuple(scale_shape(shape))


@partial(jax.jit, static_argnums=(1, 2))  # op by op, each shape would compile each op
def to_blocks(values: Any, dtype: Any, power: int) -> tuple[jax.Array, jax.Array]:
    """Returns the data and the scales of an array in blocks, rounded as a program does.

    Args:
        values: A float array of rank 1 or more, not empty.
        dtype: The f8 dtype of the data.
        power: 2 if the square root is stored, else 1.
    """
    target = _format(dtype)
    wide = jnp.asarray(values).astype(jnp.float32)
    finite = jnp.isfinite(wide)
    size = jnp.sqrt(jnp.abs(wide)) if power > 1 else jnp.abs(wide)
    counted = jnp.where(finite, size, 0)
    exponent = _exponents(counted, target)
    inverse = _by_element(jnp.ldexp(jnp.float32(1), -exponent), wide.shape)
    data = _rounded(counted * inverse, target, root=power > 1)
    if power > 1:
        data = jnp.where(counted == 0, 0, jnp.maximum(data, target.smallest))
    data = jnp.where(finite, jnp.copysign(data, wide), wide)
    return data.astype(dtype), jnp.ldexp(jnp.float32(1), exponent).astype(SCALE_DTYPE)


def from_blocks(data: Any, scale: Any, power: int) -> jax.Array:
    """Returns the numbers of an array in blocks, in f32; they have no derivative.

    Args:
        data: The data.
        scale: The scale of each block.
        power: 2 if the square root is stored, else 1.
    """
    data, scale = map(jax.lax.stop_gradient, (jnp.asarray(data), jnp.asarray(scale)))
    wide: jax.Array = data.astype(jnp.float32) * _by_element(scale.astype(jnp.float32), data.shape)
    return wide * jnp.abs(wide) if power > 1 else wide


def _format(dtype: Any) -> FloatFormat:
    """Returns the format of a dtype, whose name is that of the format but for its spelling."""
    wanted = np.dtype(dtype).name.replace("float8_", "f8").lower()
    return next(format_ for name, format_ in FORMATS.items() if name.lower() == wanted)


def _exponents(sizes: jax.Array, target: FloatFormat) -> jax.Array:
    """Returns log2 of the scale of each block: the least at which all magnitudes are in range."""
    *outer, length = sizes.shape
    block = block_length(length)
    padding = [(0, 0)] * len(outer) + [(0, -length % block)]
    amax = jnp.max(jnp.pad(sizes, padding).reshape(*scale_shape(sizes.shape), block), axis=-1)
    fraction = (1 << MANTISSA) - 1
    carried = fraction - (int(np.float32(target.max_finite).view(np.uint32)) & fraction)
    bits = jax.lax.bitcast_convert_type(amax, jnp.uint32) + jnp.uint32(carried)
    exponent = (bits >> MANTISSA).astype(jnp.int32) - BIAS - target.max_exponent
    clipped: jax.Array = jnp.clip(exponent, -NORMAL, NORMAL)
    return clipped


def _by_element(scale: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    spread = jnp.repeat(scale, block_length(shape[-1]), axis=-1)
    return spread[..., : shape[-1]]


def _rounded(data: jax.Array, target: FloatFormat, *, root: bool) -> jax.Array:
    """Rounds magnitudes to numbers of a format, up or down at random, with the salt 0."""
    dropped = MANTISSA - target.mantissa_bits
    low = jnp.float32(2.0**target.min_exponent)
    small = data < low
    added = jnp.where(small, low, 0)
    bits = jax.lax.bitcast_convert_type(data + added, jnp.uint32)
    mask = jnp.uint32((1 << dropped) - 1)
    noise = _hash(bits) >> (WORD - dropped)
    noise = jnp.where(small & root, mask, noise)
    return jax.lax.bitcast_convert_type((bits + noise) & ~mask, jnp.float32) - added


def _hash(bits: jax.Array) -> jax.Array:
    """Returns a hash of the first bits of each element and of its index, with the salt 0."""
    mixed: jax.Array = bits >> UNSURE
    index = jnp.zeros((), jnp.uint32)
    for dimension, stride in strides(bits.shape).items():
        index += jax.lax.broadcasted_iota(jnp.uint32, bits.shape, dimension) * jnp.uint32(stride)
    mixed ^= index * jnp.uint32(INDEX_FACTOR)
    for shift, factor in MIXES:
        mixed = (mixed ^ (mixed >> shift)) * jnp.uint32(factor)
    return mixed
