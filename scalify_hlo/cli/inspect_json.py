"""The output of `inspect` as JSON, which ``report/schemas/inspect.json`` describes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from scalify_hlo.passes.record import rewrites_of
from scalify_hlo.report.entries import (
    matmul_entries,
    remark_entries,
    rescaling_entries,
    value_entries,
)

if TYPE_CHECKING:
    from scalify_hlo.cli.inspect import Inspected

VERSION: Final = 1
"""The version of the JSON form."""


def dump(inspected: Inspected) -> str:
    """Returns all that is known of a program and of a rewrite of it as JSON text."""
    program, report = inspected.program, inspected.report
    content = {
        "format": "scalify-hlo inspect",
        "version": VERSION,
        "program": {"name": program.name, "kind": program.kind.value},
        "rewrites": rewrites_of(program.module),
        "pairs": _pairs(inspected),
        "recipe": report.recipe,
        "arguments": _arguments(inspected),
        "results": value_entries(report.results),
        "matmuls": _matmuls(inspected),
        "rescalings": rescaling_entries(report.sites),
        "layers": [layer._asdict() for layer in inspected.layers()],
        "ops": {op: n for op, n in report.ops.items() if n},
        "scales": {kind: n for kind, n in report.values.items() if n},
        "reads": _reads(inspected),
        "findings": [finding.entry(program.name) for finding in inspected.findings()],
        "remarks": remark_entries(report.remarks, program.name),
    }
    return json.dumps(content, indent=1) + "\n"


def _pairs(inspected: Inspected) -> list[dict[str, Any]]:
    arguments = inspected.report.arguments
    return [
        {"name": arguments[data].name, "data": data, "scale": scale}
        for data, scale in inspected.pairs().items()
    ]


def _arguments(inspected: Inspected) -> list[dict[str, Any]]:
    report = inspected.report
    entries = value_entries(report.arguments)
    return [entry | {"role": report.roles.get(entry["name"], "")} for entry in entries]


def _matmuls(inspected: Inspected) -> list[dict[str, Any]]:
    report, selection = inspected.report, inspected.selection
    chosen = inspected.matmuls
    entries = matmul_entries(chosen, report.remarks, inspected.program.name)
    return [
        entry | {"excluded": selection.excludes(matmul)}
        for entry, matmul in zip(entries, chosen, strict=True)
    ]


def _reads(inspected: Inspected) -> list[dict[str, Any]]:
    from scalify_hlo.cli.inspect import reads_of

    return [
        {"op": op, "count": int(count), "family": family, "refused": strict == "refuses"}
        for op, count, family, strict in reads_of(inspected.report)
    ]
