"""Programs in all forms in which users give them, and in which they get them back."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from scalify_hlo._compat import ir
from scalify_hlo.errors import UsageError
from scalify_hlo.program.artifact import copy_module, require_legible
from scalify_hlo.program.entry import renamed
from scalify_hlo.program.program import (
    Kind,
    Program,
    checked_entry,
    read_program,
    read_text,
    write_program,
)
from scalify_hlo.program.wellformed import check_calls


def readable(program: Any, entry: str | None = None) -> Program:
    """Returns a program whose module may be edited.

    Args:
        program: The program in any form.
        entry: The name of its entry; see `read_program`.
    """
    if isinstance(program, Program):
        return program
    _refuse_path(program)
    if isinstance(program, str):
        return read_text(program, guarded=True, entry=entry)
    if isinstance(program, (bytes, bytearray)):
        return read_program(bytes(program), guarded=True, entry=entry)
    if isinstance(program, ir.Module):
        require_legible(program, "<module>")
        check_calls(program, "<module>")
        module = copy_module(program)
        return checked_entry(Program(module, Kind.MODULE, "<module>"), entry)
    import jax.export

    if not isinstance(program, jax.export.Exported):
        raise UsageError(
            f"an object of type {type(program).__name__} is not a program",
            hint="give MLIR text, bytes of a program, an ir.Module or a jax.export.Exported; "
            "scalify takes Python functions",
        )
    read = read_program(bytes(program.mlir_module_serialized), program.fun_name)
    read = replace(read, kind=Kind.OBJECT, exported=program)
    return read if entry is None else checked_entry(read, entry)


def _refuse_path(program: Any) -> None:
    """Refuses the path of a file in place of a program."""
    named = isinstance(program, str) and "\n" not in program and os.path.exists(program)
    if named or isinstance(program, os.PathLike):
        raise UsageError(
            f"{os.fspath(program)!r} is the path of a program, and not the program",
            hint="read the file, as pathlib.Path(...).read_bytes() does",
        )


def written(program: Program) -> Any:
    """Returns a program as the kind of object from which it was read."""
    if program.kind is Kind.MODULE:
        return renamed(program.module, program.entry)
    return program.exported if program.kind is Kind.OBJECT else write_program(program)
