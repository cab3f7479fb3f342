"""State that is spread over eight devices, rescaled."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import optax

import scalify_hlo as jsa
from examples.training import training_step
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from tests.py.devices.eight_devices import mesh, places
from tests.py.devices.sharded_steps import inputs, loss
from tests.py.shared.judge import pairs

OPTIMIZER = optax.adam(2.0**-5)
step = training_step(loss, OPTIMIZER)


def main() -> dict[str, Any]:
    """Takes a step with rescaling in the program and between steps, and tells what came out."""
    rows, whole = places(mesh(d=8), ("d",), ())
    params, x, y = inputs()
    params = jax.device_put(params, rows)
    placed = params, OPTIMIZER.init(params), *jax.device_put((x, y), rows)
    given = jsa.as_scaled_array(placed)
    outputs = jax.tree.map(
        lambda leaf: jsa.ScaledArray(rows, whole) if is_scaled_array(leaf) else whole,
        given[:2],
        is_leaf=is_scaled_array,
    )
    states = {}
    for name, statistic in (("in the program", "l2"), ("between steps", "none")):
        run = jsa.scalify(
            step,
            settings={"state_rescale.statistic": statistic},
            out_shardings=(*outputs, None),
        )
        states[name] = run(*given)[:2]
    states["between steps"] = jax.jit(jsa.dynamic_rescale)(states["between steps"])
    found = {name: pairs(state) for name, state in states.items()}
    expected = [leaf for leaf in jax.tree.leaves(jax.jit(step)(*placed)[:2]) if leaf.ndim]
    scales: dict[str, list[float]] = {
        name: [float(np.log2(p.scale)) for p in some] for name, some in found.items()
    }
    scales["on devices"] = [
        len(p.scale.addressable_shards) for some in found.values() for p in some
    ]
    everything = [p for some in found.values() for p in some]
    return {
        "placed": all(p.data.sharding.is_equivalent_to(rows, p.ndim) for p in everything),
        "values": all(
            np.allclose(np.asarray(p), plain, rtol=1e-4, atol=1e-7)
            for some in found.values()
            for p, plain in zip(some, expected, strict=True)
        ),
        "scales": scales,
    }
