"""Weights that are rounded at random on eight devices."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import scalify_hlo as jsa
from tests.py.devices.eight_devices import mesh, places

SIZE = 512


def step(w: Any, count: Any, change: Any) -> Any:
    """Changes weights by much less than the distance of two numbers of bf16."""
    return w - change, count + 1


def main() -> dict[str, Any]:
    """Steps on one device and on eight, and tells whether the weights have the same bits."""
    settings = {"state.weight": "bf16", "state.weight_rounding": "stochastic"}
    run = jax.jit(jsa.scalify(step, recipe="propagate", settings=settings))
    found = []
    for place in places(mesh(d=8), (), ("d", None), (None, "d")):
        w, change = (jax.device_put(jnp.full((SIZE, SIZE), x), place) for x in (1.0, 0.0031))
        given = jsa.as_scaled_array(w), jnp.int32(5), change
        stored = run(*given)[0].data
        found.append(np.asarray(stored).view(np.uint16))
        used: Any = run.lower(*given).compile().memory_analysis()
    return {
        "devices": len({s.device for s in stored.addressable_shards}),
        "equal": all(np.array_equal(found[0], other) for other in found[1:]),
        "random": len(np.unique(found[0])) == 2,
        "bytes": 4 * SIZE * SIZE,
        "temporary": int(used.temp_size_in_bytes),
    }
