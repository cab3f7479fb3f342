"""GPT-2 in plain JAX: the model of the demonstration and of most benchmarks.

Nothing here knows of scales. Heads, layers and the tied output are read off the parameters' shapes,
so `loss` and the training steps need no configuration and export as they stand::

    config = Config(layers=4, width=256, heads=4, sequence=128, vocab=256, batch=8)
    exported = jax.export.export(jax.jit(adamw_step))(*abstract_state(config, ADAMW))
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax

from examples.training import Params, cross_entropy, training_step

SGD = optax.sgd(1e-2)
ADAMW = optax.adamw(1e-3, b1=0.9, b2=0.95, weight_decay=0.1)


@dataclass(frozen=True)
class Config:
    """Sizes of a model and of one batch; the defaults are those of GPT-2 small."""

    layers: int = 12
    width: int = 768
    heads: int = 12
    sequence: int = 1024
    vocab: int = 50257
    batch: int = 8
    tied: bool = True

    @property
    def head(self) -> int:
        """Size of one attention head."""
        return self.width // self.heads


def init(key: jax.Array, config: Config) -> Params:
    """Draws parameters as GPT-2 does: normal, 0.02, less where they enter the residual stream."""
    token, position, head, *layers = jax.random.split(key, 3 + config.layers)
    params: Params = {
        "wte": _normal(token, config.vocab, config.width),
        "wpe": _normal(position, config.sequence, config.width),
        "blocks": [_init_block(layer, config) for layer in layers],
        "ln_f": _init_norm(config.width),
    }
    if not config.tied:
        params["head"] = _normal(head, config.vocab, config.width)
    return params


def _normal(key: jax.Array, *shape: int, std: float = 0.02) -> jax.Array:
    return std * jax.random.normal(key, shape)


def _init_norm(width: int) -> Params:
    return {"gain": jnp.ones(width), "bias": jnp.zeros(width)}


def _init_block(key: jax.Array, config: Config) -> Params:
    width, heads, head = config.width, config.heads, config.head
    residual = 0.02 / (2 * config.layers) ** 0.5
    qkv, out, up, down = jax.random.split(key, 4)
    return {
        "ln_1": _init_norm(width),
        "attention": {
            "qkv": _normal(qkv, width, 3, heads, head),
            "qkv_bias": jnp.zeros((3, heads, head)),
            "out": _normal(out, heads, head, width, std=residual),
            "out_bias": jnp.zeros(width),
        },
        "ln_2": _init_norm(width),
        "mlp": {
            "up": _normal(up, width, 4 * width),
            "up_bias": jnp.zeros(4 * width),
            "down": _normal(down, 4 * width, width, std=residual),
            "down_bias": jnp.zeros(width),
        },
    }


def layer_norm(params: Params, x: jax.Array) -> jax.Array:
    """Normalizes the last axis to mean 0 and variance 1, then applies gain and bias."""
    centerd = x - x.mean(axis=-1, keepdims=True)
    variance = jnp.square(centerd).mean(axis=-1, keepdims=True)
    return centerd * jax.lax.rsqrt(variance + 1e-5) * params["gain"] + params["bias"]


def attention(params: Params, x: jax.Array, masked: float | None = None) -> jax.Array:
    """Causal self-attention.

    Args:
        params: `qkv` of shape (width, 3, heads, head), `out` of shape (heads, head, width), biases.
        x: activations of shape (batch, sequence, width).
        masked: the score of a later position; the dtype's least finite value by default, and
            -inf is as good here, since every row sees itself.
    """
    q, k, v = jnp.einsum("btd,dchk->cbhtk", x, params["qkv"]) + params["qkv_bias"][:, None, :, None]
    scores = jnp.einsum("bhqk,bhtk->bhqt", q, k) / q.shape[-1] ** 0.5
    causal = jnp.tril(jnp.ones(scores.shape[-2:], dtype=bool))
    scores = jnp.where(causal, scores, jnp.finfo(x.dtype).min if masked is None else masked)
    mixed = jnp.einsum("bhqt,bhtk->bqhk", jax.nn.softmax(scores, axis=-1), v)
    return jnp.einsum("bqhk,hkd->bqd", mixed, params["out"]) + params["out_bias"]


def mlp(params: Params, x: jax.Array) -> jax.Array:
    """Two dense layers with GELU (its tanh form) between them."""
    hidden = jax.nn.gelu(x @ params["up"] + params["up_bias"], approximate=True)
    return hidden @ params["down"] + params["down_bias"]


def block(params: Params, x: jax.Array, masked: float | None = None) -> jax.Array:
    """One pre-normalized transformer block."""
    x = x + attention(params["attention"], layer_norm(params["ln_1"], x), masked)
    return x + mlp(params["mlp"], layer_norm(params["ln_2"], x))


def logits(params: Params, tokens: jax.Array, masked: float | None = None) -> jax.Array:
    """Scores of the next token, (batch, sequence, vocab), for int32 tokens (batch, sequence)."""
    x = params["wte"][tokens] + params["wpe"][: tokens.shape[1]]
    for layer in params["blocks"]:
        x = block(layer, x, masked)
    head = params["head"] if "head" in params else params["wte"]
    return layer_norm(params["ln_f"], x) @ head.T


def loss(params: Params, tokens: jax.Array, masked: float | None = None) -> jax.Array:
    """Mean cross-entropy of each token given those before it.

    Args:
        params: what `init` made.
        tokens: int32 of shape (batch, sequence + 1).
        masked: see `attention`.
    """
    return cross_entropy(logits(params, tokens[:, :-1], masked), tokens[:, 1:])


sgd_step = training_step(loss, SGD)
adamw_step = training_step(loss, ADAMW)
adamw_step_inf_mask = training_step(partial(loss, masked=float("-inf")), ADAMW)


def state(
    config: Config, optimizer: optax.GradientTransformation, seed: int = 0
) -> tuple[Params, Any]:
    """Fresh parameters and the optimizer's state for them."""
    params = init(jax.random.key(seed), config)
    return params, optimizer.init(params)


def abstract_state(
    config: Config, optimizer: optax.GradientTransformation
) -> tuple[Params, Any, jax.ShapeDtypeStruct]:
    """Shapes of a training step's arguments: what an export needs, without an array being made."""
    params, opt_state = jax.eval_shape(partial(state, config, optimizer))
    tokens = jax.ShapeDtypeStruct((config.batch, config.sequence + 1), jnp.int32)
    return params, opt_state, tokens
