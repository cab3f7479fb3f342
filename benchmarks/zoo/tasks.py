"""Synthetic tasks that a model learns within 60 steps, and steps that train on them."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from benchmarks.models.model import Training

BATCH, CLASSES = 32, 10
ADAM = optax.adam(2e-3)
ADAMW = optax.adamw(2e-3, weight_decay=1e-2)

Batch = Callable[[int], tuple[Any, ...]]
"""Gives the batch of a number."""


def images(size: int = 8, channels: int = 3, noise: float = 1.0) -> Batch:
    """Images of ten classes: a template for each class, and noise."""
    return vectors(size, size, channels, noise=noise)


def vectors(*shape: int, noise: float = 1.0, classes: int = CLASSES, seed: int = 0) -> Batch:
    """Inputs of some shape around the center of their class, f32, and labels, int32."""
    centers = np.random.default_rng(seed).standard_normal((classes, *shape))

    def batch(number: int) -> tuple[Any, ...]:
        rng = np.random.default_rng(number)
        labels = rng.integers(0, classes, BATCH)
        x = centers[labels] + noise * rng.standard_normal((BATCH, *shape))
        return x.astype(np.float32), labels.astype(np.int32)

    return batch


def tokens(vocab: int, length: int, least: int = 1) -> Batch:
    """Sequences in which a token mostly decides the next one; tokens below `least` do not occur."""
    successor = np.random.default_rng(0).permutation(np.arange(least, vocab))

    def batch(number: int) -> tuple[Any, ...]:
        rng = np.random.default_rng(number)
        drawn = rng.integers(least, vocab, (BATCH, length))
        kept = rng.random((BATCH, length)) < 0.9
        for i in range(1, length):
            drawn[:, i] = np.where(kept[:, i], successor[drawn[:, i - 1] - least], drawn[:, i])
        return (drawn.astype(np.int32),)

    return batch


def padded(vocab: int, length: int) -> Batch:
    """As `tokens`, of random lengths from a quarter on, filled up with token 0."""
    whole = tokens(vocab, length, least=2)

    def batch(number: int) -> tuple[Any, ...]:
        (drawn,) = whole(number)
        lengths = np.random.default_rng(number).integers(length // 4, length + 1, (BATCH, 1))
        return (np.where(np.arange(length) < lengths, drawn, 0).astype(np.int32),)

    return batch


def key(seed: int) -> jax.Array:
    """A key for initial weights or for dropout."""
    return jax.random.PRNGKey(seed)


def labelled(logits: jax.Array, labels: jax.Array, mask: jax.Array | None = None) -> jax.Array:
    """The mean cross entropy of optax, of the positions in the mask."""
    losses = optax.losses.softmax_cross_entropy_with_integer_labels(logits, labels)
    return losses.mean() if mask is None else jnp.sum(losses * mask) / jnp.sum(mask)


def learned(loss: Callable[..., Any], params: Any, batch: Batch, optimizer: Any = ADAM) -> Training:
    """Trains on ``loss(params, *batch)``."""

    def step(state: Any, *batch: Any) -> tuple[Any, jax.Array]:
        params, kept = state
        value, gradients = jax.value_and_grad(loss)(params, *batch)
        updates, kept = optimizer.update(gradients, kept, params)
        return (optax.apply_updates(params, updates), kept), value

    return Training((params, optimizer.init(params)), step, batch)


def learned_with(
    loss: Callable[..., Any],
    params: Any,
    variables: Any,
    batch: Batch,
    seed: int,
    optimizer: Any = ADAM,
) -> Training:
    """Trains on ``loss(params, variables, key, *batch)``, which gives new variables beside it."""

    def step(state: Any, *batch: Any) -> tuple[Any, jax.Array]:
        params, kept, variables, key = state
        key, now = jax.random.split(key)
        gradient = jax.value_and_grad(loss, has_aux=True)
        (value, variables), gradients = gradient(params, variables, now, *batch)
        updates, kept = optimizer.update(gradients, kept, params)
        return (optax.apply_updates(params, updates), kept, variables, key), value

    return Training((params, optimizer.init(params), variables, key(seed)), step, batch)
