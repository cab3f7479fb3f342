"""The places of the values of a compiled program in memory, and the time in which each is alive.

XLA writes this as text beside the program if it is asked to (`TOLD`): the values of each
allocation with their places, the places in the program at which each is alive, and its readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scalify_hlo.targets.hlo import Shape, shapes_of

_FOLDER: Final = "memory"
_ENDS: Final = tuple(
    f"-{end}.txt" for end in ("buffer-assignment", "live-range", "buffer-assignment-values")
)
_ALLOCATION: Final = re.compile(r"allocation \d+: size (\d+)(?:, (.*?))?:?\s*$")
_VALUE: Final = re.compile(
    r" value: <\d+ ([^\s{]+)(\{[\d,]*\})?( \(phi\))? @\d+> \(size=(\d+),offset=(\d+)\): (.*)$"
)
_ALIVE: Final = re.compile(r"\s+([^\s{:]+\{[\d,]*\}):(\d+)-(\d+)$")
_NAMED: Final = re.compile(r"<\d+ ([^\s{]+)(\{[\d,]*\})?(?: \(phi\))? @\d+>$")
_USE: Final = re.compile(r"  (\S+), operand (\d+)")
_NOT_ASSIGNED: Final = ("thread-local", "constant")
_PARAMETER: Final = re.compile(r"parameter (\d+)")
_RESULT: Final = "maybe-live-out"

TOLD: Final[Mapping[str, bool | str]] = {"xla_dump_to": _FOLDER, "xla_dump_hlo_as_text": True}
"""The options of XLA with which it writes its assignment of memory, into a folder beside it."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value with a place in memory.

    Attributes:
        name: The name of the instruction that makes it.
        index: Its index among the results of the instruction, as in ``{1}``; ``{}`` for the whole.
        joins: Whether it joins several values, as a carry of a loop does.
        size: The bytes.
        offset: The place in its allocation.
        shapes: The arrays that it consists of; several for a table of the parts of a tuple.
        start: The number of the first instruction, in the order of the program, that has it.
        end: The number of the last one.
        uses: The instructions that read it, each with the number of the operand.
    """

    name: str
    index: str
    joins: bool
    size: int
    offset: int
    shapes: tuple[Shape, ...]
    start: int
    end: int
    uses: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Allocation:
    """A piece of memory.

    Attributes:
        size: The bytes.
        parameter: The number of the parameter whose memory it is; None for others.
        is_result: Whether a result of the program is in it.
        values: The values that have it, one after the other or side by side.
    """

    size: int
    parameter: int | None
    is_result: bool
    values: tuple[Value, ...]

    @property
    def in_main_memory(self) -> bool:
        """Whether it is in the main memory of the device, by the layouts of its values."""
        return all(shape.in_main_memory for value in self.values for shape in value.shapes)


def read_buffers(folder: Path) -> tuple[Allocation, ...] | None:
    """Returns the allocations of a program, without those of constants.

    Args:
        folder: The working folder of the process in which XLA compiled it; see `TOLD`.

    Returns:
        The allocations; None if XLA wrote none, as some of its compilers do.
    """
    texts = []
    for end in _ENDS:
        # Parts of a program that are compiled by themselves are smaller than the whole.
        found = sorted((folder / _FOLDER).glob(f"*{end}"), key=lambda path: path.stat().st_size)
        if not found:
            return None
        texts.append(found[-1].read_text("utf-8"))
    placed, alive, uses = (text.splitlines() for text in texts)
    return tuple(_allocations(placed, dict(_alive(alive)), dict(_uses(uses))))


def _alive(lines: Iterable[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yields the name of each value, and the numbers of the instructions between which it lives."""
    for line in lines:
        if found := _ALIVE.match(line):
            yield found[1], (int(found[2]), int(found[3]))


def _uses(lines: Iterable[str]) -> Iterator[tuple[str, tuple[tuple[str, int], ...]]]:
    """Yields the name of each value, and the instructions that read it."""
    name, found = "", list[tuple[str, int]]()
    for line in lines:
        if head := _NAMED.match(line):
            if name:
                yield name, tuple(found)
            name, found = head[1] + (head[2] or "{}"), []
        elif use := _USE.match(line):
            found.append((use[1], int(use[2])))
    if name:
        yield name, tuple(found)


def _allocations(
    lines: Iterable[str],
    alive: Mapping[str, tuple[int, int]],
    uses: Mapping[str, tuple[tuple[str, int], ...]],
) -> Iterator[Allocation]:
    head, values = None, list[Value]()
    for line in lines:
        if value := _VALUE.match(line):
            index = value[2] or "{}"
            if span := alive.get(value[1] + index):
                read = uses.get(value[1] + index, ())
                size, offset = int(value[4]), int(value[5])
                shapes = shapes_of(value[6])
                values.append(
                    Value(value[1], index, bool(value[3]), size, offset, shapes, *span, read)
                )
        elif found := _ALLOCATION.match(line):
            if head is not None:
                yield from _allocation(head, values)
            head, values = found, []
    if head is not None:
        yield from _allocation(head, values)


def _allocation(head: re.Match[str], values: Iterable[Value]) -> Iterator[Allocation]:
    about = head[2] or ""
    if not about.startswith(_NOT_ASSIGNED):
        parameter = _PARAMETER.match(about)
        number = int(parameter[1]) if parameter else None
        yield Allocation(int(head[1]), number, _RESULT in about, tuple(values))
