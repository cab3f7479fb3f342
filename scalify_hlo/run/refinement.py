"""Refines programs with symbolic shapes to the static shapes of given arguments."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Final

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.dialect.value_map import run_native
from scalify_hlo.errors import UsageError

Shape = tuple[int, ...]

_ARGUMENTS: Final = "builtin.module(stablehlo-refine-arguments{types=TYPES})"
_CANONICALIZE: Final = "builtin.module(func.func(stablehlo-canonicalize-dynamism))"
_ASSERTION: Final = "Input shapes do not match"
"""The start of the message of jax.export on arguments of wrong shapes."""


def refined(module: ir.Module, shapes: Sequence[Shape]) -> ir.Module:
    """Returns a program with static shapes.

    Args:
        module: The program, which is edited in place. The attributes of its ops are kept.
        shapes: The shapes of its arguments.

    Returns:
        A new module in the same context.

    Raises:
        UsageError: The program does not take arguments of these shapes.
    """
    _compat.register_passes()
    with module.context, ir.Location.unknown():
        main = main_function(module.operation)
        given = list(attributes.function_type(main).inputs) if main is not None else []
        types = [
            ir.RankedTensorType.get(shape, type_.element_type)
            for shape, type_ in zip(shapes, given, strict=True)
        ]
        pipeline = _ARGUMENTS.replace("TYPES", ",".join(map(str, types)))
        try:
            run_native(pipeline, module.operation)
            static = ir.Module.parse(_compat.refine_shapes(_bytecode(module)))
        except (ValueError, ir.MLIRError) as error:
            raise _misfit(str(error)) from None
        run_native(_CANONICALIZE, static.operation)
        return static


def _bytecode(module: ir.Module) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def _misfit(reason: str) -> UsageError:
    """Returns the error for wrong shapes, with the message of jax.export if there is one."""
    start = reason.find(_ASSERTION)
    said = reason[start:].partition("\n")[0].partition(". Please see")[0]
    why = f": {said}" if start >= 0 else ", whose sizes do not fit each other"
    return UsageError(
        f"the program does not take arrays of these shapes{why}",
        hint="give arrays whose sizes agree with those that the program was exported with",
    )
