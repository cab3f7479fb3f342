"""Elementwise ops."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import FACTORS, POWER_STEEP
from scalify_hlo.algebra.scale import (
    ANY,
    OF_AUTHOR,
    OF_CAST,
    OF_CONSTANTS,
    OF_PAIRS,
    ONE,
    VALUES,
    Scaled,
    ScaleInfo,
    Splat,
    right_of,
)
from scalify_hlo.algebra.uncertainty import UNKNOWN
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import FORMATS, FloatFormat, float_format, format_of, is_wide
from scalify_hlo.ir.traits import SUMS, where
from scalify_hlo.recipes.model import BOUNDED
from scalify_hlo.rules.choices import is_zero, limit, one_hot, select
from scalify_hlo.rules.families import (
    align,
    keep,
    on_data,
    passthrough,
    product,
    product_uncertainty,
    quotient,
    rise,
    steep,
    unscale,
    unscale_activation,
)
from scalify_hlo.rules.masks import size_of_count, uncertainty_of_count
from scalify_hlo.rules.read_sizes import size_of_angle, size_of_read
from scalify_hlo.rules.registry import meets, rule
from scalify_hlo.rules.reported_scales import CastScale, take_readers
from scalify_hlo.rules.roots import root
from scalify_hlo.rules.rounding import at_safe_scale, beyond, held, predicted
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.source_sizes import info_of_integers
from scalify_hlo.rules.sums import add
from scalify_hlo.rules.unit_scaling import ACTIVATIONS
from scalify_hlo.rules.untrusted import Cast, noted

_ADD = "algorithm 3 of the Scalify paper; for powers of two its add rule is max"

rule(SUMS, add, _ADD)
for _name, _apply in {"maximum": limit, "minimum": limit, "remainder": align()}.items():
    rule(_name, _apply, "homogeneous of degree 1: f(s*a, s*b) = s*f(a, b)", family="align")
rule("complex", align(), "linear in both parts")
rule(
    "compare",
    align(scaled=False, bounds=True),
    "a common positive factor keeps the order",
    "s = meet(A_s, B_s); Y = compare(A_d*A_s/s, B_d*B_s/s)",
)


def atan2(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Aligns the operands of atan2, whose result is small if the ratio is."""
    y, x = (f.at(ONE) if isinstance(f, Scaled) else f for f in rewriter.infos(list(op.operands)))
    rewriter.align(op, (0, 1))
    if rewriter.narrow:
        ratio = Scaled(ONE, rewriter.size(y) - rewriter.size(x), product_uncertainty(y, x, -1))
        rewriter.set(op.results[0], size_of_angle(ratio))


rule(
    "atan2",
    atan2,
    "homogeneous of degree 0",
    "s = meet(A_s, B_s); Y = atan2(A_d*A_s/s, B_d*B_s/s)",
    family="align",
)
rule(
    "select",
    select,
    "data movement; §3.4 of the Scalify paper for masks",
    "s = meet(A_s, B_s); Y_d = select(P, A_d*A_s/s, B_d*B_s/s); Y_s = s",
    family="align",
)
rule("clamp", limit, "minimum and maximum", meets("LXH"), family="align")

rule("multiply", product(), "§3.2 of the Scalify paper", "Y_d = A_d*B_d; Y_s = A_s*B_s")
rule("divide", quotient(), "§3.2 of the Scalify paper", "Y_d = A_d/B_d; Y_s = A_s/B_s")
_ROOT = "sqrt(h^2*x) = h*sqrt(x); rounding down as in §3.2 of the Scalify paper"
rule("sqrt", root(2), _ROOT)
rule("rsqrt", root(2, -1), "rsqrt(h^2*x) = rsqrt(x)/h")
rule("cbrt", root(3), "cbrt(h^3*x) = h*cbrt(x)", exact=False)

rule(("real", "imag"), keep, "data movement")
rule("negate", passthrough(lambda value: -value), "linear", "Y_d = -X_d; Y_s = X_s")
rule("abs", passthrough(abs), "homogeneous of degree 1", "Y_d = |X_d|; Y_s = X_s")

rule(("sign", "is_finite"), on_data, "scales are positive and finite", "Y = {op}(X_d)")
rule(
    where("exponential", "logarithm", "trigonometric", "integral"), unscale, "no homogeneity to use"
)
for _name, _activation in {"logistic": "sigmoid", "tanh": "tanh"}.items():
    _apply = unscale_activation(ACTIVATIONS[_activation])
    rule(_name, _apply, "no homogeneity to use", family="read")
rule("bitcast_convert", unscale, "bits belong to the value")


def power(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Integer powers by constants keep a scale; any other power reads values."""
    base, exponent = rewriter.infos(op.operands)
    if isinstance(base, Scaled) and isinstance(exponent, Splat) and exponent.value.is_integer():
        n = int(exponent.value)
        fits = abs(n) <= FACTORS and format_of(op.operands[0].type) is not None
        if fits and not steep(op.results[0], base.scale**n, rewriter, most=POWER_STEEP):
            uncertainty = (base.uncertainty**n).with_root(abs(n))
            return rewriter.result(op, base.scale**n, base.level * n, uncertainty)
    rewriter.read_all(op)
    if rewriter.narrow and isinstance(base, Scaled):
        rewriter.set(op.results[0], _size_of_power(op, exponent, rewriter))
    return None


def _size_of_power(op: ir.Operation, exponent: ScaleInfo, rewriter: ScaleRewriter) -> Scaled:
    """Returns the size of a power of a value at scale 1; unknown if the exponent varies."""
    base = rewriter.info(op.operands[0])
    if not isinstance(base, Scaled) or not isinstance(exponent, Splat):
        return Scaled(ONE, 0, UNKNOWN)
    n = exponent.value
    uncertainty = (base.uncertainty**n).with_root(abs(n))
    return Scaled(ONE, round(base.level * n), uncertainty)


rule(
    "power",
    power,
    "§3.2 of the Scalify paper, product",
    "Y_d = X_d^n; Y_s = X_s^n for a constant integer n; else Y = (X_d*X_s)^(P_d*P_s)",
    family="power",
)


def convert(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Converts data between floats.

    Conversions to integers and booleans read values. So do conversions to narrow formats, since the
    program rounds values, unless the author asked for scales; see `_rounded`.
    """
    if attributes.CAST in op.attributes:
        return cast(op, rewriter)
    value, result = op.operands[0], op.results[0]
    info = rewriter.info(value)
    source, target = rewriter.format(value), rewriter.format(result)
    if target is None or source is None:
        if source is not None or target is None:
            return rewriter.read_all(op)
        if rewriter.predicts and (classes := one_hot(value)):
            rewriter.result(op, ONE, -rise(classes, rewriter))
        elif rewriter.predicts and (size := size_of_count(value)) is not None:
            rewriter.result(op, ONE, size, uncertainty_of_count())
        elif rewriter.keeps_values(result):
            rewriter.set(result, info_of_integers(value))
        return None
    if not target.wide and target != source and not source.small:
        return _rounded(op, target, rewriter)
    if isinstance(info, Scaled):
        if target.exponent_bits < source.exponent_bits:
            scale = ONE if rewriter.read_next(result) else rewriter.bounded(value, info, target)
            rewriter.rescale(op, 0, scale)
        return rewriter.set(result, rewriter.info(op.operands[0]))
    if info is ANY or (isinstance(info, Splat) and target.holds(info.value)):
        return rewriter.set(result, info)
    return None


def _rounded(op: ir.Operation, target: FloatFormat, rewriter: ScaleRewriter) -> None:
    """Rewrites a cast of the program to a narrow format, whose purpose is to round.

    It rounds values. If the author asked for scales, it rounds data near unit, as a cast of a
    recipe does.
    """
    value, result = op.operands[0], op.results[0]
    info = rewriter.info(value)
    right = right_of(info)
    computed = attributes.COMPUTED in op.attributes
    if right == OF_PAIRS and not computed and _is_widened(result):
        right = VALUES  # It only rounds: the program does not compute in the format.
    constant = right == OF_CONSTANTS and not target.small
    if constant or right >= _least(target):
        op.attributes[attributes.CAST] = ir.StringAttr.get(attributes.ASKED)
        return cast(op, rewriter)
    rewriter.read_all(op)
    if info is ANY or (isinstance(info, Splat) and target.holds(info.value)):
        rewriter.assume(result, info)
    elif isinstance(info, Scaled) and rewriter.narrow:
        rewriter.assume(result, info.at(ONE)._replace(right=VALUES))
    return None


def _is_widened(narrow: ir.Value) -> bool:
    """Whether a program only converts a value back to a wide format; casts are for matmuls."""
    users = [use.owner.operation for use in narrow.uses]
    if any(u.name != "stablehlo.convert" or attributes.CAST in u.attributes for u in users):
        return False
    return bool(users) and all(is_wide(user.results[0].type) for user in users)


def _least(target: FloatFormat) -> int:
    """Returns the least right by which the program's own roundings to a format round data."""
    return OF_AUTHOR if target.small else OF_PAIRS


def _cast_value(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Casts values, which have a scale of their own: a level is not folded into their data."""
    info = rewriter.info(op.operands[0])
    right = rewriter.right(op) if rewriter.asks(op) else VALUES
    rewriter.read_all(op)
    if rewriter.narrow:
        rewriter.assume(op.results[0], size_of_read(op, info)._replace(right=right))
    elif right:  # The data fill the format; see `marker_ops.scaled_result`.
        rewriter.assume(op.results[0], Scaled(ONE, 0, UNKNOWN, right))


_ASKED = "rounds data near unit to {}, and not the values, since the author asked for scales"


def cast(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Rewrites a cast of a recipe: data near unit are cast and saturate; ``Y_s = X_s * 2^level``.

    The convert of StableHLO does not saturate. XLA fuses it into matmuls only with a clamp before.
    """
    if (kind := _taken_kind(op, rewriter)) == attributes.VALUE:
        return _cast_value(op, rewriter)
    value, result = op.operands[0], op.results[0]
    info, source, target = rewriter.info(value), rewriter.format(value), rewriter.format(result)
    if target is None or source is None:
        raise TypeError(f"no cast between floats: {value.type} to {result.type}")
    right = right_of(info)
    if (own := kind == attributes.ASKED) and not target.wide:
        rewriter.remark(op, _ASKED.format(target.name))
        right = right or OF_AUTHOR
        if info is None and not rewriter.narrow:
            info = Scaled(ONE, 0, UNKNOWN)
    readers = take_readers(op)
    if rewriter.rounds_values(value):  # Its own format could round or flush the data.
        value, source = emit.convert(value, ir.F32Type.get(), op.operation), FORMATS["f32"]
        rewriter.assume(value, info)
        rewriter.replace(op, 0, value)
    if readers and (info is ANY or isinstance(info, Splat)):
        rewriter.notes.casts.append(CastScale(readers, "constant"))
    if is_zero(value) or (isinstance(info, Splat) and target.holds(info.value)):
        return rewriter.set(result, info)
    if info is ANY:
        if not target.infinite:
            rewriter.replace(op, 0, held(value, source, target, op.operation, rewriter))
        return rewriter.set(result, info)
    this = Cast(op, info, target, kind)
    known = at_safe_scale(this, rewriter)
    taken = known is not None and rewriter.recipe.untrusted != BOUNDED
    remark = "" if known is None else known.remark
    known = known or predicted(this, rewriter)
    if readers:
        found = noted(readers, this, measured=taken)
        rewriter.notes.casts.append(found._replace(scale=str(known.info.scale), remark=remark))
    tested = beyond(known, this, rewriter)
    value = held(known.value, source, target, op.operation, rewriter, own=own, tested=tested)
    rewriter.replace(op, 0, value)
    made = known.info._replace(right=right or OF_CAST)
    if kind == attributes.GRADIENT and target.small:
        # The errors of gradients have either sign. Behind 50 convolutions of a ResNet-50, the sizes
        # of its 206 operands are off by at most 2.1 octaves (`benchmarks.predicted_sizes`).
        made = made._replace(uncertainty=made.uncertainty.averaged)
    return rewriter.assume(result, made)


def _taken_kind(op: ir.Operation, rewriter: ScaleRewriter) -> str:
    """Removes the kind of a cast from it, and returns it."""
    kind: str = ir.StringAttr(op.attributes[attributes.CAST]).value
    del op.attributes[attributes.CAST]
    rewriter.values.changed = True
    return kind


rule(
    "convert",
    convert,
    "rounding commutes with powers of two",
    "Y_d = convert(X_d); Y_s = X_s to floats with the range of f32, "
    "and to others if the author asked for scales; else Y = convert(X_d*X_s)",
    family="keep",
)


def reduce_precision(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Keeps the scale if only mantissa bits are cut; otherwise rounds as `_rounded` does."""
    value = op.operands[0]
    info, source = rewriter.info(value), rewriter.format(value)
    exponent, mantissa = (op.attributes[f"{part}_bits"].value for part in ("exponent", "mantissa"))
    if source is not None and exponent >= source.exponent_bits:
        return keep(op, rewriter) if isinstance(info, Scaled) else None
    target = float_format(exponent, mantissa)
    if source is None or target.wide or not isinstance(info, Scaled) or info.right < _least(target):
        return rewriter.read_all(op)
    rewriter.remark(op, _ASKED.format(target.name))
    this = Cast(op, info, target, attributes.ASKED)
    near = at_safe_scale(this, rewriter) or predicted(this._replace(target=source), rewriter)
    at = op.operation
    rewriter.replace(op, 0, held(near.value, source, target, at, rewriter, own=True))
    return rewriter.assume(op.results[0], near.info._replace(right=info.right))


rule(
    "reduce_precision",
    reduce_precision,
    "rounding commutes with powers of two",
    "Y_d = reduce_precision(X_d); Y_s = X_s unless exponent bits are cut, "
    "and then too if the author asked for scales",
    family="keep",
)
