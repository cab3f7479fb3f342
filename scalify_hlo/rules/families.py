"""The families of rules: a few ways in which ops act on data and scales.

Most rules are one line with a family. Each function edits an op in place. An op is visited only if
one of its operands is scaled or a constant, so integer and boolean ops are not visited.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import ANY_POWER, FAR, MANY, READ_CONE, STEEP, WIDE_POWER
from scalify_hlo.algebra.runtime_size import powers_of
from scalify_hlo.algebra.scale import ANY, ONE, Scale, Scaled, ScaleInfo, Splat
from scalify_hlo.algebra.search import Search
from scalify_hlo.algebra.uncertainty import CERTAIN, UNKNOWN, Uncertainty
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.traits import ARITHMETIC, ELEMENTWISE, REDUCTIONS, THROUGH_ZERO, TRANSCENDENTAL
from scalify_hlo.ir.value_map import ValueSet
from scalify_hlo.rules.drift import drifts, flattened, is_read_square, nearer, steepness
from scalify_hlo.rules.emitter import NEAREST, UP
from scalify_hlo.rules.huge import is_huge
from scalify_hlo.rules.read_sizes import size_of_read
from scalify_hlo.rules.registered import ON_DATA
from scalify_hlo.rules.registry import RULES, Apply, of_family
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.source_sizes import size_of_function
from scalify_hlo.rules.unit_scaling import ActivationSize, size_of, sum_of

Count = Callable[[ir.Operation], int | None]
"""Returns the number of terms that an op sums for each element; None if it is not static."""


def rise(count: int | None, rewriter: ScaleRewriter) -> float:
    """Returns log2(sqrt(count)), by which a sum of unit terms raises the level.

    The result is rounded as the recipe says, by default down, unless sizes are predicted.
    """
    if not count:
        return 0
    if rewriter.predicts:
        return size_of(sum_of(count))
    rounding = rewriter.recipe.rounding
    if rounding == UP:
        return ((count - 1).bit_length() + 1) // 2
    return (count.bit_length() - (rounding != NEAREST)) // 2


@of_family("keep", neutral=True)
def keep(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Keeps the scale: ``Y_d = f(X_d), Y_s = X_s``."""
    rewriter.pass_on(op.operands[0], op.results[0])


@of_family("keep")
def keep_each(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Keeps the scale of every operand in the result of the same number."""
    for operand, result in zip(op.operands, op.results, strict=True):
        rewriter.pass_on(operand, result)


def passthrough(value: Callable[[float], float]) -> Apply:
    """Returns `keep` for ops that change constants by a function of one number."""

    @of_family("keep")
    def apply(op: ir.Operation, rewriter: ScaleRewriter) -> None:
        info = rewriter.info(op.operands[0])
        rewriter.set(op.results[0], Splat(value(info.value)) if isinstance(info, Splat) else info)

    return apply


@of_family("read")
def unscale(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Reads ``X_d * X_s``; the result is unscaled, or at scale 1 if data are narrow."""
    info = rewriter.info(op.operands[0])
    sized = rewriter.narrow or rewriter.asks(op)
    found = (_of_constant(op, info) or size_of_read(op.operation, info)) if sized else None
    if found is not None and op.operation.name in THROUGH_ZERO and isinstance(info, Scaled):
        size = info.at(ONE).level
        if powers_of(size):  # Small if the input is.
            found = found._replace(level=rewriter.sizes.least([size, 0]))
    rewriter.read_all(op)
    if found is not None:
        for result in op.results:
            if rewriter.format(result) is not None:
                rewriter.set(result, found)


def _of_constant(op: ir.Operation, info: ScaleInfo) -> Scaled | None:
    return size_of_function(op.operation, info) if isinstance(info, Splat) else None


@of_family("degree 0")
def on_data(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Applies a function of degree 0 to the data; the result is unscaled."""
    degree_0(op, rewriter)


ON_DATA.add(on_data)


def degree_0(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Sets the sizes of float results to 1 if data are narrow."""
    for result in op.results if rewriter.narrow else ():
        if rewriter.format(result) is not None:
            rewriter.set(result, Scaled(ONE))


@of_family("source")
def source(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Does nothing: the op has no float operand, and its result is unscaled."""


def linear(count: Count) -> Apply:
    """Returns `keep` for linear maps that sum terms."""

    def apply(op: ir.Operation, rewriter: ScaleRewriter) -> None:
        info = rewriter.info(op.operands[0])
        if isinstance(info, Scaled):
            level = info.level + rise(count(op), rewriter)
            rewriter.result(op, info.scale, level, info.uncertainty)
        elif info is ANY:
            rewriter.set(op.results[0], ANY)

    return apply


def product(count: Count | None = None) -> Apply:
    """Multiplies scales: ``Y_d = A_d . B_d, Y_s = A_s * B_s``; sums of terms raise the level."""

    @of_family("product", neutral=True)
    def apply(op: ir.Operation, rewriter: ScaleRewriter) -> None:
        a, b = rewriter.info(op.operands[0]), rewriter.info(op.operands[1])
        if is_huge(a, b) or is_huge(b, a):
            rewriter.rescale(op, 0, ONE)
            rewriter.rescale(op, 1, ONE)
        elif a is b and is_read_square(op, rewriter):
            rewriter.read_all(op)
            rewriter.assume(op.results[0], Scaled(ONE, right=rewriter.right(op)))
        else:
            _multiply(op, rewriter, (0, 1), 1, count)

    return apply


def quotient(dividend: int = 0, divisor: int = 1) -> Apply:
    """Divides scales: ``Y_d = A_d / B_d, Y_s = A_s / B_s``."""

    @of_family("quotient", neutral=True)
    def apply(op: ir.Operation, rewriter: ScaleRewriter) -> None:
        _multiply(op, rewriter, (dividend, divisor), -1)

    return apply


def _multiply(
    op: ir.Operation,
    rewriter: ScaleRewriter,
    sides: tuple[int, int],
    sign: int,
    count: Count | None = None,
) -> None:
    """Sets the scale of ``A * B**sign``, or of a contraction of both.

    Args:
        op: The op.
        rewriter: The rewriter.
        sides: The numbers of A and B.
        sign: 1, or -1 for a quotient.
        count: Returns the number of terms that are summed; None for an elementwise op.
    """
    first, second = sides
    a, b = rewriter.info(op.operands[first]), rewriter.info(op.operands[second])
    if a is ANY or b is ANY:
        return rewriter.set(op.results[0], ANY)
    if not (isinstance(a, Scaled) or isinstance(b, Scaled) or _sizes_known(rewriter, a, b)):
        return None
    right = rewriter.right(op)
    s, m = _factor(op, rewriter, first, a, right)
    t, n = _factor(op, rewriter, second, b, right)
    terms = count(op) if count else None
    up = rise(terms, rewriter)
    if drifts(op, s, t, rewriter, sign):
        divisor = second if sign < 0 else None
        (s, m), (t, n) = nearer(op, rewriter, {first: (s, m), second: (t, n)}, divisor)
    if s.powers and t.powers and _is_too_steep(op.results[0], s * t**sign, rewriter):
        (s, m), (t, n) = flattened(op, rewriter, sides, (s, t))
    power = power_uncertainty(op, a, b, rewriter) if count is None and sign > 0 else None
    found = power or product_uncertainty(a, b, sign, terms)
    return _finish(op, Scaled(s * t**sign, m + sign * n + up, found, right), terms, rewriter)


def _finish(op: ir.Operation, info: Scaled, terms: int | None, rewriter: ScaleRewriter) -> None:
    """Sets the scale information of a product, and adds whole octaves of drift to its level.

    Levels are whole numbers if sizes are not predicted, and in a chain of gains or of contractions
    the errors add up.
    """
    drift = info.uncertainty.drift
    if terms and rewriter.narrow and not rewriter.predicts:
        drift += size_of(sum_of(terms)) - rise(terms, rewriter)
    if drift:
        octaves = int(drift)
        uncertainty = info.uncertainty.drifting(drift - octaves)
        info = info._replace(level=info.level + octaves, uncertainty=uncertainty)
    rewriter.set(op.results[0], info)


def steep(value: ir.Value, scale: Scale, rewriter: ScaleRewriter, *, most: int = STEEP) -> bool:
    """Whether the data of a value at a scale could leave its format, while the values do not.

    This happens in polynomials: each step of Horner's scheme multiplies by X, and adds a constant
    at scale 1. It also happens to the squares of a deep network's gradients, whose scale is a
    product of many factors, each of which may be wrong by a few powers of two. Narrow formats are
    excluded, as levels are folded into their scales.
    """
    near = steepness(scale) <= most and abs(scale.exponent) <= FAR
    if near and (len(scale.powers) < 3 or scale.degree <= MANY):
        return False
    return rewriter.is_wide(value)


def _is_too_steep(value: ir.Value, scale: Scale, rewriter: ScaleRewriter) -> bool:
    """Whether a product of two run-time scales is too steep for data."""
    if not rewriter.narrow:
        return steep(value, scale, rewriter)
    power = steepness(scale)
    return power > ANY_POWER or (power > WIDE_POWER and rewriter.is_wide(value))


def _sizes_known(rewriter: ScaleRewriter, a: ScaleInfo, b: ScaleInfo) -> bool:
    """Whether to predict the size of a product of constants, such as 1/N in a gradient.

    The product could be flushed in a narrow format, so that it gets a scale if the author asked for
    scales.
    """
    if not (isinstance(a, Splat) and isinstance(b, Splat)):
        return False
    return rewriter.narrow or (rewriter.settings.own and rewriter.settings.asked)


_CONTRACTION_BIAS, _GAIN_BIAS = 0.05, 0.1
"""The uncertainty, in octaves, of the rules of contractions and of products with an argument.

They add up along a forward pass, as each ReLU makes the distribution less like that of normal
numbers. But a contraction averages the elements that gains made larger than others.
"""


def product_uncertainty(
    a: ScaleInfo, b: ScaleInfo, sign: int = 1, terms: int | None = None
) -> Uncertainty:
    """Returns the uncertainty of ``A * B**sign``, or of a contraction.

    Operands with a common root of uncertainty may be correlated: a sum of n products then has
    between sqrt(n) and n times their size.

    Args:
        a: The scale information of A.
        b: The scale information of B.
        sign: 1, or -1 for a quotient.
        terms: The number of products that are summed for each element; None for one.
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
        return found.contracted(_CONTRACTION_BIAS)
    gain = a.uncertainty.single or b.uncertainty.single
    return found.with_gain(_GAIN_BIAS) if gain else found


def _factor(
    op: ir.Operation, rewriter: ScaleRewriter, index: int, info: ScaleInfo, right: int
) -> tuple[Scale, float]:
    """Returns the scale and the level of an operand of a product.

    Args:
        op: The product.
        rewriter: The rewriter.
        index: The number of the operand.
        info: The scale information of the operand.
        right: The right to round the data of the product.
    """
    if isinstance(info, Scaled):
        return info.scale, info.level
    if not isinstance(info, Splat):
        return ONE, 0
    if not info.level or not right or rewriter.is_wide(op.operands[index]):
        return ONE, rewriter.size(info)
    return _mantissa(op, rewriter, index, info), rewriter.size(info) - info.level


def _mantissa(op: ir.Operation, rewriter: ScaleRewriter, index: int, info: Splat) -> Scale:
    """Splits a constant into mantissa and exponent (Scalify paper, §3.4).

    This is needed only in narrow formats; otherwise the exponent is a level.
    """
    scale = Scale(info.level)
    rewriter.rescale(op, index, scale)
    return scale


def align(*indices: int, scaled: bool = True, either: bool = False, bounds: bool = False) -> Apply:
    """Rescales operands to one scale s, the meet of theirs: ``Y_d = f(X_d * X_s / s, ...)``.

    Args:
        indices: The operands to rescale; all if none is given.
        scaled: Whether the result has that scale; otherwise it is unscaled, of degree 0.
        either: See `ScaleRewriter.align`.
        bounds: See `ScaleRewriter.align`.
    """

    @of_family("align")
    def apply(op: ir.Operation, rewriter: ScaleRewriter) -> None:
        every = indices or range(len(op.operands))
        target = rewriter.align(op, every, either=either, bounds=bounds)
        if scaled:
            rewriter.set(op.results[0], target)
        else:
            degree_0(op, rewriter)

    return apply


def unscale_activation(activation: ActivationSize) -> Apply:
    """Returns `unscale` for an activation, whose size follows from that of its input."""

    @of_family("read")
    def apply(op: ir.Operation, rewriter: ScaleRewriter) -> None:
        info = rewriter.info(op.operands[0])
        if rewriter.predicts and rewriter.narrow and _of_constant(op, info) is None:
            rewriter.read_all(op)
            size = rewriter.sizes.of_activation(activation, rewriter.size(info))
            return rewriter.result(op, ONE, size)
        return unscale(op, rewriter)

    return apply


def unscale_captures(op: ir.Operation, rewriter: ScaleRewriter) -> int:
    """Unscales the values that the regions of an op read, and returns their number."""
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


@of_family("opaque")
def opaque(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Unscales the operands of an op without a scaled form, with a remark."""
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
    """Returns the size of a value that is padded with zeros, which are part of the rms.

    Args:
        info: The scale information of the value.
        whole: A value of the shape of the result.
        part: The value.
        rewriter: The rewriter.
    """
    count, own = (static_product(value.type.shape) for value in (whole, part))
    fall = rise(count // own, rewriter) if count and own and count > own else 0
    return info._replace(level=info.level - fall)


def static_product(sizes: Sequence[int]) -> int | None:
    """Returns the product of sizes; None if one is dynamic."""
    return math.prod(sizes) if all(size >= 0 for size in sizes) else None


# Products of powers of one value, which are larger than their factors tell.


_ALIKE: Final = TRANSCENDENTAL | {"stablehlo.broadcast_in_dim", "stablehlo.divide"}
"""Ops whose results have elements of similar size."""

_BIAS: Final = 1.0
"""The octaves by which the rms of a product of powers of one value is above the product of theirs,
and its amax further above its rms: 0.8 and 1.2 for the square of normal numbers, and 1.3 and 1.7
for that of their positive part."""


def power_uncertainty(
    op: ir.Operation, a: ScaleInfo, b: ScaleInfo, rewriter: ScaleRewriter
) -> Uncertainty | None:
    """Returns the uncertainty of an elementwise product of powers of one value.

    The mean of squares is as large as that of normal numbers, so that a product that is only summed
    is none.

    Args:
        op: The product.
        a: The scale information of its first operand.
        b: That of its second one.
        rewriter: The rewriter, which knows the other values.

    Returns:
        None if the operands are no powers of one value.
    """
    if not (isinstance(a, Scaled) and isinstance(b, Scaled)):
        return None
    if not a.uncertainty.is_power_of(b.uncertainty) or _is_only_summed(op.results[0], 2):
        return None
    known = ValueSet(_made_of(op.operands[0], rewriter))
    if not any(value in known for value in _made_of(op.operands[1], rewriter)):
        return None
    return (a.uncertainty * b.uncertainty).with_bias(_BIAS).with_gain(_BIAS)


def _is_only_summed(value: ir.Value, depth: int) -> bool:
    """Whether all uses of a value are sums, of it or of multiples of it."""
    users = [use.owner.operation for use in value.uses]
    return all(
        user.name in REDUCTIONS
        or (depth > 0 and user.name in ARITHMETIC and _is_only_summed(user.results[0], depth - 1))
        for user in users
    )


def _made_of(value: ir.Value, rewriter: ScaleRewriter) -> Iterator[ir.Value]:
    """Yields a value, and the values of unlike elements of which elementwise ops make it.

    Those of a quotient or of a transcendental function are alike, or their range is bounded.
    """

    def is_unlike(value: ir.Value) -> bool:
        alike = not is_block(value.owner) and value.owner.name in _ALIKE
        return not alike and isinstance(rewriter.info(value), Scaled)

    def operands(value: ir.Value) -> Iterable[ir.Value]:
        made = not is_block(value.owner) and value.owner.name in ELEMENTWISE
        return value.owner.operands if made and is_unlike(value) else ()

    search = Search([value], operands, seen=ValueSet(), nearest=True)
    return filter(is_unlike, islice(search, READ_CONE))
