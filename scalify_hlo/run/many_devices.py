"""Runs programs with manual sharding, which need several devices, on CPU devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.dialect.walk import ops_in
from scalify_hlo.errors import InputError
from scalify_hlo.io.artifact import write_artifact
from scalify_hlo.io.tensors import Array, interface
from scalify_hlo.run.check import Run

if TYPE_CHECKING:
    import jax
    from jax.export import Exported

BY_HAND: Final = "sdy.manual_computation"
"""The op that `jax.shard_map` becomes."""


def divides(module: ir.Module) -> bool:
    """Whether a program divides its data by hand among devices."""
    return bool(ops_in(module.operation, {BY_HAND}))


def run_on_devices(exported: Exported | None, module: ir.Module, name: str) -> Run:
    """Returns a function that runs a program on as many CPU devices as it needs.

    Args:
        exported: The Exported of the program; None if the program is StableHLO alone.
        module: The module of the program, which may have more results than the Exported.
        name: The name of the program in diagnostics.

    Returns:
        A function from the flat list of arguments to the flat list of results, as NumPy arrays.

    Raises:
        InputError: There are too few devices, or there is no Exported.
    """
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    if exported is None:
        raise InputError(
            "the program divides its data by hand among devices, of which it does not say enough",
            location=name,
            hint="give it as jax.export has it, in a jax.export file or as an Exported",
        )
    everywhere = NamedSharding(_mesh(exported.nr_devices, name), PartitionSpec())
    call = jax.jit(_flat(exported, module, name).call, out_shardings=everywhere)

    def run(arrays: Sequence[Array]) -> list[Array]:
        placed = [jax.device_put(array, everywhere) for array in arrays]
        return [np.asarray(result) for result in call(*placed)]

    return run


def _mesh(count: int, name: str) -> jax.sharding.Mesh:
    import jax

    devices = jax.devices("cpu")
    if len(devices) < count:
        raise InputError(
            f"the program is for {count} devices, and there are {len(devices)}",
            location=name,
            hint="make devices of the CPU before jax starts, with XLA_FLAGS="
            f"--xla_force_host_platform_device_count={count}",
        )
    return jax.sharding.Mesh(np.array(devices[:count]), ("devices",))


def _flat(exported: Exported, module: ir.Module, name: str) -> Exported:
    """Returns an Exported of a module whose arguments and results are flat lists."""
    import jax

    kept = exported.module_kept_var_idx
    results = [jax.core.ShapedArray(t.shape, t.dtype) for t in interface(module, name).results]
    added = len(results) - len(exported.out_avals)
    return _compat.replace_exported(
        exported,
        arguments=kept,
        results=[*range(len(exported.out_avals)), *[-1] * added],
        vjp=None,
        mlir_module_serialized=write_artifact(module, "compatible", name),
        module_kept_var_idx=tuple(range(len(kept))),
        in_avals=tuple(exported.in_avals[i] for i in kept),
        out_avals=tuple(results),
        in_tree=jax.tree.structure(((0,) * len(kept), {})),
        out_tree=jax.tree.structure([0] * len(results)),
    )
