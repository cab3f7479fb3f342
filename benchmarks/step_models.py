"""The models of `benchmarks.step_memory`: seven kinds in plain JAX, with their layers in loops.

Weights and moments of AdamW are f32, and the model computes in bf16, with normalizations, softmax
and losses in f32. No array is made.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import lax

from examples.training import cross_entropy, training_step

Tree = Any
Shape = jax.ShapeDtypeStruct
ADAMW = optax.adamw(1e-4, b1=0.9, b2=0.95, weight_decay=0.1)
WIDTH, LAYERS, HEAD, TIME, BATCH, VOCAB = 2048, 8, 128, 1024, 8, 32_000
EXPERTS, CHOSEN, STATE, IMAGE = 8, 2, 16, 32


@dataclass(frozen=True)
class Model:
    """A model.

    Attributes:
        loss: The loss of parameters in bf16 and a batch.
        params: The shapes of the parameters, by their names.
        batch: The shapes of a batch.
    """

    loss: Callable[..., jax.Array]
    params: Tree
    batch: tuple[Shape, ...]

    def export(self, platform: str) -> jax.export.Exported:
        """A training step, whose parameters and state are donated."""

        def loss(params: Tree, *batch: jax.Array) -> jax.Array:
            cast = jax.tree.map(lambda w: w.astype(jnp.bfloat16), params)
            return self.loss(cast, *batch)

        params = jax.tree.map(lambda shape: Shape(shape, jnp.float32), self.params, is_leaf=_is)
        given = params, jax.eval_shape(ADAMW.init, params), *self.batch
        step = jax.jit(training_step(loss, ADAMW), donate_argnums=(0, 1))
        return jax.export.export(step, platforms=(platform,))(*given)


def _is(leaf: object) -> bool:
    return isinstance(leaf, tuple)


def norm(x: jax.Array, gain: jax.Array, *, centered: bool = False) -> jax.Array:
    """RMS norm, or layer norm without a bias, in f32."""
    y = x.astype(jnp.float32)
    y = y - jnp.mean(y, -1, keepdims=True) if centered else y
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5)).astype(x.dtype) * gain


def attention(x: jax.Array, w: Tree, *, causal: bool) -> jax.Array:
    """Self-attention."""
    batch, time, width = x.shape
    q, k, v = ((x @ w[n]).reshape(batch, time, width // HEAD, HEAD) for n in "qkv")
    scores = jnp.einsum("bthd,bshd->bhts", q, k).astype(jnp.float32) / math.sqrt(HEAD)
    if causal:
        scores = jnp.where(jnp.tri(time, dtype=bool), scores, -1e30)
    shares = jax.nn.softmax(scores, -1).astype(x.dtype)
    return jnp.einsum("bhts,bshd->bthd", shares, v).reshape(x.shape) @ w["o"]


def gelu_mlp(x: jax.Array, w: Tree) -> jax.Array:
    """Two layers with a GELU between."""
    return jax.nn.gelu(x @ w["up"]) @ w["down"]


def swiglu(x: jax.Array, w: Tree) -> jax.Array:
    """A gated MLP, or that of each expert."""
    return (jax.nn.silu(x @ w["gate"]) * (x @ w["up"])) @ w["down"]


def mixture(x: jax.Array, w: Tree) -> jax.Array:
    """Experts, each of which takes the tokens whose shares of it are largest."""
    tokens = x.reshape(-1, WIDTH)
    room = len(tokens) * CHOSEN // EXPERTS
    shares, chosen = lax.top_k(jax.nn.softmax((tokens @ w["router"]).astype(jnp.float32)).T, room)
    found = swiglu(tokens[chosen], w) * shares[..., None].astype(x.dtype)
    return (
        jnp.zeros_like(tokens).at[chosen.reshape(-1)].add(found.reshape(-1, WIDTH)).reshape(x.shape)
    )


def stack(mixing: Any, mlp: Any, centered: bool, layers: Tree, x: jax.Array) -> jax.Array:
    """Layers in a loop."""

    def layer(x: jax.Array, w: Tree) -> tuple[jax.Array, None]:
        x = x + mixing(norm(x, w["norm1"], centered=centered), w)
        return x + mlp(norm(x, w["norm2"], centered=centered), w), None

    return lax.scan(layer, x, layers)[0]


def language(run: Any, params: Tree, tokens: jax.Array) -> jax.Array:
    """The loss of a language model."""
    x = run(params["layers"], params["embedding"][tokens[:, :-1]])
    logits = (norm(x, params["norm"]) @ params["head"]).astype(jnp.float32)
    return cross_entropy(logits, tokens[:, 1:])


def classes(run: Any, params: Tree, patches: jax.Array, labels: jax.Array) -> jax.Array:
    """The loss of a classifier of images in patches."""
    x = run(params["layers"], patches @ params["patches"] + params["positions"])
    logits = jnp.mean(norm(x, params["norm"]), 1) @ params["head"]
    return cross_entropy(logits.astype(jnp.float32), labels)


def recurrent(layers: Tree, x: jax.Array) -> jax.Array:
    """Layers of LSTM cells, in a loop over time."""

    def turn(states: Any, x: jax.Array) -> Any:
        new = []
        for (h, c), w in zip(states, layers, strict=True):
            i, f, g, o = jnp.split(x @ w["x"] + h @ w["h"] + w["bias"], 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            x = jax.nn.sigmoid(o) * jnp.tanh(c)
            new.append((x, c))
        return new, x

    zeros = jnp.zeros_like(x[:, 0])
    return lax.scan(turn, [(zeros, zeros)] * len(layers), x.swapaxes(0, 1))[1].swapaxes(0, 1)


def selective(x: jax.Array, w: Tree) -> jax.Array:
    """A selective state space, in a loop over time, as of Mamba."""
    u, gate = jnp.split(x @ w["in"], 2, -1)
    u = jax.nn.silu(u)
    step = jax.nn.softplus(u @ w["step"])
    b, c = jnp.split(u @ w["bc"], 2, -1)

    def turn(h: jax.Array, row: Any) -> Any:
        step, u, b, c = row
        h = jnp.exp(-step[..., None] * w["decay"]) * h + (step * u)[..., None] * b[:, None]
        return h, jnp.einsum("bws,bs->bw", h, c)

    rows = [each.swapaxes(0, 1) for each in (step, u, b, c)]
    start = jnp.zeros((*u.shape[::2], STATE), x.dtype)
    mixed = lax.scan(jax.checkpoint(turn), start, tuple(rows))[1].swapaxes(0, 1)
    return (mixed * jax.nn.silu(gate)) @ w["out"]


def mamba(layers: Tree, x: jax.Array) -> jax.Array:
    """Layers of selective state spaces."""
    return lax.scan(lambda x, w: (x + selective(norm(x, w["norm1"]), w), None), x, layers)[0]


def convolved(x: jax.Array, w: jax.Array, stride: int = 1) -> jax.Array:
    """A convolution of images (batch, height, width, channels)."""
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=numbers)


def residual(x: jax.Array, w: Tree, time: jax.Array) -> jax.Array:
    """Two convolutions with group norms, and the time between."""

    def normal(x: jax.Array) -> jax.Array:
        y = x.reshape(*x.shape[:-1], -1, 32).astype(jnp.float32)
        y = y - jnp.mean(y, (1, 2, 4), keepdims=True)
        y = y * lax.rsqrt(jnp.mean(y * y, (1, 2, 4), keepdims=True) + 1e-5)
        return jax.nn.silu(y.reshape(x.shape).astype(x.dtype))

    y = convolved(normal(x), w["first"]) + (time @ w["time"])[:, None, None]
    return x + convolved(normal(y), w["second"])


def denoised(params: Tree, noisy: jax.Array, time: jax.Array, noise: jax.Array) -> jax.Array:
    """The loss of a U-Net that predicts noise, of two blocks at each of three sizes."""
    x, kept = convolved(noisy, params["in"]), []
    for level in params["down"]:
        for block in level["blocks"]:
            x = residual(x, block, time)
        kept.append(x)
        x = convolved(x, level["to"], stride=2)
    for level, skipped in zip(params["up"], reversed(kept), strict=True):
        x = jnp.repeat(jnp.repeat(convolved(x, level["to"]), 2, 1), 2, 2)
        x = x + skipped
        for block in level["blocks"]:
            x = residual(x, block, time)
    found = convolved(jax.nn.silu(x), params["out"])
    return jnp.mean((found.astype(jnp.float32) - noise) ** 2)


def _layer(hidden: int, *, gated: bool = True, experts: int = 0) -> Tree:
    many = (LAYERS, *[experts] * bool(experts))
    square, up, down = (WIDTH, WIDTH), (*many, WIDTH, hidden), (*many, hidden, WIDTH)
    found: Tree = dict.fromkeys("qkvo", (LAYERS, *square)) | {"up": up, "down": down}
    found |= {"gate": up} if gated else {}
    found |= {"router": (LAYERS, WIDTH, experts)} if experts else {}
    return found | {"norm1": (LAYERS, WIDTH), "norm2": (LAYERS, WIDTH)}


def _spoken(run: Any, layers: Tree) -> Model:
    params: Tree = {"layers": layers, "embedding": (VOCAB, WIDTH), "head": (WIDTH, VOCAB)}
    tokens = Shape((BATCH, TIME + 1), jnp.int32)
    return Model(partial(language, run), {**params, "norm": (WIDTH,)}, (tokens,))


def _seen() -> Model:
    run = partial(stack, partial(attention, causal=False), gelu_mlp, True)
    params = {"layers": _layer(4 * WIDTH, gated=False), "patches": (588, WIDTH)}
    params |= {"positions": (256, WIDTH), "norm": (WIDTH,), "head": (WIDTH, 1000)}
    batch = Shape((32, 256, 588), jnp.bfloat16), Shape((32,), jnp.int32)
    return Model(partial(classes, run), params, batch)


def _drawn() -> Model:
    sizes = [256, 512, 1024]
    block = {s: {"first": (3, 3, s, s), "second": (3, 3, s, s), "time": (256, s)} for s in sizes}
    after = [*sizes[1:], sizes[-1]]
    down = [
        {"blocks": [block[s]] * 2, "to": (3, 3, s, n)} for s, n in zip(sizes, after, strict=True)
    ]
    up = [{"blocks": [block[s]] * 2, "to": (3, 3, n, s)} for s, n in zip(sizes, after, strict=True)]
    params = {"in": (3, 3, 4, sizes[0]), "out": (3, 3, sizes[0], 4), "down": down, "up": up[::-1]}
    images = Shape((64, IMAGE, IMAGE, 4), jnp.bfloat16)
    time, noise = Shape((64, 256), jnp.bfloat16), Shape(images.shape, jnp.float32)
    return Model(denoised, params, (images, time, noise))


def _cells() -> list[Tree]:
    square = (WIDTH, 4 * WIDTH)
    return [{"x": square, "h": square, "bias": (4 * WIDTH,)}] * 2


def _spaces() -> Tree:
    inner = 2 * WIDTH
    shapes: Tree = {"in": (WIDTH, 2 * inner), "step": (inner, inner), "bc": (inner, 2 * STATE)}
    shapes |= {"decay": (inner, STATE), "out": (inner, WIDTH), "norm1": (WIDTH,)}
    return {name: (LAYERS // 2, *shape) for name, shape in shapes.items()}


_CAUSAL = partial(attention, causal=True)
MODELS: dict[str, Callable[[], Model]] = {
    "gpt2": lambda: _spoken(
        partial(stack, _CAUSAL, gelu_mlp, True), _layer(4 * WIDTH, gated=False)
    ),
    "llama": lambda: _spoken(partial(stack, _CAUSAL, swiglu, False), _layer(5632)),
    "vit": _seen,
    "experts": lambda: _spoken(
        partial(stack, _CAUSAL, mixture, False), _layer(1408, experts=EXPERTS)
    ),
    "lstm": lambda: _spoken(recurrent, _cells()),
    "mamba": lambda: _spoken(mamba, _spaces()),
    "unet": _drawn,
}
"""The models by name."""
