"""Statistics from the results that `instrument` added to a program."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from scalify_hlo.commands.stats.encodings import Encoding, Tally, rms
from scalify_hlo.commands.stats.instrument import Instrumented, Place
from scalify_hlo.commands.stats.record import COLUMNS, OctaveCounts, ValueStats
from scalify_hlo.commands.stats.tables import Group
from scalify_hlo.commands.stats.values import Watched
from scalify_hlo.program.tensors import Array

_EXACT = 1e-9
"""log2 of a run-time scale is a whole number if it is this near to one."""


class Readout:
    """Collects the statistics of the values of a program over several runs.

    Args:
        instrumented: The meaning of the results of a run.
        scaled: Whether the program is a rewrite, so that its values have scales.

    Attributes:
        samples: The samples of the last run by their keys. Each turn and device that was
            kept has one: its rows, and the amax of the whole value if it is known.
    """

    def __init__(self, instrumented: Instrumented, *, scaled: bool) -> None:
        self._instrumented, self._scaled = instrumented, scaled
        self._tallies: list[list[Tally]] = [[] for _ in instrumented.values]
        self._slots = [1] * len(instrumented.values)
        self._turns: list[list[int]] = [[] for _ in instrumented.values]
        self._scales: list[list[float | None]] = [[] for _ in instrumented.values]
        self.samples: dict[str, list[tuple[Array, float | None]]] = {}

    def add(self, results: Sequence[Array]) -> None:
        """Adds the results of a run.

        Args:
            results: All results of the program.
        """
        added = self._instrumented.added.read(results)
        found: dict[str, list[Tally]] = {}
        places = self._instrumented.places
        runs = {place: added[place.ran].reshape(-1).tolist() for place in places.values()}
        for place, ran in runs.items():
            for pack in place.packs:
                found.update(_unpacked(pack.groups, added[pack.first : pack.first + 4], ran))
        for number, one in enumerate(self._instrumented.values):
            place = places[one.id]
            found[one.id] = self._tallies_of(one, found, runs[place])
            self._slots[number] = len(runs[place])
            self._tallies[number] += found[one.id]
            self._turns[number] += [n // place.devices for n in runs[place]]
            self._scales[number] += self._scales_of(one, place, added, runs[place])
        self._keep_samples(added)

    def values(self) -> tuple[ValueStats, ...]:
        """Returns the statistics of all values over all runs."""
        return tuple(self._value(i, one) for i, one in enumerate(self._instrumented.values))

    def _tallies_of(
        self, one: Watched, found: dict[str, list[Tally]], runs: Sequence[int]
    ) -> list[Tally]:
        """Returns the statistics of a value in each slot of a run."""
        if one.id in found:
            return found[one.id]
        constant = self._instrumented.constants.get(one.id)
        if constant is not None:
            return [constant.times(n) for n in runs]
        if one.source is None:
            return [_empty(one.encoding) for _ in runs]
        tallies = found[one.source.id]
        if one.kind == "carry":  # the value before the loop, in each turn
            return [tallies[0].times(n) for n in runs]
        return [each.times(one.factor) for each in tallies]

    def _scales_of(
        self, one: Watched, place: Place, added: Sequence[Array], runs: Sequence[int]
    ) -> list[float | None]:
        known = self._instrumented.scales[one.id]
        if known.index is None or place.scales is None:
            exponent = None if known.exponent is None else float(known.exponent)
            return [exponent] * len(runs)
        sums = added[place.scales].reshape(len(runs), -1)[:, known.index]
        return [_mean(total, n) for total, n in zip(sums.tolist(), runs, strict=True)]

    def _keep_samples(self, added: Sequence[Array]) -> None:
        for sample in self._instrumented.samples:
            one = sample.watched
            ran = added[self._instrumented.places[one.id].kept or 0]
            rows = added[sample.number]
            rows = rows.reshape(ran.size, -1, rows.shape[-1])
            amax = (
                None
                if sample.amax is None
                else _amax(added[sample.amax.number], sample.amax.row, one.encoding)
            )
            self.samples[sample.key] = [
                (rows[i], None if amax is None else amax[i]) for i in np.flatnonzero(ran).tolist()
            ]

    def _value(self, number: int, one: Watched) -> ValueStats:
        tallies = self._tallies[number]
        return ValueStats(
            id=one.id,
            kind=one.kind,
            op=one.op,
            name=one.name,
            location=one.location,
            part=one.part,
            role=one.role,
            inside=one.inside,
            dtype=one.dtype,
            shape=one.shape,
            cast=one.cast,
            same_as=None if one.source is None else one.source.id,
            slots=self._slots[number],
            **_columns(tallies, self._turns[number], one.encoding),
            scales=tuple(self._scales[number]) if self._scaled else None,
            histogram=_octaves(tallies, one.encoding),
        )


def _amax(extremes: Array, row: int, encoding: Encoding) -> list[float]:
    """Returns the amax of a value in each turn and on each device that was kept."""
    bits = extremes.reshape(-1, *extremes.shape[-2:])[:, 0, row]
    return [encoding.number(int(each)) for each in bits]


def _empty(encoding: Encoding) -> Tally:
    zeros = tuple(0.0 for _ in encoding.parts)
    return Tally(0, zeros, 0, 0, (0,) * 5, np.zeros(encoding.bins, np.uint64))


def _unpacked(
    groups: Sequence[Group], arrays: Sequence[Array], runs: Sequence[int]
) -> dict[str, list[Tally]]:
    """Returns the statistics of measured values in each slot, from their packed arrays."""
    whole = [a.reshape(-1, *a.shape[-2:]) for a in arrays]
    found: dict[str, list[Tally]] = {}
    first = 0
    for group in groups:
        for i, one in enumerate(group.members, first):
            columns = [*(a[:, :, i] for a in whole[:3]), whole[3][:, i]]
            slots = [[column[slot] for column in columns] for slot in range(len(runs))]
            zeros, pairs = group.added_zeros(one), zip(slots, runs, strict=True)
            found[one.id] = [_tally(one, each, ran, zeros) for each, ran in pairs]
        first += group.rows
    return found


def _tally(one: Watched, columns: Sequence[Array], ran: int, added: tuple[int, int]) -> Tally:
    """Returns the statistics of a value in a slot, without the zeros that were added to it."""
    squares, (amax, least), (zeros, *classes), bins = columns
    ones = (1 << (64 if one.encoding.wide else 32)) - 1
    octaves = bins[: one.encoding.bins].copy()
    octaves[0] -= np.uint64(added[1] * ran)
    return Tally(
        one.size * ran,
        tuple(squares.tolist()),
        int(amax),
        ones - int(least) + 1 if least else 0,
        (int(zeros) - added[0] * ran, *map(int, classes)),
        octaves,
    )


def _columns(tallies: Sequence[Tally], turns: Sequence[int], encoding: Encoding) -> dict[str, Any]:
    """Returns the columns of a value, from its statistics in each record."""
    each = [_entries(one, encoding) for one in tallies]
    return dict(zip(COLUMNS, [tuple(turns), *zip(*each, strict=True)], strict=True))


def _entries(one: Tally, encoding: Encoding) -> tuple[float, ...]:
    zeros, subnormals, saturated, infinities, nans = one.classes
    finite = one.count - infinities - nans
    return (
        one.count,
        rms(one.squares, finite, encoding),
        encoding.number(one.amax),
        encoding.number(one.smallest),
        *(zeros, subnormals, saturated, infinities, nans),
    )


def _octaves(tallies: Sequence[Tally], encoding: Encoding) -> OctaveCounts:
    """Returns the histogram of all records together, without empty octaves at its ends."""
    total = sum((one.bins for one in tallies), np.zeros(encoding.bins, np.uint64))
    octaves = total[1:-1]
    used = np.flatnonzero(octaves)
    low, high = (int(used[0]), int(used[-1]) + 1) if used.size else (0, 0)
    counts = tuple(octaves[low:high].tolist())
    return OctaveCounts(encoding.lowest + low, counts, int(total.sum()))


def _mean(total: float, count: int) -> float | None:
    """Returns the mean log2 of a scale, a whole number if it is near one; None if there is none."""
    if not count or not math.isfinite(total):
        return None
    mean = total / count
    return float(round(mean)) if abs(mean - round(mean)) < _EXACT else mean
