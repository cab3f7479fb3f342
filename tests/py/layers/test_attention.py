"""Predicted sizes of gradients in attention and far from unit, and rows that a mask covers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax, nn

import scalify_hlo
from scalify_hlo import load_recipe
from scalify_hlo.layers.recognition import recognize
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.rules.attended import Attended, Attention
from tests.py.shared.cast_stats import casts_of, known_scales
from tests.py.shared.judge import assert_invariant, decibels, parse, program_of, shaped

N, D = 32, 16
RECIPE = load_recipe("fp8", {"matmul.smallest": 1})


def attend(x: Any, w: Any) -> Any:
    """A layer of attention, with a residual."""
    q, k, v = jnp.split(x @ w, 3, axis=-1)
    return x + jax.nn.softmax(q @ k.T / 4) @ v


def by_hand(x: Any, w: Any) -> Any:
    """As `attend`, with a softmax whose gradient is made of what is normalized."""
    q, k, v = jnp.split(x @ w, 3, axis=-1)
    scores = jnp.exp(q @ k.T / 4)
    return x + (scores / jnp.sum(scores, axis=-1, keepdims=True)) @ v


def looked_up(layer: Callable[..., Any], ws: Any, table: Any, tokens: Any) -> Any:
    x = table[tokens]
    for w in ws:
        x = layer(x, w)
    return jnp.sum(x * x)


def scanned(layer: Callable[..., Any], ws: Any, table: Any, tokens: Any) -> Any:
    x, _ = lax.scan(lambda x, w: (layer(x, w), None), table[tokens], ws)
    return jnp.sum(x * x)


def text_of(model: Callable[..., Any], layer: Callable[..., Any], *, called: bool) -> str:
    """The gradients of a model of three layers, perhaps in a function that is called."""
    ws, table = jnp.zeros((3, D, 3 * D)), jnp.zeros((64, D))
    gradients = jax.grad(lambda *arguments: model(layer, *arguments), argnums=(0, 1))
    inner = jax.jit(gradients) if called else gradients
    exported = program_of(lambda *arguments: inner(*arguments), ws, table, jnp.zeros(N, jnp.int32))
    return str(exported.mlir_module())


@pytest.mark.parametrize("layer", [attend, by_hand])
@pytest.mark.parametrize(
    ("model", "called", "expected"),
    [
        (looked_up, False, [Attended(N, True), Attended(N, True), Attended(N, False)]),
        (looked_up, True, [Attended(N, True), Attended(N, True), Attended(N, None)]),
        (scanned, False, [None]),
    ],
)
def test_tokens_are_mixed_after_a_mean(
    model: Callable[..., Any],
    layer: Callable[..., Any],
    called: bool,
    expected: list[Attended | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Backward, the last layer comes first. All turns of a scan are one layer.

    What another loop hands on is not looked for, nor what a function is called with.
    """
    seen: dict[Any, Attended | None] = {}
    behind = Attention.behind

    def noted(self: Attention, op: Any) -> Attended | None:
        return seen.setdefault(op.results[0], behind(self, op))

    monkeypatch.setattr(Attention, "behind", noted)
    rewrite_module(parse(text_of(model, layer, called=called)), Options(RECIPE, "scaled"))
    assert list(seen.values())[-len(expected) :] == expected


def scales_of(fn: Callable[..., Any], *arguments: Any) -> list[float]:
    """log2 of the scales of all operands of matmuls."""
    exported = program_of(fn, *arguments)
    arrays = [np.asarray(a) for a in arguments]
    return known_scales(casts_of(str(exported.mlir_module()), arrays, Options(RECIPE)))


X, W = jnp.ones((N, D)), jnp.ones((D, D))
ROOT_OF_16 = 2


def test_forward_a_weight_says_nothing() -> None:
    def fn(x: Any, w: Any) -> Any:
        return scalify_hlo.dynamic_rescale_max(x) @ w @ w

    assert scales_of(fn, X, W) == [0, 0, ROOT_OF_16]


LEAST = float(np.finfo(np.float32).min)
ROWS, WIDTH = 4, 8

Mask = Callable[[jax.Array], Any]


def selected(mask: jax.Array) -> Any:
    return jax.lax.select(mask > 0, jnp.zeros(mask.shape), jnp.full(mask.shape, LEAST))


def called(mask: jax.Array) -> Any:
    """`jnp.where` is a function of its own."""
    return jnp.where(mask > 0, 0.0, LEAST)


def multiplied(mask: jax.Array) -> Any:
    return (1 - mask) * LEAST


def halved(mask: jax.Array) -> Any:
    return (1 - mask) * (LEAST / 2)


def summed(mask: jax.Array) -> Any:
    """With a causal mask, which is a constant of its own."""
    causal = np.triu(np.full((WIDTH, WIDTH), LEAST / 4, np.float32), 1)[WIDTH // 2]
    return causal + jnp.where(mask > 0, 0.0, LEAST / 2)


def constant(_: jax.Array) -> Any:
    return jnp.asarray(np.where(np.arange(WIDTH) < WIDTH, LEAST, 0.0).astype(np.float32))


def in_turns(mask: jax.Array) -> Any:
    """Before a loop in which it is added."""
    return jax.lax.fori_loop(0, 2, lambda _, m: jnp.flip(m), called(mask))


MASKS: dict[str, Mask] = {
    f.__name__: f for f in (selected, called, multiplied, halved, summed, constant, in_turns)
}


def weights_of(mask: Mask) -> Callable[..., jax.Array]:
    """A softmax over masked scores."""

    def weights(q: jax.Array, k: jax.Array, kept: jax.Array) -> jax.Array:
        return jax.nn.softmax(q @ k.T + mask(kept)[None, :])

    return weights


@pytest.mark.parametrize("element", [np.int32, np.float32])
@pytest.mark.parametrize("name", list(MASKS))
def test_rows_that_are_masked_wholly_stay_as_they_were(name: str, element: Any) -> None:
    random = np.random.default_rng(3)
    q = random.standard_normal((ROWS, WIDTH)).astype(np.float32)
    k = random.standard_normal((WIDTH, WIDTH)).astype(np.float32)
    kept = np.zeros(WIDTH, element)
    text = jax.jit(weights_of(MASKS[name]), keep_unused=True).lower(q, k, kept).as_text()
    assert_invariant(text, [q, k, kept], (-4, -4, -4))


Function = Callable[..., Any]


def squares(y: Any) -> Any:
    """The mean of squares, whose gradient is a multiple of the output."""
    return jnp.mean(y**2)


def exact_gelu(x: Any) -> Any:
    """GELU by the error function."""
    return nn.gelu(x, approximate=False)


def squared_relu(x: Any) -> Any:
    """The activation of Primer, whose data have a heavy tail."""
    return nn.relu(x) ** 2


@pytest.mark.parametrize("loss", [squares, jnp.mean, jnp.sum, lambda y: jnp.mean(jnp.abs(y))])
@pytest.mark.parametrize(
    ("activation", "name"),
    [(nn.gelu, "gelu"), (exact_gelu, "gelu"), (nn.silu, "silu"), (nn.mish, "mish")],
)
def test_gradients_of_losses_of_the_output_alone_are_found(
    activation: Function, name: str, loss: Function
) -> None:
    """The gradient of the output is a function of it, or a constant, and no unknown value."""
    gradient = jax.jit(jax.grad(lambda x: loss(activation(x))))
    exported = jax.export.export(gradient)(shaped(4, 8))
    layers = recognize(parse(str(exported.mlir_module())))
    assert [(layer.name, layer.exact) for layer in layers if layer.part == "backward"] == [
        (name, True)
    ]


def assert_is_exact(of: Function, weights: Any, x: Any) -> None:
    """Gradients under predicted scales are as exact as with measured ones, or near it.

    Sizes are declared or not.
    """
    exported = program_of(jax.grad(of), weights, x)
    wanted = exported.call(weights, x)
    scales = scalify_hlo.measured_scales(exported, weights, x)

    def ratios(recipe: str, **options: Any) -> list[float]:
        made = scalify_hlo.rewrite(exported, recipe=recipe, **options)
        return list(map(decibels, wanted, made.call(weights, x)))

    least = [min(13.0, ratio) - 1.5 for ratio in ratios("fp8-current")]
    for recipe in ("fp8", "unit"):
        for options in ({}, {"input_scale": scales}):
            found = ratios(recipe, **options)
            assert np.greater_equal(found, least).all(), (recipe, options)


def normal(seed: int, *shape: int, size: float = 1.0) -> Any:
    """Normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32) * np.float32(size)


def variational(y: Any) -> Any:
    """The divergence of a variational autoencoder from its prior."""
    mean, log_variance = jnp.split(y, 2, 1)
    return -jnp.mean(1 + log_variance - mean**2 - jnp.exp(log_variance))


def gaussian(y: Any) -> Any:
    """The negative log likelihood of normal numbers with a predicted variance."""
    mean, log_variance = jnp.split(y, 2, 1)
    return jnp.mean(jnp.exp(-log_variance) * (mean - normal(3, 64, 64)) ** 2 + log_variance)


def policy(y: Any) -> Any:
    """The clipped objective of proximal policy optimization."""
    ratio, advantage = jnp.exp(y / 16), normal(3, 64, 128)
    return jnp.mean(jnp.minimum(ratio * advantage, jnp.clip(ratio, 0.8, 1.2) * advantage))


def kurtosis(y: Any) -> Any:
    """The mean of fourth powers of normalized values."""
    centered = y - jnp.mean(y, -1, keepdims=True)
    return jnp.mean((centered * jax.lax.rsqrt(jnp.var(y, -1, keepdims=True) + 1e-5)) ** 4)


def activated(activation: Function, loss: Function = squares) -> tuple[Function, Function]:
    """An activation after each layer, and a loss of the last one's."""
    return activation, lambda y: loss(activation(y))


NETWORKS: dict[str, tuple[tuple[Function, Function], list[float], float]] = {
    # A polynomial of large values times zeros was predicted by the polynomial alone, a choice of
    # one of two values by the smaller, and a power by numbers that are all alike.
    "gelu": (activated(nn.gelu), [1.0] * 4, 1.0),
    "gelu-mean": (activated(nn.gelu, jnp.mean), [8.0] * 2, 1.0),
    "mish": (activated(nn.mish), [8.0] * 2, 1.0),
    "leaky": (activated(nn.leaky_relu), [8.0] * 2, 1.0),
    "squared-relu": (activated(squared_relu), [0.09] * 2, 1.0),
    "squared-relu-far": (activated(squared_relu), [8.0] * 2, 1.0),
    "cube": (activated(lambda x: x**3 / 3, jnp.mean), [0.09] * 2, 1.0),
    # An exponential may be larger than all else, and than any sum of which it is a term.
    "variational": ((nn.gelu, variational), [0.09, 1.0], 1.0),
    "gaussian": ((nn.gelu, gaussian), [0.09, 1.0], 1.0),
    "policy": ((nn.gelu, policy), [0.09, 8.0], 1.0),
    # The count in a variance is a number that the program computes.
    "kurtosis": ((nn.gelu, kurtosis), [0.09, 0.09], 1.0),
    # A function is as small as its operand, whose size may be that of an undeclared input.
    **{
        function.__name__: (activated(function, lambda y: jnp.mean((y - 1) ** 2)), [0.09] * 4, 1e-3)
        for function in (jnp.tanh, jnp.sin, nn.elu)
    },
    # Fractions of octaves add up: those of roots, of activations and of rounded sizes. Under `fp8`,
    # levels are whole numbers. Behind ten layers, they were wrong by eight octaves.
    "many layers": ((nn.gelu, lambda y: jnp.mean(jnp.abs(y))), [1 / 8] * 10, 1.0),
}
"""Activations and losses, the sizes of the weights of each layer, and that of the input."""


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_far_from_unit(name: str) -> None:
    (activation, loss), sizes, size = NETWORKS[name]

    def of(weights: Any, x: Any) -> Any:
        for w in weights[:-1]:
            x = activation(x @ w)
        return loss(x @ weights[-1])

    weights = [normal(seed, 128, 128, size=of_one) for seed, of_one in enumerate(sizes)]
    assert_is_exact(of, weights, normal(9, 64, 128, size=size))


@pytest.mark.slow
@pytest.mark.parametrize("size", [30.0, 1000.0])
def test_a_constant_beside_measured_data(size: float) -> None:
    """Data whose amax is measured keep their expected size in a sum with a constant near 1.

    If what is measured depends on an input that nobody declared, that size is not known.
    """

    def of(weights: Any, x: Any) -> Any:
        powers = jnp.concatenate([x, x**2, x**3], -1)
        return jnp.mean((nn.relu(powers @ weights[0]) @ weights[1] - 1) ** 2)

    weights = [normal(0, 192, 64, size=192**-0.5), normal(1, 64, 1, size=1 / 8)]
    assert_is_exact(of, weights, normal(9, 32, 64, size=size))
