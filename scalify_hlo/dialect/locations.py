"""Where ops come from: places in source files, for diagnostics and reports."""

from __future__ import annotations

import re
from typing import Final

from scalify_hlo._compat import ir

UNNAMED: Final = "-"
"""What MLIR calls a source that is not a file."""


def place_of_text(location: str, name: str) -> str:
    """A location that MLIR printed as ``file:line:column``; one without a line stays as it is."""
    inner = location.removeprefix("loc(").removesuffix(")")
    if inner == "unknown":
        return name
    found = _FILE.fullmatch(inner)
    if found is None:
        return inner
    file = name if found[1] == UNNAMED else found[1]
    return f"{file}:{found[2]}:{found[3]}"


_FILE: Final = re.compile(r'"([^"]*)":(\d+):(\d+)(?: to .*)?')
"""A place in a file, as MLIR prints it; one that spans several columns is named by its first."""


def source_location(location: ir.Location) -> str:
    """The place in a source file that a location ends in, as MLIR prints it.

    Names of ops and of the functions that were called on the way are left out. A location without
    a file is printed whole.
    """
    inner = location
    while not isinstance(inner, ir.FileLineColLoc):
        if isinstance(inner, ir.NameLoc):
            inner = inner.child_loc
        elif isinstance(inner, ir.CallSiteLoc):
            inner = inner.callee
        elif isinstance(inner, ir.FusedLoc) and inner.locations:
            inner = inner.locations[0]
        else:
            return str(location)
    return str(inner)
