"""The private names of jax: the only file that touches them, and that knows jax's versions.

Importing it imports jax, so only modules that need jax anyway import it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, TypeAlias

import jax
from jax._src.export import _export
from jax._src.export import serialization_generated as schema
from jax.extend import backend
from jax.extend.core import jaxpr_as_fun
from jaxlib import xla_client

Aval: TypeAlias = jax.core.ShapedArray
TreeDef: TypeAlias = jax.tree_util.PyTreeDef

_BUILTIN_NODES = (type(None), tuple, list, dict)


def serialized_name(node: type) -> str | None:
    """The name under which jax.export writes a pytree node, None if it is not registered."""
    entry = _export.serialization_registry.get(node)
    return entry[0] if entry else None


def is_serializable(node: type) -> bool:
    """Whether jax.export can write a pytree node."""
    return node in _BUILTIN_NODES or node in _export.serialization_registry


def is_registered_name(name: str) -> bool:
    """Whether jax.export knows which pytree node to make for a name in a file."""
    return name in _export.deserialization_registry


def forget_name(name: str) -> None:
    """Lets another pytree node take a name; nodes already made are still written under it."""
    _export.deserialization_registry.pop(name, None)


def register_node(
    node: type,
    name: str,
    *,
    serialize: Callable[[Any], bytes],
    deserialize: Callable[[bytes], Any],
    build: Callable[[Any, Sequence[Any]], Any],
) -> None:
    """Registers a node for jax.export, again if its name was forgotten."""
    _export.serialization_registry[node] = (name, serialize)
    registry: dict[str, Any] = _export.deserialization_registry
    registry[name] = (node, deserialize, build)


def is_namedtuple(node: type) -> bool:
    """Whether jax treats a type as a namedtuple."""
    return issubclass(node, tuple) and hasattr(node, "_fields")


def serialized_artifacts(data: bytes) -> list[bytes]:
    """The StableHLO artifacts in the bytes of a jax.export file: the program's, its vjps'."""
    return [e.MlirModuleSerializedAsNumpy().tobytes() for e in _orders(data)]


def custom_node_names(data: bytes) -> set[str]:
    """The names of the pytree nodes, other than the built-in ones, in a jax.export file."""
    trees = [tree for e in _orders(data) for tree in (e.InTree(), e.OutTree())]
    return {name for tree in trees for name in _custom_names(tree)}


def _orders(data: bytes) -> Iterator[Any]:
    """The program in a jax.export file, then its vjp, and so on."""
    exported = schema.Exported.GetRootAs(data)
    while exported is not None:
        yield exported
        exported = exported.Vjp()


def _custom_names(tree: Any) -> Iterator[str]:
    if tree is None:
        return
    if tree.Kind() == schema.PyTreeDefKind.custom:
        yield tree.CustomName().decode()
    for i in range(tree.ChildrenLength()):
        yield from _custom_names(tree.Children(i))


def replace_exported(
    exported: jax.export.Exported,
    *,
    arguments: Sequence[int],
    results: Sequence[int],
    vjp: Callable[[jax.export.Exported], jax.export.Exported] | None,
    **changes: Any,
) -> jax.export.Exported:
    """An Exported with other contents; its sharding fields follow the arguments and results.

    Args:
        exported: What to start from.
        arguments: For each new flat argument, the old one whose sharding it has, or -1 for none.
        results: The same for the results.
        vjp: Makes the new vjp; None if there is none.
        **changes: New values of public fields.
    """
    for field in fields(exported):
        # Their names and number differ between jax versions; all are one entry for each value.
        if field.name.endswith(("_shardings", "_shardings_hlo")) and not field.name.startswith(
            "_has"
        ):
            indices = arguments if field.name.lstrip("_").startswith("in_") else results
            old = getattr(exported, field.name)
            changes[field.name] = tuple(old[i] if i >= 0 else None for i in indices)
    return replace(exported, **changes, _get_vjp=vjp)


def with_module(
    exported: jax.export.Exported, artifact: bytes, vjp: jax.export.Exported | None
) -> jax.export.Exported:
    """An Exported with another serialized module, and a vjp that is there already."""
    get_vjp = None if vjp is None else lambda _: vjp
    return replace(exported, mlir_module_serialized=artifact, _get_vjp=get_vjp)


def field_values(exported: jax.export.Exported) -> dict[str, Any]:
    """The fields of an Exported by name, to make one of a subclass."""
    return {field.name: getattr(exported, field.name) for field in fields(exported)}


def make_tree(node: tuple[type, Any], children: Sequence[TreeDef]) -> TreeDef:
    """A tree of one node, without making an object of its type."""
    tree: TreeDef = jax.tree_util.PyTreeDef.from_node_data_and_children(
        jax.tree_util.default_registry, node, children
    )
    return tree


def captured_values(traced: jax.stages.Traced) -> list[Any]:
    """The values of an outer trace that a traced function uses without being given them."""
    return list(traced._consts)


def flat_function(traced: jax.stages.Traced) -> Callable[..., Sequence[Any]]:
    """A traced function that takes its captured values and then its flat arguments."""
    run: Callable[..., Sequence[Any]] = jaxpr_as_fun(traced.jaxpr)
    return run


def compile_on_cpu(text: str) -> Callable[[Sequence[Any]], list[Any]]:
    """Compiles StableHLO with XLA for one CPU device.

    Returns:
        The program on flat lists of arrays.

    Raises:
        ValueError: XLA refuses the program.
    """
    client: Any = backend.get_backend("cpu")
    device = client.local_devices()[0]
    try:
        loaded: Any = client.compile_and_load(
            text, xla_client.DeviceList((device,)), xla_client.CompileOptions()
        )
    except Exception as error:
        raise ValueError(str(error)) from error

    def run(arguments: Sequence[Any]) -> list[Any]:
        results = loaded.execute([jax.device_put(a, device) for a in arguments])
        return list(jax.block_until_ready(results))

    return run
