"""Arrays of scales in JAX: one power of two for each block of an array.

`scalify_hlo.algebra.scale_shapes` has the shapes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from scalify_hlo.algebra.scale_shapes import split_shape
from scalify_hlo.jax_api.powers import bits_of, times_power, wide_dtype


def by_element(scales: Any, shape: Sequence[int]) -> Any:
    """Returns the number of the block of each element.

    Args:
        scales: An array with a number for each block, or one number of rank 0.
        shape: The shape of the array of elements.
    """
    if not jnp.ndim(scales):
        return scales
    for d, (count, whole) in enumerate(zip(jnp.shape(scales), shape, strict=True)):
        if 1 < count < whole:
            scales = jnp.repeat(scales, whole // count, axis=d)
    return scales


def of_blocks(
    function: Callable[[jax.Array], jax.Array], data: jax.Array, scales: Sequence[int]
) -> jax.Array:
    """Applies a function of an array to each block.

    Args:
        function: Returns a scalar.
        data: The array.
        scales: The shape of the array of scales; empty for one block.

    Returns:
        The scalars, of the shape `scales`.
    """
    if not scales:
        return function(data)
    rank = data.ndim
    split = data.reshape(split_shape(data.shape, scales))
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    rows = split.transpose(order).reshape(math.prod(scales), -1)
    return jax.vmap(function)(rows).reshape(scales)


@jax.jit  # op by op, each shape would compile each op
def without_loss(data: jax.Array, exponents: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Divides each block of an array by a power of two, unless a bit would be lost.

    Args:
        data: The array.
        exponents: log2 of the power of two of each block, or of all.

    Returns:
        The new array and log2 of the powers of two by which its blocks were divided: those given,
        or 0 for blocks that did not change.
    """
    each = by_element(exponents, data.shape)
    moved = times_power(data, -each)
    changed = jnp.zeros(data.shape, bool)
    for part in (jnp.real, jnp.imag) if jnp.iscomplexobj(data) else (lambda x: x,):
        old, back = part(data), part(times_power(moved, each))
        changed |= (bits_of(back) != bits_of(old)) & ~jnp.isnan(old.astype(wide_dtype(old.dtype)))
    lost = of_blocks(jnp.any, changed, jnp.shape(exponents))
    kept = jnp.where(by_element(lost, data.shape), data, moved)
    return kept, jnp.where(lost, 0, exponents)
