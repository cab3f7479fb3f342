"""Source locations of ops, for diagnostics and reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count, islice

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import LOCATION_FRAMES, LOCATION_PARTS, READERS_ASKED
from scalify_hlo.algebra.search import Search
from scalify_hlo.errors import Remark, frames_of_text, place_of_text
from scalify_hlo.ir.walk import ops_in


def described(value: ir.Value) -> str:
    """Returns the name of the op of a value, and its source location, for diagnostics."""
    op = value.owner
    if isinstance(op, ir.Block):
        return "an argument"
    place = place_of_text(source_location(op.location), "")
    return f"{op.name} at {place}" if place else str(op.name)


def remark(op: ir.Operation | ir.OpView, message: str, hint: str = "") -> Remark:
    """Returns a remark on an op.

    Args:
        op: The op.
        message: One sentence.
        hint: What to do about it; empty if there is nothing to add.
    """
    return Remark(message, source_location(op.location), op.operation.name, hint)


def source_location(location: ir.Location) -> str:
    """Returns a location as text, which `scalify_hlo.errors` reads.

    It has the name of the op, its source location, and those of its callers, from the inside out,
    as MLIR prints them. Locations that share their parts may be far too large to be printed whole:
    the text has the first `LOCATION_FRAMES` callers.
    """
    frames = list[str]()
    outer, inner = list[ir.Location](), location
    for _ in range(LOCATION_PARTS):
        if isinstance(inner, ir.NameLoc):
            inner = inner.child_loc
        elif isinstance(inner, ir.CallSiteLoc):
            outer.append(inner.caller)
            inner = inner.callee
        elif isinstance(inner, ir.FusedLoc) and inner.locations:
            inner = inner.locations[0]
        else:
            if isinstance(inner, ir.FileLineColLoc):
                frames.append(str(inner).removeprefix("loc(").removesuffix(")"))
            if not outer or len(frames) == LOCATION_FRAMES:
                break
            inner = outer.pop()
    name = location.name_str.replace('"', "'") if isinstance(location, ir.NameLoc) else ""
    places = " at ".join(dict.fromkeys(frames)) or "unknown"
    return f'loc("{name}"({places}))' if name else f"loc({places})"


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


def location_of(op: ir.Operation) -> str:
    """Returns the location of an op as text, or of an op that reads it, if it has no source."""
    text = source_location(op.location)
    users = (use.owner for result in op.results for use in result.uses)
    texts = (text, *(source_location(user.location) for user in islice(users, READERS_ASKED)))
    return next(filter(frames_of_text, texts), text)


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
