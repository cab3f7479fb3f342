"""Mixtures of experts, of Flax' layers."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from benchmarks.models.model import ADAMW, Case, Model, drawn, integers, trained
from examples.training import cross_entropy

VOCAB, BATCH, SEQUENCE, WIDTH, EXPERTS, CHOSEN = 96, 2, 16, 32, 4, 2


class Expert(nn.Module):
    """A feed-forward layer."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Widens, activates, narrows."""
        return nn.Dense(WIDTH)(nn.gelu(nn.Dense(2 * WIDTH)(x)))


class Dispatched(nn.Module):
    """Experts of limited capacity; tokens are dispatched by one-hot contractions, as GShard's."""

    @nn.compact
    def __call__(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Gives the mixture, and the loss that balances the experts."""
        tokens = x.reshape(-1, WIDTH)
        chances = jax.nn.softmax(nn.Dense(EXPERTS, use_bias=False, name="router")(tokens))
        weights, chosen = jax.lax.top_k(chances, CHOSEN)
        weights = weights / weights.sum(-1, keepdims=True)
        capacity = CHOSEN * len(tokens) // EXPERTS
        assigned = jax.nn.one_hot(chosen, EXPERTS)
        flat = assigned.swapaxes(0, 1).reshape(-1, EXPERTS)
        position = ((jnp.cumsum(flat, 0) - 1) * flat).sum(-1).astype(jnp.int32)
        places = jax.nn.one_hot(position, capacity).reshape(CHOSEN, -1, capacity)
        dispatch = jnp.einsum("tke,ktc->tkec", assigned, places)
        combine = jnp.einsum("tk,tkec->tec", weights, dispatch)
        taken = jnp.einsum("tkec,tw->ecw", dispatch, tokens)
        experts = nn.vmap(Expert, variable_axes={"params": 0}, split_rngs={"params": True})
        given = experts(name="experts")(taken)
        balance = EXPERTS * jnp.sum(assigned.sum(1).mean(0) * chances.mean(0))
        return jnp.einsum("tec,ecw->tw", combine, given).reshape(x.shape), balance


class Sorted(nn.Module):
    """Experts of any load: tokens are sorted by expert and go through ragged contractions."""

    @nn.compact
    def __call__(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Gives the mixture, and the router's z-loss."""
        tokens = x.reshape(-1, WIDTH)
        logits = nn.Dense(EXPERTS, use_bias=False, name="router")(tokens)
        weights, chosen = jax.lax.top_k(logits, CHOSEN)
        order = jnp.argsort(chosen.reshape(-1))
        sizes = jnp.bincount(chosen.reshape(-1), length=EXPERTS)
        kernel = nn.initializers.lecun_normal()
        up = self.param("up", kernel, (EXPERTS, WIDTH, 2 * WIDTH))
        down = self.param("down", kernel, (EXPERTS, 2 * WIDTH, WIDTH))
        hidden = nn.silu(jax.lax.ragged_dot(tokens[order // CHOSEN], up, sizes))
        given = jax.lax.ragged_dot(hidden, down, sizes)
        share = jax.nn.softmax(weights).reshape(-1, 1)[order]
        mixed = jnp.zeros_like(tokens).at[order // CHOSEN].add(share * given)
        return mixed.reshape(x.shape), jnp.mean(jax.nn.logsumexp(logits, -1) ** 2)


class Decoder(nn.Module):
    """Four blocks of attention and experts.

    Attributes:
        experts: The layer of experts.
    """

    experts: Any

    @nn.compact
    def __call__(self, tokens: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Logits, and what the experts add to the loss."""
        x = nn.Embed(VOCAB, WIDTH)(tokens)
        mask = nn.make_causal_mask(tokens)
        extra = jnp.zeros(())
        for _ in range(4):
            x = x + nn.MultiHeadDotProductAttention(num_heads=2)(nn.LayerNorm()(x), mask=mask)
            mixed, balance = self.experts()(nn.LayerNorm()(x))
            x, extra = x + mixed, extra + balance
        return nn.Dense(VOCAB)(nn.LayerNorm()(x)), extra


def experts(layer: Any = Dispatched) -> Model:
    """Two experts of four for each token; dispatched by contractions with one-hot vectors."""
    module: Any = Decoder(layer)
    tokens, labels = (integers(VOCAB, BATCH, SEQUENCE, seed=s) for s in range(2))
    params = drawn(jax.eval_shape(module.init, jax.random.PRNGKey(0), tokens))

    def loss(params: Any, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        logits, extra = module.apply(params, tokens)
        return cross_entropy(logits, labels) + 1e-2 * extra

    return Model(Case(module.apply, (params, tokens)), trained(loss, ADAMW, params, tokens, labels))


def experts_sorted() -> Model:
    """The same, the tokens sorted by expert."""
    return experts(Sorted)
