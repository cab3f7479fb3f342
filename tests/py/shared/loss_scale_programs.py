"""Training steps that tests of loss scaling rewrite, each with its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from examples.gpt2 import ADAMW, Config, adamw_step, init


class Step(NamedTuple):
    """A training step, and its arguments."""

    run: Callable[..., Any]
    arguments: tuple[Any, ...]


def _normal(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed + sum(shape)).normal(size=shape).astype(np.float32)


WEIGHTS: Final = {"a": _normal(8, 16) / 3, "b": _normal(16), "c": _normal(16, 4) / 4}
X, Y, LABELS = _normal(16, 8), _normal(16, 4, seed=1), np.arange(16, dtype=np.int32) % 4


def mlp(weights: Any, x: Any) -> Any:
    """A layer with a bias and a tanh, and another one."""
    return jnp.tanh(x @ weights["a"] + weights["b"]) @ weights["c"]


def mean_loss(weights: Any, x: Any, y: Any) -> Any:
    """The mean of squares."""
    return jnp.mean((mlp(weights, x) - y) ** 2)


def sum_loss(weights: Any, x: Any, y: Any) -> Any:
    """The sum of squares, and a penalty of the weights."""
    return jnp.sum((mlp(weights, x) - y) ** 2) + 0.01 * jnp.sum(weights["a"] ** 2)


def cross_entropy(weights: Any, x: Any, labels: Any) -> Any:
    """The cross entropy of classes."""
    return optax.softmax_cross_entropy_with_integer_labels(mlp(weights, x), labels).mean()


def sgd(loss: Callable[..., Any], rate: float = 0.1) -> Callable[..., Any]:
    """A step of SGD, which returns the new weights and the loss."""

    def step(weights: Any, *batch: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights, *batch)
        return jax.tree.map(lambda w, g: w - rate * g, weights, gradients), value

    return step


def optimized(loss: Callable[..., Any], optimizer: Any) -> Callable[..., Any]:
    """A step of an optimizer of optax, which returns weights, state and the loss."""

    def step(weights: Any, state: Any, *batch: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights, *batch)
        updates, state = optimizer.update(gradients, state, weights)
        return optax.apply_updates(weights, updates), state, value

    return step


def _with_aux(weights: Any, x: Any, y: Any) -> Any:
    def loss(weights: Any, x: Any, y: Any) -> Any:
        out = mlp(weights, x)
        return jnp.mean((out - y) ** 2), {"rms": jnp.sqrt(jnp.mean(out**2)), "out": out}

    return jax.value_and_grad(loss, has_aux=True)(weights, x, y)


def _scanned(weights: Any, x: Any, y: Any, *, remat: bool = False) -> Any:
    def layer(x: Any, w: Any) -> Any:
        return x + jnp.tanh(x @ w), None

    body = jax.checkpoint(layer) if remat else layer

    def loss(weights: Any) -> Any:
        return jnp.mean((jax.lax.scan(body, x, weights)[0] - y) ** 2)

    value, gradients = jax.value_and_grad(loss)(weights)
    return weights - 0.1 * gradients, value


def _micro_batches(weights: Any, x: Any, y: Any) -> Any:
    def one(total: Any, batch: Any) -> Any:
        value, gradients = jax.value_and_grad(mean_loss)(weights, *batch)
        return jax.tree.map(jnp.add, total, gradients), value

    zeros = jax.tree.map(jnp.zeros_like, weights)
    parts = x.reshape(4, 4, 8), y.reshape(4, 4, 4)
    total, values = jax.lax.scan(one, zeros, parts)
    return jax.tree.map(lambda w, g: w - 0.1 * g / 4, weights, total), values.mean()


def _penalty(weights: Any, x: Any, y: Any) -> Any:
    """A loss that has a gradient in it, as that of WGAN-GP."""

    def loss(weights: Any) -> Any:
        slopes = jax.grad(lambda x: mlp(weights, x).sum())(x)
        return mean_loss(weights, x, y) + jnp.mean((jnp.sum(slopes**2, 1) - 1) ** 2)

    value, gradients = jax.value_and_grad(loss)(weights)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients), value


@jax.custom_vjp
def _swish(x: Any) -> Any:
    return x * jax.nn.sigmoid(x)


def _swish_backward(x: Any, gradient: Any) -> Any:
    gate = 1 / (1 + jnp.exp(-1.0 * x))  # The backward pass computes values of its own.
    return (gradient * (gate + x * gate * (1 - gate)),)


_swish.defvjp(lambda x: (_swish(x), x), _swish_backward)


def _custom(weights: Any, x: Any, y: Any) -> Any:
    return jnp.mean((_swish(x @ weights["a"]) @ weights["c"] - y) ** 2)


def _branching(weights: Any, x: Any, y: Any) -> Any:
    h = jax.lax.cond(x[0, 0] > 0, jnp.tanh, lambda h: h * 0.5, x @ weights["a"])
    top = jax.lax.top_k(h, 4)[0] + jnp.sort(h, -1)[:, :4] + jax.lax.cumsum(h, 1)[:, 4:8]
    return jnp.mean(jnp.maximum(top - y, 0) ** 2) + jnp.mean(jnp.max(h, 1))


def _gpt() -> Step:
    config = Config(layers=2, width=32, heads=2, sequence=8, vocab=32, batch=2)
    key = jax.random.key(0)
    weights = init(key, config)
    tokens = jax.random.randint(key, (config.batch, config.sequence + 1), 0, config.vocab)
    return Step(adamw_step, (weights, ADAMW.init(weights), tokens))


_ADAM = optax.adam(1e-2)
_CLIPPED = optax.chain(optax.clip_by_global_norm(0.5), optax.adamw(1e-2))
_STACK = _normal(3, 8, 8) / 4
_OF_LOSS = (WEIGHTS, X, Y)

STEPS: Final[Mapping[str, Step]] = {
    "sgd_mean": Step(sgd(mean_loss), _OF_LOSS),
    "sgd_sum": Step(sgd(sum_loss), _OF_LOSS),
    "adam": Step(optimized(cross_entropy, _ADAM), (WEIGHTS, _ADAM.init(WEIGHTS), X, LABELS)),
    "clipped": Step(
        optimized(cross_entropy, _CLIPPED), (WEIGHTS, _CLIPPED.init(WEIGHTS), X, LABELS)
    ),
    "aux": Step(_with_aux, _OF_LOSS),
    "scan": Step(_scanned, (_STACK, X, X)),
    "remat": Step(lambda w, x, y: _scanned(w, x, y, remat=True), (_STACK, X, X)),
    "micro_batches": Step(_micro_batches, _OF_LOSS),
    "penalty": Step(_penalty, _OF_LOSS),
    "custom_vjp": Step(sgd(_custom), _OF_LOSS),
    "gpt": _gpt(),
    "branches": Step(sgd(_branching), _OF_LOSS),
}
"""The steps by name."""
