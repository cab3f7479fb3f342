"""Functions with per-device bodies in odd places, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.py.devices.sharded_steps import Case, Step, Tree, shardings

ROWS, WIDTH, LAYER_COUNT, PARTS = 8, 16, 3, 4


def arguments() -> Tree:
    """Weights of several layers, and a batch."""
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((LAYER_COUNT, WIDTH, WIDTH)) / 4
    return weights.astype(np.float32), rng.standard_normal((ROWS, WIDTH)).astype(np.float32)


def _on(mesh: Mesh | None, **options: Any) -> Callable[..., Any]:
    return partial(jax.shard_map, mesh=mesh, **options)


def scan_inside(mesh: Mesh, w: jax.Array, x: jax.Array) -> Tree:
    """A loop over layers in a per-device body, its gathered weights not kept."""

    def body(w: jax.Array, x: jax.Array) -> Tree:
        @jax.checkpoint
        def layer(h: jax.Array, part: jax.Array) -> tuple[jax.Array, jax.Array]:
            whole = lax.all_gather(part, "t", tiled=True)
            return jnp.tanh(h @ whole) + h, lax.pmean(jnp.sum(h * h), "d")

        h, sums = lax.scan(layer, x, w)
        return lax.psum(jnp.sum(h), "d") + jnp.sum(sums)

    specs = (P(None, "t"), P("d"))
    return _on(mesh, in_specs=specs, out_specs=P(), check_vma=False)(body)(w, x)


def scan_inside_plain(w: jax.Array, x: jax.Array) -> Tree:
    """What it means."""

    def layer(h: jax.Array, whole: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.tanh(h @ whole) + h, jnp.sum(h * h) / PARTS

    h, sums = lax.scan(layer, x, w)
    return jnp.sum(h) + jnp.sum(sums)


def scan_outside(mesh: Mesh, w: jax.Array, x: jax.Array) -> Tree:
    """A per-device body in a loop over layers."""

    def body(part: jax.Array, h: jax.Array) -> Tree:
        whole = lax.all_gather(h, "t", axis=1, tiled=True)
        return jnp.tanh(lax.psum(h @ part, "t")) * 0.5 + whole

    def layer(h: jax.Array, part: jax.Array) -> tuple[jax.Array, jax.Array]:
        specs = (P("t", None), P("d", "t"))
        on_devices = _on(mesh, in_specs=specs, out_specs=P("d"), check_vma=False)(body)
        return on_devices(part, h), jnp.sum(h * h)

    h, sums = lax.scan(layer, x, w)
    return jnp.sum(h * h) + jnp.sum(sums)


def scan_outside_plain(w: jax.Array, x: jax.Array) -> Tree:
    """What it means."""

    def layer(h: jax.Array, whole: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.tanh(h @ whole) * 0.5 + h, jnp.sum(h * h)

    h, sums = lax.scan(layer, x, w)
    return jnp.sum(h * h) + jnp.sum(sums)


def one_axis(mesh: Mesh, w: jax.Array, x: jax.Array) -> Tree:
    """A body that is per device along one axis only; the compiler has the other."""

    def body(w: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        y = x @ w[0]
        total = lax.psum(jnp.sum(jnp.maximum(y, 0) @ w[1]), "d")
        return total, lax.ppermute(y, "d", [(0, 1), (1, 0)]) * 1.5

    specs = (P(), P("d"))
    on_devices = _on(mesh, in_specs=specs, out_specs=specs, axis_names={"d"})(body)
    total, swapped = on_devices(w, x)
    return total + jnp.sum(swapped * swapped)


def one_axis_plain(w: jax.Array, x: jax.Array) -> Tree:
    """What it means."""
    y = x @ w[0]
    parts = y.reshape(PARTS, -1, WIDTH)[:2] * 1.5
    return jnp.sum(jnp.maximum(y, 0) @ w[1]) + jnp.sum(parts * parts)


def nested(mesh: Mesh, w: jax.Array, x: jax.Array) -> Tree:
    """A body in a body, each per device along one axis."""

    def inner(part: jax.Array, x: jax.Array) -> Tree:
        return lax.psum(x @ part, "t")

    def outer(w: jax.Array, x: jax.Array) -> Tree:
        specs = (P("t", None), P(None, "t"))
        y = _on(None, in_specs=specs, out_specs=P(), axis_names={"t"})(inner)(w[0], x)
        return lax.psum(jnp.sum(y * y), "d")

    specs = (P(), P("d"))
    return _on(mesh, in_specs=specs, out_specs=P(), axis_names={"d"})(outer)(w, x)


def nested_plain(w: jax.Array, x: jax.Array) -> Tree:
    """What it means."""
    y = x @ w[0]
    return jnp.sum(y * y)


def constrained(mesh: Mesh, w: jax.Array, x: jax.Array) -> Tree:
    """Values that are told where to be."""
    y = lax.with_sharding_constraint(x @ w[0], NamedSharding(mesh, P("d", "t")))
    rows = lax.with_sharding_constraint(y, NamedSharding(mesh, P("d")))
    return jnp.sum(jnp.sqrt(jnp.abs(y)) * rows)


def constrained_plain(w: jax.Array, x: jax.Array) -> Tree:
    """What it means."""
    y = x @ w[0]
    return jnp.sum(jnp.sqrt(jnp.abs(y)) * y)


_PLACES = (P(None, None, "t"), P("d"))


def _case(function: Step, plain: Step, arguments_of: tuple[int, ...] = (0, 1)) -> Case:
    def spread(mesh: Mesh, case: Case) -> Step:
        return jax.jit(
            jax.value_and_grad(partial(function, mesh), argnums=arguments_of),
            in_shardings=shardings(mesh, case.placed()),
        )

    return Case(
        function.__name__,
        spread,
        {},
        P(),
        plain=jax.value_and_grad(plain, argnums=arguments_of),
        arguments=arguments,
        places=_PLACES,
    )


LAYERS = (
    _case(scan_inside, scan_inside_plain),
    _case(scan_outside, scan_outside_plain),
    _case(one_axis, one_axis_plain),
    _case(nested, nested_plain, (0,)),
    _case(constrained, constrained_plain),
)
