"""Models of Equinox, one sample at a time under `jax.vmap`."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from benchmarks.models.model import Training
from benchmarks.zoo.tasks import (
    ADAM,
    BATCH,
    CLASSES,
    Batch,
    images,
    key,
    labelled,
    learned,
    learned_with,
    tokens,
    vectors,
)

VOCAB, LENGTH, WIDTH = 64, 16, 48


def trained(model: Any, loss: Callable[..., Any], batch: Batch, optimizer: Any = ADAM) -> Training:
    """Trains the arrays of a model on ``loss(model, *batch)``."""
    params, static = eqx.partition(model, eqx.is_inexact_array)
    return learned(
        lambda params, *b: loss(eqx.combine(params, static), *b), params, batch, optimizer
    )


def cnn(seed: int = 0) -> Training:
    """Convolutions, MaxPool2d, log_softmax: Equinox' example of MNIST."""
    keys = jax.random.split(key(seed), 3)
    model = eqx.nn.Sequential(
        [
            eqx.nn.Conv2d(3, 32, 4, key=keys[0]),
            eqx.nn.MaxPool2d(2),
            eqx.nn.Lambda(jax.nn.relu),
            eqx.nn.Lambda(jnp.ravel),
            eqx.nn.Linear(32 * 16, 64, key=keys[1]),
            eqx.nn.Lambda(jax.nn.sigmoid),
            eqx.nn.Linear(64, CLASSES, key=keys[2]),
            eqx.nn.Lambda(jax.nn.log_softmax),
        ]
    )

    def loss(model: Any, x: jax.Array, labels: jax.Array) -> jax.Array:
        logs = jax.vmap(model)(x.transpose(0, 3, 1, 2))
        return -jnp.mean(jnp.take_along_axis(logs, labels[:, None], 1))

    return trained(model, loss, images())


def batchnorm(seed: int = 0) -> Training:
    """An MLP with BatchNorm, whose statistics are a state beside it."""
    keys = jax.random.split(key(seed), 3)

    def made() -> Any:
        return eqx.nn.Sequential(
            [
                eqx.nn.Linear(64, 128, key=keys[0]),
                eqx.nn.BatchNorm(128, "batch", mode="batch"),
                eqx.nn.Lambda(jax.nn.relu),
                eqx.nn.Linear(128, 128, key=keys[1]),
                eqx.nn.BatchNorm(128, "batch", mode="batch"),
                eqx.nn.Lambda(jax.nn.relu),
                eqx.nn.Linear(128, CLASSES, key=keys[2]),
            ]
        )

    model, state = eqx.nn.make_with_state(made)()
    params, static = eqx.partition(model, eqx.is_inexact_array)
    leaves, tree = jax.tree.flatten(state)

    def loss(params: Any, kept: Any, _: Any, x: jax.Array, labels: jax.Array) -> Any:
        apply = jax.vmap(
            eqx.combine(params, static), axis_name="batch", in_axes=(0, None), out_axes=(0, None)
        )
        logits, state = apply(x, jax.tree.unflatten(tree, kept))
        return labelled(logits, labels), jax.tree.leaves(state)

    return learned_with(loss, params, leaves, vectors(64, noise=2.0), seed)


def regression(seed: int = 0) -> Training:
    """An MLP with softplus that learns a smooth function."""
    model = eqx.nn.MLP(8, 1, 64, 2, jax.nn.softplus, key=key(seed))

    def batch(number: int) -> tuple[Any, ...]:
        x = np.random.default_rng(number).uniform(-1, 1, (BATCH, 8)).astype(np.float32)
        return x, (np.sin(2 * x[:, :1]) + x[:, 1:2] + x[:, 2:3] ** 2).astype(np.float32)

    def loss(model: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    return trained(model, loss, batch, optax.adam(1e-2))


def gru(seed: int = 0) -> Training:
    """A GRU cell in a scan that reads embeddings and predicts the next token."""
    keys = jax.random.split(key(seed), 3)
    model = {
        "table": eqx.nn.Embedding(VOCAB, WIDTH, key=keys[0]),
        "cell": eqx.nn.GRUCell(WIDTH, 64, key=keys[1]),
        "head": eqx.nn.Linear(64, VOCAB, key=keys[2]),
    }

    def logits(model: Any, tokens: jax.Array) -> jax.Array:
        def step(state: jax.Array, x: jax.Array) -> Any:
            state = model["cell"](x, state)
            return state, model["head"](state)

        return jax.lax.scan(step, jnp.zeros(64), jax.vmap(model["table"])(tokens))[1]

    def loss(model: Any, tokens: jax.Array) -> jax.Array:
        return labelled(jax.vmap(logits, (None, 0))(model, tokens[:, :-1]), tokens[:, 1:])

    return trained(model, loss, tokens(VOCAB, LENGTH))


def triplet(seed: int = 0) -> Training:
    """A Siamese net: the anchor is nearer to its own class than to another by a margin."""
    model, pictures = eqx.nn.MLP(64, 32, 128, 2, key=key(seed)), vectors(64)

    def batch(number: int) -> tuple[Any, ...]:
        x, labels = pictures(number)
        y, others = pictures(number + 1000)
        near = np.array([np.argmax(others == label) for label in labels])
        far = np.array([np.argmax(others != label) for label in labels])
        return x, y[near], y[far]

    def loss(model: Any, *given: jax.Array) -> jax.Array:
        anchor, near, far = (jax.vmap(model)(x) for x in given)
        distance = jnp.sum((anchor - near) ** 2, -1) - jnp.sum((anchor - far) ** 2, -1)
        return jnp.mean(jax.nn.relu(distance + 1.0))

    return trained(model, loss, batch)


def ppo(seed: int = 0) -> Training:
    """Policy and value: the clipped ratio of PPO, advantages normalized, entropy, value loss."""
    one, two = jax.random.split(key(seed))
    model = {
        "policy": eqx.nn.MLP(16, 6, 64, 2, jnp.tanh, key=one),
        "value": eqx.nn.MLP(16, "scalar", 64, 2, jnp.tanh, key=two),
    }
    wanted = np.random.default_rng(0).standard_normal((16, 6)) / 4

    def batch(number: int) -> tuple[Any, ...]:
        rng = np.random.default_rng(number)
        x = rng.standard_normal((BATCH, 16)).astype(np.float32)
        action = rng.integers(0, 6, BATCH).astype(np.int32)
        reward = np.take_along_axis(x @ wanted, action[:, None], 1)[:, 0]
        return x, action, np.full(BATCH, -np.log(6), np.float32), reward.astype(np.float32)

    def loss(model: Any, x: Any, action: Any, before: Any, reward: Any) -> jax.Array:
        logs = jax.nn.log_softmax(jax.vmap(model["policy"])(x))
        value = jax.vmap(model["value"])(x)
        advantage = jax.lax.stop_gradient(reward - value)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        ratio = jnp.exp(jnp.take_along_axis(logs, action[:, None], 1)[:, 0] - before)
        clipped = jnp.clip(ratio, 0.8, 1.2)
        gained = jnp.minimum(ratio * advantage, clipped * advantage).mean()
        entropy = -jnp.sum(jnp.exp(logs) * logs, -1).mean()
        return 0.5 * jnp.mean((value - reward) ** 2) - gained - 0.01 * entropy

    return trained(model, loss, batch)
