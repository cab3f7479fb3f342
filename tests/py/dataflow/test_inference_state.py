"""State that inference carries on is neither weights nor moments, and gradients are no state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import scalify_hlo as jsa
from tests.py.dataflow.test_roles import exported
from tests.py.dataflow.test_state_roles import argument_roles, names_of
from tests.py.shared.judge import shaped

Array = jax.Array
Program = tuple[Callable[..., Any], tuple[Any, ...]]

SQUARE = shaped(8, 8)
QKV = dict.fromkeys(("q", "k", "v"), SQUARE)


def projected(x: Array, w: Any) -> tuple[Array, Array, Array]:
    return x @ w["q"], x @ w["k"], x @ w["v"]


def linear_attention(state: Any, x: Array, w: Any) -> Any:
    q, k, v = projected(x, w)
    sums = 0.9 * state["sums"] + k[:, :, None] * v[:, None, :]
    norm = 0.9 * state["norm"] + k
    y = jnp.einsum("bi,bij->bj", q, sums) / jnp.einsum("bi,bi->b", q, norm)[:, None]
    return {"sums": sums, "norm": norm}, y


def delta_rule(state: Array, x: Array, w: Any) -> Any:
    """Fast weights: the state is multiplied with, and has a product added."""
    q, k, v = projected(x, w)
    return state + jnp.outer(k, v - k @ state), q @ state


def batch_norm(state: Any, x: Array, w: Array) -> Any:
    h = x @ w
    mean, var = h.mean(0), h.var(0)
    moved = {"mean": 0.9 * state["mean"] + 0.1 * mean, "var": 0.9 * state["var"] + 0.1 * var}
    return moved, (h - mean) * lax.rsqrt(var + 1e-5)


def chosen_cache(state: Any, x: Array, w: Any, at: Array) -> Any:
    q, k, v = projected(x, w)
    here = (jnp.arange(16) == at)[:, None]
    keys, values = jnp.where(here, k, state["k"]), jnp.where(here, v, state["v"])
    return {"k": keys, "v": values}, jax.nn.softmax(q @ keys.T) @ values


def masked_cache(state: Any, x: Array, w: Any, at: Array) -> Any:
    q, k, v = projected(x, w)
    here = (jnp.arange(16) == at).astype(jnp.float32)[:, None]
    y = jax.nn.softmax(q @ state["k"].T) @ state["v"]
    return {n: state[n] * (1 - here) + new * here for n, new in (("k", k), ("v", v))}, y


def gru(h: Array, x: Array, w: Any) -> Any:
    z, r = jax.nn.sigmoid(x + h @ w["q"]), jax.nn.sigmoid(x + h @ w["k"])
    return (1 - z) * jnp.tanh(x + (r * h) @ w["v"]) + z * h


def lstm(state: Any, x: Array, w: Array) -> Any:
    i, f, g, o = jnp.split(x + state["h"] @ w, 4, -1)
    c = jax.nn.sigmoid(f) * state["c"] + jax.nn.sigmoid(i) * jnp.tanh(g)
    return {"c": c, "h": jax.nn.sigmoid(o) * jnp.tanh(c)}


def sampler(x: Array, w: Any) -> Any:
    return x - 0.1 * jnp.tanh(x @ w["q"]) @ w["k"]


CACHE = {"k": shaped(16, 8), "v": shaped(16, 8)}
AT = shaped(dtype="int32")

INFERENCE: dict[str, Program] = {
    "linear attention": (
        linear_attention,
        ({"sums": shaped(4, 8, 8), "norm": shaped(4, 8)}, shaped(4, 8), QKV),
    ),
    "delta rule": (delta_rule, (SQUARE, shaped(8), QKV)),
    "batch norm": (batch_norm, ({"mean": shaped(8), "var": shaped(8)}, shaped(4, 6), shaped(6, 8))),
    "chosen cache": (chosen_cache, (CACHE, shaped(1, 8), QKV, AT)),
    "masked cache": (masked_cache, (CACHE, shaped(1, 8), QKV, AT)),
    "gru": (gru, (shaped(4, 8), shaped(4, 8), QKV)),
    "lstm": (lstm, ({"c": shaped(4, 8), "h": shaped(4, 8)}, shaped(4, 32), shaped(8, 32))),
    "sampler": (sampler, (shaped(4, 8), QKV)),
}


def roles(program: Program, *, stripped: bool) -> dict[str, str]:
    text = exported(*program)
    found = argument_roles(text, stripped=stripped)
    return {name: role for name, role in zip(names_of(text), found, strict=True) if role}


@pytest.mark.parametrize("stripped", [False, True])
@pytest.mark.parametrize("name", INFERENCE)
def test_inference_has_no_moments(name: str, *, stripped: bool) -> None:
    assert roles(INFERENCE[name], stripped=stripped) == {}


def in_turns(program: Program) -> Program:
    """Several tokens, or steps, in a loop."""
    function, (state, *rest) = program

    def run(state: Any, *given: Any) -> Any:
        def turn(state: Any, _: None) -> tuple[Any, None]:
            found = function(state, *given)
            return (found[0] if isinstance(found, tuple) else found), None

        return lax.scan(turn, state, length=3)[0]

    return run, (state, *rest)


@pytest.mark.parametrize("name", INFERENCE)
def test_inference_in_a_loop_has_none_either(name: str) -> None:
    assert roles(in_turns(INFERENCE[name]), stripped=True) == {}


@pytest.mark.slow
def test_state_of_inference_stays_wide() -> None:
    """Weights that are given, and not returned, are no state."""
    state = jsa.as_scaled_array({"sums": jnp.zeros((4, 8, 8)), "norm": jnp.zeros((4, 8))})
    x, w = jnp.ones((4, 8)), {name: jnp.eye(8) for name in QKV}
    run = jsa.scalify(linear_attention, recipe="fp8-state")
    found, _ = run(state, *jsa.as_scaled_array((x, w)))
    assert {leaf.dtype for leaf in found.values()} == {jnp.dtype("float32")}


def loss(params: Any, x: Array) -> Array:
    penalty = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(params))
    return jnp.mean(jnp.tanh(x @ params["w"] + params["b"]) ** 2) + 0.01 * penalty


PARAMS = {"w": shaped(6, 8), "b": shaped(8)}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_gradients_with_a_penalty_are_no_next_weights(dtype: str) -> None:
    def gradients(params: Any, x: Array) -> Any:
        return jax.tree.map(lambda g: 0.5 * g.astype(dtype), jax.grad(loss)(params, x))

    assert roles((gradients, (PARAMS, shaped(4, 6))), stripped=False) == {}


def test_weights_with_a_penalty_are_weights() -> None:
    def step(params: Any, x: Array) -> Any:
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x))

    for stripped in (False, True):
        found = roles((step, (PARAMS, shaped(4, 6))), stripped=stripped)
        assert found == {f"params['{name}']": "weight" for name in PARAMS}


def test_gradients_that_are_written_out_make_weights() -> None:
    """Without any name of jax's that says so."""

    def step(w: Array, x: Array, y: Array) -> Array:
        return w - 0.1 * (x.T @ (x @ w - y))

    program = step, (shaped(6, 8), shaped(4, 6), shaped(4, 8))
    assert roles(program, stripped=True) == {"w": "weight"}
