"""Makes a program return the statistics of its values, and samples of some of them.

The statistics of a value are scalars as soon as the value is there. Those of the values of one
block are packed into a few arrays, so that loops carry few values and the program gets few results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import (
    MOST_TURNS,
    SAMPLE_TURNS,
    TABLE_ELEMENTS,
    TABLE_SHARE,
)
from scalify_hlo.commands.stats.encodings import Tally
from scalify_hlo.commands.stats.packing import (
    Added,
    concatenated,
    devices_around,
    joined,
    log2_of,
    ops_around,
    u64,
)
from scalify_hlo.commands.stats.tables import Group, Outlined, groups_of
from scalify_hlo.commands.stats.values import Watched, constant_tally
from scalify_hlo.dataflow.turns import turns_of
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import block_of
from scalify_hlo.ir.traits import LOOP
from scalify_hlo.ir.value_map import ValueCache, ValueMap
from scalify_hlo.rules.probes import Probed
from scalify_hlo.transforms.hoist import Joined, Stack

Sampler = Callable[[ir.Value, ir.Operation], ir.Value]
"""Takes a value and an op, and builds a sample of the value before the op."""


@dataclass(eq=False)
class Place:
    """A block with values.

    Attributes:
        devices: The number of devices that run it.
        stacked: Whether each turn of the loops around it has a record of its own.
        ran: The number of the result that says how often it ran.
        kept: The number of the result that says so for each turn of which samples are kept; None
            if there are no samples.
        scales: The number of the result with the run-time scales of its values; None if there are
            none.
        packs: The packed statistics of its values.
    """

    devices: int
    stacked: bool
    ran: int = -1
    kept: int | None = None
    scales: int | None = None
    packs: list[Pack] = field(default_factory=list)


@dataclass(eq=False)
class Pack:
    """Values of one block whose statistics are packed.

    Attributes:
        groups: The values, as the rows of tables.
        first: The number of the first of four results: sums of squares ``[p, n]``, extremes
            ``[2, n]``, classes ``[5, n]`` and histograms ``[n, bins]`` of n rows.
    """

    groups: list[Group]
    first: int


@dataclass(eq=False)
class Instrumented:
    """The meaning of the results that were added to a program.

    Attributes:
        values: The values, in program order.
        added: The results that were added.
        places: The block of each value, by its id.
        scales: The scale of each value, by its id.
        constants: The statistics of constants, by their ids.
        samples: The samples of values.
        remarks: What was not measured.
    """

    values: list[Watched]
    added: Added = field(default_factory=Added)
    places: dict[str, Place] = field(default_factory=dict)
    scales: dict[str, Known] = field(default_factory=dict)
    constants: dict[str, Tally] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class Amax(NamedTuple):
    """The place of the bits of an amax.

    Attributes:
        number: The number of the result with the extremes of a table.
        row: The row of the table.
    """

    number: int
    row: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of a value, of the turns of loops and of the devices that are kept.

    Attributes:
        key: Identifies the sample.
        watched: The value.
        number: The number of the result with the sample.
        amax: The amax of the whole value; None if only that of the sample is known.
    """

    key: str
    watched: Watched
    number: int
    amax: Amax | None


@dataclass(frozen=True, slots=True)
class Known:
    """log2 of the scale of a value.

    Attributes:
        exponent: If it is known while rewriting; None if the value can have any scale.
        index: Its index in the array of its block, if it is computed at run time.
    """

    exponent: int | None = 0
    index: int | None = None


def instrument(
    main: ir.OpView,
    values: Sequence[Watched],
    samplers: Mapping[str, Mapping[str, Sampler]],
    scales: ValueMap[Probed] | None = None,
    *,
    each_turn: bool = False,
) -> Instrumented:
    """Makes a function return statistics of its values.

    Args:
        main: The function, in which all calls were inlined. It is edited in place.
        values: The values.
        samplers: The samples that are wanted, by the ids of values and by keys.
        scales: The scales of values; other values have scale 1.
        each_turn: Whether each turn of a loop has a record of its own.

    Returns:
        What the added results mean.
    """
    done = Instrumented(list(values))
    known = scales if scales is not None else ValueMap[Probed]()
    adding = _Adding(main, done, samplers, known, each_turn=each_turn)
    blocks: ValueMap[list[Watched]] = ValueMap()
    for one in values:
        blocks.setdefault(block_of(one.value), []).append(one)
    for block, members in blocks.items():
        adding.add_block(block, members)
    done.added.finish(main)
    return done


class _Adding:
    """Collects the values that are to be returned.

    Args:
        main: The function.
        done: Takes them.
        samplers: The samples that are wanted, by the ids of values and by keys.
        scales: The scales of values; other values have scale 1.
        each_turn: Whether each turn of a loop has a record of its own.
    """

    def __init__(
        self,
        main: ir.OpView,
        done: Instrumented,
        samplers: Mapping[str, Mapping[str, Sampler]],
        scales: ValueMap[Probed],
        *,
        each_turn: bool,
    ) -> None:
        self._done, self._samplers, self._scales, self._each = done, samplers, scales, each_turn
        self._outlined = Outlined(main)
        self._most = max(TABLE_ELEMENTS, _elements(main) // TABLE_SHARE)

    def add_block(self, block: ir.Block, members: Sequence[Watched]) -> None:
        """Adds the statistics of the values of a block."""
        last = block.operations[-1].operation
        place = Place(devices_around(block), self._stacks(block))
        alone = [m for m in members if m.source is None and m.size]
        constants = {m.id: constant for m in alone if (constant := constant_tally(m)) is not None}
        self._done.constants.update(constants)
        varying = [m for m in alone if m.id not in constants]
        now = {m.id: self._now(m) for m in varying}
        samples = [
            (member, key, sampler(now.get(member.id, member.value), member.at))
            for member in members
            for key, sampler in self._samplers.get(member.id, {}).items()
        ]
        groups = groups_of(varying, self._most)
        measured = [self._outlined.statistics(g, [now[m.id] for m in g.members]) for g in groups]
        for wide in (False, True):
            packed = [i for i, group in enumerate(groups) if group.encoding.wide == wide]
            if packed:
                first = self._pack([measured[i] for i in packed], place, last)
                place.packs.append(Pack([groups[i] for i in packed], first))
        one = emit.integers(emit.scalar_type(u64()), 1, last)
        place.ran = self._add(one, "add", place)
        self._add_scales(place, members, last)
        largest = self._largest(groups, measured, [_origin(member) for member, *_ in samples])
        for member, key, sample in samples:
            amax = largest.get(_origin(member).id)
            self._done.samples.append(Sample(key, member, self._keep(sample), amax))
        if samples:
            place.kept = self._keep(emit.integers(emit.scalar_type(u64()), 1, last))
        self._done.places.update({m.id: place for m in members})

    def _add(self, value: ir.Value, how: Joined, place: Place) -> int:
        return self._done.added.add(value, Stack(how) if place.stacked else how)

    def _keep(self, value: ir.Value) -> int:
        return self._done.added.add(value, Stack("gather", SAMPLE_TURNS))

    def _now(self, one: Watched) -> ir.Value:
        """Returns a value as its users take it, that XLA does not compute anew for each of them."""
        return self._outlined.kept(one.value, one.at) if one.kind == "result" else one.value

    def _largest(
        self, groups: Sequence[Group], measured: Sequence[Sequence[ir.Value]], of: list[Watched]
    ) -> dict[str, Amax]:
        """Keeps the extremes of the groups of some values; returns where the amax of each is."""
        wanted = {one.id for one in of}
        found = {}
        for group, (_, extremes, *_) in zip(groups, measured, strict=True):
            rows = {m.id: i for i, m in enumerate(group.members) if m.id in wanted}
            if rows:
                kept = self._keep(extremes)
                found.update({id_: Amax(kept, i) for id_, i in rows.items()})
        return found

    def _stacks(self, block: ir.Block) -> bool:
        """Whether the turns of the loops around a block have records of their own."""
        loops = [op for op in ops_around(block) if op.name == LOOP]
        if not self._each or not loops:
            return False
        turns = [turns_of(op) for op in loops]
        number = math.prod(t for t in turns if t is not None)
        if None not in turns and number <= MOST_TURNS:
            return True
        reason = "their number is not known" if None in turns else f"there are {number}"
        place = loops[turns.index(None) if None in turns else 0].location
        self._done.remarks.append(f"the turns of a loop at {place} are pooled, as {reason}")
        return False

    def _pack(
        self, measured: Sequence[Sequence[ir.Value]], place: Place, last: ir.Operation
    ) -> int:
        """Packs the statistics of tables of one width; returns the number of the first result."""
        *columns, bins = zip(*measured, strict=True)
        packed = [concatenated(each, 1, last) for each in columns]
        hows: tuple[Joined, ...] = ("add", "maximum", "add", "add")
        pairs = zip([*packed, _histograms(bins, last)], hows, strict=True)
        numbers = [self._add(value, how, place) for value, how in pairs]
        return numbers[0]

    def _add_scales(self, place: Place, members: Sequence[Watched], last: ir.Operation) -> None:
        """Adds log2 of the run-time scales of the values of a block."""
        computed: ValueCache[int] = ValueCache()
        logs: list[ir.Value] = []
        for member in members:
            scale = self._scales.get(member.value, Probed(0))
            if not scale.factors:
                self._done.scales[member.id] = Known(scale.exponent)
                continue
            key = (scale.exponent, *(part for factor in scale.factors for part in factor))
            if key not in computed:
                computed[key] = len(logs)
                logs.append(log2_of(scale, last))
            self._done.scales[member.id] = Known(None, computed[key])
        if logs:
            place.scales = self._add(joined(logs, last), "add", place)


def _origin(one: Watched) -> Watched:
    """Returns the measured value that one has the magnitudes of."""
    while one.source is not None:
        one = one.source
    return one


def _elements(main: ir.OpView) -> int:
    """Returns the number of elements of all arguments of static shape."""
    types = [ir.ShapedType(value.type) for value in main.regions[0].blocks[0].arguments]
    return sum(math.prod(type_.shape) for type_ in types if type_.has_static_shape)


def _histograms(bins: Sequence[ir.Value], last: ir.Operation) -> ir.Value:
    """Returns histograms as rows of one tensor, as long as the longest."""
    most = max(each.type.shape[1] for each in bins)
    rows = [_padded(each, most, last) for each in bins]
    return emit.convert(concatenated(rows, 0, last), u64(), last)


def _padded(value: ir.Value, size: int, last: ir.Operation) -> ir.Value:
    count, length = value.type.shape
    if length == size:
        return value
    rest = ir.RankedTensorType.get([count, size - length], value.type.element_type)
    return concatenated([value, emit.constant(rest, 0, last)], 1, last)
