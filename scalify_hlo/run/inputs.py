"""The arguments of a program: random ones, and those that a user gives."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from scalify_hlo.algebra.moments import SCALE_FORMAT
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.io.tensors import DTYPES, Array, Interface, Tensor, is_complex
from scalify_hlo.storage.arrays import StoredArray

_LARGEST_RANDOM_INTEGER = 8
_NO_NUMBERS = "OSUMm"
"""The kinds of dtypes that no tensor has: objects, strings and times."""


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


def scaled_by(array: Array, factor: float | Array) -> Array:
    """Returns the product in f64, in which multiplication by a power of two is exact."""
    wide: Any = np.complex128 if is_complex(array.dtype) else np.float64
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(wide) * factor
