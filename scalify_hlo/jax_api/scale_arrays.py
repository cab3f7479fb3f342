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
