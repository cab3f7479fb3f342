"""Steps with something beside the optimizer: statistics, queues, codebooks, averages of losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax

BATCH, IN, HIDDEN, OUT = 32, 24, 40, 8

Loss: TypeAlias = Callable[[Any, Any, Any, Any], tuple[Any, Any]]
"""The loss and the next state beside the optimizer, of weights, that state, inputs and labels."""


def params(seed: int = 0) -> dict[str, Any]:
    draw = np.random.default_rng(seed).standard_normal
    shapes = {"a": (IN, HIDDEN), "b": (HIDDEN, OUT), "c": (HIDDEN,), "u": (HIDDEN, HIDDEN)}
    return {k: jnp.asarray(draw(s) / s[0] ** 0.5, jnp.float32) for k, s in shapes.items()}


def hidden(p: Any, x: Any) -> Any:
    return jnp.tanh(jnp.tanh(x @ p["a"] + p["c"]) @ p["u"])


def mlp(p: Any, x: Any) -> Any:
    return hidden(p, x) @ p["b"]


def squared(a: Any, b: Any) -> Any:
    return jnp.mean((a - b) ** 2)


def averaged(old: Any, new: Any) -> Any:
    return jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, old, new)


def moments_of(x: Any) -> Any:
    return x.mean(0), x.var(0)


def normal(x: Any, mean_and_variance: Any) -> Any:
    mean, variance = mean_and_variance
    return (x - mean) / jnp.sqrt(variance + 1e-5)


def observations(p: Any, e: Any, x: Any, y: Any) -> tuple[Any, Any]:
    e = averaged(e, moments_of(x))
    return squared(mlp(p, normal(x, e)), y), e


def observations_before(p: Any, e: Any, x: Any, y: Any) -> tuple[Any, Any]:
    return squared(mlp(p, normal(x, e)), y), averaged(e, moments_of(x))


def of_welford(p: Any, e: Any, x: Any, y: Any) -> tuple[Any, Any]:
    mean, squares, count = e
    away = x.mean(0) - mean
    mean = mean + away * BATCH / (count + BATCH)
    squares = squares + ((x - x.mean(0)) ** 2).sum(0) + away**2 * count * BATCH / (count + BATCH)
    seen = normal(x, (mean, squares / (count + BATCH)))
    return squared(mlp(p, seen), y), (mean, squares, count + BATCH)


def targets(p: Any, e: Any, x: Any, y: Any) -> tuple[Any, Any]:
    e = averaged(e, moments_of(y))
    return squared(mlp(p, x), normal(y, e)), e


def _renormalized(p: Any, e: Any, x: Any, y: Any, *, new: bool) -> tuple[Any, Any]:
    h = x @ p["a"]
    batch = moments_of(h)
    after = jax.lax.stop_gradient(averaged(e, batch))
    mean, variance = after if new else e
    r, d = jnp.sqrt(batch[1] / variance), (batch[0] - mean) / jnp.sqrt(variance)
    h = normal(h, batch) * jax.lax.stop_gradient(r) + jax.lax.stop_gradient(d) + p["c"]
    return squared(jnp.tanh(h @ p["u"]) @ p["b"], y), after


def renormalized(p: Any, e: Any, x: Any, y: Any) -> tuple[Any, Any]:
    return _renormalized(p, e, x, y, new=True)


def renormalized_before(p: Any, e: Any, x: Any, y: Any) -> tuple[Any, Any]:
    return _renormalized(p, e, x, y, new=False)


def batches(p: Any, e: Any, x: Any, y: Any) -> tuple[Any, Any]:
    h = x @ p["a"]
    after = averaged(e, moments_of(h))
    return squared(jnp.tanh(normal(h, moments_of(h)) + p["c"]) @ p["u"] @ p["b"], y), after


def losses(p: Any, e: Any, x: Any, y: Any) -> tuple[Any, Any]:
    loss = squared(mlp(p, x), y)
    return loss * jax.lax.rsqrt(e), 0.9 * e + 0.1 * loss


def queue(p: Any, e: Any, x: Any, y: Any) -> tuple[Any, Any]:
    z = mlp(p, x)
    logits = jnp.concatenate([jnp.sum(z * y, -1, keepdims=True), z @ e.T], 1)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, jnp.zeros(BATCH, jnp.int32))
    return loss.mean(), jnp.concatenate([z, e[:-BATCH]])


def codebook(p: Any, e: Any, x: Any, y: Any) -> tuple[Any, Any]:
    z, (codes, sums, counts) = mlp(p, x), e
    nearest = jnp.argmin(((z[:, None] - codes) ** 2).sum(-1), 1)
    chosen = jax.lax.stop_gradient(codes[nearest])
    hot = jax.nn.one_hot(nearest, len(codes))
    sums, counts = averaged((sums, counts), (hot.T @ z, hot.sum(0)))
    loss = squared(z + jax.lax.stop_gradient(chosen - z), y) + 0.25 * squared(z, chosen)
    return loss, (sums / (counts[:, None] + 1e-3), sums, counts)


def duals(p: Any, e: Any, x: Any, y: Any) -> tuple[Any, Any]:
    z = mlp(p, x)
    over = z.mean(0) - 0.1
    return squared(z, y) + jnp.sum(e * over), jnp.maximum(0.0, e + 0.1 * over)


def memory(p: Any, e: Any, x: Any, y: Any) -> tuple[Any, Any]:
    keep = jax.nn.sigmoid(e @ p["u"])
    h = (1 - keep) * jnp.tanh(x @ p["a"] + p["c"]) + keep * e
    return squared(h @ p["b"], y), h


def center(p: Any, e: Any, x: Any, y: Any) -> tuple[Any, Any]:
    teacher = jax.nn.softmax((y - e) / 0.5)
    return -jnp.mean(teacher * jax.nn.log_softmax(mlp(p, x))), averaged(e, y.mean(0))


def _of(*shapes: tuple[int, ...]) -> Callable[[], Any]:
    return lambda: tuple(jnp.ones(shape) for shape in shapes)


BESIDE: Mapping[str, tuple[Loss, Callable[[], Any]]] = {
    "observations": (observations, _of((IN,), (IN,))),
    "observations, before": (observations_before, _of((IN,), (IN,))),
    "welford": (of_welford, _of((IN,), (IN,), ())),
    "targets": (targets, _of((OUT,), (OUT,))),
    "center": (center, lambda: jnp.zeros(OUT)),
    "batches": (batches, _of((HIDDEN,), (HIDDEN,))),
    "renormalized": (renormalized, _of((HIDDEN,), (HIDDEN,))),
    "renormalized, before": (renormalized_before, _of((HIDDEN,), (HIDDEN,))),
    "loss": (losses, lambda: jnp.ones(())),
    "queue": (queue, lambda: jnp.ones((96, OUT))),
    "codebook": (codebook, _of((16, OUT), (16, OUT), (16,))),
    "dual variables": (duals, lambda: jnp.ones(OUT)),
    "memory": (memory, lambda: jnp.ones((BATCH, HIDDEN))),
}
"""The losses by name, with the first value of the state beside the optimizer, without a role."""


def step_of(name: str, optimizer: Any, *, with_value: bool = False) -> Callable[..., Any]:
    """A training step of weights, the optimizer's state and what stands beside it."""
    loss = BESIDE[name][0]

    def step(params: Any, state: Any, beside: Any, x: Any, y: Any) -> Any:
        find = jax.value_and_grad(loss, has_aux=True)
        (value, beside), gradients = find(params, beside, x, y)
        more = {"value": value} if with_value else {}
        updates, state = optimizer.update(gradients, state, params, **more)
        return optax.apply_updates(params, updates), state, beside, value

    return step


def batch(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = jnp.asarray(rng.standard_normal((BATCH, IN)) * 3 + 1, jnp.float32)
    return x, jnp.tanh(x[:, :OUT])
