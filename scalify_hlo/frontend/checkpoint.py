"""Conversion of the arrays of a checkpoint to arguments of a rewritten program, by name.

`scaled_state` converts pytrees. A file has names, which are those of the arguments of `main`.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import jax
import ml_dtypes
import numpy as np

from scalify_hlo.algebra.limits import ENCODED_CHUNK
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError, UsageError, nearest
from scalify_hlo.frontend.scaled_state import overflow
from scalify_hlo.ir.functions import entry
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from scalify_hlo.jax_api.stored_arrays import split_for, stored
from scalify_hlo.program.arrays import StoredArray
from scalify_hlo.program.leaves import leaves_of
from scalify_hlo.program.program import Program
from scalify_hlo.program.record import rewrites_of
from scalify_hlo.program.tensors import Array, Tensor, interface, is_complex
from scalify_hlo.run.pairs import by_element, is_packed, joined

_NARROW: Final = 2
"""The most bytes of an element in which a program stores numbers that it computes in f32."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the original of a rewritten program.

    Attributes:
        name: Its name in the original.
        data: The argument of the rewritten program that is its data, or the argument itself.
        scale: The argument that is its scale; None if the program takes it as the original does.
        logical: The dtype in which the program computes, for a pair of a file that says it.
        keys: The names of the arrays that are written for it.
        numbers: Their numbers among the arguments of the rewritten program.
    """

    name: str
    data: Tensor
    scale: Tensor | None
    logical: np.dtype[Any] | None
    keys: tuple[str, ...]
    numbers: tuple[int, ...]

    def dtype_of(self, array: StoredArray) -> np.dtype[Any] | None:
        """Returns the dtype of its array in a file; None if the array has another dtype.

        An .npz file has bf16 and f8 as raw bytes.
        """
        data = self.data.dtype
        known = [data] if self.logical is None else [self.logical, data]
        if array.dtype.type is np.void:
            guessed = [*known, np.dtype(ml_dtypes.bfloat16)] if self._is_narrow else known
            raw = [d for d in guessed if d.isbuiltin != 1]  # NumPy writes no raw bytes of its own.
            return next((d for d in raw if d.itemsize == array.dtype.itemsize), None)
        given = array.dtype.newbyteorder("=")
        wider = self._is_narrow and given.kind == "f" and given.itemsize > data.itemsize
        # The program takes the numbers of another integer dtype if they fit, as with NumPy's i64.
        integers = self.scale is None and {given.kind, data.kind} <= set("iu")
        return given if given in known or wider or integers else None

    @property
    def _is_narrow(self) -> bool:
        """Whether its data may be stored in fewer bits than the original has."""
        pair = self.scale is not None and self.logical is None
        return pair and self.data.dtype.itemsize <= _NARROW

    def __str__(self) -> str:
        own = str(replace(self.data, dtype=self.logical or self.data.dtype))
        return f"a wider float, stored as {own}" if self._is_narrow else own


class Given(NamedTuple):
    """An argument that a checkpoint has.

    Attributes:
        argument: The argument.
        array: Its array.
        dtype: The dtype of the array, which a file may have as raw bytes.
    """

    argument: Argument
    array: StoredArray
    dtype: np.dtype[Any]


@dataclass
class Summary:
    """Counts of the arguments that were converted.

    Attributes:
        total: The number of arguments of the original.
        formats: The numbers of the arguments that were converted, by the dtypes of their data.
        before: The bytes of the arrays of the checkpoint.
        after: The bytes of data and scales.
        error: The largest relative error, and the name of its argument. The relative error is the
            largest absolute difference, divided by the largest magnitude of the array.
    """

    total: int
    formats: Counter[str] = field(default_factory=Counter)
    before: int = 0
    after: int = 0
    error: tuple[float, str] = (0.0, "")

    def __str__(self) -> str:
        formats = ", ".join(f"{count} in {name}" for name, count in self.formats.most_common())
        count = f"{self.formats.total()} of {self.total} arguments: {formats}"
        error, name = self.error
        worst = f"largest relative error {error:.2g}, of {name}" if error else "all are exact"
        return f"{count}; {self.after:,} bytes, from {self.before:,}; {worst}"


def original_arguments(program: Program) -> list[Argument]:
    """Returns the arguments of the original of a rewritten program, in their order.

    State of delayed scales is left out, which the original does not have.

    Raises:
        InputError: The program was not rewritten, or takes its arguments as the original does.
    """
    pairs = _require_pairs(program)
    described = interface(program.module, program.name, dynamic=True)
    tensors, names = described.arguments, _given_names(program)
    left_out = {*pairs.values(), *described.state}
    counts = Counter(tensor.name for tensor in tensors)
    keys = [t.name if counts[t.name] == 1 else f"arr_{i}" for i, t in enumerate(tensors)]
    logical = _logical_dtypes(program)
    found: list[Argument] = []
    for number in (i for i in range(len(tensors)) if i not in left_out):
        own = (number, pairs[number]) if number in pairs else (number,)
        found.append(
            Argument(
                names[number] or f"arg{len(found)}",  # Scales before it are not in the original.
                tensors[number],
                tensors[own[1]] if len(own) > 1 else None,
                logical.get(number),
                tuple(keys[each] for each in own),
                own,
            )
        )
    return found


def _require_pairs(program: Program) -> dict[int, int]:
    """Returns the pairs of a program that was rewritten once.

    Raises:
        InputError: It has none, or pairs of pairs.
    """
    done = rewrites_of(program.module)
    pairs = attributes.scale_numbers(entry(program.module))
    if pairs and sum(", signature scaled" in each for each in done) == 1:
        return pairs
    if pairs:
        problem, hint = "has pairs of pairs, from several rewrites", "rewrite the original once"
    elif done:
        problem = "takes its arguments as the original does"
        hint = "pass the checkpoint as it is, or rewrite the original with --signature scaled"
    else:
        problem = "was not rewritten"
        hint = "give a program that `scalify-hlo rewrite --signature scaled` wrote"
    raise InputError(f"the program {problem}", location=program.name, hint=hint)


def _given_names(program: Program) -> list[str]:
    with program.module.context:
        return attributes.given_names(entry(program.module))


def _logical_dtypes(program: Program) -> dict[int | None, np.dtype[Any]]:
    """Returns the logical dtypes of pairs by the numbers of their data.

    Only a jax.export file has them.
    """
    exported = program.exported
    if exported is None:
        return {}
    with program.module.context:
        leaves, _ = leaves_of(program.module, exported)
    tree = jax.tree.unflatten(exported.in_tree, leaves)
    found = jax.tree.leaves(tree, is_leaf=is_scaled_array)
    return {each.data.number: each.logical_dtype for each in found if is_scaled_array(each)}


def given_arguments(
    arguments: list[Argument],
    arrays: Mapping[str, StoredArray],
    name: str,
    *,
    partial: bool = False,
) -> list[Given]:
    """Returns the arguments that a checkpoint has, in the order of the program.

    Args:
        arguments: The arguments of the original.
        arrays: The arrays of the checkpoint by argument name, or ``arr_0``, ``arr_1`` ...
        name: The name of the checkpoint in diagnostics.
        partial: Whether the checkpoint may have some leaves of a pytree, and not others.

    Raises:
        UsageError: An array belongs to no argument, has another shape or dtype, or is missing.
    """
    keys = [a.name if a.name in arrays else f"arr_{i}" for i, a in enumerate(arguments)]
    _require_known(arguments, arrays, keys, name)
    each = list(zip(keys, arguments, strict=True))
    missing = [argument.name for key, argument in each if key not in arrays]
    found = [_given(argument, arrays[key], name) for key, argument in each if key in arrays]
    if not partial:
        require_whole([given.argument.name for given in found], missing, name)
    return found


def _given(argument: Argument, array: StoredArray, name: str) -> Given:
    dtype = argument.dtype_of(array)
    if dtype is None or not argument.data.takes(array.shape):
        raise UsageError(
            f"the array for {argument.name!r} is {array.dtype}{list(array.shape)}, and the "
            f"argument of the original is {argument}",
            location=name,
            hint="give an array of the shape and dtype that the original was exported with",
        )
    return Given(argument, array, dtype)


def _require_known(
    arguments: list[Argument], arrays: Mapping[str, StoredArray], keys: list[str], name: str
) -> None:
    """Refuses a checkpoint without arrays, or with scales or arrays that are no arguments."""
    scales = {tensor.name for a in arguments if (tensor := a.scale) is not None}
    known = [argument.name for argument in arguments]
    for key in arrays:
        if key in scales and key not in keys:
            raise UsageError(
                f"the checkpoint has the scale {key!r}, as if it was converted before",
                location=name,
                hint="give a checkpoint of the original program",
            )
    hint = (
        f"name arrays after arguments, or arr_0 to arr_{len(known) - 1}, and leave out those that "
        "the program does not read"
    )
    require_known(arrays, keys, known, "checkpoint", name, hint)


def require_known(
    arrays: Mapping[str, StoredArray],
    used: Collection[str],
    known: Sequence[str],
    what: str,
    name: str,
    hint: str,
) -> None:
    """Refuses a file without arrays, or with arrays that belong to no argument.

    Args:
        arrays: The arrays.
        used: The names of those that belong to an argument.
        known: The names of the arguments.
        what: The kind of the file in diagnostics.
        name: The name of the file in diagnostics.
        hint: How arrays are named.

    Raises:
        UsageError: It is such a file.
    """
    for key in arrays:
        if key not in used:
            close = nearest(key, known)
            problem = f"the {what} has an array {key!r}, which is no argument{close}"
            raise UsageError(problem, location=name, hint=hint)
    if not arrays:
        hint = "`scalify-hlo inspect --arguments` lists the arguments"
        raise UsageError(f"the {what} has no arrays", location=name, hint=hint)


def require_whole(given: list[str], missing: list[str], name: str) -> None:
    """Refuses a checkpoint that has some leaves of a pytree, and not others.

    Args:
        given: The names of the arguments that it has.
        missing: The names of the others.
        name: The name of the checkpoint in diagnostics.

    Raises:
        UsageError: It has a part of a pytree.
    """
    roots = {_root(each): each for each in given}
    for each in missing:
        if _root(each) in roots:
            raise UsageError(
                f"the checkpoint has {roots[_root(each)]!r}, and no array for {each!r}",
                location=name,
                hint="add the array; --partial converts some arrays of a pytree without the others",
            )


def _root(name: str) -> str:
    """Returns the name of the pytree that a leaf belongs to."""
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def converted(
    given: list[Given],
    name: str,
    summary: Summary,
    progress: Callable[[int, int], None],
) -> Iterator[tuple[str, Array]]:
    """Yields names and arrays of the rewritten program; one argument is in memory at a time.

    Data and scales are those of `scaled_state`, bit for bit.

    Args:
        given: The arguments and their arrays, as `given_arguments` returns them.
        name: The name of the checkpoint in diagnostics.
        summary: Gets the counts.
        progress: Is told how many arguments are done, of how many.

    Raises:
        InputError: An array is damaged, or has a number that the format of its data cannot hold.
    """
    for done, (argument, array, dtype) in enumerate(given):
        progress(done, len(given))
        loaded = array.load()
        raw = loaded.dtype.type is np.void
        values = loaded.view(dtype) if raw else loaded.astype(dtype, copy=False)
        if argument.scale is None:
            made = [_cast(argument, values, name)]
        else:
            made = _pair(argument.data, argument.scale, values)
            error = _relative_error(argument, values, made, name)
            summary.error = max(summary.error, (error, argument.name), key=lambda each: each[0])
        summary.formats[str(made[0].dtype)] += 1
        summary.before += values.nbytes
        summary.after += sum(each.nbytes for each in made)
        yield from zip(argument.keys, made, strict=True)


def _pair(data: Tensor, scale: Tensor, values: Array) -> list[Array]:
    """Returns data and scale of an argument that is a pair, as `scaled_state` makes them."""
    power = (2 if data.root else 1) if is_packed(scale) else None
    wide = values.dtype in (np.float64, np.complex128)  # Otherwise JAX would read them as 32 bits.
    with jax.enable_x64(True) if wide else contextlib.nullcontext():
        shape = scale.shape if power is None else ()
        pair = stored(split_for(values, data.dtype), data.dtype, power, None, shape)
        return [np.asarray(pair.data), np.asarray(pair.scale)]


def _cast(argument: Argument, values: Array, name: str) -> Array:
    """Returns an argument that is not a pair; only integers may have another dtype.

    Raises:
        InputError: An integer does not fit.
    """
    cast = values.astype(argument.data.dtype, copy=False)
    if not np.array_equal(cast, values, equal_nan=values.dtype.kind in "fc"):
        raise InputError(
            f"{argument.name} has integers that {argument.data.dtype} cannot hold",
            location=name,
            hint="give an array of the dtype that the original was exported with",
        )
    return cast


def _relative_error(argument: Argument, values: Array, made: list[Array], name: str) -> float:
    """Returns the largest absolute error of a pair, divided by the largest magnitude.

    Raises:
        InputError: A number became another one: a finite one infinite or NaN, or an infinite one
            finite or NaN.
    """
    data, scale = made
    row = max(values.shape[-1], 1) if values.shape else 1
    rows, data = values.reshape(-1, row), data.reshape(-1, row)
    scales = scale
    if scale.shape:
        moment = argument.scale is not None and is_packed(argument.scale)
        scales = (scale if moment else by_element(scale, values.shape)).reshape(len(rows), -1)
    wide = np.complex128 if is_complex(values.dtype) else np.float64
    largest = error = 0.0
    lost = 0
    for start in range(0, len(rows), step := max(1, ENCODED_CHUNK // row)):
        piece = slice(start, start + step)
        before, of_piece = rows[piece].astype(wide), scales[piece] if scale.shape else scale
        after = joined(data[piece], of_piece, argument.data)
        finite = np.isfinite(before) & np.isfinite(after)
        lost += int(np.sum(~finite & (before != after) & ~(np.isnan(before) & np.isnan(after))))
        before, after = before[finite], after[finite]
        largest = max(largest, float(np.max(np.abs(before), initial=0)))
        error = max(error, float(np.max(np.abs(before - after), initial=0)))
    if lost:
        raise InputError(
            overflow(argument.name, lost, made[0], scale),
            location=name,
            hint="rewrite the original so that it takes this argument as it is: "
            f'--set matmul.exclude="{argument.name}" leaves a weight wide, and '
            "--set state.first_moment=keep moments",
        )
    return error / largest if largest else 0.0
