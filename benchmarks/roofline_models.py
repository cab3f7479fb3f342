"""The models that `benchmarks.roofline` compiles, in plain JAX and as abstract shapes.

The sizes are those at which a step of the original in bf16 is estimated near the figures with
which these benchmarks began. No array is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

Tree = Any
Shape = jax.ShapeDtypeStruct


@dataclass(frozen=True)
class Model:
    """A program and its arguments.

    Attributes:
        step: the function to compile.
        arguments: the shapes of its arguments for a dtype.
        says: its sizes, in words.
        donated: the arguments whose memory the results may take.
        flags: options of XLA that it needs.
        vocabulary: the floating-point operations of a matmul with the vocabulary's matrix.
        free_layouts: whether XLA chooses the layouts of arguments, as for weights and caches that
            stay on the device.
    """

    step: Callable[..., Any]
    arguments: Callable[[jnp.dtype], tuple[Any, ...]]
    says: str
    donated: tuple[int, ...] = ()
    flags: Mapping[str, bool] = field(default_factory=dict)
    vocabulary: int = 0
    free_layouts: bool = False

    def export(self, dtype: str, platform: str = "cuda") -> jax.export.Exported:
        """The program in a dtype of parameters and activations."""
        jitted = jax.jit(self.step, donate_argnums=self.donated)
        return jax.export.export(jitted, platforms=(platform,))(*self.arguments(jnp.dtype(dtype)))


def rms_norm(gain: jax.Array, x: jax.Array) -> jax.Array:
    """Normalizes to rms 1, with statistics in f32, as bf16 models do."""
    wide = x.astype(jnp.float32)
    scale = jax.lax.rsqrt(jnp.mean(jnp.square(wide), -1, keepdims=True) + 1e-5)
    return (wide * scale).astype(x.dtype) * gain


def cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Mean of the negative log-softmax at the labels, in f32, as bf16 models compute it."""
    wide = logits.astype(jnp.float32)
    chosen = jnp.take_along_axis(wide, labels[..., None], axis=-1)[..., 0]
    return (jax.nn.logsumexp(wide, axis=-1) - chosen).mean()


def softmax(x: jax.Array) -> jax.Array:
    """Softmax with its sums in f32."""
    return jax.nn.softmax(x.astype(jnp.float32), axis=-1).astype(x.dtype)


def swiglu(layer: Tree, x: jax.Array) -> jax.Array:
    """A gated MLP."""
    return (jax.nn.silu(x @ layer["gate"]) * (x @ layer["up"])) @ layer["down"]


def swiglu_shapes(width: int, hidden: int, dtype: jnp.dtype) -> Tree:
    """The weights of a gated MLP."""
    wide, narrow = Shape((width, hidden), dtype), Shape((hidden, width), dtype)
    return {"gate": wide, "up": wide, "down": narrow}


def momentum(loss: Callable[..., jax.Array]) -> Callable[..., Any]:
    """A step of stochastic gradient descent, whose momentum and arithmetic are f32."""

    def step(params: Tree, state: Tree, *batch: jax.Array) -> tuple[Tree, Tree, jax.Array]:
        value, gradients = jax.value_and_grad(loss)(params, *batch)
        state = jax.tree.map(lambda m, g: 0.9 * m + g.astype(jnp.float32), state, gradients)
        new = jax.tree.map(
            lambda p, m: (p.astype(jnp.float32) - 1e-2 * m).astype(p.dtype), params, state
        )
        return new, state, value

    return step


def with_state(arguments: Callable[[jnp.dtype], tuple[Any, ...]]) -> Any:
    """The arguments of `momentum` from those of the loss."""

    def made(dtype: jnp.dtype) -> tuple[Any, ...]:
        params, *batch = arguments(dtype)
        state = jax.tree.map(lambda leaf: Shape(leaf.shape, jnp.float32), params)
        return params, state, *batch

    return made


def stack_loss(layers: Tree, x: jax.Array) -> jax.Array:
    """A stack of gated MLPs with residuals."""
    for layer in layers:
        x = x + swiglu(layer, rms_norm(layer["norm"], x))
    return jnp.mean(jnp.square(x.astype(jnp.float32)))


def stack_arguments(dtype: jnp.dtype) -> tuple[Any, ...]:
    """Two layers and 8,192 tokens."""
    layer = {"norm": Shape((4096,), dtype), **swiglu_shapes(4096, 14336, dtype)}
    return [layer] * 2, Shape((8192, 4096), dtype)


def attend(q: jax.Array, k: jax.Array, v: jax.Array, *, causal: bool) -> jax.Array:
    """Attention of grouped queries, (batch, length, groups, heads, head) and keys without heads."""
    scores = jnp.einsum("bqghd,bkgd->bghqk", q, k) * q.shape[-1] ** -0.5
    if causal:
        mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        scores = jnp.where(mask, scores, jnp.finfo(scores.dtype).min)
    return jnp.einsum("bghqk,bkgd->bqghd", softmax(scores), v)


def self_attention(layer: Tree, x: jax.Array, *, causal: bool) -> jax.Array:
    """Self-attention of grouped queries, without positions."""
    q = jnp.einsum("btd,dghk->btghk", x, layer["q"])
    k, v = (jnp.einsum("btd,dgk->btgk", x, layer[name]) for name in ("k", "v"))
    return jnp.einsum("btghk,ghkd->btd", attend(q, k, v, causal=causal), layer["o"])


def attention_shapes(width: int, groups: int, heads: int, dtype: jnp.dtype) -> Tree:
    """The weights of attention with some queries for each of `groups` keys."""
    head = width // heads
    each = heads // groups
    key = Shape((width, groups, head), dtype)
    q, o = Shape((width, groups, each, head), dtype), Shape((groups, each, head, width), dtype)
    return {"q": q, "k": key, "v": key, "o": o}


def llama_block(layer: Tree, x: jax.Array) -> jax.Array:
    """A block of a Llama model."""
    x = x + self_attention(layer, rms_norm(layer["norm_1"], x), causal=True)
    return x + swiglu(layer, rms_norm(layer["norm_2"], x))


def llama_loss(params: Tree, tokens: jax.Array, *, scanned: bool) -> jax.Array:
    """Mean cross-entropy of the next token."""
    x = params["embedding"][tokens[:, :-1]]
    if scanned:
        block = jax.checkpoint(llama_block)
        x = jax.lax.scan(lambda x, layer: (block(layer, x), None), x, params["layers"])[0]
    else:
        for layer in params["layers"]:
            x = llama_block(layer, x)
    return cross_entropy(rms_norm(params["norm"], x) @ params["head"], tokens[:, 1:])


def llama_shapes(dtype: jnp.dtype) -> tuple[Tree, Tree]:
    """A layer of TinyLlama, and the other parameters."""
    norm = Shape((2048,), dtype)
    layer = {
        "norm_1": norm,
        "norm_2": norm,
        **attention_shapes(2048, 4, 32, dtype),
        **swiglu_shapes(2048, 5632, dtype),
    }
    vocabulary = {"embedding": Shape((32000, 2048), dtype), "head": Shape((2048, 32000), dtype)}
    return layer, {"norm": norm, **vocabulary}


def llama_arguments(dtype: jnp.dtype, *, scanned: bool) -> tuple[Any, ...]:
    """Two layers and 8 sequences of 1,024 tokens."""
    layer, others = llama_shapes(dtype)
    stacked = jax.tree.map(lambda leaf: Shape((2, *leaf.shape), leaf.dtype), layer)
    params = {**others, "layers": stacked if scanned else [layer] * 2}
    return params, Shape((8, 1025), jnp.int32)


def layer_norm(layer: Tree, x: jax.Array) -> jax.Array:
    """Normalizes to mean 0 and variance 1, with statistics in f32."""
    wide = x.astype(jnp.float32)
    centered = wide - wide.mean(-1, keepdims=True)
    scale = jax.lax.rsqrt(jnp.square(centered).mean(-1, keepdims=True) + 1e-5)
    return (centered * scale).astype(x.dtype) * layer["gain"] + layer["bias"]


def gelu_block(layer: Tree, x: jax.Array, *, causal: bool) -> jax.Array:
    """A block of GPT-2 or of a vision transformer."""
    x = x + self_attention(layer, layer_norm(layer["norm_1"], x), causal=causal)
    hidden = layer_norm(layer["norm_2"], x) @ layer["up"] + layer["up_bias"]
    return x + jax.nn.gelu(hidden, approximate=True) @ layer["down"] + layer["down_bias"]


def gelu_shapes(width: int, heads: int, dtype: jnp.dtype) -> Tree:
    """The parameters of `gelu_block`."""
    vector, hidden = Shape((width,), dtype), Shape((4 * width,), dtype)
    norm = {"gain": vector, "bias": vector}
    return {
        "norm_1": norm,
        "norm_2": norm,
        **attention_shapes(width, heads, heads, dtype),
        "up": Shape((width, 4 * width), dtype),
        "up_bias": hidden,
        "down": Shape((4 * width, width), dtype),
        "down_bias": vector,
    }


def gpt2_loss(params: Tree, tokens: jax.Array) -> jax.Array:
    """Mean cross-entropy of the next token; the embedding is the output's matrix too."""
    x = params["embedding"][tokens[:, :-1]] + params["positions"]
    for layer in params["layers"]:
        x = gelu_block(layer, x, causal=True)
    return cross_entropy(layer_norm(params["norm"], x) @ params["embedding"].T, tokens[:, 1:])


def gpt2_step(params: Tree, state: Tree, tokens: jax.Array) -> tuple[Tree, Tree, jax.Array]:
    """A step of AdamW, whose moments and arithmetic are f32."""
    loss, gradients = jax.value_and_grad(gpt2_loss)(params, tokens)
    wide = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), gradients)
    steps = (state["count"] + 1).astype(jnp.float32)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], wide)
    v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * jnp.square(g), state["v"], wide)

    def updated(param: jax.Array, m: jax.Array, v: jax.Array) -> jax.Array:
        old = param.astype(jnp.float32)
        direction = (m / (1 - 0.9**steps)) / (jnp.sqrt(v / (1 - 0.95**steps)) + 1e-8)
        return (old - 1e-3 * (direction + 0.1 * old)).astype(param.dtype)

    new = jax.tree.map(updated, params, m, v)
    return new, {"count": state["count"] + 1, "m": m, "v": v}, loss


def gpt2_arguments(dtype: jnp.dtype) -> tuple[Any, ...]:
    """Two layers of 1,024 and 8 sequences of 1,024 tokens."""
    vector = Shape((1024,), dtype)
    params = {
        "embedding": Shape((50304, 1024), dtype),
        "positions": Shape((1024, 1024), dtype),
        "layers": [gelu_shapes(1024, 16, dtype)] * 2,
        "norm": {"gain": vector, "bias": vector},
    }
    wide = jax.tree.map(lambda leaf: Shape(leaf.shape, jnp.float32), params)
    state = {"count": Shape((), jnp.int32), "m": wide, "v": wide}
    return params, state, Shape((8, 1025), jnp.int32)


def vit_loss(params: Tree, images: jax.Array, labels: jax.Array) -> jax.Array:
    """Mean cross-entropy of the class of an image, of patches of 16 x 16 pixels."""
    batch = images.shape[0]
    patches = images.reshape(batch, 14, 16, 14, 16, 3).transpose(0, 1, 3, 2, 4, 5)
    x = patches.reshape(batch, 196, 768) @ params["patches"]
    first = jnp.broadcast_to(params["class"], (batch, 1, x.shape[-1]))
    x = jnp.concatenate([first, x], axis=1) + params["positions"]
    for layer in params["layers"]:
        x = gelu_block(layer, x, causal=False)
    return cross_entropy(layer_norm(params["norm"], x)[:, 0] @ params["head"], labels)


def vit_arguments(dtype: jnp.dtype) -> tuple[Any, ...]:
    """Two layers of 1,024 and 80 images."""
    vector = Shape((1024,), dtype)
    params = {
        "patches": Shape((768, 1024), dtype),
        "class": vector,
        "positions": Shape((197, 1024), dtype),
        "layers": [gelu_shapes(1024, 16, dtype)] * 2,
        "norm": {"gain": vector, "bias": vector},
        "head": Shape((1024, 1000), dtype),
    }
    return params, Shape((80, 224, 224, 3), dtype), Shape((80,), jnp.int32)


def moe_loss(params: Tree, x: jax.Array, experts: jax.Array) -> jax.Array:
    """Experts as batched einsums: tokens are dispatched and combined by one-hot matrices."""
    count, capacity = params["up"].shape[0], x.shape[0] // params["up"].shape[0]
    chosen = jax.nn.one_hot(experts, count, dtype=jnp.int32)
    place = jnp.sum((jnp.cumsum(chosen, axis=0) - 1) * chosen, axis=1)
    slots = jax.nn.one_hot(place, capacity, dtype=x.dtype)
    dispatch = chosen.astype(x.dtype)[:, :, None] * slots[:, None, :]
    inside = jnp.einsum("td,tec->ecd", x, dispatch)
    hidden = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", inside, params["up"]), approximate=True)
    outside = jnp.einsum("ecf,efd->ecd", hidden, params["down"])
    y = x + jnp.einsum("ecd,tec->td", outside, dispatch)
    return jnp.mean(jnp.square(y.astype(jnp.float32)))


def moe_arguments(dtype: jnp.dtype) -> tuple[Any, ...]:
    """Eight experts of 2,048 x 8,192 and 4,096 tokens."""
    params = {"up": Shape((8, 2048, 8192), dtype), "down": Shape((8, 8192, 2048), dtype)}
    return params, Shape((4096, 2048), dtype), Shape((4096,), jnp.int32)


def conv_loss(layers: Tree, x: jax.Array) -> jax.Array:
    """Convolutions of 3 x 3 with normalization and ReLU."""
    for layer in layers:
        y = jax.lax.conv_general_dilated(
            x, layer["kernel"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jax.nn.relu(layer_norm(layer, y))
    return jnp.mean(jnp.square(x.astype(jnp.float32)))


def conv_arguments(dtype: jnp.dtype) -> tuple[Any, ...]:
    """Four convolutions of 256 channels and 64 images of 32 x 32."""
    vector = Shape((256,), dtype)
    layer = {"kernel": Shape((3, 3, 256, 256), dtype), "gain": vector, "bias": vector}
    return [layer] * 4, Shape((64, 32, 32, 256), dtype)


def decode_layer(layer: Tree, x: jax.Array, cache: Tree, place: jax.Array) -> tuple[Any, Tree]:
    """A block of a Llama model for one new token of each sequence."""
    y = rms_norm(layer["norm_1"], x)
    q = jnp.einsum("bd,dghk->bghk", y, layer["q"])[:, None]
    new = {name: jnp.einsum("bd,dgk->bgk", y, layer[name])[:, None] for name in ("k", "v")}
    cache = {
        name: jax.lax.dynamic_update_slice_in_dim(cache[name], new[name], place, axis=1)
        for name in ("k", "v")
    }
    scores = jnp.einsum("bqghd,bkgd->bghqk", q, cache["k"]) * q.shape[-1] ** -0.5
    seen = jnp.arange(scores.shape[-1]) <= place
    scores = jnp.where(seen, scores, jnp.finfo(scores.dtype).min)
    mixed = jnp.einsum("bghqk,bkgd->bqghd", softmax(scores), cache["v"])[:, 0]
    x = x + jnp.einsum("bghk,ghkd->bd", mixed, layer["o"])
    return x + swiglu(layer, rms_norm(layer["norm_2"], x)), cache


def decode(params: Tree, caches: Tree, tokens: jax.Array, place: jax.Array) -> tuple[Any, Tree]:
    """The logits of one new token of each sequence, and the caches with it."""
    x, made = params["embedding"][tokens], []
    for layer, cache in zip(params["layers"], caches, strict=True):
        x, cache = decode_layer(layer, x, cache, place)
        made.append(cache)
    return (rms_norm(params["norm"], x) @ params["head"]).astype(jnp.float32), made


def decode_arguments(dtype: jnp.dtype) -> tuple[Any, ...]:
    """Two layers of Llama 3 8B, 16 sequences and caches of 4,096 tokens."""
    norm = Shape((4096,), dtype)
    layer = {
        "norm_1": norm,
        "norm_2": norm,
        **attention_shapes(4096, 8, 32, dtype),
        **swiglu_shapes(4096, 14336, dtype),
    }
    params = {
        "embedding": Shape((128256, 4096), dtype),
        "head": Shape((4096, 128256), dtype),
        "norm": norm,
        "layers": [layer] * 2,
    }
    cache = {name: Shape((16, 4096, 8, 128), dtype) for name in ("k", "v")}
    return params, [cache] * 2, Shape((16,), jnp.int32), Shape((), jnp.int32)


def trained(
    loss: Callable[..., jax.Array],
    arguments: Callable[[jnp.dtype], tuple[Any, ...]],
    says: str,
    **others: Any,
) -> Model:
    """A step of training by `momentum`."""
    return Model(momentum(loss), with_state(arguments), says, donated=(0, 1), **others)


_LLAMA = "width 2048, MLP 5632, 32 heads, 4 groups, vocabulary 32000, batch 8, length 1024"

MODELS: Mapping[str, Model] = {
    "stack": trained(stack_loss, stack_arguments, "2 layers of 4096 x 14336, 8192 tokens"),
    "gpt2": Model(
        gpt2_step,
        gpt2_arguments,
        "16 heads, vocabulary 50304, batch 8, length 1024, AdamW in f32",
        donated=(0, 1),
        vocabulary=2 * 8192 * 1024 * 50304,
    ),
    "llama": trained(
        partial(llama_loss, scanned=False),
        partial(llama_arguments, scanned=False),
        _LLAMA,
        vocabulary=2 * 8192 * 2048 * 32000,
    ),
    "llama-scan": trained(
        partial(llama_loss, scanned=True),
        partial(llama_arguments, scanned=True),
        _LLAMA,
        vocabulary=2 * 8192 * 2048 * 32000,
    ),
    "vit": trained(
        vit_loss,
        vit_arguments,
        "2 layers of 1024, 80 images of 224 x 224",
        flags={"xla_gpu_enable_triton_gemm": False},
    ),
    "moe": trained(moe_loss, moe_arguments, "8 experts of 2048 x 8192, 4096 tokens"),
    "conv": trained(
        conv_loss, conv_arguments, "4 convolutions of 3 x 3, 256 channels, 64 images of 32 x 32"
    ),
    "decode": Model(
        decode,
        decode_arguments,
        "2 layers of 4096 x 14336, vocabulary 128256, batch 16, caches of 4096",
        donated=(1,),
        vocabulary=2 * 16 * 4096 * 128256,
        free_layouts=True,
    ),
}
"""The models by name."""
