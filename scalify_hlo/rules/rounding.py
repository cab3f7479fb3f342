"""Data near unit for a rounding: at a predicted or a measured size, and saturated."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.algebra.runtime_size import RuntimeSize
from scalify_hlo.algebra.scale import ONE, Scale, Scaled, Splat
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import FloatFormat
from scalify_hlo.ir.through import readers
from scalify_hlo.ir.traits import LAYOUT, MATMULS
from scalify_hlo.rules.saturation import saturated
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.untrusted import Cast, Trusted, handled, measured


def at_safe_scale(cast: Cast, rewriter: ScaleRewriter) -> Trusted | None:
    """Returns data at a safe scale if their predicted size is not trusted; see `handled`."""
    if cast.kind == attributes.STATE or isinstance(cast.info, Splat):
        return None
    # Sizes are followed only roughly.
    rough = cast.target.small or not rewriter.tracks_uncertainty
    if cast.kind == attributes.ASKED and rough and not rewriter.narrow:
        return measured(cast, rewriter)
    return handled(cast, rewriter)


def held(
    value: ir.Value,
    source: FloatFormat,
    target: FloatFormat,
    at: ir.Operation,
    rewriter: ScaleRewriter,
    *,
    own: bool = False,
    tested: ir.Value | None = None,
) -> ir.Value:
    """Returns data for a conversion, of which finite ones are limited if casts saturate.

    Most casts share the bounds, which are built at the top.
    """
    narrower = target.max_finite < source.max_finite and target.exponent_bits < source.exponent_bits
    if not narrower or not rewriter.recipe.saturate:
        return value
    if not source.holds(target.max_finite):
        value = emit.convert(value, ir.F32Type.get(), at)
        tested = None if tested is None else emit.convert(tested, ir.F32Type.get(), at)
    ends, element = (-target.max_finite, target.max_finite), value.type.element_type
    if isinstance(element, ir.F32Type):
        rewriter.runtime_scales.location = at.location
        low, high = (rewriter.runtime_scales.number(end, wide=False) for end in ends)
    else:
        low, high = (emit.constant(emit.scalar_type(element), end, at) for end in ends)
    splats = rewriter.settings.splats
    return saturated(value, target, low, high, at, splats=splats, own=own, tested=tested)


def beyond(known: Trusted, cast: Cast, rewriter: ScaleRewriter) -> ir.Value | None:
    """Returns the values of a gradient whose data may be finite where f32 would overflow.

    The scale of a pair may be so large. A scale that is computed divides values that are in f32.
    """
    scale = known.info.scale
    if cast.kind != attributes.GRADIENT or not scale.given:
        return None
    return rewriter.multiply(known.value, scale, cast.op)


def predicted(cast: Cast, rewriter: ScaleRewriter) -> Trusted:
    """Returns data at the scale of their predicted size."""
    op, info, _, kind = cast
    scale, above = _cast_scale(cast, rewriter), cast.place.above if kind != attributes.STATE else 0
    value = rewriter.rescale_to(op.operands[0], scale.shift(-above), op.operation)
    if not isinstance(info, Scaled):
        return Trusted(value, Scaled(scale))
    level = rewriter.residual_level(info, scale) + above
    return Trusted(value, Scaled(scale.shift(-above), level, info.uncertainty))


_MOVES = LAYOUT | {"stablehlo.slice"}


def _cast_scale(cast: Cast, rewriter: ScaleRewriter) -> Scale:
    """Returns the scale at which data are cast: near unit, except for state.

    State in a wide format has the scale of an argument. The scale of state in a narrow format was
    measured, so its level is 0, unless it is a cotangent of state. The size of a splat constant is
    known, and is used if the format would flush or saturate the constant.
    """
    op, info, target, kind = cast
    if isinstance(info, Splat):
        inside = 2.0**target.min_exponent <= abs(info.value) <= target.max_finite
        # Elsewhere than in a matmul, a constant takes the scale of its partner.
        used = (user.name in MATMULS for user, _ in readers(op.results[0], _MOVES))
        return ONE if inside or not all(used) else ONE.shift(info.level)
    if not isinstance(info, Scaled):
        return ONE
    if kind == attributes.STATE and (info.decayed or target.wide):
        return info.scale
    if isinstance(info.level, RuntimeSize) or info.scale.powers:
        return rewriter.sizes.cast_scale(info)
    return rewriter.normalized_alike(op, info) if rewriter.predicts else info.normalized
