"""The text of a program as a string."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import BinaryIO, Final

from scalify_hlo._compat import ir


def text_of(module: ir.Module, *, debug_info: bool = False, verified: bool = True) -> str:
    """A module as MLIR text, with a line break at its end.

    MLIR hands a text to Python by the word, and that takes longer than all the rest of printing.
    Where the system has files in memory, it prints into one by itself.

    Args:
        module: The module.
        debug_info: Whether locations are printed.
        verified: Whether the module is known to be valid; else MLIR verifies it, to print what is
            not in generic form.
    """
    flags = {"enable_debug_info": debug_info, "assume_verified": verified}
    with module.context:
        text = _printed(module.operation, flags)
    return text if text.endswith("\n") else text + "\n"


def _printed(operation: ir.Operation, flags: dict[str, bool]) -> str:
    file = _file_in_memory()
    if file is None:
        return str(operation.get_asm(**flags))
    with file:
        try:
            operation.print(file=f"{_OPEN_FILES}/{file.fileno()}", **flags)
        except ValueError:  # it can't be opened by that path
            return str(operation.get_asm(**flags))
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            return str(text, "utf-8")


_OPEN_FILES: Final = "/proc/self/fd"
"""Where files that are open have paths, on Linux."""


def _file_in_memory() -> BinaryIO | None:
    """A new file in memory that has a path; None if there are none."""
    if not hasattr(os, "memfd_create") or not Path(_OPEN_FILES).exists():
        return None
    try:
        return os.fdopen(os.memfd_create("scalify-hlo"), "w+b")
    except OSError:  # such as one that a sandbox refuses
        return None
