"""Activations of small networks, for `benchmarks.small_programs`."""

from collections.abc import Callable, Mapping
from functools import partial

import jax
import jax.numpy as jnp
from jax import nn

Activation = Callable[[jax.Array], jax.Array]


def quick_gelu(x: jax.Array) -> jax.Array:
    """The approximation of a GELU by a sigmoid."""
    return x * nn.sigmoid(1.702 * x)


def squared_relu(x: jax.Array) -> jax.Array:
    """The square of a ReLU."""
    return nn.relu(x) ** 2


def snake(x: jax.Array) -> jax.Array:
    """The Snake activation, x + sin²(x)."""
    return x + jnp.sin(x) ** 2


def gaussian(x: jax.Array) -> jax.Array:
    """A bell curve, exp(-x²)."""
    return jnp.exp(-x * x)


def repeated_glu(x: jax.Array) -> jax.Array:
    """A gated linear unit, repeated to the width of its input."""
    return jnp.concatenate([nn.glu(x)] * 2, -1)


def tanh_exp(x: jax.Array) -> jax.Array:
    """The TanhExp activation, x·tanh(exp(x))."""
    return x * jnp.tanh(jnp.exp(x))


def cubic(x: jax.Array) -> jax.Array:
    """A third of the cube."""
    return x**3 / 3


def two_sided_softplus(x: jax.Array) -> jax.Array:
    """The logarithm of exp(x) + exp(-x)."""
    return jnp.logaddexp(x, -x)


ACTIVATIONS: Mapping[str, Activation] = {
    "gelu": nn.gelu,
    "gelu_exact": partial(nn.gelu, approximate=False),
    "silu": nn.silu,
    "relu": nn.relu,
    "leaky_relu": nn.leaky_relu,
    "sigmoid": nn.sigmoid,
    "tanh": jnp.tanh,
    "mish": nn.mish,
    "hard_swish": nn.hard_swish,
    "quick_gelu": quick_gelu,
    "softplus": nn.softplus,
    "elu": nn.elu,
    "selu": nn.selu,
    "celu": nn.celu,
    "log_sigmoid": nn.log_sigmoid,
    "soft_sign": nn.soft_sign,
    "hard_tanh": nn.hard_tanh,
    "relu6": nn.relu6,
    "squareplus": nn.squareplus,
    "squared_relu": squared_relu,
    "snake": snake,
    "sine": jnp.sin,
    "gaussian": gaussian,
    "repeated_glu": repeated_glu,
    "tanh_exp": tanh_exp,
    "arctan": jnp.arctan,
    "cubic": cubic,
    "sparse_plus": nn.sparse_plus,
    "sinc": jnp.sinc,
    "two_sided_softplus": two_sided_softplus,
}
"""The activations by name."""
