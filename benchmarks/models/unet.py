"""The diffusion U-Net of Hugging Face's diffusers (Flax), conditioned by cross-attention."""

from typing import Any

import jax
import jax.numpy as jnp
from diffusers import FlaxUNet2DConditionModel

from benchmarks.models.model import ADAMW, Case, Model, drawn, normals, trained

BATCH, SIZE, CHANNELS, WIDTH, TOKENS = 2, 8, 4, 32, 5


def unet() -> Model:
    """Two resolutions, two ResNet blocks with attention in each; predicts the noise."""
    module = FlaxUNet2DConditionModel(
        sample_size=SIZE,
        in_channels=CHANNELS,
        out_channels=CHANNELS,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        block_out_channels=(WIDTH, 2 * WIDTH),
        layers_per_block=2,
        attention_head_dim=8,
        cross_attention_dim=WIDTH,
    )
    params = drawn(jax.eval_shape(module.init_weights, jax.random.PRNGKey(0)))
    images, noise = (normals(BATCH, CHANNELS, SIZE, SIZE, seed=s) for s in range(2))
    steps, context = jnp.array([3.0, 500.0]), normals(BATCH, TOKENS, WIDTH, seed=2)

    def forward(params: Any, images: jax.Array, steps: jax.Array, context: jax.Array) -> jax.Array:
        return module.apply({"params": params}, images, steps, context).sample

    def loss(params: Any, images: Any, steps: Any, context: Any, noise: Any) -> jax.Array:
        kept = jnp.cos(steps / 1000)[:, None, None, None]
        noisy = kept * images + jnp.sqrt(1 - kept**2) * noise
        return jnp.mean((forward(params, noisy, steps, context) - noise) ** 2)

    return Model(
        Case(forward, (params, images, steps, context)),
        trained(loss, ADAMW, params, images, steps, context, noise),
    )
