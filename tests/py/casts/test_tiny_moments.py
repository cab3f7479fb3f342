"""Second moments in f16 and f8 with one scale: none that is not zero is rounded to zero."""

from __future__ import annotations

from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import scalify_hlo

SIZE, SMALL = 64, 2.0**-24


def step(p: Any, state: Any, x: Any) -> Any:
    """Adam without an epsilon, on a loss whose gradients differ by `SMALL` from row to row."""
    how = optax.adam(2.0**-10, eps=0.0)
    gradient = jax.grad(lambda p: jnp.mean((x @ p["w"]) ** 2))(p)
    updates, state = how.update(gradient, state, p)
    return optax.apply_updates(p, updates), state


def arguments() -> tuple[Any, ...]:
    draw = np.random.default_rng(0).standard_normal
    params = {"w": jnp.asarray(draw((SIZE, SIZE)), jnp.float32)}
    state = optax.adam(1.0).init(params)
    sizes = np.where(np.arange(SIZE) % 2, 1.0, SMALL)
    return params, state, jnp.asarray(draw((SIZE, SIZE)) * sizes, jnp.float32)


@pytest.mark.parametrize("format_", ["f16", "e5m2", "f8E4M3FNUZ"])
def test_updates_stay_bounded_where_second_moments_are_tiny(format_: str) -> None:
    params, state, x = arguments()
    settings = {"state.second_moment": format_}
    original = jax.export.export(jax.jit(step))(params, state, x)
    program = scalify_hlo.rewrite(
        original, recipe="propagate", signature="scaled", settings=settings
    )
    stored = scalify_hlo.scaled_state(program, (params, state))
    data = jax.tree.leaves(stored[1])[2:]
    assert any(leaf.dtype.itemsize < 4 for leaf in data)
    for _ in range(3):
        before = scalify_hlo.asarray(stored[0]["w"])
        stored = program.call(*stored, scalify_hlo.as_scaled_array(x))
        moved = np.abs(scalify_hlo.asarray(stored[0]["w"]) - before)
        assert np.max(moved) <= 2.0**-9
    untouched = scalify_hlo.asarray(
        scalify_hlo.scaled_state(program, (params, state))[1][0].nu["w"]
    )
    assert not np.any(untouched)
