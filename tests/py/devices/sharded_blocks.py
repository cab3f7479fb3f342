"""A training step with scales of blocks, spread by the compiler over eight devices.

For each recipe: the largest difference from the step on one device, over the largest number.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

import scalify_hlo
from tests.py.devices.eight_devices import mesh, places
from tests.py.shared.judge import program_of


def step(params: dict[str, jax.Array], x: jax.Array) -> Any:
    """Parameters after one step of gradient descent."""

    def loss(params: dict[str, jax.Array]) -> jax.Array:
        return jnp.mean((jnp.tanh(x @ params["up"]) @ params["down"]) ** 2)

    return jax.tree.map(lambda w, d: w - 0.1 * d, params, jax.grad(loss)(params))


def main(*recipes: str) -> list[list[float]]:
    """Rewrites and runs the step for one device and for eight, under each recipe."""
    up, down, rows = places(mesh(d=4, m=2), ("d", "m"), ("m", "d"), ("d", None))
    weights = {"up": up, "down": down}
    keys = jax.random.split(jax.random.key(0), 3)
    params = {
        "up": jax.random.normal(keys[0], (64, 128)) / 8,
        "down": jax.random.normal(keys[1], (128, 64)) / 8,
    }
    x = jax.random.normal(keys[2], (64, 64))
    plain = program_of(step, params, x)
    spread = export.export(jax.jit(step, in_shardings=(weights, rows), out_shardings=weights))
    over = spread(params, x)
    there = jax.device_put(params, weights), jax.device_put(x, rows)
    errors = []
    for recipe in recipes:
        expected = jax.jit(scalify_hlo.rewrite(plain, recipe=recipe).call)(params, x)
        found = jax.jit(scalify_hlo.rewrite(over, recipe=recipe).call)(*there)
        pairs = [(np.asarray(found[n]), np.asarray(expected[n])) for n in params]
        errors.append([float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs])
    return errors
