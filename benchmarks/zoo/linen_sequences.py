"""Models of text, and of pairs of inputs, in Flax's linen."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn

from benchmarks.models.model import Training
from benchmarks.zoo.tasks import (
    ADAMW,
    BATCH,
    CLASSES,
    key,
    labelled,
    learned,
    learned_with,
    padded,
    vectors,
)

VOCAB, LENGTH, WIDTH, HEADS, MASKED = 64, 16, 48, 4, 1


class Layer(nn.Module):
    """A transformer layer after Vaswani et al. 2017, normalized after each sum."""

    @nn.compact
    def __call__(self, x: Any, mask: Any, memory: Any = None, seen: Any = None) -> Any:
        """Attends to itself, to the memory if there is one, and to each position alone."""
        y = nn.MultiHeadDotProductAttention(HEADS, dropout_rate=0.1, deterministic=False)(
            x, mask=mask
        )
        x = nn.LayerNorm()(x + nn.Dropout(0.1, deterministic=False)(y))
        if memory is not None:
            y = nn.MultiHeadDotProductAttention(HEADS, deterministic=False)(x, memory, mask=seen)
            x = nn.LayerNorm()(x + y)
        y = nn.Dense(WIDTH)(nn.gelu(nn.Dense(4 * WIDTH)(x)))
        return nn.LayerNorm()(x + nn.Dropout(0.1, deterministic=False)(y))


class Embedded(nn.Module):
    """Embeddings of tokens and of positions, normalized."""

    @nn.compact
    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Vectors of tokens."""
        places = nn.Embed(LENGTH, WIDTH)(jnp.arange(tokens.shape[1]))
        return nn.LayerNorm()(nn.Embed(VOCAB, WIDTH)(tokens) + places)


class Masked(nn.Module):
    """An encoder whose head has the embeddings as weights."""

    @nn.compact
    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Logits for each position."""
        table = nn.Embed(VOCAB, WIDTH)
        x = nn.LayerNorm()(table(tokens) + nn.Embed(LENGTH, WIDTH)(jnp.arange(LENGTH)))
        mask = nn.make_attention_mask(tokens > 0, tokens > 0)
        for _ in range(2):
            x = Layer()(x, mask)
        return table.attend(nn.LayerNorm()(nn.gelu(nn.Dense(WIDTH)(x))))


class Translator(nn.Module):
    """An encoder, and a decoder that attends to it."""

    @nn.compact
    def __call__(self, source: jax.Array, target: jax.Array) -> jax.Array:
        """Logits of the next tokens of the target."""
        memory, x = Embedded()(source), Embedded()(target)
        for _ in range(2):
            memory = Layer()(memory, nn.make_attention_mask(source > 0, source > 0))
        causal = nn.combine_masks(
            nn.make_causal_mask(target), nn.make_attention_mask(target > 0, target > 0)
        )
        for _ in range(2):
            x = Layer()(x, causal, memory, nn.make_attention_mask(target > 0, source > 0))
        return nn.Dense(VOCAB)(x)


class Labeller(nn.Module):
    """An LSTM that reads a padded sequence in both directions; its last states are classified."""

    @nn.compact
    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Logits of the classes."""
        lengths = (tokens > 0).sum(-1)
        x = nn.Embed(VOCAB, WIDTH)(tokens)
        cells = [nn.RNN(nn.OptimizedLSTMCell(WIDTH)) for _ in range(2)]
        x = nn.Bidirectional(*cells)(x, seq_lengths=lengths)
        last = jnp.take_along_axis(x, (lengths - 1)[:, None, None], 1)[:, 0]
        return nn.Dense(CLASSES)(last)


class Perceiver(nn.Module):
    """Learned queries attend to many inputs, then to each other; their mean is classified."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Logits of the classes."""
        latents = self.param("latents", nn.initializers.normal(0.02), (1, 8, WIDTH))
        z = jnp.tile(latents, (x.shape[0], 1, 1))
        x = nn.LayerNorm()(nn.Dense(WIDTH)(x))
        for _ in range(2):
            z = z + nn.MultiHeadDotProductAttention(HEADS)(nn.LayerNorm()(z), x)
            z = z + nn.MultiHeadDotProductAttention(HEADS)(nn.LayerNorm()(z))
            z = z + nn.Dense(WIDTH)(nn.gelu(nn.Dense(2 * WIDTH)(nn.LayerNorm()(z))))
        return nn.Dense(CLASSES)(nn.LayerNorm()(z).mean(1))


class Towers(nn.Module):
    """A tower for images and one for text, and a learned temperature."""

    @nn.compact
    def __call__(self, x: jax.Array, tokens: jax.Array) -> jax.Array:
        """The similarities of all pairs, as logits."""
        y = nn.relu(nn.Conv(32, (3, 3), (2, 2))(x))
        y = nn.Dense(WIDTH)(nn.relu(nn.Conv(64, (3, 3), (2, 2))(y)).reshape(BATCH, -1))
        t = nn.Dense(WIDTH)(nn.LayerNorm()(nn.Embed(VOCAB, WIDTH)(tokens)).mean(1))
        scale = self.param("scale", nn.initializers.constant(2.659), ())
        y, t = (v / jnp.linalg.norm(v, axis=-1, keepdims=True) for v in (y, t))
        return jnp.exp(scale) * y @ t.T


def masked_lm(seed: int = 0) -> Training:
    """A masked language model on padded batches."""
    module, batch = Masked(), padded(VOCAB, LENGTH)
    params = module.init({"params": key(seed), "dropout": key(seed)}, *batch(0))

    def loss(params: Any, variables: Any, key: Any, tokens: jax.Array) -> Any:
        hide, drop = jax.random.split(key)
        hidden = (jax.random.uniform(hide, tokens.shape) < 0.2) & (tokens > 0)
        given = jnp.where(hidden, MASKED, tokens)
        logits = module.apply(params, given, rngs={"dropout": drop})
        return labelled(logits, tokens, hidden.astype(jnp.float32)), variables

    return learned_with(loss, params, (), batch, seed, optax.adamw(5e-3))


def seq2seq(seed: int = 0) -> Training:
    """Repeats padded sequences, with cross attention and a causal mask."""
    module, batch = Translator(), padded(VOCAB, LENGTH)
    params = module.init({"params": key(seed), "dropout": key(seed)}, *batch(0) * 2)

    def loss(params: Any, variables: Any, key: Any, source: jax.Array) -> Any:
        given = jnp.pad(source, ((0, 0), (1, 0)), constant_values=MASKED)[:, :-1]
        logits = module.apply(params, source, given, rngs={"dropout": key})
        return labelled(logits, source, (source > 0).astype(jnp.float32)), variables

    return learned_with(loss, params, (), batch, seed, ADAMW)


def labeller(seed: int = 0) -> Training:
    """Classifies padded sequences by their last token."""
    module, batch = Labeller(), padded(VOCAB, LENGTH)

    def loss(params: Any, tokens: jax.Array) -> jax.Array:
        last = jnp.take_along_axis(tokens, (tokens > 0).sum(-1)[:, None] - 1, 1)[:, 0]
        return labelled(module.apply(params, tokens), last % CLASSES)

    return learned(loss, module.init(key(seed), *batch(0)), batch, optax.adam(1e-2))


def perceiver(seed: int = 0) -> Training:
    """Attention pooling of 32 inputs."""
    module, batch = Perceiver(), vectors(32, 16)

    def loss(params: Any, x: jax.Array, labels: jax.Array) -> jax.Array:
        return labelled(module.apply(params, x), labels)

    return learned(loss, module.init(key(seed), batch(0)[0]), batch)


def clip(seed: int = 0) -> Training:
    """A contrastive model of images and their captions."""
    module, pictures = Towers(), vectors(8, 8, 3, noise=0.5, classes=BATCH)

    def batch(number: int) -> tuple[Any, ...]:
        x, labels = pictures(number)
        return x, (labels[:, None] + jnp.arange(4)).astype(jnp.int32) % VOCAB

    def loss(params: Any, x: jax.Array, tokens: jax.Array) -> jax.Array:
        logits, own = module.apply(params, x, tokens), jnp.arange(BATCH)
        return (labelled(logits, own) + labelled(logits.T, own)) / 2

    return learned(loss, module.init(key(seed), *batch(0)), batch)
