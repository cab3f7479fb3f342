"""Scales of a program's inputs, measured from values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import SAFE_REACH
from scalify_hlo.algebra.measured import Measured
from scalify_hlo.casts.encoding import log2_rms
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import UsageError
from scalify_hlo.ir.functions import entry
from scalify_hlo.ir.patterns import WILD
from scalify_hlo.program.arrays import StoredArray
from scalify_hlo.program.given import readable
from scalify_hlo.program.program import Program
from scalify_hlo.program.tensors import (
    Array,
    Tensor,
    array_of,
    interface,
    is_complex,
    is_inexact,
    tensor_of,
)
from scalify_hlo.run.given import fit, given_inputs

if TYPE_CHECKING:
    from jax.export import Exported


def measured_scales(
    program: str | bytes | ir.Module | Exported, *args: Any, **kwargs: Any
) -> dict[str, float]:
    """Returns the scales of a program's inputs, measured from values.

    The scales of the state of a training step can be measured once. They are valid as long as the
    rms of the state stays within a few powers of two of its first value.

    Args:
        program: As for `rewrite`.
        *args: For an Exported, its positional arguments, which are pytrees of arrays; for any other
            program, an array for each argument of ``main``.
        **kwargs: The keyword arguments of an Exported.

    Returns:
        The rms of each float argument by its name, for the parameter ``input_scale`` of `rewrite`.
        It is rounded to four digits; for an argument of zeros it is 1. Numbers that are scales
        themselves, in E8M0, have none. It is trusted in powers of the argument, too, where a
        declared one is not.

    Raises:
        InputError: The program cannot be read.
        UsageError: The values do not fit the program, or are traced.

    Example:
        >>> text = "func.func @main(%x: tensor<2xf32> loc('x')) { return }"
        >>> measured_scales(text, np.float32([1.0, 7.0]))
        {'x': 5.0}
    """
    read = readable(program)
    if read.called is not None:
        return scales_of(*_of_exported(read, args, kwargs))
    tensors = interface(read.module, read.name, dynamic=True).arguments
    return scales_of(tensors, _fitted(tensors, args, kwargs))


def scales_by_name(program: Program, arrays: Mapping[str, Array | StoredArray]) -> dict[str, float]:
    """Returns the scales of inputs from arrays by argument name; see `measured_scales`.

    Args:
        program: The program.
        arrays: Arrays by argument name, or ``arr_0``, ``arr_1`` ... by position.

    Raises:
        InputError: An argument of the program is not a tensor.
        UsageError: The arrays do not fit the arguments.
    """
    described = interface(program.module, program.name, dynamic=True)
    return scales_of(described.arguments, given_inputs(described, arrays))


def scales_of(tensors: Sequence[Tensor], arrays: Sequence[Array]) -> dict[str, float]:
    """Returns the rms of each float argument, by a pattern that matches only this argument."""
    names = [tensor.name for tensor in tensors]
    counts = Counter(names)
    return {
        name if counts[name] == 1 and WILD.isdisjoint(name) else f"arg{i}": _short(2.0**size)
        for i, (name, array) in enumerate(zip(names, arrays, strict=True))
        if (size := measured_size(array)) is not None
    }


def _short(number: float) -> Measured:
    """Rounds a number to four digits, as rewritten programs record it."""
    return Measured(f"{number:.4g}")


def measured_size(values: Any) -> float | None:
    """Returns log2 of the rms of values; 0 for zeros, and None if they are no floats with a sign.

    It is that of a scale in the type of scales for such values, and of its reciprocal.
    """
    array = np.asarray(values)
    if not is_inexact(array.dtype) or array.dtype == ml_dtypes.float8_e8m0fnu:
        return None
    magnitudes = np.abs(array) if is_complex(array.dtype) else array
    most = SAFE_REACH[magnitudes.dtype == np.float64] - 1  # It is rounded to four digits then.
    return max(-most, min(most, log2_rms(magnitudes.reshape(-1))))


def _fitted(
    tensors: Sequence[Tensor], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[Array]:
    if kwargs or len(args) != len(tensors):
        raise _miscounted(f"{len(args)} and {len(kwargs)} keyword arguments", f"{len(tensors)}")
    values = [array_of(_concrete(value)) for value in args]
    return [fit(array, tensor) for array, tensor in zip(values, tensors, strict=True)]


def _of_exported(
    program: Program, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Tensor], list[Array]]:
    import jax

    from scalify_hlo.program.leaves import leaves_of

    exported: Any = program.called
    leaves, tree = jax.tree.flatten((tuple(args), dict(kwargs)))
    if tree != exported.in_tree:
        raise _miscounted(f"arguments of structure {tree}", str(exported.in_tree))
    with program.module.context:
        main = entry(program.module)
        names, types = attributes.argument_names(main), attributes.function_type(main).inputs
        known = {leaf.origin: leaf.number for leaf in leaves_of(program.module, exported)[0]}
    kept = {i: number for i, number in known.items() if number is not None}
    tensors = [tensor_of(names[n], types[n], program.name, dynamic=True) for n in kept.values()]
    values = [array_of(_concrete(leaves[i])) for i in kept]
    return tensors, [fit(array, tensor) for array, tensor in zip(values, tensors, strict=True)]


def _concrete(value: Any) -> Any:
    from scalify_hlo.jax_api.scaled_array import is_concrete

    if is_concrete(value):
        return value
    raise UsageError(
        "a traced value has no size that could be measured",
        hint="measure scales outside of jax.jit, from arrays",
    )


def _miscounted(given: str, wanted: str) -> UsageError:
    return UsageError(
        f"{given} do not fit the program, which takes {wanted}",
        hint="give the arguments that the program is called with",
    )
