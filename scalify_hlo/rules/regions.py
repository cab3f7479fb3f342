"""Rewrites ops with regions by the units of their operands.

A region itself is not changed: XLA refuses regions that capture values, such as scales.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import mul

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ANY, ONE, RuntimeScale, Scale, Scaled, ScaleInfo, scale_of
from scalify_hlo.algebra.uncertainty import UNKNOWN
from scalify_hlo.rules.families import opaque, steep, unscale_captures
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.units import Unit


def run_on_data(
    op: ir.Operation,
    rewriter: ScaleRewriter,
    operands: Mapping[int, Unit],
    results: Sequence[Unit],
    rises: Sequence[float] = (),
) -> None:
    """Rescales an op's operands to scales that fit their units, and sets the scales of its results.

    Args:
        op: The op.
        rewriter: The rewriter.
        operands: The solved units of operands, by number.
        results: The solved units of the results.
        rises: The rise of the level of each result; 0 by default.
    """
    units = {i: unit for i, unit in operands.items() if isinstance(unit, Scale)}
    scales = _common_scales(op, rewriter, units, results)
    infos = [_evaluated(unit, scales) for unit in results]
    each = zip(op.results, infos, strict=True)
    if any(isinstance(f, Scaled) and steep(r, f.scale, rewriter) for r, f in each):
        return opaque(op, rewriter)  # A power of a scale is too steep for data.
    read = unscale_captures(op, rewriter) + _rescale_others(op, rewriter, units, scales)
    if read:
        rewriter.remark(op, "reads values in its region; they are multiplied with their scales")
    for number, (result, info) in enumerate(zip(list(op.results), infos, strict=True)):
        if isinstance(info, Scaled) and rises:
            info = info._replace(level=info.level + rises[number])
        if info is None and read and rewriter.narrow and rewriter.format(result) is not None:
            info = Scaled(ONE, 0, UNKNOWN)
        rewriter.set(result, info)
    return None


def _common_scales(
    op: ir.Operation, rewriter: ScaleRewriter, units: Mapping[int, Scale], results: Sequence[Unit]
) -> dict[RuntimeScale, ScaleInfo]:
    """Rescales the operands of each unknown to one scale."""
    scales: dict[RuntimeScale, ScaleInfo] = {}
    for runtime in dict.fromkeys(g for unit in units.values() for g, _ in unit.powers):
        unit = Scale(0, ((runtime, 1),))
        concerned = [i for i, other in units.items() if runtime in dict(other.powers)]
        if all(rewriter.info(op.operands[i]) is ANY for i in concerned):
            scales[runtime] = ANY
            continue
        members = [i for i in concerned if units[i] == unit]
        result = results.index(unit) if unit in results else None
        info = rewriter.align(op, members, result=result)
        scales[runtime] = info if isinstance(info, Scaled) else None
    return scales


def _rescale_others(
    op: ir.Operation,
    rewriter: ScaleRewriter,
    units: Mapping[int, Scale],
    scales: Mapping[RuntimeScale, ScaleInfo],
) -> int:
    """Rescales the operands whose unit is 1, or follows from other units.

    Returns:
        The number of scaled operands that are read as values.
    """
    read = 0
    for index, unit in units.items():
        if not unit.powers:
            read += isinstance(rewriter.info(op.operands[index]), Scaled)
            rewriter.read(op, index)
        elif unit.degree > 1 or unit.powers[0][1] < 0:
            rewriter.rescale(op, index, scale_of(_evaluated(unit, scales)))
    return read


def _evaluated(unit: Unit, scales: Mapping[RuntimeScale, ScaleInfo]) -> ScaleInfo:
    """Returns the scale information of a value of a unit; ANY if no scale could change it."""
    if not isinstance(unit, Scale):
        return unit
    infos = [(scales[g], k) for g, k in unit.powers]
    if any(info is ANY for info, _ in infos):
        return ANY
    scaled = [(info, k) for info, k in infos if isinstance(info, Scaled)]
    if not scaled:
        return None
    scale = reduce(mul, (info.scale**k for info, k in scaled))
    uncertainty = reduce(mul, (info.uncertainty**k for info, k in scaled))
    return Scaled(scale, sum(info.level * k for info, k in scaled), uncertainty)
