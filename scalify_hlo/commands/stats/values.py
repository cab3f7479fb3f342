"""The float values of a program: which there are, and which have the magnitudes of others."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.casts.encoding import dtype_of, elements_of
from scalify_hlo.commands.stats.encodings import Encoding, Tally, encoding_of, tally
from scalify_hlo.commands.stats.numbering import Identities
from scalify_hlo.dataflow.matmuls import OTHER
from scalify_hlo.dataflow.names import name_of, part_of, shown_name
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import place_of_text
from scalify_hlo.ir.formats import format_of
from scalify_hlo.ir.functions import block_of
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.splats import dense_of
from scalify_hlo.ir.traits import BODIES, BRANCHES, CHOICES, LOOP, ROUNDS, where
from scalify_hlo.ir.value_map import ValueMap

_BROADCAST: Final = "stablehlo.broadcast_in_dim"
_SAME: Final = where("copy", "magnitude", "reshape", "transpose", "reverse")
"""Ops whose result has the magnitudes of the operand with its number."""

_HAS_LINE: Final = re.compile(r":\d+:\d+$")


@dataclass(eq=False, slots=True)
class Watched:
    """A float value of `main`.

    Attributes:
        value: The value; it may be dead as soon as the program was instrumented.
        at: The op of its block before which its statistics can be computed; as the value.
        id: Identifies it; see `ValueStats`, as for others.
        kind: ``argument``, ``result`` or ``carry``.
        encoding: The encoding of its elements.
        op: The name of the op.
        name: Its scopes and its primitive, or the name of the argument.
        location: Its source location.
        inside: The names of the ops with regions around it.
        numbered: Whether the op is one of the original; False for what a rewrite adds.
        part: The part of the program by its name stack: ``forward``, ``backward`` or ``other``.
        role: The role of an argument.
        source: A value before it of which it has the magnitudes; None if it is measured.
        factor: How many copies of the elements of that it has.
        cast: The format to which a rewrite casts it; empty for none.
        dtype: The name of its element type.
        shape: Its sizes.
    """

    value: ir.Value
    at: ir.Operation
    id: str
    kind: str
    encoding: Encoding
    op: str
    name: str
    location: str
    inside: tuple[str, ...]
    numbered: bool
    part: str
    role: str
    source: Watched | None = None
    factor: int = 1
    cast: str = ""
    dtype: str = field(init=False)
    shape: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Keeps the type, as instrumentation may kill the value."""
        self.dtype = str(self.value.type.element_type)
        self.shape = tuple(self.value.type.shape)

    @property
    def size(self) -> int:
        """The number of its elements; both parts of a complex number count."""
        return math.prod(self.shape) * (2 if self.dtype.startswith("complex") else 1)


class _Maker(NamedTuple):
    """The facts that values have from the op that makes them; see `Watched`."""

    op: str
    name: str
    location: str
    inside: tuple[str, ...]
    numbered: bool
    part: str = OTHER


@dataclass
class Scan:
    """Lists the float values of a function in program order.

    Values in the conditions of loops, in reductions and in composites are not listed, as they
    cannot be taken from there.

    Args:
        main: The function, in which all calls were inlined.
        program: The name of the program in locations.
        roles: The roles of arguments by their names.
        arguments: The id of each argument, None for those that are left out; by default they are
            numbered.

    Attributes:
        dynamic: The number of values of dynamic shape, which are left out.
    """

    main: ir.OpView
    program: str
    roles: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str | None] | None = None
    dynamic: int = 0
    _found: list[Watched] = field(default_factory=list)
    _known: ValueMap[Watched] = field(default_factory=ValueMap)
    _identities: Identities = field(default_factory=Identities)

    def values(self) -> list[Watched]:
        """Returns the values."""
        block = self.main.regions[0].blocks[0]
        first = block.operations[0].operation
        names = attributes.argument_names(self.main)
        ids = self.arguments or [f"arg{i}" for i in range(len(names))]
        for id_, name, value in zip(ids, names, block.arguments, strict=True):
            if id_ is not None:
                given = _Maker("", name, "", (), numbered=True)
                self._note(value, first, id_, "argument", given, self.roles.get(name, ""))
        self._block(block, ())
        return self._found

    def _block(self, block: ir.Block, inside: tuple[str, ...]) -> None:
        ops = [op.operation for op in block.operations]
        for op, following in pairwise(ops):
            id_, numbered = self._identities.of(op)
            place = name_and_place(op, self.program)
            part = part_of(name_of(op)) or OTHER
            made = _Maker(op.name, *place, inside, numbered, part)
            for number, result in enumerate(op.results):
                one = self._note(result, following, f"{id_}.{number}", "result", made)
                if one is not None:
                    one.source, one.factor = self._source(op, number, one)
            if op.name in ROUNDS and not numbered:
                self._note_cast(op)
            for inner in bodies_of(op):
                deeper = (*inside, op.name)
                self._arguments(op, inner, id_, made._replace(inside=deeper))
                self._block(inner, deeper)

    def _note_cast(self, op: ir.Operation) -> None:
        """Notes the format of a cast that was added on the value that is cast.

        The cast may saturate: then the value is that before the clamp.
        """
        made, one = self._known.get(op.results[0]), self._known.get(op.operands[0])
        while one is not None and not one.numbered and one.op in CHOICES:
            one = self._known.get(one.value.owner.operands[1])
        if made is not None and one is not None and not made.encoding.format.wide:
            one.cast = made.encoding.format.name

    def _arguments(self, op: ir.Operation, block: ir.Block, id_: str, made: _Maker) -> None:
        """Lists the arguments of the body of an op."""
        first = block.operations[0].operation
        kept = block.operations[-1].operands if op.name == LOOP else ()
        for number, value in enumerate(block.arguments):
            one = self._note(value, first, f"{id_}:{number}", "carry", made)
            if one is not None and number < len(kept) and kept[number] == value:
                outside = self._known.get(op.operands[number])
                # In a loop in a loop, it may differ in each turn.
                if outside is not None and len(made.inside) == 1:
                    one.source = outside

    def _note(
        self, value: ir.Value, at: ir.Operation, id_: str, kind: str, made: _Maker, role: str = ""
    ) -> Watched | None:
        format_ = format_of(value.type)
        encoding = None if format_ is None else encoding_of(format_)
        if encoding is None:
            return None
        if not value.type.has_static_shape:
            self.dynamic += 1
            return None
        found = Watched(value, at, id_, kind, encoding, *made, role)
        self._known[value] = found
        self._found.append(found)
        return found

    def _source(self, op: ir.Operation, number: int, one: Watched) -> tuple[Watched | None, int]:
        """Returns the value of its block that a result has the magnitudes of, and how often."""
        if op.name not in _SAME and op.name != _BROADCAST:
            return None, 1
        operand = op.operands[number]
        source = self._known.get(operand)
        if source is None or source.encoding is not one.encoding:
            return None, 1
        if block_of(operand) != block_of(one.value):
            return None, 1
        if op.name == "stablehlo.abs" and operand.type != one.value.type:  # of complex numbers
            return None, 1
        if op.name == _BROADCAST:
            return (source, one.size // source.size) if source.size else (None, 1)
        return source, 1


def bodies_of(op: ir.Operation) -> Iterator[ir.Block]:
    """Yields the blocks of an op from which values can be taken."""
    if op.name == LOOP:
        yield op.regions[1].blocks[0]
    elif op.name in BRANCHES or op.name in BODIES:
        for region in op.regions:
            yield region.blocks[0]


def name_and_place(op: ir.Operation, program: str) -> tuple[str, str]:
    """Returns the scopes of an op and its source location; each is empty if unknown.

    Args:
        op: The op.
        program: The name of the program in locations.
    """
    place = place_of_text(source_location(op.location), program)
    return shown_name(name_of(op)), place if _HAS_LINE.search(place) else ""


def constant_tally(one: Watched) -> Tally | None:
    """Returns the statistics of a real constant; None for other values."""
    dense = dense_of(one.value)
    if dense is None:
        return None
    if dense.is_splat:
        number = ir.FloatAttr(dense.get_splat_value()).value
        element = np.full(1, number, dtype_of(one.encoding.format.name))
        return tally(element, one.encoding).times(one.size)
    return tally(elements_of(dense), one.encoding)
