"""State that steps make of itself: its scale does not run away, also in odd programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as jsa
from tests.py.shared.judge import program_of, propagated

Array = jax.Array
Step = Callable[[Any, Array], Any]
SIZE = 32


def stochastic() -> Array:
    """A matrix whose powers keep the size of a vector of equal elements, and nothing else."""
    rows = np.random.default_rng(0).uniform(0.5, 1.5, (SIZE, SIZE))
    return jnp.asarray(rows / rows.sum(1, keepdims=True), jnp.float32)


def invertible() -> Array:
    return jnp.asarray(
        np.eye(SIZE) + 0.05 * np.random.default_rng(1).standard_normal((SIZE, SIZE)), jnp.float32
    )


def column() -> Array:
    return jnp.asarray(np.random.default_rng(2).uniform(0.5, 1.5, SIZE), jnp.float32)


def cubic(x: Array, a: Array) -> Array:
    """Newton's iteration for the inverse square roots of the elements of a matrix."""
    return 0.5 * x * (3 - a[0] * SIZE * x * x)


def inverse_guess() -> Array:
    a = np.asarray(invertible())
    norms = np.linalg.norm(a, 1) * np.linalg.norm(a, np.inf)
    return jnp.asarray(a.T / norms, jnp.float32)


def newton(x: Array, a: Array) -> Array:
    """Newton's iteration for the inverse of a matrix."""
    return x @ (2 * jnp.eye(SIZE) - a @ x)


def smoothed(x: Array, a: Array) -> Array:
    return jnp.convolve(jnp.pad(x, 1, mode="edge"), a, mode="valid")


def logistic(x: Array, a: Array) -> Array:
    """The logistic map at one of its fixed points."""
    return 2.5 * x * (1 - x) + 0 * a[0]


RECURRENCES: dict[str, tuple[Callable[[Array, Array], Array], Array, Array]] = {
    "power": (lambda x, a: a @ x, column(), stochastic()),
    "markov": (lambda x, a: x @ a, jnp.full((4, SIZE), 1 / SIZE), stochastic()),
    "newton": (newton, inverse_guess(), invertible()),
    "convolution": (smoothed, column(), jnp.float32([0.25, 0.5, 0.25])),
    "cubic": (cubic, jnp.ones(SIZE), stochastic()),
    "logistic": (logistic, jnp.full(SIZE, 0.6), stochastic()),
}


def run(step: Step, state: Any, a: Array, recipe: str = "propagate", steps: int = 150) -> Any:
    """The state after some steps of the scaled function, and after those of the plain one."""
    scaled, plain = jsa.scalify(step, recipe=recipe), jax.jit(step)
    found, expected = jsa.as_scaled_array(state), state
    given = jsa.as_scaled_array(a)
    for _ in range(steps):
        found, expected = scaled(found, given), plain(expected, a)
    return found, expected


def log_scale(pair: Any) -> float:
    return float(np.log2(pair.scale))


@pytest.mark.slow
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("name", RECURRENCES)
def test_state_keeps_its_scale_if_it_is_named_and_stays_a_number(name: str, *, named: bool) -> None:
    turn, start, a = RECURRENCES[name]
    if named:
        found, expected = (
            x["x"] for x in run(lambda s, a: {"x": turn(s["x"], a)}, {"x": start}, a)
        )
        assert log_scale(found) == log_scale(jsa.as_scaled_array(start))
    else:
        found, expected = run(turn, start, a)
        assert abs(log_scale(found)) <= 60
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-4, atol=1e-5)


def test_arguments_that_are_not_used_are_not_counted() -> None:
    step = jsa.scalify(lambda _, x: 2.5 * x * (1 - x))
    x = jsa.as_scaled_array(jnp.full(SIZE, 0.6))
    for _ in range(60):
        x = step(jnp.ones(3), x)
    np.testing.assert_allclose(np.asarray(x), 0.6, rtol=1e-4)


@pytest.mark.parametrize("named", [False, True])
def test_f16_is_measured(*, named: bool) -> None:
    """No scale holds what f16 cannot."""

    def turn(x: Array) -> Array:
        return (2.5 * x * (1 - x)).astype(jnp.float16)

    start = jnp.full(SIZE, 0.6, jnp.float16)
    step = (lambda s, _: {"x": turn(s["x"])}) if named else (lambda x, _: turn(x))
    found, _ = run(step, {"x": start} if named else start, stochastic(), steps=40)
    pair = found["x"] if named else found
    np.testing.assert_allclose(np.asarray(pair, np.float32), 0.6, atol=0.01)
    assert 0.5 <= float(np.abs(np.asarray(pair.data, np.float32)).max()) <= 16


def test_a_result_that_goes_nowhere_keeps_its_scale() -> None:
    """What a caller may not give again, and what has a scale of its own, is left alone."""
    x = jsa.as_scaled_array(jnp.ones((4, 8)), scale=2.0**20)
    w = jsa.as_scaled_array(jnp.ones((8, 16)), scale=2.0**20)
    assert log_scale(jsa.scalify(lambda x, w: x @ w)(x, w)) > 25


def test_gradients_are_not_their_parameters() -> None:
    """They have the names of these, and a penalty adds a part of each to its gradient."""

    def loss(params: Any, x: Array) -> Array:
        penalty = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(params))
        return jnp.mean(jnp.tanh(x @ params["w"] + params["b"]) ** 2) + 2.0**-7 * penalty

    params = {"w": jnp.ones((8, 8)) / 4, "b": jnp.ones(8)}
    given = jsa.as_scaled_array((params, jnp.ones((4, 8))), scale=2.0**12)
    gradients = jsa.scalify(jax.grad(loss))(*given)
    assert all(log_scale(gradients[name]) != 12 for name in params)


def test_a_donated_argument_tells_what_takes_its_place() -> None:
    """In `scalify` as in an Exported, also in functions that capture arrays of a trace."""

    def turn(x: Array, a: Array) -> Array:
        return a @ x

    def log_scales(step: Step) -> list[float]:
        found = jsa.as_scaled_array(jnp.ones(SIZE))
        scales = []
        for _ in range(3):
            found = step(found, jsa.as_scaled_array(stochastic()))
            scales.append(log_scale(found))
        return scales

    assert log_scales(jsa.scalify(turn, donate_argnums=0)) == [0.0] * 3
    assert log_scales(jsa.scalify(turn, donate_argnames="x")) == [0.0] * 3
    assert log_scales(jsa.scalify(turn)) != [0.0] * 3

    @jax.jit
    def captured(x: Any, a: Any) -> Any:
        one, two, three = (a.data[i, 0] for i in range(3))
        step = jsa.scalify(lambda x, a: turn(x, a) + 0 * (one + two + three), donate_argnums=0)
        return step(x, a)

    assert log_scales(captured) == [0.0] * 3


ONES = jnp.ones(4)


def scale_after(step: Callable[[Any, Array], Any], exponent: int, other: int) -> float:
    """log2 of the scale of state after a step that starts at 2^exponent, given 2^other."""
    state = jsa.as_scaled_array({"w": ONES * 2.0**exponent})
    given = jsa.as_scaled_array(ONES * 2.0**other)
    return float(np.log2(jsa.scalify(step)(state, given)["w"].scale))


def test_a_long_update_keeps_its_scale() -> None:
    def step(state: Any, g: Array) -> Any:
        w = state["w"]
        for _ in range(260):
            w = w + g * 0.001
        return {"w": w}

    assert scale_after(step, -4, -10) == -4


@pytest.mark.slow
def test_many_calls_of_a_sum_are_no_error() -> None:
    euler = jax.jit(lambda x, g: x + 1e-3 * jnp.tanh(x) * g)

    def step(state: Any, g: Array) -> Any:
        w = state["w"]
        for _ in range(1200):
            w = euler(w, g)
        return {"w": w}

    assert scale_after(step, -4, -10) == -4


@pytest.mark.slow
def test_calls_that_branch_are_looked_at_so_far() -> None:
    def sum_of(a: Array, b: Array) -> Array:
        return a + 0.5 * b

    branching: Any = sum_of
    for _ in range(16):  # half a million ops; a program of more than a million is refused
        branching = jax.jit(lambda a, b, inner=branching: inner(a, b) + inner(b, a))
    exported = program_of(lambda s, g: {"w": branching(s["w"], g)}, {"w": ONES}, ONES)
    propagated(exported, signature="scaled")


def test_memory_that_goes_to_another_result_moves_no_scale() -> None:
    def f(x: Array, y: Array) -> tuple[Array, Array]:
        return y * y * 2.0**-60, x.sum()

    y = 2.0**-18 * jnp.arange(1.0, 65)
    exported = jax.export.export(jax.jit(f, donate_argnums=0))(jnp.ones(64), y)
    program = propagated(exported, signature="scaled")
    x = jsa.as_scaled_array(jnp.ones(64), scale=2.0**40)
    found = program.call(x, jsa.as_scaled_array(y))[0]
    assert np.count_nonzero(np.asarray(found)) == 64


def test_complex_state_stays_as_it_is() -> None:
    def step(state: Any, g: Array) -> Any:
        return {"a": state["a"] - 0.1 * g}

    z = jnp.ones((8, 8), jnp.complex64)
    exported = program_of(step, {"a": z}, z)
    program = jsa.rewrite(exported, signature="scaled", recipe="fp8-state")
    assert all(aval.dtype in (jnp.complex64, jnp.float32) for aval in program.in_avals)


def test_a_programs_own_f8_state_is_written_exactly() -> None:
    def step(cache: Any, new: Array, at: Array) -> Any:
        return {"k": jax.lax.dynamic_update_slice(cache["k"], new.astype(jnp.float8_e4m3fn), (at,))}

    cache = jnp.zeros(2**12, jnp.float8_e4m3fn)
    new = jnp.array([1.0, -3.5, 0.25, 100.0])
    plain = step({"k": cache}, new, jnp.int32(7))["k"]
    state = jsa.as_scaled_array({"k": cache})
    found = jsa.scalify(step)(state, jsa.as_scaled_array(new), jnp.int32(7))["k"]
    np.testing.assert_array_equal(np.asarray(found, np.float32), np.asarray(plain, np.float32))


def test_sparse_f8_weights_do_not_saturate() -> None:
    def step(state: Any, x: Array) -> Any:
        gradient = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(state["w"])
        return {"w": state["w"] - 1e-6 * gradient}

    w = jnp.zeros((512, 512)).at[0, 0].set(1.0)
    settings = {"state.weight": "f8E4M3FN", "state.weight_rounding": "stochastic"}
    run = jsa.scalify(step, recipe="fp8", settings=settings)
    state = jsa.as_scaled_array({"w": w}, scale=1.0)
    found = run(state, jsa.as_scaled_array(jnp.ones((16, 512))))["w"]
    assert found.dtype == jnp.float8_e4m3fn
    assert np.asarray(found, np.float32).max() == 1.0


def test_numbers_are_not_stored_narrow() -> None:
    def step(state: Any, x: Array) -> Any:
        loss, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(state["w"])
        norms = state["norms"] + jnp.sum(gradient * gradient)
        return {"w": state["w"] - 1e-3 * gradient, "norms": norms}, loss

    state = jsa.as_scaled_array({"w": jnp.ones((64, 64)), "norms": jnp.float32(0)})
    after, _ = jsa.scalify(step, recipe="fp8-state")(state, jsa.as_scaled_array(jnp.ones((16, 64))))
    assert after["w"].dtype == jnp.float16
    assert after["norms"].dtype == jnp.float32
