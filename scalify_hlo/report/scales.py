"""Enters the scales that propagation found at casts into the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from scalify_hlo.dialect.patterns import matches
from scalify_hlo.recipes.toml import parse_input_scale
from scalify_hlo.report.matmuls import ASSUMED, DECLARED, OperandScale
from scalify_hlo.report.model import Report
from scalify_hlo.rules.reported_scales import CastScale


def fill_in_scales(report: Report, declarations: Iterable[str]) -> None:
    """Enters the scales of the casts of operands into the matmuls of a report.

    A function has a copy for each combination of scales of its calls. If the copies of a cast
    differ, the report has the scale of the most uncertain size.

    Args:
        report: The report of a rewrite, with its `casts`.
        declarations: The declared scales of inputs, as ``PATTERN=NUMBER``.
    """
    patterns = [parse_input_scale(text)[0] for text in declarations]
    declared = {
        value.name
        for i, value in enumerate(report.arguments)
        if any(matches(pattern, value.name, i) for pattern in patterns)
    }
    found: dict[int, OperandScale] = {}
    for cast in report.casts:
        scale = _operand_scale(cast, declared)
        for reader in cast.readers:
            known = found.get(reader)
            if known is None or scale.uncertainty > known.uncertainty:
                found[reader] = scale
    for i, matmul in enumerate(report.matmuls):
        lhs, rhs = (
            found.get(2 * matmul.number + side, scale) if scale is not None else None
            for side, scale in enumerate(matmul.scales)
        )
        report.matmuls[i] = replace(matmul, scales=(lhs, rhs))


def _operand_scale(cast: CastScale, declared: set[str]) -> OperandScale:
    origin = cast.origin
    if origin == "input":
        origin = DECLARED if cast.argument in declared else ASSUMED
    return OperandScale(
        origin, cast.scale, cast.octaves, cast.room, remark=cast.remark, argument=cast.argument
    )
