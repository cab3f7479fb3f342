"""Arrays that `flax.nnx.jit` or `jax.jit` divides over eight devices."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

import scalify_hlo as jsa
from tests.py.devices.eight_devices import mesh, places
from tests.py.shared.judge import normals


def update(model: Any, x: Any) -> Any:
    loss, gradient = nnx.value_and_grad(lambda m: jnp.mean(m(x) ** 2))(model)
    model.kernel[...] -= 0.1 * gradient.kernel[...]
    return loss


def main() -> list[dict[str, Any]]:
    """Compares updates with those of `nnx.jit`; all arrays are on one device before."""
    rows, columns, every = places(mesh(d=8), ("d",), (None, "d"), ())
    of_state = nnx.StateSharding([(nnx.PathContains("kernel"), columns), (..., every)])
    cases: list[dict[str, Any]] = [
        {"in_shardings": (of_state, rows), "out_shardings": every, "donate_argnums": 0},
        {"in_shardings": (None, rows), "graph": False, "donate_argnames": "model"},
        {"out_shardings": every},
    ]
    return [_compared(case, recipe) for case in cases for recipe in ("propagate", "fp8-current")]


def _compared(options: dict[str, Any], recipe: str) -> dict[str, Any]:
    (x,) = normals((32, 64))
    compiled: Any = nnx.jit(update, **options)
    ran = []
    for step in (compiled, jsa.scalify(compiled, recipe=recipe)):
        model: Any = nnx.Linear(64, 64, rngs=nnx.Rngs(0))
        before = model.kernel[...]
        loss = step(model, x)
        shown = [str(each.sharding) for each in (model.kernel[...], model.bias[...], loss)]
        ran.append((np.asarray(model.kernel[...]), loss, shown, before.is_deleted()))
    (kernel, loss, *kept), (other, other_loss, *others) = ran
    return {
        "difference": float(np.abs(kernel - other).max()),
        "loss": float(jnp.abs(other_loss / loss - 1)),
        "same": kept == others,
        "devices": len(loss.sharding.device_set),
        "donated": kept[1],
    }


def unplaced() -> list[list[Any]]:
    """Calls functions of `jax.jit` with shardings on arrays that are on no device, or on one."""
    rows, every = places(mesh(d=8), ("d",), ())
    x, w = normals((32, 64), (64, 64))
    compiled = jax.jit(lambda x, w: jnp.tanh(x @ w / 8), in_shardings=(rows, every))
    pair = jsa.as_scaled_array(jax.device_put(x, rows))
    found = []
    for recipe in ("propagate", "fp8-current", "unit"):
        stats = jsa.Stats(every=2)
        step = jsa.scalify(compiled, recipe=recipe, stats=stats)
        for given in ((np.asarray(x), w), (x, w), (pair, jax.device_put(w, every))):
            y = jsa.asarray(step(*given))
            error = float(jnp.abs(y - compiled(x, w)).mean())
            found.append([len(y.sharding.device_set), error < 0.1, len(stats.records)])
    return found
