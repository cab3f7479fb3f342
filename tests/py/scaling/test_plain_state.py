"""State that enters the first call as plain arrays leaves at a scale near its own size."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from tests.py.shared.judge import leaves, normals

RECIPES = ("propagate", "bf16", "fp16", "fp16-state", "fp8", "fp8-current", "unit")


def loss(params: Any, x: Any, y: Any) -> Any:
    return jnp.mean((jax.nn.relu(x @ params["a"]) @ params["b"] - y) ** 2)


def orthogonalized(gradient: Any) -> Any:
    """Newton-Schulz iterations, as in Muon: predicted scales grow with each product."""
    x = gradient / (jnp.linalg.norm(gradient) + 1e-7)
    for _ in range(5):
        a = x @ x.T
        x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
    return x


def muon(params: Any, momenta: Any, x: Any, y: Any) -> Any:
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    momenta = jax.tree.map(lambda m, g: 0.95 * m + g, momenta, gradients)
    params = jax.tree.map(
        lambda p, m, g: p * (1 - 1e-3) - 0.02 * orthogonalized(g + 0.95 * m),
        *(params, momenta, gradients),
    )
    return params, momenta, value


def sgd(params: Any, momenta: Any, x: Any, y: Any) -> Any:
    """A loss of large gradients, whose scale the state must not take."""
    value, gradients = jax.value_and_grad(lambda *given: 2.0**14 * loss(*given))(params, x, y)
    momenta = jax.tree.map(lambda m, g: 0.9 * m + g, momenta, gradients)
    params = jax.tree.map(lambda p, m: p - 2.0**-18 * m, params, momenta)
    return params, momenta, value


def start() -> Any:
    a, b, x = normals(*[(16, 16)] * 3)
    params = {"a": a / 4, "b": b / 4}
    return params, jax.tree.map(np.zeros_like, params), x, np.tanh(x)


@pytest.mark.parametrize("x_is_a_pair", [False, True])
@pytest.mark.parametrize("step", [muon, sgd])
@pytest.mark.parametrize("recipe", RECIPES)
def test_plain_state_leaves_near_unit(recipe: str, step: Any, x_is_a_pair: bool) -> None:
    params, momenta, x, y = start()
    wanted = jax.jit(step)(params, momenta, x, y)[0]
    run = scalify_hlo.scalify(step, recipe=recipe)
    x = scalify_hlo.as_scaled_array(x) if x_is_a_pair else x
    new, _, _ = run(params, momenta, x, y)
    for found, expected in zip(leaves(new), jax.tree.leaves(wanted), strict=True):
        if is_scaled_array(found):
            assert 2.0**-8 <= float(found.scale) <= 2.0**8
        values = np.asarray(found, np.float64)
        np.testing.assert_allclose(values, expected, atol=2.0**-3)
