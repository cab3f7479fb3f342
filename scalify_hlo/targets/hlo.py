"""A reader of optimized HLO text, which has facts that jaxlib's bindings of HLO do not give.

XLA prints an instruction on a line: ``%name = shape opcode(operands), attributes``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

_COMMENT: Final = re.compile(r"/\*.*?\*/")
_HEADER: Final = re.compile(r"(ENTRY )?%?([\w.\-]+) \(.*\{\s*$")
_LINE: Final = re.compile(r"\s+(ROOT )?%?([\w.\-]+) = (.*)$")
_NAME: Final = re.compile(r"%([\w.\-]+)")
_ARRAY: Final = re.compile(r"([a-z]\w*)\[([^\]]*)\](?:\{([^{}]*)\})?")
_SPACE: Final = re.compile(r"S\((\d+)\)")
_BITS: Final = re.compile(r"\d+")
_BITS_OF: Final[Mapping[str, int]] = {"pred": 8, "token": 0, "opaque": 0}


@dataclass(frozen=True, slots=True)
class Shape:
    """An array type.

    Attributes:
        element: The element type, as HLO spells it, such as ``bf16``.
        dims: The extents.
        layout: The layout as text.
    """

    element: str
    dims: tuple[int, ...]
    layout: str

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.dims)

    @property
    def adjacent(self) -> int:
        """The extent of the dimension that is contiguous in memory, of those larger than 1."""
        order = re.findall(r"\d+", self.layout.partition(":")[0])
        extents = (self.dims[int(dim)] for dim in order if int(dim) < len(self.dims))
        return next((extent for extent in extents if extent > 1), 1)

    @property
    def bits(self) -> int:
        """The number of bits of an element."""
        if self.element in _BITS_OF:
            return _BITS_OF[self.element]
        found = _BITS.search(self.element)
        return int(found[0]) if found else 8

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return self.size * self.bits // 8

    @property
    def in_main_memory(self) -> bool:
        """Whether the array is in the main memory of its device, and not in one on the chip."""
        found = _SPACE.search(self.layout)
        return found is None or int(found[1]) == 0


@dataclass(frozen=True, eq=False)
class Instruction:
    """An instruction of HLO.

    Attributes:
        inside: Its computation.
        name: The name, which is unique in its computation.
        opcode: The opcode, as HLO spells it, such as ``custom-call``.
        shapes: The arrays of the result; several if it is a tuple.
        operands: The names of the operands; the number of a parameter, or the value of a constant.
        attributes: All that follows the operands.
        root: Whether it is the result of its computation.
    """

    inside: Computation
    name: str
    opcode: str
    shapes: tuple[Shape, ...]
    operands: tuple[str, ...]
    attributes: str
    root: bool

    @property
    def sources(self) -> list[Instruction]:
        """The instructions that compute its operands."""
        known = self.inside.by_name
        return [known[name] for name in self.operands if name in known]

    @property
    def body(self) -> Computation | None:
        """The computation of a fusion; None for other instructions."""
        return self.called("calls") if self.opcode == "fusion" else None

    def called(self, key: str) -> Computation | None:
        """Returns the computation that an attribute names; None without one."""
        return self.inside.computations.get(self.text(key))

    def text(self, key: str) -> str:
        """Returns the value of an attribute that is one word or one name; empty without one."""
        found = re.search(rf"(?:, |^){key}=%?([\w.\-]+)", self.attributes)
        return found[1] if found else ""

    def quoted(self, key: str) -> str:
        """Returns the value of an attribute that is a string; empty without one."""
        found = re.search(rf'\b{key}="((?:[^"\\]|\\.)*)"', self.attributes)
        return found[1] if found else ""

    def braced(self, key: str) -> str:
        """Returns the text in the braces of an attribute; empty without one."""
        found = re.search(rf"(?:, |^){key}={{([^{{}}]*)}}", self.attributes)
        return found[1] if found else ""

    def listed(self, key: str) -> tuple[int, ...]:
        """Returns an attribute that lists numbers, also one of a backend's configuration."""
        text = self.braced(key)
        if not text and (found := re.search(rf'"{key}":\[([^\]]*)\]', self.attributes)):
            text = found[1]
        return tuple(map(int, re.findall(r"\d+", text)))


@dataclass(frozen=True, eq=False)
class Computation:
    """A computation of HLO.

    Attributes:
        computations: All computations of the module, by name.
        instructions: The instructions in the order in which XLA runs them.
    """

    computations: Mapping[str, Computation]
    instructions: list[Instruction] = field(default_factory=list)

    @cached_property
    def by_name(self) -> Mapping[str, Instruction]:
        """The instructions by name."""
        return {each.name: each for each in self.instructions}

    @cached_property
    def root(self) -> Instruction:
        """The instruction whose result is that of the computation."""
        return next((i for i in self.instructions if i.root), self.instructions[-1])

    @cached_property
    def parameters(self) -> Mapping[int, Instruction]:
        """The parameters by number."""
        found = (i for i in self.instructions if i.opcode == "parameter")
        return {int(each.operands[0]): each for each in found}

    @cached_property
    def users(self) -> Mapping[str, tuple[Instruction, ...]]:
        """The users of each instruction."""
        found: dict[str, list[Instruction]] = {each.name: [] for each in self.instructions}
        for each in self.instructions:
            for operand in dict.fromkeys(each.sources):
                found[operand.name].append(each)
        return {name: tuple(users) for name, users in found.items()}


@dataclass(frozen=True)
class Module:
    """A module of HLO.

    Attributes:
        entry: The computation that is run.
        computations: All computations by name.
    """

    entry: Computation
    computations: Mapping[str, Computation]


def read_hlo(text: str) -> Module:
    """Reads a module from the text that XLA prints.

    Args:
        text: The text of an `HloModule`.

    Raises:
        ValueError: The text has no entry computation.
    """
    computations: dict[str, Computation] = {}
    entry = ""
    for is_entry, name, lines in _blocks(text):
        made = computations[name] = Computation(computations)
        made.instructions.extend(_instructions(lines, made))
        entry = name if is_entry else entry
    if entry not in computations:
        raise ValueError("the HLO has no entry computation")
    return Module(computations[entry], computations)


def _blocks(text: str) -> Iterator[tuple[bool, str, list[str]]]:
    """Yields whether a computation is the entry, its name, and its lines."""
    header: re.Match[str] | None = None
    lines: list[str] = []
    for line in text.splitlines():
        if header is None:
            header, lines = _HEADER.match(line), []
        elif line.startswith("}"):
            yield bool(header[1]), header[2], lines
            header = None
        else:
            lines.append(line)


def _instructions(lines: list[str], inside: Computation) -> Iterator[Instruction]:
    for line in lines:
        if found := _LINE.match(line):
            yield _instruction(inside, found[2], _COMMENT.sub("", found[3]), root=bool(found[1]))


def _instruction(inside: Computation, name: str, text: str, *, root: bool) -> Instruction:
    end = _closed(text) if text.startswith("(") else text.index(" ")
    opcode, _, rest = text[end:].strip().partition("(")
    close = _closed("(" + rest) - 1
    given = rest[: close - 1]
    names = tuple(_NAME.findall(given)) or (given.strip(),)
    attributes = rest[close:].removeprefix(", ")
    return Instruction(inside, name, opcode, shapes_of(text[:end]), names, attributes, root)


def _closed(text: str) -> int:
    """Returns the place after the parenthesis that closes the first one."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return place + 1
    return len(text)


def shapes_of(text: str) -> tuple[Shape, ...]:
    """Returns the arrays of a shape, in order; those of a tuple one after the other."""
    return tuple(
        Shape(element, tuple(int(d.lstrip("<=")) for d in dims.split(",") if d), layout)
        for element, dims, layout in _ARRAY.findall(text)
    )
