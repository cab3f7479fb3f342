"""The output of `inspect` as JSON."""

from __future__ import annotations

from typing import NamedTuple

from scalify_hlo.cli.inspect import Inspected, Read, reads_of
from scalify_hlo.lint.model import Finding
from scalify_hlo.passes.record import rewrites_of
from scalify_hlo.report.matmuls import MatmulEntry, matmul_entries
from scalify_hlo.report.model import LayerReport, Report, ValueReport
from scalify_hlo.results.model import dump, keys, result


class Pair(NamedTuple):
    """A pair of data and scale among the arguments of a rewritten program, by their numbers."""

    name: str
    data: int
    scale: int


@keys("*value role")
class Argument(NamedTuple):
    """An argument, and its role; empty if it has none, or if the recipe needs none."""

    value: ValueReport
    role: str


@keys("*entry excluded")
class ListedMatmul(NamedTuple):
    """A matmul, and whether a pattern of ``--exclude`` would take it out."""

    entry: MatmulEntry
    excluded: bool


@result("scalify-hlo inspect", version=1)
@keys(
    "program=(name kind) rewrites pairs *report(recipe) arguments *report(results) matmuls "
    "*report(rescalings=sites) layers ops scales reads findings *report(remarks)"
)
class InspectRecord(NamedTuple):
    """A program, and what a rewrite would do with it.

    Attributes:
        rewrites: The rewrites that the program records: version, recipe and options of each.
        ops: The number of occurrences of each op.
        scales: The number of values by the kind of their scale.
        reads: The ops that read values at scale 1.
    """

    name: str
    kind: str
    rewrites: list[str]
    pairs: list[Pair]
    report: Report
    arguments: list[Argument]
    matmuls: list[ListedMatmul]
    layers: list[LayerReport]
    ops: dict[str, int]
    scales: dict[str, int]
    reads: list[Read]
    findings: list[Finding]


def dump_inspected(inspected: Inspected) -> str:
    """Returns all that is known of a program and of a rewrite of it as JSON text."""
    program, report, selection = inspected.program, inspected.report, inspected.selection
    arguments = report.arguments
    record = InspectRecord(
        program.name,
        program.kind.value,
        rewrites_of(program.module),
        [Pair(arguments[d].name, d, scale) for d, scale in inspected.pairs().items()],
        report,
        [Argument(value, report.roles.get(value.name, "")) for value in arguments],
        [
            ListedMatmul(entry, selection.excludes(entry.matmul))
            for entry in matmul_entries(inspected.matmuls, report.remarks)
        ],
        inspected.layers(),
        {op: n for op, n in report.ops.items() if n},
        {kind: n for kind, n in report.values.items() if n},
        reads_of(report),
        inspected.findings(),
    )
    return dump(record, program.name)
