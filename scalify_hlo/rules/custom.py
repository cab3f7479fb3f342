"""`custom_scale`: the author's rule in place of a function (Scalify paper, section 3.2.1).

`scalify-normalize` replaces the marker by a composite. The rule is a function of the module.
"""

from __future__ import annotations

from collections.abc import Sequence

from scalify_hlo._compat import func, ir
from scalify_hlo.algebra.limits import COMPUTED_BOUND
from scalify_hlo.algebra.scale import Scale, Scaled, scale_of
from scalify_hlo.ir import emit, markers
from scalify_hlo.ir.formats import is_f64
from scalify_hlo.ir.functions import target_of
from scalify_hlo.ir.value_map import erase, replace_op, replace_uses
from scalify_hlo.rules.emitter import DOWN, Emitter
from scalify_hlo.rules.isolated import scale_element
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

COMPOSITE = "stablehlo.composite"
NAME = f"scalify.{markers.CUSTOM_SCALE}"


def is_custom(op: ir.Operation) -> bool:
    """Whether an op is a call of a function with a custom rule."""
    return target_of(op) == NAME


def rule_of(op: ir.Operation) -> str:
    """Returns the name of the function that is the rule."""
    return str(ir.DictAttr(op.attributes["composite_attributes"])[markers.RULE].value)


def custom_scale(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Calls the rule with data and scale of each float operand; the scale of unscaled ones is 1.

    A scale S that the rule returns is rounded to a power of two, ``p``: ``Y_s = p; Y_d = D*(S/p)``.
    """
    operands = [part for value in op.operands for part in _parts(value, op, rewriter)]
    types = [type_ for result in op.results for type_ in _types(result, rewriter)]
    where = emit.before(op)
    name = ir.FlatSymbolRefAttr.get(rule_of(op.operation))
    given = iter(func.CallOp(types, name, operands, **where).results)
    for result in op.results:
        value = next(given)
        if rewriter.format(result) is not None:
            value = _computed(value, next(given), op, rewriter)
        replace_uses(result, value)
    rewriter.values.changed = True
    erase(op)


def plain(op: ir.Operation) -> ir.Operation:
    """Replaces the composite by a call of the function itself."""
    types = [result.type for result in op.results]
    name = op.attributes["decomposition"]
    where = emit.before(op)
    call = func.CallOp(types, name, list(op.operands), **where)
    replace_op(op, call.results)
    return call


def _parts(value: ir.Value, op: ir.Operation, rewriter: ScaleRewriter) -> Sequence[ir.Value]:
    """Returns the operands of the rule for an operand of the op."""
    if rewriter.format(value) is None:
        return [value]
    at = op.operation
    wide = is_f64(value.type)
    if not isinstance(rewriter.info(value), Scaled):
        return [value, Emitter(at, wide=wide).number(1.0)]
    value = rewriter.normalize(value, at)
    return rewriter.rescaler.as_pair(value, scale_of(rewriter.info(value)), at, wide=wide)


def _types(result: ir.Value, rewriter: ScaleRewriter) -> Sequence[ir.Type]:
    if rewriter.format(result) is None:
        return [result.type]
    return [result.type, emit.scalar_type(scale_element(result.type))]


def _computed(
    data: ir.Value, scale: ir.Value, op: ir.Operation, rewriter: ScaleRewriter
) -> ir.Value:
    at = op.operation
    emitter = Emitter(at, wide=is_f64(scale.type))
    power = emitter.clamped(emitter.power(scale, DOWN, emitter.number(1.0)), COMPUTED_BOUND)
    where = emit.before(at)
    rest = emit.elementwise("stablehlo.divide", scale, power, **where)
    element = data.type.element_type
    part = element.element_type if isinstance(element, ir.ComplexType) else element
    data = emit.times(data, emit.convert(rest, part, at), at)
    runtime = rewriter.runtime_scales.define(power, depth=rewriter.depth, at=at)
    rewriter.set(data, Scaled(Scale(0, ((runtime, 1),))))
    return data
