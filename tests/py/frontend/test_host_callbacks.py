"""Functions that call Python while they run work under `scalify`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

import scalify_hlo as jsa
from scalify_hlo import UsageError

W, X = jnp.full((32, 32), 0.5), jnp.ones((4, 32))
SCALAR = jax.ShapeDtypeStruct((), jnp.float32)


def loss(w: Any, x: Any) -> Any:
    return jnp.mean((x @ w) ** 2)


def step(w: Any, x: Any, say: Any) -> Any:
    value, gradient = jax.value_and_grad(loss)(w, x)
    say(value)
    return w - 0.1 * gradient, value


def scalified(fn: Any, **options: Any) -> Any:
    return jsa.scalify(fn, recipe="fp8-current", **options)


@pytest.mark.parametrize("kind", ["callback", "io"])
def test_values_reach_python_at_each_call(kind: str) -> None:
    seen: list[float] = []

    def say(value: Any) -> None:
        if kind == "io":
            io_callback(lambda v: seen.append(float(v)), None, value)
        else:
            jax.debug.callback(lambda v: seen.append(float(v)), value)

    run = scalified(lambda w, x: step(w, x, say))
    for factor in (1, 2):
        run(W, X * factor)
    jax.effects_barrier()
    assert seen == [256, 1024]


def test_a_print_of_a_step(capsys: Any) -> None:
    run = scalified(lambda w, x: step(w, x, lambda v: jax.debug.print("loss {v}", v=v)))
    jax.block_until_ready(jax.jit(run)(W, X))
    jax.effects_barrier()
    assert capsys.readouterr().out == "loss 256.0\n"


def test_results_of_python_go_into_the_program() -> None:
    def ask(x: Any) -> Any:
        turns = jax.lax.scan(
            lambda c, _: (jax.pure_callback(lambda v: v + np.float32(1), SCALAR, c), None),
            jnp.float32(0),
            length=3,
        )
        return x @ x * turns[0] + io_callback(lambda: np.float32(7), SCALAR)

    x = jnp.eye(32)
    np.testing.assert_array_equal(scalified(ask)(x), x * 3 + 7)
    np.testing.assert_array_equal(scalified(ask, stats=jsa.Stats())(x), x * 3 + 7)
    pair = jsa.scalify(ask)(jsa.ScaledArray(x, jnp.float32(4)))
    np.testing.assert_array_equal(jsa.asarray(pair), x * 48 + 7)


def test_what_cannot_be_done_is_said_where_it_is_written() -> None:
    def ordered(x: Any) -> Any:
        jax.debug.print("{x}", x=x, ordered=True)
        return x

    def printing(w: Any) -> Any:
        jax.debug.print("{x}", x=w[0, 0])
        return jnp.sum(w)

    def silent(w: Any) -> None:
        jax.debug.print("{x}", x=w[0, 0])

    for run, fn, hint in (
        (scalified(ordered), ordered, "ordered=True"),
        (jax.grad(scalified(printing)), printing, "scalify(jax.grad(fn))"),
        (scalified(silent), silent, "return a value"),
    ):
        with pytest.raises(UsageError) as caught:
            run(W)
        assert hint in str(caught.value.hint)
        line = fn.__code__.co_firstlineno + 1
        assert str(caught.value.location).rsplit(":", 2)[:2] == [__file__, str(line)]
