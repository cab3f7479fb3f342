"""State in odd programs: long and branching updates, memory that goes elsewhere, odd dtypes."""

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
    for _ in range(20):  # a million calls; many more are too many for jax.export itself
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
    run = jsa.scalify(step, recipe="fp8", settings={"state.weight": "f8E4M3FN"})
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
