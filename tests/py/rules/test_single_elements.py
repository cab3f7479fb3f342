"""State of one element and of any rank, such as the bias of a model with one output."""

from __future__ import annotations

from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import scalify_hlo

ADAM = optax.adam(1e-2)
BATCH, IN, HIDDEN = 32, 32, 64


def step(params: Any, state: Any, x: Any, y: Any) -> Any:
    def loss(params: Any) -> Any:
        hidden = jax.nn.relu(x @ params["a"] + params["b"])
        out = hidden @ params["c"] * params["gain"] + params["bias"]
        return jnp.mean((out - y) ** 2)

    value, gradients = jax.value_and_grad(loss)(params)
    updates, state = ADAM.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, value


def arguments(shape: tuple[int, ...]) -> tuple[Any, ...]:
    draw = np.random.default_rng(0).standard_normal
    params = {
        "a": jnp.asarray(draw((IN, HIDDEN)) / IN**0.5, jnp.float32),
        "b": jnp.zeros(HIDDEN),
        "c": jnp.asarray(draw((HIDDEN, 16)) / HIDDEN**0.5, jnp.float32),
        "gain": jnp.full(shape, 2.0),
        "bias": jnp.full(shape, 0.25),
    }
    x = jnp.asarray(draw((BATCH, IN)), jnp.float32)
    return params, ADAM.init(params), x, jnp.asarray(draw((BATCH, 16)) + 3, jnp.float32)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("recipe", ["propagate", "fp8", "unit", "fp8-state8", "fp16-state"])
def test_steps_with_state_of_one_element(shape: tuple[int, ...], recipe: str) -> None:
    first = arguments(shape)
    exported = jax.export.export(jax.jit(step))(*first)
    program = scalify_hlo.rewrite(exported, recipe=recipe, signature="scaled")
    exact, batch = first[:2], scalify_hlo.as_scaled_array(first[2:])
    found = scalify_hlo.scaled_state(program, exact)
    for _ in range(4):
        *exact, wanted = exported.call(*exact, *first[2:])
        *found, loss = program.call(*found, *batch)
        assert abs(scalify_hlo.asarray(loss) - wanted) <= 0.05 * wanted
    for name in ("gain", "bias"):
        one, other = exact[0][name], scalify_hlo.asarray(found[0][name])
        assert one.shape == other.shape
        assert abs(one - other).max() < 0.01
