"""Marked functions on eight devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import scalify_hlo as jsa
from tests.py.devices.eight_devices import mesh, places
from tests.py.shared import marked
from tests.py.shared.judge import normals, program_of


def functions() -> dict[str, Callable[[Any], Any]]:
    """By name, what is said of a value."""

    def parts(x: Any) -> Any:
        data, scale = jsa.get_data_and_scale(x)
        return data * scale

    return {
        "set_scaling": lambda x: jsa.set_scaling(x, jnp.max(jnp.abs(x))),
        "rebalance_scale": lambda x: jsa.rebalance_scale(x, 0.5),
        "get_data_and_scale": parts,
        "dynamic_rescale": jsa.dynamic_rescale_l2,
        "dynamic_rescale_grad": jsa.dynamic_rescale_l2_grad,
        "stop_scaling": jsa.stop_scaling,
        "custom_scale": _custom_identity(),
        "dynamic_rescale_loop": _in_a_loop,
    }


def _in_a_loop(x: Any) -> Any:
    """Doubles a value twice in a loop that rescales it, and halves it after."""
    turn = jsa.dynamic_rescale_l2
    return jax.lax.fori_loop(0, 2, lambda _, c: turn(c * 2), x) * 0.25


def _custom_identity() -> Callable[[Any], Any]:
    """A function of the author's own that changes nothing, with a rule that rescales."""

    def rule(x: jsa.ScaledArray) -> jsa.ScaledArray:
        return jsa.ScaledArray(x.data * 4, x.scale / 4)

    identity: Any = jsa.custom_scale(lambda x: x)
    identity.defscale(rule)
    return lambda x: identity(x)


def step(mark: Callable[[Any], Any], kind: str) -> Any:
    """Value and gradient of a loss over all devices, with a mark on each device or on all."""
    on = mesh(d=8)

    def local(x: Any, w: Any) -> Any:
        hidden = jnp.tanh(mark(x @ w))
        return jax.lax.psum(jnp.sum(hidden * hidden), "d")

    def spread(x: Any, w: Any) -> Any:
        x = jax.lax.with_sharding_constraint(x, NamedSharding(on, P("d")))
        return jnp.sum(jnp.tanh(mark(x @ w)) ** 2)

    loss: Any = spread
    if kind == "shard_map":
        loss = jax.shard_map(local, mesh=on, in_specs=(P("d"), P()), out_specs=P())
    return jax.value_and_grad(loss, argnums=(0, 1))


def main() -> list[dict[str, Any]]:
    """Compares each function with the one that is not marked."""
    x, w = normals((16, 4), (4, 8))
    outcomes = []
    for kind in ("shard_map", "sharded"):
        plain = jax.device_get(jax.jit(step(lambda x: x, kind))(x, w))
        for name, mark in functions().items():
            run = step(mark, kind)
            exported = marked.through_a_file(run, x, w)
            direct, loaded = jax.device_get((jax.jit(run)(x, w), _called(exported, x, w)))
            outcome = {
                "kind": kind,
                "name": name,
                "devices": exported.nr_devices,
                "direct": _same(direct, plain),
                "loaded": _same(loaded, plain),
                "eager": kind != "shard_map" or _same(jax.device_get(run(x, w)), plain, 1e-5),
                "markers": marked.names(exported),
                "rewritten": _same(_rewritten(exported, x, w), plain, 1e-5),
            }
            outcomes.append(outcome)
    return outcomes


def statistics() -> dict[str, Any]:
    """The scale that a statistic gives on each of eight devices, and that of all data."""
    on = mesh(d=8)
    x = np.ldexp(np.ones((16, 4), np.float32), np.arange(16)[:, None])  # another size on each
    found = {}
    for name in ("max", "l1", "l2"):
        rescale: Any = getattr(jsa, f"dynamic_rescale_{name}")

        def local(x: Any, rescale: Any = rescale) -> Any:
            return jsa.get_data_and_scale(rescale(x))[1].reshape(1)

        spread = jax.shard_map(local, mesh=on, in_specs=P("d"), out_specs=P("d"))
        exported = program_of(spread, x)
        program = jsa.rewrite(exported, recipe="propagate", input_scale={"*": 1.0})
        scales = jax.device_get(_called(program, x))
        found[name] = [scales.tolist(), float(jsa.dynamic_rescale(_pair(x), name).scale)]
    return found


def _pair(x: Any) -> jsa.ScaledArray:
    return jsa.ScaledArray(jnp.asarray(x), jnp.float32(1))


def _rewritten(exported: Any, *args: Any) -> Any:
    """Returns the results of the rewritten program, with a scale of its own for each argument."""
    program = jsa.rewrite(exported, recipe="propagate", signature="scaled")
    pairs = [jsa.ScaledArray(a / 8, np.float32(8)) for a in args]
    return jax.device_get(jsa.asarray(_called(program, *pairs)))


def _called(exported: Any, *args: Any) -> Any:
    return jax.jit(exported.call)(*jax.device_put(args, *places(mesh(d=8), ())))


def _same(actual: Any, expected: Any, close: float = 0.0) -> bool:
    pairs = zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True)
    return all(np.allclose(a, b, rtol=close, atol=close) for a, b in pairs)
