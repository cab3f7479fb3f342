"""BERT in plain JAX with both of its heads, trained on masked bytes of text with LAMB.

Source: Unit Scaling paper, §6.2 and appendix J.2. The layers, the initial sizes and the optimizer
are those of the paper. What differs: the text is that of Python's standard library in bytes, all
chosen tokens are masked, no activation is dropped out, the rate is constant, and `SMALL` has four
layers of width 128. `FULL` has the nine layers of the paper's histograms.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from benchmarks.search_gap import Training
from examples import data
from examples.gpt2 import layer_norm
from examples.training import cross_entropy, training_step

CLASS, SEPARATOR, MASK = range(data.VOCAB, data.VOCAB + 3)
"""The tokens that are no bytes."""

LAMB = optax.lamb(0.0045, b1=0.9, b2=0.999, eps=1e-6, weight_decay=0.01)

Params = Any


@dataclass(frozen=True)
class Size:
    """Sizes of a model and of its batches.

    Attributes:
        layers: The number of layers.
        width: The width; the MLP has four times as many.
        heads: The number of attention heads.
        sequence: The number of tokens of both segments.
        batch: The number of sequences.
        vocab: The number of rows of the embedding.
    """

    layers: int = 4
    width: int = 128
    heads: int = 4
    sequence: int = 64
    batch: int = 10
    vocab: int = MASK + 1

    @property
    def masked(self) -> int:
        """The number of masked tokens of a sequence: 15 %."""
        return round(0.15 * self.sequence)


SMALL, FULL = Size(), Size(9, 768, 12, 128, 8, 30400)


def init(key: jax.Array, size: Size) -> Params:
    """Returns the parameters: normal with a deviation of 0.02, but for biases and gains."""
    keys, width = iter(jax.random.split(key, 6 + 4 * size.layers)), size.width

    def drawn(*shape: int) -> jax.Array:
        return 0.02 * jax.random.normal(next(keys), shape)

    def linear(rows: int, columns: int) -> Params:
        return {"weight": drawn(rows, columns), "bias": jnp.zeros(columns)}

    def norm() -> Params:
        return {"gain": jnp.ones(width), "bias": jnp.zeros(width)}

    layers = [
        {
            "qkv": linear(width, 3 * width),
            "out": linear(width, width),
            "up": linear(width, 4 * width),
            "down": linear(4 * width, width),
            "norms": [norm(), norm()],
        }
        for _ in range(size.layers)
    ]
    return {
        "tokens": drawn(size.vocab, width),
        "positions": drawn(size.sequence, width),
        "segments": drawn(2, width),
        "norm": norm(),
        "layers": layers,
        "pooler": linear(width, width),
        "next": linear(width, 2),
        "transform": {**linear(width, width), "norm": norm()},
        "bias": jnp.zeros(size.vocab),
    }


def applied(params: Params, x: jax.Array) -> jax.Array:
    """A linear layer."""
    return x @ params["weight"] + params["bias"]


def attention(heads: int, layer: Params, x: jax.Array) -> jax.Array:
    """Attention of all tokens to all."""
    batch, sequence, width = x.shape
    split = applied(layer["qkv"], x).reshape(batch, sequence, 3, heads, width // heads)
    q, k, v = jnp.moveaxis(split, 2, 0)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (width // heads) ** 0.5
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return applied(layer["out"], mixed.reshape(x.shape))


def mlp(layer: Params, x: jax.Array) -> jax.Array:
    """Two linear layers with an exact GELU between."""
    return applied(layer["down"], jax.nn.gelu(applied(layer["up"], x), approximate=False))


def loss(
    size: Size,
    params: Params,
    tokens: jax.Array,
    places: jax.Array,
    labels: jax.Array,
    follows: jax.Array,
) -> jax.Array:
    """The cross entropy in nats of masked tokens, and of whether the second segment follows.

    Args:
        size: The sizes.
        params: The parameters.
        tokens: ``[batch, sequence]``, some of them masked.
        places: ``[batch, masked]``: the places of the masked tokens.
        labels: ``[batch, masked]``: the tokens that were there.
        follows: ``[batch]``: 1 if the second segment follows the first in the text.
    """
    with jax.named_scope("embedding"):
        second = params["segments"][(jnp.arange(size.sequence) >= size.sequence // 2).astype(int)]
        x = params["tokens"][tokens] + params["positions"] + second
        x = layer_norm(params["norm"], x)
    for i, layer in enumerate(params["layers"]):
        with jax.named_scope(f"layer_{i}"):
            x = layer_norm(layer["norms"][0], x + attention(size.heads, layer, x))
            x = layer_norm(layer["norms"][1], x + mlp(layer, x))
    with jax.named_scope("heads"):
        pooled = jnp.tanh(applied(params["pooler"], x[:, 0]))
        chosen = jnp.take_along_axis(x, places[..., None], axis=1)
        hidden = jax.nn.gelu(applied(params["transform"], chosen), approximate=False)
        logits = layer_norm(params["transform"]["norm"], hidden) @ params["tokens"].T
        words = cross_entropy(logits + params["bias"], labels)
        return words + cross_entropy(applied(params["next"], pooled), follows)


def drawn_batches(size: Size, seed: int, steps: int) -> Iterator[tuple[Any, ...]]:
    """Yields the tokens, places, labels and segments of each step."""
    text, random = data.corpus(), np.random.default_rng(seed)
    half = size.sequence // 2
    window, free = np.arange(half), np.delete(np.arange(size.sequence), (0, half, -1))
    for _ in range(steps):
        first, other = random.integers(0, len(text) - size.sequence, (2, size.batch, 1))
        follows = random.integers(0, 2, size.batch).astype(np.int32)
        second = np.where(follows[:, None], first + half, other)
        spans = np.concatenate((first + window, second + window), axis=1)
        tokens = text[spans].astype(np.int32)
        tokens[:, 0], tokens[:, half], tokens[:, -1] = CLASS, SEPARATOR, SEPARATOR
        orders = random.permuted(np.tile(free, (size.batch, 1)), axis=1)
        places = orders[:, : size.masked].astype(np.int32)
        labels = np.take_along_axis(tokens, places, axis=1)
        np.put_along_axis(tokens, places, MASK, axis=1)
        yield tokens, places, labels, follows


def training(size: Size = SMALL) -> Training:
    """Returns the training with LAMB."""

    def state(seed: int) -> tuple[Any, Any]:
        params = init(jax.random.key(seed), size)
        return params, LAMB.init(params)

    return Training(training_step(partial(loss, size), LAMB), state, partial(drawn_batches, size))
