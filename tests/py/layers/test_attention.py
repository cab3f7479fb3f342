"""Attention: predicted sizes of gradients, and rows that a mask near the end of f32 covers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import scalify_hlo
from scalify_hlo import load_recipe
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.rules.attended import Attended, Attention
from tests.py.shared.cast_stats import casts_of, known_scales
from tests.py.shared.judge import assert_invariant, parse, program_of

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
