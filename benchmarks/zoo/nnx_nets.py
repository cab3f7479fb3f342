"""Models of Flax' nnx."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from benchmarks.models.model import Training
from benchmarks.zoo.tasks import CLASSES, Batch, images, labelled, learned_with, tokens, vectors

VOCAB, LENGTH, WIDTH = 64, 16, 48


def trained(model: nnx.Module, loss: Callable[..., Any], batch: Batch, seed: int) -> Training:
    """Trains the parameters of a module on ``loss(model, key, *batch)``.

    Dropout in the module takes its numbers from ``key``, so that it has no streams of its own.
    """
    graph, params, others = nnx.split(model, nnx.Param, ...)
    leaves, tree = jax.tree.flatten(others)

    def value(params: Any, kept: Any, key: jax.Array, *batch: Any) -> Any:
        model = nnx.merge(graph, params, jax.tree.unflatten(tree, kept))
        found = loss(model, key, *batch)
        return found, jax.tree.leaves(nnx.split(model, nnx.Param, ...)[2])

    return learned_with(value, params, leaves, batch, seed)


class Wide(nnx.Module):
    """Wide dense layers, each with LayerNorm and dropout."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        widths = (64, 256, 256, 256)
        self.dense = nnx.List([nnx.Linear(m, n, rngs=rngs) for m, n in pairwise(widths)])
        self.norms = nnx.List([nnx.LayerNorm(n, rngs=rngs) for n in widths[1:]])
        self.drop = nnx.Dropout(0.3)
        self.head = nnx.Linear(widths[-1], CLASSES, rngs=rngs)

    def __call__(self, x: jax.Array, key: jax.Array) -> jax.Array:
        """Logits of the classes."""
        for i, (dense, norm) in enumerate(zip(self.dense, self.norms, strict=True)):
            x = self.drop(nnx.relu(norm(dense(x))), rngs=jax.random.fold_in(key, i))
        return self.head(x)


class Decoder(nnx.Module):
    """A causal transformer with RMSNorm and gated MLPs."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.table = nnx.Embed(VOCAB, WIDTH, rngs=rngs)
        self.places = nnx.Embed(LENGTH, WIDTH, rngs=rngs)
        self.layers = nnx.List([self._layer(rngs) for _ in range(2)])
        self.norm = nnx.RMSNorm(WIDTH, rngs=rngs)

    @staticmethod
    def _layer(rngs: nnx.Rngs) -> Any:
        return nnx.Dict(
            before=nnx.RMSNorm(WIDTH, rngs=rngs),
            attend=nnx.MultiHeadAttention(4, WIDTH, decode=False, rngs=rngs),
            between=nnx.RMSNorm(WIDTH, rngs=rngs),
            gate=nnx.Linear(WIDTH, 128, use_bias=False, rngs=rngs),
            up=nnx.Linear(WIDTH, 128, use_bias=False, rngs=rngs),
            down=nnx.Linear(128, WIDTH, use_bias=False, rngs=rngs),
        )

    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Logits of the next tokens, with the embeddings as weights."""
        x = self.table(tokens) + self.places(jnp.arange(tokens.shape[1]))
        for layer in self.layers:
            x = x + layer["attend"](layer["before"](x), mask=nnx.make_causal_mask(tokens))
            y = layer["between"](x)
            x = x + layer["down"](nnx.silu(layer["gate"](y)) * layer["up"](y))
        return self.table.attend(self.norm(x))


class Convolutions(nnx.Module):
    """Convolutions with BatchNorm and average pooling."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.one = nnx.Conv(3, 32, (3, 3), rngs=rngs)
        self.two = nnx.Conv(32, 64, (3, 3), rngs=rngs)
        self.norms = nnx.List([nnx.BatchNorm(n, rngs=rngs) for n in (32, 64)])
        self.head = nnx.Linear(64 * 4, CLASSES, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Logits of the classes."""
        x = nnx.avg_pool(nnx.relu(self.norms[0](self.one(x))), (2, 2), (2, 2))
        x = nnx.avg_pool(nnx.relu(self.norms[1](self.two(x))), (2, 2), (2, 2))
        return self.head(x.reshape(x.shape[0], -1))


class Variational(nnx.Module):
    """An encoder to means and log variances, and a decoder."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.hidden = nnx.Linear(192, 128, rngs=rngs)
        self.moments = nnx.Linear(128, 64, rngs=rngs)
        self.back = nnx.Linear(32, 128, rngs=rngs)
        self.out = nnx.Linear(128, 192, rngs=rngs)

    def __call__(self, x: jax.Array, key: jax.Array) -> Any:
        """Logits, means and log variances."""
        mean, log_variance = jnp.split(self.moments(nnx.relu(self.hidden(x))), 2, -1)
        z = mean + jnp.exp(log_variance / 2) * jax.random.normal(key, mean.shape)
        return self.out(nnx.relu(self.back(z))), mean, log_variance


def wide(seed: int = 0) -> Training:
    """A wide MLP with dropout and layer norm."""

    def loss(model: Any, key: jax.Array, x: jax.Array, labels: jax.Array) -> jax.Array:
        return labelled(model(x, key), labels)

    return trained(Wide(nnx.Rngs(seed)), loss, vectors(64, noise=2.0), seed)


def gpt(seed: int = 0) -> Training:
    """Predicts the next token."""

    def loss(model: Any, _: jax.Array, tokens: jax.Array) -> jax.Array:
        return labelled(model(tokens[:, :-1]), tokens[:, 1:])

    return trained(Decoder(nnx.Rngs(seed)), loss, tokens(VOCAB, LENGTH + 1), seed)


def cnn(seed: int = 0) -> Training:
    """Classifies images."""

    def loss(model: Any, _: jax.Array, x: jax.Array, labels: jax.Array) -> jax.Array:
        return labelled(model(x), labels)

    return trained(Convolutions(nnx.Rngs(seed)), loss, images(), seed)


def vae(seed: int = 0) -> Training:
    """A variational autoencoder of binary images."""
    pictures = images(noise=0.3)

    def loss(model: Any, key: jax.Array, x: jax.Array, _: jax.Array) -> jax.Array:
        pixels = (x.reshape(x.shape[0], -1) > 0).astype(jnp.float32)
        logits, mean, log_variance = model(pixels, key)
        divergence = 0.5 * jnp.sum(jnp.exp(log_variance) + mean**2 - 1 - log_variance, -1)
        lost = optax.losses.sigmoid_binary_cross_entropy(logits, pixels).sum(-1)
        return jnp.mean(lost + divergence)

    return trained(Variational(nnx.Rngs(seed)), loss, pictures, seed)
