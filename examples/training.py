"""One optimizer step over any loss, in the form that all example models export."""

from collections.abc import Callable
from typing import Any

import jax
import optax

Params = dict[str, Any]
"""Nested dictionaries and lists of arrays: their paths become the argument names of the export."""

Loss = Callable[..., jax.Array]
"""(params, *batch) -> scalar loss."""

Step = Callable[..., tuple[Params, Any, jax.Array]]
"""(params, optimizer state, *batch) -> (params, optimizer state, loss)."""


def training_step(loss: Loss, optimizer: optax.GradientTransformation) -> Step:
    """Builds forward pass, backward pass and update as one function to jit or export.

    Args:
        loss: the scalar to minimize, a function of the parameters and one batch.
        optimizer: its `init(params)` makes the state that the step carries.

    Returns:
        A pure function of (params, state, *batch) giving (params, state, loss).
    """

    def step(params: Params, state: Any, *batch: jax.Array) -> tuple[Params, Any, jax.Array]:
        value, gradients = jax.value_and_grad(loss)(params, *batch)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, value

    return step


def cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Mean of -log softmax(logits)[label]; `labels` are integers, one rank below `logits`."""
    normalizer = jax.nn.logsumexp(logits, axis=-1)
    chosen = jax.numpy.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    return (normalizer - chosen).mean()
