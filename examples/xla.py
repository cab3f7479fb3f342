"""Runs StableHLO text on XLA CPU by itself, as any consumer of the file would.

Nothing of the Python that made the program is needed: the text is compiled by XLA's client, and
arguments and results are flat lists in the order of `main`.
"""

import time
from collections.abc import Sequence
from typing import Any

import jax
from jax.extend import backend
from jaxlib import xla_client


class Executable:
    """A module compiled for one CPU device.

    Attributes:
        compile_seconds: how long XLA took.
        instructions: size of the optimised HLO, over all its computations.
    """

    def __init__(self, text: str) -> None:
        """Compiles StableHLO text.

        Args:
            text: a module whose public function is `main`.
        """
        client: Any = backend.get_backend("cpu")
        devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
        start = time.perf_counter()
        self._loaded = client.compile_and_load(text, devices, xla_client.CompileOptions())
        self.compile_seconds = time.perf_counter() - start
        self.instructions = sum(
            len(computation.instructions())
            for module in self._loaded.hlo_modules()
            for computation in module.computations()
        )

    def __call__(self, arguments: Sequence[jax.Array]) -> list[jax.Array]:
        """Runs the program and waits for its results."""
        results: list[jax.Array] = self._loaded.execute(list(arguments))
        return jax.block_until_ready(results)


def flat(*trees: Any) -> list[jax.Array]:
    """Leaves of pytrees on the CPU, in the order in which an export takes them.

    A scaled array contributes its data and then its scale, as the `scaled` signature wants them.
    """
    cpu = jax.devices("cpu")[0]
    return [jax.device_put(leaf, cpu) for leaf in jax.tree.leaves(trees)]
