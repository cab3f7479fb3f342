"""A multi-layer perceptron in plain JAX: SGD, momentum and Adam steps, and inference."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import optax

from examples.training import Params, cross_entropy, training_step

SGD = optax.sgd(1e-1)
MOMENTUM = optax.sgd(1e-2, momentum=0.9, nesterov=True)
ADAM = optax.adam(1e-3)


def init(key: jax.Array, sizes: Sequence[int] = (784, 128, 128, 10)) -> Params:
    """Draws He-normal kernels and zero biases for layers of the given sizes."""
    keys = jax.random.split(key, len(sizes) - 1)
    layers = zip(keys, sizes[:-1], sizes[1:], strict=True)
    return {"layers": [_dense(layer, inputs, outputs) for layer, inputs, outputs in layers]}


def _dense(key: jax.Array, inputs: int, outputs: int) -> Params:
    kernel = jax.random.normal(key, (inputs, outputs)) * (2 / inputs) ** 0.5
    return {"kernel": kernel, "bias": jnp.zeros(outputs)}


def logits(params: Params, x: jax.Array) -> jax.Array:
    """Class scores (batch, classes) of inputs (batch, features)."""
    *hidden, last = params["layers"]
    for layer in hidden:
        x = jax.nn.relu(x @ layer["kernel"] + layer["bias"])
    return x @ last["kernel"] + last["bias"]


def loss(params: Params, x: jax.Array, labels: jax.Array) -> jax.Array:
    """Mean cross-entropy; `labels` are int32 of shape (batch,)."""
    return cross_entropy(logits(params, x), labels)


def inference_step(params: Params, x: jax.Array) -> jax.Array:
    """Class probabilities (batch, classes)."""
    return jax.nn.softmax(logits(params, x), axis=-1)


sgd_step = training_step(loss, SGD)
momentum_step = training_step(loss, MOMENTUM)
adam_step = training_step(loss, ADAM)
