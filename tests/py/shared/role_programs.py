"""Transformers, and all training steps whose matmuls have roles that are known by construction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import jax
import jax.numpy as jnp
from jax import lax

from tests.py.shared.judge import shaped
from tests.py.shared.role_models import (
    Model,
    Sizes,
    Tree,
    adapters,
    autoencoder_inference,
    autoencoder_step,
    classifier,
    cnn_inference,
    cnn_step,
    cross_entropy,
    custom,
    gated,
    gradient_of_gradient,
    gradient_penalty,
    jacobian_backward,
    jacobian_forward,
    labels,
    mlp_accumulated,
    mlp_accumulated_unrolled,
    mlp_checkpoint,
    mlp_frozen,
    mlp_inference,
    mlp_jitted,
    mlp_loop,
    mlp_step,
    mlp_vjp,
    mlp_vmapped,
    norm,
    rnn_scanned,
    rnn_unrolled,
    saliency,
    sgd,
    twins,
)

# Transformers


@dataclass(frozen=True)
class Options:
    """The options of a transformer."""

    tied: bool = False
    grouped: bool = False
    rotary: bool = False
    experts: bool = False
    checkpoint: bool = False
    scanned: bool = False
    smoothing: float = 0.0
    layers: int = 1


def rotate(x: jax.Array) -> jax.Array:
    """Rotary position embeddings."""
    angle = jnp.arange(x.shape[1])[:, None] / 10 ** jnp.linspace(0, 4, x.shape[-1] // 2)
    cos, sin = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
    left, right = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([left * cos - right * sin, left * sin + right * cos], -1)


def attention(p: Tree, x: jax.Array, o: Options, heads: int) -> Any:
    """Self attention."""
    b, s, width = x.shape
    shared = 1 if o.grouped else heads
    q = (x @ p["q"]).reshape(b, s, heads, width // heads)
    k, v = ((x @ p[name]).reshape(b, s, shared, width // heads) for name in "kv")
    if o.grouped:
        k, v = (jnp.repeat(t, heads, axis=2) for t in (k, v))
    if o.rotary:
        q, k = rotate(q), rotate(k)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2
    masked = jnp.where(jnp.tri(s, dtype=bool), scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(masked), v)
    return mixed.reshape(b, s, width) @ p["o"]


def feed_forward(p: Tree, x: jax.Array, o: Options) -> Any:
    """Two matmuls, or those of several experts."""
    if not o.experts:
        return jax.nn.gelu(x @ p["up"]) @ p["down"]
    share = jax.nn.softmax(x @ p["router"])
    hidden = jax.nn.gelu(jnp.einsum("bsd,edh->bseh", x, p["up"]))
    each = jnp.einsum("bseh,ehd->bsed", hidden, p["down"])
    return jnp.einsum("bsed,bse->bsd", each, share)


def block(p: Tree, x: jax.Array, o: Options, heads: int) -> Any:
    """One layer."""
    x = x + attention(p, norm(x), o, heads)
    return x + feed_forward(p, norm(x), o)


def transformer_params(s: Sizes, o: Options) -> Tree:
    """Weights of all layers, stacked if a loop goes over them."""
    w, kv = s.width, s.width // s.heads if o.grouped else s.width
    shapes = {"q": (w, w), "k": (w, kv), "v": (w, kv), "o": (w, w)}
    experts = (s.experts,) if o.experts else ()
    shapes |= {"up": (*experts, w, s.inner), "down": (*experts, s.inner, w)}
    if o.experts:
        shapes["router"] = (w, s.experts)
    params: Tree = {"embedding": shaped(s.classes, w), "blocks": []}
    if not o.tied:
        params["head"] = shaped(w, s.classes)
    if o.scanned:
        params["blocks"] = {k: shaped(o.layers, *shape) for k, shape in shapes.items()}
    else:
        params["blocks"] = [{k: shaped(*v) for k, v in shapes.items()}] * o.layers
    return params


def transformer(params: Tree, tokens: jax.Array, o: Options, heads: int) -> Any:
    """Logits."""
    x = params["embedding"][tokens]

    def layer(p: Tree, x: jax.Array) -> Any:
        return block(p, x, o, heads)

    if o.checkpoint:
        layer = jax.checkpoint(layer)
    if o.scanned:
        x, _ = lax.scan(lambda x, p: (layer(p, x), None), x, params["blocks"])
    else:
        for p in params["blocks"]:
            x = layer(p, x)
    return norm(x) @ (params["embedding"].T if o.tied else params["head"])


def transformer_step(**options: Any) -> Callable[[Sizes], tuple[Any, Any]]:
    """A step of a transformer."""
    o = Options(**options)

    def build(s: Sizes) -> tuple[Any, Any]:
        def loss(params: Tree, tokens: jax.Array, y: jax.Array) -> jax.Array:
            logits = transformer(params, tokens, o, s.heads)
            if not o.smoothing:
                return cross_entropy(logits, y)
            wanted = jax.nn.one_hot(y, logits.shape[-1])
            wanted = wanted * (1 - o.smoothing) + o.smoothing / logits.shape[-1]
            return -jnp.mean(jnp.sum(wanted * jax.nn.log_softmax(logits), -1))

        shape = s.batch, s.sequence
        return sgd(loss), (transformer_params(s, o), labels(*shape), labels(*shape))

    return build


def transformer_inference(s: Sizes) -> tuple[Any, Any]:
    """Logits of all tokens."""
    o = Options(layers=2)

    def logits(params: Tree, tokens: jax.Array) -> Any:
        return transformer(params, tokens, o, s.heads)

    return logits, (transformer_params(s, o), labels(s.batch, s.sequence))


ATTENTION: Final = {"f aw": 7, "f aa": 2, "b ag": 11, "b gw": 7}
"""A layer with attention and a head: each matmul has two backward ones."""
MLP: Final = {"f aw": 3, "b ag": 3, "b gw": 2}
"""Three layers; the gradient of the input is not asked for."""

MODELS: Final = (
    Model("mlp", mlp_step, MLP),
    Model("mlp-jitted", mlp_jitted, {"f aw": 4, "b ag": 4, "b gw": 3}),
    Model("mlp-inference", mlp_inference, {"f aw": 3}),
    Model("mlp-checkpoint", mlp_checkpoint, {**MLP, "f aw": 5}),
    Model("mlp-vmapped", mlp_vmapped, MLP),
    Model("mlp-accumulated", mlp_accumulated, MLP),
    Model(
        "mlp-accumulated-unrolled",
        mlp_accumulated_unrolled,
        {k: 2 * n for k, n in MLP.items()},
    ),
    Model("mlp-loop", mlp_loop, MLP),
    Model("mlp-vjp", mlp_vjp, {"f aw": 2, "b ag": 3, "b gw": 3}, cotangents=1),
    Model("mlp-frozen", mlp_frozen, {"f aw": 3, "b ag": 1, "b gw": 2}),
    Model("classifier", classifier, {"f aw": 1, "b ag": 1}),
    Model("adapters", adapters, {"f aw": 9, "b ag": 6, "b gw": 7}),
    Model("twins", twins, {"f aw": 6, "f aa": 1, "b ag": 8, "b gw": 4}),
    Model("custom", custom, MLP),
    Model("autoencoder", autoencoder_step, {"f aw": 2, "b ag": 2, "b gw": 1}),
    Model("autoencoder-inference", autoencoder_inference, {"f aw": 2}),
    Model("cnn", cnn_step, MLP),
    Model("cnn-inference", cnn_inference, {"f aw": 3}),
    Model("rnn-scanned", rnn_scanned, {"f aw": 3, "b ag": 3, "b gw": 2}),
    Model("rnn-unrolled", rnn_unrolled, {"f aw": 7, "b ag": 7, "b gw": 3}),
    Model("gated", gated, {"f aw": 5, "b ag": 5, "b gw": 3}),
    Model("transformer", transformer_step(), ATTENTION, vocabulary=3),
    Model("transformer-tied", transformer_step(tied=True), ATTENTION, vocabulary=3),
    Model("transformer-smoothed", transformer_step(smoothing=0.1), ATTENTION, vocabulary=3),
    Model("transformer-grouped", transformer_step(grouped=True), ATTENTION, vocabulary=3),
    Model("transformer-rotary", transformer_step(rotary=True), ATTENTION, vocabulary=3),
    Model(
        "transformer-experts",
        transformer_step(experts=True),
        {"f aw": 8, "f aa": 3, "b ag": 14, "b gw": 8},
        vocabulary=3,
    ),
    Model(
        "transformer-two-layers",
        transformer_step(layers=2, tied=True),
        {"f aw": 13, "f aa": 4, "b ag": 21, "b gw": 13},
        vocabulary=3,
    ),
    Model(
        "transformer-checkpoint",
        transformer_step(layers=2, checkpoint=True),
        {"f aw": 23, "f aa": 8, "b ag": 21, "b gw": 13},
        vocabulary=3,
    ),
    Model("transformer-scanned", transformer_step(scanned=True, layers=3), ATTENTION, vocabulary=3),
    Model(
        "transformer-scanned-checkpoint",
        transformer_step(scanned=True, checkpoint=True, layers=3),
        {**ATTENTION, "f aw": 12, "f aa": 4},
        vocabulary=3,
    ),
    Model("transformer-inference", transformer_inference, {"f aw": 13, "f aa": 4}, vocabulary=1),
)
"""All that has first derivatives only."""

HIGHER: Final = (
    gradient_of_gradient,
    gradient_penalty,
    jacobian_backward,
    jacobian_forward,
    saliency,
)
"""Programs with derivatives other than first ones of weights."""
