"""Arguments of an Exported as .npz files, under the names that the commands take."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scalify_hlo.errors import UsageError
from scalify_hlo.program.arrays import read_arrays, save_arrays
from scalify_hlo.program.given import readable
from scalify_hlo.program.tensors import Array, Tensor, array_of, interface
from scalify_hlo.run.given import arrays_read, fit, platform_index, tensor_of_aval
from scalify_hlo.run.runner import Runner
from scalify_hlo.storage.files import save_file

if TYPE_CHECKING:
    from jax.export import Exported


def save_inputs(path: str | PathLike[str], exported: Exported, *args: Any, **kwargs: Any) -> None:
    """Writes the arguments of a program to an .npz file, as `--inputs` of the commands takes it.

    Arrays have the names that `scalify-hlo inspect --arguments` lists. Arguments that jax.export
    dropped, as the program does not read them, are written too. The file is written whole or not at
    all.

    Args:
        path: The path of the file.
        exported: The program, rewritten or not.
        *args: The positional arguments of its ``call``: pytrees of arrays.
        **kwargs: Its keyword arguments.

    Raises:
        InputError: The file cannot be written.
        UsageError: The arguments are nested in another way than those of the program, or one has
            another shape or dtype; the error names it.
    """
    import jax

    inputs = _inputs_of(exported)
    tree: Any = jax.tree.structure((args, kwargs))
    if tree != exported.in_tree:
        raise UsageError(
            f"the arguments are nested as {tree}, and the program takes {exported.in_tree}",
            hint="give the arguments as for the call of the Exported",
        )
    arrays = [
        fit(_array(v, t), t)
        for v, t in zip(jax.tree.leaves((args, kwargs)), inputs.tensors, strict=True)
    ]
    runner = Runner(exported)
    kept = [arrays[i] for i in exported.module_kept_var_idx]
    runner.at([each.shape for each in (*platform_index(exported), *kept)])
    name = os.fspath(path)
    save_file(name, lambda file: save_arrays(file, zip(inputs.keys, arrays, strict=True)))


def load_inputs(path: str | PathLike[str], exported: Exported) -> tuple[tuple[Any, ...], Any]:
    """Reads the arguments of a program from an .npz file, as `save_inputs` writes it.

    Args:
        path: The path of the file: arrays by argument name, or ``arr_0``, ``arr_1`` ...
        exported: The program.

    Returns:
        The positional and the keyword arguments of its ``call``, with NumPy arrays as leaves.
        Arguments that the program does not read are zeros if the file does not have them.

    Raises:
        InputError: The file cannot be read, or is not an .npz file.
        UsageError: An array is missing, belongs to no argument, or has another shape or dtype.

    Example:
        >>> import tempfile
        >>> exported = jax.export.export(jax.jit(jnp.sin))(jnp.ones(3))
        >>> path = f"{tempfile.mkdtemp()}/x.npz"
        >>> save_inputs(path, exported, np.ones(3))
        >>> load_inputs(path, exported)
        ((array([1., 1., 1.], dtype=float32),), {})
    """
    import jax

    name, inputs = os.fspath(path), _inputs_of(exported)
    stored, runner = read_arrays(name), Runner(exported)
    arrays, unread = arrays_read(runner.interface, exported, stored)
    flat = runner.flat(arrays, name)[inputs.first :]
    found = dict(zip(exported.module_kept_var_idx, flat, strict=True))
    for i, (key, tensor) in enumerate(zip(inputs.keys, inputs.tensors, strict=True)):
        if i not in found:
            named = next((stored[k] for k in (key, f"arr_{i}") if k in unread), None)
            sizes = tuple(max(size, 0) for size in tensor.shape)
            found[i] = fit(np.zeros(sizes, tensor.dtype) if named is None else named, tensor)
    leaves = [_leaf(found[i], aval) for i, aval in enumerate(exported.in_avals)]
    args, kwargs = jax.tree.unflatten(exported.in_tree, leaves)
    return args, kwargs


class _Inputs(NamedTuple):
    """The flat arguments of an Exported.

    Attributes:
        keys: The names of their arrays in a file.
        tensors: Their types. Names are those of the module, or of the arguments without a module.
        first: How many arguments of the module are before them.
    """

    keys: Sequence[str]
    tensors: Sequence[Tensor]
    first: int


def _inputs_of(exported: Exported) -> _Inputs:
    """Returns the flat arguments of an Exported.

    The names of arguments that are not in its module are those of their siblings, as far as there
    are any: jax.export keeps no others.

    Raises:
        UsageError: It is not an Exported.
    """
    import jax

    program = readable(exported)
    if program.called is None:
        raise UsageError(
            f"the arguments of a program of type {type(exported).__name__} have no pytrees",
            hint="give a jax.export.Exported, or write arrays with numpy.savez(path, *arrays)",
        )
    taken = interface(program.module, program.name, dynamic=True).arguments
    counts, kept = Counter(each.name for each in taken), exported.module_kept_var_idx
    first = len(taken) - len(kept)
    numbers = {i: first + n for n, i in enumerate(kept)}
    tree: Any = jax.tree.unflatten(exported.in_tree, range(len(exported.in_avals)))
    paths = [path for path, _ in jax.tree_util.tree_leaves_with_path(tree)]
    roots = {_root(path): _root(path) for path in paths}
    for i, number in numbers.items():
        name, rest = taken[number].name, jax.tree_util.keystr(paths[i][2:])
        if name.endswith(rest):
            roots[_root(paths[i])] = name.removesuffix(rest)
    keys, tensors = list[str](), list[Tensor]()
    for i, path in enumerate(paths):
        name = roots[_root(path)] + jax.tree_util.keystr(path[2:])
        own = taken[numbers[i]] if i in numbers else tensor_of_aval(exported.in_avals[i], name)
        tensors.append(own)
        keys.append(f"arr_{numbers[i]}" if i in numbers and counts[own.name] > 1 else own.name)
    return _Inputs(keys, tensors, first)


def _root(path: Sequence[Any]) -> str:
    """Returns a name for the argument that a leaf belongs to: its position, or its keyword."""
    return str(path[1].key) if path[0].idx == 1 else f"unused[{path[1].idx}]"


def _array(value: Any, tensor: Tensor) -> Array:
    from scalify_hlo.jax_api.scaled_array import is_concrete

    if is_concrete(value):
        return array_of(value)
    raise UsageError(
        f"the value for {tensor.name!r} is traced, and cannot be written",
        hint="save inputs outside of jax.jit",
    )


def _leaf(array: Array, aval: Any) -> Any:
    """Returns an argument as a program is called with it: a typed PRNG key, or a NumPy array."""
    import jax

    if jax.numpy.issubdtype(aval.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jax.numpy.asarray(array), dtype=aval.dtype)
    return array
