"""Programs that look like layers and are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

NORMS = ("layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm")
SOFTMAX = ("softmax", "log_softmax", "logsumexp")
RELU = ("relu", "leaky_relu")
ATTENTION = ("attention", "masked_attention")

Program = Callable[[jax.Array, jax.Array], Any]
"""Of two arrays of 6 x 6."""


def mean(x: jax.Array, axis: Any = -1) -> jax.Array:
    return jnp.mean(x, axis=axis, keepdims=True)


def variance(x: jax.Array, axis: Any = -1) -> jax.Array:
    return mean((x - mean(x, axis)) ** 2, axis)


def gelu(x: jax.Array, k: float = 0.044715) -> jax.Array:
    return 0.5 * x * (1 + jnp.tanh(0.7978845608 * (x + k * x**3)))


def dropped_by_rate(x: jax.Array, y: jax.Array) -> jax.Array:
    key = lax.bitcast_convert_type(y[0, :2], jnp.uint32)
    return jnp.where(jax.random.bernoulli(key, 0.8, x.shape), x / 0.2, 0)


def shares(x: jax.Array, y: jax.Array) -> jax.Array:
    return x / jnp.sum(y, axis=-1, keepdims=True)


def eps(x: jax.Array) -> jax.Array:
    return lax.rsqrt(x + 1e-5)


NEAR_MISSES: Mapping[str, tuple[Program, tuple[str, ...]]] = {
    "other-gate": (lambda x, y: x * jax.nn.sigmoid(y), ("silu", "gelu")),
    "quick-gelu": (lambda x, _: x * jax.nn.sigmoid(1.702 * x), ("silu", "gelu")),
    "shifted-gate": (lambda x, _: x * jax.nn.sigmoid(x + 0.1), ("silu",)),
    "doubled-silu": (lambda x, _: 2 * x * jax.nn.sigmoid(x), ("silu",)),
    "transposed-gate": (lambda x, _: x * jax.nn.sigmoid(x.T), ("silu",)),
    "gelu-cubic": (lambda x, _: gelu(x, k=0.0447), ("gelu",)),
    "gelu-other": (
        lambda x, y: 0.5 * y * (1 + jnp.tanh(0.79788456 * (x + 0.044715 * x**3))),
        ("gelu",),
    ),
    "gelu-no-half": (
        lambda x, _: x * (1 + jnp.tanh(0.79788456 * (x + 0.044715 * x**3))),
        ("gelu",),
    ),
    "erf-no-root": (lambda x, _: 0.5 * x * (1 + lax.erf(x)), ("gelu",)),
    "erf-minus": (lambda x, _: 0.5 * x * (1 - lax.erf(x * 0.70710678)), ("gelu",)),
    "maximum-tenth": (lambda x, _: jnp.maximum(x, 0.1), RELU),
    "maximum-other": (lambda x, y: jnp.maximum(x, y), RELU),
    "relu6": (lambda x, _: jnp.clip(x, 0, 6), RELU),
    "select-other": (lambda x, y: jnp.where(x > 0, y, 0), RELU),
    "select-one": (lambda x, _: jnp.where(x > 1, x, 0), RELU),
    "leaky-other": (lambda x, y: jnp.where(x > 0, x, 0.1 * y), RELU),
    "elu": (lambda x, _: jnp.where(x > 0, x, jnp.expm1(x)), RELU),
    "two-sigmoid": (lambda x, _: 2 / (1 + jnp.exp(-x)), ("sigmoid",)),
    "exp-gate": (lambda x, _: 1 / (2 + jnp.exp(-x)), ("sigmoid",)),
    "softplus": (lambda x, _: jnp.log1p(jnp.exp(x)), ("sigmoid", *SOFTMAX)),
    "sum-of-other": (lambda x, y: shares(jnp.exp(x), jnp.exp(y)), SOFTMAX),
    "sum-of-transposed": (lambda x, _: shares(jnp.exp(x), jnp.exp(x.T)), SOFTMAX),
    "one-plus-sum": (lambda x, _: jnp.exp(x) / (1 + jnp.exp(x).sum(-1, keepdims=True)), SOFTMAX),
    "log-of-mean": (lambda x, _: jnp.log(jnp.mean(jnp.exp(x), axis=-1)), SOFTMAX),
    "variance-of-other": (lambda x, y: (x - mean(x)) * eps(variance(y)), NORMS),
    "mean-of-other": (lambda x, y: (x - mean(y)) * eps(variance(x)), NORMS),
    "other-axes": (lambda x, _: (x - mean(x)) * eps(variance(x, 0)), NORMS),
    "unbiased": (lambda x, _: (x - mean(x)) * eps(variance(x) * 6 / 5), NORMS),
    "by-variance": (lambda x, _: (x - mean(x)) / (variance(x) + 1e-5), NORMS),
    "rms-transposed": (lambda x, _: x * eps(mean(x * x)).T, NORMS),
    "rms-product": (lambda x, y: x * eps(mean(x * y)), NORMS),
    "euclidean": (lambda x, _: x / jnp.linalg.norm(x, axis=-1, keepdims=True), NORMS),
    "plus-mean": (lambda x, _: (x + mean(x)) * eps(variance(x)), NORMS),
    "dropout-by-rate": (dropped_by_rate, ("dropout",)),
    "mask-not-random": (lambda x, y: jnp.where(y < 0.8, x / 0.8, 0), ("dropout",)),
    "scores-without-softmax": (
        lambda x, y: jnp.where(jnp.tril(jnp.ones((6, 6), bool)), x @ y, -1e9) @ y,
        ATTENTION,
    ),
    "softmax-without-scores": (
        lambda x, y: jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((6, 6), bool)), x, -1e9)) @ y,
        ATTENTION,
    ),
    "small-mask": (
        lambda x, y: jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((6, 6), bool)), x @ y, -1.0)) @ y,
        ("masked_attention",),
    ),
    "router": (lambda x, y: jax.nn.softmax(jnp.sin(x) @ y) @ jnp.cos(x), ATTENTION),
    "picked-of-other": (
        lambda x, y: jax.nn.logsumexp(x, axis=-1) - y[jnp.arange(6), jnp.argmax(y, -1)],
        ("cross_entropy",),
    ),
}
