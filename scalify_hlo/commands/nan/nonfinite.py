"""Makes a program say which of its values are not finite, and which ranges their operands have.

The flags of the values of a block are one table, which keeps the first turn of each; see `First`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.commands.stats.encodings import Encoding, encoding_of
from scalify_hlo.commands.stats.measures import ADD, MAXIMUM, BitOps, parts_of
from scalify_hlo.commands.stats.packing import (
    Added,
    concatenated,
    devices_around,
    joined,
    row_of,
    u64,
)
from scalify_hlo.commands.stats.values import Watched, constant_tally
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import format_of, is_complex
from scalify_hlo.ir.functions import block_of
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.program.tensors import Array
from scalify_hlo.transforms.hoist import First


class Extents(BitOps):
    """Emits flags and ranges of real tensors, which are of static shape and not empty."""

    def nonfinite(self, value: ir.Value) -> list[ir.Value]:
        """Returns 1 or 0 as integers of rank 0: if a tensor has NaN, and if it has an infinity."""
        terms = [self._counted(each) for each in self._outside(*self._both(value))]
        return self._whole(terms, [MAXIMUM] * 2)

    def extent(self, value: ir.Value) -> list[ir.Value]:
        """Returns the ends of the range of a tensor, and counts, as integers of rank 0.

        Returns:
            The place of the largest finite element, and that of the smallest as if all signs were
            the other; `Encoding.at_place` returns the number at a place. A place of 0 says that no
            element is finite. Then the numbers of zeros, infinities and NaN.
        """
        raw, bits = self._both(value)
        nan, infinite = self._outside(raw, bits)
        outside, none = self._binary("or", nan, infinite), self._like(bits, 0)
        middle = self._like(bits, self.encoding.magnitude)
        above, below = self._binary("add", middle, bits), self._binary("subtract", middle, bits)
        negative = self._compare(raw, self.encoding.magnitude, "GT")
        zero = stablehlo.select(
            outside, none, self._counted(self._compare(bits, 0, "EQ")), **self._where
        )
        ends = []
        for there, otherwise in ((below, above), (above, below)):
            place = stablehlo.select(negative, there, otherwise, **self._where)
            ends.append(stablehlo.select(outside, none, place, **self._where))
        counts = [zero, self._counted(infinite), self._counted(nan)]
        return self._whole([*ends, *counts], [MAXIMUM] * 2 + [ADD] * 3)

    def _both(self, value: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Returns the bits of the elements, with the sign and without."""
        raw = emit.convert(self._bits(value), self._unsigned, self.at)
        return raw, self._binary("and", raw, self._like(raw, self.encoding.magnitude))

    def _outside(self, raw: ir.Value, bits: ir.Value) -> list[ir.Value]:
        """Returns booleans: the elements that are NaN, and those that are infinite."""
        infinity = self.encoding.infinity
        infinite = self._compare(bits, *((0, "LT") if infinity is None else (infinity, "EQ")))
        return [self._is_nan(raw, bits), infinite]

    def _counted(self, condition: ir.Value) -> ir.Value:
        return emit.convert(condition, self._unsigned, self.at)

    def _whole(self, terms: Sequence[ir.Value], bodies: Sequence[str]) -> list[ir.Value]:
        """Reduces all elements of terms."""
        return self._reduced(terms, bodies, range(terms[0].type.rank))


KINDS: Final = ("nan", "infinity")
"""The kinds of elements that are not finite, in the order of `Extents.nonfinite`."""


@dataclass(frozen=True, slots=True)
class Event:
    """The first time that a value had elements of a kind.

    Attributes:
        turns: The turn of each loop around it, from the outside in, counted from 0.
        device: The number of the device, in a per-device computation.
    """

    turns: tuple[int, ...]
    device: int


Events = Mapping[str, Event]
"""The events of a value by kind; a kind that it never had is left out."""


@dataclass(eq=False)
class Flagged:
    """The meaning of the flags that were added to a program.

    Attributes:
        added: A table for each block.
        blocks: The values of each block, and the number of devices that run it.
        sources: For each value with the magnitudes of another: the id of that.
        constants: The kinds of elements of each constant.
    """

    added: Added
    blocks: list[tuple[list[str], int]]
    sources: dict[str, str]
    constants: dict[str, Events]

    def read(self, results: Sequence[Array]) -> dict[str, Events]:
        """Returns the events of each value in a run.

        Args:
            results: All results of the program.
        """
        found: dict[str, Events] = dict(self.constants)
        tables = self.added.read(results)
        for (ids, devices), rows in zip(self.blocks, tables, strict=True):
            columns = rows.reshape(rows.shape[0], devices, len(KINDS), len(ids))
            for number, id_ in enumerate(ids):
                found[id_] = _events(columns[..., number])
        for id_, source in self.sources.items():
            found[id_] = found.get(source, {})
        return found


def _events(columns: Array) -> Events:
    """The events of a value from its flags ``[rows, devices, kinds]``."""
    found: dict[str, Event] = {}
    for number, kind in enumerate(KINDS):
        events = [
            Event(tuple(int(turn) for turn in columns[:0:-1, device, number]), device)
            for device in np.flatnonzero(columns[0, :, number]).tolist()
        ]
        if events:
            found[kind] = min(events, key=lambda event: (event.turns, event.device))
    return found


def flag_values(main: ir.OpView, values: Sequence[Watched]) -> Flagged:
    """Makes a function return which of its values are not finite.

    Args:
        main: The function, in which all calls were inlined. It is edited in place.
        values: The values.

    Returns:
        The meaning of the results that were added.
    """
    kept = {one.id for one in values}
    flagged = Flagged(Added(), [], {}, {})
    blocks: ValueMap[list[Watched]] = ValueMap()
    for one in values:
        constant = constant_tally(one)
        if one.source is not None and one.source.id in kept:
            flagged.sources[one.id] = one.source.id
        elif constant is not None:
            flagged.constants[one.id] = _kinds(constant.classes)
        elif one.size:
            blocks.setdefault(block_of(one.value), []).append(one)
    for block, members in blocks.items():
        last = block.operations[-1].operation
        flagged.added.add(_flags([nonfinite(one) for one in members], last), First())
        flagged.blocks.append(([one.id for one in members], devices_around(block)))
    flagged.added.finish(main)
    return flagged


def _kinds(classes: Sequence[int]) -> Events:
    infinities, nans = classes[-2:]
    there = {"nan": nans, "infinity": infinities}
    return {kind: Event((), 0) for kind, count in there.items() if count}


def nonfinite(one: Watched) -> list[ir.Value]:
    """Returns 1 or 0 as 64-bit integers: for each kind, if a value has elements of it."""
    measures = Extents(one.encoding, one.at)
    first, *others = [measures.nonfinite(part) for part in parts_of(one.value, one.at)]
    for other in others:
        first = [_either(*pair, one.at) for pair in zip(first, other, strict=True)]
    return [emit.convert(flag, u64(), one.at) for flag in first]


def _either(flag: ir.Value, other: ir.Value, at: ir.Operation) -> ir.Value:
    where = emit.before(at)
    return emit.elementwise("stablehlo.or", flag, other, **where)


def _flags(flags: Sequence[Sequence[ir.Value]], last: ir.Operation) -> ir.Value:
    """A table with one row: the flags of several values, those of one kind after another."""
    kinds = [joined(each, last) for each in zip(*flags, strict=True)]
    return row_of(concatenated(kinds, 0, last), last)


_EXTENT: Final = 5
"""The number of results of `Extents.extent`."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The range of a value at one time; of a complex value, that of both parts together.

    Attributes:
        smallest: The smallest finite element; None if there is none.
        largest: The largest finite element; None if there is none.
        zeros: The number of zeros.
        infinities: The number of ±inf.
        nans: The number of NaN.
    """

    smallest: float | None
    largest: float | None
    zeros: int
    infinities: int
    nans: int


@dataclass(eq=False)
class Ranged:
    """The meaning of the ranges that were added to a program.

    Attributes:
        added: A table for each asked value.
        columns: For each asked value, the encodings of the tensors whose ranges are returned, with
            the number of parts of each; None for other tensors.
        devices: For each asked value, the number of devices that compute it.
    """

    added: Added
    columns: list[list[tuple[Encoding, int] | None]]
    devices: list[int]

    def read(self, results: Sequence[Array], number: int, device: int) -> list[Extent | None]:
        """Returns the ranges of the tensors around a value.

        Args:
            results: All results of the program.
            number: The number of the value.
            device: The device.

        Returns:
            The ranges; None for tensors that were not measured, and for all if the value had no
            element of its kind in this run.
        """
        rows = self.added.read(results)[number]
        table = rows.reshape(rows.shape[0], self.devices[number], -1)[:, device]
        found: list[Extent | None] = []
        at = 0
        for column in self.columns[number]:
            if column is None or not table[0, 0]:
                found.append(None)
                continue
            encoding, parts = column
            found.append(_extent(table[1 : 1 + _EXTENT, at : at + parts], encoding))
            at += parts
        return found


def _extent(columns: Array, encoding: Encoding) -> Extent:
    largest, mirrored, zeros, infinities, nans = columns.tolist()
    if not max(largest):
        smallest_number = largest_number = None
    else:
        largest_number = encoding.at_place(max(largest))
        smallest_number = -encoding.at_place(max(mirrored)) + 0.0
    return Extent(smallest_number, largest_number, sum(zeros), sum(infinities), sum(nans))


def measure_ranges(
    main: ir.OpView, asked: Sequence[tuple[Watched, str, Sequence[ir.Value]]]
) -> Ranged:
    """Makes a function return ranges of tensors at the first time that a value is not finite.

    Args:
        main: The function, in which all calls were inlined. It is edited in place.
        asked: Values, each with the kind of its elements and with the tensors, which are known
            where the value is.

    Returns:
        The meaning of the results that were added.
    """
    ranged = Ranged(Added(), [], [])
    for one, kind, tensors in asked:
        ranged.devices.append(devices_around(block_of(one.value)))
        encoded = [(value, _encoding(value)) for value in tensors]
        ranged.columns.append(
            [None if e is None else (e, 1 + is_complex(v.type)) for v, e in encoded]
        )
        known = [(value, encoding) for value, encoding in encoded if encoding is not None]
        ranged.added.add(_ranges(one, kind, known), First())
    ranged.added.finish(main)
    return ranged


def _encoding(value: ir.Value) -> Encoding | None:
    """Returns the encoding of a float tensor of static shape with elements; None for others."""
    format_ = format_of(value.type)
    if format_ is None or not value.type.has_static_shape or 0 in value.type.shape:
        return None
    return encoding_of(format_)


def _ranges(one: Watched, kind: str, tensors: Sequence[tuple[ir.Value, Encoding]]) -> ir.Value:
    """A table with the ranges of tensors below a row that says whether a value is not finite."""
    at = one.at
    columns = [
        [emit.convert(number, u64(), at) for number in Extents(encoding, at).extent(part)]
        for value, encoding in tensors
        for part in parts_of(value, at)
    ]
    keys = [nonfinite(one)[KINDS.index(kind)]] * len(columns)
    rows = [keys, *zip(*columns, strict=True)]
    return concatenated([row_of(joined(row, at), at) for row in rows], 0, at)
