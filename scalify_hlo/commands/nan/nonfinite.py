"""Makes a program say which of its values are not finite, and in which turn of a loop first.

The flags of the values of a block are one table, which keeps the first turn of each; see `First`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.commands.nan.extents import Extents
from scalify_hlo.commands.stats.measures import parts_of
from scalify_hlo.commands.stats.packing import (
    as_halves,
    concatenated,
    devices_around,
    from_halves,
    joined,
    row_of,
    u64,
)
from scalify_hlo.commands.stats.values import Watched, constant_tally
from scalify_hlo.ir import emit
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.program.tensors import Array
from scalify_hlo.transforms.hoist import First, add_results, block_of, lift

KINDS: Final = ("nan", "infinity")
"""The kinds of elements that are not finite, in the order of `Extents.nonfinite`."""

_RESULT: Final = "flags"


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
        blocks: The values of each block, and the number of devices that run it.
        sources: For each value with the magnitudes of another: the id of that.
        constants: The kinds of elements of each constant.
    """

    blocks: list[tuple[list[str], int]]
    sources: dict[str, str]
    constants: dict[str, Events]

    def read(self, results: Sequence[Array]) -> dict[str, Events]:
        """Returns the events of each value in a run.

        Args:
            results: All results of the program.
        """
        found: dict[str, Events] = dict(self.constants)
        tables = results[len(results) - len(self.blocks) :]
        for (ids, devices), table in zip(self.blocks, tables, strict=True):
            rows = from_halves(table, np.uint64)
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
    flagged = Flagged([], {}, {})
    blocks: ValueMap[list[Watched]] = ValueMap()
    for one in values:
        constant = constant_tally(one)
        if one.source is not None and one.source.id in kept:
            flagged.sources[one.id] = one.source.id
        elif constant is not None:
            flagged.constants[one.id] = _kinds(constant.classes)
        elif one.size:
            blocks.setdefault(block_of(one.value), []).append(one)
    tables = []
    for block, members in blocks.items():
        last = block.operations[-1].operation
        tables.append(_flags([nonfinite(one) for one in members], last))
        flagged.blocks.append(([one.id for one in members], devices_around(block)))
    return_first(main, tables)
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


def return_first(main: ir.OpView, tables: Sequence[ir.Value]) -> None:
    """Makes a function return tables, each with the first turn of each column; see `First`."""
    lifted = lift(main, tables, First())
    last = main.regions[0].blocks[0].operations[-1].operation
    add_results(main, [as_halves(value, last) for value in lifted], [_RESULT] * len(lifted))
