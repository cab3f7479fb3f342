"""The statistics of a program's values as data, and their JSON form.

`docs/stats.md` describes the format.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from typing import Annotated, Any, Final, TypeAlias

from scalify_hlo.errors import InputError
from scalify_hlo.results.kinds import SOME, Count, Part, Size, one_of
from scalify_hlo.results.model import Kind, dump, keys, loaded, result
from scalify_hlo.results.shown import Shown, flattened
from scalify_hlo.storage.files import read_file

FORMAT: Final = "scalify-hlo-stats"
VERSION: Final = 1

COLUMNS: Final = (
    *("turns", "count", "rms", "amax", "smallest", "zeros", "subnormals"),
    *("saturated", "infinities", "nans"),
)
"""The statistics of a value that have an entry for each record."""

_Counts: TypeAlias = tuple[Count, ...]
_Sizes: TypeAlias = tuple[Size, ...]
_Shares: TypeAlias = tuple[Annotated[float, Kind({"minimum": 0, "maximum": 1})], ...]


@dataclass(frozen=True, slots=True)
class OctaveCounts:
    """A histogram of the magnitudes of finite non-zero elements, by octaves.

    Attributes:
        first: ``floor(log2(magnitude))`` of the elements that ``counts[0]`` counts.
        counts: The number of elements in each octave from there on.
        sample: The number of elements that were looked at, zeros, infinities and NaN included.
    """

    first: int
    counts: _Counts
    sample: Count


@dataclass(frozen=True, slots=True)
class ValueStats:
    """A float value of a program, and its statistics.

    A record is one step, or one turn of a loop in one step. Columns have an entry for each, step by
    step. In a rewritten program, all statistics are those of data, not of data times scale.

    Attributes:
        id: Identifies the value; a rewrite has a value of the same id for it, or none.
        kind: ``argument`` of the program, ``result`` of an op, or ``carry``: an argument of the
            body of a loop or of a per-device computation.
        op: The op that makes it, or has it as an argument of its body; empty for an argument.
        name: The name stack of the op, or the name of the argument.
        location: Its source location as ``file:line:column``; empty if unknown.
        part: ``forward``, ``backward`` or ``other``.
        role: The role of an argument, such as ``weight``; empty if unknown.
        inside: The ops with regions around it, from the outside in.
        dtype: The name of its element type in MLIR.
        shape: Its sizes; in a per-device computation, those of the part of one device.
        cast: The format to which a rewrite casts it; empty if it casts it to none.
        same_as: The id of a value with the same magnitudes, from which the statistics were taken;
            None if they were measured.
        slots: The number of records of one step.
        turns: How often the value was computed.
        count: The number of elements.
        rms: The root mean square of the finite elements.
        amax: The largest finite magnitude.
        smallest: The smallest magnitude that is not zero; 0 if there is none.
        zeros: The number of zeros.
        subnormals: The number of subnormal elements.
        saturated: The number of elements of the largest finite magnitude of the dtype.
        infinities: The number of infinite elements.
        nans: The number of NaN.
        scales: log2 of its scale for each record; None for each value that can have any scale.
            None as a whole in a program that is not rewritten.
        histogram: Its magnitudes in all records.
    """

    id: str
    kind: Annotated[str, one_of(["argument", "result", "carry"])]
    op: str
    name: str
    location: str
    part: Part
    role: str
    inside: tuple[str, ...]
    dtype: str
    shape: _Counts
    cast: str
    same_as: str | None
    slots: Count
    turns: _Counts
    count: _Counts
    rms: _Sizes
    amax: _Sizes
    smallest: _Sizes
    zeros: _Counts
    subnormals: _Counts
    saturated: _Counts
    infinities: _Counts
    nans: _Counts
    scales: tuple[float | None, ...] | None
    histogram: OctaveCounts


@dataclass(frozen=True, slots=True)
class FormatStats:
    """The effect of a cast of a matmul operand to a format, by steps.

    Attributes:
        format: The format: ``f8E4M3FN``, ``f8E5M2``, ``f16`` or ``i8``.
        scaling: Which elements share a scale: ``tensor``, ``channel``, ``1x128``, ``mx32`` or
            ``nv16``.
        snr_db: The signal-to-noise ratio in dB for each step; None without an error or a signal.
        flushed: The share of non-zero elements that become zero, for each step.
        clipped: The share of elements whose magnitude saturates, for each step.
    """

    format: Annotated[str, one_of(["f8E4M3FN", "f8E5M2", "f16", "i8"])]
    scaling: Annotated[str, one_of(["tensor", "channel", "1x128", "mx32", "nv16"])]
    snr_db: tuple[float | None, ...]
    flushed: _Shares
    clipped: _Shares


@dataclass(frozen=True, slots=True)
class OperandStats:
    """An operand of a matmul, and the effects of formats on it.

    Attributes:
        name: ``SITE:lhs`` or ``SITE:rhs``, as in a profile.
        value: The id of the value.
        op: The op.
        location: Its source location as ``file:line:column``; empty if unknown.
        part: ``forward``, ``backward`` or ``other``.
        role: ``weight``, ``activation``, ``gradient`` or ``other``.
        contracted: The number of elements that one element of the result sums over.
        sample: The number of elements that were cast, in each step.
        formats: The effect of each format at each scaling.
    """

    name: str
    value: str
    op: str
    location: str
    part: Part
    role: Annotated[str, one_of(["weight", "activation", "gradient", "other"])]
    contracted: Count
    sample: Count
    formats: tuple[FormatStats, ...]


@dataclass(frozen=True, slots=True)
class VariantStats:
    """The statistics of one program: the original, or a rewrite of it.

    Attributes:
        name: ``original``, or the name of the recipe.
        recipe: The recipe, its signature and its options as text; empty for the original.
        values: Its values, in program order.
    """

    name: str
    recipe: str
    values: tuple[ValueStats, ...]


@result(FORMAT, VERSION, lines=("variants", "values", "operands"))
@keys("program hash steps turns remarks variants operands")
@dataclass(frozen=True, slots=True)
class StatsRecord(Shown):
    """The statistics of a program, and of its rewrite if there is one.

    Attributes:
        program: The name of the program.
        hash: Its structural hash, as in a profile.
        steps: The numbers of the steps that were measured, counted from 0.
        turns: ``pooled`` or ``each``: whether turns of loops have records of their own.
        variants: The original first.
        operands: The operands of the matmuls of the original.
        remarks: Sentences on what was not measured.
    """

    DUMP = "commands.stats.record.dump_stats"
    LINES = "cli.stats.lines"

    program: str
    hash: str
    steps: Annotated[tuple[Count, ...], SOME]
    turns: Annotated[str, one_of(["pooled", "each"])]
    variants: Annotated[tuple[VariantStats, ...], SOME]
    operands: tuple[OperandStats, ...] = ()
    remarks: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        variants = [variant.name for variant in self.variants]
        return f"StatsRecord(program={self.program!r}, variants={variants})"

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row for each record of each value of each variant; see `Shown.rows`."""
        return flattened(
            {"variant": variant["name"], **record}
            for variant in self.to_dict()["variants"]
            for value in variant["values"]
            for record in self._records(value)
        )

    def _records(self, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yields the object of a value for each record, with the entries of columns in it."""
        listed = [key for key in (*COLUMNS, "scales") if value[key] is not None]
        for i in range(len(value["count"])):
            own = {key: value[key][i] for key in listed}
            yield {"step": self.steps[i // value["slots"]], **value, **own}

    def beside(self) -> Iterator[tuple[ValueStats | None, ...]]:
        """Yields the rows of a table of all values, in program order.

        Yields:
            A value in each variant, with None for variants that do not have it.
        """
        tables = [{value.id: value for value in variant.values} for variant in self.variants]
        ids: list[str] = []
        for table in tables:
            ids = _merged(ids, table)
        for id_ in ids:
            yield tuple(table.get(id_) for table in tables)


def _merged(ids: Iterable[str], others: Iterable[str]) -> list[str]:
    """Returns ids in order; those of the others alone follow the one before them there."""
    following: dict[str | None, list[str]] = {None: [], **{id_: [] for id_ in ids}}
    previous = None
    for id_ in others:
        if id_ in following:
            previous = id_
        else:
            following[previous].append(id_)
    groups = ([id_, *after] for id_, after in following.items())
    return [id_ for group in groups for id_ in group if id_ is not None]


def dump_stats(record: StatsRecord) -> str:
    """Returns statistics as JSON text, with one line for each value and each operand.

    Args:
        record: The statistics.

    Returns:
        The text; `load_stats` reads it from a file.
    """
    return dump(record)


def load_stats(path: str | PathLike[str]) -> StatsRecord:
    """Reads statistics from a file.

    Args:
        path: The path of a file that `dump_stats` or `scalify-hlo stats` wrote.

    Returns:
        The statistics.

    Raises:
        InputError: The file cannot be read, is not a file of statistics, or is of another version.
    """
    name = str(path)
    try:
        whole = json.loads(read_file(name))
        if whole["format"] == FORMAT and whole["version"] == VERSION:
            record: StatsRecord = loaded(StatsRecord, whole)
            return record
        reason = f"it has format {whole['format']!r}, version {whole['version']!r}"
    except (KeyError, TypeError, ValueError, RecursionError):
        reason = "it is not JSON with a format and a version"
    raise InputError(
        f"this is not a file of statistics of version {VERSION}: {reason}",
        location=name,
        hint="make one with `scalify-hlo stats`",
    )
