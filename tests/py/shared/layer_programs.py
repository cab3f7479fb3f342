"""Layers as jax, flax, equinox and keras write them, and what only looks like one."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from jax import lax

from examples import gpt2
from tests.py.shared.judge import shaped

FLAT, SEQUENCE, IMAGE = (6, 8), (2, 5, 12), (2, 4, 3, 6)

Function = Callable[[Any, jax.Array], Any]


@dataclass(frozen=True)
class Example:
    """A layer of a library.

    Attributes:
        layer: What it is.
        build: Makes a function of parameters and an input, and the parameters, for a shape.
        shapes: Of the input.
        gradient: Whether it has an input gradient of its own.
    """

    layer: str
    build: Callable[[tuple[int, ...]], tuple[Function, Any]]
    shapes: tuple[tuple[int, ...], ...] = (FLAT, SEQUENCE)
    gradient: bool = True


def plain(function: Callable[[jax.Array], jax.Array]) -> Any:
    """A function without parameters."""
    return lambda _: (lambda _, x: function(x), ())


def linen(make: Callable[[], nn.Module], **options: Any) -> Any:
    """A module of flax.linen."""

    def build(shape: tuple[int, ...]) -> tuple[Function, Any]:
        module = make()
        keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
        x = shaped(*shape)
        variables = jax.eval_shape(partial(module.init, **options), keys, x)

        def apply(variables: Any, x: jax.Array) -> Any:
            rngs = {"dropout": jax.random.key(2)}
            mutable = ["batch_stats"]
            return module.apply(variables, x, rngs=rngs, mutable=mutable, **options)[0]

        return apply, variables

    return build


def nnx_module(make: Callable[[int, nnx.Rngs], Any]) -> Any:
    """A module of flax.nnx."""

    def build(shape: tuple[int, ...]) -> tuple[Function, Any]:
        graph, state = nnx.split(make(shape[-1], nnx.Rngs(0)))
        leaves, tree = jax.tree.flatten(state)

        def apply(leaves: Any, x: jax.Array) -> Any:
            return nnx.merge(graph, jax.tree.unflatten(tree, leaves))(x)

        return apply, leaves

    return build


def equinox(make: Callable[[Any, tuple[int, ...]], Any], batched: int = 1) -> Any:
    """A module of equinox, mapped over the first dimensions."""

    def build(shape: tuple[int, ...]) -> tuple[Function, Any]:
        eqx = pytest.importorskip("equinox")
        dynamic, static = eqx.partition(make(eqx, shape), eqx.is_array)

        def apply(dynamic: Any, x: jax.Array) -> Any:
            function = eqx.combine(dynamic, static)
            for _ in range(batched):
                function = jax.vmap(function)
            return function(x)

        return apply, dynamic

    return build


def keras_layer(make: Callable[[Any], Any]) -> Any:
    """A layer of keras, on jax, in training."""

    def build(shape: tuple[int, ...]) -> tuple[Function, Any]:
        os.environ["KERAS_BACKEND"] = "jax"
        pytest.importorskip("keras")
        layer = make(importlib.import_module("keras"))
        layer.build(shape)
        kept = [v.value for v in layer.non_trainable_variables]

        def apply(params: Any, x: jax.Array) -> Any:
            options = {"training": True} if "training" in layer.call.__code__.co_varnames else {}
            return layer.stateless_call(params, kept, x, **options)[0]

        return apply, [v.value for v in layer.trainable_variables]

    return build


def gpt2_norm(shape: tuple[int, ...]) -> tuple[Function, Any]:
    gain = jnp.ones(shape[-1])
    return gpt2.layer_norm, {"gain": gain, "bias": gain}


def rms_with_gain(shape: tuple[int, ...]) -> tuple[Function, Any]:
    def norm(gain: jax.Array, x: jax.Array) -> jax.Array:
        mean = jnp.mean(x * x, axis=-1, keepdims=True)
        return gain * (x / jnp.sqrt(mean + 1e-6))

    return norm, jnp.ones(shape[-1])


def folded(shape: tuple[int, ...]) -> tuple[Function, Any]:
    """x times a factor plus an offset, with the mean in the offset."""

    def norm(params: Any, x: jax.Array) -> Any:
        mean, variance = x.mean(0), x.var(0)
        factor = params[0] * lax.rsqrt(variance + 1e-3)
        return x * factor + (params[1] - mean * factor)

    return norm, (jnp.ones(shape[-1]), jnp.zeros(shape[-1]))


def adaptive(shape: tuple[int, ...]) -> tuple[Function, Any]:
    """A LayerNorm whose gain and bias are made of something else."""

    def norm(params: Any, x: jax.Array) -> Any:
        made = jax.nn.standardize(x, axis=-1, epsilon=1e-5)
        gain, bias = jnp.split(params[0] @ params[1], 2, axis=-1)
        return made * (1 + gain[:, None]) + bias[:, None]

    return norm, (jnp.ones((shape[0], 4)), jnp.ones((4, 2 * shape[-1])))


def attention(params: Any, x: jax.Array) -> jax.Array:
    return gpt2.attention(params, x)


def attention_params(shape: tuple[int, ...]) -> tuple[Function, Any]:
    width = shape[-1]
    params = {
        "qkv": jnp.ones((width, 3, 2, 4)),
        "qkv_bias": jnp.ones((3, 2, 4)),
        "out": jnp.ones((2, 4, width)),
        "out_bias": jnp.ones(width),
    }
    return attention, params


class LinenAttention(nn.Module):
    """Attention over what came before."""

    @nn.compact
    def __call__(self, x: jax.Array) -> Any:
        mask = nn.make_causal_mask(jnp.ones(x.shape[:2]))
        return nn.MultiHeadDotProductAttention(3)(x, mask=mask)


class NnxAttention(nnx.Module):
    """Attention over what came before."""

    def __init__(self, width: int, rngs: nnx.Rngs) -> None:
        self.attention = nnx.MultiHeadAttention(3, width, decode=False, rngs=rngs)

    def __call__(self, x: jax.Array) -> Any:
        return self.attention(x, mask=nnx.make_causal_mask(jnp.ones(x.shape[:2])))


def heads(x: jax.Array) -> Any:
    q, k, v = (jnp.sin(x * k).reshape(2, 5, 3, 4) for k in (1.0, 2.0, 3.0))
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def keras_attention(shape: tuple[int, ...]) -> tuple[Function, Any]:
    os.environ["KERAS_BACKEND"] = "jax"
    layer = pytest.importorskip("keras").layers.MultiHeadAttention(3, 4)
    layer.build(shape, shape)
    kept = [v.value for v in layer.non_trainable_variables]

    def apply(params: Any, x: jax.Array) -> Any:
        return layer.stateless_call(params, kept, x, x, use_causal_mask=True)[0]

    return apply, [v.value for v in layer.trainable_variables]


def entropy(log_probabilities: bool) -> Any:
    def build(shape: tuple[int, ...]) -> tuple[Function, Any]:
        def loss(labels: jax.Array, x: jax.Array) -> Any:
            if log_probabilities:
                chosen = jnp.take_along_axis(jax.nn.log_softmax(x), labels[..., None], axis=-1)
                return -chosen[..., 0]
            return optax.softmax_cross_entropy_with_integer_labels(x, labels)

        return loss, jnp.zeros(shape[:-1], jnp.int32)

    return build


def one_hot_entropy(shape: tuple[int, ...]) -> tuple[Function, Any]:
    return lambda labels, x: optax.softmax_cross_entropy(x, labels), jnp.ones(shape)


LEAKY = partial(jax.nn.leaky_relu, negative_slope=0.1)
EXACT, TANH = (partial(jax.nn.gelu, approximate=a) for a in (False, True))


def dropped_below_one(x: jax.Array) -> jax.Array:
    """Its random numbers end below 1, as those of which a logarithm is taken do."""
    numbers = jnp.minimum(jax.random.uniform(jax.random.key(0), x.shape), 1 - 1e-6)
    return jnp.where(numbers < 0.8, x / 0.8, 0)


EXAMPLES: Mapping[str, Example] = {
    "jax-relu": Example("relu", plain(jax.nn.relu), (FLAT, IMAGE)),
    "jax-relu-where": Example("relu", plain(lambda x: jnp.where(x > 0, x, 0)), (FLAT,)),
    "jax-relu-minimum": Example("relu", plain(lambda x: -jnp.minimum(-x, 0)), (FLAT,)),
    "jax-leaky": Example("leaky_relu", plain(LEAKY), (FLAT, IMAGE)),
    "jax-gelu-tanh": Example("gelu", plain(TANH), (FLAT, SEQUENCE)),
    "jax-gelu-erf": Example("gelu", plain(EXACT), (FLAT, SEQUENCE)),
    "jax-silu": Example("silu", plain(jax.nn.silu), (FLAT, SEQUENCE)),
    "jax-silu-logistic": Example("silu", plain(lambda x: x * lax.logistic(x))),
    "jax-silu-expm1": Example("silu", plain(lambda x: x / (2 + jnp.expm1(-x)))),
    "jax-hard-silu": Example("hard_silu", plain(jax.nn.hard_silu), (FLAT, SEQUENCE)),
    "jax-quick-gelu": Example("quick_gelu", plain(lambda x: x * jax.nn.sigmoid(1.702 * x))),
    "jax-mish": Example("mish", plain(jax.nn.mish)),
    "jax-sigmoid": Example("sigmoid", plain(jax.nn.sigmoid)),
    "jax-tanh": Example("tanh", plain(jnp.tanh)),
    "jax-softmax": Example("softmax", plain(jax.nn.softmax), (FLAT, IMAGE)),
    "jax-softmax-0": Example("softmax", plain(partial(jax.nn.softmax, axis=0)), (FLAT, SEQUENCE)),
    "jax-softmax-2": Example("softmax", plain(partial(jax.nn.softmax, axis=(1, 2))), (IMAGE,)),
    "jax-softmax-plain": Example(
        "softmax", plain(lambda x: jnp.exp(x) / jnp.exp(x).sum(-1, keepdims=True))
    ),
    "jax-log-softmax": Example("log_softmax", plain(jax.nn.log_softmax)),
    "jax-logsumexp": Example("logsumexp", plain(partial(jax.nn.logsumexp, axis=-1))),
    "jax-standardize": Example("layer_norm", plain(jax.nn.standardize)),
    "jax-var": Example(
        "layer_norm",
        plain(
            lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        ),
    ),
    "gpt2-norm": Example("layer_norm", gpt2_norm, (FLAT, SEQUENCE, IMAGE)),
    "rms-gain-first": Example("rms_norm", rms_with_gain, (FLAT, SEQUENCE)),
    "batch-folded": Example("batch_norm", folded, (FLAT,)),
    "adaptive": Example("layer_norm", adaptive, (SEQUENCE,)),
    "attention": Example("masked_attention", attention_params, (SEQUENCE,), gradient=False),
    "jax-attention": Example("masked_attention", plain(heads), (SEQUENCE,), gradient=False),
    "linen-attention": Example(
        "masked_attention", linen(LinenAttention), (SEQUENCE,), gradient=False
    ),
    "linen-attention-bare": Example(
        "attention", linen(lambda: nn.MultiHeadDotProductAttention(3)), (SEQUENCE,), gradient=False
    ),
    "nnx-attention": Example(
        "masked_attention", nnx_module(NnxAttention), (SEQUENCE,), gradient=False
    ),
    "keras-attention": Example("masked_attention", keras_attention, (SEQUENCE,), gradient=False),
    "optax-entropy": Example("cross_entropy", entropy(False), (FLAT, SEQUENCE), gradient=False),
    "jax-entropy": Example("cross_entropy", entropy(True), (FLAT, SEQUENCE), gradient=False),
    "optax-one-hot": Example("cross_entropy", one_hot_entropy, (FLAT, SEQUENCE), gradient=False),
    "linen-layer": Example("layer_norm", linen(nn.LayerNorm), (FLAT, SEQUENCE, IMAGE)),
    "linen-layer-slow": Example(
        "layer_norm", linen(lambda: nn.LayerNorm(use_fast_variance=False)), (FLAT, SEQUENCE)
    ),
    "linen-layer-bare": Example(
        "layer_norm", linen(lambda: nn.LayerNorm(use_bias=False, use_scale=False))
    ),
    "linen-layer-no-bias": Example("layer_norm", linen(lambda: nn.LayerNorm(use_bias=False))),
    "linen-layer-no-gain": Example("layer_norm", linen(lambda: nn.LayerNorm(use_scale=False))),
    "linen-layer-bf16": Example("layer_norm", linen(lambda: nn.LayerNorm(dtype=jnp.bfloat16))),
    "linen-layer-0": Example(
        "layer_norm", linen(lambda: nn.LayerNorm(reduction_axes=1, feature_axes=1)), (SEQUENCE,)
    ),
    "linen-rms": Example("rms_norm", linen(nn.RMSNorm), (FLAT, SEQUENCE)),
    "linen-group": Example("group_norm", linen(lambda: nn.GroupNorm(3)), (IMAGE, SEQUENCE)),
    "linen-instance": Example("instance_norm", linen(nn.InstanceNorm), (IMAGE,)),
    "linen-batch": Example(
        "batch_norm", linen(nn.BatchNorm, use_running_average=False), (FLAT, IMAGE)
    ),
    "dropout-below-one": Example("dropout", plain(dropped_below_one), (FLAT,)),
    "linen-dropout": Example("dropout", linen(lambda: nn.Dropout(0.2, deterministic=False))),
    "nnx-layer": Example("layer_norm", nnx_module(lambda n, r: nnx.LayerNorm(n, rngs=r))),
    "nnx-rms": Example("rms_norm", nnx_module(lambda n, r: nnx.RMSNorm(n, rngs=r))),
    "nnx-group": Example(
        "group_norm", nnx_module(lambda n, r: nnx.GroupNorm(n, num_groups=3, rngs=r)), (IMAGE,)
    ),
    "nnx-batch": Example(
        "batch_norm", nnx_module(lambda n, r: nnx.BatchNorm(n, rngs=r)), (FLAT, IMAGE)
    ),
    "nnx-dropout": Example("dropout", nnx_module(lambda _, r: nnx.Dropout(0.2, rngs=r))),
    "nnx-leaky": Example("leaky_relu", plain(nnx.leaky_relu)),
    "eqx-layer": Example("layer_norm", equinox(lambda e, s: e.nn.LayerNorm(s[-1])), (FLAT,)),
    "eqx-layer-2": Example(
        "layer_norm", equinox(lambda e, s: e.nn.LayerNorm(s[-1]), batched=2), (SEQUENCE,)
    ),
    "eqx-rms": Example("rms_norm", equinox(lambda e, s: e.nn.RMSNorm(s[-1])), (FLAT,)),
    "eqx-group": Example("group_norm", equinox(lambda e, s: e.nn.GroupNorm(2, s[1])), (IMAGE,)),
    "eqx-dropout": Example(
        "dropout",
        lambda _: (
            lambda key, x: pytest.importorskip("equinox").nn.Dropout(0.3)(x, key=key),
            jax.random.PRNGKey(0),
        ),
    ),
    "keras-layer": Example("layer_norm", keras_layer(lambda k: k.layers.LayerNormalization())),
    "keras-group": Example(
        "group_norm", keras_layer(lambda k: k.layers.GroupNormalization(3)), (IMAGE,)
    ),
    "keras-rms": Example("rms_norm", keras_layer(lambda k: k.layers.RMSNormalization())),
    "keras-batch": Example(
        "batch_norm", keras_layer(lambda k: k.layers.BatchNormalization()), (FLAT, IMAGE)
    ),
    "keras-relu": Example("relu", keras_layer(lambda k: k.layers.ReLU())),
    "keras-leaky": Example("leaky_relu", keras_layer(lambda k: k.layers.LeakyReLU())),
    "keras-gelu": Example("gelu", keras_layer(lambda k: k.layers.Activation("gelu"))),
    "keras-silu": Example("silu", keras_layer(lambda k: k.layers.Activation("silu"))),
    "keras-softmax": Example("softmax", keras_layer(lambda k: k.layers.Softmax())),
}


def arguments(shape: tuple[int, ...], params: Any) -> tuple[Any, jax.Array]:
    return params, jnp.asarray(np.random.default_rng(0).standard_normal(shape), jnp.float32)


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
