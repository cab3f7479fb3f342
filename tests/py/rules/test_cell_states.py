"""Sizes of recurrent cells, whose states are bounded: no statistic is needed for them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from tests.py.shared.judge import normals, program_of, rms

TURNS, BATCH, WIDTH = 16, 8, 32
SETTINGS = {"matmul.smallest": 1}

Cell = Callable[[Any, tuple[jax.Array, ...], jax.Array], tuple[jax.Array, ...]]


def simple(p: Any, state: tuple[jax.Array, ...], x: jax.Array) -> tuple[jax.Array, ...]:
    return (jnp.tanh(x @ p["x"][:, :WIDTH] + state[0] @ p["h"][:, :WIDTH]),)


def lstm(p: Any, state: tuple[jax.Array, ...], x: jax.Array) -> tuple[jax.Array, ...]:
    h, c = state
    i, f, g, o = jnp.split(x @ p["x"] + h @ p["h"], 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def gates(p: Any, h: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    xs, hs = (jnp.split(a, 4, -1) for a in (x @ p["x"], h @ p["h"]))
    r, z = (jax.nn.sigmoid(a + b) for a, b in zip(xs[:2], hs[:2], strict=True))
    return z, jnp.tanh(xs[2] + r * hs[2])


def gru(p: Any, state: tuple[jax.Array, ...], x: jax.Array) -> tuple[jax.Array, ...]:
    """As in Flax."""
    z, n = gates(p, state[0], x)
    return ((1.0 - z) * n + z * state[0],)


def gru_difference(p: Any, state: tuple[jax.Array, ...], x: jax.Array) -> tuple[jax.Array, ...]:
    """As in Equinox."""
    z, n = gates(p, state[0], x)
    return (n + z * (state[0] - n),)


def summed(p: Any, state: tuple[jax.Array, ...], x: jax.Array) -> tuple[jax.Array, ...]:
    """The gates of both terms differ, so that the state may be larger than 1."""
    z, n = gates(p, state[0], x)
    return (jax.nn.sigmoid(n) * n + z * state[0],)


CELLS: dict[str, tuple[Cell, int]] = {
    "simple": (simple, 1),
    "lstm": (lstm, 2),
    "gru": (gru, 1),
    "gru as a difference": (gru_difference, 1),
}


def states(name: str | Cell, *, unroll: bool = False) -> Callable[[Any, jax.Array], jax.Array]:
    cell, count = CELLS[name] if isinstance(name, str) else (name, 1)

    def run(p: Any, x: jax.Array) -> jax.Array:
        first = (jnp.zeros((BATCH, WIDTH)),) * count

        def step(state: tuple[jax.Array, ...], x: jax.Array) -> Any:
            new = cell(p, state, x)
            return new, new[0]

        found: jax.Array = jax.lax.scan(step, first, x, unroll=TURNS if unroll else 1)[1]
        return found

    return run


def given() -> tuple[dict[str, Any], Any]:
    x, w, h, out = normals(
        (TURNS, BATCH, WIDTH), (WIDTH, 4 * WIDTH), (WIDTH, 4 * WIDTH), (WIDTH, WIDTH)
    )
    root = math.sqrt(WIDTH)
    return {"x": w / root, "h": h / root, "out": out / root}, x


def loss(name: str, *, unroll: bool = False) -> Callable[[Any, jax.Array], jax.Array]:
    run = states(name, unroll=unroll)
    return lambda p, x: jnp.mean((run(p, x) @ p["out"]) ** 2)


def remarks(function: Callable[..., Any], *, declared: bool) -> list[str]:
    p, x = given()
    exported = program_of(function, p, x)
    scales = scalify_hlo.measured_scales(exported, p, x) if declared else {}
    how: Any = {"recipe": "unit", "input_scale": scales, "settings": SETTINGS}
    _, report = scalify_hlo.rewrite(exported, report=True, **how)
    return [remark.message for remark in report.remarks if "measured" in remark.message]


def test_no_size_of_a_forward_pass_is_measured() -> None:
    """Gates of inputs of unknown size may be far smaller than their bound, and are measured."""
    assert remarks(loss("simple"), declared=False) == []


@pytest.mark.parametrize("unroll", [False, True])
@pytest.mark.parametrize("name", CELLS)
def test_no_size_of_a_training_step_is_measured(name: str, unroll: bool) -> None:
    assert remarks(jax.grad(loss(name, unroll=unroll)), declared=True) == []


def test_a_gradient_that_grows_by_a_measured_size_is_measured() -> None:
    """Each turn multiplies it by a weight, of which nothing is known: it may vanish or explode."""
    assert len(remarks(jax.grad(loss("simple")), declared=False)) == 1


def exponent_of_state(name: str | Cell, size: float = 1.0) -> int:
    """log2 of the scale with which a matmul after the loop reads the states."""
    run, (p, x) = states(name), given()
    p["x"] = size * p["x"]
    exported = program_of(lambda p, x: run(p, x) @ p["out"], p, x)
    scales = scalify_hlo.measured_scales(exported, p, x)
    how: Any = {"recipe": "unit", "input_scale": scales, "settings": SETTINGS}
    cast = scalify_hlo.rewrite(exported, report=True, **how)[1].matmuls[-1].scales[0]
    assert cast is not None
    return int(cast.scale.removeprefix("2^"))


@pytest.mark.parametrize("name", [name for name in CELLS if name != "lstm"])
def test_a_state_between_minus_1_and_1_is_near_both_a_first_and_a_trained_one(name: str) -> None:
    """Within 3 octaves below the scale, and 1 above it."""
    exponent, run, (p, x) = exponent_of_state(name), states(name), given()
    first = math.log2(rms(run(p, x)))
    assert exponent - 3 <= first
    assert exponent + 1 >= 0  # No state is larger than 1.


def test_other_states_keep_their_sizes() -> None:
    assert exponent_of_state("lstm", 2.0**-8) < -4
    assert exponent_of_state(summed, 2.0**-8) < -2
