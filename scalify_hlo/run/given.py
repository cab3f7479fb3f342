"""The arguments of a program, as users give them or random."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from scalify_hlo.algebra.moments import SCALE_FORMAT
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.program.arrays import StoredArray
from scalify_hlo.program.tensors import DTYPES, Array, Interface, Tensor, array_of, is_complex

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
                hint=f"name the arrays after the arguments, or arr_0 to arr_{len(known) - 1}",
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
    dtype = array.dtype
    if dtype.kind == "V" and dtype.itemsize == tensor.dtype.itemsize:
        dtype = tensor.dtype  # .npz files store bf16 and f8 as raw bytes.
    kinds = (dtype.kind in "fc", tensor.inexact)
    foreign = dtype.kind in _NO_NUMBERS or dtype.type is np.void or kinds[0] != kinds[1]
    foreign = foreign or (dtype.kind == "c" and not is_complex(tensor.dtype))
    if not tensor.takes(array.shape) or (dtype != tensor.dtype and foreign):
        raise UsageError(
            f"the array for {tensor.name!r} is {array.dtype}{list(array.shape)}, and the argument "
            f"{tensor}",
            hint="give an array of the argument's shape and dtype",
        )
    loaded = array.load() if isinstance(array, StoredArray) else array
    return (loaded if dtype == loaded.dtype else loaded.view(dtype)).astype(tensor.dtype)
