"""Source locations in the text of optimized HLO, which has a table of stack frames."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from scalify_hlo.algebra.limits import LOCATION_FRAMES
from scalify_hlo.targets.hlo import Instruction

_FILE: Final = re.compile(r'^(\d+) (".*")$', re.MULTILINE)
_PLACE: Final = re.compile(
    r"^(\d+) \{file_name_id=(\d+)\b.*?\bline=(\d+)\b(?:.*?\bcolumn=(\d+)\b)?", re.MULTILINE
)
_FRAME: Final = re.compile(
    r"^(\d+) \{file_location_id=(\d+)(?: parent_frame_id=(\d+))?\}", re.MULTILINE
)

_ID: Final = re.compile(r"\bstack_frame_id=(\d+)")


def frame_of(instruction: Instruction) -> str:
    """Returns the number of the stack frame of an instruction; empty if it has none."""
    found = _ID.search(instruction.attributes)
    return found[1] if found else ""


def places_of(text: str) -> Mapping[str, str]:
    """Returns the source locations of stack frames, as `ir.locations.source_location` writes them.

    Args:
        text: The text of an `HloModule`.

    Returns:
        For the number of each frame, as text, its location and those of its callers.
    """
    start, end = text.find("\nFileNames\n"), text.find("\nStackFrames\n")
    names, rest = text[start : text.find("\nFunctionNames\n", start)], text[start:]
    if start < 0 or end < 0:
        return {}
    table = rest[: rest.find("\n\n", end - start + 1) + 1]
    files = dict(_FILE.findall(names))
    places = {
        number: ":".join(filter(None, (files.get(file, '""'), line, column)))
        for number, file, line, column in _PLACE.findall(table)
    }
    frames = {number: (place, parent) for number, place, parent in _FRAME.findall(table)}
    # XLA prints the number of the parent plus one, so that the outermost frames name themselves.
    shift = any(number == parent for number, (_, parent) in frames.items())

    def outwards(number: str) -> Iterator[str]:
        for _ in range(LOCATION_FRAMES):
            if number not in frames:
                break
            place, parent = frames[number]
            yield places.get(place, "unknown")
            number = str(int(parent or 0) - shift)

    return {number: f"loc({' at '.join(outwards(number))})" for number in frames}
