"""Programs in all forms in which users give them, and in which they get them back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scalify_hlo._compat import ir
from scalify_hlo.errors import UsageError
from scalify_hlo.program.artifact import copy_module, require_legible
from scalify_hlo.program.program import Kind, Program, read_program, read_text, write_program
from scalify_hlo.program.wellformed import check_calls, check_module


def readable(program: Any) -> Program:
    """Returns a program whose module may be edited."""
    if isinstance(program, Program):
        return program
    if isinstance(program, str):
        return read_text(program, guarded=True)
    if isinstance(program, (bytes, bytearray)):
        return read_program(bytes(program), guarded=True)
    if isinstance(program, ir.Module):
        require_legible(program, "<module>")
        check_calls(program, "<module>")
        module = copy_module(program)
        check_module(module, "<module>")
        return Program(module, Kind.MODULE, "<module>")
    import jax.export

    if not isinstance(program, jax.export.Exported):
        raise UsageError(
            f"an object of type {type(program).__name__} is not a program",
            hint="give MLIR text, bytes of a program, an ir.Module or a jax.export.Exported; "
            "scalify takes Python functions",
        )
    read = read_program(bytes(program.mlir_module_serialized), program.fun_name)
    return replace(read, kind=Kind.OBJECT, exported=program)


def written(program: Program) -> Any:
    """Returns a program as the kind of object from which it was read."""
    if program.kind is Kind.MODULE:
        return program.module
    return program.exported if program.kind is Kind.OBJECT else write_program(program)
