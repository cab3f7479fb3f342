"""Runs programs that divide their data by hand among devices, which one device cannot run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.artifact import write_artifact
from scalify_hlo.check import Run
from scalify_hlo.diagnostics import InputError
from scalify_hlo.tensors import Array, interface

if TYPE_CHECKING:
    import jax
    from jax.export import Exported

BY_HAND: Final = "sdy.manual_computation"
"""The op that `jax.shard_map` becomes."""


def run_on_devices(exported: Exported | None, module: ir.Module, name: str) -> Run:
    """A program on flat lists of NumPy arrays, on as many CPU devices as it is for.

    Args:
        exported: What the program came as; None if it came as StableHLO alone.
        module: The program, which may give more results than the Exported does.
        name: How diagnostics call it.

    Raises:
        InputError: There are not as many devices, or it is not known how many are needed.
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
    call = jax.jit(_flat(exported, module, name).call)

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
    """An Exported of a module that takes and gives flat lists."""
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
