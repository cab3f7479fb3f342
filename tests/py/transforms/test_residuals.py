"""Residuals of loops: fewer bytes, and the same values."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.passes.summary import summary
from scalify_hlo.transforms.residuals import Saved, cut_residuals
from tests.py.shared.judge import parse, stablehlo_of
from tests.py.shared.residual_steps import both, same, same_values

_LAYERS, _ROWS, _WIDTH, _HIDDEN = 3, 4, 8, 16
_DECLARED = {"input_scale": {"*": 0.5}}


def _norm(x: Any, gain: Any) -> Any:
    wide = x.astype(jnp.float32)
    scale = lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)
    return (wide * scale).astype(x.dtype) * gain


def _mlp(x: Any, w: Any) -> Any:
    h = _norm(x, w["gain"])
    return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]


def _attention(x: Any, w: Any) -> Any:
    q, k, v = (x @ w[n] for n in ("gate", "up", "other"))
    p = jax.nn.softmax(q @ k.T, -1)
    return x + (p @ v) @ w["down"]


def _dropped(x: Any, w: Any) -> Any:
    bits = lax.bitcast_convert_type(x, jnp.uint32)
    kept = (bits ^ (bits >> 9)) % 3 > 0
    return jnp.where(kept, jnp.tanh(x @ w["gate"]) @ w["down"], 0.0)


def _weights() -> dict[str, Any]:
    shapes = {
        **dict.fromkeys(("gate", "up", "other"), (_LAYERS, _WIDTH, _HIDDEN)),
        "down": (_LAYERS, _HIDDEN, _WIDTH),
        "gain": (_LAYERS, _WIDTH),
    }
    random = np.random.default_rng(0)
    return {n: jnp.asarray(random.normal(0, 0.5, s), jnp.float32) for n, s in shapes.items()}


def _step(layer: Callable[..., Any], reverse: bool, weights: Any, x: Any) -> Any:
    def loss(weights: Any) -> Any:
        y, outputs = lax.scan(lambda x, w: (layer(x, w), x[0]), x, weights, reverse=reverse)
        return jnp.sum(y * y) + jnp.sum(outputs)

    return jax.value_and_grad(loss)(weights)


def _unrolled(layer: Callable[..., Any], weights: Any, x: Any) -> Any:
    def loss(weights: Any) -> Any:
        y = x
        for i in range(_LAYERS):
            y = layer(y, jax.tree.map(operator.itemgetter(i), weights))
        return jnp.mean(y**2), y

    return jax.value_and_grad(loss, has_aux=True)(weights)


def _in_batches(layer: Callable[..., Any], weights: Any, x: Any) -> Any:
    def turn(total: Any, part: Any) -> Any:
        found = _unrolled(layer, weights, part)[1]
        return jax.tree.map(jnp.add, total, found), None

    parts = jnp.stack([x, x + 1])
    return lax.scan(turn, jax.tree.map(jnp.zeros_like, weights), parts)[0]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("recipe", ["propagate", "fp8-current", "unit", "mxfp8"])
@pytest.mark.parametrize("layer", [_mlp, _attention, _dropped])
def test_loops_keep_less_and_give_thesame(
    layer: Callable[..., Any], recipe: str, reverse: bool
) -> None:
    x = jnp.asarray(np.random.default_rng(1).normal(0, 1, (_ROWS, _WIDTH)), jnp.float32)
    declared = _DECLARED if recipe == "unit" else {}
    step = functools.partial(_step, layer, reverse)
    report, before, after = both(step, _weights(), x, recipe=recipe, **declared)
    assert report.kept_after < report.kept_before
    same(before, after)


@pytest.mark.parametrize("step", [_unrolled, _in_batches])
@pytest.mark.parametrize("recipe", ["propagate", "fp8-current", "unit", "mxfp8"])
@pytest.mark.parametrize("layer", [_mlp, _attention, _dropped])
def test_blocks_keep_less_and_give_thesame(
    layer: Callable[..., Any], recipe: str, step: Callable[..., Any]
) -> None:
    x = jnp.asarray(np.random.default_rng(1).normal(0, 1, (_ROWS, _WIDTH)), jnp.float32)
    declared = _DECLARED if recipe == "unit" else {}
    fn = functools.partial(step, layer)
    report, before, after = both(fn, _weights(), x, recipe=recipe, **declared)
    assert report.kept_after < report.kept_before
    same(before, after)


@pytest.mark.parametrize("recipe", ["propagate", "fp8-current"])
@pytest.mark.parametrize("policy", [None, jax.checkpoint_policies.dots_saveable])
def test_checkpoints_give_thesame(policy: Any, recipe: str) -> None:
    x = jnp.asarray(np.random.default_rng(1).normal(0, 1, (_ROWS, _WIDTH)), jnp.float32)
    layer = jax.checkpoint(_mlp, policy=policy)
    for step in (functools.partial(_step, layer, False), functools.partial(_unrolled, layer)):
        _, before, after = both(step, _weights(), x, recipe=recipe)
        same(before, after)


@pytest.mark.parametrize("seed", range(6))
def test_random_steps_give_thesame(seed: int) -> None:
    """`python -m benchmarks.residual_steps` tries more of them."""
    same_values(seed)


_LOOPS = Path(__file__).parents[2] / "lit" / "passes" / "cut_residuals.mlir"


_CHANGED = "    %es2 = stablehlo.negate %es : tensor<3x4x8xf32>\n    stablehlo.return %xs, %es2,"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dense<3> : tensor<i32>", "dense<2> : tensor<i32>"),  # fewer turns than rows
        ("%one = stablehlo.constant dense<1>", "%one = stablehlo.constant dense<2>"),
        ("%e1, %i, %zero", "%e1, %one, %zero"),  # one row, again and again
        ("%es, %turn, %zero", "%es, %i, %zero"),  # rows of two turns
        ("    stablehlo.return %xs, %es,", _CHANGED),
    ],
)
def test_loops_that_are_not_known_well_enough_stay(old: str, new: str) -> None:
    text = _LOOPS.read_text()
    assert old in text
    assert _cut(text)
    module = parse(text.replace(old, new))
    before = str(module)
    with module.context, ir.Location.unknown():
        assert cut_residuals(module.operation) == []
    assert str(module) == before


def _cut(text: str) -> list[Saved]:
    module = parse(text)
    with module.context, ir.Location.unknown():
        return cut_residuals(module.operation)


def test_what_is_returned_besides_is_read_for_nothing() -> None:
    """The exponential is a result of the program, so that nothing else of it is kept."""
    text = (
        _LOOPS.read_text()
        .replace("return %b#4 :", "return %f#3 :")
        .replace("-> tensor<4x8xf32> {", "-> tensor<3x4x8xf32> {", 1)
    )
    text = text.replace("  return %f#3 : tensor<4x8xf32>", "  return %f#3 : tensor<3x4x8xf32>")
    assert _cut(text) == []


def test_the_summary_says_what_is_kept() -> None:
    text, settings = _LOOPS.read_text(), {"residuals": "auto"}
    _, report = scalify_hlo.rewrite(text, recipe="propagate", settings=settings, report=True)
    said = "propagate: the program has no matmul; residuals: 0.00 MiB to 0.00 MiB"
    assert summary(report) == said


def test_loops_with_explicit_axes_keep_less() -> None:
    """There, counters and their limits have sharding constraints."""
    text = _LOOPS.read_text()
    old = "    %more = stablehlo.compare LT, %i, %three"
    new = "    %c = sdy.sharding_constraint %i <@mesh, []> : tensor<i32>\n" + old.replace(
        "%i", "%c"
    )
    added = "    %j = stablehlo.add %i, %one"
    constrained = "    %k = sdy.sharding_constraint %i <@mesh, []> : tensor<i32>\n" + added
    changed = text.replace(old, new).replace(added, constrained.replace("add %i", "add %k"))
    assert changed.count("sharding_constraint") == 4
    assert _cut('sdy.mesh @mesh = <["d"=1]>\n' + changed) == _cut(text)


def test_loops_that_are_left_are_told_to_those_who_ask() -> None:
    def step(weights: Any, x: Any, turns: Any) -> Any:
        y, kept = lax.scan(lambda x, w: (jnp.tanh(x * w), x), x, weights["gain"])
        read = lambda i, y: y + jnp.sin(lax.dynamic_index_in_dim(kept, i, keepdims=False))  # noqa: E731
        return lax.fori_loop(0, turns, read, y), lax.fori_loop(0, 2, read, y)

    text = stablehlo_of(step, _weights(), jnp.ones((_ROWS, _WIDTH)), 3)
    for residuals, count in (("auto", 1), ("default", 0)):
        settings = {"residuals": residuals, "compute": "bf16"}
        _, report = scalify_hlo.rewrite(text, recipe="bf16", settings=settings, report=True)
        told = [each for each in report.remarks if "2 loops read it" in each.message]
        assert len(told) == count


@pytest.mark.parametrize("step", [functools.partial(_step, reverse=False), _unrolled])
def test_complex_numbers_are_kept_too(step: Callable[..., Any]) -> None:
    """XLA runs it, as the interpreter ends on constants of complex numbers."""

    def layer(x: Any, w: Any) -> Any:
        z = jnp.fft.fft(x.astype(jnp.complex64)) * (w["gain"] * 1j + 1)
        return jnp.real(z * jnp.conj(z) * z) / 64 + x

    given = _weights(), jnp.ones((_ROWS, _WIDTH))
    program = export.export(jax.jit(lambda w, x: step(layer=layer, weights=w, x=x)))(*given)
    settings = {"residuals": "auto"}
    made, report = scalify_hlo.rewrite(program, recipe="propagate", settings=settings, report=True)
    assert report.kept_after < report.kept_before
    results = (jax.tree.leaves(each.call(*given)) for each in (program, made))
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp8-current"])
def test_layers_in_a_row_keep_less_with_nothing_declared(recipe: str) -> None:
    """Scales of gradients are computed first of all there, with names of the backward pass."""

    def step(weights: Any, x: Any) -> Any:
        def loss(weights: Any) -> Any:
            y = x
            for i in range(3):
                y = y + jax.nn.gelu(y @ weights[i]) @ weights[i].T
            return jnp.mean(y**2)

        return jax.grad(loss)(weights)

    text = stablehlo_of(step, jnp.ones((3, 32, 64)), jnp.ones((16, 32)))
    _, report = scalify_hlo.rewrite(text, recipe=recipe, report=True)
    assert report.kept_before > 3 * 16 * 64 * 4
    assert report.kept_after < report.kept_before / 1.5
