"""The parts of a report as JSON values; the schemas in ``schemas/`` describe them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scalify_hlo.analysis.sizes import Size
from scalify_hlo.dialect.locations import place_of_text
from scalify_hlo.errors import Remark
from scalify_hlo.report.matmuls import MEASURED, MatmulReport, OperandScale
from scalify_hlo.report.model import Estimate, SiteReport, ValueReport
from scalify_hlo.report.totals import Part, Totals


def matmul_entries(
    matmuls: Sequence[MatmulReport], remarks: Iterable[Remark], name: str
) -> list[dict[str, Any]]:
    """Returns an entry for each matmul.

    Args:
        matmuls: The matmuls.
        remarks: The remarks of the report, some of which are on matmuls.
        name: The name of the program in locations without a file.
    """
    known: dict[tuple[str, str], list[str]] = {}
    for remark in remarks:
        known.setdefault((remark.location, remark.op), []).append(remark.message)
    return [
        _matmul(matmul, known.get((matmul.location, matmul.op), []), name) for matmul in matmuls
    ]


def _matmul(matmul: MatmulReport, remarks: Sequence[str], name: str) -> dict[str, Any]:
    wide = matmul.wide
    lhs, rhs, result = matmul.formats
    scales = [scale for scale in matmul.scales if scale is not None]
    told = [*(r for r in remarks if wide is not None), *(s.remark for s in scales if s.remark)]
    sizes = zip("mnk", matmul.extent, strict=False)
    return {
        "name": matmul.name,
        "site": matmul.site.strip(),
        "op": matmul.op,
        "location": place_of_text(matmul.location, name),
        "part": matmul.part,
        "operands": list(matmul.roles),
        "certainty": matmul.certainty,
        "vocabulary": matmul.vocabulary,
        **{key: size_entry(size) for key, size in sizes},
        "batch": size_entry(matmul.extent.batch),
        "calls": matmul.calls,
        "flops": matmul.flops,
        "formats": {"lhs": lhs, "rhs": rhs, "result": result},
        "scales": {
            side: scale and _scale(scale)
            for side, scale in zip(("lhs", "rhs"), matmul.scales, strict=True)
        },
        "statistics": sum(scale.origin == MEASURED for scale in scales),
        "wide": wide and {"kind": wide.kind, "reason": wide.reason, "chosen": wide.chosen},
        "remarks": list(dict.fromkeys(told)),
        "warnings": list(dict.fromkeys(scale.warning for scale in scales if scale.warning)),
    }


def _scale(scale: OperandScale) -> dict[str, Any]:
    octaves = scale.octaves
    return {
        "origin": scale.origin,
        "scale": scale.scale or None,
        "octaves": None if octaves is None else round(octaves, 3),
        "room": scale.room,
        "argument": scale.argument or None,
    }


def size_entry(size: Size) -> int | None:
    """Returns the number of elements of a size; None if it is not known."""
    return size.least if size.known else None


def remark_entries(remarks: Iterable[Remark], name: str) -> list[dict[str, Any]]:
    """Returns an entry for each remark.

    Args:
        remarks: The remarks.
        name: The name of the program in locations without a file.
    """
    return [
        {
            "message": remark.message,
            "location": place_of_text(remark.location, name),
            "op": remark.op,
            "hint": remark.hint or None,
        }
        for remark in remarks
    ]


def total_entry(totals: Totals) -> dict[str, Any]:
    """Returns the numbers of a report."""
    state = totals.state
    return {
        "matmuls": _part(totals.matmuls),
        "forward": _part(totals.forward),
        "backward": _part(totals.backward),
        "narrow_flops": _rounded(totals.flops),
        "statistics": totals.statistics,
        "layers": totals.layers,
        "statistics_per_layer": _rounded(totals.per_layer),
        "state_bytes": _rounded(None if state is None else state.ratio),
        "assumed_scales": totals.assumed,
        "remarks": totals.remarks,
    }


def _part(part: Part) -> dict[str, Any]:
    return {"total": part.total, "narrow": part.narrow, "share": _rounded(part.share)}


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 6)


def value_entries(values: Iterable[ValueReport]) -> list[dict[str, Any]]:
    """Returns an entry for each argument or result."""
    return [
        {"name": v.name, "type": v.type, "paired": v.paired, "scale": _entered(v)} for v in values
    ]


def _entered(value: ValueReport) -> str | None:
    return value.scale if value.scaled or value.packed else None


def rescaling_entries(sites: Iterable[SiteReport]) -> list[dict[str, Any]]:
    """Returns an entry for each dynamic rescaling that a recipe inserts."""
    return [site._asdict() for site in sites]


def estimate_entry(estimate: Estimate) -> dict[str, Any]:
    """Returns an entry for the estimated time on a device, in microseconds."""
    reached = estimate.speedup_reached
    return {
        "target": estimate.target,
        "us": round(1e6 * estimate.seconds, 3),
        "us_in_bf16": round(1e6 * estimate.before, 3),
        "speedup": round(estimate.speedup, 4),
        "speedup_with_launches": round(estimate.speedup_with_launches, 4),
        "speedup_reached": None if reached is None else round(reached, 4),
    }
