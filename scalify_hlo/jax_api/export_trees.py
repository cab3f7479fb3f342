"""Pytrees in jax.export files: registration of nodes, and files with unregistered nodes."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import jax
import numpy as np

from scalify_hlo import _compat
from scalify_hlo.errors import InputError, UsageError


def register_for_export(tree: Any) -> None:
    """Registers every pytree node in `tree` that jax.export cannot serialize.

    Namedtuples, such as the states of optax, and other node types that JAX knows are registered
    under their qualified names. A node type that is registered already is skipped. `serialize` and
    `deserialize` of this package register nodes themselves. Before those of `jax.export`, this
    function has to be called, in the process that writes and in the process that reads.

    Args:
        tree: Arguments or results of the function that is exported, as values, shapes, or a
            `jax.export.Exported` itself.

    Raises:
        UsageError: Another type is registered under the name of one of the nodes.

    Example:
        >>> from typing import NamedTuple
        >>> class State(NamedTuple):
        ...     count: jax.Array
        >>> register_for_export(State(jax.numpy.zeros(())))
    """
    for node in dict.fromkeys(_nodes_of(tree)):
        if not _compat.is_serializable(node):
            _register(node)


def serialize(exported: jax.export.Exported, vjp_order: int = 0) -> bytes:
    """Returns the bytes of a jax.export file, as `jax.export.Exported.serialize` does.

    Pytree nodes that jax.export cannot serialize by itself, such as the states of optax and the
    modules of Equinox, are registered first; see `register_for_export`. Dictionaries may have other
    keys than strings, as the states of `flax.nnx` have; `deserialize` reads those.

    Args:
        exported: The program.
        vjp_order: The number of orders of its vjp that are written with it.

    Returns:
        The bytes, which `deserialize` reads.

    Raises:
        UsageError: A node has auxiliary data that cannot be serialized, another type is registered
            under its name, or a dictionary of a program with a vjp has other keys than strings.
    """
    written = _with_trees(exported, _keyed)
    register_for_export(written)
    if vjp_order and written is not exported:
        raise UsageError(
            "a dictionary has keys that are not strings, so the program has no file with a vjp",
            hint="write it with vjp_order=0, or give it keys that are strings",
        )
    return bytes(written.serialize(vjp_order=vjp_order))


def with_dictionaries(exported: jax.export.Exported) -> jax.export.Exported:
    """Returns a program of a file with the dictionaries that `serialize` replaced."""
    return _with_trees(exported, _dictionaries)


@jax.tree_util.register_pytree_with_keys_class
class Keyed:
    """Stands in a file for a dictionary whose keys are not all strings.

    Attributes:
        children: The dictionary.
    """

    def __init__(self, children: Mapping[Any, Any]) -> None:
        self.children = children

    def tree_flatten_with_keys(self) -> tuple[list[tuple[Any, Any]], tuple[Any, ...]]:
        """Returns the values with their paths, and the keys, in the order of JAX."""
        keys = tuple(sorted(self.children))
        return [(jax.tree_util.DictKey(key), self.children[key]) for key in keys], keys

    @classmethod
    def tree_unflatten(cls, keys: tuple[Any, ...], children: Sequence[Any]) -> Keyed:
        """Builds the node from its keys and values."""
        return cls(dict(zip(keys, children, strict=True)))


def _is_keyed(node: Any) -> bool:
    return isinstance(node, dict) and not all(isinstance(key, str) for key in node)


def _keyed(node: Any) -> Any:
    if not _is_keyed(node):
        return node
    return Keyed({k: jax.tree.map(_keyed, v, is_leaf=_is_keyed) for k, v in node.items()})


def _is_replaced(node: Any) -> bool:
    return isinstance(node, Keyed)


def _dictionaries(node: Any) -> Any:
    if not _is_replaced(node):
        return node
    children = node.children.items()
    return {k: jax.tree.map(_dictionaries, v, is_leaf=_is_replaced) for k, v in children}


def _with_trees(
    exported: jax.export.Exported, replace: Callable[[Any], Any]
) -> jax.export.Exported:
    """Returns a program with other nodes in its pytrees; itself if they have none to replace."""

    def replaced(tree: Any) -> Any:
        value = jax.tree.unflatten(tree, range(tree.num_leaves))
        found = jax.tree.map(replace, value, is_leaf=lambda n: _is_keyed(n) or _is_replaced(n))
        return jax.tree.structure(found)

    trees = replaced(exported.in_tree), replaced(exported.out_tree)
    if trees == (exported.in_tree, exported.out_tree):
        return exported
    return dataclasses.replace(exported, in_tree=trees[0], out_tree=trees[1])


def register_names(names: Iterable[str]) -> None:
    """Registers the pytree nodes with the names in a jax.export file.

    Types are looked up in imported modules only: reading a file never imports a module.

    Args:
        names: The module and the qualified name of each type, joined by a dot.

    Raises:
        InputError: No imported module has the type.
        UsageError: Another type is registered under the name.
    """
    for name in sorted(names):
        if _compat.is_registered_name(name):
            continue
        node = _imported(name)
        if node is None:
            raise InputError(
                f"the file has the pytree node {name}, which no imported module has",
                hint=f"import {name.partition('.')[0]} before, or register the type with "
                "scalify_hlo.register_for_export",
            )
        _register(node)


def _imported(name: str) -> type | None:
    """Returns the type with this name in an imported module, or None."""
    found = _global(name)
    return found if isinstance(found, type) and _qualified_name(found) == name else None


def _global(name: str) -> object:
    """Returns the object with this name in an imported module, or None.

    A module is not asked for attributes that it does not have yet: it may import them.
    """
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        found: object = sys.modules.get(".".join(parts[:length]))
        if found is None:
            continue
        for part in parts[length:]:
            is_module = isinstance(found, ModuleType)
            found = vars(found).get(part) if is_module else getattr(found, part, None)
        return found
    return None


def _global_name(value: object) -> str | None:
    """Returns the name of a function, a type, an enum member or a constant of a module, or None."""
    candidates = [f"{type(value).__module__}.{type(value).__qualname__}.{_text(value, 'name')}"]
    candidates.append(f"{_text(value, '__module__')}.{_text(value, '__qualname__')}")
    module = sys.modules.get(type(value).__module__)
    candidates += [f"{type(value).__module__}.{k}" for k, v in vars(module).items() if v is value]
    return next((name for name in candidates if _global(name) is value), None)


def _text(value: object, name: str) -> str:
    return str(getattr(value, name, ""))


class Opaque:
    """A pytree node of a file whose type is not imported.

    Attributes:
        aux: The auxiliary data, as bytes of the file.
        children: The subtrees.
    """

    def __init__(self, aux: bytes, children: tuple[Any, ...]) -> None:
        self.aux = aux
        self.children = children


@contextmanager
def opaque_nodes(names: set[str]) -> Iterator[None]:
    """Lets jax.export read unregistered nodes of these names as `Opaque` nodes.

    Afterwards such nodes can still be serialized, under their names and with the bytes that were
    read.
    """
    unknown = [name for name in names if not _compat.is_registered_name(name)]
    for name in unknown:
        _register_opaque(name)
    try:
        yield
    finally:
        for name in unknown:
            _compat.forget_name(name)


_OPAQUE: dict[str, type[Opaque]] = {}
"""The `Opaque` type for each name. There is one per name, so that trees compare equal."""


def _register_opaque(name: str) -> None:
    if name not in _OPAQUE:
        _OPAQUE[name] = _new_opaque(name)
    node = _OPAQUE[name]
    _compat.register_node(
        node,
        name,
        serialize=bytes,
        deserialize=bytes,
        build=lambda aux, children: node(aux, tuple(children)),
    )


def _new_opaque(name: str) -> type[Opaque]:
    node = type(name.rpartition(".")[2] or name, (Opaque,), {"__doc__": f"Stands for {name}."})
    jax.tree_util.register_pytree_node(
        node,
        lambda value: (value.children, value.aux),
        lambda aux, children: node(aux, tuple(children)),
    )
    return node


def _nodes_of(tree: Any) -> Iterator[type]:
    if isinstance(tree, jax.export.Exported):
        yield from _node_types(tree.in_tree)
        yield from _node_types(tree.out_tree)
    elif isinstance(tree, jax.tree_util.PyTreeDef):
        yield from _node_types(tree)
    else:
        yield from _node_types(jax.tree.structure(tree))


def _node_types(tree: _compat.TreeDef) -> Iterator[type]:
    node = tree.node_data()
    if node is not None:
        yield node[0]
        for child in tree.children():
            yield from _node_types(child)


def _register(node: type) -> None:
    name = _qualified_name(node)
    if _compat.is_registered_name(name):
        raise UsageError(
            f"two pytree node types are named {name}",
            hint="register one of them with jax.export.register_pytree_node_serialization",
        )
    if issubclass(node, tuple) and hasattr(node, "_fields"):
        jax.export.register_namedtuple_serialization(node, serialized_name=name)
        return
    jax.export.register_pytree_node_serialization(
        node,
        serialized_name=name,
        serialize_auxdata=lambda aux: json.dumps(_to_json(aux, name)).encode(),
        deserialize_auxdata=lambda data: _from_json(json.loads(data)),
    )


def _qualified_name(node: type) -> str:
    return f"{node.__module__}.{node.__qualname__}"


def _to_json(aux: Any, name: str) -> Any:
    """Encodes auxiliary data as JSON that distinguishes tuples, lists and mappings.

    Functions, types and other constants of modules are encoded by name, as in a pickle. Reading
    looks the name up in imported modules, and calls nothing.
    """
    if aux is None or isinstance(aux, (bool, int, float, str)):
        return aux
    if isinstance(aux, dict):
        return {"dict": [[_to_json(k, name), _to_json(v, name)] for k, v in aux.items()]}
    for kind in (tuple, list):
        if type(aux) is kind:
            return {kind.__name__: [_to_json(item, name) for item in aux]}
    if isinstance(aux, np.dtype):
        return {"dtype": aux.name}
    known = _global_name(aux)
    if known is not None:
        return {"global": known}
    raise UsageError(
        f"the pytree node {name} has auxiliary data of type {type(aux).__name__}",
        hint="register it with jax.export.register_pytree_node_serialization",
    )


def _from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, items),) = value.items()
    if kind == "dtype":
        return jax.numpy.dtype(items)
    if kind == "global":
        return _required(items)
    if kind == "dict":
        return {_from_json(k): _from_json(v) for k, v in items}
    return {"tuple": tuple, "list": list}[kind](map(_from_json, items))


def _required(name: str) -> object:
    """Returns the function, type or other constant of an imported module with this name.

    Raises:
        InputError: No imported module has it.
    """
    found = _global(name)
    if found is None:
        raise InputError(
            f"a pytree node of the file names {name}, which no imported module has",
            hint=f"import {name.partition('.')[0]} before",
        )
    return found
