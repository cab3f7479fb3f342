"""Runs StableHLO text on XLA CPU by itself, as any consumer of the file would.

Nothing of the Python that made the program is needed: the text is compiled by XLA's client, and
arguments and results are flat lists in the order of `main`.
"""

import time
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import backend
from jaxlib import xla_client

from scalify_hlo._compat import ir, new_context
from scalify_hlo.program.tensors import Tensor, interface
from scalify_hlo.run.pairs import is_packed, packed


class Executable:
    """A module compiled for one CPU device.

    Attributes:
        compile_seconds: how long XLA took.
        arguments: those of `main`, with their shapes and dtypes.
        instructions: size of the optimized HLO, over all its computations.
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
        self.arguments = _arguments_of(text)
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

    def stored(self, arguments: Sequence[jax.Array]) -> list[jax.Array]:
        """Arrays in the formats in which the program keeps what it is given."""
        stored: list[Any] = []
        for index, (array, wanted) in enumerate(zip(arguments, self.arguments, strict=False)):
            if is_packed(wanted):  # The scales of a moment whose data came before.
                value = np.asarray(arguments[index - 1]) * np.asarray(array)
                stored[-1:] = map(jnp.asarray, packed(value, self.arguments[index - 1]))
            else:
                stored.append(array.astype(wanted.dtype))
        return stored


def flat(*trees: Any) -> list[jax.Array]:
    """Leaves of pytrees on the CPU, in the order in which an export takes them.

    A scaled array contributes its data and then its scale, as the `scaled` signature wants them.
    """
    cpu = jax.devices("cpu")[0]
    return [jax.device_put(leaf, cpu) for leaf in jax.tree.leaves(trees)]


def _arguments_of(text: str) -> tuple[Tensor, ...]:
    """The arguments of `main`."""
    with new_context():
        return interface(ir.Module.parse(text), "<program>").arguments


def state_bytes(arrays: Sequence[jax.Array]) -> int:
    """Returns the bytes that arrays take."""
    return sum(array.nbytes for array in arrays)
