"""Data of ScaledArrays as plain arrays, with gradients that are ScaledArrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from scalify_hlo.jax_api.scaled_array import ScaledArray, log2_of, mantissa_of, without_data


@jax.custom_vjp
def data_at_one(array: ScaledArray) -> jax.Array:
    """Returns the data of a ScaledArray whose scale is known to be 1."""
    data: jax.Array = array.data
    return data


data_at_one.defvjp(
    lambda array: (array.data, without_data(array)),
    lambda like, cotangent: (replace(like, data=cotangent, scale=jnp.ones_like(like.scale)),),
)


@jax.custom_vjp
def data_of(array: ScaledArray) -> jax.Array:
    """Returns the data of a ScaledArray; in derivatives the scale is a constant."""
    data: jax.Array = array.data
    return data


data_of.defvjp(
    lambda array: (array.data, without_data(array)),
    lambda like, cotangent: (replace(like, data=cotangent, scale=_reciprocal(like.scale)),),
)


def _reciprocal(scale: Any) -> jax.Array:
    return jnp.ldexp(1 / mantissa_of(scale), -log2_of(scale))
