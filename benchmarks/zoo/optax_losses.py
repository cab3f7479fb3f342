"""Nets in plain JAX under the losses and optimizers of optax."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

from benchmarks.models.model import Training
from benchmarks.zoo.tasks import BATCH, CLASSES, key, learned, tokens, vectors

FEATURES, VOCAB, FRAMES = 64, 16, 24


def perceptron(seed: int, outputs: int) -> Any:
    """The weights of two hidden layers, after He et al. 2015."""
    init, widths = jax.nn.initializers.he_normal(), (FEATURES, 128, 128, outputs)
    keys = jax.random.split(key(seed), len(widths) - 1)
    pairs = zip(keys, pairwise(widths), strict=True)
    return [{"w": init(k, (m, n)), "b": jnp.zeros(n)} for k, (m, n) in pairs]


def applied(layers: Any, x: jax.Array) -> jax.Array:
    """The logits of a perceptron with ReLU."""
    for layer in layers[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


def _classified(seed: int, loss: Callable[..., Any], optimizer: Any) -> Training:
    """Trains on ``loss(logits, one-hot labels)``."""

    def mean(params: Any, x: jax.Array, labels: jax.Array) -> jax.Array:
        return jnp.mean(loss(applied(params, x), jax.nn.one_hot(labels, CLASSES)))

    return learned(mean, perceptron(seed, CLASSES), vectors(FEATURES, noise=2.0), optimizer)


def focal(seed: int = 0) -> Training:
    """The focal loss of sigmoids, with weights of positives and negatives."""

    def loss(logits: jax.Array, labels: jax.Array) -> jax.Array:
        return optax.losses.sigmoid_focal_loss(logits, labels, alpha=0.25)

    return _classified(seed, loss, optax.adamw(2e-3))


def poly(seed: int = 0) -> Training:
    """The poly loss, with gradients clipped by their global norm and a warm-up."""
    rates = optax.schedules.warmup_cosine_decay_schedule(0.0, 0.1, 10, 200)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(rates, 0.9, nesterov=True))
    return _classified(seed, optax.losses.poly_loss_cross_entropy, optimizer)


def hinge(seed: int = 0) -> Training:
    """The multiclass hinge loss of Crammer and Singer, trained with Lion."""

    def loss(logits: jax.Array, labels: jax.Array) -> jax.Array:
        return optax.losses.multiclass_hinge_loss(logits, labels.argmax(-1))

    return _classified(seed, loss, optax.lion(3e-4))


def smoothed(seed: int = 0) -> Training:
    """Smoothed labels, trained with the schedule-free AdamW of optax.contrib."""

    def loss(logits: jax.Array, labels: jax.Array) -> jax.Array:
        return optax.losses.softmax_cross_entropy(logits, optax.smooth_labels(labels, 0.1))

    return _classified(seed, loss, optax.contrib.schedule_free_adamw(3e-3))


def pairs(seed: int = 0) -> Training:
    """NT-Xent, the contrastive loss of SimCLR, of two noisy views."""
    views = vectors(FEATURES, noise=0.0, classes=4 * BATCH)

    def batch(number: int) -> tuple[Any, ...]:
        (x, _), rng = views(number), np.random.default_rng(number)
        both = [x + 0.7 * rng.standard_normal(x.shape) for _ in range(2)]
        return np.concatenate(both).astype(np.float32), np.tile(np.arange(BATCH), 2)

    def loss(params: Any, x: jax.Array, labels: jax.Array) -> jax.Array:
        return optax.losses.ntxent(applied(params, x), labels, temperature=0.2)

    return learned(loss, perceptron(seed, 32), batch)


class Listener(nn.Module):
    """Convolutions over time, and a GRU."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Logits for each frame; class 0 is the blank."""
        x = nn.relu(nn.Conv(64, (5,))(x))
        x = nn.RNN(nn.GRUCell(64))(x)
        return nn.Dense(VOCAB)(x)


def ctc(seed: int = 0) -> Training:
    """Connectionist temporal classification of frames, each label for three of them."""
    module, words = Listener(), tokens(VOCAB, FRAMES // 3)
    sounds = np.random.default_rng(0).standard_normal((VOCAB, 32))

    def batch(number: int) -> tuple[Any, ...]:
        labels, rng = words(number)[0], np.random.default_rng(number)
        frames = sounds[np.repeat(labels, 3, 1)] + 0.5 * rng.standard_normal((BATCH, FRAMES, 32))
        return frames.astype(np.float32), labels

    def loss(params: Any, x: jax.Array, labels: jax.Array) -> jax.Array:
        none, silent = jnp.zeros(labels.shape), jnp.zeros((BATCH, FRAMES))
        return optax.losses.ctc_loss(module.apply(params, x), silent, labels, none).mean()

    return learned(loss, module.init(key(seed), batch(0)[0]), batch, optax.adam(5e-3))
