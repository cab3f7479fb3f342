"""The families: a few ways in which ops act on data and scales; most rules are one line of these.

Each function returns what a rule does to an op in place. An op is visited only if one of its
operands has a form, so integer and boolean ops are never seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from scalify_hlo._compat import ir
from scalify_hlo.rules.registry import Apply
from scalify_hlo.rules.split import Split, is_unit
from scalify_hlo.rules.unit_scaling import Activation, added, size_of, sum_of
from scalify_hlo.scale import ANY, ONE, Form, Root, Scale, Scaled, Splat

NEUTRAL: set[Apply] = set()
"""Rules that do nothing where nothing is known of an operand, and find that out by themselves."""

Count = Callable[[ir.Operation], int | None]
"""How many terms an op sums for each element of its result; None if that is not static."""


def rise(count: int | None, split: Split) -> float:
    """log2(sqrt(count)), the rise of the level of a sum of that many unit terms.

    Its floor, unless sizes are predicted.
    """
    if not count:
        return 0
    return size_of(sum_of(count)) if split.predicts else whole_rise(count)


def whole_rise(count: int) -> int:
    """floor(log2(sqrt(count)))."""
    return (count.bit_length() - 1) // 2


def keep(op: ir.Operation, split: Split) -> None:
    """Data move, the scale stays: ``Y_d = f(X_d), Y_s = X_s``."""
    split.pass_on(op.operands[0], op.results[0])


NEUTRAL.add(keep)


def keep_each(op: ir.Operation, split: Split) -> None:
    """Every operand passes to the result of the same number."""
    for operand, result in zip(op.operands, op.results, strict=True):
        split.pass_on(operand, result)


def odd(value: Callable[[float], float]) -> Apply:
    """As `keep`, for ops that change constants by a function of one number."""

    def apply(op: ir.Operation, split: Split) -> None:
        form = split.form(op.operands[0])
        split.set(op.results[0], Splat(value(form.value)) if isinstance(form, Splat) else form)

    return apply


def unscale(op: ir.Operation, split: Split) -> None:
    """The op reads ``X_d * X_s``; its result is unscaled, or at scale 1 where data are narrow."""
    split.read_all(op)
    if split.narrow:
        for result in op.results:
            if split.format(result) is not None:
                split.set(result, Scaled(ONE))


def on_data(op: ir.Operation, split: Split) -> None:
    """A function of degree 0 reads the data and forgets the scale."""


def source(op: ir.Operation, split: Split) -> None:
    """No float operand: the result is unscaled."""


def linear(count: Count) -> Apply:
    """As `keep`, for linear maps that sum terms."""

    def apply(op: ir.Operation, split: Split) -> None:
        form = split.form(op.operands[0])
        if isinstance(form, Scaled):
            split.result(op, form.scale, form.level + rise(count(op), split))
        elif form is ANY:
            split.set(op.results[0], ANY)

    return apply


def product(count: Count | None = None) -> Apply:
    """Scales multiply: ``Y_d = A_d . B_d, Y_s = A_s * B_s``; sums of terms raise the level."""

    def apply(op: ir.Operation, split: Split) -> None:
        operands = op.operands
        a, b = split.form(operands[0]), split.form(operands[1])
        if a is ANY or b is ANY:
            split.set(op.results[0], ANY)
        elif isinstance(a, Scaled) or isinstance(b, Scaled) or _sizes_known(split, a, b):
            (s, m), (t, n) = _factor(op, split, 0, a), _factor(op, split, 1, b)
            if s.powers and t.powers and not split.narrow and steep(op.results[0], s * t, split):
                (s, m), (t, n) = _flattened(op, split, (0, 1), (s, t))
            split.result(op, s * t, m + n + rise(count(op) if count else None, split))

    NEUTRAL.add(apply)
    return apply


def quotient(dividend: int = 0, divisor: int = 1) -> Apply:
    """Scales divide: ``Y_d = A_d / B_d, Y_s = A_s / B_s``."""

    def apply(op: ir.Operation, split: Split) -> None:
        operands = op.operands
        a, b = split.form(operands[dividend]), split.form(operands[divisor])
        if a is ANY or b is ANY:
            split.set(op.results[0], ANY)
        elif isinstance(a, Scaled) or isinstance(b, Scaled) or _sizes_known(split, a, b):
            (s, m), (t, n) = _factor(op, split, dividend, a), _factor(op, split, divisor, b)
            if s.powers and t.powers and not split.narrow and steep(op.results[0], s / t, split):
                (s, m), (t, n) = _flattened(op, split, (dividend, divisor), (s, t))
            split.result(op, s / t, m - n)

    NEUTRAL.add(apply)
    return apply


_STEEP = 4
"""The highest power of one generator that data follow; a fifth could take them out of f32."""

_MANY = 5
"""The most generators, counted with their powers, that data follow."""

_FAR = 80
"""The largest static |log2| that data follow: that of two static scales before they drift."""


def steepness(scale: Scale) -> int:
    """The highest power of a generator, in absolute value."""
    return max((abs(k) for _, k in scale.powers), default=0)


def _weight(scale: Scale) -> tuple[int, int]:
    return steepness(scale), scale.degree


def steep(value: ir.Value, scale: Scale, split: Split, *, most: int = _STEEP) -> bool:
    """Whether the data of a value at a scale could leave its format, while the values do not.

    Polynomials get there: each turn of Horner's scheme multiplies by X once more, and adds a
    constant that belongs to scale 1. So do the squares of a deep network's gradients, whose scale
    is a product of many: each may be some powers of two away from what its data need. Narrow
    formats keep to levels instead.
    """
    near = steepness(scale) <= most and abs(scale.exponent) <= _FAR
    if near and (len(scale.powers) < 3 or scale.degree <= _MANY):
        return False
    format_ = split.format(value)
    return format_ is not None and format_.wide


def _flattened(
    op: ir.Operation,
    split: Split,
    indices: tuple[int, int],
    scales: tuple[Scale, Scale],
) -> list[tuple[Scale, float]]:
    """Scales and levels of two operands after the steeper one was brought to scale 1.

    There its data are the values of the original program, of which no level is known; so none is
    known of what is made with them either.
    """
    which = int(_weight(scales[1]) > _weight(scales[0]))
    index = indices[which]
    split.replace(op, index, split.bring(op.operands[index], ONE, op.operation))
    return [(ONE if i == which else scale, 0) for i, scale in enumerate(scales)]


def _sizes_known(split: Split, a: Form, b: Form) -> bool:
    """Whether to follow the size of a product of constants: gradients begin with one, 1/N."""
    return split.narrow and isinstance(a, Splat) and isinstance(b, Splat)


def _factor(op: ir.Operation, split: Split, index: int, form: Form) -> tuple[Scale, float]:
    """Scale and level with which an operand enters a product."""
    if isinstance(form, Scaled):
        return form
    if not isinstance(form, Splat):
        return ONE, 0
    format_ = split.format(op.operands[index])
    if format_ is None or format_.wide or not form.level:
        return ONE, split.size(form)
    return _mantissa(op, split, index, form), split.size(form) - form.level


def _mantissa(op: ir.Operation, split: Split, index: int, form: Splat) -> Scale:
    """Splits a constant into mantissa and exponent (Scalify paper, §3.4).

    Needed only where the format is narrow; elsewhere the exponent is kept as a level.
    """
    scale = Scale(form.level)
    split.replace(op, index, split.bring(op.operands[index], scale, op.operation))
    return scale


def align(*indices: int, scaled: bool = True, either: bool = False) -> Apply:
    """Brings operands to one scale s, the meet of theirs: ``Y_d = f(X_d * X_s / s, ...)``.

    Args:
        indices: The operands to bring; all if none is given.
        scaled: Whether the result has that scale; otherwise it is unscaled, of degree 0.
        either: See `Split.align`.
    """

    def apply(op: ir.Operation, split: Split) -> None:
        target = split.align(op, indices or range(len(op.operands)), either=either)
        if scaled:
            split.set(op.results[0], target)

    return apply


def total(op: ir.Operation, split: Split) -> None:
    """As `align`, for sums of two; where sizes are predicted, the result has that of the sum."""
    operands = op.operands
    forms = split.form(operands[0]), split.form(operands[1])
    target = _met(*forms) or split.align(op, (0, 1))
    if split.predicts and isinstance(target, Scaled):
        target = Scaled(target.scale, _level_of_sum(target, forms, split))
    split.set(op.results[0], target)


NEUTRAL.add(total)


def _met(a: Form, b: Form) -> Scaled | None:
    """What two values are aligned to that are at scale 1 already; None if it is not so plain."""
    if isinstance(a, Scaled) and isinstance(b, Scaled) and a.scale == ONE == b.scale:
        return a if a.level >= b.level else b
    return None


def _level_of_sum(target: Scaled, forms: Sequence[Form], split: Split) -> float:
    """The level of a sum at a scale; constants count that are no masks."""
    scale = target.scale
    scaled = [f for f in forms if isinstance(f, Scaled) and f.scale.powers == scale.powers]
    levels = [f.level + f.scale.exponent - scale.exponent for f in scaled]
    if scale.static:
        levels += [split.size(f) - scale.exponent for f in forms if is_unit(f)]
    return added(levels) if levels else target.level


def sized(activation: Activation) -> Apply:
    """As `unscale`, for an activation, whose result has a size that is known of its input's."""

    def apply(op: ir.Operation, split: Split) -> None:
        size = split.size(split.form(op.operands[0]))
        unscale(op, split)
        if split.predicts and split.narrow:
            split.result(op, ONE, activation.size(size))

    return apply


def root(n: int, sign: int = 1) -> Apply:
    """Degree 1/n: ``Y_d = f(X_d * r), Y_s = h`` with ``X_s = h^n * r`` and r a small power of two.

    Even powers leave nothing over. For an odd static exponent r is static; for odd powers of
    generators h is a generator of its own.
    """

    def apply(op: ir.Operation, split: Split) -> None:
        form = split.form(op.operands[0])
        if not isinstance(form, Scaled) or isinstance(
            op.operands[0].type.element_type, ir.ComplexType
        ):
            return split.read_all(op)
        scale = form.scale
        for target in _divisible(scale, n, split):
            split.replace(op, 0, split.bring(op.operands[0], target, op.operation))
            scale = target
        level = form.level / n if split.predicts else form.level // n
        return split.result(op, scale.root(n) ** sign, sign * level)

    return apply


def _divisible(scale: Scale, n: int, split: Split) -> Sequence[Scale]:
    """Scales to bring a value to, one by one, the last of which has an n-th root."""
    targets = []
    up = split.recipe.rounding == "up"
    if scale.exponent % n:
        scale = scale.shift(-scale.exponent % n if up else -(scale.exponent % n))
        targets.append(scale)
    rest = [(g, k % n) for g, k in scale.powers if k % n]
    for start in range(0, len(rest), 2):
        part = Scale(0, tuple(rest[start : start + 2]))
        h = split.factors.derive(Root(part, n, up))
        scale = scale / part * Scale(0, ((h, n),))
        targets.append(scale)
    return targets


def unscale_captures(op: ir.Operation, split: Split) -> int:
    """Unscales what the regions of an op read; says how many operands in them that are."""
    inner = [i for region in op.regions for block in region.blocks for i in block.operations]
    return sum(_unscale_captures(i, op.operation, split) for i in inner)


def _unscale_captures(inner: ir.Operation, outer: ir.Operation, split: Split) -> int:
    count = 0
    for index, value in enumerate(inner.operands):
        if isinstance(split.form(value), Scaled):
            split.replace(inner, index, split.bring(value, ONE, outer))
            count += 1
    nested = [i for region in inner.regions for block in region.blocks for i in block.operations]
    return count + sum(_unscale_captures(i, outer, split) for i in nested)


def opaque(op: ir.Operation, split: Split) -> None:
    """An op with no scaled form: unscaled around, with a remark."""
    scaled = sum(isinstance(split.form(v), Scaled) for v in op.operands)
    split.read_all(op)
    if scaled + unscale_captures(op, split):
        split.remark(op, "has no scaled form; its operands are multiplied with their scales")


def static_product(sizes: Sequence[int]) -> int | None:
    """The product of sizes; None if one is dynamic."""
    return math.prod(sizes) if all(size >= 0 for size in sizes) else None
