"""A training step with scales of blocks, spread by the compiler over eight devices.

For each recipe it prints the largest difference from the step on one device, over the largest
number, as a line of JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import scalify_hlo
from tests.py.judge import program_of


def step(params: dict[str, jax.Array], x: jax.Array) -> Any:
    """Parameters after one step of gradient descent."""

    def loss(params: dict[str, jax.Array]) -> jax.Array:
        return jnp.mean((jnp.tanh(x @ params["up"]) @ params["down"]) ** 2)

    return jax.tree.map(lambda w, d: w - 0.1 * d, params, jax.grad(loss)(params))


def main(*recipes: str) -> None:
    """Rewrites and runs the step for one device and for eight, under each recipe."""
    mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("d", "m"))
    places = {name: NamedSharding(mesh, spec) for name, spec in _SPECS.items()}
    rows = NamedSharding(mesh, P("d", None))
    keys = jax.random.split(jax.random.key(0), 3)
    params = {
        "up": jax.random.normal(keys[0], (64, 128)) / 8,
        "down": jax.random.normal(keys[1], (128, 64)) / 8,
    }
    x = jax.random.normal(keys[2], (64, 64))
    plain = program_of(step, params, x)
    spread = export.export(jax.jit(step, in_shardings=(places, rows), out_shardings=places))
    over = spread(params, x)
    there = jax.device_put(params, places), jax.device_put(x, rows)
    for recipe in recipes:
        expected = jax.jit(scalify_hlo.rewrite(plain, recipe=recipe).call)(params, x)
        found = jax.jit(scalify_hlo.rewrite(over, recipe=recipe).call)(*there)
        pairs = [(np.asarray(found[n]), np.asarray(expected[n])) for n in params]
        print(json.dumps([float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs]))


_SPECS = {"up": P("d", "m"), "down": P("m", "d")}

if __name__ == "__main__":
    main(*sys.argv[1:])
