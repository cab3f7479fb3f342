"""State whose nodes are namedtuples with a registration of their own, as in NumPyro's."""

from __future__ import annotations

from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax.example_libraries import optimizers

import scalify_hlo

INIT, UPDATE, PARAMS = optimizers.adam(1e-2)


def step(state: Any, x: Any) -> Any:
    loss, gradients = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"]) ** 2))(PARAMS(state))
    return UPDATE(0, gradients, state), loss


@pytest.mark.parametrize("recipe", ["fp8-state", "fp8-state8"])
def test_steps_keep_the_type_of_their_state(recipe: str) -> None:
    draw = np.random.default_rng(0).standard_normal
    state = INIT({"w": jnp.asarray(draw((32, 64)) / 8, jnp.float32)})
    x = jnp.asarray(draw((32, 32)), jnp.float32)
    exported = jax.export.export(jax.jit(step))(state, x)
    program = scalify_hlo.rewrite(exported, recipe=recipe, signature="scaled")
    (found,) = scalify_hlo.scaled_state(program, (state,))
    for _ in range(3):
        state, wanted = exported.call(state, x)
        found, loss = program.call(found, scalify_hlo.as_scaled_array(x))
        assert type(found) is type(state)
        assert found.tree_def == state.tree_def
        assert abs(scalify_hlo.asarray(loss) - wanted) <= 0.05 * wanted
