"""Finds a NaN of one of eight devices among which `jax.shard_map` divides a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec

from scalify_hlo.api import find_nan
from scalify_hlo.commands.nan.nan_report import NonFiniteOp
from tests.py.devices.eight_devices import mesh
from tests.py.shared.judge import program_of
from tests.py.shared.stats_reference import Array


def origin(function: Callable[..., Any], values: Array) -> NonFiniteOp:
    found = find_nan(program_of(function, values), [(values,)]).first
    assert found is not None
    return found


def main() -> dict[str, Any]:
    """The origins of a NaN on one device, in a plain step and in a loop."""
    spec = PartitionSpec("d", "t")

    def part(x: jax.Array) -> jax.Array:
        return jnp.log(x) * 2  # planted

    def looped(x: jax.Array) -> jax.Array:
        def body(c: jax.Array, i: jax.Array) -> tuple[jax.Array, None]:
            return c + jnp.log(x + (i < 2) * 4), None

        return lax.scan(body, x, jnp.arange(4))[0]

    def spread(function: Callable[..., Any]) -> Callable[..., Any]:
        return jax.shard_map(function, mesh=mesh(d=4, t=2), in_specs=spec, out_specs=spec)

    values = np.ones((16, 8), np.float32)
    values[9, 7] = -2.0  # the third row of devices, its second column: device 5
    plain, inner = origin(spread(part), values), origin(spread(looped), values)
    return {
        "sentence": plain.sentence,
        "location": plain.location,
        "device": plain.device,
        "smallest": plain.operands[0].smallest,
        "largest": plain.operands[0].largest,
        "shape": plain.operands[0].shape,
        "looped": {"loops": [t.turn for t in inner.loops], "device": inner.device},
    }
