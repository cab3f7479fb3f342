"""A selective state space model in the style of Mamba, of Flax' layers."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from benchmarks.models.model import ADAMW, Case, Model, drawn, integers, trained
from examples.training import cross_entropy

VOCAB, BATCH, SEQUENCE, WIDTH, STATE = 96, 2, 16, 16, 4


def scanned(decay: jax.Array, entry: jax.Array) -> jax.Array:
    """h[t] = decay[t] * h[t-1] + entry[t], step by step."""

    def step(h: jax.Array, inputs: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        h = inputs[0] * h + inputs[1]
        return h, h

    return jax.lax.scan(step, jnp.zeros_like(entry[0]), (decay, entry))[1]


def associative(decay: jax.Array, entry: jax.Array) -> jax.Array:
    """The same in a tree."""
    Pair = tuple[jax.Array, jax.Array]  # noqa: N806

    def combine(a: Pair, b: Pair) -> Pair:
        return a[0] * b[0], b[0] * a[1] + b[1]

    return jax.lax.associative_scan(combine, (decay, entry))[1]


class Mixer(nn.Module):
    """Convolution, selective scan, gate.

    Attributes:
        scan: How the recurrence is computed.
    """

    scan: Any

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Mixes along the sequence."""
        inner = 2 * WIDTH
        u, gate = jnp.split(nn.Dense(2 * inner, use_bias=False)(x), 2, -1)
        u = nn.silu(nn.Conv(inner, (4,), padding="CAUSAL", feature_group_count=inner)(u))
        delta, b, c = jnp.split(nn.Dense(1 + 2 * STATE, use_bias=False)(u), [1, 1 + STATE], -1)
        delta = nn.softplus(nn.Dense(inner)(delta))
        log_a = self.param("log_a", nn.initializers.normal(), (inner, STATE))
        skip = self.param("skip", nn.initializers.ones, (inner,))
        decay = jnp.exp(delta[..., None] * -jnp.exp(log_a))
        entry = delta[..., None] * b[..., None, :] * u[..., None]
        h = self.scan(decay.swapaxes(0, 1), entry.swapaxes(0, 1)).swapaxes(0, 1)
        y = jnp.einsum("blis,bls->bli", h, c) + skip * u
        return nn.Dense(WIDTH, use_bias=False)(y * nn.silu(gate))


class Mamba(nn.Module):
    """Four blocks.

    Attributes:
        scan: See `Mixer`.
    """

    scan: Any

    @nn.compact
    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Logits of the next token."""
        embed = nn.Embed(VOCAB, WIDTH)
        x = embed(tokens)
        for _ in range(4):
            x = x + Mixer(self.scan)(nn.RMSNorm()(x))
        return embed.attend(nn.RMSNorm()(x))


def mamba(scan: Any = scanned) -> Model:
    """The recurrence as a loop over the sequence."""
    module: Any = Mamba(scan)
    tokens, labels = (integers(VOCAB, BATCH, SEQUENCE, seed=s) for s in range(2))
    params = drawn(jax.eval_shape(module.init, jax.random.PRNGKey(0), tokens))

    def loss(params: Any, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        return cross_entropy(module.apply(params, tokens), labels)

    return Model(Case(module.apply, (params, tokens)), trained(loss, ADAMW, params, tokens, labels))


def mamba_tree() -> Model:
    """The recurrence as an associative scan, which needs no loop."""
    return mamba(associative)
