"""Powers of two of arrays, in JAX: multiplying by them, and finding those of a statistic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

SCALE_BOUND = 63
"""Scales that are taken from a statistic lie within 2^±63, so that their squares are finite."""


def times_power(data: jax.Array, exponent: jax.Array) -> jax.Array:
    """``data * 2^exponent`` in the dtype of the data; narrow data are multiplied in f32.

    The factor is applied in two halves, as the whole of it may not be a finite number.
    """
    wide = wide_dtype(data.dtype)
    real = jnp.finfo(wide).dtype
    half = exponent // 2
    one = jnp.ones((), real)
    product = data.astype(wide) * jnp.ldexp(one, half) * jnp.ldexp(one, exponent - half)
    return product.astype(data.dtype)


def wide_dtype(dtype: Any) -> Any:
    """The dtype in which data of a narrow one are handled."""
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return dtype
    return jnp.promote_types(dtype, jnp.float32) if jnp.finfo(dtype).bits > 8 else jnp.float32


def _magnitude(data: jax.Array) -> jax.Array:
    """Magnitudes in f32, or f64 for f64 data: max(|re|, |im|) for complex ones."""
    wide = data.astype(wide_dtype(data.dtype))
    if jnp.issubdtype(wide.dtype, jnp.complexfloating):
        return jnp.maximum(jnp.abs(wide.real), jnp.abs(wide.imag))
    return jnp.abs(wide)


def _log2_above_max(data: jax.Array) -> jax.Array:
    """ceil(log2(max |x|)), or 0 where there is none."""
    largest = jnp.max(_magnitude(data), initial=0)
    mantissa, exponent = jnp.frexp(largest)
    exact = jnp.where(mantissa == 0.5, exponent - 1, exponent)
    return jnp.where(_is_usable(largest), exact, 0)


def _exponent_above_max(data: jax.Array) -> jax.Array:
    return jnp.clip(_log2_above_max(data), -SCALE_BOUND, SCALE_BOUND)


def exponent_below_rms(data: jax.Array) -> jax.Array:
    """floor(log2(rms)), or 0 where there is none; squares are taken of values of at most 1."""
    unit, power = _unit(data)
    mean = jnp.mean(jnp.square(jnp.real(unit)) + jnp.square(jnp.imag(unit)))
    return _floor_log2(jnp.sqrt(mean), power)


def _exponent_below_mean(data: jax.Array) -> jax.Array:
    """floor(log2(mean |x|)), or 0 where there is none."""
    unit, power = _unit(data)
    return _floor_log2(jnp.mean(jnp.abs(unit)), power)


def _unit(data: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The data with their largest magnitude brought to at most 1, and the exponent taken out."""
    power = _log2_above_max(data)
    return times_power(data.astype(wide_dtype(data.dtype)), -power), power


def _floor_log2(statistic: jax.Array, power: jax.Array) -> jax.Array:
    exponent = jnp.clip(jnp.frexp(statistic)[1] - 1 + power, -SCALE_BOUND, SCALE_BOUND)
    return jnp.where(_is_usable(statistic), exponent, 0)


def _is_usable(statistic: jax.Array) -> jax.Array:
    return (statistic > 0) & jnp.isfinite(statistic)


EXPONENTS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "l2": exponent_below_rms,
    "l1": _exponent_below_mean,
    "max": _exponent_above_max,
}
"""By statistic, the exponent that goes to the scale."""
