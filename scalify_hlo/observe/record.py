"""The statistics of a program's values as data, and their JSON form.

`docs/stats.md` describes the format, and `stats.schema.json` is its JSON Schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Final

from scalify_hlo.errors import InputError
from scalify_hlo.storage.files import read_file

FORMAT: Final = "scalify-hlo-stats"
VERSION: Final = 1

COLUMNS: Final = (
    *("turns", "count", "rms", "amax", "smallest", "zeros", "subnormals"),
    *("saturated", "infinities", "nans"),
)
"""The statistics of a value that have an entry for each record."""


@dataclass(frozen=True, slots=True)
class OctaveCounts:
    """A histogram of the magnitudes of finite non-zero elements, by octaves.

    Attributes:
        first: ``floor(log2(magnitude))`` of the elements that ``counts[0]`` counts.
        counts: The number of elements in each octave from there on.
        sample: The number of elements that were looked at, zeros, infinities and NaN included.
    """

    first: int
    counts: tuple[int, ...]
    sample: int


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
        same_as: The id of a value with the same magnitudes, from which the statistics were taken;
            None if they were measured.
        slots: The number of records of one step.
        columns: The entries of each of `COLUMNS`.
        scales: log2 of its scale for each record; None for each value that can have any scale.
            None as a whole in a program that is not rewritten.
        histogram: Its magnitudes in all records.
    """

    id: str
    kind: str
    op: str
    name: str
    location: str
    part: str
    role: str
    inside: tuple[str, ...]
    dtype: str
    shape: tuple[int, ...]
    same_as: str | None
    slots: int
    columns: Mapping[str, tuple[float, ...]]
    scales: tuple[float | None, ...] | None
    histogram: OctaveCounts

    def __getattr__(self, name: str) -> tuple[float, ...]:
        """Returns a column by its name, such as ``amax``."""
        if name in COLUMNS:
            return self.columns[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")


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

    format: str
    scaling: str
    snr_db: tuple[float | None, ...]
    flushed: tuple[float, ...]
    clipped: tuple[float, ...]


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
    part: str
    role: str
    contracted: int
    sample: int
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


@dataclass(frozen=True, slots=True)
class StatsRecord:
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

    program: str
    hash: str
    steps: tuple[int, ...]
    turns: str
    variants: tuple[VariantStats, ...]
    operands: tuple[OperandStats, ...] = ()
    remarks: tuple[str, ...] = field(default=())

    def rows(self) -> Iterator[tuple[ValueStats | None, ...]]:
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
    head = {
        "format": FORMAT,
        "version": VERSION,
        "program": record.program,
        "hash": record.hash,
        "steps": record.steps,
        "turns": record.turns,
        "remarks": record.remarks,
    }
    variants = ",\n".join(map(_variant, record.variants))
    operands = ",\n".join(_line(_operand(each)) for each in record.operands)
    return f'{_line(head)[:-1]}, "variants": [\n{variants}\n],\n"operands": [\n{operands}\n]}}\n'


def _line(value: object) -> str:
    return json.dumps(value, allow_nan=False, separators=(", ", ": "))


def _variant(variant: VariantStats) -> str:
    head = _line({"name": variant.name, "recipe": variant.recipe})
    values = ",\n".join(_line(_value(value)) for value in variant.values)
    return f'{head[:-1]}, "values": [\n{values}\n]}}'


_IDENTITY: Final = (
    *("id", "kind", "op", "name", "location", "part", "role"),
    *("inside", "dtype", "shape", "same_as", "slots"),
)


def _value(value: ValueStats) -> dict[str, Any]:
    histogram = value.histogram
    return {
        **{name: getattr(value, name) for name in _IDENTITY},
        **{name: value.columns[name] for name in COLUMNS},
        "scales": value.scales,
        "histogram": {
            "first": histogram.first,
            "counts": histogram.counts,
            "sample": histogram.sample,
        },
    }


def _operand(operand: OperandStats) -> dict[str, Any]:
    names = ("name", "value", "op", "location", "part", "role", "contracted", "sample")
    formats = [
        {
            name: getattr(each, name)
            for name in ("format", "scaling", "snr_db", "flushed", "clipped")
        }
        for each in operand.formats
    ]
    return {**{name: getattr(operand, name) for name in names}, "formats": formats}


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
            return _read(whole)
        reason = f"it has format {whole['format']!r}, version {whole['version']!r}"
    except (KeyError, TypeError, ValueError, RecursionError):
        reason = "it is not JSON with a format and a version"
    raise InputError(
        f"this is not a file of statistics of version {VERSION}: {reason}",
        location=name,
        hint="make one with `scalify-hlo stats`",
    )


def _read(whole: Mapping[str, Any]) -> StatsRecord:
    variants = tuple(
        VariantStats(each["name"], each["recipe"], tuple(map(_read_value, each["values"])))
        for each in whole["variants"]
    )
    operands = tuple(map(_read_operand, whole["operands"]))
    return StatsRecord(
        whole["program"], whole["hash"], tuple(whole["steps"]), whole["turns"],
        variants, operands, tuple(whole["remarks"]),
    )  # fmt: skip


def _read_value(value: Mapping[str, Any]) -> ValueStats:
    histogram, scales = value["histogram"], value["scales"]
    return ValueStats(
        **{name: _frozen(value[name]) for name in _IDENTITY},
        columns={name: tuple(value[name]) for name in COLUMNS},
        scales=None if scales is None else tuple(scales),
        histogram=OctaveCounts(histogram["first"], tuple(histogram["counts"]), histogram["sample"]),
    )


def _read_operand(operand: Mapping[str, Any]) -> OperandStats:
    formats = tuple(
        FormatStats(**{name: _frozen(entry) for name, entry in each.items()})
        for each in operand["formats"]
    )
    return OperandStats(**{**operand, "formats": formats})


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
