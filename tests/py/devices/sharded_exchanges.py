"""Casts before collectives over eight devices: the bits are those of casts after them."""

from __future__ import annotations

import re
from functools import partial
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import scalify_hlo
from scalify_hlo.casts.exchanges import Exchanges
from tests.py.devices.eight_devices import mesh, places

AXIS, DEVICES, SIZE = "d", 8, 128
RING = [(i, (i + 1) % DEVICES) for i in range(DEVICES)]
EXCHANGE = re.compile(
    r'"stablehlo\.(all_gather|all_to_all|collective_permute)".*?-> tensor<\S*x(\w+)>'
    r"|sdy\.(sharding_constraint) \S+ <.*?> : tensor<\S*x(\w+)>",
    re.S,
)
NARROW = ("gather", "stacked", "all_to_all", "ring", "backward", "placed")
WIDE = ("line", "also read wide", "placed and read wide")


def product(x: jax.Array, w: jax.Array) -> jax.Array:
    """The sum over the first dimension of both."""
    return jax.lax.dot_general(x, w, (((0,), (0,)), ((), ())))


def exchanged(case: str, x: jax.Array, w: jax.Array) -> Any:
    """A matmul whose weight comes from other devices."""
    if case == "stacked":
        return x @ jax.lax.all_gather(w, AXIS).reshape(SIZE, SIZE)
    if case == "all_to_all":
        return x @ jax.lax.all_to_all(w, AXIS, 1, 0, tiled=True)
    if case in ("ring", "line"):
        return product(x, jax.lax.ppermute(w, AXIS, RING if case == "ring" else RING[:-1]))
    whole = jax.lax.all_gather(w, AXIS, tiled=True)
    return x @ whole + jnp.sum(whole) if case == "also read wide" else x @ whole


def placed(case: str, on: Mesh, x: jax.Array, w: jax.Array) -> Any:
    """A matmul whose weight the partitioner gathers."""
    whole = jax.lax.with_sharding_constraint(jnp.sin(w), NamedSharding(on, P()))
    return (x @ whole, jnp.sum(whole)) if case == "placed and read wide" else x @ whole


def program(case: str) -> Any:
    """The matmul on all devices; the gradients of both operands too for ``backward``."""

    def local(x: jax.Array, w: jax.Array) -> Any:
        if case == "backward":
            return jax.grad(lambda *both: jnp.sum(exchanged(case, *both) ** 2), (0, 1))(x, w)
        return exchanged(case, x, w)

    on, rows = mesh(d=DEVICES), P(AXIS, None)
    if case.startswith("placed"):
        return jax.jit(partial(placed, case, on), in_shardings=NamedSharding(on, rows))
    return jax.jit(jax.shard_map(local, mesh=on, in_specs=(rows, rows), out_specs=rows))


def results(new: Any, arrays: list[Any]) -> list[Any]:
    """The results; what a recipe adds to the arguments are ones."""
    rows, whole = places(mesh(d=DEVICES), (AXIS, None), ())
    arrays = jax.device_put(arrays, rows)
    ones = [np.ones(aval.shape, aval.dtype) for aval in new.in_avals[len(arrays) :]]
    added = jax.device_put(ones, whole)
    args, kwargs = jax.tree.unflatten(new.in_tree, [*arrays, *added])
    return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(new.call)(*args, **kwargs))]


def exchanged_types(program: Any) -> list[str]:
    """The element types of what devices exchange."""
    return [one or other for _, one, _, other in EXCHANGE.findall(program.mlir_module())]


def main(recipe: str) -> None:
    """Compares the results, and the types of the collectives."""
    rng = np.random.default_rng(0)
    spread = 2.0 ** np.repeat(np.arange(8), 16)[:, None]  # each device has another amax
    x, w = (rng.standard_normal((2, SIZE, SIZE)) * spread).astype(np.float32)
    for case in (*NARROW, *WIDE):
        exported = jax.export.export(program(case))(x, w)
        new, _ = scalify_hlo.rewrite(exported, recipe=recipe, report=True)
        with mock.patch.object(Exchanges, "_found", return_value=()):
            old, _ = scalify_hlo.rewrite(exported, recipe=recipe, report=True)
        for a, b in zip(results(new, [x, w]), results(old, [x, w]), strict=True):
            most = np.abs(np.asarray(b, np.float64)).max(initial=0)
            told = f"{recipe}, {case}"
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * most, err_msg=told)
        types, before = map(exchanged_types, (new, old))
        assert len(types) == len(before) == 1, (recipe, case, types, before)
        assert (types != before) == (case in NARROW), (recipe, case, types, before)
        assert types[0].startswith("f8") == (case in NARROW), (recipe, case, types)
