"""Ranges of the operands of an op, at the first time that its result is not finite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.commands.nan.extents import Extents
from scalify_hlo.commands.nan.nonfinite import KINDS, nonfinite, return_first
from scalify_hlo.commands.stats.encodings import Encoding, encoding_of
from scalify_hlo.commands.stats.measures import parts_of
from scalify_hlo.commands.stats.packing import (
    concatenated,
    devices_around,
    from_halves,
    joined,
    row_of,
    u64,
)
from scalify_hlo.commands.stats.values import Watched
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import format_of, is_complex
from scalify_hlo.program.tensors import Array
from scalify_hlo.transforms.hoist import block_of

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
        columns: For each asked value, the encodings of the tensors whose ranges are returned, with
            the number of parts of each.
        devices: For each asked value, the number of devices that compute it.
    """

    columns: list[list[tuple[Encoding, int]]]
    devices: list[int]

    def read(self, results: Sequence[Array], number: int, device: int) -> list[Extent] | None:
        """Returns the ranges of the tensors around a value.

        Args:
            results: All results of the program.
            number: The number of the value.
            device: The device.

        Returns:
            The ranges; None if the value had no element of its kind in this run.
        """
        rows = from_halves(results[len(results) - len(self.columns) + number], np.uint64)
        table = rows.reshape(rows.shape[0], self.devices[number], -1)[:, device]
        if not table[0, 0]:
            return None
        found, at = [], 0
        for encoding, parts in self.columns[number]:
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
        asked: Values, each with the kind of its elements and with the tensors: floats of static
            shape that are known where the value is.

    Returns:
        The meaning of the results that were added.
    """
    ranged = Ranged([], [])
    tables = []
    for one, kind, tensors in asked:
        ranged.devices.append(devices_around(block_of(one.value)))
        ranged.columns.append([(_encoding(v), 1 + is_complex(v.type)) for v in tensors])
        tables.append(_ranges(one, kind, tensors))
    return_first(main, tables)
    return ranged


def measurable(value: ir.Value) -> bool:
    """Whether a value is a float tensor of static shape with at least one element."""
    format_ = format_of(value.type)
    if format_ is None or encoding_of(format_) is None or not value.type.has_static_shape:
        return False
    return 0 not in value.type.shape


def _encoding(value: ir.Value) -> Encoding:
    format_ = format_of(value.type)
    encoding = None if format_ is None else encoding_of(format_)
    if encoding is None:
        raise TypeError(f"{value.type} is no tensor of floats")
    return encoding


def _ranges(one: Watched, kind: str, tensors: Sequence[ir.Value]) -> ir.Value:
    """A table with the ranges of tensors below a row that says whether a value is not finite."""
    at = one.at
    columns = [
        [emit.convert(number, u64(), at) for number in Extents(_encoding(value), at).extent(part)]
        for value in tensors
        for part in parts_of(value, at)
    ]
    keys = [nonfinite(one)[KINDS.index(kind)]] * len(columns)
    rows = [keys, *zip(*columns, strict=True)]
    return concatenated([row_of(joined(row, at), at) for row in rows], 0, at)
