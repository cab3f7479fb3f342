"""The values that a compiled program has in memory at its peak, with their makers and readers.

A value may change its name and stay where it is: a carry of a loop, or a tensor that is updated in
place. All names of such a value are found together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from scalify_hlo.algebra.search import Search
from scalify_hlo.targets.buffers import Allocation, Value
from scalify_hlo.targets.hlo import Instruction, Module

_UPDATE: Final = "dynamic-update-slice"
_VIEW: Final = "bitcast"
_ELEMENT: Final = "get-tuple-element"
_TUPLE: Final = "tuple"
_BARRIER: Final = "opt-barrier"
_MOVES: Final = frozenset(
    {_VIEW, "bitcast-convert", "broadcast", "convert", "copy", "dynamic-slice"}
    | {"reshape", "slice", "transpose"}
)
_PASSES_ON: Final = frozenset(
    {_ELEMENT, _TUPLE, "async-start", "call", "conditional", _BARRIER, "parameter", "while"}
)
"""The instructions that compute nothing themselves."""

_Slot: TypeAlias = tuple[int, int, int]
"""The number of an allocation, a place in it, and the bytes."""


class Use(NamedTuple):
    """An instruction that reads a value as one of its operands, given by its number."""

    reader: Instruction
    operand: int


@dataclass(frozen=True, slots=True)
class Held:
    """A value that is in memory at the peak.

    Attributes:
        allocation: The memory.
        values: The value under each of its names, in the order of the program.
        bytes: Its size.
    """

    allocation: Allocation
    values: tuple[Value, ...]
    bytes: int


class Peak:
    """The peak of memory of a compiled program.

    Args:
        allocations: Its memory.
        module: Its optimized module.
    """

    def __init__(self, allocations: Sequence[Allocation], module: Module) -> None:
        self._allocations, self._entry = allocations, module.entry
        every = [each for c in module.computations.values() for each in c.instructions]
        self._known = {each.name: each for each in every}
        self._fusions = {id(each.body): each for each in every if each.body is not None}

    def held(self) -> Iterator[Held]:
        """Yields what is in memory: arguments and results, which are there always, and values."""
        slots: dict[_Slot, list[Value]] = defaultdict(list)
        for number, each in enumerate(self._allocations):
            if each.parameter is not None or each.is_result:
                yield Held(each, each.values, each.size)
                continue
            for value in sorted(each.values, key=lambda v: (v.start, v.end)):
                slots[number, value.offset, value.size].append(value)
        time = _fullest(slots)
        for (number, _, size), values in slots.items():
            place = next((i for i, v in enumerate(values) if v.start <= time <= v.end), None)
            if place is not None:
                yield Held(self._allocations[number], tuple(self._names(values, place)), size)

    def _names(self, values: Sequence[Value], place: int) -> Sequence[Value]:
        """Returns the names of the value at a place among those that are at one spot in turn."""
        start = end = place
        while start > 0 and self._goes_on(values[start - 1], values[start]):
            start -= 1
        while end + 1 < len(values) and self._goes_on(values[end], values[end + 1]):
            end += 1
        return values[start : end + 1]

    def _goes_on(self, first: Value, second: Value) -> bool:
        """Whether a value is the one before it, carried by a loop or updated."""
        return second.start <= first.end + 1 and (second.joins or self.updates(second))

    def updates(self, value: Value) -> bool:
        """Whether a value is made by an update of a part of another one."""
        made = (each for each in self.makers(value) if each.body is None and each.opcode != _VIEW)
        first = next(made, None)
        return first is not None and first.opcode == _UPDATE

    def is_carried(self, value: Value) -> bool:
        """Whether a value is one that a loop carries, moved at most."""
        path = list(self.makers(value))
        return bool(path) and path[-1].opcode == "parameter" and path[-1].inside is not self._entry

    def makers(self, value: Value) -> Iterator[Instruction]:
        """Yields the instruction that makes a value, and those that make what it only moves.

        An update of a part moves the part.
        """
        here = self._known.get(value.name)
        index = _index(value.index.strip("{}").partition(",")[0])
        while here is not None:
            yield here
            if here.opcode == _ELEMENT:
                index = _index(here.text("index"))
            here = self._before(here, index)

    def _before(self, made: Instruction, index: int | None) -> Instruction | None:
        """Returns the instruction whose result another one moves; None if it computes."""
        if made.body is not None:
            root = made.body.root
            known = root.opcode == _TUPLE and index is not None and index < len(root.sources)
            return root.sources[index] if known and index is not None else root
        if made.opcode == "parameter":
            fusion = self._fusions.get(id(made.inside))
            return None if fusion is None else self._known.get(fusion.operands[_number(made)])
        place = {_UPDATE: 1, _TUPLE: index, _ELEMENT: 0, _BARRIER: 0}.get(made.opcode)
        place = 0 if made.opcode in _MOVES else place
        return made.sources[place] if place is not None and place < len(made.sources) else None

    def readers(self, held: Held) -> Iterator[tuple[Instruction, Instruction]]:
        """Yields the instructions that compute with a value, and the kernels that they are in."""
        starts = [
            Use(self._known[name], operand)
            for value in held.values
            for name, operand in value.uses
            if name in self._known
        ]
        for reader, operand in Search(starts, self._after).to_end().found:
            opcode = reader.opcode
            computes = reader.body is None and opcode not in _MOVES | _PASSES_ON
            if computes and (opcode != _UPDATE or operand):
                yield reader, self._fusions.get(id(reader.inside), reader)

    def _after(self, use: Use) -> Iterable[Use]:
        """Returns the uses of what an instruction only moves."""
        reader, operand = use
        if reader.body is not None:
            given = reader.body.parameters.get(operand)
            return () if given is None else _users(given)
        fusion = self._fusions.get(id(reader.inside))
        if reader.opcode == _TUPLE:
            return _element_users(fusion if reader.root and fusion is not None else reader, operand)
        if reader.opcode not in _MOVES or operand:
            return ()
        return _users(fusion if reader.root and fusion is not None else reader)


def _users(value: Instruction) -> list[Use]:
    users = value.inside.users[value.name]
    return [Use(user, user.operands.index(value.name)) for user in users]


def _element_users(values: Instruction, index: int) -> Iterator[Use]:
    """Yields the users of one of several values, behind barriers too."""
    for user, _ in _users(values):
        if user.opcode == _BARRIER:
            yield from _element_users(user, index)
        elif user.opcode == _ELEMENT and _index(user.text("index")) == index:
            yield from _users(user)


def _number(parameter: Instruction) -> int:
    return int(parameter.operands[0])


def _index(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _fullest(slots: dict[_Slot, list[Value]]) -> int:
    """Returns the number of the instruction at which most bytes are in use, the first of them."""
    changes: dict[int, list[tuple[_Slot, int]]] = defaultdict(list)
    for slot, values in slots.items():
        for value in values:
            changes[value.start].append((slot, 1))
            changes[value.end + 1].append((slot, -1))
    alive: Counter[_Slot] = Counter()
    total, most, fullest = 0, -1, 0
    for time in sorted(changes):
        for slot, change in changes[time]:
            before = bool(alive[slot])
            alive[slot] += change
            total += slot[2] * (bool(alive[slot]) - before)
        if total > most:
            most, fullest = total, time
    return fullest
