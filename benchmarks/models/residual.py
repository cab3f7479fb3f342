"""A small residual network of Flax' layers, for what a ResNet-50 takes too long on."""

from typing import Any

import jax
import optax
from flax import linen as nn

from benchmarks.models.model import SGD, Case, Model, amid_training, drawn, integers, normals
from examples.training import cross_entropy

BATCH, CLASSES, SIZE, WIDTHS = 2, 10, 8, (16, 32)


class Block(nn.Module):
    """Two convolutions around a skip connection, each with batch normalization.

    Attributes:
        width: Channels of the result.
        stride: By which images shrink.
        training: Whether the statistics are those of the batch.
    """

    width: int
    stride: int
    training: bool

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Convolves twice and adds."""
        strides = (self.stride, self.stride)
        y = nn.Conv(self.width, (3, 3), strides, use_bias=False)(x)
        y = nn.relu(nn.BatchNorm(not self.training)(y))
        y = nn.BatchNorm(not self.training)(nn.Conv(self.width, (3, 3), use_bias=False)(y))
        if x.shape != y.shape:
            x = nn.Conv(self.width, (1, 1), strides, use_bias=False)(x)
        return nn.relu(x + y)


class ResNet(nn.Module):
    """Two blocks at each of two resolutions.

    Attributes:
        training: See `Block`.
    """

    training: bool = False

    @nn.compact
    def __call__(self, images: jax.Array) -> jax.Array:
        """Scores of the classes."""
        x = nn.Conv(WIDTHS[0], (3, 3), use_bias=False)(images)
        x = nn.relu(nn.BatchNorm(not self.training)(x))
        for number, width in enumerate(WIDTHS):
            x = Block(width, 1 + (number > 0), self.training)(x)
            x = Block(width, 1, self.training)(x)
        return nn.Dense(CLASSES)(x.mean((1, 2)))


def resnet_flax() -> Model:
    """Small images; training updates the statistics of the normalizations too."""
    images, labels = normals(BATCH, SIZE, SIZE, 3), integers(CLASSES, BATCH)
    shapes = jax.eval_shape(ResNet().init, jax.random.PRNGKey(0), images)
    params, statistics = (drawn(shapes[name]) for name in ("params", "batch_stats"))

    def forward(params: Any, statistics: Any, images: jax.Array) -> jax.Array:
        return ResNet().apply({"params": params, "batch_stats": statistics}, images)

    def loss(params: Any, statistics: Any, images: jax.Array, labels: jax.Array) -> Any:
        variables = {"params": params, "batch_stats": statistics}
        logits, new = ResNet(training=True).apply(variables, images, mutable=["batch_stats"])
        return cross_entropy(logits, labels), new["batch_stats"]

    def step(params: Any, state: Any, statistics: Any, images: Any, labels: Any) -> Any:
        gradient = jax.value_and_grad(loss, has_aux=True)
        (value, statistics), gradients = gradient(params, statistics, images, labels)
        updates, state = SGD.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, statistics, value

    return Model(
        Case(forward, (params, statistics, images)),
        Case(step, (params, amid_training(SGD, params), statistics, images, labels)),
    )
