"""A small Llama, and the same with a mixture of experts, trained on bytes of text.

Both are plain JAX: RMS norms, rotary positions, SwiGLU, and AdamW. Of the four experts of a layer
each token takes two, and none is dropped.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from benchmarks.papers.language import normal
from benchmarks.search_gap import Training
from examples import data
from examples.gpt2 import ADAMW
from examples.training import cross_entropy, training_step

LAYERS, WIDTH, HEADS, HIDDEN, SEQUENCE, BATCH = 4, 128, 4, 256, 64, 8
EXPERTS, CHOSEN = 4, 2

Params = Any


def init(key: jax.Array, experts: int) -> Params:
    """Returns the parameters; those of experts are stacked."""
    keys = iter(jax.random.split(key, 2 + 6 * LAYERS))

    def weight(rows: int, columns: int) -> jax.Array:
        drawn = normal(next(keys), rows, max(experts, 1) * columns)
        return jnp.moveaxis(drawn.reshape(rows, experts, columns), 1, 0) if experts else drawn

    layers = [
        {
            "norms": [jnp.ones(WIDTH), jnp.ones(WIDTH)],
            "qkv": normal(next(keys), WIDTH, 3 * WIDTH),
            "out": normal(next(keys), WIDTH, WIDTH),
            "gate": weight(WIDTH, HIDDEN),
            "up": weight(WIDTH, HIDDEN),
            "down": weight(HIDDEN, WIDTH),
            "router": normal(next(keys), WIDTH, experts) if experts else None,
        }
        for _ in range(LAYERS)
    ]
    head = normal(next(keys), WIDTH, data.VOCAB)
    embedding = jax.random.normal(next(keys), (data.VOCAB, WIDTH))
    return {"embedding": embedding, "layers": layers, "norm": jnp.ones(WIDTH), "head": head}


def rms_norm(gain: jax.Array, x: jax.Array) -> jax.Array:
    """Divides by the rms of each token."""
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), axis=-1, keepdims=True) + 1e-5) * gain


def rotated(x: jax.Array) -> jax.Array:
    """Turns pairs of features ``[batch, sequence, heads, features]`` by angles of the position."""
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] * 1e4 ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    a, b = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


def attention(layer: Params, x: jax.Array) -> jax.Array:
    """Causal attention."""
    qkv = (x @ layer["qkv"]).reshape(BATCH, SEQUENCE, 3, HEADS, WIDTH // HEADS)
    q, k, v = rotated(qkv[:, :, 0]), rotated(qkv[:, :, 1]), qkv[:, :, 2]
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(WIDTH // HEADS)
    scores = jnp.where(jnp.tri(SEQUENCE, dtype=bool), scores, -jnp.inf)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return mixed.reshape(x.shape) @ layer["out"]


def swiglu(layer: Params, x: jax.Array) -> jax.Array:
    """The MLP of a layer, or of each expert for all tokens."""
    return (jax.nn.silu(x @ layer["gate"]) * (x @ layer["up"])) @ layer["down"]


def mixture(layer: Params, x: jax.Array) -> jax.Array:
    """The sum of the chosen experts, weighted by the router."""
    tokens = x.reshape(-1, WIDTH)
    chances, chosen = jax.lax.top_k(jax.nn.softmax(tokens @ layer["router"]), CHOSEN)
    shares = chances / jnp.sum(chances, axis=-1, keepdims=True)
    shares = jnp.sum(jax.nn.one_hot(chosen, EXPERTS) * shares[..., None], axis=1)
    return jnp.einsum("te,etw->tw", shares, swiglu(layer, tokens)).reshape(x.shape)


def loss(experts: int, params: Params, tokens: jax.Array) -> jax.Array:
    """The cross entropy of the next byte in nats, of tokens ``[batch, sequence + 1]``."""
    x = params["embedding"][tokens[:, :-1]]
    for layer in params["layers"]:
        x = x + attention(layer, rms_norm(layer["norms"][0], x))
        x = x + (mixture if experts else swiglu)(layer, rms_norm(layer["norms"][1], x))
    return cross_entropy(rms_norm(params["norm"], x) @ params["head"], tokens[:, 1:])


def training(experts: int = 0) -> Training:
    """Returns the training of a model with AdamW; 0 experts is the Llama."""

    def state(seed: int) -> tuple[Any, Any]:
        params = init(jax.random.key(seed), experts)
        return params, ADAMW.init(params)

    def batches(seed: int, steps: int) -> Iterator[tuple[Any, ...]]:
        for tokens in data.batches(BATCH, SEQUENCE, steps, seed):
            yield (tokens,)

    return Training(training_step(partial(loss, experts), ADAMW), state, batches)
