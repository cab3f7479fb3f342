"""A decoder in the style of T5, of Flax' layers: biases by relative position and RMSNorm alone."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from benchmarks.models.model import ADAMW, Case, Model, drawn, integers, trained
from examples.training import cross_entropy

VOCAB, BATCH, SEQUENCE, WIDTH, HEADS, LAYERS = 96, 2, 16, 32, 2, 4
BUCKETS, FURTHEST = 8, 16


def buckets() -> np.ndarray:
    """The bucket of each pair of positions: one for each near distance, then logarithmic ones."""
    places = np.arange(SEQUENCE)
    distance = np.maximum(places[:, None] - places[None, :], 0)
    near = BUCKETS // 2
    share = np.log(np.maximum(distance, 1) / near) / np.log(FURTHEST / near)
    far = np.minimum(near + (share * (BUCKETS - near)).astype(int), BUCKETS - 1)
    return np.where(distance < near, distance, far)


class Attention(nn.Module):
    """Attention without the factor 1/sqrt(d), which T5 leaves to the weights of the queries."""

    @nn.compact
    def __call__(self, x: jax.Array, bias: jax.Array) -> jax.Array:
        """Attends, causally."""
        shape = (HEADS, WIDTH // HEADS)
        q, k, v = (nn.DenseGeneral(shape, use_bias=False, name=n)(x) for n in "qkv")
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) + bias
        mask = jnp.tril(jnp.ones((SEQUENCE, SEQUENCE), bool))
        chances = jax.nn.softmax(jnp.where(mask, scores, jnp.finfo(scores.dtype).min))
        mixed = jnp.einsum("bhqk,bkhd->bqhd", chances, v)
        return nn.DenseGeneral(WIDTH, axis=(-2, -1), use_bias=False, name="o")(mixed)


class Decoder(nn.Module):
    """Four layers that share the biases of positions."""

    @nn.compact
    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Logits of the next token."""
        embed = nn.Embed(VOCAB, WIDTH)
        x = embed(tokens)
        bias = nn.Embed(BUCKETS, HEADS, name="relative_bias")(buckets()).transpose(2, 0, 1)
        for _ in range(LAYERS):
            x = x + Attention()(nn.RMSNorm()(x), bias)
            hidden = nn.relu(nn.Dense(2 * WIDTH, use_bias=False)(nn.RMSNorm()(x)))
            x = x + nn.Dense(WIDTH, use_bias=False)(hidden)
        return embed.attend(nn.RMSNorm()(x) * WIDTH**-0.5)


def t5() -> Model:
    """Predicts the next token; trained with AdamW."""
    module = Decoder()
    tokens, labels = (integers(VOCAB, BATCH, SEQUENCE, seed=s) for s in range(2))
    params = drawn(jax.eval_shape(module.init, jax.random.PRNGKey(0), tokens))

    def loss(params: object, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        return cross_entropy(module.apply(params, tokens), labels)

    return Model(Case(module.apply, (params, tokens)), trained(loss, ADAMW, params, tokens, labels))
