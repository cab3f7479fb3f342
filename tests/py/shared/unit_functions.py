"""Functions that predicted scales are tested on, and what their tests have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest


def normal(*shape: int, seed: int = 0) -> jax.Array:
    return jax.random.normal(jax.random.key(seed), shape)


FUNCTIONS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "relu": jax.nn.relu,
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "gelu of tanh": jax.nn.gelu,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "silu": jax.nn.silu,
}

EACH_FUNCTION = pytest.mark.parametrize("name", FUNCTIONS)

X = normal(256, 64)


def with_gradients(fn: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function's result and the gradients of its inputs, given that of the result last."""

    def run(*arguments: Any) -> Any:
        result, back = jax.vjp(fn, *arguments[:count])
        return (result, *back(arguments[count]))

    return run


def cross_entropy(x: jax.Array, labels: jax.Array) -> jax.Array:
    chosen = jnp.take_along_axis(x, labels[:, None], axis=-1)[:, 0]
    return (jax.nn.logsumexp(x, axis=-1) - chosen).mean()


def layer_norm(x: jax.Array, w: jax.Array, c: jax.Array) -> jax.Array:
    centerd = x - x.mean(-1, keepdims=True)
    variance = jnp.square(centerd).mean(-1, keepdims=True)
    return centerd * jax.lax.rsqrt(variance + 1e-5) * w + c
