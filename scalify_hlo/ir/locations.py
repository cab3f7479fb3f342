"""Source locations of ops, for diagnostics and reports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import LOCATION_PARTS
from scalify_hlo.algebra.search import Search
from scalify_hlo.ir.walk import ops_in

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

    Names of ops and callers are left out. Of a location without a file, names are kept. Locations
    that share their parts may be far too large to be printed whole.
    """
    return str(_innermost(location))


def _innermost(location: ir.Location) -> ir.Location:
    inner = named = location
    while not isinstance(inner, ir.FileLineColLoc):
        if isinstance(inner, ir.NameLoc):
            inner = inner.child_loc
        elif isinstance(inner, ir.CallSiteLoc):
            inner = named = inner.callee
        elif isinstance(inner, ir.FusedLoc) and inner.locations:
            inner = named = inner.locations[0]
        else:
            return named
    return inner


def without_large_locations(module: ir.Operation) -> ir.Operation:
    """Returns a module, or a copy of it, in which locations have few parts.

    XLA writes out the parts that a location shares. Larger locations become their source locations,
    with the names of ops.
    """

    def is_large(op: ir.Operation) -> bool:
        return any(_is_large(each.location) for each in (op, *_arguments(op)))

    if not ops_in(module, where=is_large):
        return module
    copy = module.clone().operation
    for op in ops_in(copy, where=is_large):
        op.location = _shortened(op.location)
        for argument in _arguments(op):
            argument.set_location(_shortened(argument.location))
    return copy


def _arguments(op: ir.Operation) -> list[ir.BlockArgument]:
    return [each for region in op.regions for block in region.blocks for each in block.arguments]


def _is_large(location: ir.Location) -> bool:
    numbers = count()  # A part that is shared has a number in each place, and counts there.

    def parts_of(numbered: tuple[int, ir.Location]) -> Iterable[tuple[int, ir.Location]]:
        return zip(numbers, _parts(numbered[1]), strict=False)

    return Search([(next(numbers), location)], parts_of, limit=LOCATION_PARTS).to_end().ended


def _parts(location: ir.Location) -> Sequence[ir.Location]:
    if isinstance(location, ir.NameLoc):
        return [location.child_loc]
    if isinstance(location, ir.CallSiteLoc):
        return [location.callee, location.caller]
    return location.locations if isinstance(location, ir.FusedLoc) else []


def _shortened(location: ir.Location) -> ir.Location:
    inner = _innermost(location)
    if isinstance(location, ir.NameLoc) and location != inner:
        return ir.Location.name(location.name_str, inner)
    return inner
