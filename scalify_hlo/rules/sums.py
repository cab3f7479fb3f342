"""Sums of two values, which are aligned, and their sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import NATURAL
from scalify_hlo.algebra.runtime_size import alike
from scalify_hlo.algebra.scale import ONE, Scaled, ScaleInfo, comparable, mean_uncertainty
from scalify_hlo.algebra.uncertainty import Uncertainty
from scalify_hlo.rules.alignment import is_unit
from scalify_hlo.rules.registry import of_family
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.source_sizes import size_of_sum
from scalify_hlo.rules.unit_scaling import added


@of_family("align", neutral=True)
def add(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Aligns the operands of a sum; if sizes are predicted, the result has that of the sum."""
    operands = op.operands
    values = [operands[0], operands[1]]
    infos = rewriter.infos(values)
    target = (
        _aligned_at_one(infos[0], infos[1], rewriter)
        or _at_natural_scale(op, infos, rewriter)
        or rewriter.align(op, (0, 1), known=infos)
    )
    if isinstance(target, Scaled):
        if rewriter.predicts:
            target = target._replace(level=_level_of_sum(target, infos, rewriter))
        elif rewriter.narrow:
            target = _whole(target, _level_of_sum(target, infos, rewriter))
        if rewriter.narrow:
            target = target._replace(uncertainty=_uncertainty_of_sum(target, infos))
        degree = target.uncertainty.degree
        if degree >= _NONLINEAR and any(map(_is_constant, infos)):
            either = target.uncertainty.with_root(_EITHER * degree)
            target = target._replace(uncertainty=either)
    elif target is None and rewriter.narrow:
        target = size_of_sum(op.operation, infos)
        if target is not None and not rewriter.predicts:
            target = target._replace(level=math.floor(target.level))
    rewriter.set(op.results[0], target)


def _is_constant(info: ScaleInfo) -> bool:
    if isinstance(info, Scaled):
        return info.uncertainty.constant
    return info is None or is_unit(info)


_NONLINEAR, _EITHER = 2, 2.0
"""The degree from which on a power may differ much from the constant to which it is added, and the
octaves per degree by which the sum is uncertain then."""


def _aligned_at_one(a: ScaleInfo, b: ScaleInfo, rewriter: ScaleRewriter) -> Scaled | None:
    """Returns the alignment of two values that are both at scale 1 already; else None."""
    if isinstance(a, Scaled) and isinstance(b, Scaled) and a.scale == ONE == b.scale:
        level = rewriter.sizes.largest((a.level, b.level))
        return Scaled(ONE, level, mean_uncertainty((a, b)))
    return None


def _at_natural_scale(
    op: ir.Operation, infos: Sequence[ScaleInfo], rewriter: ScaleRewriter
) -> Scaled | None:
    """Rescales an operand to scale 1 if the constant of the sum would be far from unit otherwise.

    Each step of Horner's scheme adds a constant near 1 to a product. At the scale of the product,
    the constant would be further from unit in each step.

    Returns:
        The scale information of the sum; None for other sums.
    """
    if rewriter.narrow:
        return None  # Programs with narrow data align at 1 anyway.
    for index in (0, 1):
        info, other = infos[index], infos[1 - index]
        if isinstance(info, Scaled) and is_unit(other):
            format_ = rewriter.format(op.results[0])
            if format_ is None or not format_.wide:
                return None  # Narrow data need a scale.
            size, static = rewriter.size(other), info.scale.static
            if static and abs(info.scale.exponent - size) <= NATURAL:
                return None
            rewriter.rescale(op, index, ONE)
            level = max(info.level + info.scale.exponent if static else 0, size)
            return Scaled(ONE, round(level), info.uncertainty)
    return None


def _level_of_sum(target: Scaled, infos: Sequence[ScaleInfo], rewriter: ScaleRewriter) -> float:
    """Returns the level of a sum at a scale; masks do not count."""
    scale = target.scale
    scaled = [f for f in infos if isinstance(f, Scaled)]
    known = [f for f in scaled if not (f.scale / scale).unsized]
    levels = [f.level_at(scale) + f.uncertainty.drift for f in known]
    if scale.static:
        levels += [rewriter.size(f) - scale.exponent for f in infos if is_unit(f)]
        if len(levels) == 1 and target.level > levels[0]:
            return target.level  # That of an epsilon.
    if not levels or (len(known) == len(scaled) and alike((*levels, target.level))):
        return added(levels) if levels else target.level
    terms = known if 0 < len(known) == len(scaled) else [target]
    largest = max(terms, key=lambda f: f.level_at(scale) + f.uncertainty.drift)
    return target.level + largest.uncertainty.drift + _UNLIKE


def _uncertainty_of_sum(target: Scaled, infos: Sequence[ScaleInfo]) -> Uncertainty:
    """Returns the uncertainty of a sum, whose terms may not be independent."""
    scaled = [info for info in infos if isinstance(info, Scaled)]
    parts = [info.uncertainty for info in scaled]
    if len(parts) < len(infos):
        return target.uncertainty
    share = min(1.0, *(part.octaves for part in parts)) ** 2  # A normalized term adds little.
    known = len(comparable(target.scale, scaled)) == len(infos)
    return target.uncertainty.with_bias(share * (_SUM_BIAS if known else _UNLIKE_BIAS))


_UNLIKE, _SUM_BIAS, _UNLIKE_BIAS = 0.25, 0.1, 0.4
"""The octaves by which a sum is larger than its largest term if their ratio is not known, and by
which terms that are not independent make it larger or smaller."""


def _whole(info: Scaled, level: float) -> Scaled:
    """Returns scale information with whole octaves of a level; the rest is its drift."""
    octaves = math.floor(level - info.level)
    uncertainty = info.uncertainty.drifting(float(level - info.level) - octaves)
    return info._replace(level=info.level + octaves, uncertainty=uncertainty)
