"""Programs of jax.lax's control flow, forward and backward, keep their scales."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.py.shared.judge import Pair, rewritten, run_scaled, stablehlo_of

RNG = np.random.default_rng(0)
W = (RNG.standard_normal((4, 4)) / 2).astype(np.float32)
X = RNG.standard_normal((3, 4)).astype(np.float32)

Function = Callable[..., Any]


def linear(w: Any, x: Any) -> Any:
    """A cell without a nonlinearity, whose outputs are of a higher degree."""

    def cell(state: Any, row: Any) -> Any:
        state = (row @ w + state) * 0.5
        return state, state * row

    return lax.scan(cell, jnp.zeros(4), x)


def nested(w: Any, x: Any) -> Any:
    def outer(carry: Any, row: Any) -> Any:
        inner = lax.fori_loop(0, 3, lambda _, c: c * 0.5 + row @ w, jnp.zeros(4))
        return carry + inner, inner

    return lax.scan(outer, jnp.zeros(4), x)


def checkpointed(w: Any, x: Any) -> Any:
    def layer(h: Any, _: Any) -> Any:
        return jax.nn.relu(h @ w) + h, None

    return lax.scan(jax.checkpoint(layer), x, None, length=3)[0]


def mapped(w: Any, x: Any) -> Any:
    return lax.map(lambda row: row @ w + 1, x)


def backward(w: Any, x: Any) -> Any:
    return jax.grad(lambda *args: sum(jnp.sum(y * y) for y in linear(*args)), (0, 1))(w, x)


@pytest.mark.parametrize("function", [linear, backward, mapped, nested, checkpointed])
def test_nothing_is_given_up(function: Function) -> None:
    _, report = rewritten(stablehlo_of(function, W, X), "scaled")
    assert not report.given_up
    assert not report.remarks
    assert all(result.scaled for result in report.results)


def test_narrow_carries_stay_finite() -> None:
    """Sums whose values leave f16, in a loop that starts with zeros."""

    def total(x: Any) -> Any:
        return lax.fori_loop(0, 4, lambda _, s: s + x * 2, jnp.zeros_like(x))

    x = RNG.uniform(1, 2, 8).astype(np.float16)
    (result,) = run_scaled(stablehlo_of(total, x), [x], [20])
    assert isinstance(result, Pair)
    expected = x.astype(np.float64) * 2.0**23
    assert np.all(np.abs(result.value.astype(np.float64) / expected - 1) < 4e-3)


def test_many_loops_take_linear_time() -> None:
    """A trial of a body is one walk of it, also where loops follow each other."""

    def chain(w: Any, x: Any) -> Any:
        for _ in range(30):
            x = linear(w, x)[1]
        return x

    _, report = rewritten(stablehlo_of(chain, W, X), "same", input_scale={"*": 2.0**-4})
    assert not report.given_up
