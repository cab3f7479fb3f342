"""Programs of jax.lax's control flow, forward and backward, are bit-equal on the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.py.shared.judge import (
    Pair,
    assert_invariant,
    floats,
    rewritten,
    run_scaled,
    stablehlo_of,
)

RNG = np.random.default_rng(0)
W = (RNG.standard_normal((4, 4)) / 2).astype(np.float32)
X = RNG.standard_normal((3, 4)).astype(np.float32)

Function = Callable[..., Any]


def rnn(w: Any, x: Any) -> Any:
    """A recurrent cell whose state starts at zeros."""

    def cell(state: Any, row: Any) -> Any:
        state = jnp.tanh(row @ w + state @ w)
        return state, state * 2

    return lax.scan(cell, jnp.zeros(4), x)


def linear(w: Any, x: Any) -> Any:
    """A cell without a nonlinearity, whose outputs are of a higher degree."""

    def cell(state: Any, row: Any) -> Any:
        state = (row @ w + state) * 0.5
        return state, state * row

    return lax.scan(cell, jnp.zeros(4), x)


def lstm(w: Any, x: Any) -> Any:
    def cell(carry: Any, row: Any) -> Any:
        h, c = carry
        i, f = jax.nn.sigmoid(row @ w), jax.nn.sigmoid(h @ w + 1)
        c = f * c + i * jnp.tanh(row @ w + h)
        h = jnp.tanh(c) * i
        return (h, c), h

    (h, _), outputs = lax.scan(cell, (jnp.zeros(4), jnp.zeros(4)), x)
    return h, outputs


def decayed(w: Any, x: Any) -> Any:
    """A state-space scan: the state decays by gates that depend on the input."""

    def cell(state: Any, row: Any) -> Any:
        state = jnp.exp(-jnp.abs(row)) * state + row
        return state, state @ w

    return lax.scan(cell, jnp.zeros(4), x)


def training(w: Any, x: Any) -> Any:
    """Gradient descent inside a scan."""

    def step(w: Any, row: Any) -> Any:
        loss, gradient = jax.value_and_grad(lambda w: jnp.sum((row @ w - 1) ** 2))(w)
        return w - 0.125 * gradient, loss

    return lax.scan(step, w, x)


def nested(w: Any, x: Any) -> Any:
    def outer(carry: Any, row: Any) -> Any:
        inner = lax.fori_loop(0, 3, lambda _, c: c * 0.5 + row @ w, jnp.zeros(4))
        return carry + inner, inner

    return lax.scan(outer, jnp.zeros(4), x)


def branching(w: Any, x: Any) -> Any:
    """Branches inside a loop, on values and on the counter."""

    def body(i: Any, carry: Any) -> Any:
        a, b = carry
        a = lax.cond(a[0, 0] > 0.5, lambda: a * 0.5, lambda: a + x[0])
        b = lax.switch(i, [lambda: b, lambda: b + a, lambda: jnp.exp(-jnp.abs(a)) + b])
        return a, b

    return lax.fori_loop(0, 3, body, (w, jnp.ones((4, 4))))


def until(w: Any, x: Any) -> Any:
    """A loop that ends when a value says so, with a flag and a counter."""

    def going(carry: Any) -> Any:
        value, count, done = carry
        return (count < 20) & ~done & (jnp.sum(jnp.abs(value)) < 40)

    def turn(carry: Any) -> Any:
        value, count, _ = carry
        value = value + jnp.abs(x[0])
        return value, count + 1, value[0, 0] > 100

    return lax.while_loop(going, turn, (jnp.abs(w), 0, False))


def decoding(w: Any, x: Any) -> Any:
    """Greedy decoding: a buffer is written at a moving place and read back."""
    buffer = jnp.zeros((6, 4)).at[:3].set(x)

    def turn(carry: Any) -> Any:
        position, buffer = carry
        scores = (buffer @ w) @ buffer[position - 1]
        masked = jnp.where(jnp.arange(6) < position, scores, -jnp.inf)
        best = jnp.argmax(masked)
        new = lax.dynamic_index_in_dim(buffer, best, keepdims=False) @ w
        return position + 1, lax.dynamic_update_index_in_dim(buffer, new, position, 0)

    return lax.while_loop(lambda carry: carry[0] < 6, turn, (3, buffer))


def checkpointed(w: Any, x: Any) -> Any:
    def layer(h: Any, _: Any) -> Any:
        return jax.nn.relu(h @ w) + h, None

    return lax.scan(jax.checkpoint(layer), x, None, length=3)[0]


def mapped(w: Any, x: Any) -> Any:
    return lax.map(lambda row: row @ w + 1, x)


def associative(w: Any, x: Any) -> Any:
    return lax.associative_scan(jnp.add, x @ w), lax.cummax(x @ w, axis=1)


def summed(function: Function) -> Function:
    """The gradients of a sum of all that a function returns."""

    def loss(w: Any, x: Any) -> Any:
        leaves = [a for a in jax.tree.leaves(function(w, x)) if a.dtype == jnp.float32]
        return sum(jnp.sum(leaf * leaf) for leaf in leaves)

    return jax.grad(loss, argnums=(0, 1))


FORWARD: tuple[Function, ...] = (
    rnn,
    linear,
    lstm,
    decayed,
    training,
    nested,
    branching,
    until,
    decoding,
    checkpointed,
    mapped,
    associative,
)
BACKWARD = tuple(f for f in FORWARD if f not in (until, decoding))
CASES = {f.__name__: f for f in FORWARD} | {f"grad_{f.__name__}": summed(f) for f in BACKWARD}


@pytest.mark.slow
@pytest.mark.parametrize("exponents", [(0, 0), (3, -2), (-4, 5)])
@pytest.mark.parametrize("name", CASES)
def test_is_bit_equal(name: str, exponents: tuple[int, int]) -> None:
    text = stablehlo_of(CASES[name], W, X)
    assert floats(text) == [True, True]
    data = [np.ldexp(a, -e) for a, e in zip((W, X), exponents, strict=True)]
    assert_invariant(text, data, exponents)


@pytest.mark.parametrize("name", ["linear", "grad_linear", "mapped", "nested", "checkpointed"])
def test_nothing_is_given_up(name: str) -> None:
    _, report = rewritten(stablehlo_of(CASES[name], W, X), "scaled")
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
