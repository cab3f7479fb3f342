"""The formats and the orders in which XLA writes what is read more than once."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import scalify_hlo
from tests.py.shared.judge import shaped, stablehlo_of

_LAYERS, _ROWS, _WIDTH = 3, 32, 48


def _step(weights: Any, x: jax.Array) -> Any:
    """Scanned layers with a softmax in f32, and the gradients of their weights."""

    def layer(x: jax.Array, w: jax.Array) -> tuple[jax.Array, None]:
        shares = jax.nn.softmax((x @ x.T).astype(jnp.float32), -1)
        return jnp.tanh(shares.astype(x.dtype) @ x @ w), None

    def loss(weights: Any) -> jax.Array:
        return jnp.mean(lax.scan(layer, x, weights)[0].astype(jnp.float32) ** 2)

    return jax.grad(loss)(weights)


def _text(**settings: str) -> str:
    weights = shaped(_LAYERS, _WIDTH, _WIDTH, dtype=jnp.bfloat16)
    text = stablehlo_of(_step, weights, shaped(_ROWS, _WIDTH, dtype=jnp.bfloat16))
    rewritten: str = scalify_hlo.rewrite(text, recipe="fp8-current", settings=settings)
    return rewritten


def test_probabilities_are_rounded_before_their_amax_is_taken() -> None:
    """XLA would write them in f32, once for the amax and for the cast."""
    rounded = re.findall(
        r"(%\S+) = stablehlo.convert %\S+ : \(tensor<32x32xf32>\) -> .*bf16", _text()
    )
    behind = re.findall(r"optimization_barrier (%\S+) : tensor<32x32xbf16>", _text())
    assert set(behind) & set(rounded)


@pytest.mark.parametrize(("target", "residuals", "count"), [("gpu", "auto", 2), ("cpu", "auto", 0)])
def test_slices_of_weights_are_in_order_for_gpus(target: str, residuals: str, count: int) -> None:
    """XLA would transpose the weights of all layers before the loop."""
    text = _text(target=target, residuals=residuals)
    flat = f"tensor<{_WIDTH * _WIDTH}xbf16>"
    assert len(re.findall(rf"optimization_barrier %\S+ : {flat}", text)) == count
