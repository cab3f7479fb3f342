"""Makes a program return samples of its values, with their scales.

The samples of the values of a block are one vector for each width of numbers, so that loops carry
few values. Some turns of each loop and all devices are kept; see `Stack`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import SAMPLE_TURNS, VALUE_ELEMENTS
from scalify_hlo.commands.stats.measures import parts_of, sampled
from scalify_hlo.commands.stats.packing import (
    as_halves,
    concatenated,
    from_halves,
    joined,
    log2_of,
    u64,
)
from scalify_hlo.commands.stats.values import Watched
from scalify_hlo.ir import emit
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.program.tensors import Array
from scalify_hlo.rules.probes import Probed
from scalify_hlo.transforms.hoist import Stack, add_results, block_of, lift

_RESULT: Final = "samples"


@dataclass(eq=False)
class _Group:
    """Values of one block whose samples are one vector.

    Attributes:
        members: The values, with the number of elements of the sample of each.
        wide: Whether the numbers are f64.
        number: The number of the result.
    """

    members: list[tuple[Watched, int]]
    wide: bool
    number: int


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of a value, times its scale.

    Attributes:
        rows: A row of f64 for each turn and device that was kept and ran.
        slots: The number of each row among those that are kept, in row-major order: the slots of
            the loops around the value, from the outside in, and then the devices.
    """

    rows: Array
    slots: tuple[int, ...]


@dataclass(eq=False)
class Sampled:
    """The meaning of the samples that were added to a program.

    Attributes:
        ran: For each block, the number of the result that says for each kept turn that it ran.
        groups: For each block, its groups of values.
        scales: For each block with scales, the number of the result with log2 of them, and the
            values that have them in order.
        count: The number of results that were added.
    """

    ran: list[int] = field(default_factory=list)
    groups: list[list[_Group]] = field(default_factory=list)
    scales: list[tuple[int, list[str]] | None] = field(default_factory=list)
    count: int = 0

    def read(self, results: Sequence[Array]) -> dict[str, Samples]:
        """Returns the samples of each value, times its scale.

        Args:
            results: All results of the program.
        """
        added = results[len(results) - self.count :]
        found: dict[str, Samples] = {}
        for ran, groups, scales in zip(self.ran, self.groups, self.scales, strict=True):
            kept = from_halves(added[ran], np.uint64).reshape(-1) != 0
            logs = _logs(added, scales, kept)
            for group in groups:
                rows = added[group.number]
                rows = from_halves(rows, np.float64) if group.wide else rows
                parts = _split(group, rows.reshape(kept.size, -1)[kept], logs)
                slots = np.flatnonzero(kept).tolist()
                found |= {id_: Samples(part, tuple(slots)) for id_, part in parts.items()}
        return found


def _logs(
    added: Sequence[Array], scales: tuple[int, list[str]] | None, kept: Array
) -> dict[str, Array]:
    """log2 of the scales of values in each kept turn."""
    if scales is None:
        return {}
    number, ids = scales
    rows = from_halves(added[number], np.float64).reshape(kept.size, -1)[kept]
    return {id_: rows[:, i] for i, id_ in enumerate(ids)}


def _split(group: _Group, rows: Array, logs: dict[str, Array]) -> dict[str, Array]:
    found: dict[str, Array] = {}
    at = 0
    for one, size in group.members:
        values = rows[:, at : at + size].astype(np.float64)
        at += size
        if one.id in logs:
            with np.errstate(over="ignore", invalid="ignore"):
                values = values * np.exp2(logs[one.id])[:, None]
        found[one.id] = values
    return found


def sample_values(
    main: ir.OpView, values: Sequence[Watched], scales: ValueMap[Probed] | None = None
) -> Sampled:
    """Makes a function return samples of its values.

    Args:
        main: The function, in which all calls were inlined. It is edited in place.
        values: The values.
        scales: The scales of values; other values have scale 1.

    Returns:
        The meaning of the results that were added.
    """
    blocks: ValueMap[list[Watched]] = ValueMap()
    for one in values:
        if one.size:
            blocks.setdefault(block_of(one.value), []).append(one)
    done = Sampled()
    added: list[ir.Value] = []
    for block, members in blocks.items():
        last = block.operations[-1].operation
        done.ran.append(len(added))
        added.append(emit.integers(emit.scalar_type(u64()), 1, last))
        done.groups.append([])
        for wide in (False, True):
            group = [one for one in members if one.encoding.wide == wide]
            if group:
                vectors = [_vector(one, wide) for one in group]
                sizes = [int(vector.type.shape[0]) for vector in vectors]
                pairs = list(zip(group, sizes, strict=True))
                done.groups[-1].append(_Group(pairs, wide, len(added)))
                added.append(concatenated(vectors, 0, last))
        ids, logs = _scales(members, scales, last)
        done.scales.append((len(added), ids) if ids else None)
        added += [joined(logs, last)] if ids else []
    _return(main, added)
    done.count = len(added)
    return done


def _vector(one: Watched, wide: bool) -> ir.Value:
    """The sample of a value as floats of rank 1; of complex numbers, of both parts in turn."""
    element = ir.F64Type.get() if wide else ir.F32Type.get()
    parts = [sampled(part, VALUE_ELEMENTS, one.at) for part in parts_of(one.value, one.at)]
    return concatenated([emit.convert(part, element, one.at) for part in parts], 0, one.at)


def _scales(
    members: Sequence[Watched], scales: ValueMap[Probed] | None, last: ir.Operation
) -> tuple[list[str], list[ir.Value]]:
    """The values of a block that have a scale, and log2 of each scale."""
    ids: list[str] = []
    logs: list[ir.Value] = []
    for one in members:
        scale = scales.get(one.value) if scales is not None else None
        if scale is not None and scale.exponent is not None:
            ids.append(one.id)
            logs.append(log2_of(scale, last))
    return ids, logs


def _return(main: ir.OpView, added: Sequence[ir.Value]) -> None:
    """Makes a function return values, of several turns and of all devices."""
    lifted = lift(main, added, Stack("gather", SAMPLE_TURNS))
    last = main.regions[0].blocks[0].operations[-1].operation
    add_results(main, [as_halves(value, last) for value in lifted], [_RESULT] * len(lifted))
