"""The families: a few ways in which ops act on data and scales; most rules are one line of these.

Each function returns what a rule does to an op in place. An op is visited only if one of its
operands is scaled or a constant, so integer and boolean ops are never seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import FAR, MANY, NATURAL, STEEP
from scalify_hlo.algebra.scale import (
    ANY,
    ONE,
    Scale,
    Scaled,
    ScaleInfo,
    Splat,
    mean_uncertainty,
)
from scalify_hlo.algebra.uncertainty import CERTAIN, UNKNOWN, Uncertainty
from scalify_hlo.rules.alignment import is_unit
from scalify_hlo.rules.drift import drifts, flattened, nearer, steepness
from scalify_hlo.rules.huge import is_huge
from scalify_hlo.rules.read_sizes import size_of_read
from scalify_hlo.rules.registered import ON_DATA
from scalify_hlo.rules.registry import RULES, Apply
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.source_sizes import size_of_function, size_of_sum
from scalify_hlo.rules.unit_scaling import ActivationSize, added, size_of, sum_of

NEUTRAL: set[Apply] = set()
"""Rules that do nothing where nothing is known of an operand, and find that out by themselves."""

Count = Callable[[ir.Operation], int | None]
"""How many terms an op sums for each element of its result; None if that is not static."""


def rise(count: int | None, rewriter: ScaleRewriter) -> float:
    """log2(sqrt(count)), the rise of the level of a sum of that many unit terms.

    Its floor, unless sizes are predicted.
    """
    if not count:
        return 0
    return size_of(sum_of(count)) if rewriter.predicts else whole_rise(count)


def whole_rise(count: int) -> int:
    """floor(log2(sqrt(count)))."""
    return (count.bit_length() - 1) // 2


def keep(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Data move, the scale stays: ``Y_d = f(X_d), Y_s = X_s``."""
    rewriter.pass_on(op.operands[0], op.results[0])


NEUTRAL.add(keep)


def keep_each(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Every operand passes to the result of the same number."""
    for operand, result in zip(op.operands, op.results, strict=True):
        rewriter.pass_on(operand, result)


def passthrough(value: Callable[[float], float]) -> Apply:
    """As `keep`, for ops that change constants by a function of one number."""

    def apply(op: ir.Operation, rewriter: ScaleRewriter) -> None:
        info = rewriter.info(op.operands[0])
        rewriter.set(op.results[0], Splat(value(info.value)) if isinstance(info, Splat) else info)

    return apply


def unscale(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """The op reads ``X_d * X_s``; its result is unscaled, or at scale 1 where data are narrow."""
    info = rewriter.info(op.operands[0])
    rewriter.read_all(op)
    if rewriter.narrow:
        found = _of_constant(op, info)
        for result in op.results:
            if rewriter.format(result) is not None:
                rewriter.set(result, found or size_of_read(op.operation, info))


def _of_constant(op: ir.Operation, info: ScaleInfo) -> Scaled | None:
    return size_of_function(op.operation, info) if isinstance(info, Splat) else None


def on_data(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """A function of degree 0 reads the data and forgets the scale."""
    degree_0(op, rewriter)


ON_DATA.add(on_data)


def degree_0(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Says that float results are near 1, where data are narrow."""
    for result in op.results if rewriter.narrow else ():
        if rewriter.format(result) is not None:
            rewriter.set(result, Scaled(ONE))


def source(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """No float operand: the result is unscaled."""


def linear(count: Count) -> Apply:
    """As `keep`, for linear maps that sum terms."""

    def apply(op: ir.Operation, rewriter: ScaleRewriter) -> None:
        info = rewriter.info(op.operands[0])
        if isinstance(info, Scaled):
            level = info.level + rise(count(op), rewriter)
            rewriter.result(op, info.scale, level, info.uncertainty)
        elif info is ANY:
            rewriter.set(op.results[0], ANY)

    return apply


def product(count: Count | None = None) -> Apply:
    """Scales multiply: ``Y_d = A_d . B_d, Y_s = A_s * B_s``; sums of terms raise the level."""

    def apply(op: ir.Operation, rewriter: ScaleRewriter) -> None:
        operands = op.operands
        a, b = rewriter.info(operands[0]), rewriter.info(operands[1])
        if a is ANY or b is ANY:
            rewriter.set(op.results[0], ANY)
        elif is_huge(a, b) or is_huge(b, a):
            rewriter.replace(op, 0, rewriter.rescale_to(operands[0], ONE, op.operation))
            rewriter.replace(op, 1, rewriter.rescale_to(operands[1], ONE, op.operation))
        elif isinstance(a, Scaled) or isinstance(b, Scaled) or _sizes_known(rewriter, a, b):
            (s, m), (t, n) = _factor(op, rewriter, 0, a), _factor(op, rewriter, 1, b)
            terms = count(op) if count else None
            up = rise(terms, rewriter)
            if drifts(op, s, t, rewriter):
                (s, m), (t, n) = nearer(op, rewriter, {0: (s, m), 1: (t, n)}, up)
            scale = s * t
            if s.powers and t.powers and _is_too_steep(op.results[0], scale, rewriter):
                (s, m), (t, n) = flattened(op, rewriter, (0, 1), (s, t))
                scale = s * t
            found = product_uncertainty(a, b, 1, terms)
            _finish(op, Scaled(scale, m + n + up, found), terms, rewriter)

    NEUTRAL.add(apply)
    return apply


def quotient(dividend: int = 0, divisor: int = 1) -> Apply:
    """Scales divide: ``Y_d = A_d / B_d, Y_s = A_s / B_s``."""

    def apply(op: ir.Operation, rewriter: ScaleRewriter) -> None:
        operands = op.operands
        a, b = rewriter.info(operands[dividend]), rewriter.info(operands[divisor])
        if a is ANY or b is ANY:
            rewriter.set(op.results[0], ANY)
        elif isinstance(a, Scaled) or isinstance(b, Scaled) or _sizes_known(rewriter, a, b):
            (s, m), (t, n) = _factor(op, rewriter, dividend, a), _factor(op, rewriter, divisor, b)
            if drifts(op, s, t, rewriter, -1):
                factors = {dividend: (s, m), divisor: (t, n)}
                (s, m), (t, n) = nearer(op, rewriter, factors, divisor=divisor)
            scale = s / t
            if s.powers and t.powers and _is_too_steep(op.results[0], scale, rewriter):
                (s, m), (t, n) = flattened(op, rewriter, (dividend, divisor), (s, t))
                scale = s / t
            found = product_uncertainty(a, b, -1)
            _finish(op, Scaled(scale, m - n, found), None, rewriter)

    NEUTRAL.add(apply)
    return apply


def _finish(op: ir.Operation, info: Scaled, terms: int | None, rewriter: ScaleRewriter) -> None:
    """Says what a product is; whole octaves of what is known to be missing in its level count.

    Levels of arguments are rounded down where sizes are not predicted. In a chain of gains, what is
    lost adds up. The level of a contraction is rounded for other reasons as well.
    """
    drift = info.uncertainty.drift
    if drift:
        octaves = 0 if terms else int(drift)
        rest = 0.0 if terms else drift - octaves
        uncertainty = info.uncertainty.drifting(rest)
        info = info._replace(level=info.level + octaves, uncertainty=uncertainty)
    rewriter.set(op.results[0], info)


def steep(value: ir.Value, scale: Scale, rewriter: ScaleRewriter, *, most: int = STEEP) -> bool:
    """Whether the data of a value at a scale could leave its format, while the values do not.

    Polynomials get there: each turn of Horner's scheme multiplies by X once more, and adds a
    constant that belongs to scale 1. So do the squares of a deep network's gradients, whose scale
    is a product of many: each may be some powers of two away from what its data need. Narrow
    formats keep to levels instead.
    """
    near = steepness(scale) <= most and abs(scale.exponent) <= FAR
    if near and (len(scale.powers) < 3 or scale.degree <= MANY):
        return False
    format_ = rewriter.format(value)
    return format_ is not None and format_.wide


_BEYOND, _ABSURD = 32, 1024
"""The highest powers where formats are narrow: in wide data, and in any. Each squaring doubles one,
and a scale is made of as many factors."""


def _is_too_steep(value: ir.Value, scale: Scale, rewriter: ScaleRewriter) -> bool:
    """Whether a product of two run-time scales is one that data should not follow."""
    if not rewriter.narrow:
        return steep(value, scale, rewriter)
    power = steepness(scale)
    if power <= _BEYOND:
        return False
    format_ = rewriter.format(value)
    return power > _ABSURD or (format_ is not None and format_.wide)


def _sizes_known(rewriter: ScaleRewriter, a: ScaleInfo, b: ScaleInfo) -> bool:
    """Whether to follow the size of a product of constants: gradients begin with one, 1/N."""
    return rewriter.narrow and isinstance(a, Splat) and isinstance(b, Splat)


_CONTRACTION_BIAS, _GAIN_BIAS = 0.05, 0.1
"""Octaves by which the rules of contractions, and of products with an argument, are off."""


def product_uncertainty(
    a: ScaleInfo, b: ScaleInfo, sign: int = 1, terms: int | None = None
) -> Uncertainty:
    """The uncertainty of ``A * B**sign``, or of a contraction.

    Operands that are uncertain for one reason may be correlated: the terms of a sum of n products
    then add up to between sqrt(n) and n of their size.

    Args:
        a: What is known of A.
        b: What is known of B.
        sign: 1, or -1 for a quotient.
        terms: How many products are summed for each element; one if None.
    """
    if not isinstance(a, Scaled):
        return b.uncertainty**sign if isinstance(b, Scaled) else CERTAIN
    if not isinstance(b, Scaled):
        return a.uncertainty
    if not (a.uncertainty.degrees and b.uncertainty.degrees):
        return a.uncertainty.times(b.uncertainty, sign)
    found = a.uncertainty.times(b.uncertainty, sign)
    correlation = a.uncertainty.correlation(b.uncertainty)
    if correlation:
        most = max(1.0, math.log2(terms) / 2) if terms else 1.0
        found = found.with_root(correlation * most)
    if terms:
        return found.with_bias(_CONTRACTION_BIAS)
    gain = a.uncertainty.single or b.uncertainty.single
    return found.with_bias(_GAIN_BIAS) if gain else found


def _factor(
    op: ir.Operation, rewriter: ScaleRewriter, index: int, info: ScaleInfo
) -> tuple[Scale, float]:
    """Scale and level with which an operand enters a product."""
    if isinstance(info, Scaled):
        return info.scale, info.level
    if not isinstance(info, Splat):
        return ONE, 0
    format_ = rewriter.format(op.operands[index])
    if format_ is None or format_.wide or not info.level:
        return ONE, rewriter.size(info)
    return _mantissa(op, rewriter, index, info), rewriter.size(info) - info.level


def _mantissa(op: ir.Operation, rewriter: ScaleRewriter, index: int, info: Splat) -> Scale:
    """Splits a constant into mantissa and exponent (Scalify paper, §3.4).

    Needed only where the format is narrow; elsewhere the exponent is kept as a level.
    """
    scale = Scale(info.level)
    rewriter.replace(op, index, rewriter.rescale_to(op.operands[index], scale, op.operation))
    return scale


def align(*indices: int, scaled: bool = True, either: bool = False) -> Apply:
    """Rescales operands to one scale s, the meet of theirs: ``Y_d = f(X_d * X_s / s, ...)``.

    Args:
        indices: The operands to rescale; all if none is given.
        scaled: Whether the result has that scale; otherwise it is unscaled, of degree 0.
        either: See `ScaleRewriter.align`.
    """

    def apply(op: ir.Operation, rewriter: ScaleRewriter) -> None:
        target = rewriter.align(op, indices or range(len(op.operands)), either=either)
        if scaled:
            rewriter.set(op.results[0], target)
        else:
            degree_0(op, rewriter)

    return apply


def add(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """As `align`, for sums of two; where sizes are predicted, the result has that of the sum."""
    operands = op.operands
    infos = rewriter.info(operands[0]), rewriter.info(operands[1])
    target = _met(*infos) or _at_natural_scale(op, infos, rewriter) or rewriter.align(op, (0, 1))
    if isinstance(target, Scaled):
        if rewriter.predicts:
            target = target._replace(level=_level_of_sum(target, infos, rewriter))
        degree = target.uncertainty.degree
        if degree >= _NONLINEAR and any(map(_is_constant, infos)):
            either = target.uncertainty.with_root(_EITHER * degree)
            target = target._replace(uncertainty=either)
    elif target is None and rewriter.predicts:
        target = size_of_sum(op.operation, infos)
    rewriter.set(op.results[0], target)


NEUTRAL.add(add)


def _is_constant(info: ScaleInfo) -> bool:
    if isinstance(info, Scaled):
        return info.uncertainty.constant
    return info is None or is_unit(info)


_NONLINEAR, _EITHER = 2, 2.0
"""From which degree on a power may be much larger, or much smaller, than the constant that it is
added to, and the octaves for each degree by which the sum is uncertain then."""


def _met(a: ScaleInfo, b: ScaleInfo) -> Scaled | None:
    """What two values are aligned to that are at scale 1 already; None if it is not so plain."""
    if isinstance(a, Scaled) and isinstance(b, Scaled) and a.scale == ONE == b.scale:
        larger = a if a.level >= b.level else b
        return larger._replace(uncertainty=mean_uncertainty((a, b)))
    return None


def _at_natural_scale(
    op: ir.Operation, infos: Sequence[ScaleInfo], rewriter: ScaleRewriter
) -> Scaled | None:
    """Rescales an operand to scale 1 if the constant it is added to would be far from unit there.

    Each turn of Horner's scheme adds a constant near 1 to a product. At the scale of the product it
    would be further from unit in each turn.

    Returns:
        What is known of the sum; None where it is no such sum.
    """
    format_ = rewriter.format(op.results[0])
    if rewriter.narrow or format_ is None or not format_.wide:
        return None  # narrow data need a scale, and programs that have some meet at 1 in any case
    for index in (0, 1):
        info, other = infos[index], infos[1 - index]
        if isinstance(info, Scaled) and is_unit(other):
            size, static = rewriter.size(other), info.scale.static
            if static and abs(info.scale.exponent - size) <= NATURAL:
                return None
            rewriter.replace(op, index, rewriter.rescale_to(op.operands[index], ONE, op.operation))
            level = max(info.level + info.scale.exponent if static else 0, size)
            return Scaled(ONE, round(level), info.uncertainty)
    return None


def _level_of_sum(target: Scaled, infos: Sequence[ScaleInfo], rewriter: ScaleRewriter) -> float:
    """The level of a sum at a scale; constants count that are no masks."""
    scale = target.scale
    levels = [f.level_at(scale) for f in infos if isinstance(f, Scaled)]
    if scale.static:
        levels += [rewriter.size(f) - scale.exponent for f in infos if is_unit(f)]
    return added(levels) if levels else target.level


def unscale_activation(activation: ActivationSize) -> Apply:
    """As `unscale`, for an activation, whose result has a size that is known of its input's."""

    def apply(op: ir.Operation, rewriter: ScaleRewriter) -> None:
        info = rewriter.info(op.operands[0])
        if rewriter.predicts and rewriter.narrow and _of_constant(op, info) is None:
            rewriter.read_all(op)
            rewriter.result(op, ONE, activation.size(rewriter.size(info)))
        else:
            unscale(op, rewriter)

    return apply


def unscale_captures(op: ir.Operation, rewriter: ScaleRewriter) -> int:
    """Unscales what the regions of an op read; says how many operands in them that are."""
    inner = [i for region in op.regions for block in region.blocks for i in block.operations]
    return sum(_unscale_captures(i, op.operation, rewriter) for i in inner)


def _unscale_captures(inner: ir.Operation, outer: ir.Operation, rewriter: ScaleRewriter) -> int:
    count = 0
    for index, value in enumerate(inner.operands):
        if isinstance(rewriter.info(value), Scaled):
            rewriter.replace(inner, index, rewriter.rescale_to(value, ONE, outer))
            count += 1
    nested = [i for region in inner.regions for block in region.blocks for i in block.operations]
    return count + sum(_unscale_captures(i, outer, rewriter) for i in nested)


def opaque(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """An op with no scaled form: unscaled around, with a remark."""
    scaled = sum(isinstance(rewriter.info(v), Scaled) for v in op.operands)
    rewriter.read_all(op)
    if scaled + unscale_captures(op, rewriter):
        rule = RULES.get(op.operation.name)
        here = "" if rule is None or rule.family == "opaque" else " here"
        rewriter.remark(
            op, f"has no scaled form{here}; its operands are multiplied with their scales"
        )
    for result in op.results if rewriter.narrow else ():
        if rewriter.format(result) is not None:
            rewriter.set(result, Scaled(ONE, 0, UNKNOWN))


def among_zeros(info: Scaled, whole: ir.Value, part: ir.Value, rewriter: ScaleRewriter) -> Scaled:
    """The size of values that are put among zeros, which the rms is of as well.

    Args:
        info: What is known of the values.
        whole: A value of the shape of the result.
        part: The values.
        rewriter: Knows whether sizes are predicted.
    """
    count, own = (static_product(value.type.shape) for value in (whole, part))
    fall = rise(count // own, rewriter) if count and own and count > own else 0
    return info._replace(level=info.level - fall)


def static_product(sizes: Sequence[int]) -> int | None:
    """The product of sizes; None if one is dynamic."""
    return math.prod(sizes) if all(size >= 0 for size in sizes) else None
