"""Moments in 8 bits that are spread over eight devices: `python -m tests.py.sharded_moments`."""

from __future__ import annotations

import json
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import scalify_hlo as jsa
from tests.py.test_state8 import OPTIMIZERS, batches, packed_in, start, step_of

SPECS = {"up": (None, "d"), "bias": ("d",), "down": ("d", None)}
"""The middle dimension is divided: rows of `up` are divided within their blocks."""


def trained(step: Any, params: Any) -> list[jsa.ScaledArray]:
    """Returns the moments after three steps."""
    state = jsa.as_scaled_array((params, OPTIMIZERS["adamw"]().init(params)))
    for batch in batches(1, 3):
        *state, _ = step(*state, *jsa.as_scaled_array(batch))
    return packed_in(state[1])


def main() -> None:
    """Trains on one device and on eight, and tells whether the moments are the same."""
    mesh = Mesh(np.array(jax.devices()), ("d",))
    step = jsa.scalify(step_of(OPTIMIZERS["adamw"]()), recipe="fp8-state8")
    params = start()
    placed = {
        name: jax.device_put(value, NamedSharding(mesh, PartitionSpec(*SPECS[name])))
        for name, value in params.items()
    }
    one, eight = trained(step, params), trained(step, placed)
    steps = [
        np.asarray(a.data).view(np.uint8).astype(int) - np.asarray(b.data).view(np.uint8)
        for a, b in zip(one, eight, strict=True)
    ]
    told = {
        "moments": len(eight),
        "divided": [len({str(s.index) for s in m.data.addressable_shards}) for m in eight],
        "apart": max(int(np.abs(each).max()) for each in steps),
        "equal": min(float(np.mean(each == 0)) for each in steps),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
