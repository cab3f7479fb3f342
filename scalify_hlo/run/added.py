"""The arguments that a rewrite added to a program: scales, and the state of delayed scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.io.tensors import Array, Interface
from scalify_hlo.quantize.delayed import LEAVES, STATE, described
from scalify_hlo.quantize.encoding import exponent_below_rms
from scalify_hlo.run.inputs import fit, scaled_by
from scalify_hlo.run.packed import is_packed, packed
from scalify_hlo.run.scale_arrays import split_in_blocks

_SCALE: Final = ".scale"
"""The end of the name of the scale of an argument."""


def first_state(module: ir.Module, program: Interface) -> dict[int, Array]:
    """Returns the state of delayed scales before the first step, as `init_scaling_state` does.

    Args:
        module: A program.
        program: Its arguments and results.

    Returns:
        An array for the number of each argument that is state; empty if the program has none.
    """
    with module.context:
        about = described(module.operation)
    if about is None:
        return {}
    names = [tensor.name for tensor in program.arguments]
    first = f"{STATE}['{LEAVES[0]}']"
    start = names.index(first) if first in names else len(names) - len(LEAVES)
    history = np.zeros(program.arguments[start].shape, np.float32)
    leaves: list[Array] = [history, about.first_scales(), np.asarray(0, np.int32)]
    return dict(enumerate(leaves, start))


def without_state(program: Interface, state: Mapping[int, Array]) -> Interface:
    """Returns the arguments and results of a program without the state of delayed scales.

    Args:
        program: All arguments and results.
        state: The state, as `first_state` returns it.
    """
    arguments = tuple(t for i, t in enumerate(program.arguments) if i not in state)
    return Interface(arguments, program.results[: len(program.results) - len(state)])


def with_state(fed: Sequence[Array], state: Mapping[int, Array]) -> list[Array]:
    """Returns the arguments of a program, with the state of delayed scales in its place.

    Args:
        fed: The arguments without the state.
        state: The state by the numbers of arguments.
    """
    arguments = list(fed)
    for number, array in sorted(state.items()):
        arguments.insert(number, array)
    return arguments


def with_added(module: ir.Module, program: Interface, sample: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a rewritten program from those of its original.

    An argument whose scale is not given is divided by the power of two at or below its rms, which
    becomes its scale. State of delayed scales that is not given is that before the first step.

    Args:
        module: The program.
        program: Its arguments and results.
        sample: Arrays by argument name, or ``arr_0``, ``arr_1`` ...
    """
    given = dict(sample)
    arguments = program.arguments
    for number, array in first_state(module, program).items():
        if not {arguments[number].name, f"arr_{number}"} & given.keys():
            given[arguments[number].name] = array
    for tensor, scale in pairwise(arguments):
        missing = scale.name == f"{tensor.name}{_SCALE}" and scale.name not in given
        if missing and tensor.name in given and is_packed(scale):
            wide = fit(given[tensor.name], replace(tensor, dtype=np.dtype(np.float32)))
            given[tensor.name], given[scale.name] = packed(wide, tensor)
        elif missing and tensor.name in given and scale.shape:
            wide = fit(given[tensor.name], replace(tensor, dtype=np.dtype(np.float32)))
            given[tensor.name], given[scale.name] = split_in_blocks(wide, tensor, scale)
        elif missing and tensor.name in given:
            value = fit(given[tensor.name], tensor)
            exponent = exponent_of(value)
            given[tensor.name] = scaled_by(value, 2.0**-exponent).astype(tensor.dtype)
            given[scale.name] = np.asarray(2.0**exponent, scale.dtype)
    return given


def exponent_of(value: Array) -> int:
    """Returns log2 of the scale of a value that becomes a pair: the power below its rms."""
    magnitudes = np.abs(value) if value.dtype.kind == "c" else value
    return int(exponent_below_rms(magnitudes.reshape(-1))) if magnitudes.size else 0
