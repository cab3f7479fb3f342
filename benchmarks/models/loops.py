"""Programs whose loops are written, or asked for, by the author of a training script."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from transformers import FlaxGPT2LMHeadModel

from benchmarks.models import bert, gpt2, recurrent
from benchmarks.models.model import ADAMW, Case, Model, drawn, integers, trained
from examples.training import cross_entropy

VOCAB, BATCH, SEQUENCE, WIDTH = gpt2.VOCAB, gpt2.BATCH, gpt2.SEQUENCE, 32


def bert_checkpoint() -> Model:
    """BERT whose layers are computed again on the way back, by the package's own option."""
    return bert.bert(gradient_checkpointing=True)


class Layer(nn.Module):
    """A layer of GPT-2, in the form that `nn.scan` wants."""

    @nn.compact
    def __call__(self, x: jax.Array, mask: jax.Array) -> tuple[jax.Array, None]:
        """Attends, and transforms each position."""
        x = x + nn.MultiHeadDotProductAttention(num_heads=2)(nn.LayerNorm()(x), mask=mask)
        hidden = nn.gelu(nn.Dense(4 * WIDTH)(nn.LayerNorm()(x)))
        return x + nn.Dense(WIDTH)(hidden), None


class Scanned(nn.Module):
    """GPT-2, its layers one loop.

    Attributes:
        layer: The layer.
    """

    layer: Any

    @nn.compact
    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Logits of the next token."""
        embed = nn.Embed(VOCAB, WIDTH)
        x = embed(tokens) + nn.Embed(SEQUENCE, WIDTH)(jnp.arange(SEQUENCE))
        layers = nn.scan(
            self.layer,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=nn.broadcast,
            length=4,
        )
        x, _ = layers()(x, nn.make_causal_mask(tokens))
        return embed.attend(nn.LayerNorm()(x))


def gpt2_scan(layer: Any = Layer) -> Model:
    """Four layers in a `jax.lax.scan` over their stacked parameters."""
    module: Any = Scanned(layer)
    tokens, labels = (integers(VOCAB, BATCH, SEQUENCE, seed=s) for s in range(2))
    params = drawn(jax.eval_shape(module.init, jax.random.PRNGKey(0), tokens))

    def loss(params: Any, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        return cross_entropy(module.apply(params, tokens), labels)

    return Model(Case(module.apply, (params, tokens)), trained(loss, ADAMW, params, tokens, labels))


def gpt2_scan_checkpoint() -> Model:
    """The same, each layer under `jax.checkpoint`."""
    return gpt2_scan(nn.remat(Layer))


def gpt2_decode() -> Model:
    """Greedy decoding by Hugging Face's GPT-2: a `while` loop over a cache of keys and values.

    Where others train, it decodes from a prompt, the cache filled before the loop.
    """
    module = FlaxGPT2LMHeadModel(gpt2.CONFIG, _do_init=False)
    params = gpt2.parameters(module)
    empty = module.init_cache(BATCH, SEQUENCE)
    mask = jnp.ones((BATCH, SEQUENCE), jnp.int32)

    def read(params: Any, tokens: jax.Array, cache: Any, start: Any) -> Any:
        positions = jnp.broadcast_to(start + jnp.arange(tokens.shape[1]), tokens.shape)
        output = module(
            tokens,
            attention_mask=mask,
            position_ids=positions,
            params=params,
            past_key_values=cache,
        )
        return output.logits[:, -1], output.past_key_values

    def decode(params: Any, prompt: jax.Array) -> Any:
        logits, cache = read(params, prompt, empty, 0)

        def unfinished(state: Any) -> jax.Array:
            return state[0] < SEQUENCE

        def step(state: Any) -> Any:
            position, logits, cache, text = state
            token = jnp.argmax(logits, -1)[:, None].astype(jnp.int32)
            text = jax.lax.dynamic_update_slice(text, token, (0, position))
            logits, cache = read(params, token, cache, position)
            return position + 1, logits, cache, text

        text = jnp.zeros((BATCH, SEQUENCE), jnp.int32)
        start = jnp.int32(prompt.shape[1])
        return jax.lax.while_loop(unfinished, step, (start, logits, cache, text))

    return Model(
        Case(decode, (params, integers(VOCAB, BATCH, 1))),
        Case(decode, (params, integers(VOCAB, BATCH, 6))),
    )


def gru() -> Model:
    """Four layers of Flax' GRU."""
    return recurrent.recurrent(recurrent.Recurrent(nn.GRUCell))
