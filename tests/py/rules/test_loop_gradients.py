"""Gradients of recurrent models, whose backward loops and steps have values of any size."""

from __future__ import annotations

from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo import rewrite
from tests.py.shared.judge import decibels, program_of

BATCH, WIDTH, HIDDEN, STEPS = 16, 64, 32, 16


def lstm(p: Any, xs: Any) -> Any:
    """The outputs of an LSTM."""

    def cell(carry: Any, x: Any) -> Any:
        h, c = carry
        i, f, g, o = jnp.split(x @ p["w"] + h @ p["u"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((BATCH, HIDDEN))
    return jax.lax.scan(cell, (zeros, zeros), xs)[1]


def gru(p: Any, xs: Any) -> Any:
    """The outputs of a gated recurrent unit, whose cell is computed again in the backward loop."""
    gates, last = 2 * HIDDEN, slice(2 * HIDDEN, 3 * HIDDEN)

    @jax.checkpoint
    def cell(h: Any, x: Any) -> Any:
        given = x @ p["w"]
        z, r = jnp.split(jax.nn.sigmoid(given[:, :gates] + h @ p["u"][:, :gates]), 2, -1)
        n = jnp.tanh(given[:, last] + (r * h) @ p["u"][:, last])
        h = (1 - z) * n + z * h
        return h, h

    return jax.lax.scan(cell, jnp.zeros((BATCH, HIDDEN)), xs)[1]


def program(model: Any) -> tuple[jax.export.Exported, tuple[Any, ...]]:
    """The gradients of a mean of squares, and arguments."""
    random = np.random.default_rng(0)
    u, w, xs = (
        random.standard_normal(shape, np.float32)
        for shape in ((HIDDEN, 4 * HIDDEN), (WIDTH, 4 * HIDDEN), (STEPS, BATCH, WIDTH))
    )
    given = {"u": u / 6, "w": w / 8}, xs
    gradients = jax.jit(jax.grad(lambda p, x: jnp.mean(model(p, x) ** 2) * 2.0**-10))
    return jax.export.export(gradients)(*given), given


@pytest.mark.parametrize("model", [lstm, gru])
@pytest.mark.parametrize(("recipe", "least"), [("fp8", 18), ("fp16", 55)])
def test_cotangents_keep_their_size_in_backward_loops(model: Any, recipe: str, least: int) -> None:
    """A carry whose scale the body measures enters with the size of its values, and its trust.

    At size 1, the cotangent of a mean was cast without a scale, and flushed to zero.
    """
    exported, given = program(model)
    made, report = rewrite(exported, recipe=recipe, signature="scaled", report=True)
    got = scalify_hlo.asarray(made.call(*scalify_hlo.scaled_state(made, given)))
    pairs = zip(jax.tree.leaves(exported.call(*given)), jax.tree.leaves(got), strict=True)
    assert min(decibels(*pair) for pair in pairs) > least
    measured = [remark for remark in report.remarks if "is measured" in remark.message]
    assert len(measured) == report.statistics  # None is of a copy that no call reaches.
    assert made.mlir_module().count("applies stablehlo.maximum") == report.statistics


@pytest.mark.slow
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(("recipe", "least"), [("fp8", 18), ("fp16", 45)])
def test_cotangents_pass_through_many_gates(recipe: str, least: int, declared: bool) -> None:
    """A gate makes values smaller, by more than the ops of a sigmoid say.

    Behind dozens of them, a predicted size was too large by more octaves than f16 has.
    """
    width, batch, steps = 16, 2, 12

    def cell(w: Any, carry: Any, x: Any) -> Any:
        c, h = carry
        i, f, g, o = jnp.split(x @ w[0] + h @ w[1], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (c, h), h

    def loss(p: Any, xs: Any) -> Any:
        zeros = jnp.zeros((batch, width))
        for w in p:
            _, xs = jax.lax.scan(lambda *given, w=w: cell(w, *given), (zeros, zeros), xs, unroll=12)
        return jnp.mean(xs**2)

    random = np.random.default_rng(0)
    p = random.standard_normal((4, 2, width, 4 * width), np.float32) / 4
    xs = random.standard_normal((steps, batch, width), np.float32)
    exported = program_of(jax.grad(loss), p, xs)
    scales = scalify_hlo.measured_scales(exported, p, xs) if declared else None
    made = rewrite(exported, recipe=recipe, input_scale=scales)
    assert min(map(decibels, exported.call(p, xs), made.call(p, xs))) > least
