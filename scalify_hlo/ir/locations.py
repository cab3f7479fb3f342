"""Source locations of ops, for diagnostics and reports."""

from __future__ import annotations

import re
from typing import Final

from scalify_hlo._compat import ir

UNNAMED: Final = "-"
"""The file name that MLIR gives to a source that is not a file."""


def place_of_text(location: str, name: str) -> str:
    """Converts a printed MLIR location to ``file:line:column``; one without a line is kept.

    Args:
        location: The location, as MLIR prints it.
        name: The name of the program, for locations without a file.
    """
    inner = location.removeprefix("loc(").removesuffix(")")
    if inner == "unknown":
        return name
    found = _FILE.fullmatch(inner)
    if found is None:
        return inner
    file = name if found[1] == UNNAMED else found[1]
    return f"{file}:{found[2]}:{found[3]}"


_FILE: Final = re.compile(r'"([^"]*)":(\d+):(\d+)(?: to .*)?')
"""A source location as MLIR prints it; of a range, the start is matched."""


def described(value: ir.Value) -> str:
    """Returns the name of the op of a value, and its source location, for diagnostics."""
    op = value.owner
    if isinstance(op, ir.Block):
        return "an argument"
    place = place_of_text(source_location(op.location), "")
    return f"{op.name} at {place}" if place else str(op.name)


def source_location(location: ir.Location) -> str:
    """Returns the innermost source location of a location, as MLIR prints it.

    Names of ops and callers are left out. A location without a file is printed unchanged.
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
