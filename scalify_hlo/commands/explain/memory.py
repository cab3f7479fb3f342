"""The memory that a compiled step holds at its peak: state, residuals, and all else by name.

A residual is a value that the forward pass computes and the backward pass reads. The name stacks of
jax tell the passes of ops, and matmuls have theirs in the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.names import BACKWARD, FORWARD, pass_of, shown_name
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.matmul_names import number_in
from scalify_hlo.errors import InputError, name_of_text, place_of_text
from scalify_hlo.ir.functions import entry
from scalify_hlo.report.matmuls import Location, MatmulReport
from scalify_hlo.report.model import Report
from scalify_hlo.results.kinds import Count, Part, Several, named, one_of
from scalify_hlo.results.model import keys
from scalify_hlo.targets import peak
from scalify_hlo.targets.buffers import Allocation
from scalify_hlo.targets.compiling import Compiled
from scalify_hlo.targets.description import Target
from scalify_hlo.targets.hlo import Instruction, read_hlo
from scalify_hlo.targets.places import frame_of, places_of
from scalify_hlo.targets.products import is_workspace

KINDS: Final = {
    "state": "weights, moments, and other arguments whose memory a result takes",
    "argument": "other arguments",
    "result": "results in memory of their own",
    "residual": "values of the forward pass that the backward pass reads",
    "gradient": "values of the backward pass that neither pass reads, as the optimizer does",
    "temporary": "other values",
    "workspace": "memory of libraries",
    "unused": "memory between values, which only other moments need",
}
"""The kinds of what is in memory."""
_OTHER: Final = "other"
_CARRY: Final = "carry of a loop"
_TUPLE: Final = "tuple"
_STATE: Final = ("weight", "first_moment", "second_moment")


class Reader(NamedTuple):
    """An op that reads a value.

    Attributes:
        name: Its name, without what jax adds to it.
        location: Its source location.
        part: The pass in which it runs.
    """

    name: str
    location: Location
    part: Part


@keys("name kind element dims layers bytes location part readers")
@dataclass(frozen=True, slots=True)
class Buffer:
    """A value that is in memory at the peak.

    Attributes:
        name: The name of the argument, or of the op that computes it, without what jax adds to it.
        kind: What it is, one of `KINDS`.
        element: The element type, as XLA spells it.
        dims: The extents.
        layers: The number of layers of which a loop stacked values; None for a single value.
        bytes: Its bytes on each device.
        location: The source location of the op.
        part: The pass in which it is computed.
        readers: The ops that read it; of a residual those of the backward pass, and none of an
            argument.
    """

    name: str
    kind: Annotated[str, one_of(KINDS)]
    element: str
    dims: tuple[int, ...]
    layers: Several | None
    bytes: Count
    location: Location
    part: Part
    readers: tuple[Reader, ...]

    @property
    def type(self) -> str:
        """The element type and the extents, as in ``bf16[8,128]``."""
        return f"{self.element}[{','.join(map(str, self.dims))}]" if self.element else ""


_OF_BUFFER: Final = "name=buffer.name kind=buffer.kind type=buffer.type"
HELD_COLUMNS: Final = f"{_OF_BUFFER} number MiB=bytes:MiB at=place read_by=reader"
"""The columns of a table of what is in memory."""


class Held(NamedTuple):
    """Values of one kind, one type and one name that are in memory, as those of several layers.

    Attributes:
        buffer: The first of them.
        number: Their number.
    """

    buffer: Buffer
    number: int

    @property
    def bytes(self) -> int:
        """All their bytes."""
        return self.number * self.buffer.bytes

    @property
    def place(self) -> str:
        """The source location of the op that computes them."""
        return _short(self.buffer.location)

    @property
    def reader(self) -> str:
        """The first op that reads them, and its source location."""
        readers = self.buffer.readers
        if not readers:
            return ""
        more = f" (and {len(readers) - 1} more)" if len(readers) > 1 else ""
        return " ".join(filter(None, (readers[0].name, _short(readers[0].location)))) + more


@keys("bytes kinds buffers")
@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that a program holds at its peak on each device.

    Attributes:
        buffers: What is in it, the largest first.
    """

    buffers: tuple[Buffer, ...]

    @property
    def bytes(self) -> Count:
        """All bytes."""
        return sum(each.bytes for each in self.buffers)

    @property
    def kinds(self) -> Annotated[dict[str, Count], named(KINDS)]:
        """The bytes of each kind."""
        return {k: sum(each.bytes for each in self.buffers if each.kind == k) for k in KINDS}

    @property
    def grouped(self) -> list[Held]:
        """Its rows, the largest first: values of one op in several layers are one row."""
        groups: dict[tuple[object, ...], list[Buffer]] = {}
        for each in self.buffers:
            key = (each.kind, each.name, each.type, each.bytes, each.location)
            groups.setdefault(key, []).append(each)
        rows = [Held(some[0], len(some)) for some in groups.values()]
        return sorted(rows, key=lambda row: -row.bytes)


def _short(location: str) -> str:
    """Returns the name of the file of a source location, and its line."""
    return place_of_text(location, "").rpartition("/")[2]


def memory_of(
    compiled: Compiled, module: ir.Module, report: Report, target: Target, name: str
) -> Memory:
    """Returns what a program holds at its peak.

    Args:
        compiled: The compiled program, with its buffers.
        module: The program that was compiled.
        report: The report with the roles of its arguments, and its matmuls.
        target: The device.
        name: The name of the program in diagnostics.

    Raises:
        InputError: The compiler does not say where it places values.
    """
    if compiled.buffers is None:
        raise InputError(
            f"XLA's compiler for {target.name} does not say where it places values in memory",
            location=name,
            hint="leave out --memory (memory=), or give another --target",
        )
    with module.context:
        names = attributes.argument_names(entry(module.operation))
    # The second memory space of a TPU is on the chip, and that of a GPU is for collectives.
    on_chip = target.platform == "tpu"
    placed = [each for each in compiled.buffers if each.in_main_memory or not on_chip]
    found = _Names(compiled, placed, names, report).buffers()
    buffers = sorted(found, key=lambda each: -each.bytes)
    unused = compiled.peak - sum(each.bytes for each in buffers)
    if unused > 0:
        buffers.append(Buffer("", "unused", "", (), None, unused, "", _OTHER, ()))
    return Memory(tuple(buffers))


class _Names:
    """Finds the names, the passes and the source locations of what is in memory.

    Args:
        compiled: The compiled program.
        placed: Its memory.
        arguments: The names of its arguments.
        report: The report of its rewrite.
    """

    def __init__(
        self,
        compiled: Compiled,
        placed: Sequence[Allocation],
        arguments: Sequence[str],
        report: Report,
    ) -> None:
        self._peak = peak.Peak(placed, read_hlo(compiled.hlo))
        self._places = places_of(compiled.hlo)
        self._arguments, self._roles = arguments, report.roles
        self._matmuls: Mapping[int, MatmulReport] = {m.number: m for m in report.matmuls}

    def buffers(self) -> Iterator[Buffer]:
        """Yields what is in memory, in no order."""
        for each in self._peak.held():
            if each.allocation.parameter is not None:
                yield self._argument(each, each.allocation.parameter)
            elif each.values:
                yield self._value(each)

    def _argument(self, held: peak.Held, number: int) -> Buffer:
        known = number < len(self._arguments)
        name = self._arguments[number] if known else f"parameter {number}"
        is_state = held.allocation.is_result or self._roles.get(name) in _STATE
        element, dims = _type(held)
        kind = "state" if is_state else "argument"
        return Buffer(name, kind, element, dims, None, held.bytes, "", _OTHER, ())

    def _value(self, held: peak.Held) -> Buffer:
        updated = [value for value in held.values if self._peak.updates(value)]
        value = (updated or [v for v in held.values if not v.joins] or held.values)[0]
        makers = list(self._peak.makers(value))
        made = self._op(makers)
        readers = dict.fromkeys(self._op([kernel, op]) for op, kernel in self._peak.readers(held))
        kind, asking = _kind(held, made.part, readers)
        if is_workspace(makers[0], value.index) if makers else False:
            kind = "workspace"
        element, dims = _type(held)
        layers = dims[0] if updated and dims and dims[0] > 1 else None
        name = _CARRY if self._peak.is_carried(value) else made.name
        name = _TUPLE if len(value.shapes) != 1 else name
        return Buffer(
            name, kind, element, dims, layers, held.bytes, made.location, made.part, asking
        )

    def _op(self, path: Sequence[Instruction]) -> Reader:
        """Returns what is known of the last instruction that has a name.

        It runs in the backward pass if any of them does: a kernel of the backward pass may compute
        values of the forward pass again.
        """
        stacks = [self._stack(each) for each in path]
        named = [i for i, (stack, _, _) in enumerate(stacks) if stack]
        if not named:
            return Reader("", "", _OTHER)
        last = path[named[-1]]
        _, name, part = stacks[named[-1]]
        place = self._place(last)
        parts = {stacks[i][2] for i in named}
        return Reader(name or last.opcode, place, BACKWARD if BACKWARD in parts else part)

    def _stack(self, instruction: Instruction) -> tuple[str, str, Any]:
        """Returns the name stack of an instruction, its name and its pass."""
        # XLA joins the names of ops that it merges, and escapes quotes.
        stack = instruction.quoted("op_name").partition(";")[0].replace("\\'", "'")
        number = number_in(stack)
        matmul = None if number is None else self._matmuls.get(number)
        if matmul is None:
            return stack, shown_name(stack), pass_of(stack) or _OTHER
        parts = pass_of(stack), pass_of(name_of_text(matmul.location))
        return stack, matmul.name, BACKWARD if BACKWARD in parts else matmul.part

    def _place(self, instruction: Instruction) -> str:
        number = number_in(instruction.quoted("op_name"))
        if number is not None and number in self._matmuls:
            return self._matmuls[number].location
        return self._places.get(frame_of(instruction), "")


def _kind(held: peak.Held, part: str, readers: Iterable[Reader]) -> tuple[str, tuple[Reader, ...]]:
    """Returns the kind of a value, and the readers that ask for it."""
    every = tuple(readers)
    if held.allocation.is_result:
        return "result", every
    backward = tuple(each for each in every if each.part == BACKWARD)
    if part == FORWARD and backward:
        return "residual", backward
    outside = tuple(each for each in every if each.name and each.part == _OTHER)
    return ("gradient", outside) if part == BACKWARD and outside else ("temporary", every)


def _type(held: peak.Held) -> tuple[str, tuple[int, ...]]:
    """Returns the element type and the extents of the arrays of a value, if all have the same."""
    shapes = {value.shapes for value in held.values}
    (found,) = shapes if len(shapes) == 1 else [()]
    return (found[0].element, found[0].dims) if len(found) == 1 else ("", ())
