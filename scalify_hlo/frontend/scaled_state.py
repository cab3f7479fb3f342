"""The state of rewritten programs: pairs made of plain arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from scalify_hlo.errors import InputError, UsageError, nearest
from scalify_hlo.jax_api.scaled_array import is_concrete, is_float, is_scaled_array
from scalify_hlo.jax_api.stored_arrays import split_for, stored


def scaled_state(program: jax.export.Exported, tree: tuple[Any, ...]) -> tuple[Any, ...]:
    """Converts arrays to the first arguments of a program with the `scaled` signature.

    Each float array is split as in `as_scaled_array`. Its data are rounded to the format in which
    the program keeps them, such as f16 for weights with the recipe ``fp8``. A ScaledArray keeps its
    scale. Arguments that are not pairs in the program are not changed.

    Args:
        program: An Exported that `rewrite` returned, or that was read from a file.
        tree: The first positional arguments of the original program, such as
            ``(params, opt_state)``. Float arrays have the dtypes of the original program, or are
            ScaledArrays.

    Returns:
        The same number of arguments, for ``program.call``, with ScaledArrays of the same shapes.
        The arrays of a program for one device are committed to their device, as its results are.

    Raises:
        UsageError: An array is missing, is not an argument of the program, or has another shape or
            dtype; the error names it.
        InputError: An array has a number that the format of its data cannot hold. This is not
            checked for arrays that JAX traces.

    Example:
        >>> import scalify_hlo
        >>> weights = jnp.ones((32, 32))
        >>> original = jax.export.export(jax.jit(lambda w: w @ w))(weights)
        >>> program = scalify_hlo.rewrite(original, signature="scaled")
        >>> program.call(*scaled_state(program, (weights,))).shape
        (32, 32)
    """
    if not isinstance(tree, tuple):
        raise UsageError(
            f"scaled_state takes a tuple of arguments, not a {type(tree).__name__}",
            hint="write scaled_state(program, (params, opt_state))",
        )
    wanted = _arguments_of(program)
    if len(tree) > len(wanted):
        raise UsageError(
            f"{program.fun_name!r} takes {len(wanted)} positional arguments, and {len(tree)} are "
            "given",
            hint="give those that it begins with",
        )
    expected = _by_name(wanted[: len(tree)])
    given = _by_name(tree)
    _same_names(program, expected, given)
    leaves = [_stored(name, given[name], leaf) for name, leaf in expected.items()]
    structure = jax.tree.structure(wanted[: len(tree)], is_leaf=is_scaled_array)
    made: tuple[Any, ...] = jax.tree.unflatten(structure, leaves)
    return made if program.nr_devices > 1 else jax.tree.map(committed, made)


def committed(leaf: Any) -> Any:
    """Returns an array that stays on its device, as the results of an exported program do.

    A step that gets other arrays first, and then its own results, would compile twice.

    Args:
        leaf: An array; one that is traced, or is on several devices, is not changed.
    """
    if not is_concrete(leaf):
        return leaf
    array = jnp.asarray(leaf)
    devices = array.devices()
    return jax.device_put(array, *devices) if len(devices) == 1 else array


def _arguments_of(program: jax.export.Exported) -> tuple[Any, ...]:
    """Returns the positional arguments of a program, with types as leaves."""
    types = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in program.in_avals]
    args, _ = jax.tree.unflatten(program.in_tree, types)
    return tuple(args)


def _by_name(tree: Any) -> dict[str, Any]:
    """Returns the leaves of arguments by their names; a ScaledArray is one leaf."""
    found = jax.tree_util.tree_leaves_with_path(tree, is_leaf=is_scaled_array)
    return {f"args{jax.tree_util.keystr(path)}": leaf for path, leaf in found}


def _same_names(
    program: jax.export.Exported, expected: dict[str, Any], given: dict[str, Any]
) -> None:
    hint = "give the pytrees with which the original program was exported"
    for name in expected:
        if name not in given:
            raise UsageError(f"{program.fun_name!r} takes {name}, which is not given", hint=hint)
    for name in given:
        if name not in expected:
            guess = nearest(name, list(expected))
            raise UsageError(f"{program.fun_name!r} takes no {name}{guess}", hint=hint)


def _stored(name: str, given: Any, wanted: Any) -> Any:
    """Returns an argument as a pair of the program's dtypes, or unchanged if it is not a pair."""
    if not is_scaled_array(wanted):
        return _plain(name, given, wanted)
    if not hasattr(given, "dtype"):
        given = jnp.asarray(given)
    _require_shape(name, given.shape, wanted.shape)
    logical = given.logical_dtype if is_scaled_array(given) else given.dtype
    if logical != wanted.logical_dtype and given.dtype != wanted.dtype:
        raise UsageError(
            f"{name} is {logical}, and the program computes with {wanted.logical_dtype}",
            hint="convert it to the dtype that the original program was exported with",
        )
    pair = split_for(given, wanted.dtype).check()
    shape = () if wanted.power else wanted.scale.shape
    made = stored(pair, wanted.dtype, wanted.power, wanted.logical, shape)
    _require_finite(name, pair, made)
    return made


def _require_finite(name: str, pair: Any, made: Any) -> None:
    """Refuses data that the cast made infinite or NaN; those that JAX traces have no numbers."""
    if isinstance(made.data, jax.core.Tracer):
        return
    # E4M3 has no infinity, and its NaN may come from one.
    pairs = zip(_not_finite(pair.data), _not_finite(made.data), strict=True)
    lost = max(int(after) - int(before) for before, after in pairs)
    if lost > 0:
        raise InputError(
            overflow(name, lost, made.data, made.scale),
            hint="rewrite the original so that it takes this argument as it is: the option "
            "matmul.exclude leaves a weight wide, and state.first_moment=keep moments",
        )


@jax.jit
def _not_finite(data: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Returns the numbers of NaN and of infinities."""
    return jnp.sum(jnp.isnan(data)), jnp.sum(jnp.isinf(data))


def overflow(name: str, lost: int, data: Any, scale: Any) -> str:
    """Returns the message for an argument with numbers that the format of its data cannot hold.

    Args:
        name: The argument.
        lost: The number of these numbers.
        data: The data.
        scale: The scale, which may be an array.
    """
    at = "" if np.shape(scale) else f" at the scale 2^{int(np.log2(float(scale)))}"
    return f"{name} has {lost:,} of {data.size:,} numbers that {data.dtype} cannot hold{at}"


def _plain(name: str, given: Any, wanted: Any) -> Any:
    """Returns an argument that is not a pair, after a check of its shape and dtype."""
    if is_scaled_array(given):
        raise UsageError(
            f"{name} is a ScaledArray, and the program takes it as it is",
            hint="give the array itself; asarray makes one",
        )
    array = given if hasattr(given, "dtype") else jnp.asarray(given)
    _require_shape(name, np.shape(array), wanted.shape)
    if is_float(wanted.dtype) and array.dtype != wanted.dtype:
        raise UsageError(
            f"{name} is {array.dtype}, and the program takes {wanted.dtype}",
            hint="convert it to the dtype that the original program was exported with",
        )
    return given


def _require_shape(name: str, given: tuple[int, ...], wanted: tuple[Any, ...]) -> None:
    fits = len(given) == len(wanted) and all(
        not isinstance(size, int) or size == own for own, size in zip(given, wanted, strict=True)
    )
    if not fits:
        raise UsageError(
            f"{name} has the shape {tuple(given)}, and the program takes {tuple(wanted)}",
            hint="give the arrays that the original program was exported with",
        )
