"""Conversion of the arguments of a rewritten program back to a checkpoint of its original."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

import numpy as np

from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.frontend.checkpoint import Argument, Summary, require_known, require_whole
from scalify_hlo.program.arrays import StoredArray
from scalify_hlo.program.tensors import Array, Tensor
from scalify_hlo.run.given import dtype_for, fit
from scalify_hlo.run.pairs import joined

_DATA: Final = ".data"
"""The end of the names of data where a pytree with pairs was saved."""


class Stored(NamedTuple):
    """An argument of the original, whose data and scale a file has.

    Attributes:
        argument: The argument.
        arrays: Its array, or its data and its scale.
    """

    argument: Argument
    arrays: Sequence[StoredArray]


def names_of(arguments: Sequence[Argument]) -> list[str]:
    """Returns the names that arrays of arguments of a rewritten program may have."""
    pairs = [f"{each.keys[0]}{_DATA}" for each in arguments if each.scale is not None]
    return [*(key for each in arguments for key in each.keys), *pairs]


def stored_arguments(
    arguments: Sequence[Argument],
    arrays: Mapping[str, StoredArray],
    left_out: Collection[str],
    name: str,
    *,
    partial: bool = False,
) -> list[Stored]:
    """Returns the arguments of the original of which a file has data and scales.

    Args:
        arguments: The arguments of the original.
        arrays: The arrays of the file by argument name of the rewritten program, or ``arr_0``,
            ``arr_1`` ...
        left_out: The names of arrays that the original does not have.
        name: The name of the file in diagnostics.
        partial: Whether the file may have some leaves of a pytree, and not others.

    Raises:
        UsageError: An array belongs to no argument, has another shape or dtype, or is missing.
    """
    found, missing, used = list[Stored](), list[str](), set(left_out)
    for argument in arguments:
        keys = [_key(argument, i, arrays) for i in range(len(argument.keys))]
        lacking = [own for own, key in zip(argument.keys, keys, strict=True) if key is None]
        if len(lacking) == len(keys):
            missing.append(argument.name)
            continue
        if lacking:
            raise UsageError(
                f"the state has a part of {argument.name!r}, and no array {lacking[0]!r}",
                location=name,
                hint="give data and scale of each argument that is a pair",
            )
        present = [key for key in keys if key is not None]
        used.update(present)
        parts = [arrays[key] for key in present]
        tensors = [argument.data, *([] if argument.scale is None else [argument.scale])]
        for part, tensor in zip(parts, tensors, strict=True):
            _require_fit(part, tensor, name)
        found.append(Stored(argument, parts))
    hint = "name arrays as `scalify-hlo inspect --arguments` lists the arguments"
    require_known(arrays, used, names_of(arguments), "state", name, hint)
    if not partial:
        require_whole([each.argument.name for each in found], missing, name)
    return found


def _key(argument: Argument, part: int, arrays: Mapping[str, StoredArray]) -> str | None:
    """Returns the name under which a file has an argument, or its data or scale; None if not."""
    own = argument.keys[part]
    names = [own, *([f"{own}{_DATA}"] if part == 0 else []), f"arr_{argument.numbers[part]}"]
    return next((each for each in names if each in arrays), None)


def _require_fit(array: StoredArray, tensor: Tensor, name: str) -> None:
    if dtype_for(array, tensor) is None or array.dtype.itemsize != tensor.dtype.itemsize:
        raise UsageError(
            f"the array for {tensor.name!r} is {array.dtype}{list(array.shape)}, and the argument "
            f"{tensor}",
            location=name,
            hint="give state of this program, as it takes or returns it",
        )


def restored(
    stored: Sequence[Stored],
    name: str,
    summary: Summary,
    progress: Callable[[int, int], None],
) -> Iterator[tuple[str, Array]]:
    """Yields names and arrays of the original; one argument is in memory at a time.

    Data times scale are in the dtype in which the program computes, or f32 if it does not say.

    Args:
        stored: The arguments, as `stored_arguments` returns them.
        name: The name of the file in diagnostics.
        summary: Gets the counts.
        progress: Is told how many arguments are done, of how many.

    Raises:
        InputError: An array is damaged, or data times scale are beyond the range of the dtype.
    """
    for done, (argument, arrays) in enumerate(stored):
        progress(done, len(stored))
        taken = [fit(arrays[0], argument.data)]
        made = taken[0]
        if argument.scale is not None:
            taken.append(fit(arrays[1], argument.scale))
            wide = joined(taken[0], taken[1], argument.data)
            made = _cast(wide, argument, name)
            summary.error = max(summary.error, (_error(wide, made), argument.name))
        summary.formats[str(made.dtype)] += 1
        summary.before += sum(each.nbytes for each in taken)
        summary.after += made.nbytes
        yield argument.name, made


def _cast(wide: Array, argument: Argument, name: str) -> Array:
    dtype = argument.logical or max(
        argument.data.dtype, np.dtype(np.float32), key=attrgetter("itemsize")
    )
    with np.errstate(over="ignore"):
        made = wide.astype(dtype)
    lost = int(np.sum(np.isfinite(wide) & ~np.isfinite(made)))
    if lost:
        raise InputError(
            f"{lost} numbers of {argument.name} are beyond the range of {dtype}",
            location=name,
            hint="rescale the state, as scalify_hlo.dynamic_rescale does",
        )
    return made


def _error(wide: Array, made: Array) -> float:
    """Returns the largest absolute difference, divided by the largest magnitude."""
    finite = np.isfinite(wide)
    wide, made = wide[finite], made[finite].astype(wide.dtype)
    largest = float(np.max(np.abs(wide), initial=0))
    return float(np.max(np.abs(wide - made), initial=0)) / largest if largest else 0.0
