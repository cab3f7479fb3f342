"""A generator and a discriminator in Flax' linen."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

from benchmarks.models.model import Training
from benchmarks.zoo.tasks import BATCH, images, key


class Discriminator(nn.Module):
    """Strided convolutions with LeakyReLU."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Logits of being real."""
        x = nn.leaky_relu(nn.Conv(32, (3, 3), (2, 2))(x), 0.2)
        x = nn.leaky_relu(nn.Conv(64, (3, 3), (2, 2))(x), 0.2)
        return nn.Dense(1)(x.reshape(x.shape[0], -1))[:, 0]


class Generator(nn.Module):
    """A dense layer and transposed convolutions, with LayerNorm and tanh."""

    @nn.compact
    def __call__(self, z: jax.Array) -> jax.Array:
        """Images."""
        x = nn.relu(nn.LayerNorm()(nn.Dense(2 * 2 * 64)(z))).reshape(-1, 2, 2, 64)
        x = nn.relu(nn.LayerNorm()(nn.ConvTranspose(32, (4, 4), (2, 2))(x)))
        return 2 * jnp.tanh(nn.ConvTranspose(3, (4, 4), (2, 2))(x))


def gan(seed: int = 0) -> Training:
    """Both nets in one step, each with an optimizer of its own; the loss is their sum.

    A distance of the first moments of features keeps the sum falling.
    """
    pictures, makes, judges = images(noise=0.3), Generator(), Discriminator()
    first = makes.init(key(seed), jnp.zeros((1, 32))), judges.init(key(seed), pictures(0)[0])
    optimizers = optax.adam(2e-3, b1=0.5), optax.adam(1e-3, b1=0.5)

    def batch(number: int) -> tuple[Any, ...]:
        z = np.random.default_rng(number + 1).standard_normal((BATCH, 32))
        return pictures(number)[0], z.astype(np.float32)

    def made(params: Any, judge: Any, x: jax.Array, z: jax.Array) -> jax.Array:
        fake = makes.apply(params, z)
        matched = jnp.mean((fake.mean(0) - x.mean(0)) ** 2)
        return jnp.mean(jax.nn.softplus(-judges.apply(judge, fake))) + matched

    def judged(params: Any, maker: Any, x: jax.Array, z: jax.Array) -> jax.Array:
        fake, real = judges.apply(params, makes.apply(maker, z)), judges.apply(params, x)
        return jnp.mean(jax.nn.softplus(fake)) + jnp.mean(jax.nn.softplus(-real))

    def step(state: Any, *batch: Any) -> Any:
        (maker, judge), kept = state
        pairs = ((made, maker, judge), (judged, judge, maker))
        found = [jax.value_and_grad(f)(own, other, *batch) for f, own, other in pairs]
        moved = [
            how.update(gradients, old, own)
            for how, (_, gradients), old, (_, own, _) in zip(
                optimizers, found, kept, pairs, strict=True
            )
        ]
        new = [optax.apply_updates(p[1], m[0]) for p, m in zip(pairs, moved, strict=True)]
        return (tuple(new), tuple(m[1] for m in moved)), found[0][0] + found[1][0]

    state = first, tuple(how.init(p) for how, p in zip(optimizers, first, strict=True))
    return Training(state, step, batch)
