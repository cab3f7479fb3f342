"""The rules of markers of authors and recipes (Scalify paper, sections 3.1 and 3.3).

`scalify-normalize` replaces markers by barriers, whose results are their operands, so that analyses
of data flow look through them. A marker has an effect on scaled values; `set_scaling` also scales
unscaled ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeAlias

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import (
    COMPUTED_BOUND,
    FAR_LEVEL,
    INPUT_BOUND,
    MEASURED_BOUND,
    SAFE_REACH,
    SKIPPED_ROOM,
    UNBOUNDED,
)
from scalify_hlo.algebra.runtime_size import powers_of
from scalify_hlo.algebra.scale import (
    ANY,
    OF_AUTHOR,
    OF_PAIRS,
    ONE,
    AnyScale,
    Scale,
    Scaled,
    Splat,
    right_of,
    scale_of,
)
from scalify_hlo.algebra.uncertainty import CERTAIN, UNKNOWN, Uncertainty, of_root
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError
from scalify_hlo.ir import emit, markers
from scalify_hlo.ir.formats import is_f64
from scalify_hlo.ir.functions import around, symbol_of
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.value_map import replace_op
from scalify_hlo.rules.emitter import DOWN, UP, Emitter
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.statistics import statistic

Marker: TypeAlias = Callable[[ir.Operation, ScaleRewriter], list[ir.Value]]
"""A lowering of a marker, which returns the values that replace its results."""


def marked(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Applies a marker, and removes it."""
    values = MARKERS[op.attributes[markers.MARKER].value](op, rewriter)
    for old, new in zip(op.results, values, strict=True):
        if old in rewriter.values.leaving:
            rewriter.values.leaving.add(new)
    rewriter.values.changed = True
    replace_op(op, values)


def set_scaling(op: ir.Operation, rewriter: ScaleRewriter) -> list[ir.Value]:
    """Applies ``Y_s = floor_pow2(S); Y_d = X_d*X_s/Y_s``; X_s unless S is positive and finite."""
    data, given = op.operands
    if rewriter.format(data) is None or rewriter.info(data) is ANY:
        return [data, given]
    if isinstance(rewriter.info(data), Splat):
        # A value that adopts a scale is not rescaled to another one.
        data = op.operands[0] = _unscaled(data, op)
    if (exponent := _exponent(rewriter, given, op)) is not None:
        return [_asked(_moved(op, rewriter, Scale(exponent)), rewriter), given]
    rewriter.read(op, 1)
    old = scale_of(rewriter.info(data))
    emitter = _emitter(op, data, rewriter)
    power = emitter.power(_given(op, emitter), DOWN, _value(rewriter, op, old))
    return [_asked(_computed(op.operands[0], op, rewriter, emitter, power), rewriter), given]


def _asked(value: ir.Value, rewriter: ScaleRewriter) -> ir.Value:
    """Notes that the author of a program asked for the scale of a value."""
    info = rewriter.info(value)
    known = info if isinstance(info, Scaled) else Scaled(ONE, 0, UNKNOWN)
    rewriter.assume(value, known._replace(right=OF_AUTHOR))
    return value


def rebalance_scale(op: ir.Operation, rewriter: ScaleRewriter) -> list[ir.Value]:
    """Applies ``Y_s = X_s*floor_pow2(D); Y_d = X_d/floor_pow2(D)``.

    X_d is near unit, as in `get_data_and_scale`: an author computes D from what that returns.
    """
    data, given, *rest = op.operands
    info = rewriter.info(data)
    if not isinstance(info, Scaled):
        return list(op.operands)
    old = info.normalized
    if (exponent := _exponent(rewriter, given, op)) is not None:
        return [_moved(op, rewriter, old.shift(exponent)), given, *rest]
    rewriter.read(op, 1)
    emitter = _emitter(op, data, rewriter)
    power = emitter.power(_given(op, emitter), DOWN, emitter.number(1.0))
    scale = emitter.multiply(power, _value(rewriter, op, old))
    return [_computed(op.operands[0], op, rewriter, emitter, scale), given, *rest]


def dynamic_rescale(op: ir.Operation, rewriter: ScaleRewriter) -> list[ir.Value]:
    """Applies ``m = statistic(X_d) as a power of two; Y_s = X_s*m; Y_d = X_d/m``.

    Unless the recipe has a rounding, largest magnitudes are rounded up, so that no data saturate,
    and other statistics down, which the paper found best.
    """
    if markers.BATCHED in op.attributes:
        return _batch(op, rewriter)
    data, *rest = op.operands
    info = rewriter.info(data)
    if not isinstance(info, Scaled):
        return [data, *rest]
    kind, at = op.attributes[markers.STATISTIC].value, op.operation
    known = info.uncertainty.stated and not powers_of(info.level)
    if known and abs(info.level) > MEASURED_BOUND:
        return [rewriter.normalize(data, at), *rest]  # Of f64: scales of statistics are not so far.
    _bring_near(op, 0, rewriter)
    emitter = _emitter(op, data, rewriter)
    unit = _unit(op, emitter)
    data = _kept(op, rewriter, emitter)
    _count(op, rewriter)
    splats = rewriter.settings.splats
    found = statistic(
        data, kind, at, wide=is_f64(data.type), devices=rewriter.devices, splats=splats
    )
    power = _over(op, emitter, emitter.power(found, _rounding(op, rewriter), unit))
    scale = _rescaled(op, rewriter, power, _acts(op, emitter))
    return [_computed(op.operands[0], op, rewriter, emitter, scale), *rest]


def _bring_near(op: ir.Operation, number: int, rewriter: ScaleRewriter) -> None:
    """Divides data by their size if it may be far from unit; the new scale may be as far then.

    Their size is if it was declared so, or if scalars of any size are among its factors.
    """
    data = op.operands[number]
    info = rewriter.info(data)
    if not isinstance(info, Scaled):
        return
    measured = any(each.bound > INPUT_BOUND[False] for each in powers_of(info.level))
    stated = info.uncertainty.stated and abs(info.level) > FAR_LEVEL
    if measured or stated:
        near = rewriter.sizes.cast_scale(info) if measured else info.normalized
        op.operands[number] = rewriter.rescale_to(data, near, op.operation)
    if measured or stated or any(each.bound > COMPUTED_BOUND for each, _ in info.scale.powers):
        op.attributes[markers.BOUND] = attributes.integer(MEASURED_BOUND)


def _unit(op: ir.Operation, emitter: Emitter) -> ir.Value:
    """Returns the replacement of a statistic of zero, infinity or NaN; it keeps the scale."""
    return emitter.number(2.0 ** _integer(op, markers.HEADROOM, 0))


def _over(op: ir.Operation, emitter: Emitter, power: ir.Value) -> ir.Value:
    """Returns the factor of the scale: less than the statistic if data may be above unit."""
    headroom = _integer(op, markers.HEADROOM, 0)
    return emitter.multiply(power, emitter.number(2.0**-headroom)) if headroom else power


def _integer(op: ir.Operation, name: str, otherwise: int) -> int:
    """Returns an integer attribute of a marker; another number if it has none."""
    return int(op.attributes[name].value) if name in op.attributes else otherwise


def _acts(op: ir.Operation, emitter: Emitter) -> ir.Value | None:
    """Returns an i1 that is true if a marker acts in this step; None if it acts in all steps."""
    operands = op.operands
    if markers.EVERY not in op.attributes or len(operands) == 1:
        return None
    every = ir.IntegerAttr(op.attributes[markers.EVERY]).value
    return emitter.multiple(operands[len(operands) - 1], every)


def _rescaled(
    op: ir.Operation,
    rewriter: ScaleRewriter,
    power: ir.Value,
    acts: ir.Value | None,
    number: int = 0,
) -> ir.Value:
    """Returns the scale of a marker's value: X_s*power, or the old scale in other steps."""
    operands = op.operands
    emitter = _emitter(op, operands[number], rewriter)
    old = _value(rewriter, op, scale_of(rewriter.info(operands[number])))
    scale = emitter.multiply(power, old)
    if acts is None:
        return scale
    if markers.CARRIED in op.attributes:
        before = operands[(len(operands) - 1) // 2 + number]
        old = _value(rewriter, op, scale_of(rewriter.info(before)))
        acts = emitter.either(acts, emitter.is_far(scale, old, SKIPPED_ROOM))
    return emitter.select(acts, scale, old)


def _kept(op: ir.Operation, rewriter: ScaleRewriter, emitter: Emitter) -> ir.Value:
    """Returns the data behind a barrier, as XLA would recompute them in the reduction."""
    data = op.operands[0]
    kept = op.operands[0] = emitter.kept(data)
    rewriter.assume(kept, rewriter.info(data))
    return kept


def _batch(op: ir.Operation, rewriter: ScaleRewriter) -> list[ir.Value]:
    """Applies `dynamic_rescale` to several small tensors, with one reduction."""
    values, at = list(op.operands), op.operation
    kind = op.attributes[markers.STATISTIC].value
    where = emit.before(op)
    count = len(values) // 2 if markers.CARRIED in op.attributes else len(values)
    taken = [i for i, v in enumerate(values[:count]) if isinstance(rewriter.info(v), Scaled)]
    if not taken:
        return values
    for i in taken:
        _bring_near(op, i, rewriter)
        values[i] = op.operands[i]
    rows = [_row(values[i], op) for i in taken]
    _count(op, rewriter)
    data = stablehlo.concatenate(rows, 0, **where) if len(rows) > 1 else rows[0]
    found = statistic(data, kind, at, wide=False, devices=rewriter.devices, kept=(0,))
    all_ = Emitter(at, wide=False, shape=[len(rows)])
    powers = _over(op, all_, all_.power(found, _rounding(op, rewriter), _unit(op, all_)))
    emitter = Emitter(at, wide=False)
    acts = _acts(op, emitter)
    for number, i in enumerate(taken):
        one = stablehlo.slice(powers, [number], [number + 1], [1], **where)
        power = stablehlo.reshape(emitter.float, one, **where)
        scale = _rescaled(op, rewriter, power, acts, i)
        values[i] = _computed(values[i], op, rewriter, emitter, scale)
    return values


def _count(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Notes a statistic that the program computes, with its function."""
    if not rewriter.notes.trial:
        rewriter.notes.statistics.append(symbol_of(around(op, "func.func")))


def _row(value: ir.Value, op: ir.Operation) -> ir.Value:
    """Returns the elements of a tensor as a row of f32."""
    at = op.operation
    wide = emit.convert(value, ir.F32Type.get(), at)
    type_ = ir.RankedTensorType.get([1, math.prod(value.type.shape)], ir.F32Type.get())
    return stablehlo.reshape(type_, wide, **emit.before(at))


def get_data_and_scale(op: ir.Operation, rewriter: ScaleRewriter) -> list[ir.Value]:
    """Returns ``Y = X_d, S = X_s``, both unscaled; the data are near unit."""
    data, one = op.operands
    if not isinstance(rewriter.info(data), Scaled):
        return [data, one]
    data = rewriter.normalize(data, op.operation)
    parts = rewriter.rescaler.as_pair(
        data, scale_of(rewriter.info(data)), op.operation, wide=is_f64(data.type)
    )
    data, scale = (_unscaled(value, op) for value in parts)
    return [data, emit.convert(scale, one.type.element_type, op.operation)]


def stop_scaling(op: ir.Operation, rewriter: ScaleRewriter) -> list[ir.Value]:
    """Returns ``Y = X_d*X_s``, unscaled."""
    rewriter.read(op, 0)
    data = op.operands[0]
    return [_unscaled(data, op) if rewriter.info(data) is not None else data]


def cast(op: ir.Operation, _: ScaleRewriter) -> list[ir.Value]:
    """Returns ``Y = X``, after which data are cast, and not values."""
    _cast_next(op, attributes.ASKED)
    return [op.operands[0]]


def scaled_result(op: ir.Operation, rewriter: ScaleRewriter) -> list[ir.Value]:
    """Applies `rebalance_scale` by the scale of a matmul's terms, if the author passed pairs.

    The result is rounded next, to a format that may not hold its values.
    """
    if right_of(rewriter.info(op.operands[0])) < OF_PAIRS:
        return list(op.operands)
    _cast_next(op, attributes.DATA)
    results = rebalance_scale(op, rewriter)
    new, _, *terms = map(rewriter.info, results)
    if isinstance(new, Scaled):
        known = [term.scale for term in terms if isinstance(term, Scaled)]
        for runtime, _ in new.scale.powers:
            runtime.computed_for(math.prod(known, start=ONE))
    return results


def _cast_next(op: ir.Operation, kind: str) -> None:
    """Marks the converts of a marker's value as casts."""
    for use in op.results[0].uses:
        if use.owner.operation.name == "stablehlo.convert":
            use.owner.attributes[attributes.CAST] = ir.StringAttr.get(kind)


MARKERS: dict[str, Marker] = {
    markers.SET_SCALING: set_scaling,
    markers.REBALANCE_SCALE: rebalance_scale,
    markers.DYNAMIC_RESCALE: dynamic_rescale,
    markers.GET_DATA_AND_SCALE: get_data_and_scale,
    markers.STOP_SCALING: stop_scaling,
    markers.CAST: cast,
    markers.SCALED_RESULT: scaled_result,
}
"""The rules of markers by name."""


def _emitter(op: ir.Operation, value: ir.Value, rewriter: ScaleRewriter) -> Emitter:
    return Emitter(op.operation, wide=is_f64(value.type), splats=rewriter.settings.splats)


def _rounding(op: ir.Operation, rewriter: ScaleRewriter) -> str:
    kind, rounding = op.attributes[markers.STATISTIC].value, str(rewriter.recipe.rounding)
    if markers.ROUNDING in op.attributes:
        return str(op.attributes[markers.ROUNDING].value)
    if rounding != "default":
        return rounding
    return UP if kind == "max" else DOWN


def _exponent(rewriter: ScaleRewriter, given: ir.Value, op: ir.Operation) -> int | None:
    """Returns log2 of a scale that is a constant of the program."""
    info = rewriter.info(given)
    if isinstance(info, AnyScale):
        number = 0.0
    elif isinstance(info, Splat):
        number = info.value
    else:
        return None
    mantissa, exponent = math.frexp(number)
    if mantissa != 0.5 or abs(exponent - 1) > SAFE_REACH[is_f64(op.operands[0].type)]:
        raise InputError(
            f"the scale {number:g} of {op.attributes[markers.MARKER].value} is not a power of two",
            location=source_location(op.location),
            hint="give one from 2^-126 to 2^126",
        )
    return exponent - 1


def _given(op: ir.Operation, emitter: Emitter) -> ir.Value:
    """Returns the second operand as a float of the type of scales."""
    return emit.convert(op.operands[1], emitter.float.element_type, op.operation)


def _value(rewriter: ScaleRewriter, op: ir.Operation, scale: Scale) -> ir.Value:
    """Returns a scale as one number."""
    data = op.operands[0]
    if scale.static:
        return _emitter(op, data, rewriter).number(2.0**scale.exponent)
    rewriter.runtime_scales.location = op.location
    return rewriter.runtime_scales.kept(scale, wide=is_f64(data.type))


def _moved(op: ir.Operation, rewriter: ScaleRewriter, scale: Scale) -> ir.Value:
    """Returns the first operand at another scale, at which data are assumed near unit."""
    moved = rewriter.rescale_to(op.operands[0], scale, op.operation)
    right = right_of(rewriter.info(op.operands[0]))
    rewriter.assume(moved, Scaled(scale, right=right))
    return moved


def _computed(
    value: ir.Value, op: ir.Operation, rewriter: ScaleRewriter, emitter: Emitter, scale: ir.Value
) -> ir.Value:
    """Returns an operand at a scale that the program computes; see `_moved`."""
    info = rewriter.info(value)
    known = info if isinstance(info, Scaled) else None
    peak = op.attributes[markers.PEAK].value if markers.PEAK in op.attributes else None
    if known is not None and peak == markers.UNKNOWN:
        known = known._replace(uncertainty=of_root(UNBOUNDED))
    _, target = computed_scale(
        scale, emitter, rewriter, op.operation, known, _integer(op, markers.BOUND, COMPUTED_BOUND)
    )
    moved = rewriter.rescale_to(value, target, op.operation)
    for runtime, _ in target.powers:
        runtime.computed_for(known and known.scale)
    measured = Scaled(target)
    if peak is not None:
        measured = Scaled(
            target, _integer(op, markers.HEADROOM, 0) - PEAK, of_root(_PEAK_DEVIATION, peak=peak)
        )
        for runtime, _ in target.powers:
            # The scale is the quotient of values and data, and as uncertain as the values.
            runtime.size -= measured.level
            runtime.uncertainty = _rooted(known, measured, runtime.uncertainty)
    rewriter.assume(moved, measured._replace(right=right_of(rewriter.info(value))))
    return moved


def _rooted(known: Scaled | None, measured: Scaled, found: Uncertainty) -> Uncertainty:
    """Returns the uncertainty of a measured scale, with the roots of the value that it scales.

    So data times their scale are as uncertain as the value was, and for the same reasons: a
    recurrence whose carry is measured in each turn is still one.

    Args:
        known: The predicted scale information of the value.
        measured: The scale information of its data.
        found: The uncertainty otherwise.
    """
    if known is None or found is CERTAIN:
        return found
    return known.scale.uncertainty * known.uncertainty / measured.uncertainty


PEAK: Final = 2
"""log2 of the expected ratio of amax and rms: that of 10,000 normal numbers."""

_PEAK_DEVIATION: Final = 1.0
"""The variation of this ratio between distributions, in octaves."""


def computed_scale(
    scale: ir.Value,
    emitter: Emitter,
    rewriter: ScaleRewriter,
    at: ir.Operation,
    known: Scaled | None = None,
    bound: int = COMPUTED_BOUND,
) -> tuple[ir.Value, Scale]:
    """Returns the scale for a power of two that the program computes.

    Args:
        scale: The power of two, rank 0.
        emitter: The builder of ops of its type before `at`.
        rewriter: The rewriter.
        at: The op before which the scale is built.
        known: The scale information of the data whose size it is.
        bound: The scale is clamped to 2^±bound.

    Returns:
        The scale, as a value and as a monomial.
    """
    computed = emitter.computed(emitter.clamped(scale, bound))
    runtime = rewriter.runtime_scales.define(
        computed, depth=rewriter.depth, at=at, known=known, bound=bound
    )
    return computed, Scale(0, ((runtime, 1),))


def _unscaled(value: ir.Value, op: ir.Operation) -> ir.Value:
    """Returns a copy of a value without scale information; XLA removes the convert."""
    return stablehlo.convert(value.type, value, **emit.before(op))
