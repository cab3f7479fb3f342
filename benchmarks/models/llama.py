"""Llama-style models: RoPE, RMSNorm, SwiGLU."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from transformers import FlaxLlamaForCausalLM, LlamaConfig

from benchmarks.models import gpt2
from benchmarks.models.model import SGD, Case, Model, drawn, integers, trained
from examples.training import cross_entropy

VOCAB, BATCH, SEQUENCE, WIDTH, HEADS = gpt2.VOCAB, gpt2.BATCH, gpt2.SEQUENCE, 32, 2
CONFIG = LlamaConfig(
    vocab_size=VOCAB,
    hidden_size=WIDTH,
    intermediate_size=2 * WIDTH,
    num_hidden_layers=4,
    num_attention_heads=HEADS,
    max_position_embeddings=64,  # the package cuts its table of angles short for fewer
)


def llama() -> Model:
    """Four layers of Hugging Face's transformers (Flax)."""
    return gpt2.language_model(FlaxLlamaForCausalLM(CONFIG, _do_init=False))


class Block(eqx.Module):
    """One layer, of Equinox's layers."""

    norms: list[eqx.nn.RMSNorm]
    attention: eqx.nn.MultiheadAttention
    rope: eqx.nn.RotaryPositionalEmbedding
    gate: eqx.nn.Linear
    up: eqx.nn.Linear
    down: eqx.nn.Linear

    def __init__(self, key: jax.Array) -> None:
        """Draws the parameters."""
        keys = jax.random.split(key, 4)
        self.norms = [eqx.nn.RMSNorm(WIDTH) for _ in range(2)]
        self.attention = eqx.nn.MultiheadAttention(HEADS, WIDTH, key=keys[0])
        self.rope = eqx.nn.RotaryPositionalEmbedding(WIDTH // HEADS)
        self.gate = eqx.nn.Linear(WIDTH, 2 * WIDTH, use_bias=False, key=keys[1])
        self.up = eqx.nn.Linear(WIDTH, 2 * WIDTH, use_bias=False, key=keys[2])
        self.down = eqx.nn.Linear(2 * WIDTH, WIDTH, use_bias=False, key=keys[3])

    def __call__(self, x: jax.Array) -> jax.Array:
        """Attends, causally, and transforms each position."""
        h = jax.vmap(self.norms[0])(x)
        mask = jnp.tril(jnp.ones((len(x), len(x)), bool))
        x = x + self.attention(h, h, h, mask=mask, process_heads=self._rotate)
        h = jax.vmap(self.norms[1])(x)
        return x + jax.vmap(self.down)(jax.nn.silu(jax.vmap(self.gate)(h)) * jax.vmap(self.up)(h))

    def _rotate(self, q: jax.Array, k: jax.Array, v: jax.Array) -> Any:
        heads = jax.vmap(self.rope, in_axes=1, out_axes=1)
        return heads(q), heads(k), v


class Decoder(eqx.Module):
    """Embedding, blocks, norm, output."""

    embedding: eqx.nn.Embedding
    blocks: list[Block]
    norm: eqx.nn.RMSNorm
    output: eqx.nn.Linear

    def __init__(self, key: jax.Array) -> None:
        """Draws the parameters."""
        keys = jax.random.split(key, 6)
        self.embedding = eqx.nn.Embedding(VOCAB, WIDTH, key=keys[0])
        self.blocks = [Block(k) for k in keys[1:5]]
        self.norm = eqx.nn.RMSNorm(WIDTH)
        self.output = eqx.nn.Linear(WIDTH, VOCAB, key=keys[5])

    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Logits of the next token."""
        x = jax.vmap(self.embedding)(tokens)
        for block in self.blocks:
            x = block(x)
        return jax.vmap(self.output)(jax.vmap(self.norm)(x))


def llama_equinox() -> Model:
    """Four layers of Equinox, trained with SGD."""
    model = eqx.filter_eval_shape(Decoder, jax.random.PRNGKey(0))
    shapes, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    params = drawn(shapes)
    tokens, labels = (integers(VOCAB, BATCH, SEQUENCE, seed=s) for s in range(2))

    def forward(params: Any, tokens: jax.Array) -> jax.Array:
        return jax.vmap(eqx.combine(params, static))(tokens)

    def loss(params: Any, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        return cross_entropy(forward(params, tokens), labels)

    return Model(Case(forward, (params, tokens)), trained(loss, SGD, params, tokens, labels))
