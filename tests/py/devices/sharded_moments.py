"""Moments in 8 bits that are spread over eight devices."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

import scalify_hlo as jsa
from tests.py.casts.test_state8 import OPTIMIZERS, batches, packed_in, start, step_of
from tests.py.devices.eight_devices import mesh, places

SPECS = {"up": (None, "d"), "bias": ("d",), "down": ("d", None)}
"""The middle dimension is divided: rows of `up` are divided within their blocks."""


def trained(step: Any, params: Any, steps: int) -> list[jsa.ScaledArray]:
    """Returns the moments after some steps."""
    state = jsa.as_scaled_array((params, OPTIMIZERS["adamw"]().init(params)))
    for batch in batches(1, steps):
        *state, _ = step(*state, *jsa.as_scaled_array(batch))
    return packed_in(state[1])


def main() -> dict[str, Any]:
    """Trains on one device and on eight, and tells whether the moments are the same."""
    step = jsa.scalify(step_of(OPTIMIZERS["adamw"]()), recipe="fp8-state8")
    params = start()
    placed = jax.device_put(
        params, dict(zip(SPECS, places(mesh(d=8), *SPECS.values()), strict=True))
    )
    told: dict[str, Any] = {"apart": []}
    for steps in (1, 3):
        one, eight = trained(step, params, steps), trained(step, placed, steps)
        differences = [
            np.asarray(a.data).view(np.uint8).astype(int) - np.asarray(b.data).view(np.uint8)
            for a, b in zip(one, eight, strict=True)
        ]
        told["apart"].append(max(int(np.abs(each).max()) for each in differences))
        told["equal"] = min(float(np.mean(each == 0)) for each in differences)
    told["moments"] = len(eight)
    told["divided"] = [len({str(s.index) for s in m.data.addressable_shards}) for m in eight]
    return told
