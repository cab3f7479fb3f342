"""The arguments of a program, as users give them or random."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from scalify_hlo.algebra.moments import SCALE_FORMAT
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.program.arrays import StoredArray
from scalify_hlo.program.tensors import (
    DTYPES,
    UNKNOWN,
    Array,
    Interface,
    Tensor,
    array_of,
    is_complex,
)

if TYPE_CHECKING:
    from jax.export import Exported

Sample: TypeAlias = Any
"""Arrays by argument name; or a tuple of arguments for an Exported, a sequence of arrays else."""

_LARGEST_RANDOM_INTEGER = 8
_NO_NUMBERS = "OSUMm"
"""The kinds of dtypes that no tensor has: objects, strings and times."""


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
    kept = (array_of(leaves[i]) for i in exported.module_kept_var_idx)
    return [*platform_index(exported), *kept]


def _by_name(sample: Sample, program: Interface) -> Mapping[str, Array | StoredArray]:
    if isinstance(sample, Mapping):
        return arrays_in(sample)
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


def arrays_read(
    program: Interface, exported: Exported | None, arrays: Mapping[str, Array | StoredArray]
) -> tuple[dict[str, Array | StoredArray], list[str]]:
    """Returns the arrays that a program reads, and the names of those that jax.export dropped.

    An Exported has arguments that its module does not read, and not their names. An array may be
    one of them if no argument of the module has its name, and its type is that of such an argument.
    If arrays have the positions of all arguments of the Exported, they get those of its module.

    Args:
        program: The arguments of the module.
        exported: The program if it is an Exported.
        arrays: Arrays by argument name, or ``arr_0``, ``arr_1`` ... by position.
    """
    if exported is None:
        return {**arrays}, []
    kept, avals = exported.module_kept_var_idx, exported.in_avals
    platform, first = platform_index(exported), len(program.arguments) - len(kept)
    dropped = [i for i in range(len(avals)) if i not in kept]
    found = {**arrays}
    unread: list[str] = []
    if (dropped or platform) and arrays.keys() == {f"arr_{i}" for i in range(len(avals))}:
        found = {f"arr_{first + n}": arrays[f"arr_{i}"] for n, i in enumerate(kept)}
        unread = [f"arr_{i}" for i in dropped]
    else:
        known = {t.name for t in program.arguments} | {f"arr_{i}" for i in range(len(kept) + first)}
        unread = arrays_unread(known, exported, arrays)
        found = {name: array for name, array in found.items() if name not in unread}
    if platform and not {program.arguments[0].name, "arr_0"} & found.keys():
        found["arr_0"] = platform[0]
    return found, unread


def arrays_unread(
    known: Collection[str], exported: Exported | None, arrays: Mapping[str, Array | StoredArray]
) -> list[str]:
    """Returns the names of arrays that may be those of arguments which jax.export dropped.

    Args:
        known: The names of the other arguments.
        exported: The program if it is an Exported.
        arrays: Arrays by name.
    """
    if exported is None:
        return []
    dropped = set(range(len(exported.in_avals))).difference(exported.module_kept_var_idx)
    like = [tensor_of_aval(exported.in_avals[i]) for i in sorted(dropped)]
    unread: list[str] = []
    for name in [each for each in arrays if each not in known] if like else ():
        fitting = [tensor for tensor in like if dtype_for(arrays[name], tensor)]
        if fitting:
            like.remove(fitting[0])
            unread.append(name)
    return unread


def ignored(unread: Sequence[str]) -> str:
    """Returns the sentence on arrays that a program does not read."""
    return f"the program does not read {', '.join(unread)}, which jax.export dropped: ignored"


def platform_index(exported: Exported) -> list[Array]:
    """Returns the first argument of a module for several platforms; none for a single one."""
    several = len(exported.platforms) > 1 and "cpu" in exported.platforms
    return [np.asarray(exported.platforms.index("cpu"), np.int32)] if several else []


def tensor_of_aval(aval: Any, name: str = "") -> Tensor:
    """Returns an argument of an Exported, of which its module need not have one."""
    import jax

    if jax.numpy.issubdtype(aval.dtype, jax.dtypes.prng_key):
        aval = jax.eval_shape(jax.random.key_data, aval)
    shape = tuple(size if isinstance(size, int) else UNKNOWN for size in aval.shape)
    return Tensor(name, shape, np.dtype(aval.dtype))


def arrays_in(sample: Mapping[str, Any]) -> dict[str, Array | StoredArray]:
    """Returns the values of users as arrays, except those of files."""
    return {
        name: array if isinstance(array, StoredArray) else array_of(array)
        for name, array in sample.items()
    }


def random_inputs(
    program: Interface, rng: np.random.Generator, nonnegative: Collection[int] = ()
) -> list[Array]:
    """Returns random arguments: normal floats, small non-negative integers, and booleans.

    Args:
        program: The arguments.
        rng: The generator.
        nonnegative: The numbers of float arguments that get magnitudes of normal floats.
    """
    values = [_random(tensor, rng) for tensor in program.arguments]
    return [np.abs(v) if i in nonnegative else v for i, v in enumerate(values)]


def given_inputs(program: Interface, arrays: Mapping[str, Array | StoredArray]) -> list[Array]:
    """Returns the arguments of a program from arrays by name or by position.

    Raises:
        UsageError: An array is missing, does not belong to an argument, or has another type.
    """
    names = [t.name if t.name in arrays else f"arr_{i}" for i, t in enumerate(program.arguments)]
    for name in arrays:
        if name not in names:
            known = [t.name for t in program.arguments]
            raise UsageError(
                f"the inputs have an array {name!r}, which is no argument{nearest(name, known)}",
                hint=f"name the arrays after the arguments, or arr_0 to arr_{len(known) - 1}, or "
                "write them with scalify_hlo.save_inputs",
            )
    for name, tensor in zip(names, program.arguments, strict=True):
        if name not in arrays:
            raise UsageError(
                f"the inputs have no array for the argument {tensor.name!r}",
                hint="`scalify-hlo inspect --arguments` lists the arguments and their types",
            )
    return [fit(arrays[n], t) for n, t in zip(names, program.arguments, strict=True)]


def _random(tensor: Tensor, rng: np.random.Generator) -> Array:
    if tensor.dtype.kind == "b":
        return np.asarray(rng.integers(0, 2, tensor.shape), bool)
    if not tensor.inexact:
        largest = _LARGEST_RANDOM_INTEGER if tensor.dtype.itemsize > 1 else 2
        return np.asarray(rng.integers(0, largest, tensor.shape)).astype(tensor.dtype)
    values = rng.standard_normal(tensor.shape)
    if tensor.dtype == DTYPES[SCALE_FORMAT]:
        return np.exp2(np.round(values)).astype(tensor.dtype)
    if is_complex(tensor.dtype):
        values = values + 1j * rng.standard_normal(tensor.shape)
    return np.asarray(values).astype(tensor.dtype)


def fit(array: Array | StoredArray, tensor: Tensor) -> Array:
    """Returns an array with the dtype of an argument; one in a file is read only if it fits.

    Raises:
        UsageError: The array has another shape, or another kind of dtype.
    """
    dtype = dtype_for(array, tensor)
    if dtype is None:
        raise UsageError(
            f"the array for {tensor.name!r} is {array.dtype}{list(array.shape)}, and the argument "
            f"{tensor}",
            hint="give an array of the argument's shape and dtype",
        )
    loaded = array.load() if isinstance(array, StoredArray) else array
    return (loaded if dtype == loaded.dtype else loaded.view(dtype)).astype(tensor.dtype)


def dtype_for(array: Any, tensor: Tensor) -> np.dtype[Any] | None:
    """Returns the dtype of an array for an argument; None if the array does not fit it."""
    dtype: np.dtype[Any] = array.dtype
    if dtype.kind == "V" and dtype.itemsize == tensor.dtype.itemsize:
        dtype = tensor.dtype  # .npz files store bf16 and f8 as raw bytes.
    kinds = (dtype.kind in "fc", tensor.inexact)
    foreign = dtype.kind in _NO_NUMBERS or dtype.type is np.void or kinds[0] != kinds[1]
    foreign = foreign or (dtype.kind == "c" and not is_complex(tensor.dtype))
    fits = tensor.takes(array.shape) and (dtype == tensor.dtype or not foreign)
    return dtype if fits else None
