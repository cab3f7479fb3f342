"""Models and training steps whose matmuls have roles that are known by construction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import jax
import jax.numpy as jnp
from jax import lax

from tests.py.shared.judge import shaped

Tree = Any
Loss = Callable[..., jax.Array]


@dataclass(frozen=True)
class Sizes:
    """The sizes of a model: all different, or all the same, where shapes tell nothing."""

    batch: int = 6
    sequence: int = 5
    inner: int = 12
    width: int = 8
    classes: int = 10
    heads: int = 2
    experts: int = 3
    steps: int = 3


DISTINCT: Final = Sizes()
SQUARE: Final = Sizes(8, 8, 8, 8, 8, 2, 8, 8)


@dataclass(frozen=True)
class Model:
    """A program, as a function of sizes.

    Attributes:
        name: What it is called in tests.
        build: Makes a function and its arguments.
        counts: How many matmuls of which part and roles it has: ``f`` forward, ``b`` backward and
            ``o`` other, then the roles of both operands in order of the alphabet, ``a``, ``g`` and
            ``w``. A loop's body counts once.
        cotangents: How many of the last arguments are cotangents.
        vocabulary: How many project to a vocabulary, or are backward ones of such.
    """

    name: str
    build: Callable[[Sizes], tuple[Callable[..., Any], tuple[Any, ...]]]
    counts: Mapping[str, int] = field(default_factory=dict)
    cotangents: int = 0
    vocabulary: int = 0


def labels(*shape: int) -> jax.ShapeDtypeStruct:
    """An integer argument."""
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def sgd(loss: Loss) -> Callable[..., Any]:
    """A training step of plain gradient descent."""

    def step(params: Tree, *batch: jax.Array) -> tuple[Tree, jax.Array]:
        value, gradients = jax.value_and_grad(loss)(params, *batch)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), value

    return step


def cross_entropy(logits: jax.Array, y: jax.Array) -> jax.Array:
    """Mean negative log likelihood."""
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[..., None], -1))


def norm(x: jax.Array) -> jax.Array:
    """Layer norm without parameters."""
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


# Multilayer perceptrons


def mlp_params(s: Sizes) -> Tree:
    """Three layers."""
    return [shaped(s.inner, s.width), shaped(s.width, s.inner), shaped(s.inner, s.classes)]


def mlp(params: Tree, x: jax.Array) -> Any:
    """Two hidden layers."""
    first, second, head = params
    return jax.nn.gelu(jax.nn.relu(x @ first) @ second) @ head


def mlp_loss(params: Tree, x: jax.Array, y: jax.Array) -> jax.Array:
    """Cross entropy of an MLP."""
    return cross_entropy(mlp(params, x), y)


def mlp_batch(s: Sizes) -> tuple[Any, ...]:
    """Features and labels."""
    return shaped(s.batch, s.inner), labels(s.batch)


def mlp_step(s: Sizes) -> tuple[Any, Any]:
    """A step."""
    return sgd(mlp_loss), (mlp_params(s), *mlp_batch(s))


def mlp_jitted(s: Sizes) -> tuple[Any, Any]:
    """Layers that are functions of their own, one called twice."""
    layer = jax.jit(lambda w, x: jax.nn.relu(x @ w))

    def loss(params: Tree, x: jax.Array, y: jax.Array) -> jax.Array:
        first, second, third, head = params
        return cross_entropy(layer(third, layer(second, layer(first, x))) @ head, y)

    square = shaped(s.inner, s.inner)
    return sgd(loss), ([square, square, square, shaped(s.inner, s.classes)], *mlp_batch(s))


def mlp_inference(s: Sizes) -> tuple[Any, Any]:
    """No backward pass."""
    return mlp, (mlp_params(s), mlp_batch(s)[0])


def mlp_checkpoint(s: Sizes) -> tuple[Any, Any]:
    """The hidden layers are computed again."""

    @jax.checkpoint
    def hidden(first: jax.Array, second: jax.Array, x: jax.Array) -> jax.Array:
        return jax.nn.gelu(jax.nn.relu(x @ first) @ second)

    def loss(params: Tree, x: jax.Array, y: jax.Array) -> jax.Array:
        return cross_entropy(hidden(params[0], params[1], x) @ params[2], y)

    return sgd(loss), (mlp_params(s), *mlp_batch(s))


def mlp_vmapped(s: Sizes) -> tuple[Any, Any]:
    """Gradients of each example on its own."""

    def step(params: Tree, x: jax.Array, y: jax.Array) -> Tree:
        return jax.vmap(jax.grad(mlp_loss), (None, 0, 0))(params, x, y)

    return step, (mlp_params(s), shaped(s.batch, s.steps, s.inner), labels(s.batch, s.steps))


def mlp_accumulated(s: Sizes) -> tuple[Any, Any]:
    """Gradients are summed over microbatches in a loop."""

    def step(params: Tree, x: jax.Array, y: jax.Array) -> Tree:
        def turn(total: Tree, batch: tuple[jax.Array, jax.Array]) -> tuple[Tree, None]:
            gradients = jax.grad(mlp_loss)(params, *batch)
            return jax.tree.map(jnp.add, total, gradients), None

        total, _ = lax.scan(turn, jax.tree.map(jnp.zeros_like, params), (x, y))
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, total)

    return step, (
        mlp_params(s),
        shaped(s.steps, s.batch, s.inner),
        labels(s.steps, s.batch),
    )


def mlp_accumulated_unrolled(s: Sizes) -> tuple[Any, Any]:
    """Gradients are summed over two microbatches, one written after the other."""

    def step(params: Tree, xs: jax.Array, ys: jax.Array) -> Tree:
        first, second = (jax.grad(mlp_loss)(params, xs[i], ys[i]) for i in range(2))
        return jax.tree.map(lambda p, g, h: p - 0.1 * (g + h), params, first, second)

    return step, (mlp_params(s), shaped(2, s.batch, s.inner), labels(2, s.batch))


def mlp_loop(s: Sizes) -> tuple[Any, Any]:
    """Several steps in a loop."""

    def steps(params: Tree, x: jax.Array, y: jax.Array) -> Any:
        return lax.scan(lambda p, batch: sgd(mlp_loss)(p, *batch), params, (x, y))

    return steps, (mlp_params(s), shaped(s.steps, s.batch, s.inner), labels(s.steps, s.batch))


def mlp_vjp(s: Sizes) -> tuple[Any, Any]:
    """The vjp of an export: the cotangent of the result is the last argument."""

    def pull_back(params: Tree, x: jax.Array, ct: jax.Array) -> Any:
        return jax.vjp(mlp, params, x)[1](ct)

    x = shaped(s.batch, s.inner)
    return pull_back, (mlp_params(s), x, shaped(s.batch, s.classes))


def mlp_frozen(s: Sizes) -> tuple[Any, Any]:
    """Only the first layer gets a gradient."""

    def step(params: Tree, x: jax.Array, y: jax.Array) -> Any:
        first, *rest = params
        return first - jax.grad(lambda w: mlp_loss([w, *rest], x, y))(first)

    return step, (mlp_params(s), *mlp_batch(s))


def classifier(s: Sizes) -> tuple[Any, Any]:
    """One layer."""
    step = sgd(lambda w, x, y: cross_entropy(x @ w, y))
    return step, (shaped(s.inner, s.classes), *mlp_batch(s))


def adapters(s: Sizes) -> tuple[Any, Any]:
    """Frozen weights, and small ones beside them that learn."""

    def step(adapters: Tree, params: Tree, x: jax.Array, y: jax.Array) -> Any:
        def loss(adapters: Tree) -> jax.Array:
            h = x
            for w, (down, up) in zip(params, adapters, strict=True):
                h = jax.nn.gelu(h @ w + (h @ down) @ up)
            return jnp.mean((h - y[:, None]) ** 2)

        gradients = jax.grad(loss)(adapters)
        return jax.tree.map(lambda p, g: p - 0.1 * g, adapters, gradients)

    params = mlp_params(s)
    small = [(shaped(w.shape[0], s.experts), shaped(s.experts, w.shape[1])) for w in params]
    return step, (small, params, *mlp_batch(s))


def twins(s: Sizes) -> tuple[Any, Any]:
    """Two batches go through the same weights, and are compared."""

    def loss(params: Tree, x: jax.Array, y: jax.Array) -> jax.Array:
        return cross_entropy(mlp(params, x) @ mlp(params, y).T, jnp.arange(x.shape[0]))

    return sgd(loss), (mlp_params(s), shaped(s.batch, s.inner), shaped(s.batch, s.inner))


# Derivatives that are not the first


def hessian_product(params: Tree, tangent: Tree, x: jax.Array, y: jax.Array) -> Tree:
    """Forward derivatives of gradients."""
    gradient = jax.grad(lambda p: mlp_loss(p, x, y))
    return jax.jvp(gradient, (params,), (tangent,))[1]


def gradient_penalty(params: Tree, x: jax.Array, y: jax.Array) -> Tree:
    """A loss with the gradient of the input in it."""

    def loss(params: Tree) -> jax.Array:
        inputs = jax.grad(lambda x: mlp(params, x).sum())(x)
        return mlp_loss(params, x, y) + jnp.sum(inputs**2)

    return jax.grad(loss)(params)


def gradient_of_gradient(params: Tree, x: jax.Array, y: jax.Array) -> Tree:
    """A loss that is the gradient's size."""

    def size(params: Tree) -> Any:
        gradients = jax.grad(mlp_loss)(params, x, y)
        return sum(jnp.sum(g**2) for g in gradients)

    return jax.grad(size)(params)


def saliency(params: Tree, x: jax.Array, y: jax.Array) -> Any:
    """The gradient of the input alone, which looks like more layers with tied weights."""
    return jax.grad(mlp_loss, 1)(params, x, y)


def jacobian_backward(params: Tree, x: jax.Array, y: jax.Array) -> Any:
    """A Jacobian by rows."""
    del y
    return jax.jacrev(mlp, 1)(params, x)


def jacobian_forward(params: Tree, x: jax.Array, y: jax.Array) -> Any:
    """A Jacobian by columns: no gradients."""
    del y
    return jax.jacfwd(mlp, 1)(params, x)


def custom(s: Sizes) -> tuple[Any, Any]:
    """A layer with a backward pass of its own, which has the gradient as its second operand."""

    @jax.custom_vjp
    def layer(w: jax.Array, x: jax.Array) -> jax.Array:
        return x @ w

    def forward(w: jax.Array, x: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        return x @ w, (w, x)

    def backward(kept: tuple[jax.Array, jax.Array], g: jax.Array) -> tuple[jax.Array, jax.Array]:
        w, x = kept
        return x.T @ g, (w @ g.T).T

    layer.defvjp(forward, backward)

    def loss(params: Tree, x: jax.Array, y: jax.Array) -> jax.Array:
        first, second, head = params
        hidden = jax.nn.gelu(layer(second, jax.nn.relu(layer(first, x))))
        return cross_entropy(layer(head, hidden), y)

    return sgd(loss), (mlp_params(s), *mlp_batch(s))


def autoencoder(params: Tree, x: jax.Array) -> Any:
    """Encoder and decoder share a weight."""
    return jax.nn.relu(x @ params[0]) @ params[0].T


def autoencoder_inference(s: Sizes) -> tuple[Any, Any]:
    """The second matmul looks like the backward one of the first."""
    return autoencoder, ([shaped(s.inner, s.width)], shaped(s.batch, s.inner))


def autoencoder_step(s: Sizes) -> tuple[Any, Any]:
    """Training it."""

    def loss(params: Tree, x: jax.Array) -> jax.Array:
        return jnp.mean((autoencoder(params, x) - x) ** 2)

    return sgd(loss), ([shaped(s.inner, s.width)], shaped(s.batch, s.inner))


# Convolutions


def convolve(x: jax.Array, kernel: jax.Array, stride: int = 1) -> jax.Array:
    """A convolution with padding."""
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, kernel, (stride,) * 2, "SAME", dimension_numbers=numbers)


def cnn(params: Tree, x: jax.Array) -> Any:
    """Two convolutions and a classifier."""
    first, second, head = params
    x = jax.nn.relu(convolve(jax.nn.relu(convolve(x, first)), second, 2))
    return x.mean((1, 2)) @ head


def cnn_arguments(s: Sizes) -> Any:
    """Images."""
    params = [shaped(3, 3, 4, s.width), shaped(3, 3, s.width, s.inner), shaped(s.inner, s.classes)]
    return params, shaped(s.batch, 8, 8, 4)


def cnn_step(s: Sizes) -> tuple[Any, Any]:
    """A step."""
    loss = sgd(lambda params, x, y: cross_entropy(cnn(params, x), y))
    return loss, (*cnn_arguments(s), labels(s.batch))


def cnn_inference(s: Sizes) -> tuple[Any, Any]:
    """No backward pass."""
    return cnn, cnn_arguments(s)


# Recurrent networks


def cell(params: Tree, h: jax.Array, x: jax.Array) -> jax.Array:
    """One turn of a simple RNN."""
    return jnp.tanh(x @ params["x"] + h @ params["h"])


def rnn_arguments(s: Sizes) -> tuple[Any, ...]:
    """Weights and a sequence."""
    params = {"x": shaped(s.inner, s.width), "h": shaped(s.width, s.width)}
    params["out"] = shaped(s.width, s.classes)
    return params, shaped(s.steps, s.batch, s.inner), labels(s.batch)


def rnn_scanned(s: Sizes) -> tuple[Any, Any]:
    """A loop over time."""

    def loss(params: Tree, xs: jax.Array, y: jax.Array) -> jax.Array:
        start = jnp.zeros((xs.shape[1], params["h"].shape[0]))
        h, _ = lax.scan(lambda h, x: (cell(params, h, x), None), start, xs)
        return cross_entropy(h @ params["out"], y)

    return sgd(loss), rnn_arguments(s)


def rnn_unrolled(s: Sizes) -> tuple[Any, Any]:
    """Time is written out."""

    def loss(params: Tree, xs: jax.Array, y: jax.Array) -> jax.Array:
        h = jnp.zeros((xs.shape[1], params["h"].shape[0]))
        for t in range(3):
            h = cell(params, h, xs[t])
        return cross_entropy(h @ params["out"], y)

    return sgd(loss), rnn_arguments(s)


def gated(s: Sizes) -> tuple[Any, Any]:
    """Elementwise gates carry the state on, as an update carries weights; it is an argument."""

    def turn(p: Tree, h: jax.Array, x: jax.Array) -> jax.Array:
        gate = jax.nn.sigmoid(x @ p["zx"] + h @ p["zh"])
        return (1 - gate) * h + gate * jnp.tanh(x @ p["nx"] + h @ p["nh"])

    def loss(p: Tree, start: jax.Array, xs: jax.Array, y: jax.Array) -> jax.Array:
        h, _ = lax.scan(lambda h, x: (turn(p, h, x), None), start, xs)
        return cross_entropy(h @ p["out"], y)

    params = {name: shaped(s.inner, s.width) for name in ("zx", "nx")}
    params |= {name: shaped(s.width, s.width) for name in ("zh", "nh")}
    params["out"] = shaped(s.width, s.classes)
    _, xs, y = rnn_arguments(s)
    return sgd(loss), (params, shaped(s.batch, s.width), xs, y)
