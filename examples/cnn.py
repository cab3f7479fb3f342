"""A convolutional network in plain JAX: max and average pooling, and batch normalization.

Training normalizes by the statistics of the batch and keeps running averages of them as state;
inference reads the running averages.
"""

from typing import Any

import jax
import jax.numpy as jnp
import optax

from examples.training import Params, cross_entropy

MOMENTUM = optax.sgd(1e-2, momentum=0.9)
ADAM = optax.adam(1e-3)

CLASSES = 10
CHANNELS = (3, 16, 32)
DECAY = 0.9


def init(key: jax.Array) -> tuple[Params, Params]:
    """Draws the parameters, and the running statistics that go with them."""
    first, second, dense = jax.random.split(key, 3)
    params = {
        "conv_1": _conv(first, *CHANNELS[:2]),
        "conv_2": _conv(second, *CHANNELS[1:]),
        "dense": {
            "kernel": jax.random.normal(dense, (CHANNELS[-1], CLASSES)) / CHANNELS[-1] ** 0.5,
            "bias": jnp.zeros(CLASSES),
        },
    }
    statistics = {f"conv_{i}": _statistics(width) for i, width in enumerate(CHANNELS[1:], 1)}
    return params, statistics


def _conv(key: jax.Array, inputs: int, outputs: int) -> Params:
    kernel = jax.random.normal(key, (3, 3, inputs, outputs)) * (2 / (9 * inputs)) ** 0.5
    return {"kernel": kernel, "gain": jnp.ones(outputs), "bias": jnp.zeros(outputs)}


def _statistics(width: int) -> Params:
    return {"mean": jnp.zeros(width), "variance": jnp.ones(width)}


def convolution(kernel: jax.Array, x: jax.Array) -> jax.Array:
    """3x3 convolution with padding; images are (batch, height, width, channels)."""
    return jax.lax.conv_general_dilated(
        x, kernel, window_strides=(1, 1), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def max_pool(x: jax.Array) -> jax.Array:
    """Maximum of each 2x2 window."""
    window = (1, 2, 2, 1)
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, window, "VALID")


def average_pool(x: jax.Array) -> jax.Array:
    """Mean of each 2x2 window."""
    window = (1, 2, 2, 1)
    return jax.lax.reduce_window(x, 0.0, jax.lax.add, window, window, "VALID") / 4


def normalize(params: Params, statistics: Params, x: jax.Array) -> jax.Array:
    """Brings each channel to mean 0 and variance 1 by `statistics`, then applies gain and bias."""
    scaled = (x - statistics["mean"]) * jax.lax.rsqrt(statistics["variance"] + 1e-5)
    return scaled * params["gain"] + params["bias"]


def batch_statistics(x: jax.Array) -> Params:
    """Mean and variance of each channel over the batch and the image."""
    return {"mean": x.mean(axis=(0, 1, 2)), "variance": x.var(axis=(0, 1, 2))}


def logits(params: Params, statistics: Params | None, x: jax.Array) -> tuple[jax.Array, Params]:
    """Class scores, and the statistics that normalized each layer.

    Args:
        params: what `init` made.
        statistics: running averages to normalize by, or None to use those of this batch.
        x: images of shape (batch, height, width, 3), height and width multiples of 4.
    """
    used: Params = {}
    for name, pool in (("conv_1", max_pool), ("conv_2", average_pool)):
        x = convolution(params[name]["kernel"], x)
        used[name] = batch_statistics(x) if statistics is None else statistics[name]
        x = pool(jax.nn.relu(normalize(params[name], used[name], x)))
    x = x.mean(axis=(1, 2))
    return x @ params["dense"]["kernel"] + params["dense"]["bias"], used


def loss(params: Params, x: jax.Array, labels: jax.Array) -> tuple[jax.Array, Params]:
    """Mean cross-entropy of a training batch, and the batch's statistics."""
    scores, statistics = logits(params, None, x)
    return cross_entropy(scores, labels), statistics


def inference_step(params: Params, statistics: Params, x: jax.Array) -> jax.Array:
    """Class probabilities by the running statistics."""
    return jax.nn.softmax(logits(params, statistics, x)[0], axis=-1)


State = tuple[Params, Params, Any]
"""Parameters, running statistics, optimizer state."""


def _step(
    optimizer: optax.GradientTransformation, state: State, x: jax.Array, labels: jax.Array
) -> tuple[State, jax.Array]:
    params, running, opt_state = state
    (value, batch), gradients = jax.value_and_grad(loss, has_aux=True)(params, x, labels)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    running = jax.tree.map(lambda old, new: DECAY * old + (1 - DECAY) * new, running, batch)
    return (optax.apply_updates(params, updates), running, opt_state), value


def momentum_step(state: State, x: jax.Array, labels: jax.Array) -> tuple[State, jax.Array]:
    """One step of SGD with momentum: (state, images, labels) -> (state, loss)."""
    return _step(MOMENTUM, state, x, labels)


def adam_step(state: State, x: jax.Array, labels: jax.Array) -> tuple[State, jax.Array]:
    """One step of Adam: (state, images, labels) -> (state, loss)."""
    return _step(ADAM, state, x, labels)
