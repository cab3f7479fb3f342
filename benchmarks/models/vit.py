"""ViT of Hugging Face's transformers (Flax)."""

from functools import partial
from typing import Any

import jax
from transformers import FlaxViTForImageClassification, ViTConfig

from benchmarks.models.model import ADAMW, Case, Model, drawn, integers, normals, trained
from examples.training import cross_entropy

BATCH, CLASSES, SIZE = 2, 10, 32
CONFIG = ViTConfig(
    hidden_size=32,
    num_hidden_layers=4,
    num_attention_heads=2,
    intermediate_size=64,
    image_size=SIZE,
    patch_size=8,
    num_labels=CLASSES,
)


def vit() -> Model:
    """Four layers on sixteen patches and a class token."""
    module = FlaxViTForImageClassification(CONFIG, _do_init=False)
    initialize = partial(module.init_weights, input_shape=(1, SIZE, SIZE, 3))
    params = drawn(jax.eval_shape(initialize, jax.random.PRNGKey(0)))
    images, labels = normals(BATCH, 3, SIZE, SIZE), integers(CLASSES, BATCH)

    def forward(params: Any, images: jax.Array) -> jax.Array:
        return module(images, params=params).logits

    def loss(params: Any, images: jax.Array, labels: jax.Array) -> jax.Array:
        return cross_entropy(forward(params, images), labels)

    return Model(Case(forward, (params, images)), trained(loss, ADAMW, params, images, labels))
