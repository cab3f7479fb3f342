"""Compiles programs with XLA for one CPU device or several, in the process that calls it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from scalify_hlo import _compat
from scalify_hlo.errors import InputError
from scalify_hlo.program.tensors import Array
from scalify_hlo.run.session import Run
from scalify_hlo.storage.memory import require_memory

if TYPE_CHECKING:
    import jax

Source: TypeAlias = str | bytes
"""A program for one device as MLIR text, or one for several as a file of jax.export."""


def compile_here(source: Source, name: str, hint: str) -> Run:
    """Compiles a program in this process.

    Args:
        source: The program. That for several devices has flat arguments and results.
        name: The name of the program in diagnostics.
        hint: The hint of the error if XLA refuses the program.

    Returns:
        A function from the flat list of arguments to the flat list of results, as NumPy arrays.

    Raises:
        InputError: XLA refuses the program, there are too few devices, or too little memory.
    """
    if isinstance(source, bytes):
        return _on_devices(source, name)
    try:
        program = _compat.compile_on_cpu(source)
    except ValueError as error:
        raise _refused(error, name, hint) from None
    require_memory(program.memory, name)

    def run(arrays: Sequence[Array]) -> list[Array]:
        try:
            return [np.asarray(result) for result in program(arrays)]
        except ValueError as error:
            raise _refused(error, name, hint) from None

    return run


def _refused(error: Exception, name: str, hint: str) -> InputError:
    lines = str(error).strip().splitlines()
    return InputError(
        f"XLA refuses the program: {lines[0] if lines else type(error).__name__}",
        location=name,
        hint=hint,
    )


def _on_devices(source: bytes, name: str) -> Run:
    """Compiles a program that divides its data by hand for as many CPU devices as it needs."""
    import jax
    from jax.export import deserialize
    from jax.sharding import NamedSharding, PartitionSpec

    exported = deserialize(bytearray(source))
    everywhere = NamedSharding(_mesh(exported.nr_devices, name), PartitionSpec())
    call = jax.jit(exported.call, out_shardings=everywhere)

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


_MESH: Final = re.compile(r'^\s*sdy\.mesh @.*|mesh<\["[^"\n]*"(?:"[^"\n]*"|[^]"\n])*', re.MULTILINE)
"""A mesh with its name and those of its axes, as MLIR prints it."""


def require_plain_meshes(text: str, name: str) -> None:
    """Refuses a program with a mesh at whose names XLA ends the process."""
    if any("\\" in found[0] for found in _MESH.finditer(text)):
        raise InputError(
            "XLA reads no names of meshes and of their axes but those in printable ASCII",
            location=name,
            hint="export the program with other names of meshes and axes",
        )
