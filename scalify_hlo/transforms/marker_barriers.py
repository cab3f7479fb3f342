"""Markers of a program as barriers, through which analyses of data flow can look."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.errors import InputError, nearest
from scalify_hlo.ir import emit, markers
from scalify_hlo.ir.formats import element_type
from scalify_hlo.ir.functions import around, callee_of
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.value_map import erase, redirect, replace_op, uses_of
from scalify_hlo.rules.custom import NAME
from scalify_hlo.rules.statistics import STATISTICS


def lower_calls(calls: Sequence[ir.Operation]) -> None:
    """Replaces calls that are markers by barriers, and erases the functions that they call.

    Raises:
        InputError: A marker is not known, or its operands are not valid.
    """
    called: dict[str, ir.Operation] = {}
    for call in calls:
        if _text(call, markers.MARKER) == markers.CUSTOM_SCALE:
            _composite(call)
            continue
        check(call)
        called[callee_of(call)] = around(call, "builtin.module")
        _barrier(call)
    for name, module in called.items():
        erase(ir.SymbolTable(module)[name])


def _composite(call: ir.Operation) -> None:
    """Replaces the call of a function with a rule by a composite that refers to both."""
    rule = str(getattr(call.attributes[markers.RULE], "value", ""))
    if rule not in ir.SymbolTable(around(call, "builtin.module")):
        raise InputError(
            f"the rule {rule!r} of a custom_scale function is not in the program",
            location=source_location(call.location),
            hint="export the model again: a pass that removes unused functions has removed it",
        )
    types, given = (
        [each.type for each in call.results],
        {markers.RULE: ir.FlatSymbolRefAttr.get(rule)},
    )
    made = emit.composite(call, NAME, types, list(call.operands), given, callee_of(call))
    replace_op(call, made.results)


def _barrier(call: ir.Operation) -> None:
    operands = list(call.operands)
    if call.attributes[markers.MARKER].value == markers.GET_DATA_AND_SCALE:
        operands.append(_one(call))
    marker = mark(operands, call)
    for name in (markers.MARKER, markers.STATISTIC, markers.EVERY, markers.ROUNDING):
        if name in call.attributes:
            marker.attributes[name] = call.attributes[name]
    replace_op(call, list(marker.results)[: len(call.results)])


def _one(call: ir.Operation) -> ir.Value:
    return emit.constant(call.results[1].type, 1.0, call)


def mark(operands: Sequence[ir.Value], at: ir.Operation) -> ir.Operation:
    """Builds an `optimization_barrier`, to which attributes of a marker are added.

    Args:
        operands: The operands.
        at: The op before which it is built, and whose location it has.

    Returns:
        The barrier.
    """
    return stablehlo.OptimizationBarrierOp(operands, **emit.before(at)).operation


def _rescale(
    operands: Sequence[ir.Value],
    statistic: str,
    flags: Iterable[str] = (),
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> ir.Operation:
    """Builds a `dynamic_rescale` that has some attributes without a value."""
    marker = stablehlo.OptimizationBarrierOp(operands, loc=loc, ip=ip).operation
    marker.attributes[markers.MARKER] = ir.StringAttr.get(markers.DYNAMIC_RESCALE)
    marker.attributes[markers.STATISTIC] = ir.StringAttr.get(statistic)
    for flag in flags:
        marker.attributes[flag] = ir.UnitAttr.get()
    return marker


def rescaled(
    value: ir.Value, statistic: str, location: ir.Location, step: ir.Value | None = None
) -> ir.Value:
    """Inserts a `dynamic_rescale` right after a value, and replaces all of its uses.

    Args:
        value: A float tensor.
        statistic: ``max``, ``l1`` or ``l2``.
        location: The location of the marker.
        step: An integer scalar that counts steps; None if the marker acts in each step.

    Returns:
        The result of the marker.
    """
    uses, operands = uses_of(value), [value] if step is None else [value, step]
    marker = _rescale(operands, statistic, loc=location, ip=emit.after(value)["ip"])
    redirect(uses, marker.results[0])
    return marker.results[0]


def scaled_result(
    value: ir.Value, scale: ir.Value, operands: Sequence[ir.Value], at: ir.Operation
) -> ir.Value:
    """Returns a matmul's result after a marker with the scale of its terms, before an op."""
    marker = mark([value, scale, *operands], at)
    marker.attributes[markers.MARKER] = ir.StringAttr.get(markers.SCALED_RESULT)
    return marker.results[0]


def rescaled_argument(value: ir.Value, statistic: str) -> ir.Value:
    """As `rescaled`, of an argument, which the program still returns as it is if it does so."""
    kept = [use for use in uses_of(value) if use[0].operation.name == "func.return"]
    new = rescaled(value, statistic, value.location)
    redirect(kept, value)
    return new


def rescaled_before(
    at: ir.Operation,
    values: Sequence[ir.Value],
    statistic: str,
    before: Sequence[ir.Value] = (),
    step: ir.Value | None = None,
) -> list[ir.Value]:
    """Returns values after one common `dynamic_rescale` right before an op.

    Args:
        at: The op.
        values: One value, or several with the same number of elements.
        statistic: ``max``, ``l1`` or ``l2``.
        before: For each value, a value that has its scale in steps without rescaling.
        step: The count of steps, if there are such steps.
    """
    operands = [*values, *before] if step is None else [*values, *before, step]
    location, ip = emit.location_of(values[-1]), ir.InsertionPoint(at)
    flags = [markers.BATCHED] * (len(values) > 1) + [markers.CARRIED] * bool(before)
    marker = _rescale(operands, statistic, flags, loc=location, ip=ip)
    return list(marker.results)[: len(values)]


def rescaled_together(
    values: Sequence[ir.Value], statistic: str, after: ir.Operation
) -> Sequence[ir.Value]:
    """Inserts one `dynamic_rescale` for several values, and replaces all their uses.

    Args:
        values: Values with the same number of elements; none is used before the marker.
        statistic: ``max``, ``l1`` or ``l2``.
        after: The op after which the marker is inserted.
    """
    uses = [uses_of(value) for value in values]
    where = {"loc": after.location, "ip": ir.InsertionPoint.after(after)}
    marker = _rescale(values, statistic, [markers.BATCHED], **where)
    for used, result in zip(uses, marker.results, strict=True):
        redirect(used, result)
    return list(marker.results)


def check(op: ir.Operation) -> None:
    """Checks that a marker is valid.

    Raises:
        InputError: See `lower_calls`.
    """
    name = _text(op, markers.MARKER)
    if name not in _OPERANDS:
        raise InputError(
            f"no marker is named {name!r}{nearest(name, _OPERANDS)}",
            location=source_location(op.location),
            hint=f"the markers are: {', '.join(_OPERANDS)}",
        )
    if name == markers.DYNAMIC_RESCALE and _text(op, markers.STATISTIC) not in STATISTICS:
        raise InputError(
            f"no statistic is named {_text(op, markers.STATISTIC)!r}",
            location=source_location(op.location),
            hint=f"the statistics are: {', '.join(STATISTICS)}",
        )
    expected, fits = _OPERANDS[name]
    if not fits(list(op.operands)) or not _every(op):
        raise InputError(
            f"the marker {name} takes {expected}",
            location=source_location(op.location),
            hint="export the model again with the scalify_hlo that rewrites it",
        )


def _text(op: ir.Operation, name: str) -> str:
    if name not in op.attributes:
        return ""
    attribute = op.attributes[name]
    return str(attribute.value) if isinstance(attribute, ir.StringAttr) else ""


def _every(op: ir.Operation) -> bool:
    """Whether a marker with an interval has the count of steps."""
    if markers.EVERY not in op.attributes:
        return _text(op, markers.MARKER) != markers.DYNAMIC_RESCALE or len(op.operands) == 1
    every = op.attributes[markers.EVERY]
    if not isinstance(every, ir.IntegerAttr) or every.value < 1:
        return False
    return every.value == 1 or len(op.operands) == 2


def _one_value(values: Sequence[ir.Value]) -> bool:
    return len(values) == 1


def _and_scalar(kind: type[ir.Type]) -> Callable[[Sequence[ir.Value]], bool]:
    def fits(values: Sequence[ir.Value]) -> bool:
        return len(values) == 2 and _is_scalar(values[1], kind)

    return fits


def _is_scalar(value: ir.Value, kind: type[ir.Type]) -> bool:
    element = element_type(value.type)
    return element is not None and value.type.rank == 0 and isinstance(element, kind)


_OPERANDS: Mapping[str, tuple[str, Callable[[Sequence[ir.Value]], bool]]] = {
    markers.SET_SCALING: ("a tensor and a scalar float", _and_scalar(ir.FloatType)),
    markers.REBALANCE_SCALE: ("a tensor and a scalar float", _and_scalar(ir.FloatType)),
    markers.GET_DATA_AND_SCALE: ("a tensor", lambda v: 1 <= len(v) <= 2),
    markers.DYNAMIC_RESCALE: (
        "a tensor, and with scalify.every the step as a scalar integer",
        lambda v: _one_value(v) or _and_scalar(ir.IntegerType)(v),
    ),
    markers.STOP_SCALING: ("a tensor", _one_value),
    markers.CAST: ("a tensor", _one_value),
}
"""The operands of each marker in words, and a check of values."""
