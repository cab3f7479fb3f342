"""Networks of many layers: errors of predicted sizes add up along them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from tests.py.shared.judge import decibels, program_of

pytestmark = pytest.mark.filterwarnings("ignore::scalify_hlo.ScalifyWarning")

DEPTH, WIDTH, ROWS = 24, 64, 32
LAYERS: dict[str, Callable[[Any, Any], Any]] = {
    "gelu": lambda x, w: jax.nn.gelu(x @ w),
    "residual": lambda x, w: x + jax.nn.gelu(x @ w),
    "linear residual": lambda x, w: x + x @ w,
    "silu": lambda x, w: jax.nn.silu(x @ w),
}
WAYS = ("undeclared", "declared", "pairs")
"""Whether sizes of inputs are declared, or inputs are pairs."""

LOST = 2.0
"""The decibels by which gradients may be worse than those of `fp8-current`."""


def loss_of(layer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def loss(weights: Any, x: Any) -> Any:
        for w in weights:
            x = layer(x, w)
        return jnp.mean(x**2)

    return loss


def inputs(dtype: Any, size: float) -> tuple[Any, Any]:
    """Weights, whose scales are half of their size or near it, and data."""
    random = np.random.default_rng(0)
    weights = [(random.normal(size=(WIDTH, WIDTH)) * size).astype(dtype) for _ in range(DEPTH)]
    return weights, random.normal(size=(ROWS, WIDTH)).astype(dtype)


def gradients(name: str, recipe: str, way: str, size: float) -> list[Any]:
    """The gradients of the weights under a recipe."""
    step, given = jax.grad(loss_of(LAYERS[name])), inputs(np.float32, size)
    if way == "pairs":
        pairs = jax.tree.map(scalify_hlo.as_scaled_array, given)
        found = scalify_hlo.scalify(step, recipe=recipe)(*pairs)
        return [scalify_hlo.asarray(each) for each in found]
    exported = program_of(step, *given)
    scales = scalify_hlo.measured_scales(exported, *given) if way == "declared" else None
    return list(scalify_hlo.rewrite(exported, recipe=recipe, input_scale=scales).call(*given))


def check(name: str, recipe: str, way: str, size: float) -> None:
    exact = jax.jit(jax.grad(loss_of(LAYERS[name])))(*inputs(np.float32, size))
    measured = min(map(decibels, exact, gradients(name, "fp8-current", "undeclared", size)))
    found = min(map(decibels, exact, gradients(name, recipe, way, size)))
    assert found > min(measured, 13.0) - LOST


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["gelu", "residual"])
def test_gradients_are_those_of_measured_scales(name: str, way: str) -> None:
    """All were zero."""
    check(name, "fp8", way, 1 / 8.1)


def test_sums_of_undeclared_values_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """All layers behind normalizations had gradients at 18 dB: the sum kept its first size."""

    def normalized(x: Any) -> Any:
        x = x - jnp.mean(x, -1, keepdims=True)
        return x * jax.lax.rsqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-6)

    monkeypatch.setitem(LAYERS, "pre-norm", lambda x, w: x + jax.nn.gelu(normalized(x) @ w))
    exact = jax.jit(jax.grad(loss_of(LAYERS["pre-norm"])))(*inputs(np.float32, 1 / 3))
    found = gradients("pre-norm", "fp16", "undeclared", 1 / 3)
    assert min(map(decibels, exact, found)) > 40


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "size"),
    [("undeclared", 1 / 8.1), ("declared", 1 / 8.1), ("pairs", 1 / 8.1), ("declared", 1 / 7.9)],
)
@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp16"])
@pytest.mark.parametrize("name", LAYERS)
def test_all_gradients(name: str, recipe: str, way: str, size: float) -> None:
    check(name, recipe, way, size)


@pytest.mark.parametrize("recipe", ["propagate", "fp16"])
@pytest.mark.parametrize("name", LAYERS)
def test_f16_models_with_pairs_are_as_good_as_the_original(name: str, recipe: str) -> None:
    """Data that are twice as large as their scales say left f16 after 16 layers: NaN."""

    def network(weights: Any, x: Any) -> Any:
        for w in weights:
            x = LAYERS[name](x, w)
        return x

    given = inputs(np.float16, 1 / 8.1)
    pairs = jax.tree.map(scalify_hlo.as_scaled_array, given)
    found = scalify_hlo.asarray(scalify_hlo.scalify(network, recipe=recipe)(*pairs))
    wide = jax.tree.map(lambda x: x.astype(np.float32), given)
    exact, plain = jax.jit(network)(*wide), jax.jit(network)(*given)
    assert decibels(exact, found) > min(decibels(exact, plain), 50) - LOST


def test_what_is_measured_is_told() -> None:
    def network(weights: Any, x: Any) -> Any:
        for w in weights:
            x = jax.nn.gelu(x @ w)
        return x

    exported = program_of(network, *inputs(np.float16, 1 / 8.1))
    _, report = scalify_hlo.rewrite(exported, recipe="propagate", signature="scaled", report=True)
    told = [remark.message for remark in report.remarks]
    assert any("which is measured" in message for message in told)
    assert report.statistics == len(told)
