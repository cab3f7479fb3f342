"""Files that jax.export wrote, also those with pytree nodes that this process does not have."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scalify_hlo._compat import ir
from scalify_hlo.artifact import MAGIC
from scalify_hlo.diagnostics import InputError
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.formats import are_floats
from scalify_hlo.stored import Buffer, Part, Source, head, viewed
from scalify_hlo.wellformed import main_function

if TYPE_CHECKING:
    from jax.export import Exported


def artifacts_of(source: Source, name: str) -> list[Part]:
    """The StableHLO artifacts inside a jax.export file: of the program, then of its vjps.

    Raises:
        InputError: It is damaged, or no such file.
    """
    from scalify_hlo import _compat

    with viewed(source) as data:
        try:
            places = _compat.serialized_artifacts(data)
        except Exception as error:
            # Flatbuffers are read without checks: damage shows as any exception.
            raise damaged(name) from error
    parts = [Part(source, start, stop) for start, stop in places]
    if not parts or any(head(part, len(MAGIC)) != MAGIC for part in parts):
        raise damaged(name)
    return parts


def read_exported_file(data: Buffer, name: str) -> list[Exported]:
    """Reads a jax.export file.

    Returns:
        The program without its module, then its vjp and the vjp's vjp, as far as the file has
        them.

    Raises:
        InputError: It is damaged, or of a version that this jax cannot read.
    """
    import jax.export

    from scalify_hlo import _compat
    from scalify_hlo.export_trees import opaque_nodes

    try:
        with opaque_nodes(_compat.custom_node_names(data)):
            # It says bytearray, and takes any buffer.
            read: Any = jax.export.deserialize
            orders = [_compat.without_module(read(data))]
            while orders[-1].has_vjp():
                orders.append(orders[-1].vjp())
    except Exception as error:
        raise damaged(name, str(error)) from error
    return orders


def deserialize(data: bytes | bytearray) -> Exported:
    """Reads the bytes of a jax.export file, as `jax.export.deserialize` does.

    The file may have ScaledArray nodes, whatever was imported first, and those that
    `scalify_hlo.serialize` registered, such as the states of optax: their packages have to be
    imported.

    Args:
        data: What `serialize`, or `jax.export.Exported.serialize`, gave.

    Returns:
        The program, with its vjp if the file has it.

    Raises:
        InputError: It is damaged, of a version that this jax cannot read, or has a pytree node that
            no imported module has.

    Example:
        >>> from scalify_hlo import serialize
        >>> exported = jax.export.export(jax.jit(jax.numpy.sin))(1.0)
        >>> deserialize(serialize(exported)).fun_name
        'sin'
    """
    import jax.export

    from scalify_hlo import _compat
    from scalify_hlo.export_trees import register_names
    from scalify_hlo.scaled_array import SERIALIZED_NAME

    name = "<program>"
    try:
        names = _compat.custom_node_names(bytes(data))
    except Exception as error:
        # Flatbuffers are read without checks: damage shows as any exception.
        raise damaged(name) from error
    register_names(names - {SERIALIZED_NAME})  # which importing it has registered
    try:
        return jax.export.deserialize(bytearray(data))
    except InputError:
        raise
    except Exception as error:
        raise damaged(name, str(error)) from error


def check_vjps(orders: Sequence[Exported], name: str) -> None:
    """Checks that each program of a file takes and gives what a vjp of the one before it does.

    Raises:
        InputError: One does not.
    """
    for primal, vjp in itertools.pairwise(orders):
        arguments, results = len(primal.in_avals), len(primal.out_avals)
        if (len(vjp.in_avals), len(vjp.out_avals)) != (arguments + results, arguments):
            raise damaged(name)


def with_modules(orders: Sequence[Exported], artifacts: Sequence[bytes]) -> Exported:
    """The program of a file and its vjps, with these modules instead of those that they have."""
    from scalify_hlo import _compat

    result: Exported | None = None
    for exported, artifact in reversed(list(zip(orders, artifacts, strict=True))):
        result = _compat.with_module(exported, artifact, result)
    if result is None:
        raise ValueError("a file holds a program at least")
    return result


def check_consistent(exported: Exported, module: ir.Module, name: str) -> None:
    """Checks that an Exported describes the module that it holds.

    Raises:
        InputError: It does not.
    """
    main = main_function(module)
    kept = exported.module_kept_var_idx
    if main is None or any(i >= len(exported.in_avals) for i in kept):
        raise damaged(name)
    type_ = attributes.function_type(main)
    in_tree: Any = exported.in_tree
    out_tree: Any = exported.out_tree
    taken = [exported.in_avals[i] for i in kept]
    sides = [
        (in_tree.num_leaves, exported.in_avals, taken, list(type_.inputs)),
        (out_tree.num_leaves, exported.out_avals, exported.out_avals, list(type_.results)),
    ]
    for leaves, avals, used, types in sides:
        # A platform index and tokens stand before the arrays.
        arrays = types[len(types) - len(used) :]
        if leaves != len(avals) or len(used) > len(types) or not _are_of(used, arrays):
            raise damaged(name)


def _are_of(avals: Sequence[Any], types: list[ir.Type]) -> bool:
    from scalify_hlo.scaled_array import is_float

    floats = [is_float(aval.dtype) for aval in avals]
    return floats == are_floats(types)


def damaged(name: str, reason: str = "") -> InputError:
    """The complaint about a file that jax.export did not write like this."""
    sentence = reason.strip().splitlines()[0] if reason.strip() else ""
    return InputError(
        "this jax.export file is damaged" + (f": {sentence}" if sentence else ""),
        location=name,
        hint="write it again with jax.export, and check that it was copied whole, as binary",
    )
