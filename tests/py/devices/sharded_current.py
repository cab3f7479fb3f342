"""A matmul of `fp8-current` over eight devices: one amax, and what is gathered is narrow."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

import scalify_hlo
from tests.py.devices.eight_devices import mesh, places
from tests.py.shared.fp8_numpy import F32, quantized


def spread(case: str, on: Mesh) -> Any:
    """The matmul, with the rows of the weight on different devices."""
    if case == "gspmd":
        (place,) = places(on, ("d", None))
        return jax.jit(lambda x, w: x @ w, in_shardings=(place, place), out_shardings=place)

    def local(x: jax.Array, w: jax.Array) -> Any:
        return x @ jax.lax.all_gather(w, "d", axis=0, tiled=True)

    rows = P("d", None)
    return jax.jit(jax.shard_map(local, mesh=on, in_specs=(rows, rows), out_specs=rows))


def main(case: str) -> None:
    """Compares with NumPy, where all of a tensor has one scale."""
    on = mesh(d=8)
    rng = np.random.default_rng(0)
    rows = 2.0 ** np.repeat(np.arange(8), 16)[:, None]  # each device has another amax
    x = (rng.standard_normal((128, 128)) * rows).astype(F32)
    w = (rng.standard_normal((128, 128)) * rows[::-1]).astype(F32)
    exported = jax.export.export(spread(case, on))(x, w)
    new = scalify_hlo.rewrite(exported, recipe="fp8-current")
    given = jax.device_put([x, w], *places(on, ("d", None)))
    found = np.asarray(jax.jit(new.call)(*given))
    (xd, xs), (wd, ws) = (quantized(v, "f8E4M3FN") for v in (x, w))
    wanted = xd.astype(np.float64) @ wd.astype(np.float64) * xs * ws
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())
    if case == "gspmd":
        text = str(jax.jit(new.call).lower(*given).compile().as_text())
        gathers = [line for line in text.splitlines() if " all-gather(" in line]
        assert gathers, text
        assert not any("= f32[128,128]" in line for line in gathers), gathers
