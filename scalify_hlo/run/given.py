"""Programs and their arguments as users give them: files, text, Exporteds, arrays by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.errors import UsageError
from scalify_hlo.io.artifact import copy_module, require_legible
from scalify_hlo.io.program import FileKind, Program, read_program, read_text
from scalify_hlo.io.tensors import Array, Interface, array_of
from scalify_hlo.io.wellformed import check_module
from scalify_hlo.run.inputs import given_inputs
from scalify_hlo.storage.arrays import StoredArray

if TYPE_CHECKING:
    from jax.export import Exported

Sample: TypeAlias = Any
"""Arrays by argument name; or a tuple of arguments for an Exported, a sequence of arrays else."""


def flat_arguments(
    program: Interface, exported: Exported | None, sample: Sample, name: str
) -> list[Array]:
    """Returns the flat arguments of `main`.

    Args:
        program: The arguments of the program.
        exported: The program if it is an Exported, whose arguments may be nested.
        sample: The arguments as they were given.
        name: The name of the sample in diagnostics.

    Raises:
        UsageError: The sample does not fit the program.
    """
    try:
        if exported is not None and not isinstance(sample, Mapping):
            sample = _kept(exported, sample)
        return given_inputs(program, _by_name(sample, program))
    except UsageError as error:
        raise UsageError(error.message, location=name, hint=error.hint) from None


def readable(program: Any) -> Program:
    """Returns a program whose module may be edited."""
    if isinstance(program, Program):
        return program
    if isinstance(program, str):
        return read_text(program)
    if isinstance(program, (bytes, bytearray)):
        return read_program(bytes(program))
    if isinstance(program, ir.Module):
        require_legible(program, "<module>")
        module = copy_module(program)
        check_module(module, "<module>")
        return Program(module, FileKind.BYTECODE, "<module>")
    exported = exported_of(program)
    if exported is None:
        raise UsageError(
            f"a {type(program).__name__} is not a program",
            hint="give MLIR text, bytes of a program, an ir.Module or a jax.export.Exported; "
            "scalify takes Python functions",
        )
    return read_program(bytes(exported.mlir_module_serialized), exported.fun_name)


def exported_of(program: Any) -> Exported | None:
    """Returns the program if it is an Exported, else None."""
    if isinstance(program, (str, bytes, bytearray, ir.Module, Program)):
        return None
    import jax.export

    return program if isinstance(program, jax.export.Exported) else None


def _kept(exported: Exported, sample: Sample) -> list[Array]:
    """Returns the arrays that an Exported passes to its module for a tuple of arguments."""
    import jax

    if not isinstance(sample, tuple):
        raise UsageError(
            f"a sample of an Exported is a tuple of its arguments, not a {type(sample).__name__}",
            hint="give (x,) for a program that is called as call(x), or arrays by argument name",
        )
    tree: Any = jax.tree.structure((sample, {}))
    if tree != exported.in_tree:
        raise UsageError(
            f"the arguments are nested as {tree}, and the program takes {exported.in_tree}",
            hint="give the arguments as for the call of the Exported, in one tuple",
        )
    leaves = jax.tree.leaves(sample)
    # The first argument of a module for several platforms is the index of the platform.
    several = len(exported.platforms) > 1 and "cpu" in exported.platforms
    platform = [np.asarray(exported.platforms.index("cpu"), np.int32)] if several else []
    return [*platform, *(array_of(leaves[i]) for i in exported.module_kept_var_idx)]


def _by_name(sample: Sample, program: Interface) -> Mapping[str, Array | StoredArray]:
    if isinstance(sample, Mapping):
        return {
            name: array if isinstance(array, StoredArray) else array_of(array)
            for name, array in sample.items()
        }
    if not isinstance(sample, Sequence):
        raise UsageError(
            f"a sample is no {type(sample).__name__}",
            hint="give arrays by argument name, or a list with one for each argument",
        )
    if len(sample) != len(program.arguments):
        raise UsageError(
            f"there are {len(sample)} arrays, and the program takes {len(program.arguments)}: "
            f"{', '.join(f'{t.name} {t}' for t in program.arguments)}",
            hint="give one array for each argument",
        )
    return {f"arr_{i}": array_of(array) for i, array in enumerate(sample)}
