"""Reading of jax.export files, also with pytree nodes whose types are not imported."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import VJP_ORDERS
from scalify_hlo.algebra.unfolding import Unfolding
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.ir.formats import are_floats
from scalify_hlo.ir.functions import main_function
from scalify_hlo.program.artifact import MAGIC
from scalify_hlo.program.byte_source import Buffer, Part, Source, head, viewed

if TYPE_CHECKING:
    from jax.export import Exported


def artifacts_of(source: Source, name: str) -> list[Part]:
    """Returns the StableHLO artifacts in a jax.export file: of the program, then of its vjps.

    Raises:
        InputError: The file is damaged, or is not a jax.export file.
    """
    with viewed(source) as data:
        try:
            places = _compat.serialized_artifacts(data)
        except Exception as error:
            # Flatbuffers are read without checks, so damage may raise any exception.
            raise damaged(name) from error
    parts = [Part(source, start, stop) for start, stop in places]
    if len(parts) > VJP_ORDERS:
        raise damaged(name, f"it has {len(parts) - 1} vjps of vjps")
    if not parts or any(head(part, len(MAGIC)) != MAGIC for part in parts):
        raise damaged(name)
    return parts


def read_exported_file(data: Buffer, name: str) -> list[Exported]:
    """Reads a jax.export file.

    Returns:
        The program without its module, then its vjp, the vjp of that, and so on, as far as the
        file has them.

    Raises:
        InputError: The file is damaged, or of a version that this jax cannot read.
    """
    import jax.export

    from scalify_hlo.jax_api.export_trees import opaque_nodes

    try:
        with opaque_nodes(_node_names(data, name)):
            # It is annotated with bytearray, but takes any buffer.
            read: Any = jax.export.deserialize
            orders = [replace(read(data), mlir_module_serialized=b"")]
            _check_end(orders[0], data, name)
            while orders[-1].has_vjp():
                orders.append(orders[-1].vjp())
    except InputError:
        raise
    except Exception as error:
        raise damaged(name, str(error)) from error
    return orders


def deserialize(data: bytes | bytearray) -> Exported:
    """Reads the bytes of a jax.export file, as `jax.export.deserialize` does.

    The file may have ScaledArray nodes, and pytree nodes that `scalify_hlo.serialize` registered,
    such as the states of optax. The packages of the latter have to be imported before.

    Args:
        data: The bytes that `serialize` or `jax.export.Exported.serialize` returned.

    Returns:
        The program, with its vjp if the file has it.

    Raises:
        InputError: The file is damaged, is of a version that this jax cannot read, or has a pytree
            node that is in no imported module.
        UsageError: The data are no bytes.

    Example:
        >>> from scalify_hlo import serialize
        >>> exported = jax.export.export(jax.jit(jax.numpy.sin))(1.0)
        >>> deserialize(serialize(exported)).fun_name
        'sin'
    """
    import jax.export

    from scalify_hlo.jax_api.export_trees import register_names, with_dictionaries
    from scalify_hlo.jax_api.scaled_array import SERIALIZED_NAME
    from scalify_hlo.jax_api.stored_arrays import keeps_formats, stored_program

    if not isinstance(data, (bytes, bytearray)):
        raise UsageError(
            f"deserialize takes bytes, and not a {type(data).__name__}",
            hint="read the file, as pathlib.Path(...).read_bytes() does",
        )
    name = "<program>"
    names = _node_names(bytes(data), name)
    register_names(names - {SERIALIZED_NAME})  # The import has registered that one.
    try:
        exported = with_dictionaries(jax.export.deserialize(bytearray(data)))
        _check_end(exported, data, name)
        return stored_program(exported) if keeps_formats(exported) else exported
    except InputError:
        raise
    except Exception as error:
        raise damaged(name, str(error)) from error


def _node_names(data: Buffer, name: str) -> set[str]:
    """Returns the names of the pytree nodes in a file, except built-in ones.

    Raises:
        InputError: The file is damaged, or its trees share nodes, so that jax would read far more
            nodes than the file holds.
    """
    nodes = _Nodes()
    try:
        count = sum(nodes.of(tree).size for tree in _compat.pytrees(data))
    except Exception as error:
        # Flatbuffers are read without checks, so damage may raise any exception.
        raise damaged(name) from error
    if count > len(data):
        raise damaged(name, "its pytrees share nodes, and are too large if each has its own")
    return nodes.names - {""}


class _Nodes(Unfolding[Any]):
    """The numbers of nodes of the pytrees in a file, and the names of the nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def key(self, thing: Any) -> int:
        """Returns the offset of a node in the file."""
        offset: int = thing._tab.Pos
        return offset

    def parts(self, thing: Any) -> tuple[int, list[Any]]:
        """See `Unfolding.parts`."""
        self.names.add(_compat.node_name(thing))
        return 1, [thing.Children(i) for i in range(thing.ChildrenLength())]


def _check_end(exported: Exported, data: Buffer | bytearray, name: str) -> None:
    """Checks that the name of the function, with which a file ends, has its terminator.

    The reader of flatbuffers returns what is left of a string.

    Raises:
        InputError: The end of the file is missing.
    """
    left = exported.fun_name.encode()
    end = bytes(memoryview(data)[-max(len(left), 4) :])
    if end.endswith(left) if left else end != bytes(4):
        raise damaged(name)


def check_vjps(orders: Sequence[Exported], name: str) -> None:
    """Checks that each program of a file has the numbers of arguments and results of a vjp.

    Raises:
        InputError: A program cannot be the vjp of the one before it.
    """
    for primal, vjp in itertools.pairwise(orders):
        arguments, results = len(primal.in_avals), len(primal.out_avals)
        if (len(vjp.in_avals), len(vjp.out_avals)) != (arguments + results, arguments):
            raise damaged(name)


def with_modules(orders: Sequence[Exported], artifacts: Sequence[bytes]) -> Exported:
    """Returns the program of a file with its vjps, with their modules replaced."""
    result: Exported | None = None
    for exported, artifact in reversed(list(zip(orders, artifacts, strict=True))):
        result = _compat.with_module(exported, artifact, result)
    if result is None:
        raise ValueError("a file holds a program at least")
    return result


def check_consistent(exported: Exported, module: ir.Module, name: str) -> None:
    """Checks that the types in an Exported agree with its module.

    Raises:
        InputError: They do not agree.
    """
    main = main_function(module.operation)
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
        # The arrays come last, after a platform index and tokens.
        arrays = types[len(types) - len(used) :]
        if leaves != len(avals) or len(used) > len(types) or not _are_of(used, arrays):
            raise damaged(name)


def _are_of(avals: Sequence[Any], types: list[ir.Type]) -> bool:
    from scalify_hlo.jax_api.scaled_array import is_float

    floats = [is_float(aval.dtype) for aval in avals]
    return floats == are_floats(types)


def damaged(name: str, reason: str = "") -> InputError:
    """Returns the error for a damaged jax.export file."""
    sentence = reason.strip().splitlines()[0] if reason.strip() else ""
    return InputError(
        "this jax.export file is damaged" + (f": {sentence}" if sentence else ""),
        location=name,
        hint="write it again with jax.export, and check that it was copied whole, as binary",
    )
