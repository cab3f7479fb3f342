"""Printing of modules as MLIR text."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import BinaryIO

from scalify_hlo._compat import ir
from scalify_hlo.storage.files import OPEN_FILES


def text_of(module: ir.Module, *, debug_info: bool = False, verified: bool = True) -> str:
    """Returns a module as MLIR text, with a line break at its end.

    MLIR passes text to Python word by word, which takes longer than the printing itself. If the
    system has files in memory, MLIR prints to such a file instead.

    Args:
        module: The module.
        debug_info: Whether locations are printed.
        verified: Whether the module is known to be valid. Otherwise MLIR verifies it first, and
            prints an invalid module in generic form.
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
            operation.print(file=f"{OPEN_FILES}/{file.fileno()}", **flags)
        except ValueError:  # The file cannot be opened by that path.
            return str(operation.get_asm(**flags))
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            return str(text, "utf-8")


def _file_in_memory() -> BinaryIO | None:
    """Returns a new file in memory that has a path; None if the system has no such files."""
    if not hasattr(os, "memfd_create") or not Path(OPEN_FILES).exists():
        return None
    try:
        return os.fdopen(os.memfd_create("scalify-hlo"), "w+b")
    except OSError:  # A sandbox may refuse it.
        return None
