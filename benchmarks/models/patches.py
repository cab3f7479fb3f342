"""A ViT of Flax' layers, with the GELU that its authors used: by the error function."""

from functools import partial

import jax
import jax.numpy as jnp
from flax import linen as nn

from benchmarks.models.model import ADAMW, Case, Model, drawn, integers, normals, trained
from examples.training import cross_entropy

BATCH, CLASSES, SIZE, PATCH, WIDTH, LAYERS = 2, 10, 16, 4, 32, 4


class Block(nn.Module):
    """Attention and a feed-forward layer, each after a normalization."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Attends, and transforms each position."""
        x = x + nn.MultiHeadDotProductAttention(num_heads=2)(nn.LayerNorm()(x))
        hidden = nn.gelu(nn.Dense(2 * WIDTH)(nn.LayerNorm()(x)), approximate=False)
        return x + nn.Dense(WIDTH)(hidden)


class VisionTransformer(nn.Module):
    """Four layers on sixteen patches and a class token."""

    @nn.compact
    def __call__(self, images: jax.Array) -> jax.Array:
        """Scores of the classes."""
        embed = nn.Conv(WIDTH, (PATCH, PATCH), strides=(PATCH, PATCH))
        x = embed(images).reshape(images.shape[0], -1, WIDTH)
        draw = nn.initializers.normal(0.02)
        token = self.param("class_token", draw, (1, 1, WIDTH))
        x = jnp.concatenate([jnp.broadcast_to(token, (x.shape[0], 1, WIDTH)), x], 1)
        x = x + self.param("position_embedding", draw, (1, x.shape[1], WIDTH))
        for _ in range(LAYERS):
            x = Block()(x)
        return nn.Dense(CLASSES)(nn.LayerNorm()(x)[:, 0])


def vit_flax() -> Model:
    """Classifies small images; trained with AdamW."""
    module = VisionTransformer()
    images, labels = normals(BATCH, SIZE, SIZE, 3), integers(CLASSES, BATCH)
    params = drawn(jax.eval_shape(module.init, jax.random.PRNGKey(0), images))

    def loss(params: object, images: jax.Array, labels: jax.Array) -> jax.Array:
        return cross_entropy(module.apply(params, images), labels)

    step = partial(trained, loss, ADAMW)
    return Model(Case(module.apply, (params, images)), step(params, images, labels))
