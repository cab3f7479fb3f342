"""A small diffusion U-Net of Flax' layers, for what that of diffusers takes too long on."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from benchmarks.models.model import ADAMW, Case, Model, drawn, normals, trained

BATCH, SIZE, CHANNELS, WIDTH, GROUPS = 2, 4, 4, 16, 2
PERIODS = 1e4


def embedded(times: jax.Array, width: int) -> jax.Array:
    """Sines and cosines of times at many frequencies."""
    angles = times[:, None] * PERIODS ** (-jnp.arange(width // 2) / (width // 2))
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)


class Residual(nn.Module):
    """Two convolutions, each after a normalization, with the time in between.

    Attributes:
        width: Channels of the result.
    """

    width: int

    @nn.compact
    def __call__(self, x: jax.Array, time: jax.Array) -> jax.Array:
        """Convolves twice and adds."""
        y = nn.Conv(self.width, (3, 3))(nn.silu(nn.GroupNorm(GROUPS)(x)))
        y = y + nn.Dense(self.width)(nn.silu(time))[:, None, None, :]
        y = nn.Conv(self.width, (3, 3))(nn.silu(nn.GroupNorm(GROUPS)(y)))
        return y + (x if x.shape == y.shape else nn.Conv(self.width, (1, 1))(x))


class Attention(nn.Module):
    """Attention between all pixels."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Attends and adds."""
        flat = nn.GroupNorm(GROUPS)(x).reshape(x.shape[0], -1, x.shape[-1])
        return x + nn.MultiHeadDotProductAttention(num_heads=2)(flat).reshape(x.shape)


class Denoiser(nn.Module):
    """Down to half the resolution, and up again with a skip connection."""

    @nn.compact
    def __call__(self, images: jax.Array, times: jax.Array) -> jax.Array:
        """Predicts the noise."""
        time = nn.Dense(2 * WIDTH)(nn.silu(nn.Dense(2 * WIDTH)(embedded(times, WIDTH))))
        high = Residual(WIDTH)(nn.Conv(WIDTH, (3, 3))(images), time)
        low = nn.Conv(WIDTH, (3, 3), strides=(2, 2))(high)
        low = Attention()(Residual(2 * WIDTH)(low, time))
        up = jax.image.resize(low, (*high.shape[:3], low.shape[-1]), "nearest")
        x = Residual(WIDTH)(jnp.concatenate([up, high], -1), time)
        return nn.Conv(CHANNELS, (3, 3))(nn.silu(nn.GroupNorm(GROUPS)(x)))


def unet_flax() -> Model:
    """Denoises small images; trained with AdamW."""
    module = Denoiser()
    images, noise = (normals(BATCH, SIZE, SIZE, CHANNELS, seed=s) for s in range(2))
    times = jnp.array([3.0, 500.0])
    params = drawn(jax.eval_shape(module.init, jax.random.PRNGKey(0), images, times))

    def loss(params: Any, images: jax.Array, times: jax.Array, noise: jax.Array) -> jax.Array:
        kept = jnp.cos(times / 1000)[:, None, None, None]
        noisy = kept * images + jnp.sqrt(1 - kept**2) * noise
        return jnp.mean((module.apply(params, noisy, times) - noise) ** 2)

    return Model(
        Case(module.apply, (params, images, times)),
        trained(loss, ADAMW, params, images, times, noise),
    )
