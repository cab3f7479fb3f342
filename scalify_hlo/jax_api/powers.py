"""Powers of two in JAX: multiplication by them, and those near a statistic of an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from scalify_hlo.algebra.limits import ENTRY_BOUND


def times_power(data: jax.Array, exponent: jax.Array) -> jax.Array:
    """Returns ``data * 2^exponent`` in the dtype of the data.

    Low-precision data are multiplied in f32. The factor is applied in two halves, as the whole
    factor may overflow.

    Args:
        data: A float or complex array of any shape.
        exponent: An integer scalar, or integers of a shape that broadcasts to that of the data.
    """
    wide = wide_dtype(data.dtype)
    real = jnp.finfo(wide).dtype
    half = exponent // 2
    one = jnp.ones((), real)
    product = data.astype(wide) * jnp.ldexp(one, half) * jnp.ldexp(one, exponent - half)
    return product.astype(data.dtype)


def wide_dtype(dtype: Any) -> Any:
    """Returns the dtype in which data of a dtype are computed: at least f32."""
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return dtype
    return jnp.promote_types(dtype, jnp.float32) if jnp.finfo(dtype).bits > 8 else jnp.float32


def _magnitude(data: jax.Array) -> jax.Array:
    """Returns magnitudes in f32, or f64 for f64 data; max(|re|, |im|) for complex data."""
    wide = data.astype(wide_dtype(data.dtype))
    if jnp.issubdtype(wide.dtype, jnp.complexfloating):
        return jnp.maximum(jnp.abs(wide.real), jnp.abs(wide.imag))
    return jnp.abs(wide)


def _log2_above_max(data: jax.Array) -> jax.Array:
    """Returns ceil(log2(max |x|)), or 0 if the maximum is zero, infinite or NaN."""
    largest = jnp.max(_magnitude(data), initial=0)
    mantissa, exponent = jnp.frexp(largest)
    exact = jnp.where(mantissa == 0.5, exponent - 1, exponent)
    return jnp.where(_is_usable(largest), exact, 0)


def _exponent_above_max(data: jax.Array) -> jax.Array:
    return jnp.clip(_log2_above_max(data), -ENTRY_BOUND, ENTRY_BOUND)


@jax.jit  # op by op, each shape would compile each op
def exponent_below_rms(data: jax.Array) -> jax.Array:
    """Returns floor(log2(rms)), or 0 if the rms is zero, infinite or NaN.

    The data are first divided by a power of two, so that no square overflows.
    """
    unit, power = _unit(data)
    mean = jnp.mean(jnp.square(jnp.real(unit)) + jnp.square(jnp.imag(unit)))
    return _floor_log2(jnp.sqrt(mean), power)


def _exponent_below_mean(data: jax.Array) -> jax.Array:
    """Returns floor(log2(mean |x|)), or 0 if the mean is zero, infinite or NaN."""
    unit, power = _unit(data)
    return _floor_log2(jnp.mean(jnp.abs(unit)), power)


def _unit(data: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Returns the data divided by the power of two at or above their amax, and its exponent."""
    power = _log2_above_max(data)
    return times_power(data.astype(wide_dtype(data.dtype)), -power), power


def _floor_log2(statistic: jax.Array, power: jax.Array) -> jax.Array:
    exponent = jnp.clip(jnp.frexp(statistic)[1] - 1 + power, -ENTRY_BOUND, ENTRY_BOUND)
    return jnp.where(_is_usable(statistic), exponent, 0)


def _is_usable(statistic: jax.Array) -> jax.Array:
    return (statistic > 0) & jnp.isfinite(statistic)


EXPONENTS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "l2": exponent_below_rms,
    "l1": _exponent_below_mean,
    "max": _exponent_above_max,
}
"""The function for the exponent of a rescaling, by statistic."""
