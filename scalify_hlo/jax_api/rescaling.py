"""Rescaling of ScaledArrays: another scale for the same values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from scalify_hlo.algebra.limits import ENTRY_BOUND
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.jax_api.powers import EXPONENTS, of_blocks
from scalify_hlo.jax_api.scaled_array import (
    ScaledArray,
    Statistic,
    has_values,
    log2_of,
    map_scaled,
    moved_to,
    scale_dtype,
)


def dynamic_rescale(tree: Any, statistic: Statistic = "l2") -> Any:
    """Rescales ScaledArrays so that a statistic of their data is near 1; data * scale is unchanged.

    The new scale is within 2^±63, unless the old scale is not. Arrays with a scale for each block
    are not changed: their scales fit their blocks already.

    Args:
        tree: A pytree. ScaledArrays are rescaled; other leaves are not changed.
        statistic: The statistic of the data that gives the power of two by which they are divided:
            ``l2`` is at or below the rms, ``l1`` is at or below the mean magnitude, and ``max`` is
            at or above the largest magnitude. If it is zero, infinite or NaN, the ScaledArray is
            not changed.

    Returns:
        The pytree with the same structure, shapes and dtypes.

    Raises:
        UsageError: The statistic is unknown.

    Example:
        >>> x = dynamic_rescale(ScaledArray(jnp.full(4, 24.0), jnp.float32(0.5)))
        >>> float(x.scale), float(x.data[0])
        (8.0, 1.5)
    """
    if statistic not in EXPONENTS:
        raise UsageError(
            f"no statistic is named {statistic!r}{nearest(statistic, EXPONENTS)}",
            hint=f"the statistics are: {', '.join(EXPONENTS)}",
        )
    exponent = EXPONENTS[statistic]
    return map_scaled(lambda array: rescaled(array, exponent), tree)


def rescaled(array: ScaledArray, exponent: Callable[[jax.Array], jax.Array]) -> ScaledArray:
    """Multiplies the scale of each block by a power of two near a statistic of its data.

    Args:
        array: The array; abstract ones and moments in blocks are not changed.
        exponent: Returns log2 of the power of two for the data of a block.
    """
    if not has_values(array.data) or array.power is not None:
        return array
    old = log2_of(array.scale)
    data = jax.lax.stop_gradient(jnp.asarray(array.data))
    moved = old + of_blocks(exponent, data, jnp.shape(array.scale))
    # A scale that is out of bounds already may come closer to 1, but not move further away.
    low, high = jnp.minimum(-ENTRY_BOUND, old), jnp.maximum(ENTRY_BOUND, old)
    return moved_to(array, jnp.clip(moved, low, high))


def rebalance(array: ScaledArray, delta: Any) -> ScaledArray:
    """Multiplies the scale by `delta`, and divides the data by it; `asarray` is unchanged.

    The new scale is clamped to the normal numbers of its dtype.

    Args:
        array: The ScaledArray.
        delta: A scalar, which is rounded down to a power of two.
    """
    moved = log2_of(array.scale) + log2_of(jnp.asarray(delta, scale_dtype(array.dtype)))
    info = jnp.finfo(scale_dtype(array.dtype))
    return moved_to(array, jnp.clip(moved, info.minexp, info.maxexp - 1))
