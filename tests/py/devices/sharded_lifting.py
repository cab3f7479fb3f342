"""Lifts values out of programs for eight devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

from scalify_hlo import _compat
from scalify_hlo.program.artifact import write_artifact
from scalify_hlo.program.program import read_program
from scalify_hlo.transforms.hoist import Joined
from tests.py.devices.eight_devices import mesh, places
from tests.py.shared.judge import program_of
from tests.py.shared.lifted import Array, arrays, observe


def per_device(w: jax.Array, xs: jax.Array) -> jax.Array:
    """Each device has a part of the turns, and a matmul before and in a loop over them."""

    def body(w: jax.Array, xs: jax.Array) -> jax.Array:
        first = xs[0] @ w
        return lax.scan(lambda h, x: (h + x @ w, None), first, xs)[0][None]

    spread = jax.shard_map(body, mesh=mesh(d=4, t=2), in_specs=(P(), P("d")), out_specs=P("d"))
    return spread(w, xs)


def both_axes(w: jax.Array, xs: jax.Array) -> jax.Array:
    """A per-device computation within another: each of one axis of the mesh."""

    def inner(w: jax.Array, x: jax.Array) -> jax.Array:
        return x @ w

    def outer(w: jax.Array, x: jax.Array) -> jax.Array:
        columns = P(None, None, "t")
        mapped = jax.shard_map(
            lambda w, x: lax.psum(inner(w, x), "t"),
            in_specs=(P("t"), columns),
            out_specs=P(),
            axis_names={"t"},
        )
        return mapped(w, x)  # type: ignore[no-any-return, no-untyped-call]

    spread = jax.shard_map(
        outer, mesh=mesh(d=4, t=2), in_specs=(P(), P("d")), out_specs=P("d"), axis_names={"d"}
    )
    return spread(w, xs)


def weights() -> Array:
    """Returns the weights, which are the same on all devices."""
    return arrays()[0]


def inputs() -> Array:
    """Two turns for each device along the first axis of the mesh."""
    xs = arrays()[1]
    return np.concatenate([xs, 2 * xs])


PROGRAMS: dict[str, Callable[..., jax.Array]] = {"loop": per_device, "nested": both_axes}


def run(name: str, combine: Joined) -> dict[str, Any]:
    """Returns the additional results of a program on each device."""
    placed = jax.device_put([weights(), inputs()], places(mesh(d=4, t=2), (), ("d",)))
    exported = program_of(PROGRAMS[name], *placed)
    expected = jax.jit(exported.call)(*placed)
    module = read_program(bytes(exported.mlir_module_serialized)).module
    count = observe(module, combine)
    kinds = {"maximum": ((), np.float32), "add": ((2,), np.int32)}
    aval = jax.core.ShapedArray(*kinds[combine])
    changed = _compat.replace_exported(
        exported,
        arguments=range(2),
        results=[0, *[-1] * count],
        vjp=None,
        mlir_module_serialized=write_artifact(module, "compatible", name),
        out_avals=(*exported.out_avals, *[aval] * count),
        out_tree=jax.tree.structure((0, [0] * count)),
    )
    result, values = jax.jit(changed.call)(*placed)
    shards = [[np.asarray(s.data).tolist() for s in v.addressable_shards] for v in values]
    same = bool(np.allclose(result, expected, rtol=1e-5, atol=1e-5))
    return {"same": same, "values": shards}


def main() -> dict[str, Any]:
    """Runs each program with the largest of each value, and with sums."""
    kinds: tuple[Joined, ...] = ("maximum", "add")
    return {f"{name} {kind}": run(name, kind) for name in PROGRAMS for kind in kinds}
